from __future__ import annotations

import pytest

from envscaler.scenarios import load
from envscaler.skelbuilder.gate import IMPORTS, gate, released_schema_findings
from harness.isolation import ALLOWED_MODULES
from tests.small_corpus import SOURCE

BUNDLED = load("bundled")


def shelf(old: str = "", new: str = "") -> str:
    assert old in SOURCE
    return SOURCE.replace(old, new)


@pytest.mark.parametrize("env_id", BUNDLED.environments)
def test_bundled_environments_pass(env_id: str) -> None:
    record = BUNDLED.environments[env_id]
    assert gate(record.source, record.class_name, [tool.name for tool in record.own_tools]) == []


RETURN = '        return {"success": True, "data": self.jars.get(name, 0)}\n'


@pytest.mark.parametrize(
    ("source", "rule", "problem"),
    [
        pytest.param(shelf("class Shelf:", "class Shelf"), "compiles", "line 1: does not compile", id="syntax"),
        pytest.param("x = 1", "compiles", "defines no class Shelf", id="no-class"),
        pytest.param("import os\n" + SOURCE, "imports", "imports os", id="machine"),
        pytest.param("from .x import y\n" + SOURCE, "imports", "imports relatively", id="relative"),
        pytest.param("from typing import *\n" + SOURCE, "imports", "imports * from typing", id="star"),
        pytest.param(
            "from datetime import datetime as d\n" + shelf(RETURN, "        d.now()\n" + RETURN),
            "clock",
            "datetime.datetime.now",
            id="clock-under-another-name",
        ),
        pytest.param(
            "import uuid\n" + shelf(RETURN, "        make = uuid.uuid4\n" + RETURN),
            "chance",
            "uuid.uuid4",
            id="random-id",
        ),
        pytest.param(
            "import random\n" + shelf(RETURN, "        random.shuffle([])\n" + RETURN),
            "chance",
            "random.shuffle",
            id="dice",
        ),
        pytest.param(shelf(RETURN, "        open('x')\n" + RETURN), "input_output", "uses open", id="file"),
        pytest.param(shelf(RETURN, "        print(name)\n" + RETURN), "input_output", "uses print", id="console"),
        pytest.param(shelf(RETURN, "        eval(name)\n" + RETURN), "input_output", "uses eval", id="eval"),
        pytest.param(
            shelf(RETURN, "        self.__dict__.clear()\n" + RETURN),
            "input_output",
            "__dict__",
            id="attributes-as-a-dict",
        ),
        pytest.param(
            shelf(RETURN, "        getattr(self, name)()\n" + RETURN),
            "input_output",
            "computed name",
            id="any-attribute",
        ),
        pytest.param(shelf("name: str) -> dict", "name) -> dict"), "annotations", "no annotation", id="unannotated"),
        pytest.param(
            shelf("name: str) -> dict", "name: object) -> dict"),
            "annotations",
            "tells an agent nothing",
            id="says-nothing",
        ),
        pytest.param(
            shelf("    def put", "    def take(self, name: str) -> dict:\n        return self.jars\n\n    def put"),
            "annotations",
            "take has no docstring",
            id="undocumented",
        ),
        pytest.param(shelf("    def put", "    async def put"), "tools", "put is async", id="async"),
        pytest.param(shelf("number: int = 1", "*number: int"), "tools", "given by name", id="starred"),
        pytest.param(shelf("    def put", "    def count"), "tools", "count is defined twice", id="twice"),
        pytest.param(
            shelf("self.capacity = init", "self.count = 1\n        self.capacity = init"), "tools", "hides", id="hidden"
        ),
        pytest.param(
            shelf("self.capacity = init", "self.owner = ''\n        self.capacity = init"),
            "state",
            "self.owner is set but no tool",
            id="idle-attribute",
        ),
        pytest.param(
            shelf("number > self.capacity", "number > self.limit"),
            "state",
            "self.limit is used but never set",
            id="unset",
        ),
        pytest.param(shelf("number: int = 1", "number: list = []"), "mutable_default", "mutable default", id="default"),
        pytest.param(
            shelf('    """A shelf of jars."""', '    """A shelf."""\n    _SEEN = []').replace(
                RETURN, "        self._SEEN.append(name)\n" + RETURN
            ),
            "mutable_default",
            "shared by all instances",
            id="shared-by-instances",
        ),
        pytest.param(
            shelf("self.jars[name] = self", "self.jars[name] = set() or self"), "json_state", "set into", id="set"
        ),
        pytest.param(
            shelf("self.jars = dict", "self.jars: dict[int, str] = dict"),
            "json_state",
            "keys of type int",
            id="int-keys",
        ),
        pytest.param(
            shelf("__init__(self, init_config: dict)", "__init__(self, a, b)"), "constructor", "needs b", id="init"
        ),
        pytest.param(shelf("class Shelf:", "class Shelf(dict):"), "constructor", "base classes", id="bases"),
    ],
)
def test_the_gate_names_what_it_refuses(source: str, rule: str, problem: str) -> None:
    found = [finding for finding in gate(source, "Shelf") if finding.rule == rule]
    assert any(problem in str(finding) for finding in found), [str(finding) for finding in gate(source, "Shelf")]


def test_a_plan_is_held_to() -> None:
    problems = [str(finding) for finding in gate(SOURCE, "Shelf", ["count", "take"])]
    assert problems == [
        "the planned operation take is missing",
        "line 16: put is not a planned operation; helpers begin with an underscore",
    ]


def test_hostile_sources_end_in_a_finding() -> None:
    for source in ("(" * 5000, "x = " + "-" * 100_000 + "1", "\0", "a" * 500_000):
        assert [finding.rule for finding in gate(source, "A")] == ["compiles"]


def test_environments_import_a_part_of_what_isolated_code_may() -> None:
    assert set(ALLOWED_MODULES) >= IMPORTS
    assert not {"os", "sys", "io", "inspect", "types", "weakref"} & IMPORTS


def test_a_released_schema_that_requires_an_optional_parameter_is_named() -> None:
    from dataclasses import replace

    record = BUNDLED.environments["clinic_scheduling"]
    tools = [tool.openai() for tool in record.own_tools]
    tools[0]["function"]["parameters"] = {**tools[0]["function"]["parameters"], "required": ["name"]}
    (found,) = released_schema_findings(replace(record, released={"tools": tools}))
    assert str(found) == "search_patients: name has a default, and the released schema requires it"
