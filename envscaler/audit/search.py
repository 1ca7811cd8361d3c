"""A bounded search for an oracle where a scenario came without one: greedy, over legal calls, guided by the checks.

The constants of a check say what it waits for, often with the field's name beside them. Calls are made of those and of
what stands in the state; a call that makes further checks true and none false is kept. What is found is a call list
that passes every check, not proof that it is what the task means.
"""

from __future__ import annotations

import ast
import copy
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from envscaler.audit.legal import Step, Values
from envscaler.audit.oracle import unused
from envscaler.audit.stage import Stage, refused
from envscaler.audit.tree import tree
from envscaler.scenarios import OracleCall
from harness.environment import ToolSpec
from harness.errors import EnvironmentFault
from harness.program import Instance
from harness.runtime import PASSED
from harness.state import State

_PER_TOOL = 40
"""Argument lists of one tool for one check."""
_AT_ONCE = 24
"""States that are judged together."""
_CREATES = re.compile(r"(add|create|register|new|submit|record|log)_")
_PREFIX = re.compile(r"^(target|expected|new|required|desired|correct)_")


@dataclass(frozen=True)
class Found:
    """The best call list of a search."""

    calls: tuple[OracleCall, ...]
    share: float
    """Of checks that it passes."""


@dataclass
class Hints:
    """Constants of a check, by the name of the field or variable they stand beside."""

    by_name: dict[str, list[Any]] = field(default_factory=dict)
    constants: list[Any] = field(default_factory=list)

    def add(self, name: str, value: Any) -> None:
        """Note a constant under a name."""
        known = self.by_name.setdefault(_PREFIX.sub("", name.lower()), [])
        if value not in known:
            known.append(value)

    def named(self, name: str) -> list[Any]:
        """Constants for a parameter."""
        found = list(self.by_name.get(name, []))
        short = _PREFIX.sub("", name)
        for known, values in self.by_name.items():
            if known != name and (known == short or known.endswith(f"_{short}") or short.endswith(f"_{known}")):
                found += [value for value in values if value not in found]
        return found


def hints(source: str) -> Hints:
    """The hints of a check function; none if it does not parse."""
    found = Hints()
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return found
    variables: dict[str, Any] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (known := _constant(value)) is not None:
                variables[name] = known
                found.add(name, known)
            case ast.Constant(value=str() | int() | float() as known) if not isinstance(known, bool):
                if known not in found.constants:
                    found.constants.append(known)
    for node in nodes:
        match node:
            case ast.Compare(left=left, comparators=[right]):
                for one, other in ((left, right), (right, left)):
                    compared, value = _field(one), _constant(other, variables)
                    if compared is not None and value is not None:
                        found.add(compared, value)
            case ast.Dict(keys=keys, values=values):
                for key, inner in zip(keys, values, strict=True):
                    named, value = _constant(key), _constant(inner, variables)
                    if isinstance(named, str) and value is not None:
                        found.add(named, value)
    return found


def _constant(node: ast.expr | None, variables: dict[str, Any] | None = None) -> Any:
    if isinstance(node, ast.Name):
        return (variables or {}).get(node.id)
    try:
        return ast.literal_eval(node) if node is not None else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _field(node: ast.expr) -> str | None:
    match node:
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case ast.Call(func=ast.Attribute(value=inner)):
            return _field(inner)
    return None


