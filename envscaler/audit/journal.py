"""Finished cards, a line each, appended as they come.

A card is used again as long as its digest is that of the scenario, its environment and the effort; so a changed
scenario is audited anew, and nothing else is.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType

import msgspec

from envscaler.audit.card import ScenarioCard
from harness.errors import DataError, SettingError


class CardJournal:
    """Finished cards by digest. One process at a time may hold a file of them.

    Args:
        path: The file, read first and appended to; None: cards last as long as the object.
    Raises:
        SettingError: If another process holds it.
        DataError: If a line that is not the last is broken.
    """

    def __init__(self, path: Path | None) -> None:
        self._cards: dict[str, ScenarioCard] = {}
        self._file = None
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._load(path)
        except BlockingIOError as error:
            self._file.close()
            raise SettingError(f"{path}: another audit is writing it; wait for it, or choose another folder") from error
        except BaseException:
            self._file.close()
            raise

    def _load(self, path: Path) -> None:
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole != len(data):
            # A torn last line, as a killed run leaves it.
            os.truncate(path, whole)
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            try:
                card = msgspec.json.decode(line, type=ScenarioCard)
            except msgspec.MsgspecError as error:
                raise DataError(path, f"line {number}", f"is not a card of an audit ({error})") from error
            self._cards[card.of] = card

    def get(self, of: str) -> ScenarioCard | None:
        """The card with a digest, if it is finished."""
        return self._cards.get(of)

    def add(self, card: ScenarioCard) -> None:
        """Keep a finished card."""
        if self._file is not None:
            self._file.write(msgspec.json.encode(card) + b"\n")
            self._file.flush()
        self._cards[card.of] = card

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> CardJournal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
