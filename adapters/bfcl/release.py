"""The two pinned releases of `bfcl-eval`, read from their wheels: tasks, answers, tools, the hold-out sentence.

Everything here is data, read as JSON or as Python literals; what is run lives in `adapters.bfcl.backends`.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import zipfile
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from adapters.bfcl.entry import Entry
from adapters.bfcl.tools import Doc
from harness.artifacts import MissingData, find
from harness.errors import DataError, SettingError

ARTIFACT = "bfcl"
SUBSETS = ("base", "miss_func", "miss_param", "long_context")
MODULES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
"""Class of a backend -> stem of its module and of its tool document (docs/bfcl.md, section 1)."""

_HOLD_OUT_SENTENCE = "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC"


@dataclass(frozen=True, slots=True)
class Pin:
    """One release: its data and its backends belong together (docs/bfcl.md, section 0, fact 2)."""

    version: str
    """Version of the data: `v3`, which the paper used, or `v4`."""
    package: str
    """Version of the package."""
    sha256: str

    @property
    def wheel(self) -> str:
        """File name of the wheel."""
        return f"bfcl_eval-{self.package}-py3-none-any.whl"


PINS = {
    "v3": Pin("v3", "2025.7.9", "990bde7ec916e1a298c6ac2db1fdb3d39e5b21ea027891d5f4a8849c034d9514"),
    "v4": Pin("v4", "2026.3.23", "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"),
}


class Release:
    """One wheel, checked against its pin.

    Raises:
        DataError: If the bytes are not those of the pinned release.
    """

    def __init__(self, pin: Pin, data: bytes, file: str = "") -> None:
        self.pin = pin
        self.file = file or pin.wheel
        if (digest := hashlib.sha256(data).hexdigest()) != pin.sha256:
            problem = f"is not bfcl-eval {pin.package} (sha256 {digest[:12]}…, expected {pin.sha256[:12]}…)"
            raise DataError(self.file, "", f"{problem}; fetch it again with: envscaler data pull {ARTIFACT}")
        self._zip = zipfile.ZipFile(io.BytesIO(data))

    @property
    def version(self) -> str:
        """`v3` or `v4`."""
        return self.pin.version

    def read(self, path: str) -> bytes:
        """The bytes of one file of the package.

        Raises:
            DataError: If the wheel has no such file.
        """
        try:
            return self._zip.read(f"bfcl_eval/{path}")
        except KeyError as error:
            raise DataError(self.file, f"bfcl_eval/{path}", "is missing") from error

    def backend_source(self, module: str) -> bytes:
        """Source of one backend module."""
        return self.read(f"eval_checker/multi_turn_eval/func_source_code/{module}.py")

    def entries(self, subset: str) -> tuple[Entry, ...]:
        """The entries of one subset, in order.

        Raises:
            DataError: Naming the record and field that is not what it should be.
        """
        name = f"BFCL_{self.version}_multi_turn_{subset}.json"
        answers = {answer["id"]: answer["ground_truth"] for answer in self.records(f"data/possible_answer/{name}")}
        entries = []
        for record in self.records(f"data/{name}"):
            if record["id"] not in answers:
                raise DataError(self.file, f"{name}: {record['id']}", "has no answer")
            try:
                entries.append(Entry.of(record, answers[record["id"]], version=self.version, subset=subset))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise DataError(self.file, f"{name}: {record['id']}", f"cannot be read ({error!r})") from error
        return tuple(entries)

    def docs(self, class_name: str) -> list[Doc]:
        """The tool documents of one class, in file order; a fresh copy."""
        return self.records(f"data/multi_turn_func_doc/{MODULES[class_name]}.json")

    @cached_property
    def hold_out_sentence(self) -> str:
        """What the user says when held-out tools appear: a constant of the release (docs/bfcl.md, section 1.1).

        Raises:
            DataError: If the constant is not there.
        """
        path = "constants/default_prompts.py"
        for node in ast.parse(self.read(path)).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == _HOLD_OUT_SENTENCE:
                return str(ast.literal_eval(node.value))
        raise DataError(self.file, f"bfcl_eval/{path}", f"does not define {_HOLD_OUT_SENTENCE}")

    def records(self, path: str) -> list[dict[str, Any]]:
        """The records of a JSON-lines file; fresh copies.

        Raises:
            DataError: Naming the line that is no record.
        """
        records = []
        for number, line in enumerate(self.read(path).splitlines(), start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError as error:
                raise DataError(self.file, f"{path}: line {number}", f"is not JSON ({error})") from error
            if not isinstance(record, dict) or not ("id" in record or "name" in record):
                raise DataError(self.file, f"{path}: line {number}", "must be an object with an id or a name")
            records.append(record)
        return records


def pin_of(version: str) -> Pin:
    """The pin of a data version.

    Raises:
        SettingError: If there is no such version.
    """
    if version not in PINS:
        raise SettingError(f"BFCL version {version!r}: unknown; one of {', '.join(PINS)}")
    return PINS[version]


def open_release(version: str) -> Release:
    """The release of a data version, from the artifact folder.

    Raises:
        SettingError: If there is no such version.
        MissingData: If its wheel is not on this machine.
        DataError: If the file is not that wheel.
    """
    pin = pin_of(version)
    path = find(ARTIFACT) / pin.wheel
    if not path.is_file():
        raise MissingData(f"{path} not found; fetch it with: envscaler data pull {ARTIFACT}")
    return _open(pin, path, path.stat().st_mtime_ns)


@cache
def _open(pin: Pin, path: Path, changed: int) -> Release:
    return Release(pin, path.read_bytes(), str(path))
