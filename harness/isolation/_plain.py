"""Which checks can do nothing but look at a state: they may share a process, since they cannot leave anything behind.

A list of what is allowed, not of what is forbidden: of syntax, of builtins, of attributes. Such code reaches no object
that outlives it: the builtin types cannot be changed, there is no import, no frame, no attribute to assign. Nearly all
generated checks are of this kind (892 of the 901 in the public sample); any other gets a process of its own.
"""

from __future__ import annotations

import ast
import builtins

_SYNTAX: tuple[type[ast.AST], ...] = (
    ast.Module, ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AnnAssign,
    ast.AugAssign, ast.For,
    ast.While, ast.If, ast.Try, ast.ExceptHandler, ast.Raise, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.BoolOp,
    ast.NamedExpr, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.comprehension, ast.Compare, ast.Call, ast.keyword, ast.FormattedValue, ast.JoinedStr,
    ast.Constant, ast.Attribute, ast.Subscript, ast.Starred, ast.Name, ast.List, ast.Tuple, ast.Slice,
    ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip

_BUILTINS = frozenset(  # a list of words reads better than a hundred quoted strings
    """
    abs all any ascii bool bytes chr dict divmod enumerate filter float frozenset hash int isinstance iter len list map
    max min next ord pow range repr reversed round set slice sorted str sum tuple zip
    ArithmeticError AssertionError AttributeError Exception IndexError KeyError LookupError NotImplementedError
    RuntimeError StopIteration TypeError ValueError ZeroDivisionError
    """.split()  # noqa: SIM905
)

# Of dict, list and set; of str; of numbers and dates that a state may hold. Not `format`: it follows attributes.
_ATTRIBUTES = frozenset(
    """
    get keys values items update setdefault pop popitem clear copy append extend insert remove reverse sort index count
    add discard union intersection difference symmetric_difference issubset issuperset isdisjoint

    lower upper title capitalize casefold swapcase strip lstrip rstrip split rsplit splitlines partition rpartition join
    replace startswith endswith find rfind rindex isdigit isdecimal isnumeric isalpha isalnum isspace islower isupper
    zfill ljust rjust center removeprefix removesuffix

    is_integer year month day hour minute second date days seconds total_seconds isoformat weekday
    """.split()  # noqa: SIM905
)

_ALL_BUILTINS = frozenset(dir(builtins))


def is_plain(source: str) -> bool:
    """True if running `source` cannot affect what runs after it in the same process.

    Parses what it is given, so call it only where a crash of the parser may happen.
    """
    try:
        tree = ast.parse(source)
    except (RecursionError, MemoryError):
        return False
    except (SyntaxError, ValueError):
        return True  # it will not run at all
    return all(_allowed(node) for node in ast.walk(tree))


def _allowed(node: ast.AST) -> bool:
    match node:
        case ast.Attribute():
            return node.attr in _ATTRIBUTES and isinstance(node.ctx, ast.Load)
        case ast.Name():
            return _harmless(node.id)
        case ast.arg():
            return _harmless(node.arg)
        case ast.FunctionDef():
            return _harmless(node.name) and not node.decorator_list
        case ast.ExceptHandler():
            return node.name is None or _harmless(node.name)
        case _:
            return isinstance(node, _SYNTAX)


def _harmless(name: str) -> bool:
    return not name.startswith("__") and (name in _BUILTINS or name not in _ALL_BUILTINS)
