"""Which episode the current task of the event loop plays: how providers reach it without Inspect's help."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from harness.case import Case
from harness.episode import AgentTurn, Episode, UserTurn


@dataclass(slots=True)
class Playing:
    """An episode in play."""

    case: Case
    episode: Episode
    run: int
    turn: AgentTurn | UserTurn | None = None
    """What the episode waits for."""
    reference: dict[str, Callable[..., Any]] = field(default_factory=dict)
    """Reference agents and users of this episode, by name: they remember where they are."""


PLAYING: ContextVar[Playing | None] = ContextVar("playing", default=None)
