"""The record of an episode, one JSON line each: what replay, training and results read (DESIGN section 6)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from harness.environment import ToolResult, ToolSpec
from harness.errors import DataError
from harness.files import read_bytes, replacing
from harness.messages import Message
from harness.outcome import Outcome, StopReason


@dataclass(frozen=True, slots=True)
class ExecutedCall:
    """One call that reached the environment."""

    turn: int
    """0-based user turn it belongs to."""
    step: int
    """1-based agent message that made it."""
    name: str
    arguments: dict[str, Any]
    result: ToolResult


@dataclass(slots=True)
class Trajectory:
    """What happened in one episode. `messages` is verbatim: replay plays it again."""

    sample_id: str
    messages: list[Message] = field(default_factory=list)
    tools: list[ToolSpec] = field(default_factory=list)
    benchmark: str = ""
    run: int = 1
    protocol: str = ""
    model: str = ""
    stop_reason: StopReason | None = None
    outcome: Outcome | None = None
    calls: list[ExecutedCall] = field(default_factory=list)
    """Every executed call in order. Not written: replay makes them anew."""
    turn_steps: list[int] = field(default_factory=list)
    """Agent messages per user turn; its length is the number of turns begun. Not written."""

    @property
    def steps(self) -> int:
        """Agent messages so far."""
        return sum(self.turn_steps)

    def record(self) -> dict[str, Any]:
        """The line on disk, as plain JSON values."""
        return {
            "benchmark": self.benchmark,
            "sample_id": self.sample_id,
            "run": self.run,
            "protocol": self.protocol,
            "model": self.model,
            "messages": self.messages,
            "tools": [tool.openai() for tool in self.tools],
            "stop_reason": self.stop_reason.value if self.stop_reason else None,
            "outcome": self.outcome.record() if self.outcome else None,
        }


KNOWN_FIELDS = frozenset(
    {"benchmark", "sample_id", "run", "protocol", "model", "messages", "tools", "stop_reason", "outcome"}
)


@dataclass(frozen=True, slots=True)
class Recording:
    """A trajectory read from a file: enough to replay it."""

    sample_id: str
    messages: list[Message]
    tag: dict[str, Any] = field(default_factory=dict)
    """Keys of the record that are not ours, passed through to the output; NaN and infinity, no JSON, are None."""
    protocol: str = ""
    """Name of the protocol it was recorded under; empty if the record does not say."""
    where: str = ""
    """Its place in the file, for error messages."""


def read_recordings(source: str | Path) -> Iterator[Recording]:
    """The recordings of a JSONL file, gzipped or not; `-` reads standard input.

    Raises:
        DataError: Naming the line and the field of the first record that cannot be replayed.
    """
    for number, line in enumerate(read_bytes(source).splitlines(), start=1):
        if line.strip():
            yield _recording(line, str(source), f"line {number}")


def _recording(line: bytes, file: str, where: str) -> Recording:
    try:
        # Not msgspec: it refuses NaN and the halves of a character, and other tools write both.
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(file, where, f"is not JSON ({error})") from error
    if not isinstance(record, dict):
        raise DataError(file, where, "must be a JSON object")
    sample_id, messages = record.get("sample_id"), record.get("messages")
    if not isinstance(sample_id, str) or not sample_id:
        raise DataError(file, f"{where}: sample_id", "must be a non-empty string")
    if not isinstance(messages, list):
        raise DataError(file, f"{where}: messages", "must be a list of chat messages")
    for index, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in ("system", "user", "assistant", "tool"):
            raise DataError(file, f"{where}: messages[{index}].role", "must be one of system, user, assistant, tool")
    tag = {key: _finite(value) for key, value in record.items() if key not in KNOWN_FIELDS}
    protocol = record.get("protocol")
    return Recording(sample_id, messages, tag, protocol if isinstance(protocol, str) else "", where)


def write_trajectories(path: Path, trajectories: Iterable[Trajectory]) -> None:
    """Write trajectories as JSONL, whole or not at all."""
    with replacing(path) as file:
        for trajectory in trajectories:
            file.write(encoded(trajectory.record()) + b"\n")


def encoded(record: dict[str, Any]) -> bytes:
    """A record as one line of JSON, without the line's end."""
    try:
        return msgspec.json.encode(record)
    except UnicodeEncodeError:
        # Halves of a character, as a model cut inside one may write them; escapes carry them.
        return json.dumps(_finite(msgspec.to_builtins(record)), allow_nan=False).encode()


def _finite(value: Any) -> Any:
    """A JSON value with None for NaN and infinity, which is what msgspec writes for them; changed in place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            value[key] = _finite(inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            value[index] = _finite(inner)
    return None if isinstance(value, float) and not math.isfinite(value) else value
