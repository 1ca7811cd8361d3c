"""Trajectories of our own, in our form and in the release's, and builders that change one thing."""

from __future__ import annotations

import json
from typing import Any

TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ("look", "put")]


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def called(number: int, name: str = "look", arguments: str = '{"name": "jam"}') -> list[dict[str, Any]]:
    """A call and its answer."""
    call = {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
    thought = {"role": "assistant", "content": "", "reasoning_content": f"Step {number}.", "tool_calls": [call]}
    return [thought, {"role": "tool", "content": "{'success': True}", "tool_call_id": f"call_{number}"}]


def alone(*calls: list[dict[str, Any]], last: str = "Task Completed") -> dict[str, Any]:
    """A Non-Conversation record of these calls, two if none are given."""
    steps = [message for call in calls or (called(0), called(1, "put")) for message in call]
    task = [{"role": "system", "content": "Work."}, {"role": "user", "content": "Put jam on the shelf."}]
    return _record([*task, *steps, said(last)], "non_conversation", "agent_done")


def talked(turns: int = 4, last: str = "###STOP###") -> dict[str, Any]:
    """A Conversation record: one call, and so many messages to the user."""
    messages = [{"role": "user", "content": "I want jam."}, *called(0)]
    for turn in range(turns):
        messages += [said(f"Done {turn}."), {"role": "user", "content": last if turn == turns - 1 else "And?"}]
    return _record(messages, "conversation", "user_stop")


def _record(messages: list[dict[str, Any]], setting: str, stop: str) -> dict[str, Any]:
    return {
        "benchmark": "scenarios",
        "sample_id": f"shelf-task_1/{setting}",
        "run": 1,
        "protocol": "paper",
        "model": "teacher",
        "messages": messages,
        "tools": TOOLS,
        "stop_reason": stop,
        "outcome": {
            "ending": "scored",
            "stop_reason": stop,
            "steps": sum(message["role"] == "assistant" for message in messages),
            "score": {"value": 1.0, "success": True, "parts": {}},
            "fault": None,
        },
    }


def scored(record: dict[str, Any], value: float) -> dict[str, Any]:
    return {**record, "outcome": {**record["outcome"], "score": {"value": value, "success": value == 1, "parts": {}}}}


def released(setting: str = "non_conversation", **changes: Any) -> dict[str, Any]:
    """A row of the release's file, which holds lists as JSON texts and calls without ids."""
    record = alone() if setting == "non_conversation" else talked()
    messages: list[dict[str, Any]] = []
    for message in record["messages"]:
        row = {key: value for key, value in message.items() if key not in ("tool_call_id", "tool_calls")}
        if "tool_calls" in message:
            row["tool_calls"] = [{"function": call["function"]} for call in message["tool_calls"]]
            row["content"] = None
        messages.append(row)
    if setting == "non_conversation":
        messages.append({"role": "user", "content": "Task finished"})
    row = {
        "traj_type": setting,
        "task_info": {"env_id": "env_1_sft", "task_id": "env_1_sft-task_1", "task": "Put jam on the shelf."},
        "tools": json.dumps(record["tools"]),
        "messages": json.dumps(messages),
        "user_messages": "null",
        "steps": 3,
    }
    return {**row, **changes}
