"""Data and backends of one release, together: the only way this package hands out either."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from adapters.bfcl.backends import Backends
from adapters.bfcl.checker import named
from adapters.bfcl.entry import Entry
from adapters.bfcl.release import Release, open_release
from adapters.bfcl.tools import Toolbox
from harness.case import Turn
from harness.environment import ToolSpec
from harness.messages import Message, assistant


class Pair:
    """One release, ready to be played: entries, tool lists, user turns, backends."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.backends = Backends(release)
        self._toolbox = Toolbox(release.version, release.docs)
        self._entries: dict[str, tuple[Entry, ...]] = {}

    def entries(self, subset: str) -> tuple[Entry, ...]:
        """The entries of one subset, in order."""
        if subset not in self._entries:
            self._entries[subset] = self.release.entries(subset)
        return self._entries[subset]

    def tools(self, entry: Entry) -> list[ToolSpec]:
        """The tools of the first turn."""
        held_out = [name for names in entry.held_out.values() for name in names]
        return self._toolbox.shown_first(entry.classes, held_out)

    def turns(self, entry: Entry) -> tuple[Turn, ...]:
        """What the user says, turn by turn, and the tools that change with it.

        v3's `multi_turn_base_154` has one question fewer than ground-truth turns. The official loop ends after the last
        question, and the checker then fails every model for the number of turns. Here a wordless turn follows, so that
        the ground truth can be played.
        """
        texts = [*entry.questions, *[""] * (len(entry.truth) - len(entry.questions))]
        turns: list[Turn] = []
        late: list[str] = []
        for index, text in enumerate(texts):
            late += entry.held_out.get(index, ())
            tools = self._toolbox.shown_later(entry.classes, late) if index in entry.held_out else None
            turns.append(Turn(self.release.hold_out_sentence if text is None else text, tools))
        return tuple(turns)

    def oracle(self, entry: Entry) -> tuple[Message, ...]:
        """Messages that solve the entry: the calls of a turn in one step (some need more than 21), then a word."""
        messages = []
        for turn in entry.truth:
            if turn:
                messages.append(assistant("", [named(call, self.backends, entry) for call in turn]))
            messages.append(assistant("Done."))
        return tuple(messages)

    def defects(self, entry: Entry) -> list[str]:
        """What is known to be wrong with the entry, with its source. For reports; it never alters a verdict."""
        return [
            f"{defect['what']} ({defect['source']})"
            for defect in known_defects()
            if entry.version in defect["versions"] and entry.id in defect["entries"]
        ]


def open_pair(version: str) -> Pair:
    """The pair of a data version.

    Raises:
        SettingError: If there is no such version.
        MissingData: If its wheel is not on this machine.
        DataError: If the file is not that wheel.
    """
    return _pair(open_release(version))


@cache
def _pair(release: Release) -> Pair:
    return Pair(release)


@cache
def known_defects() -> list[dict[str, Any]]:
    """Reports about single entries: `entries`, `versions`, `what`, `source`, `state`."""
    defects: list[dict[str, Any]] = json.loads(files("adapters.bfcl").joinpath("known_defects.json").read_text("utf-8"))
    return defects
