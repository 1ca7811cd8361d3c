"""`envscaler collect`: trajectories of a teacher, filtered for training."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from envscaler import __version__
from envscaler.commands.door import BadInput, Number, command_line, parameters

if TYPE_CHECKING:
    from training.collection import Card, Filters

SETTINGS = {"non_conversation": "non_conversation", "conversation": "conversation", "both": "all"}
"""Our word -> the task parameter."""


@click.command()
@click.option("--to", "folder", required=True, type=click.Path(path_type=Path), help="Folder of this collection.")
@click.option("--model", help="The teacher: plays the scenarios, e.g. openai/gpt-4.1, checkpoint/PATH.")
@click.option("--from", "places", multiple=True, type=click.Path(path_type=Path), help="Read trajectories instead.")
@click.option("--setting", type=click.Choice(list(SETTINGS)), default="both", show_default=True)
@click.option("--corpus", help="Path of a corpus in any form.  [default: the bundled one]")
@click.option("--environments", metavar="NAMES", help="Only these environment ids, with commas.")
@click.option("--runs", type=click.IntRange(1), default=1, show_default=True, help="Times each scenario is played.")
@click.option("--limit", type=click.IntRange(1), help="First scenarios of each setting only.")
@click.option("--protocol", default="paper", show_default=True, help="Preset of rules.")
@click.option("--user", help="Model that plays the user.")
@click.option("-T", "pairs", multiple=True, metavar="NAME=VALUE", help="Task parameter, e.g. prompts=release.")
@click.option("-M", "model_pairs", multiple=True, metavar="NAME=VALUE", help="Argument of a model that is served.")
@click.option("--max-connections", type=click.IntRange(1), help="Requests at once to the model.")
@click.option("--max-samples", type=click.IntRange(1), help="Episodes at once.")
@click.option("--retry-on-error", type=click.IntRange(0), help="Times that a failed episode is played again at once.")
@click.option("--reward", type=Number(0, 1), default=1.0, show_default=True, help="Least reward.")
@click.option("--steps", default="3-29", show_default=True, help="Steps of a Non-Conversation episode.")
@click.option("--turns", default="5-39", show_default=True, help="Steps of a Conversation episode.")
@click.option("--without", multiple=True, metavar="NAMES", help="Filters to leave out, with commas.")
@click.option("--display", type=click.Choice(["full", "conversation", "rich", "plain", "log", "none"]))
def collect(
    folder: Path,
    model: str | None,
    places: tuple[Path, ...],
    reward: float,
    steps: str,
    turns: str,
    without: tuple[str, ...],
    display: str | None,
    **options: Any,
) -> None:
    """Collect trajectories for training: play scenarios with --model, or read --from files and logs; filter.

    Filters, in the order of first reasons: ending, format, impossible, completion, length, reward, duplicate.

    Writes trajectories.jsonl (kept), dropped.jsonl (reasons) and the card into the folder. Started again with the same
    options, only what is missing is played. Exits with 1 if the playing was not completed, with 2 for bad input.
    """
    from harness.messages import without_surrogates

    filters = _filters(reward, steps, turns, without)
    if bool(model) == bool(places):
        raise BadInput("give either --model, to play scenarios, or --from, to read trajectories")
    if places:
        _refuse_playing({*options, "display"})
        _refuse_replacing(places, folder)
    done = True
    if model:
        places = (folder / "logs",)
        done = _play(model, str(places[0]), display, options)
    try:
        card = _collected(places, folder, filters)
    except OSError as error:
        raise BadInput(f"{error.filename or folder}: cannot be written: {error.strerror or error}") from error
    # A terminal takes no halves of characters, which ids and reasons may hold.
    click.echo(without_surrogates(card.text("terminal")))
    raise SystemExit(0 if done else 1)


def _refuse_playing(names: set[str]) -> None:
    """Options that would say nothing are a mistake, not a wish."""
    context = click.get_current_context()
    for option in context.command.params:
        name = str(option.name)
        if name in names and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise BadInput(f"{option.opts[0]} is about playing; --from reads what was played")


def _refuse_replacing(places: Iterable[Path], folder: Path) -> None:
    """What is dropped of a file that is replaced by what is kept of it would be gone."""
    from training.collection.run import KEPT

    for place in places:
        if place.resolve() == (folder / KEPT).resolve():
            raise BadInput(f"--from {place}: would be replaced by what is kept of it; give --to another folder")


def _filters(reward: float, steps: str, turns: str, without: Iterable[str]) -> Filters:
    from harness.errors import near_miss
    from training.collection import FILTERS, Filters

    off = [name.strip() for names in without for name in names.split(",") if name.strip()]
    for name in off:
        if name not in FILTERS:
            raise BadInput(f"--without {name}: no such filter; {near_miss(name, list(FILTERS))}")
    return Filters(
        reward=reward,
        steps={"non_conversation": _span("--steps", steps), "conversation": _span("--turns", turns)},
        off=frozenset(off),
    )


def _span(option: str, text: str) -> tuple[int, int]:
    low, dash, high = text.partition("-")
    if not dash or not low.isdecimal() or not high.isdecimal() or int(low) > int(high):
        raise BadInput(f"{option} {text}: must be LEAST-MOST, e.g. 3-29")
    return int(low), int(high)


def _play(model: str, logs: str, display: str | None, options: dict[str, Any]) -> bool:
    """Play the scenarios as an Inspect eval set, which goes on where it stopped."""
    from benchmarks.matrix import evaluate, merged, plan
    from envscaler import _registry

    task = {name: options[name] for name in ("corpus", "environments") if options[name] is not None}
    # The release's scenarios for SFT have no checks; whether they were played well is left to the other filters.
    task |= {"setting": SETTINGS[options["setting"]], "unchecked": "play", **parameters(options["pairs"])}
    given = {name: options[name] for name in ("runs", "limit", "protocol", "user")}
    given |= {name: options[name] for name in ("max_connections", "max_samples", "retry_on_error")}
    given |= {"models": (model,), "benchmarks": ("scenarios",), "logs": logs, "parameters": {"scenarios": task}}
    matrix = merged({}, {**given, "model_args": parameters(options["model_pairs"])})
    found = plan(matrix)
    if found.missing:
        raise BadInput("; ".join(found.missing))
    for warning in found.warnings:
        click.echo(f"envscaler: {warning}", err=True)
    return evaluate(matrix, lambda name, **values: getattr(_registry, name)(**values), display)


def _collected(places: tuple[Path, ...], folder: Path, filters: Filters) -> Card:
    from datetime import UTC, datetime

    from training.collection import Card, sources
    from training.collection import collect as write

    source = sources(places)
    made = {"made": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", "version": __version__, "command": command_line()}
    card = Card(filters, source.facts, source.notes, made)
    return write(source.candidates, folder, filters, card, _progress)


def _progress(card: Card) -> None:
    if card.seen % 1000 == 0:
        click.echo(f"{card.seen:,} trajectories read, {card.whole.kept:,} kept", err=True)
