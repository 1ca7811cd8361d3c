"""Two models on the same samples: difference with its interval, a paired test, flips, and what could be detected."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from tabulate import tabulate

from results.distributions import mcnemar, t_quantile
from results.errors import LogError
from results.facts import LogFacts, merged
from results.read import Read, Row
from results.statistics import Value, estimate, plain_mean

FEW = 10
"""Fewer groups than this are too few for a bootstrap."""
POWER = 0.8
"""Chance to find a difference of the size called detectable."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A sample that one model solves in most of its runs and the other does not."""

    sample: str
    first: float
    """Share of the first model's runs that solved it."""
    second: float
    known_bad: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """The first model minus the second on one column, in points of percent."""

    benchmark: str
    column: str
    samples: int
    """Samples that both have; every figure is over these."""
    groups: int
    runs: tuple[int, int]
    first: float
    second: float
    difference: float
    low: float | None
    high: float | None
    """95 % interval: a paired bootstrap over groups; Student's t over groups where there are fewer than ten, of which a
    bootstrap would be too sure; None for a single one."""
    gained: int
    """Samples that only the first solves in most of its runs."""
    lost: int
    p: float
    """McNemar's exact p-value of gained against lost."""
    detectable: float | None
    """Smallest difference that these samples and runs would find with 80 % chance."""
    flips: tuple[Flip, ...] = ()
    """Empty for columns that are made of others: theirs are listed there."""

    @property
    def distinguishable(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class Comparison:
    """All columns in which two models can be paired."""

    first: str
    second: str
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]


def one_model(read: Read, name: str | None, where: str = "") -> Read:
    """The part of what was read that is of one model.

    Args:
        name: The model, or the end of its name; None where there must be only one.
        where: What was read, for the message.
    Raises:
        LogError: If it is not one model.
    """
    known = sorted({row.model for row in read.rows})
    if name is None:
        chosen = known
        if len(known) > 1:
            raise LogError(f"{where}: holds {len(known)} models ({', '.join(known)}); name them with --logs {where}")
    else:
        chosen = [model for model in known if model == name] or [model for model in known if model.endswith(name)]
        if len(chosen) != 1:
            raise LogError(f"no model '{name}' in the logs; one of {', '.join(known)}")
    rows = [row for row in read.rows if row.model == chosen[0]]
    return replace(read, rows=rows)


def compare(first: Read, second: Read, *, resamples: int = 10_000, seed: int = 0) -> Comparison:
    """Pair two models by benchmark, protocol and sample.

    Args:
        resamples: Of the bootstrap.
        seed: Of the bootstrap: the same seed gives the same interval.
    Raises:
        LogError: If they share no sample under the same rules.
    """
    names = first.rows[0].model, second.rows[0].model
    if names[0] == names[1]:
        names = f"{names[0]} (A)", f"{names[1]} (B)"
    left, right = _by_rules(first.rows), _by_rules(second.rows)
    notes, differences = [], []
    for rules in sorted(set(left) ^ set(right)):
        owner = names[0] if rules in left else names[1]
        notes.append(f"{' '.join(part for part in rules if part)}: only {owner} has it; not compared")
    for rules in sorted(set(left) & set(right)):
        version = left[rules][0].version
        columns = first.columns[rules[0], version]
        found, told = _columns(rules, columns, left[rules], right[rules], resamples, seed)
        differences += found
        notes += told + _served(rules, names, first, second, left[rules], right[rules])
    if not differences:
        raise LogError("; ".join(["no sample that both models have under the same rules", *notes]))
    return Comparison(*names, tuple(differences), tuple(notes))


Rules = tuple[str, str, str, str]
"""Benchmark, number of its version, protocol, settings."""


def _by_rules(rows: Sequence[Row]) -> dict[Rules, list[Row]]:
    found: dict[Rules, list[Row]] = defaultdict(list)
    for row in rows:
        if row.unscored:
            continue
        # Of a version `N-X` only N moves scores.
        found[row.benchmark, row.version.partition("-")[0], row.protocol, row.settings].append(row)
    return found


@dataclass(frozen=True, slots=True)
class _Pair:
    """One sample in both models."""

    sample: str
    group: str
    rewards: tuple[float, float]
    solved: tuple[float, float]
    runs: tuple[int, int]
    known_bad: bool


