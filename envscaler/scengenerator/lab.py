"""Where what models wrote is run: isolated, in threads beside the event loop. Cards of audits are kept as they come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from envscaler.audit import ScenarioCard, Thresholds, audit, fingerprint
from envscaler.audit.journal import CardJournal
from envscaler.audit.stage import Stage, refused
from envscaler.audit.thresholds import Effort
from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import OracleCall, Scenario
from envscaler.scenarios.judge import run_checks
from harness.environment import ToolResult
from harness.errors import EnvironmentFault
from harness.program import Runner, Verdict
from harness.state import State

T = TypeVar("T")

_PASSING = ("timeout", "zygote_crashed")
"""Faults that may be the machine's."""


@dataclass(frozen=True)
class Executed:
    """A call list that was executed from the start."""

    initial: State
    calls: tuple[OracleCall, ...]
    results: tuple[ToolResult, ...]
    states: tuple[State, ...]
    """After each call."""

    @property
    def final(self) -> State:
        """The state in the end."""
        return self.states[-1] if self.states else self.initial

    @cached_property
    def writes(self) -> list[int]:
        """Calls that changed the state."""
        before = (self.initial, *self.states)
        return [index for index, after in enumerate(self.states) if after != before[index]]

    @cached_property
    def refused(self) -> list[int]:
        """Calls that raised, or said that they failed."""
        return [index for index, result in enumerate(self.results) if refused(result)]


class Lab:
    """Runs states, calls, checks and audits.

    Args:
        runner: For states, calls and checks.
        auditor: For audits: its checks hear many states in one go.
        jobs: Audits at one time.
    """

    def __init__(
        self, runner: Runner, auditor: Runner, cards: CardJournal, effort: Effort, gate: Thresholds, jobs: int
    ) -> None:
        self._runner = runner
        self._auditor = auditor
        self._cards = cards
        self._effort = effort
        self._gate = gate
        self._free = asyncio.Semaphore(jobs)

    async def start(self, record: EnvironmentRecord, scenario: Scenario) -> Stage:
        """A scenario in its initial state.

        Raises:
            EnvironmentFault: If the environment does not start from it.
        """
        return await _twice(lambda: Stage(self._runner, record, scenario))

    async def execute(self, stage: Stage, calls: Sequence[OracleCall]) -> Executed:
        """Execute calls from the start.

        Raises:
            EnvironmentFault: If the environment fails.
        """
        results, states = await _twice(lambda: stage.states(calls))
        return Executed(stage.initial, tuple(calls), tuple(results), tuple(states))

    async def verdicts(self, scenario: Scenario, played: Executed) -> tuple[list[Verdict], list[Verdict]]:
        """What the checks say at the start and in the end.

        Raises:
            EnvironmentFault: If the states cannot be judged.
        """

        def both() -> tuple[list[Verdict], list[Verdict]]:
            initial = run_checks(self._runner, scenario, played.initial, played.initial)
            return initial, run_checks(self._runner, scenario, played.initial, played.final)

        return await _twice(both)

    async def audit(self, record: EnvironmentRecord, scenario: Scenario) -> ScenarioCard:
        """The card of a scenario; one that is finished is not made again."""
        known = self._cards.get(fingerprint(record, scenario, self._effort))
        if known is not None:
            return known

        def card_of() -> ScenarioCard:
            return audit(record, scenario, self._auditor, effort=self._effort, gate=self._gate)

        async with self._free:
            card = await asyncio.to_thread(card_of)
            if card.fault:
                card = await asyncio.to_thread(card_of)
        self._cards.add(card)
        return card


async def _twice(work: Callable[[], T]) -> T:
    """What isolated work gives, in a thread; once more if it ran out of time.

    On a busy machine a sound program may be late, and a later run would find it sound; one that hangs hangs again.
    """
    try:
        return await asyncio.to_thread(work)
    except EnvironmentFault as fault:
        if fault.kind not in _PASSING:
            raise
    return await asyncio.to_thread(work)
