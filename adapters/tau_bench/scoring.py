"""The official reward: the database must be as the ground truth leaves it, and the agent must have said the outputs.

The official code replays the ground truth and hashes both databases for every reward; here it is replayed once per task
(docs of Tau-Bench, section 1.6).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from adapters.tau_bench.database import Entity, Session
from adapters.tau_bench.domain import Domain
from adapters.tau_bench.environment import ENDING_TOOLS, TauBenchEnvironment
from adapters.tau_bench.tasks import Task
from harness.environment import Environment
from harness.messages import Message, read
from harness.outcome import Score, StopReason
from harness.state import MISSING, Change, State
from harness.trajectory import Trajectory

DONE = frozenset({StopReason.USER_STOP, StopReason.TOOL_ENDED})
"""The endings that the official environment rewards; an episode that ends otherwise is worth 0."""
MAX_DIFFERENCES = 20
"""Differences from the ground truth that a report lists."""
MAX_LENGTH = 200
"""Characters of one path or value in such a list."""


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """What a task's own calls make of the database."""

    data_hash: str
    changed: dict[str, Entity]
    """The entities that differ from the initial database, by `table/key`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The reward of a finished conversation, and its reasons."""

    data_hash: str
    """The official hash of the agent's database."""
    gt_data_hash: str
    """That of the ground truth's."""
    outputs: dict[str, bool]
    """Whether each required output was said."""

    @property
    def database_right(self) -> bool:
        """Whether the database is as the ground truth leaves it."""
        return self.data_hash == self.gt_data_hash

    @property
    def reward(self) -> float:
        """1 if the database is right and every output was said, else 0."""
        return float(self.database_right and all(self.outputs.values()))


def outputs_said(outputs: Iterable[str], said: Iterable[str]) -> dict[str, bool]:
    """Whether each output is a part of something the agent said to the user, in any case.

    Commas are dropped from what was said only, and `10` is found in `7103`: both are official.
    """
    texts = [text.lower().replace(",", "") for text in said]
    return {output: any(output.lower() in text for text in texts) for output in outputs}


def said_to_user(messages: Iterable[Message]) -> Iterator[str]:
    """What the agent said to the user: its messages without a tool call."""
    for message in messages:
        if message["role"] == "assistant" and not (reply := read(message)).calls:
            yield reply.text


class Scorer:
    """The official reward of one task."""

    def __init__(self, domain: Domain, task: Task) -> None:
        self.domain = domain
        self.task = task

    @cached_property
    def ground_truth(self) -> GroundTruth:
        """The task's own calls replayed on a fresh database, without those that would end the episode."""
        environment = TauBenchEnvironment(self.domain)
        for action in self.task.actions:
            if action.name not in ENDING_TOOLS:
                environment.call(action.name, action.arguments)
        return GroundTruth(environment.session.digest(), environment.session.changed())

    def verdict(self, session: Session, said: Iterable[str]) -> Verdict:
        """The reward for a database and what was said."""
        return Verdict(session.digest(), self.ground_truth.data_hash, outputs_said(self.task.outputs, said))

    def differences(self, session: Session) -> list[str]:
        """Where the agent's database differs from the ground truth's, field by field; the first `MAX_DIFFERENCES`."""
        expected, found = self.ground_truth.changed, session.changed()
        initial = self.domain.database.entity
        lines: list[str] = []
        for name in sorted(expected.keys() | found.keys()):
            right, wrong = (_named(name, side.get(name, initial(name))) for side in (expected, found))
            for change in right.diff(wrong):
                lines.append(_difference(change))
                if len(lines) == MAX_DIFFERENCES:
                    return lines
        return lines

    def judge(self, trajectory: Trajectory, environment: Environment) -> Score:
        """The score of an episode, with everything a report explains it by."""
        assert isinstance(environment, TauBenchEnvironment)
        verdict = self.verdict(environment.session, said_to_user(trajectory.messages))
        done = trajectory.stop_reason in DONE
        reward = verdict.reward if done else 0.0
        parts: dict[str, Any] = {
            "done": done,
            "reward": reward,
            "data_hash": verdict.data_hash,
            "gt_data_hash": verdict.gt_data_hash,
            "database_right": verdict.database_right,
            "outputs": verdict.outputs,
            "missing_outputs": [output for output, said in verdict.outputs.items() if not said],
            "differences": [] if verdict.database_right else self.differences(environment.session),
        }
        return Score(reward, success=reward == 1.0, parts=parts)


def _named(name: str, entity: Entity | None) -> State:
    return State.of({} if entity is None else {name: entity})


def _difference(change: Change) -> str:
    # An agent chooses values, and names of fields as well: both may be of any length.
    return f"{_cut(change.path)}: {_shown(change.after)} instead of {_shown(change.before)}"


def _shown(value: Any) -> str:
    return "nothing" if value is MISSING else _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}..."
