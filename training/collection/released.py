"""Rows of the public release's trajectory file, as records of ours (docs of the release, section 2.4)."""

from __future__ import annotations

import json
from typing import Any

from envscaler.scenarios import SETTINGS, Setting
from harness.errors import DataError
from harness.messages import Message
from training.collection.candidate import Candidate, check_messages

FIELDS = frozenset({"traj_type", "task_info", "tools", "messages", "user_messages", "steps"})


def is_released(record: Any) -> bool:
    """Whether a record is a row of the release: ours has no such field."""
    return isinstance(record, dict) and "traj_type" in record


def from_released(row: dict[str, Any], file: str, where: str) -> Candidate:
    """A released row.

    Its calls have no ids and its tool messages point to none; both get the ids that an episode would have given. What a
    Non-Conversation row says to the agent after its last message is left out: an episode ends with that message. The
    simulator's own chat (`user_messages`) is left out too. The release names neither model nor score.

    Raises:
        DataError: Naming the field that is not what it should be.
    """

    def wrong(field: str, problem: str) -> DataError:
        return DataError(file, f"{where}: {field}", problem)

    setting: Setting | None = next((known for known in SETTINGS if known == row["traj_type"]), None)
    if setting is None:
        raise wrong("traj_type", f"must be one of {', '.join(SETTINGS)}")
    info = row.get("task_info")
    info = info if isinstance(info, dict) else {}
    for field in ("env_id", "task_id"):
        if not isinstance(info.get(field), str) or not info[field]:
            raise wrong(f"task_info.{field}", "must be a non-empty string")
    messages, tools = (_decoded(row.get(field), field, wrong) for field in ("messages", "tools"))
    check_messages(messages, wrong)
    messages = _with_ids(messages, wrong)
    if setting == "non_conversation" and messages[-1]["role"] == "user" and len(messages) > 1:
        messages.pop()
    record = {
        "benchmark": "scenarios",
        "sample_id": f"{info['task_id']}/{setting}",
        "run": 1,
        "protocol": "",
        "model": "",
        "messages": messages,
        "tools": tools,
        "stop_reason": None,
        "outcome": None,
        "env_id": info["env_id"],
        "setting": setting,
    }
    found = Candidate(record, setting, info["env_id"])
    record["stop_reason"] = found.stop_reason
    return found


def _decoded(value: Any, field: str, wrong: Any) -> list[Any]:
    """A list, or the text of one: the release has both forms."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise wrong(field, f"is not JSON ({error})") from error
    if not isinstance(value, list):
        raise wrong(field, "must be a list, or the JSON text of one")
    return value


def _with_ids(messages: list[Message], wrong: Any) -> list[Message]:
    found: list[Message] = []
    waiting: list[str] = []
    number = 0
    for index, message in enumerate(messages):
        kept = {**message, "content": message.get("content") or ""}
        calls = kept.pop("tool_calls", None) or []
        if message["role"] == "assistant":
            waiting = []
        if calls:
            kept["tool_calls"] = []
        for place, call in enumerate(calls):
            function = call.get("function") if isinstance(call, dict) else None
            if not isinstance(function, dict) or not isinstance(function.get("name"), str):
                raise wrong(f"messages[{index}].tool_calls[{place}].function.name", "must be a string")
            arguments = function.get("arguments")
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            waiting.append(f"call_{number}")
            number += 1
            made = {"name": function["name"], "arguments": text}
            kept["tool_calls"].append({"id": waiting[-1], "type": "function", "function": made})
        if message["role"] == "tool":
            kept["tool_call_id"] = waiting.pop(0) if waiting else ""
        found.append(kept)
    return found
