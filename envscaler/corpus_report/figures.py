"""A corpus in figures: those of the paper's statistics, and those that a scenario is judged by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import fmean, median
from typing import Any

from envscaler.corpus_report.effects import state_changing
from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import Corpus, Scenario
from harness.reference import scripted_user
from harness.users import GoalUser, stops


@dataclass(frozen=True, slots=True)
class Figure:
    """One quantity, measured on each environment, scenario or episode."""

    name: str
    of: str
    """What it is measured on."""
    values: Sequence[float]

    def record(self) -> dict[str, Any]:
        """Number, mean, median, least and most, as plain JSON values; None where there is nothing to measure."""
        values = self.values
        described = [fmean(values), median(values), min(values), max(values)] if values else [None] * 4
        told = dict(zip(("mean", "median", "min", "max"), described, strict=True))
        return {"figure": self.name, "of": self.of, "n": len(values), **told}


def corpus_figures(corpus: Corpus) -> list[Figure]:
    """All figures of a corpus.

    Query and state-changing tools are those that a record's `operation_list` names so (the public release), else those
    that the source tells apart (`effects.state_changing`). Steps are those of `reference/oracle`: its calls and the
    message that ends, in conversations with `reference/scripted_user` a message for each part of the task.

    Raises:
        DataError: If the source of an environment does not parse.
    """
    environments = list(corpus.environments.values())
    scenarios = list(corpus.scenarios.values())
    kinds = [tool_kinds(environment) for environment in environments]
    per_environment = dict.fromkeys(corpus.environments, 0)
    for scenario in scenarios:
        per_environment[scenario.env_id] += 1
    states = {
        environment.id: [found.init_config.decode() for found in scenarios if found.env_id == environment.id]
        for environment in environments
    }
    held = [categories(environment, states[environment.id]) for environment in environments]
    played = [scenario for scenario in scenarios if scenario.oracle is not None]

    def each(name: str, of: str, items: Sequence[Any], measure: Callable[[Any], float]) -> Figure:
        return Figure(name, of, [measure(item) for item in items])

    return [
        each("tools", "environment", environments, lambda found: len(found.own_tools)),
        Figure("query tools", "environment", [len(query) for query, _ in kinds]),
        Figure("state-changing tools", "environment", [len(change) for _, change in kinds]),
        Figure("state categories", "environment", [number for number in held if number is not None]),
        each("rules", "environment", environments, lambda found: len(found.rules)),
        each("lines of source", "environment", environments, lambda found: len(found.source.splitlines())),
        Figure("scenarios", "environment", list(per_environment.values())),
        each("checks", "scenario", scenarios, lambda found: len(found.checks)),
        each("words of the task", "scenario", scenarios, lambda found: len(found.task.split())),
        each("characters of the task", "scenario", scenarios, lambda found: len(found.task)),
        each("calls of the oracle", "scenario", played, lambda found: len(found.oracle)),
        each("oracle steps, non_conversation", "scenario", _in("non_conversation", played), _steps),
        each("oracle steps, conversation", "scenario", _in("conversation", played), _steps_in_conversation),
    ]


def tool_kinds(environment: EnvironmentRecord) -> tuple[set[str], set[str]]:
    """The names of an environment's query tools and of its state-changing tools."""
    operations = environment.released.get("operation_list")
    if isinstance(operations, list) and operations:
        named = {
            str(one.get("operation_name")): one.get("operation_type") for one in operations if isinstance(one, dict)
        }
        return (
            {name for name, kind in named.items() if kind == "query"},
            {name for name, kind in named.items() if kind == "state_change"},
        )
    names = {tool.name for tool in environment.own_tools}
    changing = state_changing(environment.source, environment.class_name) & names
    return names - changing, changing


def categories(environment: EnvironmentRecord, states: Sequence[Any]) -> int | None:
    """Kinds of values that make up an environment's state.

    The attributes in the release's `state_space_definition`, where a record has one; else the different fields of
    records, and values outside records, in the initial states of its scenarios. None if there are no scenarios either.
    """
    space = environment.released.get("state_space_definition")
    if isinstance(space, list) and space:
        listed = [str(one.get("attributes", "")) for one in space if isinstance(one, dict)]
        return sum(bool(name.strip()) for attributes in listed for name in attributes.split(","))
    fields = {field for state in states if isinstance(state, dict) for field in _fields(state)}
    return len(fields) if states else None


def _fields(state: dict[Any, Any]) -> Iterator[tuple[Any, ...]]:
    for name, value in state.items():
        held = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
        records = [one for one in held if isinstance(one, dict)]
        if not records:
            yield (name,)
        for record in records:
            yield from ((name, field) for field in record)


def _in(setting: str, scenarios: Sequence[Scenario]) -> list[Scenario]:
    return [scenario for scenario in scenarios if setting in scenario.settings]


def _steps(scenario: Scenario) -> int:
    return len(scenario.oracle or ()) + 1


def _steps_in_conversation(scenario: Scenario) -> int:
    say = scripted_user(GoalUser(goal=scenario.task, prompt="", opener=""))
    return len(scenario.oracle or ()) + next(told for told in count() if stops(say(told)))
