"""The five classes, in the quirks that move scores; each row of a table says which."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from adapters.acebench.environment import AceEnvironment
from adapters.acebench.task import load_tasks, load_world, tools
from harness.environment import ToolStatus
from harness.messages import MAX_ARGUMENT_DEPTH
from tests.adapters.acebench.conftest import Open

ALL = ("BaseApi", "MessageApi", "ReminderApi", "FoodPlatform", "Travel")
BUY = {"username": "Ada", "merchant_name": "Noodle Bar"}
BOOK = {"user_id": "u1", "password": "fly", "flight_no": "A1", "payment_method": "bank", "baggage_count": 2}


def state(environment: AceEnvironment, owner: str) -> dict[str, Any]:
    return next(each[owner] for each in environment.snapshot() if owner in each)


def test_one_call_reaches_every_class_that_has_the_method(open_small: Open) -> None:
    environment = open_small("BaseApi", "MessageApi", "FoodPlatform", logged_in=False)
    environment.call("turn_on_wifi", {})
    assert "Device not logged in" in environment.call("send_message", _message()).text
    environment.call("login_device", {})
    assert "Inbox capacity is full" in environment.call("send_message", _message()).text
    assert "successfully logged in" in environment.call("login_food_platform", _login()).text


def _message(**changed: Any) -> dict[str, Any]:
    return {"sender_name": "Ada", "receiver_name": "Bo", "message": "Yes", **changed}


def _login() -> dict[str, Any]:
    return {"username": "Ada", "password": "Ada-pw"}


def test_a_class_that_is_not_involved_does_not_answer(open_small: Open) -> None:
    result = open_small("BaseApi").call("send_message", _message())
    assert (result.text, result.status) == ("['No matching function found']", ToolStatus.UNKNOWN_TOOL)


@pytest.mark.parametrize(
    "name", ["_load_scenario", "__init__", "__class__", "_say", "wifi", "inbox", "users", "SAVED", ""]
)
def test_only_public_methods_can_be_called(open_small: Open, name: str) -> None:
    assert open_small(*ALL).call(name, {}).status is ToolStatus.UNKNOWN_TOOL


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        pytest.param("check_balance", {"user_name": "Ada"}, "[20.0]", id="a-number-stays-a-number"),
        pytest.param("check_balance", {"user_name": "?"}, "[0.0]", id="strangers-have-nothing"),
        pytest.param(
            "get_products",
            {"merchant_name": "Noodle Bar"},
            str(["[{'product': 'Soup', 'price': 20.0}, {'product': 'Tea', 'price': 3.5}]"]),
            id="a-list-becomes-text",
        ),
        pytest.param("get_reservation_details", {"reservation_id": "none"}, "[[]]", id="an-empty-list-stays-one"),
        pytest.param(
            "process_refund", {"user": {"cash_balance": 1, "user_name": "x"}, "amount": 1}, "['None']", id="none"
        ),
        pytest.param(
            "get_all_message_times_with_ids", {}, "[{'1': '2024-02-01', '2': '2024-02-02'}]", id="keys-become-text"
        ),
    ],
)
def test_results_pass_through_text(open_small: Open, name: str, arguments: dict[str, Any], text: str) -> None:
    assert open_small(*ALL).call(name, arguments).text == text


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("get_products", {}, "FoodPlatform.get_products() missing 1 required positional argument: 'merchant_name'"),
        ("login_device", {"x": 1}, "BaseApi.login_device() got an unexpected keyword argument 'x'"),
        ("search_messages", {"user_name": "Ada", "keyword": 5}, "'int' object has no attribute 'lower'"),
        ("check_balance", {"user_name": []}, "unhashable type: 'list'"),
        ("reserve_flight", {**BOOK, "cabin": "Economy Class", "password": "x"}, "'membership_level'"),
        ("reserve_flight", {**BOOK, "cabin": "economy"}, "'economy'"),
        ("reserve_flight", {**BOOK, "cabin": "x", "flight_no": "x"}, "'NoneType' object is not subscriptable"),
    ],
)
def test_what_python_raises_is_the_answer(open_small: Open, name: str, arguments: dict[str, Any], error: str) -> None:
    result = open_small(*ALL).call(name, arguments)
    assert (result.text, result.status) == (str([f"Error during execution: {error}"]), ToolStatus.RAISED)


@pytest.mark.parametrize("number", [1, 1.0, True])
def test_a_message_is_deleted_by_any_equal_number_and_only_by_a_number(open_small: Open, number: Any) -> None:
    environment = open_small("MessageApi")
    assert "does not exist" in environment.call("delete_message", {"message_id": "1"}).text
    assert f"Message ID {number} has been" in environment.call("delete_message", {"message_id": number}).text
    assert list(state(environment, "MessageApi")["inbox"]) == ["2"]


def test_a_sent_message_has_no_time_and_breaks_what_reads_times(open_small: Open) -> None:
    environment = open_small("BaseApi", "MessageApi", wifi=True)
    assert "The latest message ID is 2" in environment.call("get_latest_message_id", {}).text
    environment.call("delete_message", {"message_id": 2})
    environment.call("send_message", _message())
    assert state(environment, "MessageApi")["inbox"]["3"] == {"sender_id": "M0", "receiver_id": "M1", "message": "Yes"}
    assert environment.call("get_latest_message_id", {}).status is ToolStatus.RAISED


def test_refusals_to_send_come_in_order(open_small: Open) -> None:
    environment = open_small("BaseApi", "MessageApi", logged_in=False)
    said = []
    for step in ("login_device", "turn_on_wifi", "delete_message", None):
        said.append(environment.call("send_message", _message(receiver_name="?")).text)
        if step:
            environment.call(step, {"message_id": 1} if step == "delete_message" else {})
    words = ("not logged in", "Wi-Fi is turned off", "capacity is full", "does not exist")
    assert [word in text for word, text in zip(words, said, strict=True)] == [True] * 4


@pytest.mark.parametrize(
    ("items", "answer"),
    [
        pytest.param([], "Total amount: 0.0 yuan", id="nothing-is-an-order"),
        pytest.param([{"product": "Tea"}], "Total amount: 3.5 yuan", id="one-by-default"),
        pytest.param([{"product": "Tea", "quantity": True}], "Total amount: 3.5 yuan", id="true-is-one"),
        pytest.param([{"product": "Tea", "quantity": "1"}], "Invalid quantity 1", id="a-text-is-no-number"),
        pytest.param([{"product": "Tea", "quantity": 0}], "Invalid quantity 0", id="none-at-all"),
        pytest.param([{"product": "tea"}], "Product tea does not exist", id="exact-names"),
        pytest.param([{"product": "Soup"}, {"product": "Tea"}], "Insufficient balance", id="too-dear"),
        pytest.param(["Tea"], "'str' object has no attribute", id="texts-for-items"),
    ],
)
def test_orders_are_placed_whole_or_not_at_all(open_small: Open, items: list[Any], answer: str) -> None:
    environment = open_small("FoodPlatform", wifi=True)
    assert "is not logged in" in environment.call("add_food_delivery_order", {**BUY, "items": items}).text
    environment.call("login_food_platform", _login())
    assert answer in environment.call("add_food_delivery_order", {**BUY, "items": items}).text
    placed = state(environment, "FoodPlatform")
    assert len(placed["orders"]) == ("Total amount" in answer)
    assert placed["users"]["Ada"]["balance"] == 20.0 - sum(order["total_price"] for order in placed["orders"])


@pytest.mark.parametrize(("language", "placed"), [("en", 1), ("zh", 0)])
def test_the_last_yuan_can_be_spent_in_english_only(open_small: Open, language: str, placed: int) -> None:
    environment = open_small("FoodPlatform", wifi=True, language=language)
    environment.call("login_food_platform", _login())
    environment.call("add_food_delivery_order", {**BUY, "items": [{"product": "Soup"}]})
    assert len(state(environment, "FoodPlatform")["orders"]) == placed


def test_reminders_can_be_searched_in_chinese_only_and_any_hit_raises(open_small: Open) -> None:
    assert open_small("ReminderApi").call("search_reminders", {"keyword": "x"}).status is ToolStatus.UNKNOWN_TOOL
    chinese = open_small("ReminderApi", language="zh")
    assert chinese.call("search_reminders", {"keyword": "cake"}).status is ToolStatus.OK
    assert chinese.call("search_reminders", {"keyword": "dentist"}).status is ToolStatus.RAISED


def test_a_reminder_is_added_under_its_number_until_the_list_is_full(open_small: Open) -> None:
    environment = open_small("ReminderApi")
    cake = {"title": "Cake", "description": "Bake", "time": "now"}
    assert "successfully added" in environment.call("add_reminder", cake).text
    assert "capacity is full" in environment.call("add_reminder", cake).text
    assert state(environment, "ReminderApi")["reminder_list"]["2"]["reminder_id"] == 2


def test_a_booking_takes_seat_and_money_and_keeps_no_route(open_small: Open) -> None:
    environment = open_small("Travel")
    answer = environment.call("reserve_flight", {**BOOK, "cabin": "Economy Class", "baggage_count": 4}).text
    assert "res_5. Total cost: 200 yuan" in answer  # silver: two pieces free in economy, 50 for each other one
    assert state(environment, "Travel")["users"]["u1"]["bank_balance"] == 800.0
    assert "origin" not in state(environment, "Travel")["reservations"][-1]
    assert "'seats_available': 1" in environment.call("get_flight_details", {"origin": "Oslo"}).text


@pytest.mark.parametrize(
    ("change", "answer", "cabin", "bank"),
    [
        pytest.param({}, "no additional fees", "Economy Class", 1000.0, id="nothing"),
        pytest.param(
            {"new_flight_no": "A2", "new_cabin": "Business Class"},
            "paid: 100.",
            "Business Class",
            900.0,
            id="priced-by-the-old-flight",
        ),
        pytest.param(
            {"new_cabin": "Business Class", "new_payment_method": "card"},
            "paid: 100.",
            "Business Class",
            1000.0,
            id="an-unknown-purse-pays-nothing",
        ),
        pytest.param({"new_flight_no": "A3"}, "Flight change failed", "Economy Class", 1000.0, id="another-route"),
        pytest.param({"new_cabin": "Sofa"}, "refunded: 100.", "Sofa", 1100.0, id="an-unknown-cabin-costs-nothing"),
        pytest.param({"add_baggage": 3}, "to be paid: 100.", "Economy Class", 900.0, id="all-beyond-the-free-pieces"),
        pytest.param(
            {"add_baggage": 30}, "Insufficient balance", "Economy Class", 1000.0, id="unpaid-baggage-is-added-too"
        ),
    ],
)
def test_modifying_a_flight(open_small: Open, change: dict[str, Any], answer: str, cabin: str, bank: float) -> None:
    environment = open_small("Travel")
    said = environment.call("modify_flight", {"user_id": "u1", "reservation_id": "res_1", **change}).text
    assert answer in said
    after = state(environment, "Travel")
    assert (after["reservations"][0]["cabin"], after["users"]["u1"]["bank_balance"]) == (cabin, bank)
    assert after["reservations"][0]["baggage"] == 1 + change.get("add_baggage", 0)


@pytest.mark.parametrize(
    ("reservation", "reason", "answer", "cash"),
    [
        pytest.param("res_1", "rain", "More than 24 hours", 200.0, id="early"),
        pytest.param("res_2", "rain", "cancellation fee of 8.0 yuan", 172.0, id="late-ten-percent"),
        pytest.param("res_2", "The airline has canceled the flight.", "80 yuan has been refunded", 180.0, id="airline"),
        pytest.param("res_3", "rain", "cannot be canceled", 100.0, id="departed"),
        pytest.param("res_4", "rain", "Invalid flight information", 100.0, id="no-such-flight"),
        pytest.param("res_9", "rain", "Invalid reservation ID", 100.0, id="no-such-reservation"),
    ],
)
def test_cancelling_refunds_in_cash_and_leaves_the_reservation(
    open_small: Open, reservation: str, reason: str, answer: str, cash: float
) -> None:
    environment = open_small("Travel")
    call = {"user_id": "u1", "reservation_id": reservation, "reason": reason}
    assert answer in environment.call("cancel_reservation", call).text
    after = state(environment, "Travel")
    assert (after["users"]["u1"]["cash_balance"], len(after["reservations"])) == (cash, 4)


def test_connections_leave_after_the_first_flight_has_arrived(open_small: Open) -> None:
    ends = {"origin_city": "Oslo", "transfer_city": "Rome", "destination_city": "Bern"}
    assert open_small("Travel").call("find_transfer_flights", ends).text.count("first_leg") == 1


def test_two_environments_share_nothing(open_small: Open) -> None:
    first, second = open_small(*ALL, wifi=True), open_small(*ALL, wifi=True)
    before = second.state()
    for name, arguments in (
        ("delete_message", {"message_id": 1}),
        ("login_food_platform", _login()),
        ("add_food_delivery_order", {**BUY, "items": [{"product": "Tea"}]}),
        ("cancel_reservation", {"user_id": "u1", "reservation_id": "res_1", "reason": "rain"}),
    ):
        assert first.call(name, arguments).status is ToolStatus.OK
    assert first.state() != before
    assert second.state() == before == open_small(*ALL, wifi=True).state()


def test_a_snapshot_is_a_copy(open_small: Open) -> None:
    environment = open_small("ReminderApi")
    environment.snapshot()[0]["ReminderApi"]["reminder_list"].clear()
    assert len(state(environment, "ReminderApi")["reminder_list"]) == 1


def _odd(rng: random.Random, depth: int = 0) -> Any:
    deep: Any = []
    for _ in range(MAX_ARGUMENT_DEPTH - 5):
        deep = [deep]
    plain = [
        None,
        True,
        0,
        -1,
        2.5,
        1e308,
        float("nan"),
        10**400,
        "",
        "u1",
        "Ada",
        "res_1",
        "A1",
        "Noodle Bar",
        "\ud800",
    ]
    if depth < 3 and rng.random() < 0.3:
        return rng.choice([deep, {}, [_odd(rng, depth + 1)], {rng.choice(["product", "x"]): _odd(rng, depth + 1)}])
    return rng.choice(plain)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_call_raises_and_every_state_can_be_exported(open_small: Open, language: str) -> None:
    rng = random.Random(f"odd {language}")
    names = ["item", "user", "message", "title", "time", "reason", "cabin", "self", "amount", "keyword"]
    for _ in range(60):
        environment = open_small(*ALL, language=language, wifi=True)
        methods = sorted({name for owner in environment._instances.values() for name in dir(owner)})
        for _ in range(40):
            name = rng.choice(methods)
            wanted = _parameters(environment, name) or rng.sample(names, 2)
            result = environment.call(name, {each: _odd(rng) for each in wanted})
            assert isinstance(result.text, str)
        assert environment.state() == environment.state()


def _parameters(environment: AceEnvironment, name: str) -> list[str]:
    for owner in environment._instances.values():
        method = getattr(type(owner), name, None)
        if method is not None and hasattr(method, "__code__"):
            return list(method.__code__.co_varnames[1 : method.__code__.co_argcount])
    return []


def test_schemas_are_json_schema_and_keep_the_published_mistake(small_data: Path) -> None:
    tasks = {task.id: task for task in load_tasks(small_data / "acebench", "en")}
    specs = {spec.name: spec for spec in tools(tasks["agent_multi_step_2"], english_cabins=True)}
    items = specs["add_food_delivery_order"].parameters["properties"]["items"]
    assert (items["type"], items["items"]["type"]) == ("array", "object")
    flights = tasks["agent_multi_turn_2"]
    shown, published = (tools(flights, english_cabins=english)[1] for english in (True, False))
    assert "payment_methods" in shown.parameters["required"]
    assert shown.parameters["properties"]["cabin"]["description"] == "The cabin (e.g., Economy Class, Business Class)."
    assert "经济舱" in published.parameters["properties"]["cabin"]["description"]


def test_a_booking_that_the_schema_would_refuse_is_made(small_data: Path) -> None:
    world = load_world(small_data / "acebench", "en")
    task = next(task for task in load_tasks(small_data / "acebench", "en") if task.flies)
    environment = AceEnvironment(world, task.involved, task.config, tools(task, english_cabins=True))
    assert "Booking successful" in environment.call("reserve_flight", {**BOOK, "cabin": "Economy Class"}).text
