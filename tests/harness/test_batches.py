"""Playing one episode, and many at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from harness.episode import AgentTurn
from harness.messages import Message
from harness.outcome import StopReason
from harness.rollout import Played, play, play_batch
from tests.harness.playground import (
    PRESETS,
    Shelf,
    call,
    case,
    goal_user,
    limited,
    say,
    scripted,
    told,
    verdict,
    write,
)

PAPER = PRESETS["paper"]


class Engine:
    """Lets each episode write as many notes as its id says, then stop; remembers the sizes of its batches."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, turns: list[AgentTurn]) -> list[Message]:
        self.sizes.append(len(turns))
        return [self.reply(turn.messages) for turn in turns]

    def reply(self, messages: list[Message]) -> Message:
        task = next(message["content"] for message in messages if message["role"] == "user")
        written = sum(message["role"] == "tool" for message in messages)
        return say("", write(task)) if written < int(task) else say("Done.")


def wanting(*notes: int, open: Any = None) -> list[Any]:
    """Cases in which so many notes are wanted."""
    return [case(str(n), id=f"{i}:{n}", **({"open": open} if open else {})) for i, n in enumerate(notes)]


def ids(played: Iterator[Played] | list[Played]) -> list[str]:
    return [one.trajectory.sample_id for one in played]


def test_episodes_come_in_the_order_in_which_they_end() -> None:
    assert ids(play_batch(wanting(2, 0, 1, 0), PAPER, Engine())) == ["1:0", "3:0", "2:1", "0:2"]


def test_each_episode_gets_the_answer_to_its_own_turn() -> None:
    for played in play_batch(wanting(3, 0, 2, 1, 1), PAPER, Engine(), at_once=3):
        wanted = played.trajectory.sample_id.split(":")[1]
        assert played.final_state is not None
        assert played.final_state.decode() == {"notes": [{"note": wanted}] * int(wanted)}


def test_a_finished_episode_makes_room_for_the_next() -> None:
    engine = Engine()
    assert len(list(play_batch(wanting(1, 0, 0, 1), PAPER, engine, at_once=2))) == 4
    assert engine.sizes == [2, 2, 1, 1]


def test_cases_are_opened_only_when_there_is_room() -> None:
    shelf = Shelf()
    batch = play_batch(iter(wanting(1, 1, 1, 1, open=shelf)), PAPER, Engine(), at_once=2)
    next(batch)
    assert len(shelf.opened) == 2


def test_a_batch_of_nothing_is_nothing() -> None:
    assert list(play_batch([], PAPER, Engine())) == []


def test_threads_change_neither_outcomes_nor_their_order() -> None:
    cases = wanting(2, 0, 3, 1, 1, 0, 2)
    alone = [(p.trajectory.sample_id, verdict(p)) for p in play_batch(cases, PAPER, Engine(), at_once=3)]
    many = play_batch(cases, PAPER, Engine(), at_once=3, threads=4)
    assert sorted((p.trajectory.sample_id, verdict(p)) for p in many) == sorted(alone)
    ended = [ids(play_batch(cases, PAPER, Engine(), threads=number)) for number in (1, 4)]
    assert ended[0] == ended[1]


def test_users_are_asked_side_by_side_in_threads() -> None:
    """Each user waits for the other one: asked one after the other, neither would ever answer."""
    barrier = threading.Barrier(2, timeout=10)

    def user(messages: list[Message]) -> str:
        barrier.wait()
        return "###STOP###"

    played = list(play_batch([case(user=goal_user), case(user=goal_user)], PAPER, Engine(), user, threads=2))
    assert {one.trajectory.stop_reason for one in played} == {StopReason.USER_STOP}


@pytest.mark.parametrize("threads", [2, 8])
def test_what_fails_in_a_thread_leaves_nothing_open(threads: int) -> None:
    shelf = Shelf()
    asking = case(user=goal_user, open=shelf)
    with pytest.raises(ValueError, match="a simulated user is needed"):
        list(play_batch([asking] * 5, PAPER, Engine(), threads=threads))
    assert [book.closed for book in shelf.opened] == [1] * len(shelf.opened)


def test_a_batch_plays_as_one_by_one() -> None:
    cases = wanting(2, 0, 3)
    alone = {c.id: verdict(play(c, PAPER, lambda messages, tools: Engine().reply(messages))) for c in cases}
    assert {p.trajectory.sample_id: verdict(p) for p in play_batch(cases, PAPER, Engine(), at_once=2)} == alone


