"""How environments, their states and their changes are put into a question; and whether a call fits a tool."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from harness.environment import ToolSpec
from harness.errors import near_miss
from harness.state import MISSING, Change, State

MOST_STATE = 40_000
"""Characters of a state that a model is shown."""


def documentation(title: str, introduction: str, rules: Iterable[str]) -> str:
    """What an environment is, and its rules."""
    return f"# {title}\n{introduction}\n\nRules:\n" + "".join(f"- {rule}\n" for rule in rules)


def tool(spec: ToolSpec) -> str:
    """A tool with its schema."""
    return f"{spec.name}: {spec.description}\n  parameters: {json.dumps(spec.parameters, ensure_ascii=False)}"


def records(state: State) -> str:
    """A state, cut where it is very long."""
    text = state.data.decode("utf-8", "replace")
    if len(text) > MOST_STATE:
        text = f"{text[:MOST_STATE]} ... ({len(text) - MOST_STATE} characters more)"
    return text


def call(name: str, arguments: Mapping[str, Any]) -> str:
    """A call on one line."""
    return f"{name}({json.dumps(arguments, ensure_ascii=False)})"


def differences(before: State, after: State, most: int = 40) -> str:
    """What changed, a line each."""
    changes = before.diff(after)
    lines = [change(one) for one in changes[:most]]
    if len(changes) > most:
        lines.append(f"... and {len(changes) - most} more")
    return "\n".join(lines) or "nothing"


def change(one: Change) -> str:
    """One change on one line."""
    return f"{one.path}: {_value(one.before)} -> {_value(one.after)}"


def _value(value: Any) -> str:
    return "absent" if value is MISSING else json.dumps(value, ensure_ascii=False)


def call_problem(name: str, arguments: Mapping[str, Any], tools: Mapping[str, ToolSpec]) -> str | None:
    """Why a call cannot be made at all: no such tool, or not its parameters. The caller's mistake, not the tool's."""
    if name not in tools:
        return f"there is no tool '{name}'; {near_miss(name, list(tools))}"
    schema = tools[name].parameters
    missing = [argument for argument in schema.get("required", ()) if argument not in arguments]
    if missing:
        return f"{name} requires {', '.join(missing)}"
    unknown = [argument for argument in arguments if argument not in schema.get("properties", {})]
    if unknown and not schema.get("additionalProperties", True):
        return f"{name} has no parameter {', '.join(unknown)}"
    return None
