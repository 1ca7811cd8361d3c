"""A case: one sample ready to play. Benchmarks build them, everything else only plays them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.environment import Environment, Level, ToolSpec
from harness.messages import Message
from harness.outcome import Score
from harness.trajectory import Trajectory
from harness.users import SimulatedUser


@dataclass(frozen=True, slots=True)
class Turn:
    """One fixed user turn."""

    text: str
    tools: Sequence[ToolSpec] | None = None
    """The tools offered from this turn on, if they change (BFCL: functions that appear later)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What the agent is told, and by whom: fixed turns, or a simulated user."""

    system: str | None = None
    turns: tuple[Turn, ...] = ()
    user: Callable[[], SimulatedUser] | None = None
    finish_word: str | None = None
    """If set, a reply that holds it ends the agent's work (ACEBench): nothing else does where turns are fixed, and a
    simulated user may end it too. Calls beside it are not executed."""
    nudge: str | None = None
    """Said to an agent that talks without the finish word."""

    def __post_init__(self) -> None:
        if bool(self.turns) == (self.user is not None):
            raise ValueError("a brief has fixed turns or a simulated user, not both and not neither")


Judge = Callable[[Trajectory, Environment], Score]
"""Deterministic, without a model. May raise `EnvironmentFault` if the state cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One sample ready to play; benchmarks build them, everything else only plays them."""

    id: str
    open: Callable[[], Environment]
    """A fresh environment in its initial state."""
    brief: Brief
    judge: Judge | None
    """None: nothing says what a final state is worth. Such a case is played, and never scored."""
    level: Level = "trusted"
    oracle: tuple[Message, ...] | None = None
    """Assistant messages that solve the sample; `reference/oracle` says them in order."""
