"""Which methods of an environment change its state, read off the source; nothing is run.

A method changes the state if it assigns to, deletes from, or calls a mutator of something that is reached from `self`,
or calls a method that does. What it builds itself (a list, a copy of a record) may be changed freely; records inside
are the state's all the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

MUTATORS = frozenset(
    {
        *("add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove"),
        *("reverse", "setdefault", "sort", "update"),
        *("difference_update", "intersection_update", "symmetric_difference_update"),
    }
)
FRESH = frozenset(
    {"copy", "deepcopy", "dict", "list", "set", "tuple", "sorted", "reversed", "filter", "map", "zip", "enumerate"}
)
"""Calls whose result is a new container of the same elements."""
PICKS = frozenset({"next", "max", "min"})
"""Calls whose result is one of the elements."""
STATE, HOLDER, OTHER = 2, 1, 0
"""What a value is: part of the state, a container of its own that may hold such parts, or neither."""

_Method = ast.FunctionDef | ast.AsyncFunctionDef
_BINDS = (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.comprehension, ast.Call)
_CHANGES = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.Call)


def state_changing(source: str, class_name: str) -> set[str]:
    """The names of the methods of a class that change its state.

    Args:
        source: Python that parses.
    """
    methods = {
        node.name: node
        for found in ast.walk(ast.parse(source))
        if isinstance(found, ast.ClassDef) and found.name == class_name
        for node in found.body
        if isinstance(node, _Method)
    }
    calls = {name: {call for call in _own_calls(method) if call in methods} for name, method in methods.items()}
    readings = {name: _Reading(method) for name, method in methods.items()}
    returns = dict.fromkeys(methods, OTHER)
    learned = set(methods)
    while learned:
        # Only what calls a method of which more is known now may know more itself.
        affected = [name for name in methods if calls[name] & learned or learned == set(methods)]
        known = {name: readings[name].read(returns) for name in affected}
        learned = {name for name, kind in known.items() if kind != returns[name]}
        returns |= known
    changing = {name for name, reading in readings.items() if reading.writes()}
    while more := {name for name, called in calls.items() if called & changing} - changing:
        changing |= more
    return changing - {"__init__"}


def _own_calls(method: _Method) -> Iterator[str]:
    """Names of methods that are called on `self`."""
    for node in ast.walk(method):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                yield name


class _Reading:
    """One method, read until nothing more is learned of its names."""

    def __init__(self, method: _Method) -> None:
        nodes = list(ast.walk(method))
        self._binds = [node for node in nodes if isinstance(node, _BINDS)]
        self._changes = [node for node in nodes if isinstance(node, _CHANGES)]
        self._values = [node.value for node in nodes if isinstance(node, ast.Return) and node.value]
        self._returns: Mapping[str, int] = {}
        arguments = method.args
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        # What helpers are handed is taken for part of the state; what an agent hands to a tool is not.
        given = STATE if method.name.startswith("_") else OTHER
        self._known = {name: STATE if name == "self" else given for name in names}

    def read(self, returns: Mapping[str, int]) -> int:
        """Learn of the method's names, knowing what other methods return; returns what it returns itself."""
        self._returns = returns
        before: dict[str, int] = {}
        while before != self._known:
            before = dict(self._known)
            for node in self._binds:
                self._learn(node)
        return max(map(self._kind, self._values), default=OTHER)

    def _learn(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, self._kind(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, self._kind(value))
            case ast.NamedExpr(target=target, value=value):
                self._bind(target, self._kind(value))
            case ast.For(target=target, iter=iterated) | ast.comprehension(target=target, iter=iterated):
                self._bind(target, self._element(iterated))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attribute), args=arguments):
                # What is put into a container of the method's own is held by it.
                if attribute in MUTATORS and any(self._kind(one) for one in arguments):
                    self._known[name] = max(self._known.get(name, OTHER), HOLDER)

    def _bind(self, target: ast.expr, kind: int) -> None:
        match target:
            case ast.Name(id=name):
                self._known[name] = max(self._known.get(name, OTHER), kind)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self._bind(part, STATE if kind == HOLDER else kind)
            case ast.Starred(value=inner):
                self._bind(inner, kind)
            case ast.Subscript(value=ast.Name(id=name)) if kind:
                self._known[name] = max(self._known.get(name, OTHER), HOLDER)

    def _element(self, iterated: ast.expr) -> int:
        return STATE if self._kind(iterated) else OTHER

    def _kind(self, value: ast.expr) -> int:
        match value:
            case ast.Name(id=name):
                return self._known.get(name, OTHER)
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                return STATE if self._kind(inner) else OTHER
            case ast.IfExp(body=body, orelse=other):
                return max(self._kind(body), self._kind(other))
            case ast.BoolOp(values=values):
                return max(map(self._kind, values))
            case ast.NamedExpr(value=inner) | ast.Starred(value=inner) | ast.Await(value=inner):
                return self._kind(inner)
            case ast.ListComp(elt=made) | ast.SetComp(elt=made) | ast.GeneratorExp(elt=made) | ast.DictComp(value=made):
                return HOLDER if self._kind(made) else OTHER
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return HOLDER if any(map(self._kind, parts)) else OTHER
            case ast.Dict(values=parts):
                return HOLDER if any(map(self._kind, parts)) else OTHER
            case ast.Call(func=function, args=arguments):
                return self._called(function, arguments)
        return OTHER

    def _called(self, function: ast.expr, arguments: list[ast.expr]) -> int:
        held = any(map(self._kind, arguments))
        match function:
            case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="copy"), attr=name) if name in FRESH:
                return HOLDER if held and name != "deepcopy" else OTHER
            case ast.Name(id=name) if name in PICKS:
                return STATE if held else OTHER
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name in self._returns:
                return self._returns[name]
            case ast.Attribute(value=inner, attr="copy"):
                return HOLDER if self._kind(inner) else OTHER
            case ast.Attribute(value=inner, attr="setdefault") if self._kind(inner) == HOLDER:
                # `groups.setdefault(kind, []).append(record)`: the list is the method's own as well.
                return max(HOLDER, *map(self._kind, arguments[1:]))
            case ast.Attribute(value=inner):
                return STATE if self._kind(inner) else OTHER
        return OTHER

    def writes(self) -> bool:
        """Whether the method itself changes the state."""
        for node in self._changes:
            match node:
                case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                    if any(self._is_state(target) for target in targets):
                        return True
                case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                    if self._is_state(target):
                        return True
                case ast.Call(func=ast.Attribute(value=changed, attr=name)) if name in MUTATORS:
                    if self._kind(changed) == STATE and not (isinstance(changed, ast.Name) and changed.id == "self"):
                        return True
        return False

    def _is_state(self, target: ast.expr) -> bool:
        match target:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                return self._kind(inner) == STATE
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return any(map(self._is_state, parts))
        return False
