"""Tool schemas from the source of an environment class: read, never executed, since the source is untrusted.

Better than the release's: parameters with a default are not required; Optional, Union, Literal, enums, TypedDicts and
dataclasses keep their shape; each parameter has its line of the docstring; private helpers are no tools.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
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
}
_WRAPPERS = frozenset({"Annotated", "Required", "NotRequired", "ReadOnly", "Final", "ClassVar"})


def tool_specs(source: str, class_name: str) -> list[ToolSpec]:
    """The tools of an environment class: its public methods, in source order.

    Raises:
        ValueError: If the source does not parse or has no such class.
    """
    try:
        module = _Module(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise ValueError(f"environment source does not parse: {error}") from error
    if class_name not in module.classes:
        raise ValueError(f"environment source defines no class {class_name}")
    return [_tool(method, module) for method in module.methods(class_name)]


class _Module:
    """The classes of a module, by name."""

    def __init__(self, tree: ast.Module) -> None:
        self.classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}

    def bases(self, node: ast.ClassDef) -> list[str]:
        return [_name(base) for base in node.bases]

    def methods(self, class_name: str) -> list[Function]:
        """Public methods, those of base classes in the module first, each name once."""
        found: dict[str, Function] = {}
        for node in self._lineage(class_name):
            for item in node.body:
                if not isinstance(item, Function) or item.name.startswith("_"):
                    continue
                decorators = {_name(decorator).rpartition(".")[2] for decorator in item.decorator_list}
                if not decorators & {"property", "setter", "cached_property"}:
                    found[item.name] = item
        return list(found.values())

    def _lineage(self, class_name: str, seen: frozenset[str] = frozenset()) -> Iterator[ast.ClassDef]:
        node = self.classes.get(class_name)
        if node is None or class_name in seen:
            return
        for base in self.bases(node):
            yield from self._lineage(base, seen | {class_name})
        yield node

    def kind(self, node: ast.ClassDef) -> str:
        """`enum`, `fields` (TypedDict, NamedTuple, dataclass) or `other`."""
        bases = {base.rpartition(".")[2] for base in self.bases(node)}
        decorators = {_name(decorator).rpartition(".")[2] for decorator in node.decorator_list}
        if bases & {"Enum", "StrEnum", "IntEnum"}:
            return "enum"
        if bases & {"TypedDict", "NamedTuple"} or "dataclass" in decorators:
            return "fields"
        if any(base in self.classes and self.kind(self.classes[base]) == "fields" for base in bases):
            return "fields"
        return "other"


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


def _tool(method: Function, module: _Module) -> ToolSpec:
    summary, described = _docstring(ast.get_docstring(method) or "")
    arguments = method.args
    parameters = [*arguments.posonlyargs, *arguments.args]
    static = any(_name(decorator) == "staticmethod" for decorator in method.decorator_list)
    defaults: list[ast.expr | None] = [None] * (len(parameters) - len(arguments.defaults)) + [*arguments.defaults]
    pairs = list(zip(parameters, defaults, strict=True))[0 if static else 1 :]
    pairs += list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
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
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return None
    return value if isinstance(value, str | int | float | bool | list | dict) else None


def _of_value(value: Any) -> dict[str, Any]:
    return dict(_SCALARS.get(type(value).__name__, {})) if value is not None else {}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if not options:
        return schema
    return options[0] if len(options) == 1 else {**schema, "anyOf": options}


def _schema(node: ast.expr, module: _Module, inside: frozenset[str]) -> dict[str, Any]:
    """JSON schema of an annotation; `{}` (anything) where it says nothing that JSON schema can."""
    match node:
        case ast.Constant(value=None):
            return {"type": "null"}
        case ast.Constant(value=str(text)):
            try:
                return _schema(ast.parse(text, mode="eval").body, module, inside)
            except SyntaxError:
                return {}
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _union([left, right], module, inside)
        case ast.Subscript(value=value, slice=index):
            arguments = list(index.elts) if isinstance(index, ast.Tuple) else [index]
            return _generic(_name(value).rpartition(".")[2], arguments, module, inside)
    name = _name(node).rpartition(".")[2]
    if name in module.classes and name not in inside:
        return _class(module.classes[name], module, inside | {name})
    return dict(_SCALARS.get(name, {}))


def _generic(name: str, arguments: list[ast.expr], module: _Module, inside: frozenset[str]) -> dict[str, Any]:
    if name == "Optional":
        return _union([*arguments, ast.Constant(value=None)], module, inside)
    if name == "Union":
        return _union(arguments, module, inside)
    if name == "Literal":
        values = [_literal(argument) for argument in arguments]
        kinds = [_of_value(value) for value in values]
        return {**(kinds[0] if kinds and all(kind == kinds[0] for kind in kinds) else {}), "enum": values}
    if name in _WRAPPERS:
        return _schema(arguments[0], module, inside)
    schema = dict(_SCALARS.get(name, {}))
    if schema.get("type") == "object" and len(arguments) == 2:
        return {**schema, "additionalProperties": _schema(arguments[1], module, inside) or True}
    if name in ("tuple", "Tuple") and not any(isinstance(a, ast.Constant) and a.value is ... for a in arguments):
        items = [_schema(argument, module, inside) for argument in arguments]
        uniform = all(item == items[0] for item in items)
        return {"type": "array", "items": items[0] if uniform else {}, "minItems": len(items), "maxItems": len(items)}
    if schema.get("type") == "array":
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


def _class(node: ast.ClassDef, module: _Module, inside: frozenset[str]) -> dict[str, Any]:
    kind = module.kind(node)
    if kind == "enum":
        values = [_literal(item.value) for item in node.body if isinstance(item, ast.Assign)]
        return {**_of_value(values[0] if values else None), "enum": values}
    if kind == "other":
        return {"type": "object"}
    properties: dict[str, Any] = {}
    required: list[str] = []
    for base in module.bases(node):
        if base in module.classes and base not in inside:
            inherited = _class(module.classes[base], module, inside | {base})
            properties.update(inherited.get("properties", {}))
            required += inherited.get("required", [])
    total = not any(k.arg == "total" and _literal(k.value) is False for k in node.keywords)
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            properties[item.target.id] = _schema(item.annotation, module, inside)
            optional = item.value is not None or _name(item.annotation).endswith("NotRequired")
            if total and not optional:
                required.append(item.target.id)
    return {"type": "object", "properties": properties, "required": required}


_ARGS = re.compile(r"^\s*(Args|Arguments|Parameters|Params):\s*$")
_SECTION = re.compile(r"^\s*[A-Z][\w /]*:\s*$")
_ARGUMENT = re.compile(r"^\s*\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    """A Google-style docstring without its arguments section, and that section by parameter."""
    kept: list[str] = []
    described: dict[str, str] = {}
    inside, current, indent = False, "", 0
    for line in inspect.cleandoc(text).splitlines():
        if _ARGS.match(line):
            inside, current = True, ""
            continue
        if inside and line.strip():
            depth = len(line) - len(line.lstrip())
            entry = _ARGUMENT.match(line)
            if depth == 0 and (_SECTION.match(line) or not entry):
                inside = False
            elif entry and (not current or depth <= indent):
                current, indent = entry[1], depth
                described[current] = entry[2].strip()
                continue
            elif current:
                described[current] = f"{described[current]} {line.strip()}".strip()
                continue
        if not inside:
            kept.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip(), described
