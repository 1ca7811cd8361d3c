"""The standard library as generated code sees it: an allow-list, loaded before the first fork; the rest is refused.

Children cannot open files, so a module is there when they start or never.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec

ALLOWED_MODULES = (
    "__future__",
    "abc",
    "base64",
    "bisect",
    "calendar",
    "cmath",
    "collections",
    "collections.abc",
    "contextlib",
    "contextvars",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "graphlib",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "html.entities",
    "inspect",
    "io",
    "ipaddress",
    "itertools",
    "json",
    "keyword",
    "linecache",
    "logging",
    "math",
    "numbers",
    "operator",
    "os",
    "os.path",
    "pprint",
    "random",
    "re",
    "reprlib",
    "secrets",
    "shlex",
    "statistics",
    "string",
    "struct",
    "sys",
    "textwrap",
    "time",
    "traceback",
    "types",
    "typing",
    "unicodedata",
    "urllib.parse",
    "uuid",
    "warnings",
    "weakref",
    "zlib",
    "zoneinfo",
)
"""What an environment or a check may import. `os` and `sys` are there, but what they reach for is refused."""

_ALSO_LOADED = ("_strptime", "encodings.ascii", "encodings.idna", "encodings.latin_1", "encodings.utf_16", "copyreg")
"""What allowed modules import by themselves at their first use."""

_MAX_ZONE_BYTES = 1 << 16


class Refuse:
    """A finder that ends the search: `ImportError`, in one sentence, for whatever is not loaded."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse `name`."""
        raise ImportError(f"not available in environments: {name}", name=name)


def load() -> None:
    """Import the allow-list and the time zones, then close the door behind them."""
    for name in (*_ALSO_LOADED, *ALLOWED_MODULES):
        importlib.import_module(name)
    _load_zones()


def close_the_door() -> None:
    """From now on nothing is imported that is not loaded."""
    sys.meta_path[:] = [Refuse]
    sys.path[:] = []
    sys.path_hooks.clear()
    sys.path_importer_cache.clear()


def _load_zones() -> None:
    """Read the time zones into memory, so that `zoneinfo` needs no file later."""
    import io
    import zoneinfo
    from zoneinfo import _common

    zones: dict[str, bytes] = {}
    for root in zoneinfo.TZPATH:
        for folder, subfolders, names in os.walk(root):
            subfolders[:] = [name for name in subfolders if name not in ("posix", "right")]
            for name in names:
                path = os.path.join(folder, name)
                key = os.path.relpath(path, root)
                if key not in zones and os.path.getsize(path) <= _MAX_ZONE_BYTES:
                    with open(path, "rb") as file:
                        data = file.read()
                    if data[:4] == b"TZif":
                        zones[key] = data

    def load_tzdata(key: str) -> io.BytesIO:
        try:
            return io.BytesIO(zones[key])
        except KeyError:
            raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}") from None

    zoneinfo.reset_tzpath(to=())
    _common.load_tzdata = load_tzdata  # type: ignore[assignment]
    zoneinfo.available_timezones = lambda: set(zones)
