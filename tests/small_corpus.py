"""A corpus of one small environment of our own, for tests that need one on disk."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

SOURCE = '''\
class Shelf:
    """A shelf of jars."""

    def __init__(self, init_config: dict):
        self.jars = dict(init_config.get("jars", {}))
        self.capacity = init_config.get("capacity", 5)

    def count(self, name: str) -> dict:
        """Tell how many jars of a kind stand there.

        Args:
            name: Kind of jar.
        """
        return {"success": True, "data": self.jars.get(name, 0)}

    def put(self, name: str, number: int = 1) -> dict:
        """Put jars on the shelf.

        Args:
            name: Kind of jar.
            number: How many.
        """
        if sum(self.jars.values()) + number > self.capacity:
            return {"success": False, "error": "The shelf is full."}
        self.jars[name] = self.jars.get(name, 0) + number
        return {"success": True, "message": "Done."}
'''

TOML = """\
id = "shelf"
title = "Shelf"
class = "Shelf"
description = "A shelf that holds jars."
rules = ["No more jars than the shelf holds."]
"""


def scenario(number: int) -> dict[str, Any]:
    """Put two jars of honey beside the jam."""
    check = "def check_func(final_state):\n    return final_state['jars'].get('honey', 0) == 2"
    unchanged = "def check_func(final_state):\n    return final_state['jars'] == {**initial_state['jars'], 'honey': 2}"
    return {
        "env_id": "shelf",
        "task_id": f"shelf-task_{number}",
        "init_config": {"jars": {"jam": number % 3 + 1}, "capacity": 6},
        "task": "Look how much jam there is. Then put two jars of honey on the shelf.",
        "checks": [
            {"item": "Are there two jars of honey?", "function": check},
            {"item": "Is the jam untouched?", "function": unchanged},
        ],
        "oracle": [
            {"name": "count", "arguments": {"name": "jam"}},
            {"name": "put", "arguments": {"name": "honey", "number": 2}},
        ],
    }


def write(folder: Path, scenarios: int = 2, unchecked: Collection[int] = ()) -> Path:
    """The corpus in its unpacked form; the scenarios of these numbers without checks."""
    home = folder / "shelf"
    (home / "scenarios").mkdir(parents=True)
    (home / "environment.py").write_text(SOURCE)
    (home / "environment.toml").write_text(TOML)
    for number in range(1, scenarios + 1):
        made = {**scenario(number), **({"checks": []} if number in unchecked else {})}
        (home / "scenarios" / f"shelf-task_{number}.json").write_text(json.dumps(made))
    return folder