def test_episodes_that_need_no_agent_never_reach_the_engine() -> None:
    stopping = case(user=goal_user)
    (played,) = play_batch([stopping], PAPER, Engine(), lambda messages: "###STOP###")
    assert played.trajectory.stop_reason is StopReason.USER_STOP


def test_users_are_asked_until_they_answer() -> None:
    answers = iter(["no form", told("0"), "###STOP###"])
    (played,) = play_batch([case(user=goal_user)], PAPER, Engine(), lambda messages: next(answers))
    assert [m["content"] for m in played.trajectory.messages] == ["0", "Done.", "###STOP###"]


@pytest.mark.parametrize("at_once", [1, 2, 512])
def test_the_number_at_once_changes_no_outcome(at_once: int) -> None:
    played = list(play_batch(wanting(1, 2, 0), limited(PAPER, 2), Engine(), at_once=at_once))
    assert {one.trajectory.sample_id: one.trajectory.stop_reason for one in played} == {
        "0:1": StopReason.AGENT_DONE,
        "1:2": StopReason.STEP_LIMIT,
        "2:0": StopReason.AGENT_DONE,
    }


def test_run_and_model_stand_in_the_record() -> None:
    (played,) = play_batch(wanting(0), PAPER, Engine(), run=3, model="m")
    record = played.trajectory.record()
    assert (record["run"], record["model"], record["protocol"]) == (3, "m", "paper")


@pytest.mark.parametrize("answers", [0, 1, 3])
def test_a_wrong_number_of_messages_is_refused_and_everything_is_closed(answers: int) -> None:
    shelf = Shelf()
    with pytest.raises(ValueError, match=f"generate answered {answers} of 2 turns"):
        list(play_batch(wanting(1, 1, open=shelf), PAPER, lambda turns: [say("Hi.")] * answers))
    assert [book.closed for book in shelf.opened] == [1, 1]


def test_an_engine_that_fails_leaves_nothing_open() -> None:
    def broken(turns: list[AgentTurn]) -> list[Message]:
        raise ConnectionError("no engine")

    shelf = Shelf()
    with pytest.raises(ConnectionError):
        list(play_batch(wanting(1, 1, 1, open=shelf), PAPER, broken, at_once=2))
    assert [book.closed for book in shelf.opened] == [1, 1]


def test_a_consumer_that_stops_early_leaves_nothing_open() -> None:
    shelf = Shelf()
    batch = play_batch(wanting(0, 1, 1, open=shelf), PAPER, Engine())
    next(batch)
    batch.close()  # type: ignore[attr-defined]
    assert all(book.closed for book in shelf.opened)


def test_no_episode_at_once_is_refused() -> None:
    with pytest.raises(ValueError, match="at_once=0: must be 1 or more"):
        list(play_batch(wanting(0), PAPER, Engine(), at_once=0))


def test_a_missing_user_is_refused_and_nothing_stays_open() -> None:
    shelf = Shelf()
    asking = case(user=goal_user, open=shelf)
    with pytest.raises(ValueError, match="n1: a simulated user is needed and none was given"):
        list(play_batch([asking], PAPER, Engine()))
    with pytest.raises(ValueError, match="n1: a simulated user is needed and none was given"):
        play(asking, PAPER, scripted())
    assert [book.closed for book in shelf.opened] == [1, 1]


def test_an_agent_that_fails_leaves_its_environment_closed() -> None:
    def broken(messages: list[Message], tools: Any) -> Message:
        raise ConnectionError("no model")

    shelf = Shelf()
    with pytest.raises(ConnectionError):
        play(case(open=shelf), PAPER, broken)
    assert shelf.opened[0].closed == 1


def test_a_played_episode_gives_its_state_and_closes() -> None:
    shelf = Shelf()
    played = play(case(open=shelf), PAPER, scripted(say("", write("milk"))))
    assert played.final_state is not None
    assert played.final_state.decode() == {"notes": [{"note": "milk"}]}
    assert shelf.opened[0].closed


def test_a_state_that_cannot_be_exported_leaves_a_fault_and_no_state() -> None:
    def judge(trajectory: Any, environment: Any) -> Any:
        return environment.state()

    shelf = Shelf()
    broken = replace(case(open=shelf), judge=judge)
    unexportable = scripted(say("", call("show")))

    def open_broken() -> Any:
        book = shelf()
        book.state = lambda: book.call("crash", {})  # type: ignore[method-assign, assignment, return-value]
        return book

    played = play(replace(broken, open=open_broken), PAPER, unexportable)
    assert played.final_state is None
    assert played.trajectory.outcome is not None
    assert played.trajectory.outcome.fault == "killed: the notebook burned"
