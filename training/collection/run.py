"""Filter trajectories into a folder: what is kept, what is dropped and why, and the card."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from harness.files import replacing
from harness.trajectory import encoded
from training.collection.candidate import Candidate
from training.collection.card import Card
from training.collection.filters import Filters, Reason

KEPT = "trajectories.jsonl"
DROPPED = "dropped.jsonl"


def collect(
    candidates: Iterable[Candidate],
    folder: Path,
    filters: Filters,
    card: Card,
    progress: Callable[[Card], None] = lambda card: None,
) -> Card:
    """Write the kept trajectories and the reasons of the others; both files appear whole or not at all.

    Args:
        card: Counts along; it is written beside them as `card.json` and `card.md`.
        progress: Called after each trajectory.
    Raises:
        DataError: If a record is not what it should be; nothing is written then.
    """
    seen: dict[bytes, str] = {}
    with replacing(folder / KEPT) as kept, replacing(folder / DROPPED) as dropped:
        for candidate in candidates:
            reasons = filters.reasons(candidate)
            if not reasons and "duplicate" not in filters.off:
                digest = _digest(candidate)
                if digest in seen:
                    reasons = [Reason("duplicate", f"the same conversation as {seen[digest]}")]
                else:
                    seen[digest] = _name(candidate)
            card.count(candidate, reasons)
            if reasons:
                dropped.write(encoded(_dropped(candidate, reasons)) + b"\n")
            else:
                kept.write(encoded(candidate.record) + b"\n")
            progress(card)
    for name, text in (("card.json", json.dumps(card.record(), indent=1)), ("card.md", card.text("markdown"))):
        with replacing(folder / name) as file:
            file.write((text + "\n").encode("utf-8", "backslashreplace"))
    return card


def _digest(candidate: Candidate) -> bytes:
    """Tells conversations apart; 16 bytes."""
    return hashlib.blake2b(encoded({"messages": candidate.messages}), digest_size=16).digest()


def _name(candidate: Candidate) -> str:
    return f"{candidate.sample_id}, run {candidate.record.get('run', 1)}"


def _dropped(candidate: Candidate, reasons: list[Reason]) -> dict[str, Any]:
    record = candidate.record
    return {
        "sample_id": candidate.sample_id,
        "run": record.get("run", 1),
        "model": record.get("model", ""),
        "env_id": candidate.env_id,
        "setting": candidate.setting,
        "reasons": [{"filter": reason.name, "detail": reason.detail} for reason in reasons],
        "reward": candidate.reward,
        "steps": candidate.steps,
        "stop_reason": candidate.stop_reason,
    }
