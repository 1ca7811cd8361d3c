"""A scenario as data: where it starts, what is asked, and how the final state is checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from harness.program import DEFAULT_CLOCK
from harness.state import State

Setting = Literal["non_conversation", "conversation"]
SETTINGS: tuple[Setting, ...] = get_args(Setting)
"""The whole task at once, or revealed by a simulated user."""


@dataclass(frozen=True, slots=True)
class Check:
    """A boolean function of the final state."""

    item: str
    """What it asks, in words."""
    function: str
    """Source that defines `check_func(final_state)`; `initial_state` is a global of it. Empty: never passes."""


@dataclass(frozen=True, slots=True)
class OracleCall:
    """One call of the oracle solution."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Scenario:
    """One task in one environment."""

    env_id: str
    task_id: str
    init_config: State
    """Initial state by attribute. Held as bytes: no episode can change it."""
    task: str
    checks: tuple[Check, ...] = ()
    """Empty in the release's SFT scenarios, which cannot be scored."""
    settings: tuple[Setting, ...] = SETTINGS
    oracle: tuple[OracleCall, ...] | None = None
    clock: str | None = None
    """Frozen time of the environment, ISO 8601; None: a fixed default."""
    seed: int = 0
    provenance: str = ""
    audit: dict[str, Any] = field(default_factory=dict)
    released: dict[str, Any] = field(default_factory=dict)
    """Further fields of the record it was read from, kept as they are."""
    class_name: str = field(default="", compare=False)
    """Class of its environment, where its record names it."""
    file: str = field(default="", compare=False)
    """Where it was read from; errors name it."""

    @property
    def time(self) -> str:
        """The clock, or the default."""
        return self.clock or DEFAULT_CLOCK
