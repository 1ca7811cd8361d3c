from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.case import Brief, Turn
from harness.environment import Environment
from harness.episode import AgentTurn, Episode, Phase, UserTurn
from harness.errors import EnvironmentFault, EpisodeMisuse
from harness.messages import Message, user
from harness.outcome import Ending, Score, StopReason
from harness.protocol import Protocol
from harness.state import State
from harness.trajectory import Trajectory
from harness.users import STOP, Ask, GoalUser, Said
from tests.harness.playground import (
    PRESETS,
    SHOW,
    TOOLS,
    WRITE,
    Notebook,
    Shelf,
    asked,
    assert_servers_accept,
    both_presets,
    call,
    case,
    ended,
    goal_user,
    limited,
    say,
    started,
    told,
    write,
)

PAPER, STRICT = PRESETS["paper"], PRESETS["strict"]


# What the agent sees


def test_the_first_turn_shows_system_text_task_and_tools() -> None:
    need = Episode(case("Take notes.", system="Be brief."), PAPER).start()
    assert need == AgentTurn([{"role": "system", "content": "Be brief."}, user("Take notes.")], TOOLS, "n1")


def test_past_reasoning_is_removed_and_past_calls_are_kept() -> None:
    episode, _ = started(PAPER)
    thought = say("<think>hm</think>\n\nNow.", write(id="x"), reasoning_content="hm", stop="tool_calls")
    assert asked(episode.agent(thought))[-2] == say("Now.", write(id="x"))


def test_past_reasoning_is_kept_where_the_protocol_says_so() -> None:
    episode, _ = started(replace(PAPER, keep_reasoning=True))
    history = asked(episode.agent(say("<think>hm</think>Now.", write(id="x"), reasoning_content="hm")))
    assert history[-2] == say("<think>hm</think>Now.", write(id="x"), reasoning_content="hm")


def test_the_record_is_verbatim_although_the_history_is_not() -> None:
    episode, _ = started(PAPER)
    message = say("<think>hm</think>Now.", write(id="x"), reasoning_content="hm", stop="stop")
    episode.agent(message)
    assert episode.trajectory.messages[-2] == message


def test_an_agents_list_is_a_copy_of_the_history() -> None:
    episode, _ = started(PAPER)
    asked(episode.agent(say("", write()))).clear()
    assert len(asked(episode.agent(say("", write())))) == 5


def test_tools_appear_with_the_turn_that_brings_them() -> None:
    brief = Brief(turns=(Turn("One.", tools=(WRITE,)), Turn("Two.", tools=(WRITE, SHOW)), Turn("Three.")))
    episode = Episode(replace(case(), brief=brief), PAPER)
    needs = [episode.start(), episode.agent(say("Ok.")), episode.agent(say("Ok."))]
    assert [need.tools for need in needs if isinstance(need, AgentTurn)] == [(WRITE,), (WRITE, SHOW), (WRITE, SHOW)]


# Ends


@both_presets
def test_a_text_ends_the_only_turn(protocol: Protocol) -> None:
    episode, _ = started(protocol)
    episode.agent(say("", write()))
    outcome = ended(episode.agent(say("Anything.")))
    assert (outcome.ending, outcome.stop_reason, outcome.steps) == (Ending.SCORED, StopReason.AGENT_DONE, 2)
    assert outcome.score == Score(0.1, success=True)
    assert episode.phase is Phase.DONE


def test_the_last_of_several_turns_ends_them() -> None:
    episode, _ = started(PAPER, case("One.", "Two."))
    assert asked(episode.agent(say("Ok.")))[-1] == user("Two.")
    assert ended(episode.agent(say("Ok."))).stop_reason is StopReason.TURNS_DONE
    assert episode.trajectory.turn_steps == [1, 1]


@both_presets
def test_a_tool_may_end_the_episode(protocol: Protocol) -> None:
    episode, _ = started(protocol)
    assert ended(episode.agent(say("", call("leave")))).stop_reason is StopReason.TOOL_ENDED


@pytest.mark.parametrize(("name", "value"), [("paper", 0.0), ("strict", 0.2)])
def test_the_step_limit_ends_the_episode_and_is_worth_what_the_protocol_says(name: str, value: float) -> None:
    episode, _ = started(limited(PRESETS[name], 2))
    asked(episode.agent(say("", write())))
    outcome = ended(episode.agent(say("", write())))
    assert (outcome.stop_reason, outcome.steps) == (StopReason.STEP_LIMIT, 2)
    assert outcome.score is not None
    assert outcome.score.value == value


