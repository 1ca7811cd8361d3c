"""Each filter drops what it is for, with a sentence on why, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.collection.small import alone, called, said, scored, talked
from training.collection import FILTERS, Filters
from training.collection.candidate import candidate


def reasons(record: dict[str, Any], **changes: Any) -> list[tuple[str, str]]:
    found = Filters(**changes).reasons(candidate(record, "file", "line 1"))
    return [(reason.name, reason.detail) for reason in found]


def with_messages(record: dict[str, Any], messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {**record, "messages": messages}


@pytest.mark.parametrize("record", [alone(), talked()], ids=["non_conversation", "conversation"])
def test_a_good_trajectory_is_kept(record: dict[str, Any]) -> None:
    assert reasons(record) == []


UNCLOSED = {**said("<think>I wonder"), "reasoning_content": ""}
CUT = {**said("Task Completed and"), "finish_reason": "length"}
STRAY = {"role": "tool", "content": "?", "tool_call_id": "call_9"}
UNASKED = "answers no call of the message before it"
NARROW = {"non_conversation": (4, 9), "conversation": (3, 4)}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({**alone(), "stop_reason": "step_limit"}, ("ending", "step_limit after 3 steps")),
        ({**alone(), "stop_reason": "tool_exception"}, ("ending", "tool_exception after 3 steps")),
        ({**talked(), "stop_reason": "agent_done"}, ("ending", "agent_done after 5 steps")),
        (alone(called(0), called(1, "put", "{")), ("format", "messages[4]: bad_arguments")),
        (alone(called(0), called(1, "putt")), ("format", "messages[4]: unknown_tools (putt)")),
        (
            alone(called(0), called(1), [said(""), {"role": "user", "content": "Error"}]),
            ("format", "messages[6]: empty_reply"),
        ),
        (alone(called(0), called(1), [UNCLOSED]), ("format", "messages[6]: unparsed_markup")),
        (alone(called(0), called(1), [said("<tool_call>{")]), ("format", "messages[6]: unparsed_markup")),
        (alone(called(0), [said("Well.")]), ("format", "messages[5]: follows another message of the agent")),
        (with_messages(alone(), [*alone()["messages"][:-1], CUT]), ("format", "messages[6]: cut off (length)")),
        (alone(called(0), [*called(1), STRAY]), ("format", f"messages[6]: {UNASKED}")),
        (talked(last=" "), ("format", "messages[10]: the user says nothing")),
        (alone(last="Task Completed? Task Failed"), ("impossible", "the agent's last message says Task Failed")),
        (talked(turns=2), ("length", "3 steps, not 5 to 39")),
        (alone(called(0)), ("length", "2 steps, not 3 to 29")),
        (alone(*map(called, range(29))), ("length", "30 steps, not 3 to 29")),
        (talked(turns=39), ("length", "40 steps, not 5 to 39")),
        (alone(last="What now?"), ("completion", "the agent's last message does not say Task Completed")),
        (scored(alone(), 0.75), ("reward", "0.75, below 1")),
        (alone(called(0), [*called(1), {**STRAY, "tool_call_id": []}]), ("format", f"messages[6]: {UNASKED}")),
        ({**alone(), "tools": [{"function": {"name": []}}]}, ("format", "messages[2]: unknown_tools (look)")),
    ],
)
def test_a_filter_drops_what_it_is_for_and_can_be_left_out(record: dict[str, Any], expected: tuple[str, str]) -> None:
    found = reasons(record)
    assert found == [expected]
    assert reasons(record, off=frozenset({expected[0]})) == []


def test_edges_of_the_length_are_kept() -> None:
    kept = [alone(*map(called, range(2))), alone(*map(called, range(28))), talked(turns=4), talked(turns=38)]
    assert [reasons(record) for record in kept] == [[]] * 4


def test_thresholds_are_options() -> None:
    assert reasons(scored(alone(), 0.75), reward=0.75) == []
    assert reasons(alone(), steps=NARROW) == [("length", "3 steps, not 4 to 9")]


def test_several_reasons_stand_in_the_order_of_the_filters() -> None:
    broken = {**scored(alone(called(0, "putt"), last="Task Failed"), 0.5), "stop_reason": "step_limit"}
    assert [name for name, _ in reasons(broken)] == ["ending", "format", "impossible", "completion", "length", "reward"]
    assert list(FILTERS) == ["ending", "format", "impossible", "completion", "length", "reward", "duplicate"]


def test_a_fault_is_no_other_reason_and_cannot_be_left_out() -> None:
    broken = {**alone(), "outcome": {"ending": "environment_fault", "score": None, "fault": "timeout: 5 s"}}
    assert reasons(broken, off=frozenset(FILTERS)) == [("fault", "timeout: 5 s")]


def test_what_was_never_scored_passes_the_reward_filter() -> None:
    assert reasons({**alone(), "outcome": None}) == []


def test_an_ending_that_no_record_names_is_read_off_the_last_message() -> None:
    bare = [{**record, "stop_reason": None, "outcome": None} for record in (alone(), talked())]
    assert [reasons(record) for record in bare] == [[], []]
    open_ends = [with_messages(record, record["messages"][:-1]) for record in bare]
    assert [dict(reasons(record))["ending"] for record in open_ends] == [
        "recording_ended after 2 steps",
        "recording_ended after 5 steps",
    ]
