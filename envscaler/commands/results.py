"""`envscaler results`: tables, comparisons, statistics, plots and exports of a folder of logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from envscaler import __version__
from envscaler.commands.door import BadInput, command_line

if TYPE_CHECKING:
    from results.read import Read

FORMATS = ["terminal", "markdown", "latex", "csv", "json", "html"]


class Folder(click.Group):
    """A group that takes a folder as well: `results LOGS` is `results table LOGS`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["table", *args]
        return super().parse_args(ctx, args)


@click.group(cls=Folder)
def results() -> None:
    """Tables and statistics of Inspect logs. `results LOGS` prints the table; LOGS are folders or files."""


logs_argument = click.argument("logs", nargs=-1, required=True, type=click.Path())
to_option = click.option("--to", type=click.Path(path_type=Path), help="Write into this file instead of printing.")


@results.command()
@logs_argument
@click.option("--format", "form", type=click.Choice(FORMATS), default="terminal", show_default=True)
@click.option("--layout", type=click.Choice(["lines", "paper"]), default="lines", show_default=True)
@click.option("--reference", "references", multiple=True, metavar="NAME", help="Published rows beside ours; or all.")
@click.option("--details", is_flag=True, help="Also pass^k, pass@k, cost and stop reasons.")
@click.option("--viewer", default="http://127.0.0.1:7575", show_default=True, help="Where `inspect view` runs (html).")
@to_option
def table(
    logs: tuple[str, ...],
    form: Any,
    layout: Any,
    references: tuple[str, ...],
    details: bool,
    viewer: str,
    to: Path | None,
) -> None:
    """Print the results table."""
    from results.provenance import provenance, remarks
    from results.references import references as published
    from results.render import render
    from results.table import lines

    beside = published(references)
    found = _read(logs)
    table = lines(found)
    origin = provenance(found, command_line(), __version__)
    notes = [*found.notes, *remarks(found, table), *_obstacles(found, table, beside)]
    if form == "html":
        from results.page import page

        _out(page(found, table, notes, beside, origin, viewer), to)
        return
    _out(render(table, form, notes, layout=layout, references=beside, provenance=origin, details=details), to)


def _read(logs: tuple[str, ...]) -> Read:
    from results.read import read

    return read(list(logs))


def _obstacles(found: Any, table: Any, beside: Any) -> list[str]:
    """One sentence for each row of ours that cannot be set beside a published table."""
    told: dict[str, None] = {}
    for reference in beside:
        for line in table:
            if line.benchmark in reference.terms:
                user = next((found.logs[log].user for log in line.logs if log in found.logs), "")
                reasons = "; ".join(reference.obstacles(line, user))
                if reasons:
                    where = f"{line.model}, {line.benchmark} {line.version} {line.protocol}"
                    told[f"{where}: not comparable with {reference.name}: {reasons}"] = None
    return list(told)


def _out(text: str, to: Path | None) -> None:
    from results.files import write

    if to is None:
        click.echo(text)
        return
    try:
        write(to, (text + "\n").encode())
    except OSError as error:
        raise BadInput(f"{to}: cannot be written: {error.strerror or error}") from error
    click.echo(str(to))


@results.command()
@click.argument("name", default="")
@click.option("--format", "form", type=click.Choice(FORMATS[:-1]), default="terminal", show_default=True)
@to_option
def reference(name: str, form: Any, to: Path | None) -> None:
    """Print a published table as its source prints it; without NAME, list them."""
    import json

    from results.grid import reference_grid
    from results.references import names
    from results.references import reference as published
    from results.render import grid_text, reference_record

    if not name:
        for known in names():
            click.echo(f"{known}\t{published(known).title}")
        return
    found = published(name)
    if form == "json":
        _out(json.dumps(reference_record(found), indent=1), to)
        return
    text = grid_text(reference_grid(found), form)
    told = [] if form == "csv" else ["", *(f"% {note}" if form == "latex" else note for note in found.notes())]
    _out("\n".join([text, *told]), to)


@results.command()
@click.argument("first")
@click.argument("second")
@click.option("--logs", "folders", multiple=True, type=click.Path(), help="Folder of both; then A and B name models.")
@click.option("--format", "form", type=click.Choice(["terminal", "markdown", "json"]), default="terminal")
@click.option("--resamples", type=click.IntRange(100), default=10_000, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--flips", type=click.IntRange(0), default=20, show_default=True, help="Longest list of flips; 0: none.")
@to_option
def compare(
    first: str,
    second: str,
    folders: tuple[str, ...],
    form: Any,
    resamples: int,
    seed: int,
    flips: int,
    to: Path | None,
) -> None:
    """Compare two models on the same samples: A minus B.

    A and B are folders or logs with one model each, or models of the folder that --logs names.
    """
    from results.comparison import compare as pair
    from results.comparison import one_model, told

    if folders:
        found = _read(folders)
        one, other = one_model(found, first), one_model(found, second)
    else:
        one, other = one_model(_read((first,)), None, first), one_model(_read((second,)), None, second)
    _out(told(pair(one, other, resamples=resamples, seed=seed), form, flips), to)


@results.command()
@logs_argument
@click.option("--format", "form", type=click.Choice(["terminal", "markdown", "csv", "json"]), default="terminal")
@click.option("--by", type=click.Choice(["sample", "check"]), default="sample", show_default=True)
@click.option("--all", "every", is_flag=True, help="Every sample or check, not only those that stand out.")
@to_option
def samples(logs: tuple[str, ...], form: Any, by: Any, every: bool, to: Path | None) -> None:
    """Statistics of samples or checks: never and always solved, discrimination, agreement, known defects."""
    from results.items import report

    _out(report(_read(logs), form, by, every), to)


@results.command()
@logs_argument
@click.option("--kind", type=click.Choice(["bars", "curve"]), default="bars", show_default=True)
@click.option("--to", type=click.Path(path_type=Path), required=True, help="A .png or .svg file.")
@click.option("--measure", type=click.Choice(["reward", "success"]), default="reward", show_default=True)
def plot(logs: tuple[str, ...], kind: str, to: Path, measure: Any) -> None:
    """Draw bars of every column, or a learning curve over checkpoints (checkpoint-100, checkpoint-200, ...)."""
    from results.plots import bars, curve
    from results.table import lines

    table = lines(_read(logs))
    try:
        (curve if kind == "curve" else bars)(table, to, measure)
    except OSError as error:
        raise BadInput(f"{to}: cannot be written: {error.strerror or error}") from error
    click.echo(str(to))


@results.command()
@logs_argument
@click.option("--to", "folder", type=click.Path(path_type=Path), required=True, help="New folder for the files.")
@click.option("--reference", "references", multiple=True, metavar="NAME", help="Published rows beside ours; or all.")
def export(logs: tuple[str, ...], folder: Path, references: tuple[str, ...]) -> None:
    """Write a folder for a model card or a leaderboard: JSON with its schema, tables, samples, a page."""
    from results.export import export as write
    from results.provenance import provenance, remarks
    from results.references import references as published
    from results.table import lines

    beside = published(references)
    found = _read(logs)
    table = lines(found)
    origin = provenance(found, command_line(), __version__)
    notes = [*found.notes, *remarks(found, table), *_obstacles(found, table, beside)]
    try:
        written = write(folder, found, table, notes, beside, origin)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error.strerror or error}") from error
    for name in written:
        click.echo(f"{folder}/{name}")