@both_presets
def test_a_reply_that_ends_the_work_at_the_limit_is_no_limit(protocol: Protocol) -> None:
    episode, _ = started(limited(protocol, 2))
    episode.agent(say("", write()))
    assert ended(episode.agent(say("Done."))).stop_reason is StopReason.AGENT_DONE


def test_a_limit_per_turn_starts_anew_with_each_turn() -> None:
    episode, _ = started(limited(STRICT, 2, per="turn"), case("One.", "Two."))
    episode.agent(say("", write()))
    episode.agent(say("Ok."))
    asked(episode.agent(say("", write())))
    assert ended(episode.agent(say("", write()))).stop_reason is StopReason.STEP_LIMIT


def test_a_limit_per_episode_counts_over_all_turns() -> None:
    episode, _ = started(limited(STRICT, 2), case("One.", "Two."))
    episode.agent(say("", write()))
    assert ended(episode.agent(say("Ok."))).stop_reason is StopReason.STEP_LIMIT


@pytest.mark.parametrize(("name", "value"), [("paper", 0.0), ("strict", 0.1)])
def test_a_full_context_ends_the_episode_like_a_limit(name: str, value: float) -> None:
    episode, notebook = started(PRESETS[name])
    episode.agent(say("", write()))
    outcome = ended(episode.agent(say("", write(), stop="context_full")))
    assert (outcome.stop_reason, len(notebook.notes)) == (StopReason.CONTEXT_FULL, 1)
    assert outcome.score is not None
    assert outcome.score.value == value


# Finish words


def test_a_finish_word_ends_the_work_and_calls_beside_it_are_not_executed() -> None:
    episode, notebook = started(STRICT, case(finish_word="finish"))
    outcome = ended(episode.agent(say("finish conversation", write())))
    assert (outcome.stop_reason, notebook.received) == (StopReason.AGENT_DONE, [])
    assert outcome.counts == {"calls_beside_finish_word": 1}


def test_without_the_finish_word_the_agent_is_nudged() -> None:
    episode, _ = started(STRICT, case(finish_word="finish", nudge="Go on."))
    assert asked(episode.agent(say("Ok.")))[-1] == user("Go on.")


def test_without_a_nudge_the_agent_is_asked_again_in_silence() -> None:
    episode, _ = started(STRICT, case(finish_word="finish"))
    assert asked(episode.agent(say("Ok.")))[-1]["role"] == "assistant"


def test_an_agent_may_end_a_conversation_with_the_finish_word() -> None:
    episode, _ = started(STRICT, case(user=goal_user, finish_word="finish"))
    episode.user(told("Hi."))
    assert ended(episode.agent(say("finish"))).stop_reason is StopReason.AGENT_DONE


# Conversations


@both_presets
def test_in_a_conversation_the_user_opens_and_text_goes_to_the_user(protocol: Protocol) -> None:
    episode = Episode(case(user=goal_user, system="S"), protocol)
    assert isinstance(episode.start(), UserTurn)
    assert [m["content"] for m in asked(episode.user(told("Write milk.")))] == ["S", "Write milk."]
    need = episode.agent(say("<think>which?</think>Which?"))
    assert isinstance(need, UserTurn)
    assert need.messages[-1] == user("[Agent] Which?")


@both_presets
@pytest.mark.parametrize("last", [told(STOP), told(f"Thanks! {STOP}"), STOP, f"# Thought:\n{STOP}?\n# Reply:\nBye."])
def test_the_stop_word_anywhere_in_the_users_reply_ends_the_conversation(protocol: Protocol, last: str) -> None:
    episode, _ = started(protocol, case(user=goal_user))
    episode.user(told("Write milk."))
    episode.agent(say("", write()))
    episode.agent(say("Done."))
    outcome = ended(episode.user(last))
    assert (outcome.stop_reason, outcome.steps) == (StopReason.USER_STOP, 2)
    assert STOP in episode.trajectory.messages[-1]["content"]


