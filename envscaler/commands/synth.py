"""`envscaler synth`: environments from task texts, their inspection, scenarios in them, and what a run yielded."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from envscaler.commands import door
from envscaler.commands.door import BadInput, Number

if TYPE_CHECKING:
    from types import ModuleType

    from envscaler.scengenerator.pipeline import Settings as ScenarioSettings
    from envscaler.skelbuilder.pipeline import Settings
    from envscaler.synthesis.desk import Desk
    from envscaler.synthesis.folder import Ended, Progress
    from harness.isolation import IsolatedRunner

F = TypeVar("F", bound=Callable[..., Any])


@click.group()
def synth() -> None:
    """Synthesize environments from task texts and scenarios in environments, inspect environments, report yields."""


def _options(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator."""

    def apply(command: F) -> F:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return apply


_MODELS = _options(
    click.option("--model", help="Model of every role that is not named, as for inspect eval."),
    click.option("--model-role", "roles", multiple=True, metavar="ROLE=MODEL", help="planner, coder, tester, checker."),
    click.option("-M", "model_args", multiple=True, metavar="NAME=VALUE", help="Argument of --model."),
    click.option("--price", "prices", multiple=True, metavar="MODEL=IN,OUT", help="USD per million tokens."),
    click.option("--concurrency", default=8, show_default=True, type=click.IntRange(1), help="Calls in flight."),
    click.option("--tries", default=3, show_default=True, type=click.IntRange(1), help="Answers asked for a question."),
    click.option("--budget-calls", type=click.IntRange(0), help="Stop after so many calls, earlier runs included."),
    click.option("--budget-usd", type=Number(0), help="Stop once so much is spent."),
    click.option("--structured/--no-structured", default=True, help="Send JSON schemas where a model takes them."),
)
_INSPECTION = _options(
    click.option("--rounds", default=100, show_default=True, type=click.IntRange(1), help="Calls an environment."),
    click.option("--least-per-tool", default=2, show_default=True, type=click.IntRange(0)),
    click.option("--threshold", default=0.85, show_default=True, type=Number(0, 1), help="Least pass rate."),
    click.option(
        "--counting",
        type=click.Choice(["strict", "release"]),
        default="strict",
        show_default=True,
        help="release: warnings count as passes.",
    ),
)


@synth.command()
@click.argument("tasks", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--to", "folder", required=True, type=click.Path(path_type=Path), help="Folder of the run; it resumes.")
@click.option("--field", help="Field that holds the task text.")
@click.option("--language", type=click.Choice(["en", "any"]), default="en", show_default=True)
@click.option("--least-usefulness", default=7, show_default=True, type=click.IntRange(1, 10))
@click.option("--least-modelability", default=7, show_default=True, type=click.IntRange(1, 10))
@click.option("--most-alike", default=0.6, show_default=True, help="Cosine from which two topics count as one.")
@click.option("--clusters", type=click.IntRange(1), help="Choose so many topics by k-means.")
@click.option(
    "--embeddings",
    type=click.Choice(["ngrams", "endpoint", "sentence-transformers"]),
    default="ngrams",
    show_default=True,
    help="ngrams needs no model and no network.",
)
@click.option("--embedding-model", help="Name of the model of --embeddings.")
@click.option("--embedding-url", help="OpenAI-compatible endpoint of --embeddings endpoint.")
@click.option("--most-topics", type=click.IntRange(1), help="Environments to build at most.")
@click.option("--revisions", default=3, show_default=True, type=click.IntRange(0), help="Repairs the gate may ask for.")
@_INSPECTION
@_MODELS
def skeletons(tasks: tuple[Path, ...], folder: Path, field: str | None, **options: Any) -> None:
    """Build environments from task texts: mine, select, plan, program, inspect.

    TASKS are files: JSON lines, JSON, CSV, or one text a line. Run again with the same folder to go on where it
    stopped: no answered question is asked again. Exits with 1 if something is left unfinished.
    """
    from envscaler.skelbuilder.pipeline import Pipeline
    from envscaler.skelbuilder.texts import read_texts

    texts = read_texts(list(tasks), field)
    settings = _settings(options)

    async def work(desk: Desk, runner: IsolatedRunner, progress: Progress | None) -> Ended:
        return await Pipeline(folder, desk, runner, settings, progress).run(texts)

    _run(folder, options, work, "environments")


Work = Callable[["Desk", "IsolatedRunner", "Progress | None"], Awaitable["Ended"]]


def _run(folder: Path, options: dict[str, Any], work: Work, made: str, source: str = "") -> None:
    """Do the work of a run with its models, journal and budget; write its ledger; print its report.

    Args:
        made: What the corpus gains, as a plural.
        source: The corpus that is read, if one is.
    """
    import asyncio

    from envscaler.synthesis.desk import Desk, Limits
    from envscaler.synthesis.folder import CORPUS, JOURNAL, check_folder
    from envscaler.synthesis.journal import Journal
    from envscaler.synthesis.models import InspectModels, bind_roles
    from harness.files import replacing
    from harness.isolation import IsolatedRunner

    check_folder(folder, source)
    prices = _prices(options["prices"])
    names = bind_roles(options["model"], options["roles"], door.parameters(options["model_args"]))
    limits = Limits(
        concurrency=options["concurrency"],
        tries=options["tries"],
        budget_calls=options["budget_calls"],
        budget_usd=options["budget_usd"],
    )
    models = InspectModels(prices, concurrency=limits.concurrency, structured=options["structured"])
    try:
        journal = Journal(folder / JOURNAL)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error.strerror or error}") from error
    with IsolatedRunner() as runner, _progress() as progress:

        async def run() -> Ended:
            return await work(Desk(models, names, journal, limits), runner, progress)

        try:
            ended = asyncio.run(run())
        finally:
            journal.close()
    reports = _reports(folder)
    found = reports.report(folder)
    with replacing(folder / "ledger.json") as file:
        file.write(json.dumps(reports.record(found), indent=1, ensure_ascii=False).encode() + b"\n")
    click.echo(reports.table(found))
    click.echo(f"\n{folder / CORPUS}: {ended.kept} {made}")
    if ended.unfinished:
        click.echo(f"{ended.unfinished} unfinished ({ended.reason}); run the same command again to go on", err=True)
        raise SystemExit(1)


