"""The official executor around our classes: calls come as text, and a message is executed as a whole.

It stands here and not in the adapter because nothing but the recorded official runs speaks this protocol. It knows the
executor's own rules only: decoding, what an exception costs, when there is a state.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from adapters.acebench.environment import AceEnvironment, NoSuchMethod, observed

NUDGE = "Please do not ask me any questions, use the known conditions to solve the problem"
UNKNOWN = (
    "Error during execution: cannot access local variable 'func_call_result' where it is not associated with a value"
)
"""What multi_step answers to an unknown tool."""
UNFORMATTED = list("Error during execution: {str(e)}")
"""What multi_turn answers to a message in which anything raises: a format that was never filled in."""


@dataclass
class Official:
    """One replay of messages."""

    environment: AceEnvironment
    multi_turn: bool
    observations: list[Any] = field(default_factory=list)
    crashed: bool = False
    kept: bool = False
    """Whether a message was executed to its end; only then is there a state."""

    def run(self, messages: list[str]) -> int:
        """Execute messages until one crashes the executor; how many were logged."""
        for number, message in enumerate(messages, start=1):
            try:
                calls = decode(message)
            except (SyntaxError, ValueError, AttributeError):
                if self.multi_turn:
                    self.crashed = True
                    return number
                self.observations.append(NUDGE)
                continue
            self._execute(calls)
        return len(messages)

    def _execute(self, calls: list[tuple[str, dict[str, Any]]]) -> None:
        results: list[Any] = []
        for name, arguments in calls:
            try:
                results.append(self.environment.run(name, arguments))
            except Exception as error:
                if self.multi_turn:
                    self.observations.append(UNFORMATTED)
                    return
                results.append(UNKNOWN if isinstance(error, NoSuchMethod) else f"Error during execution: {error}")
        # Written out after the last call: a flight that an earlier call returned shows the seats that are left by then.
        self.observations.append([observed(result) for result in results])
        self.kept = True

    @property
    def states(self) -> list[Any]:
        """The final states as the official result file has them."""
        return self.environment.snapshot() if self.kept else []


def decode(message: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls in a message, by the official decoder's rules.

    Raises:
        SyntaxError, ValueError, AttributeError: If it finds none.
    """
    text = message.removeprefix(" ")
    text = text if text.startswith("[") else f"[{text}"
    text = text if text.endswith("]") else f"{text}]"
    node = ast.parse(text.strip("[]'"), mode="eval").body
    calls = node.elts if isinstance(node, ast.Tuple) else [node]
    return [_call(call) for call in calls]


def _call(node: ast.expr) -> tuple[str, dict[str, Any]]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise ValueError("not a call")
    arguments = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    if any(isinstance(value, dict) for value in arguments.values()):
        raise AttributeError("a dict as an argument is taken for a call")
    return node.func.id, arguments
