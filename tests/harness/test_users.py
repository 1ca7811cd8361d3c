from __future__ import annotations

from typing import Any

import pytest

from harness.messages import system, user
from harness.users import STOP, Ask, GoalUser, Said, stops, thought_and_reply
from tests.harness.playground import told


def goal(**more: Any) -> GoalUser:
    return GoalUser(goal="milk", prompt="You want milk.", opener="Hello!", agent_prefix="[Agent] ", **more)


@pytest.mark.parametrize(
    ("raw", "reply"),
    [
        pytest.param("# Thought:\nhm\n# Reply:\nMilk.", "Milk.", id="form"),
        pytest.param("# Thought: hm # Reply: Milk.", "Milk.", id="one-line"),
        pytest.param("<think>x</think># Thought: hm\n# Reply:\n Milk. \n", "Milk.", id="reasoning-before"),
        pytest.param("# Thought: # Reply: a # Reply: b", "a # Reply: b", id="the-first-label-counts"),
        pytest.param("# Thought: hm\n# Reply:", "", id="nothing-said"),
        pytest.param("# Reply: Milk.", None, id="no-thought"),
        pytest.param("Milk.", None, id="no-form"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_a_reply_is_what_stands_under_its_label(raw: str, reply: str | None) -> None:
    assert thought_and_reply(raw) == reply


def test_the_user_opens_with_its_goal_and_what_the_agent_is_taken_to_have_said() -> None:
    assert goal().open() == Ask([system("You want milk."), user("[Agent] Hello!")])


def test_the_user_remembers_raw_what_it_said_and_prefixed_what_it_heard() -> None:
    someone = goal()
    someone.open()
    assert someone.reply(told("Milk.")) == Said("Milk.")
    assert someone.hear("How much?").messages[2:] == [
        {"role": "assistant", "content": told("Milk.")},
        user("[Agent] How much?"),
    ]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        pytest.param(told(f"Bye. {STOP}"), f"Bye. {STOP}", id="in-the-reply"),
        pytest.param(STOP, STOP, id="bare"),
        pytest.param(f"# Thought: {STOP} now\n# Reply: Bye.", STOP, id="in-the-thought"),
        pytest.param(f"# Reply: {STOP}", STOP, id="in-a-wrong-form"),
    ],
)
def test_the_stop_word_counts_wherever_it_stands(raw: str, said: str) -> None:
    someone = goal()
    someone.open()
    assert someone.reply(raw) == Said(said, stops=True)


def test_after_five_replies_in_a_wrong_form_nothing_was_said_and_the_count_starts_anew() -> None:
    someone = goal()
    asked = someone.open()
    assert [someone.reply("milk") for _ in range(5)] == [asked] * 4 + [Said("")]
    asked = someone.hear("What?")
    assert [someone.reply("milk") for _ in range(5)] == [asked] * 4 + [Said("")]


def test_a_reply_read_before_is_taken_in_as_if_it_had_been_given() -> None:
    live, replayed = goal(), goal()
    live.open()
    replayed.open()
    live.reply(live.phrase("Milk, {please}."))
    assert replayed.said("Milk, {please}.") == Said("Milk, {please}.")
    assert replayed.messages == live.messages


def test_what_a_user_phrases_it_also_reads() -> None:
    assert thought_and_reply(goal().phrase("Milk\n# and {more}.")) == "Milk\n# and {more}."


def test_an_asked_list_is_a_copy() -> None:
    someone = goal()
    someone.open().messages.clear()
    assert len(someone.messages) == 2


def test_the_stop_word_is_exact() -> None:
    assert [stops(text) for text in ("###STOP###", "a###STOP###b", "### STOP ###", "###stop###", "STOP")] == [
        True,
        True,
        False,
        False,
        False,
    ]
