"""`envscaler corpus stats` and `envscaler corpus duplicates`."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from envscaler.commands.door import Number

if TYPE_CHECKING:
    from envscaler.corpus_report import Figure, Overlap, Overlaps, StatePair, StateSummary
    from envscaler.scenarios import Corpus

FORMATS = ("terminal", "markdown", "json")
MOST = 20
"""Pairs that are printed; JSON has all."""
PASSAGE = 160
"""Characters of a shared passage that are printed; JSON has it whole."""


@click.command("stats")
@click.argument("source", default="bundled")
@click.option("--trajectories", "places", multiple=True, type=click.Path(path_type=Path), help="Also steps in these.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="terminal", show_default=True)
def stats(source: str, places: tuple[Path, ...], form: str) -> None:
    """A corpus in figures: tools, rules, state, scenarios, checks, steps. SOURCE may be "bundled".

    With --trajectories, a folder of logs or a file of trajectories: steps of what was played, by setting.
    """
    from envscaler.corpus_report import corpus_figures
    from envscaler.scenarios import load

    found = load(source)
    figures = [*corpus_figures(found), *_played(places)]
    if form == "json":
        size = {"environments": len(found.environments), "scenarios": len(found.scenarios)}
        told = {"corpus": source, **size, "figures": [figure.record() for figure in figures]}
        click.echo(json.dumps(told, indent=1))
        return
    rows = [[_shown(value) for value in figure.record().values()] for figure in figures]
    click.echo(_table(["figure", "of", "n", "mean", "median", "min", "max"], rows, 2, form))


def _played(places: Sequence[Path]) -> list[Figure]:
    if not places:
        return []
    from envscaler.corpus_report import Figure
    from envscaler.scenarios import SETTINGS
    from training.collection import sources

    steps: dict[str, list[float]] = {setting: [] for setting in SETTINGS}
    for candidate in sources(places).candidates:
        if candidate.fault is None:
            steps[candidate.setting].append(candidate.steps)
    return [Figure(f"steps, {setting}", "trajectory", values) for setting, values in steps.items()]


@click.command("duplicates")
@click.argument("source", default="bundled")
@click.option(
    "--against",
    default="bfcl,tau_bench,acebench",
    show_default=True,
    metavar="NAMES",
    help="Published benchmarks whose task texts are looked for; empty for none.",
)
@click.option("--threshold", type=Number(0, 1, min_open=True), default=0.5, show_default=True)
@click.option("--states", type=Number(0, 1), default=0.8, show_default=True, help="Threshold of states.")
@click.option("--words", type=click.IntRange(1), default=5, show_default=True, help="Words of an n-gram.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="terminal", show_default=True)
def duplicates(source: str, against: str, threshold: float, states: float, words: int, form: str) -> None:
    """Tasks and initial states that are told twice, and tasks of published benchmarks in the corpus.

    Texts are compared by their word n-grams: shared ones by those of the shorter text.
    """
    from envscaler.corpus_report import near_duplicates, overlaps, state_pairs, state_summaries, tasks
    from envscaler.scenarios import load

    found = load(source)
    own = tasks(found, words)
    others, looked_at = _published(against, words)
    alike = state_pairs(found)
    report = _Report(
        corpus=found,
        threshold=threshold,
        states_threshold=states,
        words=words,
        tasks=near_duplicates(own, threshold),
        benchmarks=looked_at,
        contamination=overlaps(own, others, threshold),
        summaries=state_summaries(found, alike),
        states=[pair for pair in alike if pair.jaccard >= states],
    )
    click.echo(json.dumps(report.record(), ensure_ascii=False, indent=1) if form == "json" else report.text(form))


def _published(against: str, words: int) -> tuple[list[Any], dict[str, str]]:
    """The tasks of benchmarks, and for each what was looked at, or why it was not."""
    from benchmarks.texts import published, task_texts
    from envscaler.corpus_report import Text
    from harness.artifacts import MissingData

    texts: list[Text] = []
    looked_at: dict[str, str] = {}
    for name in dict.fromkeys(published(part.strip()) for part in against.split(",") if part.strip()):
        try:
            found = task_texts(name)
        except MissingData as missing:
            looked_at[name] = f"not looked at: {missing}"
            continue
        texts += [Text(sample, text, words) for sample, text in found.items()]
        looked_at[name] = f"{len(found):,} tasks"
    return texts, looked_at


@dataclasses.dataclass(frozen=True, slots=True)
class _Report:
    corpus: Corpus
    threshold: float
    states_threshold: float
    words: int
    tasks: Overlaps
    benchmarks: dict[str, str]
    contamination: Overlaps
    summaries: Sequence[StateSummary]
    states: Sequence[StatePair]

    def record(self) -> dict[str, Any]:
        plain = {"threshold": self.threshold, "states_threshold": self.states_threshold, "words": self.words}
        return {
            **plain,
            "scenarios": len(self.corpus.scenarios),
            "tasks": dataclasses.asdict(self.tasks),
            "benchmarks": self.benchmarks,
            "contamination": dataclasses.asdict(self.contamination),
            "environments": [dataclasses.asdict(one) for one in self.summaries],
            "states": [dataclasses.asdict(one) for one in self.states],
        }

    def text(self, form: str) -> str:
        number = len(self.corpus.scenarios)
        by = f"{self.words}-word passages, at least {self.threshold:g} of the shorter text's"
        parts = _part(f"Tasks that share {by}: {len(self.tasks.pairs):,} pairs of {number:,} tasks", self.tasks, form)
        title = f"Tasks that share {by} with a published task: {len(self.contamination.pairs):,} pairs"
        parts += _part(title, self.contamination, form)
        parts.append("\n".join(f"- {name}: {told}" for name, told in self.benchmarks.items()) or "- none looked at")
        rows = [
            [
                one.env_id,
                one.scenarios,
                one.distinct,
                "-" if one.mean is None else f"{one.mean:.2f}",
                "-" if one.closest is None else f"{one.closest.jaccard:.2f}",
                "" if one.closest is None else f"{one.closest.a}, {one.closest.b}",
            ]
            for one in self.summaries
        ]
        parts.append(_heading("Initial states: values that two scenarios of an environment have in common", form))
        headers = ["environment", "scenarios", "distinct", "mean", "closest", "the closest two"]
        parts.append(_table(headers, rows, 1, form, last=True))
        pairs = f"{len(self.states):,} pairs of initial states share at least {self.states_threshold:g} of their values"
        told = [
            f"- {pair.jaccard:.2f} {pair.a}, {pair.b}: {pair.shared:,} values the same, {pair.different:,} not"
            for pair in self.states[:MOST]
        ]
        parts.append("\n".join([pairs, *told, *_more(self.states)]))
        return "\n\n".join(parts)


def _part(title: str, found: Overlaps, form: str) -> list[str]:
    lines = [f"- {_pair(pair)}" for pair in found.pairs[:MOST]] + _more(found.pairs)
    if not lines:
        lines = [f"the closest: {_pair(found.closest)}" if found.closest else "no two share a passage"]
    return [_heading(title, form), "\n".join(lines)]


def _pair(pair: Overlap) -> str:
    passage = pair.shared if len(pair.shared) <= PASSAGE else pair.shared[:PASSAGE].rstrip() + " ..."
    return f'{pair.containment:.2f} (Jaccard {pair.jaccard:.2f}) {pair.a}, {pair.b}: "{passage}"'


def _more(pairs: Sequence[Any]) -> list[str]:
    return [f"- and {len(pairs) - MOST:,} more; JSON lists them all"] if len(pairs) > MOST else []


def _heading(title: str, form: str) -> str:
    return f"## {title}" if form == "markdown" else title


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _table(headers: list[str], rows: Sequence[Sequence[Any]], left: int, form: str, *, last: bool = False) -> str:
    from tabulate import tabulate

    align = ["left"] * left + ["right"] * (len(headers) - left)
    if last:
        align[-1] = "left"
    style = "github" if form == "markdown" else "simple"
    return tabulate(rows, headers=headers, tablefmt=style, colalign=align if rows else None, disable_numparse=True)
