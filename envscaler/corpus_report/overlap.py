"""Texts that say the same: shared word n-grams, counted exactly.

Words are compared without case and punctuation, numbers by being numbers: the same task with another date or another
amount is the same task. Han characters are words of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from envscaler.scenarios import Corpus

NGRAM = 5
"""Words of an n-gram."""
_HAN = r"\u3400-\u9fff"
_WORD = re.compile(rf"[{_HAN}]|[^\W\d_{_HAN}]+|\d+(?:[\W_t]{{1,3}}\d+)*")
"""A Han character, a run of letters, or a number; dates, times and telephone numbers are one number."""

Grams = tuple[str, ...]


@dataclass(frozen=True)
class Text:
    """A text with its name."""

    id: str
    text: str
    ngram: int = NGRAM

    @cached_property
    def spans(self) -> list[tuple[str, int, int]]:
        """Its words as they are compared, each with its place."""
        found = _WORD.finditer(self.text.lower())
        return [("0" if one[0][0].isdigit() else one[0], one.start(), one.end()) for one in found]

    @cached_property
    def grams(self) -> list[Grams]:
        """Its n-grams in order; a text of fewer words is one n-gram."""
        words = [word for word, _, _ in self.spans]
        last = max(len(words) - self.ngram, 0)
        return [tuple(words[at : at + self.ngram]) for at in range(last + 1)] if words else []

    def shared(self, other: Text) -> str:
        """The longest passage whose n-grams another text has too, in the words of this one."""
        known = set(other.grams)
        best, start = (0, 0), None
        for at, gram in enumerate([*self.grams, ()]):
            if gram in known:
                start = at if start is None else start
            elif start is not None:
                best, start = max(best, (at - start, -start)), None
        length, first = best[0], -best[1]
        if not length:
            return ""
        end = min(first + length + self.ngram - 1, len(self.spans))
        return " ".join(self.text[self.spans[first][1] : self.spans[end - 1][2]].split())


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two texts that share n-grams."""

    a: str
    b: str
    containment: float
    """Shared n-grams by those of the text that has fewer."""
    jaccard: float
    """Shared n-grams by those of both."""
    shared: str
    """The longest shared passage, in the words of `a`."""


@dataclass(frozen=True, slots=True)
class Overlaps:
    """The pairs whose containment reaches a threshold, most alike first."""

    pairs: Sequence[Overlap]
    closest: Overlap | None
    """The pair that is most alike, whether it reaches the threshold or not; None if no two share anything."""


def tasks(corpus: Corpus, ngram: int = NGRAM) -> list[Text]:
    """The tasks of a corpus."""
    return [Text(scenario.task_id, scenario.task, ngram) for scenario in corpus.scenarios.values()]


def near_duplicates(texts: Sequence[Text], threshold: float) -> Overlaps:
    """Pairs among the texts."""
    return _overlaps(texts, texts, threshold, within=True)


def overlaps(texts: Sequence[Text], others: Sequence[Text], threshold: float) -> Overlaps:
    """Pairs of one of the texts and one of the others."""
    return _overlaps(texts, others, threshold, within=False)


def _overlaps(texts: Sequence[Text], others: Sequence[Text], threshold: float, *, within: bool) -> Overlaps:
    found: list[tuple[float, float, str, str, int, int]] = []
    best: tuple[float, float, str, str, int, int] | None = None
    for containment, jaccard, a, b in _pairs(texts, others, within=within):
        pair = (-containment, -jaccard, texts[a].id, others[b].id, a, b)
        best = pair if best is None else min(best, pair)
        if containment >= threshold:
            found.append(pair)

    def told(pair: tuple[float, float, str, str, int, int]) -> Overlap:
        containment, jaccard, name, other, a, b = pair
        return Overlap(name, other, -containment, -jaccard, texts[a].shared(others[b]))

    return Overlaps([told(pair) for pair in sorted(found)], told(best) if best else None)


def _pairs(texts: Sequence[Text], others: Sequence[Text], *, within: bool) -> Iterator[tuple[float, float, int, int]]:
    """Containment, Jaccard index and places of all pairs that share anything: exact, by an index of n-grams."""
    where: dict[Grams, list[int]] = {}
    sizes = []
    for index, other in enumerate(others):
        distinct = set(other.grams)
        sizes.append(len(distinct))
        for gram in distinct:
            where.setdefault(gram, []).append(index)
    for place, text in enumerate(texts):
        distinct = set(text.grams)
        shared: Counter[int] = Counter()
        for gram in distinct:
            shared.update(where.get(gram, ()))
        for index, number in shared.items():
            if not within or index > place:
                jaccard = number / (len(distinct) + sizes[index] - number)
                yield number / min(len(distinct), sizes[index]), jaccard, place, index
