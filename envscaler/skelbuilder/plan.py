"""Plan: state, rules and operations of an environment, before any code.

Answers are JSON; a model that writes lists instead is read as well. Names stay exactly as they were written: the
release cut letters off them (docs of the release, section 8), here a name that cannot be used goes back to the model.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from envscaler.skelbuilder.records import Entity, Operation, Plan, Topic
from envscaler.synthesis.answers import Unusable, converted, json_object, without_thinking
from envscaler.synthesis.ask import Prompt

LEAST_OPERATIONS = 15
"""The paper's environments have 10 to 30 tools, 18.6 on average; below this a scenario has little room."""
MOST_OPERATIONS = 30
_LEAST_OF_A_KIND = 4


class StateAnswer(Struct):
    """The answer to the first question."""

    entities: tuple[Entity, ...]
    rules: tuple[str, ...]


class OperationsAnswer(Struct):
    """The answer to the second."""

    operations: tuple[Operation, ...]


STATE = """\
You design the data of a practice environment: one program that stands for the back office described below. List what \
it keeps and the rules it lives by.
- entities: the kinds of records, three to seven. Each has a name in CamelCase, a description and typed attributes. \
The first attribute is its id. Types are str, int, float, bool, Optional[...], List[...] or Dict[str, ...] of these; \
dates and times are str in ISO form, with the format in the description. References to other records are ids. Give \
statuses their possible values in the description.
- Add an entity Settings for what exists once: today's date, counters for new ids, limits. The program has no clock: \
"today" is a value in the state.
- rules: three to six rules, each a full sentence about what operations must refuse or must do besides, with exact \
numbers. Prefer rules that tie several records together.
Answer with one JSON object and nothing else:
{"entities": [{"name": "…", "description": "…", "attributes": [{"name": "…", "type": "…", "description": "…"}]}], \
"rules": ["…"]}"""

OPERATIONS = """\
You design the operations of a practice environment: the tools with which an assistant works in the back office \
described below. Offer a rounded set for all the daily work there, not just for the example request: queries that \
find and show records, and changes that create, alter, move and close them.
- 15 to 25 operations, at least six queries and at least six changes;
- name: snake_case, a verb first; description: one or two sentences: what it does, what it needs, which rules make it \
refuse;
- every record can be found by more than its id; every attribute of the state is read or written by some operation; \
no operation does the whole of a task at once.
Answer with one JSON object and nothing else:
{"operations": [{"name": "…", "kind": "query", "description": "…"}, {"name": "…", "kind": "change", \
"description": "…"}]}"""


def described(plan: Plan | Topic) -> str:
    """An environment in words, as far as it is known."""
    text = f"# {plan.title}\n{plan.introduction}\n"
    if isinstance(plan, Plan) and plan.entities:
        text += "\n## Records\n"
        for entity in plan.entities:
            text += f"{entity.name}: {entity.description}\n"
            for attribute in entity.attributes:
                note = f"  ({attribute.description})" if attribute.description else ""
                text += f"- {attribute.name}: {attribute.type}{note}\n"
        text += "\n## Rules\n" + "".join(f"- {rule}\n" for rule in plan.rules)
        if plan.operations:
            text += "\n## Operations\n"
            for operation in plan.operations:
                text += f"- {operation.name} ({operation.kind}): {operation.description}\n"
    return text


def state_prompt(topic: Topic, env_id: str) -> Prompt[StateAnswer]:
    """Ask for entities and rules."""
    user = f"{described(topic)}\nAn example of a request there: {topic.task}"
    return Prompt(
        stage="plan",
        item=f"{env_id}/state",
        role="planner",
        system=STATE,
        user=user,
        parse=read_state,
        form=StateAnswer,
    )


def operations_prompt(plan: Plan, task: str) -> Prompt[OperationsAnswer]:
    """Ask for operations."""
    user = f"{described(plan)}\nAn example of a request there: {task}"
    return Prompt(
        stage="plan",
        item=f"{plan.env_id}/operations",
        role="planner",
        system=OPERATIONS,
        user=user,
        parse=read_operations,
        form=OperationsAnswer,
    )


