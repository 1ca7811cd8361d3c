"""From logs to rows: the newest sample counts, and what is missing is told."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from results.read import LogError, Row, read
from tests.results.playground import FAULT, UNSCORED, log, sample, scored


def rows(folder: Path) -> list[tuple[str, int, float | None, str]]:
    return sorted((row.sample, row.run, row.reward, row.ending) for row in read(folder).rows)


def one(folder: Path) -> Row:
    (row,) = read(folder).rows
    return row


def test_a_sample_becomes_a_row(tmp_path: Path) -> None:
    path = log(tmp_path, sample("s1", 2, scored(0.5, floor=0.25)), user="u", task_args={"corpus": "c"}, epochs=1)
    assert one(tmp_path) == Row(
        model="m",
        benchmark="bench",
        version="1-A",
        protocol="paper",
        settings="corpus=c user=u",
        subset="base",
        group="g",
        sample="s1",
        run=2,
        reward=0.5,
        success=False,
        floor=0.25,
        ending="scored",
        stop_reason="agent_done",
        steps=3,
        tokens=7,
        seconds=1.5,
        level="isolated",
        user="u",
        log=path.name,
    )
    assert read(tmp_path).floors == {("bench", "1-A"): {"Base": 2.0}}


@pytest.mark.parametrize(
    ("outcome", "failed", "reward", "ending"),
    [
        pytest.param(scored(1.0), None, 1.0, "scored", id="scored"),
        pytest.param(FAULT, "EnvironmentFault", None, "environment_fault", id="fault"),
        pytest.param({**FAULT, "ending": "infrastructure_error"}, "down", None, "infrastructure_error", id="server"),
        pytest.param(None, "killed", None, "infrastructure_error", id="died-before-its-record"),
        pytest.param(None, None, None, "infrastructure_error", id="no-record-at-all"),
        # The scorer or the machine failed after the episode: never averaged as if it had not.
        pytest.param(scored(1.0), "disk full", None, "infrastructure_error", id="failed-after-scoring"),
    ],
)
def test_a_failed_sample_has_no_reward(
    tmp_path: Path, outcome: dict[str, Any] | None, failed: str | None, reward: float | None, ending: str
) -> None:
    log(tmp_path, sample("s1", 1, outcome, failed))
    assert rows(tmp_path) == [("s1", 1, reward, ending)]
    assert one(tmp_path).success is (True if reward else None)


def test_a_sample_that_inspect_recovered_has_its_score_and_no_store(tmp_path: Path) -> None:
    from inspect_ai.scorer import Score

    one = sample("s1", 1)
    parts = {"floor": 0.25, "stop_reason": "step_limit", "steps": 4}
    one.scores = {"envscaler/outcome": Score(value={"reward": 0.5, "success": 0.0}, metadata=parts)}
    log(tmp_path, one)
    (found,) = read(tmp_path).rows
    assert (found.reward, found.success, found.floor, found.ending) == (0.5, False, 0.25, "scored")
    assert (found.stop_reason, found.steps) == ("step_limit", 4)
    assert read(tmp_path).notes == []


def test_what_cannot_be_scored_is_no_failure_recorded_or_recovered(tmp_path: Path) -> None:
    from inspect_ai.scorer import Score

    recovered = sample("s2", 1)
    nothing = Score.unscored(reason="unscored", metadata={"stop_reason": "agent_done", "steps": 4})
    recovered.scores = {"envscaler/outcome": nothing}
    log(tmp_path, sample("s1", 1, UNSCORED), recovered, sample("s3", 1, UNSCORED, "disk full"))
    found = read(tmp_path)
    assert [(row.sample, row.ending, row.fault, row.unscored) for row in found.rows] == [
        ("s1", "unscored", "", True),
        ("s2", "unscored", "", True),
        ("s3", "infrastructure_error", "disk full", False),
    ]
    assert {(row.reward, row.success, row.stop_reason, row.steps) for row in found.rows[:2]} == {
        (None, None, "agent_done", 4)
    }
    assert [note.partition(", ")[2].partition(";")[0] for note in found.notes] == ["2 of 3 samples"]


def test_logs_in_inspects_other_format_and_with_what_json_has_not_are_read_alike(tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log, write_eval_log

    odd = scored(0.5, lift=float("nan"), text="\ud800")
    path = log(tmp_path / "eval", sample("s1", 1, odd))
    (tmp_path / "json").mkdir()
    write_eval_log(read_eval_log(str(path)), str(tmp_path / "json" / f"{path.stem}.json"), format="json")
    found = [read(tmp_path / kind).rows[0] for kind in ("eval", "json")]
    assert {(row.sample, row.reward, row.stop_reason, row.tokens) for row in found} == {("s1", 0.5, "agent_done", 7)}


def test_the_newest_log_counts_by_what_it_says_itself(tmp_path: Path) -> None:
    old = log(tmp_path, sample("s1", 1, scored(0.0)), sample("s2", 1, scored(0.0)), name="old")
    new = log(tmp_path, sample("s1", 1, scored(1.0)), name="new", created="2026-11-02T10:00:00+00:00")
    # As after copying: the older log has the younger file.
    os.utime(new, (1, 1))
    os.utime(old, (2, 2))
    assert rows(tmp_path) == [("s1", 1, 1.0, "scored"), ("s2", 1, 0.0, "scored")]


@pytest.mark.parametrize(
    "other",
    [
        {"model": "n"},
        {"user": "v"},
        {"task_args": {"corpus": "c"}},
        {"task_args": {"tools": "own"}},
        {"version": "2-A"},
    ],
    ids=str,
)
def test_a_log_of_something_else_replaces_nothing(tmp_path: Path, other: dict[str, Any]) -> None:
    log(tmp_path, sample("s1", 1, scored(0.0)), name="a", user="u" if "user" in other else None)
    log(tmp_path, sample("s1", 1, scored(1.0)), name="b", created="2026-11-02T10:00:00+00:00", **other)
    assert sorted(row.reward or 0.0 for row in read(tmp_path).rows) == [0.0, 1.0]


def test_settings_name_what_is_not_the_default(tmp_path: Path) -> None:
    given = {"prompts": "own", "corpus": None, "environments": ["a", "b"], "limit": 2, "level": "trusted"}
    log(tmp_path, sample("s1", 1, scored(1.0)), task_args=given)
    assert one(tmp_path).settings == "environments=['a', 'b'] limit=2"


@pytest.mark.parametrize(
    ("given", "note"),
    [
        pytest.param({}, None, id="complete"),
        # `--limit 1` asks for a part of the dataset; that part is whole.
        pytest.param({"chosen": ["s1"]}, None, id="complete-under-a-limit"),
        pytest.param({"chosen": ["s1", "s2"]}, "success, 1 of 2 samples", id="a-sample-is-missing"),
        pytest.param({"epochs": 3}, "success, 1 of 3 samples", id="a-run-is-missing"),
        pytest.param({"status": "cancelled"}, "cancelled, 1 of 1 samples", id="cancelled"),
        pytest.param({"status": "started", "chosen": ["s1", "s2"]}, "started, 1 of 2 samples", id="killed"),
    ],
)
def test_a_log_that_is_not_whole_is_told_with_its_cure(tmp_path: Path, given: dict[str, Any], note: str | None) -> None:
    path = log(tmp_path, sample("s1", 1, scored(1.0)), **given)
    cure = f"finish it with: inspect eval-retry {path.name}"
    assert read(tmp_path).notes == ([] if note is None else [f"{path.name}: {note}; {cure}"])


def test_a_failed_sample_is_one_to_run_again(tmp_path: Path) -> None:
    log(tmp_path, sample("s1", 1, scored(1.0)), sample("s2", 1, None, "down"))
    assert [note.partition(": ")[2][:24] for note in read(tmp_path).notes] == ["success, 1 of 2 samples;"]


def test_a_retry_answers_for_the_log_that_it_finishes(tmp_path: Path) -> None:
    log(tmp_path, sample("s1", 1, None, "down"), name="first", task_id="t", status="error")
    log(tmp_path, sample("s1", 1, scored(1.0)), name="retry", task_id="t", created="2026-11-02T10:00:00+00:00")
    assert read(tmp_path).notes == []
    assert rows(tmp_path) == [("s1", 1, 1.0, "scored")]


def test_logs_of_others_are_left_out_with_a_note(tmp_path: Path) -> None:
    log(tmp_path / "deep" / "er", sample("s1", 1, scored(1.0)))
    other = log(tmp_path, sample("s1", 1, scored(0.0)), name="other", ours=False)
    assert read(tmp_path).notes == [f"{other.name}: not a log of an envscaler task; left out"]
    assert rows(tmp_path) == [("s1", 1, 1.0, "scored")]


@pytest.mark.parametrize("data", [b"", b"not a zip", b"PK\x03\x04cut"], ids=repr)
def test_a_log_that_cannot_be_read_is_left_out_with_a_note(tmp_path: Path, data: bytes) -> None:
    log(tmp_path, sample("s1", 1, scored(1.0)))
    (tmp_path / "2026-11-03T10-00-00_bench_x.eval").write_bytes(data)
    (note,) = read(tmp_path).notes
    assert note.startswith("2026-11-03T10-00-00_bench_x.eval: cannot be read (")
    assert note.endswith("; left out")


def test_one_log_may_be_named_instead_of_its_folder(tmp_path: Path) -> None:
    path = log(tmp_path, sample("s1", 1, scored(1.0)))
    log(tmp_path, sample("s2", 1, scored(1.0)), name="b")
    assert rows(path) == [("s1", 1, 1.0, "scored")]


def test_a_folder_without_samples_of_ours_says_why(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"nowhere: no such folder"):
        read(tmp_path / "nowhere")
    with pytest.raises(LogError, match=f"{tmp_path}: no samples of envscaler tasks"):
        read(tmp_path)
    path = log(tmp_path, status="cancelled", chosen=["s1"])
    with pytest.raises(LogError, match=rf"no samples of envscaler tasks; {path.name}: cancelled, 0 of 1 samples; "):
        read(tmp_path)
