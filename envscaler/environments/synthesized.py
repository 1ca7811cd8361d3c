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
        try:
            self.initial = self._instance.state()
        except BaseException:
            self._instance.close()
            raise

    def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        return self._instance.call(name, arguments)

    def state(self) -> State:
        return self._instance.state()

    def close(self) -> None:
        self._instance.close()
