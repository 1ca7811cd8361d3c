"""The journal of a run: every finished call of a model, appended as it came; a resumed run does not make it again.

Each line goes out in one write to a file opened for appending, so a killed run leaves whole lines and at most one torn
one, which is dropped. A journal is also a recording: `reference/recorded` answers from it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from envscaler.synthesis.ask import Answer, Request
from harness.errors import DataError, SettingError
from harness.files import read_bytes


class Entry(Struct, frozen=True, kw_only=True):
    """One finished call."""

    key: str
    prompt: str
    stage: str
    item: str
    attempt: int
    role: str
    model: str
    answer: Answer


class Memory:
    """A journal that lasts as long as the process: where another log keeps the calls."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}

    def get(self, key: str) -> Answer | None:
        """The answer to a call that was finished before."""
        entry = self.entries.get(key)
        return None if entry is None else entry.answer

    def add(self, request: Request, answer: Answer) -> None:
        """Keep a finished call."""
        entry = Entry(
            key=request.key,
            prompt=request.prompt,
            stage=request.stage,
            item=request.item,
            attempt=request.attempt,
            role=request.role,
            model=request.model,
            answer=answer,
        )
        self._keep(entry)
        self.entries[entry.key] = entry

    def _keep(self, entry: Entry) -> None:
        """Where an entry goes first."""


class Journal(Memory):
    """Finished calls by key. One process at a time may hold one.

    Raises:
        SettingError: If another process holds it.
        DataError: If a line that is not the last is broken.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._load()
        except BlockingIOError as error:
            os.close(self._file)
            raise SettingError(f"{path}: another run is writing it; wait for it, or choose another folder") from error
        except BaseException:
            os.close(self._file)
            raise

    def _load(self) -> None:
        data = self.path.read_bytes()
        self.entries.update((entry.key, entry) for entry in _entries(self.path, data))
        whole = data.rfind(b"\n") + 1
        if whole != len(data):
            os.ftruncate(self._file, whole)

    def _keep(self, entry: Entry) -> None:
        data = memoryview(msgspec.json.encode(entry) + b"\n")
        while data:
            data = data[os.write(self._file, data) :]

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def read_entries(path: Path) -> list[Entry]:
    """The finished calls of a journal that may be in use.

    Raises:
        DataError: If it cannot be read, or a whole line is broken.
    """
    return list({entry.key: entry for entry in _entries(path, read_bytes(path))}.values())


def _entries(path: Path, data: bytes) -> Iterator[Entry]:
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), start=1):
        try:
            yield msgspec.json.decode(line, type=Entry)
        except msgspec.MsgspecError as error:
            raise DataError(path, f"line {number}", f"is not a finished call ({error})") from error
