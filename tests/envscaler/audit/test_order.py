"""Where order is what a task gives, another order is another state; elsewhere it is none."""

from __future__ import annotations

from typing import Any

import pytest

from envscaler.audit import audit
from envscaler.audit.tree import normal
from envscaler.scenarios import OracleCall
from harness.state import State
from harness.trusted import TrustedRunner
from tests.envscaler.playground import cancel, check, shop

DESK = '''
class Desk:
    def __init__(self, init_config: dict):
        self.rooms = {name: dict(room) for name, room in init_config["rooms"].items()}
        self.tickets = dict(init_config["tickets"])

    def put(self, room: str, person: str) -> dict:
        """Put a person on the waiting list of a room, and among those who know it."""
        ticket = f"T-{len(self.tickets) + 1}"
        self.tickets[ticket] = {"id": ticket, "person": person}
        self.rooms[room]["waitlist"].append(ticket)
        self.rooms[room]["visitors"].append(person)
        return {"success": True, "data": ticket}
'''
START: dict[str, Any] = {"rooms": {"blue": {"waitlist": [], "visitors": []}}, "tickets": {}}


def flags(expression: str, calls: list[tuple[str, dict[str, Any]]], source: str = DESK) -> set[str]:
    """The lines that flag a check of the desk."""
    scenario = cancel(
        check(expression),
        init_config=State.of(START),
        task="Ann wants the blue room, then Ben.",
        oracle=tuple(OracleCall(name, arguments) for name, arguments in calls),
    )
    found = audit(shop(source=source, class_name="Desk"), scenario, TrustedRunner())
    assert found.oracle == 1.0, found.failures
    return {flag.line for check in found.checks for flag in check.flags}


BOTH = [("put", {"room": "blue", "person": name}) for name in ("Ann", "Ben")]
WAITING = "[final_state['tickets'][t]['person'] for t in final_state['rooms']['blue']['waitlist']] == ['Ann', 'Ben']"


def test_a_check_of_who_waits_first_is_not_too_strict() -> None:
    assert "write_order" not in flags(WAITING, BOTH)


def test_a_check_of_who_came_first_where_that_means_nothing_is_too_strict() -> None:
    source = DESK.replace('self.rooms[room]["waitlist"].append(ticket)', "pass")
    assert "write_order" in flags("final_state['rooms']['blue']['visitors'] == ['Ann', 'Ben']", BOTH, source)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param({"a": {"tags": ["x", "y"]}}, {"a": {"tags": ["y", "x"]}}, True, id="a-list"),
        pytest.param({"a": {"waitlist": ["x", "y"]}}, {"a": {"waitlist": ["y", "x"]}}, False, id="a-waiting-list"),
        pytest.param(
            {"a": {"notes": [{"at": "2026-03-01", "n": 1}, {"at": "2026-03-01", "n": 2}]}},
            {"a": {"notes": [{"at": "2026-03-01", "n": 2}, {"at": "2026-03-01", "n": 1}]}},
            False,
            id="a-list-of-what-came-when",
        ),
        pytest.param(
            {"N-1": {"who": "x"}, "N-2": {"who": "y"}}, {"N-1": {"who": "y"}, "N-2": {"who": "x"}}, True, id="new"
        ),
        pytest.param(
            {"a": {"waitlist": ["N-1", "N-2"]}, "N-1": {"who": "x"}, "N-2": {"who": "y"}},
            {"a": {"waitlist": ["N-1", "N-2"]}, "N-1": {"who": "y"}, "N-2": {"who": "x"}},
            False,
            id="another-one-waits-first-under-the-same-name",
        ),
        pytest.param(
            {"a": {"waitlist": ["N-1", "N-2"]}, "N-1": {"who": "x"}, "N-2": {"who": "y"}},
            {"a": {"waitlist": ["N-2", "N-1"]}, "N-1": {"who": "y"}, "N-2": {"who": "x"}},
            True,
            id="the-same-one-waits-first-under-another-name",
        ),
    ],
)
def test_states_that_say_the_same(one: dict[str, Any], other: dict[str, Any], same: bool) -> None:
    start = {"things": {"a": {}}}
    assert (normal({"things": one}, start) == normal({"things": other}, start)) is same


@pytest.mark.parametrize(
    ("collection", "same"), [("waitlist", False), ("print_queue", False), ("orders", True), ("people", True)]
)
def test_of_the_new_records_of_a_queue_it_matters_which_was_first(collection: str, same: bool) -> None:
    first = {collection: {"N-1": {"who": "x"}, "N-2": {"who": "y"}}}
    second = {collection: {"N-1": {"who": "y"}, "N-2": {"who": "x"}}}
    assert (normal(first, {collection: {}}) == normal(second, {collection: {}})) is same


def test_a_queue_of_plain_values_is_part_of_the_state_and_a_counter_is_not() -> None:
    assert normal({"queue": ["x", "y"]}, {"queue": []}) != normal({"queue": ["y", "x"]}, {"queue": []})
    assert normal({"next": 1}, {"next": 1}) == normal({"next": 2}, {"next": 1})
