"""The state of an environment: one canonical form with a hash, a diff, and a codec that keeps Python's types.

JSON values stand for themselves; everything else is tagged (`{"$set": [...]}`), so that checks see the types the
environment used (a tuple, an int key, a datetime). The bytes keep insertion order, as checks of the public release may
read it; the hash does not depend on it. Imports nothing of ours: children of the isolation level load this module too.
"""

from __future__ import annotations

import base64
import collections
import datetime as dt
import enum
import functools
import hashlib
import marshal
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import msgspec

MAX_DEPTH = 200
"""Nesting beyond this is not exported: it is a cycle or a bomb, and decoders recurse."""


class NotExportable(ValueError):
    """A value that has no canonical form (a function, an open file, a cycle)."""


class Record(SimpleNamespace):
    """What a dataclass or a plain object decodes to: same class name, same attributes, compared by both."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and _kind(self) == _kind(other) and vars(self) == vars(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(repr(self))


class Member(Record):
    """What an enum member decodes to that does not pass for its value: `name` and `value`."""


def _kind(value: Any) -> str:
    return type(value).__name__


@functools.lru_cache(maxsize=1024)
def _class(name: str, base: type[Record]) -> type[Record]:
    try:
        return type(name, (base,), {"__module__": __name__})
    except ValueError:  # no name that Python allows
        return base


@functools.lru_cache(maxsize=1024, typed=True)
def _passing_member(name: str, member: str, value: Any) -> Any:
    functional: Any = enum.Enum
    return functional(name, {member: value}, type=type(value))[member]


def _enum_member(name: str, member: Any, body: Any, passes: bool = False) -> Any:
    value = untag(body)
    try:
        return _passing_member(name, member, value) if passes else _class(name, Member)(name=member, value=value)
    except (TypeError, ValueError):
        return Member(name=member, value=value)


def _tag_enum(value: enum.Enum) -> Any:
    # A member of a `str` or `int` enum is equal to its value, and checks compare it so.
    inner = value.value
    passes = type(inner) in (str, int, float) and isinstance(value, type(inner)) and isinstance(value.name, str)
    return {"$enum": [_kind(value), value.name, tag(inner), *([True] if passes else [])]}


_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1


def _surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _key_order(item: Any) -> bytes:
    return msgspec.json.encode(item, order="sorted")


def _tag_scalar(value: Any) -> Any:
    """The tagged form of a value that holds no others; None if it is not such a value."""
    match value:
        case enum.Enum():
            return _tag_enum(value)
        case bool():
            return bool(value)
        case int() if not _INT_MIN <= value <= _INT_MAX:
            # The hexadecimal text of any size costs linear time; the decimal one is quadratic and capped by Python.
            return {"$int": hex(value)}
        case int():
            return int(value)
        case float() if not math.isfinite(value):
            return {"$float": repr(float(value))}
        case float():
            return float(value)
        case str() if _surrogates(value):
            return {"$str": base64.b64encode(value.encode("utf-8", "surrogatepass")).decode()}
        case str():
            return str(value)
        case bytes() | bytearray():
            return {"$bytes": base64.b64encode(bytes(value)).decode()}
        case dt.datetime():
            return {"$datetime": value.isoformat()}
        case dt.date():
            return {"$date": value.isoformat()}
        case dt.time():
            return {"$time": value.isoformat()}
        case dt.timedelta():
            return {"$timedelta": [value.days, value.seconds, value.microseconds]}
        case Decimal():
            return {"$decimal": str(value)}
        case Fraction():
            return {"$fraction": str(value)}
        case UUID():
            return {"$uuid": str(value)}
        case complex():
            return {"$complex": [tag(value.real), tag(value.imag)]}
    return None


def _tag_mapping(value: Mapping[Any, Any], depth: int) -> Any:
    plain = all(type(key) is str and key[:1] != "$" and (key.isascii() or not _surrogates(key)) for key in value)
    if plain:
        return {key: tag(item, depth + 1) for key, item in value.items()}
    return {"$map": [[tag(key, depth + 1), tag(item, depth + 1)] for key, item in value.items()]}


def tag(value: Any, depth: int = 0) -> Any:
    """`value` as JSON values with tags for what JSON cannot say.

    Raises:
        NotExportable: For functions, modules, open files and the like, and for nesting beyond `MAX_DEPTH`.
    """
    # The types of nearly every value, first: this walk is the price of each snapshot.
    kind = type(value)
    if value is None or kind is bool or (kind is str and value.isascii()):
        return value
    if depth > MAX_DEPTH:
        raise NotExportable(f"nested deeper than {MAX_DEPTH} levels, or refers to itself")
    if kind is dict:
        return _tag_mapping(value, depth)
    if kind is list:
        return [tag(item, depth + 1) for item in value]
    scalar = _tag_scalar(value)
    if scalar is not None:
        return scalar
    match value:
        case Member():
            return {"$enum": [_kind(value), value.name, tag(value.value, depth + 1)]}
        case tuple() if hasattr(value, "_fields"):
            return {"$record": [_kind(value), {k: tag(getattr(value, k), depth + 1) for k in value._fields}]}
        case list():
            return [tag(item, depth + 1) for item in value]
        case tuple():
            return {"$tuple": [tag(item, depth + 1) for item in value]}
        case set() | frozenset():
            name = "$set" if isinstance(value, set) else "$frozenset"
            return {name: sorted((tag(item, depth + 1) for item in value), key=_key_order)}
        case collections.deque():
            return {"$deque": [tag(item, depth + 1) for item in value]}
        case Mapping():
            return _tag_mapping(value, depth)
    if is_dataclass(value) and not isinstance(value, type):
        attributes = {f.name: getattr(value, f.name) for f in fields(value) if hasattr(value, f.name)}
        return {"$record": [_kind(value), tag(attributes, depth + 1)]}
    # Functions and classes have a __dict__ too, but their state is code.
    if hasattr(value, "__dict__") and not callable(value) and type(value).__module__ != "builtins":
        return {"$record": [_kind(value), tag(vars(value), depth + 1)]}
    raise NotExportable(f"a value of type {_kind(value)} has no canonical form")


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "$tuple": lambda body: tuple(untag(item) for item in body),
    "$set": lambda body: {untag(item) for item in body},
    "$frozenset": lambda body: frozenset(untag(item) for item in body),
    "$deque": lambda body: collections.deque(untag(item) for item in body),
    "$map": lambda body: {untag(key): untag(item) for key, item in body},
    "$enum": lambda body: _enum_member(*body),
    "$record": lambda body: _class(body[0], Record)(**untag(body[1])),
    "$int": lambda body: int(body, 16),
    "$float": float,
    "$str": lambda body: base64.b64decode(body).decode("utf-8", "surrogatepass"),
    "$bytes": base64.b64decode,
    "$datetime": dt.datetime.fromisoformat,
    "$date": dt.date.fromisoformat,
    "$time": dt.time.fromisoformat,
    "$timedelta": lambda body: dt.timedelta(*body),
    "$decimal": Decimal,
    # Not Fraction(body): it takes exponents too, and a huge one would never end.
    "$fraction": lambda body: Fraction(*map(int, body.split("/"))),
    "$uuid": UUID,
    "$complex": lambda body: complex(untag(body[0]), untag(body[1])),
}


def untag(value: Any) -> Any:
    """The inverse of `tag`; objects come back as `Record`."""
    if isinstance(value, list):
        return [untag(item) for item in value]
    if isinstance(value, dict):
        if len(value) == 1:
            ((name, body),) = value.items()
            if name in _DECODERS:
                return _DECODERS[name](body)
        return {key: untag(item) for key, item in value.items()}
    return value


_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19
"""So many digits may be beyond 64 bits, and such a number is tagged."""
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def _shallow(data: bytes) -> bool:
    """Whether JSON is surely nested no deeper than `MAX_DEPTH`: each round takes the innermost brackets away."""
    brackets = data.translate(None, _NOT_BRACKETS)
    for _ in range(MAX_DEPTH):
        if not brackets:
            return True
        inner = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(inner) == len(brackets):
            return False
        brackets = inner
    return not brackets


def _plain(value: Any) -> bytes | None:
    """The bytes of a value that is JSON as it stands, without a walk in Python; None where a type could be lost."""
    try:
        data = msgspec.json.encode(value)
        tagged = b'"$' in data or _LONG_NUMBER in data.translate(_DIGITS)
        if tagged or not _shallow(data) or msgspec.json.decode(data) != value:
            return None
        # Marshal takes exact built-in types only, which tells a str from a member of a str enum. Last, since it takes
        # exponential time for nested frozensets.
        marshal.dumps(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
    return data


def encode(value: Any) -> bytes:
    """Canonical bytes of `value`: tagged JSON in insertion order.

    Raises:
        NotExportable: As `tag`.
    """
    plain = _plain(value)
    if plain is not None:
        return plain
    try:
        return msgspec.json.encode(tag(value))
    except RecursionError as error:
        raise NotExportable("nested too deeply") from error


@dataclass(frozen=True)
class Change:
    """One difference between two states."""

    path: str
    """Where, e.g. `orders["O-7"].status`."""
    before: Any
    """Value before; `MISSING` if it was added."""
    after: Any
    """Value after; `MISSING` if it was removed."""


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class State:
    """A snapshot of an environment's state, held as bytes: two of them are equal iff their canonical forms are."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        """Tagged JSON in insertion order."""

    @classmethod
    def of(cls, value: Any) -> State:
        """The snapshot of a live value.

        Raises:
            NotExportable: As `tag`.
        """
        return cls(encode(value))

    def decode(self) -> Any:
        """A fresh Python value; changing it changes nothing else."""
        value = msgspec.json.decode(self.data)
        # A quote inside a JSON string is escaped, so these bytes can only open an object whose first key is a tag.
        return untag(value) if b'{"$' in self.data else value

    @cached_property
    def digest(self) -> str:
        """Hex blake2b-128 of the canonical form, independent of key order. Same state, same digest, on any machine."""
        value = msgspec.json.decode(self.data)
        if b'"$map"' in self.data:
            value = _sort_maps(value)
        canonical = msgspec.json.encode(value, order="sorted")
        return hashlib.blake2b(canonical, digest_size=16).hexdigest()

    def diff(self, later: State) -> list[Change]:
        """What changed from here to `later`, by path, in key order."""
        return list(_changes("", msgspec.json.decode(self.data), msgspec.json.decode(later.data)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"State({self.digest}, {len(self.data)} bytes)"


def _sort_maps(value: Any) -> Any:
    """A tagged value with the pairs of every `$map` in the order of their keys."""
    if isinstance(value, list):
        return [_sort_maps(item) for item in value]
    if isinstance(value, dict):
        value = {key: _sort_maps(item) for key, item in value.items()}
        if value.keys() == {"$map"}:
            value["$map"].sort(key=lambda pair: _key_order(pair[0]))
    return value


def _pairs(value: Any) -> dict[str, Any] | None:
    """The items of a `$map` under the JSON of their keys; None for anything else."""
    if isinstance(value, dict) and value.keys() == {"$map"}:
        return {_key_order(key).decode(): item for key, item in value["$map"]}
    return None


def _changes(path: str, before: Any, after: Any) -> Iterator[Change]:
    if (old := _pairs(before)) is not None and (new := _pairs(after)) is not None:
        for key in sorted(old.keys() | new.keys()):
            yield from _changes(f"{path}[{key}]", old.get(key, MISSING), new.get(key, MISSING))
    elif isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            inner = (
                f"{path}.{key}" if key.isidentifier() and path else key if key.isidentifier() else f'{path}["{key}"]'
            )
            yield from _changes(inner, before.get(key, MISSING), after.get(key, MISSING))
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            left = before[index] if index < len(before) else MISSING
            right = after[index] if index < len(after) else MISSING
            yield from _changes(f"{path}[{index}]", left, right)
    elif type(before) is not type(after) or before != after:
        yield Change(path, before, after)