def _pairs(left: Sequence[Row], right: Sequence[Row]) -> tuple[dict[str, list[_Pair]], int]:
    """Subset -> its pairs, and how many samples have no partner that was scored."""
    sides: tuple[dict[str, list[Row]], dict[str, list[Row]]] = defaultdict(list), defaultdict(list)
    for side, rows in zip(sides, (left, right), strict=True):
        for row in rows:
            side[row.sample].append(row)
    pairs: dict[str, list[_Pair]] = defaultdict(list)
    alone = 0
    for sample in dict.fromkeys([*sides[0], *sides[1]]):
        scored = [[row for row in side.get(sample, ()) if row.reward is not None] for side in sides]
        if not all(scored):
            alone += 1
            continue
        rewards, solved = (
            tuple(statistics.fmean(float(getattr(row, value)) for row in rows) for rows in scored)
            for value in ("reward", "success")
        )
        of = scored[0][0]
        runs = len(scored[0]), len(scored[1])
        pair = _Pair(sample, of.group, rewards, solved, runs, of.known_bad)  # type: ignore[arg-type]
        pairs[of.subset].append(pair)
    return pairs, alone


def _columns(
    rules: Rules,
    columns: Sequence[Mapping[str, Any]],
    left: Sequence[Row],
    right: Sequence[Row],
    resamples: int,
    seed: int,
) -> tuple[list[Difference], list[str]]:
    pairs, alone = _pairs(left, right)
    name = " ".join(part for part in rules if part)
    notes = [f"{name}: {alone} samples were scored for one model only and are left out"] if alone else []
    done: dict[str, list[list[_Pair]]] = {}
    own = {column["title"] for column in columns if isinstance(column["subset"], str)}
    for column in columns:
        if column.get("part"):
            continue
        subset = column["subset"]
        if subset is not None:
            wanted = [subset] if isinstance(subset, str) else list(subset)
            pooled = [pair for one in wanted for pair in pairs.get(one, ())]
            if all(one in pairs for one in wanted):
                done[column["title"]] = [pooled]
        elif all(part in done for part in column["mean_of"]):
            done[column["title"]] = [strata for part in column["mean_of"] for strata in done[part]]
    unequal = {pair.runs for found in pairs.values() for pair in found}
    if len(unequal) > 1:
        shown = ", ".join(f"{a} and {b}" for a, b in sorted(unequal))
        notes.append(f"{name}: samples have different numbers of scored runs ({shown}); each counts with its mean")
    found = [_difference(rules[0], title, strata, resamples, seed) for title, strata in done.items()]
    return [one if one.column in own else replace(one, flips=()) for one in found], notes


def _difference(
    benchmark: str, column: str, strata: Sequence[Sequence[_Pair]], resamples: int, seed: int
) -> Difference:
    """The plain mean of the strata's mean differences."""
    every = [pair for pairs in strata for pair in pairs]
    groups = sorted({pair.group for pair in every})
    # A single group cannot be resampled; then the interval holds for that group, over its samples.
    unit = {pair.sample: pair.group if len(groups) > 1 else pair.sample for pair in every}
    units = {name: index for index, name in enumerate(sorted(set(unit.values())))}
    sums, counts = np.zeros((len(strata), len(units))), np.zeros((len(strata), len(units)))
    for stratum, pairs in enumerate(strata):
        for pair in pairs:
            sums[stratum, units[unit[pair.sample]]] += pair.rewards[0] - pair.rewards[1]
            counts[stratum, units[unit[pair.sample]]] += 1
    means = [[statistics.fmean(pair.rewards[side] for pair in pairs) for pairs in strata] for side in (0, 1)]
    first, second = (statistics.fmean(side) for side in means)
    # The error of a table's figures, of the differences: one run each, within [-1, 1].
    total = plain_mean([found for pairs in strata if (found := estimate(_differences(pairs))) is not None])
    error = None if total.error is None else 100 * total.error
    low: float | None
    high: float | None
    if error is None or total.df is None:
        low = high = reach = None
    else:
        quantile = t_quantile(0.975, total.df)
        reach = (quantile + NormalDist().inv_cdf(POWER)) * error
        if len(units) < FEW:
            middle = 100 * (first - second)
            low, high = max(-100.0, middle - quantile * error), min(100.0, middle + quantile * error)
        else:
            low, high = _bootstrap(sums, counts, resamples, seed)
    gained = [pair for pair in every if pair.solved[0] > 0.5 >= pair.solved[1]]
    lost = [pair for pair in every if pair.solved[1] > 0.5 >= pair.solved[0]]
    flips = tuple(Flip(pair.sample, *pair.solved, pair.known_bad) for pair in [*gained, *lost])
    return Difference(
        benchmark=benchmark,
        column=column,
        samples=len(every),
        groups=len(units),
        runs=(max(pair.runs[0] for pair in every), max(pair.runs[1] for pair in every)),
        first=100 * first,
        second=100 * second,
        difference=100 * (first - second),
        low=low,
        high=high,
        gained=len(gained),
        lost=len(lost),
        p=mcnemar(len(gained), len(lost)),
        detectable=reach,
        flips=flips,
    )


def _differences(pairs: Sequence[_Pair]) -> Iterable[Value]:
    for pair in pairs:
        yield 1, pair.group, pair.sample, pair.rewards[0] - pair.rewards[1]


