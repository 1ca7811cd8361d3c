"""A release of our own in BFCL's format: four little backends, a few entries, packed as a wheel."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Any

from adapters.bfcl.pair import Pair
from adapters.bfcl.release import Pin, Release

SOURCES = "eval_checker/multi_turn_eval/func_source_code"

TICKETS = '''
import random

class TicketAPI:
    def __init__(self):
        self._hint = "private"

    def _load_scenario(self, scenario, long_context=False):
        self.tickets = scenario.get("tickets", [])
        self._random = random.Random(scenario.get("random_seed", 7))

    def open_ticket(self, title, priority=1):
        """Open a ticket."""
        ticket = {"id": self._random.randint(100, 999), "title": title, "priority": priority}
        self.tickets.append(ticket)
        return ticket

    def list_tickets(self):
        return self.tickets

    def close_all(self):
        self.tickets.clear()

    def fail(self):
        raise KeyError("nothing here")

    def say(self, text):
        return text
'''
POSTS = """
class TwitterAPI:
    def _load_scenario(self, scenario, long_context=False):
        self.tweets = []

    def post_tweet(self, content, mentions=[]):
        self.tweets.append({"content": content, "mentions": mentions})
        return self.tweets[-1]

    def mention(self, names):
        self.tweets[-1]["mentions"].extend(names)
        return {"mentions": len(names)}
"""
TRAVEL = """
from bfcl_eval.eval_checker.multi_turn_eval.func_source_code.long_context import CARDS

class TravelAPI:
    def _load_scenario(self, scenario, long_context=False):
        self.cards = scenario.get("cards", {})
        if long_context:
            self.cards.update(CARDS)

    def pay(self, card, amount):
        self.cards[card]["balance"] -= amount
        return {"balance": self.cards[card]["balance"]}
"""
MATHS = """
from decimal import Decimal, getcontext

class MathAPI:
    def square_root(self, number, precision):
        getcontext().prec = precision
        return {"result": Decimal(number).sqrt()}

    def power(self, base, exponent):
        return {"result": base ** exponent}
"""
BACKENDS = {
    "ticket_api": TICKETS,
    "posting_api": POSTS,
    "travel_booking": TRAVEL,
    "math_api": MATHS,
    "long_context": 'CARDS = {"gold": {"balance": 100}}\n',
}


def _doc(name: str, description: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "dict", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "parameters": parameters, "response": {"type": "dict"}}


TEXT = {"type": "string", "description": "Text."}
DOCS = {
    "ticket_api": [
        _doc("open_ticket", "Open.", title=TEXT, priority={"type": "integer", "description": "1 to 5.", "default": 1}),
        _doc("list_tickets", "List."),
        _doc("close_all", "Close."),
    ],
    "posting_api": [_doc("post_tweet", "Post.", content=TEXT), _doc("mention", "Mention.", names={"type": "list"})],
    "travel_booking": [_doc("pay", "Pay.", card=TEXT, amount={"type": "float", "description": "Dollars."})],
    "math_api": [_doc("square_root", "Root."), _doc("power", "Power.")],
}


def say(text: str) -> list[dict[str, str]]:
    """A turn with one user message."""
    return [{"role": "user", "content": text}]


ENTRIES: dict[str, list[tuple[dict[str, Any], list[list[str]]]]] = {
    "base": [
        (
            {
                "id": "multi_turn_base_0",
                "question": [say("Open a ticket about rain."), say("What is open?")],
                "initial_config": {"TicketAPI": {"tickets": [], "random_seed": 1}},
                "involved_classes": ["TicketAPI", "TwitterAPI"],
            },
            [["open_ticket('rain', priority=2)"], ["list_tickets()"]],
        ),
        (
            {
                "id": "multi_turn_base_1",
                "question": [say("Root of 2, please."), say("Thanks.")],
                "initial_config": {},
                "involved_classes": ["MathAPI"],
            },
            [["square_root(number=2, precision=5)"], []],
        ),
    ],
    "miss_func": [
        (
            {
                "id": "multi_turn_miss_func_0",
                "question": [say("Open a ticket about rain."), [], say("Close everything.")],
                "initial_config": {},
                "involved_classes": ["TicketAPI"],
                "missed_function": {"1": ["open_ticket"]},
            },
            [[], ["open_ticket(title='rain')"], ["close_all()"]],
        )
    ],
    "miss_param": [
        (
            {
                "id": "multi_turn_miss_param_0",
                "question": [say("Post something."), say("Post 'hello'.")],
                "initial_config": {},
                "involved_classes": ["TwitterAPI"],
            },
            [[], ["post_tweet(content='hello')"]],
        )
    ],
    "long_context": [
        (
            {
                "id": "multi_turn_long_context_0",
                "question": [say("Pay 30 with gold.")],
                "initial_config": {"TravelAPI": {}},
                "involved_classes": ["TravelAPI"],
            },
            [["pay(card='gold', amount=30)"]],
        )
    ],
}


def _lines(records: list[Any]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def small_files(version: str = "v3") -> dict[str, str]:
    """The files of the package, by path below it."""
    files = {f"{SOURCES}/{module}.py": source for module, source in BACKENDS.items()}
    files |= {f"data/multi_turn_func_doc/{module}.json": _lines(docs) for module, docs in DOCS.items()}
    for subset, entries in ENTRIES.items():
        name = f"BFCL_{version}_multi_turn_{subset}.json"
        files[f"data/{name}"] = _lines([question for question, _ in entries])
        answers = [{"id": question["id"], "ground_truth": truth} for question, truth in entries]
        files[f"data/possible_answer/{name}"] = _lines(answers)
    files["constants/default_prompts.py"] = (
        'OTHER = 20\nDEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC = ("New tools. " "And now?")\n'
    )
    return files


def small_wheel(version: str = "v3", files: dict[str, str] | None = None) -> tuple[Pin, bytes]:
    """A wheel with these files, and the pin that it satisfies."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as wheel:
        for path, text in (files or small_files(version)).items():
            wheel.writestr(f"bfcl_eval/{path}", text)
    data = packed.getvalue()
    return Pin(version, "0.0.1", hashlib.sha256(data).hexdigest()), data


def small_pair(version: str = "v3", **changed: str) -> Pair:
    """The pair of a small release; `changed` replaces backend sources by module."""
    files = small_files(version) | {f"{SOURCES}/{module}.py": source for module, source in changed.items()}
    return Pair(Release(*small_wheel(version, files)))
