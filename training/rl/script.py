"""An engine without a model: it says an oracle's messages, so that a perfect episode can be seen in tokens."""

from __future__ import annotations

from benchmarks.benchmark import Sample
from harness.case import Case
from harness.messages import Message
from harness.protocol import Protocol
from harness.reference import closing
from harness.rollout import UserModel
from training.config import Rollouts
from training.rl.rollouts import Engine, Rollout, play
from training.template import ChatTemplate


def script(messages: list[Message], template: ChatTemplate) -> Engine:
    """An engine that answers the turns of one episode with these messages, then with the last one again."""
    left = [template.reply(message) for message in messages]

    def engine(contexts: list[list[int]]) -> tuple[list[list[int]], None]:
        assert len(contexts) == 1
        return [left.pop(0) if len(left) > 1 else left[0]], None

    return engine


def oracle_messages(case: Case) -> list[Message]:
    """What the oracle says, closing word included."""
    return [*(case.oracle or ()), closing(case)]


def scripted_rollout(
    sample: Sample, protocol: Protocol, template: ChatTemplate, limits: Rollouts, user: UserModel | None = None
) -> Rollout:
    """One episode of the oracle, in tokens."""
    engine = script(oracle_messages(sample.case()), template)
    (rollout,), _ = play({sample.id: sample}, [sample.id], protocol, template, limits, engine, user)
    return rollout
