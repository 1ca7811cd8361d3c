"""One BFCL Multi-Turn entry: what the user says, what the world is, and the calls that solve it."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TruthCall:
    """One call of the ground truth, as published: a Python call with literal arguments."""

    name: str
    positional: tuple[Any, ...]
    named: Mapping[str, Any]

    @classmethod
    def parse(cls, text: str) -> TruthCall:
        """Read `name(literal, key=literal)` without running it.

        Raises:
            ValueError: If the text is anything else.
        """
        call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError(f"not a plain call: {text}")
        named = {keyword.arg or "**": ast.literal_eval(keyword.value) for keyword in call.keywords}
        return cls(call.func.id, tuple(ast.literal_eval(value) for value in call.args), named)


@dataclass(frozen=True, eq=False, slots=True)
class Entry:
    """One entry of one release."""

    id: str
    version: str
    """Release it belongs to. It runs on the backends of that release only."""
    subset: str
    questions: tuple[str | None, ...]
    """User text per turn; None where held-out tools appear and the fixed sentence is said."""
    classes: tuple[str, ...]
    """Backends in the order in which tools are listed and states are compared."""
    config: Mapping[str, Any]
    """Initial configuration by class. Never handed to a backend without a copy."""
    truth: tuple[tuple[TruthCall, ...], ...]
    """Calls that solve each turn. An empty turn is not checked (docs/bfcl.md, section 1.5)."""
    held_out: Mapping[int, tuple[str, ...]]
    """Turn -> names of the tools that appear only there (subset miss_func)."""

    @property
    def long_context(self) -> bool:
        """Whether the backends load their long form: the official code looks for this in the entry's category."""
        category = self.id.rpartition("_")[0]
        return "long_context" in category or "composite" in category

    @classmethod
    def of(cls, record: Mapping[str, Any], truth: Sequence[Sequence[str]], *, version: str, subset: str) -> Entry:
        """The entry of a question record and its published answer.

        Raises:
            KeyError: If a field is missing.
            ValueError: If a turn has more than one message, or an answer is not a plain call.
        """
        held_out = {int(turn): tuple(names) for turn, names in record.get("missed_function", {}).items()}
        return cls(
            id=record["id"],
            version=version,
            subset=subset,
            questions=tuple(_question(turn, index in held_out) for index, turn in enumerate(record["question"])),
            classes=tuple(record["involved_classes"]),
            config=record["initial_config"],
            truth=tuple(tuple(map(TruthCall.parse, turn)) for turn in truth),
            held_out=held_out,
        )


def _question(turn: Sequence[Mapping[str, Any]], hold_out: bool) -> str | None:
    if len(turn) != (0 if hold_out else 1):
        raise ValueError(f"question: a turn with {len(turn)} messages")
    return None if hold_out else turn[0]["content"]
