"""ACEBench-Agent as a benchmark: samples, what agents are told, endings, scores, replay and the reference agents."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.acebench_agent import ACEBENCH_AGENT, NUDGE
from benchmarks.benchmark import Sample
from harness.artifacts import MissingData
from harness.case import Case
from harness.errors import SettingError
from harness.messages import Message, assistant
from harness.outcome import Outcome, Score, StopReason
from harness.reference import AGENTS, scripted_user
from harness.rollout import Played, UserModel, play, replay
from harness.trajectory import Recording
from tests.adapters.acebench import small

PROTOCOLS = ACEBENCH_AGENT.protocols
Load = Callable[..., dict[str, Sample]]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Samples of the small ACEBench by id: `load("paper", subset="multi_step")`."""
    monkeypatch.setenv("ENVSCALER_DATA", str(small.write(tmp_path)))
    return lambda rules="paper", **parameters: {s.id: s for s in ACEBENCH_AGENT.load(PROTOCOLS[rules], **parameters)}


@pytest.fixture
def real() -> None:
    """Skips where the real data are not there."""
    try:
        ACEBENCH_AGENT.load(PROTOCOLS["paper"])
    except MissingData as missing:
        pytest.skip(str(missing))


def say(*script: Message | str) -> Callable[[Any, Any], Message]:
    """An agent that says these messages, the last one over and over."""
    rest = [assistant(each) if isinstance(each, str) else each for each in script]
    return lambda messages, tools: rest.pop(0) if len(rest) > 1 else rest[0]


def users(*script: str) -> UserModel:
    """A user model that says these replies, the last one over and over."""
    rest = list(script)
    return lambda messages: rest.pop(0) if len(rest) > 1 else rest[0]


def raw(arguments: Any, name: str = "turn_on_wifi", content: str | None = "") -> Message:
    """A message with one call whose arguments are exactly these."""
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": content, "tool_calls": [call]}


def finish(case: Case, rules: str, agent: str) -> Played:
    """Play a reference agent, with a scripted user where there is one."""
    user: UserModel | None = None
    if case.brief.user is not None:
        reply, given = scripted_user(case.brief.user()), iter(range(100))
        user = lambda messages: reply(next(given))  # noqa: E731
    return play(case, PROTOCOLS[rules], AGENTS[agent](case, 1), user)


def ended(played: Played) -> tuple[Outcome, Score]:
    outcome = played.trajectory.outcome
    assert outcome is not None
    assert outcome.score is not None
    return outcome, outcome.score


