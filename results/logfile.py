"""What tables need of an Inspect log, read without building Inspect's own objects: most of a log is events."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from typing import Any

import msgspec
from inspect_ai.log import EvalLog, read_eval_log

STORE_KEY = "envscaler"
UNSCORED = "unscored"
"""Ending of an episode that was played and that nothing could score: the scenario has no checks."""


class Usage(msgspec.Struct):
    """Tokens of one model or role in one sample."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    total_cost: float | None = None
    """In dollars, where Inspect knew the price."""


class Record(msgspec.Struct):
    """What our solver left."""

    outcome: dict[str, Any] | None = None
    serving: dict[str, Any] | None = None
    """What the server says of itself, where a provider asked it."""


class Store(msgspec.Struct):
    """The store of a sample; only our part."""

    envscaler: Record | None = None


class Output(msgspec.Struct):
    """The model's last output."""

    model: str = ""
    metadata: dict[str, Any] | None = None


class Sample(msgspec.Struct):
    """One sample and run of a log."""

    id: int | str
    epoch: int
    metadata: dict[str, Any] | None = None
    store: Store | None = None
    error: dict[str, Any] | None = None
    model_usage: dict[str, Usage] = {}
    role_usage: dict[str, Usage] = {}
    total_time: float | None = None
    output: Output | None = None
    scores: msgspec.Raw = msgspec.Raw(b"null")
    uuid: str | None = None
    """Of this play of the sample; a log that finishes another keeps it."""

    @property
    def serving(self) -> dict[str, Any]:
        """What is known of the model's server: from our record, or from the metadata of the model's output."""
        record = self.store.envscaler if self.store else None
        told = (self.output.metadata if self.output else None) or {}
        found = (record.serving if record else None) or told.get("serving")
        return found if isinstance(found, dict) else {}

    @property
    def outcome(self) -> dict[str, Any]:
        """The recorded outcome; empty if the sample ended before it had one."""
        record = self.store.envscaler if self.store else None
        return (record.outcome if record else None) or self._recovered()

    def _recovered(self) -> dict[str, Any]:
        """The outcome from the score: what Inspect recovers of a killed run has scores, and no store."""
        for name, score in (json.loads(bytes(self.scores)) or {}).items():
            if name.rpartition("/")[2] != "outcome":
                continue
            parts, value = dict(score.get("metadata") or {}), score.get("value")
            ended = {"stop_reason": parts.pop("stop_reason", ""), "steps": parts.pop("steps", 0)}
            if score.get("reason") == UNSCORED:
                return {**ended, "ending": UNSCORED}
            if isinstance(value, dict):
                found = {"value": value["reward"], "success": bool(value["success"]), "parts": parts}
                return {**ended, "ending": "scored", "score": found}
        return {}


_DECODER = msgspec.json.Decoder(Sample)


def header(path: str) -> EvalLog:
    """The log without its samples.

    Raises:
        OSError, ValueError, KeyError, BadZipFile: If the file is no log.
    """
    return read_eval_log(path, header_only=True)


def samples(path: str) -> Iterator[Sample]:
    """The samples that a log holds so far, in the order of the file.

    Raises:
        OSError, ValueError, KeyError, BadZipFile: If the file is no log.
    """
    if not path.endswith(".eval"):
        for sample in read_eval_log(path).samples or ():
            yield _decode(sample.model_dump_json().encode())
        return
    # Importing Inspect's log module taught `zipfile` the compression that logs use.
    with zipfile.ZipFile(path.removeprefix("file://")) as archive:
        for name in dict.fromkeys(archive.namelist()):
            if name.startswith("samples/"):
                yield _decode(archive.read(name))


def _decode(data: bytes) -> Sample:
    try:
        return _DECODER.decode(data)
    except msgspec.DecodeError:
        # NaN, infinity and halves of a character, which Inspect writes and strict JSON has not.
        record = json.loads(data, parse_constant=lambda _: None)
        return _DECODER.decode(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"))
