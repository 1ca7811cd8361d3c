"""What an initial state must look like, learnt from an environment's source and from states that came with it.

The release set whatever came as attributes, so unknown keys and dangling references went through (docs of the release,
section 8). Here keys, rows, types, sizes and references must fit; each misfit is one sentence with the place and the
offending value.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from envscaler.scenarios.validate import names_in
from envscaler.synthesis.reading import Reading, assigned, is_self

_KINDS = {"str": {"str"}, "int": {"int"}, "float": {"float", "int"}, "bool": {"bool"}, "None": {"null"}}
_LISTS = ("list", "List", "Sequence")
_DICTS = ("dict", "Dict", "Mapping")
_ID = re.compile(r"(?:^|_)ids?$")


@dataclass(frozen=True, slots=True)
class Size:
    """How many rows a table has."""

    least: int = 3
    """With fewer there is little to find, and nothing left after a few changes."""
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Misfit:
    """One thing in a state that does not fit."""

    rule: str
    """Short stable name, by which reports count: `missing key`, `unknown key`, `row`, `type`, `size`, `row key`,
    `dangling reference`."""
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Rows:
    """The rows of one table."""

    fields: dict[str, frozenset[str]]
    """Kinds of JSON values by field; none: any."""
    optional: frozenset[str] = frozenset()
    by_source: bool = True
    """Whether a TypedDict says so, or only an example."""
    fewest: int | None = None
    """Rows in the smallest example; logs start empty."""


@dataclass(frozen=True)
class Shape:
    """The form of an environment's states."""

    required: tuple[str, ...]
    keys: frozenset[str]
    """Keys that the environment knows."""
    tables: dict[str, Rows]
    examples: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of(cls, read: Reading, examples: Sequence[Mapping[str, Any]] = ()) -> Shape:
        """The form that a class gives to its state.

        Args:
            examples: States that are known to be good.
        """
        taken = _config_keys(read)
        # Some classes keep the configuration itself as well.
        own = [name for name in read.attributes if not name.startswith("_") and name != _parameter(read)]
        required = taken or own
        if examples:
            required = [key for key in examples[0] if all(key in example for example in examples)]
        tables = dict(_typed_tables(read))
        for name in dict.fromkeys(key for example in examples for key in example):
            sizes = [len(example[name]) for example in examples if isinstance(example.get(name), dict | list)]
            if name in tables:
                known = tables[name]
                tables[name] = Rows(known.fields, known.optional, True, min(sizes, default=None))
            elif rows := [row for example in examples for _, _, row in rows_of(example.get(name))]:
                tables[name] = _seen_rows(rows, min(sizes, default=0))
        keys = names_in(read.tree) if taken is None else {*read.attributes, *taken}
        return cls(tuple(required), frozenset(keys), tables, tuple(examples))

    def misfits(self, state: Mapping[str, Any], size: Size) -> Iterator[Misfit]:
        """What does not fit, in the order of the state."""
        for name in self.required:
            if name not in state:
                yield Misfit("missing key", f"lacks the attribute {name}")
        for name, value in state.items():
            if name not in self.keys:
                yield Misfit("unknown key", f"has the key {name}, which the program never sets")
            elif name in self.tables:
                yield from _table(name, value, self.tables[name], size)
        yield from dangling(state, self.examples)


def _config_keys(read: Reading) -> list[str] | None:
    """Keys that the constructor reads of its configuration; none without a configuration, None if that is unclear."""
    config, found, uses = _parameter(read), [], 0
    for node in ast.walk(read.methods["__init__"]) if config else ():
        match node:
            case (
                ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[ast.Constant(value=str(key)), *_]
                )
                | ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key)))
                | ast.Compare(left=ast.Constant(value=str(key)), comparators=[ast.Name(id=name)])
            ) if name == config:
                found.append(key)
            case ast.Name(id=name) if name == config:
                uses += 1
    return list(dict.fromkeys(found)) if uses <= len(found) else None


def _parameter(read: Reading) -> str | None:
    """What the constructor calls its configuration; None if it takes none."""
    constructor = read.methods.get("__init__")
    arguments = [] if constructor is None else [*constructor.args.posonlyargs, *constructor.args.args][1:]
    return arguments[0].arg if arguments else None


