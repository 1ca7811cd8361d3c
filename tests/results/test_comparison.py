"""Two models on the same samples: the same difference, interval and p-value as independent code, and plain words."""

from __future__ import annotations

import json
import random
import statistics
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from results.comparison import Comparison, compare, one_model, sentence, told
from results.read import LogError, Read, Row
from tests.envscaler.playground import door, refused
from tests.results.playground import log, read_of, row, sample, scored, unscored


def side(model: str, *values: float | None, **changes: str) -> Read:
    """One run over samples s0, s1, ..., each a group of its own."""
    return read_of(*(row(f"s{i}", 1, value, model=model, group=f"g{i}", **changes) for i, value in enumerate(values)))


def only(found: Comparison):  # type: ignore[no-untyped-def]
    (difference,) = found.differences
    return difference


def test_few_groups_have_students_interval_of_the_paired_differences() -> None:
    first, second = [1.0, 0.5, 1.0, 0.0, 1.0, 1.0], [0.5, 0.5, 0.0, 0.0, 1.0, 0.5]
    found = only(compare(side("a", *first), side("b", *second)))
    expected = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert found.difference == pytest.approx(100 * (statistics.fmean(first) - statistics.fmean(second)))
    assert (found.low, found.high) == (pytest.approx(100 * expected.low), pytest.approx(100 * expected.high))


def test_many_groups_are_drawn_anew_as_scipy_draws_them() -> None:
    rng = random.Random(5)
    first = [float(rng.random() < 0.7) for _ in range(60)]
    second = [float(rng.random() < 0.4) for _ in range(60)]
    found = only(compare(side("a", *first), side("b", *second)))
    differences = np.subtract(first, second)
    expected = stats.bootstrap((differences,), np.mean, method="percentile", n_resamples=10_000, rng=1)
    # Differences of 60 samples lie 1/60 apart.
    assert found.low == pytest.approx(100 * expected.confidence_interval.low, abs=1.7)
    assert found.high == pytest.approx(100 * expected.confidence_interval.high, abs=1.7)
    again = only(compare(side("a", *first), side("b", *second)))
    assert (again.low, again.high) == (found.low, found.high)


def test_what_could_be_detected_is_the_standard_error_times_its_quantiles() -> None:
    first, second = [1.0, 0.0, 1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0, 1.0, 0.0]
    found = only(compare(side("a", *first), side("b", *second)))
    error = stats.sem(np.subtract(first, second))
    assert found.detectable == pytest.approx(100 * error * (stats.t.ppf(0.975, 5) + stats.norm.ppf(0.8)))


def test_flips_are_samples_that_one_solves_in_most_of_its_runs() -> None:
    def many(model: str, *runs: str) -> list[Row]:
        return [
            row(f"s{i}", r, float(mark == "x"), model=model, group=f"g{i}", known_bad=i == 1)
            for r, marks in enumerate(runs, start=1)
            for i, mark in enumerate(marks)
        ]

    found = only(compare(read_of(*many("a", "xx..", "xx..", "x.x.")), read_of(*many("b", "x..x", "x..x", "...x"))))
    assert (found.gained, found.lost) == (1, 1)
    assert [(flip.sample, round(flip.first, 2), flip.second, flip.known_bad) for flip in found.flips] == [
        ("s1", 0.67, 0.0, True),
        ("s3", 0.0, 1.0, False),
    ]
    assert found.p == stats.binomtest(1, 2).pvalue


def test_overall_is_the_mean_of_the_columns_differences() -> None:
    rows = {
        model: [row(f"{s}{i}", 1, value, model=model, group=f"g{i}", subset=s) for s, i, value in values]
        for model, values in {
            "a": [("base", 0, 1.0), ("base", 1, 1.0), ("long", 0, 0.0)],
            "b": [("base", 0, 0.0), ("base", 1, 1.0), ("long", 0, 0.0)],
        }.items()
    }
    found = compare(read_of(*rows["a"]), read_of(*rows["b"]))
    assert [(d.column, d.difference) for d in found.differences] == [("Base", 50.0), ("Long", 0.0), ("Overall", 25.0)]
    assert found.differences[-1].flips == ()


