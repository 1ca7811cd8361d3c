"""Calls on the backends of one entry, answered as the official executor answers them (docs/bfcl.md, section 1.4).

Unlike there, nothing a model wrote is evaluated as Python: names are looked up, arguments are JSON values. So text
inside arguments is never rewritten, and Python's built-ins are not tools: our deviations, documented for users.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from adapters.bfcl import arithmetic
from adapters.bfcl.backends import Backends, Method
from adapters.bfcl.canonical import canonical, public
from adapters.bfcl.entry import Entry
from adapters.bfcl.unplain import NotPlain, Refused, plain, resolve
from harness.environment import ToolResult, ToolStatus

ERROR = "Error during execution: "


class Execution:
    """One world: the instances of one entry and the calls made on them.

    Raises:
        SettingError: If entry and backends are of different releases.
    """

    def __init__(self, entry: Entry, backends: Backends) -> None:
        self.instances = backends.fresh(entry)
        """Live backend instances by class, in the entry's order."""
        self._methods = backends.methods(entry.classes)
        self._unshared: dict[str, Callable[..., Any]] = {}

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Execute one call as the model wrote it. Never raises for what an agent can write."""
        return self._call(name, arguments, silent=False)

    def repeat(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Execute a call whose answer is known already; writing answers is half of the work."""
        self._call(name, arguments, silent=True)

    def states(self) -> dict[str, Any]:
        """Canonical public state by class: a copy."""
        return {name: canonical(public(instance)) for name, instance in self.instances.items()}

    def _call(self, name: str, arguments: Mapping[str, Any], silent: bool) -> ToolResult:
        method = self._methods.get(name)
        try:
            if method is None or not arguments.keys() <= method.parameters.keys():
                raise NotPlain
            values = {key: plain(value) for key, value in arguments.items()}
        except NotPlain:
            try:
                name, values = resolve(name, arguments, self._methods)
            except Refused as refused:
                return ToolResult(f"{ERROR}{refused}", refused.status)
            method = self._methods[name]
        return self._run(name, method, values, silent)

    def _run(self, name: str, method: Method, arguments: dict[str, Any], silent: bool) -> ToolResult:
        maths = method.owner == arithmetic.OWNER
        function = self._function(name, method)
        try:
            with arithmetic.own_precision() if maths else nullcontext():
                result = arithmetic.foreseen(name, arguments) if maths else None
                if result is None:
                    result = function(self.instances[method.owner], **arguments)
                return ToolResult("" if silent else _text(result))
        except Exception as error:  # the official boundary: whatever a backend raises is told to the agent
            return ToolResult(f"{ERROR}{error}", ToolStatus.RAISED)

    def _function(self, name: str, method: Method) -> Callable[..., Any]:
        if not method.shared_defaults:
            return method.function
        if name not in self._unshared:
            self._unshared[name] = method.unshared()
        return self._unshared[name]


def _text(result: Any) -> str:
    """The observation that a method's result becomes. Exact types count: a subclass of dict is printed, not encoded."""
    if type(result) is dict:
        try:
            return json.dumps(result)
        except Exception:  # numbers of mpmath and decimal are no JSON; official code catches everything here
            return str(result)
    return result if type(result) is str else str(result)
