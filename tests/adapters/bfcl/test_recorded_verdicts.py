"""Differential: recorded trajectories get the official verdicts, results and states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import time_machine

from adapters.bfcl import SUBSETS, Pair, check
from adapters.bfcl.entry import Entry
from adapters.bfcl.execution import ERROR, Execution
from tests.adapters.bfcl import recorded

RECORDED_ON = "2026-11-29"
"""`verify_traveler_information` answers by today's date."""
STRIDE = 15
"""Of the sample: one row in so many, besides the first of each kind and class."""
DIFFERENCES = {
    "v3": {"rewritten arguments": 304, "built-ins called": 299, "printed sets": 22},
    "v4": {"rewritten arguments": 304, "built-ins called": 296, "printed sets": 22},
}
"""Calls in all recorded rows in which we differ on purpose, each by its own rule in `recorded`."""


def rows(pair: Pair, oracles: Path, whole: bool) -> Iterator[dict[str, Any]]:
    name = f"bfcl_{pair.release.version}_visible"
    blobs = dict(recorded.read(oracles / f"{name}_blobs.jsonl.gz"))
    entries = entries_of(pair)
    met = set()
    for index, row in enumerate(recorded.read(oracles / f"{name}.jsonl.gz")):
        new = {(row["kind"], name) for name in entries[row["id"]].classes} - met
        met |= new
        # A printed set is rare: all rows with one are in the sample.
        if whole or new or index % STRIDE == 0 or "Must be one of {" in str(row["exec"]):
            yield recorded.unpacked(row, blobs)


def entries_of(pair: Pair) -> dict[str, Entry]:
    return {entry.id: entry for subset in SUBSETS for entry in pair.entries(subset)}


def test_recorded_trajectories_are_judged_as_the_official_code_judged_them(
    pair: Pair, oracles: Path, request: pytest.FixtureRequest
) -> None:
    whole = request.config.getoption("--oracle") == "all"
    entries = entries_of(pair)
    counts: Counter[str] = Counter()
    kinds, classes = set(), set()
    wrong = []
    for row in rows(pair, oracles, whole):
        entry = entries[row["id"]]
        kinds.add(row["kind"])
        classes |= set(entry.classes)
        counts["rows"] += 1
        with time_machine.travel(RECORDED_ON):
            problems = disagreements(entry, pair, row, counts)
        if problems:
            wrong.append(f"{row['id']} {row['kind']}: {problems[0]}")
    assert not wrong, f"{len(wrong)} of {counts['rows']} rows disagree, e.g. {wrong[:5]}"
    assert counts["rows"] >= (23_000 if whole else 1_500)
    assert (len(kinds), len(classes)) == (49, 8)
    differences = {name: count for name, count in counts.items() if name != "rows"}
    assert min(differences.values()) > 0
    assert not whole or differences == DIFFERENCES[pair.release.version]


def disagreements(entry: Entry, pair: Pair, row: dict[str, Any], counts: Counter[str]) -> list[str]:
    turns = recorded.decoded_turns(row["result"])
    verdict = check(entry, pair.backends, [[call for step in turn for call in step] for turn in turns])
    differing = next(iter(verdict.differences), None)
    ours = {
        "valid": verdict.valid,
        "error_type": verdict.error_type,
        "error_turn": verdict.error_turn,
        "diff_class": differing,
        "diff_attrs": sorted(verdict.differences[differing]) if differing else None,
        "missing": verdict.missing or None,
    }
    problems = [f"{key}: {value!r}, not {row.get(key)!r}" for key, value in ours.items() if value != row.get(key)]
    return problems + list(play(entry, pair, turns, row, counts))


def play(
    entry: Entry, pair: Pair, turns: list[list[recorded.Step]], row: dict[str, Any], counts: Counter[str]
) -> Iterator[str]:
    """Execute the calls, with what the official executor does to their arguments done beforehand."""
    world = Execution(entry, pair.backends)
    methods = pair.backends.methods(entry.classes)
    if [len(turn) for turn in turns] != [len(turn) for turn in row["exec"]]:
        yield "other steps were executed"
    for number, (turn, said, state) in enumerate(zip(turns, row["exec"], row["state_sha"], strict=True)):
        calls = [call for step in turn for call in step]
        for (name, arguments), official in zip(calls, (text for step in said for text in step), strict=True):
            handed = {k: recorded.rewritten(v, entry.id, entry.version, methods) for k, v in arguments.items()}
            counts["rewritten arguments"] += handed != arguments
            text = world.call(name, handed).text
            if recorded.is_builtin(name) and name not in methods:
                counts["built-ins called"] += 1
                official = f"{ERROR}name '{name}' is not defined"
            if recorded.comparable(text) != recorded.comparable(official):
                yield f"turn {number}, {name}: {text[:200]!r}, not {official[:200]!r}"
            counts["printed sets"] += recorded.comparable(text) != text
        if recorded.state_hash(world.states()) != state:
            yield f"turn {number}: the state differs"
