"""Many live episodes by id: opened, moved, scored, reaped. No HTTP and no event loop; any thread may call.

One lock an episode puts its moves in a row. A move may carry a number, so that a client that lost the answer can ask
again and is answered from memory: no call is executed twice.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.registry import Loaded
from harness.environment import ToolSpec
from harness.episode import AgentTurn, Episode, Finished, Need, UserTurn
from harness.errors import EnvScalerError, near_miss
from harness.messages import Message
from harness.outcome import Ending, StopReason
from harness.protocol import Protocol
from harness.rollout import read_out

GONE_REMEMBERED = 100_000
"""Ids of ended episodes that are told apart from ids that never were."""


class UnknownEpisode(EnvScalerError):
    """No live episode has this id: it never was, was closed, or was reaped."""

    def __init__(self, episode_id: str, fate: str | None) -> None:
        super().__init__(f"episode '{episode_id}' {fate or 'is unknown'}")
        self.gone = fate is not None


class UnknownSample(EnvScalerError):
    """The benchmark has no such sample."""


class TooMany(EnvScalerError):
    """As many episodes as allowed are live."""


class OutOfTurn(EnvScalerError):
    """The move's number is neither the next one nor the last one."""


@dataclass(slots=True)
class Session:
    """One live episode of one client."""

    id: str
    episode: Episode
    lock: threading.Lock = field(default_factory=threading.Lock)
    need: Need | None = None
    used: float = 0.0
    """When it was last spoken to, in seconds of the sessions' clock."""
    moves: int = 0
    """Moves made; the next one is this number plus one."""
    told: int = 0
    """Messages of the agent's history that the client has."""
    tools: tuple[ToolSpec, ...] | None = None
    """Tools that the client has."""
    answer: dict[str, Any] = field(default_factory=dict)
    """The last answer, for a client that asks again."""
    record: dict[str, Any] | None = None
    """Trajectory and state hash, once the episode is over."""


