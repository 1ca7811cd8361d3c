"""States as trees of records and leaves: what an audit compares, changes and renames.

A record is an entry of a collection (an attribute that is a dict, or a list of dicts); other attributes are settings.
A leaf is a value inside a record that is not divided further. Trees are the tagged JSON of `harness.state`.
"""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec

from harness.state import MISSING, State

Path = tuple[str | int, ...]
"""Keys and indices from the root of a state."""

ORDERED = ("waitlist", "queue", "history", "log", "rank", "order", "step", "sequence", "route", "stop", "priorit")
"""Lists whose name holds one of these keep their order: it is what they are for."""
QUEUES = ("waitlist", "queue")
"""Of the new records of a collection whose name holds one of these it matters which was first. A list of plain values
that is named so is no setting."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d")


def tree(state: State) -> Any:
    """A fresh tree of a state."""
    return msgspec.json.decode(state.data)


def state(value: Any) -> State:
    """The state of a tree."""
    return State(msgspec.json.encode(value))


def is_tag(value: Any) -> bool:
    """Whether a dict stands for a value that JSON cannot say."""
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith("$")


def is_time(value: Any) -> bool:
    """Whether a value is a text that begins like a date or a time of day."""
    return isinstance(value, str) and _DATE.match(value) is not None


def is_number(value: Any) -> bool:
    """Whether a value is an integer or a float, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_chronicle(items: Iterable[Any]) -> bool:
    """Whether an element carries a time: then its list is a record of what came when."""
    return any(isinstance(item, dict) and any(is_time(value) for value in item.values()) for item in items)


def named(name: str, words: Iterable[str]) -> bool:
    """Whether a name holds one of some words."""
    return any(word in name.lower() for word in words)


def collections(root: Mapping[str, Any]) -> dict[str, dict[str | int, Any]]:
    """The records of each collection, by attribute."""
    found: dict[str, dict[str | int, Any]] = {}
    for name, value in root.items():
        if isinstance(value, dict) and not is_tag(value):
            found[name] = dict(value)
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            found[name] = dict(enumerate(value))
    return found


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The leaves of a value; an empty container and a list of scalars are leaves themselves."""
    if isinstance(value, dict) and value and not is_tag(value):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
    else:
        yield path, value


@dataclass(frozen=True)
class Effect:
    """What became of one record."""

    path: Path
    """Attribute and key; of a setting, the attribute alone."""
    before: Any
    after: Any
    """`MISSING` where there was or is no such record."""
    changed: dict[Path, tuple[Any, Any]] = field(default_factory=dict)
    """Leaves that differ, by their path in the record, before and after; all of a new record."""

    @property
    def kind(self) -> str:
        """`added`, `dropped` or `altered`."""
        return "added" if self.before is MISSING else "dropped" if self.after is MISSING else "altered"

    @property
    def is_setting(self) -> bool:
        """Whether it is no record of a collection: a counter, a date."""
        return len(self.path) == 1


def effects(before: Any, after: Any) -> list[Effect]:
    """What differs between two trees, record by record."""
    old, new = collections(before), collections(after)
    found = []
    for name in dict.fromkeys([*before, *after]):
        if name in old or name in new:
            rows, later = old.get(name, {}), new.get(name, {})
            for key in dict.fromkeys([*rows, *later]):
                found += _effect((name, key), rows.get(key, MISSING), later.get(key, MISSING))
        else:
            found += _effect((name,), before.get(name, MISSING), after.get(name, MISSING))
    return found


def _effect(path: Path, before: Any, after: Any) -> list[Effect]:
    if same(before, after):
        return []
    old = {} if before is MISSING else dict(leaves(before))
    new = {} if after is MISSING else dict(leaves(after))
    changed = {}
    for place in dict.fromkeys([*old, *new]):
        pair = old.get(place, MISSING), new.get(place, MISSING)
        if not same(*pair):
            changed[place] = pair
    return [Effect(path, before, after, changed)]


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal and, where Python takes them for equal anyhow, of one type."""
    if one is MISSING or other is MISSING:
        return one is other
    return bool(one == other) and (type(one) is type(other) or not isinstance(one, bool | int | float))


