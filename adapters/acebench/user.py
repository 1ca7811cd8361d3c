"""ACEBench's simulated user: told its goal in the system prompt, it ends the conversation with two words."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.messages import Message, system, user, visible
from harness.users import STOP, Ask, Said

FINISH = "finish conversation"
"""Anywhere in a reply, in lower case, it ends the conversation."""

OPENING = {"en": "Is there anything you need help with today?", "zh": "今天有什么需要帮助的吗？"}
"""What the user is asked first, by language; the agent never sees it."""


@dataclass(slots=True)
class AceUser:
    """One user in one episode."""

    goal: str
    prompt: str
    """System prompt, with the goal filled in."""
    language: str = "en"
    official: bool = False
    """Keep its own replies under the role `system` and show it no role prefixes (official); else under `assistant`, and
    without its reasoning (paper)."""
    messages: list[Message] = field(default_factory=list)

    def open(self) -> Ask:
        self.messages = [system(self.prompt)]
        return self.hear(OPENING[self.language])

    def hear(self, text: str) -> Ask:
        if self.official:
            text = text.removeprefix("agent:") if text.startswith("agent:") else text.removeprefix("user:")
        self.messages.append(user(text))
        return Ask(list(self.messages))

    def reply(self, raw: str) -> Said:
        return self.said(raw if self.official else visible(raw))

    def said(self, text: str) -> Said:
        self.messages.append({"role": "system" if self.official else "assistant", "content": text})
        return Said(text, stops=FINISH in text)

    def phrase(self, text: str) -> str:
        return text.replace(STOP, FINISH)
