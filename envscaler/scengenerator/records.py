"""What the stages hand to each other, one line of JSON each. Every record says what became of it, and why."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from envscaler.synthesis.folder import Status


class Problem(Struct, frozen=True):
    """One thing that running showed to be wrong."""

    kind: str
    """Short stable name, by which reports count."""
    text: str
    """The evidence: what goes back to the model."""


class Begun(Struct, frozen=True, kw_only=True):
    """An initial state."""

    task_id: str
    env_id: str
    config: dict[str, Any] = field(default_factory=dict)
    revisions: int = 0
    """How often it was sent back."""
    problems: tuple[str, ...] = ()
    """What was last wrong with it, where it was rejected."""
    status: Status = "kept"
    reason: str = ""


class Call(Struct, frozen=True):
    """One call of the oracle."""

    name: str
    arguments: dict[str, Any]


class Solved(Struct, frozen=True, kw_only=True):
    """A task, and calls that were executed for it."""

    task_id: str
    env_id: str
    task: str = ""
    calls: tuple[Call, ...] = ()
    revisions: int = 0
    problems: tuple[str, ...] = ()
    status: Status = "kept"
    reason: str = ""


class CheckText(Struct, frozen=True):
    """One check."""

    item: str
    function: str


class Checked(Struct, frozen=True, kw_only=True):
    """Checks that are false at the start and true after the oracle."""

    task_id: str
    env_id: str
    checks: tuple[CheckText, ...] = ()
    revisions: int = 0
    """How often they were sent back, by the gate as well."""
    problems: tuple[str, ...] = ()
    status: Status = "kept"
    reason: str = ""


class Gated(Struct, frozen=True, kw_only=True):
    """What the audit said."""

    task_id: str
    env_id: str
    figures: dict[str, Any] = field(default_factory=dict)
    """As they are kept in the scenario."""
    first_kill: float | None = None
    """Share of mutants that the checks noticed before any of its evidence went back."""
    problems: tuple[str, ...] = ()
    status: Status = "kept"
    reason: str = ""
