"""Synthesized scenarios as a benchmark: samples, parameters, prompts, protocols, endings."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import registry
from benchmarks.benchmark import Sample
from benchmarks.scenario_prompts import OWN, introduction, prompts
from benchmarks.scenarios import KEPT_VERDICTS, PAPER, SCENARIOS, STRICT, _Verdicts, load_samples
from envscaler.scenarios import Scenario, load, write_records, write_unpacked
from harness.artifacts import MissingData
from harness.errors import DataError, SettingError
from harness.messages import Message, assistant
from harness.outcome import Ending, Outcome, StopReason
from harness.program import Checks, Verdict
from harness.protocol import Protocol
from harness.rollout import play
from harness.state import State
from harness.trusted import TrustedRunner
from tests.envscaler.playground import SHOP, cancel, check, corpus, names, public, release_sample, shop

CANCEL = ("set_status", {"order_id": "O-1", "status": "cancelled"})
CRASH: tuple[str, dict[str, Any]] = ("crash", {})
DONE = assistant("Task Completed")


def corpus_of(folder: Path, *scenarios: Scenario, **environment: Any) -> str:
    """A corpus of the shop on disk."""
    write_records(corpus(*scenarios, environment=shop(**environment)), folder, "packed")
    return str(folder)


def outcome(sample: Sample, *said: Message, user: tuple[str, ...] = (), protocol: Protocol | None = None) -> Outcome:
    """How an episode ends in which the agent says these messages, and the user these raw texts."""
    agent, person = iter(said), iter(user)
    played = play(sample.case(), protocol or sample.protocol or PAPER, lambda *_: next(agent), lambda _: next(person))
    assert played.trajectory.outcome is not None
    return played.trajectory.outcome


def shop_sample(folder: Path, *scenarios: Scenario, protocol: Protocol = PAPER, **parameters: Any) -> Sample:
    return load_samples(protocol, corpus=corpus_of(folder, *scenarios), **parameters)[0]


def test_the_bundled_corpus_is_isolated_unless_asked_otherwise() -> None:
    (sample,) = load_samples(PAPER, limit=1)
    assert sample.case().level == "isolated"
    (sample,) = load_samples(PAPER, limit=1, level="trusted")
    assert sample.case().level == "trusted"


def test_samples_have_the_task_ids_of_the_corpus_and_the_groups_of_its_environments() -> None:
    samples = load_samples(PAPER)
    assert [sample.id for sample in samples] == list(load().scenarios)
    assert {sample.group for sample in samples} == set(load().environments)
    assert samples[0].subset == "non_conversation"
    assert samples[0].metadata["task"] == load().scenarios[samples[0].id].task


@pytest.mark.parametrize(
    ("setting", "ids", "steps"),
    [
        ("non_conversation", ["a", "b"], [30, 30]),
        ("conversation", ["a", "c"], [40, 40]),
        ("all", ["a/non_conversation", "b/non_conversation", "a/conversation", "c/conversation"], [30, 30, 40, 40]),
    ],
)
def test_a_setting_takes_its_scenarios_and_its_step_limit(
    tmp_path: Path, setting: str, ids: list[str], steps: list[int]
) -> None:
    scenarios = (
        cancel(task_id="a"),
        cancel(task_id="b", settings=("non_conversation",)),
        cancel(task_id="c", settings=("conversation",)),
    )
    samples = load_samples(PAPER, corpus=corpus_of(tmp_path, *scenarios), setting=setting)
    assert [sample.id for sample in samples] == ids
    assert [sample.case().id for sample in samples] == ids
    assert [sample.protocol.step_limit for sample in samples if sample.protocol] == steps


@pytest.mark.parametrize("environments", ["library_circulation", ["library_circulation"], " library_circulation , "])
def test_environments_are_chosen_by_id(environments: Any) -> None:
    assert {sample.group for sample in load_samples(PAPER, environments=environments)} == {"library_circulation"}


def test_the_limit_counts_scenarios_in_each_setting() -> None:
    samples = load_samples(PAPER, setting="all", limit=2)
    assert [sample.subset for sample in samples] == ["non_conversation"] * 2 + ["conversation"] * 2


def test_the_limit_takes_as_many_of_each_environment_in_the_corpus_order() -> None:
    environments = list(load().environments)
    samples = load_samples(PAPER, limit=2 * len(environments) + 1)
    counted = Counter(sample.group for sample in samples)
    assert counted == {name: 3 if name == environments[0] else 2 for name in environments}
    assert [sample.id for sample in samples] == [name for name in load().scenarios if name in {s.id for s in samples}]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"setting": "conversatoin"}, "setting=conversatoin: unknown; did you mean 'conversation'?"),
        ({"setting": 5}, "setting=5: unknown; one of all, conversation, non_conversation"),
        ({"environments": "library"}, "no environment 'library'; "),
        ({"environments": 5}, "no environment '5'; "),
        ({"limit": 0}, "limit=0: must be a whole number, 1 or more"),
        ({"limit": "two"}, "limit=two: must be a whole number, 1 or more"),
        ({"limit": True}, "limit=True: must be a whole number, 1 or more"),
        ({"limit": 1.5}, "limit=1.5: must be a whole number, 1 or more"),
        ({"level": "isolatd"}, "level=isolatd: unknown; one of isolated, process, trusted"),
        ({"unchecked": "ply"}, "unchecked=ply: unknown; one of play, refuse, skip"),
        ({"tools": "their"}, "tools=their: unknown; one of own, release"),
        ({"tools": "release"}, "tools=release: environment '"),
        ({"seting": "all"}, "scenarios has no parameter 'seting'"),
    ],
    ids=str,
)
def test_a_parameter_that_cannot_be_honoured_is_named(parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError) as raised:
        load_samples(PAPER, **parameters)
    assert str(raised.value).startswith(sentence)


def test_only_the_bundled_corpus_may_be_trusted(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="level=trusted: only for the bundled corpus"):
        load_samples(PAPER, corpus=corpus_of(tmp_path), level="trusted")


@pytest.fixture
def mixed(tmp_path: Path) -> str:
    """Three scenarios, of which the first and the last have no checks."""
    bare = [replace(cancel(task_id=name), checks=()) for name in ("a", "c")]
    return corpus_of(tmp_path, bare[0], cancel(task_id="b"), bare[1])


def test_scenarios_without_checks_are_refused_with_their_number_and_the_way_out(mixed: str) -> None:
    sentence = (
        "2 of 3 scenarios have no checks and cannot be scored, the first is 'a'; unchecked=skip leaves them out, "
        "unchecked=play plays them without a score"
    )
    for setting in ("conversation", "all"):
        with pytest.raises(SettingError) as raised:
            load_samples(PAPER, corpus=mixed, setting=setting)
        assert str(raised.value) == sentence


def test_scenarios_without_checks_are_left_out_and_counted_once(mixed: str) -> None:
    samples = load_samples(PAPER, corpus=mixed, setting="all", unchecked="skip", limit=1)
    assert [sample.id for sample in samples] == ["b/non_conversation", "b/conversation"]
    assert samples.left_out == 2
    assert load_samples(PAPER, limit=1, unchecked="skip").left_out == 0


def test_a_corpus_of_which_nothing_is_left_is_refused(tmp_path: Path) -> None:
    bare = corpus_of(tmp_path, replace(cancel(), checks=()))
    with pytest.raises(SettingError, match="unchecked=skip: none of the 1 chosen scenarios has checks"):
        load_samples(PAPER, corpus=bare, unchecked="skip")


def test_a_scenario_without_checks_is_played_and_never_scored(mixed: str) -> None:
    bare, scored, _ = load_samples(PAPER, corpus=mixed, unchecked="play")
    assert (bare.metadata["checks"], scored.metadata["checks"]) == (0, 2)
    calls = assistant("", [CANCEL])
    found = outcome(bare, calls, DONE)
    assert (found.ending, found.stop_reason, found.steps) == (Ending.UNSCORED, StopReason.AGENT_DONE, 2)
    assert (found.score, found.fault) == (None, None)
    # A rule that ends an episode with 0 gives no 0 where there is no score.
    crashed = outcome(bare, assistant("", [CRASH]))
    assert (crashed.ending, crashed.stop_reason, crashed.score) == (Ending.UNSCORED, StopReason.TOOL_EXCEPTION, None)
    assert outcome(scored, calls, DONE).ending is Ending.SCORED


def test_a_setting_that_no_scenario_has_is_named(tmp_path: Path) -> None:
    where = corpus_of(tmp_path, cancel(settings=("conversation",)))
    with pytest.raises(SettingError, match="no scenarios for setting=non_conversation"):
        load_samples(PAPER, corpus=where)


def test_source_that_does_not_parse_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"environments.jsonl: shop.source: environment source does not parse"):
        load_samples(PAPER, corpus=corpus_of(tmp_path, source="class Shop(:"))


@pytest.mark.parametrize(
    ("released", "tools", "shown"),
    [
        (True, None, ["get_order"]),
        (True, "release", ["get_order"]),
        (True, "own", ["get_order", "set_status", "crash"]),
        (False, None, ["get_order", "set_status", "crash"]),
    ],
)
def test_a_record_that_came_with_tools_shows_them_unless_asked_otherwise(
    tmp_path: Path, released: bool, tools: str | None, shown: list[str]
) -> None:
    folder = public(tmp_path, environment={} if released else {"tools": ...})
    opened = load_samples(PAPER, corpus=str(folder), tools=tools)[0].case().open()
    assert names(opened.tools) == shown
    opened.close()


def test_what_is_not_offered_cannot_be_called(tmp_path: Path) -> None:
    opened = load_samples(PAPER, corpus=str(public(tmp_path)))[0].case().open()
    for name in ("set_status", "_helper", "orders", "__init__", "nope"):
        assert opened.call(name, {}).text == f"Error: unknown tool '{name}'."
    opened.close()


@pytest.fixture
def solved(tmp_path: Path) -> Sample:
    return shop_sample(tmp_path)


def test_the_task_solved_is_worth_1(solved: Sample) -> None:
    result = outcome(solved, assistant("", [CANCEL]), DONE)
    assert result.ending is Ending.SCORED
    assert result.score is not None
    assert (result.score.value, result.score.success, result.stop_reason) == (1.0, True, StopReason.AGENT_DONE)
    assert result.level == "isolated"


def test_a_tool_that_raises_ends_the_episode_with_0_but_the_state_is_judged(solved: Sample) -> None:
    result = outcome(solved, assistant("", [CANCEL]), assistant("", [CRASH]))
    assert result.score is not None
    assert (result.score.value, result.stop_reason) == (0.0, StopReason.TOOL_EXCEPTION)
    assert result.score.parts["state_value"] == 1.0


def test_strict_tells_the_agent_of_an_exception_and_runs_calls_in_order(tmp_path: Path) -> None:
    sample = shop_sample(tmp_path, protocol=STRICT)
    result = outcome(sample, assistant("", [CRASH, CANCEL]), DONE)
    assert result.score is not None
    assert (result.score.value, result.counts["tool_exceptions"]) == (1.0, 1)


def test_the_limit_is_worth_0_under_paper_and_the_state_under_strict(tmp_path: Path) -> None:
    for protocol, value in ((PAPER, 0.0), (STRICT, 1.0)):
        sample = shop_sample(tmp_path, protocol=protocol)
        result = outcome(sample, *[assistant("", [CANCEL])] * 30)
        assert result.score is not None
        assert (result.score.value, result.steps, result.stop_reason) == (value, 30, StopReason.STEP_LIMIT)


def test_observations_are_python_under_paper_and_json_under_strict(tmp_path: Path) -> None:
    for protocol, text in ((PAPER, "{'success': True, 'data': 'open'}"), (STRICT, '{"success": true, "data": "open"}')):
        opened = shop_sample(tmp_path, protocol=protocol).case().open()
        assert opened.call("get_order", {"order_id": "O-1"}).text == text
        opened.close()


def test_an_environment_that_does_not_start_is_a_fault_and_no_score(tmp_path: Path) -> None:
    where = corpus_of(tmp_path, source=SHOP.replace('dict(init_config.get("orders", {}))', "init_config.missing"))
    result = outcome(load_samples(PAPER, corpus=where)[0])
    assert (result.ending, result.score) == (Ending.ENVIRONMENT_FAULT, None)
    assert result.fault is not None
    assert result.fault.startswith("init_failed: ")


def test_two_episodes_of_a_sample_share_nothing(solved: Sample) -> None:
    case = solved.case()
    first, second = case.open(), case.open()
    before = second.state()
    first.call(*CANCEL)
    assert second.state() == before
    assert first.state() != before
    assert case.open().state() == before
    first.close()
    second.close()


def test_the_floor_stands_in_every_score(tmp_path: Path) -> None:
    given = cancel(check("True"), check("final_state['orders']['O-1'] == 'cancelled'"))
    result = outcome(shop_sample(tmp_path, given), assistant("", [CANCEL]), DONE)
    assert result.score is not None
    parts = {key: result.score.parts[key] for key in ("reward", "floor", "lift", "damage")}
    assert parts == {"reward": 1.0, "floor": 0.5, "lift": 1.0, "damage": 0.0}


def test_initial_state_is_what_the_constructor_made_of_the_configuration(tmp_path: Path) -> None:
    # `log` is no key of the configuration: the constructor makes it.
    given = cancel(check("initial_state['log'] == [] and set(initial_state['orders']) == {'O-1', 'O-2'}"))
    result = outcome(shop_sample(tmp_path, given), DONE)
    assert result.score is not None
    assert result.score.value == 1.0


def test_a_conversation_ends_when_the_user_says_so(tmp_path: Path) -> None:
    sample = shop_sample(tmp_path, setting="conversation")
    case = sample.case()
    assert case.brief.user is not None
    said = ("# Thought:\nhm\n# Reply:\nCancel O-1, please.", "# Thought:\nok\n# Reply:\n###STOP###")
    result = outcome(sample, assistant("", [CANCEL]), assistant("It is cancelled."), user=said)
    assert result.score is not None
    assert (result.score.value, result.stop_reason, result.steps) == (1.0, StopReason.USER_STOP, 2)


def test_the_simulated_user_knows_the_goal_and_hears_the_agent(tmp_path: Path) -> None:
    task = "Cancel {O-1}; spend {task} or {0}."
    user_of = shop_sample(tmp_path, cancel(task=task), setting="conversation").case().brief.user
    assert user_of is not None
    user = user_of()
    opening = user.open().messages
    assert opening[0]["role"] == "system"
    assert task in opening[0]["content"]
    assert opening[1]["content"] == "[Agent] Hi! How can I help you today?"
    assert user.goal == task


def test_the_agent_is_told_the_environment_and_its_rules(tmp_path: Path) -> None:
    brief = shop_sample(tmp_path, cancel(clock=None)).case().brief
    assert brief.system == f"{OWN.agent['non_conversation']}\n\n{OWN.heading}\n{introduction(shop())}"
    assert brief.system.endswith("- An order that was sent stays as it is.")
    assert [turn.text for turn in brief.turns] == [cancel().task]


def test_the_agent_is_told_the_time_of_a_scenario_that_has_one(tmp_path: Path) -> None:
    told = shop_sample(tmp_path, cancel(clock="2025-03-14T09:05:00Z")).case().brief.system
    assert told is not None
    assert "\nIt is Friday, 2025-03-14, 09:05.\n\n" in told
    assert told.replace("\nIt is Friday, 2025-03-14, 09:05.\n", "") == OWN.system("non_conversation", shop())


def test_the_prompts_of_the_release_are_used_when_asked_for(tmp_path: Path) -> None:
    texts = json.loads((release_sample() / "prompts.json").read_bytes())
    protocol = replace(PAPER, prompts="release")
    where = corpus_of(tmp_path)
    system = load_samples(protocol, corpus=where)[0].case().brief.system
    user_of = load_samples(protocol, corpus=where, setting="conversation")[0].case().brief.user
    assert system is not None
    assert user_of is not None
    assert system.startswith(texts["agent"]["non_conversational_system_prompt"])
    assert texts["environment_introduction_heading"] in system
    assert "2026" not in system, "the release tells no time"
    assert user_of().open().messages[0]["content"] == texts["user_simulator"]["user_system_prompt"].replace(
        "{task}", cancel().task
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param("{", "is not the release's prompt file", id="no-json"),
        pytest.param("[]", "is not the release's prompt file", id="a-list"),
        pytest.param('{"agent": {}}', "is not the release's prompt file", id="without-a-text"),
    ],
)
def test_a_broken_prompt_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, problem: str
) -> None:
    monkeypatch.setenv("ENVSCALER_DATA", str(tmp_path))
    folder = tmp_path / "envscaler_release_sample"
    folder.mkdir()
    (folder / "prompts.json").write_text(content)
    with pytest.raises(DataError, match=problem) as raised:
        prompts("release")
    assert raised.value.file == str(folder / "prompts.json")


def test_absent_prompts_name_the_command_that_fetches_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVSCALER_DATA", str(tmp_path))
    monkeypatch.setenv("ENVSCALER_CACHE", str(tmp_path))
    with pytest.raises(MissingData, match="fetch it with: envscaler data pull envscaler_release_sample"):
        prompts("release")


def test_unknown_prompts_are_named() -> None:
    with pytest.raises(SettingError, match="prompts=their: unknown; one of own, release"):
        prompts("their")


def test_the_oracle_is_said_one_call_a_message(solved: Sample) -> None:
    oracle = solved.case().oracle
    assert oracle is not None
    calls = [call["function"] for message in oracle for call in message["tool_calls"]]
    assert [call["name"] for call in calls] == ["get_order", "set_status"]
    assert all(len(message["tool_calls"]) == 1 for message in oracle)


def test_a_scenario_without_an_oracle_has_none(tmp_path: Path) -> None:
    assert shop_sample(tmp_path, cancel(oracle=None)).case().oracle is None


def test_the_registry_answers_the_same_question_once() -> None:
    first = registry.loaded("scenarios", "paper", environments=["library_circulation"], limit=None)
    assert registry.loaded("scenarios", "paper", environments="library_circulation") is first
    assert first.benchmark is SCENARIOS
    assert set(first.by_id) == {sample.id for sample in first.samples}
    assert first.rules(first.samples[0]).step_limit == 30
    assert first.rules(replace(first.samples[0], protocol=None)) is first.protocol


@pytest.mark.parametrize(
    ("name", "rules", "parameters", "sentence"),
    [
        ("scenario", "paper", {}, "no benchmark 'scenario'; did you mean 'scenarios'?"),
        ("scenarios", "papr", {}, "scenarios: no protocol 'papr'; did you mean 'paper'?"),
        ("scenarios", ["paper"], {}, "scenarios: no protocol '['paper']'; "),
        (
            "scenarios",
            "paper",
            {"environments": {"a": 1}},
            "environments={'a': 1}: must be a text, a number, or a list",
        ),
        ("scenarios", "paper", {"corpus": 5}, "5: cannot be read: No such file or directory"),
    ],
)
def test_the_registry_names_what_it_does_not_know(
    name: str, rules: Any, parameters: dict[str, Any], sentence: str
) -> None:
    with pytest.raises((SettingError, DataError)) as raised:
        registry.loaded(name, rules, **parameters)
    assert str(raised.value).startswith(sentence)


def test_other_prompts_are_part_of_the_protocol() -> None:
    assert registry.protocol(SCENARIOS, "paper", "release") == replace(PAPER, prompts="release")
    assert registry.protocol(SCENARIOS, "paper") is PAPER


def test_a_corpus_in_any_form_is_evaluated_alike(tmp_path: Path) -> None:
    write_unpacked(corpus(), tmp_path / "unpacked")
    packed = shop_sample(tmp_path / "packed")
    (unpacked,) = load_samples(PAPER, corpus=str(tmp_path / "unpacked"))
    states = set()
    for sample in (packed, unpacked):
        opened = sample.case().open()
        states.add(opened.state())
        opened.close()
    assert states == {State.of({"orders": {"O-1": "open", "O-2": "open"}, "log": []})}


class CountingRunner(TrustedRunner):
    """Remembers which final states were judged."""

    def __init__(self) -> None:
        super().__init__()
        self.judged: list[State] = []

    def check(self, checks: Checks) -> list[Verdict]:
        self.judged.append(checks.final)
        return super().check(checks)


def test_the_same_state_is_judged_once_and_another_order_of_keys_is_another_state() -> None:
    runner = CountingRunner()
    first = "def check_func(final_state):\n    return next(iter(final_state['orders'])) == 'O-1'"
    verdicts = _Verdicts(runner, cancel(first))
    initial = State.of({"orders": {}})
    one, other = State.of({"orders": {"O-1": 1, "O-2": 2}}), State.of({"orders": {"O-2": 2, "O-1": 1}})
    assert one == other
    assert [verdict.passed for state in (one, one, other, one) for verdict in verdicts.of(initial, state)] == [
        True,
        True,
        False,
        True,
    ]
    assert [state.data for state in runner.judged] == [one.data, other.data]


def test_a_check_without_a_verdict_is_asked_again() -> None:
    runner = CountingRunner()
    verdicts = _Verdicts(runner, cancel("def check_func(final_state):\n    raise ValueError('no')"))
    state = State.of({"orders": {}})
    assert [verdicts.of(state, state)[0].passed for _ in range(2)] == [False, False]
    assert len(runner.judged) == 2


def test_only_the_latest_states_are_remembered() -> None:
    runner = CountingRunner()
    verdicts = _Verdicts(runner, cancel("def check_func(final_state):\n    return True"))
    initial = State.of({"orders": {}})
    for number in [*range(KEPT_VERDICTS + 1), KEPT_VERDICTS, 0]:
        verdicts.of(initial, State.of({"orders": {"O": number}}))
    assert len(runner.judged) == KEPT_VERDICTS + 2
