"""The corpus that ships with the package: each scenario is solvable, worth nothing undone, and true to its form."""

from __future__ import annotations

import ast
import json
import re
import statistics
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from benchmarks.benchmark import Sample
from benchmarks.scenarios import PAPER, STRICT, load_samples
from envscaler.audit.stage import Stage
from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import SETTINGS, Scenario, load
from envscaler.scenarios.judge import run_checks
from envscaler.scengenerator.lab import Executed
from envscaler.scengenerator.solve import guessed_ids
from envscaler.synthesis import shown
from harness import reference, runtime
from harness.messages import Message
from harness.outcome import StopReason
from harness.protocol import Protocol
from harness.rollout import Agent, Played, play
from harness.state import State
from harness.trusted import TrustedRunner

CORPUS = load()
SCENARIOS = pytest.mark.parametrize("scenario", CORPUS.scenarios.values(), ids=list(CORPUS.scenarios))
ENVIRONMENTS = pytest.mark.parametrize("environment", CORPUS.environments.values(), ids=list(CORPUS.environments))
LEVELS = pytest.mark.parametrize("level", ["trusted", "isolated"])
ALLOWED_IMPORTS = {"typing", "re", "collections", "copy", "math", "dataclasses", "datetime"}


@cache
def samples(level: str) -> Mapping[str, Sample]:
    return {sample.id: sample for sample in load_samples(PAPER, setting="all", level=level)}


def played(sample: Sample, agent: Callable[..., Agent], protocol: Protocol | None = None) -> Played:
    """One episode with a reference agent and, where one is needed, the scripted user."""
    case = sample.case()
    say = None
    if case.brief.user is not None:
        say = reference.scripted_user(case.brief.user())

    def user(messages: list[Message]) -> str:
        assert say is not None
        return say(sum(message["role"] == "assistant" for message in messages))

    return play(case, protocol or sample.protocol or PAPER, agent(case), user)


@LEVELS
@SCENARIOS
def test_the_oracle_solves_it_in_both_settings(scenario: Scenario, level: str) -> None:
    hashes = set()
    for setting in scenario.settings:
        result = played(samples(level)[f"{scenario.task_id}/{setting}"], reference.oracle)
        outcome = result.trajectory.outcome
        assert outcome is not None
        assert outcome.score is not None
        failed = [check["item"] for check in outcome.score.parts["checks"] if not check["passed"]]
        assert (failed, outcome.score.value, outcome.score.success, outcome.counts) == ([], 1.0, True, {})
        stop = StopReason.AGENT_DONE if setting == "non_conversation" else StopReason.USER_STOP
        assert (outcome.stop_reason, outcome.level) == (stop, level)
        assert result.final_state is not None
        hashes.add(result.final_state.digest)
    assert len(hashes) == 1, "the same calls left different states"


@LEVELS
@SCENARIOS
def test_doing_nothing_earns_nothing(scenario: Scenario, level: str) -> None:
    result = played(samples(level)[f"{scenario.task_id}/non_conversation"], reference.noop)
    outcome = result.trajectory.outcome
    assert outcome is not None
    assert outcome.score is not None
    assert (outcome.score.value, outcome.score.success) == (0.0, False)
    checks = outcome.score.parts["checks"]
    # False, each of them, and none for an error.
    assert [check for check in checks if check["passed_at_start"] or "error" in check] == []
    assert outcome.score.parts["floor"] == 0.0


def test_random_calls_lie_in_between() -> None:
    values = []
    for scenario in CORPUS.scenarios.values():
        sample = samples("trusted")[f"{scenario.task_id}/non_conversation"]
        outcome = played(sample, reference.random_legal, STRICT).trajectory.outcome
        assert outcome is not None
        assert outcome.score is not None
        values.append(outcome.score.value)
    assert 0 < statistics.fmean(values) < 1
    assert len(set(values)) > 3


@SCENARIOS
def test_every_call_of_the_oracle_succeeds_and_the_initial_state_stays_as_it_was(scenario: Scenario) -> None:
    before = scenario.init_config.data
    result = played(samples("trusted")[f"{scenario.task_id}/non_conversation"], reference.oracle, STRICT)
    for call in result.trajectory.calls:
        assert ast.literal_eval(call.result.text)["success"] is True, call
    assert scenario.init_config.data == before


@SCENARIOS
def test_the_oracle_guesses_no_id(scenario: Scenario) -> None:
    record = CORPUS.environments[scenario.env_id]
    stage = Stage(TrustedRunner(), record, scenario)
    calls = scenario.oracle or ()
    results, states = stage.states(calls)
    # The tools' descriptions are left out: their examples of ids do not say whose they are.
    heard = shown.documentation(record.title, record.description, record.rules) + scenario.task
    guessed = guessed_ids(Executed(stage.initial, calls, tuple(results), tuple(states)), heard)
    assert [f"call {index + 1}, {calls[index].name}: {name}" for index, name in guessed] == []


def live(scenario: Scenario) -> Any:
    """A live instance in this process, for what can only be seen from inside."""
    record = CORPUS.environments[scenario.env_id]
    return runtime.instantiate(runtime.load_class(record.source, record.class_name), scenario.init_config.decode())


def state(instance: Any) -> State:
    return State(runtime.export(instance))


def spoil(value: Any) -> None:
    """Change a result in every place that can be changed."""
    children = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    for child in children:
        spoil(child)
    if isinstance(value, dict | list):
        value.clear()


