"""The demonstration from end to end: make a model, train it twice, score it three times.

Every stage is a command that a user could type; its folder is there only when it is whole, so that a run that was
interrupted goes on where it stopped.
"""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.registry import loaded
from envscaler.scenarios import write_records
from harness.errors import EnvScalerError
from harness.trajectory import write_trajectories
from training.demo.tasks import corpus, pairs
from training.demo.trajectories import recorded
from training.demo.warm_up import write_base
from training.scoring import curve_points

TRAINING_TASKS, HELD_OUT_TASKS = 1200, 32
UNFINISHED = 0.35
"""Share of the recorded episodes that stop before the job is done."""
RUNS = 3
LONGEST_REPLY = 48
"""Tokens; the base model may not know how to end one."""
STAGES = ("base", "sft", "rl")
CHECKPOINTS = Path(__file__).parent / "checkpoints"
"""The three checkpoints of a run, as they ship."""
HELD_OUT = Path(__file__).parent / "held_out"
"""The tasks they are scored on, as they ship."""

Say = Callable[[str], None]


class StageFailed(EnvScalerError):
    """A command of the demonstration failed; its output says why."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One run of the demonstration in one folder."""

    folder: Path
    say: Say

    def play(self) -> None:
        """Do what is not done yet, and print the table.

        Raises:
            StageFailed: If a command fails.
        """
        self._data()
        self._stage("base", self._base)
        self._stage("sft", self._sft)
        self._stage("rl", self._rl)
        for stage in STAGES:
            self._score(stage)
        self.say("\n" + self.table())
        seconds = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        self.say(f"CPU time of this run: {sum(used.ru_utime + used.ru_stime for used in seconds) / 60:.1f} minutes")

    def checkpoint(self, stage: str) -> Path:
        """The folder of a stage's checkpoint."""
        return self.folder / "base" if stage == "base" else self.folder / stage / "final"

    def _data(self) -> None:
        train, held_out = pairs()
        for name, chosen in (("train", train[:TRAINING_TASKS]), ("held_out", held_out[:HELD_OUT_TASKS])):
            if not (self.folder / name).exists():
                with whole(self.folder / name) as draft:
                    write_records(corpus(chosen, name), draft, "packed")
        file = self.folder / "trajectories.jsonl"
        if not file.exists():
            self.say(f"recording {TRAINING_TASKS} episodes, {UNFINISHED:.0%} of them unfinished")
            ready = loaded("scenarios", "paper", corpus=str(self.folder / "train"))
            write_trajectories(file, recorded(ready, UNFINISHED))

    def _stage(self, stage: str, make: Callable[[], None]) -> None:
        if not self.checkpoint(stage).exists():
            self.say(f"\n== {stage}")
            make()

    def _base(self) -> None:
        with whole(self.folder / "base") as draft:
            write_base(draft, pairs()[0], self.say)

    def _sft(self) -> None:
        options: list[str | Path] = ["--model", self.folder / "base", "--data", self.folder / "trajectories.jsonl"]
        self._train("sft", "cpu_demo_sft", options)

    def _rl(self) -> None:
        options: list[str | Path] = [
            "--model",
            self.checkpoint("sft"),
            "--set",
            f"tasks.corpus={self.folder / 'train'}",
        ]
        self._train("rl", "cpu_demo_rl", options)

    def _train(self, kind: str, preset: str, options: Sequence[str | Path]) -> None:
        output = self.folder / kind
        resume = ["--resume"] if any(output.glob("checkpoint-*")) else []
        if output.exists() and not resume:
            shutil.rmtree(output)
        self._command("envscaler", "train", kind, "--preset", preset, *options, "--output", output, *resume)

    def _score(self, stage: str) -> None:
        """As anybody would score a checkpoint: `inspect eval`, with the checkpoint served from its folder."""
        logs = self.folder / "logs" / stage
        if logs.exists():
            return
        self.say(f"\n== scoring {stage}")
        with whole(logs) as draft:
            self._command(
                *("inspect", "eval", "envscaler/scenarios", "-T", f"corpus={self.folder / 'held_out'}"),
                *("--model", f"checkpoint/{self.checkpoint(stage)}", "--max-tokens", str(LONGEST_REPLY)),
                *("--epochs", str(RUNS), "--log-dir", draft, "--no-log-realtime", "--display", "none"),
            )

    def _command(self, program: str, *arguments: str | Path) -> None:
        line = [str(Path(sys.executable).parent / program), *map(str, arguments)]
        self.say("$ " + shlex.join([program, *line[1:]]))
        done = subprocess.run(line, check=False, env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"})
        if done.returncode:
            raise StageFailed(f"{shlex.join(line)}: exit code {done.returncode}")

    def table(self) -> str:
        """The three checkpoints on the held-out tasks, in the paper's form: mean and spread over runs, in percent."""
        from tabulate import tabulate

        rows = []
        for stage in STAGES:
            (point,) = curve_points(self.folder / "logs" / stage, 0)
            low, high = point["low"], point["high"]
            rows.append(
                [
                    stage,
                    f"{point['mean']:.2f} ± {point['sd']:.2f}",
                    f"{low:.1f}-{high:.1f}",
                    point["n"],
                    point["runs"],
                    point["faults"],
                    point["errors"],
                ]
            )
        headers = ["checkpoint", "reward", "95 %", "n", "runs", "faults", "errors"]
        return tabulate(rows, headers=headers, disable_numparse=True)

    def keep(self, target: Path) -> None:
        """Copy the three checkpoints, without what only a resumed run needs, and the table beside them."""
        for stage in STAGES:
            with whole(target / stage, replace=True) as draft:
                for path in self.checkpoint(stage).iterdir():
                    if path.suffix in (".json", ".jinja", ".safetensors"):
                        shutil.copy(path, draft)
        facts = {stage: curve_points(self.folder / "logs" / stage, 0)[0] for stage in STAGES}
        (target / "scores.json").write_text(json.dumps(facts, indent=1) + "\n")


@contextmanager
def whole(folder: Path, *, replace: bool = False) -> Iterator[Path]:
    """A folder that is there only once it is whole.

    Args:
        replace: Whether it takes the place of one that is there.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield draft
        draft.chmod(0o755)
        if replace and folder.exists():
            shutil.rmtree(folder)
        draft.replace(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
