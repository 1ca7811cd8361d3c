"""The reference agents and the scripted user."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.environment import ToolSpec
from harness.messages import assistant, tool, user
from harness.reference import AGENTS, DONE, noop, oracle, random_legal, scripted_user
from harness.rollout import Played, play
from harness.users import STOP
from tests.harness.playground import PRESETS, both_presets, case, goal_user, scripted

SOLUTION = tuple(assistant("", [("write", {"note": note})]) for note in ("a", "b", "c", "d", "e", "f", "g", "h"))
SOLVABLE = case(oracle=SOLUTION)


def notes(played: Played) -> Any:
    assert played.final_state is not None
    return [note.get("note") for note in played.final_state.decode()["notes"]]


def test_every_reference_agent_has_a_name() -> None:
    assert {"oracle": oracle, "noop": noop, "random": random_legal} == AGENTS


@pytest.mark.parametrize("preset", PRESETS)
def test_the_oracle_makes_its_calls_in_order_and_is_done(preset: str) -> None:
    played = play(SOLVABLE, PRESETS[preset], oracle(SOLVABLE))
    assert notes(played) == list("abcdefgh")
    assert played.trajectory.messages[-1]["content"] == DONE


def test_the_oracle_can_be_played_again_and_beside_itself() -> None:
    one, other = oracle(SOLVABLE), oracle(SOLVABLE)
    assert one([], []) == other([], []) == SOLUTION[0]


def test_a_sample_without_an_oracle_says_so() -> None:
    with pytest.raises(ValueError, match="n1 has no oracle solution"):
        oracle(case())


def test_doing_nothing_makes_no_call() -> None:
    assert notes(play(SOLVABLE, PRESETS["paper"], noop(SOLVABLE))) == []


def test_a_finish_word_is_what_an_agent_closes_with() -> None:
    assert noop(case(finish_word="finish"))([], [])["content"] == "finish"


@pytest.mark.parametrize("preset", PRESETS)
def test_a_random_agent_solves_some_of_it(preset: str) -> None:
    written = [
        len(set(notes(play(SOLVABLE, PRESETS[preset], random_legal(SOLVABLE, run)))) & set("abcdefgh"))
        for run in range(1, 31)
    ]
    assert 0 < sum(written) / len(written) < 8


def test_a_random_agent_is_the_same_in_the_same_run_and_another_in_the_next() -> None:
    def messages(run: int) -> list[Any]:
        return play(SOLVABLE, PRESETS["strict"], random_legal(SOLVABLE, run)).trajectory.messages

    assert messages(1) == messages(1)
    assert messages(1) != messages(2)


def test_a_random_agent_without_tools_is_done() -> None:
    assert random_legal(SOLVABLE)([], [])["content"] == DONE


SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "integer"},
            {"type": "number"},
            {"type": "boolean"},
            {"type": "null"},
            {"type": ["string", "null"]},
            {"enum": ["a", 5, None]},
            {},
        ]
    ),
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda one, two: {"anyOf": [one, two]}, inner, inner),
        st.builds(lambda fields: {"type": "object", "properties": fields}, st.dictionaries(st.text("ab"), inner)),
    ),
    max_leaves=5,
)
KINDS: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value is what a schema of these kinds allows."""
    if "enum" in schema:
        return value in schema["enum"]
    if "anyOf" in schema:
        return any(fits(value, option) for option in schema["anyOf"])
    kinds = schema.get("type", "string")
    kind = next((k for k in ([kinds] if isinstance(kinds, str) else kinds) if isinstance(value, KINDS[k])), None)
    if kind is None or (isinstance(value, bool) and kind != "boolean"):
        return False
    if kind == "array":
        return all(fits(item, schema["items"]) for item in value)
    if kind == "object":
        fields = schema["properties"]
        return value.keys() == fields.keys() and all(fits(value[key], fields[key]) for key in fields)
    return True


SEEN = [
    user("Order 3 lamps at 4.5 for Ann Lee (C-12) on 2025-01-02."),
    tool("{'n': 7, \"a\": 'x', 'b': 2.5}", "1"),
    user(""),
]


@settings(max_examples=100, deadline=None)
@given(schema=SCHEMAS, run=st.integers(0, 5), history=st.sampled_from([[], SEEN]))
def test_random_calls_are_legal(schema: dict[str, Any], run: int, history: list[Any]) -> None:
    parameters = {"type": "object", "properties": {"a": schema, "n": schema}, "required": ["a"]}
    sample = case()
    message = random_legal(sample, run)(history, [ToolSpec("act", "", parameters)])
    (made,) = play(sample, PRESETS["strict"], scripted(message)).trajectory.calls
    assert "a" in made.arguments
    assert made.arguments.keys() <= {"a", "n"}
    assert all(fits(value, schema) for value in made.arguments.values())


def test_random_values_are_ones_the_agent_has_seen() -> None:
    spec = ToolSpec("act", "", {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
    texts = {str(random_legal(case(id=str(i)))(SEEN[1:], [spec])["tool_calls"]) for i in range(5)}
    assert all('{"a": "x"}' in text for text in texts)


# The scripted user


def replies(goal: str, parts: int = 4) -> list[str]:
    user_model = scripted_user(goal_user(goal), parts=parts)
    said = [user_model(given).partition("# Reply:\n")[2] for given in range(parts + 1)]
    return said[: said.index(STOP) + 1]


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        pytest.param("Write milk.", ["Write milk.", STOP], id="one-sentence"),
        pytest.param("A. B. C.", ["A.", "B.", "C.", STOP], id="one-each"),
        pytest.param("A. B. C. D. E. F.", ["A. B.", "C. D.", "E. F.", STOP], id="at-most-four"),
        pytest.param("Pay 4.5 to J. Then stop", ["Pay 4.5 to J.", "Then stop", STOP], id="numbers-stay-whole"),
        pytest.param("A\n\nB", ["A", "B", STOP], id="lines"),
        pytest.param("", ["", STOP], id="nothing"),
    ],
)
def test_a_scripted_user_reveals_the_goal_in_parts_and_stops(goal: str, said: list[str]) -> None:
    assert replies(goal) == said


@settings(max_examples=100, deadline=None)
@given(st.text("ab.!? \nAB1"), st.integers(1, 6))
def test_every_word_of_the_goal_is_said_in_no_more_parts_than_asked(goal: str, parts: int) -> None:
    said = replies(goal, parts)
    assert len(said) <= parts + 1
    assert " ".join(said[:-1]).split() == goal.split()


@both_presets
def test_oracle_and_scripted_user_play_a_conversation_to_its_end(protocol: Any) -> None:
    sample = case(user=lambda: goal_user("One. Two."), oracle=SOLUTION[:2])
    user_model, given = scripted_user(goal_user("One. Two.")), iter(range(10))
    played = play(sample, protocol, oracle(sample), lambda messages: user_model(next(given)))
    assert notes(played) == ["a", "b"]
    assert played.trajectory.turn_steps == [3, 1, 0]
