"""The tasks: what the user wants, the calls that solve it, and what the agent must tell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.tau_bench.domain import read_json
from harness.errors import DataError

SPLITS = {"retail": ("test", "dev", "train"), "airline": ("test",)}


@dataclass(frozen=True, slots=True)
class Action:
    """One call of a ground truth."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Task:
    """One task of one split."""

    domain: str
    split: str
    index: int
    user_id: str
    instruction: str
    """What the simulated user is told, in the second person."""
    actions: tuple[Action, ...]
    """The ground truth: these calls lead to the right database."""
    outputs: tuple[str, ...]
    """What the agent must say somewhere, in any case; commas in its words do not count."""

    @property
    def id(self) -> str:
        """`domain/split/index`."""
        return f"{self.domain}/{self.split}/{self.index}"


def load_tasks(data: Path, domain: str, split: str) -> list[Task]:
    """The tasks of a split in their order.

    Raises:
        DataError: Naming the file, the task and the field.
    """
    file = data / domain / f"tasks_{split}.json"
    records = read_json(file)
    if not isinstance(records, list):
        raise DataError(file, "", "must be a list of tasks")
    return [_task(file, record, domain, split, index) for index, record in enumerate(records)]


def _task(file: Path, record: Any, domain: str, split: str, index: int) -> Task:
    def need(condition: bool, field: str, what: str) -> None:
        if not condition:
            raise DataError(file, f"[{index}]{field}", f"must be {what}")

    need(isinstance(record, dict), "", "a JSON object")
    user_id, instruction = record.get("user_id"), record.get("instruction")
    actions, outputs = record.get("actions"), record.get("outputs", [])
    need(isinstance(user_id, str), ".user_id", "a string")
    need(isinstance(instruction, str), ".instruction", "a string")
    need(isinstance(outputs, list) and all(isinstance(o, str) for o in outputs), ".outputs", "a list of strings")
    need(isinstance(actions, list), ".actions", "a list")
    for number, action in enumerate(actions):
        fits = (
            isinstance(action, dict) and isinstance(action.get("name"), str) and isinstance(action.get("kwargs"), dict)
        )
        need(fits, f".actions[{number}]", "an object with `name` and `kwargs`")
    calls = tuple(Action(action["name"], action["kwargs"]) for action in actions)
    return Task(domain, split, index, user_id, instruction, calls, tuple(outputs))
