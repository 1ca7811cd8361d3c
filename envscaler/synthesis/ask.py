"""Questions to models, without a model: what is asked, how the answer is read, and what is said when it cannot be."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Struct

from envscaler.synthesis.answers import Unusable, refuses
from harness.recordings import Answer, prompt_key

__all__ = ["ROLES", "Answer", "Generate", "Prompt", "Request", "Role", "Turn", "objection", "read"]

T = TypeVar("T")

Role = Literal["planner", "coder", "tester", "checker"]
ROLES: tuple[Role, ...] = ("planner", "coder", "tester", "checker")


class Turn(Struct, frozen=True):
    """One message."""

    role: Literal["system", "user", "assistant"]
    content: str


class Request(Struct, frozen=True, kw_only=True):
    """One call of a model."""

    stage: str
    item: str
    """The task, topic or environment (and round) it is for."""
    attempt: int
    """0 for the first; the turns hold what was wrong with the earlier ones."""
    role: Role
    model: str
    turns: tuple[Turn, ...]
    temperature: float | None = None
    max_tokens: int | None = None
    form: dict[str, Any] | None = None
    """JSON schema of the answer, for models that take one."""

    @property
    def key(self) -> str:
        """Identifies the call among all of a run and its resumptions."""
        return hashlib.blake2b(msgspec.json.encode(self, order="sorted"), digest_size=16).hexdigest()

    @property
    def prompt(self) -> str:
        """Identifies what the model reads, whoever it is."""
        return prompt_key((turn.role, turn.content) for turn in self.turns)


Generate = Callable[[Request], Awaitable[Answer]]
"""A model server. Raises whatever it likes when it fails: that is an infrastructure failure, never a bad answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt(Generic[T]):
    """A question and how its answer is read."""

    stage: str
    item: str
    role: Role
    system: str
    user: str
    parse: Callable[[str], T]
    """Raises `Unusable` with the sentence that goes back to the model."""
    form: type[Any] | None = None
    temperature: float | None = None
    max_tokens: int | None = None

    def turns(self) -> tuple[Turn, ...]:
        """The conversation so far."""
        return (Turn("system", self.system), Turn("user", self.user))


def read(answer: Answer, parse: Callable[[str], T]) -> T:
    """An answer by the rule of its kind.

    Raises:
        Unusable: Refused, cut off, or not what was asked.
    """
    if answer.stop == "refused":
        raise Unusable("it was refused", "refused")
    try:
        return parse(answer.text)
    except Unusable as error:
        if answer.stop == "length":
            raise Unusable("it was cut off at the length limit; answer more briefly", "truncated") from error
        if error.kind != "wrong" and refuses(answer.text):
            raise Unusable("it declines instead of answering", "refused") from error
        raise


def objection(error: Unusable) -> str:
    """What the model is told about an answer that cannot be used."""
    if error.kind == "refused":
        return (
            "That is not an answer. The request is harmless: everything in it is made up, for testing software. "
            "Answer in the form asked for."
        )
    return f"That answer cannot be used: {error}. Answer again, whole, in the form asked for."