def test_samples_that_only_one_model_has_are_left_out_and_told() -> None:
    found = compare(side("a", 1.0, 1.0, None), side("b", 0.0, 1.0, 1.0, 1.0))
    assert only(found).samples == 2
    assert found.notes == ("bench 1 paper: 2 samples were scored for one model only and are left out",)


def test_what_cannot_be_scored_is_no_sample_of_a_comparison() -> None:
    sides = (side("a", 1.0, 0.0), side("b", 0.0, 0.0))
    for one in sides:
        one.rows.append(unscored("u", model=one.rows[0].model))
    found = compare(*sides)
    assert (only(found).samples, found.notes) == (2, ())


@pytest.mark.parametrize("change", [{"protocol": "strict"}, {"version": "2-A"}, {"settings": "user=u"}])
def test_other_rules_are_never_paired(change: dict[str, str]) -> None:
    with pytest.raises(LogError, match="no sample that both models have under the same rules"):
        compare(side("a", 1.0), side("b", 1.0, **change))
    assert only(compare(side("a", 1.0), side("b", 1.0, version="1-B"))).samples == 1


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ([1.0] * 12, [0.0] * 12, "bench Base: a is better than b by 100.0 to 100.0 points at 95 %."),
        ([0.0, 1.0] * 8, [1.0, 0.0] * 8, "bench Base: not distinguishable at 95 %."),
        ([1.0], [0.0], "bench Base: one sample cannot tell the models apart."),
    ],
)
def test_the_verdict_is_one_plain_sentence(first: list[float], second: list[float], verdict: str) -> None:
    found = compare(side("a", *first), side("b", *second))
    assert sentence(found, only(found)) == verdict
    assert verdict in told(found, "terminal")
    assert json.loads(told(found, "json"))["differences"][0]["sentence"] == verdict


def test_the_better_one_is_named_first() -> None:
    found = compare(side("a", *[0.0] * 11, 1.0), side("b", *[1.0] * 12))
    assert sentence(found, only(found)).startswith("bench Base: b is better than a by ")


def test_equal_models_are_not_distinguishable_however_they_are_drawn() -> None:
    """Of 200 pairs of equal models about 5 in 100 are called different."""
    rng = random.Random(3)
    called = 0
    for _ in range(200):
        levels = [rng.random() for _ in range(40)]
        a, b = ([float(rng.random() < level) for level in levels] for _ in range(2))
        called += only(compare(side("a", *a), side("b", *b), resamples=500)).distinguishable
    assert called <= 22


def test_the_command_compares_folders_and_models_of_one_folder(tmp_path: Path) -> None:
    one = log(tmp_path, sample("s1", 1, scored(1.0)), name="a", model="p/m1", model_args={"tool_call_parser": "hermes"})
    other = log(tmp_path, sample("s1", 1, scored(0.0)), name="b", model="p/m2")
    by_file = door("results", "compare", one, other)
    by_model = door("results", "compare", "m1", "p/m2", "--logs", tmp_path)
    assert by_file.exit_code == by_model.exit_code == 0
    assert by_file.output == by_model.output
    assert "made in different ways: tool_call_parser hermes and -" in by_file.output
    assert refused(door("results", "compare", tmp_path, one)).startswith(f"{tmp_path}: holds 2 models (p/m1, p/m2)")
    assert refused(door("results", "compare", "m1", "m3", "--logs", tmp_path)).startswith("no model 'm3' in the logs")


def test_a_model_is_found_by_the_end_of_its_name() -> None:
    both = read_of(row(model="x/checkpoint-100"), row(model="x/checkpoint-200"))
    assert {found.model for found in one_model(both, "200").rows} == {"x/checkpoint-200"}
    with pytest.raises(LogError, match="no model '00'"):
        one_model(both, "00")
