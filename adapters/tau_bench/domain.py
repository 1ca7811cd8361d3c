"""One domain as it lies on disk: tables, tool schemas, policy; loaded once per process, and only when first needed."""

from __future__ import annotations

import json
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from adapters.tau_bench import airline, retail
from adapters.tau_bench.database import Database
from adapters.tau_bench.toolbox import Tool
from harness.environment import ToolSpec
from harness.errors import DataError
from harness.files import read_bytes

TOOLS = {"retail": retail.TOOLS, "airline": airline.TOOLS}
TABLES = {"retail": ("orders", "products", "users"), "airline": ("flights", "reservations", "users")}


class Domain:
    """A domain's data and tools.

    Args:
        name: `retail` or `airline`.
        folder: Where its files lie.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.toolbox: dict[str, Tool] = TOOLS[name]

    @cached_property
    def database(self) -> Database:
        """The shared tables.

        Raises:
            DataError: If a table is missing or is no table.
        """
        return Database({table: self._table(table) for table in TABLES[self.name]})

    def _table(self, name: str) -> dict[str, dict[str, Any]]:
        file = self.folder / f"{name}.json"
        table = read_json(file)
        if not isinstance(table, dict):
            raise DataError(file, "", "must be a JSON object: entities by key")
        for key, entity in table.items():
            if not isinstance(entity, dict):
                raise DataError(file, key, "must be a JSON object")
        return table

    @cached_property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as the model sees them, in the official order.

        Raises:
            DataError: If the file does not describe exactly the tools of the domain.
        """
        file = self.folder / "tools.json"
        entries = read_json(file)
        try:
            specs = tuple(ToolSpec.from_openai(entry) for entry in entries)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(file, "", f"must be a list of OpenAI tool descriptions ({error!r})") from error
        if {spec.name for spec in specs} != self.toolbox.keys():
            odd = ", ".join(sorted({spec.name for spec in specs} ^ self.toolbox.keys()))
            raise DataError(file, "", f"must describe the {len(self.toolbox)} tools of {self.name}; differs in: {odd}")
        return specs

    @cached_property
    def policy(self) -> str:
        """The policy that the agent is given.

        Raises:
            DataError: If its file is missing or is not UTF-8.
        """
        file = self.folder / "wiki.md"
        try:
            return read_bytes(file).decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(file, "", f"is not UTF-8 ({error})") from error


@lru_cache(maxsize=8)
def open_domain(name: str, data: Path) -> Domain:
    """The domain whose files lie in `data/name`; one object per process, so that its tables are shared."""
    return Domain(name, data / name)


def read_json(file: Path) -> Any:
    """The JSON of a file; whole numbers and floats stay what they are.

    Raises:
        DataError: If it cannot be read or is not JSON.
    """
    try:
        return json.loads(read_bytes(file))
    except (ValueError, RecursionError) as error:
        raise DataError(file, "", f"is not JSON ({error})") from error
