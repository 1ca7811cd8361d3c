"""The public state of backends in one comparable form (docs/bfcl.md, section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 60
"""Directories or lists nested deeper are named, not opened: an agent can nest without end, or copy a directory into
itself."""


def public(instance: object) -> dict[str, Any]:
    """The attributes of a backend that count: those without a leading underscore. Live values, in their order."""
    return {name: value for name, value in vars(instance).items() if not name.startswith("_")}


def canonical(value: Any, depth: int = 0) -> Any:
    """A copy of `value` made of JSON values: files and directories by name and content, else `repr`."""
    kind = type(value)
    if value is None or kind in (str, int, float, bool):
        return value
    if depth > MAX_DEPTH:
        return {"@deeper": type(value).__name__}
    if kind is dict:
        return {_key(key): canonical(item, depth + 1) for key, item in value.items()}
    if kind in (list, tuple):
        return [canonical(item, depth + 1) for item in value]
    name, contents, content = (getattr(value, attribute, None) for attribute in ("name", "contents", "content"))
    if isinstance(contents, Mapping):
        inside = {_key(key): canonical(item, depth + 1) for key, item in contents.items()}
        return {"@dir": canonical(name, depth + 1), "contents": inside}
    if kind.__name__ == "File":
        return {"@file": canonical(name, depth + 1), "content": canonical(content, depth + 1)}
    return repr(value)


def _key(key: Any) -> str:
    return key if type(key) is str else str(key)
