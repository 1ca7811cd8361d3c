"""The demonstration's training data: recorded episodes, part of which stop before the job is done."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.benchmark import Sample
from benchmarks.registry import Loaded
from harness.case import Case
from harness.reference import closing, oracle
from harness.rollout import Agent, play
from harness.trajectory import Trajectory

SEED = 0


def recorded(ready: Loaded, unfinished: float) -> Iterator[Trajectory]:
    """One episode for each sample, by the oracle; or by one that looks the item up and then stops.

    Args:
        unfinished: Share of episodes that stop early: what SFT learns from them is what RL can mend.
    """
    rng = random.Random(SEED)
    for sample in ready.samples:
        yield _play(sample, ready, early if rng.random() < unfinished else oracle)


def early(case: Case, run: int = 1) -> Agent:
    """An agent that makes the oracle's first call and says that it is finished."""
    assert case.oracle is not None
    script = iter(case.oracle[:1])
    return lambda messages, tools: next(script, None) or closing(case)


def _play(sample: Sample, ready: Loaded, agent: object) -> Trajectory:
    case = sample.case()
    make = early if agent is early else oracle
    trajectory = play(case, ready.rules(sample), make(case), model=f"demo/{make.__name__}").trajectory
    trajectory.benchmark = ready.benchmark.name
    return trajectory
