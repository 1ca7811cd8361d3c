"""Every number that an audit decides by, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What a scenario must hold to pass the gate. None: reported, and not judged."""

    oracle: float | None = 1.0
    """Least reward of the oracle's calls."""
    floor: float | None = 0.0
    """Most reward of doing nothing."""
    kill: float | None = 0.9
    """Least share of mutants that some check notices."""
    false_fails: int | None = 0
    """Most pairs of a check and a harmless variant of the oracle's state that it fails."""
    deterministic: bool = True
    """Whether all replays must give one state, and checks one verdict."""
    minimal: bool = True
    """Whether leaving out any write of the oracle must cost reward."""
    check_seconds: float = 1.0
    """Most time of one check on one state; slower ones are flagged."""


DEFAULT = Thresholds()
"""For corpora of our own: a scenario that does not hold them is not kept."""
IMPORTED = Thresholds(oracle=None, floor=None, kill=None, false_fails=None, minimal=False)
"""For corpora that came without oracles: their figures are reported, only determinism is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much an audit tries, per scenario. Larger numbers find more and take longer."""

    replays: int = 3
    """In different processes."""
    per_operator: int = 24
    """Most mutants of one operator."""
    extra_writes: int = 16
    """Most legal calls after the oracle's that change the state."""
    tries_per_tool: int = 40
    """Calls with random arguments, to find one that the environment accepts."""
    random_episodes: int = 3
    random_calls: int = 8
    """Accepted calls in one random episode."""
    swaps: int = 8
    """Most pairs of neighbouring writes played in the other order."""
    search: int = 0
    """Calls that the search for an oracle may make where there is none; 0: no search."""
