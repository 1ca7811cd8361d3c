"""A synthesized environment in one scenario, behind the harness's `Environment`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.environment import ToolResult, ToolSpec
from harness.program import Instance, Program, Runner
from harness.state import State


class SynthesizedEnvironment:
    """One running program, and how its final state is checked.

    Args:
        runner: The level at which the program runs.
        program: The class and the scenario's initial configuration.
        tools: What the agent sees.
    """

    def __init__(self, runner: Runner, program: Program, tools: Sequence[ToolSpec]) -> None:
        self.tools = tools
        self.initial: State
        """State before the first call: checks see it as `initial_state`."""
        self._instance: Instance = runner.open(program)
        self._state: State | None = None
        try:
            self.initial = self.state()
        except BaseException:
            self._instance.close()
            raise

    def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        self._state = None
        return self._instance.call(name, arguments)

    def state(self) -> State:
        # Judge and record both ask for the final state; it changes only by calls.
        if self._state is None:
            self._state = self._instance.state()
        return self._state

    def close(self) -> None:
        self._instance.close()
