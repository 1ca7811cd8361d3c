"""The environment that attacks are tried in, and what a clean episode in it looks like."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from harness.errors import EnvironmentFault
from harness.isolation._runner import IsolatedRunner
from harness.program import Checks, Program
from harness.state import State

CLASS = "ThrowAway"
CONFIG = State.of({"orders": {"O1": {"status": "open", "paid": False}}})

_SOURCE = '''
class ThrowAway:
    """Orders that may be looked up and shipped."""

    def __init__(self, config=None):
        self.orders = {}

    def look_up(self, order_id):
        return self.orders.get(order_id)

    def ship(self, order_id):
        self.orders[order_id]["status"] = "shipped"
        return "shipped"

    def _planted_checks(self):
        import json
        planted = globals().get("CHECKS", [])
        return json.dumps([check for check in planted if type(check) is str])

    def _fingerprint(self):
        """What this interpreter consists of: every name in every module, and what it stands for."""
        import hashlib
        import sys
        lines = []
        for module_name, module in sorted(sys.modules.items()):
            for name, value in sorted(getattr(module, "__dict__", {}).items()):
                lines.append(f"{module_name}.{name} {type(value).__qualname__} {getattr(value, '__qualname__', '')}")
        lines.append(repr((sys.path, sys.meta_path, sys.getrecursionlimit())))
        return hashlib.sha256("\\\\n".join(lines).encode()).hexdigest()
'''.replace("\\\\n", "\\n")

_ADOPTION = """

for _name, _value in list(globals().items()):
    if getattr(_value, "__code__", None) is not None and _value.__code__.co_varnames[:1] == ("self",):
        setattr(ThrowAway, _name, _value)
"""
"""An attack is written as a method beside the class; code around it stays where it is."""

PASSING = "def check_func(s):\n    return s['orders']['O1']['status'] == 'open'"
FAILING = (
    "def check_func(s):\n    return s['orders']['O1']['status'] == 'shipped'",
    "def check_func(s):\n    return s.get('orders', {}).get('O1', {}).get('status') == 'shipped'",
    "def check_func(s):\n    return s['orders']['O1'].get('paid') is True",
    "def check_func(s):\n    return s['orders'] == {'O1': {'status': 'shipped', 'paid': True}}",
)
"""True only of a state in which the order was really shipped, or paid."""


def shipped(final: State) -> bool:
    """True if the exported data say in plain JSON that the order was shipped or paid (an attack may do that openly)."""
    data = msgspec.json.decode(final.data)
    for key in ("orders", "O1"):
        data = data.get(key) if isinstance(data, dict) else None
    return isinstance(data, dict) and (data.get("status") == "shipped" or data.get("paid") is True)


def program(snippet: str = "") -> Program:
    """The throw-away environment, with an attack in it."""
    source = _SOURCE if not snippet else f"{_SOURCE}\n{snippet}\n{_ADOPTION}"
    tools = frozenset({"look_up", "ship", "attack", "_planted_checks", "_fingerprint"})
    return Program(source=source, class_name=CLASS, config=CONFIG, tools=tools)


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that a clean episode shows; two looks are equal unless something leaked from one into the other."""

    order: str
    fingerprint: str
    digest: str
    verdicts: tuple[bool, ...]


def clean_episode(runner: IsolatedRunner) -> Look:
    """Play one without an attack.

    Raises:
        EnvironmentFault: If even that fails.
    """
    with runner.open(program()) as instance:
        order = instance.call("look_up", {"order_id": "O1"})
        fingerprint = instance.call("_fingerprint", {})
        if fingerprint.status != "ok":
            raise EnvironmentFault("protocol_violation", fingerprint.text)
        instance.call("ship", {"order_id": "O1"})
        final = instance.state()
    verdicts = runner.check(Checks(functions=(PASSING, *FAILING), initial=CONFIG, final=final))
    return Look(order.text, fingerprint.text, final.digest, tuple(verdict.passed for verdict in verdicts))
