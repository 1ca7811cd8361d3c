import copy
import re
from datetime import date, timedelta
from typing import Collection, Dict, Literal, Optional, TypedDict, TypeVar

Record = TypeVar("Record")


class CustomerInfo(TypedDict):
    customer_id: str
    name: str
    birth_date: str
    segment: str  # "youth", "standard" or "premium": decides limits and fees
    phone: str
    status: str  # "active" or "restricted"; only the head office restricts and releases


class AccountInfo(TypedDict):
    account_id: str
    customer_id: str
    kind: str  # "current" or "savings"
    balance: float
    overdraft_limit: float  # how far the balance may fall below zero
    status: str  # "open", "frozen" (pays nothing out) or "closed"
    opened_on: str


class CardInfo(TypedDict):
    card_id: str
    account_id: str
    daily_limit: int
    status: str  # "active", "blocked", "replaced" or "cancelled"
    block_reason: str  # "lost", "stolen", "fraud" or "customer_request"; empty unless blocked or replaced
    expires_on: str


class TransferInfo(TypedDict):
    transfer_id: str
    from_account: str
    to_account: str
    amount: float
    fee: float
    reference: str
    made_on: str


class CashInfo(TypedDict):
    entry_id: str
    account_id: str
    direction: str  # "in" or "out"
    amount: float
    made_on: str


class StandingOrderInfo(TypedDict):
    order_id: str
    from_account: str
    to_account: str
    amount: float
    reference: str
    next_run: str  # then every month on the same day
    status: str  # "active", "paused" or "ended"


class CardPaymentInfo(TypedDict):
    payment_id: str
    card_id: str
    merchant: str
    amount: float
    paid_on: str
    status: str  # "booked", "disputed" or "refunded"


class DisputeInfo(TypedDict):
    dispute_id: str
    payment_id: str
    reason: str  # "fraud", "duplicate", "not_delivered" or "wrong_amount"
    opened_on: str
    credited: float  # what the account has been given back so far
    status: str  # "open", "accepted" or "rejected"


class FeeInfo(TypedDict):
    fee_id: str
    account_id: str
    kind: str  # "transfer" or "card_replacement"
    amount: float
    charged_on: str
    refunded_on: Optional[str]


# What each segment may do: money to others a day, largest card limit, largest overdraft, and open accounts.
SEGMENT_RULES: Dict[str, Dict[str, int]] = {
    "youth": {"daily_transfers": 200, "card_limit": 200, "overdraft": 0, "current_accounts": 1},
    "standard": {"daily_transfers": 2000, "card_limit": 1000, "overdraft": 1000, "current_accounts": 2},
    "premium": {"daily_transfers": 10000, "card_limit": 2500, "overdraft": 5000, "current_accounts": 3},
}
SMALL_TRANSFER = 1000.00  # up to here the lower fee is charged
TRANSFER_FEES = (1.00, 2.50)  # standard customers, to others; nobody else pays
REPLACEMENT_FEE = 12.00  # for a card; premium customers pay nothing
SAVINGS_WITHDRAWALS = 3  # in a calendar month
ACTIVE_CARDS = 2  # of one account
CARD_DAYS = 1095  # how long a new card is valid
STANDING_ORDERS = 5  # active or paused ones that one account may pay
NOTICE_DAYS = 2  # least days from today to the next run when a standing order is made or changed
DISPUTE_DAYS = 60  # how long after the payment it can be disputed
CREDIT_AT_ONCE = 150.00  # disputed amounts up to here are credited when the dispute is opened
REFUND_DAYS = 90  # how old a fee may be that is refunded
GOODWILL_DAYS = 365  # one refunded fee a customer in so many days
MOST_MONEY = 100000.00  # in one transfer or cash entry

ACCOUNT_KINDS = ("current", "savings")
ACCOUNT_STATUSES = ("open", "frozen", "closed")
CARD_STATUSES = ("active", "blocked", "replaced", "cancelled")
BLOCK_REASONS = ("lost", "stolen", "fraud", "customer_request")
ORDER_STATUSES = ("active", "paused", "ended")
PAYMENT_STATUSES = ("booked", "disputed", "refunded")
DISPUTE_REASONS = ("fraud", "duplicate", "not_delivered", "wrong_amount")
DISPUTE_STATUSES = ("open", "accepted", "rejected")


