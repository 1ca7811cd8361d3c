"""What a run from task texts yielded and what it cost.

The yield is told as the paper tells it (so many tasks, of these so many topics, ... 191 of 266 kept), with every reason
for which something fell out.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

from envscaler.skelbuilder.inspection import Inspection
from envscaler.skelbuilder.records import Built, Judged, Plan, TaskText, Topic
from envscaler.synthesis.ledger import Cost, Costs, Step, cost_table, costs, stage_records, step, yield_table

FIRST = "tasks"
"""The stage file that tells such a run from others."""
PAPER = (266, 191)
"""Environments inspected and kept in the paper (docs of the release, section 1.3)."""
_STEPS = {
    "tasks": "task texts fit",
    "judged": "rely on a stateful environment",
    "topics": "topics inferred",
    "selected": "topics selected",
    "plans": "planned",
    "programs": "programs through the gate",
    "inspections": "kept after inspection",
}
_FORMS: dict[str, type[Struct]] = {
    "tasks": TaskText,
    "judged": Judged,
    "topics": Topic,
    "selected": Topic,
    "plans": Plan,
    "programs": Built,
    "inspections": Inspection,
}


@dataclass(frozen=True)
class Report:
    """A run in figures."""

    steps: list[Step]
    costs: Costs
    """By environment: mining left out."""
    fates: dict[str, dict[str, Any]]
    """By environment: `status`, `reason`, and of inspected ones `rate`, `tools`."""


def report(folder: Path) -> Report:
    """The figures of a run, as far as it has come.

    Raises:
        DataError: If a file of it is broken.
    """
    files = {name: stage_records(folder, name, form) for name, form in _FORMS.items()}
    steps = [step(told, files[name]) for name, told in _STEPS.items()]
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
    return Report(steps, costs(folder, {record["env_id"] for record in files["plans"]}), fates)


def table(found: Report) -> str:
    """The report as text."""
    from tabulate import tabulate

    parts = [yield_table(found.steps)]
    last = found.steps[-1]
    if last.came:
        parts.append(
            f"Kept of inspected: {last.kept} of {last.came} ({last.kept / last.came:.0%}); "
            f"the paper: {PAPER[1]} of {PAPER[0]} ({PAPER[1] / PAPER[0]:.0%})."
        )
    parts.append(cost_table(found.costs))
    environments = []
    for env_id, fate in found.fates.items():
        rate = fate.get("rate")
        shown = "" if rate is None else f"{rate:.2f}"
        cost = found.costs.environments.get(env_id, Cost())
        environments.append((env_id, fate["status"], shown, fate["reason"], cost.calls, f"{cost.usd:.2f}"))
    if environments:
        heads = ("environment", "fate", "pass rate", "reason", "calls", "USD")
        parts.append(tabulate(environments, headers=heads, tablefmt="simple", disable_numparse=True))
    return "\n\n".join(part for part in parts if part)


def record(found: Report) -> dict[str, Any]:
    """The report as JSON: the ledger of the run."""
    return {
        "steps": [vars(narrowing) for narrowing in found.steps],
        "stages": {name: vars(cost) for name, cost in found.costs.stages.items()},
        "environments": {
            env_id: {**fate, **vars(found.costs.environments.get(env_id, Cost()))}
            for env_id, fate in found.fates.items()
        },
        "total": vars(found.costs.total),
    }
