"""The folder of a run: stage files beside the journal, and the corpus that came of it; how items go through stages.

Its files are derived from the journal and written whole: killed at any moment and started again, a run asks only what
was not answered yet and ends with the same files.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from envscaler.scenarios import Corpus, write_unpacked
from envscaler.synthesis.desk import BudgetSpent, GaveUp, ServerFailed
from harness.errors import SettingError
from harness.files import replacing

A = TypeVar("A")
B = TypeVar("B")

JOURNAL = "journal.jsonl"
CORPUS = "corpus"

Status = Literal["kept", "rejected", "unfinished"]
"""`rejected` for a reason of its own; `unfinished` where the model server failed or a budget ended: run it again."""

Progress = Callable[[str, int, int], None]
"""Told after each item: stage, how many are done, how many there are."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended."""

    kept: int
    unfinished: int
    reason: str
    """Why something is unfinished; empty if nothing is."""


def check_folder(path: Path, source: str = "") -> None:
    """Refuse to put a corpus in the place of one that is not this run's to replace.

    Args:
        path: The folder of the run.
        source: The corpus that is read, if one is.
    Raises:
        SettingError: If a corpus is there without a run, or is the one that is read.
    """
    target = path / CORPUS
    if not target.exists():
        return
    if not (path / JOURNAL).exists():
        raise SettingError(f"{target}: is there and of no run, and would be replaced; choose another folder")
    if source and target.resolve() in (Path(source).resolve(), *Path(source).resolve().parents):
        raise SettingError(f"{target}: would be replaced while it is read; choose another folder")


class RunFolder:
    """One run in one folder.

    Args:
        stages: Names of its stage files, without `.jsonl`.
    """

    def __init__(self, path: Path, stages: Sequence[str], progress: Progress | None = None) -> None:
        self.path = path
        self._stages = stages
        self._progress = progress or (lambda stage, done, total: None)

    def sweep(self) -> None:
        """Remove the drafts of a killed run; the journal's lock says that no other run is writing."""
        starts = tuple(f".{name}." for name in (*(f"{stage}.jsonl" for stage in self._stages), CORPUS))
        for draft in self.path.glob(".*"):
            if draft.name.startswith(starts):
                shutil.rmtree(draft) if draft.is_dir() else draft.unlink()

    def write(self, stage: str, records: Sequence[Any]) -> None:
        """Write the file of a stage, a line a record."""
        with replacing(self.path / f"{stage}.jsonl") as file:
            file.write(b"".join(msgspec.json.encode(record) + b"\n" for record in records))

    async def each(self, stage: str, items: Sequence[A], do: Callable[[A], Awaitable[B]]) -> list[B]:
        """All items at once, in order; the desk bounds what is asked at one time."""
        done = 0

        async def one(item: A) -> B:
            nonlocal done
            result = await do(item)
            done += 1
            self._progress(stage, done, len(items))
            return result

        try:
            async with asyncio.TaskGroup() as group:
                running = [group.create_task(one(item)) for item in items]
        except ExceptionGroup as errors:
            # The first is the cause; the others are its echo in items that run beside it.
            raise errors.exceptions[0] from errors
        return [task.result() for task in running]

    def write_corpus(self, corpus: Corpus) -> None:
        """Write a corpus in place of an earlier one of the same run; at no moment is half a corpus under its name."""
        target = self.path / CORPUS
        self.path.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{CORPUS}.", dir=self.path))
        try:
            write_unpacked(corpus, draft)
            draft.chmod(0o755)
            if target.exists():
                # A folder cannot replace a full one in one step: the old one steps aside first.
                aside = Path(tempfile.mkdtemp(prefix=f".{CORPUS}.", dir=self.path))
                target.rename(aside / CORPUS)
                draft.rename(target)
                shutil.rmtree(aside)
            else:
                draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def fate(error: GaveUp | ServerFailed | BudgetSpent) -> tuple[Status, str]:
    """What an error makes of its item: a bad answer rejects it, a failed server or a spent budget leaves it open."""
    match error:
        case GaveUp():
            return "rejected", f"{error.stage}: {error.kind}"
        case BudgetSpent():
            return "unfinished", str(error)
    return "unfinished", f"model server: {error}"
