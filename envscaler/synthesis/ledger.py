"""What a run yielded and what it cost: read from its files, at any time and by any process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import msgspec

from envscaler.synthesis.folder import JOURNAL
from envscaler.synthesis.journal import Entry, read_entries
from harness.errors import DataError
from harness.files import read_bytes


@dataclass(frozen=True)
class Step:
    """One narrowing of the funnel."""

    name: str
    came: int
    kept: int
    reasons: dict[str, int] = field(default_factory=dict)
    """Why the others fell out, most frequent first."""
    unfinished: int = 0


@dataclass
class Cost:
    """What calls took."""

    calls: int = 0
    again: int = 0
    """Of these, asked again since an answer could not be used."""
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0
    minutes: float = 0.0
    """Of waiting for models, summed over calls in flight."""

    def add(self, entry: Entry) -> None:
        """Count a finished call."""
        self.calls += 1
        self.again += entry.attempt > 0
        self.tokens_in += entry.answer.tokens_in
        self.tokens_out += entry.answer.tokens_out
        self.usd += entry.answer.usd
        self.minutes += entry.answer.seconds / 60


@dataclass(frozen=True)
class Costs:
    """What the calls of a run took."""

    stages: dict[str, Cost]
    environments: dict[str, Cost]

    @property
    def total(self) -> Cost:
        """All calls."""
        total = Cost()
        for cost in self.stages.values():
            for name in vars(total):
                setattr(total, name, getattr(total, name) + getattr(cost, name))
        return total


def costs(folder: Path, environments: Collection[str]) -> Costs:
    """The calls of a run by stage, and by those of the environments that they were made for.

    Raises:
        DataError: If the journal is broken.
    """
    journal = folder / JOURNAL
    found = Costs({}, {})
    for entry in read_entries(journal) if journal.exists() else ():
        found.stages.setdefault(entry.stage, Cost()).add(entry)
        env_id = entry.item.split("/")[0]
        if env_id in environments:
            found.environments.setdefault(env_id, Cost()).add(entry)
    return found


def stage_records(folder: Path, stage: str, form: type[msgspec.Struct]) -> list[dict[str, Any]]:
    """The records of a stage file, as plain values; none if the run has not come so far.

    Args:
        form: What the stage writes.
    Raises:
        DataError: If a line is broken.
    """
    path = folder / f"{stage}.jsonl"
    if not path.exists():
        return []
    found = []
    for number, line in enumerate(read_bytes(path).splitlines(), start=1):
        try:
            record = msgspec.json.decode(line)
        except msgspec.MsgspecError as error:
            raise DataError(path, f"line {number}", f"is not JSON ({error})") from error
        if not isinstance(record, dict) or "status" not in record:
            raise DataError(path, f"line {number}", "has no field 'status'")
        try:
            found.append(msgspec.to_builtins(msgspec.convert(record, form)))
        except msgspec.ValidationError as error:
            raise DataError(path, f"line {number}", f"is no record of this stage ({error})") from error
    return found


def step(name: str, records: Sequence[dict[str, Any]]) -> Step:
    """What a stage kept, and why not the rest."""
    statuses = Counter(record["status"] for record in records)
    reasons = Counter(_reason(record) for record in records if record["status"] == "rejected")
    return Step(name, len(records), statuses["kept"], dict(reasons.most_common()), statuses["unfinished"])


def _reason(record: dict[str, Any]) -> str:
    """A reason without what is the record's own, so that equal ones count together."""
    reason = str(record.get("reason", "")) or "no reason given"
    for start in ("repeats", "same title as", "like"):
        if reason.startswith(f"{start} "):
            return f"{start} another"
    return reason


def yield_table(steps: Sequence[Step]) -> str:
    """The funnel as text."""
    from tabulate import tabulate

    rows = []
    for narrowing in steps:
        if narrowing.came:
            told = [f"{reason} {count}" for reason, count in narrowing.reasons.items()]
            told += [f"unfinished {narrowing.unfinished}"] if narrowing.unfinished else []
            share = f"{narrowing.kept / narrowing.came:.0%}"
            rows.append((narrowing.name, narrowing.came, narrowing.kept, share, "; ".join(told)))
    heads = ("stage", "in", "kept", "share", "fell out")
    return tabulate(rows, headers=heads, tablefmt="simple", maxcolwidths=[None] * 4 + [70])


def cost_table(found: Costs) -> str:
    """The costs as text; empty if nothing was asked."""
    from tabulate import tabulate

    rows = [(name, *_figures(cost)) for name, cost in [*found.stages.items(), ("all", found.total)] if cost.calls]
    heads = ("stage", "calls", "again", "tokens in", "tokens out", "USD", "minutes")
    return tabulate(rows, headers=heads, tablefmt="simple", disable_numparse=True) if rows else ""


def _figures(cost: Cost) -> tuple[str, ...]:
    whole = (cost.calls, cost.again, cost.tokens_in, cost.tokens_out)
    return (*map(str, whole), f"{cost.usd:.2f}", f"{cost.minutes:.1f}")


def plot(steps: Sequence[Step]) -> str:
    """The funnel as an SVG picture: one bar a stage, as long as what it kept."""
    steps = [narrowing for narrowing in steps if narrowing.came]
    widest = max((narrowing.came for narrowing in steps), default=1)
    row, left, width = 34, 240, 420
    height = row * len(steps) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 90}" height="{height}" '
        'font-family="sans-serif" font-size="13">'
    ]
    for index, narrowing in enumerate(steps):
        top = 10 + index * row
        came, kept = width * narrowing.came / widest, width * narrowing.kept / widest
        parts.append(f'<text x="{left - 10}" y="{top + 17}" text-anchor="end">{escape(narrowing.name)}</text>')
        parts.append(f'<rect x="{left}" y="{top}" width="{came:.1f}" height="24" fill="#d8dee6"/>')
        parts.append(f'<rect x="{left}" y="{top}" width="{kept:.1f}" height="24" fill="#3b6ea5"/>')
        parts.append(f'<text x="{left + came + 8:.1f}" y="{top + 17}">{narrowing.kept} of {narrowing.came}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
