"""Task texts from files: JSON lines, CSV, JSON as dataset hubs have it, or one text a line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from envscaler.skelbuilder.records import TaskText
from harness.errors import DataError
from harness.files import read_bytes

FIELDS = ("task", "text", "instruction", "query", "question", "prompt", "input", "user_query")
"""Where a record may hold its text, in this order, unless the user names the field."""
_TURNS = ("messages", "conversations", "conversation", "dialogue")
_USERS = ("user", "human")
_MOST_CELL = 2**24


def read_texts(paths: list[Path], field: str | None = None) -> list[TaskText]:
    """The task texts of files, in order, numbered through.

    Args:
        field: Field that holds the text; by default the first of `FIELDS`, or the first user turn.
    Raises:
        DataError: Naming file and record, if a record holds no text or a file holds no record.
    """
    found: list[TaskText] = []
    for path in paths:
        before = len(found)
        for place, record in _records(path):
            text = _text(record, field)
            if text is None:
                wanted = f"field '{field}'" if field else f"none of the fields {', '.join(FIELDS)}"
                problem = f"has no text in {wanted}" if field else f"has {wanted} and no user turn"
                raise DataError(path, place, problem)
            found.append(TaskText(id=f"t{len(found) + 1:05d}", text=text, source=f"{path.name}: {place}"))
        if len(found) == before:
            raise DataError(path, "", "holds no task text")
    return found


def _text(record: Any, field: str | None) -> str | None:
    if isinstance(record, str):
        return record
    if not isinstance(record, Mapping):
        return None
    for name in (field,) if field else FIELDS:
        value = record.get(name)
        if isinstance(value, str):
            return value
    if field is None:
        for name in _TURNS:
            for turn in record.get(name) or ():
                if isinstance(turn, Mapping) and (turn.get("role") or turn.get("from")) in _USERS:
                    value = turn.get("content", turn.get("value"))
                    if isinstance(value, str):
                        return value
    return None


def _records(path: Path) -> Iterator[tuple[str, Any]]:
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(path, "", f"is not UTF-8 ({error})") from error
    name = path.name.removesuffix(".gz")
    if name.endswith(".csv"):
        yield from _rows(path, text)
    elif name.endswith((".jsonl", ".ndjson")):
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                yield f"line {number}", _json(path, f"line {number}", line)
    elif name.endswith(".json"):
        content = _json(path, "", text)
        if isinstance(content, Mapping):
            # Dataset viewers page their rows: {"rows": [{"row_idx": 0, "row": {...}}]}; others put them under "data".
            inner = content.get("rows", content.get("data"))
            content = inner if isinstance(inner, list) else list(content.values())
        if not isinstance(content, list):
            raise DataError(path, "", "is neither a list nor an object of records")
        for index, record in enumerate(content):
            row = record.get("row", record) if isinstance(record, Mapping) else record
            yield f"[{index}]", row
    else:
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                yield f"line {number}", line.strip()


def _rows(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    csv.field_size_limit(_MOST_CELL)
    try:
        for number, row in enumerate(csv.DictReader(io.StringIO(text, newline=""), strict=True), start=1):
            yield f"row {number}", row
    except csv.Error as error:
        raise DataError(path, "", f"is not CSV ({error})") from error


def _json(path: Path, place: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(path, place, f"is not JSON ({error})") from error
