"""Plans, programs and first records of a domain, as a careful model would write them."""

from __future__ import annotations

import json
from typing import Any

from tests.envscaler.skelbuilder.author.domains import Domain

CLASS = '''\
import copy
from datetime import date, timedelta
from typing import Dict, List, Optional, TypedDict


class @Party@Info(TypedDict):
    @party@_id: str  # "P-1"
    name: str
    phone: str
    active: bool
    balance: float  # what is owed, 0 or more


class @Asset@Info(TypedDict):
    @asset@_id: str  # "A-1"
    name: str
    kind: str  # "@k0@", "@k1@" or "@k2@"
    @places@: int
    status: str  # "free", "taken" or "closed"


class @Case@Info(TypedDict):
    @case@_id: str  # "C-1"
    @party@_id: str
    @asset@_id: str
    start_date: str  # YYYY-MM-DD
    due_date: str  # YYYY-MM-DD, last day
    ended_on: Optional[str]  # YYYY-MM-DD, None while open
    status: str  # "open", "ended" or "cancelled"


class @Event@Info(TypedDict):
    @event@_id: str  # "E-1"
    @case@_id: str
    date: str  # YYYY-MM-DD
    text: str


class @Class@:
    """The @title@: @party@s, @asset@s, @case@s and @event@s. Every operation answers with "success"."""

    _KINDS = ("@k0@", "@k1@", "@k2@")
    _LIMIT = @limit@
    _LONGEST_DAYS = @longest@
    _MOST_DEBT = @debt@
    _LATE_FEE = @fee@

    def __init__(self, init_config: dict):
        """Set the state from the initial configuration."""
        self.current_date: str = init_config.get("current_date", "2026-03-02")
        self.@party@s: Dict[str, @Party@Info] = init_config.get("@party@s", {})
        self.@asset@s: Dict[str, @Asset@Info] = init_config.get("@asset@s", {})
        self.@case@s: Dict[str, @Case@Info] = init_config.get("@case@s", {})
        self.@event@s: Dict[str, @Event@Info] = init_config.get("@event@s", {})
        self.next_number: int = init_config.get("next_number", 100)

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    @staticmethod
    def _row(table: dict, key) -> Optional[dict]:
        return table.get(key) if isinstance(key, str) else None

    @staticmethod
    def _is_text(value) -> bool:
        return isinstance(value, str) and value.strip() != ""

    @staticmethod
    def _is_count(value) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value > 0

    def _new_id(self, prefix: str) -> str:
        number = self.next_number
        self.next_number = number + 1
        return f"{prefix}-{number}"

    def _open_@case@s(self, @party@_id: str) -> List[dict]:
        return [row for row in self.@case@s.values() if row["@party@_id"] == @party@_id and row["status"] == "open"]
'''

