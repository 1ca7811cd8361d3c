"""A domain as the harness sees it: tools, calls, state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adapters.tau_bench.database import Session, copied
from adapters.tau_bench.domain import Domain
from harness.environment import ToolResult, ToolSpec, ToolStatus
from harness.state import State

ENDING_TOOLS = frozenset({"transfer_to_human_agents"})
"""Calls that end the episode, even if they go wrong; the ground truth is replayed without them."""


class TauBenchEnvironment:
    """One episode's database with its tools.

    A tool's exception is its answer (`Error: ...`), as in the official environment, and so no exception in the
    harness's sense; only the fourth `send_certificate`, which answers nothing and there breaks the run, is one.
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.session: Session = domain.database.session()

    @property
    def tools(self) -> Sequence[ToolSpec]:
        return self.domain.specs

    def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        tool = self.domain.toolbox.get(name)
        if tool is None:
            return ToolResult(f"Unknown action {name}", ToolStatus.UNKNOWN_TOOL)
        try:
            # Tools keep the lists they are given, and later calls change them: they must not be the caller's.
            answer = tool.invoke(self.session, copied(arguments))
        # Any exception is the tool's answer to what the agent sent (docs of Tau-Bench, section 1.4).
        except Exception as error:
            answer = f"Error: {error}"
        status = ToolStatus.RAISED if answer is None else ToolStatus.OK
        return ToolResult(str(answer), status, ends=name in ENDING_TOOLS)

    def state(self) -> State:
        """The entities that differ from the shared database, by `table/key`."""
        return State.of(self.session.changed())

    def close(self) -> None:
        self.session = self.domain.database.session()