def test_a_user_may_stop_before_the_agent_spoke() -> None:
    episode, _ = started(PAPER, case(user=goal_user))
    assert ended(episode.user(told(STOP))).steps == 0


@both_presets
def test_the_agent_cannot_end_a_conversation(protocol: Protocol) -> None:
    episode, _ = started(protocol, case(user=goal_user))
    episode.user(told("Hi."))
    assert isinstance(episode.agent(say(f"Task Completed {STOP}")), UserTurn)


def test_the_limit_holds_across_the_turns_of_a_conversation() -> None:
    episode, _ = started(limited(PAPER, 2), case(user=goal_user))
    for _ in range(2):
        asked(episode.user(told("And?")))
        episode.agent(say("Ok."))
    assert ended(episode.user(told("And?"))).stop_reason is StopReason.STEP_LIMIT


def test_a_user_who_stops_after_the_last_allowed_step_ends_the_conversation() -> None:
    episode, _ = started(limited(PAPER, 1), case(user=goal_user))
    episode.user(told("Hi."))
    episode.agent(say("Ok."))
    assert ended(episode.user(told(STOP))).stop_reason is StopReason.USER_STOP


def test_a_turn_ended_for_the_agent_says_nothing_to_the_user() -> None:
    episode, _ = started(PAPER, case(user=goal_user))
    episode.user(told("Hi."))
    need = episode.end_turn()
    assert isinstance(need, UserTurn)
    assert need.messages[-1] == user("[Agent] ")


def test_a_user_model_that_misses_the_form_is_asked_again_with_the_same_messages() -> None:
    episode = Episode(case(user=goal_user), PAPER)
    need = episode.start()
    assert [episode.user("no form") for _ in range(4)] == [need] * 4
    assert asked(episode.user("no form"))[-1] == user("")


class Mumbler(GoalUser):
    """A user whose benchmark ends the episode for what it cannot read."""

    def reply(self, raw: str) -> Ask | Said:
        return Said(raw, breaks=True)


def test_a_user_reply_that_breaks_the_episode_is_worth_nothing() -> None:
    episode, notebook = started(STRICT, case(user=lambda: Mumbler("g", "p", "o")))
    notebook.notes.append({})
    outcome = ended(episode.user("?"))
    assert outcome.score is not None
    assert (outcome.stop_reason, outcome.score.value) == (StopReason.INVALID_USER_REPLY, 0.0)
    assert outcome.score.parts == {"state_value": 0.1}


# Faults


def test_an_environment_that_does_not_open_is_a_fault() -> None:
    def burned() -> Environment:
        raise EnvironmentFault("init_failed", "no paper")

    outcome = ended(Episode(case(open=burned), PAPER).start())
    assert (outcome.ending, outcome.fault, outcome.score) == (Ending.ENVIRONMENT_FAULT, "init_failed: no paper", None)


@both_presets
def test_an_environment_that_breaks_in_a_call_is_a_fault_and_the_call_stays_on_record(protocol: Protocol) -> None:
    episode, _ = started(protocol)
    message = say("", call("crash", id="x"))
    outcome = ended(episode.agent(message))
    assert (outcome.ending, outcome.stop_reason) == (Ending.ENVIRONMENT_FAULT, StopReason.FAULT)
    assert (outcome.score, outcome.fault) == (None, "killed: the notebook burned")
    assert episode.trajectory.messages[-1] == message


def test_a_state_that_cannot_be_judged_is_a_fault_and_no_zero() -> None:
    def judge(trajectory: Trajectory, environment: Environment) -> Score:
        raise EnvironmentFault("state_not_exportable", "a cycle")

    episode, _ = started(PAPER, replace(case(), judge=judge))
    assert ended(episode.agent(say("Done."))).ending is Ending.ENVIRONMENT_FAULT


@pytest.mark.parametrize("protocol", [PAPER, STRICT])
def test_a_case_without_a_judge_is_played_to_its_end_and_has_no_score(protocol: Protocol) -> None:
    episode, _ = started(protocol, replace(case(), judge=None))
    outcome = ended(episode.agent(say("Done.")))
    assert (outcome.ending, outcome.stop_reason) == (Ending.UNSCORED, StopReason.AGENT_DONE)
    assert (outcome.score, outcome.fault, outcome.record()["ending"]) == (None, None, "unscored")


