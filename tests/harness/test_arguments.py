"""Arguments reach the environment as the model wrote them: no coercion, no validation, nothing shared."""

from __future__ import annotations

import math
from typing import Any

import pytest

from harness.environment import ToolResult
from harness.protocol import Protocol
from harness.state import State
from tests.harness.playground import asked, both_presets, call, say, started, write


def exactly(value: Any) -> Any:
    """`value` with its types, so that 5, 5.0 and True differ."""
    match value:
        case dict():
            return {key: exactly(item) for key, item in value.items()}
        case list():
            return [exactly(item) for item in value]
    return type(value), repr(value)


@both_presets
@pytest.mark.parametrize(
    ("raw", "value"),
    [
        pytest.param("5", 5, id="int"),
        pytest.param("5.0", 5.0, id="float"),  # differs from 5 in Tau-Bench's state hash
        pytest.param('"5"', "5", id="digits-as-text"),
        pytest.param("5e0", 5.0, id="exponent"),
        pytest.param("-0.0", -0.0, id="negative-zero"),
        pytest.param("true", True, id="bool"),
        pytest.param("null", None, id="null"),
        pytest.param("123456789012345678901234567890", 123456789012345678901234567890, id="beyond-64-bits"),
        pytest.param("1e400", math.inf, id="beyond-floats"),
        pytest.param("-Infinity", -math.inf, id="infinity"),
        pytest.param('""', "", id="empty-text"),
        pytest.param('"null"', "null", id="the-word-null"),
        pytest.param('" a\\n"', " a\n", id="spaces-stay"),
        pytest.param('"ü 😀 \\u00fc"', "ü 😀 ü", id="unicode"),
        pytest.param('"e\\u0301"', "e\u0301", id="not-normalised"),
        pytest.param('{"a": {"b": [1, 1.0, "1", null, {}]}}', {"a": {"b": [1, 1.0, "1", None, {}]}}, id="nested"),
        pytest.param('{"1": 1, "": 2}', {"1": 1, "": 2}, id="keys-stay-text"),
        pytest.param('{"$tuple": [1]}', {"$tuple": [1]}, id="what-looks-like-our-tags"),
    ],
)
def test_a_value_arrives_unchanged(protocol: Protocol, raw: str, value: Any) -> None:
    episode, notebook = started(protocol)
    asked(episode.agent(say("", call("write", f'{{"note": {raw}}}'))))
    ((_, received),) = notebook.received
    assert exactly(received) == exactly({"note": value})
    assert exactly(State.of(notebook.notes).decode()) == exactly([{"note": value}])


@both_presets
def test_nan_arrives(protocol: Protocol) -> None:
    episode, notebook = started(protocol)
    asked(episode.agent(say("", call("write", '{"note": NaN}'))))
    assert math.isnan(notebook.notes[0]["note"])


@both_presets
def test_half_a_character_arrives_and_is_observed_as_an_escape(protocol: Protocol) -> None:
    episode, notebook = started(protocol)
    notebook.call = lambda name, arguments: _echo(arguments["note"])  # type: ignore[method-assign]
    history = asked(episode.agent(say("", call("write", '{"note": "\\ud83d"}'))))
    assert history[-1]["content"] == "wrote \\ud83d"
    assert episode.trajectory.calls[0].arguments == {"note": "\ud83d"}
    assert episode.trajectory.calls[0].result.text == "wrote \\ud83d"


def _echo(text: str) -> ToolResult:
    return ToolResult(f"wrote {text}")


@both_presets
def test_the_record_of_a_call_stays_as_it_was_made_when_the_environment_changes_what_it_got(
    protocol: Protocol,
) -> None:
    episode, notebook = started(protocol)
    episode.agent(say("", write("milk")))
    episode.agent(say("", call("wipe")))
    assert notebook.notes == [{}]
    assert episode.trajectory.calls[0].arguments == {"note": "milk"}


@both_presets
def test_order_of_arguments_is_the_models(protocol: Protocol) -> None:
    episode, notebook = started(protocol)
    episode.agent(say("", call("write", '{"z": 1, "a": 2}')))
    assert list(notebook.notes[0]) == ["z", "a"]
