"""A table as text: terminal, Markdown, CSV, JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal

from tabulate import tabulate

from results.table import Figure, Line

Format = Literal["terminal", "markdown", "csv", "json"]

HEADERS = (
    "model",
    "benchmark",
    "protocol",
    "column",
    "reward",
    "sd",
    "success",
    "sd",
    "n",
    "runs",
    "floor",
    "faults",
    "errors",
)


def render(lines: Sequence[Line], form: Format, notes: Sequence[str] = ()) -> str:
    """The table in one of the formats.

    Args:
        notes: Sentences printed below; in JSON under `notes`, in CSV left out.
    """
    if form == "json":
        return json.dumps({"lines": [asdict(line) for line in lines], "notes": list(notes)}, indent=1)
    if form == "csv":
        return _csv(lines)
    cells = [_cells(line) for line in lines]
    if form == "markdown":
        cells = [[cell.replace("|", "\\|") for cell in row] for row in cells]
    style = "github" if form == "markdown" else "simple"
    align = ("left",) * 4 + ("right",) * 9
    table = tabulate(cells, headers=HEADERS, tablefmt=style, colalign=align, disable_numparse=True)
    legend = (
        "reward, success, floor in percent; sd: standard deviation over runs; n: samples; floor: doing nothing; "
        "faults and errors are in no average."
    )
    return "\n".join([table, "", legend, *(f"note: {note}" for note in notes)])


def _cells(line: Line) -> list[str]:
    protocol = f"{line.protocol} {line.settings}".strip()
    return [
        line.model,
        f"{line.benchmark} {line.version}".strip(),
        protocol,
        line.column,
        *_figure(line.reward),
        *_figure(line.success),
        str(line.samples),
        str(line.runs),
        _number(line.floor),
        str(line.faults),
        str(line.errors),
    ]


def _figure(figure: Figure) -> tuple[str, str]:
    return _number(figure.mean), _number(figure.deviation)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _csv(lines: Sequence[Line]) -> str:
    """Full precision; an empty cell is a figure that does not exist."""
    out = io.StringIO()
    names = ("model", "benchmark", "version", "protocol", "settings", "column")
    measured = ("reward", "reward_sd", "success", "success_sd", "samples", "runs", "floor", "faults", "errors")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, *measured])
    for line in lines:
        figures = (line.reward.mean, line.reward.deviation, line.success.mean, line.success.deviation)
        start = (line.model, line.benchmark, line.version, line.protocol, line.settings, line.column)
        writer.writerow([*start, *figures, line.samples, line.runs, line.floor, line.faults, line.errors])
    return out.getvalue().rstrip("\n")