def test_samples_have_the_official_ids_in_order(load: Load) -> None:
    steps, turns = ["agent_multi_step_2", "agent_multi_step_3"], [f"agent_multi_turn_{n}" for n in range(3)]
    assert list(load()) == steps + turns
    assert list(load(subset="multi_step")) == steps
    assert {sample.subset for sample in load(subset="multi_turn").values()} == {"multi_turn"}


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"language": "de"}, "language=de: unknown; one of en, zh"),
        ({"subset": "multi_steps"}, "subset=multi_steps: unknown; did you mean 'multi_step'?"),
        ({"language": ["en"]}, "language=['en']: unknown; one of en, zh"),
        ({"subset": 5}, "subset=5: unknown; one of all, multi_step, multi_turn"),
        ({"split": "test"}, "acebench_agent has no parameter 'split'"),
    ],
)
def test_an_unknown_setting_is_named_with_what_is_known(load: Load, parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        load(**parameters)
    assert str(caught.value) == sentence


def test_without_data_the_command_that_fetches_them_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVSCALER_DATA", str(tmp_path))
    monkeypatch.setenv("ENVSCALER_CACHE", str(tmp_path))
    with pytest.raises(MissingData, match="envscaler data pull acebench"):
        ACEBENCH_AGENT.load(PROTOCOLS["paper"])


def test_what_an_agent_is_told_depends_on_protocol_and_subset(load: Load) -> None:
    def system(rules: str, number: str) -> str | None:
        return load(rules)[f"agent_multi_{number}"].case().brief.system

    assert system("paper", "step_2") == "Alone: say 'Task Completed'."
    policy = "Policy BASE.\nBe polite.\n\nEnd."
    assert system("paper", "turn_0") == f"With a user.\n\nAbout the environment:\n{policy}"
    assert system("strict", "turn_0") == system("paper", "turn_0")
    assert system("official", "step_2") == "Work in steps.\n"
    assert system("official", "turn_2") == f"Serve the user.\n{policy.replace('BASE', 'TRAVEL')}"


def test_the_users_goal_stands_in_its_prompt_as_it_is(load: Load) -> None:
    seen: list[Message] = []
    case = load()["agent_multi_turn_0"].case()

    def user(messages: list[Message]) -> str:
        seen[:] = messages
        return "finish conversation"

    play(case, PROTOCOLS["paper"], say("?"), user)
    assert seen[0]["content"] == "You want (BASE): Tell Bo {yes}."


@pytest.mark.parametrize("rules", list(PROTOCOLS))
def test_the_oracle_solves_every_small_sample(load: Load, rules: str) -> None:
    for sample in load(rules).values():
        _, score = ended(finish(sample.case(), rules, "oracle"))
        assert (sample.id, score.value, score.success, score.parts["strict"]) == (sample.id, 1.0, True, 1.0)


@pytest.mark.parametrize(("rules", "solved"), [("paper", ["agent_multi_turn_1"]), ("official", [])])
def test_doing_nothing_solves_the_misspelt_task_unless_the_official_loop_keeps_no_state(
    load: Load, rules: str, solved: list[str]
) -> None:
    scores = {sample.id: ended(finish(sample.case(), rules, "noop"))[1] for sample in load(rules).values()}
    assert [name for name, score in scores.items() if score.value] == solved
    assert all(score.parts["strict"] == 0.0 for score in scores.values())


def test_what_differs_from_the_strict_answer_is_told(load: Load) -> None:
    _, score = ended(finish(load()["agent_multi_step_2"].case(), "paper", "noop"))
    assert score.parts["differs"] == [
        "FoodPlatform.logged_in_users[0]",
        "FoodPlatform.orders[0]",
        "FoodPlatform.users.Ada.balance",
    ]


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(raw("{bad"), id="not-json"),
        pytest.param(raw("[1]"), id="a-list"),
        pytest.param({**raw('{"x": 1'), "finish_reason": "length"}, id="cut-off"),
    ],
)
def test_a_reply_that_crashes_the_papers_evaluation_counts_as_0_and_can_be_told(load: Load, message: Message) -> None:
    case = load()["agent_multi_step_2"].case()
    assert case.oracle is not None
    outcome, score = ended(play(case, PROTOCOLS["paper"], say(*case.oracle, message, "Task Completed")))
    assert (outcome.stop_reason, score.value) == (StopReason.INVALID_REPLY, 0.0)
    assert (score.parts["end_to_end"], score.parts["process"], score.parts["strict"]) == (0.0, 0.0, 0.0)
    assert score.parts["state"] == {"end_to_end": 1.0, "process": 1.0, "strict": 1.0}
    assert ended(play(case, PROTOCOLS["strict"], say(*case.oracle, message, "Task Completed")))[1].value == 1.0


@pytest.mark.parametrize("message", [raw(""), raw({}), raw("{}", content=None), raw('{"x": 1}', "nope")])
def test_blank_arguments_null_content_and_unknown_tools_crash_nothing(load: Load, message: Message) -> None:
    case = load()["agent_multi_step_3"].case()
    assert case.oracle is not None
    outcome, score = ended(play(case, PROTOCOLS["paper"], say(message, *case.oracle, "Task Completed")))
    assert (outcome.stop_reason, score.value) == (StopReason.AGENT_DONE, 1.0)


def test_only_the_first_call_of_a_message_is_made_in_the_paper(load: Load) -> None:
    both = assistant(calls=[("turn_on_wifi", {}), ("login_device", {})])
    for rules, made in (("paper", 1), ("official", 2), ("strict", 2)):
        case = load(rules)["agent_multi_step_3"].case()
        word = case.brief.finish_word
        assert word is not None
        assert len(play(case, PROTOCOLS[rules], say(both, word)).trajectory.calls) == made


@pytest.mark.parametrize(("rules", "word"), [("paper", "Task Completed"), ("official", "finish conversation")])
def test_only_the_finish_word_ends_a_multi_step_episode_and_talk_is_nudged(load: Load, rules: str, word: str) -> None:
    case = load(rules)["agent_multi_step_2"].case()
    call = assistant(f"So: {word}.", [("turn_on_wifi", {})])
    played = play(case, PROTOCOLS[rules], say("Which one?", word.upper(), call))
    assert [m["content"] for m in played.trajectory.messages if m["role"] == "user"][1:] == [NUDGE, NUDGE]
    assert (ended(played)[0].stop_reason, played.trajectory.calls) == (StopReason.AGENT_DONE, [])


