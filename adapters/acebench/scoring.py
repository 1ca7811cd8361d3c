"""Official scoring as pure functions, and the strict score that is ours. Rules: docs/acebench.md, Scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

States = Sequence[Mapping[str, Mapping[str, Any]]]
"""The scored attributes of each class: one-key dicts, class name to attributes."""


def end_to_end(states: States, expected: States) -> float:
    """The published score: 1.0 if the final state shows all that the answer expects, else 0.0.

    One-sided: where the answer has a dict, entries beyond it are free. A class whose name the answer misspells has no
    partner and is not checked at all.
    """
    if len(states) != len(expected):
        return 0.0
    for answer in expected:
        found = next((state for state in states if state.keys() == answer.keys()), None)
        if found is not None and not all(_holds(found[name], answer[name]) for name in answer):
            return 0.0
    return 1.0


def _holds(produced: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    return all(name in expected and _covers(value, expected[name]) for name, value in produced.items())


def _covers(value: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return all(key in value and value[key] == item for key, item in expected.items())
    return bool(value == expected)


def strict(states: States, expected: States) -> float:
    """1.0 if the final state is the expected one in every class, both ways; `expected` with its typos repaired."""
    mine = {name: attributes for state in states for name, attributes in state.items()}
    theirs = {name: attributes for state in expected for name, attributes in state.items()}
    return 1.0 if mine == theirs else 0.0


def process(log: Sequence[str], milestones: Sequence[Any], solved: bool) -> float:
    """The published process accuracy: 1.0 for a solved task, else the share of milestones met in order.

    A milestone that is never met uses up the rest of the log, so in effect a matching prefix is counted. Of several
    lists the best counts, rounded to three places.
    """
    if solved:
        return 1.0
    if milestones and isinstance(milestones[0], list):
        return max(round(_in_order(log, alternative), 3) for alternative in milestones)
    return _in_order(log, milestones)


def _in_order(log: Sequence[str], milestones: Sequence[str]) -> float:
    if not milestones:
        return 1.0
    met, entries = 0, iter(log)
    for milestone in milestones:
        # `any` stops at the first match and leaves the iterator behind it; without one it runs to the end.
        met += any(entry.strip() == milestone.strip() for entry in entries)
    return met / len(milestones)


def paper_entry(name: str, arguments: Mapping[str, Any]) -> str:
    """A call as the paper's executor logs it: texts in single quotes, without escapes."""
    written = (f"{key}='{value}'" if isinstance(value, str) else f"{key}={value}" for key, value in arguments.items())
    return f"[{name}({', '.join(written)})]"


def official_entry(calls: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """The calls of one message as the official protocol has them: Python literals, all in one pair of brackets."""
    written = (f"{name}({', '.join(f'{key}={value!r}' for key, value in kw.items())})" for name, kw in calls)
    return f"[{', '.join(written)}]"
