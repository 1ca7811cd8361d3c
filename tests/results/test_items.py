"""Samples and checks across models: who never, who always, who against the rest."""

from __future__ import annotations

import csv
import io
import json
import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from results.items import agreements, errors, items, report, summary
from results.read import Check, Read
from tests.envscaler.playground import door, refused
from tests.results.playground import FAULT, log, read_of, row, sample, scored


def solved(**by_model: str) -> Read:
    """One run a model; `x` is a solved sample."""
    return read_of(
        *(
            row(f"s{i}", 1, float(mark == "x"), model=model, known_bad=i == 0)
            for model, marks in by_model.items()
            for i, mark in enumerate(marks)
        )
    )


FOUR = solved(a=".xxxx", b=".xxx.", c=".x..x", d=".x...")


def test_never_and_always_solved_samples_and_known_defects_are_counted() -> None:
    found = items(FOUR)
    assert [item.sample for item in found if item.never] == ["s0"]
    assert [item.sample for item in found if item.always] == ["s1"]
    assert summary(found)[:2] == [
        "bench paper: 5 samples, 4 models; 1 never solved, 1 always solved",
        "bench paper: 1 have known defects, among them 1 of the 1 never solved",
    ]


def test_discrimination_is_the_correlation_with_all_other_samples() -> None:
    found = {item.sample: item.discrimination for item in items(FOUR)}
    # s4: solved by a and c; of the other four samples a, b, c, d solve 3, 3, 1, 1.
    assert found["s4"] == pytest.approx(statistics.correlation([1, 0, 1, 0], [3, 3, 1, 1]))
    assert found["s2"] == pytest.approx(statistics.correlation([1, 1, 0, 0], [3, 2, 2, 1]))
    assert found["s0"] is found["s1"] is None


def test_two_models_cannot_tell_how_a_sample_discriminates() -> None:
    assert {item.discrimination for item in items(solved(a="x.", b=".x"))} == {None}


def test_agreement_is_corrected_for_chance() -> None:
    (found,) = agreements(items(solved(a="xxxx....", b="xx..xx..")))
    assert (found.share, found.kappa, found.samples) == (0.5, 0.0, 8)
    (found,) = agreements(items(solved(a="xx..", b="xx..")))
    assert (found.share, found.kappa) == (1.0, 1.0)


def test_checks_are_items_of_their_own() -> None:
    checks = (Check("Is it done?", True, False), Check("Is the rest untouched?", True, True))
    read = read_of(
        replace(row(), checks=checks), replace(row(model="n"), checks=(replace(checks[0], passed=False), checks[1]))
    )
    found = items(read, "check")
    assert [(item.check, dict(item.solved), item.at_start) for item in found] == [
        ("Is it done?", {"m": 1.0, "n": 0.0}, False),
        ("Is the rest untouched?", {"m": 1.0, "n": 1.0}, True),
    ]
    assert summary(found)[-1] == "bench paper: 1 hold before anything is done"


def test_failures_are_counted_by_kind_and_turn(tmp_path: Path) -> None:
    log(
        tmp_path,
        sample("s1", 1, scored(0.0, error_type="state_mismatch", error_turn=2)),
        sample("s2", 1, scored(0.0, error_type="state_mismatch", error_turn=2)),
        sample("s3", 1, {**FAULT, "fault": "timeout: 10 s"}, "EnvironmentFault"),
        sample("s4", 1, scored(1.0)),
    )
    result = door("results", "samples", tmp_path, "--format", "json")
    assert json.loads(result.output)["errors"] == [
        {"benchmark": "bench", "model": "m", "kind": "state_mismatch, turn 2", "episodes": 2},
        {"benchmark": "bench", "model": "m", "kind": "environment_fault: timeout", "episodes": 1},
    ]
    assert errors(read_of(row())) == {}


def test_the_report_lists_what_stands_out_or_all() -> None:
    short, whole = report(FOUR, "markdown", "sample", False), report(FOUR, "markdown", "sample", True)
    assert "| s0 " in short
    assert "| s3 " not in short
    assert "| s3 " in whole
    rows = list(csv.DictReader(io.StringIO(report(FOUR, "csv", "sample", False))))
    assert [found["stands out"] for found in rows] == ["never", "always", "", "", ""]


def test_logs_without_checks_are_refused(tmp_path: Path) -> None:
    log(tmp_path, sample("s1", 1, scored(1.0)))
    assert refused(door("results", "samples", tmp_path, "--by", "check")) == "no scored sample has checks in these logs"
