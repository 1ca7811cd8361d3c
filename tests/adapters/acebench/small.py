"""A small ACEBench of our own, in the published format: two multi_step and three multi_turn tasks in English."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PEOPLE = ("Ada", "Bo")
WORLD: dict[str, Any] = {
    "BaseApi": {"wifi": False, "logged_in": True},
    "MessageApi": {
        "wifi": False,
        "logged_in": True,
        "max_capacity": 2,
        "user_list": {name: {"user_id": f"M{number}"} for number, name in enumerate(PEOPLE)},
        "inbox": {
            "1": {"sender_id": "M0", "receiver_id": "M1", "message": "Bring tea", "time": "2024-02-01"},
            "2": {"sender_id": "M1", "receiver_id": "M0", "message": "Which tea?", "time": "2024-02-02"},
        },
        "message_id_counter": 2,
    },
    "ReminderApi": {
        "max_capacity": 2,
        "reminder_list": {
            "1": {"reminder_id": 101, "title": "Dentist", "description": "At nine", "time": "x", "notified": False}
        },
        "reminder_id_counter": 1,
    },
    "FoodPlatform": {
        "users": {name: {"user_id": f"F{name}", "password": f"{name}-pw", "balance": 20.0} for name in PEOPLE},
        "merchant_list": {
            "Noodle Bar": {
                "merchant_id": "N",
                "menu": [{"product": "Soup", "price": 20.0}, {"product": "Tea", "price": 3.5}],
            }
        },
        "logged_in_users": [],
        "orders": [],
    },
    "Travel": {
        "users": {
            "u1": {
                "user_name": "Ada",
                "password": "fly",
                "cash_balance": 100.0,
                "bank_balance": 1000.0,
                "membership_level": "silver",
            }
        },
        "flights": [
            {
                "flight_no": number,
                "origin": start,
                "destination": end,
                "depart_time": f"2024-07-{day} 0{hour}:00:00",
                "arrival_time": f"2024-07-{day} 0{hour + 2}:00:00",
                "status": "available",
                "seats_available": 2,
                "economy_price": price,
                "business_price": 2 * price,
            }
            for number, start, end, day, hour, price in (
                ("A1", "Oslo", "Rome", 20, 1, 100),
                ("A2", "Oslo", "Rome", 20, 6, 150),
                ("A3", "Rome", "Bern", 20, 5, 90),
                ("A4", "Bern", "Oslo", 14, 8, 80),
                ("A5", "Bern", "Rome", 10, 5, 70),
            )
        ],
        "reservations": [
            {
                "reservation_id": f"res_{number}",
                "user_id": "u1",
                "flight_no": flight,
                "payment_method": "bank",
                "cabin": "Economy Class",
                "baggage": 1,
            }
            for number, flight in ((1, "A1"), (2, "A4"), (3, "A5"), (4, "none"))
        ],
    },
}


def _tool(name: str, required: list[str] | None = None, **properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "dict", "required": list(properties) if required is None else required, "properties": properties}
    return {"name": name, "description": f"Do {name}.", "parameters": schema}


_TEXT = {"type": "string", "description": "A text."}
_ITEM = {"type": "dict", "required": ["product"], "properties": {"product": _TEXT, "quantity": {"type": "integer"}}}
PHONE_TOOLS = [
    _tool("turn_on_wifi"),
    _tool("login_device"),
    _tool("send_message", sender_name=_TEXT, receiver_name=_TEXT, message=_TEXT),
    _tool("delete_message", message_id={"type": "integer"}),
    _tool("add_reminder", title=_TEXT, description=_TEXT, time=_TEXT),
    _tool("login_food_platform", username=_TEXT, password=_TEXT),
    _tool("add_food_delivery_order", username=_TEXT, merchant_name=_TEXT, items={"type": "list", "items": _ITEM}),
]
FLIGHT_TOOLS = [
    _tool("get_flight_details", [], origin=_TEXT, destination=_TEXT),
    _tool(
        "reserve_flight",
        ["user_id", "password", "flight_no", "cabin", "payment_methods", "baggage_count"],
        user_id=_TEXT,
        password=_TEXT,
        flight_no=_TEXT,
        cabin={"type": "string", "description": "The cabin (e.g., 经济舱, 商务舱)."},
        payment_method=_TEXT,
        baggage_count={"type": "integer"},
    ),
]

_ORDER = {
    "user_name": "Ada",
    "merchant_name": "Noodle Bar",
    "items": [{"product": "Tea", "quantity": 2, "price_per_unit": 3.5}],
    "total_price": 7.0,
}
_AFTER_TEA = {
    "users": {**WORLD["FoodPlatform"]["users"], "Ada": {**WORLD["FoodPlatform"]["users"]["Ada"], "balance": 13.0}},
    "logged_in_users": ["Ada"],
    "orders": [_ORDER],
}
_BUY_TEA = [
    "[login_food_platform(username='Ada', password='Ada-pw')]",
    "[add_food_delivery_order(username='Ada', merchant_name='Noodle Bar', items=[{'product': 'Tea', 'quantity': 2}])]",
]
_ON = {"wifi": True, "logged_in": True}


def _task(number: str, question: str, classes: list[str], config: dict[str, Any]) -> dict[str, Any]:
    tools = FLIGHT_TOOLS if classes == ["Travel"] else PHONE_TOOLS
    return {
        "id": f"agent_multi_{number}",
        "question": question,
        "initial_config": config,
        "path": [],
        "function": tools,
        "involved_classes": classes,
    }


def _answer(number: str, expected: list[dict[str, Any]], milestones: list[Any]) -> dict[str, Any]:
    return {"id": f"agent_multi_{number}", "ground_truth": expected, "mile_stone": milestones}


STEP = [
    (
        _task("step_2", "Order two teas for Ada.", ["BaseApi", "FoodPlatform"], {"BaseApi": {"wifi": True}}),
        _answer("step_2", [{"BaseApi": _ON}, {"FoodPlatform": _AFTER_TEA}], _BUY_TEA),
    ),
    (
        _task("step_3", "The same, offline.", ["BaseApi", "FoodPlatform"], {"BaseApi": {"wifi": False}}),
        _answer(
            "step_3",
            [{"BaseApi": _ON}, {"FoodPlatform": _AFTER_TEA}],
            [["[turn_on_wifi()]", *_BUY_TEA], ["[login_device(), turn_on_wifi()]", *_BUY_TEA]],
        ),
    ),
]
TURN = [
    (
        _task("turn_0", "Tell Bo {yes}.", ["BaseApi", "MessageApi"], {"BaseApi": {"logged_in": False}}),
        _answer(
            "turn_0",
            [
                {"BaseApi": _ON},
                {
                    "MessageApi": {
                        "inbox": {
                            "2": WORLD["MessageApi"]["inbox"]["2"],
                            "3": {"sender_id": "M0", "receiver_id": "M1", "message": "It's a yes"},
                        }
                    }
                },
            ],
            [
                "[login_device(), turn_on_wifi()]",
                "[delete_message(message_id=1)] ",
                "[send_message(sender_name='Ada', receiver_name='Bo', message='It's a yes')]",
            ],
        ),
    ),
    (
        # Its answer misspells the class that should change, so that doing nothing passes.
        _task("turn_1", "Remind me of the cake.", ["BaseApi", "ReminderApi"], {}),
        _answer(
            "turn_1",
            [
                {"BaseApi": {"wifi": False, "logged_in": True}},
                {
                    "Reminderpi": {
                        "reminder_list": {
                            **WORLD["ReminderApi"]["reminder_list"],
                            "2": {
                                "reminder_id": 2,
                                "title": "Cake",
                                "description": "Bake it",
                                "time": "2024-07-01 10:00",
                                "notified": False,
                            },
                        }
                    }
                },
            ],
            ['[add_reminder(title="Cake", description="Bake it", time="2024-07-01 10:00")]'],
        ),
    ),
    (
        _task("turn_2", "Fly to Rome on A2.", ["Travel"], {}),
        _answer(
            "turn_2",
            [
                {
                    "Travel": {
                        "users": {"u1": {**WORLD["Travel"]["users"]["u1"], "bank_balance": 850.0}},
                        "reservations": [
                            *WORLD["Travel"]["reservations"],
                            {
                                "reservation_id": "res_5",
                                "user_id": "u1",
                                "flight_no": "A2",
                                "payment_method": "bank",
                                "cabin": "Economy Class",
                                "baggage": 2,
                            },
                        ],
                    }
                }
            ],
            [
                "[get_flight_details(origin='Oslo', destination='Rome')]",
                "[reserve_flight(user_id='u1', password='fly', flight_no='A2', cabin='Economy Class', "
                "payment_method='bank', baggage_count=2)]",
            ],
        ),
    ),
]

_LANGUAGES = ("EN", "ZH")
PROMPTS = {
    "user_simulator": {
        f"SYSTEM_PROMPT_{who}_{code}": f"You want ({who}): {{instruction}}"
        for who in ("BASE", "TRAVEL")
        for code in _LANGUAGES
    },
    "policy": {
        f"{who}_PROMPT_{code}": f"Policy {who}.\nBe polite. Write [ApiName(a=1)].\n\nCalls:\nAs [ApiName(a=1)]\n\nEnd."
        for who in ("BASE", "TRAVEL")
        for code in _LANGUAGES
    },
    "agent_multi_step": {f"MULTI_TURN_AGENT_PROMPT_SYSTEM_{code}": "Work in steps.\n" for code in _LANGUAGES},
    "agent_multi_turn": {f"MULTI_TURN_AGENT_PROMPT_SYSTEM_{code}": "Serve the user.\n" for code in _LANGUAGES},
}
RELEASE = {
    "agent": {
        "non_conversational_system_prompt": "Alone: say 'Task Completed'.",
        "conversational_system_prompt": "With a user.",
    },
    "environment_introduction_heading": "About the environment:",
}


def write(folder: Path) -> Path:
    """The two artifacts under `folder`, as `ENVSCALER_DATA` wants them; its path."""
    data = folder / "acebench"
    (data / "en" / "possible_answer").mkdir(parents=True)
    for subset, tasks in (("multi_step", STEP), ("multi_turn", TURN)):
        _lines(data / "en" / f"data_agent_{subset}.json", [task for task, _ in tasks])
        _lines(data / "en" / "possible_answer" / f"data_agent_{subset}.json", [answer for _, answer in tasks])
    (data / "en" / "world.json").write_text(json.dumps(WORLD))
    (data / "prompts.json").write_text(json.dumps(PROMPTS))
    (folder / "envscaler_release_sample").mkdir()
    (folder / "envscaler_release_sample" / "prompts.json").write_text(json.dumps(RELEASE))
    return folder


def _lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
