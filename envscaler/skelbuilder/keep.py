"""Environments that were kept, as a corpus: the form that scenarios, evaluation and training start from."""

from __future__ import annotations

from dataclasses import replace

from envscaler.environments import EnvironmentRecord
from envscaler.skelbuilder.inspection import Inspection
from envscaler.skelbuilder.records import Built, Plan, Topic

PROVENANCE = "made by SkelBuilder from a task text"


def record(plan: Plan, built: Built) -> EnvironmentRecord:
    """A program as an environment record, with the plan in the release's field names."""
    return EnvironmentRecord(
        id=plan.env_id,
        title=plan.title,
        class_name=built.class_name,
        description=plan.introduction,
        rules=plan.rules,
        source=built.source,
        provenance=PROVENANCE,
        released={
            "state_space_definition": [
                {
                    "entity": entity.name,
                    "attributes": ", ".join(f"{a.name}: {a.type}" for a in entity.attributes),
                    "description": entity.description,
                }
                for entity in plan.entities
            ],
            "operation_list": [
                {
                    "operation_name": operation.name,
                    "operation_description": operation.description,
                    "operation_type": "query" if operation.kind == "query" else "state_change",
                }
                for operation in plan.operations
            ],
        },
    )


def environment(plan: Plan, built: Built, found: Inspection, topic: Topic) -> EnvironmentRecord:
    """A kept environment with the figures of its inspection."""
    quality = {
        "rounds": found.passed + found.warned + found.failed,
        "passed": found.passed,
        "warned": found.warned,
        "failed": found.failed,
        "unjudged": found.unjudged,
        "lost": found.lost,
        "pass_rate": round(found.rate or 0.0, 4),
        "revisions": built.revisions,
        "usefulness": topic.usefulness,
        "modelability": topic.modelability,
    }
    made = record(plan, built)
    return replace(made, quality=quality, released={**made.released, "init_config_list": [built.config]})
