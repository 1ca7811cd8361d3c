"""`envscaler eval`: a matrix of models and benchmarks in one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from envscaler import __version__
from envscaler.commands.door import BadInput, command_line, parameters

if TYPE_CHECKING:
    from benchmarks.matrix import Matrix, Plan


@click.command("eval")
@click.option("--config", type=click.Path(path_type=Path), help="TOML file of the same matrix; options stand above it.")
@click.option("--model", "models", multiple=True, help="e.g. checkpoint/PATH, openai/gpt-4.1; may be repeated.")
@click.option("--benchmarks", multiple=True, metavar="NAMES", help="all, or names with commas.  [default: all]")
@click.option("--runs", type=click.IntRange(1), help="Passes over each benchmark.  [default: the protocol's]")
@click.option("--user", help="Model that plays the user.")
@click.option("--protocol", help="Preset of rules.  [default: paper]")
@click.option("--logs", help="Folder of this matrix; started again there, it goes on where it stopped.")
@click.option("-T", "pairs", multiple=True, metavar="BENCHMARK.NAME=VALUE", help="Task parameter of a benchmark.")
@click.option("-M", "model_pairs", multiple=True, metavar="NAME=VALUE", help="Argument of the models that are served.")
@click.option("--limit", type=click.IntRange(1), help="First samples of each subset only.")
@click.option("--max-connections", type=click.IntRange(1), help="Requests at once to each model.")
@click.option("--max-samples", type=click.IntRange(1), help="Episodes at once in each benchmark.")
@click.option("--retry-on-error", type=click.IntRange(0), help="Times that a failed sample is played again at once.")
@click.option("--dry-run", is_flag=True, help="Say what would be played, and what is missing; start nothing.")
@click.option("--display", type=click.Choice(["full", "conversation", "rich", "plain", "log", "none"]))
def evaluate(
    config: Path | None,
    models: tuple[str, ...],
    benchmarks: tuple[str, ...],
    pairs: tuple[str, ...],
    model_pairs: tuple[str, ...],
    dry_run: bool,
    display: str | None,
    **given: Any,
) -> None:
    """Evaluate models on benchmarks and print the table.

    Exits with 2 if something is missing, before anything is played; with 1 if a task was not completed.
    """
    # Importing the registry makes our tasks and model providers known to Inspect.
    from benchmarks.matrix import evaluate as play
    from benchmarks.matrix import merged, plan, read_matrix
    from envscaler import _registry

    options = {
        **given,
        "models": models,
        "benchmarks": benchmarks,
        "parameters": _by_benchmark(pairs),
        "model_args": parameters(model_pairs),
    }
    matrix = merged(read_matrix(config) if config else {}, options)
    found = plan(matrix)
    if dry_run:
        click.echo(_told(matrix, found))
    if found.missing:
        raise BadInput("; ".join(found.missing))
    if dry_run:
        return
    for warning in found.warnings:
        click.echo(f"envscaler: {warning}", err=True)
    done = play(matrix, lambda name, **values: getattr(_registry, name)(**values), display)
    click.echo(_table(matrix.logs))
    raise SystemExit(0 if done else 1)


def _by_benchmark(pairs: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    from benchmarks.registry import get

    found: dict[str, dict[str, Any]] = {}
    for name, value in parameters(pairs).items():
        benchmark, dot, parameter = name.partition(".")
        if not dot or not parameter:
            raise BadInput(f"-T {name}: must be BENCHMARK.NAME=VALUE")
        found.setdefault(get(benchmark).name, {})[parameter] = value
    return found


def _told(matrix: Matrix, found: Plan) -> str:
    """The plan as text."""
    from tabulate import tabulate

    rows = [
        [
            planned.benchmark,
            planned.version,
            f"{planned.protocol} {' '.join(f'{key}={value}' for key, value in planned.parameters.items())}".strip(),
            planned.samples,
            planned.runs,
            planned.episodes,
            "-" if planned.expected is None else f"{planned.expected:,}",
            f"{planned.most:,}",
            "yes" if planned.simulates_user else "",
        ]
        for planned in found.planned
    ]
    headers = ["benchmark", "version", "protocol", "samples", "runs", "episodes", "calls", "at most", "user"]
    models = len(matrix.models)
    episodes = models * sum(planned.episodes for planned in found.planned)
    calls = models * sum(planned.expected or 0 for planned in found.planned)
    most = models * sum(planned.most for planned in found.planned)
    return "\n".join(
        [
            tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True),
            "",
            f"models: {', '.join(matrix.models)}; user: {matrix.user or 'none'}; logs: {matrix.logs}",
            f"in all {episodes:,} episodes; about {calls:,} agent calls (as many as the oracles take), at most "
            f"{most:,}; a simulated user answers at most once a call",
            *(f"note: {warning}" for warning in found.warnings),
            *(f"missing: {sentence}" for sentence in found.missing),
        ]
    )


def _table(logs: str) -> str:
    from results.provenance import provenance, remarks
    from results.read import read
    from results.render import render
    from results.table import lines

    found = read(logs)
    table = lines(found)
    origin = provenance(found, command_line(), __version__)
    return render(table, "terminal", [*found.notes, *remarks(found, table)], provenance=origin)
