"""What the two agents of an inspection see and say. The tester never sees the source; the checker sees all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from msgspec import Struct

from harness.environment import ToolSpec
from harness.state import State

Case = Literal["positive", "negative"]
Judgement = Literal["pass", "warning", "fail"]


@dataclass(frozen=True, slots=True)
class Documentation:
    """An environment as its users know it."""

    env_id: str
    title: str
    introduction: str
    rules: tuple[str, ...]
    tools: tuple[ToolSpec, ...]


class TestCall(Struct, frozen=True, kw_only=True):
    """One call that a tester makes."""

    __test__ = False

    tool: str
    arguments: dict[str, Any]
    case: Case
    """`positive`: should succeed; `negative`: should be refused."""
    purpose: str = ""


class Ruling(Struct, frozen=True, kw_only=True):
    """What a checker says of one call."""

    verdict: Judgement
    reason: str = ""


@dataclass(slots=True)
class Count:
    """Rounds of one tool so far."""

    positive: int = 0
    negative: int = 0
    passed: int = 0
    warned: int = 0
    failed: int = 0

    @property
    def rounds(self) -> int:
        """Judged rounds."""
        return self.passed + self.warned + self.failed


@dataclass(frozen=True, slots=True)
class View:
    """What a tester sees before a round."""

    documentation: Documentation
    number: int
    """Of the round, from 1."""
    rounds: int
    state: State
    counts: dict[str, Count]
    allowed: Sequence[str]
    """Tools that may be called in this round: all, or those that would else remain uncovered."""
    last: Sequence[tuple[TestCall, str]]
    """The latest calls with what came back."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a checker sees after a round."""

    documentation: Documentation
    number: int
    call: TestCall
    source: str
    """The tool's method with the helpers it calls, and the record types."""
    before: State
    after: State
    observation: str
    raised: bool


class Tester(Protocol):
    """Makes calls."""

    async def call(self, view: View) -> TestCall:
        """The next call.

        Raises:
            GaveUp: If none that can be made comes; the round is lost.
        """
        ...


class Checker(Protocol):
    """Judges calls."""

    async def rule(self, evidence: Evidence) -> Ruling:
        """The ruling on a call.

        Raises:
            GaveUp: If none comes; the round stays unjudged.
        """
        ...
