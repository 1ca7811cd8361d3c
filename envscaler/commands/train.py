"""`envscaler train`: SFT and REINFORCE++, and a check of either that trains nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from envscaler.commands.door import BadInput


@click.group()
def train() -> None:
    """Trajectories to checkpoints: SFT, REINFORCE++, and checks before either."""


def configured(command: Callable[..., None]) -> Callable[..., None]:
    """The options that name a configuration."""
    options = (
        click.option("--config", type=click.Path(path_type=Path), help="TOML; its key preset names what it changes."),
        click.option("--preset", help="A named configuration; the paper's by default."),
        click.option("--model", help="Checkpoint to start from (model.path)."),
        click.option("--output", help="New folder of the run."),
        click.option("--set", "options", multiple=True, metavar="SECTION.KEY=VALUE", help="Above all others."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _scored(command: Callable[..., None]) -> Callable[..., None]:
    """The options that have saved checkpoints scored."""
    every = click.option("--score-every", type=click.IntRange(0), help="Score every so many steps (scoring.every).")
    names = click.option("--benchmarks", metavar="NAMES", help="On these, with commas (scoring.benchmarks).")
    return every(names(command))


def resolved(kind: str, config: Path | None, preset: str | None, **given: Any) -> Any:
    """The configuration of `sft` or `rl` from those options."""
    from training.config import RlConfig, SftConfig
    from training.settings import resolve

    options = list(given["options"])
    keys = {"model": "model.path", "output": "output", "data": "data.trajectories"}
    keys |= {"score_every": "scoring.every", "benchmarks": "scoring.benchmarks"}
    for name, key in keys.items():
        if value := given.get(name):
            # As JSON: a folder may be called 2026 or true.
            options.append(f"{key}={json.dumps(value)}")
    if kind == "sft":
        return resolve(SftConfig, config, preset, options)
    return resolve(RlConfig, config, preset, options)


def _needed() -> None:
    """See that the training stack is installed."""
    import importlib.util

    for name in ("torch", "transformers", "trl", "accelerate", "datasets", "peft"):
        if importlib.util.find_spec(name) is None:
            raise BadInput(f"{name} is not installed; install it with: pip install 'envscaler[train]'")


@train.command()
@configured
@click.option("--data", multiple=True, help="Trajectory file (data.trajectories); may be repeated.")
@_scored
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint in the output.")
def sft(resume: bool, **given: Any) -> None:
    """Fine-tune a checkpoint on trajectories."""
    _needed()
    from training.sft.run import train as run

    run(resolved("sft", **given), resume=resume, say=click.echo)


@train.command()
@configured
@_scored
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint in the output.")
def rl(resume: bool, **given: Any) -> None:
    """Train a checkpoint on scenarios with REINFORCE++."""
    _needed()
    from training.rl.run import train as run

    run(resolved("rl", **given), resume=resume, say=click.echo)


@train.command()
@click.argument("kind", type=click.Choice(["sft", "rl"]))
@configured
@click.option("--data", multiple=True, help="Trajectory file, for sft; may be repeated.")
@_scored
def check(kind: str, **given: Any) -> None:
    """Do everything that a run does before its first step, and show what it would learn. Trains nothing."""
    _needed()
    from training.check import check as run

    run(resolved(kind, **given), click.echo)


@train.command(context_settings={"ignore_unknown_options": True})
@click.argument("how", type=click.Choice(["fsdp2", "zero3"]))
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--processes", type=click.IntRange(1), help="One for each GPU.  [default: 8]")
def launch(how: str, command: tuple[str, ...], processes: int | None) -> None:
    """Start a run on several GPUs of one machine, e.g. launch zero3 sft --config run.toml."""
    import os
    import sys

    import training

    _needed()
    settings = Path(training.__file__).parent / "accelerate" / f"{how}.yaml"
    line = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(settings)]
    if processes is not None:
        line += ["--num_processes", str(processes)]
    os.execv(line[0], [*line, str(Path(sys.executable).parent / "envscaler"), "train", *command])


@train.command()
@click.option("--to", "folder", default="logs/train-demo", show_default=True, type=click.Path(path_type=Path))
@click.option("--keep", type=click.Path(path_type=Path), help="Also copy the three checkpoints into this folder.")
def demo(folder: Path, keep: Path | None) -> None:
    """Make a small model, train it by SFT and RL, and score it before, between and after. On one core, in minutes."""
    _needed()
    from training.demo.run import Demonstration

    shown = Demonstration(folder.resolve(), click.echo)
    shown.play()
    if keep is not None:
        shown.keep(keep)
