"""One episode in tokens: what the policy sampled, kept as sampled, and what others said in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.episode import AgentTurn
from harness.errors import SettingError
from harness.messages import Message
from training.template import ChatTemplate


@dataclass(slots=True)
class Stream:
    """The tokens of an episode, in order. Nothing that was sampled is ever tokenized again."""

    prompt: list[int] = field(default_factory=list)
    """Up to where the policy speaks for the first time."""
    ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    """1 on sampled tokens, 0 on those of tools, users and the template."""
    logprobs: list[float] = field(default_factory=list)
    """Of the engine that sampled, 0 on other tokens; empty where it gives none."""
    seen: int = 0
    """Messages of the history that are in the tokens."""
    tools: tuple[str, ...] = ()

    def hear(self, turn: AgentTurn, template: ChatTemplate) -> None:
        """Take in what was said since the policy spoke last.

        Raises:
            SettingError: If the tools changed: they stand in the prompt, which is written already.
        """
        names = tuple(tool.name for tool in turn.tools)
        if not self.prompt:
            self.prompt, self.tools = template.prompt(turn.messages, turn.tools), names
        else:
            if names != self.tools:
                raise SettingError(f"{turn.sample}: its tools change during the episode; RL in one sequence cannot")
            # The first new message is the policy's own, which is in the tokens as it was sampled.
            new = turn.messages[self.seen + 1 :]
            if self.ids[-1:] != [template.end_id]:
                self._add([template.end_id], 0)
            self._add(template.suffix(new), 0)
        self.seen = len(turn.messages)

    def room(self, most: int) -> int:
        """Tokens that still fit into an episode of `most`."""
        return most - len(self.prompt) - len(self.ids)

    def forget(self) -> None:
        """Drop what was heard since the policy spoke last: it will not answer, and a tool may have said very much."""
        while self.mask and not self.mask[-1]:
            for tokens in (self.ids, self.mask, self.logprobs):
                tokens.pop()
        if not self.ids:
            self.prompt = []

    @property
    def context(self) -> list[int]:
        """What the policy reads next."""
        return self.prompt + self.ids

    def say(
        self, sampled: Sequence[int], logprobs: Sequence[float] | None, template: ChatTemplate, most: int
    ) -> Message:
        """Take in what the policy sampled, and return it as a message.

        Args:
            most: Tokens of the whole episode; a reply that passes it ends the episode there.
        """
        kept = list(sampled)[: self.room(most)]
        self._add(kept, 1)
        if logprobs is not None and kept:
            self.logprobs[-len(kept) :] = list(logprobs)[: len(kept)]
        ended = bool(kept) and kept[-1] == template.end_id
        message = template.message(kept, cut=not ended)
        if len(kept) < len(sampled):
            message["finish_reason"] = "context_full"
        return message

    def _add(self, ids: Sequence[int], sampled: int) -> None:
        self.ids += ids
        self.mask += [sampled] * len(ids)
        self.logprobs += [0.0] * len(ids)
