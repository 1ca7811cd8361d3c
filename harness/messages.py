"""Messages in OpenAI's chat form, and how an agent's reply is read.

A message is a plain dict, as it stands in a trajectory. Reading a reply never raises: what cannot be used is a `Slip`,
and the protocol says what becomes of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Message = dict[str, Any]
"""`role`, `content`, and for assistants `tool_calls` (arguments as a JSON string), `reasoning_content`,
`finish_reason` (`length` if the token limit cut the reply, `context_full` if the context did)."""


class Slip(StrEnum):
    """Why a reply, or one call in it, cannot be used."""

    EMPTY = "empty_reply"
    BAD_ARGUMENTS = "bad_arguments"
    CUT_OFF_CALL = "cut_off_call"
    MARKUP = "unparsed_markup"


MAX_ARGUMENT_DEPTH = 100
"""Arguments nested deeper are unusable: stored, they would make a state that nothing can export (`state.MAX_DEPTH`)."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a reply. `arguments` is None where `slip` says why."""

    id: str
    name: str | None
    """None if the call names no tool; it is a slip then."""
    arguments: dict[str, Any] | None
    raw: str
    """The arguments as the model wrote them."""
    slip: Slip | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """An agent's message, read."""

    text: str
    """Content without any reasoning block: what a user would see."""
    calls: tuple[Call, ...]
    slip: Slip | None = None
    """Set if the reply as a whole cannot be used: empty, or markup that the server should have parsed."""


def system(text: str) -> Message:
    """A system message."""
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    """A user message."""
    return {"role": "user", "content": text}


def tool(text: str, call_id: str) -> Message:
    """The answer to a tool call."""
    return {"role": "tool", "content": text, "tool_call_id": call_id}


def assistant(text: str = "", calls: Sequence[tuple[str, Mapping[str, Any]]] = ()) -> Message:
    """An assistant message with the given calls; ids are given by the episode."""
    message: Message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"type": "function", "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}}
            for name, arguments in calls
        ]
    return message


def content_text(content: Any) -> str:
    """The text of a message's content, which may be a string, a list of parts, or None."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (part.get("text", "") if isinstance(part, dict) else part for part in content)
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def without_surrogates(text: str) -> str:
    """`text` with half characters (lone surrogates, which no wire carries) written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def visible(text: str) -> str:
    """`text` after its last closed reasoning block; nothing if the block never closes."""
    if "</think>" in text:
        text = text.rpartition("</think>")[2]
    return text.partition("<think>")[0].strip("\n") if "<think>" in text else text.lstrip("\n")


def _arguments(raw: Any, blank_arguments: bool) -> tuple[dict[str, Any] | None, str, str]:
    """Decoded arguments, their text, and what is wrong with them."""
    text = raw if isinstance(raw, str) else "" if raw is None else repr(raw)
    if blank_arguments and not text:
        return {}, text, ""
    try:
        if isinstance(raw, Mapping):
            # Read back from its text, so that what is executed is what the record says and shares nothing with it.
            text = json.dumps(raw, ensure_ascii=False, default=repr)
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        return None, text, f"arguments are not valid JSON ({reason})"
    if not isinstance(value, dict):
        return None, text, f"arguments must be a JSON object, not {type(value).__name__}"
    if text.count("[") + text.count("{") > MAX_ARGUMENT_DEPTH and _deeper(value, MAX_ARGUMENT_DEPTH):
        return None, text, f"arguments are nested deeper than {MAX_ARGUMENT_DEPTH} levels"
    return value, text, ""


def _deeper(value: Any, levels: int) -> bool:
    """Whether lists and objects in `value` nest deeper than so many levels."""
    layer = [value]
    while layer and levels > 0:
        inner = (item.values() if isinstance(item, dict) else item for item in layer if isinstance(item, dict | list))
        layer, levels = [item for items in inner for item in items], levels - 1
    return any(isinstance(item, dict | list) for item in layer)


def _call(entry: Any, cut_off: bool, blank_arguments: bool) -> Call:
    function = entry.get("function") if isinstance(entry, Mapping) else None
    function = function if isinstance(function, Mapping) else {}
    name = function.get("name")
    call_id = entry.get("id") if isinstance(entry, Mapping) else None
    arguments, raw, problem = _arguments(function.get("arguments"), blank_arguments)
    slip = Slip.BAD_ARGUMENTS if problem else None
    if not isinstance(name, str):
        # An empty name is a name, of no tool: the environment answers it as it answers any unknown one.
        name, slip, problem = None, Slip.BAD_ARGUMENTS, "the call names no tool"
    if cut_off:
        # A cut reply may end inside a call that happens to parse; running it would execute half a thought.
        slip, problem = Slip.CUT_OFF_CALL, "the reply was cut by the token limit"
    return Call(call_id if isinstance(call_id, str) else "", name, None if slip else arguments, raw, slip, problem)


def read(message: Message, *, blank_arguments: bool = False) -> Reply:
    """An assistant message, read.

    Text is freed of reasoning blocks. `<tool_call>` left in the text, or a `<think>` that never closes, is a slip: the
    server's parser failed, and what the model meant is not known.

    Args:
        blank_arguments: Take arguments that are an empty string for none, not for a slip.
    """
    content = content_text(message.get("content"))
    text = visible(content)
    entries = message.get("tool_calls")
    entries = entries if isinstance(entries, list) else []
    cut_off = message.get("finish_reason") == "length"
    calls = tuple(_call(entry, cut_off, blank_arguments) for entry in entries)
    slip = None
    if not calls:
        unclosed = content.rfind("<think>") > content.rfind("</think>")
        if unclosed or "<tool_call>" in text:
            slip = Slip.MARKUP
        elif not text.strip():
            slip = Slip.EMPTY
    return Reply(text, calls, slip)


def as_text(call: Call) -> str:
    """A call as text, for a history in which no tool message answers it (servers refuse such calls).

    The form is the one that Hermes-style chat templates give a call, so their prompts stay the same.
    """
    name = json.dumps(call.name, ensure_ascii=False)
    return f'<tool_call>\n{{"name": {name}, "arguments": {call.raw}}}\n</tool_call>'


def with_calls(message: Message, calls: Sequence[Call], ids: Sequence[str]) -> Message:
    """`message` with exactly these calls, under these ids."""
    kept = {key: value for key, value in message.items() if key != "tool_calls"}
    kept.setdefault("content", "")
    if calls:
        kept["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": call.raw}}
            for call, call_id in zip(calls, ids, strict=True)
        ]
    return kept


def without_calls(message: Message, calls: Sequence[Call]) -> Message:
    """`message` with its calls written as text, since nothing will answer them."""
    kept = with_calls(message, (), ())
    if calls:
        kept["content"] = "\n".join([content_text(kept.get("content")), *map(as_text, calls)]).strip("\n")
    return kept
