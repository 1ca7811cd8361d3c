"""Calls that reach no method as they stand, and what the official executor says to them.

It writes `name(key=repr(value), ...)` and has Python evaluate that. So a name may be dotted, a key no identifier, a
value NaN. The text is only parsed here, to give the same answer; nothing of it is run.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Container, Mapping
from typing import Any

from harness.environment import ToolStatus

DENIED = frozenset({"kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run"})
"""Names that the official executor refuses before it looks for them."""
_MAX_DEPTH = 80
"""Values nested deeper take the slow path: Python's parser, and so the official executor, refuses them at 200."""


class NotPlain(Exception):
    """A value whose `repr` is not a Python literal, or may be none."""


class Refused(Exception):
    """A call that no method gets to see; the text is the official one."""

    def __init__(self, text: str, status: ToolStatus) -> None:
        super().__init__(text)
        self.status = status


def plain(value: Any, depth: int = 0) -> Any:
    """A copy of a JSON value: the backends keep what they are given, and the record must not change with them.

    Raises:
        NotPlain: For NaN, infinities, what is nested very deeply, and what JSON does not know.
    """
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None or (kind is float and math.isfinite(value)):
        return value
    if depth < _MAX_DEPTH:
        if kind is list:
            return [plain(item, depth + 1) for item in value]
        if kind is dict:
            return {key: plain(item, depth + 1) for key, item in value.items()}
    raise NotPlain


def resolve(name: str, arguments: Mapping[str, Any], methods: Container[str]) -> tuple[str, dict[str, Any]]:
    """The method and the arguments that the official text of a call amounts to.

    Raises:
        Refused: If it amounts to none.
    """
    name = _trimmed(name)
    known = ToolStatus.RAISED if name in methods else ToolStatus.UNKNOWN_TOOL
    head = name.partition("(")[0].split(".")
    denied = head[1] if len(head) > 1 else head[0]
    if denied in DENIED:
        raise Refused(f"Function call {denied} is not allowed.", known)
    try:
        text = f"{name}({','.join(f'{key}={value!r}' for key, value in arguments.items())})"
        tree = _parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Refused(str(error), known) from error
    # Python evaluates from left to right: the method, then the arguments. No other name is defined there.
    names = sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.Name)), key=lambda n: (n.lineno, n.col_offset)
    )
    call = isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == name and name in methods
    if undefined := names[1:] if call else names:
        raise Refused(f"name '{undefined[0].id}' is not defined", known)
    if not call or not isinstance(tree, ast.Call) or tree.args:
        raise Refused("the call names no tool", known)
    return name, {str(item.arg): ast.literal_eval(item.value) for item in tree.keywords}


def _trimmed(name: str) -> str:
    """A name without the blanks that do not count: those before it, and after it if it ends in a word."""
    name = name.lstrip()
    return bare if re.search(r"\w$", bare := name.rstrip()) else name


def _parse(text: str) -> ast.expr:
    """The tree of an expression. The text is compiled as well, for errors that the parser alone does not see."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        # The file name is part of the official error text.
        compile(text, "<string>", "eval")
        tree = compile(text, "<string>", "eval", ast.PyCF_ONLY_AST)
    assert isinstance(tree, ast.Expression)
    return tree.body
