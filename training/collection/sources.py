"""Where trajectories come from: folders and files of Inspect logs, files of ours, the public release's file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import DataError
from harness.trajectory import KNOWN_FIELDS
from training.collection.candidate import Candidate, candidate
from training.collection.released import FIELDS, from_released, is_released
from training.collection.stream import records


@dataclass(frozen=True, slots=True)
class Source:
    """Trajectories, read one at a time, and what is known of how they came about."""

    candidates: Iterator[Candidate]
    facts: list[dict[str, Any]]
    notes: list[str]


def sources(places: Sequence[Path]) -> Source:
    """The trajectories of several places, in their order.

    A folder, or a file whose name ends in `.eval`, is read as Inspect logs; another file as trajectories.

    Raises:
        DataError: If a place is not there, or a folder holds no log; on the way, if a record is not what it should be.
    """
    found = [_source(place) for place in places]
    return Source(
        (one for source in found for one in source.candidates),
        [fact for source in found for fact in source.facts],
        [note for source in found for note in source.notes],
    )


def _source(place: Path) -> Source:
    if not place.exists():
        raise DataError(place, "", "no such file or folder")
    if place.is_dir() or place.suffix == ".eval":
        from training.collection import logs

        found, notes = logs.logs(place)
        return Source(logs.candidates(found), [logs.facts(log) for log in found], notes)
    with place.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Source(_of_file(place), [{"file": place.name, "bytes": place.stat().st_size, "sha256": digest}], [])


def _of_file(file: Path) -> Iterator[Candidate]:
    for where, record in records(file, KNOWN_FIELDS | FIELDS):
        made = from_released if is_released(record) else candidate
        yield made(record, str(file), where)
