from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from adapters.tau_bench import TauBenchEnvironment
from adapters.tau_bench.arithmetic import calculate
from harness.environment import ToolStatus

New = Callable[[str], TauBenchEnvironment]

CANCEL = {"order_id": "#W1", "reason": "no longer needed"}
EXCHANGE = {
    "order_id": "#W2",
    "item_ids": ["lamp-red"],
    "new_item_ids": ["lamp-green"],
    "payment_method_id": "paypal_1",
}
BOOK = {
    "user_id": "ann_lee_1",
    "origin": "JFK",
    "destination": "ORD",
    "flight_type": "one_way",
    "cabin": "economy",
    "flights": [{"flight_number": "HAT1", "date": "2024-05-20"}],
    "passengers": [{"first_name": "Ann", "last_name": "Lee", "dob": "1990-01-01"}],
    "payment_methods": [{"payment_id": "credit_card_1", "amount": 100}],
    "total_baggages": 0,
    "nonfree_baggages": 0,
    "insurance": "no",
}


@pytest.mark.parametrize(
    ("domain", "name", "arguments", "observation"),
    [
        pytest.param(
            "retail",
            "cancel_pending_order",
            {"order_id": "#W1"},
            "Error: CancelPendingOrder.invoke() missing 1 required positional argument: 'reason'",
            id="one-argument-missing",
        ),
        pytest.param(
            "retail",
            "find_user_id_by_name_zip",
            {"zip": "1"},
            "Error: FindUserIdByNameZip.invoke() missing 2 required positional arguments: 'first_name' and 'last_name'",
            id="two-missing",
        ),
        pytest.param(
            "retail",
            "return_delivered_order_items",
            {},
            "Error: ReturnDeliveredOrderItems.invoke() missing 3 required positional arguments: "
            "'order_id', 'item_ids', and 'payment_method_id'",
            id="three-missing",
        ),
        pytest.param(
            "airline",
            "list_all_airports",
            {"x": 1},
            "Error: ListAllAirports.invoke() got an unexpected keyword argument 'x'",
            id="surplus-argument",
        ),
        pytest.param(
            "retail",
            "think",
            {"data": 1, "thought": ""},
            "Error: tau_bench.envs.retail.tools.think.Think.invoke() got multiple values for keyword argument 'data'",
            id="argument-named-like-the-database",
        ),
        pytest.param("retail", "db", {}, "Unknown action db", id="our-own-names-are-no-tools"),
        pytest.param("retail", "", {}, "Unknown action ", id="no-name"),
        pytest.param("retail", "get_order_details", {"order_id": ["#W1"]}, "Error: unhashable type: 'list'", id="list"),
        pytest.param("retail", "get_order_details", {"order_id": "W1"}, "Error: order not found", id="hash-sign-kept"),
        pytest.param(
            "retail",
            "find_user_id_by_name_zip",
            {"first_name": "ANN", "last_name": "lee", "zip": "09000"},
            "ann_lee_1",
            id="names-in-any-case",
        ),
        pytest.param(
            "retail",
            "find_user_id_by_name_zip",
            {"first_name": "Ann", "last_name": "Lee", "zip": 9000},
            "Error: user not found",
            id="zip-is-a-text",
        ),
        pytest.param(
            "retail",
            "return_delivered_order_items",
            {"order_id": "#W2", "item_ids": [None], "payment_method_id": "paypal_1"},
            "Error: some item not found",
            id="null-item",
        ),
        pytest.param(
            "airline", "get_reservation_details", {"reservation_id": "X"}, "Error: user not found", id="official-slip"
        ),
        pytest.param(
            "airline",
            "book_reservation",
            {**BOOK, "payment_methods": [{"payment_id": "credit_card_1", "amount": 90}]},
            "Error: payment amount does not add up, total price is 100, but paid 90",
            id="payments-must-add-up",
        ),
    ],
)
def test_a_call_is_answered_in_the_official_words(
    environment: New, domain: str, name: str, arguments: dict[str, Any], observation: str
) -> None:
    played = environment(domain)
    assert played.call(name, arguments).text == observation
    assert played.state().decode() == {}


def test_an_exchange_loses_which_item_goes_for_which(environment: New) -> None:
    hashes = set()
    for new in (["lamp-green", "lamp-red"], ["lamp-red", "lamp-green"]):
        played = environment("retail")
        both = {**EXCHANGE, "item_ids": ["lamp-red", "lamp-blue"], "new_item_ids": new}
        assert not played.call("exchange_delivered_order_items", both).text.startswith("Error")
        hashes.add(played.session.digest())
    assert len(hashes) == 1


