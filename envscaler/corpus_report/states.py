"""Initial states that are the same, or nearly: an environment whose scenarios all start alike teaches one start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any

from envscaler.scenarios import Corpus


@dataclass(frozen=True, slots=True)
class StatePair:
    """Two scenarios of one environment."""

    env_id: str
    a: str
    b: str
    jaccard: float
    """Values (with their place: names and keys, but not the order of lists) that both have, by those of either."""
    shared: int
    """Values that both have."""
    different: int
    """Values that one of them has."""


@dataclass(frozen=True, slots=True)
class StateSummary:
    """The initial states of one environment."""

    env_id: str
    scenarios: int
    distinct: int
    mean: float | None
    """Mean of `jaccard` over all pairs; None if there is none."""
    closest: StatePair | None


def state_pairs(corpus: Corpus) -> list[StatePair]:
    """All pairs of scenarios in one environment, most alike first."""
    pairs = []
    for env_id in corpus.environments:
        values = {one.task_id: set(_values(one.init_config.decode(), ())) for one in _of(corpus, env_id)}
        for (a, had), (b, has) in combinations(values.items(), 2):
            shared, either = len(had & has), len(had | has)
            pairs.append(StatePair(env_id, a, b, shared / either if either else 1.0, shared, either - shared))
    return sorted(pairs, key=lambda pair: (-pair.jaccard, pair.a, pair.b))


def state_summaries(corpus: Corpus, pairs: Sequence[StatePair]) -> list[StateSummary]:
    """One line an environment."""
    found = []
    for env_id in corpus.environments:
        own = [pair for pair in pairs if pair.env_id == env_id]
        digests = [scenario.init_config.digest for scenario in _of(corpus, env_id)]
        mean = fmean(pair.jaccard for pair in own) if own else None
        found.append(StateSummary(env_id, len(digests), len(set(digests)), mean, own[0] if own else None))
    return found


def _of(corpus: Corpus, env_id: str) -> list[Any]:
    return [scenario for scenario in corpus.scenarios.values() if scenario.env_id == env_id]


def _values(value: Any, place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _values(inner, (*place, repr(key)))
    elif isinstance(value, list | tuple | set | frozenset) and value:
        for inner in value:
            yield from _values(inner, (*place, "[]"))
    else:
        yield (*place, repr(value))
