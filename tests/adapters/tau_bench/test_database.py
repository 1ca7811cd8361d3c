"""The hash of parts is the hash of the whole, and no call reaches the shared database."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.tau_bench import TauBenchEnvironment, open_domain
from adapters.tau_bench.database import Database, hashable
from adapters.tau_bench.domain import TOOLS, Domain
from harness.environment import ToolStatus
from tests.adapters.tau_bench import world

WORLDS = {"retail": world.RETAIL, "airline": world.AIRLINE}


def official_hash(tables: Any) -> str:
    """The definition, on whole tables."""
    return hashlib.sha256(str(hashable(tables)).encode()).hexdigest()


def whole(environment: TauBenchEnvironment) -> dict[str, Any]:
    """An episode's database in one piece."""
    return {name: dict(table.items()) for name, table in environment.session.tables.items()}


@pytest.mark.parametrize("tables", [{"a": {"x": {"n": 1}}}, {"a": {"x": {}, "y": {}}, "b": {"z": {"n": [1, 2.0]}}}])
def test_the_hash_follows_pythons_way_of_writing_short_tuples(tables: dict[str, Any]) -> None:
    assert Database(tables).digest({}) == official_hash(tables)
    session = Database(tables).session()
    session["a"].add("k", {"new": True})
    session["a"].edit("x")["more"] = None
    assert session.digest() == official_hash({**tables, "a": {**tables["a"], **session["a"].own}})


@pytest.mark.parametrize("domain", ["retail", "airline"])
def test_the_hash_of_the_real_databases(real: Path, domain: str) -> None:
    database = open_domain(domain, real).database
    assert database.digest({}) == official_hash(database.tables)


ITEMS = {"item_ids": ["lamp-red"], "new_item_ids": ["lamp-green"], "payment_method_id": "gift_card_1"}
FLIGHTS = [{"flight_number": "HAT1", "date": "2024-05-20"}]
PAYMENT = [{"payment_id": "gift_card_1", "amount": 100}]
PASSENGERS = [{"first_name": "Bo", "last_name": "Lee", "dob": "1991-01-01"}]
WORKING: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "retail": [
        ("cancel_pending_order", {"order_id": "#W1", "reason": "no longer needed"}),
        ("exchange_delivered_order_items", {"order_id": "#W2", **ITEMS}),
        ("modify_pending_order_address", {"order_id": "#W1", **world.ADDRESS}),
        ("modify_pending_order_items", {"order_id": "#W1", **ITEMS}),
        ("modify_pending_order_payment", {"order_id": "#W1", "payment_method_id": "paypal_1"}),
        ("modify_user_address", {"user_id": "bo_lee_2", **world.ADDRESS}),
        ("return_delivered_order_items", {"order_id": "#W2", "item_ids": [], "payment_method_id": "paypal_1"}),
    ],
    "airline": [
        (
            "book_reservation",
            {
                "user_id": "ann_lee_1",
                "origin": "JFK",
                "destination": "ORD",
                "flight_type": "one_way",
                "cabin": "economy",
                "flights": FLIGHTS,
                "passengers": PASSENGERS,
                "payment_methods": PAYMENT,
                "total_baggages": 0,
                "nonfree_baggages": 0,
                "insurance": "no",
            },
        ),
        ("cancel_reservation", {"reservation_id": "RES1"}),
        ("cancel_reservation", {"reservation_id": "HATHAT"}),
        ("search_onestop_flight", {"origin": "JFK", "destination": "SEA", "date": "2024-05-20"}),
        ("send_certificate", {"user_id": "ann_lee_1", "amount": 50}),
        (
            "update_reservation_baggages",
            {"reservation_id": "RES1", "total_baggages": 1, "nonfree_baggages": 1, "payment_id": "gift_card_1"},
        ),
        (
            "update_reservation_flights",
            {"reservation_id": "RES1", "cabin": "business", "flights": FLIGHTS, "payment_id": "credit_card_1"},
        ),
        ("update_reservation_passengers", {"reservation_id": "RES1", "passengers": PASSENGERS}),
    ],
}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def _calls(draw: st.DrawFn, domain: str) -> list[tuple[str, dict[str, Any]]]:
    """Calls that work, most of them with an odd value, a missing or a surplus argument; and some of unknown tools."""
    calls = []
    for name, arguments in draw(st.lists(st.sampled_from(WORKING[domain]), min_size=1, max_size=6)):
        changed = dict(arguments)
        match draw(st.sampled_from(["as it is", "value", "value", "missing", "surplus", "tool"])):
            case "value":
                changed[draw(st.sampled_from(sorted(arguments)))] = draw(JSON)
            case "missing":
                del changed[draw(st.sampled_from(sorted(arguments)))]
            case "surplus":
                changed[draw(st.sampled_from(["data", "db", "", "x"]))] = draw(JSON)
            case "tool":
                name = draw(st.sampled_from([*TOOLS[domain], "no_such_tool", "", "call"]))
        calls.append((name, changed))
    return calls


@pytest.mark.parametrize("domain", ["retail", "airline"])
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_odd_calls_raise_nothing_and_leave_the_shared_database_alone(domain: str, data: st.DataObject) -> None:
    tables = json.loads(json.dumps(WORLDS[domain]))
    opened = Domain(domain, Path())
    opened.__dict__["database"] = Database(tables)
    environment, other = TauBenchEnvironment(opened), TauBenchEnvironment(opened)
    for name, arguments in data.draw(_calls(domain)):
        before = repr(arguments)
        result = environment.call(name, arguments)
        assert isinstance(result.text, str)
        assert (result.status is ToolStatus.UNKNOWN_TOOL) == (name not in TOOLS[domain])
        assert repr(arguments) == before
    assert environment.session.digest() == official_hash(whole(environment))
    assert environment.state().digest == environment.state().digest
    assert repr(tables) == repr(WORLDS[domain])
    assert other.session.digest() == official_hash(WORLDS[domain])


def test_interleaved_episodes_do_not_see_each_other(small: Path) -> None:
    domain = open_domain("retail", small)
    first, second = TauBenchEnvironment(domain), TauBenchEnvironment(domain)
    cancel = {"order_id": "#W1", "reason": "ordered by mistake"}
    assert first.call("cancel_pending_order", cancel).text == second.call("cancel_pending_order", cancel).text
    first.close()
    assert first.state().decode() == {}
    assert list(second.state().decode()) == ["orders/#W1", "users/ann_lee_1"]


def test_a_change_and_its_reversal_leave_no_trace(small: Path) -> None:
    environment = TauBenchEnvironment(open_domain("retail", small))
    address = {key: world.ADDRESS[key] for key in world.ADDRESS}
    environment.call("modify_user_address", {"user_id": "bo_lee_2", **address, "city": "Bruges"})
    assert list(environment.state().decode()) == ["users/bo_lee_2"]
    environment.call("modify_user_address", {"user_id": "bo_lee_2", **address})
    assert environment.state().decode() == {}
    assert environment.session.digest() == TauBenchEnvironment(environment.domain).session.digest()