def test_modified_items_keep_the_noise_of_the_price_and_exchanged_ones_do_not(environment: New) -> None:
    swap = {**EXCHANGE, "payment_method_id": "gift_card_1"}
    exchanged = json.loads(environment("retail").call("exchange_delivered_order_items", swap).text)
    modified = json.loads(environment("retail").call("modify_pending_order_items", {**swap, "order_id": "#W1"}).text)
    assert exchanged["exchange_price_difference"] == 1.2
    assert modified["payment_history"][-1]["amount"] == 21.3 - 20.1 != 1.2


def test_numbers_stay_what_they_were_sent_as(environment: New) -> None:
    hashes = set()
    for bags in (1, 1.0, True):
        played = environment("airline")
        arguments = {
            "reservation_id": "RES1",
            "total_baggages": bags,
            "nonfree_baggages": 0,
            "payment_id": "gift_card_1",
        }
        played.call("update_reservation_baggages", arguments)
        hashes.add(played.session.digest())
    assert len(hashes) == 3


def test_what_a_tool_keeps_is_not_the_callers_list(environment: New) -> None:
    played, arguments = environment("airline"), json.loads(json.dumps(BOOK))
    played.call("book_reservation", arguments)
    played.call("cancel_reservation", {"reservation_id": "HATHAT"})
    assert arguments == BOOK


def test_the_fourth_booking_overwrites_the_third(environment: New) -> None:
    played = environment("airline")
    ids = [json.loads(played.call("book_reservation", BOOK).text)["reservation_id"] for _ in range(4)]
    assert ids == ["HATHAT", "HATHAU", "HATHAV", "HATHAV"]
    assert played.state().decode()["users/ann_lee_1"]["reservations"] == ["RES1", *ids]


def test_a_certificate_listed_twice_fails_after_it_was_taken(environment: New) -> None:
    played = environment("airline")
    twice = [{"payment_id": "certificate_1", "amount": 50}] * 2
    assert played.call("book_reservation", {**BOOK, "payment_methods": twice}).text == "Error: 'certificate_1'"
    changed = played.state().decode()
    assert list(changed) == ["users/ann_lee_1"]
    assert "certificate_1" not in changed["users/ann_lee_1"]["payment_methods"]


def test_the_fourth_certificate_is_the_only_exception(environment: New) -> None:
    played = environment("airline")
    results = [played.call("send_certificate", {"user_id": "ann_lee_1", "amount": 10}) for _ in range(4)]
    assert [result.status for result in results] == [ToolStatus.OK] * 3 + [ToolStatus.RAISED]
    assert results[3].text == "None"


@pytest.mark.parametrize("arguments", [{"summary": "help"}, {}, {"summary": 1, "more": 2}])
def test_a_transfer_ends_the_episode_even_if_it_is_called_wrongly(environment: New, arguments: dict[str, Any]) -> None:
    assert environment("retail").call("transfer_to_human_agents", arguments).ends


def test_the_second_leg_the_next_day_shows_the_first_days_offer(environment: New) -> None:
    call = {"origin": "JFK", "destination": "SEA", "date": "2024-05-20"}
    found = json.loads(environment("airline").call("search_onestop_flight", call).text)
    assert [(first["flight_number"], first["date"], second["date"]) for first, second in found] == [
        ("HAT1", "2024-05-20", "2024-05-20"),
        ("HAT3", "2024-05-20", "2024-05-21"),
    ]


def _nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("passengers", [_nested(500), [10**3000]], ids=["deep", "huge"])
def test_values_that_could_not_be_hashed_are_refused(environment: New, passengers: Any) -> None:
    played = environment("airline")
    result = played.call("update_reservation_passengers", {"reservation_id": "RES1", "passengers": passengers})
    assert result.text.startswith("Error: ")
    assert played.state().decode() == {}


@pytest.mark.parametrize(
    ("expression", "observation"),
    [
        ("2 ** 10 // 3", "341.0"),
        ("(10**400) / (10**399)", "10.0"),
        ("9**9**9", "Error: int too large to convert to float"),
        ("1()", "Error: 'int' object is not callable"),
        ("()", "Error: float() argument must be a string or a real number, not 'tuple'"),
        ("__import__('os')", "Error: invalid characters in expression"),
        (["1", "+"], "Error: eval() arg 1 must be a string, bytes or code object"),
    ],
)
def test_arithmetic_answers_as_python_does(expression: Any, observation: str) -> None:
    assert calculate(expression) == observation


@pytest.mark.parametrize(
    "expression",
    ["9**" * 3000 + "9", "(9**9**5)*" * 900 + "1", "(2**99999)//(3**9999)+" * 400 + "1", "(" * 9999, "-" * 9999 + "1"],
)
def test_arithmetic_is_bounded_in_time(expression: str) -> None:
    start = time.process_time()
    assert calculate(expression).startswith("Error")
    assert time.process_time() - start < 1.0
