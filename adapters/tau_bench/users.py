"""The simulated users of Tau-Bench: plain, react, verify, reflection (docs of Tau-Bench, sections 1.9 and 1.10).

Each is a small machine without I/O: it says what to send to the user model and reads what comes back. A strategy is how
the user is told to answer; a reading is what the agent gets to see of the answer, and differs between protocols.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal, get_args

from adapters.tau_bench.domain import read_json
from harness.errors import DataError
from harness.messages import Message, content_text, system
from harness.messages import user as user_message
from harness.users import STOP, Ask, Said, stops

Strategy = Literal["plain", "react", "verify", "reflection"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
Parse = Literal["paper", "official"]
"""Whose reading of the user model's text."""

VERIFY_TRIES = 3
"""Replies that the supervisor of a `verify` user may turn down before the last one is taken as it is."""

THOUGHT, RESPONSE = "Thought:", "User Response:"
REACT_FORM = f"{THOUGHT}\nI go on with what I want.\n\n{RESPONSE}\n{{text}}"


# What the agent sees of a reply


def read_plain(raw: str) -> str | None:
    """All of it."""
    return raw


def read_react_official(raw: str) -> str | None:
    """What follows the label `Thought:`, so that the thought and the second label leak to the agent; None if it breaks.

    The official code splits at a label and unpacks two parts: no label, or one label twice, is an exception there.
    """
    if stops(raw):
        # Anywhere, even in the thought.
        return STOP
    label = THOUGHT if THOUGHT in raw else RESPONSE
    parts = raw.split(label)
    return parts[1].strip() if len(parts) == 2 else None


def read_react_paper(raw: str) -> str | None:
    """The response without the thought; a reply without labels as it is; None if a label stands there twice."""
    if stops(raw):
        return STOP
    text = raw
    for label in (THOUGHT, RESPONSE):
        parts = text.split(label)
        if len(parts) > 2:
            return None
        text = parts[-1]
    return text.strip()


def reading(strategy: Strategy, parse: Parse) -> Callable[[str], str | None]:
    """From the user model's text to what the agent sees; None where the protocol's own code breaks on it."""
    if strategy != "react":
        return read_plain
    return read_react_official if parse == "official" else read_react_paper


def after_thinking(raw: str) -> str:
    """What follows the first `</think>`, if there is one."""
    return raw.partition("</think>")[2] if "</think>" in raw else raw


# The users


@dataclass(frozen=True, slots=True)
class UserTexts:
    """What the user model is told; the benchmark's own texts, loaded from its data."""

    opener: str
    """What the agent is taken to have said first; the agent never sees it."""
    instruction: str
    """How the task stands in the prompt."""
    plain: str
    react: str

    def prompt(self, strategy: Strategy, instruction: str) -> str:
        """The system prompt of a user."""
        # Not str.format: an instruction may hold braces.
        task = self.instruction.replace("{instruction}", instruction)
        return (self.react if strategy == "react" else self.plain).replace("{instruction_display}", task)


def load_texts(data: Path) -> UserTexts:
    """The texts of `prompts.json`.

    Raises:
        DataError: If one is missing.
    """
    file = data / "prompts.json"
    record = read_json(file)
    texts = record.get("user_simulator") if isinstance(record, dict) else None
    names = ("first_agent_message", "instruction_display", "llm", "react")
    for name in names:
        if not isinstance(texts, dict) or not isinstance(texts.get(name), str):
            raise DataError(file, f"user_simulator.{name}", "must be a string")
    assert isinstance(texts, dict)
    return UserTexts(*(texts[name] for name in names))


