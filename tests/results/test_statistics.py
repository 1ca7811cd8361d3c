"""Means, intervals and passes against independent formulas: scipy's, and sums written out."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Sequence

import pytest
from scipy import stats

from results.distributions import mcnemar, none_of, t_quantile
from results.statistics import Estimate, estimate, pass_at, pass_hat, passes, plain_mean


@pytest.mark.parametrize("df", [1, 2, 3.5, 10, 19, 164, 799])
@pytest.mark.parametrize("p", [0.005, 0.3, 0.5, 0.9, 0.975, 0.9999])
def test_students_t_is_scipys(p: float, df: float) -> None:
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("p", "df"), [(0.0, 3), (1.0, 3), (0.5, 0)])
def test_a_quantile_that_does_not_exist_is_refused(p: float, df: float) -> None:
    with pytest.raises(ValueError, match="must be in"):
        t_quantile(p, df)


@pytest.mark.parametrize(("gained", "lost"), [(0, 0), (1, 0), (5, 5), (8, 1), (3, 30), (700, 900)])
def test_mcnemars_test_is_the_exact_binomial(gained: int, lost: int) -> None:
    expected = stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert mcnemar(gained, lost) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("n", [2, 20, 115])
def test_the_bound_of_nothing_seen_is_clopper_pearsons(n: int) -> None:
    assert none_of(n) == pytest.approx(stats.binomtest(0, n).proportion_ci(method="exact").high)


def runs(*values: Sequence[float], groups: Sequence[str] | None = None) -> list[tuple[int, str, str, float]]:
    """Values of the same samples in several runs; each sample is a group of its own where none are given."""
    return [
        (run, groups[index] if groups else f"g{index}", f"s{index}", value)
        for run, found in enumerate(values, start=1)
        for index, value in enumerate(found)
    ]


def known(values: list[tuple[int, str, str, float]]) -> Estimate:
    found = estimate(values)
    assert found is not None
    return found


def test_without_groups_the_interval_is_the_t_interval_of_the_samples_means() -> None:
    first, second, third = [0.0, 1.0, 1.0, 0.5, 1.0], [0.0, 0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 0.5, 0.5]
    found = known(runs(first, second, third))
    means = [statistics.fmean(values) for values in zip(first, second, third, strict=True)]
    expected = stats.ttest_1samp(means, 0).confidence_interval(0.95)
    assert found.mean == pytest.approx(statistics.fmean(means))
    low, high = found.interval() or (0, 0)
    assert low == pytest.approx(max(0.0, expected.low))
    assert high == pytest.approx(min(1.0, expected.high))
    assert found.deviation == pytest.approx(statistics.stdev(map(statistics.fmean, (first, second, third))))


def test_samples_of_one_group_count_together() -> None:
    groups = ["a", "a", "a", "b", "b", "c", "c", "d"]
    values = [1.0, 0.9, 0.8, 0.1, 0.3, 0.5, 0.7, 0.2]
    found = known(runs(values, groups=groups))
    mean = statistics.fmean(values)
    sums = [sum(v - mean for v, g in zip(values, groups, strict=True) if g == name) for name in "abcd"]
    error = math.sqrt(4 / 3 * sum(value**2 for value in sums)) / len(values)
    half = stats.t.ppf(0.975, 3) * error
    assert found.error == pytest.approx(error)
    assert found.interval() == (pytest.approx(max(0, mean - half)), pytest.approx(min(1, mean + half)))
    alone = known(runs(values)).error
    assert alone is not None
    assert error > alone


def test_samples_of_a_single_group_are_the_units_themselves() -> None:
    values = [1.0, 0.0, 0.5, 1.0]
    assert known(runs(values, groups=["a"] * 4)).interval() == known(runs(values)).interval()
    assert known(runs([1.0])).interval() is None


def test_where_all_samples_scored_alike_the_interval_keeps_a_width() -> None:
    bound = stats.binomtest(0, 20).proportion_ci(method="exact").high
    assert known(runs([0.0] * 20)).interval() == (0.0, pytest.approx(bound))
    assert known(runs([1.0] * 20)).interval() == (pytest.approx(1 - bound), 1.0)


def test_a_missing_sample_leaves_its_run_alone() -> None:
    values = [*runs([1.0, 0.0, 1.0]), (2, "g0", "s0", 0.0)]
    found = known(values)
    assert found.runs == {1: pytest.approx(2 / 3), 2: 0.0}
    assert found.mean == pytest.approx(1 / 3)
    assert math.fsum(found.influence.values()) == pytest.approx(0)


def test_an_overall_is_the_plain_mean_and_its_groups_move_it_through_all_columns() -> None:
    base, hard = [1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]
    found = plain_mean([known(runs(base)), known(runs(hard))])
    # The columns have the same groups, one sample each: it is the mean over groups of each group's mean.
    expected = stats.ttest_1samp([statistics.fmean(pair) for pair in zip(base, hard, strict=True)], 0)
    low, high = found.interval() or (0, 0)
    assert low == pytest.approx(max(0, expected.confidence_interval().low))
    assert high == pytest.approx(min(1, expected.confidence_interval().high))


def test_the_interval_holds_what_it_promises() -> None:
    """Groups of samples that resemble each other: 95 % intervals cover the truth in about 95 of 100 draws."""
    rng = random.Random(1)
    covered = 0
    for _ in range(400):
        values = []
        for group in range(12):
            level = rng.betavariate(2, 2)
            values += [
                (run, f"g{group}", f"{group}/{i}", float(rng.random() < level)) for run in (1, 2) for i in range(5)
            ]
        low, high = known(values).interval() or (0, 0)
        covered += low <= 0.5 <= high
    assert 0.92 <= covered / 400 <= 0.98


@pytest.mark.parametrize(("n", "c"), [(3, 0), (3, 1), (3, 2), (3, 3), (5, 2), (8, 5)])
def test_passes_are_shares_of_all_draws(n: int, c: int) -> None:
    for k in range(1, n + 1):
        draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
        assert pass_hat(k, n, c) == pytest.approx(statistics.fmean(map(all, draws)))
        assert pass_at(k, n, c) == pytest.approx(statistics.fmean(map(any, draws)))


def test_a_sample_with_fewer_runs_says_nothing_of_more() -> None:
    found = passes({"a": [True, True, False], "b": [True], "c": []})
    assert found.samples == (2, 1, 1)
    assert found.hat == (pytest.approx((2 / 3 + 1) / 2), pytest.approx(1 / 3), 0.0)
    assert found.at == (pytest.approx((2 / 3 + 1) / 2), 1.0, 1.0)
