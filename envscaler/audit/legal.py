"""Legal calls at random: arguments that the schemas allow, drawn from what stands in the state.

An environment refuses most calls that make no sense, so what it accepts is what an agent could have done.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from envscaler.audit.stage import Play, Stage, refused
from envscaler.audit.tree import collections, is_number, is_tag, is_time, texts, tree
from envscaler.scenarios import OracleCall
from harness.environment import ToolSpec
from harness.errors import EnvironmentFault
from harness.program import Instance
from harness.state import State

WORDS = ("note", "other", "Bystander 7")
"""Texts where the state has none of that name."""


class Values:
    """Values by the name they stand under, as far as a state holds them."""

    def __init__(self, root: Any) -> None:
        self.by_name: dict[str, list[Any]] = {}
        self.times: list[str] = []
        self.lists: dict[str, list[list[Any]]] = {}
        self.beside: dict[str, frozenset[str]] = {}
        """Texts of a record, by its key."""
        for name, rows in collections(root).items():
            singular = name[:-1] if name.endswith("s") else name
            for key, row in rows.items():
                if isinstance(key, str):
                    self._add(f"{singular}_id", key)
                    self.beside.setdefault(key, frozenset(texts(row)))
                self._take(name, row)
        for name, value in root.items():
            self._take(name, value)

    def _take(self, name: str, value: Any) -> None:
        if isinstance(value, dict) and not is_tag(value):
            for key, inner in value.items():
                self._take(key, inner)
        elif isinstance(value, list):
            self.lists.setdefault(name, []).append(value)
            for inner in value:
                self._take(name, inner)
        elif isinstance(value, str | int | float) and value != "":
            self._add(name, value)
            if is_time(value) and isinstance(value, str):
                self.times.append(value)

    def _add(self, name: str, value: Any) -> None:
        known = self.by_name.setdefault(name, [])
        if value not in known:
            known.append(value)

    def named(self, name: str) -> list[Any]:
        """Values under a parameter's name, or under the longest name that ends it (`new_room_number`)."""
        singular = name[:-1] if name.endswith("s") else name
        for wanted in (name, singular):
            if wanted in self.by_name:
                return self.by_name[wanted]
        endings = [known for known in self.by_name if len(known) > 3 and name.endswith(f"_{known}")]
        return self.by_name[max(endings, key=len)] if endings else []

    def draw(self, name: str, schema: dict[str, Any], rng: random.Random) -> Any:
        """A value for a parameter."""
        if "enum" in schema:
            return rng.choice(schema["enum"])
        if options := schema.get("anyOf"):
            return self.draw(name, rng.choice(options), rng)
        known = self.named(name)
        match schema.get("type"):
            case "integer":
                return rng.choice([*(v for v in known if isinstance(v, int) and not isinstance(v, bool)), 1, 2])
            case "number":
                return rng.choice([*filter(is_number, known), 1, 10.0])
            case "boolean":
                return rng.random() < 0.5
            case "null":
                return None
            case "array":
                return [self.draw(name, schema.get("items") or {"type": "string"}, rng)]
            case "object":
                inner = schema.get("properties", {})
                return {key: self.draw(key, value, rng) for key, value in inner.items()}
        return rng.choice([v for v in known if isinstance(v, str)] or [*self.times[:20], *WORDS])

    def arguments(self, tool: ToolSpec, rng: random.Random) -> dict[str, Any]:
        """Arguments for a call: what is required, and now and then what is not."""
        required = tool.parameters.get("required", ())
        return {
            name: self.draw(name, schema, rng)
            for name, schema in tool.parameters.get("properties", {}).items()
            if name in required or rng.random() < 0.3
        }


@dataclass(frozen=True, slots=True)
class Step:
    """An accepted call that changed the state."""

    call: OracleCall
    final: State


def writes(stage: Stage, base: State, rng: random.Random, *, most: int, tries: int) -> list[Step]:
    """Single calls that change the state `base`: of each tool as many as fit, so that all have their turn."""
    tools = list(stage.tools)
    rng.shuffle(tools)
    found: list[Step] = []
    with _Probe(stage, base, rng, tries) as probe:
        for most_of_tool in (1, 2, 3):
            for tool in list(tools):
                if len(found) >= most:
                    return found
                if sum(step.call.name == tool.name for step in found) >= most_of_tool:
                    continue
                step = probe.write(tool)
                if step is None:
                    tools.remove(tool)
                elif all(step.final != other.final for other in found):
                    found.append(step)
    return found


class _Probe:
    """An instance in one state that is called until something changes, and started anew then."""

    def __init__(self, stage: Stage, base: State, rng: random.Random, tries: int) -> None:
        self._stage, self._base, self._rng, self._tries = stage, base, rng, tries
        self._values = Values(tree(base))
        self._instance: Instance | None = None

    def __enter__(self) -> _Probe:
        return self

    def __exit__(self, *_: object) -> None:
        if self._instance is not None:
            self._stage.leave(self._instance)
            self._instance = None

    def write(self, tool: ToolSpec) -> Step | None:
        """An accepted call of one tool that changes the state, if there is one to be found."""
        accepted = 0
        try:
            for _ in range(self._tries):
                if self._instance is None:
                    self._instance = self._stage.open(self._base)
                arguments = self._values.arguments(tool, self._rng)
                result = self._instance.call(tool.name, copy.deepcopy(arguments))
                if refused(result):
                    continue
                accepted += 1
                final = self._instance.state()
                if final != self._base:
                    self.__exit__()
                    return Step(OracleCall(tool.name, arguments), final)
                if accepted >= 3:
                    return None
        except EnvironmentFault:
            self.__exit__()
        return None


def episodes(stage: Stage, rng: random.Random, *, count: int, calls: int, tries: int) -> Iterator[Play]:
    """Episodes of legal calls at random."""
    values = Values(stage.start)
    for _ in range(count):
        made: list[OracleCall] = []
        results = []
        try:
            instance = stage.open()
            try:
                for _ in range(tries * 4):
                    tool = rng.choice(stage.tools)
                    arguments = values.arguments(tool, rng)
                    result = instance.call(tool.name, copy.deepcopy(arguments))
                    if not refused(result):
                        made.append(OracleCall(tool.name, arguments))
                        results.append(result)
                    if len(made) >= calls:
                        break
                final = instance.state()
            finally:
                stage.leave(instance)
        except EnvironmentFault:
            continue
        yield Play(tuple(made), tuple(results), final)
