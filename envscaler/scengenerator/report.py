"""What a run in the environments of a corpus yielded and what it cost: stage by stage, with every reason."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

from envscaler.scengenerator.records import Begun, Checked, Gated, Solved
from envscaler.synthesis.ledger import Cost, Costs, Step, cost_table, costs, stage_records, step, yield_table

FIRST = "states"
"""The stage file that tells such a run from others."""
_STEPS = {
    "states": "initial states that hold",
    "solved": "tasks carried out by their oracle",
    "checked": "checks false at the start, true after it",
    "gated": "through the audit's gate",
}
_FORMS: dict[str, type[Struct]] = {"states": Begun, "solved": Solved, "checked": Checked, "gated": Gated}
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Report:
    """A run in figures."""

    steps: list[Step]
    costs: Costs
    fates: dict[str, dict[str, Any]]
    """By scenario: `env_id`, `stage` it came to, `status`, `reason`, `problems`, `revisions` in all; of gated ones also
    `checks`, `first_kill` and the audit's figures."""

    @property
    def kept(self) -> list[dict[str, Any]]:
        """Fates of the kept ones."""
        return [fate for fate in self.fates.values() if fate["status"] == "kept" and fate["stage"] == "gated"]


def report(folder: Path) -> Report:
    """The figures of a run, as far as it has come.

    Raises:
        DataError: If a file of it is broken.
    """
    files = {name: stage_records(folder, name, form) for name, form in _FORMS.items()}
    fates: dict[str, dict[str, Any]] = {}
    for name in _STEPS:
        for record in files[name]:
            fate = fates.setdefault(record["task_id"], {"env_id": record["env_id"], "revisions": 0})
            fate |= {"stage": name, **{key: record[key] for key in ("status", "reason", "problems")}}
            fate["revisions"] += record.get("revisions", 0)
            if name == "checked":
                fate["checks"] = len(record["checks"])
            if name == "gated":
                fate |= {"first_kill": record["first_kill"], **record["figures"]}
    steps = [step(told, files[name]) for name, told in _STEPS.items()]
    return Report(steps, costs(folder, {fate["env_id"] for fate in fates.values()}), fates)


def table(found: Report) -> str:
    """The report as text."""
    from tabulate import tabulate

    parts = [yield_table(found.steps)]
    if found.kept:
        parts.append(_told(found.kept, len(found.fates)))
    heads = ("environment", "wanted", "kept", "at once", "checks", "mutants", "noticed", "calls", "USD")
    parts.append(tabulate(_environments(found), headers=heads, tablefmt="simple", disable_numparse=True))
    fallen = [(name, fate["reason"]) for name, fate in found.fates.items() if fate["status"] == "rejected"]
    if fallen:
        parts.append(tabulate(fallen, headers=("scenario", "fell out"), tablefmt="simple"))
    parts.append(cost_table(found.costs))
    return "\n\n".join(part for part in parts if part)


def _told(kept: Sequence[Record], of: int) -> str:
    first = sum(fate["revisions"] == 0 for fate in kept)
    told = f"Kept: {len(kept)} of {of} ({len(kept) / of:.0%}), {first} of them without any revision."
    before = [fate["first_kill"] for fate in kept if fate["first_kill"] is not None]
    after = [fate["kill"] for fate in kept if fate["kill"] is not None]
    if before and after:
        told += (
            f"\nTheir checks notice {statistics.fmean(after):.1%} of wrong states on average; "
            f"before the audit's evidence went back, {statistics.fmean(before):.1%}."
        )
    return told


def _environments(found: Report) -> list[tuple[str, ...]]:
    rows = []
    for env_id in dict.fromkeys(fate["env_id"] for fate in found.fates.values()):
        all_ = [fate for fate in found.fates.values() if fate["env_id"] == env_id]
        kept = [fate for fate in found.kept if fate["env_id"] == env_id]
        kill = statistics.fmean(fate["kill"] or 0.0 for fate in kept) if kept else None
        cost = found.costs.environments.get(env_id, Cost())
        whole = [len(all_), len(kept), sum(fate["revisions"] == 0 for fate in kept)]
        whole += [sum(fate[name] for fate in kept) for name in ("checks", "mutants")]
        shown = "-" if kill is None else f"{kill:.1%}"
        rows.append((env_id, *map(str, whole), shown, str(cost.calls), f"{cost.usd:.2f}"))
    return rows


def record(found: Report) -> dict[str, Any]:
    """The report as JSON: the ledger of the run."""
    return {
        "steps": [vars(narrowing) for narrowing in found.steps],
        "stages": {name: vars(cost) for name, cost in found.costs.stages.items()},
        "environments": {env_id: vars(cost) for env_id, cost in found.costs.environments.items()},
        "scenarios": found.fates,
        "total": vars(found.costs.total),
    }
