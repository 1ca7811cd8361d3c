"""Inspect: the dual-agent loop that decides whether an environment is kept.

A tester calls the tools of a running program (isolated), a checker judges each call; 100 rounds, kept from a pass rate
of 0.85 (paper). What the release left open is closed here (docs of the release, sections 1.3 and 8): every tool is
called at least k times, warnings do not count as passes unless asked for, and rounds without a verdict are retried,
then counted apart; they neither vanish nor loop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace as struct_replace

from envscaler.environments import EnvironmentRecord
from envscaler.skelbuilder.evidence import Case, Checker, Count, Documentation, Evidence, TestCall, Tester, View
from envscaler.synthesis.desk import GaveUp
from envscaler.synthesis.reading import Reading, method_source, reading
from harness.environment import ToolStatus
from harness.errors import EnvironmentFault
from harness.isolation import IsolatedInstance, IsolatedRunner
from harness.program import DEFAULT_CLOCK, Program
from harness.state import State

_LAST = 4
"""Latest calls that a tester is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectionRules:
    """How an environment is inspected."""

    rounds: int = 100
    """The paper's number; the release's code has 30."""
    least_per_tool: int = 2
    """Rounds of each tool, at least. Near the end only tools that still lack some may be called."""
    threshold: float = 0.85
    counting: Literal["strict", "release"] = "strict"
    """`strict`: passes / all; `release`: warnings count as passes, as in the release's code."""
    most_lost: float = 0.1
    """Share of rounds without a verdict (tester or checker gave none) above which nothing is decided."""
    reset_every: int = 25
    """Rounds after which the records start anew, so that not everything is used up. 0: never."""


Verdict = Literal["pass", "warning", "fail", "unjudged", "lost"]


class Round(Struct, frozen=True, kw_only=True):
    """One round, as it is kept."""

    number: int
    verdict: Verdict
    tool: str = ""
    case: Case | Literal[""] = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    observation: str = ""
    changed: tuple[str, ...] = ()
    """Paths in the state."""
    reason: str = ""


