"""A BFCL entry as an environment, and the judge of its episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adapters.bfcl.checker import Call, ErrorType, Verdict, check
from adapters.bfcl.entry import Entry
from adapters.bfcl.execution import Execution
from adapters.bfcl.pair import Pair
from harness.environment import Environment, ToolResult, ToolSpec
from harness.outcome import Score, StopReason
from harness.state import State
from harness.trajectory import Trajectory


class BfclEnvironment:
    """The backends of one entry, in its initial state."""

    def __init__(self, entry: Entry, pair: Pair) -> None:
        self.tools: Sequence[ToolSpec] = pair.tools(entry)
        self._world = Execution(entry, pair.backends)

    def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        return self._world.call(name, arguments)

    def state(self) -> State:
        return State.of(self._world.states())

    def close(self) -> None:
        pass


def judge(entry: Entry, pair: Pair, trajectory: Trajectory, environment: Environment) -> Score:
    """The official verdict on an episode: its calls are executed once more, beside the ground truth."""
    verdict = verdict_on(entry, pair, trajectory)
    classes = verdict.differences
    return Score(
        float(verdict.valid),
        success=verdict.valid,
        parts={
            "valid": verdict.valid,
            "error_type": verdict.error_type.value if verdict.error_type else None,
            "error_turn": verdict.error_turn,
            "differences": classes,
            "missing": verdict.missing,
            "steps": trajectory.steps,
            "calls": len(trajectory.calls),
            "known_bad": bool(pair.defects(entry)),
        },
    )


def verdict_on(entry: Entry, pair: Pair, trajectory: Trajectory) -> Verdict:
    """The verdict on the calls of a trajectory, by user turn."""
    if trajectory.stop_reason is StopReason.CONTEXT_FULL:
        # The query that does not fit is an error of the official loop, which replaces the whole result.
        return Verdict(ErrorType.INFERENCE)
    turns: list[list[Call]] = [[] for _ in trajectory.turn_steps]
    for call in trajectory.calls:
        turns[call.turn].append((call.name, call.arguments))
    return check(entry, pair.backends, turns)