class Sessions:
    """The episodes of one benchmark under one protocol.

    Args:
        ready: The benchmark's samples.
        rules: From the benchmark's protocol to that of training.
        most: Live episodes at most; one more is refused, not queued.
        idle_seconds: An episode that nobody speaks to for so long is closed.
        clock: Seconds that only go forward.
    """

    def __init__(
        self,
        ready: Loaded,
        rules: Callable[[Protocol], Protocol],
        *,
        most: int,
        idle_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.ready = ready
        self.rules = rules
        self.most = most
        self.idle_seconds = idle_seconds
        self.counts: Counter[str] = Counter()
        self.move_seconds = 0.0
        self._clock = clock
        self._lock = threading.Lock()
        self._sessions: dict[str, Session] = {}
        self._running: set[str] = set()
        self._gone: OrderedDict[str, str] = OrderedDict()

    @property
    def live(self) -> int:
        """Episodes that hold an environment now: those that are not over."""
        return len(self._running)

    @property
    def kept(self) -> int:
        """Episodes that can be asked for: live ones, and ended ones that nobody closed yet."""
        return len(self._sessions)

    def open(self, sample_id: str, run: int = 1, model: str = "") -> tuple[Session, dict[str, Any]]:
        """Start an episode.

        Returns:
            The session and what the client is told: `episode_id, needs, messages, tools, done, reward`.
        Raises:
            UnknownSample: If there is no such sample.
            TooMany: If the server is full.
        """
        sample = self.ready.by_id.get(sample_id)
        if sample is None:
            known = list(self.ready.by_id)
            raise UnknownSample(f"no sample '{sample_id}'; {near_miss(sample_id, known)}")
        episode = Episode(sample.case(), self.rules(self.ready.rules(sample)), run=run, model=model)
        episode.trajectory.benchmark = self.ready.benchmark.name
        session = Session(secrets.token_hex(12), episode, used=self._clock())
        with self._lock:
            if self.live >= self.most:
                self.counts["refused"] += 1
                raise TooMany(f"{self.most} episodes are live, which is this server's limit; close some or try later")
            self._running.add(session.id)
        try:
            with session.lock:
                began = self._clock()
                self._settle(session, episode.start())
                answer = self._answer(session)
        except BaseException:
            with self._lock:
                self._running.discard(session.id)
            episode.close()
            raise
        with self._lock:
            self._sessions[session.id] = session
            self.counts["resets"] += 1
            self.move_seconds += self._clock() - began
        return session, answer

    def find(self, episode_id: str) -> Session:
        """The live session of an id.

        Raises:
            UnknownEpisode: If there is none.
        """
        with self._lock:
            session = self._sessions.get(episode_id)
            if session is None:
                raise UnknownEpisode(episode_id, self._gone.get(episode_id))
            session.used = self._clock()
            return session

    def agent(self, session: Session, message: Message, number: int | None = None) -> dict[str, Any]:
        """Make the agent's move: its message, in OpenAI form.

        Args:
            number: 1 for the first move of the episode, and so on; the last number again gives the last answer again.
        Raises:
            OutOfTurn: If the number is neither.
            EpisodeMisuse: If it is not the agent's turn.
        """
        return self._move(session, number, lambda episode: episode.agent(message))

    def user(self, session: Session, text: str, number: int | None = None) -> dict[str, Any]:
        """Make the user model's move: its raw text. Else as `agent`."""
        return self._move(session, number, lambda episode: episode.user(text))

    def user_here(self, session: Session, turn: UserTurn, text: str) -> dict[str, Any]:
        """Answer a user turn on the server's side: no move of the client's, so it has no number.

        Raises:
            OutOfTurn: If the turn was answered meanwhile.
        """
        with self._held(session):
            if session.need is not turn:
                raise OutOfTurn(f"episode '{session.id}': the user turn was answered meanwhile")
            self._settle(session, session.episode.user(text))
            session.answer = self._answer(session)
            return session.answer

    def score(self, session: Session, reason: StopReason = StopReason.RECORDING_ENDED) -> dict[str, Any]:
        """The outcome and the trajectory; an episode that is not over is ended as it stands.

        Args:
            reason: Why it ends, where it is not over: `CONTEXT_FULL` for an engine's own token limit, which the
                protocol judges as it judges its own limits.
        """
        with self._held(session):
            if not isinstance(session.need, Finished):
                episode = session.episode
                self._settle(session, episode.finish(reason))
                session.answer = self._answer(session)
            assert session.record is not None
            return session.record

    def close(self, session: Session, fate: str = "was closed") -> None:
        """Free the episode's environment and forget it."""
        with self._lock:
            if self._sessions.pop(session.id, None) is None:
                return
            self._running.discard(session.id)
            self._forget(session.id, fate)
        with session.lock:
            session.episode.close()

    def reap(self) -> int:
        """Close the episodes that nobody has spoken to for too long; how many that were."""
        now = self._clock()
        with self._lock:
            idle = [s for s in self._sessions.values() if now - s.used > self.idle_seconds and not s.lock.locked()]
        for session in idle:
            self.close(session, f"was closed after {self.idle_seconds:g} s without a word")
        self.counts["reaped"] += len(idle)
        return len(idle)

    def close_all(self) -> None:
        """Free everything, at the end of the server."""
        for session in list(self._sessions.values()):
            self.close(session, "was closed with the server")

    @contextmanager
    def _held(self, session: Session) -> Iterator[None]:
        """The session's turn to move.

        Raises:
            UnknownEpisode: If it was closed while it was waited for: a move in a freed environment would be a fault.
        """
        with session.lock:
            with self._lock:
                if session.id not in self._sessions:
                    raise UnknownEpisode(session.id, self._gone.get(session.id))
            yield

    def _forget(self, episode_id: str, fate: str) -> None:
        self._gone[episode_id] = fate
        while len(self._gone) > GONE_REMEMBERED:
            self._gone.popitem(last=False)

    def _move(self, session: Session, number: int | None, move: Callable[[Episode], Need]) -> dict[str, Any]:
        with self._held(session):
            if number is not None and number == session.moves and session.moves:
                self.counts["repeated"] += 1
                return session.answer
            if number is not None and number != session.moves + 1:
                raise OutOfTurn(
                    f"episode '{session.id}': move {number} does not follow; the next one is {session.moves + 1}"
                )
            began = self._clock()
            self._settle(session, move(session.episode))
            session.moves += 1
            session.answer = self._answer(session)
            with self._lock:
                self.counts["steps"] += 1
                self.move_seconds += self._clock() - began
                session.used = self._clock()
            return session.answer

    def _settle(self, session: Session, need: Need) -> None:
        """Take in what the episode needs next; at its end read it out and free the environment."""
        session.need = need
        if isinstance(need, Finished):
            played = read_out(session.episode)
            session.record = played.trajectory.record()
            session.record["state_hash"] = None if played.final_state is None else played.final_state.digest
            with self._lock:
                self._running.discard(session.id)
                self.counts[need.outcome.ending.value] += 1
                if need.outcome.ending is Ending.ENVIRONMENT_FAULT:
                    self.counts[f"fault {(need.outcome.fault or '').partition(':')[0]}"] += 1

    def _answer(self, session: Session) -> dict[str, Any]:
        """What the client is told after a move."""
        need = session.need
        answer: dict[str, Any] = {"episode_id": session.id, "move": session.moves, "done": False, "reward": None}
        match need:
            case AgentTurn(messages, tools):
                answer["needs"] = "agent"
                answer["messages"] = self._news(session, messages)
                if session.tools is None or tuple(tools) != session.tools:
                    session.tools = tuple(tools)
                    answer["tools"] = [tool.openai() for tool in tools]
            case UserTurn(messages):
                answer["needs"] = "user"
                answer["messages"] = messages
            case Finished(outcome):
                answer |= {"needs": "nothing", "messages": [], "done": True, "outcome": outcome.record()}
                answer["reward"] = None if outcome.score is None else outcome.score.value
        return answer

    @staticmethod
    def _news(session: Session, messages: list[Message]) -> list[Message]:
        """What the agent's history holds that the client has not: its own last message it has."""
        news = messages[session.told :]
        if session.told and news and news[0]["role"] == "assistant":
            news = news[1:]
        session.told = len(messages)
        return news
