"""A state to start from: asked for, and checked before anything runs in it.

The release set whatever came as attributes, so unknown keys and dangling references went through (docs of the release,
section 8); here keys, rows and references must fit the program.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from envscaler.skelbuilder.plan import described
from envscaler.skelbuilder.records import Built, Plan
from envscaler.synthesis.answers import Unusable, json_object
from envscaler.synthesis.ask import Prompt
from envscaler.synthesis.desk import Desk, GaveUp
from envscaler.synthesis.reading import Reading, assigned, is_self, reading
from harness.errors import EnvironmentFault
from harness.isolation import IsolatedRunner
from harness.program import Program
from harness.state import NotExportable, State

LEAST_ROWS = 3
"""Entries a table starts with, at least: with fewer there is little to find, and nothing left after a few changes."""
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
    read = reading(built.source, built.class_name)

    def parse(text: str) -> dict[str, Any]:
        config = json_object(text)
        problems = list(config_problems(read, config))[:_MOST_PROBLEMS]
        if problems:
            raise Unusable("; ".join(problems), "wrong")
        return config

    user = f"{described(plan)}\n## The program\n```python\n{built.source}```"
    return Prompt(stage="config", item=built.env_id, role="coder", system=CONFIG, user=user, parse=parse)


def config_problems(read: Reading, config: Mapping[str, Any]) -> Iterator[str]:
    """What does not fit the program, each in one sentence, in the order of the configuration."""
    for name in read.attributes:
        if name not in config:
            yield f"lacks the attribute {name}"
    rows = dict(_row_types(read))
    ids: dict[str, set[str]] = {}
    for name, value in config.items():
        if name not in read.attributes:
            yield f"has the key {name}, which the program never sets"
        elif name in rows:
            yield from _table(name, value, rows[name])
            own = _id_field(value)
            if own is not None:
                ids[own] = ids.get(own, set()) | set(value)
    for name in rows:
        value = config.get(name)
        for key, row in value.items() if isinstance(value, dict) else ():
            for field, target in row.items() if isinstance(row, dict) else ():
                if field in ids and isinstance(target, str) and target not in ids[field]:
                    yield f"{name}[{json.dumps(key)}].{field} names {target!r}, which is in no table"


def _row_types(read: Reading) -> Iterator[tuple[str, set[str]]]:
    """Tables of TypedDict rows: attribute and fields of a row."""
    fields = {
        node.name: {
            item.target.id
            for item in node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        }
        for node in read.tree.body
        if isinstance(node, ast.ClassDef) and any("TypedDict" in ast.unparse(base) for base in node.bases)
    }
    for target, node in assigned(read.methods["__init__"]):
        if is_self(target) and isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Subscript):
            generic, arguments = ast.unparse(node.annotation.value), node.annotation.slice
            if generic in ("dict", "Dict") and isinstance(arguments, ast.Tuple):
                row = ast.unparse(arguments.elts[-1]).strip("'\"")
                if row in fields:
                    yield target.attr, fields[row]


def _table(name: str, value: Any, fields: set[str]) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{name} must be an object of rows by id"
        return
    if len(value) < LEAST_ROWS:
        yield f"{name} has {len(value)} rows; at least {LEAST_ROWS} are needed"
    for key, row in value.items():
        where = f"{name}[{json.dumps(key)}]"
        if not isinstance(row, dict):
            yield f"{where} must be an object"
            continue
        lacking, surplus = sorted(fields - row.keys()), sorted(row.keys() - fields)
        if lacking:
            yield f"{where} lacks {', '.join(lacking)}"
        if surplus:
            yield f"{where} has {', '.join(surplus)}, which its TypedDict does not name"


def _id_field(table: Any) -> str | None:
    """The field that repeats the key in every row."""
    if not isinstance(table, dict) or not table or not all(isinstance(row, dict) for row in table.values()):
        return None
    first = next(iter(table.values()))
    return next((f for f in first if all(row.get(f) == key for key, row in table.items())), None)


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