def _reports(folder: Path) -> ModuleType:
    """The module that reports the run in a folder."""
    from envscaler.scengenerator import report as scenarios
    from envscaler.skelbuilder import report as skeletons
    from harness.errors import DataError

    for reports in (skeletons, scenarios):
        if (folder / f"{reports.FIRST}.jsonl").exists():
            return reports
    raise DataError(folder, "", "holds no run of `envscaler synth`")


@synth.command()
@click.argument("corpus")
@click.option("--to", "folder", required=True, type=click.Path(path_type=Path), help="Folder of the run; it resumes.")
@click.option("--environments", metavar="NAMES", help="Only these environment ids, with commas.")
@click.option("--per-environment", default=5, show_default=True, type=click.IntRange(1), help="Scenarios wanted.")
@click.option("--least-rows", default=3, show_default=True, type=click.IntRange(0), help="Rows of a table.")
@click.option("--most-rows", default=8, show_default=True, type=click.IntRange(1), help="Rows of a table.")
@click.option("--least-writes", default=2, show_default=True, type=click.IntRange(1), help="Changes a task takes.")
@click.option("--most-checks", default=12, show_default=True, type=click.IntRange(1), help="Checks of a scenario.")
@click.option("--kill", default=0.9, show_default=True, type=Number(0, 1), help="Mutants noticed, at least.")
@click.option("--revisions", default=3, show_default=True, type=click.IntRange(0), help="Repairs of each part.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="one for each core")
@_MODELS
def scenarios(corpus: str, folder: Path, environments: str | None, **options: Any) -> None:
    """Make scenarios in the environments of a corpus: initial state, task, oracle, checks.

    Everything is executed, and what fails goes back to the model with the evidence; only what passes the gate of
    `envscaler audit` is kept. CORPUS may be "bundled". Run again with the same folder to go on where it stopped. Exits
    with 1 if something is left unfinished.
    """
    from envscaler.scenarios import load
    from envscaler.scengenerator.pipeline import Pipeline

    found = load(corpus)
    if environments:
        found = found.select(name.strip() for name in environments.split(",") if name.strip())
    settings = _scenario_settings(options)

    async def work(desk: Desk, runner: IsolatedRunner, progress: Progress | None) -> Ended:
        return await Pipeline(folder, desk, runner, settings, progress).run(found)

    _run(folder, options, work, "scenarios", corpus)


def _scenario_settings(options: dict[str, Any]) -> ScenarioSettings:
    from dataclasses import replace

    from envscaler.audit import DEFAULT
    from envscaler.scengenerator.pipeline import Settings
    from envscaler.synthesis.shape import Size

    if options["most_rows"] < options["least_rows"]:
        raise BadInput(f"--most-rows {options['most_rows']}: is less than --least-rows {options['least_rows']}")
    return Settings(
        per_environment=options["per_environment"],
        size=Size(options["least_rows"], options["most_rows"]),
        least_writes=options["least_writes"],
        most_checks=options["most_checks"],
        revisions=options["revisions"],
        gate=replace(DEFAULT, kill=options["kill"]),
        jobs=options["jobs"],
    )


def _settings(options: dict[str, Any]) -> Settings:
    from envscaler.skelbuilder.mine import TextRules
    from envscaler.skelbuilder.pipeline import Settings
    from envscaler.skelbuilder.program import ProgramRules
    from envscaler.skelbuilder.select import SelectRules

    return Settings(
        texts=TextRules(language=options["language"]),
        select=SelectRules(
            least_usefulness=options["least_usefulness"],
            least_modelability=options["least_modelability"],
            most_alike=options["most_alike"],
            clusters=options["clusters"],
        ),
        embeddings=options["embeddings"],
        embedding_model=options["embedding_model"],
        embedding_url=options["embedding_url"],
        most_topics=options["most_topics"],
        program=ProgramRules(revisions=options["revisions"]),
        inspection=_inspection_rules(options),
    )


def _inspection_rules(options: dict[str, Any]) -> Any:
    from envscaler.skelbuilder.inspection import InspectionRules

    return InspectionRules(
        rounds=options["rounds"],
        least_per_tool=options["least_per_tool"],
        threshold=options["threshold"],
        counting=options["counting"],
    )


def _prices(options: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    prices = {}
    for option in options:
        model, _, figures = option.rpartition("=")
        try:
            per_in, per_out = (float(figure) for figure in figures.split(","))
        except ValueError:
            raise BadInput(f"--price {option}: must be MODEL=IN,OUT, in USD per million tokens") from None
        if not model or not (0 <= per_in < math.inf and 0 <= per_out < math.inf):
            raise BadInput(f"--price {option}: must be MODEL=IN,OUT, in USD per million tokens")
        prices[model] = (per_in, per_out)
    return prices


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """Bars on a terminal, nothing elsewhere."""
    import sys

    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True)) as bars:
        known: dict[str, Any] = {}

        def told(stage: str, done: int, total: int) -> None:
            if stage not in known:
                known[stage] = bars.add_task(stage, total=total)
            bars.update(known[stage], completed=done)

        yield told


