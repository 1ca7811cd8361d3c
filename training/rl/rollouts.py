"""Many episodes at once, in tokens: the harness's batch driver, with an engine that samples tokens."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from benchmarks.benchmark import Sample
from harness.episode import AgentTurn
from harness.messages import Message
from harness.outcome import StopReason
from harness.protocol import Protocol
from harness.rollout import Played, UserModel, play_batch
from harness.trajectory import Trajectory
from training.config import Rollouts, Truncated
from training.rl.stream import Stream
from training.template import ChatTemplate

Engine = Callable[[list[list[int]]], tuple[list[list[int]], list[list[float]] | None]]
"""From contexts in tokens to sampled replies with their end-of-turn token, and log-probabilities if it has them."""

LIMITS = (StopReason.STEP_LIMIT, StopReason.CONTEXT_FULL)


@dataclass(slots=True)
class Rollout:
    """One finished episode, ready for a batch."""

    trajectory: Trajectory
    stream: Stream
    reward: float | None
    """None: it does not count, for a fault or by the policy on truncated episodes."""

    @property
    def fault(self) -> bool:
        """Whether the environment failed."""
        outcome = self.trajectory.outcome
        return outcome is not None and outcome.fault is not None

    @property
    def truncated(self) -> bool:
        """Whether a limit ended it."""
        return self.trajectory.stop_reason in LIMITS

    @property
    def clipped(self) -> bool:
        """Whether a limit ended it, or the token limit cut one of its replies."""
        return self.truncated or any(message.get("finish_reason") == "length" for message in self.trajectory.messages)


@dataclass(slots=True)
class Clock:
    """Seconds that a batch of episodes took, by what they were spent on."""

    generation: float = 0.0
    user: float = 0.0
    """Summed over episodes, which wait for their users side by side."""
    tokens: float = 0.0
    """Rendering, tokenizing, parsing."""
    total: float = 0.0

    @property
    def environment(self) -> float:
        """The rest: environments, checks, the harness around them, and waiting for users."""
        return max(0.0, self.total - self.generation - self.tokens)

    @contextmanager
    def on(self, what: str) -> Iterator[None]:
        """Count the time of a block."""
        start = time.perf_counter()
        try:
            yield
        finally:
            setattr(self, what, getattr(self, what) + time.perf_counter() - start)


def rules(protocol: Protocol, limits: Rollouts) -> Protocol:
    """The protocol of training: a benchmark's, with the run's own limits.

    A reply that cannot be read is always told to the agent, as the release's training does (docs of training, 4.6): an
    episode that ended there would teach nothing about the mistake. Nor is reasoning cut from the history: in one
    sequence of tokens it cannot be.
    """
    return replace(
        protocol,
        step_limit=limits.max_steps,
        on_limit="score_state" if limits.truncated == "grade_state" else "zero",
        slips=dict.fromkeys(protocol.slips, "report"),
        keep_reasoning=True,
    )


@dataclass(slots=True)
class _Batch:
    """The streams of the episodes in play; answers their turns."""

    engine: Engine
    template: ChatTemplate
    limits: Rollouts
    clock: Clock
    streams: dict[str, Stream] = field(default_factory=dict)

    def generate(self, turns: list[AgentTurn]) -> list[Message]:
        """One reply for each turn; those without room are told so and end."""
        waiting: list[AgentTurn] = []
        with self.clock.on("tokens"):
            for turn in turns:
                self.streams.setdefault(turn.sample, Stream()).hear(turn, self.template)
                if self.streams[turn.sample].room(self.limits.max_tokens) <= 0:
                    self.streams[turn.sample].forget()
                else:
                    waiting.append(turn)
            contexts = [self.streams[turn.sample].context for turn in waiting]
        replies: dict[str, Message] = {}
        if waiting:
            with self.clock.on("generation"):
                sampled, logprobs = self.engine(contexts)
            with self.clock.on("tokens"):
                for index, turn in enumerate(waiting):
                    given = None if logprobs is None else logprobs[index]
                    stream = self.streams[turn.sample]
                    replies[turn.sample] = stream.say(sampled[index], given, self.template, self.limits.max_tokens)
        full: Message = {"role": "assistant", "content": "", "finish_reason": "context_full"}
        return [replies.get(turn.sample, full) for turn in turns]


def play(
    samples: Mapping[str, Sample],
    chosen: Sequence[str],
    protocol: Protocol,
    template: ChatTemplate,
    limits: Rollouts,
    engine: Engine,
    user: UserModel | None = None,
) -> tuple[list[Rollout], Clock]:
    """Play one episode for each chosen sample, and return them in the same order.

    Args:
        samples: By id.
        chosen: Ids; one that stands there eight times is played eight times.
        protocol: As `rules` gives it.
    """
    clock = Clock()
    batch = _Batch(engine, template, limits, clock)
    cases = (replace(samples[name].case(), id=f"{name}#{place}") for place, name in enumerate(chosen))
    played: dict[str, Played] = {}
    with clock.on("total"):
        timed = None if user is None else _timed(user, clock)
        threads = limits.threads or 2 * (os.cpu_count() or 1)
        for one in play_batch(cases, protocol, batch.generate, timed, at_once=limits.at_once, threads=threads):
            played[one.trajectory.sample_id] = one
    ordered = [f"{name}#{place}" for place, name in enumerate(chosen)]
    return [_rollout(played[key].trajectory, batch.streams.get(key), limits.truncated) for key in ordered], clock


def _timed(user: UserModel, clock: Clock) -> UserModel:
    def ask(messages: list[Message]) -> str:
        with clock.on("user"):
            return user(messages)

    return ask


def _rollout(trajectory: Trajectory, stream: Stream | None, policy: Truncated) -> Rollout:
    outcome = trajectory.outcome
    assert outcome is not None
    reward = None if outcome.score is None else outcome.score.value
    rollout = Rollout(trajectory, stream or Stream(), reward)
    if rollout.truncated and policy == "mask":
        rollout.reward = None
    if not any(rollout.stream.mask):
        # The policy never spoke: nothing could be learned from it.
        rollout.reward = None
    trajectory.sample_id = trajectory.sample_id.rpartition("#")[0]
    return rollout
