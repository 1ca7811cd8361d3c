"""Final states that differ from the oracle's in nothing that matters: a check that fails one of them is too strict.

Metamorphic relations, each with the reason why the state is as right as the oracle's (docs/audit.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envscaler.audit.oracle import Oracle, is_free_text, told, unused
from envscaler.audit.stage import Stage
from envscaler.audit.tree import (
    ORDERED,
    Effect,
    collections,
    get,
    is_chronicle,
    is_number,
    is_tag,
    is_time,
    leaves,
    named,
    normal,
    put,
    renamed,
    spelled,
    state,
    texts,
    tree,
)
from envscaler.scenarios import OracleCall
from harness.state import MISSING, State

RELATIONS = (
    "key_order",
    "number_spelling",
    "text_spelling",
    "bystander",
    "generated_ids",
    "list_order",
    "read_order",
    "write_order",
)


@dataclass(frozen=True)
class Variant:
    """A state that is as right as the oracle's."""

    relation: str
    what: str
    final: State
    initial: State


def variants(stage: Stage, oracle: Oracle, calls: Sequence[OracleCall], swaps: int) -> list[Variant]:
    """The variants of a scenario.

    Args:
        calls: The whole oracle; `oracle.play` may hold its writes alone.
    """
    final = oracle.play.tree
    made: list[tuple[str, str, Any, Any]] = []
    start = stage.start
    made.append(("key_order", "records and fields in the opposite order", _reversed(final), _reversed(start)))
    made += [("number_spelling", what, root, start) for what, root in _numbers(oracle)]
    made += _bystanders(stage, oracle)
    names = generated(stage, oracle)
    if names:
        what = ", ".join(f"{old} is called {new}" for old, new in names.items())
        made.append(("generated_ids", what, renamed(final, names), start))
    made += [("list_order", what, root, start) for what, root in _lists(oracle)]
    found = [Variant(relation, what, state(root), state(first)) for relation, what, root, first in made]
    found += _reads(stage, oracle, calls)
    found += _writes(stage, oracle, swaps, set(names))
    found += _texts(stage, oracle)
    return found


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return [_reversed(inner) for inner in value]
    return value


def _numbers(oracle: Oracle) -> Iterator[tuple[str, Any]]:
    """Numbers that the oracle brought about, 5 as 5.0 and 5.0 as 5: an agent writes either."""
    root = tree(oracle.play.final)
    changed = []
    for effect in oracle.records:
        for place, (_, after) in effect.changed.items():
            if is_number(after) and after == int(after) and abs(after) < 2**53:
                other = int(after) if isinstance(after, float) else float(after)
                if put(root, (*effect.path, *place), other):
                    changed.append(f"{spelled((*effect.path, *place))} is {other!r}")
    if changed:
        yield "; ".join(changed[:4]), root


def _bystanders(stage: Stage, oracle: Oracle) -> Iterator[tuple[str, str, Any, Any]]:
    """A record that was there before and after, and that nothing in the task is about."""
    start = collections(stage.start)
    known = {str(key) for rows in start.values() for key in rows}
    taken = {*texts(stage.start), *texts(oracle.play.tree)}
    touched = {effect.path for effect in oracle.effects}
    keys = {str(effect.path[1]) for effect in oracle.records}
    for name, rows in start.items():
        for key, row in rows.items():
            if (name, key) in touched or not isinstance(key, str) or not isinstance(row, dict) or is_tag(row):
                continue
            if keys & set(texts({k: v for k, v in row.items() if v != key})):
                continue
            fresh = unused(key, taken)
            stranger = _stranger(row, known, key, fresh)
            first, last = tree(stage.initial), tree(oracle.play.final)
            if put(first, (name, fresh), stranger) and put(last, (name, fresh), stranger):
                yield "bystander", f'{name}["{fresh}"] was there all the time', last, first
            break


def _stranger(value: Any, known: set[str], own: str, fresh: str) -> Any:
    """A record of the same shape that no filter finds; times and references stay, so that code can read them."""
    if isinstance(value, dict) and not is_tag(value):
        return {key: _stranger(inner, known, own, fresh) for key, inner in value.items()}
    if isinstance(value, list):
        return []
    if isinstance(value, str):
        return fresh if value == own else value if is_time(value) or value in known else f"bystander {value}"
    if is_number(value):
        return type(value)(0)
    return value


def generated(stage: Stage, oracle: Oracle) -> dict[str, str]:
    """New names for records whose names the environment made: neither the task nor their call says them."""
    made: dict[str, str] = {}
    fresh = [effect for effect in oracle.records if effect.kind == "added" and isinstance(effect.path[1], str)]
    if not fresh:
        return made
    _, states = stage.states(oracle.play.calls)
    taken = {*texts(stage.start), *texts(oracle.play.tree)}
    for effect in fresh:
        key = str(effect.path[1])
        born = next((i for i, now in enumerate(states) if key in _rows(now, str(effect.path[0]))), len(states) - 1)
        said = set(texts([call.arguments for call in oracle.play.calls[: born + 1]]))
        if key not in said and key not in stage.scenario.task:
            made[key] = unused(key, taken)
            taken.add(made[key])
    return made


