"""Bundled environments with one bug each, seeded by syntax tree: five kinds, eight of each, spread over all of them."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import load

EACH = 8


@dataclass(frozen=True)
class Mutant:
    """One environment with one bug."""

    kind: str
    tool: str
    line: int
    record: EnvironmentRecord

    @property
    def id(self) -> str:
        return f"{self.kind}-{self.record.id}-{self.tool}-{self.line}"


def mutants() -> list[Mutant]:
    """All of them, always the same."""
    records = list(load("bundled").environments.values())
    found = []
    for kind, operator in OPERATORS.items():
        chance = random.Random(kind)
        places = {record.id: _places(record, operator) for record in records}
        for options in places.values():
            chance.shuffle(options)
        chance.shuffle(records)
        for number in range(EACH):
            record = records[number % len(records)]
            method, node = places[record.id].pop()
            found.append(_made(record, kind, operator, method, node))
    return found


def _places(record: EnvironmentRecord, operator: Operator) -> list[tuple[str, ast.stmt]]:
    return [
        (method.name, node) for method in _tools(ast.parse(record.source), record) for node in operator.find(method)
    ]


def _tools(tree: ast.Module, record: EnvironmentRecord) -> Iterator[ast.FunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == record.class_name:
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
                    yield item


def _made(record: EnvironmentRecord, kind: str, operator: Operator, method: str, node: ast.stmt) -> Mutant:
    tree = ast.parse(record.source)
    where = (node.lineno, node.col_offset)

    class Change(ast.NodeTransformer):
        def visit(self, item: ast.AST) -> ast.AST | None:
            if isinstance(item, ast.stmt) and (item.lineno, item.col_offset) == where and type(item) is type(node):
                return operator.change(copy.deepcopy(item))
            return self.generic_visit(item)

    source = ast.unparse(ast.fix_missing_locations(Change().visit(tree)))
    return Mutant(kind, method, node.lineno, replace(record, source=source, bundled=False))


@dataclass(frozen=True)
class Operator:
    """A kind of bug: where it can be, and what it is."""

    find: Callable[[ast.FunctionDef], Iterator[ast.stmt]]
    change: Callable[[ast.stmt], ast.stmt]


def _refusals(method: ast.FunctionDef) -> Iterator[ast.If]:
    """`if ...: return <a refusal>` without an else."""
    for node in ast.walk(method):
        if isinstance(node, ast.If) and not node.orelse and len(node.body) == 1 and _refuses(node.body[0]):
            yield node


def _refuses(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Return) or node.value is None:
        return False
    text = ast.unparse(node.value)
    return text.startswith(("self._fail(", "self._unknown(", "self._error(", "self._refuse(", "{'success': False"))


def _is_guard(node: ast.If) -> bool:
    """Tests that a value exists or has the right type, rather than a rule."""
    test = ast.unparse(node.test)
    return "is None" in test or "isinstance" in test or "._is_" in test or "not in self." in test


def _rules(method: ast.FunctionDef) -> Iterator[ast.stmt]:
    return (node for node in _refusals(method) if not _is_guard(node) and "[" in ast.unparse(node.test))


def _guards(method: ast.FunctionDef) -> Iterator[ast.stmt]:
    return (node for node in _refusals(method) if _is_guard(node))


def _nothing(node: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Pass(), node)


def _writes(method: ast.FunctionDef) -> list[ast.stmt]:
    """Changes of a field of a record: `row["field"] = ...`, `row["field"] -= ...`, `self.counter = ...`."""
    found: list[ast.stmt] = []
    for node in ast.walk(method):
        if isinstance(node, ast.Assign | ast.AugAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                found.append(node)
    return found


def _fields(method: ast.FunctionDef) -> Iterator[ast.stmt]:
    return (node for node in _writes(method) if isinstance(node, ast.Assign))


def _elsewhere(node: ast.stmt) -> ast.stmt:
    assert isinstance(node, ast.Assign)
    target = node.targets[0]
    assert isinstance(target, ast.Subscript)
    name = target.slice.value if isinstance(target.slice, ast.Constant) else ""
    target.slice = ast.Constant(value="status" if name != "status" else "note")
    return node


def _dependent(method: ast.FunctionDef) -> Iterator[ast.stmt]:
    """The later of several writes: what keeps another record in step."""
    return iter(_writes(method)[1:])


def _wrong_error(node: ast.stmt) -> ast.stmt:
    """A refusal that says that all went well, or one that says nothing."""
    assert isinstance(node, ast.If)
    answer = "{'success': True, 'message': 'Done.'}" if node.lineno % 2 else "{'success': False, 'error': ''}"
    node.body = [ast.Return(ast.parse(answer, mode="eval").body)]
    return node


OPERATORS = {
    "rule-not-enforced": Operator(_rules, _nothing),
    "wrong-field-written": Operator(_fields, _elsewhere),
    "stale-index": Operator(_dependent, _nothing),
    "wrong-error": Operator(lambda method: iter(_refusals(method)), _wrong_error),
    "missing-guard": Operator(_guards, _nothing),
}
