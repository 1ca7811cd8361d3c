"""Check: a checklist, a function for each item, and a trial: false at the start, true after the oracle.

Who writes them sees documentation, records and task, and not the calls; so where checks and oracle disagree, one of
them read the task wrongly, and the evidence decides which is mended.
"""

from __future__ import annotations

import ast
import asyncio
import json
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from envscaler.scengenerator.lab import Executed
from envscaler.scengenerator.records import Begun, CheckText, Problem
from envscaler.scengenerator.solve import listed
from envscaler.scengenerator.wanted import Wanted
from envscaler.synthesis import shown
from envscaler.synthesis.answers import Unusable, answer_of, code
from envscaler.synthesis.ask import Prompt
from envscaler.synthesis.desk import Desk
from harness.program import Verdict

Text = Annotated[str, Meta(min_length=1)]


class ChecklistAnswer(Struct):
    """The checklist, as asked for."""

    analysis: str
    items: tuple[Text, ...]


class Change(Struct):
    """A check that is replaced, or added under the next number."""

    number: int
    item: Text
    function: Text


class RepairAnswer(Struct):
    """What is to be done about checks that do not hold."""

    analysis: str
    checks: tuple[Change, ...] = ()
    drop: tuple[int, ...] = ()
    solution: str = ""
    """Why the calls are wrong, where it is they and not the checks."""


FUNCTIONS = """\
A check is Python: def check_func(final_state), which returns True or False. final_state is a dict of the records \
after the work; initial_state, a global of the same form, has the records before it. A check reads with .get and \
never raises, whatever was changed; it changes neither of the two; it uses no clock, no chance, no files. New records \
have ids that cannot be known: find them as those in final_state that are not in initial_state. Numbers compare by \
==. Texts that the task gives word for word are compared as they are; of others only what must be in them, without \
regard to case."""

CHECKLIST = """\
You decide how work in a back office is to be checked: by questions about the records in the end, each with the \
answer yes or no. You get the documentation, the tools, the records before the work, and the task. Write the \
checklist:
- each errand of the task, and each record that follows from it by the rules, has its question, with the ids and \
exact values that are right, worked out from the records and the rules;
- each question is answered with no before the work: what must not change is no question of its own, but is asked \
along with something that must change ("..., and is no other loan changed?");
- together they leave no room: whoever does more than was asked, or changes a record that nobody named, fails one;
- no question asks for what is in no record, such as that something was looked up or told, nor for the wording of a \
text that the task leaves open; no two contradict or repeat each other; they hold for the end, not for a step on the \
way.
Answer with one JSON object and nothing else:
{"analysis": "what changes, what must stay", "items": ["Is …?"]}"""

FUNCTION = f"""\
You write one check of work in a back office. You get the documentation, the tools, the records before the work, the \
task, the whole checklist, and the item of which you write the check. {FUNCTIONS}
It checks the whole of its item, what must stay as it is included, and nothing of the other items. Answer with one \
Python code block and nothing else."""

REPAIR = f"""\
You repair the checks of work in a back office. They were run: on the records before the work, where each must be \
false; on the records after a solution of the task, where each must be true; and perhaps on wrong records near those, \
of which each must make at least one check false, and on harmless variants, on which all must stay true. You get what \
went wrong. {FUNCTIONS}
Decide by the task and the rules what is right, not by what the solution does. Change what must be changed in the \
checks, item and function; a number beyond the last adds a check; drop what asks for something that the task does \
not. Wrong records that nobody notices call for exact values, or for asking along with a goal that all else stays as \
it was. If it is the solution that is wrong, say how under "solution".
Answer with one JSON object and nothing else:
{{"analysis": "…", "checks": [{{"number": 2, "item": "…", "function": "def check_func(final_state): …"}}], "drop": \
[], "solution": ""}}"""


def _situation(wanted: Wanted, begun: Begun, task: str) -> str:
    records = json.dumps(begun.config, ensure_ascii=False)[: shown.MOST_STATE]
    return f"{wanted.documentation}\n## Records before the work\n{records}\n\n## The task\n{task}"


def checklist_prompt(wanted: Wanted, begun: Begun, task: str, most: int) -> Prompt[tuple[str, ...]]:
    """Ask for the items."""

    def parse(text: str) -> tuple[str, ...]:
        items = tuple(item.strip() for item in answer_of(text, ChecklistAnswer).items)
        if not 1 <= len(items) <= most:
            raise Unusable(f"it has {len(items)} items; 1 to {most} were asked for", "wrong")
        if len({item.casefold() for item in items}) < len(items):
            raise Unusable("it has an item twice", "wrong")
        return items

    return Prompt(
        stage="checklist",
        item=wanted.item("checklist"),
        role="checker",
        system=CHECKLIST,
        user=f"{_situation(wanted, begun, task)}\n\nAt most {most} items.",
        parse=parse,
        form=ChecklistAnswer,
        temperature=0.0,
    )