@pytest.mark.parametrize(
    ("rules", "said", "replies", "reason"),
    [
        ("paper", "finish conversation", ("Hello", "Go on", "finish conversation"), StopReason.USER_STOP),
        ("official", "finish conversation", ("Hello", "Go on"), StopReason.AGENT_DONE),
        ("official", "Done?", ("Hello", "finish conversation"), StopReason.USER_STOP),
        ("paper", "Task Completed", ("Hello", "Go on"), StopReason.STEP_LIMIT),
    ],
)
def test_who_may_end_a_conversation(
    load: Load, rules: str, said: str, replies: Sequence[str], reason: StopReason
) -> None:
    case = load(rules)["agent_multi_turn_0"].case()
    assert ended(play(case, PROTOCOLS[rules], say(said), users(*replies)))[0].stop_reason is reason


def test_a_reached_limit_is_scored_on_the_state_unless_the_last_reply_was_empty(load: Load) -> None:
    case = load()["agent_multi_step_2"].case()
    assert case.oracle is not None
    chatting = play(case, PROTOCOLS["paper"], say(*case.oracle, "hm"))
    outcome, score = ended(chatting)
    assert (outcome.stop_reason, outcome.steps, score.value) == (StopReason.STEP_LIMIT, 20, 1.0)
    silent = play(case, PROTOCOLS["paper"], say(*case.oracle, ""))
    outcome, score = ended(silent)
    assert (outcome.stop_reason, outcome.counts["empty_reply"], score.value) == (StopReason.STEP_LIMIT, 18, 0.0)
    assert score.parts["state"]["end_to_end"] == 1.0
    assert silent.trajectory.messages[-1] == {"role": "user", "content": "Action is empty."}


def test_calls_beside_the_finish_word_are_logged_for_process_and_not_made(load: Load) -> None:
    case = load()["agent_multi_step_2"].case()
    assert case.oracle is not None
    first = case.oracle[0]
    played = play(case, PROTOCOLS["paper"], say({**first, "content": "Task Completed"}))
    assert (ended(played)[1].parts["process"], played.trajectory.calls) == (0.5, [])


@pytest.mark.parametrize("agent", ["oracle", "noop", "random"])
@pytest.mark.parametrize("rules", list(PROTOCOLS))
def test_a_replay_is_judged_as_the_live_episode_was(load: Load, rules: str, agent: str) -> None:
    for sample in load(rules).values():
        live = finish(sample.case(), rules, agent)
        again = replay(sample.case(), PROTOCOLS[rules], Recording(sample.id, live.trajectory.messages, {}))
        assert again.final_state == live.final_state
        assert again.trajectory.outcome == live.trajectory.outcome


def test_a_recording_of_calls_alone_is_judged_on_its_state(load: Load) -> None:
    for sample in load().values():
        case = sample.case()
        assert case.oracle is not None
        _, score = ended(replay(case, PROTOCOLS["paper"], Recording(sample.id, list(case.oracle), {})))
        assert {key: score.parts[key] for key in ACEBENCH_AGENT.replay_keys} == {
            "end_to_end": 1.0,
            "process": 1.0,
            "strict": 1.0,
        }


def test_two_runs_in_one_process_start_from_the_same_state(load: Load) -> None:
    for sample in load().values():
        case = sample.case()
        before = case.open().state()
        first, second = (finish(case, "paper", "oracle") for _ in range(2))
        assert first.trajectory.messages == second.trajectory.messages
        assert first.final_state == second.final_state
        assert case.open().state() == before


def test_every_protocol_can_be_written_into_a_log() -> None:
    for protocol in PROTOCOLS.values():
        assert json.loads(json.dumps(protocol.record()))["name"] == protocol.name


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("rules", list(PROTOCOLS))
def test_the_oracle_solves_all_fifty_tasks_by_both_scores(language: str, rules: str) -> None:
    samples = ACEBENCH_AGENT.load(PROTOCOLS[rules], language=language)
    assert len(samples) == 50
    scores = {sample.id: ended(finish(sample.case(), rules, "oracle"))[1] for sample in samples}
    assert [name for name, score in scores.items() if score.value != 1.0] == []
    assert [name for name, score in scores.items() if score.parts["strict"] != 1.0] == []


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("rules", "solved"), [("paper", ["agent_multi_turn_7"]), ("official", [])])
def test_the_printed_floor_is_what_doing_nothing_scores(language: str, rules: str, solved: list[str]) -> None:
    samples = ACEBENCH_AGENT.load(PROTOCOLS[rules], language=language)
    scores = {sample.id: ended(finish(sample.case(), rules, "noop"))[1] for sample in samples}
    assert [name for name, score in scores.items() if score.value] == solved
    assert [name for name, score in scores.items() if score.parts["floor"]] == solved
    assert [name for name, score in scores.items() if score.parts["strict"]] == []
