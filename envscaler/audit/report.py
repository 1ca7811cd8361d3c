"""Score cards as text: terminal, Markdown, JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
from tabulate import tabulate

from envscaler.audit.card import LINES, ScenarioCard, Summary, by_environment, summary
from envscaler.audit.mutants import OPERATORS
from envscaler.audit.thresholds import Thresholds

_HEADERS = (
    "environment",
    "scenarios",
    "pass",
    "checks",
    "true at start",
    "no-op",
    "random",
    "oracles",
    "mutants",
    "kill",
    "median kill",
    "false fails",
    "unguarded",
    "flagged checks",
)
MOST_LISTED = 40
"""Lines of one list in a text; JSON has all."""


def text(cards: Sequence[ScenarioCard], gate: Thresholds, *, form: str = "terminal", details: bool = False) -> str:
    """The card of a corpus.

    Args:
        form: `terminal` or `markdown`.
        details: A line for each scenario, and every survivor.
    """
    markdown = form == "markdown"
    style = "github" if markdown else "simple"
    environments = by_environment(cards, gate)
    rows = [_row(found) for found in [*environments, summary("all", cards, gate)]]
    parts = [tabulate(rows, headers=_HEADERS, tablefmt=style, disable_numparse=True)]
    parts.append(_heading("Mutants noticed, by operator", markdown))
    parts.append(tabulate(_operators(cards), headers=("operator", "noticed", "made", "share"), tablefmt=style))
    if details:
        parts.append(_heading("Scenarios", markdown))
        headers = ("scenario", "oracle", "no-op", "random", "mutants", "kill", "false fails", "seconds")
        parts.append(tabulate([_line(card) for card in cards], headers=headers, tablefmt=style, disable_numparse=True))
        parts += _list(
            "Survivors", [f"{c.task_id}: {s.operator}: {s.what}" for c in cards for s in c.survivors], markdown
        )
    flags = [
        f"{card.task_id} check {index}: {flag.line}: {flag.evidence} ({check.item})"
        for card in cards
        for index, check in enumerate(card.checks)
        for flag in check.flags
    ]
    counts = Counter(flag.line for card in cards for check in card.checks for flag in check.flags)
    told = ", ".join(f"{line} {counts[line]}" for line in LINES if counts[line])
    parts += _list(f"Flagged checks ({told})" if told else "Flagged checks", flags, markdown)
    failed = [f"{card.task_id}: {sentence}" for card in cards for sentence in card.failures(gate)]
    parts += _list("Gate", failed, markdown)
    passed = sum(not card.failures(gate) for card in cards)
    parts.append(f"{passed} of {len(cards)} scenarios pass the gate")
    return "\n\n".join(parts)


def _heading(title: str, markdown: bool) -> str:
    return f"## {title}" if markdown else title


def _list(title: str, lines: Sequence[str], markdown: bool) -> list[str]:
    if not lines:
        return []
    shown = [f"- {line}" for line in lines[:MOST_LISTED]]
    if len(lines) > MOST_LISTED:
        shown.append(f"- and {len(lines) - MOST_LISTED} more; JSON lists them all")
    return [_heading(title, markdown), "\n".join(shown)]


def percent(value: float | None) -> str:
    """A share for people."""
    return "-" if value is None else f"{100 * value:.1f} %"


def _row(found: Summary) -> list[str]:
    return [
        found.name,
        str(found.scenarios),
        str(found.passed),
        str(found.checks),
        f"{found.true_at_start} ({percent(found.true_at_start / found.checks if found.checks else None)})",
        f"{found.floor:.3f}",
        f"{found.random:.3f}",
        str(found.oracles),
        str(found.mutants),
        percent(found.kill),
        percent(found.median_kill),
        str(found.false_fails),
        str(found.unguarded),
        str(found.flagged),
    ]


def _operators(cards: Sequence[ScenarioCard]) -> list[tuple[str, int, int, str]]:
    made: Counter[str] = Counter()
    killed: Counter[str] = Counter()
    for card in cards:
        made.update(card.made)
        killed.update(card.killed)
    return [(name, killed[name], made[name], percent(killed[name] / made[name])) for name in OPERATORS if made[name]]


def _line(card: ScenarioCard) -> list[str]:
    oracle = "-" if card.oracle is None else f"{card.oracle:g}"
    if card.oracle is None and card.reached is not None:
        oracle = f"- (search: {card.reached:.2f})"
    drawn = " ".join(f"{value:.2f}" for value in card.random)
    figures = [f"{card.floor:.3f}", drawn, str(card.mutants), percent(card.kill), str(card.false_fails)]
    return [card.task_id, (card.fault and "fault") or oracle, *figures, f"{card.seconds:.1f}"]


def record(cards: Sequence[ScenarioCard], gate: Thresholds) -> dict[str, Any]:
    """Everything, as plain JSON values."""
    whole = summary("all", cards, gate)
    return {
        "gate": msgspec.to_builtins(gate),
        "corpus": {**msgspec.to_builtins(whole), "kill": whole.kill},
        "environments": [{**msgspec.to_builtins(found), "kill": found.kill} for found in by_environment(cards, gate)],
        "scenarios": [
            {**msgspec.to_builtins(card), "kill": card.kill, "mutants": card.mutants, "failures": card.failures(gate)}
            for card in cards
        ],
    }
