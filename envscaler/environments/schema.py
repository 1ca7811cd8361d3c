"""Tool schemas from the source of an environment class: read, never executed, since the source is untrusted.

Better than the release's: parameters with a default are not required; Optional, Union, Literal, enums, TypedDicts and
dataclasses keep their shape; each parameter has its line of the docstring; private helpers are no tools.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Collection, Iterable
from typing import Any

from harness.environment import ToolSpec

Function = ast.FunctionDef | ast.AsyncFunctionDef

_SCALARS: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "None": {"type": "null"},
    "bytes": {"type": "string"},
    "datetime": {"type": "string"},
    "date": {"type": "string"},
    "time": {"type": "string"},
    "Decimal": {"type": "number"},
    "UUID": {"type": "string"},
    "dict": {"type": "object"},
    "Dict": {"type": "object"},
    "Mapping": {"type": "object"},
    "list": {"type": "array", "items": {}},
    "List": {"type": "array", "items": {}},
    "Sequence": {"type": "array", "items": {}},
    "Iterable": {"type": "array", "items": {}},
    "tuple": {"type": "array", "items": {}},
    "Tuple": {"type": "array", "items": {}},
    "set": {"type": "array", "items": {}, "uniqueItems": True},
    "Set": {"type": "array", "items": {}, "uniqueItems": True},
    "frozenset": {"type": "array", "items": {}, "uniqueItems": True},
    "FrozenSet": {"type": "array", "items": {}, "uniqueItems": True},
}
_ENUM_TYPES = {"str": "string", "StrEnum": "string", "int": "integer", "IntEnum": "integer"}
_MOST_TYPES = 20_000
"""Types in the annotations of one class, expanded; more is a bomb, since the source comes from anywhere."""
_WRAPPERS = frozenset({"Annotated", "Required", "NotRequired", "ReadOnly", "Final", "ClassVar"})


def tool_specs(source: str, class_name: str) -> list[ToolSpec]:
    """The tools of an environment class: its public methods, in source order; none that would have to be awaited.

    Raises:
        ValueError: If the source does not parse, has no such class, or has annotations beyond reason.
    """
    module = _read(source, class_name)
    try:
        return [_tool(method, module) for method in module.methods(class_name) if isinstance(method, ast.FunctionDef)]
    except RecursionError as error:
        raise ValueError("environment source has annotations that are nested too deeply") from error


def awaitable_methods(source: str, class_name: str) -> list[str]:
    """Public methods that are no tools because they are `async def`: a call would make a coroutine and run nothing.

    Raises:
        ValueError: As `tool_specs`.
    """
    methods = _read(source, class_name).methods(class_name)
    return [method.name for method in methods if isinstance(method, ast.AsyncFunctionDef)]


def _read(source: str, class_name: str) -> _Module:
    try:
        module = _Module(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"environment source does not parse: {str(error) or 'nested too deeply'}") from error
    if class_name not in module.classes:
        raise ValueError(f"environment source defines no class {class_name}")
    return module


class _Module:
    """The classes and type aliases of a module, by name."""

    def __init__(self, tree: ast.Module) -> None:
        self.classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self.aliases: dict[str, ast.expr] = {}
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.aliases[name] = value
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self.aliases[name] = value
        self._types = 0

    def count(self) -> None:
        """Count one more type.

        Raises:
            ValueError: If there are too many.
        """
        self._types += 1
        if self._types > _MOST_TYPES:
            raise ValueError(f"environment source has annotations of more than {_MOST_TYPES} types")

    def methods(self, class_name: str) -> list[Function]:
        """Public methods, those of base classes in the module first, each name once."""
        found: dict[str, Function] = {}
        for node in self.lineage(class_name):
            for item in node.body:
                if not isinstance(item, Function) or item.name.startswith("_"):
                    continue
                if _decorators(item) & {"property", "setter", "cached_property"}:
                    found.pop(item.name, None)
                else:
                    found[item.name] = item
        return list(found.values())

    def lineage(self, class_name: str) -> list[ast.ClassDef]:
        """A class after its bases in the module, each once: what comes later overrides, as in Python."""
        found: dict[str, ast.ClassDef] = {}
        begun: set[str] = set()

        def visit(name: str) -> None:
            if name in begun or name not in self.classes:
                return
            begun.add(name)
            for base in reversed(_bases(self.classes[name])):
                visit(base)
            found[name] = self.classes[name]

        visit(class_name)
        return list(found.values())

    def kind(self, class_name: str) -> str:
        """`enum`, `fields` (TypedDict, NamedTuple, dataclass) or `other`."""
        lineage = self.lineage(class_name)
        bases = {base.rpartition(".")[2] for node in lineage for base in _bases(node)}
        if bases & {"Enum", "StrEnum", "IntEnum"}:
            return "enum"
        if bases & {"TypedDict", "NamedTuple"} or any("dataclass" in _decorators(node) for node in lineage):
            return "fields"
        return "other"


def _bases(node: ast.ClassDef) -> list[str]:
    return [_name(base) for base in node.bases]


def _decorators(node: Function | ast.ClassDef) -> set[str]:
    return {_name(decorator).rpartition(".")[2] for decorator in node.decorator_list}


def _name(node: ast.expr) -> str:
    """The dotted name an expression spells; of a call, the name called."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            return f"{_name(value)}.{attr}"
        case ast.Call(func=func):
            return _name(func)
        case ast.Subscript(value=value):
            return _name(value)
    return ""