OPERATIONS: dict[str, tuple[str, str, str]] = {
    "get_@party@": (
        "query",
        "Show a @party@ with the number of open @case@s.",
        '''\
def get_@party@(self, @party@_id: str) -> dict:
    """Show a @party@ with the number of open @case@s.

    Args:
        @party@_id: Id of the @party@, e.g. "P-1".
    """
    row = self._row(self.@party@s, @party@_id)
    if row is None:
        return self._fail("There is no such @party@.")
    return {"success": True, "data": {**copy.deepcopy(row), "open_@case@s": len(self._open_@case@s(@party@_id))}}
''',
    ),
    "search_@party@s": (
        "query",
        "Find @party@s by a part of their name; without it all are listed.",
        '''\
def search_@party@s(self, name: Optional[str] = None) -> dict:
    """Find @party@s by a part of their name; without it all are listed.

    Args:
        name: Part of the name, upper and lower case alike.
    """
    if name is not None and not self._is_text(name):
        return self._fail("name must be a text.")
    rows = [row for row in self.@party@s.values() if name is None or name.lower() in row["name"].lower()]
    return {"success": True, "data": copy.deepcopy(rows)}
''',
    ),
    "register_@party@": (
        "change",
        "Take a new @party@ into the records.",
        '''\
def register_@party@(self, name: str, phone: str) -> dict:
    """Take a new @party@ into the records.

    Args:
        name: Full name.
        phone: Phone number, at least five digits.
    """
    if not self._is_text(name):
        return self._fail("name must be a text.")
    if not self._is_text(phone) or sum(sign.isdigit() for sign in phone) < 5:
        return self._fail("phone must have at least five digits.")
    key = self._new_id("P")
    self.@party@s[key] = {
        "@party@_id": key, "name": name.strip(), "phone": phone.strip(), "active": True, "balance": 0.0,
    }
    return {"success": True, "message": "Registered.", "@party@_id": key}
''',
    ),
    "update_@party@_phone": (
        "change",
        "Write down another phone number of a @party@.",
        '''\
def update_@party@_phone(self, @party@_id: str, phone: str) -> dict:
    """Write down another phone number of a @party@.

    Args:
        @party@_id: Id of the @party@.
        phone: Phone number, at least five digits.
    """
    row = self._row(self.@party@s, @party@_id)
    if row is None:
        return self._fail("There is no such @party@.")
    if not self._is_text(phone) or sum(sign.isdigit() for sign in phone) < 5:
        return self._fail("phone must have at least five digits.")
    row["phone"] = phone.strip()
    return {"success": True, "message": "The number is changed."}
''',
    ),
    "deactivate_@party@": (
        "change",
        "Close the record of a @party@ who has no open @case@ and owes nothing.",
        '''\
def deactivate_@party@(self, @party@_id: str) -> dict:
    """Close the record of a @party@ who has no open @case@ and owes nothing.

    Args:
        @party@_id: Id of the @party@.
    """
    row = self._row(self.@party@s, @party@_id)
    if row is None:
        return self._fail("There is no such @party@.")
    if not row["active"]:
        return self._fail("The record is closed already.")
    if self._open_@case@s(@party@_id):
        return self._fail("There is an open @case@.")
    if row["balance"] > 0:
        return self._fail("Something is still owed.")
    row["active"] = False
    return {"success": True, "message": "The record is closed."}
''',
    ),
    "get_@asset@": (
        "query",
        "Show one @asset@.",
        '''\
def get_@asset@(self, @asset@_id: str) -> dict:
    """Show one @asset@.

    Args:
        @asset@_id: Id of the @asset@, e.g. "A-1".
    """
    row = self._row(self.@asset@s, @asset@_id)
    if row is None:
        return self._fail("There is no such @asset@.")
    return {"success": True, "data": copy.deepcopy(row)}
''',
    ),
    "search_@asset@s": (
        "query",
        "Find @asset@s by kind, status and least number of @places@.",
        '''\
def search_@asset@s(
    self, kind: Optional[str] = None, status: Optional[str] = None, least_@places@: Optional[int] = None
) -> dict:
    """Find @asset@s by kind, status and least number of @places@.

    Args:
        kind: "@k0@", "@k1@" or "@k2@".
        status: "free", "taken" or "closed".
        least_@places@: At least so many @places@.
    """
    if kind is not None and kind not in self._KINDS:
        return self._fail("kind is unknown.")
    if status is not None and status not in ("free", "taken", "closed"):
        return self._fail("status is unknown.")
    if least_@places@ is not None and not self._is_count(least_@places@):
        return self._fail("least_@places@ must be a positive number.")
    rows = [
        row
        for row in self.@asset@s.values()
        if (kind is None or row["kind"] == kind)
        and (status is None or row["status"] == status)
        and (least_@places@ is None or row["@places@"] >= least_@places@)
    ]
    return {"success": True, "data": copy.deepcopy(rows)}
''',
    ),
    "add_@asset@": (
        "change",
        "Add a free @asset@.",
        '''\
def add_@asset@(self, name: str, kind: str, @places@: int) -> dict:
    """Add a free @asset@.

    Args:
        name: What it is called.
        kind: "@k0@", "@k1@" or "@k2@".
        @places@: Number of @places@, 1 to 50.
    """
    if not self._is_text(name):
        return self._fail("name must be a text.")
    if kind not in self._KINDS:
        return self._fail("kind is unknown.")
    if not self._is_count(@places@) or @places@ > 50:
        return self._fail("@places@ must be a number from 1 to 50.")
    key = self._new_id("A")
    self.@asset@s[key] = {
        "@asset@_id": key, "name": name.strip(), "kind": kind, "@places@": @places@, "status": "free",
    }
    return {"success": True, "message": "Added.", "@asset@_id": key}
''',
    ),
    "close_@asset@": (
        "change",
        "Take a free @asset@ out of use.",
        '''\
def close_@asset@(self, @asset@_id: str) -> dict:
    """Take a free @asset@ out of use.

    Args:
        @asset@_id: Id of the @asset@.
    """
    row = self._row(self.@asset@s, @asset@_id)
    if row is None:
        return self._fail("There is no such @asset@.")
    if row["status"] != "free":
        return self._fail(f"The @asset@ is {row['status']}.")
    row["status"] = "closed"
    return {"success": True, "message": "Out of use."}
''',
    ),
    "reopen_@asset@": (
        "change",
        "Put a closed @asset@ to use again.",
        '''\
def reopen_@asset@(self, @asset@_id: str) -> dict:
    """Put a closed @asset@ to use again.

    Args:
        @asset@_id: Id of the @asset@.
    """
    row = self._row(self.@asset@s, @asset@_id)
    if row is None:
        return self._fail("There is no such @asset@.")
    if row["status"] != "closed":
        return self._fail(f"The @asset@ is {row['status']}.")
    row["status"] = "free"
    return {"success": True, "message": "In use again."}
''',
    ),
    "get_@case@": (
        "query",
        "Show a @case@ with its @event@s.",
        '''\
def get_@case@(self, @case@_id: str) -> dict:
    """Show a @case@ with its @event@s.

    Args:
        @case@_id: Id of the @case@, e.g. "C-1".
    """
    row = self._row(self.@case@s, @case@_id)
    if row is None:
        return self._fail("There is no such @case@.")
    events = [event for event in self.@event@s.values() if event["@case@_id"] == @case@_id]
    return {"success": True, "data": {**copy.deepcopy(row), "@event@s": copy.deepcopy(events)}}
''',
    ),
    "list_@case@s": (
        "query",
        "List @case@s, if wanted of one @party@ or one status.",
        '''\
def list_@case@s(self, @party@_id: Optional[str] = None, status: Optional[str] = None) -> dict:
    """List @case@s, if wanted of one @party@ or one status.

    Args:
        @party@_id: Id of the @party@.
        status: "open", "ended" or "cancelled".
    """
    if @party@_id is not None and self._row(self.@party@s, @party@_id) is None:
        return self._fail("There is no such @party@.")
    if status is not None and status not in ("open", "ended", "cancelled"):
        return self._fail("status is unknown.")
    rows = [
        row
        for row in self.@case@s.values()
        if (@party@_id is None or row["@party@_id"] == @party@_id) and (status is None or row["status"] == status)
    ]
    return {"success": True, "data": copy.deepcopy(rows)}
''',
    ),
    "list_overdue_@case@s": (
        "query",
        "List open @case@s whose last day is past.",
        '''\
def list_overdue_@case@s(self) -> dict:
    """List open @case@s whose last day is past."""
    rows = [
        row for row in self.@case@s.values() if row["status"] == "open" and row["due_date"] < self.current_date
    ]
    return {"success": True, "data": copy.deepcopy(rows)}
''',
    ),
    "open_@case@": (
        "change",
        "Open a @case@ today: a free @asset@, an active @party@ within the limits.",
        '''\
def open_@case@(self, @party@_id: str, @asset@_id: str, days: int) -> dict:
    """Open a @case@ today: a free @asset@, an active @party@ below the limit of open @case@s and of debt.

    Args:
        @party@_id: Id of the @party@.
        @asset@_id: Id of a free @asset@.
        days: Length in days, 1 to @longest@.
    """
    party = self._row(self.@party@s, @party@_id)
    if party is None:
        return self._fail("There is no such @party@.")
    asset = self._row(self.@asset@s, @asset@_id)
    if asset is None:
        return self._fail("There is no such @asset@.")
    if not self._is_count(days) or days > self._LONGEST_DAYS:
        return self._fail(f"days must be a number from 1 to {self._LONGEST_DAYS}.")
    if not party["active"]:
        return self._fail("The record of the @party@ is closed.")
    if asset["status"] != "free":
        return self._fail(f"The @asset@ is {asset['status']}.")
    if len(self._open_@case@s(@party@_id)) >= self._LIMIT:
        return self._fail(f"The @party@ has {self._LIMIT} open @case@s already.")
    if party["balance"] > self._MOST_DEBT:
        return self._fail(f"The @party@ owes more than {self._MOST_DEBT}.")
    key = self._new_id("C")
    due = date.fromisoformat(self.current_date) + timedelta(days=days)
    self.@case@s[key] = {
        "@case@_id": key,
        "@party@_id": @party@_id,
        "@asset@_id": @asset@_id,
        "start_date": self.current_date,
        "due_date": due.isoformat(),
        "ended_on": None,
        "status": "open",
    }
    asset["status"] = "taken"
    return {"success": True, "message": "Opened.", "@case@_id": key, "due_date": due.isoformat()}
''',
    ),
    "extend_@case@": (
        "change",
        "Prolong an open @case@ that is not overdue, within the longest time.",
        '''\
def extend_@case@(self, @case@_id: str, days: int) -> dict:
    """Prolong an open @case@ that is not overdue; from start to end it may not exceed @longest@ days.

    Args:
        @case@_id: Id of the @case@.
        days: Further days, 1 to @longest@.
    """
    row = self._row(self.@case@s, @case@_id)
    if row is None:
        return self._fail("There is no such @case@.")
    if not self._is_count(days) or days > self._LONGEST_DAYS:
        return self._fail(f"days must be a number from 1 to {self._LONGEST_DAYS}.")
    if row["status"] != "open":
        return self._fail(f"The @case@ is {row['status']}.")
    if row["due_date"] < self.current_date:
        return self._fail("The @case@ is overdue.")
    due = date.fromisoformat(row["due_date"]) + timedelta(days=days)
    if (due - date.fromisoformat(row["start_date"])).days > self._LONGEST_DAYS:
        return self._fail(f"A @case@ may last {self._LONGEST_DAYS} days at most.")
    row["due_date"] = due.isoformat()
    return {"success": True, "message": "Prolonged.", "due_date": due.isoformat()}
''',
    ),
    "end_@case@": (
        "change",
        "End an open @case@ today; each day of delay is charged, and the @asset@ is free again.",
        '''\
def end_@case@(self, @case@_id: str) -> dict:
    """End an open @case@ today; each day of delay is charged, and the @asset@ is free again.

    Args:
        @case@_id: Id of the @case@.
    """
    row = self._row(self.@case@s, @case@_id)
    if row is None:
        return self._fail("There is no such @case@.")
    if row["status"] != "open":
        return self._fail(f"The @case@ is {row['status']}.")
    late = max(0, (date.fromisoformat(self.current_date) - date.fromisoformat(row["due_date"])).days)
    charge = float(late * self._LATE_FEE)
    row["status"] = "ended"
    row["ended_on"] = self.current_date
    self.@asset@s[row["@asset@_id"]]["status"] = "free"
    self.@party@s[row["@party@_id"]]["balance"] += charge
    return {"success": True, "message": "Ended.", "charge": charge}
''',
    ),
    "cancel_@case@": (
        "change",
        "Cancel a @case@ on its first day; nothing is charged.",
        '''\
def cancel_@case@(self, @case@_id: str) -> dict:
    """Cancel a @case@ on its first day; nothing is charged, and the @asset@ is free again.

    Args:
        @case@_id: Id of the @case@.
    """
    row = self._row(self.@case@s, @case@_id)
    if row is None:
        return self._fail("There is no such @case@.")
    if row["status"] != "open":
        return self._fail(f"The @case@ is {row['status']}.")
    if row["start_date"] != self.current_date:
        return self._fail("A @case@ is cancelled on its first day only.")
    row["status"] = "cancelled"
    row["ended_on"] = self.current_date
    self.@asset@s[row["@asset@_id"]]["status"] = "free"
    return {"success": True, "message": "Cancelled."}
''',
    ),
    "record_@event@": (
        "change",
        "Write down a @event@ of an open @case@.",
        '''\
def record_@event@(self, @case@_id: str, text: str) -> dict:
    """Write down a @event@ of an open @case@.

    Args:
        @case@_id: Id of an open @case@.
        text: What there is to say, free text.
    """
    row = self._row(self.@case@s, @case@_id)
    if row is None:
        return self._fail("There is no such @case@.")
    if row["status"] != "open":
        return self._fail(f"The @case@ is {row['status']}.")
    if not self._is_text(text):
        return self._fail("text must not be empty.")
    key = self._new_id("E")
    self.@event@s[key] = {"@event@_id": key, "@case@_id": @case@_id, "date": self.current_date, "text": text.strip()}
    return {"success": True, "message": "Written down.", "@event@_id": key}
''',
    ),
    "record_payment": (
        "change",
        "Take money from a @party@ who owes at least that much.",
        '''\
def record_payment(self, @party@_id: str, amount: float) -> dict:
    """Take money from a @party@ who owes at least that much.

    Args:
        @party@_id: Id of the @party@.
        amount: More than 0, at most what is owed.
    """
    row = self._row(self.@party@s, @party@_id)
    if row is None:
        return self._fail("There is no such @party@.")
    if isinstance(amount, bool) or not isinstance(amount, (int, float)) or amount <= 0:
        return self._fail("amount must be a positive number.")
    if amount > row["balance"]:
        return self._fail(f"Only {row['balance']} is owed.")
    row["balance"] = round(row["balance"] - amount, 2)
    return {"success": True, "message": "Thank you.", "balance": row["balance"]}
''',
    ),
}


