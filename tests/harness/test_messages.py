from __future__ import annotations

import json
from typing import Any

import pytest

from harness.messages import (
    MAX_ARGUMENT_DEPTH,
    Slip,
    as_text,
    assistant,
    content_text,
    read,
    visible,
    without_surrogates,
)
from tests.harness.playground import call, say


def nested(levels: int) -> str:
    return '{"n": ' + "[" * (levels - 1) + "]" * (levels - 1) + "}"


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        pytest.param('{"n": 5', "not valid JSON", id="cut-off-json"),
        pytest.param("", "not valid JSON", id="blank"),
        pytest.param(None, "not valid JSON", id="null"),
        pytest.param('"{\\"n\\": 5}"', "must be a JSON object, not str", id="json-in-a-string"),
        pytest.param("[1]", "must be a JSON object, not list", id="list"),
        pytest.param(5, "must be a JSON object, not int", id="number-where-text-belongs"),
        pytest.param("{'n': 5}", "not valid JSON", id="python-literal"),
        pytest.param('{"n": ' + "9" * 5000 + "}", "not valid JSON", id="integer-too-long-for-python"),
        pytest.param("[" * 100_000, "nested too deeply", id="bomb"),
        pytest.param(nested(MAX_ARGUMENT_DEPTH + 1), "nested deeper than 100 levels", id="deeper-than-states"),
        pytest.param({(1, 2): 3}, "not valid JSON", id="mapping-that-is-no-json"),
    ],
)
def test_arguments_that_are_no_object_are_a_slip(raw: Any, problem: str) -> None:
    (found,) = read(say("", {"function": {"name": "write", "arguments": raw}})).calls
    assert (found.slip, found.arguments) == (Slip.BAD_ARGUMENTS, None)
    assert problem in found.problem


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        pytest.param('{"n": 5}', {"n": 5}, id="int"),
        pytest.param(' {"n": 1, "n": 2} ', {"n": 2}, id="the-last-of-doubled-keys-counts"),
        pytest.param({"n": (1, 2)}, {"n": [1, 2]}, id="decoded-already"),
        pytest.param(nested(MAX_ARGUMENT_DEPTH), json.loads(nested(MAX_ARGUMENT_DEPTH)), id="deep-but-allowed"),
        pytest.param('{"n": "' + "[{" * 500 + '"}', {"n": "[{" * 500}, id="brackets-in-text-are-no-depth"),
        pytest.param('{"n": [' + "{}," * 500 + "{}]}", {"n": [{}] * 501}, id="long-is-not-deep"),
    ],
)
def test_arguments_are_decoded(raw: Any, arguments: dict[str, Any]) -> None:
    (found,) = read(say("", {"function": {"name": "write", "arguments": raw}})).calls
    assert (found.arguments, found.slip) == (arguments, None)


def test_decoded_arguments_share_nothing_with_the_message() -> None:
    given = {"tags": ["a"]}
    (found,) = read(say("", {"function": {"name": "write", "arguments": given}})).calls
    assert found.arguments is not None
    found.arguments["tags"].append("b")
    assert given == {"tags": ["a"]}


def test_blank_arguments_are_none_given_where_the_protocol_says_so() -> None:
    (found,) = read(say("", call("wipe", "")), blank_arguments=True).calls
    assert (found.arguments, found.slip) == ({}, None)


@pytest.mark.parametrize(
    "entry", ["write", None, {}, {"function": "write"}, {"function": {"name": 5, "arguments": "{}"}}, ["write"]]
)
def test_an_entry_that_names_no_tool_is_a_slip(entry: Any) -> None:
    (found,) = read(say("", entry)).calls
    assert (found.name, found.slip, found.problem) == (None, Slip.BAD_ARGUMENTS, "the call names no tool")


def test_an_empty_name_is_a_name() -> None:
    (found,) = read(say("", call(""))).calls
    assert (found.name, found.slip) == ("", None)


def test_calls_of_a_reply_that_the_token_limit_cut_are_slips_even_if_they_parse() -> None:
    calls = read(say("", call("write"), call("wipe"), stop="length")).calls
    assert [(c.slip, c.arguments) for c in calls] == [(Slip.CUT_OFF_CALL, None)] * 2


@pytest.mark.parametrize(
    ("content", "slip"),
    [
        pytest.param("", Slip.EMPTY, id="empty"),
        pytest.param(None, Slip.EMPTY, id="null"),
        pytest.param(" \n\t", Slip.EMPTY, id="blank"),
        pytest.param(7, Slip.EMPTY, id="no-text-at-all"),
        pytest.param("<think>hm</think>\n\n", Slip.EMPTY, id="reasoning-only"),
        pytest.param("<think>hm, and then", Slip.MARKUP, id="reasoning-never-closes"),
        pytest.param("<think>a</think><think>b", Slip.MARKUP, id="second-reasoning-never-closes"),
        pytest.param('<tool_call>\n{"name": "write"}\n</tool_call>', Slip.MARKUP, id="call-left-in-text"),
        pytest.param("On it. <tool_call>", Slip.MARKUP, id="half-a-call-left-in-text"),
        pytest.param("<think>use <tool_call></think>Done.", None, id="a-call-only-thought-of"),
        pytest.param("hm</think>Done.", None, id="reasoning-opened-by-the-prompt"),
        pytest.param([{"type": "text", "text": "Done."}, "!", {"type": "image"}, 5], None, id="parts"),
    ],
)
def test_a_reply_without_calls_is_text_or_a_slip(content: Any, slip: Slip | None) -> None:
    assert read(say(content)).slip is slip


def test_markup_beside_a_call_that_was_parsed_is_no_slip() -> None:
    assert read(say("<tool_call>", call("wipe"))).slip is None


@pytest.mark.parametrize("calls", [None, {}, "write", 5])
def test_calls_that_are_no_list_are_none(calls: Any) -> None:
    assert read({"role": "assistant", "content": "Hi.", "tool_calls": calls}).calls == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>a</think>\n\nHi.", "Hi."),
        ("a</think>b</think>Hi.", "Hi."),
        ("<think>a", ""),
        ("Hi. <think>a", "Hi. "),
        ("\n Hi.\n", " Hi.\n"),
    ],
)
def test_visible_text_is_what_follows_the_reasoning(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_content_is_text_whatever_its_form() -> None:
    assert [content_text(c) for c in ("a", None, [{"text": "a"}, "b", {"text": 5}], {"text": "a"})] == [
        "a",
        "",
        "ab",
        "",
    ]


def test_a_call_as_text_has_the_form_of_chat_templates() -> None:
    (found,) = read(say("", call("schön", '{"n": 5.0}'))).calls
    assert as_text(found) == '<tool_call>\n{"name": "schön", "arguments": {"n": 5.0}}\n</tool_call>'


def test_built_messages_are_read_as_meant() -> None:
    (found,) = read(assistant("Hi.", [("write", {"note": "ü", "n": 5.0})])).calls
    assert (found.name, found.arguments) == ("write", {"note": "ü", "n": 5.0})
    assert "tool_calls" not in assistant("Hi.")


def test_half_characters_become_escapes_and_whole_ones_stay() -> None:
    assert without_surrogates("a\ud83d ü😀") == "a\\ud83d ü😀"