def _rows(now: State, name: str) -> Mapping[Any, Any]:
    return collections(tree(now)).get(name, {})


def _lists(oracle: Oracle) -> Iterator[tuple[str, Any]]:
    """New elements of a list in the opposite order, where order says nothing: an agent may add them either way."""
    for effect in oracle.records:
        if effect.after is MISSING:
            continue
        for path, value in _list_leaves(effect):
            before = get(effect.before, path) if effect.before is not MISSING else MISSING
            old = before if isinstance(before, list) else []
            places = [index for index, item in enumerate(value) if item not in old]
            if len(places) < 2 or is_chronicle(value[index] for index in places):
                continue
            root = tree(oracle.play.final)
            turned = list(value)
            for index, other in zip(places, reversed(places), strict=True):
                turned[index] = value[other]
            if turned != value and put(root, (*effect.path, *path), turned):
                yield f"{spelled((*effect.path, *path))} in another order", root


def _list_leaves(effect: Effect) -> Iterator[tuple[tuple[str | int, ...], list[Any]]]:
    seen = set()
    for place, _ in leaves(effect.after):
        for end in range(len(place) + 1):
            value = get(effect.after, place[:end])
            # A record that is a list itself is named by its collection.
            name = next(str(key) for key in reversed((effect.path[0], *place[:end])) if isinstance(key, str))
            if isinstance(value, list) and place[:end] not in seen:
                seen.add(place[:end])
                if not named(name, ORDERED):
                    yield place[:end], value


def _reads(stage: Stage, oracle: Oracle, calls: Sequence[OracleCall]) -> Iterator[Variant]:
    """The oracle without its reads, and with all of them first: looking must not change what is scored."""
    writes = list(oracle.play.calls)
    reads = [call for call in calls if call not in writes]
    if not reads:
        return
    for what, order in (("without its reads", writes), ("reads before writes", [*reads, *writes])):
        played = stage.attempt(order)
        # Reads that name what a write makes are refused before it; that is not an order of the same calls.
        if played is not None and (order is writes or len(played.refused) <= len(oracle.play.refused)):
            yield Variant("read_order", f"the oracle {what}", played.final, stage.initial)


def _writes(stage: Stage, oracle: Oracle, swaps: int, names: set[str]) -> Iterator[Variant]:
    """Neighbouring writes in the other order, where the environment accepts both and says the same after them."""
    calls = list(oracle.play.calls)
    right = normal(oracle.play.tree, stage.start)
    allowed = set(oracle.play.refused)
    # A later call may name what one of the two makes: swapped, the name would mean another record.
    mentioned = [set(texts([call.arguments for call in calls[index:]])) & names for index in range(len(calls) + 1)]
    for index in range(min(len(calls) - 1, swaps * 4)):
        if swaps <= 0:
            return
        if mentioned[index]:
            continue
        swaps -= 1
        order = [*calls[:index], calls[index + 1], calls[index], *calls[index + 2 :]]
        played = stage.attempt(order)
        if played is not None and not set(played.refused) - allowed and normal(played.tree, stage.start) == right:
            what = f"{told(calls[index + 1])} before {told(calls[index])}"
            yield Variant("write_order", what, played.final, stage.initial)


def _texts(stage: Stage, oracle: Oracle) -> Iterator[Variant]:
    """Free text in other words' clothes: a capital and a full stop, where the task does not give the wording.

    Only what the environment takes and keeps: names of what exists, choices and quoted texts stay as they are.
    """
    calls = list(oracle.play.calls)
    allowed = set(oracle.play.refused)
    known = {str(key) for rows in collections(oracle.play.tree).values() for key in rows}
    for index, call in enumerate(calls):
        tool = next((tool for tool in stage.tools if tool.name == call.name), None)
        schemas = tool.parameters.get("properties", {}) if tool else {}
        for name, value in call.arguments.items():
            if not is_free_text(stage, value, schemas.get(name, {})) or value in known:
                continue
            other = f"{value[0].swapcase()}{value[1:].rstrip('.')}."
            changed = OracleCall(call.name, {**call.arguments, name: other})
            played = stage.attempt([*calls[:index], changed, *calls[index + 1 :]])
            if played is not None and not set(played.refused) - allowed and other in set(texts(played.tree)):
                yield Variant("text_spelling", f"{name}={other!r} in {told(call)}", played.final, stage.initial)