def words(domain: Domain, text: str) -> str:
    """A template in the words of a domain."""
    from envscaler.skelbuilder.program import class_name_of

    def camel(name: str) -> str:
        return "".join(part.capitalize() for part in name.split("_"))

    for key in ("party", "asset", "case", "event"):
        value = getattr(domain, key)
        text = text.replace(f"@{key}@", value).replace(f"@{key.capitalize()}@", camel(value))
    for number, kind in enumerate(domain.kinds):
        text = text.replace(f"@k{number}@", kind)
    for key in ("places", "limit", "longest", "debt", "fee", "title"):
        text = text.replace(f"@{key}@", str(getattr(domain, key)))
    return text.replace("@Class@", class_name_of(domain.title))


def operations(domain: Domain) -> dict[str, tuple[str, str, str]]:
    """Operations by name: kind, description, code."""
    return {
        words(domain, name): (kind, words(domain, said), words(domain, source))
        for name, (kind, said, source) in OPERATIONS.items()
    }


def rules(domain: Domain) -> list[str]:
    """The rules of a domain."""
    return [
        words(domain, text)
        for text in (
            "A @case@ is opened for a free @asset@ only, which is taken until the @case@ ends or is cancelled.",
            "A @party@ has at most @limit@ open @case@s, and none is opened for one who owes more than @debt@.",
            "A @case@ lasts at most @longest@ days from start to end, extensions included.",
            "Ending a @case@ late costs @fee@ for each day after its last day, added to what the @party@ owes.",
            "The record of a @party@ is closed only without open @case@s and without debt.",
        )
    ]


