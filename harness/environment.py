"""The environment as the harness sees it: tools, calls, state. Small on purpose, so that anything can be one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from harness.state import State

Level = Literal["isolated", "process", "trusted"]
"""How code runs: in a hardened child process; in a child process without all of the hardening, only where the user
asked for it on a machine that cannot do better; in this process, only for code shipped here. DESIGN section 7."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool exactly as the model sees it."""

    name: str
    description: str
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}, "required": []})
    """JSON schema of the arguments, sent to the model as it stands."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Further keys of the OpenAI `function` object (BFCL sends `response`); part of what the model sees."""

    def openai(self) -> dict[str, Any]:
        """The tool in OpenAI's chat-completions form."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters, **self.extra}
        return {"type": "function", "function": function}

    @classmethod
    def from_openai(cls, tool: dict[str, Any]) -> ToolSpec:
        """The inverse of `openai`.

        Raises:
            KeyError: If the tool has no `function.name`.
        """
        function = dict(tool["function"])
        name, description = function.pop("name"), function.pop("description", "")
        parameters = function.pop("parameters", {"type": "object", "properties": {}, "required": []})
        return cls(name, description, parameters, function)


class ToolStatus(StrEnum):
    """What became of a call. A refusal that the tool itself reports (wrong id, rule broken) is `OK`."""

    OK = "ok"
    RAISED = "raised"
    UNKNOWN_TOOL = "unknown_tool"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call."""

    text: str
    """The observation, as the agent reads it."""
    status: ToolStatus = ToolStatus.OK
    ends: bool = False
    """True if this call ends the episode (Tau-Bench: transfer to a human)."""


class Environment(Protocol):
    """An executable program with state. One instance belongs to one episode."""

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """The tools offered at the start, in the order the model sees them."""
        ...

    def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """Execute one call. Arguments arrive exactly as the model wrote them.

        Raises:
            EnvironmentFault: If the environment itself fails; never for anything that an agent can cause.
        """
        ...

    def state(self) -> State:
        """A copy of the state, canonical and comparable; never the live object.

        Raises:
            EnvironmentFault: If the state cannot be exported.
        """
        ...

    def close(self) -> None:
        """Free what the instance holds. Calling it twice is allowed."""
        ...
