"""The `calculate` tool of both domains: Python's arithmetic on numbers, bounded in time and size, without `eval`.

The official tool evaluates the text as Python and rounds `float` of the result to two digits; syntax and type errors
reach the agent in Python's words (docs of Tau-Bench, section 1.11). Here Python's parser only reads the text; the tree
is then computed step by step, so that `9**9**9` costs nothing.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any

ALLOWED = "0123456789+-*/(). "
MAX_LENGTH = 10_000
"""Characters of an expression that is read at all."""
MAX_BITS = 1 << 18
"""Size of the largest whole number that is computed exactly; anything near it is far beyond a float."""
MAX_WORK = 1 << 20
"""Bits of whole numbers that one expression may produce in all."""

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}


def calculate(expression: Any) -> str:
    """The tool's observation for an expression.

    Raises:
        TypeError: As the official tool does, if `expression` is not a text or a list of characters.
    """
    if not all(character in ALLOWED for character in expression):
        return "Error: invalid characters in expression"
    try:
        if not isinstance(expression, str):
            raise TypeError("eval() arg 1 must be a string, bytes or code object")
        return str(round(float(_value(_read(expression))), 2))
    # Whatever the arithmetic raises is the tool's answer, in Python's own words.
    except Exception as error:
        return f"Error: {error}"


def _read(expression: str) -> ast.expr:
    if len(expression) > MAX_LENGTH:
        raise ValueError(f"expression is longer than {MAX_LENGTH} characters")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(expression.lstrip(" "), "<string>", "eval").body


def _value(tree: ast.expr) -> Any:
    """The value of a tree, on a stack of our own: a long sum is deeper than Python's."""
    todo: list[ast.expr | Callable[[], None]] = [tree]
    values: list[Any] = []
    work = [MAX_WORK]
    while todo:
        match todo.pop():
            case ast.Constant(value=value):
                values.append(value)
            case ast.Tuple(elts=[]):
                values.append(())
            case ast.UnaryOp(op=sign, operand=operand):
                todo += [_unary(values, _UNARY[type(sign)]), operand]
            case ast.BinOp(left=left, op=sign, right=right):
                todo += [_binary(values, _BINARY[type(sign)], work), right, left]
            case ast.Call(func=function, args=arguments):
                todo += [_call(values, len(arguments)), *reversed(arguments), function]
            case ast.Starred(value=inner):
                todo.append(inner)
            case ast.expr() as other:
                raise TypeError(f"{type(other).__name__} is not arithmetic")
            case step:
                step()
    return values.pop()


def _unary(values: list[Any], function: Callable[[Any], Any]) -> Callable[[], None]:
    def step() -> None:
        values.append(function(values.pop()))

    return step


def _binary(values: list[Any], function: Callable[[Any, Any], Any], work: list[int]) -> Callable[[], None]:
    def step() -> None:
        right, left = values.pop(), values.pop()
        if type(left) is int and type(right) is int:
            bits = _bits(function, left, right)
            work[0] -= bits
            if bits > MAX_BITS or work[0] < 0:
                # What Python says in the end when such a number becomes a float.
                raise OverflowError("int too large to convert to float")
        values.append(function(left, right))

    return step


def _call(values: list[Any], count: int) -> Callable[[], None]:
    def step() -> None:
        function = values[-count - 1]
        raise TypeError(f"{type(function).__name__!r} object is not callable")

    return step


def _bits(function: Callable[[Any, Any], Any], left: int, right: int) -> int:
    """An upper bound of the result's bits, without computing it."""
    if function is operator.pow:
        return left.bit_length() * right if right > 0 and left not in (-1, 0, 1) else 1
    return left.bit_length() + right.bit_length()
