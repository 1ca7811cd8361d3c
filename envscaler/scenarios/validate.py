"""Is a corpus sound? First what can be read off the files, then what running shows; each finding names its place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from envscaler.environments import EnvironmentRecord, SynthesizedEnvironment
from envscaler.scenarios.corpus import Corpus
from envscaler.scenarios.judge import run_checks
from envscaler.scenarios.scenario import Scenario
from harness.environment import ToolSpec, ToolStatus
from harness.errors import DataError, EnvironmentFault, near_miss
from harness.program import Program, Runner


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or worth knowing."""

    severity: Literal["error", "note"]
    """An `error` makes scores wrong or impossible; a `note` is a property an author may want to see."""
    where: str
    """Record and field."""
    problem: str
    file: str = ""
    """Where the record was read from."""

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


def validate(corpus: Corpus, runner: Runner) -> Iterator[Finding]:
    """Every finding on a corpus, in its order.

    Args:
        runner: The level at which its code runs; code that does not even parse is not run.
    """
    tools: dict[str, dict[str, ToolSpec]] = {}
    for environment in corpus.environments.values():
        findings = [replace(finding, file=environment.file) for finding in _environment(environment)]
        yield from findings
        if not findings:
            tools[environment.id] = {tool.name: tool for tool in environment.own_tools}
    for scenario in corpus.scenarios.values():
        if scenario.env_id in tools:
            findings = list(_scenario(scenario, tools[scenario.env_id]))
            if not any(finding.severity == "error" for finding in findings):
                findings += _played(scenario, corpus.environments[scenario.env_id], runner)
            for finding in findings:
                yield replace(finding, file=scenario.file)


def _environment(environment: EnvironmentRecord) -> Iterator[Finding]:
    try:
        own = {tool.name for tool in environment.own_tools}
    except DataError as error:
        yield Finding("error", error.path, error.problem)
        return
    for name in environment.awaitable_methods:
        problem = f"tool '{name}' is an async def, and calls are not awaited; write it as a plain def"
        yield Finding("error", f"{environment.id}.source", problem)
    if not own and not environment.awaitable_methods:
        yield Finding("error", f"{environment.id}.source", f"class {environment.class_name} has no public method")
    for index, tool in enumerate(environment.released.get("tools", ())):
        name = tool["function"]["name"]
        if name not in own and name not in environment.awaitable_methods:
            where = f"{environment.id}.tools[{index}].function.name"
            yield Finding("error", where, f"no method '{name}'; {near_miss(name, list(own))}")


def _scenario(scenario: Scenario, tools: dict[str, ToolSpec]) -> Iterator[Finding]:
    if not scenario.checks:
        yield Finding("note", f"{scenario.task_id}.checks", "has none, so it cannot be scored")
    for index, check in enumerate(scenario.checks):
        where = f"{scenario.task_id}.checks[{index}].function"
        try:
            tree = ast.parse(check.function)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            yield Finding("error", where, f"does not parse ({str(error) or 'nested too deeply'})")
            continue
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        if "check_func" not in defined:
            yield Finding("error", where, "does not define check_func(final_state)")
    for index, call in enumerate(scenario.oracle or ()):
        where = f"{scenario.task_id}.oracle[{index}]"
        if call.name not in tools:
            yield Finding("error", f"{where}.name", f"no tool '{call.name}'; {near_miss(call.name, list(tools))}")
            continue
        schema = tools[call.name].parameters
        for name in schema["required"]:
            if name not in call.arguments:
                yield Finding("error", f"{where}.arguments", f"lacks '{name}', which {call.name} requires")
        if not schema.get("additionalProperties", True):
            for name in call.arguments:
                if name not in schema["properties"]:
                    known = near_miss(name, list(schema["properties"]))
                    yield Finding("error", f"{where}.arguments", f"{call.name} has no parameter '{name}'; {known}")


def _played(scenario: Scenario, record: EnvironmentRecord, runner: Runner) -> Iterator[Finding]:
    """What running shows: it starts, its checks give verdicts, doing nothing earns nothing, the oracle solves it."""
    program = Program(
        source=record.source,
        class_name=record.class_name,
        config=scenario.init_config,
        tools=frozenset(tool.name for tool in record.own_tools),
        clock=scenario.time,
        seed=scenario.seed,
    )
    try:
        environment = SynthesizedEnvironment(runner, program, record.own_tools)
    except EnvironmentFault as fault:
        yield Finding("error", f"{scenario.task_id}.init_config", f"the environment does not start ({fault})")
        return
    try:
        yield from _unknown_keys(scenario, record)
        for index, verdict in enumerate(run_checks(runner, scenario, environment.initial, environment.initial)):
            where = f"{scenario.task_id}.checks[{index}].function"
            if verdict.error is not None:
                yield Finding("error", where, f"on the initial state it {verdict.error}")
            if verdict.passed:
                yield Finding("note", where, "is already true in the initial state")
        if scenario.oracle is not None:
            yield from _oracle(scenario, environment, runner)
    except EnvironmentFault as fault:
        yield Finding("error", scenario.task_id, f"the environment fails when played ({fault})")
    finally:
        environment.close()


def _unknown_keys(scenario: Scenario, record: EnvironmentRecord) -> Iterator[Finding]:
    known = names_in(ast.parse(record.source))
    for key in scenario.init_config.decode():
        if key not in known:
            yield Finding("note", f"{scenario.task_id}.init_config.{key}", "is a key that the environment never reads")


def names_in(source: ast.Module) -> set[str]:
    """All that a source names as an attribute or a text; what a configuration has besides is set and read by nobody."""
    names: set[str] = set()
    for node in ast.walk(source):
        if isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
    return names


def _oracle(scenario: Scenario, environment: SynthesizedEnvironment, runner: Runner) -> Iterator[Finding]:
    for index, call in enumerate(scenario.oracle or ()):
        result = environment.call(call.name, call.arguments)
        if result.status is not ToolStatus.OK:
            yield Finding("error", f"{scenario.task_id}.oracle[{index}]", f"{call.name}: {result.text}")
            return
    verdicts = run_checks(runner, scenario, environment.initial, environment.state())
    for index, verdict in enumerate(verdicts):
        if not verdict.passed:
            reason = verdict.error or "is false"
            yield Finding("error", f"{scenario.task_id}.checks[{index}]", f"after the oracle's calls it {reason}")