def _tool(method: ast.FunctionDef, module: _Module) -> ToolSpec:
    arguments = method.args
    parameters = [*arguments.posonlyargs, *arguments.args]
    static = any(_name(decorator) == "staticmethod" for decorator in method.decorator_list)
    defaults: list[ast.expr | None] = [None] * (len(parameters) - len(arguments.defaults)) + [*arguments.defaults]
    pairs = list(zip(parameters, defaults, strict=True))[0 if static else 1 :]
    pairs += list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    summary, described = _docstring(ast.get_docstring(method) or "", {parameter.arg for parameter, _ in pairs})
    properties: dict[str, Any] = {}
    required = []
    for parameter, default in pairs:
        properties[parameter.arg] = _parameter(parameter, default, described.get(parameter.arg, ""), module)
        if default is None:
            required.append(parameter.arg)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    if arguments.kwarg is None:
        schema["additionalProperties"] = False
    return ToolSpec(method.name, summary, schema)


def _parameter(parameter: ast.arg, default: ast.expr | None, description: str, module: _Module) -> dict[str, Any]:
    value = _literal(default)
    annotation = parameter.annotation
    if annotation is None:
        schema = _of_value(value) if default is not None else {}
    else:
        schema = _schema(annotation, module, frozenset())
        if default is not None and value is None:
            # Left out is how a model says None here; offering null as well has misled tool parsers.
            schema = _without_null(schema)
    if default is not None and value is not None:
        schema = {**schema, "default": value}
    if description:
        schema = {**schema, "description": description}
    return schema


def _literal(node: ast.expr | None) -> Any:
    """The JSON value of a literal expression, None for anything else."""
    if node is None:
        return None
    try:
        return json.loads(json.dumps(ast.literal_eval(node), allow_nan=False))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _of_value(value: Any) -> dict[str, Any]:
    return dict(_SCALARS.get(type(value).__name__, {})) if value is not None else {}


def _one_of(values: list[Any]) -> dict[str, Any]:
    """The schema of a choice; its type where all values have the same."""
    kinds = [_of_value(value) for value in values]
    return {**(kinds[0] if kinds and all(kind == kinds[0] for kind in kinds) else {}), "enum": values}


def _values(nodes: Iterable[ast.expr]) -> list[Any] | None:
    """The values of literal expressions; None if one of them is something else."""
    values = []
    for node in nodes:
        value = _literal(node)
        if value is None and not (isinstance(node, ast.Constant) and node.value is None):
            return None
        values.append(value)
    return values


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    if None in schema.get("enum", ()):
        return _one_of([value for value in schema["enum"] if value is not None])
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if not options:
        return schema
    return options[0] if len(options) == 1 else {**schema, "anyOf": options}


