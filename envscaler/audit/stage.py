"""Where a scenario is played for its audit: call lists to states, and checks on many states at once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from envscaler.audit.tree import texts, tree
from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import OracleCall, Scenario
from envscaler.scenarios.judge import run_checks
from harness.environment import ToolResult, ToolSpec, ToolStatus
from harness.errors import EnvironmentFault
from harness.program import Hearing, Instance, Program, Runner, Verdict
from harness.state import State

_MOST_STATES = 1500
_MOST_BYTES = 4 * 2**20
"""In one request: a child decodes them all at once."""
_SHARED_SECONDS = 10.0
"""A process takes no more plays then: it may use a minute of CPU time in all."""


@dataclass(frozen=True)
class Play:
    """A call list that was executed on a fresh instance."""

    calls: tuple[OracleCall, ...]
    results: tuple[ToolResult, ...]
    final: State

    @cached_property
    def tree(self) -> Any:
        """The final state as a tree. Not to be changed: `tree(play.final)` is one that may be."""
        return tree(self.final)

    @property
    def refused(self) -> list[int]:
        """Calls that raised, were unknown, or said that they failed."""
        return [index for index, result in enumerate(self.results) if refused(result)]

    def same(self, other: Play) -> bool:
        """Whether it gave the same answers and led to the same state."""
        return self.results == other.results and self.final == other.final


def refused(result: ToolResult) -> bool:
    """Whether a call did not do what it was asked to: it raised, or answered `success: false` or only an error."""
    if result.status is not ToolStatus.OK:
        return True
    try:
        answer = json.loads(result.text)
    except ValueError:
        return False
    return isinstance(answer, dict) and (
        answer.get("success") is False or ("error" in answer and "success" not in answer)
    )


class Stage:
    """One scenario, ready to be played again and again.

    Args:
        runner: The level at which its code runs.
    """

    def __init__(self, runner: Runner, record: EnvironmentRecord, scenario: Scenario) -> None:
        self.runner = runner
        self.record = record
        self.scenario = scenario
        self.tools: tuple[ToolSpec, ...] = record.own_tools
        self.program = Program(
            source=record.source,
            class_name=record.class_name,
            config=scenario.init_config,
            tools=frozenset(tool.name for tool in self.tools),
            clock=scenario.time,
            seed=scenario.seed,
            observation="json",
        )
        self._shared = False
        self._last: Instance | None = None
        self._since = 0.0
        self.initial: State = self.play(()).final

    @cached_property
    def start(self) -> Any:
        """The initial state as a tree. Not to be changed."""
        return tree(self.initial)

    @cached_property
    def names(self) -> frozenset[str]:
        """Every text in the initial state, and every word of the schemas' choices."""
        choices = (tool.parameters.get("properties", {}) for tool in self.tools)
        return frozenset([*texts(self.start), *texts([schema for schemas in choices for schema in schemas.values()])])

    def share(self, known: Play) -> None:
        """Let all further instances follow one another in one process, which takes a fraction of the time.

        Only if that makes no difference: `known`, played in a process of its own, says the same when it is played twice
        in one. From then on there is one instance at a time.
        """
        self._shared = True
        again = [self.attempt(known.calls) for _ in range(2)]
        if not all(play is not None and play.same(known) for play in again):
            self._shared = False
            self.close()

    def open(self, state: State | None = None) -> Instance:
        """An instance at the start, or in a state that one exported; to be given back with `leave`.

        Raises:
            EnvironmentFault: If the environment fails.
        """
        program = self.program if state is None else replace(self.program, config=state)
        if not self._shared:
            return self.runner.open(program)
        if self._last is not None and time.monotonic() - self._since < _SHARED_SECONDS:
            try:
                self._last.renew(program.config)
                return self._last
            except EnvironmentFault:
                pass  # it has ended, or does not start again: whether it starts at all, a new process tells
        self.close()
        self._last, self._since = self.runner.open(program), time.monotonic()
        return self._last

    def leave(self, instance: Instance) -> None:
        """End an instance, unless its process is used again."""
        if instance is not self._last:
            instance.close()

    def close(self) -> None:
        """End the process that instances share, if there is one."""
        if self._last is not None:
            self._last.close()
            self._last = None

    def play(self, calls: Sequence[OracleCall], runner: Runner | None = None) -> Play:
        """Execute calls from the start.

        Args:
            runner: Play it there, in a process of its own.
        Raises:
            EnvironmentFault: If the environment fails.
        """
        if runner is not None:
            return self._play(runner.open(self.program), calls)
        try:
            return self._play(self.open(), calls)
        except EnvironmentFault:
            if not self._shared:
                raise
        # What earlier plays left or used up in that process is not the fault of this one.
        self.close()
        return self._play(self.open(), calls)

    def _play(self, instance: Instance, calls: Sequence[OracleCall]) -> Play:
        try:
            results = tuple(instance.call(call.name, call.arguments) for call in calls)
            return Play(tuple(calls), results, instance.state())
        finally:
            self.leave(instance)

    def attempt(self, calls: Sequence[OracleCall]) -> Play | None:
        """As `play`; None if the environment fails."""
        try:
            return self.play(calls)
        except EnvironmentFault:
            return None

    def states(self, calls: Sequence[OracleCall]) -> tuple[list[ToolResult], list[State]]:
        """The result of each call, and the state after it.

        Raises:
            EnvironmentFault: If the environment fails.
        """
        instance = self.open()
        results, states = [], []
        try:
            for call in calls:
                results.append(instance.call(call.name, call.arguments))
                states.append(instance.state())
        finally:
            self.leave(instance)
        return results, states

    def verdicts(self, final: State) -> list[Verdict]:
        """One verdict per check, as scoring gives them."""
        return run_checks(self.runner, self.scenario, self.initial, final)

    def ask(
        self, finals: Sequence[State | tuple[State, State]], *, clock: str | None = None, seed: int | None = None
    ) -> list[str]:
        """What each check says of each state: one text of letters per check, in order.

        Args:
            finals: Final states, or pairs of an initial and a final state.
            clock: Another time than the scenario's.
            seed: Another seed than the scenario's.
        """
        pairs = [(self.initial, item) if isinstance(item, State) else item for item in finals]
        told = [""] * len(self.scenario.checks)
        for chunk in _chunks(pairs):
            told = [before + after for before, after in zip(told, self._ask(chunk, clock, seed), strict=True)]
        return told

    def _ask(self, pairs: Sequence[tuple[State, State]], clock: str | None, seed: int | None) -> list[str]:
        hearing = Hearing(
            functions=[check.function for check in self.scenario.checks],
            states=pairs,
            clock=clock or self.scenario.time,
            seed=self.scenario.seed if seed is None else seed,
        )
        return self.runner.hear(hearing)


def _chunks(pairs: Sequence[tuple[State, State]]) -> Iterable[Sequence[tuple[State, State]]]:
    """Runs of pairs that one request takes."""
    start, size = 0, 0
    for index, (_, final) in enumerate(pairs):
        if index > start and (size + len(final.data) > _MOST_BYTES or index - start >= _MOST_STATES):
            yield pairs[start:index]
            start, size = index, 0
        size += len(final.data)
    if start < len(pairs):
        yield pairs[start:]
