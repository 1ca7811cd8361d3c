import copy
import re
from datetime import date, datetime, timedelta
from typing import Collection, Dict, List, Literal, Optional, TypedDict, TypeVar

Record = TypeVar("Record")


class CustomerInfo(TypedDict):
    customer_id: str
    name: str
    email: str
    kind: str  # "household" or "business"
    priority: bool  # on the register of those who depend on power for their health
    credit: float  # money of the customer that the next usage bill uses up first


class PremiseInfo(TypedDict):
    premise_id: str
    address: str
    district: str
    supply: str  # "on" or "off"


class MeterInfo(TypedDict):
    meter_id: str
    premise_id: Optional[str]  # None in stock
    status: str  # "in_service", "in_stock" or "removed"
    installed_on: Optional[str]


class ReadingInfo(TypedDict):
    reading_id: str
    meter_id: str
    read_on: str
    value: int  # kWh on the dial
    source: str  # "customer" or "crew"
    status: str  # "valid" or "disputed"


class TariffInfo(TypedDict):
    tariff_id: str
    name: str
    kind: str  # kind of customer: "household" or "business"
    standing_charge: float  # per day, before tax
    unit_price: float  # per kWh, before tax
    term_days: int  # how long a new contract is bound; 0 for not at all
    exit_fee: float  # for leaving it earlier, tax included
    is_open: bool  # whether new contracts can have it


class ContractInfo(TypedDict):
    contract_id: str
    customer_id: str
    premise_id: str
    tariff_id: str
    started_on: str
    bound_until: str  # last day on which leaving the tariff costs its exit fee
    ended_on: Optional[str]
    billed_to: str  # last day that is billed
    billed_value: int  # value on the dial at that day
    carried_kwh: int  # used on an exchanged meter and not billed yet


class BillInfo(TypedDict):
    bill_id: str
    contract_id: str
    kind: str  # "usage", "exit_fee" or "reconnection_fee"
    period_start: Optional[str]  # usage only
    period_end: Optional[str]
    kwh: int
    amount: float  # tax included
    paid: float
    due_on: str
    status: str  # "open" or "paid"


class PlanInfo(TypedDict):
    plan_id: str
    customer_id: str
    total: float
    instalments: int
    amount_each: float
    agreed_on: str
    status: str  # "active", "kept" or "broken"


class OutageInfo(TypedDict):
    outage_id: str
    district: str
    started_at: str  # YYYY-MM-DDTHH:MM
    ended_at: Optional[str]
    cause: str
    status: str  # "open" or "restored"


class CompensationInfo(TypedDict):
    compensation_id: str
    outage_id: str
    customer_id: str
    amount: float
    granted_on: str


class CrewInfo(TypedDict):
    crew_id: str
    name: str
    skills: List[str]  # of "metering", "switching" and "lines"
    districts: List[str]
    daily_limit: int  # orders on one day


class WorkOrderInfo(TypedDict):
    order_id: str
    kind: str  # see SKILLS
    premise_id: str
    crew_id: str
    planned_for: str
    status: str  # "scheduled", "done" or "cancelled"


# The skill that each kind of work order needs.
SKILLS: Dict[str, str] = {
    "inspection": "metering",
    "meter_exchange": "metering",
    "disconnection": "switching",
    "reconnection": "switching",
    "repair": "lines",
}
MOST_PER_DAY: Dict[str, int] = {"household": 60, "business": 400}  # kWh that a customer's reading may mean
TAX_PERCENT = 20
BILL_DAYS = 28  # least days on a usage bill, but for the last one of a contract
DUE_DAYS = 14
RECONNECTION_FEE = 48.00
DISCONNECTION_DEBT = 100.00
WINTER = (11, 12, 1, 2, 3)
INSTALMENTS = (2, 12)
LEAST_INSTALMENT = 15.00
BROKEN_DAYS = 365  # no new plan for so long after one that was broken
OUTAGE_HOURS = 12
COMPENSATION: Dict[str, float] = {"household": 40.00, "business": 80.00}

KINDS = ("household", "business")
BILL_STATUSES = ("open", "paid")
OUTAGE_STATUSES = ("open", "restored")
ORDER_STATUSES = ("scheduled", "done", "cancelled")


