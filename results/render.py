"""A table as text: terminal, Markdown, LaTeX, CSV, JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

from tabulate import tabulate

from results.grid import HEADERS, Grid, detail_grids, line_grid, paper_grid
from results.provenance import Provenance, marks
from results.references import Reference
from results.table import Line

__all__ = ["HEADERS", "Format", "Layout", "grid_text", "render"]

Format = Literal["terminal", "markdown", "latex", "csv", "json"]
Layout = Literal["lines", "paper"]

LEGEND = (
    "reward, success, floor in percent; sd: standard deviation over runs; 95 %: confidence interval over samples, "
    "clustered by group; n: samples; floor: doing nothing; faults and errors are in no average."
)


def render(
    lines: Sequence[Line],
    form: Format,
    notes: Sequence[str] = (),
    *,
    layout: Layout = "lines",
    references: Sequence[Reference] = (),
    provenance: Provenance | None = None,
    details: bool = False,
) -> str:
    """The table in one of the formats.

    Args:
        notes: Sentences printed below; in JSON under `notes`, in CSV left out.
        layout: One row a line, or `paper`: one row a model. CSV and JSON always have every line.
        references: Published tables, shown where they have figures for the columns.
        provenance: Printed below; in CSV left out.
        details: Also several runs of one sample, cost, and endings; CSV and JSON always have them.
    """
    told = [*notes, *marks(lines)[1]]
    if form == "json":
        return _json(lines, told, references, provenance)
    if form == "csv":
        return _csv(lines, references)
    grid = paper_grid(lines, references) if layout == "paper" else line_grid(lines, references)
    parts = [grid_text(grid, form)]
    for title, detail in detail_grids(lines) if details else ():
        parts.append(_comment(title, form) + "\n" + grid_text(detail, form))
    shown = list(dict.fromkeys(line.benchmark for line in lines))
    sentences = [f"note: {note}" for note in told]
    sentences += [f"reference: {note}" for table in references for note in table.notes(shown)]
    sentences += provenance.sentences() if provenance else []
    legend = [LEGEND]
    if layout == "paper":
        legend = ["percent: mean ± standard deviation over runs; *: another reading of failed samples stands below."]
    parts.append("\n".join(_comment(sentence, form) for sentence in [*legend, *sentences]))
    return "\n\n".join(parts)


def _comment(sentence: str, form: Format) -> str:
    return f"% {sentence}" if form == "latex" else sentence


def grid_text(grid: Grid, form: Format) -> str:
    """A grid in one of the formats that people read, or as CSV."""
    if form == "latex":
        return _latex(grid)
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([_flat(grid), *grid.rows])
        return out.getvalue().rstrip("\n")
    if form == "json":
        return json.dumps([dict(zip(_flat(grid), row, strict=True)) for row in grid.rows], indent=1)
    rows = [list(row) for row in grid.rows]
    headers = _flat(grid)
    if form == "markdown":
        rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    align = ("left",) * grid.left + ("right",) * (len(headers) - grid.left)
    style = "github" if form == "markdown" else "simple"
    return tabulate(rows, headers=headers, tablefmt=style, colalign=align if rows else None, disable_numparse=True)


def _flat(grid: Grid) -> list[str]:
    """Headers with the title of their group."""
    titles = [title for title, span in grid.groups for _ in range(span)] or [""] * len(grid.headers)
    return [f"{title}: {header}" if title else header for title, header in zip(titles, grid.headers, strict=True)]


_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "±": r"$\pm$"},
}


def _tex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


def _latex(grid: Grid) -> str:
    """A tabular for the package booktabs."""
    columns = "l" * grid.left + "r" * (len(grid.headers) - grid.left)
    lines = [f"\\begin{{tabular}}{{{columns}}}", "\\toprule"]
    if grid.groups:
        cells, rules, start = [], [], 1
        for title, span in grid.groups:
            cells.append(f"\\multicolumn{{{span}}}{{c}}{{{_tex(title)}}}")
            if title:
                rules.append(f"\\cmidrule(lr){{{start}-{start + span - 1}}}")
            start += span
        lines += [" & ".join(cells) + r" \\", " ".join(rules)]
    lines += [" & ".join(map(_tex, grid.headers)) + r" \\", "\\midrule"]
    for index, row in enumerate(grid.rows):
        if index in grid.rules:
            lines.append("\\midrule")
        lines.append(" & ".join(map(_tex, row)) + r" \\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])


def _json(
    lines: Sequence[Line], notes: Sequence[str], references: Sequence[Reference], provenance: Provenance | None
) -> str:
    record: dict[str, Any] = {"lines": [asdict(line) for line in lines], "notes": list(notes)}
    if references:
        record["references"] = [reference_record(table) for table in references]
    if provenance:
        record["provenance"] = provenance.record()
    return json.dumps(record, indent=1)


def reference_record(table: Reference) -> dict[str, Any]:
    """A published table as plain JSON values."""
    rows = [
        {
            "model": row.model,
            "training": row.training,
            "thinking": row.thinking,
            "figures": [{**asdict(figure), "value": figure.value} for figure in row.figures.values()],
        }
        for row in table.rows
    ]
    about = {"name": table.name, "title": table.title, "source": table.source, "date": table.date}
    return {**about, "notes": table.notes(), "rows": rows}


_NAMES = ("model", "benchmark", "version", "protocol", "settings", "column")
_MEASURED = ("reward", "reward_sd", "success", "success_sd", "samples", "runs", "floor", "faults", "errors", "unscored")
_MORE = ("reward_low", "reward_high", "success_low", "success_high", "failed_as_zero", "crashes_dropped")


def _csv(lines: Sequence[Line], references: Sequence[Reference]) -> str:
    """Full precision; an empty cell is a figure that does not exist."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    most = max((len(line.passes.hat) for line in lines), default=0)
    passes = [f"pass_{word}_{k}" for word in ("hat", "at") for k in range(2, most + 1)]
    roles = sorted({role for line in lines for role in line.usage})
    costs = [f"{role}_{what}" for role in roles for what in ("tokens_in", "tokens_out", "dollars")]
    writer.writerow([*_NAMES, *_MEASURED, *_MORE, *passes, "steps", "seconds", *costs, "serving", "source"])
    for line in lines:
        reward, success = line.reward, line.success
        figures = (reward.mean, reward.deviation, success.mean, success.deviation)
        start = (line.model, line.benchmark, line.version, line.protocol, line.settings, line.column)
        more = (reward.low, reward.high, success.low, success.high, *(line.readings.get(name) for name in _READINGS))
        shares = [100 * values[k] if k < len(values) else None for values in _both(line) for k in range(1, most)]
        usage = [value for role in roles for value in line.usage.get(role, (0, 0, 0))]
        serving = "; ".join(f"{key}={value}" for key, value in line.serving.items())
        counts = (line.samples, line.runs, line.floor, line.faults, line.errors, line.unscored)
        writer.writerow([*start, *figures, *counts, *more, *shares, line.steps, line.seconds, *usage, serving, ""])
    shown = {(line.benchmark, line.column) for line in lines}
    blank = [None] * (len(_MORE) + len(passes) + 2 + len(costs) + 1)
    for table in references:
        for row in table.rows:
            for place, found in row.figures.items():
                if place in shown:
                    start = (row.label, found.benchmark, "", table.terms[found.benchmark].protocol, "", found.column)
                    printed = (found.printed, None, None, None, None, found.runs, None, None, None, None)
                    writer.writerow([*start, *printed, *blank, table.name])
    return out.getvalue().rstrip("\n")


_READINGS = ("failed samples as 0", "crashes dropped")


def _both(line: Line) -> tuple[Sequence[float], Sequence[float]]:
    return line.passes.hat, line.passes.at
