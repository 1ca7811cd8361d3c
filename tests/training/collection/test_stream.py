"""Large JSON files are read a record at a time, whatever their form, and told apart from broken ones."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.errors import DataError
from training.collection import stream
from training.collection.stream import records

FIELDS = frozenset({"sample_id", "messages"})
ROWS = [
    {"sample_id": "a", "messages": [{"role": "user", "content": 'He said "[{}]," \\ \u2028 \U0001f600'}], "n": 1.5e-3},
    {"sample_id": "b", "messages": [], "deep": {"x": [[], {}, None, True]}},
    {"sample_id": "c" * 500, "messages": ["\\\\\\"]},
]


def read(file: Path) -> list[Any]:
    return [value for _, value in records(file, FIELDS)]


@pytest.fixture(params=[3, 64, 1 << 20], ids=lambda size: f"pieces-of-{size}")
def piece(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """However the file falls into pieces, what is read is the same."""
    monkeypatch.setattr(stream, "PIECE", request.param)
    return int(request.param)


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_is_read_record_by_record(tmp_path: Path, piece: int, indent: int | None) -> None:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps(ROWS, indent=indent, ensure_ascii=indent is None))
    assert list(records(file, FIELDS)) == [(f"record {n}", row) for n, row in enumerate(ROWS, start=1)]


def test_an_object_of_records_is_read_by_id(tmp_path: Path, piece: int) -> None:
    file = tmp_path / "rows.json"
    file.write_text("\n" + json.dumps({row["sample_id"]: row for row in ROWS}) + "\n")
    assert read(file) == ROWS


def test_lines_are_read_one_by_one_and_may_be_gzipped(tmp_path: Path) -> None:
    text = "\n\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS)
    plain, packed = tmp_path / "rows.jsonl", tmp_path / "rows.jsonl.gz"
    plain.write_text("\ufeff" + text)
    packed.write_bytes(gzip.compress(text.encode()))
    assert read(plain) == read(packed) == ROWS
    assert [where for where, _ in records(plain, FIELDS)] == ["line 1", "line 3", "line 5"]


def test_empty_lists_and_objects_hold_nothing(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_text(" [ ] ")
    assert read(file) == []


def test_a_file_cut_off_anywhere_is_told_after_its_whole_records(tmp_path: Path, piece: int) -> None:
    whole = json.dumps(ROWS[:2])
    file = tmp_path / "rows.json"
    second = whole.index('{"sample_id": "b"')
    for end in range(1, len(whole)):
        file.write_text(whole[:end])
        found: list[Any] = []
        with pytest.raises(DataError, match=r"rows\.json: .*cut off"):
            found.extend(value for _, value in records(file, FIELDS))
        assert found == ROWS[: (end > second - 3) + (end == len(whole) - 1)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ('[{"a": 1}, {"b": tru, "c": "' + "x" * 99 + '"}]', "record 2: is not JSON (Expecting value)"),
        ('[{"a": 1} {"b": 2}]', "record 1: ',' must follow, not '{'"),
        ('[{"a": 1}] []', "holds more after its end, from '['"),
        ('{"id": {"a": 1}, 5: {"b": 2}, "c": "' + "x" * 99 + '"}', "the object: must name each record by a text"),
        ('{"sample_id": "a"}\n{"sample_id": "b"', "line 2: is not JSON"),
        ("[" + "[" * 100_000, "record 1: is nested too deeply"),
    ],
)
def test_a_broken_file_is_one_sentence_that_names_the_record(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "rows.json"
    file.write_text(text)
    with pytest.raises(DataError) as caught:
        read(file)
    assert str(caught.value).startswith(f"{file}: {sentence}")


def test_a_text_that_never_closes_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "PIECE", 100)
    monkeypatch.setattr(stream, "LARGEST", 1000)
    file = tmp_path / "rows.json"
    file.write_text('[{"a": "' + "x" * 5000 + '"}]')
    with pytest.raises(DataError, match=r"record 1: is longer than 1,000 characters"):
        read(file)


def test_bytes_that_are_no_text_and_archives_cut_off_are_told(tmp_path: Path) -> None:
    latin, cut = tmp_path / "latin.json", tmp_path / "cut.json.gz"
    latin.write_bytes(b'["\xe9"]')
    cut.write_bytes(gzip.compress(json.dumps(ROWS * 99).encode())[:-20])
    with pytest.raises(DataError, match=r"latin.json: is not UTF-8 text"):
        read(latin)
    with pytest.raises(DataError, match=r"cut.json.gz: cannot be read: "):
        read(cut)


def test_memory_holds_a_piece_of_the_file_not_the_file(tmp_path: Path) -> None:
    """60 MB in records of 60 kB; a process that reads them grows by far less."""
    file = tmp_path / "rows.json"
    row = json.dumps({"messages": "x" * 60_000})
    with file.open("w") as out:
        out.write("[" + row)
        for _ in range(999):
            out.write(", " + row)
        out.write("]")
    code = (
        "import resource, sys; from training.collection.stream import records\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "number = sum(1 for _ in records(sys.argv[1], ()))\n"
        "print(number, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    number, grown = map(int, done.stdout.split())
    assert number == 1000
    assert grown < 20_000, f"{grown} KiB"
