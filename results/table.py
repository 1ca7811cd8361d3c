"""Rows become table lines: mean over runs with its spread and interval, n, floor, faults and errors."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from results.facts import merged
from results.read import Read, Row
from results.statistics import Estimate, Passes, estimate, mean_passes, passes, plain_mean

ERRORS_AS_ZERO = "failed samples as 0"
CRASHES_DROPPED = "crashes dropped"


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over runs, in percent."""

    mean: float | None
    """None if no sample was scored."""
    deviation: float | None
    """Standard deviation (n - 1) of the runs' means; None for a single run."""
    low: float | None = None
    high: float | None = None
    """95 % confidence interval over samples, clustered by group; None for a single sample."""


EMPTY = Figure(None, None)


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
    unscored: int = 0
    """Episodes that nothing could score, for want of checks: in no average and none of the samples."""
    groups: int = 0
    """What the interval is clustered by: environments, task families; samples where there is only one."""
    extra: bool = False
    """Not of the paper's columns: another score of the judge, or samples of several subsets pooled."""
    one_group: bool = False
    """Whether all samples are of one group, so that the interval is over its samples."""
    readings: Mapping[str, float] = field(default_factory=dict)
    """The reward under another rule for what failed, in percent, where it differs: `failed samples as 0`; `crashes
    dropped` leaves out the episodes that a published evaluation loses."""
    passes: Passes = field(default_factory=lambda: Passes((), (), ()))
    """pass@k and pass^k of `success`, as shares."""
    stops: Mapping[str, int] = field(default_factory=dict)
    """Stop reason -> episodes."""
    usage: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    """Role -> tokens read, tokens written, dollars: mean of an episode."""
    steps: float = 0.0
    """Agent messages: mean of a scored episode."""
    seconds: float = 0.0
    """Mean of an episode."""
    levels: str = ""
    serving: Mapping[str, str] = field(default_factory=dict)
    """How the model was served, from the logs behind the line."""
    logs: tuple[str, ...] = ()
    complete: tuple[int, int, int] = (0, 0, 0)
    """Fewest and most scored runs of a sample, and how many samples have fewer than the most."""


@dataclass(frozen=True, slots=True)
class _Cell:
    """A line with the estimates that an Overall is made of."""

    line: Line
    reward: Estimate | None
    success: Estimate | None
    readings: Mapping[str, Estimate]


def figure(rows: Iterable[Row], value: str) -> Figure:
    """Mean of the runs' means, its standard deviation over runs, and its interval.

    A run's mean is over its scored samples; faults and errors are in no denominator, and are counted beside it.
    """
    return _figure(estimate(_values(rows, lambda row: getattr(row, value))))


def lines(read: Read) -> list[Line]:
    """One line per model, version, protocol and column, in the benchmarks' column order; models by name."""
    groups: dict[tuple[str, str, str, str, str], list[Row]] = defaultdict(list)
    for row in read.rows:
        groups[row.benchmark, row.version, row.protocol, row.settings, row.model].append(row)
    table: list[Line] = []
    for (name, version, _, _, _), rows in sorted(groups.items(), key=lambda item: (*item[0][:4], _natural(item[0][4]))):
        columns, floors = read.columns[name, version], read.floors[name, version]
        by_subset: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            by_subset[row.subset].append(row)
        done: dict[str, _Cell] = {}
        for column in columns:
            title, subset = column["title"], column["subset"]
            if subset is not None:
                wanted = [subset] if isinstance(subset, str) else list(subset)
                if not all(name in by_subset for name in wanted):
                    continue
                chosen = [row for name in wanted for row in by_subset[name]]
                cell = _cell(chosen, title, column.get("part"), _floor(chosen, floors.get(title)), read)
                extra = column.get("part") is not None or not isinstance(subset, str)
                done[title] = replace(cell, line=replace(cell.line, extra=extra))
            elif all(part in done for part in column["mean_of"]):
                done[title] = _overall([done[part] for part in column["mean_of"]], title, floors.get(title))
        table += [cell.line for cell in done.values()]
    return table


@lru_cache(maxsize=4096)
def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """`checkpoint-100` stands after `checkpoint-20`."""
    import re

    return tuple((int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name))


def _values(rows: Iterable[Row], of: Any) -> Iterable[tuple[int, str, str, float]]:
    for row in rows:
        if (number := of(row)) is not None:
            yield row.run, row.group, row.sample, float(number)


def _floor(rows: Sequence[Row], known: float | None) -> float | None:
    floors = [row.floor for row in rows if row.floor is not None]
    return known if known is not None or not floors else 100.0 * statistics.fmean(floors)


def _figure(found: Estimate | None) -> Figure:
    if found is None:
        return EMPTY
    deviation, interval = found.deviation, found.interval()
    return Figure(
        100.0 * found.mean,
        None if deviation is None else 100.0 * deviation,
        *((None, None) if interval is None else (100.0 * interval[0], 100.0 * interval[1])),
    )


