"""A small environment for tests, and who runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.program import Checks, Program
from harness.state import State

HERE = Path(__file__).parent

SHOP = """
import datetime, random, secrets, time, uuid
from typing import Dict, Optional

class Shop:
    def __init__(self, config: Optional[dict] = None):
        self.orders: Dict[str, dict] = {}
        self.log = []

    def look_up(self, order_id):
        return self.orders.get(order_id)

    def ship(self, order_id):
        self.orders[order_id]["status"] = "shipped"
        self.log.append(datetime.datetime.now().isoformat())
        return {"success": True}

    def echo(self, **given):
        return ascii(given)

    def say(self, text):
        return text

    def draw(self):
        self.log.append([str(uuid.uuid4()), random.random(), secrets.token_hex(4), random.choice("abc"), time.time()])
        time.sleep(1.5)
        return self.log[-1]

    def fill(self, size):
        self.log.append("x" * size)

    def grow(self):
        self.log = [bytearray(1 << 20) for _ in range(4000)]

    def fail(self):
        raise ValueError("no such order")

    def plant(self):
        self.log.append(lambda: 0)

    def loop(self):
        while True:
            pass

    def leave(self, code):
        import os
        os._exit(code)

    def crash(self):
        import ctypes
        ctypes.string_at(0)
"""
TOOLS = frozenset(("look_up", "ship", "echo", "say", "draw", "fill", "grow", "fail", "plant", "loop", "leave", "crash"))


def shop(**changes: Any) -> Program:
    """The program of `SHOP`, with fields replaced."""
    config = State.of({"orders": {"O1": {"status": "open", "total": 5.0, "items": 5}}})
    fields = {"source": SHOP, "class_name": "Shop", "config": config, "tools": TOOLS}
    return Program(**{**fields, **changes})


def check(*bodies: str, final: Any = None, initial: Any = None) -> Checks:
    """Checks from the bodies of `check_func(s)`."""
    functions = ["def check_func(s):\n" + "".join(f"    {line}\n" for line in body.splitlines()) for body in bodies]
    final = {"n": 1} if final is None else final
    return Checks(functions=functions, initial=State.of(final if initial is None else initial), final=State.of(final))
