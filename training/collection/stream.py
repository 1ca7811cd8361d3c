"""Records of large JSON files, one at a time: memory holds one record and a piece of the file, never the whole."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, TextIO

from harness.errors import DataError

PIECE = 1 << 20
"""Characters read at once."""
LARGEST = 1 << 26
"""Characters of one record above which a file is taken for broken: its text never closes."""
LONGEST_NAME = 1 << 16
"""Characters in which the first name of an object must stand."""
_TAIL = 16
"""Characters before the end of what is read in which an error may only mean that the rest is not read yet."""

_DECODER = json.JSONDecoder()
CUT_OFF = "the file ends here; it is cut off"
_SPACE = re.compile(r"\s+")
_FIRST = re.compile(r'\s*\{\s*"((?:[^"\\]|\\.)*)"\s*:\s*(\S)')


def records(file: str | Path, fields: Collection[str]) -> Iterator[tuple[str, Any]]:
    """The records of a file: a JSON list, a JSON object of records by id, or JSON lines; gzipped or not.

    Args:
        fields: Names of fields that a record may have. An object that begins with one of them is a record; one that
            begins with another name, and an object under it, holds records by id.
    Yields:
        Where the record stands (`record 3`, `record 'id'`, `line 3`), and its value.
    Raises:
        DataError: If the file cannot be read, is cut off, or is no JSON; records before the mistake are yielded first.
    """
    try:
        with _open(file) as opened:
            text = _Text(opened, str(file))
            match text.peek():
                case "":
                    raise DataError(file, "", "is empty")
                case "[":
                    yield from _list(text)
                    return
                case "{" if (first := text.first()) and first[1] == "{" and first[0] not in fields:
                    yield from _by_id(text)
                    return
        with _open(file) as opened:
            yield from _lines(opened, str(file))
    except UnicodeDecodeError as error:
        raise DataError(file, "", f"is not UTF-8 text ({error.reason})") from error
    except (OSError, EOFError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DataError(file, "", f"cannot be read: {reason}") from error


def _open(file: str | Path) -> TextIO:
    with Path(file).open("rb") as opened:
        packed = opened.read(2) == b"\x1f\x8b"
    return gzip.open(file, "rt", encoding="utf-8-sig") if packed else Path(file).open(encoding="utf-8-sig")


def _lines(opened: TextIO, file: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(opened, start=1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataError(file, f"line {number}", f"is not JSON ({error})") from error


def _list(text: _Text) -> Iterator[tuple[str, Any]]:
    text.take("[", "the list")
    number = 0
    while text.peek() != "]":
        if number:
            text.take(",", f"record {number}")
        number += 1
        yield f"record {number}", text.value(f"record {number}")
    text.take("]", "the list")
    text.end()


def _by_id(text: _Text) -> Iterator[tuple[str, Any]]:
    text.take("{", "the object")
    name: Any = None
    while text.peek() != "}":
        if name is not None:
            text.take(",", f"record {name!r}")
        name = text.value("the object")
        if not isinstance(name, str):
            raise DataError(text.file, "the object", "must name each record by a text")
        text.take(":", f"record {name!r}")
        yield f"record {name!r}", text.value(f"record {name!r}")
    text.take("}", "the object")
    text.end()


class _Text:
    """The part of a file that is read and not used yet."""

    def __init__(self, opened: TextIO, file: str) -> None:
        self.file = file
        self._opened = opened
        self._read = ""
        self._at = 0
        self._ended = False

    def _more(self) -> bool:
        """Read on, as much again as waits: a record's text is looked at a few times, however long it is."""
        waiting = self._read[self._at :]
        piece = "" if self._ended else self._opened.read(max(PIECE, len(waiting)))
        self._read, self._at, self._ended = waiting + piece, 0, not piece
        return bool(piece)

    def peek(self) -> str:
        """The next character that is no space; none at the end of the file."""
        while True:
            space = _SPACE.match(self._read, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._read):
                return self._read[self._at]
            if not self._more():
                return ""

    def first(self) -> tuple[str, str] | None:
        """The first name in an object, and the character with which its value begins."""
        while not (found := _FIRST.match(self._read, self._at)) and len(self._read) < LONGEST_NAME and self._more():
            pass
        return (found[1], found[2]) if found else None

    def take(self, sign: str, where: str) -> None:
        """Step over a sign that must come now."""
        if (found := self.peek()) != sign:
            raise DataError(self.file, where, f"'{sign}' must follow, not '{found}'" if found else CUT_OFF)
        self._at += 1

    def value(self, where: str) -> Any:
        """The JSON value that comes now."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._read, self._at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated string") or error.pos >= len(self._read.rstrip()) - _TAIL
                if not cut:
                    raise DataError(self.file, where, f"is not JSON ({error.msg})") from error
                if self._ended:
                    raise DataError(self.file, where, CUT_OFF) from error
            except RecursionError as error:
                raise DataError(self.file, where, "is nested too deeply") from error
            else:
                # A number at the end of what is read may go on.
                if end < len(self._read) or self._ended:
                    self._at = end
                    return value
            if len(self._read) - self._at > LARGEST:
                raise DataError(self.file, where, f"is longer than {LARGEST:,} characters, or its text never closes")
            self._more()

    def end(self) -> None:
        """Nothing but space may follow."""
        if found := self.peek():
            raise DataError(self.file, "", f"holds more after its end, from '{found}'")
