"""What isolation costs: a call, a start, a whole episode, and 512 of them at once (DESIGN section 12, rows 1-3).

CPU time of a process that isolates is that of the harness, the zygote and all children. It is read from the kernel's
accounts after every child has been reaped.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psutil

from harness.isolation import IsolatedInstance, IsolatedRunner, load_attacks, run_attacks
from harness.program import Checks, Instance, Limits, Program, Runner
from harness.state import State
from harness.trusted import TrustedRunner
from tests.harness.isolation.builders import HERE
from tests.performance.measure import Row, at_least, at_most, cpu_seconds

SOURCE = '''
from datetime import datetime
from typing import Any, Dict, List, Optional, TypedDict


class ItemInfo(TypedDict):
    item_id: str
    name: str
    quantity: int
    price: float
    tags: List[str]
    history: List[Dict[str, Any]]


class Depot:
    """Items in a depot, looked up and moved: the shape of a generated environment."""

    def __init__(self, config: Optional[dict] = None):
        self.items: Dict[str, ItemInfo] = {}
        self.moves: List[Dict[str, Any]] = []

    def get_item(self, item_id: str) -> dict:
        """One item."""
        if item_id not in self.items:
            return {"success": False, "error": "Item not found"}
        return {"success": True, "data": self.items[item_id]}

    def find_items(self, tag: str) -> dict:
        """Items with a tag."""
        found = [item["item_id"] for item in self.items.values() if tag in item["tags"]]
        return {"success": True, "data": found}

    def move_item(self, item_id: str, quantity: int) -> dict:
        """Change the quantity of an item."""
        if item_id not in self.items:
            return {"success": False, "error": "Item not found"}
        item = self.items[item_id]
        if item["quantity"] + quantity < 0:
            return {"success": False, "error": "Not enough in stock"}
        item["quantity"] += quantity
        self.moves.append({"item_id": item_id, "quantity": quantity, "at": datetime.now().isoformat()})
        return {"success": True, "message": "Moved"}

    def describe(self, size: int) -> str:
        """A text of a given size."""
        return "d" * size
'''
TOOLS = frozenset({"get_item", "find_items", "move_item", "describe"})
ITEMS = 150
CHECKS = [
    f"def check_func(final_state):\n    item = final_state['items'].get('I{n}')\n"
    f"    return item is not None and item['quantity'] == {n} + 1"
    for n in range(8)
]
CALLS: list[tuple[str, dict[str, Any]]] = [
    call
    for n in range(7)
    for call in (
        ("get_item", {"item_id": f"I{n}"}),
        ("find_items", {"tag": f"t{n}"}),
        ("move_item", {"item_id": f"I{n}", "quantity": 1}),
    )
][:20]


def program() -> Program:
    """The depot with a state of about 50 KB."""
    items = {
        f"I{n}": {
            "item_id": f"I{n}",
            "name": f"Item number {n}",
            "quantity": n,
            "price": n * 1.25,
            "tags": [f"t{n % 10}", f"t{n % 7}"],
            "history": [{"at": "2025-01-01", "quantity": q, "by": f"user {q}", "note": "counted"} for q in range(4)],
        }
        for n in range(ITEMS)
    }
    return Program(source=SOURCE, class_name="Depot", config=State.of({"items": items}), tools=TOOLS)


def episode(runner: Runner, depot: Program) -> None:
    """Open, 20 calls, export, 8 checks: what one rollout asks of its environment."""
    instance = runner.open(depot)
    for name, arguments in CALLS:
        instance.call(name, arguments)
    final = instance.state()
    instance.close()
    verdicts = runner.check(Checks(functions=CHECKS, initial=depot.config, final=final))
    assert sum(verdict.passed for verdict in verdicts) == 6


def recorded_episode(depot: Program) -> None:
    """The same in this process, with a deep copy of the state and a diff of it at each call, as the release does."""
    config = depot.config.decode()
    names: dict[str, Any] = {}
    exec(SOURCE, names)
    instance = names["Depot"](copy.deepcopy(config))
    for key, value in config.items():
        setattr(instance, key, value)
    record = []
    for name, arguments in CALLS:
        before = copy.deepcopy(vars(instance))
        text = str(getattr(instance, name)(**arguments))
        after = copy.deepcopy(vars(instance))
        record.append((text, list(_differences("", before, after))))
    final = copy.deepcopy(vars(instance))
    for function in CHECKS:
        scope: dict[str, Any] = {"initial_state": config}
        exec(function, scope)
        scope["check_func"](final)


def _differences(path: str, before: Any, after: Any) -> Any:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            yield from _differences(f"{path}.{key}", before.get(key), after.get(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (left, right) in enumerate(zip(before, after, strict=True)):
            yield from _differences(f"{path}[{index}]", left, right)
    elif before != after:
        yield path, before, after


class Meter:
    """CPU time of this process and of a runner's zygote with all its children."""

    def __init__(self, runner: IsolatedRunner) -> None:
        self._runner = runner
        self._zygote = psutil.Process(runner.zygote().pid)

    def _now(self) -> float:
        while self._runner.zygote().children():
            time.sleep(0.001)
        times = self._zygote.cpu_times()
        return time.process_time() + sum(times[:4])

    def seconds(self, work: Callable[[], object], *, repeat: int = 5) -> float:
        """Least CPU time of `work` over `repeat` runs. The kernel counts in hundredths: let the work take many."""
        best = float("inf")
        for _ in range(repeat):
            start = self._now()
            work()
            best = min(best, self._now() - start)
        return best


