"""Rows of the oracle: what the official code said to recorded trajectories, and the documented differences to ours."""

from __future__ import annotations

import ast
import builtins
import gzip
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Step = list[tuple[str, dict[str, Any]]]


def read(file: Path) -> Iterator[Any]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def unpacked(value: Any, blobs: Mapping[str, str]) -> Any:
    """`value` with the long texts put back that the file holds once."""
    if isinstance(value, dict):
        if value.keys() == {"blob"}:
            return blobs[value["blob"]]
        return {key: unpacked(item, blobs) for key, item in value.items()}
    return [unpacked(item, blobs) for item in value] if isinstance(value, list) else value


def decoded(step: Any) -> Step | None:
    """The calls of a recorded step; None if the official decoder drops it."""
    if not isinstance(step, list):
        return None
    calls = []
    for call in step:
        for name, text in call.items():
            try:
                arguments = json.loads(text)
            except ValueError:
                return None
            if not isinstance(arguments, dict):
                return None
            calls.append((name, arguments))
    return calls


def decoded_turns(result: list[list[Any]]) -> list[list[Step]]:
    return [[step for recorded in turn if (step := decoded(recorded))] for turn in result]


def state_hash(state: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()[:16]


def rewritten(value: Any, entry_id: str, version: str, methods: Mapping[str, Any]) -> Any:
    """An argument as the official executor hands it on: it puts an instance before whatever looks like a call.

    Our rule: text inside arguments is left alone. So the two agree once the text is rewritten beforehand.
    """

    def replace(match: re.Match[str]) -> str:
        if (method := methods.get(match[1])) is None:
            return match[1]
        owner = method.owner if version == "v4" else method.owner.lower()
        instance = re.sub(r"[-./:]", "_", f"exec_eval_{entry_id}_{owner}_instance")
        return f"{instance}.{match[1]}"

    text = repr(value)
    changed = re.sub(r"\b([a-zA-Z_]\w*)\s*(?=\()", replace, text)
    return value if changed == text else ast.literal_eval(changed)


def is_builtin(name: str) -> bool:
    """Our rule: Python's built-ins are no tools; the official executor runs them."""
    return hasattr(builtins, name)


def comparable(text: str) -> str:
    """A result with the members of a printed set in order: theirs depends on the process."""
    return re.sub(r"(?<=Must be one of )\{[^}]*\}", lambda found: str(sorted(ast.literal_eval(found[0]))), text)
