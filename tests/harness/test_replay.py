"""A recording in, the same verdict out: same observations, same state, same ending (DESIGN section 6)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.case import Case
from harness.environment import ToolSpec
from harness.messages import Message, user
from harness.outcome import StopReason
from harness.protocol import Protocol
from harness.rollout import Played, play, replay
from harness.trajectory import Recording, read_recordings, write_trajectories
from tests.harness.playground import (
    PRESETS,
    Shelf,
    assert_servers_accept,
    both_presets,
    call,
    case,
    goal_user,
    limited,
    recording,
    say,
    scripted,
    told,
    verdict,
    write,
)

PAPER, STRICT = PRESETS["paper"], PRESETS["strict"]


def recorded(*messages: Message) -> Recording:
    return Recording("n1", list(messages))


def notes(played: Played) -> Any:
    assert played.final_state is not None
    return [note.get("note") for note in played.final_state.decode()["notes"]]


# The rules


@both_presets
def test_recorded_calls_are_all_executed_whatever_the_protocol_keeps(protocol: Protocol) -> None:
    played = replay(case(), protocol, recorded(say("", write("a"), write("b")), say("Done.")))
    assert notes(played) == ["a", "b"]


@both_presets
def test_recorded_tool_and_system_messages_are_ignored(protocol: Protocol) -> None:
    lies = [{"role": "system", "content": "x"}, {"role": "tool", "content": "lies"}]
    played = replay(case(), protocol, recorded(*lies, user("Take notes."), say("", write("a")), *lies, say("Done.")))
    assert [executed.result.text for executed in played.trajectory.calls] == ["{'note': 'a'}"]
    assert played.trajectory.stop_reason is StopReason.AGENT_DONE


def test_only_assistant_messages_are_needed_where_turns_are_fixed() -> None:
    played = replay(case("One.", "Two."), PAPER, recorded(say("", write("a")), say("Ok."), say("", write("b"))))
    assert notes(played) == ["a", "b"]
    assert played.trajectory.turn_steps == [2, 1]


def test_a_user_message_where_the_agent_should_speak_ends_the_agents_turn() -> None:
    played = replay(
        case("One.", "Two."),
        PAPER,
        recorded(user("One."), say("", write("a")), user("Two."), say("", write("b")), say("Ok.")),
    )
    assert played.trajectory.turn_steps == [1, 2]
    assert played.trajectory.stop_reason is StopReason.TURNS_DONE


def test_a_conversation_without_a_last_word_is_finished_as_it_stands() -> None:
    played = replay(case(user=goal_user), PAPER, recorded(user("Milk."), say("", write("milk")), say("Ok.")))
    outcome = played.trajectory.outcome
    assert outcome is not None
    assert outcome.score is not None
    assert (outcome.stop_reason, outcome.score.value) == (StopReason.RECORDING_ENDED, 0.1)


@both_presets
def test_an_empty_recording_is_worth_what_doing_nothing_is(protocol: Protocol) -> None:
    for sample in (case(), case(user=goal_user)):
        played = replay(sample, protocol, recorded())
        assert (played.trajectory.stop_reason, notes(played)) == (StopReason.RECORDING_ENDED, [])


def test_recorded_user_replies_are_what_the_agent_saw() -> None:
    played = replay(case(user=goal_user), PAPER, recorded(user("Hi # Reply: there"), say("Ok."), user("###STOP###")))
    assert [message["content"] for message in played.trajectory.messages] == ["Hi # Reply: there", "Ok.", "###STOP###"]
    assert played.trajectory.stop_reason is StopReason.USER_STOP


def test_a_missing_user_reply_between_two_texts_was_an_empty_one() -> None:
    played = replay(case(user=goal_user), PAPER, recorded(user("Hi."), say("Ok."), say("", write("a"))))
    assert [message["role"] for message in played.trajectory.messages[:4]] == ["user", "assistant", "user", "assistant"]
    assert notes(played) == ["a"]


def test_messages_after_the_end_are_not_played() -> None:
    played = replay(case(), PAPER, recorded(say("Done."), say("", write("late"))))
    assert notes(played) == []


def test_the_step_limit_holds_in_replay() -> None:
    played = replay(case(), limited(PAPER, 2), recorded(*[say("", write())] * 3))
    assert (played.trajectory.stop_reason, notes(played)) == (StopReason.STEP_LIMIT, ["milk", "milk"])


def test_a_cut_off_call_is_not_executed_in_replay_either() -> None:
    assert notes(replay(case(), PAPER, recorded(say("", write(), stop="length")))) == []


def test_calls_without_ids_and_with_decoded_arguments_are_played() -> None:
    bare = {"function": {"name": "write", "arguments": {"note": 5.0}}}
    assert repr(notes(replay(case(), PAPER, recorded(say("", bare))))) == "[5.0]"


def test_replay_closes_what_it_opens() -> None:
    shelf = Shelf()
    replay(case(open=shelf), PAPER, recorded(say("", write())))
    assert shelf.opened[0].closed


PER_TURN = limited(STRICT, 3, per="turn")


@pytest.mark.parametrize(
    ("messages", "turn_steps"),
    [
        pytest.param([user("1"), say("", write()), user("2"), say("", write())], [1, 1], id="turns-as-recorded"),
        pytest.param([user("1"), say("Ok."), user("2"), say("Ok."), user("3"), say("Ok.")], [1, 1, 1], id="one-more"),
        pytest.param([user("1"), say("", write()), say("Ok.")], [2], id="one-fewer"),
        pytest.param([user("1"), say("So."), say("", write()), say("Ok."), user("2")], [2, 0], id="text-in-between"),
        pytest.param([user("1"), *[say("", write())] * 5, user("2"), say("Ok.")], [5, 1], id="beyond-the-limit"),
        pytest.param([say("", write()), say("Ok."), say("", write())], [2, 1], id="no-user-messages"),
    ],
)
def test_where_limits_count_by_turn_the_recordings_user_messages_say_where_turns_end(
    messages: list[Message], turn_steps: list[int]
) -> None:
    assert replay(case("One.", "Two."), PER_TURN, recorded(*messages)).trajectory.turn_steps == turn_steps


# Replay equals live

LIVE = [
    pytest.param([say("", write("a")), say("", write("b"), write("c"))], id="calls"),
    pytest.param([say("", call("write", "{")), say("", call("burn")), say("", write())], id="slips-in-between"),
    pytest.param([say(""), say("", write(), stop="length"), say("", {"function": {}})], id="slips-only"),
    pytest.param([say("", {"function": {"arguments": "{}"}}), say("", call(""))], id="no-name-is-no-empty-name"),
    pytest.param([say("", call("fail")), say("", write())], id="tool-raises"),
    pytest.param([say("", write(), call("crash"))], id="environment-breaks"),
    pytest.param([say("", call("crash"))], id="environment-breaks-at-once"),
    pytest.param([say("", write()), say("", call("leave"))], id="tool-ends"),
    pytest.param([say("", write())] * 50, id="limit"),
    pytest.param([say("", write(), stop="context_full")], id="context-full"),
    pytest.param([say("<think>never closes")], id="markup"),
    pytest.param([say("", call("write", '{"note": "\\ud83d"}')), say("", call("\ud83d"))], id="half-characters"),
    pytest.param([say("", call("write", '{"note": NaN}'))], id="nan"),
    pytest.param([say("", {"function": {"name": "write", "arguments": {"note": (1, {2: 3})}}})], id="decoded"),
]


@both_presets
@pytest.mark.parametrize("script", LIVE)
def test_replay_of_a_live_episode_gives_the_same_verdict(protocol: Protocol, script: list[Message]) -> None:
    live = play(case(), protocol, scripted(*script))
    assert verdict(replay(case(), protocol, recording(live))) == verdict(live)


@both_presets
@pytest.mark.parametrize("script", LIVE)
def test_replay_of_a_live_conversation_gives_the_same_verdict(protocol: Protocol, script: list[Message]) -> None:
    sample = case(user=goal_user)
    answers = iter([told("Hi."), "no form", told("Go on."), told("Thanks. ###STOP###"), "###STOP###"])
    live = play(sample, protocol, scripted(*script), lambda messages: next(answers))
    assert verdict(replay(sample, protocol, recording(live))) == verdict(live)


def odd(*usual: Any) -> st.SearchStrategy[Any]:
    """One of these, or something that no server should send."""
    return st.sampled_from([*usual, *usual, None, 5, "", {}, ["x"]])


ARGUMENTS = st.one_of(
    st.builds(lambda note: write(note)["function"]["arguments"], st.text() | st.floats() | st.integers()),
    st.sampled_from(["", "{", '"{}"', "null", "{}", '{"size": 3}', '{"note": "\\udc00"}']),
    st.dictionaries(st.text(max_size=3), st.none() | st.integers() | st.lists(st.booleans()), max_size=2),
)
NAMES = odd("write", "write", "wipe", "fail", "leave", "show", "crash", "burn")
CALLS = st.builds(
    lambda name, arguments, id: {"id": id, "function": {"name": name, "arguments": arguments}},
    NAMES,
    ARGUMENTS,
    odd("x", "y", "call_1"),
)
TEXTS = st.sampled_from(["", "Done.", "<think>a</think>b", "<think>a", "<tool_call>", "finish", "###STOP###", None])
MESSAGES = st.builds(
    lambda text, calls, stop: say(text, *calls, stop=stop),
    TEXTS,
    st.lists(CALLS | st.sampled_from([None, "write"]), max_size=3) | st.lists(CALLS, min_size=1, max_size=1),
    st.sampled_from([None, None, None, "stop", "length", "context_full"]),
)
USERS = st.lists(st.sampled_from([told("Go on."), "no form", told(""), told("###STOP###"), "<think>a"]), max_size=4)
SAMPLES = {
    "task": case(),
    "turns": case("One.", "Two.", "Three."),
    "finish": case(finish_word="finish", nudge="Go on."),
    "conversation": case(user=goal_user),
    "may-finish": case(user=goal_user, finish_word="finish"),
}


def played_at_random(sample: Case, protocol: Protocol, script: list[Message], users: list[str]) -> Played:
    """A live episode; every history on the way is one that servers accept."""
    agent, answers = scripted(*script), iter(users)

    def checked(messages: list[Message], tools: Any) -> Message:
        assert_servers_accept(messages)
        return agent(messages, tools)

    return play(sample, limited(protocol, 6), checked, lambda messages: next(answers, "###STOP###"))


@both_presets
@pytest.mark.parametrize("kind", SAMPLES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(script=st.lists(MESSAGES, max_size=6), users=USERS)
def test_any_episode_ends_without_an_exception_and_replays_to_the_same_verdict(
    protocol: Protocol, kind: str, script: list[Message], users: list[str]
) -> None:
    sample = SAMPLES[kind]
    if kind == "finish":
        script = [*script, say("finish")]
    live = played_at_random(sample, protocol, script, users)
    again = replay(sample, limited(protocol, 6), recording(live))
    assert verdict(again) == verdict(live)
    assert verdict(replay(sample, limited(protocol, 6), recording(again))) == verdict(live)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(script=st.lists(MESSAGES, max_size=4))
def test_a_file_holds_all_that_replay_needs(tmp_path: Path, script: list[Message]) -> None:
    live = [play(case(), protocol, scripted(*script)) for protocol in PRESETS.values()]
    write_trajectories(tmp_path / "t.jsonl", [played.trajectory for played in live])
    read = list(read_recordings(tmp_path / "t.jsonl"))
    assert [verdict(replay(case(), PRESETS[one.protocol], one)) for one in read] == [verdict(one) for one in live]


def test_tools_of_the_record_are_those_the_agent_saw_last() -> None:
    (tool, *_) = play(case(), PAPER, scripted()).trajectory.tools
    assert ToolSpec.from_openai(tool.openai()) == tool


def test_a_replay_leaves_its_recording_alone() -> None:
    kept = recorded(user("Take notes."), say("", call("write", {"note": {"a": 1}}), id="x"))
    before = repr(kept)
    replay(case(), PAPER, kept)
    replay(replace(case("One.", "Two.")), PER_TURN, kept)
    assert repr(kept) == before
