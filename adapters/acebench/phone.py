"""The phone: device, messages, reminders and the food platform. Exact, with every quirk that the records show.

Class, method and parameter names are the benchmark's interface: tasks name the classes, agents the methods, and
Python puts both into the error texts an agent reads ("FoodPlatform.get_products() missing 1 required ..."). Arguments
come as the agent wrote them, so they have no types here; whatever Python raises over them is the answer to the call.
Rules: docs/acebench.md, Environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from adapters.acebench.language import Language

Reply = dict[str, Any]


class BaseApi:
    """The device. Every class of the phone holds its own copy of its two switches."""

    SAVED: tuple[str, ...] = ("wifi", "logged_in")
    """The attributes that are scored."""

    wifi: bool
    logged_in: bool

    def __init__(self, world: Mapping[str, Any], config: Mapping[str, Any], language: Language) -> None:
        """Take the seed state over and set the switches.

        Args:
            world: Seed state of this class; owned by the instance from here on.
            config: The task's configuration of the device. A switch it does not name has its default, whatever the
                seed says.
        """
        vars(self).update(world)
        self.wifi = config.get("wifi", False)
        self.logged_in = config.get("logged_in", True)
        self._language = language

    def turn_on_wifi(self) -> Reply:
        """Switch the network on."""
        self.wifi = True
        return self._yes("wifi_on")

    def login_device(self) -> Reply:
        """Unlock the device."""
        self.logged_in = True
        return self._yes("device_logged_in")

    def _yes(self, key: str, **values: Any) -> Reply:
        return {"status": True, "message": self._language.say(key, **values)}

    def _no(self, key: str, **values: Any) -> Reply:
        return {"status": False, "message": self._language.say(key, **values)}


class MessageApi(BaseApi):
    """Text messages of six people in one inbox of six, which starts full."""

    SAVED = ("inbox",)

    inbox: dict[int, dict[str, Any]]
    user_list: dict[str, dict[str, Any]]
    max_capacity: int
    message_id_counter: int

    def send_message(self, sender_name: Any, receiver_name: Any, message: Any) -> Reply:
        """Put a message into the inbox. It gets no time, which breaks the three methods that read times."""
        if not self.logged_in:
            return self._no("send_needs_login")
        if not self.wifi:
            return self._no("send_needs_wifi")
        if len(self.inbox) >= self.max_capacity:
            return self._no("inbox_full")
        if sender_name not in self.user_list or receiver_name not in self.user_list:
            return self._no("no_such_correspondent")
        self.message_id_counter += 1
        self.inbox[self.message_id_counter] = {
            "sender_id": self.user_list[sender_name]["user_id"],
            "receiver_id": self.user_list[receiver_name]["user_id"],
            "message": message,
        }
        return self._yes("sent", receiver=receiver_name)

    def delete_message(self, message_id: Any) -> Reply:
        """Remove a message by its number; 4.0 and True are numbers, "4" is not."""
        if not self.logged_in:
            return self._no("delete_needs_login")
        if message_id not in self.inbox:
            return self._no("no_such_message")
        del self.inbox[message_id]
        return self._yes("message_deleted", id=message_id)

    def view_messages_between_users(self, sender_name: Any, receiver_name: Any) -> Reply:
        """The messages that one person sent to another."""
        if not self.logged_in:
            return self._no("view_needs_login")
        if sender_name not in self.user_list:
            return self._no("no_such_sender")
        if receiver_name not in self.user_list:
            return self._no("no_such_receiver")
        pair = (self.user_list[sender_name]["user_id"], self.user_list[receiver_name]["user_id"])
        found = [
            {"id": number, "sender": sender_name, "receiver": receiver_name, "message": entry["message"]}
            for number, entry in self.inbox.items()
            if (entry["sender_id"], entry["receiver_id"]) == pair
        ]
        return {"status": True, "messages": found} if found else self._no("nothing_between")

    def search_messages(self, user_name: Any, keyword: Any) -> Reply:
        """Messages of a person that hold a keyword, in any case. Needs no login."""
        if user_name not in self.user_list:
            return self._no("no_such_owner")
        own = self.user_list[user_name]["user_id"]
        found = [
            {"id": number, **{key: entry[key] for key in ("sender_id", "receiver_id", "message")}}
            for number, entry in self.inbox.items()
            if own in (entry["sender_id"], entry["receiver_id"]) and keyword.lower() in entry["message"].lower()
        ]
        return {"status": True, "messages": found} if found else self._no("no_keyword")

    def get_all_message_times_with_ids(self) -> Reply:
        """The time of each message, by its number."""
        if not self.logged_in:
            return self._no("times_need_login")
        return {number: entry["time"] for number, entry in self.inbox.items()}  # type: ignore[misc]

    def get_latest_message_id(self) -> Reply:
        """The number of the newest message; of several, the first in the inbox."""
        if not self.logged_in:
            return self._no("latest_needs_login")
        if not self.inbox:
            return self._no("inbox_empty")
        times = self._times()
        number = max(times, key=times.__getitem__)
        return {**self._yes("latest", id=number), "message_id": number}

    def get_earliest_message_id(self) -> Reply:
        """The number of the oldest message; of several, the first in the inbox."""
        if not self.logged_in:
            return self._no("earliest_needs_login")
        if not self.inbox:
            return self._no("inbox_empty")
        times = self._times()
        number = min(times, key=times.__getitem__)
        return {**self._yes("earliest", id=number), "message_id": number}

    def _times(self) -> dict[int, datetime]:
        return {number: datetime.strptime(entry["time"], "%Y-%m-%d") for number, entry in self.inbox.items()}


class ReminderApi(BaseApi):
    """Reminders; room for six, three at the start."""

    SAVED = ("reminder_list",)

    reminder_list: dict[int, dict[str, Any]]
    max_capacity: int
    reminder_id_counter: int

    def view_reminder_by_title(self, title: Any) -> Reply:
        """The first reminder with exactly this title."""
        if not self.logged_in:
            return self._no("reminder_needs_login")
        for reminder in self.reminder_list.values():
            if reminder["title"] == title:
                return {"status": True, "reminder": reminder}
        return self._no("no_such_title", title=title)

    def add_reminder(self, title: Any, description: Any, time: Any) -> Reply:
        """Add a reminder. Its id is its key, unlike those of the three that are there at the start."""
        if not self.logged_in:
            return self._no("add_needs_login")
        if len(self.reminder_list) >= self.max_capacity:
            return self._no("reminders_full")
        self.reminder_id_counter += 1
        self.reminder_list[self.reminder_id_counter] = {
            "reminder_id": self.reminder_id_counter,
            "title": title,
            "description": description,
            "time": time,
            "notified": False,
        }
        return self._yes("reminder_added", title=title)

    def delete_reminder(self, reminder_id: Any) -> Reply:
        """Remove a reminder by its key."""
        if not self.logged_in:
            return self._no("drop_needs_login")
        if reminder_id not in self.reminder_list:
            return self._no("no_such_reminder")
        del self.reminder_list[reminder_id]
        return self._yes("reminder_deleted", id=reminder_id)

    def view_all_reminders(self) -> Reply:
        """All reminders without their ids. Needs no login."""
        if not self.reminder_list:
            return self._no("no_reminders")
        shown = ("title", "description", "time", "notified")
        return {
            "status": True,
            "reminders": [{key: reminder[key] for key in shown} for reminder in self.reminder_list.values()],
        }

    def mark_as_notified(self, reminder_id: Any) -> Reply:
        """Note that the user was told (Chinese only)."""
        if reminder_id not in self.reminder_list:
            return self._no("no_such_reminder")
        self.reminder_list[reminder_id]["notified"] = True
        return self._yes("reminder_notified", id=reminder_id)

    def search_reminders(self, keyword: Any) -> Reply:
        """Reminders that hold a keyword (Chinese only). Times are text and not dates, so that every hit raises."""
        found = []
        for reminder in self.reminder_list.values():
            if keyword.lower() in reminder["title"].lower() or keyword.lower() in reminder["description"].lower():
                time = reminder["time"].strftime("%Y-%m-%d %H:%M")
                found.append({"title": reminder["title"], "description": reminder["description"], "time": time})
        return {"status": True, "reminders": found} if found else self._no("no_reminder_keyword")


class FoodPlatform(BaseApi):
    """Food delivery: customers with a balance, merchants with a menu."""

    SAVED = ("users", "logged_in_users", "orders")

    users: dict[str, dict[str, Any]]
    merchant_list: dict[str, dict[str, Any]]
    logged_in_users: list[Any]
    orders: list[dict[str, Any]]

    def __init__(self, world: Mapping[str, Any], config: Mapping[str, Any], language: Language) -> None:
        super().__init__(world, config, language)
        # The device's configuration is loaded last and never names customers, so nobody is logged in at the start.
        self.logged_in_users = list(config.get("logged_in_users", ()))

    def login_food_platform(self, username: Any, password: Any) -> Reply:
        """Log a customer in; being in already is a refusal."""
        if not self.wifi:
            return self._no("food_needs_wifi")
        if username not in self.users:
            return self._no("no_such_customer")
        if self.users[username]["password"] != password:
            return self._no("wrong_password")
        if username in self.logged_in_users:
            return self._no("already_in", user=username)
        self.logged_in_users.append(username)
        return self._yes("customer_in", user=username)

    def view_logged_in_users(self) -> Reply:
        """Who is logged in."""
        if not self.logged_in_users:
            return self._no("nobody_in")
        return {"status": True, "logged_in_users": self.logged_in_users}

    def check_balance(self, user_name: Any) -> Any:
        """A customer's balance; 0.0 for strangers."""
        return self.users[user_name]["balance"] if user_name in self.users else 0.0

    def add_food_delivery_order(self, username: Any, merchant_name: Any, items: Any) -> Reply:
        """Order from one merchant, all items or none. Needs neither wifi nor an unlocked device."""
        if username not in self.logged_in_users:
            return self._no("customer_not_in", user=username)
        if merchant_name not in self.merchant_list:
            return self._no("no_such_merchant")
        total = 0.0
        lines = []
        for item in items:
            product, quantity = item.get("product"), item.get("quantity", 1)
            if not isinstance(quantity, int) or quantity <= 0:
                return self._no("bad_quantity", quantity=quantity, product=product)
            price = self._price(merchant_name, product)
            if price is None:
                return self._no("not_on_menu", product=product, merchant=merchant_name)
            total += price * quantity
            lines.append({"product": product, "quantity": quantity, "price_per_unit": price})
        balance = self.users[username]["balance"]
        if total > balance or (total == balance and not self._language.spends_last_yuan):
            return self._no("too_dear")
        self.users[username]["balance"] -= total
        self.orders.append(
            {"user_name": username, "merchant_name": merchant_name, "items": lines, "total_price": total}
        )
        return self._yes("ordered", merchant=merchant_name, total=total)

    def _price(self, merchant_name: str, product: Any) -> Any:
        menu = self.merchant_list[merchant_name]["menu"]
        return next((entry["price"] for entry in menu if entry["product"] == product), None)

    def get_products(self, merchant_name: Any) -> Any:
        """A merchant's menu: a bare list, so that the agent reads it as Python text within a string."""
        merchant = self.merchant_list.get(merchant_name)
        return merchant["menu"] if merchant else self._no("no_menu", merchant=merchant_name)

    def view_orders(self, user_name: Any) -> Reply:
        """A customer's orders."""
        found = [order for order in self.orders if order["user_name"] == user_name]
        return {"status": True, "orders": found} if found else self._no("no_orders")

    def search_orders(self, keyword: Any) -> Reply:
        """Orders whose merchant or products hold a keyword."""
        found = [order for order in self.orders if self._mentions(order, keyword)]
        return {"status": True, "orders": found} if found else self._no("no_matching_orders")

    def _mentions(self, order: dict[str, Any], keyword: Any) -> bool:
        if keyword.lower() in order["merchant_name"].lower():
            return True
        # The Chinese class takes an item, a dict, for its name; it raises unless the merchant matched.
        by_name = self._language.code == "en"
        return any(keyword.lower() in (item["product"] if by_name else item).lower() for item in order["items"])
