"""What the oracle of a scenario does: its effects, which values in them an agent chooses, what else is possible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from envscaler.audit.stage import Play, Stage
from envscaler.audit.tree import (
    Effect,
    Path,
    collections,
    get,
    is_number,
    is_tag,
    is_time,
    put,
    same,
    state,
    texts,
    tree,
)
from envscaler.scenarios import OracleCall
from harness.state import MISSING, State


@dataclass
class Oracle:
    """The oracle's effects, and which forms of change legal calls can make."""

    play: Play
    """Of its writes alone where its reads leave no trace."""
    effects: list[Effect]
    reach: set[tuple[str, str, str]] = field(default_factory=set)
    """(collection, kind of effect, field), seen in the oracle or in a legal call."""
    said: dict[Path, list[Any]] = field(default_factory=dict)
    """Arguments of the calls that touched a record, by its path."""

    @property
    def records(self) -> list[Effect]:
        """Effects on records, without counters and other settings."""
        return [effect for effect in self.effects if not effect.is_setting]

    def learn(self, call: OracleCall, found: Iterable[Effect]) -> None:
        """Learn what one call of the oracle did."""
        for effect in found:
            self.said.setdefault(effect.path, []).append(call.arguments)

    def given(self, effect: Effect, value: Any) -> bool:
        """Whether a value in a record is an agent's choice: a call that touched the record said it."""
        said = self.said.get(effect.path, [])
        return value in (numbers(said) if is_number(value) else texts(said))

    def see(self, found: Iterable[Effect]) -> None:
        """Learn from what a legal call did."""
        for effect in found:
            if not effect.is_setting:
                name = str(effect.path[0])
                self.reach.add((name, effect.kind, ""))
                if effect.kind == "altered":
                    self.reach |= {(name, "altered", field_of(place)) for place in effect.changed}


def field_of(place: Path) -> str:
    """The name of a leaf, wherever in its record."""
    return next((key for key in reversed(place) if isinstance(key, str)), "")


def is_free_text(stage: Stage, value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether an argument is text whose wording the task leaves to the agent: no choice, no name, not quoted."""
    return (
        isinstance(value, str)
        and value != ""
        and not is_time(value)
        and "enum" not in schema
        and value not in stage.scenario.task
        and value not in stage.names
    )


def told(call: OracleCall) -> str:
    """A call for people."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    text = f"{call.name}({arguments})"
    return text if len(text) <= 160 else f"{text[:157]}..."


def numbers(value: Any) -> Iterator[float]:
    """Every number in a value."""
    if is_number(value):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers(inner)


def unused(name: str, taken: set[str]) -> str:
    """A name of the same form that nobody has: other digits where it has some."""
    digits = list(re.finditer(r"\d+", name))
    for add in range(37, 10_000, 37):
        if digits:
            last = digits[-1]
            number = str((int(last[0]) + add) % 10 ** len(last[0])).zfill(len(last[0]))
            fresh = name[: last.start()] + number + name[last.end() :]
        else:
            fresh = f"{name}-{add}"
        if fresh != name and fresh not in taken:
            return fresh
    return f"{name}-other"


def misled(oracle: Oracle, start: Any) -> State:
    """A state with as many changes as the oracle's, in the same collections, and nothing of what was asked.

    A check that passes here is true by accident: it counts, or sees that something happened.
    """
    root = tree(oracle.play.final)
    rows = collections(root)
    touched = {effect.path for effect in oracle.effects}
    for effect in oracle.records:
        name = str(effect.path[0])
        if effect.kind == "added":
            put(root, effect.path, _alien(effect.after))
            continue
        put(root, effect.path, effect.before)
        others = [(name, key) for key in rows.get(name, {}) if (name, key) not in touched]
        for path in others[:1]:
            touched.add(path)
            if effect.kind == "dropped":
                put(root, path, MISSING)
            else:
                for place in effect.changed:
                    value = get(root, (*path, *place))
                    if value is not MISSING and not same(value, _alien(value)):
                        put(root, (*path, *place), _alien(value))
    return state(root)


def _alien(value: Any) -> Any:
    """A value of the same shape that nobody asked for."""
    if isinstance(value, dict) and not is_tag(value):
        return {key: _alien(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_alien(inner) for inner in value]
    if isinstance(value, bool):
        return not value
    if is_number(value):
        return value + 7919
    if isinstance(value, str) and not is_time(value):
        return "unasked"
    return value
