"""Quantiles and tails that tables need, without scipy: Student's t, the exact binomial."""

from __future__ import annotations

import math
from statistics import NormalDist


def t_quantile(p: float, df: float) -> float:
    """The value below which a share `p` of Student's t lies.

    Args:
        p: In (0, 1).
        df: Degrees of freedom, more than 0.
    Raises:
        ValueError: If `p` or `df` is out of range.
    """
    if not 0 < p < 1 or df <= 0:
        raise ValueError(f"t_quantile({p}, {df}): p must be in (0, 1), df above 0")
    if p < 0.5:
        return -t_quantile(1 - p, df)
    if p == 0.5:
        return 0.0
    low, high = 0.0, max(1.0, NormalDist().inv_cdf(p))
    while _t_cdf(high, df) < p:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _t_cdf(middle, df) < p else (low, middle)
    return (low + high) / 2


def _t_cdf(t: float, df: float) -> float:
    """For t >= 0."""
    return 1 - 0.5 * _beta(df / (df + t * t), df / 2, 0.5)


def _beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz's method)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    tiny = 1e-300
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1 / ((1 + step * d) or tiny)
            c = (1 + step / c) or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * value / a


def mcnemar(gained: int, lost: int) -> float:
    """The exact two-sided p-value of so many changes for the better and for the worse, if both were alike."""
    total, few = gained + lost, min(gained, lost)
    if total == 0:
        return 1.0
    tail = sum(math.comb(total, k) for k in range(few + 1))
    return min(1.0, float(2 * tail / 2**total))


def none_of(n: int, confidence: float = 0.95) -> float:
    """The largest probability that still gives no success in `n` tries (Clopper-Pearson's upper end)."""
    return 1.0 - math.pow((1 - confidence) / 2, 1 / n)
