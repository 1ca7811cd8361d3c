"""From a finished episode to its scores: the published ones, the strict one, and what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.acebench import scoring
from adapters.acebench.task import Task
from harness.environment import Environment
from harness.messages import Message, Slip, read
from harness.outcome import Score, StopReason
from harness.state import State
from harness.trajectory import Trajectory

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class AceJudge:
    """Scores one task's episodes.

    `Score.value` and the part `end_to_end` are the published end-to-end accuracy; `process` and `strict` stand beside
    it. An episode that its protocol ends with 0 has 0 in all three, and `state` tells what its final state was worth.
    """

    task: Task
    corrected: Sequence[Mapping[str, Mapping[str, Any]]]
    """The answer that `strict` compares with."""
    floor: float = 0.0
    """What doing nothing earns."""
    official: bool = False
    """Log calls as the official text protocol does, and give 0 to an episode without a single call: the official loop
    keeps no state for it."""
    empty_last_reply_loses: bool = False
    """The paper's loop checks its limit only after replies that say or do something; when the last one allowed is
    empty, it leaves without scoring the state."""

    def __call__(self, trajectory: Trajectory, environment: Environment) -> Score:
        states: list[dict[str, dict[str, Any]]] = environment.state().decode()
        if self.official and not trajectory.calls:
            states = []
        solved = scoring.end_to_end(states, self.task.answer)
        log = official_log(trajectory.messages) if self.official else paper_log(trajectory.messages)
        marks = {
            "end_to_end": solved,
            "process": scoring.process(log, self.task.milestones, solved == 1.0),
            "strict": scoring.strict(states, self.corrected),
        }
        parts: dict[str, Any] = dict(marks)
        if self._lost(trajectory):
            parts = {**dict.fromkeys(marks, 0.0), "state": marks}
        parts["floor"] = self.floor
        parts["differs"] = [] if marks["strict"] else differences(states, self.corrected)
        return Score(parts["end_to_end"], success=parts["end_to_end"] == 1.0, parts=parts)

    def _lost(self, trajectory: Trajectory) -> bool:
        if trajectory.stop_reason is StopReason.INVALID_REPLY:
            return True
        if not self.empty_last_reply_loses or trajectory.stop_reason is not StopReason.STEP_LIMIT:
            return False
        last = next(message for message in reversed(trajectory.messages) if message["role"] == "assistant")
        return read(last).slip is Slip.EMPTY


def differences(states: scoring.States, expected: scoring.States) -> list[str]:
    """Where a final state differs from the strict answer: paths such as `FoodPlatform.users.Eve.balance`."""
    want, have = ({name: each for state in side for name, each in state.items()} for side in (expected, states))
    return [change.path for change in State.of(want).diff(State.of(have))]


def paper_log(messages: Sequence[Message]) -> list[str]:
    """One entry per call that the agent wrote, executed or not: calls beside the finish word are logged as well."""
    return [scoring.paper_entry(*call) for message in messages for call in _calls(message)]


def official_log(messages: Sequence[Message]) -> list[str]:
    """One entry per message with calls."""
    return [scoring.official_entry(calls) for calls in map(_calls, messages) if calls]


def _calls(message: Message) -> list[Call]:
    if message["role"] != "assistant":
        return []
    # The arguments are read as the paper's executor reads them; what it cannot read, it never logs.
    calls = read({**message, "finish_reason": None}, blank_arguments=True).calls
    return [(call.name, call.arguments) for call in calls if call.name is not None and call.arguments is not None]
