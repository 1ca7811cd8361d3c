"""Means over runs with their uncertainty, and what several runs of one sample say. Values are shares in [0, 1]."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from results.distributions import none_of, t_quantile

Value = tuple[int, str, str, float]
"""Run, group, sample, value."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over runs, with what its interval is made of."""

    runs: Mapping[int, float]
    """Run -> mean of its samples."""
    mean: float
    influence: Mapping[str, float]
    """Group (where there is only one: sample) -> how far its values move the mean, times sqrt(G / (G - 1))."""
    df: float | None
    """Degrees of freedom of its error: groups - 1; None for a single group of a single sample."""

    @property
    def deviation(self) -> float | None:
        """Standard deviation (n - 1) of the runs' means; None for a single run."""
        return statistics.stdev(self.runs.values()) if len(self.runs) > 1 else None

    @property
    def error(self) -> float | None:
        """Standard error of the mean over groups of samples; None where it cannot be known.

        Groups are drawn, and all samples of a group with it: the root of the sum of squared influences. If each group
        has one sample and each run all samples, this is the deviation of the samples' means / sqrt(n).
        """
        return None if self.df is None else math.sqrt(math.fsum(value * value for value in self.influence.values()))

    def interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """The confidence interval within [0, 1], of Student's t; None where the error cannot be known.

        Where all samples scored 0, or all scored 1, t would claim certainty; then it is the exact bound of a share of
        which G tries showed nothing (Clopper-Pearson).
        """
        error, df, count = self.error, self.df, len(self.influence)
        if error is None or df is None:
            return None
        if error == 0 and self.mean in (0.0, 1.0):
            bound = none_of(count, confidence)
            return (0.0, bound) if self.mean == 0 else (1 - bound, 1.0)
        half = t_quantile(0.5 + confidence / 2, df) * error
        return max(0.0, self.mean - half), min(1.0, self.mean + half)


def estimate(values: Iterable[Value]) -> Estimate | None:
    """The mean of the runs' means, and how each group moves it; None without values.

    A run in which samples are missing is averaged over those it has; runs weigh alike.
    """
    by_run: dict[int, list[tuple[str, str, float]]] = defaultdict(list)
    groups: set[str] = set()
    for run, group, sample, value in values:
        by_run[run].append((group, sample, value))
        groups.add(group)
    if not by_run:
        return None
    means: dict[int, float] = {}
    influence: dict[str, float] = defaultdict(float)
    clustered = len(groups) > 1
    for run, found in sorted(by_run.items()):
        mean = means[run] = math.fsum(value for _, _, value in found) / len(found)
        share = 1 / (len(found) * len(by_run))
        for group, sample, value in found:
            influence[group if clustered else sample] += (value - mean) * share
    count = len(influence)
    factor = math.sqrt(count / (count - 1)) if count > 1 else 1.0
    scaled = {name: factor * value for name, value in influence.items()}
    return Estimate(means, statistics.fmean(means.values()), scaled, count - 1 if count > 1 else None)


def plain_mean(parts: Sequence[Estimate]) -> Estimate:
    """The plain mean of columns, as the paper's Overall.

    A group that is in several columns moves it through all of them. Degrees of freedom are Welch's, and never more than
    groups - 1. Its spread is that of the overall figures of the runs in which every column has one.
    """
    shared = set.intersection(*(set(part.runs) for part in parts))
    influence: dict[str, float] = defaultdict(float)
    for part in parts:
        for group, value in part.influence.items():
            influence[group] += value / len(parts)
    runs = {run: statistics.fmean(part.runs[run] for part in parts) for run in sorted(shared)}
    return Estimate(runs, statistics.fmean(part.mean for part in parts), influence, _welch(parts, len(influence)))


def _welch(parts: Sequence[Estimate], groups: int) -> float | None:
    if any(part.df is None for part in parts):
        return None
    squares = [((part.error or 0.0) ** 2, part.df or 1.0) for part in parts]
    total = sum(square for square, _ in squares)
    if total == 0:
        return groups - 1
    return min(groups - 1, total**2 / sum(square**2 / df for square, df in squares))


def pass_at(k: int, n: int, c: int) -> float:
    """Chance that of k runs drawn from n at least one is among the c that solved the sample (pass@k)."""
    return 1 - math.comb(n - c, k) / math.comb(n, k)


def pass_hat(k: int, n: int, c: int) -> float:
    """Chance that k runs drawn from n are all among the c that solved the sample (pass^k)."""
    return math.comb(c, k) / math.comb(n, k)


@dataclass(frozen=True, slots=True)
class Passes:
    """Pass@k and pass^k for k = 1 ... the most runs that a sample has, over the samples that have k runs."""

    at: tuple[float, ...]
    hat: tuple[float, ...]
    samples: tuple[int, ...]
    """Samples behind each k."""


def passes(successes: Mapping[str, Sequence[bool]]) -> Passes:
    """From the successes of each sample's scored runs.

    A sample with fewer than k scored runs says nothing of k runs and is left out there; `samples` counts the rest.
    """
    most = max((len(runs) for runs in successes.values()), default=0)
    at, hat, counts = [], [], []
    for k in range(1, most + 1):
        known = [(len(runs), sum(runs)) for runs in successes.values() if len(runs) >= k]
        at.append(statistics.fmean(pass_at(k, n, c) for n, c in known))
        hat.append(statistics.fmean(pass_hat(k, n, c) for n, c in known))
        counts.append(len(known))
    return Passes(tuple(at), tuple(hat), tuple(counts))


def mean_passes(parts: Sequence[Passes]) -> Passes:
    """The plain mean of columns, for each k that all of them have."""
    at = tuple(statistics.fmean(values) for values in zip(*(part.at for part in parts), strict=False))
    hat = tuple(statistics.fmean(values) for values in zip(*(part.hat for part in parts), strict=False))
    return Passes(at, hat, tuple(sum(values) for values in zip(*(part.samples for part in parts), strict=False)))