def many(count: int, work: Callable[[], object]) -> Callable[[], None]:
    """`work`, `count` times."""

    def repeated() -> None:
        for _ in range(count):
            work()

    return repeated


def measure() -> list[Row]:
    """The rows of DESIGN section 12 that isolation must hold."""
    depot = program()
    with IsolatedRunner() as runner:
        trusted = TrustedRunner()
        meter = Meter(runner)
        episode(runner, depot)
        rows = _calls(runner, trusted, depot, meter)
        rows += _starts(runner, depot, meter)
        rows += _episodes(runner, trusted, depot, meter)
    rows += _many_at_once(depot)
    rows += _self_test_and_attacks()
    return rows


def _calls(runner: IsolatedRunner, trusted: TrustedRunner, depot: Program, meter: Meter) -> list[Row]:
    count = 4000

    def calls(instance: Instance) -> Callable[[], object]:
        return many(count, lambda: instance.call("describe", {"size": 1024}))

    def isolated() -> None:
        with runner.open(depot) as instance:
            calls(instance)()

    def nothing() -> None:
        runner.open(depot).close()

    inside = trusted.open(depot)
    call = inside._instance.describe
    # What a call in this process costs that gives the same: the method, its text, and its JSON for the model.
    plain = cpu_seconds(many(count, lambda: json.dumps({"text": str(call(size=1024))}))) / count
    whole = (meter.seconds(isolated, repeat=3) - meter.seconds(many(20, nothing), repeat=2) / 20) / count
    return [
        at_most("isolated call, 1 KB reply: CPU of both sides", whole * 1e6, 120, "us"),
        at_most("isolated call / call and encoding in process", whole / plain, 20, "x"),
    ]


def _starts(runner: IsolatedRunner, depot: Program, meter: Meter) -> list[Row]:
    # A bare child: loading a source and reading a state are in the figures of whole episodes.
    bare = replace(depot, source="class Depot:\n    def get_item(self):\n        return 1\n", config=State.of({}))

    def start() -> None:
        with runner.open(bare) as instance:
            instance.call("get_item", {})

    used = meter.seconds(many(40, start)) / 40
    return [at_most("child from start to first reply and end: CPU of all sides", used * 1e3, 8, "ms")]


def _episodes(runner: IsolatedRunner, trusted: TrustedRunner, depot: Program, meter: Meter) -> list[Row]:
    isolated = meter.seconds(many(20, lambda: episode(runner, depot)), repeat=4) / 20
    inside = cpu_seconds(lambda: episode(trusted, depot), repeat=10)
    recorded = cpu_seconds(lambda: recorded_episode(depot), repeat=3)
    return [
        at_most("whole episode (50 KB, 20 calls, export, 8 checks): CPU", isolated * 1e3, 45, "ms"),
        at_most("whole episode: isolated / trusted", isolated / inside, 10, "x"),
        at_least("whole episode: per-step deepcopy-and-diff record / isolated", recorded / isolated, 3, "x"),
    ]


def _many_at_once(depot: Program) -> list[Row]:
    with IsolatedRunner() as runner:
        start = time.perf_counter()
        live = [runner.open(depot) for _ in range(512)]
        ready = time.perf_counter() - start
        zygote = psutil.Process(runner.zygote().pid)
        memory = zygote.memory_full_info().uss
        shares = [child.memory_full_info().uss for child in zygote.children()]
        memory += sum(shares)
        at_once = _rate(live, lambda: runner.call_many([(one, "describe", {"size": 1024}) for one in live]))
        runner.close()
    return [
        at_most("512 live episodes: all ready", ready, 30, "s"),
        at_most("512 live episodes: private memory in all", memory / 2**30, 3, "GiB"),
        at_most("private memory of a live child, 50 KB state", sum(shares) / len(shares) / 2**20, 6, "MiB"),
        at_least("512 live episodes: calls, a round over all at once", at_once, 4000, "/s"),
    ]


def _rate(live: list[IsolatedInstance], turn: Callable[[], object]) -> float:
    best = 0.0
    for _ in range(6):
        start = time.perf_counter()
        turn()
        best = max(best, len(live) / (time.perf_counter() - start))
    return best


def _self_test_and_attacks() -> list[Row]:
    start = time.perf_counter()
    results = list(run_attacks(load_attacks(HERE / "attacks_own.jsonl"), limits=Limits(2, 1, 1)))
    seconds = time.perf_counter() - start
    held = sum(result.held for result in results)
    return [
        Row("attacks of our own that were stopped", f"{held} of {len(results)}", "all", held == len(results)),
        at_most("attack list, each followed by a clean episode", seconds, 60, "s"),
    ]
