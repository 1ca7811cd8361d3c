from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from adapters.bfcl import SUBSETS, Pair
from adapters.bfcl.tools import FLOAT_NOTE, HINT, compile_tool
from tests.adapters.bfcl import recorded
from tests.adapters.bfcl.small_release import small_pair


def digest(tools) -> str:
    return hashlib.sha256(json.dumps([tool.openai() for tool in tools], sort_keys=True).encode()).hexdigest()[:16]


def test_tool_lists_equal_the_official_ones(pair: Pair, oracles: Path) -> None:
    version = pair.release.version
    lines = recorded.read(oracles / f"bfcl_tools_{version}.jsonl.gz")
    forms = next(lines)["tools"]
    official = {line["id"]: line for line in lines}
    entries = {entry.id: entry for subset in SUBSETS for entry in pair.entries(subset)}
    assert official.keys() <= entries.keys()
    wrong, seen = [], 0
    for entry_id, line in official.items():
        lists = [(pair.tools(entries[entry_id]), line["initial_names"], line["initial_sha"])]
        turns = pair.turns(entries[entry_id])
        lists += [(turns[int(k)].tools, held["names"], held["sha"]) for k, held in line["holdout"].items()]
        assert sum(turn.tools is not None for turn in turns) == len(line["holdout"])
        for tools, names, sha in lists:
            seen += 1
            if [tool.name for tool in tools] != names or digest(tools) != sha:
                wrong.append(entry_id)
            # Key order counts too: it is in the bytes that a server gets.
            shown = {json.dumps(forms[key]) for key in forms if key.rpartition(":")[2] in names}
            assert all(json.dumps(tool.openai()) in shown for tool in tools)
    assert not wrong
    assert seen > 600


def test_types_are_mapped_and_floats_noted() -> None:
    doc = {
        "name": "a.b",
        "description": "D.",
        "parameters": {
            "type": "dict",
            "properties": {
                "x": {"type": "float", "description": "X.", "default": 1.5},
                "y": {"type": "tuple", "items": {"type": "dict", "properties": {"z": {"description": "Z."}}}},
                "w": {"type": "list", "items": {"type": "list", "items": {"type": "float"}}},
                "v": {"type": "any"},
                "u": {"type": "matrix"},
            },
            "required": ["x"],
        },
        "response": {"type": "dict"},
    }
    before = json.dumps(doc)
    function = compile_tool(doc, hints=1).openai()["function"]
    assert function == {
        "name": "a_b",
        "description": "D." + HINT,
        "parameters": {
            "type": "object",
            "properties": {
                "x": {"type": "number", "description": "X." + FLOAT_NOTE, "default": 1.5, "format": "float"},
                "y": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"z": {"description": "Z.", "type": "string"}}},
                },
                "w": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
                "v": {"type": "string"},
                "u": {"type": "string"},
            },
            "required": ["x"],
        },
        # The answer's schema stands beside, in BFCL's own dialect.
        "response": {"type": "dict"},
    }
    assert json.dumps(doc) == before


@pytest.mark.parametrize(("version", "old", "new"), [("v3", 2, 1), ("v4", 1, 0)])
def test_held_out_tools_appear_at_the_end_with_the_hints_of_the_release(version: str, old: int, new: int) -> None:
    pair = small_pair(version)
    (entry,) = pair.entries("miss_func")
    assert [(t.name, t.description.count(HINT)) for t in pair.tools(entry)] == [("list_tickets", 1), ("close_all", 1)]
    first, second, third = pair.turns(entry)
    assert first.tools is None
    assert third.tools is None
    assert second.text == "New tools. And now?"
    assert [(tool.name, tool.description.count(HINT)) for tool in second.tools] == [
        ("list_tickets", old),
        ("close_all", old),
        ("open_ticket", new),
    ]
