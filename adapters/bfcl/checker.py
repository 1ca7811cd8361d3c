"""The official verdict on one entry (docs/bfcl.md, section 1.5)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from adapters.bfcl.backends import Backends
from adapters.bfcl.canonical import canonical, public
from adapters.bfcl.entry import Entry, TruthCall
from adapters.bfcl.execution import Execution

Call = tuple[str, Mapping[str, Any]]
"""Name and decoded arguments."""
Turns = Sequence[Sequence[Call]]
"""The calls of each user turn, in order. Steps that did not decode, or held no call, are not in it."""

MAX_SHOWN = 500
"""Characters of one attribute's value in a verdict."""


class ErrorType(StrEnum):
    """Why an entry fails, in the official words."""

    INFERENCE = "multi_turn:inference_error"
    FORCE_TERMINATED = "multi_turn:force_terminated"
    EMPTY_TURN = "multi_turn:empty_turn_model_response"
    STATE = "multi_turn:instance_state_mismatch"
    RESPONSE = "multi_turn:execution_response_mismatch"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checker says. The first failing turn ends it."""

    error_type: ErrorType | None = None
    error_turn: int | None = None
    """0-based; None for errors that belong to no turn."""
    differences: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    """Class -> attribute -> `model` and `ground_truth`, cut. All classes that differ; the official one is the first."""
    missing: list[str] = field(default_factory=list)
    """Results of the ground truth that the agent never saw."""

    @property
    def valid(self) -> bool:
        """Whether the entry is solved."""
        return self.error_type is None


def check(entry: Entry, backends: Backends, turns: Turns) -> Verdict:
    """Judge the calls of a model by executing them beside the ground truth.

    Raises:
        SettingError: If entry and backends are of different releases.
    """
    model, truth = Execution(entry, backends), Execution(entry, backends)
    if len(turns) != len(entry.truth):
        return Verdict(ErrorType.FORCE_TERMINATED)
    seen: list[str] = []
    known = backends.answers.setdefault(entry.id, {})
    for index, (calls, wanted) in enumerate(zip(turns, entry.truth, strict=True)):
        seen += [model.call(name, arguments).text for name, arguments in calls]
        if not wanted:
            # Not judged; effects show at the next turn that is (docs/bfcl.md: the irrelevance checker is not called).
            continue
        expected = _play(truth, [named(call, backends, entry) for call in wanted], known, index)
        if not calls:
            return Verdict(ErrorType.EMPTY_TURN, index)
        if differences := _differences(model, truth):
            return Verdict(ErrorType.STATE, index, differences=differences)
        if missing := _missing(expected, seen):
            return Verdict(ErrorType.RESPONSE, index, missing=missing)
    return Verdict()


def named(call: TruthCall, backends: Backends, entry: Entry) -> tuple[str, dict[str, Any]]:
    """A call of the ground truth with all its arguments by name, as a model would write it."""
    if not call.positional:
        return call.name, dict(call.named)
    parameters = backends.methods(entry.classes)[call.name].parameters
    return call.name, {**dict(zip(parameters, call.positional, strict=False)), **call.named}


def _play(truth: Execution, calls: Sequence[Call], known: dict[int, list[str]], turn: int) -> list[str]:
    """Execute the ground truth of a turn; its results are the same each time and written down once."""
    if turn not in known:
        known[turn] = [truth.call(name, arguments).text for name, arguments in calls]
    else:
        for name, arguments in calls:
            truth.repeat(name, arguments)
    return known[turn]


def _missing(expected: Sequence[str], seen: Sequence[str]) -> list[str]:
    """What of `expected` is not in `seen`, counted: one result answers for one expected result of a turn."""
    left = Counter(seen)
    missing = []
    for text in expected:
        if left[text] > 0:
            left[text] -= 1
        else:
            missing.append(text)
    return missing


def _differences(model: Execution, truth: Execution) -> dict[str, dict[str, dict[str, str]]]:
    differences = {}
    for name, reference in truth.instances.items():
        attributes = {
            attribute: {"model": _shown(getattr(model.instances[name], attribute)), "ground_truth": _shown(value)}
            for attribute, value in public(reference).items()
            if _differ(getattr(model.instances[name], attribute), value)
        }
        if attributes:
            differences[name] = attributes
    return differences


def _differ(model: Any, truth: Any) -> bool:
    """Python's own comparison, as in the official checker: 5 equals 5.0, directories ignore order."""
    try:
        return bool(model != truth)
    except RecursionError:  # a directory copied into itself
        return True


def _shown(value: Any) -> str:
    text = json.dumps(canonical(value), ensure_ascii=False, default=repr)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}… ({len(text)} characters)"
