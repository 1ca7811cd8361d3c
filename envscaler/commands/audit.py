"""`envscaler audit`: how good are the checks of a corpus?"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from envscaler.commands.door import BadInput, Number

if TYPE_CHECKING:
    from envscaler.audit.card import ScenarioCard
    from envscaler.audit.thresholds import Thresholds
    from envscaler.scenarios import Corpus

FORMATS = ("terminal", "markdown", "json", "html")


@click.command()
@click.argument("corpus")
@click.option("--environments", metavar="NAMES", help="Only these environment ids, with commas.")
@click.option("--scenarios", metavar="NAMES", help="Only these task ids, with commas.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="terminal", show_default=True)
@click.option("--details", is_flag=True, help="Also a line for each scenario, and every survivor.")
@click.option("--to", "folder", type=click.Path(path_type=Path), help="Folder for all formats and for resuming.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="one for each core")
@click.option("--level", default="isolated", show_default=True, help="isolated, process, or trusted (bundled only).")
@click.option("--search", type=click.IntRange(0), default=0, show_default=True, help="Calls to look for an oracle.")
@click.option("--imported", is_flag=True, help="A corpus without oracles: report, and ask only for determinism.")
@click.option("--kill", type=Number(0, 1), help="Least share of mutants noticed.  [default: 0.9]")
@click.option("--fix", type=click.Path(path_type=Path), help="Write proposed repairs into this new file (JSON).")
@click.option("--write", is_flag=True, help="Write the figures into the corpus: audit of scenarios, quality.")
def audit(
    corpus: str,
    environments: str | None,
    scenarios: str | None,
    form: str,
    details: bool,
    folder: Path | None,
    jobs: int,
    level: str,
    search: int,
    imported: bool,
    kill: float | None,
    fix: Path | None,
    write: bool,
) -> None:
    """Audit the checks of a corpus in any form, or of the bundled one. Exits with 1 if the gate fails.

    Each scenario is played: its oracle, wrong states near the oracle's, harmless variants of it, nothing, random calls.
    """
    from envscaler.audit import DEFAULT, IMPORTED, Effort
    from envscaler.audit.run import audit_corpus
    from envscaler.scenarios import load

    found = _chosen(load(corpus), environments, scenarios)
    gate = IMPORTED if imported else DEFAULT
    if kill is not None:
        gate = replace(gate, kill=kill)
    if fix is not None and fix.exists():
        raise BadInput(f"{fix}: exists; name a new file")
    try:
        cards = audit_corpus(
            found,
            level=level,
            jobs=jobs,
            effort=Effort(search=search),
            gate=gate,
            journal=None if folder is None else folder / "cards.jsonl",
            progress=_progress,
        )
        click.echo(_told(cards, gate, form, details, corpus))
        if folder is not None:
            _write_all(folder, cards, gate, corpus)
        if fix is not None:
            _propose(found, cards, level, fix)
        if write:
            _record(found, cards, gate)
    except OSError as error:
        raise BadInput(f"{error.filename or folder}: cannot be written: {error.strerror or error}") from error
    raise SystemExit(1 if any(card.failures(gate) for card in cards) else 0)


def _chosen(corpus: Corpus, environments: str | None, scenarios: str | None) -> Corpus:
    from envscaler.scenarios import Corpus as Chosen
    from harness.errors import SettingError, near_miss

    if environments:
        corpus = corpus.select(name.strip() for name in environments.split(",") if name.strip())
    if scenarios:
        names = [name.strip() for name in scenarios.split(",") if name.strip()]
        for name in names:
            if name not in corpus.scenarios:
                raise SettingError(f"no scenario '{name}'; {near_miss(name, list(corpus.scenarios))}")
        corpus = Chosen(corpus.environments, {name: corpus.scenarios[name] for name in names})
    if not corpus.scenarios:
        raise SettingError("no scenarios to audit")
    return corpus


def _progress(card: ScenarioCard, done: int, of: int) -> None:
    kill = "-" if card.kill is None else f"{card.kill:.1%}"
    click.echo(f"[{done}/{of}] {card.task_id}: kill {kill}, {card.seconds:.1f} s", err=True)


def _told(cards: list[ScenarioCard], gate: Thresholds, form: str, details: bool, title: str) -> str:
    from envscaler.audit.page import page
    from envscaler.audit.report import record, text

    if form == "json":
        return json.dumps(record(cards, gate), ensure_ascii=False, indent=1)
    if form == "html":
        return page(cards, gate, f"Audit of {Path(title).name}")
    return text(cards, gate, form=form, details=details)


def _write_all(folder: Path, cards: list[ScenarioCard], gate: Thresholds, title: str) -> None:
    from harness.files import replacing

    for name, form in (("card.txt", "terminal"), ("card.md", "markdown"), ("card.json", "json"), ("card.html", "html")):
        with replacing(folder / name) as file:
            file.write((_told(cards, gate, form, True, title) + "\n").encode("utf-8", "surrogatepass"))
        click.echo(f"{folder / name}", err=True)


def _propose(corpus: Corpus, cards: list[ScenarioCard], level: str, path: Path) -> None:
    from envscaler.audit.fixes import proposals
    from envscaler.audit.run import runner
    from harness.files import replacing

    fixes: list[dict[str, Any]] = []
    for card in cards:
        scenario = corpus.scenarios[card.task_id]
        fixes += proposals(corpus.environments[card.env_id], scenario, card, runner(level))
    with replacing(path) as file:
        file.write((json.dumps(fixes, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "surrogatepass"))
    click.echo(f"{path}: {len(fixes)} proposals, none applied", err=True)


def _record(corpus: Corpus, cards: list[ScenarioCard], gate: Thresholds) -> None:
    from envscaler.audit.record import write

    click.echo(f"figures written into {len(write(corpus, cards, gate))} files", err=True)
