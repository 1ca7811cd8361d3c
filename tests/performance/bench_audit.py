"""The audit: 200 scenarios at level isolated in five minutes on two cores: 560 s of CPU time, and some waiting."""

from __future__ import annotations

import resource
import subprocess
import sys

from envscaler.scenarios import load
from tests.performance.measure import Row, at_most

_OF = 200
_CPU_SECONDS = 560.0
_RATIO = 2.0
"""Isolated beside trusted, in the same minute: what processes, channels and hearings may cost on any machine."""


def measure() -> list[Row]:
    names = _one_of_each()
    spent = {level: _spent(level, names) for level in ("isolated", "trusted")}
    rows = [
        at_most(f"audit of {_OF} scenarios, {level}, CPU ({len(names)} measured)", each * _OF, _CPU_SECONDS, "s")
        for level, each in spent.items()
    ]
    return [*rows, at_most("audit, isolated / trusted, CPU", spent["isolated"] / spent["trusted"], _RATIO, "x")]


def _one_of_each() -> list[str]:
    """The scenario in the middle of each bundled environment."""
    corpus = load()
    found: dict[str, list[str]] = {}
    for scenario in corpus.scenarios.values():
        found.setdefault(scenario.env_id, []).append(scenario.task_id)
    return [tasks[len(tasks) // 2] for tasks in found.values()]


def _spent(level: str, names: list[str]) -> float:
    """CPU time for one scenario, in seconds: of the audit and all its processes, its start included."""
    arguments = ["audit", "bundled", "--scenarios", ",".join(names), "--jobs", "1", "--level", level]
    before = _seconds()
    command = [sys.executable, "-c", f"from envscaler.cli import main; main({arguments!r})"]
    subprocess.run(command, check=True, capture_output=True)
    return (_seconds() - before) / len(names)


def _seconds() -> float:
    """CPU time of the children that ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
