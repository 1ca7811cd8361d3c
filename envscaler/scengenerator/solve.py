"""Solve: a task for the state, and calls that carry it out, executed.

Who looks for the calls sees documentation, records and task, as an agent would, and neither source nor checks: where
the task cannot be carried out as it is worded, that shows here, and the task goes back to its author. Refused calls,
calls that change nothing and ids that an agent could not know go back to who wrote them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from envscaler.audit.stage import Stage
from envscaler.audit.tree import collections, texts, tree
from envscaler.scengenerator.lab import Executed, Lab
from envscaler.scengenerator.records import Begun, Call, Problem, Solved
from envscaler.scengenerator.wanted import Wanted, oracle_calls
from envscaler.synthesis import shown
from envscaler.synthesis.answers import Unusable, answer_of
from envscaler.synthesis.ask import Prompt
from envscaler.synthesis.desk import Desk
from harness.errors import EnvironmentFault

_LEAST_WORDS = 30
_MOST_WORDS = 300
_MOST_CALLS = 40
_MOST_RESULT = 600
"""Characters of one result that a model is shown."""


class TaskAnswer(Struct):
    """The task, as asked for."""

    analysis: str
    task: str


class OracleAnswer(Struct):
    """The calls; or why there are none."""

    calls: tuple[Call, ...]
    impossible: str = ""


TASK = """\
You give work to an assistant in a back office: it can do nothing but call the tools, and sees only what they show. \
You get the documentation, the tools and all the records. Write one task, as somebody who works there would put it:
- several errands that belong together, each of them a change of the records that the rules allow now; at least one \
depends on something that must be looked up first;
- it can be done with the tools and the records as they are, in one way only as far as the records show: whoever does \
it well leaves the same records. What is to be chosen is said, or follows from the records and the rules;
- people and things are named as people name them, by name, date or place, and by id only where nobody would know it \
otherwise; what can be looked up is not told. No tool names, no list of steps;
- texts that are to be entered are given word for word, in quotation marks;
- 40 to 150 words, plain, in the imperative, and no answer is asked for beyond the changes.
Answer with one JSON object and nothing else:
{"analysis": "what must be looked up, and what changes", "task": "…"}"""

ORACLE = """\
You carry out a task in a back office by calling its tools. You get the documentation, the tools, all the records, \
and the task. Write the calls, in order, that an assistant should make who sees none of the records: first look up \
what the task names by other means than its id, then change what it asks for, and nothing else. Each id that a call \
uses must stand in the task or in what an earlier call returns. Ids of new records follow from the counters in the \
records. No call may be refused.
If the task cannot be carried out as it is worded, say why in one or two sentences under "impossible", with no calls.
Answer with one JSON object and nothing else:
{"calls": [{"name": "…", "arguments": {}}], "impossible": ""}"""


@dataclass
class Solution:
    """A task with its calls, as far as it has come."""

    task: str = ""
    calls: tuple[Call, ...] = ()
    played: Executed | None = None
    revisions: int = 0


def task_prompt(
    wanted: Wanted, begun: Begun, last: tuple[str, str] | None = None, number: int = 0
) -> Prompt[TaskAnswer]:
    """Ask for a task.

    Args:
        last: The task that was answered before, and why it cannot be carried out.
    """

    def parse(text: str) -> TaskAnswer:
        said = answer_of(text, TaskAnswer)
        words = len(said.task.split())
        if not _LEAST_WORDS <= words <= _MOST_WORDS:
            raise Unusable(f"the task has {words} words; {_LEAST_WORDS} to {_MOST_WORDS} were asked for", "wrong")
        told = [name for name in wanted.tools if "_" in name and re.search(rf"\b{name}\b", said.task)]
        if told:
            raise Unusable(f"the task names the tool {told[0]}; say what is wanted instead", "wrong")
        return said

    user = (
        f"{wanted.documentation}\n## Records\n{json.dumps(begun.config, ensure_ascii=False)[: shown.MOST_STATE]}\n"
        f"\nBuild the task around: {', '.join(wanted.focus)}."
    )
    if last is not None:
        task, why = last
        user += f"\n\n## Your task\n{task}\n\n## Why it cannot be carried out\n{why}\nMend it, or write another one."
    return Prompt(
        stage="task",
        item=wanted.item("task" if last is None else f"task revision {number}"),
        role="planner",
        system=TASK,
        user=user,
        parse=parse,
        form=TaskAnswer,
        temperature=0.7,
    )


def oracle_prompt(
    wanted: Wanted, begun: Begun, task: str, last: tuple[str, Sequence[Problem]] | None = None, number: int = 0
) -> Prompt[OracleAnswer]:
    """Ask for the calls.

    Args:
        last: The calls that were answered before with their results, as text, and what is wrong with them.
    """

    def parse(text: str) -> OracleAnswer:
        said = answer_of(text, OracleAnswer)
        if said.impossible.strip():
            return said
        if not 1 <= len(said.calls) <= _MOST_CALLS:
            raise Unusable(f"it has {len(said.calls)} calls; 1 to {_MOST_CALLS} are taken", "wrong")
        for index, call in enumerate(said.calls, start=1):
            problem = shown.call_problem(call.name, call.arguments, wanted.tools)
            if problem:
                raise Unusable(f"call {index}: {problem}", "wrong")
        return said

    user = (
        f"{wanted.documentation}\n## Records\n{json.dumps(begun.config, ensure_ascii=False)[: shown.MOST_STATE]}\n"
        f"\n## The task\n{task}"
    )
    if last is not None:
        calls, problems = last
        wrong = "".join(f"- {problem.text}\n" for problem in problems)
        user += f"\n\n## Your calls, and what came back\n{calls}\n\n## What is wrong\n{wrong}"
        user += 'Mend the calls; if it is the task that is at fault, say so under "impossible".'
    return Prompt(
        stage="oracle",
        item=wanted.item("oracle" if number == 0 else f"oracle revision {number}"),
        role="tester",
        system=ORACLE,
        user=user,
        parse=parse,
        temperature=0.0,
    )


class Solver:
    """Looks for a task and its calls, with a bounded number of revisions in all.

    Args:
        least_writes: Calls that change the state, at least.
    """

    def __init__(
        self, desk: Desk, lab: Lab, wanted: Wanted, begun: Begun, stage: Stage, least_writes: int, revisions: int
    ) -> None:
        self._desk, self._lab = desk, lab
        self._wanted, self._begun, self._stage = wanted, begun, stage
        self._least_writes, self._most = least_writes, revisions
        self._solution = Solution()

    @property
    def played(self) -> Executed:
        """The calls that hold, executed.

        Raises:
            ValueError: If none hold yet.
        """
        if self._solution.played is None:
            raise ValueError("no calls were executed yet")
        return self._solution.played

    async def first(self) -> tuple[Solution, list[Problem]]:
        """A task with calls that hold; else what was last wrong with them.

        Raises:
            GaveUp: As `Desk.ask`; so too `ServerFailed` and `BudgetSpent`.
        """
        said = await self._desk.ask(task_prompt(self._wanted, self._begun))
        self._solution.task = said.task.strip()
        return await self._until_it_holds(None, mendable=True)

    async def again(self, problems: Sequence[Problem]) -> tuple[Solution, list[Problem]]:
        """Other calls for the same task, since something is wrong with their outcome.

        Raises:
            GaveUp: As `Desk.ask`; so too `ServerFailed` and `BudgetSpent`.
        """
        solution = self._solution
        if solution.revisions >= self._most:
            return solution, list(problems)
        solution.revisions += 1
        return await self._until_it_holds((self._told(), problems), mendable=False)

    async def _until_it_holds(
        self, evidence: tuple[str, Sequence[Problem]] | None, *, mendable: bool
    ) -> tuple[Solution, list[Problem]]:
        solution = self._solution
        while True:
            asked = oracle_prompt(self._wanted, self._begun, solution.task, evidence, solution.revisions)
            said = await self._desk.ask(asked)
            spent = solution.revisions >= self._most
            if said.impossible.strip():
                problems = [Problem("impossible", said.impossible.strip())]
                if spent or not mendable:
                    return solution, problems
                evidence = None
                await self._mend(said.impossible.strip())
            else:
                solution.calls = said.calls
                problems = await self._problems(said.calls)
                if not problems or spent:
                    return solution, problems
                evidence = self._told(), problems
            solution.revisions += 1

    def _told(self) -> str:
        """The calls, with what came back where they were executed."""
        solution = self._solution
        if solution.played is not None:
            return listed(solution.played)
        return "\n".join(shown.call(call.name, call.arguments) for call in solution.calls)

    async def _mend(self, why: str) -> None:
        """Another task, since the last one cannot be carried out."""
        solution = self._solution
        prompt = task_prompt(self._wanted, self._begun, (solution.task, why), solution.revisions + 1)
        solution.task = (await self._desk.ask(prompt)).task.strip()

    async def _problems(self, calls: Sequence[Call]) -> list[Problem]:
        try:
            played = await self._lab.execute(self._stage, oracle_calls(calls))
        except EnvironmentFault as fault:
            self._solution.played = None
            return [Problem("environment fault", f"the program failed: {fault}")]
        self._solution.played = played
        return list(problems_of(played, self._solution.task, self._wanted.documentation, self._least_writes))


def problems_of(played: Executed, task: str, documentation: str, least_writes: int) -> Iterator[Problem]:
    """What is wrong with calls that were executed.

    Args:
        documentation: What an agent knows beside the task.
        least_writes: Calls that change the state, at least.
    """
    for index in played.refused:
        call, said = played.calls[index], played.results[index].text[:_MOST_RESULT]
        yield Problem("refused", f"call {index + 1}, {shown.call(call.name, call.arguments)}, was refused: {said}")
    if played.final == played.initial:
        yield Problem("changes nothing", "the calls leave the records as they were")
    elif len(played.writes) < least_writes:
        told = f"{len(played.writes)} of the calls change the records; the task should take at least {least_writes}"
        yield Problem("too few changes", told)
    for index, name in guessed_ids(played, f"{documentation}\n{task}"):
        told = f"call {index + 1}, {played.calls[index].name}, uses {name!r}"
        yield Problem("id from nowhere", f"{told}, which neither the task nor an earlier result says; look it up first")
    for name in _unknown(played, task):
        yield Problem("unknown id", f"the task names {name}, which is in no record, neither before nor after")


def _ids(played: Executed) -> set[str]:
    """Keys of all records, before and after."""
    roots = [tree(played.initial), tree(played.final)]
    return {key for root in roots for rows in collections(root).values() for key in rows if isinstance(key, str)}


def guessed_ids(played: Executed, heard: str) -> Iterator[tuple[int, str]]:
    """Ids of records that a call uses before anything has said them: whoever made it must have guessed.

    Args:
        heard: What is known before the first call: the task, and what else the agent is told.

    Yields:
        The call's index and the id.
    """
    ids = _ids(played)
    for index, (call, result) in enumerate(zip(played.calls, played.results, strict=True)):
        for name in dict.fromkeys(texts(call.arguments)):
            # As a word of its own, for T-51 does not say T-5; in results a line may begin with an escaped break.
            if name in ids and not re.search(rf"(?:\\[nt]|(?<!\w)){re.escape(name)}(?!\w)", heard):
                yield index, name
        heard += f"\n{result.text}"


def _unknown(played: Executed, task: str) -> list[str]:
    """Words of a task that look like ids of records, and are none."""
    ids = _ids(played)
    forms = {re.sub(r"\d+", "0", name) for name in ids if re.search(r"[A-Za-z]\W*\d", name)}
    everything = {*texts(tree(played.initial)), *texts(tree(played.final))}
    words = [word.strip("\"'.,;:!?()[]“”‘’") for word in task.split()]
    known = ids | everything
    return [word for word in dict.fromkeys(words) if re.sub(r"\d+", "0", word) in forms and word not in known]


def listed(played: Executed) -> str:
    """Calls with what came back, a line each."""
    return "\n".join(
        f"{index}. {shown.call(call.name, call.arguments)} -> {result.text[:_MOST_RESULT]}"
        for index, (call, result) in enumerate(zip(played.calls, played.results, strict=True), start=1)
    )


def solved(wanted: Wanted, solution: Solution, problems: Sequence[Problem]) -> Solved:
    """The record of a solution."""
    found = Solved(
        task_id=wanted.task_id,
        env_id=wanted.record.id,
        task=solution.task,
        calls=solution.calls,
        revisions=solution.revisions,
    )
    if not problems:
        return found
    kinds = ", ".join(sorted({problem.kind for problem in problems}))
    return replace(
        found, problems=tuple(problem.text for problem in problems), status="rejected", reason=f"oracle: {kinds}"
    )
