"""One scenario that is wanted: in which environment, the how manieth, and what makes it differ from its neighbours."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import Check, Corpus, OracleCall, Scenario
from envscaler.scengenerator.records import Call, CheckText
from envscaler.synthesis import shown
from envscaler.synthesis.reading import Reading, Unreadable, reading
from envscaler.synthesis.shape import Shape
from harness.environment import ToolSpec
from harness.errors import DataError
from harness.state import State

PROVENANCE = "made by ScenGenerator"
_MOST_EXAMPLES = 3
_LETTERS = "ABCDEFGHIJKLMNOPRSTVW"
_FIRST_DAY = dt.date(2025, 1, 6)
_DAYS = 700
_FOCUS = 2
"""Tools that a task is built around."""
_QUERIES = ("get", "list", "find", "search", "show", "view", "check", "count", "calculate", "quote", "is", "has")


@dataclass(frozen=True)
class Wanted:
    """A scenario to be made."""

    record: EnvironmentRecord
    number: int
    """Within the environment, from 1."""
    task_id: str
    shape: Shape
    read: Reading

    def item(self, part: str) -> str:
        """What a question is for."""
        return f"{self.record.id}/{self.task_id}/{part}"

    @cached_property
    def documentation(self) -> str:
        """The environment as its users know it, with its tools."""
        record = self.record
        tools = "\n".join(shown.tool(spec) for spec in record.own_tools)
        return shown.documentation(record.title, record.description, record.rules) + f"\n## Tools\n{tools}\n"

    @cached_property
    def tools(self) -> dict[str, ToolSpec]:
        """Tools by name."""
        return {spec.name: spec for spec in self.record.own_tools}

    @cached_property
    def _chance(self) -> tuple[dt.date, str]:
        chance = random.Random(f"{self.record.id} {self.number}")
        day = _FIRST_DAY + dt.timedelta(days=chance.randrange(_DAYS))
        return day, ", ".join(sorted(chance.sample(_LETTERS, 4)))

    @property
    def day(self) -> dt.date:
        """Today, in the scenario."""
        return self._chance[0]

    @property
    def letters(self) -> str:
        """With which its names begin."""
        return self._chance[1]

    @property
    def clock(self) -> str:
        """The frozen time of the environment."""
        return f"{self.day.isoformat()}T09:00:00Z"

    @cached_property
    def focus(self) -> tuple[str, ...]:
        """Tools that change something, other ones for each scenario of the environment, all of them in turn."""
        kinds = {
            operation.get("operation_name"): operation.get("operation_type")
            for operation in self.record.released.get("operation_list", ())
            if isinstance(operation, Mapping)
        }
        changes = [name for name in self.tools if _changes(name, kinds.get(name))] or [*self.tools]
        # Neighbours in the source are often two sides of one thing; half the list apart they make a task of two parts.
        step = max(1, len(changes) // _FOCUS)
        return tuple(dict.fromkeys(changes[(self.number - 1 + step * part) % len(changes)] for part in range(_FOCUS)))

    def scenario(
        self,
        config: Mapping[str, Any],
        task: str = "",
        calls: Sequence[Call] = (),
        checks: Sequence[CheckText] = (),
    ) -> Scenario:
        """The scenario, as far as it is made.

        Raises:
            NotExportable: If the state has no canonical form.
        """
        return Scenario(
            env_id=self.record.id,
            task_id=self.task_id,
            init_config=State.of(dict(config)),
            task=task,
            checks=tuple(Check(check.item, check.function) for check in checks),
            oracle=oracle_calls(calls),
            clock=self.clock,
            seed=self.number,
            provenance=PROVENANCE,
        )


def _changes(name: str, kind: object) -> bool:
    return kind == "state_change" if kind in ("query", "state_change") else name.split("_")[0] not in _QUERIES


def oracle_calls(calls: Sequence[Call]) -> tuple[OracleCall, ...]:
    """Calls as scenarios have them."""
    return tuple(OracleCall(call.name, call.arguments) for call in calls)


def wanted(corpus: Corpus, per_environment: int) -> Iterator[Wanted]:
    """The scenarios that are wanted of a corpus; their numbers go on after those that it has.

    Raises:
        DataError: If the source of an environment cannot be read, or has no tools.
    """
    for record in corpus.environments.values():
        if not record.own_tools:
            raise DataError(record.file, f"{record.id}.source", f"class {record.class_name} has no public method")
        try:
            read = reading(record.source, record.class_name)
        except Unreadable as error:
            raise DataError(record.file, f"{record.id}.source", str(error)) from error
        there = [scenario for scenario in corpus.scenarios.values() if scenario.env_id == record.id]
        shape = Shape.of(read, [*_examples(record, there)][:_MOST_EXAMPLES])
        taken = {scenario.task_id for scenario in there}
        number = 0
        for place in range(1, per_environment + 1):
            number += 1
            while f"{record.id}-task_{number}" in taken:
                number += 1
            yield Wanted(record, place, f"{record.id}-task_{number}", shape, read)


def _examples(record: EnvironmentRecord, there: Sequence[Scenario]) -> Iterator[dict[str, Any]]:
    for scenario in there:
        yield scenario.init_config.decode()
    for config in record.released.get("init_config_list") or ():
        if isinstance(config, dict):
            yield config
