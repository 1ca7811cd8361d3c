"""The results as one HTML page that needs nothing but itself."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from results.grid import TITLES, interval, number
from results.provenance import Provenance, key, marks
from results.read import Read, Row
from results.references import Reference
from results.table import Figure, Line

MOST_SAMPLES = 300
"""Samples listed for a row; a page of all samples of all rows would be slow to open."""
_NAMES = ("model", "protocol", "column")
_NUMBERS = ("reward", "success", "pass^k", "n", "runs", "floor", "faults", "errors")


def page(
    read: Read,
    lines: Sequence[Line],
    notes: Sequence[str],
    references: Sequence[Reference],
    provenance: Provenance,
    viewer: str,
) -> str:
    """The page: a sortable table for each benchmark, with samples, stop reasons and links behind each row.

    Args:
        viewer: Address under which `inspect view` shows the same logs.
    """
    letters, differing = marks(lines)
    tables = []
    numbered = list(enumerate(lines))
    for benchmark, found in groupby(numbered, key=lambda pair: (pair[1].benchmark, pair[1].version)):
        pairs = list(found)
        rows = [_line(index, line, letters.get(key(line), "")) for index, line in pairs]
        shown = dict.fromkeys(line.column for _, line in pairs)
        rows += [row for table in references for row in _published(table, benchmark[0], list(shown))]
        tables.append(_table(f"{TITLES.get(benchmark[0], benchmark[0])} {benchmark[1]}", rows))
    told = [*notes, *differing]
    told += [
        note for table in references for note in table.notes(list(dict.fromkeys(line.benchmark for line in lines)))
    ]
    data = {"viewer": viewer.rstrip("/"), "logs": _paths(read), "lines": _details(read, lines)}
    text = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    for name, value in (
        ("TABLES", "\n".join(tables)),
        ("NOTES", f"<ul class=notes>{''.join(f'<li>{escape(note)}</li>' for note in told)}</ul>" if told else ""),
        ("PROVENANCE", "<br>".join(map(escape, provenance.sentences()))),
        # Inside a script element only `</` could end it; all of `<` is escaped.
        ("DATA", json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")),
    ):
        text = text.replace(f"<!--{name}-->", value, 1)
    return text


def _table(title: str, rows: Iterable[str]) -> str:
    heads = [f"<th class=name scope=col><button type=button>{escape(name)}</button></th>" for name in _NAMES]
    heads += [f"<th scope=col><button type=button>{escape(name)}</button></th>" for name in _NUMBERS]
    return (
        f"<h2>{escape(title)}</h2>\n<div class=scroll><table class=results><thead><tr>{''.join(heads)}</tr></thead>\n"
        f"<tbody>\n{chr(10).join(rows)}\n</tbody></table></div>"
    )


def _line(index: int, line: Line, letter: str) -> str:
    mark = f" [{letter}]" if letter else ""
    opener = '<button type=button class=open aria-expanded=false aria-label="details">+</button>'
    hat = line.passes.hat
    cells = [
        f"<td class=name>{opener}{escape(line.model + mark)}</td>",
        f"<td class=name>{escape(f'{line.protocol} {line.settings}'.strip())}</td>",
        f"<td class=name>{escape(line.column)}</td>",
        _figure(line.reward),
        _figure(line.success),
        _number(100 * hat[-1] if len(hat) > 1 else None, f"{100 * hat[-1]:.2f}" if len(hat) > 1 else "-"),
        _number(line.samples, str(line.samples)),
        _number(line.runs, str(line.runs)),
        _number(line.floor, number(line.floor)),
        _number(line.faults, str(line.faults)),
        _number(line.errors, str(line.errors)),
    ]
    kind = " class=sum" if line.column == "Overall" else ""
    return f"<tr{kind} data-line={index}>{''.join(cells)}</tr>"


def _figure(figure: Figure) -> str:
    spread = "" if figure.deviation is None else f" ± {figure.deviation:.2f}"
    bounds = "" if figure.low is None else f" [{interval(figure)}]"
    shown = f"{number(figure.mean)}<span class=spread>{spread}{bounds}</span>"
    return _number(figure.mean, shown)


def _number(value: float | None, shown: str) -> str:
    return f'<td data-value="{"" if value is None else value}">{shown}</td>'


def _published(table: Reference, benchmark: str, columns: Sequence[str]) -> Iterable[str]:
    for row in table.rows:
        for column in columns:
            if (found := row.figures.get((benchmark, column))) is not None:
                protocol = f"{table.terms[benchmark].protocol} ({table.name})"
                names = "".join(f"<td class=name>{escape(text)}</td>" for text in (row.label, protocol, column))
                rest = [_number(None, "-")] * 3
                runs = _number(found.runs, "-" if found.runs is None else str(found.runs))
                cells = [_number(found.value, found.printed), *rest, runs, *rest]
                yield f"<tr class=reference>{names}{''.join(cells)}</tr>"


def _paths(read: Read) -> dict[str, str]:
    """Log -> its path below the folder that holds them all, as the viewer's addresses have it."""
    folders = {str(Path(fact.path).parent) for fact in read.logs.values()}
    root = os.path.commonpath(folders) if folders else ""
    return {name: quote(os.path.relpath(fact.path, root or ".")) for name, fact in read.logs.items()}


