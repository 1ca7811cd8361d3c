from __future__ import annotations

import pytest

from adapters.tau_bench.users import Parse, Strategy, TauUser, UserTexts, simulated_user
from harness.messages import Message
from harness.users import STOP, Ask, Said

TEXTS = UserTexts(
    "Good day!", "\nTask: {instruction}\n", "Play.{instruction_display}Go.", "Think.{instruction_display}Go."
)
STOPPED = Said(STOP, stops=True)


def user(strategy: Strategy, parse: Parse = "paper") -> TauUser:
    """A user that has opened the conversation and heard the agent once."""
    opened = simulated_user("Want {a} lamp.", TEXTS, strategy, parse)
    opened.open()
    said = opened.said("Hello.")
    assert said == Said("Hello.")
    opened.hear("How can I help?")
    return opened


@pytest.mark.parametrize(
    ("raw", "paper", "official"),
    [
        pytest.param(
            "Thought:\nask\n\nUser Response:\nA lamp.",
            Said("A lamp."),
            Said("ask\n\nUser Response:\nA lamp."),
            id="the-official-reading-leaks-the-thought",
        ),
        pytest.param("User Response: A lamp.", Said("A lamp."), Said("A lamp."), id="no-thought"),
        pytest.param("Thought: just this", Said("just this"), Said("just this"), id="no-response"),
        pytest.param("A lamp.", Said("A lamp."), Said("A lamp.", breaks=True), id="no-label"),
        pytest.param("", Said(""), Said("", breaks=True), id="nothing"),
        pytest.param(
            "Thought: a Thought: b User Response: c",
            Said("Thought: a Thought: b User Response: c", breaks=True),
            Said("Thought: a Thought: b User Response: c", breaks=True),
            id="two-thoughts",
        ),
        pytest.param(
            "Thought: a User Response: b User Response: c",
            Said("Thought: a User Response: b User Response: c", breaks=True),
            Said("a User Response: b User Response: c"),
            id="two-responses",
        ),
        pytest.param("Thought: not ###STOP### yet\nUser Response: A lamp.", STOPPED, STOPPED, id="stop-in-a-thought"),
        pytest.param("Thought: done\nUser Response: ###STOP###", STOPPED, STOPPED, id="stop"),
        pytest.param("Thought: a Thought: b ###STOP###", STOPPED, STOPPED, id="stop-comes-before-the-labels"),
        pytest.param(
            "<think>Thought: x</think>User Response: A lamp.",
            Said("A lamp."),
            Said("x</think>User Response: A lamp."),
            id="the-release-drops-reasoning",
        ),
    ],
)
def test_what_the_agent_sees_of_a_react_user(raw: str, paper: Said, official: Said) -> None:
    assert user("react", "paper").reply(raw) == paper
    assert user("react", "official").reply(raw) == official


@pytest.mark.parametrize("parse", ["paper", "official"])
def test_a_plain_user_is_heard_as_it_speaks_and_stops_anywhere(parse: Parse) -> None:
    assert user("plain", parse).reply("Thought: a lamp") == Said("Thought: a lamp")
    assert user("plain", parse).reply("Bye. ###STOP###") == Said("Bye. ###STOP###", stops=True)


def test_the_stop_word_counts_only_once_the_agent_has_spoken() -> None:
    opened = simulated_user("g", TEXTS, "plain", "official")
    opened.open()
    assert opened.reply(STOP) == Said(STOP, stops=False)
    opened.hear("Hello?")
    assert opened.reply(STOP) == STOPPED


def test_the_user_model_sees_the_agent_as_its_user_and_its_own_words_whole() -> None:
    played = user("react")
    played.reply("Thought: t\nUser Response: A lamp.")
    asked = played.hear("Which one?").messages
    assert [message["role"] for message in asked] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert asked[0]["content"] == "Think.\nTask: Want {a} lamp.\nGo."
    assert asked[1]["content"] == "Good day!"
    assert asked[4]["content"] == "Thought: t\nUser Response: A lamp."


def _answers(played: TauUser, *raws: str) -> tuple[list[list[Message]], Said]:
    """Give raw answers until the user has spoken: what it asked in between, and what it said."""
    asked = []
    for index, raw in enumerate(raws):
        answer = played.reply(raw)
        if isinstance(answer, Said):
            assert index == len(raws) - 1
            return asked, answer
        assert isinstance(answer, Ask)
        asked.append(answer.messages)
    raise AssertionError("the user asks for more")


@pytest.mark.parametrize(
    ("strategy", "raws", "said"),
    [
        pytest.param("verify", ["one", "True."], "one", id="approved"),
        pytest.param("verify", ["one", "false", "two", "true"], "two", id="the-second-try"),
        pytest.param(
            "verify", ["one", "false", "two", "no", "three", "false"], "three", id="the-third-is-taken-as-it-is"
        ),
        pytest.param("reflection", ["one", "true"], "one", id="nothing-to-reflect-on"),
        pytest.param("reflection", ["one", "false", "Response: x", "two", "true"], "two", id="a-better-reply"),
        pytest.param("reflection", ["one", "false", "Response: x", "two", "false"], "one", id="back-to-the-first"),
    ],
)
def test_a_supervised_user_says_what_was_approved(strategy: Strategy, raws: list[str], said: str) -> None:
    played = user(strategy)
    assert _answers(played, *raws)[1] == Said(said)
    contents = [message["content"] for message in played.hear("Next?").messages if message["role"] == "assistant"]
    assert contents == ["Hello.", said]


def test_a_supervisor_reads_the_conversation_with_its_parts_named() -> None:
    asked, _ = _answers(user("reflection"), "one", "false", "Reflection: r\nResponse: better", "two", "true")
    verdict, reflection, again, _ = asked
    assert "Agent: How can I help?" in verdict[0]["content"]
    assert "one" in reflection[0]["content"]
    assert again[-1] == {"role": "user", "content": "better"}


def test_a_scripted_user_approves_of_itself() -> None:
    played = user("verify")
    played.reply(played.phrase("A lamp."))
    assert played.reply(played.phrase("A lamp.")) == Said("A lamp.")