@SCENARIOS
def test_each_change_the_oracle_makes_is_needed(scenario: Scenario) -> None:
    calls = scenario.oracle or ()
    initial = state(live(scenario))
    changes = []
    instance, last = live(scenario), initial
    for index, call in enumerate(calls):
        getattr(instance, call.name)(**call.arguments)
        if (now := state(instance)) != last:
            changes.append(index)
        last = now
    assert changes
    for left_out in changes:
        instance = live(scenario)
        for index, call in enumerate(calls):
            if index != left_out:
                getattr(instance, call.name)(**call.arguments)
        verdicts = run_checks(TrustedRunner(), scenario, initial, state(instance))
        assert not all(verdict.passed for verdict in verdicts), calls[left_out]


@SCENARIOS
def test_results_are_copies_that_cannot_change_the_state(scenario: Scenario) -> None:
    instance = live(scenario)
    for call in scenario.oracle or ():
        result = getattr(instance, call.name)(**call.arguments)
        before = state(instance)
        spoil(result)
        assert state(instance) == before, call.name


@SCENARIOS
def test_checks_judge_any_state_without_an_error(scenario: Scenario) -> None:
    initial = scenario.init_config
    config = initial.decode()
    emptied = {key: type(value)() if isinstance(value, dict | list) else value for key, value in config.items()}
    for odd in ({}, emptied):
        verdicts = run_checks(TrustedRunner(), scenario, initial, State.of(odd))
        assert [verdict for verdict in verdicts if verdict.error or verdict.mutated or verdict.passed] == []


@SCENARIOS
def test_a_scenario_has_the_promised_size_and_texts(scenario: Scenario) -> None:
    config = scenario.init_config.decode()
    assert set(config) == set(vars(live(scenario))), "every attribute is configured, and nothing else"
    sizes = [len(table) for table in config.values() if isinstance(table, dict)]
    assert sum(5 <= size <= 20 for size in sizes) >= len(sizes) / 2
    assert 5 <= len(scenario.checks) <= 15
    assert all(check.item.endswith("?") for check in scenario.checks)
    assert len({check.item for check in scenario.checks}) == len(scenario.checks)
    assert 3 <= len(scenario.oracle or ()) <= 20
    assert scenario.settings == SETTINGS
    assert 50 <= len(scenario.task.split()) <= 250
    assert len(re.findall(r"[.!?](?:\s|$)", scenario.task)) >= 3
    assert scenario.clock
    assert scenario.provenance
    guards = sum("initial_state" in check.function for check in scenario.checks)
    assert guards >= len(scenario.checks) / 3, "what must not change is guarded inside a goal's check"


@ENVIRONMENTS
def test_an_environment_has_the_promised_size_and_texts(environment: EnvironmentRecord) -> None:
    tree = ast.parse(environment.source)
    entities = [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id == "TypedDict" for b in node.bases)
    ]
    fields = sum(isinstance(item, ast.AnnAssign) for entity in entities for item in entity.body)
    assert len(entities) >= 3
    assert fields >= 15
    assert 15 <= len(environment.own_tools) <= 25
    assert len(environment.rules) >= 4
    assert sum(scenario.env_id == environment.id for scenario in CORPUS.scenarios.values()) >= 12
    assert environment.title
    assert environment.description
    assert environment.licence == "MIT"
    assert environment.provenance


@ENVIRONMENTS
def test_an_environment_describes_every_tool_and_parameter(environment: EnvironmentRecord) -> None:
    for tool in environment.own_tools:
        assert tool.description, tool.name
        for name, schema in tool.parameters["properties"].items():
            assert schema.get("description"), f"{tool.name}.{name}"
            assert schema.keys() & {"type", "enum", "anyOf"}, f"{tool.name}.{name}"


@ENVIRONMENTS
def test_an_environment_reads_no_clock_and_draws_nothing(environment: EnvironmentRecord) -> None:
    tree = ast.parse(environment.source)
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= ALLOWED_IMPORTS
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not called & {"now", "today", "utcnow", "uuid4", "getrandbits", "urandom"}
    assert not {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & {
        "open",
        "eval",
        "exec",
        "id",
        "hash",
    }


ODD: tuple[Any, ...] = (None, "", -1, 10**30, 1.5, True, [None], {"a": []})


def odd_arguments(instance: Any, environment: EnvironmentRecord) -> Iterator[tuple[str, dict[str, Any]]]:
    for tool in environment.own_tools:
        parameters = tool.parameters["properties"]
        for value in ODD:
            yield tool.name, dict.fromkeys(parameters, value)
            for name in parameters:
                # A value that exists, with the odd one in one place.
                yield tool.name, {**{other: _known(instance, other) for other in parameters}, name: value}


def _known(instance: Any, parameter: str) -> Any:
    for table in vars(instance).values():
        for entity in table.values() if isinstance(table, dict) else ():
            if isinstance(entity, dict) and parameter in entity:
                return entity[parameter]
    return "unknown"


@ENVIRONMENTS
def test_odd_arguments_are_refused_and_change_nothing(environment: EnvironmentRecord) -> None:
    scenario = next(scenario for scenario in CORPUS.scenarios.values() if scenario.env_id == environment.id)
    instance = live(scenario)
    before = runtime.export(instance)
    for name, arguments in odd_arguments(live(scenario), environment):
        result = getattr(instance, name)(**arguments)
        assert isinstance(result.get("success"), bool), (name, arguments)
        after = runtime.export(instance)
        if not result["success"]:
            assert result["error"], name
            assert after == before, (name, arguments)
        json.dumps(result)
        before = after


def test_the_corpus_has_at_least_six_environments() -> None:
    assert len(CORPUS.environments) >= 6
    assert len({record.title for record in CORPUS.environments.values()}) == len(CORPUS.environments)
