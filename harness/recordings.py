"""Recorded answers of models: a conversation's name, and the answers that were given to it.

A recording is JSON lines, gzipped or not, with `prompt` (the name) and either `answer` or `error`; other keys are free,
so the journal of a synthesis run is one. Lines with one name are given out in order, the last of them again and again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from harness.errors import DataError
from harness.files import read_bytes


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a model said to one conversation."""

    text: str
    stop: Literal["stop", "length", "refused"] = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0
    seconds: float = 0.0


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a recording."""

    prompt: str
    answer: Answer | None = None
    error: str | None = None
    """What the server failed with instead of answering."""


def prompt_key(turns: Iterable[tuple[str, str]]) -> str:
    """The name of a conversation: 16 hexadecimal digits of its roles and texts."""
    return hashlib.blake2b(msgspec.json.encode(list(turns)), digest_size=8).hexdigest()


class Recording:
    """Answers by conversation; remembers how often each was asked for."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines: dict[str, list[Line]] = {}
        for line in lines:
            self._lines.setdefault(line.prompt, []).append(line)
        self.asked: dict[str, int] = {}

    @classmethod
    def load(cls, path: str | Path) -> Recording:
        """The recording in a file.

        Raises:
            DataError: Naming file and line of the first mistake.
        """
        lines = []
        for number, text in enumerate(read_bytes(path).splitlines(), start=1):
            if text.strip():
                try:
                    line = msgspec.json.decode(text, type=Line)
                except msgspec.MsgspecError as error:
                    raise DataError(path, f"line {number}", f"is no recorded answer ({error})") from error
                if (line.answer is None) == (line.error is None):
                    raise DataError(path, f"line {number}", "needs either an answer or an error")
                lines.append(line)
        return cls(lines)

    def next(self, prompt: str) -> Line | None:
        """The next answer to a conversation; None if none was recorded."""
        lines = self._lines.get(prompt)
        if lines is None:
            return None
        times = self.asked.get(prompt, 0)
        self.asked[prompt] = times + 1
        return lines[min(times, len(lines) - 1)]
