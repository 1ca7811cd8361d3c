"""Drivers without a network: play one episode or a batch of them with given agents and users, or replay a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, assert_never

from harness.case import Case, Turn
from harness.environment import ToolSpec
from harness.episode import AgentTurn, Episode, Finished, Need, UserTurn
from harness.errors import EnvironmentFault
from harness.messages import Message, content_text, read
from harness.protocol import Protocol
from harness.state import State
from harness.trajectory import Recording, Trajectory

Agent = Callable[[list[Message], Sequence[ToolSpec]], Message]
"""Answers one agent turn."""
UserModel = Callable[[list[Message]], str]
"""Answers one user turn with the user model's raw text."""
Generate = Callable[[list[AgentTurn]], list[Message]]
"""Answers many agent turns at once, in order: what an inference engine offers."""


@dataclass(frozen=True, slots=True)
class Played:
    """A finished episode and the state it left."""

    trajectory: Trajectory
    final_state: State | None
    """None if the environment could not export it; the outcome says so then."""


def read_out(episode: Episode) -> Played:
    """The record and final state of a finished episode; frees its environment."""
    try:
        state = episode.environment.state() if episode.environment is not None else None
    except EnvironmentFault:
        # The outcome already tells of the fault: whatever broke the export broke the judge as well.
        state = None
    finally:
        episode.close()
    return Played(episode.trajectory, state)


def play(case: Case, protocol: Protocol, agent: Agent, user: UserModel | None = None, **record: Any) -> Played:
    """Play one episode to its end.

    Args:
        record: `run` and `model`, for the trajectory.
    Raises:
        ValueError: If the case needs a user and none is given.
    """
    with closing(Episode(case, protocol, **record)) as episode:
        need = episode.start()
        while not isinstance(need, Finished):
            match need:
                case AgentTurn(messages, tools):
                    need = episode.agent(agent(messages, tools))
                case UserTurn(messages):
                    need = episode.user(_asked(user, case)(messages))
                case _:
                    assert_never(need)
        return read_out(episode)


def _asked(user: UserModel | None, case: Case) -> UserModel:
    if user is None:
        raise ValueError(f"{case.id}: a simulated user is needed and none was given")
    return user


def play_batch(
    cases: Iterable[Case],
    protocol: Protocol,
    generate: Generate,
    user: UserModel | None = None,
    *,
    at_once: int = 512,
    threads: int = 1,
    **record: Any,
) -> Iterator[Played]:
    """Play many episodes, one `generate` call per round over all that wait for the agent (the RL driver).

    Args:
        at_once: Live episodes; a finished one is replaced by the next case, so that batches stay full.
        threads: In which episodes move between two rounds. More than one is worth it where environments are processes
            of their own, or users are asked over a network; outcomes are the same.
    Yields:
        Finished episodes, in the order in which they end.
    Raises:
        ValueError: If `generate` answers with another number of messages than turns, a user is missing, or `at_once`
            lets no episode live.
    """
    if at_once < 1:
        raise ValueError(f"at_once={at_once}: must be 1 or more")
    waiting: list[tuple[Episode, AgentTurn]] = []
    live: set[Episode] = set()
    source = iter(cases)
    pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def moved(episode: Episode, move: Callable[[], Need]) -> AgentTurn | Played:
        need = move()
        while isinstance(need, UserTurn):
            need = episode.user(_asked(user, episode.case)(need.messages))
        return read_out(episode) if isinstance(need, Finished) else need

    def settle(episodes: list[Episode], moves: list[Callable[[], Need]]) -> Iterator[Played]:
        found = map(moved, episodes, moves) if pool is None else pool.map(moved, episodes, moves)
        for episode, one in zip(episodes, found, strict=True):
            if isinstance(one, Played):
                live.discard(episode)
                yield one
            else:
                waiting.append((episode, one))

    def admit() -> Iterator[Played]:
        while room := at_once - len(waiting):
            # One by one where nothing is gained otherwise: a case is opened only when it is its turn.
            cases = islice(source, 1 if pool is None else room)
            episodes = [Episode(case, protocol, **record) for case in cases]
            if not episodes:
                return
            live.update(episodes)
            yield from settle(episodes, [episode.start for episode in episodes])

    try:
        yield from admit()
        while waiting:
            batch, waiting[:] = list(waiting), []
            messages = generate([turn for _, turn in batch])
            if len(messages) != len(batch):
                raise ValueError(f"generate answered {len(messages)} of {len(batch)} turns")
            episodes = [episode for episode, _ in batch]
            yield from settle(episodes, [partial(e.agent, m) for e, m in zip(episodes, messages, strict=True)])
            yield from admit()
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)
        # Whatever ended the batch early: those that were about to speak are open as well.
        for episode in live:
            episode.close()


