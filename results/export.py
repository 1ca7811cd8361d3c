"""A folder for a model card or a leaderboard: the figures as JSON with their schema, tables, samples, a page."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from results.files import write_folder
from results.frame import frame
from results.grid import TITLES, paper_grid
from results.page import page
from results.provenance import Provenance
from results.read import Read
from results.references import Reference
from results.render import grid_text, reference_record, render
from results.table import Line

SCHEMA = "envscaler-results-1"
"""Name of the format of results.json; the number moves when a reader would have to change."""


def export(
    folder: Path,
    read: Read,
    lines: Sequence[Line],
    notes: Sequence[str],
    references: Sequence[Reference],
    provenance: Provenance,
) -> list[str]:
    """Write the folder, whole or not at all.

    Returns:
        The names of its files.
    Raises:
        LogError: If it exists and is not empty.
        OSError: If it cannot be written.
    """
    record = results_record(lines, notes, references, provenance)
    schema = Path(__file__).with_name("schema.json").read_bytes()
    table = render(lines, "markdown", notes, references=references, provenance=provenance, details=True)
    files = {
        "results.json": json.dumps(record, indent=1).encode() + b"\n",
        "schema.json": schema,
        "table.md": table.encode() + b"\n",
        "table.tex": render(lines, "latex", notes, layout="paper", references=references).encode() + b"\n",
        "table.csv": render(lines, "csv", references=references).encode() + b"\n",
        "samples.csv": frame(read).to_csv(index=False).encode(),
        "index.html": page(read, lines, notes, references, provenance, "http://127.0.0.1:7575").encode(),
        "model_card.md": model_card(lines, notes, provenance).encode(),
    }
    write_folder(folder, files)
    return list(files)


def results_record(
    lines: Sequence[Line], notes: Sequence[str], references: Sequence[Reference], provenance: Provenance
) -> dict[str, Any]:
    """What results.json holds; `schema.json` beside it describes each field."""
    return {
        "schema": SCHEMA,
        "provenance": provenance.record(),
        "results": [_result(line) for line in lines],
        "notes": list(notes),
        "references": [reference_record(table) for table in references],
    }


def _result(line: Line) -> dict[str, Any]:
    return {
        "model": line.model,
        "benchmark": line.benchmark,
        "benchmark_version": line.version,
        "protocol": line.protocol,
        "settings": line.settings,
        "column": line.column,
        "reward": asdict(line.reward),
        "success": asdict(line.success),
        "samples": line.samples,
        "groups": line.groups,
        "runs": line.runs,
        "floor": line.floor,
        "faults": line.faults,
        "errors": line.errors,
        "unscored": line.unscored,
        "other_readings": dict(line.readings),
        "pass_hat_k": [100 * value for value in line.passes.hat],
        "pass_at_k": [100 * value for value in line.passes.at],
        "stop_reasons": dict(line.stops),
        "steps": line.steps,
        "seconds": line.seconds,
        "usage": {
            role: {"tokens_in": found[0], "tokens_out": found[1], "dollars": found[2]}
            for role, found in line.usage.items()
        },
        "levels": line.levels.split(),
        "serving": dict(line.serving),
        "logs": list(line.logs),
    }


def model_card(lines: Sequence[Line], notes: Sequence[str], provenance: Provenance) -> str:
    """A model card's section: the hub's `model-index` as YAML front matter, then the table in the paper's layout."""
    by_model: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if line.reward.mean is not None:
            by_model[line.model].append(line)
    front = ["---", "model-index:"]
    for model, found in by_model.items():
        front += [f"- name: {json.dumps(model)}", "  results:"]
        for line in found:
            title = f"{TITLES.get(line.benchmark, line.benchmark)} {line.column}"
            front += [
                "  - task: {type: text-generation, name: tool use}",
                f"    dataset: {{type: {line.benchmark}, name: {json.dumps(title)}}}",
                "    metrics:",
                f"    - {{type: reward, name: {json.dumps(f'reward, protocol {line.protocol}')}, "
                f"value: {line.reward.mean:.2f}}}",
            ]
    told = "\n".join(f"- {note}" for note in [*notes, *provenance.sentences()])
    return "\n".join([*front, "---", "", "# Results", "", grid_text(paper_grid(lines), "markdown"), "", told, ""])