class TauUser:
    """A user that answers once per turn: `plain` and `react`."""

    def __init__(self, goal: str, texts: UserTexts, strategy: Strategy, parse: Parse) -> None:
        self.goal = goal
        self.strategy = strategy
        self.opener = texts.opener
        self.messages: list[Message] = [system(texts.prompt(strategy, goal))]
        self._parse = parse
        self._read = reading(strategy, parse)
        self._opening = True

    def open(self) -> Ask:
        return self.hear(self.opener)

    def hear(self, text: str) -> Ask:
        self.messages.append(user_message(text))
        return Ask(list(self.messages))

    def reply(self, raw: str) -> Ask | Said:
        # The release drops a user model's own reasoning; the official code knows of none.
        return self._answer(after_thinking(raw) if self._parse == "paper" else raw)

    def _answer(self, raw: str) -> Ask | Said:
        return self._take(raw)

    def said(self, text: str) -> Said:
        return self._say(self._form(text), text)

    def phrase(self, text: str) -> str:
        return self._form(text)

    def _form(self, text: str) -> str:
        return REACT_FORM.format(text=text) if self.strategy == "react" else text

    def _take(self, raw: str) -> Said:
        text = self._read(raw)
        return self._say(raw, text) if text is not None else Said(raw, breaks=True)

    def _say(self, raw: str, text: str) -> Said:
        self.messages.append({"role": "assistant", "content": raw})
        # The official environment looks for the stop word only once the agent has spoken.
        said = Said(text, stops=stops(text) and not self._opening)
        self._opening = False
        return said


class Stage(StrEnum):
    """What a supervised user's model was asked for last."""

    REPLY = "reply"
    VERDICT = "verdict"
    REFLECTION = "reflection"


class SupervisedUser(TauUser):
    """A user whose replies a second request to the model must approve: `verify` and `reflection`.

    The supervisor's prompts are our own words: the published texts are not part of the benchmark's data.
    """

    def __init__(self, goal: str, texts: UserTexts, strategy: Strategy, parse: Parse) -> None:
        super().__init__(goal, texts, strategy, parse)
        self.stage = Stage.REPLY
        self._replies: list[str] = []
        """Of this turn, none of them approved so far."""

    def hear(self, text: str) -> Ask:
        self.stage, self._replies = Stage.REPLY, []
        return super().hear(text)

    def _answer(self, raw: str) -> Ask | Said:
        match self.stage:
            case Stage.REPLY:
                self._replies.append(raw)
                self.stage = Stage.VERDICT
                return Ask([user_message(_supervise(self.messages, raw, VERDICT_WANTED))])
            case Stage.VERDICT:
                return self._take(self._replies[-1]) if "true" in raw.lower() else self._turned_down()
            case Stage.REFLECTION:
                self.stage = Stage.REPLY
                return Ask([*self.messages, user_message(raw.rpartition("Response:")[2].strip())])

    def phrase(self, text: str) -> str:
        return "true" if self.stage is Stage.VERDICT else super().phrase(text)

    def _turned_down(self) -> Ask | Said:
        if self.strategy == "reflection":
            if len(self._replies) == 1:
                self.stage = Stage.REFLECTION
                return Ask([user_message(_supervise(self.messages, self._replies[0], REFLECTION_WANTED))])
            return self._take(self._replies[0])
        if len(self._replies) < VERIFY_TRIES:
            self.stage = Stage.REPLY
            return Ask(list(self.messages))
        return self._take(self._replies[-1])


def simulated_user(goal: str, texts: UserTexts, strategy: Strategy, parse: Parse) -> TauUser:
    """A fresh user of a strategy."""
    kind = SupervisedUser if strategy in ("verify", "reflection") else TauUser
    return kind(goal, texts, strategy, parse)


VERDICT_WANTED = (
    "Is this a fitting thing for the customer to say at this point: true to the instruction, nothing made up, nothing "
    "given away too early, and the conversation ended only when the customer's wishes are settled? Answer with the "
    "single word true or false."
)
REFLECTION_WANTED = (
    "You have found that the customer should not say this. Tell what is wrong with it, then write what the customer "
    "should say instead. Answer in exactly this form:\nReflection:\n<what is wrong>\nResponse:\n<what to say instead>"
)


def _supervise(messages: list[Message], reply: str, wanted: str) -> str:
    """What the supervisor of a user is asked. In the user model's eyes the agent has role `user`."""
    names = {"system": "Instruction", "user": "Agent", "assistant": "Customer"}
    transcript = "\n".join(f"{names[message['role']]}: {content_text(message['content'])}" for message in messages)
    return (
        "You watch over somebody who plays a customer in a conversation with a service agent.\n\n"
        f"# Conversation so far\n{transcript}\n\n# What the customer is about to say\n{reply}\n\n{wanted}"
    )