def _details(read: Read, lines: Sequence[Line]) -> list[dict[str, Any]]:
    by_row: dict[tuple[str, ...], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in read.rows:
        by_row[row.model, row.benchmark, row.version, row.protocol, row.settings][row.subset].append(row)
    found = []
    for line in lines:
        columns = {column["title"]: column for column in read.columns[line.benchmark, line.version]}
        subset = columns[line.column]["subset"]
        listed: list[Any] = []
        # An Overall's samples stand under its columns.
        if isinstance(subset, str) and not columns[line.column].get("part"):
            listed = _samples(by_row[key(line)][subset])
        found.append(
            {
                "stops": dict(line.stops),
                "facts": _facts(line),
                "logs": list(line.logs),
                "samples": listed[:MOST_SAMPLES],
                "more": max(0, len(listed) - MOST_SAMPLES),
            }
        )
    return found


def _samples(rows: Sequence[Row]) -> list[Any]:
    """Name, mean reward, runs (number, reward, stop reason, log) and known defects; the worst first."""
    by_sample: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if not row.unscored:
            by_sample[row.sample].append(row)
    listed = []
    for sample, found in by_sample.items():
        scored = [row.reward for row in found if row.reward is not None]
        mean = 100 * sum(scored) / len(scored) if scored else None
        runs = [
            [row.run, row.reward, row.stop_reason or row.ending, row.log]
            for row in sorted(found, key=lambda row: row.run)
        ]
        listed.append([sample, mean, runs, any(row.known_bad for row in found)])
    return sorted(listed, key=lambda item: (-1 if item[1] is None else item[1], item[0]))


def _facts(line: Line) -> list[str]:
    facts = [f"{line.steps:.1f} steps and {line.seconds:.1f} seconds an episode, level {line.levels or '-'}"]
    facts += [
        f"{role}: {read:.0f} tokens read, {written:.0f} written" + (f", ${dollars:.4f}" if dollars else "")
        for role, (read, written, dollars) in line.usage.items()
    ]
    hat = ", ".join(f"pass^{k} {100 * value:.2f}" for k, value in enumerate(line.passes.hat, start=1))
    at = ", ".join(f"pass@{k} {100 * value:.2f}" for k, value in enumerate(line.passes.at, start=1) if k > 1)
    facts += [text for text in (hat, at) if text]
    facts += [f"reward with {name}: {value:.2f}" for name, value in line.readings.items()]
    if line.groups:
        facts.append(f"interval over {line.groups} groups")
    facts.append("served: " + (", ".join(f"{name} {value}" for name, value in line.serving.items()) or "nothing known"))
    return facts
