"""Rows become table lines: mean over runs, spread over runs, n, floor, faults and errors."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from results.read import Read, Row


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over runs, in percent."""

    mean: float | None
    """None if no sample was scored."""
    deviation: float | None
    """Standard deviation (n - 1) of the runs' means; None for a single run."""


@dataclass(frozen=True, slots=True)
class Line:
    """One model on one column of a benchmark."""

    model: str
    benchmark: str
    version: str
    """Of the benchmark; lines of two versions are not comparable if their numbers differ."""
    protocol: str
    settings: str
    column: str
    reward: Figure
    success: Figure
    samples: int
    """Distinct samples."""
    runs: int
    floor: float | None
    """Mean reward of doing nothing on the same samples, in percent."""
    faults: int
    """Environment faults: in no average."""
    errors: int
    """Samples that failed for the model server or another reason: in no average."""


def figure(rows: Iterable[Row], value: str) -> Figure:
    """Mean of the runs' means, and its standard deviation over runs.

    A run's mean is over its scored samples; faults and errors are in no denominator, and are counted beside it.
    """
    by_run: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        number = getattr(row, value)
        if number is not None:
            by_run[row.run].append(100.0 * number)
    means = [statistics.fmean(numbers) for numbers in by_run.values()]
    if not means:
        return Figure(None, None)
    return Figure(statistics.fmean(means), statistics.stdev(means) if len(means) > 1 else None)


def lines(read: Read) -> list[Line]:
    """One line per model, version, protocol and column, in the benchmarks' column order; models by name."""
    groups: dict[tuple[str, str, str, str, str], list[Row]] = defaultdict(list)
    for row in read.rows:
        groups[row.benchmark, row.version, row.protocol, row.settings, row.model].append(row)
    table: list[Line] = []
    for (name, version, _, _, _), rows in sorted(groups.items()):
        columns = read.columns[name, version]
        done: dict[str, Line] = {}
        for column in columns:
            title = column["title"]
            if column["subset"] is not None:
                chosen = [row for row in rows if row.subset == column["subset"]]
                if not chosen:
                    continue
                floor = _floor(chosen, read.floors[name, version].get(title))
                done[title] = _line(chosen, title, floor)
            elif all(part in done for part in column["mean_of"]):
                parts = [done[part] for part in column["mean_of"]]
                subsets = {c["subset"] for c in columns if c["title"] in column["mean_of"]}
                done[title] = _overall(parts, [row for row in rows if row.subset in subsets], title)
        table += done.values()
    return table


def _floor(rows: Sequence[Row], known: float | None) -> float | None:
    floors = [row.floor for row in rows if row.floor is not None]
    return known if known is not None or not floors else 100.0 * statistics.fmean(floors)


def _line(rows: Sequence[Row], title: str, floor: float | None) -> Line:
    first = rows[0]
    return Line(
        model=first.model,
        benchmark=first.benchmark,
        version=first.version,
        protocol=first.protocol,
        settings=first.settings,
        column=title,
        reward=figure(rows, "reward"),
        success=figure(rows, "success"),
        samples=len({row.sample for row in rows}),
        runs=len({row.run for row in rows}),
        floor=floor,
        faults=sum(row.ending == "environment_fault" for row in rows),
        errors=sum(row.ending == "infrastructure_error" for row in rows),
    )


def _overall(parts: Sequence[Line], rows: Sequence[Row], title: str) -> Line:
    """The plain mean of other columns, as the paper's Overall; its spread is that of the overall figures of the runs
    in which all of them have one."""
    by_subset: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_subset[row.subset].append(row)

    def mean(value: str, figures: Sequence[Figure]) -> Figure:
        means = [figure.mean for figure in figures if figure.mean is not None]
        if len(means) < len(figures):
            return Figure(None, None)
        runs = []
        for run in sorted({row.run for row in rows}):
            numbers = [figure([row for row in of if row.run == run], value).mean for of in by_subset.values()]
            known = [number for number in numbers if number is not None]
            if len(known) == len(parts):
                runs.append(statistics.fmean(known))
        return Figure(statistics.fmean(means), statistics.stdev(runs) if len(runs) > 1 else None)

    floors = [part.floor for part in parts if part.floor is not None]
    first = parts[0]
    return Line(
        model=first.model,
        benchmark=first.benchmark,
        version=first.version,
        protocol=first.protocol,
        settings=first.settings,
        column=title,
        reward=mean("reward", [part.reward for part in parts]),
        success=mean("success", [part.success for part in parts]),
        samples=sum(part.samples for part in parts),
        runs=max(part.runs for part in parts),
        floor=statistics.fmean(floors) if len(floors) == len(parts) else None,
        faults=sum(part.faults for part in parts),
        errors=sum(part.errors for part in parts),
    )