def state_answer(domain: Domain) -> dict[str, Any]:
    """Entities and rules."""
    entities = [
        (
            "@Party@",
            [("@party@_id", "str"), ("name", "str"), ("phone", "str"), ("active", "bool"), ("balance", "float")],
        ),
        ("@Asset@", [("@asset@_id", "str"), ("name", "str"), ("kind", "str"), ("@places@", "int"), ("status", "str")]),
        (
            "@Case@",
            [
                ("@case@_id", "str"),
                ("@party@_id", "str"),
                ("@asset@_id", "str"),
                ("start_date", "str"),
                ("due_date", "str"),
                ("ended_on", "Optional[str]"),
                ("status", "str"),
            ],
        ),
        ("@Event@", [("@event@_id", "str"), ("@case@_id", "str"), ("date", "str"), ("text", "str")]),
        ("Settings", [("current_date", "str"), ("next_number", "int")]),
    ]
    return {
        "entities": [
            {
                "name": words(domain, name),
                "description": words(domain, f"a record of {name.strip('@').lower()}"),
                "attributes": [{"name": words(domain, a), "type": kind, "description": ""} for a, kind in attributes],
            }
            for name, attributes in entities
        ],
        "rules": rules(domain),
    }


def operations_answer(domain: Domain) -> dict[str, Any]:
    """The operations, planned."""
    return {
        "operations": [
            {"name": name, "kind": kind, "description": said} for name, (kind, said, _) in operations(domain).items()
        ]
    }


