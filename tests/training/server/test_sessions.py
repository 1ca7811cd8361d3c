"""The sessions: moves in a row, answers from memory, limits, reaping, and nothing left behind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchmarks.registry import loaded
from harness.errors import EnvironmentFault, EpisodeMisuse
from harness.messages import assistant
from harness.outcome import Ending, StopReason
from tests import small_corpus
from training.config import Rollouts
from training.rl.rollouts import rules
from training.server.metrics import exposition
from training.server.sessions import OutOfTurn, Sessions, TooMany, UnknownEpisode, UnknownSample


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(small_corpus.write(tmp_path_factory.mktemp("corpus"), scenarios=3))


@pytest.fixture
def clock() -> Clock:
    return Clock()


def opened(corpus: str, clock: Clock, most: int = 4, **parameters: Any) -> Sessions:
    ready = loaded("scenarios", "paper", corpus=corpus, **parameters)
    return Sessions(ready, lambda preset: rules(preset, Rollouts()), most=most, idle_seconds=60, clock=clock)


@pytest.fixture
def sessions(corpus: str, clock: Clock) -> Iterator[Sessions]:
    sessions = opened(corpus, clock)
    yield sessions
    sessions.close_all()


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return assistant("", [(name, arguments)])


def test_an_episode_is_played_to_its_reward(sessions: Sessions) -> None:
    session, told = sessions.open("shelf-task_1")
    assert told["needs"] == "agent"
    assert [message["role"] for message in told["messages"]] == ["system", "user"]
    assert [tool["function"]["name"] for tool in told["tools"]] == ["count", "put"]
    told = sessions.agent(session, call("put", name="honey", number=2), 1)
    assert [message["role"] for message in told["messages"]] == ["tool"]
    assert "tools" not in told
    assert (told["done"], told["move"]) == (False, 1)
    told = sessions.agent(session, assistant("Task Completed"), 2)
    assert (told["done"], told["needs"], told["reward"], told["messages"]) == (True, "nothing", 1.0, [])
    assert told["outcome"]["stop_reason"] == "agent_done"
    record = sessions.score(session)
    assert record["outcome"] == told["outcome"]
    assert [message["role"] for message in record["messages"]] == ["system", "user", "assistant", "tool", "assistant"]
    assert session.episode.environment is not None
    assert record["state_hash"] == session.episode.environment.state().digest


def test_an_episode_that_nothing_can_score_has_no_reward_and_is_no_fault(tmp_path: Path, clock: Clock) -> None:
    sessions = opened(str(small_corpus.write(tmp_path, scenarios=1, unchecked=(1,))), clock, unchecked="play")
    session, _ = sessions.open("shelf-task_1")
    told = sessions.agent(session, assistant("Task Completed"), 1)
    assert (told["done"], told["reward"], told["outcome"]["ending"]) == (True, None, "unscored")
    record = sessions.score(session)
    assert (record["outcome"]["fault"], len(record["state_hash"])) == (None, 32)
    metrics = exposition(sessions)
    assert 'envscaler_episodes_total{ending="unscored"} 1' in metrics
    assert 'envscaler_episodes_total{ending="environment_fault"} 0' in metrics
    assert "envscaler_faults_total{" not in metrics


def test_a_move_asked_for_again_is_answered_from_memory_and_made_once(sessions: Sessions) -> None:
    session, _ = sessions.open("shelf-task_1")
    first = sessions.agent(session, call("put", name="honey", number=1), 1)
    assert sessions.agent(session, call("put", name="honey", number=1), 1) is first
    told = sessions.agent(session, call("count", name="honey"), 2)
    assert "'data': 1" in told["messages"][0]["content"]
    assert sessions.counts["steps"] == 2
    assert sessions.counts["repeated"] == 1


@pytest.mark.parametrize("number", [2, 7])
def test_a_move_that_does_not_follow_is_refused_and_not_made(sessions: Sessions, number: int) -> None:
    session, _ = sessions.open("shelf-task_1")
    with pytest.raises(OutOfTurn, match="the next one is 1"):
        sessions.agent(session, call("put", name="honey"), number)
    told = sessions.agent(session, call("count", name="honey"))
    assert "'data': 0" in told["messages"][0]["content"]


def test_a_move_after_the_end_is_the_drivers_mistake(sessions: Sessions) -> None:
    session, _ = sessions.open("shelf-task_1")
    sessions.agent(session, assistant("Task Completed"))
    with pytest.raises(EpisodeMisuse):
        sessions.agent(session, assistant("Task Completed"))
    with pytest.raises(EpisodeMisuse):
        sessions.user(session, "hello")


def test_score_ends_an_episode_as_it_stands(sessions: Sessions) -> None:
    session, _ = sessions.open("shelf-task_1")
    sessions.agent(session, call("put", name="honey", number=2))
    record = sessions.score(session)
    assert record["stop_reason"] == "recording_ended"
    assert record["outcome"]["score"]["value"] == 1.0
    assert sessions.score(session) is record


def test_an_engines_own_token_limit_is_judged_by_the_protocol(sessions: Sessions) -> None:
    session, _ = sessions.open("shelf-task_1")
    sessions.agent(session, call("put", name="honey", number=2))
    record = sessions.score(session, StopReason.CONTEXT_FULL)
    assert record["outcome"]["score"]["value"] == 0.0
    assert record["outcome"]["score"]["parts"]["state_value"] == 1.0


def test_a_full_server_refuses_until_an_episode_is_over(sessions: Sessions) -> None:
    playing = [sessions.open("shelf-task_1")[0] for _ in range(4)]
    with pytest.raises(TooMany, match="4 episodes are live"):
        sessions.open("shelf-task_1")
    sessions.agent(playing[0], assistant("Task Completed"))
    assert (sessions.live, sessions.kept) == (3, 4)
    sessions.open("shelf-task_1")
    sessions.close(playing[1])
    sessions.open("shelf-task_2")
    assert (sessions.live, sessions.kept) == (4, 5)


def test_an_idle_episode_is_closed_and_named_as_such(sessions: Sessions, clock: Clock) -> None:
    idle, _ = sessions.open("shelf-task_1")
    clock.now = 40
    busy, _ = sessions.open("shelf-task_2")
    clock.now = 61
    assert sessions.reap() == 1
    with pytest.raises(UnknownEpisode, match="after 60 s without a word") as error:
        sessions.find(idle.id)
    assert error.value.gone
    assert sessions.find(busy.id) is busy
    assert (sessions.live, sessions.kept) == (1, 1)
    clock.now = 100
    assert sessions.reap() == 0, "being found is being spoken to"


def test_unknown_names_are_told_apart(sessions: Sessions) -> None:
    with pytest.raises(UnknownSample, match="did you mean 'shelf-task_1'"):
        sessions.open("shelf-task_11")
    with pytest.raises(UnknownEpisode, match="is unknown") as error:
        sessions.find("abc")
    assert not error.value.gone


def test_a_broken_environment_is_a_fault_without_a_reward(tmp_path: Path, clock: Clock) -> None:
    folder = small_corpus.write(tmp_path, scenarios=1)
    source = folder / "shelf" / "environment.py"
    source.write_text(source.read_text() + "\n    def leave(self) -> dict:\n        import os\n        os._exit(3)\n")
    sessions = opened(str(folder), clock)
    session, _ = sessions.open("shelf-task_1")
    told = sessions.agent(session, call("leave"))
    assert (told["done"], told["reward"]) == (True, None)
    assert told["outcome"]["ending"] == "environment_fault"
    assert 'envscaler_faults_total{kind="killed"} 1' in exposition(sessions)
    assert sessions.live == 0


def test_conversations_leave_user_turns_to_the_client(corpus: str, clock: Clock) -> None:
    sessions = opened(corpus, clock, setting="conversation")
    session, told = sessions.open("shelf-task_1")
    assert told["needs"] == "user"
    assert [message["role"] for message in told["messages"]] == ["system", "user"], "the user model's own view"
    told = sessions.user(session, "# Thought:\nI begin.\n# Reply:\nTwo jars of honey, please.", 1)
    assert told["needs"] == "agent"
    assert [message["role"] for message in told["messages"]] == ["system", "user"]
    assert told["messages"][-1]["content"] == "Two jars of honey, please."
    sessions.agent(session, call("put", name="honey", number=2), 2)
    told = sessions.agent(session, assistant("Done."), 3)
    assert told["needs"] == "user"
    told = sessions.user(session, "# Thought:\nGood.\n# Reply:\n###STOP###", 4)
    assert (told["done"], told["reward"]) == (True, 1.0)


def test_a_move_that_waits_while_its_episode_is_closed_is_told_so_and_is_no_fault(sessions: Sessions) -> None:
    session, _ = sessions.open("shelf-task_1")
    waiting: tuple[Callable[[], Any], ...] = (
        lambda: sessions.agent(session, call("count", name="jam")),
        lambda: sessions.score(session),
    )
    with ThreadPoolExecutor() as pool:
        with session.lock:
            moves = [pool.submit(move) for move in waiting]
            closing = pool.submit(sessions.close, session)
            while sessions.kept:
                time.sleep(0.001)
        closing.result()
        for move in moves:
            with pytest.raises(UnknownEpisode, match="was closed") as error:
                move.result()
            assert error.value.gone
    assert sessions.counts[Ending.ENVIRONMENT_FAULT.value] == 0


def test_what_is_closed_frees_its_environment(corpus: str, clock: Clock) -> None:
    sessions = opened(corpus, clock, most=8)
    playing = [sessions.open(f"shelf-task_{number}")[0] for number in (1, 2, 3)]
    sessions.close_all()
    assert (sessions.live, sessions.kept) == (0, 0)
    for session in playing:
        assert session.episode.environment is not None
        with pytest.raises(EnvironmentFault, match="killed"):
            session.episode.environment.call("count", {"name": "jam"})
