"""Many episodes in one process, and many states for one check: the same answers as one by one."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import EnvironmentFault
from harness.isolation import IsolatedRunner
from harness.program import Checks, Hearing, Instance, Program, Runner
from harness.state import State
from harness.trusted import TrustedRunner
from tests.harness.isolation.builders import SHOP, check, shop

LEVELS = [pytest.param(IsolatedRunner, id="isolated"), pytest.param(TrustedRunner, id="trusted")]

COUNTED = SHOP.replace("class Shop:", "SEEN = []\n\nclass Shop:").replace(
    "    def look_up(self, order_id):\n", "    def look_up(self, order_id):\n        SEEN.append(order_id)\n"
)


def seen(instance: Instance) -> list[str]:
    """A few calls that draw, tell the time and change the state; then the state itself."""
    told = [instance.call(name, arguments).text for name, arguments in CALLS]
    return [*told, instance.state().digest]


CALLS: list[tuple[str, dict[str, Any]]] = [("draw", {}), ("ship", {"order_id": "O1"}), ("draw", {}), ("fail", {})]


@pytest.mark.parametrize("make", LEVELS)
def test_a_renewed_instance_is_as_a_new_one(make: type[Runner]) -> None:
    runner = make()
    program = shop(seed=3)
    instance = runner.open(program)
    first = seen(instance)
    for _ in range(3):
        instance.renew(program.config)
        assert seen(instance) == first
    instance.close()


@pytest.mark.parametrize("make", LEVELS)
def test_it_starts_from_the_configuration_that_it_is_given(make: type[Runner]) -> None:
    instance = make().open(shop())
    config = State.of({"orders": {"O2": {"status": "open"}}})
    instance.renew(config)
    assert instance.call("look_up", {"order_id": "O1"}).text == "None"
    assert instance.call("ship", {"order_id": "O2"}).text == "{'success': True}"
    instance.renew(config)
    assert instance.call("look_up", {"order_id": "O2"}).text == "{'status': 'open'}"
    instance.close()


@pytest.mark.parametrize("make", LEVELS)
def test_what_the_module_remembers_is_forgotten(make: type[Runner]) -> None:
    source = COUNTED.replace("return self.orders.get(order_id)", "return len(SEEN)")
    program = shop(source=source)
    instance = make().open(program)
    assert [instance.call("look_up", {"order_id": "O1"}).text for _ in range(2)] == ["1", "2"]
    instance.renew(program.config)
    assert instance.call("look_up", {"order_id": "O1"}).text == "1"
    instance.close()


def test_what_ended_is_not_renewed(hasty: IsolatedRunner) -> None:
    program = shop()
    instance = hasty.open(program)
    with pytest.raises(EnvironmentFault, match="timeout"):
        instance.call("loop", {})
    with pytest.raises(EnvironmentFault, match="killed"):
        instance.renew(program.config)


def test_a_configuration_that_the_class_does_not_take_is_a_fault(runner: IsolatedRunner) -> None:
    instance = runner.open(shop())
    with pytest.raises(EnvironmentFault, match="init_failed"):
        instance.renew(State.of([1]))


def test_starting_again_has_a_deadline(hasty: IsolatedRunner) -> None:
    program: Program = shop(source=SHOP.replace("self.log = []", "self.log = []\n        if not config: self.loop()"))
    instance = hasty.open(program)
    with pytest.raises(EnvironmentFault, match="timeout"):
        instance.renew(State.of({}))


# Hearings

BODIES = (
    "return s['n'] > 1",
    "return initial_state['n'] == s['n']",
    "return s['n']",
    "return s['missing']",
    "return s['list'] == [1, 2] and type(s['list']) is list",
    "s['list'] = tuple(s['list'])\ns['n'] = 9\ninitial_state['n'] = 9\nreturn True",
    "import datetime\nreturn datetime.datetime.now().year == 2025 and s['n'] > 1",
    "global k\nk = globals().get('k', 0) + 1\nreturn k == 1",
    "raise SystemExit",
)
STATES = [({"n": n}, {"n": m, "list": [1, 2]}) for n in (1, 2) for m in (1, 2, 3)]
LETTERS = ["FPPFPP", "PFFFPF", "NNNNNN", "EEEEEE", "PPPPPP", "PPPPPP", "FPPFPP", "PPPPPP", "EEEEEE"]


def hearing(*functions: str) -> Hearing:
    return Hearing(functions=functions, states=[(State.of(initial), State.of(final)) for initial, final in STATES])


@pytest.mark.parametrize("make", LEVELS)
@pytest.mark.parametrize("order", [1, -1])
def test_each_check_says_a_letter_of_each_state_and_sees_nothing_of_the_others(make: type[Runner], order: int) -> None:
    functions = check(*BODIES).functions
    heard = make().hear(hearing(*functions[::order]))
    assert heard == LETTERS[::order]


@pytest.mark.parametrize("make", LEVELS)
def test_a_letter_is_the_verdict_on_the_state_alone(make: type[Runner]) -> None:
    runner = make()
    functions = [function for function in check(*BODIES).functions if "tuple" not in function]
    for number, (initial, final) in enumerate(hearing().states):
        verdicts = runner.check(Checks(functions=functions, initial=initial, final=final))
        letters = [letters[number] for letters in runner.hear(hearing(*functions))]
        assert [verdict.passed for verdict in verdicts] == [letter == "P" for letter in letters]


@pytest.mark.parametrize("make", LEVELS)
def test_what_is_no_check_raises_on_every_state(make: type[Runner]) -> None:
    assert make().hear(hearing("x = 1", "def check_func(:", "")) == ["EEEEEE"] * 3


def test_states_of_all_types_are_shown_to_each_check_as_they_were() -> None:
    final = State.of({"when": {1, 2}, "pair": (1, 2), "n": 1})
    functions = check(
        "s['pair'] = list(s['pair'])\ns['when'].add(3)\nreturn True", "return s['pair'] == (1, 2)"
    ).functions
    asked = Hearing(functions=functions, states=[(final, final), (final, final)])
    with IsolatedRunner() as isolated:
        assert isolated.hear(asked) == TrustedRunner().hear(asked) == ["PP", "PP"]


def test_a_check_that_is_late_or_crashes_is_not_heard_and_the_rest_is(hasty: IsolatedRunner) -> None:
    late, crash, fine = "while True: pass", "import os\nos._exit(0)", "return s['n'] > 1"
    assert hasty.hear(hearing(*check(fine, late, fine, crash, fine).functions)) == [
        "FPPFPP",
        "EEEEEE",
        "FPPFPP",
        "EEEEEE",
        "FPPFPP",
    ]


def test_no_states_and_no_checks_are_no_letters(runner: IsolatedRunner) -> None:
    nothing = Hearing(functions=check("return True").functions, states=[])
    assert runner.hear(nothing) == TrustedRunner().hear(nothing) == [""]
    assert runner.hear(hearing()) == TrustedRunner().hear(hearing()) == []
