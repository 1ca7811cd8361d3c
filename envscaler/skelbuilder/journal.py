"""The journal of a run: every finished call of a model, appended as it came; a resumed run does not make it again.

Each line goes out in one write to a file opened for appending, so a killed run leaves whole lines and at most one torn
one, which is dropped. A journal is also a recording: `reference/recorded` answers from it.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import msgspec
from msgspec import Struct

from envscaler.skelbuilder.ask import Answer, Request
from harness.errors import DataError, SettingError


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


class Journal:
    """Finished calls by key. One process at a time may hold one.

    Raises:
        SettingError: If another process holds it.
        DataError: If a line that is not the last is broken.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.entries: dict[str, Entry] = {}
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
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            try:
                entry = msgspec.json.decode(line, type=Entry)
            except msgspec.MsgspecError as error:
                raise DataError(self.path, f"line {number}", f"is not a finished call ({error})") from error
            self.entries[entry.key] = entry
        if whole != len(data):
            os.ftruncate(self._file, whole)

    def get(self, key: str) -> Answer | None:
        """The answer to a call that was finished before."""
        entry = self.entries.get(key)
        return None if entry is None else entry.answer

    def add(self, request: Request, answer: Answer) -> None:
        """Keep a finished call, on disk first."""
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
        data = memoryview(msgspec.json.encode(entry) + b"\n")
        while data:
            data = data[os.write(self._file, data) :]
        self.entries[entry.key] = entry

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
    from harness.files import read_bytes

    data = read_bytes(path)
    entries: dict[str, Entry] = {}
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), start=1):
        try:
            entry = msgspec.json.decode(line, type=Entry)
        except msgspec.MsgspecError as error:
            raise DataError(path, f"line {number}", f"is not a finished call ({error})") from error
        entries[entry.key] = entry
    return list(entries.values())
