"""An environment as data: its source, its documentation, its tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from envscaler.environments.schema import awaitable_methods, tool_specs
from harness.environment import ToolSpec
from harness.errors import DataError

Tools = Literal["own", "release"]
"""Whose tool schemas: ours, made from signatures and docstrings, or the ones that came with the record."""


@dataclass(frozen=True)
class EnvironmentRecord:
    """One environment of a corpus."""

    id: str
    title: str
    """Short noun phrase (`environment_summary` in the release)."""
    class_name: str
    description: str
    """What the environment is, without any task (`environment_introduction`)."""
    rules: tuple[str, ...]
    """Business rules that the tools enforce (`constraints_rules`)."""
    source: str
    """Python source of the class (`env_class_code`)."""
    provenance: str = ""
    licence: str = ""
    quality: dict[str, Any] = field(default_factory=dict)
    """Figures of the audit."""
    released: dict[str, Any] = field(default_factory=dict)
    """Further fields of the public release, kept as they are (state space, operations, tools, ...)."""
    bundled: bool = False
    """True for the environments that ship with this package: the only ones that may run at level `trusted`."""
    file: str = field(default="", compare=False)
    """Where it was read from; errors name it."""

    @cached_property
    def own_tools(self) -> tuple[ToolSpec, ...]:
        """Tool schemas made from the source.

        Raises:
            DataError: If the source does not parse, or has no such class.
        """
        try:
            return tuple(tool_specs(self.source, self.class_name))
        except ValueError as error:
            raise DataError(self.file, f"{self.id}.source", str(error)) from error

    @cached_property
    def awaitable_methods(self) -> tuple[str, ...]:
        """Public methods that are no tools because they are `async def`, and calls are not awaited.

        Raises:
            DataError: As `own_tools`.
        """
        try:
            return tuple(awaitable_methods(self.source, self.class_name))
        except ValueError as error:
            raise DataError(self.file, f"{self.id}.source", str(error)) from error

    def tools(self, whose: Tools) -> tuple[ToolSpec, ...]:
        """The tools that the agent sees.

        Raises:
            DataError: As `own_tools`.
        """
        if whose == "own":
            return self.own_tools
        released = (ToolSpec.from_openai(tool) for tool in self.released["tools"])
        return tuple(tool for tool in released if tool.name not in self.awaitable_methods)
