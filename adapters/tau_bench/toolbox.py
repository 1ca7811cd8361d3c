"""What the tools of both domains share: how a call is bound to a tool, and what a wrong call is told.

The official environment passes the model's arguments to a class's `invoke` and shows any exception as text; so Python's
own sentences about missing and surplus arguments are observations, with the official class names in them (docs of
Tau-Bench, section 1.11). They are written here, since ours would name other functions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.tau_bench import arithmetic
from adapters.tau_bench.database import Session

ToolFunction = Callable[..., str | None]
"""Takes the session and the arguments by name; returns the observation."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its function and the names of its arguments, all of them required."""

    domain: str
    name: str
    function: ToolFunction
    parameters: tuple[str, ...]

    def invoke(self, session: Session, arguments: Mapping[str, Any]) -> str | None:
        """The observation; None where the official tool forgets to give one.

        Raises:
            TypeError: If the arguments do not fit, in the official wording.
            Exception: Whatever arguments of a wrong type lead to.
        """
        self._check(arguments)
        return self.function(session, **arguments)

    def _check(self, arguments: Mapping[str, Any]) -> None:
        method = f"{''.join(word.capitalize() for word in self.name.split('_'))}.invoke()"
        if "data" in arguments:
            # The database has that name in the official signature, and is passed beside the arguments.
            module = f"tau_bench.envs.{self.domain}.tools.{self.name}"
            raise TypeError(f"{module}.{method} got multiple values for keyword argument 'data'")
        for name in arguments:
            if name not in self.parameters:
                raise TypeError(f"{method} got an unexpected keyword argument '{name}'")
        if missing := [repr(name) for name in self.parameters if name not in arguments]:
            plural = "s" if len(missing) > 1 else ""
            raise TypeError(f"{method} missing {len(missing)} required positional argument{plural}: {_listed(missing)}")


def _listed(names: list[str]) -> str:
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"


def toolbox(domain: str, functions: Iterable[ToolFunction]) -> dict[str, Tool]:
    """The tools of a domain by name; each function's first parameter is the session."""
    tools = {}
    for function in functions:
        name = function.__name__
        tools[name] = Tool(domain, name, function, tuple(inspect.signature(function).parameters)[1:])
    return tools


def calculate(db: Session, expression: Any) -> str:
    """Arithmetic."""
    return arithmetic.calculate(expression)


def think(db: Session, thought: Any) -> str:
    """Nothing happens; the thought stands in the history."""
    return ""


def transfer_to_human_agents(db: Session, summary: Any) -> str:
    """The episode ends, which is the environment's matter."""
    return "Transfer successful"
