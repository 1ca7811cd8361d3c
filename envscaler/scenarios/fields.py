"""Reading untyped records: each value is checked, each mistake is named by file and path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from harness.errors import DataError

T = TypeVar("T")


def decode(file: str | Path, path: str, data: bytes | str, what: str = "is not JSON") -> Any:
    """The value of a JSON text.

    Raises:
        DataError: If it is none, or nested too deeply.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(file, path, f"{what} ({error})") from error


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object at a place in a file."""

    file: str
    path: str
    values: Mapping[str, Any]

    @classmethod
    def of(cls, file: str, path: str, value: Any) -> Fields:
        """Take `value` as an object.

        Raises:
            DataError: If it is none.
        """
        if not isinstance(value, Mapping):
            raise DataError(file, path, f"must be an object, not {type(value).__name__}")
        return cls(file, path, value)

    def at(self, name: str) -> str:
        """The path of a field."""
        return f"{self.path}.{name}" if self.path else name

    def error(self, name: str, problem: str) -> DataError:
        """A mistake in one field."""
        return DataError(self.file, self.at(name), problem)

    def get(self, name: str, kind: type[T], default: T | None = None) -> T:
        """A field of the given type.

        Raises:
            DataError: If it is missing (and there is no default) or of another type.
        """
        value = self.values.get(name)
        if value is None and name not in self.values:
            if default is not None:
                return default
            raise self.error(name, "is missing")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.error(name, f"must be {_NAMES.get(kind, kind.__name__)}, not {type(value).__name__}")
        return value

    def text(self, name: str, default: str | None = None) -> str:
        """A string field; empty only if it may be left out."""
        value = self.get(name, str, default)
        if not value and default is None:
            raise self.error(name, "must not be empty")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of strings; missing counts as empty."""
        values = self.get(name, list, [])
        for index, value in enumerate(values):
            if not isinstance(value, str):
                raise self.error(f"{name}[{index}]", f"must be a string, not {type(value).__name__}")
        return tuple(values)

    def decoded(self, name: str, kind: type[T]) -> T:
        """A field that the Hub form of the release holds as a JSON string, the other forms as a value."""
        value = self.values.get(name)
        if isinstance(value, str) and kind is not str:
            value = decode(self.file, self.at(name), value, "is a string that is not JSON")
        if not isinstance(value, kind):
            if name not in self.values:
                raise self.error(name, "is missing")
            raise self.error(name, f"must be {_NAMES.get(kind, kind.__name__)}, not {type(value).__name__}")
        return value

    def objects(self, name: str) -> Iterator[Fields]:
        """The objects of a list field; missing counts as empty."""
        for index, value in enumerate(self.get(name, list, [])):
            yield Fields.of(self.file, self.at(f"{name}[{index}]"), value)

    def rest(self, *known: str) -> dict[str, Any]:
        """The fields that are not named."""
        return {name: value for name, value in self.values.items() if name not in known}


_NAMES: Mapping[type, str] = {
    str: "a string",
    int: "an integer",
    list: "a list",
    dict: "an object",
    float: "a number",
    bool: "a boolean",
}