@synth.command("report")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Write the yield as an SVG picture.")
@click.option("--json", "as_json", is_flag=True, help="Print the ledger as JSON instead.")
def report_command(folder: Path, picture: Path | None, as_json: bool) -> None:
    """Print what a run yielded stage by stage, why things fell out, and what it cost."""
    from envscaler.synthesis.ledger import plot
    from harness.files import replacing

    reports = _reports(folder)
    found = reports.report(folder)
    if picture is not None:
        if picture.suffix.lower() != ".svg":
            raise BadInput(f"--plot {picture}: must end in .svg")
        try:
            with replacing(picture) as file:
                file.write(plot(found.steps).encode())
        except OSError as error:
            raise BadInput(f"--plot {picture}: cannot be written: {error.strerror or error}") from error
    click.echo(json.dumps(reports.record(found), indent=1, ensure_ascii=False) if as_json else reports.table(found))


@synth.command("inspect")
@click.argument("corpus", default="bundled")
@click.option("--gate-only", is_flag=True, help="Only what can be read off the sources; nothing is run.")
@click.option("--findings/--no-findings", default=False, help="Also print every finding of the gate and failed round.")
@_INSPECTION
def inspect_command(corpus: str, gate_only: bool, findings: bool, **options: Any) -> None:
    """Send the environments of a corpus through the gate and a scripted inspection, without any model.

    Environments are inspected from the state of their first scenario; those without one go through the gate only.
    For an inspection by models: inspect eval envscaler/environment_quality.
    """
    from tabulate import tabulate

    from envscaler.skelbuilder.survey import survey

    rows = []
    for line in survey(corpus, _inspection_rules(options), run=not gate_only):
        rows.append((line.env_id, line.tools, line.gate, line.rate, line.fate))
        if findings:
            for text in line.details:
                click.echo(f"{line.env_id}: {text}")
    click.echo(tabulate(rows, headers=("environment", "tools", "gate", "pass rate", "fate"), tablefmt="simple"))