def _schema(node: ast.expr, module: _Module, inside: frozenset[str]) -> dict[str, Any]:
    """JSON schema of an annotation; `{}` (anything) where it says nothing that JSON schema can."""
    module.count()
    match node:
        case ast.Constant(value=None):
            return {"type": "null"}
        case ast.Constant(value=str(text)):
            try:
                parsed = ast.parse(text.strip(), mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return {}
            return _schema(parsed, module, inside)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _union([left, right], module, inside)
        case ast.Subscript(value=value, slice=index):
            arguments = list(index.elts) if isinstance(index, ast.Tuple) else [index]
            return _generic(_name(value).rpartition(".")[2], arguments, module, inside)
    name = _name(node).rpartition(".")[2]
    if name in inside:
        return {}
    if name in module.classes:
        return _class(name, module, inside | {name})
    if name in module.aliases:
        return _schema(module.aliases[name], module, inside | {name})
    return dict(_SCALARS.get(name, {}))


def _generic(name: str, arguments: list[ast.expr], module: _Module, inside: frozenset[str]) -> dict[str, Any]:
    if name == "Optional":
        return _union([*arguments, ast.Constant(value=None)], module, inside)
    if name == "Union":
        return _union(arguments, module, inside)
    if name == "Literal":
        values = _values(arguments)
        return {} if values is None else _one_of(values)
    if name in _WRAPPERS:
        return _schema(arguments[0], module, inside)
    schema = dict(_SCALARS.get(name, {}))
    if schema.get("type") == "object" and len(arguments) == 2:
        return {**schema, "additionalProperties": _schema(arguments[1], module, inside) or True}
    if name in ("tuple", "Tuple") and not any(isinstance(a, ast.Constant) and a.value is ... for a in arguments):
        items = [_schema(argument, module, inside) for argument in arguments]
        uniform = items and all(item == items[0] for item in items)
        return {"type": "array", "items": items[0] if uniform else {}, "minItems": len(items), "maxItems": len(items)}
    if schema.get("type") == "array" and arguments:
        return {**schema, "items": _schema(arguments[0], module, inside)}
    return schema


def _union(options: list[ast.expr], module: _Module, inside: frozenset[str]) -> dict[str, Any]:
    flat: list[dict[str, Any]] = []
    for option in options:
        schema = _schema(option, module, inside)
        for entry in schema["anyOf"] if set(schema) == {"anyOf"} else [schema]:
            if entry not in flat:
                flat.append(entry)
    return {} if {} in flat else flat[0] if len(flat) == 1 else {"anyOf": flat}


def _class(name: str, module: _Module, inside: frozenset[str]) -> dict[str, Any]:
    kind = module.kind(name)
    if kind == "other":
        return {"type": "object"}
    lineage = module.lineage(name)
    if kind == "enum":
        return _enum(lineage)
    properties: dict[str, Any] = {}
    required: dict[str, bool] = {}
    for node in lineage:
        total = not any(k.arg == "total" and _literal(k.value) is False for k in node.keywords)
        for item in node.body:
            if not isinstance(item, ast.AnnAssign) or not isinstance(item.target, ast.Name):
                continue
            wrapper = _name(item.annotation).rpartition(".")[2]
            if wrapper != "ClassVar":
                properties[item.target.id] = _schema(item.annotation, module, inside)
                needed = total and item.value is None
                required[item.target.id] = {"Required": True, "NotRequired": False}.get(wrapper, needed)
    names = [field for field, needed in required.items() if needed]
    return {"type": "object", "properties": properties, "required": names}


def _enum(lineage: Iterable[ast.ClassDef]) -> dict[str, Any]:
    """The choice among an enum's values; only their type where they are not written out, as with `auto()`."""
    lineage = list(lineage)
    members = {
        target.id: item.value
        for node in lineage
        for item in node.body
        if isinstance(item, ast.Assign)
        for target in item.targets
        if isinstance(target, ast.Name) and not target.id.startswith("_")
    }
    values = _values(members.values())
    if values:
        return _one_of(values)
    bases = {base.rpartition(".")[2] for node in lineage for base in _bases(node)}
    types = [{"type": name} for base, name in _ENUM_TYPES.items() if base in bases]
    return types[0] if types else {}


_ARGS = re.compile(r"^\s*(Args|Arguments|Parameters|Params):\s*$")
_ARGUMENT = re.compile(r"^\s*\*{0,2}(\w+)\s*(?:\([^)]*\)\s*)?:\s*(.*)$")

_OTHER = "*"
"""Stands for an entry that is no parameter."""


def _docstring(text: str, parameters: Collection[str]) -> tuple[str, dict[str, str]]:
    """A Google-style docstring without what it says of the parameters, and that by parameter.

    An entry of the arguments section that is no parameter (`**kwargs`) stays in the text.
    """
    kept: list[str] = []
    described: dict[str, str] = {}
    inside, current, indent = False, "", 0
    for line in inspect.cleandoc(text).splitlines():
        depth = len(line) - len(line.lstrip())
        if _ARGS.match(line):
            inside, current = True, ""
        elif not inside:
            kept.append(line)
        elif not line.strip():
            continue
        elif (entry := _ARGUMENT.match(line)) and entry[1] in parameters and (not current or depth <= indent):
            current, indent = entry[1], depth
            described[current] = entry[2].strip()
        elif depth == 0:
            inside = False
            kept.append(line)
        elif entry and (not current or depth <= indent):
            current, indent = _OTHER, depth
            kept.append(line.strip())
        elif current == _OTHER:
            kept.append(line.strip())
        elif current:
            described[current] = f"{described[current]} {line.strip()}".strip()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip(), described
