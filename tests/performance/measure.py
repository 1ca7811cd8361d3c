"""What the measurements share: CPU time of a piece of work, and a row of the printed table."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One figure beside what it should hold."""

    what: str
    measured: str
    hold: str
    held: bool


def cpu_seconds(work: Callable[[], object], *, repeat: int = 5) -> float:
    """Least CPU time of this process over `repeat` runs, in seconds: the machine's other load only ever adds."""
    best = float("inf")
    for _ in range(repeat):
        gc.collect()
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def at_most(what: str, value: float, limit: float, unit: str) -> Row:
    """A row that holds if `value` does not exceed `limit`."""
    return Row(what, f"{value:,.3g} {unit}", f"<= {limit:,g} {unit}", value <= limit)


def at_least(what: str, value: float, limit: float, unit: str) -> Row:
    """A row that holds if `value` reaches `limit`."""
    return Row(what, f"{value:,.3g} {unit}", f">= {limit:,g} {unit}", value >= limit)
