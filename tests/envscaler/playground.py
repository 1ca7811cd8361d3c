"""A shop of our own as a corpus: one small environment, one scenario, and builders that change one thing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from envscaler.cli import main
from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import Check, Corpus, OracleCall, Scenario
from harness.artifacts import MissingData, find
from harness.state import State

SHOP = '''
from typing import Dict, Literal, Optional


class Shop:
    """Orders of a shop."""

    def __init__(self, init_config: dict):
        self.orders: Dict[str, str] = dict(init_config.get("orders", {}))
        self.log: list = []

    def get_order(self, order_id: str) -> dict:
        """Look an order up."""
        if order_id not in self.orders:
            return {"success": False, "error": "no such order"}
        return {"success": True, "data": self.orders[order_id]}

    def set_status(self, order_id: str, status: Literal["open", "sent", "cancelled"]) -> dict:
        """Give an order another status."""
        if self.orders.get(order_id) == "sent":
            return {"success": False, "error": "already sent"}
        self.orders[order_id] = status
        return {"success": True, "message": "done"}

    def crash(self, why: Optional[str] = None) -> dict:
        """Fail."""
        raise RuntimeError(why or "no reason")

    def _helper(self) -> None:
        pass
'''
RULES = ("An order that was sent stays as it is.",)


def check(expression: str) -> str:
    """A check function that returns an expression of `final_state` and `initial_state`."""
    return f"def check_func(final_state):\n    return {expression}"


CANCELLED = check("final_state['orders']['O-1'] == 'cancelled'")
UNTOUCHED = check("final_state['orders']['O-1'] == 'cancelled' and final_state['orders']['O-2'] == 'open'")


def shop(**changes: Any) -> EnvironmentRecord:
    """The environment, with changes."""
    record = EnvironmentRecord("shop", "Shop orders", "Shop", "A shop keeps orders.", RULES, SHOP, "ours", "MIT")
    return replace(record, **changes)


def cancel(*checks: str, **changes: Any) -> Scenario:
    """The scenario, with these check functions if any, and changes."""
    functions = checks or (CANCELLED, UNTOUCHED)
    scenario = Scenario(
        env_id="shop",
        task_id="shop-task_1",
        init_config=State.of({"orders": {"O-1": "open", "O-2": "open"}}),
        task="Please cancel order O-1. Leave everything else alone.",
        checks=tuple(Check(f"Has goal {index} been met?", function) for index, function in enumerate(functions)),
        oracle=(
            OracleCall("get_order", {"order_id": "O-1"}),
            OracleCall("set_status", {"order_id": "O-1", "status": "cancelled"}),
        ),
        clock="2026-03-01T09:00:00Z",
        seed=7,
        provenance="ours",
    )
    return replace(scenario, **changes)


def corpus(*scenarios: Scenario, environment: EnvironmentRecord | None = None) -> Corpus:
    """A corpus of one environment."""
    environment = environment or shop()
    chosen = scenarios or (cancel(),)
    return Corpus({environment.id: environment}, {scenario.task_id: scenario for scenario in chosen})


PUBLIC_ENVIRONMENT: Mapping[str, Any] = {
    "env_id": "shop",
    "environment_summary": "Shop orders",
    "environment_introduction": "A shop keeps orders.",
    "constraints_rules": list(RULES),
    "env_class_name": "Shop",
    "env_class_code": SHOP,
    "env_func_details": {"get_order": {"doc": "Look an order up."}},
    "tools": [{"type": "function", "function": {"name": "get_order", "parameters": {"type": "object"}}}],
}
PUBLIC_SCENARIO: Mapping[str, Any] = {
    "env_id": "shop",
    "env_class_name": "Shop",
    "task_id": "shop-task_1",
    "init_config": {"orders": {"O-1": "open", "O-2": "open"}},
    "task": "Please cancel order O-1.",
    "checklist_with_func": [{"check_item": "Has O-1 been cancelled?", "check_func": CANCELLED}],
}


def lines(path: Path, *records: Any) -> Path:
    """A file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def public(
    folder: Path, environment: Mapping[str, Any] | None = None, scenario: Mapping[str, Any] | None = None
) -> Path:
    """A packed corpus of one public record each, with changes; a value of `...` takes the field out."""
    for name, record, changes in (
        ("environments", PUBLIC_ENVIRONMENT, environment),
        ("scenarios", PUBLIC_SCENARIO, scenario),
    ):
        changed = {key: value for key, value in {**record, **(changes or {})}.items() if value is not ...}
        lines(folder / f"{name}.jsonl", changed)
    return folder


def door(*arguments: object, stdin: bytes | str | None = None) -> Result:
    """`envscaler` with these arguments."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def refused(result: Result) -> str:
    """The one sentence of a command that refused its input: exit code 2, nothing on standard output."""
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    sentence = result.stderr.rstrip("\n")
    assert "\n" not in sentence
    return sentence.removeprefix("envscaler: ")


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def release_sample() -> Path:
    """The folder of the public release's sample; skips the test where it is absent."""
    try:
        return find("envscaler_release_sample")
    except MissingData as missing:
        pytest.skip(str(missing))


def names(tools: Sequence[Any]) -> list[str]:
    """The names of tools."""
    return [tool.name for tool in tools]