def get(root: Any, path: Path) -> Any:
    """The value at a path; `MISSING` if there is none."""
    for key in path:
        try:
            root = root[key]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return root


def put(root: Any, path: Path, value: Any) -> bool:
    """Set the value at a path, or remove it if it is `MISSING`; False if there is no place for it."""
    holder = get(root, path[:-1])
    key = path[-1] if path else None
    try:
        if value is MISSING:
            del holder[key]
        elif isinstance(holder, list) and key == len(holder):
            holder.append(copy.deepcopy(value))
        else:
            holder[key] = copy.deepcopy(value)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def texts(value: Any) -> Iterator[str]:
    """Every string in a value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A value with strings and keys replaced wherever they stand as a whole."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, dict):
        return {names.get(key, key): renamed(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [renamed(inner, names) for inner in value]
    return value


def normal(root: Any, initial: Any) -> bytes:
    """What a state says beside its settings, whatever its new records are called and its lists are ordered by.

    What is there for an order keeps it: lists in `ORDERED`, lists whose elements carry a time, new records in `QUEUES`.
    """
    known = collections(initial)
    found = {
        name: {key: msgspec.json.encode(row) for key, row in rows.items()} for name, rows in collections(root).items()
    }
    fresh = [(name, key) for name, rows in found.items() for key in rows if key not in known.get(name, {})]
    names = {key: "<new>" for _, key in fresh if isinstance(key, str)}
    if len(names) > 1:
        # Each is called by what it says itself, so that a list or a reference tells which of them is meant.
        said = dict.fromkeys(names, b"")
        for name, key in fresh:
            if isinstance(key, str):
                said[key] += _normal_row(name, found[name][key], _held(found[name][key], names))
        names = {key: f"<new {hashlib.blake2b(row, digest_size=8).hexdigest()}>" for key, row in said.items()}
    told: dict[str, Any] = {}
    for name, rows in found.items():
        says = {key: _normal_row(name, row, _held(row, names)) for key, row in rows.items()}
        old = {str(key): msgspec.Raw(row) for key, row in says.items() if key not in names}
        new = [row.decode() for key, row in says.items() if key in names]
        told[name] = [old, new if named(name, QUEUES) else sorted(new)]
    for name, value in root.items():
        if name not in found and isinstance(value, list) and named(name, QUEUES):
            row = msgspec.json.encode(value)
            told[name] = msgspec.Raw(_normal_row(name, row, _held(row, names)))
    return _encoded(told)


def _held(row: bytes, names: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The names that a record may hold: mostly none, so that its normal form is the same in all states."""
    return tuple(pair for pair in names.items() if msgspec.json.encode(pair[0])[1:-1] in row)


@lru_cache(maxsize=1 << 14)
def _normal_row(collection: str, row: bytes, names: tuple[tuple[str, str], ...]) -> bytes:
    """One record in normal form. Kept, since the states of an audit have nearly all of their records in common."""
    return _encoded(_sorted(renamed(msgspec.json.decode(row), dict(names)), collection))


def _sorted(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        items = [_sorted(inner, name) for inner in value]
        return items if named(name, ORDERED) or is_chronicle(items) else sorted(items, key=_encoded)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53 else value


def _encoded(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted")


def spelled(path: Path) -> str:
    """A path for people: `orders["O-7"].status`."""
    told = ""
    for index, key in enumerate(path):
        if index == 0:
            told = str(key)
        elif index > 1 and isinstance(key, str) and key.isidentifier():
            told += f".{key}"
        else:
            told += f"[{key}]" if isinstance(key, int) else f'["{key}"]'
    return told
