"""Which trajectories are worth training on. Every rule and every threshold stands here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from envscaler.scenarios import Setting
from harness.messages import Message, content_text, read
from harness.outcome import StopReason
from harness.reference import DONE
from training.collection.candidate import Candidate

IMPOSSIBLE = "Task Failed"
"""What an agent says of a task that cannot be done, in the release's collector."""
STEPS: Mapping[Setting, tuple[int, int]] = {"non_conversation": (3, 29), "conversation": (5, 39)}
"""Fewest and most agent messages, the last one included (the release's filter): one below the step limits, so that what
a limit ended is out."""
ENDINGS: Mapping[Setting, frozenset[str]] = {
    "non_conversation": frozenset({StopReason.AGENT_DONE.value, StopReason.TURNS_DONE.value}),
    "conversation": frozenset({StopReason.USER_STOP.value}),
}
"""How an episode ends that nothing broke off."""

CUT = ("length", "context_full")
"""What a message's `finish_reason` is if a limit ended it."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a trajectory is dropped."""

    name: str
    """Of the filter."""
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """The filters that are on, with their thresholds."""

    reward: float = 1.0
    """Least reward. A trajectory that was never scored passes; the card counts those."""
    steps: Mapping[Setting, tuple[int, int]] = field(default_factory=lambda: dict(STEPS))
    off: frozenset[str] = frozenset()
    """Names of filters that are left out. Faults never are: what failed was not the agent."""

    def reasons(self, candidate: Candidate) -> list[Reason]:
        """Why a trajectory is dropped, in the order of `FILTERS`; nothing if it is kept."""
        if candidate.fault is not None:
            return [Reason("fault", candidate.fault)]
        return [
            Reason(name, detail)
            for name, (_, finds) in FILTERS.items()
            if name not in self.off and (detail := finds(candidate, self))
        ]

    def record(self) -> dict[str, Any]:
        """The filters as plain JSON values."""
        on = [name for name in FILTERS if name not in self.off]
        return {"on": on, "reward": self.reward, "steps": {name: list(span) for name, span in self.steps.items()}}


def _format(candidate: Candidate, _: Filters) -> str | None:
    return next(_mistakes(candidate), None)


def _mistakes(candidate: Candidate) -> Iterator[str]:
    """What is wrong with the form of messages: whatever a protocol had to answer, and what no episode looks like."""
    names = {_name(tool) for tool in candidate.record.get("tools") or ()}
    before: Message = {"role": ""}
    waiting: set[str] = set()
    for index, message in enumerate(candidate.messages):
        if message["role"] == "assistant":
            reply = read(message)
            slips = [reply.slip, *(call.slip for call in reply.calls)]
            yield from (f"messages[{index}]: {slip.value}" for slip in slips if slip)
            if message.get("finish_reason") in CUT and not any(slips):
                yield f"messages[{index}]: cut off ({message['finish_reason']})"
            if before["role"] == "assistant":
                yield f"messages[{index}]: follows another message of the agent"
            unknown = [call.name for call in reply.calls if names and call.name not in names]
            yield from (f"messages[{index}]: unknown_tools ({name})" for name in unknown)
            waiting = {call.id for call in reply.calls}
        elif message["role"] == "tool" and _text(message.get("tool_call_id")) not in waiting:
            yield f"messages[{index}]: answers no call of the message before it"
        elif message["role"] == "user" and not content_text(message.get("content")).strip():
            yield f"messages[{index}]: the user says nothing"
        before = message


def _name(tool: Any) -> str | None:
    function = tool.get("function") if isinstance(tool, dict) else None
    return _text(function.get("name")) if isinstance(function, dict) else None


def _text(value: Any) -> str | None:
    """A name, or None for what is none: records come from anywhere."""
    return value if isinstance(value, str) else None


def _ending(candidate: Candidate, _: Filters) -> str | None:
    reason = candidate.stop_reason
    return None if reason in ENDINGS[candidate.setting] else f"{reason} after {candidate.steps} steps"


def _last_words(candidate: Candidate) -> str:
    said = [message for message in candidate.messages if message["role"] == "assistant"]
    return content_text(said[-1].get("content")) if said else ""


def _impossible(candidate: Candidate, _: Filters) -> str | None:
    return f"the agent's last message says {IMPOSSIBLE}" if IMPOSSIBLE in _last_words(candidate) else None


def _completion(candidate: Candidate, _: Filters) -> str | None:
    # Conversations are ended by their users.
    if candidate.setting == "conversation" or DONE in _last_words(candidate):
        return None
    return f"the agent's last message does not say {DONE}"


def _length(candidate: Candidate, filters: Filters) -> str | None:
    least, most = filters.steps[candidate.setting]
    return None if least <= candidate.steps <= most else f"{candidate.steps} steps, not {least} to {most}"


def _reward(candidate: Candidate, filters: Filters) -> str | None:
    reward = candidate.reward
    if reward is None or reward >= filters.reward:
        return None
    return f"{reward:g}, below {filters.reward:g}"


FILTERS: Mapping[str, tuple[str, Callable[[Candidate, Filters], str | None]]] = {
    "ending": ("broken off: by a limit, an exception, or the end of the recording", _ending),
    "format": ("a message that is no valid call or text", _format),
    "impossible": (f"the last message says {IMPOSSIBLE}", _impossible),
    "completion": (f"Non-Conversation: the last message does not say {DONE}", _completion),
    "length": ("too few or too many steps", _length),
    "reward": ("reward below the threshold", _reward),
    "duplicate": ("the same conversation as one that was kept", lambda candidate, filters: None),
}
"""Name -> what it drops, and the rule: one sentence on what is wrong, or None. The first reason of a trajectory is the
first of them in this order."""
