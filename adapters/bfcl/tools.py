"""The tools as the official function-calling route shows them (chat-completions form; docs/bfcl.md, section 1.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from harness.environment import ToolSpec

Doc = dict[str, Any]
"""A tool document of the release, in BFCL's own schema dialect."""

HINT = " Note that the provided function is in Python 3 syntax."
FLOAT_NOTE = " This is a float type value."

TYPES = {"dict": "object", "float": "number", "tuple": "array", "list": "array", "any": "string", "bool": "boolean"} | {
    kind: kind for kind in ("object", "array", "string", "integer", "number", "boolean")
}
"""BFCL type -> JSON-schema type; any other type is a string."""


def compile_tool(doc: Doc, *, hints: int) -> ToolSpec:
    """The tool that a document becomes.

    Args:
        hints: How often the Python hint is appended to the description: the official code adds it again each time it
            compiles in v3, and never to held-out tools in v4.
    """
    parameters = {**doc["parameters"], "type": "object"}
    parameters["properties"] = _properties(parameters["properties"])
    extra = {key: value for key, value in doc.items() if key not in ("name", "description", "parameters")}
    return ToolSpec(doc["name"].replace(".", "_"), doc["description"] + hints * HINT, parameters, extra)


def _properties(properties: dict[str, Any]) -> dict[str, Any]:
    return {name: _property(schema) for name, schema in properties.items()}


def _property(schema: dict[str, Any]) -> dict[str, Any]:
    out = dict(schema)
    kind = schema.get("type", "string")
    if kind == "float":
        out |= {"format": "float", "description": schema["description"] + FLOAT_NOTE}
    out["type"] = TYPES.get(kind, "string")
    if out["type"] in ("array", "object"):
        if "properties" in out:
            out["properties"] = _properties(out["properties"])
        elif "items" in out:
            out["items"] = _items(out["items"])
    return out


def _items(schema: dict[str, Any]) -> dict[str, Any]:
    """The element schema of a list. Only two levels are mapped, and elements get no float note."""
    out = {**schema, "type": TYPES[schema["type"]]}
    if out["type"] == "array" and "items" in out:
        out["items"] = {**out["items"], "type": TYPES[out["items"]["type"]]}
    elif out["type"] == "object" and "properties" in out:
        out["properties"] = _properties(out["properties"])
    return out


class Toolbox:
    """Compiles the tool lists of one release, each form of a tool once.

    Args:
        version: `v3` or `v4`; they differ in where the Python hint stands.
        docs: Gives the documents of a class.
    """

    def __init__(self, version: str, docs: Callable[[str], Iterable[Doc]]) -> None:
        self._version = version
        self._load = docs
        self._docs: dict[str, dict[str, Doc]] = {}
        self._compiled: dict[tuple[str, str, int], ToolSpec] = {}

    def shown_first(self, classes: Iterable[str], held_out: Iterable[str] = ()) -> list[ToolSpec]:
        """The tools of the first turn: by class, in document order, without the held-out ones."""
        hidden = set(held_out)
        return [self._tool(c, name, 1) for c in classes for name in self._of(c) if name not in hidden]

    def shown_later(self, classes: Iterable[str], held_out: Iterable[str]) -> list[ToolSpec]:
        """The tools once the held-out ones have appeared, at the end of the list.

        The official code compiles the list anew then: in v3 that repeats the hint in the tools shown before; in v4 the
        hint was added at load, to the others only.
        """
        recompiled = self._version == "v3"
        late = list(held_out)
        where = {name: c for c in classes for name in self._of(c)}
        before = [self._tool(c, name, 2 if recompiled else 1) for name, c in where.items() if name not in late]
        return before + [self._tool(where[name], name, 1 if recompiled else 0) for name in late]

    def _of(self, class_name: str) -> dict[str, Doc]:
        if class_name not in self._docs:
            self._docs[class_name] = {doc["name"]: doc for doc in self._load(class_name)}
        return self._docs[class_name]

    def _tool(self, class_name: str, name: str, hints: int) -> ToolSpec:
        key = (class_name, name, hints)
        if key not in self._compiled:
            self._compiled[key] = compile_tool(self._of(class_name)[name], hints=hints)
        return self._compiled[key]
