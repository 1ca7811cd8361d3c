"""`envscaler train export`: a ready-to-run folder for another engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from envscaler.commands.door import BadInput
from envscaler.commands.train import configured, resolved


@click.command()
@configured
@click.option("--engine", required=True, type=click.Choice(["verl", "roll", "llamafactory"]), help="verl, roll: RL.")
@click.option("--to", "folder", required=True, type=click.Path(path_type=Path), help="New folder.")
@click.option("--data", multiple=True, help="Trajectory file (data.trajectories), for llamafactory; may be repeated.")
@click.option("--validation", default=32, show_default=True, type=click.IntRange(1), help="Scenarios held out, for RL.")
@click.option("--devices", default=8, show_default=True, type=click.IntRange(1), help="GPUs, for llamafactory.")
def export(engine: str, folder: Path, validation: int, devices: int, **given: Any) -> None:
    """Write data, configuration and scripts for another engine. RL engines play on `envscaler serve`.

    The folder holds serve.sh (to run where EnvScaler is installed) and train.sh (where the engine is).
    """
    unused = "validation" if engine == "llamafactory" else "devices"
    if click.get_current_context().get_parameter_source(unused) is click.core.ParameterSource.COMMANDLINE:
        raise BadInput(f"--{unused}: says nothing to {engine}")
    if engine == "llamafactory":
        _sft(folder, devices, given)
        return
    from training.export import roll, verl
    from training.export.tasks import split
    from training.rules import check_rl

    config = replace(resolved("rl", **given), output=given["output"] or "checkpoints")
    check_rl(config)
    found = split(config, validation)
    (verl if engine == "verl" else roll).export(config, found, folder)
    click.echo(f"{folder}: {len(found.train)} scenarios to train on, {len(found.validation)} held out")


def _sft(folder: Path, devices: int, given: dict[str, Any]) -> None:
    from training.export import llamafactory
    from training.model import load_tokenizer
    from training.rules import check_sft

    config = replace(resolved("sft", **given), output=given["output"] or "checkpoints")
    check_sft(config, devices)
    done = llamafactory.export(config, load_tokenizer(config.model), folder, devices)
    left = f"{done.taken.below_reward} trajectories below the reward, {done.too_long} rows too long"
    click.echo(f"{folder}: {done.rows} rows; left out: {left}, {done.without_pairs} without pairs")
