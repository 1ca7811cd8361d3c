"""The front door: `envscaler`. Rooms raise, the door prints; bad input is one sentence and exit code 2."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from envscaler import __version__
from envscaler.commands import door
from envscaler.commands.audit import audit
from envscaler.commands.collect import collect
from envscaler.commands.corpus_report import duplicates, stats
from envscaler.commands.door import Door
from envscaler.commands.evaluate import evaluate
from envscaler.commands.export import export
from envscaler.commands.results import results
from envscaler.commands.serve import serve
from envscaler.commands.synth import synth
from envscaler.commands.train import train

if TYPE_CHECKING:
    from envscaler.scenarios import Corpus


@click.group(cls=Door, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="envscaler")
def main() -> None:
    """Evaluate, synthesize for, and train tool-using agents in executable, stateful environments."""


main.add_command(results)
main.add_command(evaluate)
main.add_command(audit)
main.add_command(collect)
main.add_command(synth)
main.add_command(serve)
main.add_command(train)
train.add_command(export)


@main.command()
@click.argument("benchmark")
@click.argument("file")
@click.option("-T", "parameters", multiple=True, metavar="NAME=VALUE", help="Task parameter, as for inspect eval.")
@click.option("--compare", is_flag=True, help="Also print where recorded tool messages differ from the observations.")
def replay(benchmark: str, file: str, parameters: tuple[str, ...], compare: bool) -> None:
    """Play recorded trajectories again and print one JSON line each.

    FILE holds one trajectory a line (keys sample_id and messages; more are allowed), may be gzipped, and may be "-".
    """
    from benchmarks.replay import replay_file

    for line in replay_file(benchmark, file, door.parameters(parameters), compare=compare):
        sys.stdout.write(json.dumps(line, ensure_ascii=True, allow_nan=False) + "\n")


@main.command()
@click.option("--attacks", type=click.Path(path_type=Path), help="Run a list of attacks (JSON lines) instead.")
def doctor(attacks: Path | None) -> None:
    """Tell what this machine supports, and run the self-test of isolation. Exits with 1 if it does not hold.

    With --attacks, run each attack of a list on a throw-away environment and print one JSON line each; exits with 1 if
    one got through.
    """
    from harness.isolation import load_attacks, run_attacks, support

    if attacks is None:
        report = support()
        refused = [
            f"{name.replace('_', ' ')} {'refused' if held else 'NOT REFUSED'}" for name, held in report.probes.items()
        ]
        click.echo(f"system     {report.system}, {report.machine}")
        click.echo(f"python     {report.python}")
        click.echo(f"landlock   {f'ABI {report.landlock}' if report.landlock else 'none'}")
        click.echo(f"seccomp    {'holds' if report.seccomp else 'does not hold'}")
        click.echo(f"self-test  {', '.join(refused) or 'not run'} ({report.seconds * 1000:.0f} ms)")
        click.echo(f"level      {report.level or 'none'}")
        if report.problem:
            click.echo(f"problem    {report.problem}")
        raise SystemExit(0 if report.isolated else 1)
    held = True
    for result in run_attacks(load_attacks(attacks)):
        held = held and result.held
        click.echo(json.dumps(dataclasses.asdict(result)))
    raise SystemExit(0 if held else 1)


@main.group()
def data() -> None:
    """Fetch third-party benchmark data into the cache."""


@data.command("list")
def data_list() -> None:
    """Name every artifact, and where it lies."""
    from benchmarks.artifacts import artifacts
    from harness.artifacts import MissingData, find

    for artifact in artifacts():
        try:
            place = str(find(artifact.name))
        except MissingData:
            place = "not here"
        click.echo(f"{artifact.name}\t{place}\t{artifact.source}\t{artifact.licence}")


@data.command("pull")
@click.argument("name")
@click.option("--from", "source", help="A local checkout, an archive, or a URL instead of the pinned source.")
def data_pull(name: str, source: str | None) -> None:
    """Fetch one artifact, check it, and put it into the cache."""
    from benchmarks.artifacts import pull

    click.echo(f"{name}: {pull(name, source)}")


@main.group()
def corpus() -> None:
    """Environments and scenarios on disk: import, export, look at, validate."""


corpus.add_command(stats)
corpus.add_command(duplicates)


@corpus.command("import")
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--to", "folder", required=True, type=click.Path(path_type=Path), help="New folder of the corpus.")
@click.option("--packed", is_flag=True, help="Write JSON lines instead of one folder an environment.")
def corpus_import(sources: tuple[Path, ...], folder: Path, packed: bool) -> None:
    """Read files or folders of the public release (either form) or of ours, and write one corpus."""
    from envscaler.scenarios import read

    found = read(sources)
    _write(found, folder, "packed" if packed else "unpacked")
    click.echo(f"{folder}: {len(found.environments)} environments, {len(found.scenarios)} scenarios")


@corpus.command("export")
@click.argument("source")
@click.option("--to", "folder", required=True, type=click.Path(path_type=Path), help="New folder for the files.")
@click.option("--form", type=click.Choice(["github", "hub", "packed", "unpacked"]), default="packed", show_default=True)
def corpus_export(source: str, folder: Path, form: str) -> None:
    """Write a corpus in another form: the release's (github, hub), packed, or unpacked. SOURCE may be "bundled"."""
    from envscaler.scenarios import load

    found = load(source)
    _write(found, folder, form)
    click.echo(f"{folder}: {len(found.environments)} environments, {len(found.scenarios)} scenarios")