class Inspection(Struct, frozen=True, kw_only=True):
    """What an inspection found."""

    env_id: str
    passed: int = 0
    warned: int = 0
    failed: int = 0
    unjudged: int = 0
    """Calls that no usable ruling came to."""
    lost: int = 0
    """Rounds in which no usable call came."""
    rate: float | None = None
    tools: dict[str, dict[str, int]] = field(default_factory=dict)
    uncovered: tuple[str, ...] = ()
    """Tools with fewer rounds than asked for."""
    rounds: tuple[Round, ...] = ()
    status: Literal["kept", "rejected", "unfinished"] = "unfinished"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is inspected."""

    documentation: Documentation
    program: Program

    @classmethod
    def of(cls, record: EnvironmentRecord, config: State, clock: str | None = None, seed: int = 0) -> Subject:
        """An environment of a corpus in one of its states."""
        documentation = Documentation(record.id, record.title, record.description, record.rules, record.own_tools)
        program = Program(
            source=record.source,
            class_name=record.class_name,
            config=config,
            tools=frozenset(tool.name for tool in record.own_tools),
            seed=seed,
            observation="json",
            clock=clock or DEFAULT_CLOCK,
        )
        return cls(documentation, program)


async def inspect(
    subject: Subject, tester: Tester, checker: Checker, runner: IsolatedRunner, rules: InspectionRules
) -> Inspection:
    """Inspect one environment.

    Raises:
        ServerFailed: If the model server fails beyond the retries; nothing is decided then.
        BudgetSpent: If the budget ends.
    """
    loop = _Loop(subject, tester, checker, runner, rules)
    try:
        await loop.run()
    finally:
        loop.close()
    return loop.result()


class _Loop:
    def __init__(
        self, subject: Subject, tester: Tester, checker: Checker, runner: IsolatedRunner, rules: InspectionRules
    ) -> None:
        self.subject = subject
        self.tester = tester
        self.checker = checker
        self.runner = runner
        self.rules = rules
        self.names = [tool.name for tool in subject.documentation.tools]
        self.counts = {name: Count() for name in self.names}
        self.rounds: list[Round] = []
        self.last: deque[tuple[TestCall, str]] = deque(maxlen=_LAST)
        self.problem = ""
        self._sources: dict[str, str] = {}
        self._instance: IsolatedInstance | None = None
        self._state: State | None = None

    async def run(self) -> None:
        for number in range(1, self.rules.rounds + 1):
            try:
                before = await self._ready(number)
            except EnvironmentFault as fault:
                self.problem = f"does not start: {fault}"
                return
            self.rounds.append(await self._round(number, before))
            unusable = sum(done.verdict in ("lost", "unjudged") for done in self.rounds)
            if unusable > self.rules.most_lost * self.rules.rounds:
                self.problem = f"undecided: {unusable} of {number} rounds without a verdict"
                return

    async def _ready(self, number: int) -> State:
        """The state to test in; the program started anew where that is due."""
        every = self.rules.reset_every
        if self._instance is not None and every and number % every == 1 and number > 1:
            self.close()
            self._state = None
        if self._instance is None:
            # After a fault the program goes on from the state that it had before the call.
            config = self.subject.program.config if self._state is None else self._state
            self._instance = await self.runner.open_async(_with(self.subject.program, config))
            self._state = await self._instance.state_async()
        assert self._state is not None
        return self._state

    async def _round(self, number: int, before: State) -> Round:
        allowed = self._allowed(number)
        view = View(
            self.subject.documentation, number, self.rules.rounds, before, self.counts, allowed, tuple(self.last)
        )
        try:
            call = await self.tester.call(view)
        except GaveUp as error:
            return Round(number=number, verdict="lost", reason=str(error))
        made = Round(number=number, verdict="fail", tool=call.tool, case=call.case, arguments=call.arguments)
        try:
            observation, raised, after = await self._call(call)
        except EnvironmentFault as fault:
            # No model is needed to see that a program that dies or hangs has failed.
            self.close()
            self._counted(call, "fail")
            return _told(made, str(fault), (), f"the environment failed: {fault}")
        self.last.append((call, observation))
        changed = tuple(change.path for change in before.diff(after))
        if _tagged(after) and not _tagged(before):
            self._counted(call, "fail")
            return _told(made, observation, changed, "the state holds what JSON does not keep")
        evidence = Evidence(
            self.subject.documentation, number, call, self._source(call.tool), before, after, observation, raised
        )
        try:
            ruling = await self.checker.rule(evidence)
        except GaveUp as error:
            return _told(made, observation, changed, str(error), "unjudged")
        self._counted(call, ruling.verdict)
        return _told(made, observation, changed, ruling.reason, ruling.verdict)

    async def _call(self, call: TestCall) -> tuple[str, bool, State]:
        assert self._instance is not None
        result = await self._instance.call_async(call.tool, call.arguments)
        self._state = await self._instance.state_async()
        return result.text, result.status is not ToolStatus.OK, self._state

    def _allowed(self, number: int) -> Sequence[str]:
        """All tools, unless the rounds left are just enough for those that still lack some."""
        least = self.rules.least_per_tool
        missing = {name: least - count.rounds for name, count in self.counts.items() if count.rounds < least}
        left = self.rules.rounds - number + 1
        return [*missing] if missing and sum(missing.values()) >= left else self.names

    def _counted(self, call: TestCall, verdict: str) -> None:
        count = self.counts[call.tool]
        setattr(count, call.case, getattr(count, call.case) + 1)
        name = {"pass": "passed", "warning": "warned", "fail": "failed"}[verdict]
        setattr(count, name, getattr(count, name) + 1)

    def _source(self, tool: str) -> str:
        """What a checker reads of the code: record types, the tool, its helpers. Read once a tool."""
        if tool not in self._sources:
            source, read = self.subject.program.source, self._read
            self._sources[tool] = method_source(source, read, tool)
        return self._sources[tool]

    @cached_property
    def _read(self) -> Reading:
        return reading(self.subject.program.source, self.subject.program.class_name)

    def close(self) -> None:
        """End the program."""
        if self._instance is not None:
            self._instance.close()
            self._instance = None

    def result(self) -> Inspection:
        """What was found, and whether the environment is kept."""
        tally = {name: sum(done.verdict == name for done in self.rounds) for name in ("pass", "warning", "fail")}
        all_ = sum(tally.values())
        good = tally["pass"] + (tally["warning"] if self.rules.counting == "release" else 0)
        rate = good / all_ if all_ else None
        uncovered = tuple(name for name, count in self.counts.items() if count.rounds < self.rules.least_per_tool)
        found = Inspection(
            env_id=self.subject.documentation.env_id,
            passed=tally["pass"],
            warned=tally["warning"],
            failed=tally["fail"],
            unjudged=sum(done.verdict == "unjudged" for done in self.rounds),
            lost=sum(done.verdict == "lost" for done in self.rounds),
            rate=rate,
            tools={name: asdict(count) for name, count in self.counts.items()},
            uncovered=uncovered,
            rounds=tuple(self.rounds),
            status="rejected",
        )
        if self.problem:
            return struct_replace(found, reason=self.problem)
        if rate is None or rate < self.rules.threshold:
            return struct_replace(found, reason=f"pass rate below {self.rules.threshold:g}")
        if uncovered:
            return struct_replace(found, reason=f"{len(uncovered)} tools tested too rarely")
        return struct_replace(found, status="kept")


def _with(program: Program, config: State) -> Program:
    return replace(program, config=config)


def _told(made: Round, observation: str, changed: tuple[str, ...], reason: str, verdict: Verdict = "fail") -> Round:
    return struct_replace(made, observation=observation[:2000], changed=changed[:40], reason=reason, verdict=verdict)


def _tagged(state: State) -> bool:
    """Whether a state holds values that JSON has no words for."""
    return b'{"$' in state.data
