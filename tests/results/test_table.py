"""From rows to lines: means over runs and their spread, plain means of columns, faults beside every average."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from results.read import Row
from results.table import Figure, Line, figure, lines
from tests.results.playground import error, fault, read_of, row, unscored


def line(column: str, *rows: Row, floors: dict[str, float] | None = None) -> Line:
    """The one line of a column."""
    (found,) = (line for line in lines(read_of(*rows, floors=floors)) if line.column == column)
    return found


def runs(*values: list[float | None], **changes: str) -> list[Row]:
    """Rows of several runs over the same samples."""
    return [
        row(f"s{index}", run, value, **changes)
        for run, rewards in enumerate(values, start=1)
        for index, value in enumerate(rewards)
    ]


@pytest.mark.parametrize(
    ("rows", "mean", "deviation"),
    [
        pytest.param([], None, None, id="no-runs"),
        pytest.param(runs([1.0, 0.5]), 75.0, None, id="one-run-has-no-spread"),
        pytest.param(runs([1.0], [1.0], [1.0]), 100.0, 0.0, id="equal-runs"),
        # Means 25, 50, 100; mean 58.33; deviations -33.33, -8.33, 41.67; sum of squares 2916.67; / 2; root.
        pytest.param(runs([0.0, 0.5], [0.5, 0.5], [1.0, 1.0]), 175 / 3, math.sqrt(2916.6667 / 2), id="n-minus-1"),
        pytest.param(runs([1.0, 0.0], [1.0, None]), 75.0, math.sqrt(1250), id="a-failed-sample-leaves-the-denominator"),
        pytest.param([fault("s1"), error("s2")], None, None, id="nothing-scored"),
        pytest.param([row(reward=0.3333), row("s2", reward=0.6667)], 50.0, None, id="fractions"),
        # Run 1 has one sample of 1.0, run 2 four of 0.0: a mean of runs, not of samples.
        pytest.param([*runs([1.0]), *runs([], [0.0] * 4)], 50.0, math.sqrt(5000), id="runs-weigh-alike"),
    ],
)
def test_a_figure_is_the_mean_of_the_runs_means(rows: list[Row], mean: float | None, deviation: float | None) -> None:
    found = figure(rows, "reward")
    assert found.mean == (None if mean is None else pytest.approx(mean))
    assert found.deviation == (None if deviation is None else pytest.approx(deviation))


def test_success_counts_only_what_is_wholly_solved() -> None:
    found = figure(runs([1.0, 0.9, 0.0, 1.0]), "success")
    assert (found.mean, found.deviation) == (50.0, None)


def test_a_line_counts_samples_runs_faults_and_errors_beside_the_average() -> None:
    found = line("Base", *runs([1.0, 0.0], [1.0, 0.0]), fault("s9"), error("s9", 2), error("s8", 2))
    assert (found.reward.mean, found.samples, found.runs, found.faults, found.errors) == (50.0, 4, 2, 1, 2)


LONG = {"subset": "long"}


def test_what_cannot_be_scored_is_counted_and_is_neither_a_sample_nor_a_zero() -> None:
    scored = [*runs([1.0, 0.5], [0.5, None], steps=3), fault("s1", 2)]
    found = line("Base", *scored, *(unscored(f"u{index}", run, steps=9) for index in range(4) for run in (1, 2)))
    plain = line("Base", *scored)
    assert (found.unscored, found.faults, found.samples, found.runs) == (8, plain.faults, 2, 2)
    for name in ("reward", "success", "readings", "passes", "complete", "groups", "steps", "floor"):
        assert getattr(found, name) == getattr(plain, name)
    assert sum(found.stops.values()) == sum(plain.stops.values()) + 8


def test_a_column_of_which_nothing_can_be_scored_is_empty() -> None:
    found = line("Base", unscored("u1"), unscored("u2"))
    assert (found.reward, found.success) == (Figure(None, None), Figure(None, None))
    assert (found.samples, found.unscored) == (0, 2)
    overall = line("Overall", unscored("u1"), row("l1", subset="long"))
    assert (overall.reward.mean, overall.unscored) == (None, 1)


def test_overall_is_the_plain_mean_of_its_columns_however_many_samples_they_have() -> None:
    found = line("Overall", *runs([1.0]), *runs([0.0, 0.0, 0.0, 0.0], **LONG))
    assert (found.reward.mean, found.success.mean, found.samples) == (50.0, 50.0, 5)


def test_the_spread_of_overall_is_that_of_the_runs_overall_figures() -> None:
    # Overall of run 1: (100 + 0) / 2 = 50; of run 2: (50 + 100) / 2 = 75.
    found = line("Overall", *runs([1.0], [0.5]), *runs([0.0], [1.0], **LONG))
    assert found.reward.mean == 62.5
    assert found.reward.deviation == pytest.approx(math.sqrt(2 * 12.5**2))


def test_overall_agrees_with_the_columns_it_stands_beside_where_runs_are_missing() -> None:
    # Base has two runs (100, 0), Long only the first (100): the columns say 50 and 100.
    found = line("Overall", *runs([1.0], [0.0]), *runs([1.0], **LONG))
    assert (found.reward.mean, found.reward.deviation, found.runs) == (75.0, None, 2)


def test_overall_is_left_out_where_a_column_is_and_empty_where_one_was_never_scored() -> None:
    assert [found.column for found in lines(read_of(*runs([1.0])))] == ["Base"]
    found = line("Overall", *runs([1.0]), fault("s1", subset="long"))
    assert (found.reward, found.faults) == (Figure(None, None), 1)


def test_the_floor_is_the_benchmarks_or_the_mean_of_the_samples() -> None:
    samples = [row("s1", floor=0.25), row("s2", floor=0.0), error("s3")]
    assert line("Base", *samples).floor == 12.5
    assert line("Base", *samples, floors={"Base": 4.0}).floor == 4.0
    assert line("Base", row()).floor is None


def test_the_floor_of_overall_needs_all_of_its_columns() -> None:
    both = [row(floor=0.5), row(subset="long", floor=0.0)]
    assert line("Overall", *both).floor == 25.0
    assert line("Overall", row(floor=0.5), row(subset="long")).floor is None


@pytest.mark.parametrize("changes", [{"model": "n"}, {"protocol": "strict"}, {"settings": "a=1"}, {"version": "2-A"}])
def test_what_is_not_comparable_has_a_line_of_its_own(changes: dict[str, Any]) -> None:
    found = lines(read_of(row(), replace(row("s2", reward=0.0), **changes)))
    assert [line.reward.mean for line in found] == [100.0, 0.0]
    assert {getattr(line, key) for line in found for key in changes} >= set(changes.values())


def test_lines_stand_by_benchmark_and_model_in_the_order_of_the_columns() -> None:
    rows = [row(model=model, subset=subset) for model in ("b", "a") for subset in ("long", "base")]
    assert [(line.model, line.column) for line in lines(read_of(*rows))] == [
        *(("a", "Base"), ("a", "Long"), ("a", "Overall")),
        *(("b", "Base"), ("b", "Long"), ("b", "Overall")),
    ]


def test_no_rows_make_no_lines() -> None:
    assert lines(read_of()) == []
