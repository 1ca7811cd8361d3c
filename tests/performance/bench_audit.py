"""The audit: 200 scenarios in five minutes on two cores, which is three seconds of CPU time for each."""

from __future__ import annotations

import resource
import subprocess
import sys

from tests.performance.measure import Row, at_most

_ONE_OF_EACH = (
    "clinic_scheduling-task_4,hotel_front_desk-task_2,it_service_desk-task_6,"
    "library_circulation-task_7,university_registrar-task_8,warehouse_fulfilment-task_5"
)


def measure() -> list[Row]:
    rows = []
    for level in ("isolated", "trusted"):
        arguments = ["audit", "bundled", "--scenarios", _ONE_OF_EACH, "--jobs", "1", "--level", level]
        before = _seconds()
        command = [sys.executable, "-c", f"from envscaler.cli import main; main({arguments!r})"]
        subprocess.run(command, check=True, capture_output=True)
        each = (_seconds() - before) / len(_ONE_OF_EACH.split(","))
        rows.append(at_most(f"audit of one scenario, {level}, CPU", each, 3.0, "s"))
    return rows


def _seconds() -> float:
    """CPU time of the children that ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