def _typed_tables(read: Reading) -> Iterator[tuple[str, Rows]]:
    """Tables of TypedDict rows, by attribute."""
    types = {
        node.name: _typed_rows(node)
        for node in read.tree.body
        if isinstance(node, ast.ClassDef) and any("TypedDict" in ast.unparse(base) for base in node.bases)
    }
    for target, node in assigned(read.methods["__init__"]) if "__init__" in read.methods else ():
        if is_self(target) and isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Subscript):
            generic, arguments = ast.unparse(node.annotation.value), node.annotation.slice
            if generic in _DICTS and isinstance(arguments, ast.Tuple):
                arguments = arguments.elts[-1]
            elif generic not in _LISTS:
                continue
            row = ast.unparse(arguments).strip("'\"")
            if row in types:
                yield target.attr, types[row]


def _typed_rows(node: ast.ClassDef) -> Rows:
    total = not any(keyword.arg == "total" and ast.unparse(keyword.value) == "False" for keyword in node.keywords)
    fields, optional = {}, set()
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            fields[item.target.id] = frozenset(kinds(item.annotation))
            if not total or ast.unparse(item.annotation).startswith(("NotRequired", "typing.NotRequired")):
                optional.add(item.target.id)
    return Rows(fields, frozenset(optional))


def kinds(annotation: ast.expr) -> set[str]:
    """The kinds of JSON value that an annotation allows; none: any."""
    match annotation:
        case ast.Constant(value=None):
            return {"null"}
        case ast.Constant(value=str(text)):
            try:
                return kinds(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return set()
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _either([kinds(left), kinds(right)])
        case ast.Subscript(value=generic, slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            match ast.unparse(generic).rpartition(".")[2]:
                case "Optional":
                    return _either([kinds(inner), {"null"}])
                case "Union":
                    return _either([kinds(part) for part in parts])
                case "Literal":
                    return {kind_of(part.value) for part in parts if isinstance(part, ast.Constant)}
                case "NotRequired" | "Required":
                    return kinds(inner)
                case name if name in _LISTS:
                    return {"list"}
                case name if name in _DICTS:
                    return {"object"}
    name = ast.unparse(annotation).rpartition(".")[2]
    return {"list"} if name in _LISTS else {"object"} if name in _DICTS else set(_KINDS.get(name, ()))


def _either(options: list[set[str]]) -> set[str]:
    return set().union(*options) if all(options) else set()


def kind_of(value: Any) -> str:
    """The kind of a JSON value."""
    names = {dict: "object", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def _seen_rows(rows: Sequence[Mapping[str, Any]], fewest: int) -> Rows:
    """Rows as an example has them. What is null in none of them may still be."""
    fields: dict[str, frozenset[str]] = {}
    for name in dict.fromkeys(key for row in rows for key in row):
        seen = {kind_of(row[name]) for row in rows if name in row} - {"null"}
        numbers = {"int", "float"} if seen & {"int", "float"} else set()
        fields[name] = frozenset(seen | numbers | {"null"}) if seen else frozenset()
    optional = frozenset(name for name in fields if not all(name in row for row in rows))
    return Rows(fields, optional, False, fewest)


def rows_of(table: Any) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    """Rows of a table with their place in it and their key; nothing if it is no table."""
    if isinstance(table, dict):
        for key, row in table.items():
            if isinstance(row, dict):
                yield f"[{json.dumps(key, ensure_ascii=False)}]", key, row
    elif isinstance(table, list):
        for index, row in enumerate(table):
            if isinstance(row, dict):
                yield f"[{index}]", None, row


def _table(name: str, table: Any, rows: Rows, size: Size) -> Iterator[Misfit]:
    if not isinstance(table, dict | list):
        yield Misfit("row", f"{name} must be an object of rows by id")
        return
    least = size.least if rows.fewest is None else min(size.least, rows.fewest)
    if len(table) < least:
        yield Misfit("size", f"{name} has {len(table)} rows; at least {least} are needed")
    if size.most is not None and len(table) > size.most:
        yield Misfit("size", f"{name} has {len(table)} rows; at most {size.most} are wanted")
    for key, row in table.items() if isinstance(table, dict) else enumerate(table):
        where = f"{name}[{json.dumps(key, ensure_ascii=False)}]"
        if not isinstance(row, dict):
            yield Misfit("row", f"{where} must be an object")
            continue
        lacking = sorted(rows.fields.keys() - row.keys() - rows.optional)
        surplus = sorted(row.keys() - rows.fields.keys())
        if lacking:
            yield Misfit("row", f"{where} lacks {', '.join(lacking)}")
        if surplus:
            told = "which its TypedDict does not name" if rows.by_source else "which no row of the example has"
            yield Misfit("row", f"{where} has {', '.join(surplus)}, {told}")
        for field_name, wanted in rows.fields.items():
            if field_name in row and wanted and kind_of(row[field_name]) not in wanted:
                shown = json.dumps(row[field_name], ensure_ascii=False)[:60]
                yield Misfit("type", f"{where}.{field_name} is {shown}, not {' or '.join(sorted(wanted))}")
    own = own_field(table)
    for place, row_key, row in rows_of(table):
        if own is not None and row_key is not None and row.get(own, row_key) != row_key:
            yield Misfit("row key", f"{name}{place}.{own} is {row[own]!r}; the key of a row is its id")


def own_field(table: Any) -> str | None:
    """The field that repeats the key, in most rows of a table at least."""
    if not isinstance(table, dict):
        return None
    rows = [(key, row) for key, row in table.items() if isinstance(row, dict)]
    for name in rows[0][1] if rows else ():
        if 2 * sum(row.get(name) == key for key, row in rows) > len(rows):
            return str(name)
    return None


# References


@dataclass
class _Ids:
    """The ids of a state, by table, and the columns that may refer to them."""

    tables: dict[str, set[Any]] = field(default_factory=dict)
    own: dict[str, str] = field(default_factory=dict)
    """The id field of each table."""
    columns: dict[tuple[str, str], list[tuple[str, Any]]] = field(default_factory=dict)
    """By table and field (`lines.sku` in nested rows): places and values."""

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> _Ids:
        found = cls()
        for name, table in state.items():
            rows = list(rows_of(table))
            if not rows:
                continue
            own = own_field(table) or (None if isinstance(table, dict) else f"{singular(name)}_id")
            found.tables[name] = {key for _, key, _ in rows if key is not None}
            if own is not None:
                found.own[name] = own
                found.tables[name] |= {row[own] for _, _, row in rows if isinstance(row.get(own), str | int)}
            for place, _, row in rows:
                for key, value in row.items():
                    if key != own:
                        found._take((name, key), f"{name}{place}.{key}", value)
        return found

    def _take(self, column: tuple[str, str], place: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                self._take((column[0], f"{column[1]}.{key}"), f"{place}.{key}", inner)
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                self._take(column, f"{place}[{index}]", inner)
        elif isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            self.columns.setdefault(column, []).append((place, value))

    def named(self, column: tuple[str, str]) -> set[str]:
        """Tables that a column refers to by its name."""
        last = column[1].rpartition(".")[2]
        stem = _ID.sub("", last)
        return {
            name
            for name in self.tables
            if self.own.get(name) in (last, singular(last))
            or (_ID.search(last) and (stem == singular(name) or stem.endswith(f"_{singular(name)}")))
        }

    def alike(self, column: tuple[str, str]) -> set[str]:
        """Tables to which an id column refers as its values are there, or look like ids there."""
        if not _ID.search(column[1].rpartition(".")[2]):
            return set()
        values = {value for _, value in self.columns[column]}
        forms = {form for value in values if (form := _form(value)) is not None}
        return {name for name, ids in self.tables.items() if values & ids or forms & {_form(key) for key in ids}}

    def held(self, column: tuple[str, str]) -> set[str] | None:
        """Tables that hold every value of a column; None if the column has fewer than two values."""
        values = {value for _, value in self.columns.get(column, ())}
        return None if len(values) < 2 else {name for name, ids in self.tables.items() if values <= ids}


def dangling(state: Mapping[str, Any], examples: Sequence[Mapping[str, Any]] = ()) -> Iterator[Misfit]:
    """Fields that name a record which is in no table.

    A field refers to tables by its name (`patron_id`, or the id field of a table), by the form of its values (`P-1007`
    among patrons `P-1001`), or as it does in the examples; others (`tracking_id`) refer to nothing in the state.
    """
    ids, seen = _Ids.of(state), [_Ids.of(example) for example in examples]
    for column, places in ids.columns.items():
        held = [tables for example in seen if (tables := example.held(column)) is not None]
        targets = ids.named(column) or ids.alike(column)
        if held:
            shown = set.intersection(*held)
            # The example knows better than the name: an `account_id` may be a bank's.
            targets = targets & shown or shown
        known = set().union(*(ids.tables.get(name, set()) for name in targets))
        for place, value in places if targets else ():
            if value not in known:
                yield Misfit("dangling reference", f"{place} names {value!r}, which is in no table")


def singular(name: str) -> str:
    """A plural without its ending: `patrons` -> `patron`, `copies` -> `copy`."""
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def _form(value: Any) -> str | None:
    """The form of an id that has digits: `P-1007` -> `P-0`; None if it has none."""
    if not isinstance(value, str) or not re.search(r"\d", value):
        return None
    return re.sub(r"\d+", "0", value)