def replay(case: Case, protocol: Protocol, recording: Recording) -> Played:
    """Feed a recording to a fresh episode; every call is executed again, as recorded (DESIGN section 6).

    Recorded tool and system messages are ignored. Where the episode wants the agent and the recording has a user
    message of its own, the agent's turn is over; where it wants a reply and none is left, it is finished as it stands.
    Where the protocol counts by user turn, the recording's user messages alone say where turns end (`_as_recorded`).
    """
    # A recording already holds what its protocol kept: nothing is dropped again.
    protocol, messages = replace(protocol, calls_per_step="all"), recording.messages
    if protocol.step_limit_per == "turn":
        case, protocol, messages = _as_recorded(case, protocol, messages)
    with closing(Episode(case, protocol)) as episode:
        need = episode.start()
        # User messages that the episode spoke itself since the agent's last: the recording holds them too.
        own = _user_messages(episode)
        for message in messages:
            if isinstance(need, Finished):
                break
            if message["role"] == "assistant":
                if isinstance(need, UserTurn):
                    need = episode.said("")
                if isinstance(need, AgentTurn):
                    before = _user_messages(episode)
                    need = episode.agent(message)
                    own = _user_messages(episode) - before
            elif message["role"] == "user":
                if isinstance(need, AgentTurn) and own > 0:
                    own -= 1
                    continue
                if isinstance(need, AgentTurn):
                    need = episode.end_turn()
                if isinstance(need, UserTurn):
                    need = episode.said(content_text(message.get("content")))
        if not isinstance(need, Finished):
            episode.finish()
        return read_out(episode)


def _as_recorded(case: Case, protocol: Protocol, messages: list[Message]) -> tuple[Case, Protocol, list[Message]]:
    """A case with as many turns as were recorded, a limit that holds their steps, and the messages that count.

    BFCL's checker takes the turns of a result as they are: too many or too few of them are an error of their own, and
    what is no call does not count, wherever it stands. So text before the last message of a turn does not end it.
    """
    kept: list[Message] = []
    texts: list[str] = []
    limit, steps = protocol.step_limit, 0
    for message in messages:
        if message["role"] == "user":
            texts.append(content_text(message.get("content")))
            # The turn went on after its last step: the limit was not what ended it.
            limit, steps = max(limit, steps + 1), 0
        elif message["role"] == "assistant":
            if steps and not _calls(kept[-1]):
                kept.pop()
                steps -= 1
            steps += 1
        if message["role"] in ("user", "assistant"):
            kept.append(message)
    if not texts:
        return case, protocol, messages
    turns = case.brief.turns[: len(texts)] + tuple(map(Turn, texts[len(case.brief.turns) :]))
    limit = max(limit, steps)
    return replace(case, brief=replace(case.brief, turns=turns)), replace(protocol, step_limit=limit), kept


def _calls(message: Message) -> bool:
    """Whether a message makes calls, all of them usable."""
    reply = read(message)
    return bool(reply.calls) and all(call.slip is None for call in reply.calls)


def _user_messages(episode: Episode) -> int:
    return sum(1 for message in episode.trajectory.messages if message["role"] == "user")
