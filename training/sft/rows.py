"""Trajectories become rows: what the model reads, and what it is to learn. Text only; no tokenizer is involved."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import DataError
from harness.files import read_bytes, replacing
from harness.messages import Message, content_text, read, visible
from training.config import History, SftData

CUT = ("length", "context_full")
"""What a message's `finish_reason` is if a limit ended it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One training example: a conversation, and which of its assistant messages are supervised."""

    sample_id: str
    messages: list[Message]
    tools: list[dict[str, Any]]
    supervised: tuple[int, ...]
    """Indexes into `messages`."""

    def record(self) -> dict[str, Any]:
        """The row as plain JSON values."""
        return {
            "sample_id": self.sample_id,
            "messages": self.messages,
            "tools": self.tools,
            "supervised": list(self.supervised),
        }


@dataclass(slots=True)
class Taken:
    """What became of the trajectories."""

    trajectories: int = 0
    below_reward: int = 0
    without_reply: int = 0
    """Trajectories in which the assistant never says a thing to learn."""
    unusable: int = 0
    """Replies that are never supervised: cut by a limit, empty, or with arguments that cannot be read."""
    rows: int = 0


def rows(files: Sequence[str | Path], data: SftData, taken: Taken | None = None) -> Iterator[Row]:
    """The rows of trajectory files.

    Args:
        taken: Counts what was read and left out.
    Raises:
        DataError: Naming file, line and field of the first record that is no trajectory.
    """
    taken = taken if taken is not None else Taken()
    for file in files:
        for number, line in enumerate(read_bytes(file).splitlines(), start=1):
            if not line.strip():
                continue
            record = _record(line, str(file), f"line {number}")
            taken.trajectories += 1
            if data.min_reward is not None and not _reaches(record, data.min_reward):
                taken.below_reward += 1
                continue
            made = list(split(record, data, f"{file}: line {number}", taken))
            taken.without_reply += not made
            taken.rows += len(made)
            yield from made


def split(record: dict[str, Any], data: SftData, where: str, taken: Taken | None = None) -> Iterator[Row]:
    """The rows of one trajectory.

    By round: row k ends with assistant message k, which alone is supervised. Whole: one row, all of them supervised.
    Replies that no agent could use stay in the history and are not supervised.

    Args:
        taken: Counts those replies.
    """
    messages = [_clean(message, f"{where}: messages[{i}]") for i, message in enumerate(record["messages"])]
    tools = record.get("tools") or []
    replies = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    spoken = [index for index in replies if _usable(record["messages"][index], messages[index])]
    if taken is not None:
        taken.unusable += len(replies) - len(spoken)
    if not spoken:
        return
    sample_id = str(record.get("sample_id", ""))
    if data.split == "whole":
        # All of them are targets, so none is history that could lose its reasoning.
        yield Row(sample_id, messages[: spoken[-1] + 1], tools, tuple(spoken))
        return
    for index in spoken:
        history = with_reasoning(messages[:index], data.history_reasoning)
        yield Row(sample_id, [*history, messages[index]], tools, (index,))


def with_reasoning(history: Sequence[Message], keep: History) -> list[Message]:
    """Past messages with the reasoning that a policy keeps.

    Args:
        keep: `none`, as the paper trains and evaluates; `chain`: since the last user message; `all`.
    """
    last_user = max((i for i, message in enumerate(history) if message["role"] == "user"), default=-1)
    return [
        message
        if message["role"] != "assistant" or keep == "all" or (keep == "chain" and index > last_user)
        else {key: value for key, value in message.items() if key != "reasoning_content"}
        for index, message in enumerate(history)
    ]


def _clean(message: Message, where: str) -> Message:
    """A message with the keys that a chat template reads: reasoning apart from the words, arguments as JSON text.

    Arguments stay texts: in a table of rows, dictionaries would be given each other's keys (docs of training, 2.1).
    """
    role = message["role"]
    if role != "assistant":
        return {"role": role, "content": content_text(message.get("content"))}
    content = content_text(message.get("content"))
    reasoning = message.get("reasoning_content")
    if not reasoning and "</think>" in content:
        # The opening mark is missing where the chat template had said it already.
        before, _, _ = content.partition("</think>")
        reasoning = before.rpartition("<think>")[2].strip("\n")
    kept: Message = {"role": role, "content": visible(content)}
    if reasoning:
        kept["reasoning_content"] = str(reasoning)
    if calls := message.get("tool_calls"):
        if not isinstance(calls, list):
            raise DataError(where, "tool_calls", "must be a list")
        kept["tool_calls"] = [_call(call, f"{where}.tool_calls[{i}]") for i, call in enumerate(calls)]
    return kept


def _usable(message: Message, cleaned: Message) -> bool:
    """Whether a reply is whole, says something, and makes no call that cannot be read."""
    if message.get("finish_reason") in CUT or any(call.slip for call in read(message, blank_arguments=True).calls):
        return False
    return bool(cleaned["content"].strip() or cleaned.get("tool_calls"))


def _call(call: Any, where: str) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise DataError(where, "function.name", "must be a text")
    arguments = function.get("arguments")
    if not isinstance(arguments, str) or not arguments:
        arguments = json.dumps(arguments or {}, ensure_ascii=False)
    return {"type": "function", "function": {"name": function["name"], "arguments": arguments}}


def _reaches(record: dict[str, Any], least: float) -> bool:
    outcome = record.get("outcome")
    score = outcome.get("score") if isinstance(outcome, dict) else None
    value = score.get("value") if isinstance(score, dict) else None
    return isinstance(value, int | float) and value >= least


def _record(line: bytes, file: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(file, where, f"is not JSON ({error})") from error
    if not isinstance(record, dict) or not isinstance(record.get("messages"), list):
        raise DataError(file, f"{where}: messages", "must be a list of chat messages")
    for index, message in enumerate(record["messages"]):
        if not isinstance(message, dict) or message.get("role") not in ("system", "user", "assistant", "tool"):
            raise DataError(file, f"{where}: messages[{index}].role", "must be one of system, user, assistant, tool")
    if not isinstance(record.get("tools") or [], list):
        raise DataError(file, f"{where}: tools", "must be a list of tools in OpenAI's form")
    return record


def write_rows(path: Path, made: Iterable[Row]) -> int:
    """Write rows as JSONL, whole or not at all; returns their number."""
    count = 0
    with replacing(path) as file:
        for row in made:
            file.write(json.dumps(row.record(), ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
            count += 1
    return count
