"""Program: from a plan to a class that passes the static gate. The class first, then its operations in batches.

Conventions follow the release's environments (docs of the release, section 1.2): operations never raise and answer with
`{"success": ...}`. What the gate refuses goes back to the model in the gate's own words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from envscaler.skelbuilder.assemble import assemble
from envscaler.skelbuilder.gate import Finding, gate
from envscaler.skelbuilder.plan import described
from envscaler.skelbuilder.records import Built, Operation, Plan
from envscaler.synthesis.answers import Unusable, code
from envscaler.synthesis.ask import Prompt
from envscaler.synthesis.desk import Desk, GaveUp
from envscaler.synthesis.reading import Unreadable, reading


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRules:
    """How a program is asked for."""

    batch: int = 6
    """Operations a call."""
    revisions: int = 3
    """How often the gate may send a program back."""


CONVENTIONS = """\
The program is plain Python 3.11, standard library only (typing, datetime for arithmetic on given dates, re, copy, \
math and the like).
- It reads no clock, draws nothing at random and touches no file, network or console. "Today" is an attribute of the \
state; a new id comes from a counter in the state.
- All state is in attributes of self and survives JSON: dicts with string keys, lists, strings, numbers, booleans, \
None. No sets, tuples, dates or objects in it.
- Names that begin with an underscore are helpers; every other method is a tool."""

CLASS = f"""\
You write the state of a practice environment in Python. {CONVENTIONS}
Write one TypedDict for each kind of record, with a comment where a format or a set of values matters, and the class \
with the name that is asked for: a docstring, __init__(self, init_config: dict) that sets every attribute from \
init_config with init_config.get(name, default), and the private helpers that several operations will share. A table \
is an attribute self.things: Dict[str, ThingInfo], keyed by id; what exists once is an attribute of its own. Write no \
operations yet. Answer with one Python code block and nothing else."""

OPERATIONS = f"""\
You write operations of a practice environment in Python, as methods of a class that is given. {CONVENTIONS}
Each operation:
- has annotated parameters after self (str, int, float, bool, List[str], Optional[...] = None, Literal[...]) and a \
docstring: what it does, which rules make it refuse, and an Args: section with a line for each parameter;
- never raises: it checks types, that ids exist, and the rules, before it changes anything;
- returns {{"success": False, "error": "a sentence"}} when it refuses, {{"success": True, "data": ...}} as a query and \
{{"success": True, "message": "...", ...}} as a change, with the ids of what it made; it returns copies, never the \
records themselves;
- enforces every rule that concerns it, and keeps all the records that depend on each other in step.
Write exactly the operations that are asked for, as functions with self, with helpers (_name) if you need more, in one \
Python code block and nothing else."""

REVISE = f"""\
You repair a practice environment in Python that an automatic inspection sent back. {CONVENTIONS}
Answer with the definitions that change, whole (methods with self, TypedDicts, or the class with what changes in it; \
what you leave out stays), in one Python code block and nothing else."""


def class_name_of(title: str) -> str:
    """A title as a class name: `Seed library desk` -> `SeedLibraryDesk`."""
    words = re.findall(r"[A-Za-z0-9]+", title)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return name if name[:1].isalpha() else f"Environment{name}"


def env_id_of(title: str, taken: set[str]) -> str:
    """A title as an id that is not taken yet; it is a file name too."""
    stem = "_".join(re.findall(r"[a-z0-9]+", title.lower()))[:60].strip("_") or "environment"
    name, number = stem, 2
    while name in taken:
        name, number = f"{stem}_{number}", number + 1
    taken.add(name)
    return name


def class_prompt(plan: Plan, class_name: str) -> Prompt[str]:
    """Ask for the class with its state."""

    def parse(text: str) -> str:
        source = code(text)
        try:
            read = reading(source, class_name)
        except Unreadable as error:
            raise Unusable(str(error), "wrong") from error
        if "__init__" not in read.methods or not read.attributes:
            raise Unusable(f"{class_name} has no __init__ that sets attributes of self", "wrong")
        return source

    user = f"{described(plan)}\nName of the class: {class_name}"
    return Prompt(stage="program", item=f"{plan.env_id}/class", role="coder", system=CLASS, user=user, parse=parse)


def operations_prompt(plan: Plan, class_name: str, state: str, batch: Sequence[Operation], number: int) -> Prompt[str]:
    """Ask for some of the operations."""
    names = [operation.name for operation in batch]

    def parse(text: str) -> str:
        source = code(text)
        defined = {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
        missing = [name for name in names if name not in defined]
        if missing:
            raise Unusable(f"it does not define {', '.join(missing)}", "wrong")
        assemble(class_name, [state, source])
        return source

    user = f"{described(plan)}\n## The class\n```python\n{state}```\n\nWrite now: {', '.join(names)}"
    return Prompt(
        stage="program",
        item=f"{plan.env_id}/operations {number}",
        role="coder",
        system=OPERATIONS,
        user=user,
        parse=parse,
    )


def revision_prompt(plan: Plan, class_name: str, source: str, problems: Sequence[str], number: int) -> Prompt[str]:
    """Ask for a repair; the answer is the whole new source."""
    user = f"{described(plan)}\n## The program\n```python\n{source}```\n\n## What the inspection found\n" + "".join(
        f"- {problem}\n" for problem in problems
    )
    return Prompt(
        stage="program",
        item=f"{plan.env_id}/revision {number}",
        role="coder",
        system=REVISE,
        user=user,
        parse=lambda text: assemble(class_name, [source, code(text)]),
    )


def findings_of(plan: Plan, class_name: str, source: str) -> list[Finding]:
    """What the gate says of a planned program."""
    return gate(source, class_name, [operation.name for operation in plan.operations])


async def build(desk: Desk, plan: Plan, rules: ProgramRules) -> Built:
    """The program of a plan, passed by the gate or rejected with its last findings.

    Raises:
        ServerFailed: As `Desk.ask`.
        BudgetSpent: As `Desk.ask`.
    """
    import asyncio

    class_name = class_name_of(plan.title)
    result = Built(env_id=plan.env_id, class_name=class_name)
    try:
        state = await desk.ask(class_prompt(plan, class_name))
        batches = [plan.operations[at : at + rules.batch] for at in range(0, len(plan.operations), rules.batch)]
        asked = [
            desk.ask(operations_prompt(plan, class_name, state, batch, number))
            for number, batch in enumerate(batches, start=1)
        ]
        # All of them, so that none is left running when one gives up.
        parts = await asyncio.gather(*asked, return_exceptions=True)
        for part in parts:
            if isinstance(part, BaseException):
                raise part
        source = assemble(class_name, [state, *(part for part in parts if isinstance(part, str))])
        for number in range(rules.revisions + 1):
            findings = findings_of(plan, class_name, source)
            result = replace(result, source=source, revisions=number, findings=tuple(map(str, findings)))
            if not findings:
                return result
            if number < rules.revisions:
                source = await desk.ask(revision_prompt(plan, class_name, source, result.findings, number + 1))
    except (GaveUp, Unusable) as error:
        return replace(
            result, status="rejected", reason=f"program: {getattr(error, 'kind', 'unusable')}", findings=(str(error),)
        )
    rules_broken = sorted({finding.rule for finding in findings})
    return replace(result, status="rejected", reason=f"gate: {', '.join(rules_broken)}")
