"""What the stages hand to each other, one line of JSON each. Every record says what became of it, and why."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from envscaler.synthesis.folder import Status

Score10 = Annotated[int, Meta(ge=1, le=10)]
Text = Annotated[str, Meta(min_length=1)]


class TaskText(Struct, frozen=True, kw_only=True):
    """One task text, as it was read."""

    id: str
    text: str
    source: str
    """File and place in it."""
    status: Status = "kept"
    reason: str = ""


class Judged(Struct, frozen=True, kw_only=True):
    """Whether a task relies on a domain-specific, stateful environment that it both reads and writes."""

    task_id: str
    status: Status
    reason: str = ""


class Topic(Struct, frozen=True, kw_only=True):
    """The environment that a task implies (the release's fields in brackets)."""

    task_id: str
    task: str
    title: str = ""
    """Short noun phrase (`environment_summary`)."""
    introduction: str = ""
    """Three sentences that do not mention the task (`environment_introduction`)."""
    usefulness: int = 0
    modelability: int = 0
    status: Status = "kept"
    reason: str = ""


class Attribute(Struct, frozen=True):
    """A typed attribute of an entity."""

    name: Text
    type: Text
    description: str = ""


class Entity(Struct, frozen=True):
    """A kind of thing in the state."""

    name: Text
    attributes: Annotated[tuple[Attribute, ...], Meta(min_length=1)]
    description: str = ""


class Operation(Struct, frozen=True):
    """A tool to be."""

    name: Text
    kind: Literal["query", "change"]
    description: Text


class Plan(Struct, frozen=True, kw_only=True):
    """State, rules and operations of an environment, before any code."""

    env_id: str
    title: str
    introduction: str
    entities: tuple[Entity, ...] = ()
    rules: tuple[str, ...] = ()
    operations: tuple[Operation, ...] = ()
    status: Status = "kept"
    reason: str = ""


class Built(Struct, frozen=True, kw_only=True):
    """A program that passed the static gate, with a state to start from."""

    env_id: str
    class_name: str = ""
    source: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    revisions: int = 0
    """How often the gate sent it back."""
    findings: tuple[str, ...] = ()
    """What the gate last said, where it was rejected."""
    status: Status = "kept"
    reason: str = ""
