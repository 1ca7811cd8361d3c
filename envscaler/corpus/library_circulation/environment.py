import copy
import re
from datetime import date, timedelta
from typing import Collection, Dict, List, Literal, Optional, TypedDict, TypeVar

Record = TypeVar("Record")


class PatronInfo(TypedDict):
    patron_id: str
    name: str
    patron_class: str  # "child", "student", "adult" or "staff": decides limits and loan periods
    email: str  # unique among patrons, except that a child may share its guardian's address
    home_branch: str
    guardian_id: Optional[str]  # patron_id of the responsible adult; set for children only
    status: str  # "active" or "suspended"; only the head office suspends and reinstates
    card_expiry: str  # YYYY-MM-DD, the last day on which the card is valid


class TitleInfo(TypedDict):
    title_id: str
    title: str
    author: str
    year: int
    format: str  # "book", "audiobook" or "dvd"
    subject: str
    audience: str  # "children", "general" or "adult"
    daily_fine: float  # charged per day overdue
    replacement_cost: float  # charged when a copy is lost; also the most an overdue fine can reach


class CopyInfo(TypedDict):
    copy_id: str  # the barcode
    title_id: str
    branch: str  # where the copy stands, or where it was borrowed; copies float between branches
    collection: str  # "circulating" or "reference" (never lent)
    status: str  # "available", "on_loan", "on_hold_shelf", "in_repair", "lost" or "withdrawn"


class LoanInfo(TypedDict):
    loan_id: str
    copy_id: str
    patron_id: str
    checkout_date: str
    due_date: str
    renewals: int  # how often this loan has been renewed
    status: str  # "open", "returned" or "lost"
    returned_on: Optional[str]


class HoldInfo(TypedDict):
    hold_id: str
    title_id: str
    patron_id: str
    pickup_branch: str
    placed_on: str  # the queue is ordered by this date, then by hold_id
    status: str  # "waiting", "ready", "fulfilled", "cancelled" or "expired"
    copy_id: Optional[str]  # the copy set aside for this hold, once there has been one
    pickup_by: Optional[str]  # last day on which the copy set aside is kept


class FineInfo(TypedDict):
    fine_id: str
    patron_id: str
    loan_id: str
    reason: str  # "overdue" or "lost"
    amount: float
    amount_paid: float
    status: str  # "open", "paid" or "waived"
    assessed_on: str
    note: str  # why the fine was waived; empty otherwise


# What each patron class may do: loans and active holds at a time, days per loan, renewals per loan.
CLASS_RULES: Dict[str, Dict[str, int]] = {
    "child": {"loan_limit": 4, "hold_limit": 2, "loan_days": 21, "renewal_limit": 1},
    "student": {"loan_limit": 6, "hold_limit": 3, "loan_days": 28, "renewal_limit": 3},
    "adult": {"loan_limit": 8, "hold_limit": 4, "loan_days": 21, "renewal_limit": 2},
    "staff": {"loan_limit": 15, "hold_limit": 6, "loan_days": 42, "renewal_limit": 4},
}
DVD_LOAN_DAYS = 7  # for every class
FINE_BLOCK = 10.00  # an open balance of this much or more blocks the patron
PICKUP_DAYS = 7  # how long a copy waits on the hold shelf
PROCESSING_FEE = 5.00  # added to the replacement cost of a lost copy
CARD_DAYS = 365  # how long a new or renewed card is valid

FORMATS = ("book", "audiobook", "dvd")
COPY_STATUSES = ("available", "on_loan", "on_hold_shelf", "in_repair", "lost", "withdrawn")
LOAN_STATUSES = ("open", "returned", "lost")
HOLD_STATUSES = ("waiting", "ready", "fulfilled", "cancelled", "expired")
FINE_STATUSES = ("open", "paid", "waived")


