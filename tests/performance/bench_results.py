"""100,000 sample records from logs to every table, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from tests.performance.measure import Row, at_most
from tests.results.playground import log, sample, scored

MODELS, SAMPLES, RUNS = 20, 1000, 5
WORK = """
import json, resource, sys, time
start = time.process_time()
from results.frame import frame
from results.page import page
from results.provenance import provenance, remarks
from results.read import read
from results.render import render
from results.table import lines
imported = time.process_time()
found = read(sys.argv[1])
done = time.process_time()
table = lines(found)
notes = remarks(found, table)
origin = provenance(found, "bench", "0")
for form in ("terminal", "markdown", "latex", "csv", "json"):
    render(table, form, notes, provenance=origin, details=True)
page(found, table, notes, (), origin, "")
frame(found)
end = time.process_time()
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
assert len(found.rows) == int(sys.argv[2]), len(found.rows)
print(json.dumps([done - imported, end - done, memory]))
"""


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder)
        for model in range(MODELS):
            _log(logs, f"model-{model}")
        records = MODELS * SAMPLES * RUNS
        run = subprocess.run(
            [sys.executable, "-c", WORK, folder, str(records)], capture_output=True, text=True, check=True
        )
    reading, tables, memory = json.loads(run.stdout)
    return [
        at_most("reading 100,000 records from 20 logs", reading, 30, "s of CPU"),
        at_most("all tables, the page and the frame of 100,000 records", tables, 10, "s of CPU"),
        at_most("memory of that process, reading included", memory, 1024, "MiB"),
    ]


def _log(folder: Path, model: str) -> None:
    """A log of Inspect's with one sample, then copies of it under other names: writing is not what is measured."""
    checks = [{"item": f"Is part {part} done?", "passed": True, "passed_at_start": False} for part in range(6)]
    path = log(folder, sample("s0", 1, scored(1.0, checks=checks, floor=0.0)), name=model, model=model, epochs=RUNS)
    with zipfile.ZipFile(path) as archive:
        kept = {
            name: archive.read(name) for name in archive.namelist() if name in ("header.json", "_journal/start.json")
        }
        record: dict[str, Any] = json.loads(archive.read("samples/s0_epoch_1.json"))
    outcome = record["store"]["envscaler"]["outcome"]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in kept.items():
            archive.writestr(name, data)
        for index in range(SAMPLES):
            record["id"] = f"task-{index}"
            record["metadata"] = {"subset": ("base", "long")[index % 2], "group": f"environment-{index % 50}"}
            for run in range(1, RUNS + 1):
                value = float((index * run) % 7 > 2)
                record["epoch"] = run
                outcome["score"] |= {"value": value, "success": value == 1.0}
                archive.writestr(f"samples/task-{index}_epoch_{run}.json", json.dumps(record))