def search(stage: Stage, budget: int) -> Found:
    """Look for calls that pass every check.

    Args:
        budget: Most calls to make; those that the environment refuses count.
    """
    first = _Search(stage, budget // 2, ranked=True).run()
    if first.share == 1.0:
        return first
    second = _Search(stage, budget - budget // 2, ranked=False).run()
    return max(first, second, key=lambda found: found.share)


class _Search:
    """One run.

    Args:
        ranked: Try names of records first whose fields hold what a check speaks of; else in the state's order.
    """

    def __init__(self, stage: Stage, budget: int, *, ranked: bool) -> None:
        self._stage, self._budget, self._ranked = stage, budget, ranked
        self._hints = _shared([hints(check.function) for check in stage.scenario.checks])
        self._read_only: dict[str, int] = {}
        self._instance: Instance | None = None

    def run(self) -> Found:
        stage = self._stage
        calls: list[OracleCall] = []
        base, passed = stage.initial, [letters == PASSED for letters in stage.ask([stage.initial])]
        while not all(passed) and self._budget > 0:
            better = self._better(base, passed)
            if better is None:
                break
            step, passed = better
            calls.append(step.call)
            base = step.final
        self._close()
        try:
            # From the start, once more: what is restored may know less than what was played.
            verdicts = stage.verdicts(stage.play(calls).final)
        except EnvironmentFault:
            return Found((), 0.0)
        return Found(tuple(calls), sum(verdict.passed for verdict in verdicts) / len(verdicts))

    def _better(self, base: State, passed: list[bool]) -> tuple[Step, list[bool]] | None:
        """The first step that makes more checks true, of several judged together the best."""
        values = Values(tree(base))
        seen: set[str] = set()
        waiting: list[Step] = []
        for index, held in enumerate(passed):
            if held:
                continue
            for step in self._steps(base, index, values, seen):
                waiting.append(step)
                if len(waiting) >= _AT_ONCE and (found := self._best(waiting, passed)) is not None:
                    return found
                if len(waiting) >= _AT_ONCE:
                    waiting.clear()
            if waiting and (found := self._best(waiting, passed)) is not None:
                return found
            waiting.clear()
            if self._budget <= 0:
                return None
        return None

    def _best(self, steps: list[Step], passed: list[bool]) -> tuple[Step, list[bool]] | None:
        heard = list(zip(*self._stage.ask([step.final for step in steps]), strict=True))
        best: tuple[int, Step, list[bool]] | None = None
        for step, letters in zip(steps, heard, strict=True):
            now = [letter == PASSED for letter in letters]
            gain = sum(now) - sum(passed)
            lost = any(before and not after for before, after in zip(passed, now, strict=True))
            if gain > 0 and not lost and (best is None or gain > best[0]):
                best = gain, step, now
        return None if best is None else best[1:]

    def _steps(self, base: State, index: int, values: Values, seen: set[str]) -> Iterator[Step]:
        """Accepted calls that change the state, made for one check."""
        words = set(re.findall(r"[a-z]+", self._stage.scenario.checks[index].item.lower()))
        tools = sorted(self._stage.tools, key=lambda tool: -len(words & set(tool.name.split("_"))))
        for tool in tools:
            if self._read_only.get(tool.name, 0) >= 6:
                continue
            for arguments in itertools.islice(self._arguments(tool, self._hints[index], values), _PER_TOOL):
                mark = f"{tool.name} {arguments!r}"
                if mark in seen:
                    continue
                seen.add(mark)
                if self._budget <= 0:
                    return
                step = self._try(base, OracleCall(tool.name, arguments))
                if step is not None:
                    yield step

    def _try(self, base: State, call: OracleCall) -> Step | None:
        self._budget -= 1
        try:
            if self._instance is None:
                self._instance = self._stage.open(base)
            result = self._instance.call(call.name, copy.deepcopy(call.arguments))
            if refused(result):
                return None
            final = self._instance.state()
        except EnvironmentFault:
            self._close()
            return None
        if final == base:
            self._read_only[call.name] = self._read_only.get(call.name, 0) + 1
            return None
        self._read_only[call.name] = -(10**6)
        self._close()
        return Step(call, final)

    def _close(self) -> None:
        if self._instance is not None:
            self._stage.leave(self._instance)
            self._instance = None

    def _arguments(self, tool: ToolSpec, known: Hints, values: Values) -> Iterator[dict[str, Any]]:
        """Argument lists, the likeliest first."""
        required = tool.parameters.get("required", ())
        options: dict[str, list[Any]] = {}
        for name, schema in tool.parameters.get("properties", {}).items():
            found = self._options(tool.name, name, schema, known, values)
            if name in required:
                options[name] = found or ["note"]
            elif hinted := [value for value in known.named(name) if _fits(value, schema)]:
                options[name] = hinted
        for picks in sorted(
            itertools.islice(itertools.product(*(range(len(found)) for found in options.values())), 4000), key=sum
        ):
            yield {name: options[name][pick] for name, pick in zip(options, picks, strict=True)}

    def _options(self, tool: str, name: str, schema: dict[str, Any], known: Hints, values: Values) -> list[Any]:
        found: list[Any] = []
        wanted = {constant for constant in known.constants if isinstance(constant, str)}
        present = values.named(name)
        if self._ranked:
            present = sorted(present, key=lambda key: -len(values.beside.get(str(key), frozenset()) & wanted))
        task = self._stage.scenario.task
        said = [constant for constant in known.constants if constant not in present]
        for value in (
            *known.named(name),
            *(constant for constant in known.constants if constant in present),
            *(text for text in present if isinstance(text, str) and text in task),
            *present[:6],
            *schema.get("enum", ()),
            *(constant for constant in said if isinstance(constant, str) and constant in task),
        ):
            # A list of what is there and what is asked for, as an update of a list takes it.
            lists = [[*old, value] for old in values.lists.get(name.removeprefix("new_"), ())[:6]]
            for item in (value, *lists, [value]):
                if _fits(item, schema) and item not in found:
                    found.append(item)
        stem = name.removesuffix("_id")
        if stem != name and stem in tool and _CREATES.match(tool) and schema.get("type") == "string":
            # Some environments let the caller name what it creates.
            found.insert(min(len(found), 1), unused(f"{stem}-1", set(map(str, present))))
        if not found:
            found = [constant for constant in known.constants if _fits(constant, schema)]
        return found[:12]


def _fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value has the type that a schema asks for."""
    if options := schema.get("anyOf"):
        return any(_fits(value, option) for option in options)
    match schema.get("type"):
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list) and all(_fits(item, schema.get("items") or {}) for item in value)
        case "object":
            return isinstance(value, dict)
    return not isinstance(value, list)


def _shared(found: list[Hints]) -> list[Hints]:
    """The hints of each check, and after them those of checks that speak of the same things."""
    counts: dict[str, int] = {}
    for one in found:
        for constant in one.constants:
            if isinstance(constant, str):
                counts[constant] = counts.get(constant, 0) + 1
    # A constant that half of the checks name is a field or a collection, not a thing.
    common = {text for text, count in counts.items() if count > max(6, len(found) // 2)}
    merged = []
    for one in found:
        things = {text for text in one.constants if isinstance(text, str)} - common
        both = Hints({name: list(values) for name, values in one.by_name.items()}, list(one.constants))
        for other in found:
            if other is not one and things & {text for text in other.constants if isinstance(text, str)}:
                for name, values in other.by_name.items():
                    for value in values:
                        both.add(name, value)
                both.constants += [value for value in other.constants if value not in both.constants]
        merged.append(both)
    return merged
