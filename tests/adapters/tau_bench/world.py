"""A small Tau-Bench of our own, in the format of the real one: it runs where the data are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from adapters.tau_bench.domain import TOOLS

ADDRESS = {"address1": "1 Quay", "address2": "", "city": "Ghent", "country": "BE", "state": "VL", "zip": "09000"}
ORDER_ITEM = {"name": "Lamp", "product_id": "p1", "item_id": "lamp-red", "price": 20.1, "options": {"colour": "red"}}


def _variant(item_id: str, colour: str, price: float, available: bool = True) -> dict[str, Any]:
    return {"item_id": item_id, "options": {"colour": colour}, "available": available, "price": price}


def _order(order_id: str, user_id: str, status: str, method: str) -> dict[str, Any]:
    return {
        "order_id": order_id,
        "user_id": user_id,
        "address": ADDRESS,
        "items": [ORDER_ITEM, {**ORDER_ITEM, "item_id": "lamp-blue", "price": 30.2, "options": {"colour": "blue"}}],
        "status": status,
        "payment_history": [{"transaction_type": "payment", "amount": 50.3, "payment_method_id": method}],
    }


def _shopper(first: str, last: str) -> dict[str, Any]:
    return {
        "name": {"first_name": first, "last_name": last},
        "address": ADDRESS,
        "email": f"{first}@example.com".lower(),
        "payment_methods": {
            "gift_card_1": {"source": "gift_card", "balance": 5, "id": "gift_card_1"},
            "paypal_1": {"source": "paypal", "id": "paypal_1"},
        },
        "orders": ["#W1", "#W2"],
    }


RETAIL: dict[str, dict[str, Any]] = {
    "products": {
        "p1": {
            "name": "Lamp",
            "product_id": "p1",
            "variants": {
                "lamp-red": _variant("lamp-red", "red", 20.1),
                "lamp-blue": _variant("lamp-blue", "blue", 30.2),
                "lamp-green": _variant("lamp-green", "green", 21.3),
                "lamp-grey": _variant("lamp-grey", "grey", 19.0, available=False),
            },
        },
        "p2": {"name": "Chair", "product_id": "p2", "variants": {}},
    },
    "orders": {
        "#W2": _order("#W2", "ann_lee_1", "delivered", "paypal_1"),
        "#W1": _order("#W1", "ann_lee_1", "pending", "gift_card_1"),
    },
    "users": {"ann_lee_1": _shopper("Ann", "Lee"), "bo_lee_2": _shopper("Bo", "Lee")},
}


def _flight(number: str, origin: str, destination: str, departs: str, arrives: str) -> dict[str, Any]:
    offer = {
        "status": "available",
        "available_seats": {"basic_economy": 1, "economy": 2, "business": 3},
        "prices": {"basic_economy": 50, "economy": 100, "business": 200},
    }
    return {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "scheduled_departure_time_est": departs,
        "scheduled_arrival_time_est": arrives,
        "dates": {"2024-05-20": offer, "2024-05-21": offer, "2024-05-09": {"status": "landed"}},
    }


def _traveller() -> dict[str, Any]:
    return {
        "name": {"first_name": "Ann", "last_name": "Lee"},
        "payment_methods": {
            "gift_card_1": {"source": "gift_card", "amount": 150, "id": "gift_card_1"},
            "certificate_1": {"source": "certificate", "amount": 100, "id": "certificate_1"},
            "credit_card_1": {"source": "credit_card", "id": "credit_card_1"},
        },
        "reservations": ["RES1"],
    }


AIRLINE: dict[str, dict[str, Any]] = {
    "flights": {
        "HAT1": _flight("HAT1", "JFK", "ORD", "06:00:00", "08:00:00"),
        "HAT2": _flight("HAT2", "ORD", "SEA", "09:00:00", "11:00:00"),
        "HAT3": _flight("HAT3", "JFK", "ORD", "20:00:00", "01:00:00+1"),
    },
    "reservations": {
        "RES1": {
            "reservation_id": "RES1",
            "user_id": "ann_lee_1",
            "origin": "JFK",
            "destination": "ORD",
            "flight_type": "one_way",
            "cabin": "economy",
            "flights": [
                {"origin": "JFK", "destination": "ORD", "flight_number": "HAT1", "date": "2024-05-20", "price": 90}
            ],
            "passengers": [{"first_name": "Ann", "last_name": "Lee", "dob": "1990-01-01"}],
            "payment_history": [{"payment_id": "credit_card_1", "amount": 90}],
            "created_at": "2024-05-01T10:00:00",
            "total_baggages": 1,
            "nonfree_baggages": 0,
            "insurance": "no",
        },
        "RES2": {"reservation_id": "RES2", "user_id": "bo_lee_2", "payment_history": [], "flights": []},
    },
    "users": {"ann_lee_1": _traveller(), "bo_lee_2": _traveller()},
}


def action(name: str, **kwargs: Any) -> dict[str, Any]:
    return {"name": name, "kwargs": kwargs}


CANCEL = action("cancel_pending_order", order_id="#W1", reason="no longer needed")
TASKS: dict[str, list[dict[str, Any]]] = {
    "retail/tasks_test": [
        {"user_id": "ann_lee_1", "actions": [CANCEL], "instruction": "You are Ann {Lee}. Cancel it.", "outputs": []},
        {"user_id": "bo_lee_2", "actions": [], "instruction": "Ask for the price.", "outputs": ["1234.5"]},
        {
            "user_id": "ann_lee_1",
            "actions": [CANCEL, action("transfer_to_human_agents", summary="more")],
            "instruction": "Cancel, then insist on a human.",
            "outputs": [],
        },
    ],
    "retail/tasks_dev": [{"user_id": "ann_lee_1", "actions": [CANCEL], "instruction": "Cancel it.", "outputs": []}],
    "retail/tasks_train": [],
    "airline/tasks_test": [
        {
            "user_id": "ann_lee_1",
            "actions": [
                action("update_reservation_baggages", reservation_id="RES1", total_baggages=2, nonfree_baggages=1,
                       payment_id="gift_card_1")
            ],
            "instruction": "You want one more bag.",
            "outputs": [],
        }
    ],
}  # fmt: skip
PROMPTS = {
    "user_simulator": {
        "first_agent_message": "Good day!",
        "instruction_display": "\n\nTask: {instruction}\n",
        "stop": "###STOP###",
        "llm": "Play a user.{instruction_display}Say it plainly.",
        "react": "Play a user.{instruction_display}Think first.",
    }
}
RELEASE = {
    "agent": {"conversational_system_prompt": "Help the user.\n"},
    "environment_introduction_heading": "This is the place:",
}


def tools(domain: str) -> list[dict[str, Any]]:
    """Bare descriptions of a domain's tools."""
    return [
        {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}
        for name in TOOLS[domain]
    ]


def write(folder: Path) -> Path:
    """Write the world's files as `folder/tau_bench` and the release's prompts beside it; returns the former."""
    data = folder / "tau_bench"
    files: dict[str, Any] = {f"tau_bench/retail/{name}.json": table for name, table in RETAIL.items()}
    files |= {f"tau_bench/airline/{name}.json": table for name, table in AIRLINE.items()}
    files |= {f"tau_bench/{name}.json": tasks for name, tasks in TASKS.items()}
    files |= {f"tau_bench/{domain}/tools.json": tools(domain) for domain in TOOLS}
    files |= {"tau_bench/prompts.json": PROMPTS, "envscaler_release_sample/prompts.json": RELEASE}
    files |= {"tau_bench/tau1_to_tau23_index_map.json": {"retail_tau2": {"0": 0, "1": None}}}
    for name, value in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(value))
    for domain in TOOLS:
        (data / domain / "wiki.md").write_text(f"The {domain} policy.\n")
    return data
