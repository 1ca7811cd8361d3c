"""Agents without a model: a tester that works from documentation and records, and two checkers.

They inspect an environment where no model is at hand, and they measure what an inspection can find at all: `contract`
knows only what every tool owes (it answers, refuses unknown ids, and leaves the records alone when it refuses or only
asks); `reference` knows the right answer, from a sound implementation of the same environment.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from envscaler.skelbuilder.evidence import Case, Evidence, Ruling, TestCall, View
from harness.environment import ToolSpec
from harness.isolation import IsolatedRunner
from harness.program import Program
from harness.state import State

_UNKNOWN = "no-such-thing"
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_QUERY_VERBS = ("get", "list", "find", "search", "show", "view", "calculate", "quote")


@dataclass
class ScriptedTester:
    """Calls every tool in turn, alternately with values from the records and with one value broken."""

    seed: int = 0
    tried: set[str] = field(default_factory=set)

    async def call(self, view: View) -> TestCall:
        """The next call: of the tools that may be called, the least tested."""
        chance = random.Random(f"{self.seed} {view.documentation.env_id} {view.number}")
        tools = {tool.name: tool for tool in view.documentation.tools}
        counts = view.counts
        name = min(view.allowed, key=lambda name: (counts[name].positive + counts[name].negative, chance.random()))
        records = Records(view.state.decode())
        case: Case = "negative" if counts[name].negative < counts[name].positive else "positive"
        for _ in range(8):
            arguments = _arguments(tools[name], records, chance)
            if case == "negative":
                arguments = _broken(tools[name], arguments, records, chance)
            shown = f"{name} {json.dumps(arguments, sort_keys=True, default=str)}"
            if shown not in self.tried:
                break
        self.tried.add(shown)
        return TestCall(
            tool=name, arguments=arguments, case=case, purpose=f"a {case} call with values from the records"
        )


class Records:
    """Values of the records, by the name of their field."""

    def __init__(self, state: Any) -> None:
        self.by_name: dict[str, list[Any]] = {}
        self.rows: list[dict[str, Any]] = []
        for name, value in state.items() if isinstance(state, dict) else ():
            self._take(str(name), value)
            if isinstance(value, dict) and value and all(isinstance(row, dict) for row in value.values()):
                self.by_name.setdefault(f"{_singular(str(name))}_id", []).extend(value)

    def _take(self, name: str, value: Any) -> None:
        if isinstance(value, dict):
            if all(isinstance(key, str) for key in value):
                self.rows.append(value)
            for key, inner in value.items():
                self._take(str(key), inner)
        elif isinstance(value, list):
            for inner in value:
                self._take(_singular(name), inner)
                if not isinstance(inner, dict):
                    self.by_name.setdefault(name, []).append(inner)
        else:
            self.by_name.setdefault(name, []).append(value)

    def values(self, name: str) -> list[Any]:
        """Values of a field of that name, else of one whose name ends or begins like it."""
        if self.by_name.get(name):
            return self.by_name[name]
        for other in sorted(self.by_name):
            if name.endswith(f"_{other}") or other.endswith(f"_{name}"):
                return self.by_name[other]
        return []


def _singular(name: str) -> str:
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def _arguments(tool: ToolSpec, records: Records, chance: random.Random) -> dict[str, Any]:
    """Values that fit together as far as the records tell: from one row where it has fields of several parameters."""
    properties: dict[str, Any] = tool.parameters.get("properties", {})
    required = set(tool.parameters.get("required", ()))
    rows = [row for row in records.rows if sum(name in row for name in properties) > 1]
    row = chance.choice(rows) if rows and chance.random() < 0.7 else {}
    arguments = {}
    for name, schema in properties.items():
        if name not in required and chance.random() < 0.5:
            continue
        if name in row and _fits(row[name], schema):
            arguments[name] = row[name]
        else:
            arguments[name] = _value(name, schema, records, chance)
    return arguments


def _options(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for option in schema.get("anyOf", [schema]):
        if option.get("type") != "null":
            yield option


def _fits(value: Any, schema: dict[str, Any]) -> bool:
    for option in _options(schema):
        kinds = _KINDS.get(str(option.get("type")), ())
        if isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds):
            return "enum" not in option or value in option["enum"]
    return False


def _value(name: str, schema: dict[str, Any], records: Records, chance: random.Random) -> Any:
    option = next(iter(_options(schema)), {})
    if option.get("enum"):
        return chance.choice(option["enum"])
    known = [value for value in records.values(name) if _fits(value, schema)]
    kind = option.get("type")
    if known and (kind == "string" or chance.random() < 0.5):
        return chance.choice(known)
    if kind == "integer":
        return chance.choice([1, 1, 2, 3, 5, 10, 25])
    if kind == "number":
        return chance.choice([1.0, 5.0, 12.5, 40.0])
    if kind == "boolean":
        return chance.random() < 0.5
    if kind == "array":
        item = option.get("items") or {"type": "string"}
        return [_value(_singular(name), item, records, chance) for _ in range(chance.choice([1, 1, 2]))]
    if kind == "object":
        fields = option.get("properties", {})
        needed = option.get("required", list(fields))
        return {key: _value(key, fields[key], records, chance) for key in needed if key in fields}
    return _text(name, schema, records, chance)


def _text(name: str, schema: dict[str, Any], records: Records, chance: random.Random) -> str:
    described = str(schema.get("description", ""))
    dates = [v for field, found in records.by_name.items() if "date" in field or field.endswith("_on") for v in found]
    if "date" in name or name.endswith("_on") or "YYYY-MM-DD" in described:
        texts = [value for value in dates if isinstance(value, str)]
        return chance.choice(texts) if texts else "2026-03-02"
    if "time" in name or "HH:MM" in described:
        return chance.choice(["09:00", "10:30", "14:00"])
    if "mail" in name:
        return "robin@example.org"
    if "phone" in name:
        return "555-0147"
    quoted = [part for part in described.split('"')[1::2] if part]
    return chance.choice(quoted) if quoted else f"Test {name.replace('_', ' ')}"


def _broken(tool: ToolSpec, arguments: dict[str, Any], records: Records, chance: random.Random) -> dict[str, Any]:
    """The arguments with one of them wrong: an unknown id, a value out of bounds, a wrong type. Optional ones too."""
    properties: dict[str, Any] = tool.parameters.get("properties", {})
    if not properties:
        return arguments
    ids = [name for name in properties if name.endswith(("_id", "_ids"))]
    name = chance.choice(ids if ids and chance.random() < 0.3 else [*properties])
    value = arguments[name] if name in arguments else _value(name, properties[name], records, chance)
    wrong: list[Any]
    match value:
        case bool():
            wrong = ["yes"]
        case int() | float():
            wrong = [-1, 0, 10**9, "many"]
        case str():
            wrong = [_UNKNOWN, _UNKNOWN, "", 7]
        case list():
            wrong = [[], [_UNKNOWN], [*value, *value]]
        case _:
            wrong = [{}]
    return {**arguments, name: chance.choice(wrong)}


@dataclass(frozen=True, slots=True)
class ContractChecker:
    """Judges by what every tool owes, whatever it does."""

    async def rule(self, evidence: Evidence) -> Ruling:
        """A pass, unless the contract is broken."""
        return contract(evidence)


def contract(evidence: Evidence) -> Ruling:
    """The ruling of the contract: rules of answers, refusals and records."""
    call, changed = evidence.call, evidence.before != evidence.after
    if evidence.raised:
        return _fail(f"{call.tool} raised: {evidence.observation[:200]}")
    try:
        answer = json.loads(evidence.observation)
    except ValueError:
        return _fail("the answer is not JSON")
    if not isinstance(answer, dict) or not isinstance(answer.get("success"), bool):
        return Ruling(verdict="warning", reason="the answer does not say success or failure")
    if not answer["success"]:
        if changed:
            return _fail("refused, and changed the records all the same")
        if not any(isinstance(answer.get(key), str) and answer[key].strip() for key in ("error", "message")):
            return _fail("refused without a word why")
        return Ruling(verdict="pass", reason="refused, and changed nothing")
    if call.tool.split("_")[0] in _QUERY_VERBS and changed:
        return _fail("a query changed the records")
    unknown = [name for name, value in call.arguments.items() if value == _UNKNOWN and name.endswith("_id")]
    if unknown:
        return _fail(f"took an unknown {unknown[0]} for good")
    return Ruling(verdict="pass", reason="answered")


def _fail(reason: str) -> Ruling:
    return Ruling(verdict="fail", reason=reason)


@dataclass(frozen=True, slots=True)
class ReferenceChecker:
    """Judges by a sound implementation: from the same records, the same call must give the same answer and records."""

    program: Program
    runner: IsolatedRunner

    async def rule(self, evidence: Evidence) -> Ruling:
        """A fail wherever the two differ."""
        answer, raised, after = await self._right(evidence)
        if (evidence.raised, evidence.observation) != (raised, answer):
            return _fail(f"the answer differs: expected {answer[:200]}")
        if evidence.after != after:
            return _fail(f"the records differ: {', '.join(change.path for change in after.diff(evidence.after)[:4])}")
        return Ruling(verdict="pass", reason="as it should be")

    async def _right(self, evidence: Evidence) -> tuple[str, bool, State]:
        from dataclasses import replace

        from harness.environment import ToolStatus

        instance = await self.runner.open_async(replace(self.program, config=evidence.before))
        try:
            result = await instance.call_async(evidence.call.tool, evidence.call.arguments)
            return result.text, result.status is not ToolStatus.OK, await instance.state_async()
        finally:
            instance.close()
