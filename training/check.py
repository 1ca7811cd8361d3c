"""`envscaler train check`: everything that a run would do before its first step, and a look at what it would learn."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from benchmarks.benchmark import Sample
from harness.errors import SettingError
from harness.protocol import Protocol
from harness.reference import AGENTS
from harness.rollout import UserModel, play
from training.config import Config, RlConfig
from training.settings import written

Say = Callable[[str], None]

MOST_EPISODES = 64
"""Scenarios that the reference agents play: a sample of the tasks, with each environment in it."""


def check(config: Config, say: Say) -> None:
    """Resolve, load and look at everything; train nothing.

    Raises:
        SettingError: If the run could not work.
        DataError: If data are broken.
    """
    from training.arguments import quiet_libraries

    quiet_libraries()
    say(written(config))
    if isinstance(config, RlConfig):
        _check_rl(config, say)
    else:
        from training.sft.run import prepare

        prepare(config, say)
    say("ready: nothing was trained")


def _check_rl(config: RlConfig, say: Say) -> None:
    from training.rl.run import prepare
    from training.rl.script import scripted_rollout
    from training.template import shown

    ready = prepare(config, say)
    for name, line in play_references(ready.samples, ready.protocol, ready.user).items():
        say(f"{name:<9} {line}")
    solvable = next((sample for sample in ready.samples.values() if sample.case().oracle is not None), None)
    if solvable is not None:
        rollout = scripted_rollout(solvable, ready.protocol, ready.template, config.rollouts, ready.user)
        stream = rollout.stream
        ids, mask = stream.prompt + stream.ids, [0] * len(stream.prompt) + stream.mask
        say(f"one episode of the oracle (reward {rollout.reward}), sampled tokens between guillemets:")
        say(shown(ids, mask, ready.template))


@dataclass(slots=True)
class Played:
    """How a reference agent fared."""

    rewards: list[float] = field(default_factory=list)
    faults: int = 0
    most_steps: int = 0

    def __str__(self) -> str:
        mean = sum(self.rewards) / max(1, len(self.rewards))
        return (
            f"mean reward {mean:.3f} over {len(self.rewards)} episodes, at most {self.most_steps} steps, "
            f"{self.faults} faults"
        )


def play_references(samples: Mapping[str, Sample], protocol: Protocol, user: UserModel | None) -> dict[str, Played]:
    """Play oracle, random and idle agents through a sample of the tasks.

    Raises:
        SettingError: If the oracle meets a fault, or the idle agent earns as much as the oracle everywhere: then there
            is nothing to learn.
    """
    found: dict[str, Played] = defaultdict(Played)
    for sample in _some(samples):
        for name, make in AGENTS.items():
            case = sample.case()
            if name == "oracle" and case.oracle is None:
                continue
            outcome = play(case, protocol, make(case, 1), user).trajectory.outcome
            assert outcome is not None
            found[name].faults += outcome.fault is not None
            found[name].most_steps = max(found[name].most_steps, outcome.steps)
            if outcome.score is not None:
                found[name].rewards.append(outcome.score.value)
            elif name == "oracle":
                raise SettingError(f"{sample.id}: its oracle meets an environment fault: {outcome.fault}")
    if "oracle" in found and found["oracle"].rewards == found["noop"].rewards:
        raise SettingError("doing nothing earns as much as the oracle in every task: there is nothing to learn")
    return dict(found)


def _some(samples: Mapping[str, Sample]) -> list[Sample]:
    """At most so many samples, the same ones each time; of every environment one at least, while there is room."""
    by_group: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples.values():
        by_group[sample.group].append(sample)
    rng = random.Random(0)
    for group in by_group.values():
        rng.shuffle(group)
    queue = [group[i] for i in range(max(map(len, by_group.values()))) for group in by_group.values() if i < len(group)]
    return queue[:MOST_EPISODES]
