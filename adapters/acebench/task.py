"""The tasks as data: questions, tools, answers, milestones, seed state and prompts of one language."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.acebench.environment import CLASSES, World
from adapters.acebench.language import LANGUAGES
from harness.environment import ToolSpec
from harness.errors import DataError
from harness.files import read_bytes

SUBSETS = ("multi_step", "multi_turn")
"""20 and 30 tasks in each language."""

_TYPES = {"dict": "object", "list": "array", "tuple": "array", "int": "integer", "float": "number", "bool": "boolean"}
_TYPES |= {"str": "string"}


@dataclass(frozen=True, slots=True)
class Task:
    """One task with its answer."""

    id: str
    subset: str
    question: str
    """Told to the agent (multi_step), or to the simulated user (multi_turn)."""
    config: Mapping[str, Any]
    involved: tuple[str, ...]
    documents: tuple[Mapping[str, Any], ...]
    """The tools as published, whether or not their class is involved."""
    answer: tuple[Mapping[str, Mapping[str, Any]], ...]
    """The expected states, class names as published."""
    milestones: tuple[Any, ...]
    """Calls as text, or several lists of them of which any will do."""

    @property
    def flies(self) -> bool:
        """Whether it is about flights; the policy and the user's prompt go by it."""
        return "Travel" in self.involved


def tools(task: Task, *, english_cabins: bool) -> tuple[ToolSpec, ...]:
    """The task's tools in JSON schema.

    Args:
        english_cabins: Name cabins in English where the English documents name them in Chinese, as the paper does (ten
            descriptions).
    """
    specs = (
        ToolSpec(each["name"], each["description"], _schema(each["parameters"], english_cabins))
        for each in task.documents
    )
    return tuple(specs)


def _schema(node: Any, english_cabins: bool) -> Any:
    """A schema with the types of JSON schema in place of Python's, at every depth.

    What it requires stays as published: `payment_methods` is not a property, and only a validator would mind.
    """
    if isinstance(node, dict):
        # A property may itself be named "type"; then its value is a dict and no type name.
        return {
            key: _TYPES.get(value, value)
            if key == "type" and isinstance(value, str)
            else _schema(value, english_cabins)
            for key, value in node.items()
        }
    if isinstance(node, list):
        return [_schema(item, english_cabins) for item in node]
    if isinstance(node, str) and english_cabins:
        chinese, english = LANGUAGES["zh"], LANGUAGES["en"]
        return node.replace(chinese.economy, english.economy).replace(chinese.business, english.business)
    return node


def load_tasks(folder: Path, language: str) -> list[Task]:
    """All tasks of a language, multi_step first, in the published order.

    Args:
        folder: The artifact folder.
    Raises:
        DataError: Naming the first record that is not what it should be.
    """
    return [task for subset in SUBSETS for task in _subset(folder / language, subset)]


def _subset(folder: Path, subset: str) -> Iterator[Task]:
    questions = folder / f"data_agent_{subset}.json"
    answers_file = folder / "possible_answer" / f"data_agent_{subset}.json"
    answers = {record.get("id"): record for record in _records(answers_file)}
    for record in _records(questions):
        number = record.get("id")
        answer = answers.get(number)
        if answer is None:
            raise DataError(answers_file, str(number), "has no answer")
        yield _task(record, answer, subset, questions, answers_file)


def _task(record: dict[str, Any], answer: dict[str, Any], subset: str, questions: Path, answers: Path) -> Task:
    def field(source: dict[str, Any], file: Path, name: str, kind: type) -> Any:
        value = source.get(name)
        if not isinstance(value, kind):
            raise DataError(file, f"{record.get('id')}: {name}", f"must be a {kind.__name__}")
        return value

    involved = tuple(field(record, questions, "involved_classes", list))
    if unknown := [name for name in involved if name not in CLASSES]:
        raise DataError(questions, f"{record.get('id')}: involved_classes", f"no class {unknown[0]!r}")
    return Task(
        field(record, questions, "id", str),
        subset,
        field(record, questions, "question", str),
        field(record, questions, "initial_config", dict),
        involved,
        tuple(field(record, questions, "function", list)),
        tuple(field(answer, answers, "ground_truth", list)),
        tuple(field(answer, answers, "mile_stone", list)),
    )


def _records(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(read_bytes(path).splitlines(), start=1):
        if line.strip():
            record = _decode(line, path, f"line {number}")
            if not isinstance(record, dict):
                raise DataError(path, f"line {number}", "must be a JSON object")
            yield record


def _decode(data: bytes, path: Path, where: str) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise DataError(path, where, f"is not JSON ({error})") from error


def load_world(folder: Path, language: str) -> World:
    """The seed state of a language. Inbox and reminders are keyed by ints, which JSON could not keep.

    Raises:
        DataError: If the file is not the seed state of the five classes.
    """
    path = folder / language / "world.json"
    world = _decode(read_bytes(path), path, "")
    if not isinstance(world, dict) or not CLASSES.keys() <= world.keys():
        raise DataError(path, "", f"must hold the seed state of {', '.join(CLASSES)}")
    for owner, attribute in (("MessageApi", "inbox"), ("ReminderApi", "reminder_list")):
        try:
            world[owner][attribute] = {int(key): value for key, value in world[owner][attribute].items()}
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise DataError(path, f"{owner}.{attribute}", "must be an object with whole numbers as keys") from error
    return World(world)


def load_prompts(folder: Path) -> dict[str, dict[str, str]]:
    """The benchmark's prompts by section: `user_simulator`, `policy`, `agent_multi_step`, `agent_multi_turn`.

    Raises:
        DataError: If a section is missing.
    """
    path = folder / "prompts.json"
    prompts = _decode(read_bytes(path), path, "")
    for section in ("user_simulator", "policy", "agent_multi_step", "agent_multi_turn"):
        if not isinstance(prompts, dict) or not isinstance(prompts.get(section), dict):
            raise DataError(path, section, "is missing")
    return {name: section for name, section in prompts.items() if isinstance(section, dict)}
