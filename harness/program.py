"""Generated code as data: an environment class in source form, check functions, and who runs them.

A `Runner` is a level of isolation. Both levels take the same programs and give the same answers; only what a hostile
program can reach differs (DESIGN section 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from harness.environment import Level, ToolResult
from harness.state import State

DEFAULT_CLOCK = "2025-01-01T00:00:00Z"
"""The time in environments whose scenario names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """An environment class and the scenario it starts from."""

    source: str
    """Python source of the class, as SkelBuilder writes it."""
    class_name: str
    config: State
    """The scenario's initial configuration: given to the constructor if it takes one, then set as attributes."""
    tools: frozenset[str]
    """Names that may be called; any other is an unknown tool, also if the class has such an attribute."""
    clock: str = DEFAULT_CLOCK
    """Frozen time, ISO 8601."""
    seed: int = 0
    """Seeds `random`, `uuid` and `secrets`."""
    observation: Literal["python", "json"] = "python"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one check said about a final state."""

    passed: bool
    error: str | None = None
    """Why there is no verdict: it raised, ran out of time, returned no bool, changed the state it was given. Counts as
    not passed."""
    mutated: bool = False
    """True if the last was why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """Check functions with the states they see."""

    functions: Sequence[str]
    """Sources, each defining `check_func(final_state)`; `initial_state` is a global of theirs."""
    initial: State
    final: State
    clock: str = DEFAULT_CLOCK
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """Check functions with many states, each of which every one of them sees."""

    functions: Sequence[str]
    """As in `Checks`."""
    states: Sequence[tuple[State, State]]
    """Initial and final state."""
    clock: str = DEFAULT_CLOCK
    seed: int = 0

    def packed(self) -> tuple[State, State]:
        """As `harness.runtime.hear` takes them: a list of the different initial states, and one of pairs, each the
        index of such a state and a final state.
        """
        numbers: dict[bytes, int] = {}
        pairs = [b"[%d,%s]" % (numbers.setdefault(a.data, len(numbers)), b.data) for a, b in self.states]
        return State(b"[%s]" % b",".join(numbers)), State(b"[%s]" % b",".join(pairs))


@dataclass(frozen=True, slots=True)
class Limits:
    """Deadlines and sizes; reaching one is an environment fault (a check: a check error)."""

    init_seconds: float = 10.0
    call_seconds: float = 10.0
    check_seconds: float = 5.0
    reply_bytes: int = field(default=8 * 2**20)
    state_bytes: int = field(default=16 * 2**20)


class Instance(Protocol):
    """A program that runs."""

    def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """Execute one call.

        Raises:
            EnvironmentFault: If the program was killed, ran out of time or memory, or broke the channel.
        """
        ...

    def state(self) -> State:
        """The attributes of the instance.

        Raises:
            EnvironmentFault: As `call`, or if the state has no canonical form.
        """
        ...

    def renew(self, config: State) -> None:
        """Start over in the same process: class, clock and random sources as new. What the program did to modules that
        it imports stays done, so this is for playing one program often, not for another one.

        Raises:
            EnvironmentFault: As `Runner.open`; or if it is closed.
        """
        ...

    def close(self) -> None:
        """End it. Calling it twice is allowed."""
        ...


class Runner(Protocol):
    """Runs programs and checks at one level."""

    @property
    def level(self) -> Level:
        """The level, as outcomes name it."""
        ...

    def open(self, program: Program) -> Instance:
        """Start a program.

        Raises:
            EnvironmentFault: If its code does not load or its class does not take the configuration.
        """
        ...

    def check(self, checks: Checks) -> list[Verdict]:
        """One verdict per function, in order; each sees a fresh copy of the final state."""
        ...

    def hear(self, hearing: Hearing) -> list[str]:
        """For each function a text with a letter for each state, in order (`harness.runtime.PASSED` and others).

        What a function changes in a state no other one sees, but it is not held against it. One that is late or crashes
        has raised on every state.
        """
        ...
