"""Call lists that reach the answers, and the answers without their mistakes (docs/acebench.md, Known defects).

The call lists come from the published milestones. Nine of the English and seven of the Chinese lists do not reach the
answer; what each lacks is in `REPAIRS`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.acebench.task import Task

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Repair:
    """What a published milestone list lacks."""

    device_login: bool = False
    """The device is locked at the start and the list never unlocks it."""
    food_login: str | None = None
    """A customer who orders without having logged in."""
    newest: bool = False
    """It deletes the oldest message where task and answer want the newest deleted."""
    full_names: bool = False
    """It orders a product by a part of its name."""


REPAIRS: Mapping[tuple[str, str], Repair] = {
    ("en", "agent_multi_step_0"): Repair(full_names=True),
    ("en", "agent_multi_step_1"): Repair(full_names=True),
    ("en", "agent_multi_step_16"): Repair(newest=True, device_login=True),
    ("zh", "agent_multi_step_16"): Repair(newest=True),
    **{
        (language, f"agent_multi_{number}"): repair
        for language in ("en", "zh")
        for number, repair in {
            "step_12": Repair(food_login="Helen"),
            "step_13": Repair(food_login="Helen"),
            "step_14": Repair(newest=True),
            "step_15": Repair(newest=True),
            "step_17": Repair(newest=True),
            "turn_6": Repair(device_login=True),
        }.items()
    },
}
"""By language and task."""

CLASS_TYPOS: Mapping[str, str] = {"ReminderAPI": "ReminderApi", "Reminderpi": "ReminderApi", "BaseAPI": "BaseApi"}
"""Class names as four answers of each language misspell them; those classes are never scored."""


def parse_calls(text: str) -> list[Call]:
    """The calls of one milestone, e.g. `[send_message(message='Don't')]`.

    Milestones are not Python: quotes inside texts are not escaped, so a text ends where the next keyword begins.

    Raises:
        ValueError: If it is not a list of calls.
    """
    body = re.fullmatch(r"\s*\[(.*)\]\s*", text, re.DOTALL)
    if body is None:
        raise ValueError(f"{text!r} is not a list of calls in brackets")
    return [_call(part) for part in re.split(r"(?<=\)),\s*(?=\w+\()", body[1])]


def _call(text: str) -> Call:
    parts = re.fullmatch(r"\s*(\w+)\((.*)\)\s*", text, re.DOTALL)
    if parts is None:
        raise ValueError(f"{text!r} is not a call")
    pairs = (part.split("=", 1) for part in re.split(r",\s*(?=\w+=)", parts[2]) if part)
    return parts[1], {key.strip(): _value(value.strip()) for key, value in pairs}


def _value(text: str) -> Any:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else ast.literal_eval(text)


def solution(task: Task, seed: Mapping[str, Any], language: str) -> list[Call]:
    """A call list that reaches the task's answer: the first milestone list, repaired where it must be."""
    first = task.milestones[0]
    stones: Sequence[str] = first if isinstance(first, list) else task.milestones
    calls = [call for stone in stones for call in parse_calls(stone)]
    repair = REPAIRS.get((language, task.id))
    return list(_repaired(calls, repair, seed)) if repair else calls


def _repaired(calls: Sequence[Call], repair: Repair, seed: Mapping[str, Any]) -> Iterator[Call]:
    if repair.device_login:
        yield "login_device", {}
    for name, arguments in calls:
        if name == "add_food_delivery_order" and repair.food_login:
            password = seed["FoodPlatform"]["users"][repair.food_login]["password"]
            yield "login_food_platform", {"username": repair.food_login, "password": password}
        if repair.newest and name == "get_earliest_message_id":
            name = "get_latest_message_id"
        if repair.newest and name == "delete_message":
            arguments = {"message_id": _newest(seed)}
        if repair.full_names and "items" in arguments:
            menu = seed["FoodPlatform"]["merchant_list"][arguments["merchant_name"]]["menu"]
            arguments = {**arguments, "items": [_full_name(item, menu) for item in arguments["items"]]}
        yield name, arguments


def _newest(seed: Mapping[str, Any]) -> int:
    inbox: dict[int, dict[str, str]] = seed["MessageApi"]["inbox"]
    return max(inbox, key=lambda number: inbox[number]["time"])


def _full_name(item: dict[str, Any], menu: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = [entry["product"] for entry in menu if entry["product"].startswith(item["product"])]
    return {**item, "product": names[0]}


def corrected_answer(task: Task, seed: Mapping[str, Any]) -> list[Mapping[str, Mapping[str, Any]]]:
    """The answer with the class names spelled right, and the two answers corrected that no call list can reach."""
    answer = [{CLASS_TYPOS.get(name, name): expected for name, expected in state.items()} for state in task.answer]
    if task.id not in ("agent_multi_step_0", "agent_multi_step_1"):
        return list(answer)
    return [_with_reminder_added(state, seed) if "ReminderApi" in state else state for state in answer]


def _with_reminder_added(
    state: Mapping[str, Mapping[str, Any]], seed: Mapping[str, Any]
) -> Mapping[str, Mapping[str, Any]]:
    """The published answer has the new reminder in the place of the third; the class adds it as the fourth."""
    first = {str(number): reminder for number, reminder in seed["ReminderApi"]["reminder_list"].items()}
    last = str(len(first))
    added = str(len(first) + 1)
    expected = state["ReminderApi"]["reminder_list"][last]
    return {"ReminderApi": {"reminder_list": {**first, added: {**expected, "reminder_id": int(added)}}}}