class BankBranch:
    def __init__(self, init_config: dict):
        """
        The service counter of a bank branch.

        Args:
            init_config (dict): The initial state: one key per attribute below.
        """
        # Customers: {customer_id: CustomerInfo}
        self.customers: Dict[str, CustomerInfo] = init_config.get("customers", {})

        # Accounts: {account_id: AccountInfo}
        self.accounts: Dict[str, AccountInfo] = init_config.get("accounts", {})

        # Cards: {card_id: CardInfo}
        self.cards: Dict[str, CardInfo] = init_config.get("cards", {})

        # Transfers between accounts: {transfer_id: TransferInfo}
        self.transfers: Dict[str, TransferInfo] = init_config.get("transfers", {})

        # Cash paid in and out at the counter: {entry_id: CashInfo}
        self.cash_entries: Dict[str, CashInfo] = init_config.get("cash_entries", {})

        # Standing orders: {order_id: StandingOrderInfo}
        self.standing_orders: Dict[str, StandingOrderInfo] = init_config.get("standing_orders", {})

        # Payments by card: {payment_id: CardPaymentInfo}
        self.card_payments: Dict[str, CardPaymentInfo] = init_config.get("card_payments", {})

        # Disputes of card payments: {dispute_id: DisputeInfo}
        self.disputes: Dict[str, DisputeInfo] = init_config.get("disputes", {})

        # Fees: {fee_id: FeeInfo}
        self.fees: Dict[str, FeeInfo] = init_config.get("fees", {})

        # Today at the counter, YYYY-MM-DD
        self.current_date: str = init_config.get("current_date", "2025-01-01")

        # The number that the next new record of each kind gets
        self.next_account_number: int = init_config.get("next_account_number", 1)
        self.next_card_number: int = init_config.get("next_card_number", 1)
        self.next_transfer_number: int = init_config.get("next_transfer_number", 1)
        self.next_entry_number: int = init_config.get("next_entry_number", 1)
        self.next_order_number: int = init_config.get("next_order_number", 1)
        self.next_dispute_number: int = init_config.get("next_dispute_number", 1)
        self.next_fee_number: int = init_config.get("next_fee_number", 1)

    # Helpers

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    @staticmethod
    def _unknown(kind: str, value: object) -> dict:
        if not isinstance(value, str):
            return {"success": False, "error": f"The {kind} id must be a string."}
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
    def _money_problem(amount: object) -> Optional[str]:
        """Say what is wrong with an amount of money, or None."""
        if isinstance(amount, bool) or not isinstance(amount, (int, float)) or not 0 < amount <= MOST_MONEY:
            return f"amount must be a number above 0 and at most {MOST_MONEY:.2f}."
        if abs(amount - round(amount, 2)) > 1e-9 or round(amount, 2) == 0:
            return "amount must be in whole cents."
        return None

    def _days_until(self, day: str) -> int:
        return (date.fromisoformat(day) - date.fromisoformat(self.current_date)).days

    def _owner(self, account: AccountInfo) -> CustomerInfo:
        return self.customers[account["customer_id"]]

    def _sends_restricted(self, payer: AccountInfo, receiver: AccountInfo) -> bool:
        """Whether money would go from a restricted customer to another one."""
        return payer["customer_id"] != receiver["customer_id"] and self._owner(payer)["status"] != "active"

    @staticmethod
    def _available(account: AccountInfo) -> float:
        return round(account["balance"] + account["overdraft_limit"], 2)

    def _withdrawals(self, account_id: str) -> int:
        """How often money has left an account in this calendar month."""
        month = self.current_date[:7]
        moved = sum(1 for t in self.transfers.values() if t["from_account"] == account_id and t["made_on"][:7] == month)
        paid = sum(
            1
            for entry in self.cash_entries.values()
            if (entry["account_id"], entry["direction"], entry["made_on"][:7]) == (account_id, "out", month)
        )
        return moved + paid

    def _sent_today(self, customer_id: str) -> float:
        """What a customer has transferred to others today."""
        total = 0.0
        for entry in self.transfers.values():
            sender = self.accounts[entry["from_account"]]["customer_id"]
            receiver = self.accounts[entry["to_account"]]["customer_id"]
            if entry["made_on"] == self.current_date and sender == customer_id != receiver:
                total += entry["amount"]
        return round(total, 2)

    def _paying_problem(self, account: AccountInfo, amount: float) -> Optional[str]:
        """Say why an account cannot pay an amount now, or None."""
        if account["status"] != "open":
            return f"Account {account['account_id']} is {account['status']} and pays nothing out."
        if account["kind"] == "savings" and self._withdrawals(account["account_id"]) >= SAVINGS_WITHDRAWALS:
            return f"Account {account['account_id']} has had {SAVINGS_WITHDRAWALS} withdrawals this month, the most."
        if amount > self._available(account):
            return f"Account {account['account_id']} has {self._available(account):.2f} available, not {amount:.2f}."
        return None

    def _charge(self, account: AccountInfo, kind: str, amount: float) -> None:
        """Take a fee from an account and record it; nothing is recorded for a fee of zero."""
        if not amount:
            return
        account["balance"] = round(account["balance"] - amount, 2)
        fee_id = f"FE-{self.next_fee_number}"
        self.next_fee_number += 1
        self.fees[fee_id] = {
            "fee_id": fee_id,
            "account_id": account["account_id"],
            "kind": kind,
            "amount": amount,
            "charged_on": self.current_date,
            "refunded_on": None,
        }

    def _card_limit_problem(self, customer: CustomerInfo, daily_limit: object) -> Optional[str]:
        most = SEGMENT_RULES[customer["segment"]]["card_limit"]
        if isinstance(daily_limit, bool) or not isinstance(daily_limit, int) or not 50 <= daily_limit <= most:
            return f"daily_limit must be a whole number from 50 to {most} for {customer['segment']} customers."
        if daily_limit % 50:
            return "daily_limit must be a multiple of 50."
        return None

    def _add_card(self, account_id: str, daily_limit: int) -> str:
        card_id = f"K-{self.next_card_number}"
        self.next_card_number += 1
        expires = date.fromisoformat(self.current_date) + timedelta(days=CARD_DAYS)
        self.cards[card_id] = {
            "card_id": card_id,
            "account_id": account_id,
            "daily_limit": daily_limit,
            "status": "active",
            "block_reason": "",
            "expires_on": expires.isoformat(),
        }
        return card_id

    def _card_account(self, payment: CardPaymentInfo) -> AccountInfo:
        return self.accounts[self.cards[payment["card_id"]]["account_id"]]

    # Queries

    def search_customers(
        self,
        name: Optional[str] = None,
        phone: Optional[str] = None,
        segment: Optional[Literal["youth", "standard", "premium"]] = None,
    ) -> dict:
        """
        Find customers; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            phone (str, optional): Part of the phone number.
            segment (str, optional): "youth", "standard" or "premium".

        Returns:
            dict: {"success": True, "data": [CustomerInfo, ...]} sorted by customer_id, or
            {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("name", name)
            or self._text_filter("phone", phone)
            or self._choice_filter("segment", segment, SEGMENT_RULES)
        )
        if problem:
            return self._fail(problem)
        found = [
            customer
            for _, customer in sorted(self.customers.items())
            if self._contains(customer["name"], name)
            and self._contains(customer["phone"], phone)
            and segment in (None, customer["segment"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def list_accounts(
        self,
        customer_id: Optional[str] = None,
        kind: Optional[Literal["current", "savings"]] = None,
        status: Optional[Literal["open", "frozen", "closed"]] = None,
    ) -> dict:
        """
        List accounts; every filter that is given must match.

        Args:
            customer_id (str, optional): Customer id, e.g. "C-204".
            kind (str, optional): "current" or "savings".
            status (str, optional): "open", "frozen" or "closed".

        Returns:
            dict: {"success": True, "data": [AccountInfo with "available" (balance and overdraft) and
            "withdrawals_this_month" added, ...]} sorted by account_id, or {"success": False, "error": str}.
        """
        if customer_id is not None and self._find(self.customers, customer_id) is None:
            return self._unknown("customer", customer_id)
        problem = self._choice_filter("kind", kind, ACCOUNT_KINDS) or self._choice_filter(
            "status", status, ACCOUNT_STATUSES
        )
        if problem:
            return self._fail(problem)
        found = [
            {
                **account,
                "available": self._available(account),
                "withdrawals_this_month": self._withdrawals(account_id),
            }
            for account_id, account in sorted(self.accounts.items())
            if customer_id in (None, account["customer_id"])
            and kind in (None, account["kind"])
            and status in (None, account["status"])
        ]
        return {"success": True, "data": found}

    def get_limits(self, customer_id: str) -> dict:
        """
        Show what a customer may do under the rules of the segment, and how much of it is used today.

        Args:
            customer_id (str): Customer id, e.g. "C-204".

        Returns:
            dict: {"success": True, "data": {"segment": str, "status": str, "daily_transfers", "transferred_today",
            "transfers_left_today": float, "card_limit", "overdraft", "current_accounts": int, "replacement_fee",
            "transfer_fee_up_to_1000", "transfer_fee_above_1000": float}}, or {"success": False, "error": str}.
        """
        customer = self._find(self.customers, customer_id)
        if customer is None:
            return self._unknown("customer", customer_id)
        rules = SEGMENT_RULES[customer["segment"]]
        pays = customer["segment"] == "standard"
        sent = self._sent_today(customer_id)
        limits = {
            "segment": customer["segment"],
            "status": customer["status"],
            **rules,
            "transferred_today": sent,
            "transfers_left_today": round(max(rules["daily_transfers"] - sent, 0.0), 2),
            "replacement_fee": 0.0 if customer["segment"] == "premium" else REPLACEMENT_FEE,
            "transfer_fee_up_to_1000": TRANSFER_FEES[0] if pays else 0.0,
            "transfer_fee_above_1000": TRANSFER_FEES[1] if pays else 0.0,
        }
        return {"success": True, "data": limits}

    def list_cards(
        self,
        customer_id: Optional[str] = None,
        account_id: Optional[str] = None,
        status: Optional[Literal["active", "blocked", "replaced", "cancelled"]] = None,
    ) -> dict:
        """
        List cards; every filter that is given must match.

        Args:
            customer_id (str, optional): Customer id, e.g. "C-204".
            account_id (str, optional): Account id, e.g. "A-3310".
            status (str, optional): "active", "blocked", "replaced" or "cancelled".

        Returns:
            dict: {"success": True, "data": [CardInfo with "customer_id" added, ...]} sorted by card_id, or
            {"success": False, "error": str}.
        """
        if customer_id is not None and self._find(self.customers, customer_id) is None:
            return self._unknown("customer", customer_id)
        if account_id is not None and self._find(self.accounts, account_id) is None:
            return self._unknown("account", account_id)
        problem = self._choice_filter("status", status, CARD_STATUSES)
        if problem:
            return self._fail(problem)
        found = []
        for _, card in sorted(self.cards.items()):
            owner_id = self.accounts[card["account_id"]]["customer_id"]
            if (
                customer_id in (None, owner_id)
                and account_id in (None, card["account_id"])
                and status in (None, card["status"])
            ):
                found.append({**card, "customer_id": owner_id})
        return {"success": True, "data": found}

    def list_transfers(self, account_id: str, since: Optional[str] = None) -> dict:
        """
        List the transfers from and to an account, the latest first.

        Args:
            account_id (str): Account id, e.g. "A-3310".
            since (str, optional): Date YYYY-MM-DD; only transfers made on this day or later.

        Returns:
            dict: {"success": True, "data": [TransferInfo with "direction" ("in" or "out") added, ...]}, or
            {"success": False, "error": str}.
        """
        if self._find(self.accounts, account_id) is None:
            return self._unknown("account", account_id)
        if since is not None and not self._is_date(since):
            return self._fail("since must be a date in the form YYYY-MM-DD.")
        found = [
            {**entry, "direction": "out" if entry["from_account"] == account_id else "in"}
            for entry in self.transfers.values()
            if account_id in (entry["from_account"], entry["to_account"])
            and (since is None or entry["made_on"] >= since)
        ]
        found.sort(key=lambda entry: (str(entry["made_on"]), str(entry["transfer_id"])), reverse=True)
        return {"success": True, "data": found}

    def list_standing_orders(
        self,
        customer_id: Optional[str] = None,
        status: Optional[Literal["active", "paused", "ended"]] = None,
    ) -> dict:
        """
        List standing orders; every filter that is given must match.

        Args:
            customer_id (str, optional): Customer whose account pays, e.g. "C-204".
            status (str, optional): "active", "paused" or "ended".

        Returns:
            dict: {"success": True, "data": [StandingOrderInfo with "payee" (name of the receiver) added, ...]} sorted
            by next run, or {"success": False, "error": str}.
        """
        if customer_id is not None and self._find(self.customers, customer_id) is None:
            return self._unknown("customer", customer_id)
        problem = self._choice_filter("status", status, ORDER_STATUSES)
        if problem:
            return self._fail(problem)
        found = []
        for order in sorted(self.standing_orders.values(), key=lambda row: (row["next_run"], row["order_id"])):
            payer_id = self.accounts[order["from_account"]]["customer_id"]
            if customer_id in (None, payer_id) and status in (None, order["status"]):
                found.append({**order, "payee": self._owner(self.accounts[order["to_account"]])["name"]})
        return {"success": True, "data": found}

    def list_card_payments(
        self,
        customer_id: Optional[str] = None,
        merchant: Optional[str] = None,
        status: Optional[Literal["booked", "disputed", "refunded"]] = None,
    ) -> dict:
        """
        List payments by card, the latest first; every filter that is given must match.

        Args:
            customer_id (str, optional): Customer id, e.g. "C-204".
            merchant (str, optional): Part of the merchant's name, any case.
            status (str, optional): "booked", "disputed" or "refunded".

        Returns:
            dict: {"success": True, "data": [CardPaymentInfo with "account_id" and "days_ago" added, ...]}, or
            {"success": False, "error": str}.
        """
        if customer_id is not None and self._find(self.customers, customer_id) is None:
            return self._unknown("customer", customer_id)
        problem = self._text_filter("merchant", merchant) or self._choice_filter("status", status, PAYMENT_STATUSES)
        if problem:
            return self._fail(problem)
        found = []
        ordered = sorted(self.card_payments.values(), key=lambda row: (row["paid_on"], row["payment_id"]), reverse=True)
        for payment in ordered:
            account = self._card_account(payment)
            if (
                customer_id in (None, account["customer_id"])
                and self._contains(payment["merchant"], merchant)
                and status in (None, payment["status"])
            ):
                ago = -self._days_until(payment["paid_on"])
                found.append({**payment, "account_id": account["account_id"], "days_ago": ago})
        return {"success": True, "data": found}

    def list_disputes(
        self,
        customer_id: Optional[str] = None,
        status: Optional[Literal["open", "accepted", "rejected"]] = None,
    ) -> dict:
        """
        List disputes; every filter that is given must match.

        Args:
            customer_id (str, optional): Customer id, e.g. "C-204".
            status (str, optional): "open", "accepted" or "rejected".

        Returns:
            dict: {"success": True, "data": [DisputeInfo with "merchant", "amount" and "account_id" added, ...]} sorted
            by dispute_id, or {"success": False, "error": str}.
        """
        if customer_id is not None and self._find(self.customers, customer_id) is None:
            return self._unknown("customer", customer_id)
        problem = self._choice_filter("status", status, DISPUTE_STATUSES)
        if problem:
            return self._fail(problem)
        found = []
        for _, dispute in sorted(self.disputes.items()):
            payment = self.card_payments[dispute["payment_id"]]
            account = self._card_account(payment)
            if customer_id in (None, account["customer_id"]) and status in (None, dispute["status"]):
                more = {
                    "merchant": payment["merchant"],
                    "amount": payment["amount"],
                    "account_id": account["account_id"],
                }
                found.append({**dispute, **more})
        return {"success": True, "data": found}

    def list_fees(self, customer_id: str) -> dict:
        """
        List the fees that a customer has been charged, the latest first.

        Args:
            customer_id (str): Customer id, e.g. "C-204".

        Returns:
            dict: {"success": True, "data": [FeeInfo, ...]}, or {"success": False, "error": str}.
        """
        if self._find(self.customers, customer_id) is None:
            return self._unknown("customer", customer_id)
        found = [fee for fee in self.fees.values() if self.accounts[fee["account_id"]]["customer_id"] == customer_id]
        found.sort(key=lambda fee: (fee["charged_on"], fee["fee_id"]), reverse=True)
        return {"success": True, "data": copy.deepcopy(found)}

    # Changes: accounts

    def open_account(self, customer_id: str, kind: Literal["current", "savings"]) -> dict:
        """
        Open an account with a balance of 0.00 and no overdraft.

        A customer has at most one savings account that is not closed, and as many current accounts as the segment
        allows: youth 1, standard 2, premium 3. Restricted customers get none.

        Args:
            customer_id (str): Customer id, e.g. "C-204".
            kind (str): "current" or "savings".

        Returns:
            dict: {"success": True, "message": str, "account_id": str}, or {"success": False, "error": str}.
        """
        customer = self._find(self.customers, customer_id)
        if customer is None:
            return self._unknown("customer", customer_id)
        if not isinstance(kind, str) or kind not in ACCOUNT_KINDS:
            return self._fail(f"kind must be one of: {', '.join(ACCOUNT_KINDS)}.")
        if customer["status"] != "active":
            return self._fail(f"{customer['name']} is restricted and cannot open an account.")
        most = 1 if kind == "savings" else SEGMENT_RULES[customer["segment"]]["current_accounts"]
        have = sum(
            1
            for account in self.accounts.values()
            if (account["customer_id"], account["kind"]) == (customer_id, kind) and account["status"] != "closed"
        )
        if have >= most:
            return self._fail(f"{customer['name']} already has {have} {kind} accounts; {most} are allowed.")
        account_id = f"A-{self.next_account_number}"
        self.next_account_number += 1
        self.accounts[account_id] = {
            "account_id": account_id,
            "customer_id": customer_id,
            "kind": kind,
            "balance": 0.0,
            "overdraft_limit": 0.0,
            "status": "open",
            "opened_on": self.current_date,
        }
        return {
            "success": True,
            "message": f"Opened the {kind} account {account_id} for {customer['name']}.",
            "account_id": account_id,
        }

    def close_account(self, account_id: str) -> dict:
        """
        Close an open account for good.

        Its balance must be exactly 0.00; it must have no active card, no open dispute, and no active or paused
        standing order that it pays or receives.

        Args:
            account_id (str): Account id, e.g. "A-3310".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        account = self._find(self.accounts, account_id)
        if account is None:
            return self._unknown("account", account_id)
        if account["status"] != "open":
            return self._fail(f"Account {account_id} is not open; its status is '{account['status']}'.")
        if account["balance"] != 0:
            return self._fail(f"The balance of account {account_id} is {account['balance']:.2f}, not 0.00.")
        for card_id, card in sorted(self.cards.items()):
            if card["account_id"] == account_id and card["status"] == "active":
                return self._fail(f"Card {card_id} of account {account_id} is still active.")
        for order_id, order in sorted(self.standing_orders.items()):
            if account_id in (order["from_account"], order["to_account"]) and order["status"] != "ended":
                return self._fail(f"Standing order {order_id} still pays from or to account {account_id}.")
        for dispute_id, dispute in sorted(self.disputes.items()):
            disputed = self._card_account(self.card_payments[dispute["payment_id"]])
            if disputed["account_id"] == account_id and dispute["status"] == "open":
                return self._fail(f"Dispute {dispute_id} of account {account_id} is still open.")
        account["status"] = "closed"
        account["overdraft_limit"] = 0.0
        return {"success": True, "message": f"Account {account_id} is closed."}

    def set_overdraft(self, account_id: str, limit: int) -> dict:
        """
        Set how far the balance of a current account may fall below zero.

        Standard customers get at most 1,000, premium ones 5,000, youth ones none. The limit cannot be set below what
        the account owes, and is not raised for a restricted customer or while any account of the customer is below
        zero.

        Args:
            account_id (str): Account id, e.g. "A-3310"; an open current account.
            limit (int): A multiple of 100, 0 or more.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        account = self._find(self.accounts, account_id)
        if account is None:
            return self._unknown("account", account_id)
        if account["kind"] != "current" or account["status"] != "open":
            return self._fail(f"Account {account_id} is not an open current account.")
        owner = self._owner(account)
        most = SEGMENT_RULES[owner["segment"]]["overdraft"]
        if isinstance(limit, bool) or not isinstance(limit, int) or not 0 <= limit <= most or limit % 100:
            return self._fail(f"limit must be a whole multiple of 100 from 0 to {most} for {owner['segment']} customers.")
        if limit == account["overdraft_limit"]:
            return self._fail(f"The overdraft of account {account_id} is already {limit}.")
        if limit < -account["balance"]:
            return self._fail(f"Account {account_id} owes {-account['balance']:.2f}, more than {limit}.")
        if limit > account["overdraft_limit"]:
            if owner["status"] != "active":
                return self._fail(f"{owner['name']} is restricted; the overdraft is not raised.")
            for other_id, other in sorted(self.accounts.items()):
                if other["customer_id"] == owner["customer_id"] and other["balance"] < 0:
                    return self._fail(f"Account {other_id} of {owner['name']} is below zero; no overdraft is raised.")
        account["overdraft_limit"] = float(limit)
        return {"success": True, "message": f"The overdraft of account {account_id} is now {limit}."}

    def book_cash(self, account_id: str, direction: Literal["in", "out"], amount: float) -> dict:
        """
        Take in or pay out cash at the counter; there is no fee.

        Cash is paid out of an open account as far as its balance and overdraft reach. From a savings account money
        leaves at most 3 times in a calendar month. A frozen account takes cash in, a closed one does not.

        Args:
            account_id (str): Account id, e.g. "A-3310".
            direction (str): "in" or "out".
            amount (float): Amount in whole cents.

        Returns:
            dict: {"success": True, "message": str, "balance": float}, or {"success": False, "error": str}.
        """
        account = self._find(self.accounts, account_id)
        if account is None:
            return self._unknown("account", account_id)
        if not isinstance(direction, str) or direction not in ("in", "out"):
            return self._fail("direction must be one of: in, out.")
        problem = self._money_problem(amount)
        if problem is None and account["status"] == "closed":
            problem = f"Account {account_id} is closed."
        if problem is None and direction == "out":
            problem = self._paying_problem(account, amount)
        if problem:
            return self._fail(problem)
        account["balance"] = round(account["balance"] + (amount if direction == "in" else -amount), 2)
        entry_id = f"CE-{self.next_entry_number}"
        self.next_entry_number += 1
        self.cash_entries[entry_id] = {
            "entry_id": entry_id,
            "account_id": account_id,
            "direction": direction,
            "amount": round(float(amount), 2),
            "made_on": self.current_date,
        }
        return {
            "success": True,
            "message": f"Booked {amount:.2f} cash {direction}; account {account_id} has {account['balance']:.2f}.",
            "balance": account["balance"],
        }

    def transfer(self, from_account: str, to_account: str, amount: float, reference: str) -> dict:
        """
        Transfer money from an account to another one of the bank, today.

        Between accounts of one customer it is free. To others it is paid from current accounts only, never by a
        restricted customer, and within the daily limit of the segment (youth 200, standard 2,000, premium 10,000);
        standard customers pay a fee on top, 1.00 up to an amount of 1,000.00 and 2.50 above. From a savings account
        money leaves at most 3 times in a calendar month. The receiving account must not be closed.

        Args:
            from_account (str): Account id that pays, e.g. "A-3310".
            to_account (str): Account id that receives.
            amount (float): Amount in whole cents.
            reference (str): What it is for; must not be empty.

        Returns:
            dict: {"success": True, "message": str, "transfer_id": str, "fee": float}, or
            {"success": False, "error": str}.
        """
        payer = self._find(self.accounts, from_account)
        if payer is None:
            return self._unknown("account", from_account)
        receiver = self._find(self.accounts, to_account)
        if receiver is None:
            return self._unknown("account", to_account)
        problem = self._money_problem(amount)
        if problem:
            return self._fail(problem)
        if not isinstance(reference, str) or not reference.strip():
            return self._fail("reference must be a non-empty string.")
        if from_account == to_account:
            return self._fail("The two accounts must differ.")
        if receiver["status"] == "closed":
            return self._fail(f"Account {to_account} is closed.")
        owner = self._owner(payer)
        fee = 0.0
        if payer["customer_id"] != receiver["customer_id"]:
            if payer["kind"] == "savings":
                return self._fail("From a savings account money goes to accounts of the same customer only.")
            if self._sends_restricted(payer, receiver):
                return self._fail(f"{owner['name']} is restricted and sends nothing to others.")
            left = round(SEGMENT_RULES[owner["segment"]]["daily_transfers"] - self._sent_today(owner["customer_id"]), 2)
            if amount > left:
                return self._fail(f"{owner['name']} may transfer {max(left, 0.0):.2f} more to others today.")
            if owner["segment"] == "standard":
                fee = TRANSFER_FEES[0] if amount <= SMALL_TRANSFER else TRANSFER_FEES[1]
        problem = self._paying_problem(payer, round(amount + fee, 2))
        if problem:
            return self._fail(problem)
        payer["balance"] = round(payer["balance"] - amount, 2)
        receiver["balance"] = round(receiver["balance"] + amount, 2)
        self._charge(payer, "transfer", fee)
        transfer_id = f"TR-{self.next_transfer_number}"
        self.next_transfer_number += 1
        self.transfers[transfer_id] = {
            "transfer_id": transfer_id,
            "from_account": from_account,
            "to_account": to_account,
            "amount": round(float(amount), 2),
            "fee": fee,
            "reference": reference.strip(),
            "made_on": self.current_date,
        }
        return {
            "success": True,
            "message": f"Transferred {amount:.2f} from {from_account} to {to_account}; fee {fee:.2f}.",
            "transfer_id": transfer_id,
            "fee": fee,
        }

    def refund_fee(self, fee_id: str) -> dict:
        """
        Give a fee back as goodwill.

        The fee must not be older than 90 days, and the customer must have had no fee refunded in the last 365 days.

        Args:
            fee_id (str): Fee id, e.g. "FE-81".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        fee = self._find(self.fees, fee_id)
        if fee is None:
            return self._unknown("fee", fee_id)
        if fee["refunded_on"] is not None:
            return self._fail(f"Fee {fee_id} was refunded on {fee['refunded_on']}.")
        if -self._days_until(fee["charged_on"]) > REFUND_DAYS:
            return self._fail(f"Fee {fee_id} was charged on {fee['charged_on']}, more than {REFUND_DAYS} days ago.")
        account = self.accounts[fee["account_id"]]
        if account["status"] == "closed":
            return self._fail(f"Account {account['account_id']} is closed.")
        for other_id, other in sorted(self.fees.items()):
            theirs = self.accounts[other["account_id"]]["customer_id"] == account["customer_id"]
            if theirs and other["refunded_on"] and -self._days_until(other["refunded_on"]) <= GOODWILL_DAYS:
                return self._fail(f"Fee {other_id} was already refunded on {other['refunded_on']}.")
        fee["refunded_on"] = self.current_date
        account["balance"] = round(account["balance"] + fee["amount"], 2)
        return {"success": True, "message": f"Refunded {fee['amount']:.2f} to account {account['account_id']}."}

    # Changes: cards

    def issue_card(self, account_id: str, daily_limit: int) -> dict:
        """
        Issue a card for an open current account; it is valid for 1,095 days.

        An account has at most 2 active cards; restricted customers get none. The largest daily limit is 200 for youth,
        1,000 for standard and 2,500 for premium customers.

        Args:
            account_id (str): Account id, e.g. "A-3310".
            daily_limit (int): A multiple of 50, from 50 on.

        Returns:
            dict: {"success": True, "message": str, "card_id": str}, or {"success": False, "error": str}.
        """
        account = self._find(self.accounts, account_id)
        if account is None:
            return self._unknown("account", account_id)
        if account["kind"] != "current" or account["status"] != "open":
            return self._fail(f"Account {account_id} is not an open current account.")
        owner = self._owner(account)
        if owner["status"] != "active":
            return self._fail(f"{owner['name']} is restricted and gets no card.")
        problem = self._card_limit_problem(owner, daily_limit)
        if problem:
            return self._fail(problem)
        have = sum(1 for card in self.cards.values() if (card["account_id"], card["status"]) == (account_id, "active"))
        if have >= ACTIVE_CARDS:
            return self._fail(f"Account {account_id} already has {ACTIVE_CARDS} active cards.")
        card_id = self._add_card(account_id, daily_limit)
        return {"success": True, "message": f"Issued card {card_id} for account {account_id}.", "card_id": card_id}

    def block_card(self, card_id: str, reason: Literal["lost", "stolen", "fraud", "customer_request"]) -> dict:
        """
        Block an active card. Only a block at the customer's request can be lifted again.

        Args:
            card_id (str): Card id, e.g. "K-512".
            reason (str): "lost", "stolen", "fraud" or "customer_request".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        card = self._find(self.cards, card_id)
        if card is None:
            return self._unknown("card", card_id)
        if not isinstance(reason, str) or reason not in BLOCK_REASONS:
            return self._fail(f"reason must be one of: {', '.join(BLOCK_REASONS)}.")
        if card["status"] != "active":
            return self._fail(f"Card {card_id} is not active; its status is '{card['status']}'.")
        card["status"] = "blocked"
        card["block_reason"] = reason
        return {"success": True, "message": f"Card {card_id} is blocked ({reason})."}

    def unblock_card(self, card_id: str) -> dict:
        """
        Lift a block that the customer asked for; its account must have fewer than 2 active cards and not be closed.

        Args:
            card_id (str): Card id, e.g. "K-512".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        card = self._find(self.cards, card_id)
        if card is None:
            return self._unknown("card", card_id)
        if card["status"] != "blocked":
            return self._fail(f"Card {card_id} is not blocked; its status is '{card['status']}'.")
        if card["block_reason"] != "customer_request":
            return self._fail(f"Card {card_id} is blocked as '{card['block_reason']}' and stays blocked.")
        if self.accounts[card["account_id"]]["status"] == "closed":
            return self._fail(f"Account {card['account_id']} is closed.")
        have = sum(1 for c in self.cards.values() if (c["account_id"], c["status"]) == (card["account_id"], "active"))
        if have >= ACTIVE_CARDS:
            return self._fail(f"Account {card['account_id']} already has {ACTIVE_CARDS} active cards.")
        card["status"] = "active"
        card["block_reason"] = ""
        return {"success": True, "message": f"Card {card_id} is active again."}

    def replace_card(self, card_id: str) -> dict:
        """
        Replace a blocked card by a new one with the same daily limit; the old one is "replaced" then.

        Costs 12.00 from the account of the card, nothing for premium customers. The account must be open, able to pay
        that, and have fewer than 2 active cards.

        Args:
            card_id (str): Card id of the blocked card, e.g. "K-512".

        Returns:
            dict: {"success": True, "message": str, "card_id": str}, or {"success": False, "error": str}.
        """
        card = self._find(self.cards, card_id)
        if card is None:
            return self._unknown("card", card_id)
        if card["status"] != "blocked":
            return self._fail(f"Card {card_id} is not blocked; its status is '{card['status']}'.")
        account = self.accounts[card["account_id"]]
        owner = self._owner(account)
        if owner["status"] != "active":
            return self._fail(f"{owner['name']} is restricted and gets no card.")
        have = sum(1 for c in self.cards.values() if (c["account_id"], c["status"]) == (card["account_id"], "active"))
        if have >= ACTIVE_CARDS:
            return self._fail(f"Account {card['account_id']} already has {ACTIVE_CARDS} active cards.")
        fee = 0.0 if owner["segment"] == "premium" else REPLACEMENT_FEE
        problem = self._paying_problem(account, fee)
        if problem:
            return self._fail(problem)
        self._charge(account, "card_replacement", fee)
        card["status"] = "replaced"
        new_id = self._add_card(card["account_id"], card["daily_limit"])
        return {
            "success": True,
            "message": f"Card {new_id} replaces {card_id}; fee {fee:.2f}.",
            "card_id": new_id,
        }

    def set_card_limit(self, card_id: str, daily_limit: int) -> dict:
        """
        Change the daily limit of an active card.

        Args:
            card_id (str): Card id, e.g. "K-512".
            daily_limit (int): A multiple of 50 from 50 on; at most 200 for youth, 1,000 for standard and 2,500 for
                premium customers.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        card = self._find(self.cards, card_id)
        if card is None:
            return self._unknown("card", card_id)
        if card["status"] != "active":
            return self._fail(f"Card {card_id} is not active; its status is '{card['status']}'.")
        problem = self._card_limit_problem(self._owner(self.accounts[card["account_id"]]), daily_limit)
        if problem:
            return self._fail(problem)
        if daily_limit == card["daily_limit"]:
            return self._fail(f"The daily limit of card {card_id} is already {daily_limit}.")
        card["daily_limit"] = daily_limit
        return {"success": True, "message": f"The daily limit of card {card_id} is now {daily_limit}."}

    def cancel_card(self, card_id: str) -> dict:
        """
        Take an active or blocked card out of use for good, without a new one.

        Args:
            card_id (str): Card id, e.g. "K-512".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        card = self._find(self.cards, card_id)
        if card is None:
            return self._unknown("card", card_id)
        if card["status"] not in ("active", "blocked"):
            return self._fail(f"Card {card_id} cannot be cancelled; its status is '{card['status']}'.")
        card["status"] = "cancelled"
        card["block_reason"] = ""
        return {"success": True, "message": f"Card {card_id} is cancelled."}

    # Changes: standing orders

    def create_standing_order(
        self, from_account: str, to_account: str, amount: float, first_run: str, reference: str
    ) -> dict:
        """
        Make a monthly standing order from an open current account; restricted customers make none to others.

        Its first run must lie at least 2 days ahead, on a day of the month from 1 to 28. An account pays at most 5
        standing orders that are active or paused.

        Args:
            from_account (str): Account id that pays, e.g. "A-3310".
            to_account (str): Account id that receives; not closed.
            amount (float): Amount in whole cents.
            first_run (str): Date YYYY-MM-DD.
            reference (str): What it is for; must not be empty.

        Returns:
            dict: {"success": True, "message": str, "order_id": str}, or {"success": False, "error": str}.
        """
        payer = self._find(self.accounts, from_account)
        if payer is None:
            return self._unknown("account", from_account)
        receiver = self._find(self.accounts, to_account)
        if receiver is None:
            return self._unknown("account", to_account)
        problem = self._money_problem(amount)
        if problem:
            return self._fail(problem)
        if not isinstance(reference, str) or not reference.strip():
            return self._fail("reference must be a non-empty string.")
        if not self._is_date(first_run) or int(first_run[8:]) > 28:
            return self._fail("first_run must be a date in the form YYYY-MM-DD, on a day from 1 to 28.")
        if self._days_until(first_run) < NOTICE_DAYS:
            return self._fail(f"first_run must be at least {NOTICE_DAYS} days after {self.current_date}.")
        if payer["kind"] != "current" or payer["status"] != "open":
            return self._fail(f"Account {from_account} is not an open current account.")
        if from_account == to_account or receiver["status"] == "closed":
            return self._fail("The receiving account must be another one that is not closed.")
        if self._sends_restricted(payer, receiver):
            return self._fail(f"{self._owner(payer)['name']} is restricted and sends nothing to others.")
        have = sum(
            1
            for order in self.standing_orders.values()
            if order["from_account"] == from_account and order["status"] != "ended"
        )
        if have >= STANDING_ORDERS:
            return self._fail(f"Account {from_account} already pays {STANDING_ORDERS} standing orders.")
        order_id = f"SO-{self.next_order_number}"
        self.next_order_number += 1
        self.standing_orders[order_id] = {
            "order_id": order_id,
            "from_account": from_account,
            "to_account": to_account,
            "amount": round(float(amount), 2),
            "reference": reference.strip(),
            "next_run": first_run,
            "status": "active",
        }
        return {
            "success": True,
            "message": f"Standing order {order_id} pays {amount:.2f} a month from {first_run} on.",
            "order_id": order_id,
        }

    def change_standing_order(
        self,
        order_id: str,
        amount: Optional[float] = None,
        status: Optional[Literal["active", "paused", "ended"]] = None,
    ) -> dict:
        """
        Change the amount of a standing order, pause it, take it up again, or end it for good.

        An active order cannot be changed in any way when its next run is less than 2 days away. An ended one stays as
        it is. Restricted customers take up no order to others.

        Args:
            order_id (str): Standing order id, e.g. "SO-61".
            amount (float, optional): New amount in whole cents.
            status (str, optional): "active", "paused" or "ended"; must differ from the present status.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        order = self._find(self.standing_orders, order_id)
        if order is None:
            return self._unknown("standing order", order_id)
        if amount is None and status is None:
            return self._fail("Give an amount, a status or both.")
        problem = None if amount is None else self._money_problem(amount)
        problem = problem or self._choice_filter("status", status, ORDER_STATUSES)
        if problem:
            return self._fail(problem)
        if order["status"] == "ended":
            return self._fail(f"Standing order {order_id} has ended.")
        if status == order["status"]:
            return self._fail(f"Standing order {order_id} is already '{status}'.")
        if order["status"] == "active" and self._days_until(order["next_run"]) < NOTICE_DAYS:
            return self._fail(f"Standing order {order_id} runs on {order['next_run']}; it is too late to change it.")
        payer, receiver = self.accounts[order["from_account"]], self.accounts[order["to_account"]]
        if status == "active" and self._sends_restricted(payer, receiver):
            return self._fail(f"{self._owner(payer)['name']} is restricted and sends nothing to others.")
        if amount is not None:
            order["amount"] = round(float(amount), 2)
        if status is not None:
            order["status"] = status
        return {
            "success": True,
            "message": f"Standing order {order_id}: {order['amount']:.2f} a month, '{order['status']}'.",
        }

    # Changes: disputes

    def open_dispute(
        self, payment_id: str, reason: Literal["fraud", "duplicate", "not_delivered", "wrong_amount"]
    ) -> dict:
        """
        Dispute a card payment that was made at most 60 days ago and has not been disputed before.

        For fraud the card must no longer be active: block it first. Amounts up to 150.00 are credited to the account
        of the card at once, larger ones only if the dispute is accepted.

        Args:
            payment_id (str): Card payment id, e.g. "PY-905".
            reason (str): "fraud", "duplicate", "not_delivered" or "wrong_amount".

        Returns:
            dict: {"success": True, "message": str, "dispute_id": str, "credited": float}, or
            {"success": False, "error": str}.
        """
        payment = self._find(self.card_payments, payment_id)
        if payment is None:
            return self._unknown("payment", payment_id)
        if not isinstance(reason, str) or reason not in DISPUTE_REASONS:
            return self._fail(f"reason must be one of: {', '.join(DISPUTE_REASONS)}.")
        if any(dispute["payment_id"] == payment_id for dispute in self.disputes.values()):
            return self._fail(f"Payment {payment_id} has been disputed before.")
        if -self._days_until(payment["paid_on"]) > DISPUTE_DAYS:
            return self._fail(
                f"Payment {payment_id} was made on {payment['paid_on']}, more than {DISPUTE_DAYS} days ago."
            )
        card = self.cards[payment["card_id"]]
        if reason == "fraud" and card["status"] == "active":
            return self._fail(f"Card {card['card_id']} is still active; block it before you dispute a fraud.")
        account = self.accounts[card["account_id"]]
        if account["status"] == "closed":
            return self._fail(f"Account {account['account_id']} is closed.")
        credited = payment["amount"] if payment["amount"] <= CREDIT_AT_ONCE else 0.0
        account["balance"] = round(account["balance"] + credited, 2)
        payment["status"] = "disputed"
        dispute_id = f"DP-{self.next_dispute_number}"
        self.next_dispute_number += 1
        self.disputes[dispute_id] = {
            "dispute_id": dispute_id,
            "payment_id": payment_id,
            "reason": reason,
            "opened_on": self.current_date,
            "credited": credited,
            "status": "open",
        }
        return {
            "success": True,
            "message": f"Opened dispute {dispute_id}; credited {credited:.2f} for now.",
            "dispute_id": dispute_id,
            "credited": credited,
        }

    def decide_dispute(self, dispute_id: str, outcome: Literal["accepted", "rejected"]) -> dict:
        """
        Decide an open dispute.

        Accepted: what has not been credited yet is credited, and the payment is "refunded". Rejected: what was
        credited is taken back, whatever is left on the account, and the payment is "booked" again.

        Args:
            dispute_id (str): Dispute id, e.g. "DP-33".
            outcome (str): "accepted" or "rejected".

        Returns:
            dict: {"success": True, "message": str, "balance": float}, or {"success": False, "error": str}.
        """
        dispute = self._find(self.disputes, dispute_id)
        if dispute is None:
            return self._unknown("dispute", dispute_id)
        if not isinstance(outcome, str) or outcome not in ("accepted", "rejected"):
            return self._fail("outcome must be one of: accepted, rejected.")
        if dispute["status"] != "open":
            return self._fail(f"Dispute {dispute_id} is not open; its status is '{dispute['status']}'.")
        payment = self.card_payments[dispute["payment_id"]]
        account = self._card_account(payment)
        due = payment["amount"] if outcome == "accepted" else 0.0
        account["balance"] = round(account["balance"] + due - dispute["credited"], 2)
        dispute["credited"] = due
        dispute["status"] = outcome
        payment["status"] = "refunded" if outcome == "accepted" else "booked"
        return {
            "success": True,
            "message": f"Dispute {dispute_id} is {outcome}; the balance is {account['balance']:.2f}.",
            "balance": account["balance"],
        }