def read_state(text: str) -> StateAnswer:
    """The entities and rules in an answer.

    Raises:
        Unusable: If it holds none, or names that cannot be used.
    """
    said = converted(_object(text, _state_lists), StateAnswer)
    if len(said.entities) < 2:
        raise Unusable("it names fewer than two entities", "wrong")
    if not said.rules:
        raise Unusable("it gives no rules", "wrong")
    _check_names("entity", (entity.name for entity in said.entities))
    for entity in said.entities:
        _check_names(f"attribute of {entity.name}", (attribute.name for attribute in entity.attributes))
    return said


def read_operations(text: str) -> OperationsAnswer:
    """The operations in an answer.

    Raises:
        Unusable: If they are too few, too many, all of a kind, or have names that cannot be used.
    """
    said = converted(_object(text, _operation_lists), OperationsAnswer)
    names = [operation.name for operation in said.operations]
    _check_names("operation", names)
    for name in names:
        if name.startswith("_"):
            raise Unusable(f"the operation name '{name}' begins with an underscore, which hides it", "wrong")
    if not LEAST_OPERATIONS <= len(names) <= MOST_OPERATIONS:
        span = f"{LEAST_OPERATIONS} to {MOST_OPERATIONS}"
        raise Unusable(f"it has {len(names)} operations; {span} were asked for", "wrong")
    for kind, count in Counter(operation.kind for operation in said.operations).items():
        if len(names) - count < _LEAST_OF_A_KIND:
            raise Unusable(f"all but {len(names) - count} of its operations are of the kind '{kind}'", "wrong")
    return said


def _check_names(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not name.isidentifier() or keyword.iskeyword(name) or not name.isascii():
            raise Unusable(f"the {what} name '{name}' is no Python name", "wrong")
        if name in seen:
            raise Unusable(f"the {what} name '{name}' is given twice", "wrong")
        seen.add(name)


def _object(text: str, lists: Any) -> dict[str, Any]:
    try:
        return json_object(text)
    except Unusable:
        found: dict[str, Any] | None = lists(without_thinking(text))
        if found is None:
            raise
        return found


_BULLET = r"^\s*(?:[-*•]|\d+[.)])\s+"
_ENTITY = re.compile(
    r"^(?:#{2,4}\s*|[-*]\s*)?(?:\*\*)?Entity(?:\*\*)?\s*:\s*(?:\*\*|`)?(\w+)(?:\*\*|`)?\s*(?:[-–—:]\s*(.*))?$"
)
_ATTRIBUTE = re.compile(
    rf"{_BULLET}(?:\*\*|`)?(\w+)(?:\*\*|`)?\s*(?::|\()\s*([\w\[\], ]+?)\)?\s*(?:[-–—(:]\s*(.*?)\)?)?$"
)
_OPERATION = re.compile(
    rf"{_BULLET}(?:\*\*|`)?(\w+)(?:\*\*|`)?\s*\(\s*(query|change)\s*\)\s*[:–—-]\s*(.+)$", re.IGNORECASE
)


def _state_lists(text: str) -> dict[str, Any] | None:
    """Entities as headed lists of `- name: type (description)`, rules under a heading of that name."""
    entities: list[dict[str, Any]] = []
    rules: list[str] = []
    in_rules = False
    for line in text.splitlines():
        if re.match(r"^\s*(?:#+\s*|\*\*)?Rules\b", line, re.IGNORECASE):
            in_rules = True
        elif in_rules and (rule := re.match(rf"{_BULLET}(.+)$", line)):
            rules.append(rule[1].strip())
        elif entity := _ENTITY.match(line):
            entities.append({"name": entity[1], "description": (entity[2] or "").strip(), "attributes": []})
            in_rules = False
        elif entities and not in_rules and (found := _ATTRIBUTE.match(line)):
            note = (found[3] or "").strip()
            entities[-1]["attributes"].append({"name": found[1], "type": found[2].strip(), "description": note})
    return {"entities": entities, "rules": rules} if entities else None


def _operation_lists(text: str) -> dict[str, Any] | None:
    """Operations as `- name (query): description`."""
    found = [_OPERATION.match(line) for line in text.splitlines()]
    operations = [{"name": m[1], "kind": m[2].lower(), "description": m[3].strip()} for m in found if m]
    return {"operations": operations} if operations else None
