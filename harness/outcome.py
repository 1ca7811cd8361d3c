"""How an episode ended and what it scored. The type says which of four things happened, so that they never mix."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from harness.environment import Level


class Ending(StrEnum):
    """The kinds of outcome (DESIGN section 4)."""

    SCORED = "scored"
    UNSCORED = "unscored"
    """Played to its end; the case has no judge. In no average, and nothing failed."""
    ENVIRONMENT_FAULT = "environment_fault"
    INFRASTRUCTURE_ERROR = "infrastructure_error"


class StopReason(StrEnum):
    """Why an episode stopped."""

    AGENT_DONE = "agent_done"
    """The agent ended it: a final text, or the finish word."""
    USER_STOP = "user_stop"
    """The user said the stop word."""
    TURNS_DONE = "turns_done"
    """All fixed user turns were played."""
    TOOL_ENDED = "tool_ended"
    """A tool that ends the episode was called (Tau-Bench: transfer to a human)."""
    STEP_LIMIT = "step_limit"
    TOOL_EXCEPTION = "tool_exception"
    """A tool raised and the protocol ends the episode for it."""
    INVALID_REPLY = "invalid_reply"
    """The agent's reply could not be used and the protocol ends the episode for it."""
    INVALID_USER_REPLY = "invalid_user_reply"
    """The user model's reply could not be read and the benchmark ends the episode for it."""
    CONTEXT_FULL = "context_full"
    """The model's context could not hold the conversation."""
    RECORDING_ENDED = "recording_ended"
    """Replay only: the recording had no further message."""
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Score:
    """What a judge gives. `value` is what tables average; the rest explains it."""

    value: float
    success: bool
    parts: dict[str, Any] = field(default_factory=dict)
    """Per check, per class, per output: JSON values, named by the benchmark."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one episode ended.

    Raises:
        ValueError: If there is a score without `SCORED`, or the reverse.
    """

    ending: Ending
    stop_reason: StopReason
    steps: int
    """Agent messages in the episode."""
    level: Level
    score: Score | None = None
    fault: str | None = None
    """`kind: sentence` of the fault or error, if there was one."""
    counts: dict[str, int] = field(default_factory=dict)
    """What the protocol had to answer: dropped calls, invalid replies, tool exceptions, unparsed markup."""

    def __post_init__(self) -> None:
        if (self.score is None) == (self.ending is Ending.SCORED):
            raise ValueError(f"outcome {self.ending}: score is {self.score}; a score belongs to scored outcomes only")

    def record(self) -> dict[str, Any]:
        """The outcome as plain JSON values, for logs and trajectories."""
        score = None
        if self.score is not None:
            score = {"value": self.score.value, "success": self.score.success, "parts": self.score.parts}
        return {
            "ending": self.ending.value,
            "stop_reason": self.stop_reason.value,
            "steps": self.steps,
            "level": self.level,
            "score": score,
            "fault": self.fault,
            "counts": dict(self.counts),
        }