def function_prompt(wanted: Wanted, begun: Begun, task: str, items: Sequence[str], index: int) -> Prompt[str]:
    """Ask for the function of one item."""

    def parse(text: str) -> str:
        source = code(text)
        problem = function_problem(source)
        if problem:
            raise Unusable(problem, "wrong")
        return source

    listed_items = "\n".join(f"{number}. {item}" for number, item in enumerate(items, start=1))
    return Prompt(
        stage="check",
        item=wanted.item(f"check {index + 1}"),
        role="checker",
        system=FUNCTION,
        user=(
            f"{_situation(wanted, begun, task)}\n\n## The checklist\n{listed_items}\n"
            f"\nWrite the check of item {index + 1}: {items[index]}"
        ),
        parse=parse,
        temperature=0.0,
    )


def function_problem(source: str) -> str | None:
    """Why a source is no check function; None if it is one."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"the check does not parse: {error}"
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check_func"]
    if not functions:
        return "it does not define check_func(final_state)"
    arguments = functions[-1].args
    needed = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    if not (arguments.args or arguments.posonlyargs) or needed > 1:
        return "check_func takes one argument, final_state; the records before the work are the global initial_state"
    return None


def repair_prompt(
    wanted: Wanted,
    begun: Begun,
    task: str,
    played: Executed,
    checks: Sequence[CheckText],
    problems: Sequence[Problem],
    number: int,
    most: int,
) -> Prompt[RepairAnswer]:
    """Ask for a repair of the checks, or for the word that the solution is wrong."""
    written = "\n\n".join(
        f"{place}. {check.item}\n```python\n{check.function.rstrip()}\n```"
        for place, check in enumerate(checks, start=1)
    )

    def parse(text: str) -> RepairAnswer:
        said = answer_of(text, RepairAnswer)
        if not (said.checks or said.drop or said.solution.strip()):
            raise Unusable("it changes nothing", "wrong")
        for change in said.checks:
            if not 1 <= change.number <= most:
                raise Unusable(f"there can be no check number {change.number}; 1 to {most} are taken", "wrong")
            problem = function_problem(change.function)
            if problem:
                raise Unusable(f"check {change.number}: {problem}", "wrong")
        if not 1 <= len(repaired(checks, said)) <= most:
            raise Unusable(f"it leaves {len(repaired(checks, said))} checks; 1 to {most} are taken", "wrong")
        return said

    user = (
        f"{_situation(wanted, begun, task)}\n\n## The solution, and what came back\n{listed(played)}\n"
        f"\n## What it changed in the records\n{shown.differences(played.initial, played.final)}\n"
        f"\n## The checks\n{written}\n\n## What went wrong\n" + "".join(f"- {problem.text}\n" for problem in problems)
    )
    return Prompt(
        stage="repair",
        item=wanted.item(f"repair {number}"),
        role="checker",
        system=REPAIR,
        user=user,
        parse=parse,
        form=RepairAnswer,
        temperature=0.0,
    )


def repaired(checks: Sequence[CheckText], answer: RepairAnswer) -> tuple[CheckText, ...]:
    """The checks after a repair: replaced, added, dropped."""
    changed = {number: check for number, check in enumerate(checks, start=1) if number not in answer.drop}
    changed |= {change.number: CheckText(change.item, change.function) for change in answer.checks}
    return tuple(changed[number] for number in sorted(changed))


async def written(desk: Desk, wanted: Wanted, begun: Begun, task: str, most: int) -> tuple[CheckText, ...]:
    """The first checks: items, then the function of each, side by side.

    Raises:
        GaveUp: As `Desk.ask`; so too `ServerFailed` and `BudgetSpent`.
    """
    items = await desk.ask(checklist_prompt(wanted, begun, task, most))
    asked = [desk.ask(function_prompt(wanted, begun, task, items, index)) for index in range(len(items))]
    # All of them, so that none is left running when one gives up.
    functions = await asyncio.gather(*asked, return_exceptions=True)
    for function in functions:
        if isinstance(function, BaseException):
            raise function
    return tuple(
        CheckText(item, function) for item, function in zip(items, functions, strict=True) if isinstance(function, str)
    )


def trial_problems(checks: Sequence[CheckText], initial: Sequence[Verdict], final: Sequence[Verdict]) -> list[Problem]:
    """What the verdicts at the start and after the oracle show to be wrong."""
    found = []
    for number, (check, before, after) in enumerate(zip(checks, initial, final, strict=True), start=1):
        told = f"check {number} ({check.item})"
        if before.error is not None or after.error is not None:
            when = "before the work" if before.error is not None else "after the solution"
            found.append(Problem("error", f"{told} gives no verdict {when}: it {before.error or after.error}"))
        elif before.passed:
            found.append(Problem("true at start", f"{told} is true before the work: doing nothing passes it"))
        elif not after.passed:
            found.append(Problem("false after the oracle", f"{told} is false after the solution"))
    return found
