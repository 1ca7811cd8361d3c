"""The letting office of a few apartment buildings: units, tenants, leases, rent ledger, repairs and inspections."""

import copy
import math
import re
from datetime import date, timedelta
from typing import Dict, Iterable, List, Literal, Optional, TypedDict, TypeVar

Record = TypeVar("Record")


class BuildingInfo(TypedDict):
    building_id: str
    name: str
    address: str
    pets_allowed: bool
    has_lift: bool


class UnitInfo(TypedDict):
    unit_id: str
    building_id: str
    number: str  # the number on the door, e.g. "2B"; unique within its building
    floor: int
    bedrooms: int
    max_occupants: int
    base_rent: float  # monthly rent at which the unit is offered
    status: str  # "vacant" (ready to be let), "reserved" (pending lease), "occupied" or "make_ready"


class TenantInfo(TypedDict):
    tenant_id: str
    name: str
    email: str  # unique among tenants
    monthly_income: float
    credit_score: int  # 300 to 850


class LeaseInfo(TypedDict):
    lease_id: str
    unit_id: str
    tenant_id: str
    occupants: int
    has_pet: bool
    start_date: str  # YYYY-MM-DD
    end_date: str  # YYYY-MM-DD, the last day of the term
    monthly_rent: float  # rent of the present term
    next_rent: Optional[float]  # rent of the term after it, once the lease has been renewed
    next_rent_from: Optional[str]  # first day on which next_rent holds
    deposit_required: float
    deposit_held: float
    status: str  # "pending", "active" or "ended"
    notice_date: Optional[str]  # day on which the tenant gave notice
    move_out_date: Optional[str]
    deposit_refund: Optional[float]  # paid back when the lease ended


class LedgerEntry(TypedDict):
    entry_id: str
    lease_id: str
    kind: str  # "charge", "payment" or "credit"
    category: str  # charges: "rent", "deposit", "late_fee", "break_fee", "repair", "damage"; else "payment", "deposit"
    amount: float  # always positive
    period: Optional[str]  # YYYY-MM, the month that a rent or late fee is for
    posted_on: str
    method: Optional[str]  # of a payment
    waived_on: Optional[str]  # a waived charge no longer counts


class VendorInfo(TypedDict):
    vendor_id: str
    name: str
    trade: str  # "plumbing", "electrical", "heating" or "general"
    call_out_fee: float  # once for each job
    hourly_rate: float
    insured_until: str
    jobs_per_day: int


class WorkOrderInfo(TypedDict):
    work_order_id: str
    unit_id: str
    trade: str
    priority: str  # "emergency", "urgent" or "routine"
    description: str
    billed_lease_id: Optional[str]  # the lease that pays, where the tenant caused the damage
    reported_on: str
    due_by: str
    status: str  # "open", "assigned" or "done"
    vendor_id: Optional[str]
    scheduled_for: Optional[str]
    completed_on: Optional[str]
    cost: Optional[float]


class InspectionInfo(TypedDict):
    inspection_id: str
    unit_id: str
    kind: str  # "move_in", "move_out" or "routine"
    inspector: str
    scheduled_for: str
    status: str  # "scheduled" or "completed"
    completed_on: Optional[str]
    damage_cost: float
    findings: str


INCOME_FACTOR = 3  # monthly income must be at least so many rents
LEAST_SCORE = 600  # no lease below
GOOD_SCORE = 650  # two months' deposit below
PET_DEPOSIT = 300.00
LEAD_DAYS = 60  # a lease starts at most so many days ahead
CHECK_DAYS = 14  # how long a move-in inspection is good for
GRACE_DAY = 5  # rent is late from the day after
LATE_SHARE = 0.05
LATE_LEAST = 50.00
WAIVER_DAYS = 365  # one waiver in so many days
RENEWAL_DAYS = 90  # a lease is renewed at most so many days before its end
RENEWAL_RISE = 1.05
RELET_RISE = 1.10
NOTICE_DAYS = 30
LONG_NOTICE_DAYS = 60
DAYS_TO_REPAIR = {"emergency": 1, "urgent": 3, "routine": 14}
EMERGENCY_FACTOR = 1.5  # on the hourly rate
INSPECTIONS_PER_DAY = 2  # of one inspector
ENTRY_NOTICE_DAYS = 2  # tenants are told of a routine inspection
ROUTINE_REST_DAYS = 180  # between two routine inspections of a unit

TRADES = ("plumbing", "electrical", "heating", "general")
METHODS = ("bank_transfer", "card", "cheque")
UNIT_STATUSES = ("vacant", "reserved", "occupied", "make_ready")
LEASE_STATUSES = ("pending", "active", "ended")
WORK_STATUSES = ("open", "assigned", "done")
INSPECTION_KINDS = ("move_in", "move_out", "routine")