class EnergyUtility:
    def __init__(self, init_config: dict):
        """
        The customer service of an electricity company, with its field crews.

        Args:
            init_config (dict): The initial state: one key per attribute below.
        """
        # Customers: {customer_id: CustomerInfo}
        self.customers: Dict[str, CustomerInfo] = init_config.get("customers", {})

        # Premises: {premise_id: PremiseInfo}
        self.premises: Dict[str, PremiseInfo] = init_config.get("premises", {})

        # Meters: {meter_id: MeterInfo}
        self.meters: Dict[str, MeterInfo] = init_config.get("meters", {})

        # Readings: {reading_id: ReadingInfo}
        self.readings: Dict[str, ReadingInfo] = init_config.get("readings", {})

        # Tariffs: {tariff_id: TariffInfo}
        self.tariffs: Dict[str, TariffInfo] = init_config.get("tariffs", {})

        # Contracts: {contract_id: ContractInfo}
        self.contracts: Dict[str, ContractInfo] = init_config.get("contracts", {})

        # Bills: {bill_id: BillInfo}
        self.bills: Dict[str, BillInfo] = init_config.get("bills", {})

        # Payment plans: {plan_id: PlanInfo}
        self.plans: Dict[str, PlanInfo] = init_config.get("plans", {})

        # Outages: {outage_id: OutageInfo}
        self.outages: Dict[str, OutageInfo] = init_config.get("outages", {})

        # Compensations for outages: {compensation_id: CompensationInfo}
        self.compensations: Dict[str, CompensationInfo] = init_config.get("compensations", {})

        # Field crews: {crew_id: CrewInfo}
        self.crews: Dict[str, CrewInfo] = init_config.get("crews", {})

        # Work orders: {order_id: WorkOrderInfo}
        self.work_orders: Dict[str, WorkOrderInfo] = init_config.get("work_orders", {})

        # Today, YYYY-MM-DD
        self.current_date: str = init_config.get("current_date", "2025-01-01")

        # The number that the next new record of each kind gets
        self.next_reading_number: int = init_config.get("next_reading_number", 1)
        self.next_contract_number: int = init_config.get("next_contract_number", 1)
        self.next_bill_number: int = init_config.get("next_bill_number", 1)
        self.next_plan_number: int = init_config.get("next_plan_number", 1)
        self.next_compensation_number: int = init_config.get("next_compensation_number", 1)
        self.next_order_number: int = init_config.get("next_order_number", 1)

    # Helpers

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    @staticmethod
    def _unknown(kind: str, value: object) -> dict:
        if not isinstance(value, str):
            return {"success": False, "error": f"The {kind} must be given by its id, a string."}
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
    def _flag_filter(name: str, value: object) -> Optional[str]:
        """Say what is wrong with an optional yes-or-no filter, or None."""
        return None if value is None or isinstance(value, bool) else f"{name} must be true or false."

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

    @classmethod
    def _is_minute(cls, value: object) -> bool:
        """Whether a value is a time YYYY-MM-DDTHH:MM."""
        if not isinstance(value, str) or not re.fullmatch(r"[0-9-]{10}T([01][0-9]|2[0-3]):[0-5][0-9]", value):
            return False
        return cls._is_date(value[:10])

    @staticmethod
    def _is_value(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10_000_000

    def _in_days(self, days: int) -> str:
        return (date.fromisoformat(self.current_date) + timedelta(days=days)).isoformat()

    @staticmethod
    def _days(start: str, end: str) -> int:
        return (date.fromisoformat(end) - date.fromisoformat(start)).days

    def _districts(self) -> List[str]:
        return sorted({premise["district"] for premise in self.premises.values()})

    def _meter_at(self, premise_id: str) -> Optional[MeterInfo]:
        for meter in self.meters.values():
            if meter["premise_id"] == premise_id and meter["status"] == "in_service":
                return meter
        return None

    def _contract_at(self, premise_id: str) -> Optional[ContractInfo]:
        for contract in self.contracts.values():
            if contract["premise_id"] == premise_id and contract["ended_on"] is None:
                return contract
        return None

    def _last_reading(self, meter_id: str) -> Optional[ReadingInfo]:
        """The latest valid reading of a meter."""
        valid = [r for r in self.readings.values() if r["meter_id"] == meter_id and r["status"] == "valid"]
        return max(valid, key=lambda reading: (reading["read_on"], reading["value"])) if valid else None

    def _read_today(self, premise_id: str) -> Optional[ReadingInfo]:
        meter = self._meter_at(premise_id)
        reading = self._last_reading(meter["meter_id"]) if meter else None
        return reading if reading and reading["read_on"] == self.current_date else None

    def _bills_of(self, customer_id: str) -> List[BillInfo]:
        """All bills of a customer, the one that was due first first."""
        found = [
            bill for bill in self.bills.values() if self.contracts[bill["contract_id"]]["customer_id"] == customer_id
        ]
        return sorted(found, key=lambda bill: (bill["due_on"], len(bill["bill_id"]), bill["bill_id"]))

    @staticmethod
    def _owed(bill: BillInfo) -> float:
        return round(bill["amount"] - bill["paid"], 2)

    def _open(self, customer_id: str) -> float:
        return round(sum(self._owed(bill) for bill in self._bills_of(customer_id)), 2)

    def _overdue(self, customer_id: str) -> float:
        late = [bill for bill in self._bills_of(customer_id) if bill["due_on"] < self.current_date]
        return round(sum(self._owed(bill) for bill in late), 2)

    def _plan_of(self, customer_id: str) -> Optional[PlanInfo]:
        for plan in self.plans.values():
            if plan["customer_id"] == customer_id and plan["status"] == "active":
                return plan
        return None

    def _debt(self, customer_id: str) -> float:
        """What stands in a customer's way: all that is overdue, unless a payment plan is active."""
        return 0.0 if self._plan_of(customer_id) else self._overdue(customer_id)

    def _orders_on(self, crew_id: str, day: str) -> int:
        return sum(
            1
            for order in self.work_orders.values()
            if order["crew_id"] == crew_id and order["planned_for"] == day and order["status"] != "cancelled"
        )

    def _tariff_problem(self, customer: CustomerInfo, tariff: TariffInfo) -> Optional[str]:
        """Why a customer cannot get a tariff today, or None."""
        if not tariff["is_open"]:
            return f"Tariff {tariff['name']} is closed to new contracts."
        if tariff["kind"] != customer["kind"]:
            return f"Tariff {tariff['name']} is for {tariff['kind']} customers."
        debt = self._debt(customer["customer_id"])
        return f"{customer['name']} has {debt:.2f} overdue and no payment plan." if debt else None

    def _crew_problem(self, kind: str, premise_id: str, crew: CrewInfo, day: str) -> Optional[str]:
        """Why a crew cannot do an order of a kind at a premise on a day, or None."""
        if day < self.current_date:
            return f"{day} is past."
        if kind != "repair" and date.fromisoformat(day).weekday() >= 5:
            return f"{day} is a weekend day; only repairs are done on it."
        if SKILLS[kind] not in crew["skills"]:
            return f"Crew {crew['name']} lacks the skill '{SKILLS[kind]}'."
        district = self.premises[premise_id]["district"]
        if district not in crew["districts"]:
            return f"Crew {crew['name']} does not work in {district}."
        if self._orders_on(crew["crew_id"], day) >= crew["daily_limit"]:
            return f"Crew {crew['name']} already has {crew['daily_limit']} orders on {day}."
        return None

    def _add_reading(self, meter_id: str, value: int, source: str) -> str:
        reading_id = f"RD-{self.next_reading_number}"
        self.next_reading_number += 1
        self.readings[reading_id] = {
            "reading_id": reading_id,
            "meter_id": meter_id,
            "read_on": self.current_date,
            "value": value,
            "source": source,
            "status": "valid",
        }
        return reading_id

    def _add_bill(
        self, contract: ContractInfo, kind: str, amount: float, period_end: Optional[str], kwh: int
    ) -> BillInfo:
        bill_id = f"B-{self.next_bill_number}"
        self.next_bill_number += 1
        bill: BillInfo = {
            "bill_id": bill_id,
            "contract_id": contract["contract_id"],
            "kind": kind,
            "period_start": contract["billed_to"] if period_end else None,
            "period_end": period_end,
            "kwh": kwh,
            "amount": amount,
            "paid": 0.0,
            "due_on": self._in_days(DUE_DAYS),
            "status": "open",
        }
        self.bills[bill_id] = bill
        return bill

    def _bill_usage(self, contract: ContractInfo, reading: ReadingInfo) -> BillInfo:
        """Bill a contract up to a reading, using up the customer's credit."""
        tariff = self.tariffs[contract["tariff_id"]]
        kwh = contract["carried_kwh"] + reading["value"] - contract["billed_value"]
        days = self._days(contract["billed_to"], reading["read_on"])
        net = days * tariff["standing_charge"] + kwh * tariff["unit_price"]
        bill = self._add_bill(contract, "usage", round(net * (100 + TAX_PERCENT) / 100, 2), reading["read_on"], kwh)
        customer = self.customers[contract["customer_id"]]
        bill["paid"] = min(customer["credit"], bill["amount"])
        customer["credit"] = round(customer["credit"] - bill["paid"], 2)
        if self._owed(bill) == 0:
            bill["status"] = "paid"
        contract["billed_to"] = reading["read_on"]
        contract["billed_value"] = reading["value"]
        contract["carried_kwh"] = 0
        return bill

    # Queries

    def search_customers(
        self,
        name: Optional[str] = None,
        kind: Optional[Literal["household", "business"]] = None,
        priority: Optional[bool] = None,
        district: Optional[str] = None,
    ) -> dict:
        """
        Find customers; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            kind (str, optional): "household" or "business".
            priority (bool, optional): Whether the customer is on the priority register.
            district (str, optional): Only customers with a running contract in this district.

        Returns:
            dict: {"success": True, "data": [CustomerInfo with "districts" added, ...]} sorted by customer_id, or
            {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("name", name)
            or self._choice_filter("kind", kind, KINDS)
            or self._flag_filter("priority", priority)
            or self._choice_filter("district", district, self._districts())
        )
        if problem:
            return self._fail(problem)
        found = []
        for key, customer in sorted(self.customers.items()):
            running = [c for c in self.contracts.values() if c["customer_id"] == key and c["ended_on"] is None]
            districts = sorted({self.premises[contract["premise_id"]]["district"] for contract in running})
            if (
                self._contains(customer["name"], name)
                and kind in (None, customer["kind"])
                and priority in (None, customer["priority"])
                and (district is None or district in districts)
            ):
                found.append({**customer, "districts": districts})
        return {"success": True, "data": found}

    def get_account(self, customer_id: str) -> dict:
        """
        Show all that concerns one customer: contracts, money, plans and compensations.

        Args:
            customer_id (str): Customer id, e.g. "C-104".

        Returns:
            dict: {"success": True, "data": {"customer": CustomerInfo, "contracts": [ContractInfo with "address",
            "district", "supply", "tariff", "meter_id", ...], "open_bills": [BillInfo with "balance", ...], "open":
            float, "overdue": float, "plans": [PlanInfo, ...], "compensations": [CompensationInfo, ...]}}, or
            {"success": False, "error": str}.
        """
        customer = self._find(self.customers, customer_id)
        if customer is None:
            return self._unknown("customer", customer_id)
        contracts = []
        for contract in self.contracts.values():
            if contract["customer_id"] == customer_id:
                premise = self.premises[contract["premise_id"]]
                meter = self._meter_at(contract["premise_id"])
                place = {"address": premise["address"], "district": premise["district"], "supply": premise["supply"]}
                names = {
                    "tariff": self.tariffs[contract["tariff_id"]]["name"],
                    "meter_id": meter["meter_id"] if meter else None,
                }
                contracts.append({**contract, **place, **names})
        account = {
            "customer": customer,
            "contracts": contracts,
            "open_bills": [
                {**bill, "balance": self._owed(bill)}
                for bill in self._bills_of(customer_id)
                if bill["status"] == "open"
            ],
            "open": self._open(customer_id),
            "overdue": self._overdue(customer_id),
            "plans": [plan for _, plan in sorted(self.plans.items()) if plan["customer_id"] == customer_id],
            "compensations": [c for _, c in sorted(self.compensations.items()) if c["customer_id"] == customer_id],
        }
        return {"success": True, "data": copy.deepcopy(account)}

    def search_premises(
        self,
        address: Optional[str] = None,
        district: Optional[str] = None,
        supply: Optional[Literal["on", "off"]] = None,
    ) -> dict:
        """
        Find premises; every filter that is given must match.

        Args:
            address (str, optional): Part of the address, any case.
            district (str, optional): Exact name of the district.
            supply (str, optional): "on" or "off".

        Returns:
            dict: {"success": True, "data": [PremiseInfo with "meter_id", "contract_id" and "customer_id" (None where
            there is none) added, ...]} sorted by premise_id, or {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("address", address)
            or self._choice_filter("district", district, self._districts())
            or self._choice_filter("supply", supply, ("on", "off"))
        )
        if problem:
            return self._fail(problem)
        found = []
        for key, premise in sorted(self.premises.items()):
            if (
                self._contains(premise["address"], address)
                and district in (None, premise["district"])
                and supply in (None, premise["supply"])
            ):
                meter, contract = self._meter_at(key), self._contract_at(key)
                found.append(
                    {
                        **premise,
                        "meter_id": meter["meter_id"] if meter else None,
                        "contract_id": contract["contract_id"] if contract else None,
                        "customer_id": contract["customer_id"] if contract else None,
                    }
                )
        return {"success": True, "data": found}

    def list_meters(
        self, status: Optional[Literal["in_service", "in_stock", "removed"]] = None, premise_id: Optional[str] = None
    ) -> dict:
        """
        List meters with their readings; every filter that is given must match.

        Args:
            status (str, optional): "in_service", "in_stock" or "removed".
            premise_id (str, optional): Premise id, e.g. "PR-12".

        Returns:
            dict: {"success": True, "data": [MeterInfo with "readings" (the latest first), ...]} sorted by meter_id,
            or {"success": False, "error": str}.
        """
        problem = self._choice_filter("status", status, ("in_service", "in_stock", "removed"))
        if problem:
            return self._fail(problem)
        if premise_id is not None and self._find(self.premises, premise_id) is None:
            return self._unknown("premise", premise_id)
        found = []
        for key, meter in sorted(self.meters.items()):
            if status in (None, meter["status"]) and premise_id in (None, meter["premise_id"]):
                own = [reading for reading in self.readings.values() if reading["meter_id"] == key]
                own.sort(key=lambda reading: (reading["read_on"], reading["value"]), reverse=True)
                found.append({**meter, "readings": copy.deepcopy(own)})
        return {"success": True, "data": found}

    def list_tariffs(
        self, kind: Optional[Literal["household", "business"]] = None, is_open: Optional[bool] = None
    ) -> dict:
        """
        List tariffs; every filter that is given must match.

        Args:
            kind (str, optional): "household" or "business".
            is_open (bool, optional): Whether new contracts can have the tariff.

        Returns:
            dict: {"success": True, "data": [TariffInfo, ...]} sorted by tariff_id, or {"success": False, "error": str}.
        """
        problem = self._choice_filter("kind", kind, KINDS) or self._flag_filter("is_open", is_open)
        if problem:
            return self._fail(problem)
        found = [
            copy.deepcopy(tariff)
            for _, tariff in sorted(self.tariffs.items())
            if kind in (None, tariff["kind"]) and is_open in (None, tariff["is_open"])
        ]
        return {"success": True, "data": found}

    def list_bills(
        self,
        customer_id: Optional[str] = None,
        status: Optional[Literal["open", "paid"]] = None,
        due_before: Optional[str] = None,
    ) -> dict:
        """
        List bills, those due first first; every filter that is given must match.

        Args:
            customer_id (str, optional): Customer id, e.g. "C-104".
            status (str, optional): "open" or "paid".
            due_before (str, optional): Date YYYY-MM-DD; only bills due earlier than this day.

        Returns:
            dict: {"success": True, "data": [BillInfo with "customer_id", "customer" and "balance" added, ...]}, or
            {"success": False, "error": str}.
        """
        if customer_id is not None and self._find(self.customers, customer_id) is None:
            return self._unknown("customer", customer_id)
        problem = self._choice_filter("status", status, BILL_STATUSES)
        if problem is None and due_before is not None and not self._is_date(due_before):
            problem = "due_before must be a date in the form YYYY-MM-DD."
        if problem:
            return self._fail(problem)
        found = []
        for bill in sorted(self.bills.values(), key=lambda row: (row["due_on"], row["bill_id"])):
            owner = self.customers[self.contracts[bill["contract_id"]]["customer_id"]]
            if (
                customer_id in (None, owner["customer_id"])
                and status in (None, bill["status"])
                and (due_before is None or bill["due_on"] < due_before)
            ):
                who = {"customer_id": owner["customer_id"], "customer": owner["name"]}
                found.append({**bill, **who, "balance": self._owed(bill)})
        return {"success": True, "data": found}

    def list_outages(
        self, district: Optional[str] = None, status: Optional[Literal["open", "restored"]] = None
    ) -> dict:
        """
        List outages; every filter that is given must match.

        Args:
            district (str, optional): Exact name of the district.
            status (str, optional): "open" or "restored".

        Returns:
            dict: {"success": True, "data": [OutageInfo with "compensated" (customer ids), ...]} in the order of time,
            or {"success": False, "error": str}.
        """
        problem = self._choice_filter("district", district, self._districts()) or self._choice_filter(
            "status", status, OUTAGE_STATUSES
        )
        if problem:
            return self._fail(problem)
        found = [
            {
                **outage,
                "compensated": sorted(
                    row["customer_id"] for row in self.compensations.values() if row["outage_id"] == key
                ),
            }
            for key, outage in sorted(self.outages.items(), key=lambda item: (item[1]["started_at"], item[0]))
            if district in (None, outage["district"]) and status in (None, outage["status"])
        ]
        return {"success": True, "data": found}

    def list_crews(
        self,
        skill: Optional[Literal["metering", "switching", "lines"]] = None,
        district: Optional[str] = None,
        on_day: Optional[str] = None,
    ) -> dict:
        """
        List the field crews; every filter that is given must match.

        Args:
            skill (str, optional): "metering" (inspection, meter_exchange), "switching" (disconnection, reconnection)
                or "lines" (repair).
            district (str, optional): Exact name of a district in which the crew works.
            on_day (str, optional): Date YYYY-MM-DD; adds "free_orders", how many more the crew can do on that day.

        Returns:
            dict: {"success": True, "data": [CrewInfo, ...]} sorted by crew_id, or {"success": False, "error": str}.
        """
        problem = self._choice_filter("skill", skill, ("metering", "switching", "lines")) or self._choice_filter(
            "district", district, self._districts()
        )
        if problem is None and on_day is not None and not self._is_date(on_day):
            problem = "on_day must be a date in the form YYYY-MM-DD."
        if problem:
            return self._fail(problem)
        found = []
        for key, crew in sorted(self.crews.items()):
            if (skill is None or skill in crew["skills"]) and (district is None or district in crew["districts"]):
                free = {} if on_day is None else {"free_orders": crew["daily_limit"] - self._orders_on(key, on_day)}
                found.append({**copy.deepcopy(crew), **free})
        return {"success": True, "data": found}

    def list_work_orders(
        self,
        status: Optional[Literal["scheduled", "done", "cancelled"]] = None,
        kind: Optional[Literal["inspection", "meter_exchange", "disconnection", "reconnection", "repair"]] = None,
        crew_id: Optional[str] = None,
        planned_for: Optional[str] = None,
    ) -> dict:
        """
        List work orders; every filter that is given must match.

        Args:
            status (str, optional): "scheduled", "done" or "cancelled".
            kind (str, optional): "inspection", "meter_exchange", "disconnection", "reconnection" or "repair".
            crew_id (str, optional): Crew id, e.g. "CW-2".
            planned_for (str, optional): Date YYYY-MM-DD.

        Returns:
            dict: {"success": True, "data": [WorkOrderInfo with "address", "district" and "crew" added, ...]} sorted
            by day, or {"success": False, "error": str}.
        """
        problem = self._choice_filter("status", status, ORDER_STATUSES) or self._choice_filter("kind", kind, SKILLS)
        if problem is None and planned_for is not None and not self._is_date(planned_for):
            problem = "planned_for must be a date in the form YYYY-MM-DD."
        if problem:
            return self._fail(problem)
        if crew_id is not None and self._find(self.crews, crew_id) is None:
            return self._unknown("crew", crew_id)
        found = []
        for order in sorted(self.work_orders.values(), key=lambda row: (row["planned_for"], row["order_id"])):
            if (
                status in (None, order["status"])
                and kind in (None, order["kind"])
                and crew_id in (None, order["crew_id"])
                and planned_for in (None, order["planned_for"])
            ):
                premise = self.premises[order["premise_id"]]
                place = {"address": premise["address"], "district": premise["district"]}
                found.append({**order, **place, "crew": self.crews[order["crew_id"]]["name"]})
        return {"success": True, "data": found}

    # Changes: readings and bills

    def record_reading(self, meter_id: str, value: int) -> dict:
        """
        Enter a reading that the customer took today.

        Refused below the last valid reading, twice on one day, and when it means more than 60 kWh a day (business:
        400) since the last valid reading: then an inspection has to be done, whose reading always counts.

        Args:
            meter_id (str): Meter id, e.g. "M-7003". The meter must be in service.
            value (int): kWh on the dial.

        Returns:
            dict: {"success": True, "message": str, "reading_id": str}, or {"success": False, "error": str}.
        """
        meter = self._find(self.meters, meter_id)
        if meter is None:
            return self._unknown("meter", meter_id)
        if not self._is_value(value):
            return self._fail("value must be a whole number of kWh.")
        if meter["status"] != "in_service" or meter["premise_id"] is None:
            return self._fail(f"Meter {meter_id} is not in service.")
        last = self._last_reading(meter_id)
        if last is not None:
            if last["read_on"] >= self.current_date:
                return self._fail(f"Meter {meter_id} was read today already: {last['value']}.")
            if value < last["value"]:
                return self._fail(f"{value} is below the last valid reading of {last['value']}.")
            contract = self._contract_at(meter["premise_id"])
            kind = self.customers[contract["customer_id"]]["kind"] if contract else "household"
            per_day = (value - last["value"]) / self._days(last["read_on"], self.current_date)
            if per_day > MOST_PER_DAY[kind]:
                return self._fail(
                    f"{value} means {per_day:.1f} kWh a day, above the {MOST_PER_DAY[kind]} of a {kind}; an inspection"
                    " must read the meter."
                )
        reading_id = self._add_reading(meter_id, value, "customer")
        return {"success": True, "message": f"Reading {reading_id}: {value} kWh.", "reading_id": reading_id}

    def dispute_reading(self, reading_id: str) -> dict:
        """
        Mark a valid reading as disputed; it then counts for nothing. Not possible once it is billed, or for a meter
        that was removed.

        Args:
            reading_id (str): Reading id, e.g. "RD-310".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        reading = self._find(self.readings, reading_id)
        if reading is None:
            return self._unknown("reading", reading_id)
        if reading["status"] != "valid":
            return self._fail(f"Reading {reading_id} is already disputed.")
        if self.meters[reading["meter_id"]]["status"] == "removed":
            return self._fail(f"Meter {reading['meter_id']} was exchanged on its last reading.")
        premise_id = self.meters[reading["meter_id"]]["premise_id"]
        for contract in self.contracts.values():
            if contract["premise_id"] == premise_id and contract["billed_to"] >= reading["read_on"]:
                return self._fail(f"Reading {reading_id} of {reading['read_on']} is billed.")
        reading["status"] = "disputed"
        return {"success": True, "message": f"Reading {reading_id} is disputed and no longer counts."}

    def create_bill(self, contract_id: str) -> dict:
        """
        Bill the usage of a running contract up to the last valid reading of its meter.

        At least 28 days must have passed since the day billed so far. The bill is days times standing charge plus
        kWh times unit price, plus 20 % tax, due in 14 days; the customer's credit is used for it first.

        Args:
            contract_id (str): Contract id, e.g. "K-52".

        Returns:
            dict: {"success": True, "message": str, "bill_id": str, "kwh": int, "amount": float, "balance": float}, or
            {"success": False, "error": str}.
        """
        contract = self._find(self.contracts, contract_id)
        if contract is None:
            return self._unknown("contract", contract_id)
        if contract["ended_on"] is not None:
            return self._fail(f"Contract {contract_id} ended on {contract['ended_on']}.")
        meter = self._meter_at(contract["premise_id"])
        reading = self._last_reading(meter["meter_id"]) if meter else None
        if reading is None or self._days(contract["billed_to"], reading["read_on"]) < BILL_DAYS:
            return self._fail(
                f"Contract {contract_id} is billed to {contract['billed_to']}; a valid reading {BILL_DAYS} days or more"
                " after that is needed."
            )
        return self._told_bill(self._bill_usage(contract, reading))

    def _told_bill(self, bill: BillInfo) -> dict:
        return {
            "success": True,
            "message": f"Bill {bill['bill_id']}: {bill['kwh']} kWh, {bill['amount']:.2f}, due on {bill['due_on']}.",
            "bill_id": bill["bill_id"],
            "kwh": bill["kwh"],
            "amount": bill["amount"],
            "balance": self._owed(bill),
        }

    def record_payment(self, customer_id: str, amount: float) -> dict:
        """
        Book a payment of a customer: it goes to the open bills, those due first first.

        An active payment plan is kept once nothing is open any more.

        Args:
            customer_id (str): Customer id, e.g. "C-104".
            amount (float): More than 0, in whole cents, not more than all that is open.

        Returns:
            dict: {"success": True, "message": str, "paid_bills": [bill ids now paid in full], "open": float}, or
            {"success": False, "error": str}.
        """
        customer = self._find(self.customers, customer_id)
        if customer is None:
            return self._unknown("customer", customer_id)
        if isinstance(amount, bool) or not isinstance(amount, (int, float)) or not 0 < amount <= 1_000_000:
            return self._fail("amount must be a number above 0.")
        if abs(amount * 100 - round(amount * 100)) > 1e-6:
            return self._fail("amount must be in whole cents.")
        left, settled = round(float(amount), 2), []
        if left > self._open(customer_id):
            return self._fail(f"Only {self._open(customer_id):.2f} is open for {customer['name']}.")
        for bill in self._bills_of(customer_id):
            part = min(left, self._owed(bill))
            if part > 0:
                bill["paid"] = round(bill["paid"] + part, 2)
                left = round(left - part, 2)
                if self._owed(bill) == 0:
                    bill["status"] = "paid"
                    settled.append(bill["bill_id"])
        still = self._open(customer_id)
        plan = self._plan_of(customer_id)
        if plan is not None and still == 0:
            plan["status"] = "kept"
        return {
            "success": True,
            "message": f"Booked {amount:.2f} for {customer['name']}; {still:.2f} is still open.",
            "paid_bills": settled,
            "open": still,
        }

    def agree_plan(self, customer_id: str, instalments: int) -> dict:
        """
        Agree on a payment plan for all that is open: as long as it is active, nothing counts as overdue.

        Refused while another plan is active, within 365 days after a plan that was broken was agreed, and when an
        instalment would be below 15.00.

        Args:
            customer_id (str): Customer id, e.g. "C-104".
            instalments (int): 2 to 12.

        Returns:
            dict: {"success": True, "message": str, "plan_id": str, "amount_each": float}, or
            {"success": False, "error": str}.
        """
        customer = self._find(self.customers, customer_id)
        if customer is None:
            return self._unknown("customer", customer_id)
        if not self._is_value(instalments) or not INSTALMENTS[0] <= instalments <= INSTALMENTS[1]:
            return self._fail(f"instalments must be {INSTALMENTS[0]} to {INSTALMENTS[1]}.")
        if self._plan_of(customer_id):
            return self._fail(f"{customer['name']} has an active plan already.")
        for plan in self.plans.values():
            if plan["customer_id"] == customer_id and plan["status"] == "broken":
                if self._days(plan["agreed_on"], self.current_date) < BROKEN_DAYS:
                    return self._fail(f"{customer['name']} broke the plan of {plan['agreed_on']}.")
        total = self._open(customer_id)
        each = round(total / instalments, 2)
        if each < LEAST_INSTALMENT:
            return self._fail(f"{instalments} instalments of {total:.2f} are below {LEAST_INSTALMENT:.2f} each.")
        plan_id = f"PL-{self.next_plan_number}"
        self.next_plan_number += 1
        self.plans[plan_id] = {
            "plan_id": plan_id,
            "customer_id": customer_id,
            "total": total,
            "instalments": instalments,
            "amount_each": each,
            "agreed_on": self.current_date,
            "status": "active",
        }
        return {
            "success": True,
            "message": f"{customer['name']} pays {total:.2f} in {instalments} instalments of {each:.2f}.",
            "plan_id": plan_id,
            "amount_each": each,
        }

    # Changes: customers and contracts

    def update_customer(self, customer_id: str, email: Optional[str] = None, priority: Optional[bool] = None) -> dict:
        """
        Change a customer's e-mail address, place on the priority register, or both.

        Args:
            customer_id (str): Customer id, e.g. "C-104".
            email (str, optional): New e-mail address.
            priority (bool, optional): Whether the customer is on the priority register; households only.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        customer = self._find(self.customers, customer_id)
        if customer is None:
            return self._unknown("customer", customer_id)
        if email is None and priority is None:
            return self._fail("Give an email, a priority or both.")
        if email is not None and not (isinstance(email, str) and re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s.]+", email)):
            return self._fail("email must be an e-mail address.")
        problem = self._flag_filter("priority", priority)
        if problem:
            return self._fail(problem)
        if priority and customer["kind"] != "household":
            return self._fail("Only households can be on the priority register.")
        if email is not None:
            customer["email"] = email
        if priority is not None:
            customer["priority"] = priority
        return {"success": True, "message": f"Updated {customer['name']}."}

    def switch_tariff(self, contract_id: str, tariff_id: str) -> dict:
        """
        Give a running contract another tariff from today on.

        The usage must be billed up to today, nothing overdue, and the tariff open and for the customer's kind. Up to
        the day until which the contract is bound, the exit fee of the old tariff is billed.

        Args:
            contract_id (str): Contract id, e.g. "K-52".
            tariff_id (str): Tariff id, e.g. "T-3".

        Returns:
            dict: {"success": True, "message": str, "exit_fee": float, "bound_until": str}, or
            {"success": False, "error": str}.
        """
        contract = self._find(self.contracts, contract_id)
        if contract is None:
            return self._unknown("contract", contract_id)
        tariff = self._find(self.tariffs, tariff_id)
        if tariff is None:
            return self._unknown("tariff", tariff_id)
        if contract["ended_on"] is not None:
            return self._fail(f"Contract {contract_id} ended on {contract['ended_on']}.")
        if contract["tariff_id"] == tariff_id:
            return self._fail(f"Contract {contract_id} has the tariff {tariff['name']} already.")
        problem = self._tariff_problem(self.customers[contract["customer_id"]], tariff)
        if problem:
            return self._fail(problem)
        if contract["billed_to"] != self.current_date:
            return self._fail(f"Contract {contract_id} is billed to {contract['billed_to']}, not up to today.")
        old = self.tariffs[contract["tariff_id"]]
        fee = old["exit_fee"] if self.current_date <= contract["bound_until"] else 0.0
        if fee:
            self._add_bill(contract, "exit_fee", fee, None, 0)
        contract["tariff_id"] = tariff_id
        contract["bound_until"] = self._in_days(tariff["term_days"]) if tariff["term_days"] else self.current_date
        return {
            "success": True,
            "message": f"Contract {contract_id} has the tariff {tariff['name']}; exit fee {fee:.2f}.",
            "exit_fee": fee,
            "bound_until": contract["bound_until"],
        }

    def start_contract(self, customer_id: str, premise_id: str, tariff_id: str) -> dict:
        """
        Start supplying a customer at a premise today.

        The premise must have no other contract and a valid reading of today; the tariff must be open and for the
        customer's kind, and the customer must have nothing overdue.

        Args:
            customer_id (str): Customer id, e.g. "C-104".
            premise_id (str): Premise id, e.g. "PR-12".
            tariff_id (str): Tariff id, e.g. "T-3".

        Returns:
            dict: {"success": True, "message": str, "contract_id": str, "bound_until": str}, or
            {"success": False, "error": str}.
        """
        customer = self._find(self.customers, customer_id)
        if customer is None:
            return self._unknown("customer", customer_id)
        premise = self._find(self.premises, premise_id)
        if premise is None:
            return self._unknown("premise", premise_id)
        tariff = self._find(self.tariffs, tariff_id)
        if tariff is None:
            return self._unknown("tariff", tariff_id)
        if self._contract_at(premise_id):
            return self._fail(f"{premise['address']} has a running contract.")
        problem = self._tariff_problem(customer, tariff)
        if problem:
            return self._fail(problem)
        reading = self._read_today(premise_id)
        if reading is None:
            return self._fail(f"The meter at {premise['address']} has no valid reading of today.")
        contract_id = f"K-{self.next_contract_number}"
        self.next_contract_number += 1
        bound = self._in_days(tariff["term_days"]) if tariff["term_days"] else self.current_date
        self.contracts[contract_id] = {
            "contract_id": contract_id,
            "customer_id": customer_id,
            "premise_id": premise_id,
            "tariff_id": tariff_id,
            "started_on": self.current_date,
            "bound_until": bound,
            "ended_on": None,
            "billed_to": self.current_date,
            "billed_value": reading["value"],
            "carried_kwh": 0,
        }
        return {
            "success": True,
            "message": f"{customer['name']} is supplied at {premise['address']} under {contract_id}.",
            "contract_id": contract_id,
            "bound_until": bound,
        }

    def end_contract(self, contract_id: str) -> dict:
        """
        End a contract today because the customer moves out, with a last usage bill of any length and no exit fee.

        Args:
            contract_id (str): Contract id, e.g. "K-52". Its meter must have a valid reading of today.

        Returns:
            dict: {"success": True, "message": str, "bill_id": str, "kwh": int, "amount": float, "balance": float}, or
            {"success": False, "error": str}.
        """
        contract = self._find(self.contracts, contract_id)
        if contract is None:
            return self._unknown("contract", contract_id)
        if contract["ended_on"] is not None:
            return self._fail(f"Contract {contract_id} ended on {contract['ended_on']}.")
        reading = self._read_today(contract["premise_id"])
        if reading is None:
            return self._fail(f"The meter of contract {contract_id} has no valid reading of today.")
        contract["ended_on"] = self.current_date
        return self._told_bill(self._bill_usage(contract, reading))

    # Changes: outages

    def restore_outage(self, outage_id: str, ended_at: str) -> dict:
        """
        Close an outage: the power is back.

        Args:
            outage_id (str): Outage id, e.g. "O-8". The outage must be open.
            ended_at (str): When the power came back, YYYY-MM-DDTHH:MM; after the start and not after today.

        Returns:
            dict: {"success": True, "message": str, "hours": float}, or {"success": False, "error": str}.
        """
        outage = self._find(self.outages, outage_id)
        if outage is None:
            return self._unknown("outage", outage_id)
        if not self._is_minute(ended_at):
            return self._fail("ended_at must have the form YYYY-MM-DDTHH:MM.")
        if outage["status"] != "open":
            return self._fail(f"Outage {outage_id} was restored at {outage['ended_at']}.")
        if ended_at <= outage["started_at"] or ended_at[:10] > self.current_date:
            return self._fail(f"ended_at must lie after {outage['started_at']} and not after today.")
        outage["status"] = "restored"
        outage["ended_at"] = ended_at
        return {"success": True, "message": f"Outage {outage_id} is restored.", "hours": self._hours(outage)}

    @staticmethod
    def _hours(outage: OutageInfo) -> float:
        """How long a restored outage lasted."""
        start, end = (datetime.fromisoformat(str(time)) for time in (outage["started_at"], outage["ended_at"]))
        return round((end - start).total_seconds() / 3600, 2)

    def grant_compensation(self, outage_id: str, customer_id: str) -> dict:
        """
        Compensate a customer for a restored outage of 12 hours or more: once, as a credit for the next usage bill.

        A household gets 40.00, a business 80.00, a customer on the priority register twice as much. The customer
        must have a running contract in the district that began before the day of the outage.

        Args:
            outage_id (str): Outage id, e.g. "O-8".
            customer_id (str): Customer id, e.g. "C-104".

        Returns:
            dict: {"success": True, "message": str, "amount": float, "credit": float}, or
            {"success": False, "error": str}.
        """
        outage = self._find(self.outages, outage_id)
        if outage is None:
            return self._unknown("outage", outage_id)
        customer = self._find(self.customers, customer_id)
        if customer is None:
            return self._unknown("customer", customer_id)
        if outage["status"] != "restored" or self._hours(outage) < OUTAGE_HOURS:
            return self._fail(f"Outage {outage_id} is not restored, or was shorter than {OUTAGE_HOURS} hours.")
        affected = [
            contract
            for contract in self.contracts.values()
            if contract["customer_id"] == customer_id
            and contract["ended_on"] is None
            and contract["started_on"] < outage["started_at"][:10]
            and self.premises[contract["premise_id"]]["district"] == outage["district"]
        ]
        if not affected:
            return self._fail(f"{customer['name']} had no contract in {outage['district']} before that day.")
        for row in self.compensations.values():
            if (row["outage_id"], row["customer_id"]) == (outage_id, customer_id):
                return self._fail(f"{customer['name']} was compensated for outage {outage_id} already.")
        amount = COMPENSATION[customer["kind"]] * (2 if customer["priority"] else 1)
        compensation_id = f"CP-{self.next_compensation_number}"
        self.next_compensation_number += 1
        self.compensations[compensation_id] = {
            "compensation_id": compensation_id,
            "outage_id": outage_id,
            "customer_id": customer_id,
            "amount": amount,
            "granted_on": self.current_date,
        }
        customer["credit"] = round(customer["credit"] + amount, 2)
        return {
            "success": True,
            "message": f"{customer['name']} gets {amount:.2f} for outage {outage_id}.",
            "amount": amount,
            "credit": customer["credit"],
        }

    # Changes: work orders

    def create_work_order(
        self,
        kind: Literal["inspection", "meter_exchange", "disconnection", "reconnection", "repair"],
        premise_id: str,
        crew_id: str,
        planned_for: str,
    ) -> dict:
        """
        Plan a job of a field crew at a premise.

        The crew must have the skill, work in the district and have room on that day; weekends are for repairs only. A
        disconnection is for a customer with more than 100.00 overdue, without an active plan and not on the priority
        register, and for no household from November to March. A reconnection needs supply "off" and nothing overdue,
        and costs 48.00, which is billed at once. A premise has one scheduled order of a kind.

        Args:
            kind (str): "inspection", "meter_exchange", "disconnection", "reconnection" or "repair".
            premise_id (str): Premise id, e.g. "PR-12".
            crew_id (str): Crew id, e.g. "CW-2".
            planned_for (str): Date YYYY-MM-DD, today or later.

        Returns:
            dict: {"success": True, "message": str, "order_id": str}, or {"success": False, "error": str}.
        """
        if not isinstance(kind, str) or kind not in SKILLS:
            return self._fail(f"kind must be one of: {', '.join(SKILLS)}.")
        premise = self._find(self.premises, premise_id)
        if premise is None:
            return self._unknown("premise", premise_id)
        crew = self._find(self.crews, crew_id)
        if crew is None:
            return self._unknown("crew", crew_id)
        if not self._is_date(planned_for):
            return self._fail("planned_for must be a date in the form YYYY-MM-DD.")
        for order in self.work_orders.values():
            if (order["kind"], order["premise_id"], order["status"]) == (kind, premise_id, "scheduled"):
                return self._fail(f"{order['order_id']} is a scheduled {kind} at {premise['address']} already.")
        problem = self._switching_problem(kind, premise, planned_for) or self._crew_problem(
            kind, premise_id, crew, planned_for
        )
        if problem:
            return self._fail(problem)
        order_id = f"W-{self.next_order_number}"
        self.next_order_number += 1
        self.work_orders[order_id] = {
            "order_id": order_id,
            "kind": kind,
            "premise_id": premise_id,
            "crew_id": crew_id,
            "planned_for": planned_for,
            "status": "scheduled",
        }
        contract = self._contract_at(premise_id)
        if kind == "reconnection" and contract is not None:
            self._add_bill(contract, "reconnection_fee", RECONNECTION_FEE, None, 0)
        return {
            "success": True,
            "message": f"Order {order_id}: {kind} at {premise['address']} by {crew['name']} on {planned_for}.",
            "order_id": order_id,
        }

    def _switching_problem(self, kind: str, premise: PremiseInfo, day: str) -> Optional[str]:
        """Why a premise cannot be disconnected or reconnected on a day, or None."""
        if kind not in ("disconnection", "reconnection"):
            return None
        contract = self._contract_at(premise["premise_id"])
        if contract is None:
            return f"{premise['address']} has no running contract."
        if premise["supply"] != ("on" if kind == "disconnection" else "off"):
            return f"The supply of {premise['address']} is {premise['supply']}."
        customer = self.customers[contract["customer_id"]]
        debt = self._debt(customer["customer_id"])
        if kind == "reconnection":
            return f"{customer['name']} has {debt:.2f} overdue and no payment plan." if debt else None
        if customer["priority"]:
            return f"{customer['name']} is on the priority register."
        if debt <= DISCONNECTION_DEBT:
            return f"{customer['name']} has {debt:.2f} overdue without a plan; more than 100.00 is needed."
        if customer["kind"] == "household" and date.fromisoformat(day).month in WINTER:
            return "Households are not disconnected from November to March."
        return None

    def move_work_order(self, order_id: str, crew_id: Optional[str] = None, planned_for: Optional[str] = None) -> dict:
        """
        Give a scheduled work order another crew, another day or both, under the rules for a new one.

        Args:
            order_id (str): Work order id, e.g. "W-31".
            crew_id (str, optional): Crew id, e.g. "CW-2".
            planned_for (str, optional): Date YYYY-MM-DD, today or later.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        order = self._find(self.work_orders, order_id)
        if order is None:
            return self._unknown("work order", order_id)
        if crew_id is None and planned_for is None:
            return self._fail("Give a crew_id, planned_for or both.")
        crew = self._find(self.crews, order["crew_id"] if crew_id is None else crew_id)
        if crew is None:
            return self._unknown("crew", crew_id)
        day = order["planned_for"] if planned_for is None else planned_for
        if not self._is_date(day):
            return self._fail("planned_for must be a date in the form YYYY-MM-DD.")
        if order["status"] != "scheduled":
            return self._fail(f"Order {order_id} is {order['status']}.")
        if (crew["crew_id"], day) == (order["crew_id"], order["planned_for"]):
            return self._fail(f"Order {order_id} is planned like this already.")
        premise = self.premises[order["premise_id"]]
        problem = self._crew_problem(order["kind"], order["premise_id"], crew, day)
        if problem is None and order["kind"] == "disconnection":
            problem = self._switching_problem("disconnection", premise, day)
        if problem:
            return self._fail(problem)
        order["crew_id"] = crew["crew_id"]
        order["planned_for"] = day
        return {"success": True, "message": f"{crew['name']} does order {order_id} on {day}."}

    def cancel_work_order(self, order_id: str) -> dict:
        """
        Cancel a scheduled work order.

        Args:
            order_id (str): Work order id, e.g. "W-31".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        order = self._find(self.work_orders, order_id)
        if order is None:
            return self._unknown("work order", order_id)
        if order["status"] != "scheduled":
            return self._fail(f"Order {order_id} is {order['status']}.")
        order["status"] = "cancelled"
        return {"success": True, "message": f"Order {order_id} is cancelled."}

    def complete_work_order(
        self, order_id: str, meter_value: Optional[int] = None, new_meter_id: Optional[str] = None
    ) -> dict:
        """
        Close a scheduled work order that the crew did today.

        An inspection brings the reading of the meter, which counts even if it is high. A meter exchange brings the
        last reading of the old meter and the id of the new one, which starts at 0; what the old one counted stays to
        be billed. A disconnection or reconnection turns the supply off or on; what a disconnection needs must hold
        today as well.

        Args:
            order_id (str): Work order id, e.g. "W-31". It must be planned for today or earlier.
            meter_value (int, optional): kWh on the dial; for inspection and meter_exchange only.
            new_meter_id (str, optional): Id of a meter in stock; for meter_exchange only.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        order = self._find(self.work_orders, order_id)
        if order is None:
            return self._unknown("work order", order_id)
        kind, premise = order["kind"], self.premises[order["premise_id"]]
        if order["status"] != "scheduled" or order["planned_for"] > self.current_date:
            return self._fail(f"Order {order_id} is {order['status']} for {order['planned_for']}.")
        reads = kind in ("inspection", "meter_exchange")
        if reads != (meter_value is not None) or (kind == "meter_exchange") != (new_meter_id is not None):
            return self._fail("inspection takes a meter_value, meter_exchange also a new_meter_id, others neither.")
        if reads:
            problem = self._read_by_crew(premise, meter_value, new_meter_id)
            if problem:
                return self._fail(problem)
        elif kind != "repair":
            problem = self._switching_problem(kind, premise, self.current_date) if kind == "disconnection" else None
            if problem:
                return self._fail(problem)
            premise["supply"] = "off" if kind == "disconnection" else "on"
        order["status"] = "done"
        return {"success": True, "message": f"Order {order_id} is done: {kind} at {premise['address']}."}

    def _read_by_crew(self, premise: PremiseInfo, value: object, new_meter_id: Optional[str]) -> Optional[str]:
        """Enter a crew's reading and exchange the meter if there is a new one; say what stands in the way."""
        meter = self._meter_at(premise["premise_id"])
        if meter is None:
            return f"{premise['address']} has no meter in service."
        if not isinstance(value, int) or not self._is_value(value):
            return "meter_value must be a whole number of kWh."
        last = self._last_reading(meter["meter_id"])
        if last is not None and (value < last["value"] or last["read_on"] >= self.current_date):
            return f"The last valid reading is {last['value']} of {last['read_on']}."
        new = None if new_meter_id is None else self._find(self.meters, new_meter_id)
        if new_meter_id is not None and (new is None or new["status"] != "in_stock"):
            return "new_meter_id must be a meter in stock."
        self._add_reading(meter["meter_id"], value, "crew")
        if new is not None:
            contract = self._contract_at(premise["premise_id"])
            if contract is not None:
                contract["carried_kwh"] += value - contract["billed_value"]
                contract["billed_value"] = 0
            meter["status"] = "removed"
            new["status"] = "in_service"
            new["premise_id"] = premise["premise_id"]
            new["installed_on"] = self.current_date
            self._add_reading(new["meter_id"], 0, "crew")
        return None
