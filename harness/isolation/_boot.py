"""First file of the zygote's interpreter: makes exactly our modules, msgspec and time-machine importable, then serves.

Started as a script with a clean environment and `-s -S -P -B`. Not `-I`: it would ignore PYTHONHASHSEED. Neither the
site-packages folder nor the repository is on `sys.path`, since both hold more than a child should find.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import types
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec


class _Located:
    """A finder for a few top-level modules at given places."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        place = self._places.get(name)
        if place is None:
            return None
        folder = [os.path.dirname(place)] if os.path.basename(place) == "__init__.py" else None
        return importlib.util.spec_from_file_location(name, place, submodule_search_locations=folder)


def boot(settings: str) -> None:
    """Serve until the harness ends.

    Args:
        settings: JSON with `control` (descriptor), `harness` (process id), `places` (module -> file), `weak`.
    """
    given = json.loads(settings)
    sys.meta_path.insert(0, _Located(given["places"]))
    # A bare package: its real face is the harness's side, with everything that a child should not load.
    package = types.ModuleType("harness.isolation")
    package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules["harness.isolation"] = package
    from harness.isolation._zygote import main

    main(given["control"], given["harness"], weak=given["weak"])


if __name__ == "__main__":
    boot(sys.argv[1])
