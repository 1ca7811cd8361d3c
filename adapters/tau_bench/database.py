"""The databases: one immutable copy per process, and per episode only what it changed.

The official environment loads its database anew for every episode and hashes all of it, twice, for every reward. Here
an episode holds private copies of the few entities it wrote to, and the official hash is rebuilt from a text per entity
that is made once (docs of Tau-Bench, sections 1.6 and 7).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

Entity = dict[str, Any]
"""One order, user, flight, ...: JSON values."""

MAX_DEPTH = 100
"""Nesting of a value that a tool takes in; Python itself gives up between two and ten times deeper."""
MAX_BITS = 1 << 12
"""Size of a whole number that a tool takes in. Python refuses to write those beyond 14,000 bits, as the hash must."""


def copied(value: Any, depth: int = 0) -> Any:
    """A deep copy of JSON values that keeps their types.

    Raises:
        RecursionError: If it is nested deeper than `MAX_DEPTH`.
        OverflowError: If it holds a whole number of more than `MAX_BITS`.
    """
    if depth > MAX_DEPTH:
        raise RecursionError("maximum recursion depth exceeded")
    if type(value) is dict:
        return {key: copied(item, depth + 1) for key, item in value.items()}
    if type(value) is list:
        return [copied(item, depth + 1) for item in value]
    if type(value) is int and value.bit_length() > MAX_BITS:
        raise OverflowError("int too large to convert to float")
    return value


def hashable(value: Any) -> Any:
    """The nested tuples whose text the official hash is taken of: dicts sorted by key, lists in their order."""
    if type(value) is dict:
        return tuple([(key, hashable(value[key])) for key in sorted(value)])
    if type(value) is list:
        return tuple([hashable(item) for item in value])
    return value


def entity_text(key: str, entity: Any) -> bytes:
    """The part of the official text that stands for one entity."""
    return str((key, hashable(entity))).encode()


class Table:
    """One table as an episode sees it. What is read is shared and must not be changed: `edit` gives a private copy."""

    def __init__(self, base: Mapping[str, Entity]) -> None:
        self._base = base
        self.own: dict[str, Entity] = {}
        """The entities this episode wrote to, or added."""

    def __getitem__(self, key: str) -> Entity:
        return self.own[key] if key in self.own else self._base[key]

    def __contains__(self, key: object) -> bool:
        return key in self.own or key in self._base

    def items(self) -> Iterable[tuple[str, Entity]]:
        """Keys and entities, those of the file in its order, then the added ones."""
        return {**self._base, **self.own}.items() if self.own else self._base.items()

    def edit(self, key: str) -> Entity:
        """The episode's own copy of an entity, to be changed in place."""
        if key not in self.own:
            self.own[key] = copied(self._base[key])
        return self.own[key]

    def add(self, key: str, entity: Entity) -> None:
        """Put in an entity that the caller gives away."""
        self.own[key] = entity


class Database:
    """The tables of one domain as they were loaded. Nothing changes them afterwards.

    Args:
        tables: Entities by table and key.
    """

    def __init__(self, tables: Mapping[str, Mapping[str, Entity]]) -> None:
        self.tables = tables

    def session(self) -> Session:
        """A fresh view for one episode."""
        return Session(self)

    def entity(self, name: str) -> Entity | None:
        """The entity that `table/key` names, read only; None if it is an added one."""
        table, _, key = name.partition("/")
        return self.tables[table].get(key)

    @cached_property
    def texts(self) -> dict[str, dict[str, bytes]]:
        """The official text of every entity, by table and key, both in sorted order. Made on first use."""
        return {
            name: {key: entity_text(key, table[key]) for key in sorted(table)}
            for name, table in sorted(self.tables.items())
        }

    @cached_property
    def _heads(self) -> list[Any]:
        """The hash before each table, in sorted order, if nothing changed in the tables before it."""
        heads, head = [], hashlib.sha256(b"(")
        for index, (name, texts) in enumerate(self.texts.items()):
            heads.append(head.copy())
            _feed(head, index, name, list(texts.values()))
        return [*heads, head]

    def digest(self, changed: Mapping[str, Mapping[str, bytes]]) -> str:
        """The official hash (sha256, hex) with the texts of some entities replaced or added, by table and key."""
        names = list(self.texts)
        first = next((index for index, name in enumerate(names) if changed.get(name)), len(names))
        head = self._heads[first].copy()
        for index, name in enumerate(names[first:], start=first):
            texts = {**self.texts[name], **changed.get(name, {})}
            new = texts.keys() - self.texts[name].keys()
            _feed(head, index, name, [texts[key] for key in (sorted(texts) if new else texts)])
        head.update(b",)" if len(names) == 1 else b")")
        return str(head.hexdigest())


def _feed(head: Any, index: int, name: str, texts: list[bytes]) -> None:
    """Add one table, as Python writes a tuple of (name, entities)."""
    head.update(b", " if index else b"")
    head.update(f"({name!r}, (".encode())
    head.update(b", ".join(texts))
    head.update(b",))" if len(texts) == 1 else b"))")


class Session:
    """The database of one episode: the shared one, and what the episode changed in it."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.tables = {name: Table(base) for name, base in database.tables.items()}

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]

    def changed_texts(self) -> dict[str, dict[str, bytes]]:
        """The official text of every entity that differs from the shared database, by table and key."""
        changed = {}
        for name, table in self.tables.items():
            texts = {key: entity_text(key, entity) for key, entity in table.own.items()}
            base = self.database.texts[name] if texts else {}
            if different := {key: text for key, text in texts.items() if base.get(key) != text}:
                changed[name] = different
        return changed

    def changed(self) -> dict[str, Entity]:
        """The entities that differ from the shared database, as `table/key`, in sorted order; read only."""
        return {
            f"{name}/{key}": self.tables[name].own[key]
            for name, texts in sorted(self.changed_texts().items())
            for key in sorted(texts)
        }

    def digest(self) -> str:
        """The official hash of the whole database as it stands, sha256 in hex."""
        return self.database.digest(self.changed_texts())
