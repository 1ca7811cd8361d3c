"""What MathAPI needs from its host: precision settings that end with the call, and an end to endless computations.

The official backend sets the precision of `decimal` and `mpmath` for the whole process, and computes whatever power or
precision a model names, for hours if need be.
"""

from __future__ import annotations

import decimal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

OWNER = "MathAPI"
MAX_PRECISION = 10_000
"""Digits. More is answered with an error, which the official code would give hours later or never: our deviation."""
_MANY_BITS = 10_000_000


@contextmanager
def own_precision() -> Iterator[None]:
    """Whatever precision is set inside ends with the block (docs/bfcl.md, section 1.4, leak c)."""
    import mpmath  # type: ignore[import-untyped]

    before = mpmath.mp.prec
    try:
        with decimal.localcontext():
            yield
    finally:
        mpmath.mp.prec = before


def foreseen(name: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The result of a call that would not end in reasonable time; None for every other call.

    Raises:
        ValueError: Where the result has too many digits to be printed, with Python's own text.
    """
    match name, arguments:
        case "square_root", {"number": int() | float(), "precision": int(precision)} if precision > MAX_PRECISION:
            return {"error": f"Precision of more than {MAX_PRECISION} digits is not supported"}
        case "logarithm", {"precision": precision} if _digits(precision) > MAX_PRECISION:
            return {"error": f"Precision of more than {MAX_PRECISION} digits is not supported"}
        case "power", {"base": int(base), "exponent": int(exponent)} if abs(base).bit_length() * exponent > _MANY_BITS:
            limit = sys.get_int_max_str_digits()
            if abs(base) > 1 and limit:
                # Computed, this number would only be refused when it is printed.
                str(1 << 4 * limit)
        case "round_number", {"number": int(number), "decimal_places": int(places)} if places < -_MANY_BITS:
            # Half of that power of ten exceeds every number that JSON arguments can hold.
            return {"result": 0 * number}
    return None


def _digits(precision: Any) -> int:
    try:
        return int(precision)
    except (TypeError, ValueError, OverflowError):
        return 0
