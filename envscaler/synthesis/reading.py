"""The source of an environment class, read as a syntax tree: never executed here, since it comes from a model."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef
MOST_CHARACTERS = 400_000


class Unreadable(ValueError):
    """Source that does not parse or has no such class; one sentence."""


@dataclass
class Reading:
    """What rules look at."""

    tree: ast.Module
    cls: ast.ClassDef
    methods: dict[str, Function]
    """Of the class, by name; of two with one name the later, as in Python."""
    repeated: list[Function]
    """Methods that a later one of the same name replaces."""
    attributes: dict[str, ast.AST]
    """What `__init__` sets on `self`, where."""
    constants: dict[str, ast.AST]
    """Names set in the class body."""
    names: dict[str, str] = field(default_factory=dict)
    """Imported names, by what they stand for: `dt` -> `datetime.datetime`."""

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the source; rules walk it again and again."""
        return list(ast.walk(self.tree))

    @property
    def tools(self) -> dict[str, Function]:
        """Public methods."""
        return {name: method for name, method in self.methods.items() if not name.startswith("_")}

    def reachable(self) -> dict[str, Function]:
        """Methods that some tool calls, tools included."""
        found = dict(self.tools)
        open_ = list(found.values())
        while open_:
            for name in used(open_.pop()):
                if name in self.methods and name not in found:
                    found[name] = self.methods[name]
                    open_.append(self.methods[name])
        return found

    def dotted(self, node: ast.AST) -> str | None:
        """What an expression names, imports resolved: `dt.now` -> `datetime.datetime.now`; None if it names nothing."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.names:
            return None
        return ".".join([self.names[node.id], *reversed(parts)])


def parsed(source: str) -> ast.Module:
    """A syntax tree.

    Raises:
        Unreadable: If there is none.
    """
    if len(source) > MOST_CHARACTERS:
        raise Unreadable(f"the source has {len(source)} characters; at most {MOST_CHARACTERS} are read")
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise Unreadable(f"line {error.lineno}: does not compile: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"does not compile: {str(error) or 'nested too deeply'}") from error


def reading(source: str, class_name: str) -> Reading:
    """The class of a source.

    Raises:
        Unreadable: If the source does not parse or has no such class.
    """
    tree = parsed(source)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    if class_name not in classes:
        raise Unreadable(f"defines no class {class_name} at its top level")
    cls = classes[class_name]
    methods: dict[str, Function] = {}
    repeated = []
    constants: dict[str, ast.AST] = {}
    for item in cls.body:
        match item:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if item.name in methods:
                    repeated.append(methods[item.name])
                methods[item.name] = item
            case ast.Assign(targets=targets):
                constants |= {target.id: item for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                constants[name] = item
    constructor = methods.get("__init__")
    attributes: dict[str, ast.AST] = {}
    if constructor is not None:
        for target, node in assigned(constructor):
            if is_self(target):
                attributes.setdefault(target.attr, node)
    return Reading(tree, cls, methods, repeated, attributes, constants, imported_names(tree))


def assigned(node: ast.AST) -> Iterator[tuple[ast.Attribute, ast.AST]]:
    """Attributes that are assigned within a node, each with its statement."""
    for item in ast.walk(node):
        targets: list[ast.expr] = []
        if isinstance(item, ast.Assign):
            targets = item.targets
        elif isinstance(item, ast.AnnAssign | ast.AugAssign):
            targets = [item.target]
        for target in targets:
            for part in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
                if isinstance(part, ast.Attribute):
                    yield part, item


def is_self(node: ast.AST) -> bool:
    """Whether it is `self.something`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def used(node: ast.AST) -> set[str]:
    """Names of what is reached as `self.name` or `cls.name` within a node."""
    return {
        item.attr
        for item in ast.walk(node)
        if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name) and item.value.id in ("self", "cls")
    }


def imported_names(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for, wherever it is imported."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def method_source(source: str, read: Reading, name: str) -> str:
    """A method with the private ones it calls, after the other classes, as they stand in the source."""
    wanted = {name}
    open_ = [name]
    while open_:
        for other in used(read.methods[open_.pop()]):
            if other in read.methods and other.startswith("_") and other not in wanted:
                wanted.add(other)
                open_.append(other)
    types = [node for node in read.tree.body if isinstance(node, ast.ClassDef) and node is not read.cls]
    methods = [method for method in read.methods.values() if method.name in wanted]
    lines = source.splitlines()
    return "\n\n".join("\n".join(lines[_first_line(node) - 1 : node.end_lineno]) for node in [*types, *methods])


def outline(source: str, read: Reading) -> str:
    """A source without its operations: what stands beside the class, its constants, and its constructor."""
    operations = [
        method
        for method in read.cls.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.name != "__init__"
    ]
    left_out = {line for method in operations for line in range(_first_line(method), (method.end_lineno or 0) + 1)}
    lines = [line for number, line in enumerate(source.splitlines(), start=1) if number not in left_out]
    return re.sub(r"\n{3,}", "\n\n\n", "\n".join(lines)).strip("\n") + "\n"


def _first_line(node: ast.ClassDef | Function) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
