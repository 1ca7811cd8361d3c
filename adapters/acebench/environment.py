"""One task's classes behind the harness's `Environment`: dispatch by name, reply form, scored state."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from adapters.acebench.language import LANGUAGES
from adapters.acebench.phone import BaseApi, FoodPlatform, MessageApi, ReminderApi
from adapters.acebench.travel import Travel
from harness.environment import ToolResult, ToolSpec, ToolStatus
from harness.state import State

Instance = BaseApi | Travel

CLASSES: Mapping[str, type[Instance]] = {
    each.__name__: each for each in (BaseApi, MessageApi, ReminderApi, FoodPlatform, Travel)
}
"""The benchmark's classes, by the names that tasks use."""

UNKNOWN_TOOL = "No matching function found"
"""The answer to a name that no involved class has (the paper's executor)."""


class NoSuchMethod(LookupError):
    """No involved class has a method of this name."""


_CHINESE_ONLY = frozenset({"search_reminders", "mark_as_notified"})


@cache
def _owners(involved: tuple[str, ...], chinese: bool) -> Mapping[str, tuple[str, ...]]:
    """Which of the involved classes have a method, by its name."""
    found: dict[str, tuple[str, ...]] = {}
    for owner in involved:
        for name, _ in inspect.getmembers(CLASSES[owner], inspect.isfunction):
            if not name.startswith("_") and (chinese or name not in _CHINESE_ONLY):
                found[name] = (*found.get(name, ()), owner)
    return found


class World:
    """The seed state of the classes in one language.

    Args:
        seed: By class name; inbox and reminders keyed by ints.
    """

    def __init__(self, seed: Mapping[str, Mapping[str, Any]]) -> None:
        self.seed = seed
        """To be read only."""
        # Decoding is the cheapest copy, and this format keeps int keys.
        self._packed = {name: msgspec.msgpack.encode(state) for name, state in seed.items()}

    def fresh(self, name: str) -> dict[str, Any]:
        """A copy of one class's seed state."""
        state: dict[str, Any] = msgspec.msgpack.decode(self._packed[name])
        return state


def observed(result: Any) -> Any:
    """A method's result as the agent sees it: through text, and back to a value where the text is JSON.

    So a number stays one, a list of dicts becomes a string, and keys become strings (docs/acebench.md, Environment).
    """
    text = json.dumps(result) if isinstance(result, dict) else str(result)
    try:
        return json.loads(text)
    except ValueError:
        return text


def as_json(value: Any) -> Any:
    """`value` as it comes back from JSON text: the int keys of inboxes and reminder lists become strings."""
    if isinstance(value, dict):
        return {key if type(key) is str else str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value


class AceEnvironment:
    """The classes that one task involves, each with its own copy of the device's switches.

    Args:
        world: The seed state.
        involved: Class names, in the task's order.
        config: The task's `initial_config`. Only its `BaseApi` entry is ever effective: it is loaded into each class.
        tools: What the agent is offered; the classes answer to more names than these.
    """

    def __init__(
        self,
        world: World,
        involved: Sequence[str],
        config: Mapping[str, Any],
        tools: Sequence[ToolSpec],
        language: str = "en",
    ) -> None:
        spoken = LANGUAGES[language]
        device = config.get("BaseApi", {})
        self.tools = tools
        self._owners = _owners(tuple(involved), spoken.searches_reminders)
        self._instances = {name: CLASSES[name](world.fresh(name), device, spoken) for name in involved}

    def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """Run a method on every involved class that has it; the last result is the answer.

        The answer is a list of one, as the executors give a list of results per message; a message with several calls
        gets several such lists.
        """
        if name not in self._owners:
            return ToolResult(str([UNKNOWN_TOOL]), ToolStatus.UNKNOWN_TOOL)
        try:
            text = str([observed(self.run(name, arguments))])
        except Exception as error:
            # Whatever the classes raise over an agent's arguments is the agent's answer (docs/acebench.md, Protocols).
            return ToolResult(str([f"Error during execution: {error}"]), ToolStatus.RAISED)
        return ToolResult(text)

    def run(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """What the method returns, still live: the last result of the classes that have it.

        Raises:
            NoSuchMethod: If none has it.
            Exception: Whatever the class raises.
        """
        owners = self._owners.get(name)
        if owners is None:
            raise NoSuchMethod(name)
        for owner in owners:
            result = getattr(self._instances[owner], name)(**arguments)
        return result

    def snapshot(self) -> list[dict[str, dict[str, Any]]]:
        """The scored attributes of each class, in the task's order, as JSON values; a copy."""
        return [
            {name: {attribute: as_json(getattr(instance, attribute)) for attribute in instance.SAVED}}
            for name, instance in self._instances.items()
        ]

    def state(self) -> State:
        return State.of(self.snapshot())

    def close(self) -> None:
        """There is nothing to free."""
