"""Checkpoints scored by `envscaler eval`, beside a run or after it: the learning curve."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import SettingError
from training.card import Card
from training.config import Scoring
from training.model import saved, servable


@dataclass(slots=True)
class Scorer:
    """Scores the checkpoints of one run, each into a log folder of its own; what is scored stays scored."""

    card: Card
    scoring: Scoring
    running: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)

    def wants(self, step: int) -> bool:
        """Whether the checkpoint of a step is to be scored."""
        return self.scoring.every > 0 and step % self.scoring.every == 0

    def logs(self, step: int) -> Path:
        """Where the logs of a step's checkpoint lie."""
        return self.card.folder / "scores" / f"step-{step}"

    def start(self, folder: Path, step: int) -> None:
        """Begin to score a checkpoint in another process; the training goes on."""
        logs = self.logs(step)
        logs.mkdir(parents=True, exist_ok=True)
        with (logs.parent / f"step-{step}.txt").open("ab") as output:
            self.running[step] = subprocess.Popen(
                command(servable(folder), logs, self.scoring), stdout=output, stderr=subprocess.STDOUT
            )

    def finish(self, output: Path, last: int, final: Path) -> None:
        """Score what is not scored yet, wait for what is being scored, and note the curve in the card.

        Raises:
            SettingError: If an evaluation fails; its output says why.
        """
        chosen = {step: path for step, path in saved(output).items() if self.wants(step)}
        chosen[last] = final
        for step, folder in chosen.items():
            if step not in self.running:
                self.start(folder, step)
            if self.running.pop(step).wait() not in (0, 1):
                raise SettingError(f"scoring failed; {self.card.folder}/scores/step-{step}.txt says why")
        self.card.content["scores"] = [entry for step in chosen for entry in curve_points(self.logs(step), step)]
        self.card.write()

    def table(self) -> str:
        """The learning curve as a table."""
        from tabulate import tabulate

        rows = [
            [
                score["step"],
                score["benchmark"],
                score["column"],
                _figure(score["mean"], score["sd"]),
                score["n"],
                score["runs"],
            ]
            for score in self.card.content["scores"]
        ]
        headers = ["step", "benchmark", "column", "reward", "n", "runs"]
        return tabulate(rows, headers=headers, disable_numparse=True)


def _figure(mean: float | None, deviation: float | None) -> str:
    if mean is None:
        return "-"
    return f"{mean:.2f}" if deviation is None else f"{mean:.2f} ± {deviation:.2f}"


def command(folder: Path, logs: Path, scoring: Scoring) -> list[str]:
    """The evaluation of one checkpoint."""
    beside = Path(sys.executable).parent / "envscaler"
    line = [str(beside) if beside.exists() else "envscaler", "eval", "--model", f"checkpoint/{folder}"]
    line += ["--benchmarks", scoring.benchmarks, "--runs", str(scoring.runs), "--logs", str(logs)]
    return [*line, "--display", "plain", *shlex.split(scoring.arguments)]


def curve_points(logs: Path, step: int) -> list[dict[str, Any]]:
    """One entry for each column of the table of a log folder: mean and standard deviation over runs, in percent."""
    from results.read import read
    from results.table import lines

    return [
        {
            "step": step,
            "benchmark": f"{line.benchmark} {line.version}",
            "column": line.column,
            "mean": line.reward.mean,
            "sd": line.reward.deviation,
            "low": line.reward.low,
            "high": line.reward.high,
            "success": line.success.mean,
            "n": line.samples,
            "runs": line.runs,
            "faults": line.faults,
            "errors": line.errors,
        }
        for line in lines(read(str(logs)))
    ]
