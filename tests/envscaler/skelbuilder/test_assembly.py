from __future__ import annotations

import pytest

from envscaler.skelbuilder.assemble import assemble
from envscaler.synthesis.answers import Unusable

STATE = '''\
"""A module docstring."""
from typing import Dict, TypedDict
import copy


class Jar(TypedDict):
    jar_id: str  # "J-1"


class Shelf:
    """A shelf."""

    def __init__(self, init_config: dict):
        self.jars: Dict[str, Jar] = init_config.get("jars", {})
'''

METHODS = '''\
from typing import Dict, Optional
import copy
from datetime import (
    date,
    timedelta,
)

def show(self, jar_id: str, note: Optional[str] = None) -> dict:
    """Show a jar.

    from here on: not an import.
    """
    # import nothing here
    text = """two
lines"""
    return {"success": True, "data": text}


class Shelf:
    # the helper
    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

if __name__ == "__main__":
    print(Shelf({}))
'''


def test_parts_become_one_class_with_its_imports_merged() -> None:
    source = assemble("Shelf", [STATE, METHODS])
    assert source.startswith(
        "import copy\nfrom datetime import date, timedelta\nfrom typing import Dict, Optional, TypedDict\n"
    )
    assert source.count("class Shelf") == 1
    assert 'jar_id: str  # "J-1"' in source
    assert "    # the helper\n    @staticmethod\n    def _fail" in source
    assert "__main__" not in source
    names: dict[str, object] = {}
    exec(source, names)  # our own text
    shelf = names["Shelf"]({})  # type: ignore[operator]
    assert shelf.show("J-1")["data"] == "two\nlines"
    assert "from here on: not an import." in shelf.show.__doc__


def test_later_definitions_replace_earlier_ones() -> None:
    source = assemble("Shelf", [STATE, METHODS, "def show(self) -> dict:\n    return {}\n"])
    assert source.count("def show") == 1
    assert "jar_id: str, note" not in source


def test_assembling_again_changes_nothing() -> None:
    source = assemble("Shelf", [STATE, METHODS])
    assert assemble("Shelf", [source]) == source


def test_parts_without_the_class_or_broken_ones_go_back() -> None:
    with pytest.raises(Unusable, match="no part defines the class Shelf"):
        assemble("Shelf", ["def f(self):\n    pass"])
    with pytest.raises(Unusable, match="does not compile"):
        assemble("Shelf", [STATE, "def f(:"])