class LibraryCirculation:
    def __init__(self, init_config: dict):
        """
        The circulation desk of a town library with several branches.

        Args:
            init_config (dict): The initial state: one key per attribute below.
        """
        # Patrons: {patron_id: PatronInfo}
        self.patrons: Dict[str, PatronInfo] = init_config.get("patrons", {})

        # Titles: {title_id: TitleInfo}
        self.titles: Dict[str, TitleInfo] = init_config.get("titles", {})

        # Copies: {copy_id: CopyInfo}
        self.copies: Dict[str, CopyInfo] = init_config.get("copies", {})

        # Loans: {loan_id: LoanInfo}
        self.loans: Dict[str, LoanInfo] = init_config.get("loans", {})

        # Holds: {hold_id: HoldInfo}
        self.holds: Dict[str, HoldInfo] = init_config.get("holds", {})

        # Fines: {fine_id: FineInfo}
        self.fines: Dict[str, FineInfo] = init_config.get("fines", {})

        # Names of the branches
        self.branches: List[str] = init_config.get("branches", [])

        # Today at the desk, YYYY-MM-DD
        self.current_date: str = init_config.get("current_date", "2025-01-01")

        # The number that the next new record of each kind gets
        self.next_patron_number: int = init_config.get("next_patron_number", 1)
        self.next_loan_number: int = init_config.get("next_loan_number", 1)
        self.next_hold_number: int = init_config.get("next_hold_number", 1)
        self.next_fine_number: int = init_config.get("next_fine_number", 1)

    # Helpers

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    @staticmethod
    def _unknown(kind: str, value: object) -> dict:
        if not isinstance(value, str):
            return {"success": False, "error": f"The {kind}_id must be a string."}
        return {"success": False, "error": f"There is no {kind} with id '{value[:60]}'."}

    @staticmethod
    def _find(table: Dict[str, Record], key: object) -> Optional[Record]:
        return table.get(key) if isinstance(key, str) else None

    @staticmethod
    def _text_filter(name: str, value: object) -> Optional[str]:
        """Say what is wrong with an optional text filter, or None."""
        return None if value is None or isinstance(value, str) else f"{name} must be a string."

    @staticmethod
    def _choice_filter(name: str, value: object, allowed: Collection[str]) -> Optional[str]:
        """Say what is wrong with an optional filter of fixed values, or None."""
        if value is None or (isinstance(value, str) and value in allowed):
            return None
        return f"{name} must be one of: {', '.join(allowed)}."

    @staticmethod
    def _contains(text: str, part: Optional[str]) -> bool:
        return part is None or part.strip().lower() in text.lower()

    @staticmethod
    def _is_date(value: object) -> bool:
        if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            return False
        try:
            date.fromisoformat(value)
        except ValueError:
            return False
        return True

    @staticmethod
    def _is_email(value: object) -> bool:
        return isinstance(value, str) and re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s.]+", value) is not None

    def _in_days(self, start: str, days: int) -> str:
        return (date.fromisoformat(start) + timedelta(days=days)).isoformat()

    def _loan_days(self, patron: PatronInfo, title: TitleInfo) -> int:
        return DVD_LOAN_DAYS if title["format"] == "dvd" else CLASS_RULES[patron["patron_class"]]["loan_days"]

    def _open_loans(self, patron_id: str) -> List[LoanInfo]:
        return [loan for loan in self.loans.values() if loan["patron_id"] == patron_id and loan["status"] == "open"]

    def _active_holds(self, patron_id: str) -> List[HoldInfo]:
        return [
            hold
            for hold in self.holds.values()
            if hold["patron_id"] == patron_id and hold["status"] in ("waiting", "ready")
        ]

    def _queue(self, title_id: str) -> List[HoldInfo]:
        """The waiting holds of a title, first in line first."""
        waiting = [h for h in self.holds.values() if h["title_id"] == title_id and h["status"] == "waiting"]
        return sorted(waiting, key=lambda h: (h["placed_on"], len(h["hold_id"]), h["hold_id"]))

    def _balance(self, patron_id: str) -> float:
        owed = sum(
            fine["amount"] - fine["amount_paid"]
            for fine in self.fines.values()
            if fine["patron_id"] == patron_id and fine["status"] == "open"
        )
        return round(owed, 2)

    def _blocks(self, patron: PatronInfo) -> List[str]:
        """Every reason why the patron may not borrow, renew or place holds today."""
        reasons = []
        if patron["status"] != "active":
            reasons.append("the account is suspended")
        if patron["card_expiry"] < self.current_date:
            reasons.append(f"the card expired on {patron['card_expiry']}")
        balance = self._balance(patron["patron_id"])
        if balance >= FINE_BLOCK:
            reasons.append(f"open fines of {balance:.2f} reach the block at {FINE_BLOCK:.2f}")
        return reasons

    def _blocked(self, patron: PatronInfo) -> Optional[str]:
        reasons = self._blocks(patron)
        return f"{patron['name']} is blocked: {'; '.join(reasons)}." if reasons else None

    def _set_aside(self, item: CopyInfo, hold: HoldInfo) -> None:
        item["status"] = "on_hold_shelf"
        item["branch"] = hold["pickup_branch"]
        hold["status"] = "ready"
        hold["copy_id"] = item["copy_id"]
        hold["pickup_by"] = self._in_days(self.current_date, PICKUP_DAYS)

    def _shelve(self, item: CopyInfo) -> str:
        """Give a free copy to the first waiting hold, or put it back on the shelf; say which."""
        queue = self._queue(item["title_id"]) if item["collection"] == "circulating" else []
        if not queue:
            item["status"] = "available"
            return f"Copy {item['copy_id']} is available at {item['branch']}."
        self._set_aside(item, queue[0])
        return (
            f"Copy {item['copy_id']} is set aside at {item['branch']} for hold {queue[0]['hold_id']}"
            f" (patron {queue[0]['patron_id']}) until {queue[0]['pickup_by']}."
        )

    def _add_fine(self, loan: LoanInfo, reason: str, amount: float) -> str:
        fine_id = f"F-{self.next_fine_number}"
        self.next_fine_number += 1
        self.fines[fine_id] = {
            "fine_id": fine_id,
            "patron_id": loan["patron_id"],
            "loan_id": loan["loan_id"],
            "reason": reason,
            "amount": amount,
            "amount_paid": 0.0,
            "status": "open",
            "assessed_on": self.current_date,
            "note": "",
        }
        return fine_id

    # Queries

    def search_patrons(
        self,
        name: Optional[str] = None,
        email: Optional[str] = None,
        patron_class: Optional[Literal["child", "student", "adult", "staff"]] = None,
        home_branch: Optional[str] = None,
    ) -> dict:
        """
        Find patrons; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            email (str, optional): Part of the e-mail address, any case.
            patron_class (str, optional): "child", "student", "adult" or "staff".
            home_branch (str, optional): Exact name of the home branch.

        Returns:
            dict: {"success": True, "data": [PatronInfo, ...]} sorted by patron_id, or
            {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("name", name)
            or self._text_filter("email", email)
            or self._choice_filter("patron_class", patron_class, CLASS_RULES)
            or self._choice_filter("home_branch", home_branch, self.branches)
        )
        if problem:
            return self._fail(problem)
        found = [
            patron
            for _, patron in sorted(self.patrons.items())
            if self._contains(patron["name"], name)
            and self._contains(patron["email"], email)
            and patron_class in (None, patron["patron_class"])
            and home_branch in (None, patron["home_branch"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def get_patron_account(self, patron_id: str) -> dict:
        """
        Show a patron's record with today's standing: use of the limits, balance and blocks.

        Args:
            patron_id (str): Patron id, e.g. "P-1004".

        Returns:
            dict: {"success": True, "data": {"patron": PatronInfo, "open_loans": int, "overdue_loans": int,
            "loan_limit": int, "active_holds": int, "hold_limit": int, "balance": float, "blocks": [str, ...]}};
            an empty "blocks" list means that the patron may borrow, renew and place holds.
        """
        patron = self._find(self.patrons, patron_id)
        if patron is None:
            return self._unknown("patron", patron_id)
        loans = self._open_loans(patron_id)
        rules = CLASS_RULES[patron["patron_class"]]
        account = {
            "patron": copy.deepcopy(patron),
            "open_loans": len(loans),
            "overdue_loans": sum(1 for loan in loans if loan["due_date"] < self.current_date),
            "loan_limit": rules["loan_limit"],
            "active_holds": len(self._active_holds(patron_id)),
            "hold_limit": rules["hold_limit"],
            "balance": self._balance(patron_id),
            "blocks": self._blocks(patron),
        }
        return {"success": True, "data": account}

    def get_class_rules(self, patron_class: Literal["child", "student", "adult", "staff"]) -> dict:
        """
        Show what a patron class may do, together with the rules that hold for every class.

        Args:
            patron_class (str): "child", "student", "adult" or "staff".

        Returns:
            dict: {"success": True, "data": {"loan_limit", "hold_limit", "loan_days", "renewal_limit",
            "dvd_loan_days", "pickup_days": int, "fine_block", "lost_processing_fee": float}}.
        """
        if not isinstance(patron_class, str) or patron_class not in CLASS_RULES:
            return self._fail(f"patron_class must be one of: {', '.join(CLASS_RULES)}.")
        rules: Dict[str, object] = dict(CLASS_RULES[patron_class])
        rules["dvd_loan_days"] = DVD_LOAN_DAYS
        rules["pickup_days"] = PICKUP_DAYS
        rules["fine_block"] = FINE_BLOCK
        rules["lost_processing_fee"] = PROCESSING_FEE
        return {"success": True, "data": rules}

    def search_titles(
        self,
        title: Optional[str] = None,
        author: Optional[str] = None,
        subject: Optional[str] = None,
        format: Optional[Literal["book", "audiobook", "dvd"]] = None,
    ) -> dict:
        """
        Find titles in the catalogue; every filter that is given must match.

        Args:
            title (str, optional): Part of the title, any case.
            author (str, optional): Part of the author's name, any case.
            subject (str, optional): Part of the subject, any case.
            format (str, optional): "book", "audiobook" or "dvd". The same work may exist in several formats.

        Returns:
            dict: {"success": True, "data": [TitleInfo, ...]} sorted by title_id, or
            {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("title", title)
            or self._text_filter("author", author)
            or self._text_filter("subject", subject)
            or self._choice_filter("format", format, FORMATS)
        )
        if problem:
            return self._fail(problem)
        found = [
            entry
            for _, entry in sorted(self.titles.items())
            if self._contains(entry["title"], title)
            and self._contains(entry["author"], author)
            and self._contains(entry["subject"], subject)
            and format in (None, entry["format"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def list_copies(
        self,
        title_id: Optional[str] = None,
        branch: Optional[str] = None,
        status: Optional[Literal["available", "on_loan", "on_hold_shelf", "in_repair", "lost", "withdrawn"]] = None,
    ) -> dict:
        """
        List copies; every filter that is given must match.

        Args:
            title_id (str, optional): Title id, e.g. "T-103".
            branch (str, optional): Exact name of the branch where the copy stands.
            status (str, optional): "available", "on_loan", "on_hold_shelf", "in_repair", "lost" or "withdrawn".

        Returns:
            dict: {"success": True, "data": [CopyInfo, ...]} sorted by copy_id, or
            {"success": False, "error": str}.
        """
        if title_id is not None and self._find(self.titles, title_id) is None:
            return self._unknown("title", title_id)
        problem = self._choice_filter("branch", branch, self.branches) or self._choice_filter(
            "status", status, COPY_STATUSES
        )
        if problem:
            return self._fail(problem)
        found = [
            item
            for _, item in sorted(self.copies.items())
            if title_id in (None, item["title_id"])
            and branch in (None, item["branch"])
            and status in (None, item["status"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def get_copy(self, copy_id: str) -> dict:
        """
        Scan a barcode: the copy, its title, and the loan or hold that it is out for.

        Args:
            copy_id (str): Copy id (barcode), e.g. "C-3007".

        Returns:
            dict: {"success": True, "data": {"copy": CopyInfo, "title": TitleInfo, "open_loan": LoanInfo or None,
            "ready_hold": HoldInfo or None}}, or {"success": False, "error": str}.
        """
        item = self._find(self.copies, copy_id)
        if item is None:
            return self._unknown("copy", copy_id)
        loans = [loan for loan in self.loans.values() if loan["copy_id"] == copy_id and loan["status"] == "open"]
        holds = [hold for hold in self.holds.values() if hold["copy_id"] == copy_id and hold["status"] == "ready"]
        scan = {
            "copy": item,
            "title": self.titles[item["title_id"]],
            "open_loan": loans[0] if loans else None,
            "ready_hold": holds[0] if holds else None,
        }
        return {"success": True, "data": copy.deepcopy(scan)}

    def list_loans(
        self,
        patron_id: Optional[str] = None,
        title_id: Optional[str] = None,
        status: Optional[Literal["open", "returned", "lost"]] = None,
        due_before: Optional[str] = None,
    ) -> dict:
        """
        List loans; every filter that is given must match.

        Args:
            patron_id (str, optional): Patron id, e.g. "P-1004".
            title_id (str, optional): Title id, e.g. "T-103".
            status (str, optional): "open", "returned" or "lost".
            due_before (str, optional): Date YYYY-MM-DD; only loans due earlier than this day.

        Returns:
            dict: {"success": True, "data": [LoanInfo with "title_id", "title" and "format" added, ...]} sorted by
            due date, or {"success": False, "error": str}.
        """
        if patron_id is not None and self._find(self.patrons, patron_id) is None:
            return self._unknown("patron", patron_id)
        if title_id is not None and self._find(self.titles, title_id) is None:
            return self._unknown("title", title_id)
        problem = self._choice_filter("status", status, LOAN_STATUSES)
        if problem is None and due_before is not None and not self._is_date(due_before):
            problem = "due_before must be a date in the form YYYY-MM-DD."
        if problem:
            return self._fail(problem)
        found = []
        for loan in sorted(self.loans.values(), key=lambda entry: (entry["due_date"], entry["loan_id"])):
            entry = self.titles[self.copies[loan["copy_id"]]["title_id"]]
            if (
                patron_id in (None, loan["patron_id"])
                and title_id in (None, entry["title_id"])
                and status in (None, loan["status"])
                and (due_before is None or loan["due_date"] < due_before)
            ):
                details = {"title_id": entry["title_id"], "title": entry["title"], "format": entry["format"]}
                found.append({**loan, **details})
        return {"success": True, "data": found}

    def get_hold_queue(self, title_id: str) -> dict:
        """
        Show who is in line for a title: copies already set aside, then the waiting holds in the order of service.

        Args:
            title_id (str): Title id, e.g. "T-103".

        Returns:
            dict: {"success": True, "data": {"ready": [HoldInfo, ...], "waiting": [HoldInfo with "position", ...]}},
            or {"success": False, "error": str}.
        """
        if self._find(self.titles, title_id) is None:
            return self._unknown("title", title_id)
        ready = [
            hold for _, hold in sorted(self.holds.items()) if hold["title_id"] == title_id and hold["status"] == "ready"
        ]
        waiting = [{**hold, "position": number} for number, hold in enumerate(self._queue(title_id), start=1)]
        return {"success": True, "data": {"ready": copy.deepcopy(ready), "waiting": waiting}}

    def list_holds(
        self,
        patron_id: Optional[str] = None,
        pickup_branch: Optional[str] = None,
        status: Optional[Literal["waiting", "ready", "fulfilled", "cancelled", "expired"]] = None,
    ) -> dict:
        """
        List holds; every filter that is given must match.

        Args:
            patron_id (str, optional): Patron id, e.g. "P-1004".
            pickup_branch (str, optional): Exact name of the pick-up branch.
            status (str, optional): "waiting", "ready", "fulfilled", "cancelled" or "expired".

        Returns:
            dict: {"success": True, "data": [HoldInfo with "title" added, ...]} sorted by hold_id, or
            {"success": False, "error": str}.
        """
        if patron_id is not None and self._find(self.patrons, patron_id) is None:
            return self._unknown("patron", patron_id)
        problem = self._choice_filter("pickup_branch", pickup_branch, self.branches) or self._choice_filter(
            "status", status, HOLD_STATUSES
        )
        if problem:
            return self._fail(problem)
        found = [
            {**hold, "title": self.titles[hold["title_id"]]["title"]}
            for _, hold in sorted(self.holds.items())
            if patron_id in (None, hold["patron_id"])
            and pickup_branch in (None, hold["pickup_branch"])
            and status in (None, hold["status"])
        ]
        return {"success": True, "data": found}

    def list_fines(
        self,
        patron_id: Optional[str] = None,
        status: Optional[Literal["open", "paid", "waived"]] = None,
    ) -> dict:
        """
        List fines, the oldest first; every filter that is given must match.

        Args:
            patron_id (str, optional): Patron id, e.g. "P-1004".
            status (str, optional): "open", "paid" or "waived".

        Returns:
            dict: {"success": True, "data": [FineInfo with "balance" (still to pay) and "title" added, ...]}, or
            {"success": False, "error": str}.
        """
        if patron_id is not None and self._find(self.patrons, patron_id) is None:
            return self._unknown("patron", patron_id)
        problem = self._choice_filter("status", status, FINE_STATUSES)
        if problem:
            return self._fail(problem)
        found = []
        for fine in sorted(self.fines.values(), key=lambda entry: (entry["assessed_on"], entry["fine_id"])):
            if patron_id in (None, fine["patron_id"]) and status in (None, fine["status"]):
                balance = round(fine["amount"] - fine["amount_paid"], 2) if fine["status"] == "open" else 0.0
                title_id = self.copies[self.loans[fine["loan_id"]]["copy_id"]]["title_id"]
                found.append({**fine, "balance": balance, "title": self.titles[title_id]["title"]})
        return {"success": True, "data": found}

    # Changes: patrons

    def register_patron(
        self,
        name: str,
        patron_class: Literal["child", "student", "adult", "staff"],
        email: str,
        home_branch: str,
        guardian_id: Optional[str] = None,
    ) -> dict:
        """
        Register a new patron; the card is valid for 365 days from today.

        A child needs a guardian: an existing adult or staff patron whose account is active. Other classes must not
        have one. The e-mail address must not belong to another patron; a child may share its guardian's address.

        Args:
            name (str): Full name.
            patron_class (str): "child", "student", "adult" or "staff".
            email (str): E-mail address.
            home_branch (str): Exact name of a branch.
            guardian_id (str, optional): Patron id of the guardian; required for a child only.

        Returns:
            dict: {"success": True, "message": str, "patron_id": str, "card_expiry": str}, or
            {"success": False, "error": str}.
        """
        if not isinstance(name, str) or not name.strip():
            return self._fail("name must be a non-empty string.")
        if not isinstance(patron_class, str) or patron_class not in CLASS_RULES:
            return self._fail(f"patron_class must be one of: {', '.join(CLASS_RULES)}.")
        if not self._is_email(email):
            return self._fail("email must be an e-mail address.")
        if not isinstance(home_branch, str) or home_branch not in self.branches:
            return self._fail(f"home_branch must be one of: {', '.join(self.branches)}.")
        if patron_class == "child":
            guardian = self._find(self.patrons, guardian_id)
            if guardian is None:
                return self._fail("A child can be registered only with the guardian_id of an existing patron.")
            if guardian["patron_class"] not in ("adult", "staff") or guardian["status"] != "active":
                return self._fail("The guardian must be an adult or staff patron with an active account.")
        elif guardian_id is not None:
            return self._fail("Only a child has a guardian; leave guardian_id out.")
        for patron in self.patrons.values():
            if patron["email"].lower() == email.lower() and patron["patron_id"] != guardian_id:
                return self._fail(f"The e-mail address already belongs to patron {patron['patron_id']}.")
        patron_id = f"P-{self.next_patron_number}"
        card_expiry = self._in_days(self.current_date, CARD_DAYS)
        self.next_patron_number += 1
        self.patrons[patron_id] = {
            "patron_id": patron_id,
            "name": name.strip(),
            "patron_class": patron_class,
            "email": email,
            "home_branch": home_branch,
            "guardian_id": guardian_id,
            "status": "active",
            "card_expiry": card_expiry,
        }
        return {
            "success": True,
            "message": f"Registered {name.strip()} as {patron_id}; the card is valid until {card_expiry}.",
            "patron_id": patron_id,
            "card_expiry": card_expiry,
        }

    def update_patron_contact(
        self, patron_id: str, email: Optional[str] = None, home_branch: Optional[str] = None
    ) -> dict:
        """
        Change a patron's e-mail address, home branch or both; what is left out stays as it is.

        Args:
            patron_id (str): Patron id, e.g. "P-1004".
            email (str, optional): New e-mail address; must not belong to another patron, except that a child may
                share its guardian's.
            home_branch (str, optional): Exact name of the new home branch.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        patron = self._find(self.patrons, patron_id)
        if patron is None:
            return self._unknown("patron", patron_id)
        if email is None and home_branch is None:
            return self._fail("Give an email, a home_branch or both.")
        if email is not None and not self._is_email(email):
            return self._fail("email must be an e-mail address.")
        problem = self._choice_filter("home_branch", home_branch, self.branches)
        if problem:
            return self._fail(problem)
        if email is not None:
            for other in self.patrons.values():
                family = patron["guardian_id"] == other["patron_id"] or other["guardian_id"] == patron_id
                if other["patron_id"] != patron_id and not family and other["email"].lower() == email.lower():
                    return self._fail(f"The e-mail address already belongs to patron {other['patron_id']}.")
            patron["email"] = email
        if home_branch is not None:
            patron["home_branch"] = home_branch
        return {"success": True, "message": f"Updated the contact data of {patron['name']} ({patron_id})."}

    def renew_card(self, patron_id: str) -> dict:
        """
        Renew a patron's card: it becomes valid until 365 days from today.

        Refused while the account is suspended or the open fines are 10.00 or more.

        Args:
            patron_id (str): Patron id, e.g. "P-1004".

        Returns:
            dict: {"success": True, "message": str, "card_expiry": str}, or {"success": False, "error": str}.
        """
        patron = self._find(self.patrons, patron_id)
        if patron is None:
            return self._unknown("patron", patron_id)
        if patron["status"] != "active":
            return self._fail(f"The account of {patron['name']} is suspended; the card cannot be renewed.")
        balance = self._balance(patron_id)
        if balance >= FINE_BLOCK:
            return self._fail(f"{patron['name']} owes {balance:.2f}; the card can be renewed below {FINE_BLOCK:.2f}.")
        patron["card_expiry"] = self._in_days(self.current_date, CARD_DAYS)
        return {
            "success": True,
            "message": f"The card of {patron['name']} is valid until {patron['card_expiry']}.",
            "card_expiry": patron["card_expiry"],
        }

    # Changes: loans

    def check_out_copy(self, patron_id: str, copy_id: str) -> dict:
        """
        Lend a copy to a patron, starting today.

        The patron must be active with a valid card, open fines below 10.00 and fewer open loans than the class limit.
        The copy must be circulating and either available or set aside for this very patron (which fulfils the hold).
        A child cannot borrow a title for adults. DVDs are due in 7 days, all else after the loan days of the class.

        Args:
            patron_id (str): Patron id, e.g. "P-1004".
            copy_id (str): Copy id (barcode), e.g. "C-3007".

        Returns:
            dict: {"success": True, "message": str, "loan_id": str, "due_date": str}, or
            {"success": False, "error": str}.
        """
        patron = self._find(self.patrons, patron_id)
        if patron is None:
            return self._unknown("patron", patron_id)
        item = self._find(self.copies, copy_id)
        if item is None:
            return self._unknown("copy", copy_id)
        blocked = self._blocked(patron)
        if blocked:
            return self._fail(blocked)
        limit = CLASS_RULES[patron["patron_class"]]["loan_limit"]
        if len(self._open_loans(patron_id)) >= limit:
            return self._fail(f"{patron['name']} already has {limit} open loans, the limit for this class.")
        entry = self.titles[item["title_id"]]
        if patron["patron_class"] == "child" and entry["audience"] == "adult":
            return self._fail(f"'{entry['title']}' is for adults and cannot be lent to a child.")
        if item["collection"] != "circulating":
            return self._fail(f"Copy {copy_id} belongs to the reference collection and is never lent.")
        hold = None
        for candidate in self._active_holds(patron_id):
            if candidate["title_id"] == item["title_id"]:
                hold = candidate
        if item["status"] == "on_hold_shelf":
            if hold is None or hold["copy_id"] != copy_id:
                return self._fail(f"Copy {copy_id} is set aside for another patron.")
        elif item["status"] != "available":
            return self._fail(f"Copy {copy_id} is not available; its status is '{item['status']}'.")
        elif hold is not None and hold["status"] == "ready":
            return self._fail(f"Copy {hold['copy_id']} of this title is set aside for {patron['name']}; lend that one.")
        loan_id = f"L-{self.next_loan_number}"
        due_date = self._in_days(self.current_date, self._loan_days(patron, entry))
        self.next_loan_number += 1
        self.loans[loan_id] = {
            "loan_id": loan_id,
            "copy_id": copy_id,
            "patron_id": patron_id,
            "checkout_date": self.current_date,
            "due_date": due_date,
            "renewals": 0,
            "status": "open",
            "returned_on": None,
        }
        item["status"] = "on_loan"
        if hold is not None:
            hold["status"] = "fulfilled"
            hold["copy_id"] = copy_id
        return {
            "success": True,
            "message": f"Lent '{entry['title']}' ({copy_id}) to {patron['name']} until {due_date}.",
            "loan_id": loan_id,
            "due_date": due_date,
        }

    def renew_loan(self, loan_id: str) -> dict:
        """
        Renew an open loan: the due date moves on by one loan period, counted from the old due date.

        Refused when the loan is overdue, when the renewals of the class are used up, when anybody waits for the
        title, or when the patron is blocked (suspended, expired card, open fines of 10.00 or more).

        Args:
            loan_id (str): Loan id, e.g. "L-5012".

        Returns:
            dict: {"success": True, "message": str, "due_date": str}, or {"success": False, "error": str}.
        """
        loan = self._find(self.loans, loan_id)
        if loan is None:
            return self._unknown("loan", loan_id)
        if loan["status"] != "open":
            return self._fail(f"Loan {loan_id} is not open; its status is '{loan['status']}'.")
        patron = self.patrons[loan["patron_id"]]
        entry = self.titles[self.copies[loan["copy_id"]]["title_id"]]
        blocked = self._blocked(patron)
        if blocked:
            return self._fail(blocked)
        if loan["due_date"] < self.current_date:
            return self._fail(f"Loan {loan_id} has been overdue since {loan['due_date']} and cannot be renewed.")
        limit = CLASS_RULES[patron["patron_class"]]["renewal_limit"]
        if loan["renewals"] >= limit:
            return self._fail(f"Loan {loan_id} has been renewed {loan['renewals']} times; the limit is {limit}.")
        if self._queue(entry["title_id"]):
            return self._fail(f"'{entry['title']}' cannot be renewed: other patrons are waiting for it.")
        loan["due_date"] = self._in_days(loan["due_date"], self._loan_days(patron, entry))
        loan["renewals"] += 1
        return {
            "success": True,
            "message": f"Renewed '{entry['title']}' for {patron['name']} until {loan['due_date']}.",
            "due_date": loan["due_date"],
        }

    def return_copy(self, copy_id: str, branch: str) -> dict:
        """
        Take back a copy that is on loan, today, at a branch.

        A late return is fined: days overdue times the title's daily fine, never more than its replacement cost. The
        copy goes to the first waiting hold on the title (it is then set aside at that hold's pick-up branch for 7
        days); if nobody waits it is available at the branch where it came back.

        Args:
            copy_id (str): Copy id (barcode), e.g. "C-3007".
            branch (str): Exact name of the branch where the copy is handed in.

        Returns:
            dict: {"success": True, "message": str, "loan_id": str, "fine_id": str or None, "fine_amount": float}, or
            {"success": False, "error": str}.
        """
        item = self._find(self.copies, copy_id)
        if item is None:
            return self._unknown("copy", copy_id)
        if not isinstance(branch, str) or branch not in self.branches:
            return self._fail(f"branch must be one of: {', '.join(self.branches)}.")
        open_loans = [loan for loan in self.loans.values() if loan["copy_id"] == copy_id and loan["status"] == "open"]
        if not open_loans:
            return self._fail(f"Copy {copy_id} is not on loan.")
        loan = open_loans[0]
        entry = self.titles[item["title_id"]]
        late = (date.fromisoformat(self.current_date) - date.fromisoformat(loan["due_date"])).days
        amount = round(min(max(late, 0) * entry["daily_fine"], entry["replacement_cost"]), 2)
        loan["status"] = "returned"
        loan["returned_on"] = self.current_date
        item["branch"] = branch
        fine_id = self._add_fine(loan, "overdue", amount) if amount > 0 else None
        charged = f" Overdue fine {fine_id}: {amount:.2f}." if fine_id else ""
        return {
            "success": True,
            "message": f"Returned '{entry['title']}'.{charged} {self._shelve(item)}",
            "loan_id": loan["loan_id"],
            "fine_id": fine_id,
            "fine_amount": amount,
        }

    def declare_loan_lost(self, loan_id: str) -> dict:
        """
        Close an open loan as lost: the copy becomes lost and the patron is charged for it.

        The charge is the title's replacement cost plus a processing fee of 5.00; no overdue fine is added.

        Args:
            loan_id (str): Loan id, e.g. "L-5012".

        Returns:
            dict: {"success": True, "message": str, "fine_id": str, "fine_amount": float}, or
            {"success": False, "error": str}.
        """
        loan = self._find(self.loans, loan_id)
        if loan is None:
            return self._unknown("loan", loan_id)
        if loan["status"] != "open":
            return self._fail(f"Loan {loan_id} is not open; its status is '{loan['status']}'.")
        item = self.copies[loan["copy_id"]]
        entry = self.titles[item["title_id"]]
        amount = round(entry["replacement_cost"] + PROCESSING_FEE, 2)
        loan["status"] = "lost"
        item["status"] = "lost"
        fine_id = self._add_fine(loan, "lost", amount)
        return {
            "success": True,
            "message": f"Declared '{entry['title']}' ({item['copy_id']}) lost; charged {amount:.2f} as {fine_id}.",
            "fine_id": fine_id,
            "fine_amount": amount,
        }

    # Changes: holds

    def place_hold(self, patron_id: str, title_id: str, pickup_branch: str) -> dict:
        """
        Place a hold on a title for pick-up at a branch.

        The patron must not be blocked, must be below the hold limit of the class, and must neither have the title on
        loan nor an active hold on it; a child cannot hold a title for adults. If a circulating copy is available it
        is set aside at once (one at the pick-up branch first, then by copy_id) and the hold is "ready" for 7 days;
        otherwise the hold joins the end of the queue as "waiting".

        Args:
            patron_id (str): Patron id, e.g. "P-1004".
            title_id (str): Title id, e.g. "T-103".
            pickup_branch (str): Exact name of the pick-up branch.

        Returns:
            dict: {"success": True, "message": str, "hold_id": str, "status": "ready" or "waiting"}, or
            {"success": False, "error": str}.
        """
        patron = self._find(self.patrons, patron_id)
        if patron is None:
            return self._unknown("patron", patron_id)
        entry = self._find(self.titles, title_id)
        if entry is None:
            return self._unknown("title", title_id)
        if not isinstance(pickup_branch, str) or pickup_branch not in self.branches:
            return self._fail(f"pickup_branch must be one of: {', '.join(self.branches)}.")
        blocked = self._blocked(patron)
        if blocked:
            return self._fail(blocked)
        active = self._active_holds(patron_id)
        limit = CLASS_RULES[patron["patron_class"]]["hold_limit"]
        if len(active) >= limit:
            return self._fail(f"{patron['name']} already has {limit} active holds, the limit for this class.")
        if any(hold["title_id"] == title_id for hold in active):
            return self._fail(f"{patron['name']} already has an active hold on '{entry['title']}'.")
        if any(self.copies[loan["copy_id"]]["title_id"] == title_id for loan in self._open_loans(patron_id)):
            return self._fail(f"{patron['name']} has '{entry['title']}' on loan.")
        if patron["patron_class"] == "child" and entry["audience"] == "adult":
            return self._fail(f"'{entry['title']}' is for adults and cannot be held for a child.")
        lendable = [
            item
            for item in self.copies.values()
            if item["title_id"] == title_id
            and item["collection"] == "circulating"
            and item["status"] not in ("lost", "withdrawn")
        ]
        if not lendable:
            return self._fail(f"'{entry['title']}' has no circulating copy that could fill a hold.")
        hold_id = f"H-{self.next_hold_number}"
        self.next_hold_number += 1
        hold: HoldInfo = {
            "hold_id": hold_id,
            "title_id": title_id,
            "patron_id": patron_id,
            "pickup_branch": pickup_branch,
            "placed_on": self.current_date,
            "status": "waiting",
            "copy_id": None,
            "pickup_by": None,
        }
        self.holds[hold_id] = hold
        free = [item for item in lendable if item["status"] == "available"]
        if free:
            self._set_aside(min(free, key=lambda item: (item["branch"] != pickup_branch, item["copy_id"])), hold)
            outcome = f"copy {hold['copy_id']} is set aside at {pickup_branch} until {hold['pickup_by']}"
        else:
            outcome = f"waiting at position {len(self._queue(title_id))}"
        return {
            "success": True,
            "message": f"Placed hold {hold_id} on '{entry['title']}' for {patron['name']}: {outcome}.",
            "hold_id": hold_id,
            "status": hold["status"],
        }

    def change_hold_pickup(self, hold_id: str, pickup_branch: str) -> dict:
        """
        Change the pick-up branch of a waiting hold; its place in the queue stays the same.

        Args:
            hold_id (str): Hold id, e.g. "H-702". The hold must be "waiting": a copy already set aside stays put.
            pickup_branch (str): Exact name of the new pick-up branch.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        hold = self._find(self.holds, hold_id)
        if hold is None:
            return self._unknown("hold", hold_id)
        if not isinstance(pickup_branch, str) or pickup_branch not in self.branches:
            return self._fail(f"pickup_branch must be one of: {', '.join(self.branches)}.")
        if hold["status"] != "waiting":
            return self._fail(f"Hold {hold_id} is not waiting; its status is '{hold['status']}'.")
        hold["pickup_branch"] = pickup_branch
        return {"success": True, "message": f"Hold {hold_id} will be picked up at {pickup_branch}."}

    def cancel_hold(self, hold_id: str) -> dict:
        """
        Cancel a waiting or ready hold; a copy that was set aside for it passes to the next waiting hold.

        Args:
            hold_id (str): Hold id, e.g. "H-702".

        Returns:
            dict: {"success": True, "message": str}, which also says where the copy went, or
            {"success": False, "error": str}.
        """
        hold = self._find(self.holds, hold_id)
        if hold is None:
            return self._unknown("hold", hold_id)
        if hold["status"] not in ("waiting", "ready"):
            return self._fail(f"Hold {hold_id} is not active; its status is '{hold['status']}'.")
        was_ready = hold["status"] == "ready"
        hold["status"] = "cancelled"
        passed_on = f" {self._shelve(self.copies[str(hold['copy_id'])])}" if was_ready else ""
        return {"success": True, "message": f"Cancelled hold {hold_id}.{passed_on}"}

    def expire_ready_holds(self) -> dict:
        """
        Clear the hold shelf: every ready hold whose pick-up day lies before today expires, at all branches.

        Each copy passes to the next waiting hold on its title, or becomes available where it stands.

        Returns:
            dict: {"success": True, "message": str, "expired_hold_ids": [str, ...]}; fails when no hold is past its
            pick-up day.
        """
        past = [
            hold
            for _, hold in sorted(self.holds.items())
            if hold["status"] == "ready" and hold["pickup_by"] is not None and hold["pickup_by"] < self.current_date
        ]
        if not past:
            return self._fail("No ready hold is past its pick-up day.")
        for hold in past:
            hold["status"] = "expired"
        outcomes = [self._shelve(self.copies[str(hold["copy_id"])]) for hold in past]
        return {
            "success": True,
            "message": f"Expired {len(past)} holds. {' '.join(outcomes)}",
            "expired_hold_ids": [hold["hold_id"] for hold in past],
        }

    # Changes: fines and copies

    def pay_fine(self, fine_id: str, amount: float) -> dict:
        """
        Take a payment towards an open fine; the fine is "paid" once nothing is left to pay.

        Args:
            fine_id (str): Fine id, e.g. "F-903".
            amount (float): Amount in whole cents, above 0 and not above what is still to pay.

        Returns:
            dict: {"success": True, "message": str, "fine_balance": float, "patron_balance": float}, or
            {"success": False, "error": str}.
        """
        fine = self._find(self.fines, fine_id)
        if fine is None:
            return self._unknown("fine", fine_id)
        if fine["status"] != "open":
            return self._fail(f"Fine {fine_id} is not open; its status is '{fine['status']}'.")
        balance = round(fine["amount"] - fine["amount_paid"], 2)
        if isinstance(amount, bool) or not isinstance(amount, (int, float)) or not 0 < amount <= balance:
            return self._fail(f"amount must be a number above 0 and at most {balance:.2f}, which is still to pay.")
        if abs(amount - round(amount, 2)) > 1e-9 or round(amount, 2) == 0:
            return self._fail("amount must be in whole cents.")
        fine["amount_paid"] = round(fine["amount_paid"] + amount, 2)
        left = round(fine["amount"] - fine["amount_paid"], 2)
        if left == 0:
            fine["status"] = "paid"
        return {
            "success": True,
            "message": f"Took {amount:.2f} for fine {fine_id}; {left:.2f} is left to pay.",
            "fine_balance": left,
            "patron_balance": self._balance(fine["patron_id"]),
        }

    def waive_fine(self, fine_id: str, note: str) -> dict:
        """
        Waive what is left of an open overdue fine. Charges for lost copies cannot be waived.

        Args:
            fine_id (str): Fine id, e.g. "F-903".
            note (str): Why the fine is waived; must not be empty.

        Returns:
            dict: {"success": True, "message": str, "patron_balance": float}, or {"success": False, "error": str}.
        """
        fine = self._find(self.fines, fine_id)
        if fine is None:
            return self._unknown("fine", fine_id)
        if not isinstance(note, str) or not note.strip():
            return self._fail("note must say why the fine is waived.")
        if fine["status"] != "open":
            return self._fail(f"Fine {fine_id} is not open; its status is '{fine['status']}'.")
        if fine["reason"] != "overdue":
            return self._fail(f"Fine {fine_id} is a charge for a lost copy and cannot be waived.")
        fine["status"] = "waived"
        fine["note"] = note.strip()
        balance = self._balance(fine["patron_id"])
        return {
            "success": True,
            "message": f"Waived fine {fine_id}; the patron now owes {balance:.2f}.",
            "patron_balance": balance,
        }

    def set_copy_status(self, copy_id: str, status: Literal["available", "in_repair", "withdrawn"]) -> dict:
        """
        Send a copy to repair, take it back into service, or withdraw it for good.

        Only a copy that is available, in repair or lost can be changed. A copy that returns to service goes to the
        first waiting hold on its title, if there is one. The last circulating copy of a title cannot be withdrawn
        while patrons wait for it.

        Args:
            copy_id (str): Copy id (barcode), e.g. "C-3007".
            status (str): "available", "in_repair" or "withdrawn"; must differ from the present status.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        item = self._find(self.copies, copy_id)
        if item is None:
            return self._unknown("copy", copy_id)
        if not isinstance(status, str) or status not in ("available", "in_repair", "withdrawn"):
            return self._fail("status must be one of: available, in_repair, withdrawn.")
        if item["status"] not in ("available", "in_repair", "lost"):
            return self._fail(f"Copy {copy_id} cannot be changed while its status is '{item['status']}'.")
        if item["status"] == status:
            return self._fail(f"Copy {copy_id} is already '{status}'.")
        if status == "available":
            return {"success": True, "message": self._shelve(item)}
        others = [
            other
            for other in self.copies.values()
            if other["title_id"] == item["title_id"]
            and other["copy_id"] != copy_id
            and other["collection"] == "circulating"
            and other["status"] not in ("lost", "withdrawn")
        ]
        if status == "withdrawn" and not others and self._queue(item["title_id"]):
            return self._fail(f"Copy {copy_id} is the last one of its title and patrons are waiting for it.")
        item["status"] = status
        return {"success": True, "message": f"Copy {copy_id} is now '{status}'."}
