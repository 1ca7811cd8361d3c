"""The tasks of the demonstration: set one price at the price desk. Generated, the same ones from the same seed.

A task is a pair of item and price. Every item and every price occurs in training; what is held out are pairs, so that a
model which scores there has learned to copy values, not the pairs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import Check, Corpus, OracleCall, Scenario, read
from harness.state import State

# fmt: off
NAMES = (
    "apple", "bag", "bell", "book", "bowl", "box", "brush", "cake", "candle", "card", "chair", "clock", "coat", "comb",
    "cup", "desk", "drum", "fan", "flag", "fork", "glass", "glove", "hat", "jar", "kite", "knife", "lamp", "map", "mug",
    "nail", "oven", "pen", "pot", "ring", "rope", "shoe", "soap", "spoon", "tent", "vase",
)
# fmt: on
PRICES = range(1, 100)
IDS = range(10, 100)
HELD_OUT = 960
"""Pairs that are never trained on, of 3,960."""
SEED = 0

Pair = tuple[str, int]

_CHECK = """\
def check_func(final_state):
    target = [key for key, item in initial_state['items'].items() if item['name'] == {name!r}]
    expected = {{key: {{**item, 'price': {price} if key in target else item['price']}}
                for key, item in initial_state['items'].items()}}
    return final_state['items'] == expected
"""


def pairs() -> tuple[list[Pair], list[Pair]]:
    """Pairs for training, and pairs that are held out."""
    every = [(name, price) for name in NAMES for price in PRICES]
    random.Random(SEED).shuffle(every)
    return every[HELD_OUT:], every[:HELD_OUT]


def task(pair: Pair) -> str:
    """What the agent is asked."""
    return f"set {pair[0]} to {pair[1]}."


def corpus(chosen: Sequence[Pair], prefix: str) -> Corpus:
    """The environment with one scenario a pair; ids and distractors are drawn from the pair's own seed."""
    environment = record()
    scenarios = [_scenario(environment.id, f"{prefix}_{number}", pair) for number, pair in enumerate(chosen)]
    return Corpus({environment.id: environment}, {scenario.task_id: scenario for scenario in scenarios})


def record() -> EnvironmentRecord:
    """The price desk."""
    (environment,) = read([Path(__file__).parent / "price_desk"]).environments.values()
    return environment


def _scenario(env_id: str, task_id: str, pair: Pair) -> Scenario:
    name, price = pair
    rng = random.Random(f"{SEED} {task_id} {name} {price}")
    names = [name, *rng.sample([other for other in NAMES if other != name], 2)]
    ids = [str(number) for number in rng.sample(IDS, len(names))]
    order = rng.sample(range(len(names)), len(names))
    items = {ids[index]: {"name": names[index], "price": 0} for index in order}
    return Scenario(
        env_id=env_id,
        task_id=task_id,
        init_config=State.of({"items": items}),
        task=task(pair),
        settings=("non_conversation",),
        checks=(
            Check(f"Does {name} cost {price}, and nothing else another price?", _CHECK.format(name=name, price=price)),
        ),
        oracle=(
            OracleCall("find_item", {"name": name}),
            OracleCall("set_price", {"item_id": ids[0], "price": price}),
        ),
    )