def test_a_state_that_cannot_be_exported_is_a_fault_without_a_judge_as_well() -> None:
    class Burned(Notebook):
        def state(self) -> State:
            raise EnvironmentFault("state_not_exportable", "a cycle")

    episode, _ = started(PAPER, replace(case(open=Burned), judge=None))
    outcome = ended(episode.agent(say("Done.")))
    assert (outcome.ending, outcome.fault) == (Ending.ENVIRONMENT_FAULT, "state_not_exportable: a cycle")


def test_a_model_server_that_is_down_is_an_infrastructure_error() -> None:
    episode, _ = started(PAPER)
    outcome = ended(episode.fail("502"))
    assert (outcome.ending, outcome.fault, outcome.score) == (Ending.INFRASTRUCTURE_ERROR, "502", None)


# Drivers' mistakes

AGENT_MOVES: dict[str, tuple[Any, ...]] = {"agent": (say("Hi."),), "end_turn": (), "finish": (), "fail": ("down",)}
USER_MOVES: dict[str, tuple[Any, ...]] = {"user": ("Hi.",), "said": ("Hi.",), "finish": (), "fail": ("down",)}
MOVES = {"start": (), **AGENT_MOVES, **USER_MOVES}


@pytest.mark.parametrize(
    ("setting", "before", "allowed"),
    [
        pytest.param({}, [], {"start"}, id="new"),
        pytest.param({}, ["start"], set(AGENT_MOVES), id="waits-for-agent"),
        pytest.param({"user": goal_user}, ["start"], set(USER_MOVES), id="waits-for-user"),
        pytest.param({}, ["start", "finish"], set(), id="done"),
    ],
)
@pytest.mark.parametrize("move", MOVES)
def test_a_move_out_of_turn_is_a_misuse(setting: Any, before: list[str], allowed: set[str], move: str) -> None:
    episode = Episode(case(**setting), PAPER)
    for earlier in before:
        getattr(episode, earlier)()
    if move in allowed:
        getattr(episode, move)(*MOVES[move])
    else:
        with pytest.raises(EpisodeMisuse, match=rf"episode n1 waits for .*; {move}\(\) was called"):
            getattr(episode, move)(*MOVES[move])


def test_an_episode_shows_where_it_stands() -> None:
    episode, _ = started(PAPER)
    episode.agent(say("", write()))
    assert repr(episode) == "Episode(n1, waits for agent, step 1)"


@pytest.mark.parametrize("brief", [{}, {"turns": (Turn("Hi."),), "user": goal_user}])
def test_a_brief_has_turns_or_a_user(brief: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not both and not neither"):
        Brief(**brief)


# Two episodes


@both_presets
def test_interleaved_episodes_share_nothing(protocol: Protocol) -> None:
    shelf = Shelf()
    one = case(open=shelf)
    episodes = [Episode(one, protocol) for _ in range(2)]
    for episode in episodes:
        episode.start()
    for step, (episode, note) in enumerate(zip(episodes * 2, "abab", strict=True)):
        episode.agent(say("", write(note, id=f"x{step // 2}")))
    episodes[0].agent(say("", call("wipe")))
    assert [book.notes for book in shelf.opened] == [[{}, {}], [{"note": "b"}, {"note": "b"}]]
    assert [len(episode.trajectory.messages) for episode in episodes] == [7, 5]
    assert +episodes[1].counts == {}


def test_one_message_given_to_two_episodes_is_left_alone() -> None:
    message = say("<think>hm</think>", call("write", {"note": {"deep": []}}), write())
    before = repr(message)
    for protocol in PRESETS.values():
        episode, _ = started(protocol)
        episode.agent(message)
        episode.agent(say("", call("wipe")))
    assert repr(message) == before


def test_closing_twice_and_closing_what_never_opened_is_allowed() -> None:
    episode, notebook = started(PAPER)
    episode.close()
    Episode(case(), PAPER).close()
    assert notebook.closed == 1


def test_a_history_that_ends_a_turn_for_the_agent_is_accepted_by_servers() -> None:
    episode, _ = started(STRICT, case("One.", "Two."))
    episode.agent(say("", write()))
    history: list[Message] = asked(episode.end_turn())
    assert history[-1] == user("Two.")
    assert_servers_accept(history)
