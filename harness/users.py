"""The simulated user as a small state machine: what to ask the user model, and how to read what it says.

Like the episode it does no I/O. A benchmark gives a `Brief` a factory of these; `GoalUser` is the release's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from harness.messages import Message, system, visible
from harness.messages import user as user_message

STOP = "###STOP###"
"""The word with which a simulated user ends the conversation, in the release and in Tau-Bench."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Send these messages to the user model."""

    messages: list[Message]


@dataclass(frozen=True, slots=True)
class Said:
    """What the agent gets to see of the user's reply."""

    text: str
    stops: bool = False
    """True if the conversation is over."""
    breaks: bool = False
    """True if the reply cannot be read and the benchmark ends the episode with 0 for it (Tau-Bench)."""


class SimulatedUser(Protocol):
    """One simulated user in one episode."""

    @property
    def goal(self) -> str:
        """What the user wants, in words: what a scripted user reveals in parts."""
        ...

    def open(self) -> Ask:
        """Begin the conversation."""
        ...

    def hear(self, text: str) -> Ask:
        """Take in what the agent said to the user."""
        ...

    def reply(self, raw: str) -> Ask | Said:
        """Read the user model's answer to the last `Ask`; an `Ask` in return means: ask again."""
        ...

    def said(self, text: str) -> Said:
        """Take in a reply that was read before (replay): `text` is what the agent saw."""
        ...

    def phrase(self, text: str) -> str:
        """`text` in the form in which the user model is told to answer."""
        ...


def stops(text: str) -> bool:
    """Whether a reply holds the stop word, anywhere (the release and Tau-Bench)."""
    return STOP in text


def thought_and_reply(raw: str) -> str | None:
    """The reply in `# Thought: … # Reply: …`; None if there is no reply section (the release's user format)."""
    head, label, reply = visible(raw).partition("# Reply:")
    return reply.strip() if label and head.strip() else None


@dataclass(slots=True)
class GoalUser:
    """A user with a goal in its system prompt (the release's conversation setting; docs of the paper, section 3)."""

    goal: str
    prompt: str
    """System prompt, with the goal filled in."""
    opener: str
    """What the agent is taken to have said first; the agent never sees it."""
    agent_prefix: str = ""
    """Put before what the agent says, in the user model's eyes."""
    read: Callable[[str], str | None] = thought_and_reply
    """From raw reply to visible text; None if it has not the asked-for form."""
    form: str = "# Thought:\nI go on with what I want.\n# Reply:\n{text}"
    tries: int = 5
    """Replies in a wrong form before the user is taken to have said nothing (the release)."""
    messages: list[Message] = field(default_factory=list)
    failures: int = 0

    def open(self) -> Ask:
        self.messages = [system(self.prompt)]
        return self.hear(self.opener)

    def hear(self, text: str) -> Ask:
        self.failures = 0
        self.messages.append(user_message(self.agent_prefix + text))
        return Ask(list(self.messages))

    def reply(self, raw: str) -> Ask | Said:
        text = self.read(raw)
        if stops(raw):
            return self._remember(raw, Said(text if text is not None and stops(text) else STOP, stops=True))
        if text is None:
            self.failures += 1
            return Ask(list(self.messages)) if self.failures < self.tries else self._remember(raw, Said(""))
        return self._remember(raw, Said(text))

    def said(self, text: str) -> Said:
        return self._remember(self.phrase(text), Said(text, stops(text)))

    def phrase(self, text: str) -> str:
        return self.form.format(text=text)

    def _remember(self, raw: str, said: Said) -> Said:
        self.messages.append({"role": "assistant", "content": raw})
        return said
