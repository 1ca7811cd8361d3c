"""What is known to be wrong with single tasks (docs/acebench.md, Known defects). Nothing is scored by these notes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from adapters.acebench import scoring
from adapters.acebench.solution import CLASS_TYPOS, REPAIRS, parse_calls
from adapters.acebench.task import Task

_NOTES: Mapping[str, tuple[str, Collection[str]]] = {
    "wrong_reminder": (
        "the expected reminder list cannot be reached; strict compares with a corrected one",
        ("step_0", "step_1"),
    ),
    "passes_untouched": ("doing nothing solves it", ("turn_7",)),
    "alternative_unreachable": ("the second list of milestones does not lead to the answer", ("step_8", "step_9")),
    "baggage": ("the user has four pieces of luggage and the answer three", ("turn_28",)),
    "number_form": (
        "the answer wants an amount with one decimal, which the task does not ask for",
        ("turn_12", "turn_13", "turn_14", "turn_15"),
    ),
    "wifi_must_stay_off": ("switching the wifi on, harmless elsewhere, fails it", ("turn_4", "turn_7")),
    "one_order": ("items in another order, or in two orders, fail it", ("step_6", "step_7", "step_8", "step_9")),
    "one_change": ("changing flight and cabin in two calls gives another refund and fails it", ("turn_25",)),
}
"""Name -> sentence, tasks of both languages."""

_LANGUAGE_NOTES: Mapping[str, Mapping[str, tuple[str, Collection[str]]]] = {
    "en": {"title_case": ("the task writes the reminder's title in other capitals", ("step_0", "step_1"))},
    "zh": {"config_typo": ("the configuration misspells BaseApi, so that the device is unlocked", ("turn_12",))},
}


def defects(task: Task, language: str) -> dict[str, str]:
    """The known defects of a task by name, each with a sentence."""
    number = task.id.removeprefix("agent_multi_")
    tables = (_NOTES, _LANGUAGE_NOTES[language])
    found = {name: text for table in tables for name, (text, tasks) in table.items() if number in tasks}
    if any(name in CLASS_TYPOS for state in task.answer for name in state):
        found["class_typo"] = "the answer misspells a class name, so that this class is not scored"
    if (language, task.id) in REPAIRS:
        found["milestones_unreachable"] = "the published milestones do not lead to the answer"
    if not all(matches(stone) for stone in _stones(task)):
        found["milestone_never_matches"] = (
            "process counts too little: native calls are never logged in a milestone's form"
        )
    return found


def _stones(task: Task) -> list[str]:
    return [text for each in task.milestones for text in (each if isinstance(each, list) else [each])]


def matches(milestone: str) -> bool:
    """Whether the log of native calls can hold this milestone: one call, in the log's own quotes and spaces."""
    calls = parse_calls(milestone)
    return len(calls) == 1 and scoring.paper_entry(*calls[0]) == milestone.strip()
