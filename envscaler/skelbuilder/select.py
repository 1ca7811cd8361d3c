"""Select: which topics become environments. Thresholds, then one of each near-equal group, then spread if wanted.

The paper's rules (docs of the release, section 1.1), with two repairs: topics without scores are rejected instead of
crashing, and near-equal topics fall to a cosine threshold instead of only to equal titles.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from envscaler.skelbuilder.records import Topic
from harness.errors import SettingError

if TYPE_CHECKING:
    from envscaler.skelbuilder.embed import Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectRules:
    """Which topics are taken."""

    least_usefulness: int = 7
    least_modelability: int = 7
    most_alike: float = 0.6
    """Cosine from which two topics count as one. Character n-grams of two introductions of one subject reach about 0.4
    to 0.7; dense embeddings lie higher, so give 0.85 or so with them."""
    clusters: int | None = None
    """If given, k-means with so many clusters, and of each the topic nearest to its centre."""
    seed: int = 42


def embedded_text(topic: Topic) -> str:
    """What stands for a topic: title and introduction, as in the release."""
    return f"**{topic.title}**: {topic.introduction}"


def above(topics: Sequence[Topic], rules: SelectRules) -> list[Topic]:
    """Topics with both scores high enough, and of those with one title the best (modelability, then usefulness)."""
    best: dict[str, Topic] = {}
    for topic in topics:
        if topic.status == "kept" and _unfit(topic, rules) is None:
            known = best.setdefault(_title(topic), topic)
            if _rank(topic) > _rank(known):
                best[_title(topic)] = topic
    result = []
    for topic in topics:
        if topic.status != "kept":
            result.append(topic)
        elif reason := _unfit(topic, rules):
            result.append(replace(topic, status="rejected", reason=reason))
        elif best[_title(topic)] is not topic:
            first = best[_title(topic)].task_id
            result.append(replace(topic, status="rejected", reason=f"same title as {first}"))
        else:
            result.append(topic)
    return result


def _unfit(topic: Topic, rules: SelectRules) -> str | None:
    if topic.usefulness < rules.least_usefulness:
        return f"usefulness below {rules.least_usefulness}"
    if topic.modelability < rules.least_modelability:
        return f"modelability below {rules.least_modelability}"
    return None


def _title(topic: Topic) -> str:
    return " ".join(re.findall(r"\w+", topic.title.casefold()))


def _rank(topic: Topic) -> tuple[int, int]:
    return topic.modelability, topic.usefulness


def select(topics: Sequence[Topic], vectors: Vectors, rules: SelectRules) -> list[Topic]:
    """Topics that differ from each other, in order; the others rejected with the topic they resemble.

    Args:
        topics: Kept ones only.
        vectors: A unit row each.
    Raises:
        SettingError: If clusters are asked for and scikit-learn is not installed, or there are none to make.
    """
    if rules.clusters is not None and rules.clusters < 1:
        raise SettingError(f"clusters: is {rules.clusters}, must be at least 1")
    # The best first, so that of two alike the better one stays; ties by order of the input.
    order = sorted(range(len(topics)), key=lambda index: (*(-score for score in _rank(topics[index])), index))
    kept: list[int] = []
    reasons: dict[int, str] = {}
    for index in order:
        if kept:
            cosines = vectors[kept] @ vectors[index]
            nearest = int(cosines.argmax())
            if cosines[nearest] >= rules.most_alike:
                reasons[index] = f"like {topics[kept[nearest]].task_id} (cosine {cosines[nearest]:.2f})"
                continue
        kept.append(index)
    if rules.clusters is not None and rules.clusters < len(kept):
        kept.sort()
        chosen = _central(vectors[kept], rules.clusters, rules.seed)
        for place, index in enumerate(kept):
            if place not in chosen:
                reasons[index] = "not the nearest to the centre of its cluster"
    return [
        replace(topic, status="rejected", reason=reasons[index]) if index in reasons else topic
        for index, topic in enumerate(topics)
    ]


def _central(vectors: Vectors, clusters: int, seed: int) -> set[int]:
    import numpy as np

    try:
        from sklearn.cluster import KMeans
    except ImportError as error:
        raise SettingError("scikit-learn is not installed; install envscaler[synth]") from error
    means = KMeans(n_clusters=clusters, random_state=seed, n_init=4).fit(vectors)
    chosen = set()
    for number, centre in enumerate(means.cluster_centers_):
        members = np.flatnonzero(means.labels_ == number)
        if len(members):
            distances = np.linalg.norm(vectors[members] - centre, axis=1)
            chosen.add(int(members[int(distances.argmin())]))
    return chosen