def _cell(rows: Sequence[Row], title: str, part: str | None, floor: float | None, read: Read) -> _Cell:
    def value(row: Row) -> float | None:
        if row.reward is None or part is None:
            return row.reward
        found = row.parts.get(part)
        return float(found) if isinstance(found, bool | int | float) else None

    episodes, rows = rows, [row for row in rows if not row.unscored]
    reward = estimate(_values(rows, value))
    # Another score of the judge has no success of its own.
    success = estimate(_values(rows, lambda row: row.success)) if part is None else None
    logs = tuple(sorted({row.log for row in episodes}))
    facts = [read.logs[name] for name in logs if name in read.logs]
    dropped = {reason for fact in facts for reason in fact.dropped}
    readings = {
        ERRORS_AS_ZERO: estimate(_values(rows, lambda row: value(row) if row.reward is not None else 0.0)),
        CRASHES_DROPPED: estimate(_values(rows, lambda row: None if row.stop_reason in dropped else value(row))),
    }
    solved: dict[str, list[bool]] = defaultdict(list)
    scored: Counter[str] = Counter({row.sample: 0 for row in rows})
    for row in rows:
        if row.success is not None:
            solved[row.sample].append(row.success)
            scored[row.sample] += 1
    most = max(scored.values(), default=0)
    first = episodes[0]
    count = len(episodes)
    roles = {role for row in episodes for role in row.usage}
    steps = [row.steps for row in rows if row.reward is not None]
    differing = {name: found for name, found in readings.items() if found is not None and found != reward}
    line = Line(
        model=first.model,
        benchmark=first.benchmark,
        version=first.version,
        protocol=first.protocol,
        settings=first.settings,
        column=title,
        reward=_figure(reward),
        success=_figure(success),
        samples=len(scored),
        runs=len({row.run for row in episodes}),
        floor=floor if part is None else None,
        faults=sum(row.ending == "environment_fault" for row in rows),
        errors=sum(row.ending == "infrastructure_error" for row in rows),
        unscored=len(episodes) - len(rows),
        groups=len(reward.influence) if reward else 0,
        one_group=len({row.group for row in rows}) == 1,
        readings={name: 100.0 * found.mean for name, found in differing.items()},
        passes=passes(solved) if part is None else Passes((), (), ()),
        stops=dict(Counter(row.stop_reason or row.ending for row in episodes).most_common()),
        usage={
            role: _mean([row.usage[role] for row in episodes if role in row.usage], count) for role in sorted(roles)
        },
        steps=statistics.fmean(steps) if steps else 0.0,
        seconds=statistics.fmean(row.seconds for row in episodes),
        levels=" ".join(sorted({row.level for row in episodes if row.level})),
        serving=merged(fact.serving for fact in facts),
        logs=logs,
        complete=(min(scored.values(), default=0), most, sum(number < most for number in scored.values())),
    )
    return _Cell(line, reward, success, differing)


def _mean(values: Sequence[tuple[int, int, float]], count: int) -> tuple[float, float, float]:
    read, written, dollars = (sum(column) / count for column in zip(*values, strict=True))
    return read, written, dollars


def _overall(parts: Sequence[_Cell], title: str, known: float | None) -> _Cell:
    """The plain mean of other columns, as the paper's Overall."""
    rewards = [part.reward for part in parts if part.reward is not None]
    successes = [part.success for part in parts if part.success is not None]
    reward = plain_mean(rewards) if len(rewards) == len(parts) else None
    success = plain_mean(successes) if len(successes) == len(parts) else None
    names = {name for part in parts for name in part.readings} if reward else set()
    readings = {
        name: plain_mean([found for part in parts if (found := part.readings.get(name, part.reward)) is not None])
        for name in (ERRORS_AS_ZERO, CRASHES_DROPPED)
        if name in names
    }
    of = [part.line for part in parts]
    floors = [line.floor for line in of if line.floor is not None]
    first = of[0]
    stops: Counter[str] = Counter()
    for line in of:
        stops.update(line.stops)
    episodes = [sum(line.stops.values()) for line in of]
    roles = sorted({role for line in of for role in line.usage})

    def pooled(values: Iterable[float]) -> float:
        return sum(count * value for count, value in zip(episodes, values, strict=True)) / (sum(episodes) or 1)

    def role_usage(role: str) -> tuple[float, float, float]:
        read, written, dollars = (
            pooled(values) for values in zip(*(line.usage.get(role, (0.0, 0.0, 0.0)) for line in of), strict=True)
        )
        return read, written, dollars

    line = Line(
        model=first.model,
        benchmark=first.benchmark,
        version=first.version,
        protocol=first.protocol,
        settings=first.settings,
        column=title,
        reward=_figure(reward),
        success=_figure(success),
        samples=sum(line.samples for line in of),
        runs=max(line.runs for line in of),
        # Where the benchmark knows it, it is not the mean of rounded figures.
        floor=known if known is not None else statistics.fmean(floors) if len(floors) == len(parts) else None,
        faults=sum(line.faults for line in of),
        errors=sum(line.errors for line in of),
        unscored=sum(line.unscored for line in of),
        groups=len(reward.influence) if reward else 0,
        readings={name: 100.0 * found.mean for name, found in readings.items()},
        passes=mean_passes([line.passes for line in of]),
        stops=dict(stops.most_common()),
        usage={role: role_usage(role) for role in roles},
        steps=pooled(line.steps for line in of),
        seconds=pooled(line.seconds for line in of),
        levels=" ".join(sorted({level for line in of for level in line.levels.split()})),
        serving=merged(line.serving for line in of),
        logs=tuple(sorted({log for line in of for log in line.logs})),
        complete=(
            min(line.complete[0] for line in of),
            max(line.complete[1] for line in of),
            sum(line.complete[2] for line in of),
        ),
    )
    return _Cell(line, reward, success, readings)
