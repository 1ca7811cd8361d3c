"""Checkpoints are scored by `envscaler eval`, and its logs become the learning curve."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from training.card import Card, read_card
from training.config import Scoring, SftConfig
from training.scoring import Scorer, command


@pytest.fixture
def run(tmp_path: Path, checkpoint: Path) -> Path:
    """A run's folder with checkpoints of steps 2 and 4."""
    for step in (2, 4):
        (tmp_path / f"checkpoint-{step}").symlink_to(checkpoint)
    return tmp_path


def scored_by_reference(monkeypatch: pytest.MonkeyPatch, tasks: Path) -> list[list[str]]:
    """Let the oracle answer in place of the checkpoint: what is tested is the way of its score into the card."""
    import training.scoring

    given: list[list[str]] = []

    def by_reference(folder: Path, logs: Path, scoring: Scoring) -> list[str]:
        line = command(folder, logs, scoring)
        given.append(list(line))
        line[line.index(f"checkpoint/{folder}")] = "reference/oracle"
        return line

    monkeypatch.setattr(training.scoring, "command", by_reference)
    return given


def test_checkpoints_become_a_curve(run: Path, tasks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scoring = Scoring(
        every=4,
        runs=2,
        arguments=f"-T scenarios.corpus={tasks} -T scenarios.setting=non_conversation --display none",
    )
    scorer = Scorer(Card(run, "sft", SftConfig()), scoring)
    given = scored_by_reference(monkeypatch, tasks)
    scorer.finish(run, 4, run / "checkpoint-4")
    assert [line[line.index("--model") + 1] for line in given] == [f"checkpoint/{run / 'checkpoint-4'}"]
    scores = read_card(run)["scores"]
    assert [(score["step"], score["mean"], score["sd"], score["n"], score["runs"]) for score in scores] == [
        (4, 100.0, 0.0, 4, 2),
    ]
    assert "100.00 ± 0.00" in scorer.table()


def test_an_evaluation_that_fails_is_told(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import training.scoring
    from harness.errors import SettingError

    failing = [sys.executable, "-c", "raise SystemExit(2)"]
    monkeypatch.setattr(training.scoring, "command", lambda *_: failing)
    scorer = Scorer(Card(run, "sft", SftConfig()), Scoring(every=4))
    with pytest.raises(SettingError, match=r"scoring failed; .*step-4.txt says why"):
        scorer.finish(run, 4, run / "checkpoint-4")


def test_scoring_during_a_run_does_not_wait(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import training.scoring

    started: list[Any] = []
    monkeypatch.setattr(training.scoring, "command", lambda *_: [sys.executable, "-c", "input()"])
    monkeypatch.setattr(
        training.scoring.subprocess,
        "Popen",
        lambda line, **options: started.append(line) or subprocess.CompletedProcess(line, 0),
    )
    scorer = Scorer(Card(run, "sft", SftConfig()), Scoring(every=2))
    assert [step for step in (1, 2, 3, 4) if scorer.wants(step)] == [2, 4]
    scorer.start(run / "checkpoint-2", 2)
    assert len(started) == 1
    assert 2 in scorer.running