def _bootstrap(
    sums: np.ndarray[Any, Any], counts: np.ndarray[Any, Any], resamples: int, seed: int
) -> tuple[float, float]:
    """Percentiles of the difference when groups are drawn anew, with all their samples and both models together."""
    units = sums.shape[1]
    random = np.random.default_rng(seed)
    drawn: list[np.ndarray[Any, Any]] = []
    # In pieces: a table of 10,000 resamples of 1,000 groups would take 80 MB.
    for start in range(0, resamples, 1000):
        weights = random.multinomial(units, np.full(units, 1 / units), size=min(1000, resamples - start))
        totals = weights @ counts.T
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn.append((weights @ sums.T / totals).mean(axis=1))
    values = np.concatenate(drawn)
    # A resample without any sample of a column says nothing about it.
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(100 * low), float(100 * high)


def _served(
    rules: Rules, names: tuple[str, str], first: Read, second: Read, left: Sequence[Row], right: Sequence[Row]
) -> list[str]:
    """A sentence if the two were served in different ways."""
    sides = []
    for read, rows in ((first, left), (second, right)):
        facts: list[LogFacts] = [read.logs[log] for log in {row.log for row in rows} if log in read.logs]
        sides.append(merged(fact.serving for fact in facts))
    differing = [key for key in sorted({*sides[0], *sides[1]}) if sides[0].get(key) != sides[1].get(key)]
    if not differing:
        return []
    told = ", ".join(f"{key} {sides[0].get(key, '-')} and {sides[1].get(key, '-')}" for key in differing)
    return [f"{rules[0]}: {names[0]} and {names[1]} were made in different ways: {told}"]


def sentence(comparison: Comparison, found: Difference) -> str:
    """The verdict in plain words."""
    where = f"{found.benchmark} {found.column}"
    if found.low is None or found.high is None:
        return f"{where}: one sample cannot tell the models apart."
    if not found.distinguishable:
        return f"{where}: not distinguishable at 95 %."
    better, worse = comparison.first, comparison.second
    low, high = found.low, found.high
    if found.difference < 0:
        better, worse, low, high = worse, better, -high, -low
    doubt = "" if found.p < 0.05 else f", though the flips alone ({found.gained} to {found.lost}) do not show it"
    return f"{where}: {better} is better than {worse} by {low:.1f} to {high:.1f} points at 95 %{doubt}."


def told(comparison: Comparison, form: str, most_flips: int = 20) -> str:
    """The comparison as text for the terminal, as Markdown, or as JSON."""
    if form == "json":
        record = asdict(comparison)
        for found, line in zip(comparison.differences, record["differences"], strict=True):
            line |= {"distinguishable": found.distinguishable, "sentence": sentence(comparison, found)}
        return json.dumps(record, indent=1)
    headers = ["benchmark", "column", "A", "B", "A - B", "95 %", "detectable", "gained", "lost", "p", "n", "runs"]
    rows = [
        [
            *(found.benchmark, found.column, f"{found.first:.2f}", f"{found.second:.2f}", f"{found.difference:+.2f}"),
            "-" if found.low is None or found.high is None else f"{found.low:+.1f} to {found.high:+.1f}",
            "-" if found.detectable is None else f"{found.detectable:.1f}",
            *(
                str(found.gained),
                str(found.lost),
                "<0.001" if found.p < 0.001 else f"{found.p:.3f}",
                str(found.samples),
            ),
            f"{found.runs[0]}/{found.runs[1]}",
        ]
        for found in comparison.differences
    ]
    style = "github" if form == "markdown" else "simple"
    align = ["left"] * 2 + ["right"] * 10
    parts = [
        f"A: {comparison.first}\nB: {comparison.second}",
        tabulate(rows, headers=headers, tablefmt=style, colalign=align, disable_numparse=True),
        "\n".join(sentence(comparison, found) for found in comparison.differences),
    ]
    for found in comparison.differences if most_flips else ():
        if not found.flips:
            continue
        flips = sorted(found.flips, key=lambda flip: (-abs(flip.first - flip.second), flip.sample))
        shown = [
            f"  {flip.sample}: {100 * flip.first:.0f} % and {100 * flip.second:.0f} % of runs"
            + (", known defects" if flip.known_bad else "")
            for flip in flips[:most_flips]
        ]
        more = [f"  and {len(flips) - most_flips} more"] if len(flips) > most_flips else []
        parts.append("\n".join([f"flips in {found.benchmark} {found.column}:", *shown, *more]))
    legend = (
        "A - B in points, 95 % by a paired bootstrap over groups (fewer than ten: Student's t over them); detectable: "
        "what these samples and runs would find with 80 % chance; gained, lost: samples that only A, only B solves in "
        "most runs; p: McNemar's exact test of those; n: samples that both have."
    )
    parts.append("\n".join([legend, *(f"note: {note}" for note in comparison.notes)]))
    return "\n\n".join(parts)
