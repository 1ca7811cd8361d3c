"""What becomes of a reply that cannot be used, under both presets of the scenarios. Never an exception."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.messages import Message, Slip
from harness.outcome import StopReason
from harness.protocol import Protocol
from tests.harness.playground import (
    PRESETS,
    asked,
    assert_servers_accept,
    both_presets,
    call,
    case,
    ended,
    goal_user,
    limited,
    say,
    started,
    told,
    write,
)

UNUSABLE = [
    pytest.param(call("write", '{"note": "mi'), "bad_arguments", "arguments are not valid JSON", id="bad-json"),
    pytest.param(call("write", '"{}"'), "bad_arguments", "must be a JSON object, not str", id="json-string"),
    pytest.param(call("write", "[1]"), "bad_arguments", "must be a JSON object, not list", id="json-list"),
    pytest.param(call("write", ""), "bad_arguments", "arguments are not valid JSON", id="blank"),
    pytest.param({"function": {"arguments": "{}"}}, "bad_arguments", "the call names no tool", id="no-name"),
    pytest.param("write", "bad_arguments", "the call names no tool", id="no-object"),
]


@both_presets
@pytest.mark.parametrize(("entry", "counted", "problem"), UNUSABLE)
def test_an_unusable_call_is_answered_and_not_executed(
    protocol: Protocol, entry: Any, counted: str, problem: str
) -> None:
    episode, notebook = started(protocol)
    history = asked(episode.agent(say("Now.", entry)))
    assert notebook.received == []
    assert (history[-1]["role"], problem in history[-1]["content"]) == ("user", True)
    assert "tool_calls" not in history[-2]
    assert history[-2]["content"].startswith("Now.\n<tool_call>")
    assert episode.counts[counted] == 1


@pytest.mark.parametrize(("name", "role"), [("paper", "user"), ("strict", "tool")])
def test_the_record_of_an_unusable_call_has_the_role_of_the_protocol(name: str, role: str) -> None:
    episode, _ = started(PRESETS[name])
    episode.agent(say("", call("write", "{")))
    assert [message["role"] for message in episode.trajectory.messages[-2:]] == ["assistant", role]


@pytest.mark.parametrize(("name", "role"), [("paper", "user"), ("strict", "tool")])
def test_an_unknown_tool_is_answered_in_the_role_of_the_protocol(name: str, role: str) -> None:
    episode, notebook = started(PRESETS[name])
    history = asked(episode.agent(say("", call("burn"))))
    assert (history[-1]["role"], history[-1]["content"]) == (role, "Error: unknown tool 'burn'.")
    assert notebook.received == [("burn", {})]
    assert episode.counts["unknown_tools"] == 1


@both_presets
@pytest.mark.parametrize("content", ["", None, "  \n", "<think>nothing</think>"])
def test_an_empty_reply_is_reported_and_the_agent_goes_on(protocol: Protocol, content: Any) -> None:
    episode, _ = started(protocol)
    history = asked(episode.agent(say(content)))
    assert history[-1] == {
        "role": "user",
        "content": "Error: the reply is empty. Call a tool or answer in words.",
    }
    assert episode.counts["empty_reply"] == 1


@both_presets
def test_reasoning_alone_that_hit_the_token_limit_is_an_empty_reply(protocol: Protocol) -> None:
    episode, _ = started(protocol)
    asked(episode.agent(say("", stop="length", reasoning_content="I wonder")))
    assert episode.counts["empty_reply"] == 1


MARKUP = [
    pytest.param('<tool_call>\n{"name": "wipe", "arguments": {}}\n</tool_call>', id="call-left-in-text"),
    pytest.param("<think>and so on", id="reasoning-never-closes"),
]


@pytest.mark.parametrize("content", MARKUP)
def test_markup_is_text_in_paper_and_ends_the_work(content: str) -> None:
    episode, notebook = started(PRESETS["paper"])
    outcome = ended(episode.agent(say(content)))
    assert (outcome.stop_reason, outcome.counts) == (StopReason.AGENT_DONE, {"unparsed_markup": 1})
    assert notebook.received == []


@pytest.mark.parametrize("content", MARKUP)
def test_markup_is_reported_in_strict_and_the_agent_goes_on(content: str) -> None:
    episode, notebook = started(PRESETS["strict"])
    history = asked(episode.agent(say(content)))
    assert (history[-1]["role"], "Write it again" in history[-1]["content"]) == ("user", True)
    assert (notebook.received, episode.counts["unparsed_markup"]) == ([], 1)


@both_presets
def test_a_call_in_a_reply_that_the_token_limit_cut_is_never_executed(protocol: Protocol) -> None:
    episode, notebook = started(protocol)
    history = asked(episode.agent(say("", write(), write(), stop="length")))
    assert notebook.received == []
    assert history[-1] == {"role": "user", "content": "Error: the reply was cut by the token limit."}


@both_presets
def test_text_beside_a_call_stays_in_the_history_and_ends_nothing(protocol: Protocol) -> None:
    episode, notebook = started(protocol)
    history = asked(episode.agent(say("Task Completed", write("milk"))))
    assert history[-2]["content"] == "Task Completed"
    assert notebook.received == [("write", {"note": "milk"})]


@both_presets
@pytest.mark.parametrize(
    "arguments", [{}, {"note": "a", "surplus": 1}, {"other": None}], ids=["missing", "extra", "another"]
)
def test_missing_and_extra_arguments_reach_the_environment(protocol: Protocol, arguments: dict[str, Any]) -> None:
    episode, notebook = started(protocol)
    asked(episode.agent(say("", call("write", arguments))))
    assert notebook.received == [("write", arguments)]


def test_paper_executes_the_first_of_several_calls_and_the_history_forgets_the_others() -> None:
    episode, notebook = started(PRESETS["paper"])
    history = asked(episode.agent(say("", write("a"), write("b"), call("write", "{"))))
    assert notebook.notes == [{"note": "a"}]
    assert len(history[-2]["tool_calls"]) == 1
    assert +episode.counts == {"dropped_calls": 2}


def test_strict_executes_several_calls_in_order_and_answers_each() -> None:
    episode, notebook = started(PRESETS["strict"])
    history = asked(episode.agent(say("", write("a", "x"), write("b", "y"))))
    assert notebook.notes == [{"note": "a"}, {"note": "b"}]
    assert [m["tool_call_id"] for m in history[-2:]] == ["x", "y"]


@pytest.mark.parametrize("bad", ["{", '"{}"'])
def test_strict_executes_the_good_calls_beside_a_bad_one_and_servers_accept_the_history(bad: str) -> None:
    episode, notebook = started(PRESETS["strict"])
    history = asked(episode.agent(say("", call("write", bad), write("a"), call("write", bad), write("b"))))
    assert notebook.notes == [{"note": "a"}, {"note": "b"}]
    assert [message["role"] for message in history[1:]] == ["assistant", "tool", "tool", "user", "user"]
    assert_servers_accept(history)


@both_presets
@pytest.mark.parametrize(
    "ids",
    [
        pytest.param([None, None], id="missing"),
        pytest.param(["", ""], id="empty"),
        pytest.param(["x", "x"], id="used-before"),
        pytest.param([5, {}], id="no-text"),
        pytest.param(["call_1", None], id="a-made-up-one-is-taken"),
    ],
)
def test_ids_are_made_unique_across_the_episode(protocol: Protocol, ids: list[Any]) -> None:
    episode, _ = started(protocol)
    for call_id in ids:
        episode.agent(say("", write(id=call_id)))
    history = asked(episode.agent(say("", write(id="last"))))
    assert_servers_accept(history)
    assert history[-1]["tool_call_id"] == "last"


def test_ids_doubled_inside_one_message_are_made_unique() -> None:
    episode, _ = started(PRESETS["strict"])
    assert_servers_accept(asked(episode.agent(say("", write(id="x"), write(id="x"), write()))))


def test_a_huge_result_is_whole_in_paper() -> None:
    episode, _ = started(PRESETS["paper"])
    history = asked(episode.agent(say("", call("show", {"size": 3_000_000}))))
    assert len(history[-1]["content"]) == 3_000_000


def test_a_huge_result_is_cut_in_strict_with_a_note_and_a_count() -> None:
    episode, _ = started(PRESETS["strict"])
    history = asked(episode.agent(say("", call("show", {"size": 100_001}))))
    assert history[-1]["content"] == "x" * 100_000 + "\n[cut: 1 more characters]"
    assert episode.counts["cut_observations"] == 1
    assert len(episode.trajectory.calls[0].result.text) == 100_001


def test_a_tool_that_raises_ends_the_episode_with_zero_in_paper() -> None:
    episode, _ = started(PRESETS["paper"])
    episode.agent(say("", write()))
    outcome = ended(episode.agent(say("", call("fail"))))
    assert outcome.score is not None
    assert (outcome.stop_reason, outcome.score.value, outcome.score.success) == (StopReason.TOOL_EXCEPTION, 0.0, False)
    assert outcome.score.parts == {"state_value": 0.1}


def test_a_tool_that_raises_is_told_to_the_agent_in_strict() -> None:
    episode, notebook = started(PRESETS["strict"])
    history = asked(episode.agent(say("", call("fail"), write("after"))))
    assert [message["content"] for message in history[-2:]] == ["Error: ValueError: no", "{'note': 'after'}"]
    assert (episode.counts["tool_exceptions"], len(notebook.notes)) == (1, 1)


# The other answers a protocol may give: the published benchmarks use them.

REPLIES = {Slip.EMPTY: say(""), Slip.MARKUP: say("<tool_call>"), Slip.BAD_ARGUMENTS: say("So.", call("write", "{"))}
REPLIES[Slip.CUT_OFF_CALL] = say("So.", write(), stop="length")


@both_presets
@pytest.mark.parametrize(("slip", "reply"), REPLIES.items())
def test_zero_ends_the_episode_for_a_slip(protocol: Protocol, slip: Slip, reply: Message) -> None:
    episode, _ = started(replace(protocol, slips=dict.fromkeys(Slip, "zero")))
    outcome = ended(episode.agent(reply))
    assert (outcome.stop_reason, outcome.score and outcome.score.value) == (StopReason.INVALID_REPLY, 0.0)


@pytest.mark.parametrize("answer", ["end_turn", "text"])
@pytest.mark.parametrize(("slip", "reply"), REPLIES.items())
def test_a_slip_may_hand_over_to_the_next_turn_with_nothing_executed(answer: Any, slip: Slip, reply: Message) -> None:
    rules = replace(PRESETS["strict"], slips=dict.fromkeys(Slip, answer))
    episode, notebook = started(rules, case("One.", "Two."))
    history = asked(episode.agent(reply))
    assert history[-1] == {"role": "user", "content": "Two."}
    assert (notebook.received, episode.counts[slip.value]) == ([], 1)
    assert_servers_accept(history)


def test_one_bad_call_discards_the_whole_step_where_slips_end_the_turn() -> None:
    rules = replace(PRESETS["strict"], slips=dict.fromkeys(Slip, "end_turn"))
    episode, notebook = started(rules, case("One.", "Two."))
    episode.agent(say("", write(), call("write", "{")))
    assert notebook.received == []


def test_a_slip_is_told_in_the_words_of_the_protocol() -> None:
    episode, _ = started(replace(PRESETS["paper"], slip_texts={Slip.EMPTY: "Say something."}))
    assert asked(episode.agent(say("")))[-1]["content"] == "Say something."


def test_blank_arguments_are_a_call_where_the_protocol_says_so() -> None:
    episode, notebook = started(replace(PRESETS["paper"], blank_arguments="call"))
    asked(episode.agent(say("", call("wipe", ""))))
    assert notebook.received == [("wipe", {})]


@both_presets
@pytest.mark.parametrize(("slip", "reply"), REPLIES.items())
def test_slips_count_as_steps(protocol: Protocol, slip: Slip, reply: Message) -> None:
    rules = limited(replace(protocol, slips=dict.fromkeys(Slip, "report")), 2)
    episode, _ = started(rules)
    asked(episode.agent(reply))
    assert ended(episode.agent(reply)).stop_reason is StopReason.STEP_LIMIT


@both_presets
def test_slips_are_answered_in_conversations_too_and_the_user_never_hears_them(protocol: Protocol) -> None:
    episode, _ = started(protocol, case(user=goal_user))
    episode.user(told("Write milk."))
    history = asked(episode.agent(say("")))
    assert history[-1]["content"].startswith("Error:")
    need = episode.agent(say("Shall I?"))
    assert not any("Error" in message["content"] for message in need.messages)  # type: ignore[union-attr]
