"""Begin: an initial state, asked for, held against the environment's shape, and started from.

Unknown keys, rows that do not fit, wrong sizes and dangling references go back with the place and the offending value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from envscaler.scengenerator.lab import Lab
from envscaler.scengenerator.records import Begun, Problem
from envscaler.scengenerator.wanted import Wanted
from envscaler.synthesis import shown
from envscaler.synthesis.answers import json_object
from envscaler.synthesis.ask import Prompt
from envscaler.synthesis.desk import Desk
from envscaler.synthesis.reading import outline
from envscaler.synthesis.shape import Size
from harness.errors import EnvironmentFault
from harness.state import NotExportable, State

_MOST_PROBLEMS = 20
_MOST_EXAMPLE = 8_000
"""Characters of the example that a model is shown."""

STATE = """\
You fill the records of a back office, so that somebody can be given work there. You get its documentation, and of \
its program the record types and the constructor. Answer with one JSON object: a key for every attribute that the \
program starts from, and no other.
- Rows have all the fields of their type, with values in the formats that comments ask for; the key of a row is its \
id.
- References name rows that exist. What depends on each other agrees: a total with its parts, a status with its \
dates.
- Make it a place with a history: rows that look alike and differ in one thing that matters, cases for which a rule \
allows an operation and cases for which it forbids it, some business open and some finished.
- Counters are beyond all ids in use. People, firms and addresses are invented.
Answer with the JSON object and nothing else."""


def state_prompt(
    wanted: Wanted, size: Size, last: tuple[Mapping[str, Any], Sequence[Problem]] | None = None, number: int = 0
) -> Prompt[dict[str, Any]]:
    """Ask for an initial state.

    Args:
        last: What was answered before, and what is wrong with it.
        number: Of the revision; 0 where nothing was answered yet.
    """
    most = f" to {size.most}" if size.most is not None else " or more"
    user = (
        f"{wanted.documentation}\n## The program, in part\n```python\n{outline(wanted.record.source, wanted.read)}```\n"
        f"\nTables have {size.least}{most} rows. Today is {wanted.day.isoformat()}, a {wanted.day:%A}. "
        f"Let names begin with {wanted.letters}."
    )
    if wanted.shape.examples and last is None:
        example = json.dumps(wanted.shape.examples[0], ensure_ascii=False)[:_MOST_EXAMPLE]
        user += f"\n\n## Records of another day, for their form\n{example}\nTake nothing over but the form."
    if last is not None:
        config, problems = last
        user += (
            f"\n\n## Your records\n{json.dumps(config, ensure_ascii=False)[: shown.MOST_STATE]}\n"
            "\n## What is wrong with them\n"
            + "".join(f"- {problem.text}\n" for problem in problems)
            + "Answer with all the records again, repaired."
        )
    part = "state" if last is None else f"state revision {number}"
    return Prompt(
        stage="state", item=wanted.item(part), role="coder", system=STATE, user=user, parse=json_object, temperature=0.7
    )


async def begin(desk: Desk, lab: Lab, wanted: Wanted, size: Size, revisions: int) -> Begun:
    """An initial state that holds, or rejected with what was last wrong.

    Raises:
        GaveUp: As `Desk.ask`; so too `ServerFailed` and `BudgetSpent`.
    """
    last: tuple[Mapping[str, Any], Sequence[Problem]] | None = None
    for number in range(revisions + 1):
        config = await desk.ask(state_prompt(wanted, size, last, number))
        problems = await state_problems(lab, wanted, config, size)
        begun = Begun(task_id=wanted.task_id, env_id=wanted.record.id, config=config, revisions=number)
        if not problems:
            return begun
        last = config, problems
    return Begun(
        task_id=wanted.task_id,
        env_id=wanted.record.id,
        config=dict(config),
        revisions=revisions,
        problems=tuple(problem.text for problem in problems),
        status="rejected",
        reason=f"state: {', '.join(sorted({problem.kind for problem in problems}))}",
    )


async def state_problems(lab: Lab, wanted: Wanted, config: Mapping[str, Any], size: Size) -> list[Problem]:
    """What is wrong with a state: first what can be read off it, then whether the environment starts from it."""
    misfits = [Problem(misfit.rule, misfit.text) for misfit in wanted.shape.misfits(config, size)]
    if misfits:
        return misfits[:_MOST_PROBLEMS]
    try:
        scenario = wanted.scenario(config)
        stage = await lab.start(wanted.record, scenario)
    except (EnvironmentFault, NotExportable) as error:
        return [Problem("does not start", f"the program does not start from it: {error}")]
    held = {key: value for key, value in stage.initial.decode().items() if key in config}
    changes = State.of(dict(config)).diff(State.of(held))
    return [
        Problem("changed at start", f"the program starts with {shown.change(change)}")
        for change in changes[:_MOST_PROBLEMS]
    ]
