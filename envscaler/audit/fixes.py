"""Repairs that a rule can make: proposed in a file, never applied. A person reads them and copies what is right.

- `drop`: a check that no wrong state fails says nothing.
- `guard`: what must not change, added to a goal's check. The guard leaves room for other solutions: it asks that
  collections which the oracle does not touch stay as they are, that others gain and lose as many records as with the
  oracle, and that their old records keep the fields which the oracle changes in none of them.
- `pin`: the same, record by record, where guards alone leave too many mutants. Right only where the task leaves no
  choice of records: read the task first.

Each proposed function was run: true after the oracle's calls and their harmless variants, false at the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from envscaler.audit.card import ScenarioCard
from envscaler.audit.oracle import Oracle
from envscaler.audit.stage import Stage
from envscaler.audit.thresholds import DEFAULT
from envscaler.audit.tree import Effect, collections, effects
from envscaler.audit.variants import generated, variants
from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import Check, Scenario
from harness.errors import EnvironmentFault
from harness.program import Runner
from harness.runtime import FAILED, PASSED

_MARK = "# What the task leaves alone"
_HEAD = """

{goal} = check_func


def check_func(final_state):
    {mark}: {told}.
    untouched = {untouched!r}
    growth = {growth!r}
"""
_ROWS = """
    def rows(state, name):
        table = state.get(name) if isinstance(state, dict) else None
        return table if isinstance(table, dict) else {{}}

    def rest(row, fields):
        return {{k: v for k, v in row.items() if k not in fields}} if isinstance(row, dict) else row

    if any(final_state.get(name) != initial_state.get(name) for name in untouched):
        return False
    for name, number in growth.items():
        old, new = rows(initial_state, name), rows(final_state, name)
        if len(new) != len(old) + number:
            return False
"""
_GUARD = f"""{_HEAD}    changed = {{changed!r}}
{_ROWS}        fields = changed[name]
        if any(rest(new[key], fields) != rest(row, fields) for key, row in old.items() if key in new):
            return False
    return {{goal}}(final_state)
"""
_PIN = f"""{_HEAD}    expected = {{expected!r}}
    free = {{free!r}}
{_ROWS}        for key, row in old.items():
            fields = free.get(name, {{{{}}}}).get(key, [])
            wanted = {{{{**row, **expected.get(name, {{{{}}}}).get(key, {{{{}}}})}}}} if isinstance(row, dict) else row
            if key in new and rest(new[key], fields) != rest(wanted, fields):
                return False
    return {{goal}}(final_state)
"""


def proposals(
    record: EnvironmentRecord, scenario: Scenario, card: ScenarioCard, runner: Runner
) -> list[dict[str, Any]]:
    """The repairs of one scenario, as JSON records; none where nothing is wrong that a rule can repair."""
    found: list[dict[str, Any]] = []
    dropped = []
    for index, check in enumerate(card.checks):
        if any(flag.line == "vacuous" for flag in check.flags):
            dropped.append(index)
            found.append({"task_id": scenario.task_id, "fix": "drop", "check": index, "item": check.item})
    if card.fault or card.oracle != 1.0 or not card.survivors:
        return found
    guarded = any(_MARK in check.function for check in scenario.checks)
    kinds = ["guard"] if card.unguarded and not guarded else []
    if card.kill is not None and card.kill < (DEFAULT.kill or 0.0):
        kinds.append("pin")
    try:
        stage = Stage(runner, record, scenario)
        played = stage.play(scenario.oracle or ())
        oracle = Oracle(played, effects(stage.start, played.tree))
        return found + [fix for kind in kinds if (fix := _guarded(stage, oracle, card, kind, dropped)) is not None]
    except EnvironmentFault:
        return found


def _guarded(
    stage: Stage, oracle: Oracle, card: ScenarioCard, kind: str, dropped: Sequence[int]
) -> dict[str, Any] | None:
    """A goal's check with a guard, if that holds where it must."""
    goals = [index for index, check in enumerate(card.checks) if index not in dropped and not check.flags]
    if not goals:
        return None
    # The last goal: in most checklists the one that asks for the rest.
    check = stage.scenario.checks[goals[-1]]
    goal = f"_goal_{check.function.count('_goal_') + 1}"
    source = guard(stage, oracle, goal) if kind == "guard" else pin(stage, oracle, goal)
    item = f"{check.item.removesuffix('?')}, and is nothing else changed?"
    guarded = Check(item, f"{check.function.rstrip()}\n{source}")
    trial = Stage(stage.runner, stage.record, replace(stage.scenario, checks=(guarded,)))
    harmless = [(variant.initial, variant.final) for variant in variants(trial, oracle, oracle.play.calls, 8)]
    heard = trial.ask([stage.initial, oracle.play.final, *harmless])[0]
    if heard[0] != FAILED or set(heard[1:]) != {PASSED}:
        return None
    return {
        "task_id": stage.scenario.task_id,
        "fix": kind,
        "check": goals[-1],
        "unguarded": card.unguarded,
        "item": guarded.item,
        "function": guarded.function,
    }


def guard(stage: Stage, oracle: Oracle, goal: str) -> str:
    """Source to append to a check, so that it also fails if something else was changed.

    Args:
        goal: Name for the function as it was.
    """
    changed = {
        name: sorted({field for effect in _altered(oracle, name) for field in _fields(effect)})
        for name in _growth(stage, oracle)
    }
    told = "other collections, the number of records, and fields that it does not change"
    return _GUARD.format(told=told, changed=changed, goal=goal, **_common(stage, oracle))


def pin(stage: Stage, oracle: Oracle, goal: str) -> str:
    """As `guard`, record by record, for tasks that leave no choice of records."""
    made = set(generated(stage, oracle))
    expected: dict[str, dict[str, dict[str, Any]]] = {}
    free: dict[str, dict[str, list[str]]] = {}
    for name in _growth(stage, oracle):
        for effect in _altered(oracle, name):
            key = str(effect.path[1])
            for field in _fields(effect):
                value = effect.after.get(field)
                if isinstance(value, str | int | float | None) and value not in made and not _is_prose(value):
                    expected.setdefault(name, {}).setdefault(key, {})[field] = value
                else:
                    free.setdefault(name, {}).setdefault(key, []).append(field)
    told = "other collections, the number of records, and all but what it asks of each record"
    return _PIN.format(told=told, expected=expected, free=free, goal=goal, **_common(stage, oracle))


def _is_prose(value: Any) -> bool:
    return isinstance(value, str) and any(sign.isspace() for sign in value)


def _common(stage: Stage, oracle: Oracle) -> dict[str, Any]:
    growth = _growth(stage, oracle)
    return {"mark": _MARK, "untouched": sorted(set(_tables(stage)) - set(growth)), "growth": growth}


def _tables(stage: Stage) -> list[str]:
    return [name for name in collections(stage.start) if isinstance(stage.start[name], dict)]


def _growth(stage: Stage, oracle: Oracle) -> dict[str, int]:
    """By how many records each collection that the oracle touches is larger in the end."""
    sizes = {"added": 1, "dropped": -1}
    touched = {str(effect.path[0]) for effect in oracle.records}
    return {
        name: sum(sizes.get(effect.kind, 0) for effect in oracle.records if effect.path[0] == name)
        for name in _tables(stage)
        if name in touched
    }


def _altered(oracle: Oracle, name: str) -> list[Effect]:
    return [effect for effect in oracle.records if effect.path[0] == name and effect.kind == "altered"]


def _fields(effect: Effect) -> list[str]:
    return list(dict.fromkeys(str(place[0]) for place in effect.changed if place))