class PropertyManagement:
    """State and tools of the letting office. Every tool returns a dict with "success"."""

    def __init__(self, init_config: dict):
        """
        Set every state attribute from the initial configuration.

        Args:
            init_config (dict): The initial state: one key per attribute below.
        """
        self.buildings: Dict[str, BuildingInfo] = init_config.get("buildings", {})
        self.units: Dict[str, UnitInfo] = init_config.get("units", {})
        self.tenants: Dict[str, TenantInfo] = init_config.get("tenants", {})
        self.leases: Dict[str, LeaseInfo] = init_config.get("leases", {})
        self.ledger: Dict[str, LedgerEntry] = init_config.get("ledger", {})
        self.vendors: Dict[str, VendorInfo] = init_config.get("vendors", {})
        self.work_orders: Dict[str, WorkOrderInfo] = init_config.get("work_orders", {})
        self.inspections: Dict[str, InspectionInfo] = init_config.get("inspections", {})
        self.inspectors: List[str] = init_config.get("inspectors", [])
        self.current_date: str = init_config.get("current_date", "2025-01-01")
        self.next_tenant_number: int = init_config.get("next_tenant_number", 1)
        self.next_lease_number: int = init_config.get("next_lease_number", 1)
        self.next_entry_number: int = init_config.get("next_entry_number", 1)
        self.next_work_order_number: int = init_config.get("next_work_order_number", 1)
        self.next_inspection_number: int = init_config.get("next_inspection_number", 1)

    # Helpers

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    @staticmethod
    def _unknown(kind: str, value: object) -> dict:
        shown = f"'{value[:60]}'" if isinstance(value, str) else "that is not a string"
        return {"success": False, "error": f"There is no {kind} with an id {shown}."}

    @staticmethod
    def _find(table: Dict[str, Record], key: object) -> Optional[Record]:
        return table.get(key) if isinstance(key, str) else None

    @staticmethod
    def _choice(name: str, value: object, allowed: Iterable[str], optional: bool = False) -> Optional[str]:
        """Say what is wrong with a value from a fixed set, or None."""
        if (optional and value is None) or (isinstance(value, str) and value in allowed):
            return None
        return f"{name} must be one of: {', '.join(allowed)}."

    @staticmethod
    def _text_filter(name: str, value: object) -> Optional[str]:
        return None if value is None or isinstance(value, str) else f"{name} must be a string."

    @staticmethod
    def _contains(text: str, part: Optional[str]) -> bool:
        return part is None or part.strip().lower() in text.lower()

    @staticmethod
    def _is_int(value: object, least: int, most: int) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    @staticmethod
    def _is_amount(value: object, least: float = 0.01) -> bool:
        """Whether a value is an amount in whole cents, of at most 100000."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return least <= value <= 100000 and abs(value - round(value, 2)) < 1e-9

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
    def _days(start: str, end: str) -> int:
        return (date.fromisoformat(end) - date.fromisoformat(start)).days

    @staticmethod
    def _shift(day: str, days: int) -> str:
        return (date.fromisoformat(day) + timedelta(days=days)).isoformat()

    @staticmethod
    def _month_days(day: str) -> int:
        first = date.fromisoformat(day).replace(day=1)
        return ((first + timedelta(days=32)).replace(day=1) - first).days

    def _add_months(self, day: str, months: int) -> str:
        """The same day so many months later, or the last day of that month if it is shorter."""
        start = date.fromisoformat(day)
        years, month = divmod(start.month - 1 + months, 12)
        first = f"{start.year + years:04d}-{month + 1:02d}-01"
        return f"{first[:8]}{min(start.day, self._month_days(first)):02d}"

    def _unit_name(self, unit: UnitInfo) -> str:
        return f"{unit['number']}, {self.buildings[unit['building_id']]['name']}"

    def _balance(self, lease_id: str) -> float:
        """What the tenant owes; the deposit that is held is not part of it."""
        owed = sum(
            entry["amount"] if entry["kind"] == "charge" else -entry["amount"]
            for entry in self.ledger.values()
            if entry["lease_id"] == lease_id and entry["waived_on"] is None
        )
        return round(owed, 2)

    def _charged(self, lease_id: str, category: str, period: str) -> bool:
        return any(
            (entry["lease_id"], entry["category"], entry["period"]) == (lease_id, category, period)
            for entry in self.ledger.values()
        )

    def _rent_on(self, lease: LeaseInfo, day: str) -> float:
        if lease["next_rent"] is not None and lease["next_rent_from"] is not None and day >= lease["next_rent_from"]:
            return lease["next_rent"]
        return lease["monthly_rent"]

    def _running_lease(self, unit_id: str, status: str) -> Optional[LeaseInfo]:
        for lease in self.leases.values():
            if lease["unit_id"] == unit_id and lease["status"] == status:
                return lease
        return None

    def _post(
        self,
        lease_id: str,
        kind: str,
        category: str,
        amount: float,
        period: Optional[str] = None,
        method: Optional[str] = None,
    ) -> str:
        entry_id = f"E-{self.next_entry_number}"
        self.next_entry_number += 1
        self.ledger[entry_id] = {
            "entry_id": entry_id,
            "lease_id": lease_id,
            "kind": kind,
            "category": category,
            "amount": round(amount, 2),
            "period": period,
            "posted_on": self.current_date,
            "method": method,
            "waived_on": None,
        }
        return entry_id

    def _jobs_on(self, vendor_id: str, day: str, besides: str) -> int:
        """The vendor's jobs of a day, those already done included."""
        return sum(
            1
            for order in self.work_orders.values()
            if order["vendor_id"] == vendor_id and order["scheduled_for"] == day and order["work_order_id"] != besides
        )

    # Queries

    def search_units(
        self,
        building: Optional[str] = None,
        number: Optional[str] = None,
        status: Optional[Literal["vacant", "reserved", "occupied", "make_ready"]] = None,
        min_bedrooms: Optional[int] = None,
        max_rent: Optional[float] = None,
    ) -> dict:
        """
        Find units; every filter that is given must match.

        Args:
            building (str, optional): Part of the building's name, any case.
            number (str, optional): The number on the door, e.g. "2B"; any case.
            status (str, optional): "vacant" (ready to be let), "reserved", "occupied" or "make_ready".
            min_bedrooms (int, optional): Least number of bedrooms.
            max_rent (float, optional): Highest base rent a month.

        Returns:
            dict: {"success": True, "data": [UnitInfo with "building_name", "pets_allowed" and "has_lift" added, ...]},
            or {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("building", building)
            or self._text_filter("number", number)
            or self._choice("status", status, UNIT_STATUSES, optional=True)
        )
        if problem is None and min_bedrooms is not None and not self._is_int(min_bedrooms, 0, 20):
            problem = "min_bedrooms must be a whole number from 0 to 20."
        if problem is None and max_rent is not None and not self._is_amount(max_rent):
            problem = "max_rent must be an amount above 0."
        if problem:
            return self._fail(problem)
        found = []
        for _, unit in sorted(self.units.items()):
            house = self.buildings[unit["building_id"]]
            if (
                self._contains(house["name"], building)
                and (number is None or unit["number"].lower() == number.strip().lower())
                and status in (None, unit["status"])
                and (min_bedrooms is None or unit["bedrooms"] >= min_bedrooms)
                and (max_rent is None or unit["base_rent"] <= max_rent)
            ):
                added = {"building_name": house["name"], "pets_allowed": house["pets_allowed"]}
                found.append({**unit, **added, "has_lift": house["has_lift"]})
        return {"success": True, "data": found}

    def search_tenants(self, name: Optional[str] = None, email: Optional[str] = None) -> dict:
        """
        Find tenants and applicants; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            email (str, optional): Part of the e-mail address, any case.

        Returns:
            dict: {"success": True, "data": [TenantInfo, ...]}, or {"success": False, "error": str}.
        """
        problem = self._text_filter("name", name) or self._text_filter("email", email)
        if problem:
            return self._fail(problem)
        found = [
            tenant
            for _, tenant in sorted(self.tenants.items())
            if self._contains(tenant["name"], name) and self._contains(tenant["email"], email)
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def list_leases(
        self,
        tenant_id: Optional[str] = None,
        unit_id: Optional[str] = None,
        status: Optional[Literal["pending", "active", "ended"]] = None,
        ends_before: Optional[str] = None,
    ) -> dict:
        """
        List leases; every filter that is given must match.

        Args:
            tenant_id (str, optional): Tenant id, e.g. "T-104".
            unit_id (str, optional): Unit id, e.g. "U-12".
            status (str, optional): "pending", "active" or "ended".
            ends_before (str, optional): Date YYYY-MM-DD; only leases whose term ends before this day.

        Returns:
            dict: {"success": True, "data": [LeaseInfo with "tenant_name", "unit_name" and "balance" (what is owed)
            added, ...]}, or {"success": False, "error": str}.
        """
        if tenant_id is not None and self._find(self.tenants, tenant_id) is None:
            return self._unknown("tenant", tenant_id)
        if unit_id is not None and self._find(self.units, unit_id) is None:
            return self._unknown("unit", unit_id)
        problem = self._choice("status", status, LEASE_STATUSES, optional=True)
        if problem is None and ends_before is not None and not self._is_date(ends_before):
            problem = "ends_before must be a date in the form YYYY-MM-DD."
        if problem:
            return self._fail(problem)
        found = [
            {
                **lease,
                "tenant_name": self.tenants[lease["tenant_id"]]["name"],
                "unit_name": self._unit_name(self.units[lease["unit_id"]]),
                "balance": self._balance(lease_id),
            }
            for lease_id, lease in sorted(self.leases.items())
            if tenant_id in (None, lease["tenant_id"])
            and unit_id in (None, lease["unit_id"])
            and status in (None, lease["status"])
            and (ends_before is None or lease["end_date"] < ends_before)
        ]
        return {"success": True, "data": found}

    def get_lease_account(self, lease_id: str) -> dict:
        """
        Show a lease with its ledger and what is owed today.

        Args:
            lease_id (str): Lease id, e.g. "L-31".

        Returns:
            dict: {"success": True, "data": {"lease": LeaseInfo, "tenant": TenantInfo, "unit": UnitInfo,
            "entries": [LedgerEntry, ...] in the order of posting, "balance": float}}.
        """
        lease = self._find(self.leases, lease_id)
        if lease is None:
            return self._unknown("lease", lease_id)
        entries = [entry for entry in self.ledger.values() if entry["lease_id"] == lease_id]
        entries.sort(key=lambda entry: (entry["posted_on"], len(entry["entry_id"]), entry["entry_id"]))
        account = {
            "lease": lease,
            "tenant": self.tenants[lease["tenant_id"]],
            "unit": self.units[lease["unit_id"]],
            "entries": entries,
            "balance": self._balance(lease_id),
        }
        return {"success": True, "data": copy.deepcopy(account)}

    def list_work_orders(
        self,
        unit_id: Optional[str] = None,
        status: Optional[Literal["open", "assigned", "done"]] = None,
        priority: Optional[Literal["emergency", "urgent", "routine"]] = None,
    ) -> dict:
        """
        List work orders, the one that is due first at the head; every filter that is given must match.

        Args:
            unit_id (str, optional): Unit id, e.g. "U-12".
            status (str, optional): "open" (no vendor yet), "assigned" or "done".
            priority (str, optional): "emergency", "urgent" or "routine".

        Returns:
            dict: {"success": True, "data": [WorkOrderInfo with "unit_name" added, ...]}, or
            {"success": False, "error": str}.
        """
        if unit_id is not None and self._find(self.units, unit_id) is None:
            return self._unknown("unit", unit_id)
        problem = self._choice("status", status, WORK_STATUSES, optional=True) or self._choice(
            "priority", priority, DAYS_TO_REPAIR, optional=True
        )
        if problem:
            return self._fail(problem)
        found = [
            {**order, "unit_name": self._unit_name(self.units[order["unit_id"]])}
            for order in sorted(self.work_orders.values(), key=lambda entry: (entry["due_by"], entry["work_order_id"]))
            if unit_id in (None, order["unit_id"])
            and status in (None, order["status"])
            and priority in (None, order["priority"])
        ]
        return {"success": True, "data": found}

    def search_vendors(
        self,
        trade: Optional[Literal["plumbing", "electrical", "heating", "general"]] = None,
        name: Optional[str] = None,
    ) -> dict:
        """
        Find vendors with the days from today on which they have jobs; every filter that is given must match.

        Args:
            trade (str, optional): "plumbing", "electrical", "heating" or "general".
            name (str, optional): Part of the name, any case.

        Returns:
            dict: {"success": True, "data": [VendorInfo with "booked_days" ({date: jobs, done ones included})
            added, ...]}, or {"success": False, "error": str}.
        """
        problem = self._choice("trade", trade, TRADES, optional=True) or self._text_filter("name", name)
        if problem:
            return self._fail(problem)
        found = []
        for vendor_id, vendor in sorted(self.vendors.items()):
            if trade in (None, vendor["trade"]) and self._contains(vendor["name"], name):
                booked: Dict[str, int] = {}
                for order in self.work_orders.values():
                    day = order["scheduled_for"]
                    if order["vendor_id"] == vendor_id and day is not None and day >= self.current_date:
                        booked[day] = booked.get(day, 0) + 1
                found.append({**vendor, "booked_days": dict(sorted(booked.items()))})
        return {"success": True, "data": found}

    def list_inspections(
        self,
        unit_id: Optional[str] = None,
        kind: Optional[Literal["move_in", "move_out", "routine"]] = None,
        status: Optional[Literal["scheduled", "completed"]] = None,
        inspector: Optional[str] = None,
    ) -> dict:
        """
        List inspections by date; every filter that is given must match.

        Args:
            unit_id (str, optional): Unit id, e.g. "U-12".
            kind (str, optional): "move_in", "move_out" or "routine".
            status (str, optional): "scheduled" or "completed".
            inspector (str, optional): Exact name of an inspector.

        Returns:
            dict: {"success": True, "data": [InspectionInfo with "unit_name" added, ...], "inspectors": [str, ...]},
            or {"success": False, "error": str}.
        """
        if unit_id is not None and self._find(self.units, unit_id) is None:
            return self._unknown("unit", unit_id)
        problem = (
            self._choice("kind", kind, INSPECTION_KINDS, optional=True)
            or self._choice("status", status, ("scheduled", "completed"), optional=True)
            or self._choice("inspector", inspector, self.inspectors, optional=True)
        )
        if problem:
            return self._fail(problem)
        found = [
            {**entry, "unit_name": self._unit_name(self.units[entry["unit_id"]])}
            for entry in sorted(self.inspections.values(), key=lambda row: (row["scheduled_for"], row["inspection_id"]))
            if unit_id in (None, entry["unit_id"])
            and kind in (None, entry["kind"])
            and status in (None, entry["status"])
            and inspector in (None, entry["inspector"])
        ]
        return {"success": True, "data": found, "inspectors": list(self.inspectors)}

    # Changes: letting

    def register_applicant(self, name: str, email: str, monthly_income: float, credit_score: int) -> dict:
        """
        Register an applicant, who can then be given a lease.

        Args:
            name (str): Full name.
            email (str): E-mail address; must not belong to another tenant.
            monthly_income (float): Income a month, above 0.
            credit_score (int): From 300 to 850.

        Returns:
            dict: {"success": True, "message": str, "tenant_id": str}, or {"success": False, "error": str}.
        """
        if not isinstance(name, str) or not name.strip():
            return self._fail("name must be a non-empty string.")
        if not isinstance(email, str) or not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s.]+", email):
            return self._fail("email must be an e-mail address.")
        if not self._is_amount(monthly_income):
            return self._fail("monthly_income must be an amount above 0.")
        if not self._is_int(credit_score, 300, 850):
            return self._fail("credit_score must be a whole number from 300 to 850.")
        for other in self.tenants.values():
            if other["email"].lower() == email.lower():
                return self._fail(f"The e-mail address already belongs to tenant {other['tenant_id']}.")
        tenant_id = f"T-{self.next_tenant_number}"
        self.next_tenant_number += 1
        self.tenants[tenant_id] = {
            "tenant_id": tenant_id,
            "name": name.strip(),
            "email": email,
            "monthly_income": monthly_income,
            "credit_score": credit_score,
        }
        return {"success": True, "message": f"Registered {name.strip()} as {tenant_id}.", "tenant_id": tenant_id}

    def create_lease(
        self, tenant_id: str, unit_id: str, start_date: str, months: int, occupants: int, has_pet: bool = False
    ) -> dict:
        """
        Write a pending lease at the unit's base rent; the unit is reserved, deposit and first rent are charged.

        The unit must be vacant and large enough, the tenant's income at least 3 rents and the credit score at least
        600; pets need a building that allows them. A tenant with another lease must have given notice to leave it by
        the new start, and owe nothing anywhere. The deposit is one rent, two below a score of 650, and 300.00 more
        with a pet. The first rent covers the days from the start to the end of that month.

        Args:
            tenant_id (str): Tenant id, e.g. "T-104".
            unit_id (str): Unit id, e.g. "U-12".
            start_date (str): First day, YYYY-MM-DD; from today to 60 days ahead.
            months (int): Length of the term, 6 to 24.
            occupants (int): How many people will live there.
            has_pet (bool): Whether a pet moves in too.

        Returns:
            dict: {"success": True, "message": str, "lease_id": str, "end_date": str, "deposit": float,
            "first_rent": float}, or {"success": False, "error": str}.
        """
        tenant = self._find(self.tenants, tenant_id)
        if tenant is None:
            return self._unknown("tenant", tenant_id)
        unit = self._find(self.units, unit_id)
        if unit is None:
            return self._unknown("unit", unit_id)
        if not self._is_date(start_date) or not 0 <= self._days(self.current_date, start_date) <= LEAD_DAYS:
            return self._fail(f"start_date must be a date from today to {LEAD_DAYS} days ahead.")
        if not self._is_int(months, 6, 24):
            return self._fail("months must be a whole number from 6 to 24.")
        if not self._is_int(occupants, 1, 20):
            return self._fail("occupants must be a whole number from 1 to 20.")
        if not isinstance(has_pet, bool):
            return self._fail("has_pet must be true or false.")
        if unit["status"] != "vacant":
            return self._fail(f"Unit {self._unit_name(unit)} is not vacant; its status is '{unit['status']}'.")
        if occupants > unit["max_occupants"]:
            return self._fail(f"Unit {self._unit_name(unit)} is for at most {unit['max_occupants']} people.")
        if has_pet and not self.buildings[unit["building_id"]]["pets_allowed"]:
            return self._fail(f"{self.buildings[unit['building_id']]['name']} allows no pets.")
        rent = unit["base_rent"]
        if tenant["credit_score"] < LEAST_SCORE:
            return self._fail(f"{tenant['name']} has a credit score of {tenant['credit_score']}, below {LEAST_SCORE}.")
        if tenant["monthly_income"] < INCOME_FACTOR * rent:
            return self._fail(f"The income of {tenant['name']} is below {INCOME_FACTOR} rents of {rent:.2f}.")
        for lease_id, other in self.leases.items():
            if other["tenant_id"] != tenant_id:
                continue
            if self._balance(lease_id) > 0:
                return self._fail(f"{tenant['name']} still owes {self._balance(lease_id):.2f} on lease {lease_id}.")
            leaves = other["move_out_date"]
            if other["status"] != "ended" and (leaves is None or leaves > start_date):
                return self._fail(f"{tenant['name']} has lease {lease_id} and has not given notice to leave by then.")
        days = self._month_days(start_date)
        first_rent = round(rent * (days - int(start_date[8:]) + 1) / days, 2)
        deposit = rent * (1 if tenant["credit_score"] >= GOOD_SCORE else 2) + (PET_DEPOSIT if has_pet else 0)
        lease_id = f"L-{self.next_lease_number}"
        self.next_lease_number += 1
        end_date = self._shift(self._add_months(start_date, months), -1)
        self.leases[lease_id] = {
            "lease_id": lease_id,
            "unit_id": unit_id,
            "tenant_id": tenant_id,
            "occupants": occupants,
            "has_pet": has_pet,
            "start_date": start_date,
            "end_date": end_date,
            "monthly_rent": rent,
            "next_rent": None,
            "next_rent_from": None,
            "deposit_required": round(deposit, 2),
            "deposit_held": 0.0,
            "status": "pending",
            "notice_date": None,
            "move_out_date": None,
            "deposit_refund": None,
        }
        unit["status"] = "reserved"
        self._post(lease_id, "charge", "deposit", deposit)
        self._post(lease_id, "charge", "rent", first_rent, start_date[:7])
        return {
            "success": True,
            "message": f"Wrote lease {lease_id} for {tenant['name']} in {self._unit_name(unit)} until {end_date}.",
            "lease_id": lease_id,
            "end_date": end_date,
            "deposit": round(deposit, 2),
            "first_rent": first_rent,
        }

    def move_in(self, lease_id: str) -> dict:
        """
        Hand over the keys: a pending lease becomes active and its unit occupied.

        Refused before the start date, while anything of deposit or first rent is unpaid, and without a move-in
        inspection of the unit completed in the last 14 days.

        Args:
            lease_id (str): Lease id, e.g. "L-31".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        lease = self._find(self.leases, lease_id)
        if lease is None:
            return self._unknown("lease", lease_id)
        if lease["status"] != "pending":
            return self._fail(f"Lease {lease_id} is not pending; its status is '{lease['status']}'.")
        if self.current_date < lease["start_date"]:
            return self._fail(f"Lease {lease_id} starts on {lease['start_date']}.")
        balance = self._balance(lease_id)
        if balance > 0:
            return self._fail(f"Lease {lease_id} still has {balance:.2f} to pay before the move-in.")
        since = self._shift(self.current_date, -CHECK_DAYS)
        if not self._inspected(lease["unit_id"], "move_in", since):
            return self._fail(f"The unit has had no move-in inspection in the last {CHECK_DAYS} days.")
        lease["status"] = "active"
        lease["deposit_held"] = lease["deposit_required"]
        self.units[lease["unit_id"]]["status"] = "occupied"
        return {"success": True, "message": f"Lease {lease_id} is active; the unit is occupied."}

    def _inspected(self, unit_id: str, kind: str, since: str) -> List[InspectionInfo]:
        """The unit's completed inspections of a kind on or after a day, the latest last."""
        found = [
            entry
            for entry in self.inspections.values()
            if entry["unit_id"] == unit_id
            and entry["kind"] == kind
            and entry["completed_on"] is not None
            and entry["completed_on"] >= since
        ]
        return sorted(found, key=lambda entry: (str(entry["completed_on"]), entry["inspection_id"]))

    # Changes: money

    def post_charge(self, lease_id: str, category: Literal["rent", "late_fee"]) -> dict:
        """
        Charge this month's rent or late fee to an active lease, each at most once a month.

        In the month of the move-out the rent is for the days up to it. A late fee is charged from the 6th on, once
        the month's rent has been charged and while anything is owed: 5 % of the rent, at least 50.00.

        Args:
            lease_id (str): Lease id, e.g. "L-31".
            category (str): "rent" or "late_fee".

        Returns:
            dict: {"success": True, "message": str, "entry_id": str, "amount": float, "balance": float}, or
            {"success": False, "error": str}.
        """
        lease = self._find(self.leases, lease_id)
        if lease is None:
            return self._unknown("lease", lease_id)
        problem = self._choice("category", category, ("rent", "late_fee"))
        if problem:
            return self._fail(problem)
        if lease["status"] != "active":
            return self._fail(f"Lease {lease_id} is not active; its status is '{lease['status']}'.")
        period = self.current_date[:7]
        if self._charged(lease_id, category, period):
            return self._fail(f"Lease {lease_id} has already been charged a {category} for {period}.")
        rent = self._rent_on(lease, self.current_date)
        leaves = lease["move_out_date"]
        if category == "rent":
            if leaves is not None and leaves < f"{period}-01":
                return self._fail(f"The tenant of lease {lease_id} was to move out on {leaves}.")
            amount = rent
            if leaves is not None and leaves[:7] == period:
                amount = round(rent * int(leaves[8:]) / self._month_days(leaves), 2)
        else:
            if int(self.current_date[8:]) <= GRACE_DAY:
                return self._fail(f"Rent is not late before day {GRACE_DAY + 1} of the month.")
            if not self._charged(lease_id, "rent", period):
                return self._fail(f"The rent for {period} has not been charged to lease {lease_id}.")
            if self._balance(lease_id) <= 0:
                return self._fail(f"Lease {lease_id} owes nothing.")
            amount = max(round(rent * LATE_SHARE, 2), LATE_LEAST)
        entry_id = self._post(lease_id, "charge", category, amount, period)
        return {
            "success": True,
            "message": f"Charged {amount:.2f} to lease {lease_id} as {entry_id}.",
            "entry_id": entry_id,
            "amount": amount,
            "balance": self._balance(lease_id),
        }

    def waive_late_fee(self, entry_id: str) -> dict:
        """
        Waive a late fee: only while it is all that the lease still owes, and once in 365 days for a lease.

        Args:
            entry_id (str): Ledger entry id of the late fee, e.g. "E-512".

        Returns:
            dict: {"success": True, "message": str, "balance": float}, or {"success": False, "error": str}.
        """
        entry = self._find(self.ledger, entry_id)
        if entry is None:
            return self._unknown("ledger entry", entry_id)
        if entry["category"] != "late_fee":
            return self._fail(f"Entry {entry_id} is no late fee.")
        if entry["waived_on"] is not None:
            return self._fail(f"Entry {entry_id} was waived on {entry['waived_on']}.")
        since = self._shift(self.current_date, -WAIVER_DAYS)
        for other in self.ledger.values():
            if other["lease_id"] == entry["lease_id"] and other["waived_on"] is not None and other["waived_on"] > since:
                return self._fail(f"Lease {entry['lease_id']} already had a waiver on {other['waived_on']}.")
        balance = self._balance(entry["lease_id"])
        if balance != entry["amount"]:
            return self._fail(f"Lease {entry['lease_id']} owes {balance:.2f}, not just this fee.")
        entry["waived_on"] = self.current_date
        return {"success": True, "message": f"Waived entry {entry_id}.", "balance": self._balance(entry["lease_id"])}

    def post_payment(self, lease_id: str, amount: float, method: Literal["bank_transfer", "card", "cheque"]) -> dict:
        """
        Take a payment of a tenant, of any lease that owes something.

        Args:
            lease_id (str): Lease id, e.g. "L-31".
            amount (float): Amount in whole cents, above 0 and not above what is owed.
            method (str): "bank_transfer", "card" or "cheque".

        Returns:
            dict: {"success": True, "message": str, "entry_id": str, "balance": float}, or
            {"success": False, "error": str}.
        """
        lease = self._find(self.leases, lease_id)
        if lease is None:
            return self._unknown("lease", lease_id)
        problem = self._choice("method", method, METHODS)
        if problem:
            return self._fail(problem)
        balance = self._balance(lease_id)
        if not self._is_amount(amount) or amount > balance:
            return self._fail(f"amount must be in whole cents, above 0 and at most {balance:.2f}, which is owed.")
        entry_id = self._post(lease_id, "payment", "payment", amount, None, method)
        left = self._balance(lease_id)
        return {
            "success": True,
            "message": f"Took {amount:.2f} for lease {lease_id}; {left:.2f} is still owed.",
            "entry_id": entry_id,
            "balance": left,
        }

    # Changes: renewal and end

    def renew_lease(self, lease_id: str, months: int, monthly_rent: float) -> dict:
        """
        Prolong an active lease from the end of its term; the new rent holds from the first day of the new term.

        Possible in the last 90 days of the term, without notice given and with nothing owed. The rent may stay or
        rise by at most 5 %.

        Args:
            lease_id (str): Lease id, e.g. "L-31".
            months (int): Length of the new term, 6 to 24.
            monthly_rent (float): Rent of the new term, from the present rent to 5 % above it.

        Returns:
            dict: {"success": True, "message": str, "end_date": str}, or {"success": False, "error": str}.
        """
        lease = self._find(self.leases, lease_id)
        if lease is None:
            return self._unknown("lease", lease_id)
        if lease["status"] != "active":
            return self._fail(f"Lease {lease_id} is not active; its status is '{lease['status']}'.")
        if not self._is_int(months, 6, 24):
            return self._fail("months must be a whole number from 6 to 24.")
        if lease["notice_date"] is not None:
            return self._fail(f"The tenant of lease {lease_id} has given notice.")
        if not 0 <= self._days(self.current_date, lease["end_date"]) <= RENEWAL_DAYS:
            return self._fail(f"Lease {lease_id} ends on {lease['end_date']}, not within the next {RENEWAL_DAYS} days.")
        balance = self._balance(lease_id)
        if balance > 0:
            return self._fail(f"Lease {lease_id} owes {balance:.2f}.")
        present = self._rent_on(lease, lease["end_date"])
        most = math.floor(present * RENEWAL_RISE * 100 + 1e-6) / 100
        if not self._is_amount(monthly_rent) or not present <= monthly_rent <= most:
            return self._fail(f"monthly_rent must be from {present:.2f} to {most:.2f}.")
        lease["monthly_rent"] = present
        lease["next_rent"] = monthly_rent
        lease["next_rent_from"] = self._shift(lease["end_date"], 1)
        lease["end_date"] = self._shift(self._add_months(lease["next_rent_from"], months), -1)
        return {
            "success": True,
            "message": f"Renewed lease {lease_id} until {lease['end_date']} at {monthly_rent:.2f} a month.",
            "end_date": lease["end_date"],
        }

    def give_notice(self, lease_id: str, move_out_date: str) -> dict:
        """
        Record today's notice of a tenant with an active lease.

        The move-out is at least 30 days ahead and not after the end of the term. Moving out before the end of the
        term is charged a break fee: one rent with at least 60 days' notice, two rents with less.

        Args:
            lease_id (str): Lease id, e.g. "L-31".
            move_out_date (str): Last day in the unit, YYYY-MM-DD.

        Returns:
            dict: {"success": True, "message": str, "break_fee": float}, or {"success": False, "error": str}.
        """
        lease = self._find(self.leases, lease_id)
        if lease is None:
            return self._unknown("lease", lease_id)
        if lease["status"] != "active":
            return self._fail(f"Lease {lease_id} is not active; its status is '{lease['status']}'.")
        if lease["notice_date"] is not None:
            return self._fail(f"Notice was already given on {lease['notice_date']}.")
        if not self._is_date(move_out_date):
            return self._fail("move_out_date must be a date in the form YYYY-MM-DD.")
        ahead = self._days(self.current_date, move_out_date)
        if ahead < NOTICE_DAYS:
            return self._fail(f"Notice is given at least {NOTICE_DAYS} days before the move-out.")
        if move_out_date > lease["end_date"]:
            return self._fail(f"The term ends on {lease['end_date']}; the move-out cannot be later.")
        fee = 0.0
        if move_out_date < lease["end_date"]:
            rent = self._rent_on(lease, self.current_date)
            fee = round(rent * (1 if ahead >= LONG_NOTICE_DAYS else 2), 2)
            self._post(lease_id, "charge", "break_fee", fee)
        lease["notice_date"] = self.current_date
        lease["move_out_date"] = move_out_date
        return {
            "success": True,
            "message": f"Lease {lease_id} ends with the move-out on {move_out_date}; break fee {fee:.2f}.",
            "break_fee": fee,
        }

    def end_lease(self, lease_id: str) -> dict:
        """
        Close an active lease on or after its move-out date and settle the deposit; the unit is to be made ready.

        Needs a move-out inspection completed since the notice. The damage that the latest one found is charged; what
        the lease owes is then taken from the deposit as a credit, and the rest of the deposit is refunded.

        Args:
            lease_id (str): Lease id, e.g. "L-31".

        Returns:
            dict: {"success": True, "message": str, "damage": float, "deposit_used": float, "deposit_refund": float,
            "balance": float}, or {"success": False, "error": str}.
        """
        lease = self._find(self.leases, lease_id)
        if lease is None:
            return self._unknown("lease", lease_id)
        if lease["status"] != "active":
            return self._fail(f"Lease {lease_id} is not active; its status is '{lease['status']}'.")
        if lease["notice_date"] is None or lease["move_out_date"] is None:
            return self._fail(f"The tenant of lease {lease_id} has not given notice.")
        if self.current_date < lease["move_out_date"]:
            return self._fail(f"The move-out of lease {lease_id} is on {lease['move_out_date']}.")
        found = self._inspected(lease["unit_id"], "move_out", lease["notice_date"])
        if not found:
            return self._fail("The unit has had no move-out inspection since the notice.")
        damage = found[-1]["damage_cost"]
        if damage > 0:
            self._post(lease_id, "charge", "damage", damage)
        used = round(min(max(self._balance(lease_id), 0.0), lease["deposit_held"]), 2)
        if used > 0:
            self._post(lease_id, "credit", "deposit", used)
        lease["deposit_refund"] = round(lease["deposit_held"] - used, 2)
        lease["deposit_held"] = 0.0
        lease["status"] = "ended"
        self.units[lease["unit_id"]]["status"] = "make_ready"
        return {
            "success": True,
            "message": f"Ended lease {lease_id}; {lease['deposit_refund']:.2f} of the deposit is refunded.",
            "damage": damage,
            "deposit_used": used,
            "deposit_refund": lease["deposit_refund"],
            "balance": self._balance(lease_id),
        }

    def mark_unit_ready(self, unit_id: str, base_rent: Optional[float] = None) -> dict:
        """
        Put a unit that was made ready back on offer as vacant, once all its work orders are done.

        Args:
            unit_id (str): Unit id, e.g. "U-12".
            base_rent (float, optional): New monthly rent, at most 10 % above the present base rent.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        unit = self._find(self.units, unit_id)
        if unit is None:
            return self._unknown("unit", unit_id)
        if unit["status"] != "make_ready":
            return self._fail(f"Unit {self._unit_name(unit)} is not being made ready; it is '{unit['status']}'.")
        left = [order for order in self.work_orders.values() if order["unit_id"] == unit_id]
        undone = sorted(order["work_order_id"] for order in left if order["status"] != "done")
        if undone:
            return self._fail(f"Work orders are not done yet: {', '.join(undone)}.")
        if base_rent is not None:
            most = math.floor(unit["base_rent"] * RELET_RISE * 100 + 1e-6) / 100
            if not self._is_amount(base_rent) or base_rent > most:
                return self._fail(f"base_rent must be an amount above 0 and at most {most:.2f}.")
            unit["base_rent"] = base_rent
        unit["status"] = "vacant"
        return {"success": True, "message": f"Unit {self._unit_name(unit)} is vacant at {unit['base_rent']:.2f}."}

    # Changes: repairs and inspections

    def create_work_order(
        self,
        unit_id: str,
        trade: Literal["plumbing", "electrical", "heating", "general"],
        priority: Literal["emergency", "urgent", "routine"],
        description: str,
        tenant_caused: bool = False,
    ) -> dict:
        """
        Report a repair today. It is due within 1 day (emergency), 3 days (urgent) or 14 days (routine).

        Args:
            unit_id (str): Unit id, e.g. "U-12".
            trade (str): "plumbing", "electrical", "heating" or "general".
            priority (str): "emergency", "urgent" or "routine".
            description (str): What is to be done.
            tenant_caused (bool): Whether the tenant of the unit's active lease has to pay.

        Returns:
            dict: {"success": True, "message": str, "work_order_id": str, "due_by": str}, or
            {"success": False, "error": str}.
        """
        unit = self._find(self.units, unit_id)
        if unit is None:
            return self._unknown("unit", unit_id)
        problem = self._choice("trade", trade, TRADES) or self._choice("priority", priority, DAYS_TO_REPAIR)
        if problem:
            return self._fail(problem)
        if not isinstance(description, str) or not description.strip():
            return self._fail("description must be a non-empty string.")
        if not isinstance(tenant_caused, bool):
            return self._fail("tenant_caused must be true or false.")
        lease = self._running_lease(unit_id, "active") if tenant_caused else None
        if tenant_caused and lease is None:
            return self._fail(f"Unit {self._unit_name(unit)} has no active lease that could pay.")
        work_order_id = f"W-{self.next_work_order_number}"
        self.next_work_order_number += 1
        due_by = self._shift(self.current_date, DAYS_TO_REPAIR[priority])
        self.work_orders[work_order_id] = {
            "work_order_id": work_order_id,
            "unit_id": unit_id,
            "trade": trade,
            "priority": priority,
            "description": description.strip(),
            "billed_lease_id": lease["lease_id"] if lease else None,
            "reported_on": self.current_date,
            "due_by": due_by,
            "status": "open",
            "vendor_id": None,
            "scheduled_for": None,
            "completed_on": None,
            "cost": None,
        }
        return {
            "success": True,
            "message": f"Work order {work_order_id} for {self._unit_name(unit)} is due by {due_by}.",
            "work_order_id": work_order_id,
            "due_by": due_by,
        }

    def assign_vendor(self, work_order_id: str, vendor_id: str, scheduled_for: str) -> dict:
        """
        Give a work order that is not done to a vendor for a day; an earlier assignment is replaced.

        The vendor must be of the trade, insured on that day and have a job left on it. The day is from today to the
        order's due_by, or today if that has passed.

        Args:
            work_order_id (str): Work order id, e.g. "W-77".
            vendor_id (str): Vendor id, e.g. "V-3".
            scheduled_for (str): Day of the work, YYYY-MM-DD.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        order = self._find(self.work_orders, work_order_id)
        if order is None:
            return self._unknown("work order", work_order_id)
        vendor = self._find(self.vendors, vendor_id)
        if vendor is None:
            return self._unknown("vendor", vendor_id)
        if order["status"] == "done":
            return self._fail(f"Work order {work_order_id} is done.")
        if vendor["trade"] != order["trade"]:
            return self._fail(f"{vendor['name']} does {vendor['trade']}, not {order['trade']}.")
        last = max(order["due_by"], self.current_date)
        if not self._is_date(scheduled_for) or not self.current_date <= scheduled_for <= last:
            return self._fail(f"scheduled_for must be a date from {self.current_date} to {last}.")
        if vendor["insured_until"] < scheduled_for:
            return self._fail(f"{vendor['name']} is insured until {vendor['insured_until']} only.")
        if self._jobs_on(vendor_id, scheduled_for, work_order_id) >= vendor["jobs_per_day"]:
            return self._fail(f"{vendor['name']} has no job left on {scheduled_for}.")
        order["status"] = "assigned"
        order["vendor_id"] = vendor_id
        order["scheduled_for"] = scheduled_for
        return {"success": True, "message": f"{vendor['name']} will do {work_order_id} on {scheduled_for}."}

    def complete_work_order(self, work_order_id: str, hours: float, parts_cost: float = 0.0) -> dict:
        """
        Close an assigned work order on or after its day.

        The cost is the vendor's call-out fee, the hours at the hourly rate (one and a half times it in an emergency)
        and the parts. If the tenant caused the damage, it is charged to the tenant's lease.

        Args:
            work_order_id (str): Work order id, e.g. "W-77".
            hours (float): Hours worked, above 0 and at most 100.
            parts_cost (float): Cost of parts, 0 or more.

        Returns:
            dict: {"success": True, "message": str, "cost": float, "entry_id": str or None}, or
            {"success": False, "error": str}.
        """
        order = self._find(self.work_orders, work_order_id)
        if order is None:
            return self._unknown("work order", work_order_id)
        if order["status"] != "assigned" or order["vendor_id"] is None or order["scheduled_for"] is None:
            return self._fail(f"Work order {work_order_id} is not assigned; its status is '{order['status']}'.")
        if self.current_date < order["scheduled_for"]:
            return self._fail(f"Work order {work_order_id} is planned for {order['scheduled_for']}.")
        if not self._is_amount(hours) or hours > 100:
            return self._fail("hours must be a number above 0 and at most 100.")
        if not self._is_amount(parts_cost, least=0.0):
            return self._fail("parts_cost must be an amount of 0 or more.")
        vendor = self.vendors[order["vendor_id"]]
        factor = EMERGENCY_FACTOR if order["priority"] == "emergency" else 1.0
        cost = round(vendor["call_out_fee"] + hours * vendor["hourly_rate"] * factor + parts_cost, 2)
        order["status"] = "done"
        order["completed_on"] = self.current_date
        order["cost"] = cost
        entry_id = None
        if order["billed_lease_id"] is not None:
            entry_id = self._post(order["billed_lease_id"], "charge", "repair", cost)
        return {
            "success": True,
            "message": f"Work order {work_order_id} is done for {cost:.2f}.",
            "cost": cost,
            "entry_id": entry_id,
        }

    def schedule_inspection(
        self,
        unit_id: str,
        kind: Literal["move_in", "move_out", "routine"],
        inspector: str,
        scheduled_for: str,
    ) -> dict:
        """
        Plan an inspection of a unit, at most 60 days ahead; an inspector does at most 2 a day.

        A move-in inspection needs a reserved unit, a move-out inspection an active lease with notice given. A routine
        inspection needs an occupied unit, 2 days' warning and 180 days since the last completed one. A unit has only
        one scheduled inspection of a kind.

        Args:
            unit_id (str): Unit id, e.g. "U-12".
            kind (str): "move_in", "move_out" or "routine".
            inspector (str): Exact name of an inspector.
            scheduled_for (str): Day, YYYY-MM-DD.

        Returns:
            dict: {"success": True, "message": str, "inspection_id": str}, or {"success": False, "error": str}.
        """
        unit = self._find(self.units, unit_id)
        if unit is None:
            return self._unknown("unit", unit_id)
        problem = self._choice("kind", kind, INSPECTION_KINDS) or self._choice("inspector", inspector, self.inspectors)
        if problem:
            return self._fail(problem)
        if not self._is_date(scheduled_for) or not 0 <= self._days(self.current_date, scheduled_for) <= LEAD_DAYS:
            return self._fail(f"scheduled_for must be a date from today to {LEAD_DAYS} days ahead.")
        if kind == "move_in" and unit["status"] != "reserved":
            return self._fail(f"Unit {self._unit_name(unit)} is not reserved for anybody who moves in.")
        if kind == "move_out":
            lease = self._running_lease(unit_id, "active")
            if lease is None or lease["notice_date"] is None:
                return self._fail(f"Nobody has given notice in unit {self._unit_name(unit)}.")
        if kind == "routine":
            if unit["status"] != "occupied":
                return self._fail(f"Unit {self._unit_name(unit)} is not occupied.")
            if self._days(self.current_date, scheduled_for) < ENTRY_NOTICE_DAYS:
                return self._fail(f"Tenants are told of a routine inspection {ENTRY_NOTICE_DAYS} days ahead.")
            if self._inspected(unit_id, "routine", self._shift(scheduled_for, 1 - ROUTINE_REST_DAYS)):
                return self._fail(f"The last routine inspection is less than {ROUTINE_REST_DAYS} days before that day.")
        planned = [entry for entry in self.inspections.values() if entry["status"] == "scheduled"]
        if any(entry["unit_id"] == unit_id and entry["kind"] == kind for entry in planned):
            return self._fail(f"Unit {self._unit_name(unit)} already has a {kind} inspection scheduled.")
        on_day = [(e["inspector"], e["scheduled_for"]) for e in self.inspections.values()]
        if on_day.count((inspector, scheduled_for)) >= INSPECTIONS_PER_DAY:
            return self._fail(f"{inspector} already has {INSPECTIONS_PER_DAY} inspections on {scheduled_for}.")
        inspection_id = f"I-{self.next_inspection_number}"
        self.next_inspection_number += 1
        self.inspections[inspection_id] = {
            "inspection_id": inspection_id,
            "unit_id": unit_id,
            "kind": kind,
            "inspector": inspector,
            "scheduled_for": scheduled_for,
            "status": "scheduled",
            "completed_on": None,
            "damage_cost": 0.0,
            "findings": "",
        }
        return {
            "success": True,
            "message": f"{inspector} inspects {self._unit_name(unit)} on {scheduled_for} ({inspection_id}).",
            "inspection_id": inspection_id,
        }

    def record_inspection(self, inspection_id: str, findings: str, damage_cost: float = 0.0) -> dict:
        """
        Record the result of a scheduled inspection today, on or after its day.

        Args:
            inspection_id (str): Inspection id, e.g. "I-9".
            findings (str): What was found; must not be empty.
            damage_cost (float): Cost of damage that the tenant has to pay; only a move-out inspection finds any.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        entry = self._find(self.inspections, inspection_id)
        if entry is None:
            return self._unknown("inspection", inspection_id)
        if entry["status"] != "scheduled":
            return self._fail(f"Inspection {inspection_id} was completed on {entry['completed_on']}.")
        if self.current_date < entry["scheduled_for"]:
            return self._fail(f"Inspection {inspection_id} is planned for {entry['scheduled_for']}.")
        if not isinstance(findings, str) or not findings.strip():
            return self._fail("findings must be a non-empty string.")
        if not self._is_amount(damage_cost, least=0.0):
            return self._fail("damage_cost must be an amount of 0 or more.")
        if damage_cost > 0 and entry["kind"] != "move_out":
            return self._fail("Only a move-out inspection charges damage to the tenant.")
        entry["status"] = "completed"
        entry["completed_on"] = self.current_date
        entry["damage_cost"] = damage_cost
        entry["findings"] = findings.strip()
        return {"success": True, "message": f"Recorded inspection {inspection_id}."}
