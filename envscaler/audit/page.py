"""Score cards as one HTML page that needs nothing but itself: a heat map, and the checks behind it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from envscaler.audit.card import ScenarioCard, by_environment, summary
from envscaler.audit.mutants import OPERATORS
from envscaler.audit.report import percent
from envscaler.audit.thresholds import Thresholds

_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; color: #1b1f24; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .2rem .5rem; border: 1px solid #d5d9de; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
th { background: #f3f5f7; font-weight: 600; position: sticky; top: 0; }
.head th { vertical-align: bottom; }
.head th span { writing-mode: vertical-rl; transform: rotate(180deg); }
details { margin: .3rem 0; }
summary { cursor: pointer; }
.bad { color: #a40e26; }
li { margin: .15rem 0; }
"""


def page(cards: Sequence[ScenarioCard], gate: Thresholds, title: str) -> str:
    """The page of a corpus."""
    whole = summary("all", cards, gate)
    operators = [name for name in OPERATORS if any(card.made.get(name) for card in cards)]
    told = (
        f"{whole.passed} of {whole.scenarios} scenarios pass the gate; {whole.checks} checks, "
        f"{whole.true_at_start} true at the start; doing nothing earns {whole.floor:.3f}; "
        f"{whole.killed} of {whole.mutants} mutants noticed ({percent(whole.kill)}); {whole.false_fails} false fails."
    )
    rows = []
    for found in by_environment(cards, gate):
        own = [card for card in cards if card.env_id == found.name]
        rows.append(f"<tr><th colspan={len(operators) + 6}>{escape(found.name)}: {percent(found.kill)}</th></tr>")
        rows += [_row(card, operators, gate) for card in own]
    heads = "".join(f"<th><span>{escape(name.replace('_', ' '))}</span></th>" for name in operators)
    head = (
        "<tr class=head><th>scenario</th><th>gate</th><th>oracle</th><th>no-op</th>"
        f"<th>false fails</th><th>kill</th>{heads}</tr>"
    )
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title><style>{_STYLE}</style>"
        f"<h1>{escape(title)}</h1><p>{escape(told)}</p><table>{head}{''.join(rows)}</table>"
        f"<h2>Scenarios</h2>{''.join(_details(card, gate) for card in cards)}</html>\n"
    )


def _row(card: ScenarioCard, operators: Sequence[str], gate: Thresholds) -> str:
    failed = card.failures(gate)
    cells = [
        f'<td><a href="#{escape(card.task_id, quote=True)}">{escape(card.task_id)}</a></td>',
        f"<td{' class=bad' if failed else ''}>{'fails' if failed else 'passes'}</td>",
        f"<td>{'-' if card.oracle is None else f'{card.oracle:g}'}</td>",
        _cell(f"{card.floor:.2f}", 1 - card.floor),
        f"<td>{card.false_fails}</td>",
        _cell(percent(card.kill), card.kill),
    ]
    for name in operators:
        made = card.made.get(name, 0)
        killed = card.killed.get(name, 0)
        cells.append(_cell(f"{killed}/{made}", killed / made) if made else "<td></td>")
    return f"<tr>{''.join(cells)}</tr>"


def _cell(text: str, share: float | None) -> str:
    """A cell coloured from red (0) over yellow to green (1)."""
    if share is None:
        return f"<td>{escape(text)}</td>"
    hue = round(120 * min(1.0, max(0.0, share)) ** 2)
    return f'<td style="background:hsl({hue} 70% 80%)">{escape(text)}</td>'


def _details(card: ScenarioCard, gate: Thresholds) -> str:
    failed = "".join(f"<li class=bad>{escape(sentence)}</li>" for sentence in card.failures(gate))
    checks = "".join(
        f"<tr><td>{escape(check.item)}</td><td>{sum(check.kills.values())}</td>"
        f"<td class=bad style='white-space:normal;text-align:left'>"
        f"{'<br>'.join(escape(f'{flag.line}: {flag.evidence}') for flag in check.flags)}</td></tr>"
        for check in card.checks
    )
    survivors = "".join(f"<li>{escape(f'{found.operator}: {found.what}')}</li>" for found in card.survivors)
    return (
        f'<details id="{escape(card.task_id, quote=True)}"><summary>{escape(card.task_id)}: kill {percent(card.kill)}, '
        f"{len(card.survivors)} survivors</summary><ul>{failed}</ul>"
        f"<table><tr><th>check</th><th>mutants noticed</th><th>flags</th></tr>{checks}</table>"
        f"<ul>{survivors}</ul></details>"
    )
