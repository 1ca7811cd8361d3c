"""A state to start from: asked for, and held against the program's shape before anything runs in it."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from envscaler.skelbuilder.plan import described
from envscaler.skelbuilder.records import Built, Plan
from envscaler.synthesis.answers import Unusable, json_object
from envscaler.synthesis.ask import Prompt
from envscaler.synthesis.desk import Desk, GaveUp
from envscaler.synthesis.reading import reading
from envscaler.synthesis.shape import Shape, Size
from harness.errors import EnvironmentFault
from harness.isolation import IsolatedRunner
from harness.program import Program
from harness.state import NotExportable, State

LEAST_ROWS = 3
"""Entries a table starts with, at least."""
_MOST_PROBLEMS = 12

CONFIG = f"""\
You fill a practice environment with made-up records to start from. You get its program. Answer with one JSON object: \
a key for every attribute that __init__ sets, and no other. Every table has {LEAST_ROWS} to 6 entries, every row all \
the fields of its TypedDict, with values in the formats that its comments ask for; the key of a row is its id. \
References name rows that exist. Make the rows differ: among them there should be cases for which each operation \
works, and cases for which a rule makes it refuse. Counters are beyond all ids in use. People, places and companies \
are invented. Answer with the JSON object and nothing else."""


def config_prompt(plan: Plan, built: Built) -> Prompt[dict[str, Any]]:
    """Ask for an initial configuration."""
    shape = Shape.of(reading(built.source, built.class_name))

    def parse(text: str) -> dict[str, Any]:
        config = json_object(text)
        misfits = [str(misfit) for misfit in shape.misfits(config, Size(LEAST_ROWS))][:_MOST_PROBLEMS]
        if misfits:
            raise Unusable("; ".join(misfits), "wrong")
        return config

    user = f"{described(plan)}\n## The program\n```python\n{built.source}```"
    return Prompt(stage="config", item=built.env_id, role="coder", system=CONFIG, user=user, parse=parse)


async def configured(desk: Desk, runner: IsolatedRunner, plan: Plan, built: Built) -> Built:
    """The program with a state that it starts from, or rejected.

    Raises:
        ServerFailed: As `Desk.ask`.
        BudgetSpent: As `Desk.ask`.
    """
    try:
        config = await desk.ask(config_prompt(plan, built))
        problem = await start_problem(runner, built, config)
    except GaveUp as error:
        return replace(built, status="rejected", reason=f"config: {error.kind}", findings=(str(error),))
    if problem is not None:
        return replace(built, config=config, status="rejected", reason="does not start", findings=(problem,))
    return replace(built, config=config)


def program_of(built: Built, config: State | None = None) -> Program:
    """The program as runners take it."""
    tools = reading(built.source, built.class_name).tools
    return Program(
        source=built.source,
        class_name=built.class_name,
        config=State.of(built.config) if config is None else config,
        tools=frozenset(tools),
        observation="json",
    )


async def start_problem(runner: IsolatedRunner, built: Built, config: dict[str, Any]) -> str | None:
    """Why the program does not start from a configuration as it stands; None if it does."""
    try:
        wanted = State.of(config)
        instance = await runner.open_async(program_of(built, wanted))
    except (EnvironmentFault, NotExportable) as error:
        return str(error)
    try:
        state = await instance.state_async()
    except EnvironmentFault as error:
        return str(error)
    finally:
        instance.close()
    changes = wanted.diff(state)
    return f"the constructor changes {changes[0].path}" if changes else None
