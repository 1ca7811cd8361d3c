"""What a run yielded and what it cost: read from its files, at any time and by any process.

The yield is told as the paper tells it (so many tasks, of these so many topics, ... 191 of 266 kept), with every reason
for which something fell out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import msgspec

from envscaler.synthesis.journal import Entry, read_entries
from harness.errors import DataError
from harness.files import read_bytes

JOURNAL = "journal.jsonl"
PAPER = (266, 191)
"""Environments inspected and kept in the paper (docs of the release, section 1.3)."""


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
class Report:
    """A run in figures."""

    steps: list[Step]
    stages: dict[str, Cost]
    environments: dict[str, Cost]
    """By environment, mining left out."""
    fates: dict[str, dict[str, Any]]
    """By environment: `status`, `reason`, and of inspected ones `rate`, `tools`."""

    @property
    def total(self) -> Cost:
        """All calls."""
        total = Cost()
        for cost in self.stages.values():
            for name in vars(total):
                setattr(total, name, getattr(total, name) + getattr(cost, name))
        return total


def _read(folder: Path, name: str) -> list[dict[str, Any]]:
    path = folder / f"{name}.jsonl"
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
        found.append(record)
    return found


def report(folder: Path) -> Report:
    """The figures of a run, as far as it has come.

    Raises:
        DataError: If the folder holds no run, or a file of it is broken.
    """
    if not (folder / "tasks.jsonl").exists():
        raise DataError(folder, "", "holds no run of `envscaler synth skeletons`")
    files = {
        name: _read(folder, name)
        for name in ("tasks", "judged", "topics", "selected", "plans", "programs", "inspections")
    }
    steps = [
        _step("task texts fit", files["tasks"]),
        _step("rely on a stateful environment", files["judged"]),
        _step("topics inferred", files["topics"]),
        _step("topics selected", files["selected"]),
        _step("planned", files["plans"]),
        _step("programs through the gate", files["programs"]),
        _step("kept after inspection", files["inspections"]),
    ]
    journal = folder / JOURNAL
    entries = read_entries(journal) if journal.exists() else []
    stages: dict[str, Cost] = {}
    environments: dict[str, Cost] = {}
    known = {record["env_id"] for record in files["plans"]}
    for entry in entries:
        stages.setdefault(entry.stage, Cost()).add(entry)
        env_id = entry.item.split("/")[0]
        if env_id in known:
            environments.setdefault(env_id, Cost()).add(entry)
    fates: dict[str, dict[str, Any]] = {}
    for name in ("plans", "programs", "inspections"):
        for record in files[name]:
            fate = {
                "status": record["status"],
                "reason": record.get("reason", ""),
                "findings": record.get("findings", []),
            }
            if name == "inspections":
                fate |= {"rate": record.get("rate"), "tools": len(record.get("tools", {}))}
            fates[record["env_id"]] = fate
    return Report(steps, stages, environments, fates)


def _step(name: str, records: list[dict[str, Any]]) -> Step:
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


def table(found: Report) -> str:
    """The report as text."""
    from tabulate import tabulate

    rows = []
    for step in found.steps:
        if step.came:
            reasons = "; ".join(f"{reason} {count}" for reason, count in step.reasons.items())
            notes = f"{reasons}{'; ' if reasons and step.unfinished else ''}"
            notes += f"unfinished {step.unfinished}" if step.unfinished else ""
            rows.append((step.name, step.came, step.kept, f"{step.kept / step.came:.0%}", notes))
    parts = [
        tabulate(
            rows,
            headers=("stage", "in", "kept", "share", "fell out"),
            tablefmt="simple",
            maxcolwidths=[None] * 4 + [70],
        )
    ]
    last = found.steps[-1]
    if last.came:
        parts.append(
            f"Kept of inspected: {last.kept} of {last.came} ({last.kept / last.came:.0%}); "
            f"the paper: {PAPER[1]} of {PAPER[0]} ({PAPER[1] / PAPER[0]:.0%})."
        )
    costs = [(name, *_figures(cost)) for name, cost in [*found.stages.items(), ("all", found.total)] if cost.calls]
    heads = ("calls", "again", "tokens in", "tokens out", "USD", "minutes")
    if costs:
        parts.append(tabulate(costs, headers=("stage", *heads), tablefmt="simple", disable_numparse=True))
    environments = []
    for env_id, fate in found.fates.items():
        rate = fate.get("rate")
        shown = "" if rate is None else f"{rate:.2f}"
        cost = found.environments.get(env_id, Cost())
        environments.append((env_id, fate["status"], shown, fate["reason"], cost.calls, f"{cost.usd:.2f}"))
    if environments:
        heads = ("environment", "fate", "pass rate", "reason", "calls", "USD")
        parts.append(tabulate(environments, headers=heads, tablefmt="simple", disable_numparse=True))
    return "\n\n".join(parts)


def _figures(cost: Cost) -> tuple[str, ...]:
    return (
        str(cost.calls),
        str(cost.again),
        str(cost.tokens_in),
        str(cost.tokens_out),
        f"{cost.usd:.2f}",
        f"{cost.minutes:.1f}",
    )


def record(found: Report) -> dict[str, Any]:
    """The report as JSON: the ledger of the run."""
    return {
        "steps": [vars(step) for step in found.steps],
        "stages": {name: vars(cost) for name, cost in found.stages.items()},
        "environments": {
            env_id: {**fate, **vars(found.environments.get(env_id, Cost()))} for env_id, fate in found.fates.items()
        },
        "total": vars(found.total),
    }


def plot(found: Report) -> str:
    """The funnel as an SVG picture: one bar a stage, as long as what it kept."""
    steps = [step for step in found.steps if step.came]
    widest = max((step.came for step in steps), default=1)
    row, left, width = 34, 240, 420
    height = row * len(steps) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 90}" height="{height}" '
        'font-family="sans-serif" font-size="13">'
    ]
    for index, step in enumerate(steps):
        top = 10 + index * row
        came, kept = width * step.came / widest, width * step.kept / widest
        parts.append(f'<text x="{left - 10}" y="{top + 17}" text-anchor="end">{escape(step.name)}</text>')
        parts.append(f'<rect x="{left}" y="{top}" width="{came:.1f}" height="24" fill="#d8dee6"/>')
        parts.append(f'<rect x="{left}" y="{top}" width="{kept:.1f}" height="24" fill="#3b6ea5"/>')
        parts.append(f'<text x="{left + came + 8:.1f}" y="{top + 17}">{step.kept} of {step.came}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
