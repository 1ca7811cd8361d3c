"""Where a scenario is played for its audit: call lists to states, and checks on many states at once.

Checks are asked about hundreds of states. A process for each verdict would be most of the cost, so one check hears all
its states in one process: the states travel as one, and its answers come back as the text of one exception. A check can
only ever speak for itself, there as everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from envscaler.audit.tree import texts, tree
from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import OracleCall, Scenario
from envscaler.scenarios.judge import run_checks
from harness.environment import ToolResult, ToolSpec, ToolStatus
from harness.errors import EnvironmentFault
from harness.program import Checks, Instance, Program, Runner, Verdict
from harness.state import State

PASSED, FAILED, RAISED, ODD = "P", "F", "E", "N"
"""What a check said of a state: true, false, an exception, no bool."""

_TOLD = "said "
_MOST_STATES = 1500
"""In one request: the text of an exception is cut at 2,000 characters."""
_MOST_BYTES = 4 * 2**20
_ASKER = """
class Told(Exception):
    pass

def check_func(packed):
    code = compile({source!r}, "<check>", "exec")
    told = []
    for number, final in packed["states"]:
        names = {{"__name__": "check", "__builtins__": __builtins__, "initial_state": packed["initials"][number]}}
        try:
            exec(code, names)
            answer = names["check_func"](final)
            told.append("P" if answer is True else "F" if answer is False else "N")
        except (MemoryError, KeyboardInterrupt):
            raise
        except BaseException:
            told.append("E")
    raise Told("said " + "".join(told))
"""


@dataclass(frozen=True)
class Play:
    """A call list that was executed on a fresh instance."""

    calls: tuple[OracleCall, ...]
    results: tuple[ToolResult, ...]
    final: State

    @cached_property
    def tree(self) -> Any:
        """The final state as a tree. Not to be changed."""
        return tree(self.final)

    @property
    def refused(self) -> list[int]:
        """Calls that raised, were unknown, or said that they failed."""
        return [index for index, result in enumerate(self.results) if refused(result)]


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

    def open(self, calls: Iterable[OracleCall] = ()) -> Instance:
        """An instance on which calls were made.

        Raises:
            EnvironmentFault: If the environment fails.
        """
        instance = self.runner.open(self.program)
        try:
            for call in calls:
                instance.call(call.name, call.arguments)
        except BaseException:
            instance.close()
            raise
        return instance

    def play(self, calls: Sequence[OracleCall], runner: Runner | None = None) -> Play:
        """Execute calls from the start.

        Raises:
            EnvironmentFault: If the environment fails.
        """
        instance = (runner or self.runner).open(self.program)
        try:
            results = tuple(instance.call(call.name, call.arguments) for call in calls)
            return Play(tuple(calls), results, instance.state())
        finally:
            instance.close()

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
            instance.close()
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
        initials = list(dict.fromkeys(initial.data for initial, _ in pairs))
        number = {data: index for index, data in enumerate(initials)}
        states = b",".join(b"[%d,%s]" % (number[initial.data], final.data) for initial, final in pairs)
        packed = State(b'{"initials":[%s],"states":[%s]}' % (b",".join(initials), states))
        functions = [_ASKER.format(source=check.function) for check in self.scenario.checks]
        checks = Checks(
            functions=functions,
            initial=State(b"null"),
            final=packed,
            clock=clock or self.scenario.time,
            seed=self.scenario.seed if seed is None else seed,
        )
        return [_letters(verdict, len(pairs)) for verdict in self.runner.check(checks)]


def _letters(verdict: Verdict, count: int) -> str:
    text = (verdict.error or "").rpartition(_TOLD)[2]
    # Whatever else came (out of time, killed): a check that cannot be heard passes nothing.
    return text if len(text) == count else RAISED * count


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
