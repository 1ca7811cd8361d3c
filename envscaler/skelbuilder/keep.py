"""Environments that were kept, as a corpus: the form that scenarios, evaluation and training start from."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import Corpus, write_unpacked
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
    from dataclasses import replace

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


def write_corpus(folder: Path, records: Sequence[EnvironmentRecord]) -> None:
    """Write a corpus in place of an earlier one of the same run; at no moment is half a corpus under its name."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        write_unpacked(Corpus({one.id: one for one in records}, {}), draft)
        draft.chmod(0o755)
        if folder.exists():
            # A folder cannot replace a full one in one step: the old one steps aside first.
            aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
            folder.rename(aside / folder.name)
            draft.rename(folder)
            shutil.rmtree(aside)
        else:
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
