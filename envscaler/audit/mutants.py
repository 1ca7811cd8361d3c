"""Wrong final states near the oracle's, which some check of a good scenario must notice.

Of two kinds: states that the environment itself reaches by a wrong call list (a call left out, a wrong argument, one
write too many), and the oracle's state with one thing changed (a write forgotten, a value swapped, another entity hit,
a record lost, added or written over). Changes of the second kind are of forms that some legal call can make; counters
and other settings are left alone, since the environment keeps them. What says the same as the oracle's state is no
mutant.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from envscaler.audit.legal import Step, Values
from envscaler.audit.oracle import Oracle, field_of, is_free_text, told, unused
from envscaler.audit.stage import Stage
from envscaler.audit.tree import (
    Effect,
    Path,
    collections,
    effects,
    get,
    is_number,
    is_tag,
    is_time,
    leaves,
    normal,
    put,
    spelled,
    state,
    texts,
    tree,
)
from envscaler.scenarios import OracleCall
from harness.state import MISSING, State

OPERATORS = (
    "missing_call",
    "wrong_argument",
    "extra_write",
    "forgotten_write",
    "swapped_value",
    "off_by_one",
    "other_entity",
    "dropped_record",
    "added_record",
    "altered_record",
    "overwritten_field",
)
COLLATERAL = frozenset({"extra_write", "dropped_record", "added_record", "altered_record", "overwritten_field"})
"""Operators that harm what the task does not ask for."""


@dataclass(frozen=True)
class Mutant:
    """A wrong final state."""

    operator: str
    what: str
    """What is wrong, in words."""
    final: State
    target: str = ""
    """Collection, or collection and field, that it harms."""


def mutants(stage: Stage, oracle: Oracle, extra: Sequence[Step], rng: random.Random, most: int) -> list[Mutant]:
    """The mutants of a scenario, at most `most` of an operator, no two alike."""
    right = normal(oracle.play.tree, stage.start)
    seen: set[tuple[str, str]] = set()
    found = []
    made = [*_calls(stage, oracle, most), *_extra(oracle, extra), *_states(stage, oracle)]
    for operator in OPERATORS:
        kept = []
        for mutant in (mutant for mutant in made if mutant.operator == operator):
            mark = ("", mutant.final.digest)
            if mark in seen or normal(tree(mutant.final), stage.start) == right:
                continue
            seen.add(mark)
            kept.append(mutant)
        found += kept if len(kept) <= most else [kept[i] for i in sorted(rng.sample(range(len(kept)), most))]
    return found


# Of the call list


def _calls(stage: Stage, oracle: Oracle, most: int) -> Iterator[Mutant]:
    calls = oracle.play.calls
    for index, call in enumerate(calls):
        played = stage.attempt([*calls[:index], *calls[index + 1 :]])
        if played is not None:
            yield Mutant("missing_call", f"without {told(call)}", played.final)
    values = Values(stage.start)
    wrong = [(index, call) for index, old in enumerate(calls) for call in _wrong(stage, values, old)]
    # Evenly over the list, if it is long: its head alone would say nothing of the last calls.
    step = max(1.0, len(wrong) / (most * 1.5))
    chosen = [wrong[int(place * step)] for place in range(int(len(wrong) / step))]
    refused = set(oracle.play.refused)
    for index, call in chosen:
        played = stage.attempt([*calls[:index], call, *calls[index + 1 :]])
        # A refused call is the same as a missing one.
        if played is not None and index not in set(played.refused) - refused:
            yield Mutant("wrong_argument", f"{told(call)} instead of {told(calls[index])}", played.final)


def _wrong(stage: Stage, values: Values, call: OracleCall) -> Iterator[OracleCall]:
    """The call with one argument changed."""
    tool = next((tool for tool in stage.tools if tool.name == call.name), None)
    schemas = tool.parameters.get("properties", {}) if tool else {}
    for name, value in call.arguments.items():
        if is_free_text(stage, value, schemas.get(name, {})):
            continue
        for other in _others(name, value, schemas.get(name, {}), values):
            yield OracleCall(call.name, {**call.arguments, name: other})


def _others(name: str, value: Any, schema: dict[str, Any], values: Values) -> Iterator[Any]:
    """Up to two values that an agent might have given instead."""
    if "enum" in schema:
        yield from [other for other in schema["enum"] if other != value][:2]
    elif isinstance(value, bool):
        yield not value
    elif is_number(value):
        yield value + 1
        if value > 1:
            yield value - 1
    elif isinstance(value, str):
        known = [other for other in values.named(name) if isinstance(other, str) and other != value]
        yield from known[:2] or ["something else"]
    elif isinstance(value, list) and value:
        yield value[:-1]
        items = _others(name, value[0], schema.get("items") or {}, values)
        yield from [[other, *value[1:]] for other in items][:1]
    elif isinstance(value, dict):
        for key, inner in value.items():
            for other in _others(key, inner, schema.get("properties", {}).get(key, {}), values):
                yield {**value, key: other}
                break


def _extra(oracle: Oracle, extra: Sequence[Step]) -> Iterator[Mutant]:
    for step in extra:
        found = [effect for effect in effects(oracle.play.tree, tree(step.final)) if not effect.is_setting]
        if found:
            target = ", ".join(sorted({str(effect.path[0]) for effect in found}))
            yield Mutant("extra_write", f"{told(step.call)} as well", step.final, target)


# Of the final state


def _states(stage: Stage, oracle: Oracle) -> Iterator[Mutant]:
    maker = _Maker(stage, oracle)
    for effect in oracle.records:
        yield from maker.forgotten(effect)
        yield from maker.wrong_values(effect)
        yield from maker.elsewhere(effect)
        yield from maker.overwritten(effect)
    yield from maker.collateral()


class _Maker:
    """Copies of the oracle's final state with one thing changed."""

    def __init__(self, stage: Stage, oracle: Oracle) -> None:
        self._start, self._final = stage.start, oracle.play.tree
        self._stage, self._oracle = stage, oracle
        self._rows = collections(self._final)
        self._touched = {effect.path for effect in oracle.effects}
        self._texts = set(texts(self._final))

    def forgotten(self, effect: Effect) -> Iterator[Mutant]:
        """All that was done to a record, undone."""
        yield from self._with("forgotten_write", f"{spelled(effect.path)} as before", (effect.path, effect.before))

    def wrong_values(self, effect: Effect) -> Iterator[Mutant]:
        """One leaf of a touched record, with a value that is not the oracle's."""
        if effect.after is MISSING:
            return
        for place, (before, after) in effect.changed.items():
            path = (*effect.path, *place)
            if is_number(after) and (effect.kind == "altered" or self._oracle.given(effect, after)):
                for other in (after + 1, after - 1):
                    yield from self._with("off_by_one", f"{spelled(path)} is {other!r}", (path, other))
            elif isinstance(after, bool) and (effect.kind == "altered" or not place):
                yield from self._with("swapped_value", f"{spelled(path)} is {not after}", (path, not after))
            elif isinstance(after, str) and after != effect.path[1] and self._chosen(effect, after):
                for other in self._domain(effect, place, (before, after))[:2]:
                    yield from self._with("swapped_value", f"{spelled(path)} is {other!r}", (path, other))

    def elsewhere(self, effect: Effect) -> Iterator[Mutant]:
        """What was done to a record, done to another one of its collection."""
        if effect.kind != "altered":
            return
        for path in self._untouched(str(effect.path[0]))[:1]:
            moved = [((*path, *place), after) for place, (_, after) in effect.changed.items()]
            what = f"{spelled(path)} changed instead of {spelled(effect.path)}"
            yield from self._with("other_entity", what, (effect.path, effect.before), *moved)

    def overwritten(self, effect: Effect) -> Iterator[Mutant]:
        """A field of an altered record that the oracle leaves alone."""
        if effect.kind != "altered":
            return
        name = str(effect.path[0])
        for place, value in leaves(effect.after):
            if place in effect.changed or (name, "altered", field_of(place)) not in self._oracle.reach:
                continue
            for other in self._damaged(effect, place, value):
                path = (*effect.path, *place)
                target = f"{name}.{field_of(place)}"
                yield from self._with(
                    "overwritten_field", f"{spelled(path)} is {other!r}", (path, other), target=target
                )

    def collateral(self) -> Iterator[Mutant]:
        """Records that the oracle leaves alone: lost, doubled, changed, where legal calls can do so."""
        for name, rows in self._rows.items():
            reach = self._oracle.reach
            untouched = self._untouched(name)
            if (name, "dropped", "") in reach:
                for path in untouched[:2]:
                    yield from self._with("dropped_record", f"{spelled(path)} is gone", (path, MISSING), target=name)
            if (name, "added", "") in reach and rows:
                yield from self._added(name, rows)
            fields = sorted(field for kind, how, field in reach if (kind, how) == (name, "altered"))
            for index, wanted in enumerate(fields):
                # One record for each field, not always the same one.
                for path in untouched[index % max(1, len(untouched)) :][:1]:
                    effect = Effect(path, MISSING, get(self._final, path))
                    for place, value in leaves(effect.after):
                        if field_of(place) == wanted:
                            for other in self._damaged(effect, place, value):
                                what = f"{spelled((*path, *place))} is {other!r}"
                                change = ((*path, *place), other)
                                yield from self._with("altered_record", what, change, target=f"{name}.{wanted}")
                            break

    def _added(self, name: str, rows: dict[str | int, Any]) -> Iterator[Mutant]:
        sources = [
            effect.path[1] for effect in self._oracle.records if effect.path[0] == name and effect.kind == "added"
        ]
        for key in [*sources[:1], *(key for key in list(rows)[:1] if key not in sources)]:
            if isinstance(key, str):
                fresh = unused(key, self._texts)
                row = (
                    {k: fresh if v == key else v for k, v in rows[key].items()}
                    if isinstance(rows[key], dict)
                    else rows[key]
                )
                yield from self._with("added_record", f"{name} has {key} twice", ((name, fresh), row), target=name)
            else:
                yield from self._with(
                    "added_record", f"{name}[{key}] twice", ((name, len(rows)), rows[key]), target=name
                )

    def _with(self, operator: str, what: str, *changes: tuple[Path, Any], target: str = "") -> Iterator[Mutant]:
        root = tree(self._oracle.play.final)
        done = [put(root, path, value) for path, value in changes]
        if all(done):
            yield Mutant(operator, what, state(root), target)

    def _chosen(self, effect: Effect, value: str) -> bool:
        """Whether a text is what an agent decides: said by a call, or one of a few words a field may have."""
        if self._oracle.given(effect, value):
            return value in self._stage.names or value in self._stage.scenario.task
        return effect.kind == "altered" and not is_time(value) and not any(sign.isspace() for sign in value)

    def _untouched(self, name: str) -> list[Path]:
        return [(name, key) for key in self._rows.get(name, {}) if (name, key) not in self._touched]

    def _domain(self, effect: Effect, place: Path, besides: tuple[Any, ...]) -> list[Any]:
        """Other values that this leaf has in the collection; a text of no meaning if there are none."""
        known: list[Any] = []
        for key, row in self._rows.get(str(effect.path[0]), {}).items():
            value = get(row, place)
            if key != effect.path[1] and type(value) is str and value not in known and value not in besides:
                known.append(value)
        return known or ["something else"]

    def _damaged(self, effect: Effect, place: Path, value: Any) -> list[Any]:
        """One other value for a leaf."""
        if isinstance(value, bool):
            return [not value]
        if is_number(value):
            return [value + 1]
        if isinstance(value, str):
            return self._domain(effect, place, (value,))[:1]
        if value is None:
            return ["something else"]
        if isinstance(value, list) and value and not is_tag(value):
            return [value[:-1]]
        return []
