"""ACEBench: a whole episode without a model, beside a straightforward implementation of the same rules on dicts.

Both reset, make the oracle's calls, read out the state and score it. The straightforward one copies the seed state with
`copy.deepcopy`, branches on the tool's name and compares after a round trip through JSON text.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adapters.acebench import scoring
from adapters.acebench.environment import AceEnvironment
from adapters.acebench.solution import solution
from adapters.acebench.task import Task, load_tasks, load_world
from benchmarks.acebench_agent import ACEBENCH_AGENT, PAPER
from harness.artifacts import find
from harness.reference import oracle
from harness.rollout import play
from tests.performance.measure import Row, at_least, at_most, cpu_seconds

Calls = Sequence[tuple[str, dict[str, Any]]]

TASKS = tuple(f"agent_multi_{number}" for number in ("step_3", "step_5", "step_7", "step_10", "step_17", "turn_16"))
"""Tasks that need no tool beyond those that `Plain` has; all three stateful classes of the phone are in them."""

ROUNDS = 20


class Plain:
    """The phone as one writes it first."""

    def __init__(self, world: Mapping[str, Any], task: Task) -> None:
        self.state = {name: copy.deepcopy(world[name]) for name in task.involved}
        for owner in self.state.values():
            owner.update({"wifi": False, "logged_in": True} | copy.deepcopy(task.config.get("BaseApi", {})))
        if "FoodPlatform" in self.state:
            self.state["FoodPlatform"]["logged_in_users"] = []

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """The observation."""
        try:
            result = self._run(name, **arguments)
        except Exception as error:
            return str([f"Error during execution: {error}"])
        text = json.dumps(result) if isinstance(result, dict) else str(result)
        try:
            return str([json.loads(text)])
        except ValueError:
            return str([text])

    def _run(self, name: str, **given: Any) -> Any:
        if name == "turn_on_wifi":
            for owner in self.state.values():
                owner["wifi"] = True
            return {"status": True, "message": "Wi-Fi has been turned on"}
        if name == "login_device":
            for owner in self.state.values():
                owner["logged_in"] = True
            return {"status": True, "message": "Device has been logged in"}
        if name == "get_latest_message_id":
            inbox = self.state["MessageApi"]["inbox"]
            number = max(inbox, key=lambda each: inbox[each]["time"])
            return {"status": True, "message": f"The latest message ID is {number}", "message_id": number}
        if name == "get_earliest_message_id":
            inbox = self.state["MessageApi"]["inbox"]
            number = min(inbox, key=lambda each: inbox[each]["time"])
            return {"status": True, "message": f"The earliest message ID is {number}", "message_id": number}
        if name == "delete_message":
            del self.state["MessageApi"]["inbox"][given["message_id"]]
            return {"status": True, "message": f"Message ID {given['message_id']} has been successfully deleted."}
        if name == "view_messages_between_users":
            return self._view(**given)
        if name == "send_message":
            return self._send(**given)
        if name == "view_reminder_by_title":
            for reminder in self.state["ReminderApi"]["reminder_list"].values():
                if reminder["title"] == given["title"]:
                    return {"status": True, "reminder": reminder}
        if name == "get_products":
            return self.state["FoodPlatform"]["merchant_list"][given["merchant_name"]]["menu"]
        if name == "login_food_platform":
            self.state["FoodPlatform"]["logged_in_users"].append(given["username"])
            return {"status": True, "message": f"User {given['username']} has successfully logged in!"}
        if name == "add_food_delivery_order":
            return self._order(**given)
        raise ValueError(name)

    def _view(self, sender_name: str, receiver_name: str) -> dict[str, Any]:
        phone = self.state["MessageApi"]
        pair = [phone["user_list"][name]["user_id"] for name in (sender_name, receiver_name)]
        found = [
            {"id": number, "sender": sender_name, "receiver": receiver_name, "message": entry["message"]}
            for number, entry in phone["inbox"].items()
            if [entry["sender_id"], entry["receiver_id"]] == pair
        ]
        return {"status": True, "messages": found}

    def _send(self, sender_name: str, receiver_name: str, message: str) -> dict[str, Any]:
        phone = self.state["MessageApi"]
        phone["message_id_counter"] += 1
        people = phone["user_list"]
        phone["inbox"][phone["message_id_counter"]] = {
            "sender_id": people[sender_name]["user_id"],
            "receiver_id": people[receiver_name]["user_id"],
            "message": message,
        }
        return {"status": True, "message": f"Message successfully sent to {receiver_name}."}

    def _order(self, username: str, merchant_name: str, items: list[dict[str, Any]]) -> dict[str, Any]:
        platform, total, lines = self.state["FoodPlatform"], 0.0, []
        for item in items:
            for entry in platform["merchant_list"][merchant_name]["menu"]:
                if entry["product"] == item["product"]:
                    total += entry["price"] * item["quantity"]
                    lines.append({**item, "price_per_unit": entry["price"]})
        platform["users"][username]["balance"] -= total
        order = {"user_name": username, "merchant_name": merchant_name, "items": lines, "total_price": total}
        platform["orders"].append(order)
        text = f"Food delivery order successfully placed with {merchant_name}. Total amount: {total} yuan"
        return {"status": True, "message": text}

    def snapshot(self) -> list[dict[str, Any]]:
        """The scored attributes, through JSON text."""
        saved = {
            "BaseApi": ("wifi", "logged_in"),
            "MessageApi": ("inbox",),
            "ReminderApi": ("reminder_list",),
            "FoodPlatform": ("users", "logged_in_users", "orders"),
        }
        picked = [{name: {key: owner[key] for key in saved[name]}} for name, owner in self.state.items()]
        states: list[dict[str, Any]] = json.loads(json.dumps(picked))
        return states


def _episodes(make: Callable[[Task], Any], tasks: Sequence[Task], calls: Mapping[str, Calls]) -> list[list[str]]:
    """Play every task once; what was observed. A task that comes out unsolved is a bug in what is measured."""
    seen = []
    for task in tasks:
        environment = make(task)
        seen.append([_text(environment.call(name, arguments)) for name, arguments in calls[task.id]])
        if scoring.end_to_end(environment.snapshot(), task.answer) != 1.0:
            raise AssertionError(f"{task.id} came out unsolved")
    return seen


def _text(result: Any) -> str:
    return result if isinstance(result, str) else result.text


def measure() -> list[Row]:
    """CPU time per episode, ours against the straightforward one, and the rate of whole episodes in the harness."""
    folder = find("acebench")
    world = load_world(folder, "en")
    tasks = [task for task in load_tasks(folder, "en") if task.id in TASKS]
    calls = {task.id: solution(task, world.seed, "en") for task in tasks}

    def ours(task: Task) -> AceEnvironment:
        return AceEnvironment(world, task.involved, task.config, (), "en")

    def plain(task: Task) -> Plain:
        return Plain(world.seed, task)

    if _episodes(ours, tasks, calls) != _episodes(plain, tasks, calls):
        raise AssertionError("the two implementations observe different things")

    def seconds(make: Callable[[Task], Any]) -> float:
        rounds = cpu_seconds(lambda: [_episodes(make, tasks, calls) for _ in range(ROUNDS)])
        return rounds / (ROUNDS * len(tasks))

    mine, theirs = seconds(ours), seconds(plain)
    cases = [sample.case() for sample in ACEBENCH_AGENT.load(PAPER, subset="multi_step")]
    whole = cpu_seconds(lambda: [play(case, PAPER, oracle(case)) for case in cases]) / len(cases)
    return [
        at_most("ACEBench: episode, against a plain dict implementation", mine / theirs, 1.0, "x"),
        at_most("ACEBench: episode (reset, calls, score)", mine * 1000, 1.0, "ms"),
        at_least("ACEBench: whole episodes in the harness", 1 / whole, 300, "episodes/s"),
    ]
