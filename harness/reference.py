"""Reference agents and a scripted user: the cheapest truth about a benchmark, offline.

`oracle` must score 1, `noop` gives the floor, `random` lies between. They answer like models: a message at a time.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from harness.case import Case
from harness.environment import ToolSpec
from harness.messages import Message, assistant, content_text
from harness.rollout import Agent
from harness.users import STOP, SimulatedUser

DONE = "Task Completed"
"""What a reference agent says when it is finished, unless the brief names a finish word."""


def closing(case: Case) -> Message:
    """The message with which an agent ends its work, or hands over to the user."""
    return assistant(case.brief.finish_word or DONE)


def oracle(case: Case, run: int = 1) -> Agent:
    """Says the case's oracle messages in order, then the closing word.

    Raises:
        ValueError: If the case has no oracle.
    """
    if case.oracle is None:
        raise ValueError(f"{case.id} has no oracle solution")
    script = iter(case.oracle)
    return lambda messages, tools: next(script, None) or closing(case)


def noop(case: Case, run: int = 1) -> Agent:
    """Does nothing but say that it is finished."""
    return lambda messages, tools: closing(case)


def random_legal(case: Case, run: int = 1) -> Agent:
    """Makes legal calls at random, seeded by case and run, then says that it is finished.

    Half of them, where there is an oracle, are the oracle's, drawn in its order with gaps: some checks pass, others do
    not. The rest take values the agent has seen, from the task, observations and schemas. Not a baseline to beat; it
    shows that a scale has a middle.
    """
    rng = random.Random(f"{case.id} {run}")
    script = [message for message in case.oracle or () if rng.random() < 0.75]
    remaining = rng.randint(2, 6) + len(script)

    def agent(messages: list[Message], tools: Sequence[ToolSpec]) -> Message:
        nonlocal remaining
        if remaining <= 0 or not tools:
            return closing(case)
        remaining -= 1
        if script and rng.random() < 0.75:
            return script.pop(0)
        tool = rng.choice(list(tools))
        return assistant("", [(tool.name, _arguments(tool.parameters, _Seen(messages), rng))])

    return agent


AGENTS: dict[str, Callable[[Case, int], Agent]] = {"oracle": oracle, "noop": noop, "random": random_legal}

_PAIR = re.compile(r"""['"](\w+)['"]: (?:'([^']*)'|"([^"]*)"|(-?\d+(?:\.\d+)?))""")
_TOKEN = re.compile(r"\b(?:[A-Z][\w'-]*(?: [A-Z][\w'-]*)*|\d{4}-\d\d-\d\d|[A-Z]+-\d+)\b")
_NUMBER = re.compile(r"(?<![\w-])-?\d+(?:\.\d+)?(?![\w-])")


class _Seen:
    """Values an agent has come across, by the name they stood under."""

    def __init__(self, messages: list[Message]) -> None:
        self.by_name: dict[str, list[Any]] = {}
        self.texts: list[str] = []
        self.numbers: list[float] = []
        for message in messages:
            text = content_text(message.get("content"))
            if message["role"] == "tool":
                for name, single, double, number in _PAIR.findall(text):
                    value = _number(number) if number else single or double
                    self.by_name.setdefault(name, []).append(value)
            elif message["role"] == "user":
                self.texts += _TOKEN.findall(text)
                self.numbers += [_number(number) for number in _NUMBER.findall(text)]


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _arguments(schema: dict[str, Any], seen: _Seen, rng: random.Random) -> dict[str, Any]:
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    return {
        name: _value(name, inner, seen, rng)
        for name, inner in properties.items()
        if name in required or rng.random() < 0.3
    }


def _value(name: str, schema: dict[str, Any], seen: _Seen, rng: random.Random) -> Any:
    """A value that the schema allows, preferably one seen under this name."""
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if options := schema.get("anyOf"):
        return _value(name, rng.choice(options), seen, rng)
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        kind = rng.choice(kind)
    known = seen.by_name.get(name, [])
    match kind:
        case "integer":
            return rng.choice([*[v for v in known + seen.numbers if type(v) is int], 1, 2])
        case "number":
            return rng.choice([*[v for v in known + seen.numbers if not isinstance(v, str)], 1, 2])
        case "boolean":
            return rng.random() < 0.5
        case "null":
            return None
        case "array":
            singular = name[:-1] if name.endswith("s") else name
            count = rng.randint(1, 2)
            return [_value(singular, schema.get("items") or {}, seen, rng) for _ in range(count)]
        case "object":
            return _arguments({**schema, "required": list(schema.get("properties", {}))}, seen, rng)
    texts = [value for value in known if isinstance(value, str)]
    return rng.choice(texts or seen.texts or ["unknown"])


def scripted_user(user: SimulatedUser, *, parts: int = 4) -> Callable[[int], str]:
    """A user without a model: reveals the goal in parts, one per turn, then stops.

    Args:
        parts: Most turns in which the goal is told.
    Returns:
        From the number of replies given so far to the next raw reply, in the user's own form.
    """
    pieces = _pieces(user.goal, parts)
    return lambda given: user.phrase(pieces[given] if given < len(pieces) else STOP)


def _pieces(text: str, most: int) -> list[str]:
    """`text` in at most `most` runs of whole sentences, of like length."""
    sentences = [s for s in re.split(r"(?<=[.!?])\s+(?=[A-Z0-9\"“(])|\n+", text.strip()) if s.strip()]
    count = max(1, min(most, len(sentences)))
    per = -(-len(sentences) // count) if sentences else 1
    return [" ".join(sentences[i : i + per]) for i in range(0, len(sentences), per)] or [text]