def config(domain: Domain) -> dict[str, Any]:
    """First records: cases that work and cases that rules forbid."""
    text = json.dumps(
        {
            "current_date": "2026-03-02",
            "@party@s": {
                f"P-{n}": {
                    "@party@_id": f"P-{n}",
                    "name": name,
                    "phone": f"555-01{n}0{n}",
                    "active": n != 4,
                    "balance": [0.0, 12.5, float(domain.debt + 10), 0.0][n - 1],
                }
                for n, name in enumerate(domain.people, start=1)
            },
            "@asset@s": {
                f"A-{n}": {
                    "@asset@_id": f"A-{n}",
                    "name": name,
                    "kind": domain.kinds[n % 3],
                    "@places@": n + 1,
                    "status": ["taken", "free", "free", "closed"][n - 1],
                }
                for n, name in enumerate(domain.names, start=1)
            },
            "@case@s": {
                "C-1": _case(1, 1, 1, "2026-03-01", "2026-03-04", None, "open"),
                "C-2": _case(2, 2, 2, "2026-02-01", "2026-02-06", "2026-02-06", "ended"),
                "C-3": _case(3, 3, 3, "2026-02-10", "2026-02-12", "2026-02-10", "cancelled"),
            },
            "@event@s": {
                f"E-{n}": {"@event@_id": f"E-{n}", "@case@_id": f"C-{n}", "date": "2026-03-01", "text": said}
                for n, said in enumerate(("All in order.", "A small scratch.", "Talked on the phone."), start=1)
            },
            "next_number": 100,
        }
    )
    found: dict[str, Any] = json.loads(words(domain, text))
    return found


def _case(n: int, party: int, asset: int, start: str, due: str, ended: str | None, status: str) -> dict[str, Any]:
    return {
        "@case@_id": f"C-{n}",
        "@party@_id": f"P-{party}",
        "@asset@_id": f"A-{asset}",
        "start_date": start,
        "due_date": due,
        "ended_on": ended,
        "status": status,
    }