@corpus.command("list")
@click.argument("source", default="bundled")
def corpus_list(source: str) -> None:
    """List a corpus: environments with their counts."""
    from tabulate import tabulate

    from envscaler.scenarios import load

    found = load(source)
    rows = []
    for environment in found.environments.values():
        scenarios = [scenario for scenario in found.scenarios.values() if scenario.env_id == environment.id]
        checks = sum(len(scenario.checks) for scenario in scenarios)
        tools = len(environment.own_tools)
        rows.append((environment.id, environment.title, tools, len(environment.rules), len(scenarios), checks))
    click.echo(tabulate(rows, headers=("id", "title", "tools", "rules", "scenarios", "checks"), tablefmt="simple"))


@corpus.command("show")
@click.argument("record_id")
@click.option("--corpus", "source", default="bundled", show_default=True)
@click.option("--source", "code", is_flag=True, help="Print the environment's source instead.")
def corpus_show(record_id: str, source: str, code: bool) -> None:
    """Show one environment or one scenario, by id."""
    from envscaler.scenarios import load
    from envscaler.scenarios.records import write_own_scenario
    from harness.errors import SettingError, near_miss

    found = load(source)
    if record_id in found.scenarios:
        click.echo(json.dumps(write_own_scenario(found.scenarios[record_id]), ensure_ascii=False, indent=1))
        return
    if record_id not in found.environments:
        known = [*found.environments, *found.scenarios]
        raise SettingError(f"no environment and no scenario '{record_id}'; {near_miss(record_id, known)}")
    environment = found.environments[record_id]
    if code:
        click.echo(environment.source)
        return
    tools = environment.own_tools
    click.echo(f"{environment.id}: {environment.title}\n\n{environment.description}\n\nRules:")
    for rule in environment.rules:
        click.echo(f"- {rule}")
    click.echo("\nTools:")
    for tool in tools:
        names = ", ".join(tool.parameters["properties"])
        click.echo(f"- {tool.name}({names}): {tool.description.splitlines()[0] if tool.description else ''}")
    scenarios = [scenario.task_id for scenario in found.scenarios.values() if scenario.env_id == record_id]
    click.echo(f"\nScenarios: {', '.join(scenarios)}")


@corpus.command("validate")
@click.argument("source", default="bundled")
@click.option("--notes/--no-notes", default=False, help="Also print what is no error, such as checks true at start.")
@click.option("--level", default="isolated", show_default=True, help="isolated, process, or trusted (bundled only).")
def corpus_validate(source: str, notes: bool, level: str) -> None:
    """Check a corpus: files, tools, checks, oracle. Its code runs at --level. Exits with 2 if there is an error."""
    from benchmarks.scenarios import runner_at
    from envscaler.scenarios import load
    from envscaler.scenarios.validate import validate

    found = load(source)
    runner = runner_at(level, found)
    counts = dict.fromkeys(("error", "note"), 0)
    for finding in validate(found, runner):
        counts[finding.severity] += 1
        if finding.severity == "error" or notes:
            click.echo(f"{finding.file}: {finding.severity}: {finding}")
    size = f"{len(found.environments)} environments, {len(found.scenarios)} scenarios"
    click.echo(f"{source}: {size}; {counts['error']} errors, {counts['note']} notes")
    if counts["error"]:
        raise SystemExit(2)


def _write(corpus: Corpus, folder: Path, form: str) -> None:
    """Write a corpus into a new folder: beside it first, then under its name, so that it is whole or not there."""
    from envscaler.scenarios import write_records, write_unpacked
    from envscaler.scenarios.records import Form
    from harness.files import new_folder

    with new_folder(folder) as draft:
        if form == "unpacked":
            write_unpacked(corpus, draft)
        else:
            write_records(corpus, draft, next(name for name in get_args(Form) if name == form))
