import copy
import re
from datetime import date, timedelta
from typing import Collection, Dict, List, Literal, Optional, TypedDict, TypeVar

Record = TypeVar("Record")


class MemberInfo(TypedDict):
    member_id: str
    name: str
    village: str
    joined_on: str
    standing: str  # "trial", "full" or "suspended"; only the board suspends
    share_paid: float  # of the share of 500.00
    licences: List[str]  # kinds of machines that need one, e.g. "combine"


class FieldInfo(TypedDict):
    field_id: str
    name: str
    member_id: str
    hectares: float
    soil: str  # "loam", "clay" or "sand"
    organic: bool
    last_family: str  # plant family of the last crop that was harvested here


class CropInfo(TypedDict):
    crop_id: str
    name: str
    family: str
    soils: List[str]
    sow_from: str  # MM-DD, first day of the sowing window
    sow_until: str  # MM-DD, last day of the sowing window
    days_to_harvest: int
    seed_kg_per_ha: float
    max_yield_kg_per_ha: int
    base_price: float  # per kg of grade A
    max_moisture: float  # in percent, for grade A
    area_quota_ha: float  # hectares that may be approved or sown in a season


class CropPlanInfo(TypedDict):
    plan_id: str
    field_id: str
    crop_id: str
    season: str
    hectares: float
    proposed_on: str
    status: str  # "proposed", "approved", "rejected" or "sown"
    note: str  # why it was rejected; empty otherwise


class SeedLotInfo(TypedDict):
    lot_id: str
    crop_id: str
    organic: bool
    kg_left: float
    price_per_kg: float


class PlantingInfo(TypedDict):
    planting_id: str
    plan_id: str
    lot_id: str
    sown_on: str
    harvest_from: str
    status: str  # "growing", "harvested" or "lost"


class EquipmentInfo(TypedDict):
    equipment_id: str
    name: str
    kind: str
    licence: Optional[str]  # the licence that is needed
    daily_fee: float
    in_repair_until: Optional[str]  # last day in the workshop


class BookingInfo(TypedDict):
    booking_id: str
    equipment_id: str
    member_id: str
    first_day: str
    last_day: str
    status: str  # "booked", "returned" or "cancelled"


class StoreInfo(TypedDict):
    store_id: str
    name: str
    crop_ids: List[str]  # what it takes
    capacity_kg: int
    stock: Dict[str, int]  # {crop_id: kg}


class DeliveryInfo(TypedDict):
    delivery_id: str
    planting_id: str
    store_id: str
    kg: int
    moisture: float  # percent
    impurities: float  # percent
    delivered_on: str
    grade: Optional[str]  # "A", "B", "C" or "rejected"; None before grading
    amount: float  # what it earns
    payout_id: Optional[str]


class ChargeInfo(TypedDict):
    charge_id: str
    member_id: str
    reason: str  # "seed", "equipment" or "late cancellation"
    amount: float
    charged_on: str
    payout_id: Optional[str]  # the payout that settled it; None while open


class PayoutInfo(TypedDict):
    payout_id: str
    member_id: str
    gross: float
    reserve: float
    deducted: float
    net: float
    paid_on: str


FULL_SHARE = 500.00
TRIAL_DAYS = 365  # least time as a trial member
TRIAL_HECTARES = 5.0  # most that a trial member may have approved or sown
BOOKING_DAYS = 3  # longest booking
BOOKING_LIMIT = 2  # bookings of a member that are not yet returned
CREDIT_LIMIT = 400.00  # most a member may owe to book a machine
NOTICE_DAYS = 2  # a booking cancelled later than this costs half the fee
REPAIR_DAYS = 7
RESERVE_SHARE = 0.03
GRADES = ("A", "B", "C")
GRADE_PRICE = {"A": 1.0, "B": 0.85, "C": 0.6}
GRADE_IMPURITIES = {"A": 2.0, "B": 5.0}
GRADE_MOISTURE = {"A": 0.0, "B": 2.0}  # points above the crop's limit
REJECT_MOISTURE = 5.0
ORGANIC_PRICE = 1.25
LARGEST = 1000000  # no single quantity is larger

STANDINGS = ("trial", "full", "suspended")
PLAN_STATUSES = ("proposed", "approved", "rejected", "sown")
PLANTING_STATUSES = ("growing", "harvested", "lost")
BOOKING_STATUSES = ("booked", "returned", "cancelled")
DELIVERY_STATES = ("ungraded", "unpaid", "paid", "rejected")


class FarmCooperative:
    def __init__(self, init_config: dict):
        """
        The office of a farm cooperative.

        Args:
            init_config (dict): The initial state: one key per attribute below.
        """
        # Members: {member_id: MemberInfo}
        self.members: Dict[str, MemberInfo] = init_config.get("members", {})

        # Fields: {field_id: FieldInfo}
        self.fields: Dict[str, FieldInfo] = init_config.get("fields", {})

        # Crops: {crop_id: CropInfo}
        self.crops: Dict[str, CropInfo] = init_config.get("crops", {})

        # Crop plans: {plan_id: CropPlanInfo}
        self.crop_plans: Dict[str, CropPlanInfo] = init_config.get("crop_plans", {})

        # Seed lots: {lot_id: SeedLotInfo}
        self.seed_lots: Dict[str, SeedLotInfo] = init_config.get("seed_lots", {})

        # Plantings: {planting_id: PlantingInfo}
        self.plantings: Dict[str, PlantingInfo] = init_config.get("plantings", {})

        # Machines to lend: {equipment_id: EquipmentInfo}
        self.equipment: Dict[str, EquipmentInfo] = init_config.get("equipment", {})

        # Bookings of machines: {booking_id: BookingInfo}
        self.bookings: Dict[str, BookingInfo] = init_config.get("bookings", {})

        # Stores for the harvest: {store_id: StoreInfo}
        self.stores: Dict[str, StoreInfo] = init_config.get("stores", {})

        # Deliveries: {delivery_id: DeliveryInfo}
        self.deliveries: Dict[str, DeliveryInfo] = init_config.get("deliveries", {})

        # Charges to members: {charge_id: ChargeInfo}
        self.charges: Dict[str, ChargeInfo] = init_config.get("charges", {})

        # Payouts to members: {payout_id: PayoutInfo}
        self.payouts: Dict[str, PayoutInfo] = init_config.get("payouts", {})

        # The season that is planned and sown, e.g. "2025"
        self.season: str = init_config.get("season", "2025")

        # Today in the office, YYYY-MM-DD
        self.current_date: str = init_config.get("current_date", "2025-01-01")

        # What the payouts have put aside
        self.reserve_fund: float = init_config.get("reserve_fund", 0.0)

        # The number that the next new record of each kind gets
        self.next_plan_number: int = init_config.get("next_plan_number", 1)
        self.next_planting_number: int = init_config.get("next_planting_number", 1)
        self.next_booking_number: int = init_config.get("next_booking_number", 1)
        self.next_delivery_number: int = init_config.get("next_delivery_number", 1)
        self.next_charge_number: int = init_config.get("next_charge_number", 1)
        self.next_payout_number: int = init_config.get("next_payout_number", 1)

    # Helpers

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    @staticmethod
    def _unknown(name: str, value: object) -> dict:
        if not isinstance(value, str):
            return {"success": False, "error": f"{name} must be a string."}
        return {"success": False, "error": f"There is no {name} '{value[:60]}'."}

    @staticmethod
    def _find(table: Dict[str, Record], key: object) -> Optional[Record]:
        return table.get(key) if isinstance(key, str) else None

    @staticmethod
    def _text_filter(name: str, value: object) -> Optional[str]:
        """Say what is wrong with an optional text, or None."""
        return None if value is None or isinstance(value, str) else f"{name} must be a string."

    @staticmethod
    def _choice_filter(name: str, value: object, allowed: Collection[str]) -> Optional[str]:
        """Say what is wrong with an optional value out of a fixed set, or None."""
        if value is None or (isinstance(value, str) and value in allowed):
            return None
        return f"{name} must be one of: {', '.join(allowed)}."

    @staticmethod
    def _flag_filter(name: str, value: object) -> Optional[str]:
        """Say what is wrong with an optional true-or-false value, or None."""
        return None if value is None or isinstance(value, bool) else f"{name} must be true or false."

    def _filters(self, **ids: object) -> Optional[dict]:
        """The failure of the first id among optional filters that does not exist, or None."""
        tables = {
            "member_id": self.members,
            "field_id": self.fields,
            "crop_id": self.crops,
            "equipment_id": self.equipment,
        }
        for name, value in ids.items():
            if value is not None and (not isinstance(value, str) or value not in tables[name]):
                return self._unknown(name, value)
        return None

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
    def _is_number(value: object, least: float, most: float, places: int) -> bool:
        """Whether a value is a number within limits that has so many decimal places at most."""
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
            return False
        return abs(value - round(value, places)) < 1e-9

    def _days(self, first: str, last: str) -> int:
        return (date.fromisoformat(last) - date.fromisoformat(first)).days

    def _in_days(self, start: str, days: int) -> str:
        return (date.fromisoformat(start) + timedelta(days=days)).isoformat()

    @staticmethod
    def _age(key: str) -> tuple:
        """Order of ids that end in a number: the older the smaller."""
        return len(key), key

    def _owner(self, plan: CropPlanInfo) -> MemberInfo:
        return self.members[self.fields[plan["field_id"]]["member_id"]]

    def _grower(self, delivery: DeliveryInfo) -> MemberInfo:
        return self._owner(self.crop_plans[self.plantings[delivery["planting_id"]]["plan_id"]])

    def _fixed_ha(self, crop_id: Optional[str] = None, member_id: Optional[str] = None) -> float:
        """Hectares approved or sown in this season, of a crop or of a member."""
        return round(
            sum(
                plan["hectares"]
                for plan in self.crop_plans.values()
                if plan["season"] == self.season
                and plan["status"] in ("approved", "sown")
                and crop_id in (None, plan["crop_id"])
                and member_id in (None, self.fields[plan["field_id"]]["member_id"])
            ),
            2,
        )

    def _free_ha(self, field: FieldInfo) -> float:
        used = sum(
            plan["hectares"]
            for plan in self.crop_plans.values()
            if plan["field_id"] == field["field_id"] and plan["season"] == self.season and plan["status"] != "rejected"
        )
        return round(field["hectares"] - used, 2)

    def _kg_left(self, planting: PlantingInfo) -> int:
        """What a planting may still deliver."""
        plan = self.crop_plans[planting["plan_id"]]
        most = int(round(plan["hectares"] * self.crops[plan["crop_id"]]["max_yield_kg_per_ha"]))
        return most - sum(
            delivery["kg"]
            for delivery in self.deliveries.values()
            if delivery["planting_id"] == planting["planting_id"] and delivery["grade"] != "rejected"
        )

    def _owed(self, member_id: str) -> float:
        return round(
            sum(
                charge["amount"]
                for charge in self.charges.values()
                if charge["member_id"] == member_id and charge["payout_id"] is None
            ),
            2,
        )

    @staticmethod
    def _delivery_state(delivery: DeliveryInfo) -> str:
        if delivery["grade"] is None:
            return "ungraded"
        if delivery["grade"] == "rejected":
            return "rejected"
        return "unpaid" if delivery["payout_id"] is None else "paid"

    def _add_charge(self, member_id: str, reason: str, amount: float) -> str:
        charge_id = f"CH-{self.next_charge_number}"
        self.next_charge_number += 1
        self.charges[charge_id] = {
            "charge_id": charge_id,
            "member_id": member_id,
            "reason": reason,
            "amount": round(amount, 2),
            "charged_on": self.current_date,
            "payout_id": None,
        }
        return charge_id

    # Queries

    def search_members(
        self,
        name: Optional[str] = None,
        village: Optional[str] = None,
        standing: Optional[Literal["trial", "full", "suspended"]] = None,
    ) -> dict:
        """
        Find members; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            village (str, optional): Part of the village's name, any case.
            standing (str, optional): "trial", "full" or "suspended".

        Returns:
            dict: {"success": True, "data": [MemberInfo, ...]} sorted by member_id, or
            {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("name", name)
            or self._text_filter("village", village)
            or self._choice_filter("standing", standing, STANDINGS)
        )
        if problem:
            return self._fail(problem)
        found = [
            member
            for _, member in sorted(self.members.items())
            if self._contains(member["name"], name)
            and self._contains(member["village"], village)
            and standing in (None, member["standing"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def get_member_account(self, member_id: str) -> dict:
        """
        Show a member's record with what the member owes and what is to be paid to the member.

        Args:
            member_id (str): Member id, e.g. "MB-12".

        Returns:
            dict: {"success": True, "data": {"member": MemberInfo, "fixed_hectares": float (approved or sown this
            season), "open_charges": [ChargeInfo, ...], "owed": float, "open_bookings": int, "unpaid_deliveries": int,
            "unpaid_amount": float, "ungraded_deliveries": int}}, or {"success": False, "error": str}.
        """
        member = self._find(self.members, member_id)
        if member is None:
            return self._unknown("member_id", member_id)
        own = [row for row in self.deliveries.values() if self._grower(row)["member_id"] == member_id]
        unpaid = [row for row in own if self._delivery_state(row) == "unpaid"]
        charges = [row for row in self.charges.values() if row["member_id"] == member_id and row["payout_id"] is None]
        data = {
            "member": member,
            "fixed_hectares": self._fixed_ha(member_id=member_id),
            "open_charges": sorted(charges, key=lambda row: (row["charged_on"], self._age(row["charge_id"]))),
            "owed": self._owed(member_id),
            "open_bookings": sum(
                row["member_id"] == member_id and row["status"] == "booked" for row in self.bookings.values()
            ),
            "unpaid_deliveries": len(unpaid),
            "unpaid_amount": round(sum(row["amount"] for row in unpaid), 2),
            "ungraded_deliveries": sum(self._delivery_state(row) == "ungraded" for row in own),
        }
        return {"success": True, "data": copy.deepcopy(data)}

    def search_fields(
        self, name: Optional[str] = None, member_id: Optional[str] = None, organic: Optional[bool] = None
    ) -> dict:
        """
        Find fields; every filter that is given must match.

        Args:
            name (str, optional): Part of the field's name, any case.
            member_id (str, optional): Member id, e.g. "MB-12".
            organic (bool, optional): True for organic fields only, False for the others.

        Returns:
            dict: {"success": True, "data": [FieldInfo with "free_hectares" (not planned this season), ...]} sorted by
            field_id, or {"success": False, "error": str}.
        """
        failure = self._filters(member_id=member_id)
        if failure:
            return failure
        problem = self._text_filter("name", name) or self._flag_filter("organic", organic)
        if problem:
            return self._fail(problem)
        found = [
            {**field, "free_hectares": self._free_ha(field)}
            for _, field in sorted(self.fields.items())
            if self._contains(field["name"], name)
            and member_id in (None, field["member_id"])
            and organic in (None, field["organic"])
        ]
        return {"success": True, "data": found}

    def list_crops(self, name: Optional[str] = None) -> dict:
        """
        List the crops with their rules, and how much of their area quota is left this season.

        Args:
            name (str, optional): Part of the name, any case.

        Returns:
            dict: {"success": True, "data": [CropInfo with "quota_left_ha", ...], "today": str} sorted by crop_id, or
            {"success": False, "error": str}.
        """
        problem = self._text_filter("name", name)
        if problem:
            return self._fail(problem)
        found = [
            {**crop, "quota_left_ha": round(crop["area_quota_ha"] - self._fixed_ha(crop_id=key), 2)}
            for key, crop in sorted(self.crops.items())
            if self._contains(crop["name"], name)
        ]
        return {"success": True, "data": copy.deepcopy(found), "today": self.current_date}

    def list_crop_plans(
        self,
        member_id: Optional[str] = None,
        field_id: Optional[str] = None,
        crop_id: Optional[str] = None,
        status: Optional[Literal["proposed", "approved", "rejected", "sown"]] = None,
    ) -> dict:
        """
        List crop plans in the order in which they were proposed; every filter that is given must match.

        Args:
            member_id (str, optional): Member id, e.g. "MB-12".
            field_id (str, optional): Field id, e.g. "F-31".
            crop_id (str, optional): Crop id, e.g. "barley".
            status (str, optional): "proposed", "approved", "rejected" or "sown".

        Returns:
            dict: {"success": True, "data": [CropPlanInfo with "field", "member" and "crop" (names), ...]}, or
            {"success": False, "error": str}.
        """
        failure = self._filters(member_id=member_id, field_id=field_id, crop_id=crop_id)
        if failure:
            return failure
        problem = self._choice_filter("status", status, PLAN_STATUSES)
        if problem:
            return self._fail(problem)
        found = [
            {
                **plan,
                "field": self.fields[plan["field_id"]]["name"],
                "member": self._owner(plan)["name"],
                "crop": self.crops[plan["crop_id"]]["name"],
            }
            for plan in sorted(
                self.crop_plans.values(), key=lambda row: (row["proposed_on"], self._age(row["plan_id"]))
            )
            if member_id in (None, self._owner(plan)["member_id"])
            and field_id in (None, plan["field_id"])
            and crop_id in (None, plan["crop_id"])
            and status in (None, plan["status"])
        ]
        return {"success": True, "data": found}

    def list_seed_lots(self, crop_id: Optional[str] = None, organic: Optional[bool] = None) -> dict:
        """
        List seed lots; every filter that is given must match.

        Args:
            crop_id (str, optional): Crop id, e.g. "barley".
            organic (bool, optional): True for organic seed only, False for other seed.

        Returns:
            dict: {"success": True, "data": [SeedLotInfo, ...]} sorted by lot_id, or {"success": False, "error": str}.
        """
        failure = self._filters(crop_id=crop_id)
        if failure:
            return failure
        problem = self._flag_filter("organic", organic)
        if problem:
            return self._fail(problem)
        found = [
            lot
            for _, lot in sorted(self.seed_lots.items())
            if crop_id in (None, lot["crop_id"]) and organic in (None, lot["organic"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def list_plantings(
        self,
        member_id: Optional[str] = None,
        crop_id: Optional[str] = None,
        status: Optional[Literal["growing", "harvested", "lost"]] = None,
    ) -> dict:
        """
        List what was sown, the oldest first; every filter that is given must match.

        Args:
            member_id (str, optional): Member id, e.g. "MB-12".
            crop_id (str, optional): Crop id, e.g. "barley".
            status (str, optional): "growing", "harvested" or "lost".

        Returns:
            dict: {"success": True, "data": [PlantingInfo with "field", "member", "crop" (names), "hectares" and
            "kg_left" (that may still be delivered), ...]}, or {"success": False, "error": str}.
        """
        failure = self._filters(member_id=member_id, crop_id=crop_id)
        if failure:
            return failure
        problem = self._choice_filter("status", status, PLANTING_STATUSES)
        if problem:
            return self._fail(problem)
        found = []
        for planting in sorted(
            self.plantings.values(), key=lambda row: (row["sown_on"], self._age(row["planting_id"]))
        ):
            plan = self.crop_plans[planting["plan_id"]]
            member = self._owner(plan)
            if (
                member_id in (None, member["member_id"])
                and crop_id in (None, plan["crop_id"])
                and status in (None, planting["status"])
            ):
                found.append(
                    {
                        **planting,
                        "field": self.fields[plan["field_id"]]["name"],
                        "member": member["name"],
                        "crop": self.crops[plan["crop_id"]]["name"],
                        "hectares": plan["hectares"],
                        "kg_left": self._kg_left(planting),
                    }
                )
        return {"success": True, "data": found}

    def search_equipment(self, name: Optional[str] = None, kind: Optional[str] = None) -> dict:
        """
        Find machines; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            kind (str, optional): Part of the kind, any case, e.g. "seed drill".

        Returns:
            dict: {"success": True, "data": [EquipmentInfo, ...]} sorted by equipment_id, or
            {"success": False, "error": str}.
        """
        problem = self._text_filter("name", name) or self._text_filter("kind", kind)
        if problem:
            return self._fail(problem)
        found = [
            machine
            for _, machine in sorted(self.equipment.items())
            if self._contains(machine["name"], name) and self._contains(machine["kind"], kind)
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def list_bookings(
        self,
        equipment_id: Optional[str] = None,
        member_id: Optional[str] = None,
        status: Optional[Literal["booked", "returned", "cancelled"]] = None,
    ) -> dict:
        """
        List bookings of machines by their first day; every filter that is given must match.

        Args:
            equipment_id (str, optional): Equipment id, e.g. "EQ-4".
            member_id (str, optional): Member id, e.g. "MB-12".
            status (str, optional): "booked" (not yet returned), "returned" or "cancelled".

        Returns:
            dict: {"success": True, "data": [BookingInfo with "equipment" and "member" (names), ...], "today": str}, or
            {"success": False, "error": str}.
        """
        failure = self._filters(equipment_id=equipment_id, member_id=member_id)
        if failure:
            return failure
        problem = self._choice_filter("status", status, BOOKING_STATUSES)
        if problem:
            return self._fail(problem)
        found = [
            {
                **booking,
                "equipment": self.equipment[booking["equipment_id"]]["name"],
                "member": self.members[booking["member_id"]]["name"],
            }
            for booking in sorted(
                self.bookings.values(), key=lambda row: (row["first_day"], self._age(row["booking_id"]))
            )
            if equipment_id in (None, booking["equipment_id"])
            and member_id in (None, booking["member_id"])
            and status in (None, booking["status"])
        ]
        return {"success": True, "data": found, "today": self.current_date}

    def list_stores(self, crop_id: Optional[str] = None) -> dict:
        """
        List the stores with the room they have left.

        Args:
            crop_id (str, optional): Crop id, e.g. "barley"; only stores that take it.

        Returns:
            dict: {"success": True, "data": [StoreInfo with "free_kg", ...]} sorted by store_id, or
            {"success": False, "error": str}.
        """
        failure = self._filters(crop_id=crop_id)
        if failure:
            return failure
        found = [
            {**store, "free_kg": store["capacity_kg"] - sum(store["stock"].values())}
            for _, store in sorted(self.stores.items())
            if crop_id is None or crop_id in store["crop_ids"]
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def list_deliveries(
        self,
        member_id: Optional[str] = None,
        crop_id: Optional[str] = None,
        state: Optional[Literal["ungraded", "unpaid", "paid", "rejected"]] = None,
    ) -> dict:
        """
        List deliveries, the oldest first; every filter that is given must match.

        Args:
            member_id (str, optional): Member id, e.g. "MB-12".
            crop_id (str, optional): Crop id, e.g. "barley".
            state (str, optional): "ungraded", "unpaid" (graded, not yet paid), "paid" or "rejected".

        Returns:
            dict: {"success": True, "data": [DeliveryInfo with "member", "crop" (names) and "state", ...]}, or
            {"success": False, "error": str}.
        """
        failure = self._filters(member_id=member_id, crop_id=crop_id)
        if failure:
            return failure
        problem = self._choice_filter("state", state, DELIVERY_STATES)
        if problem:
            return self._fail(problem)
        found = []
        for delivery in sorted(
            self.deliveries.values(), key=lambda row: (row["delivered_on"], self._age(row["delivery_id"]))
        ):
            plan = self.crop_plans[self.plantings[delivery["planting_id"]]["plan_id"]]
            member = self._owner(plan)
            now = self._delivery_state(delivery)
            if member_id in (None, member["member_id"]) and crop_id in (None, plan["crop_id"]) and state in (None, now):
                names = {"member": member["name"], "crop": self.crops[plan["crop_id"]]["name"], "state": now}
                found.append({**delivery, **names})
        return {"success": True, "data": found}

    # Changes: members

    def take_share_payment(self, member_id: str, amount: float) -> dict:
        """
        Take a payment towards a member's share, which is 500.00 in all.

        Args:
            member_id (str): Member id, e.g. "MB-12".
            amount (float): Amount in whole cents, not above what is still missing.

        Returns:
            dict: {"success": True, "message": str, "share_paid": float}, or {"success": False, "error": str}.
        """
        member = self._find(self.members, member_id)
        if member is None:
            return self._unknown("member_id", member_id)
        missing = round(FULL_SHARE - member["share_paid"], 2)
        if missing <= 0:
            return self._fail(f"{member['name']} has paid the whole share.")
        if not self._is_number(amount, 0.01, missing, 2):
            return self._fail(f"amount must be in whole cents, above 0 and at most {missing:.2f}, which is missing.")
        member["share_paid"] = round(member["share_paid"] + amount, 2)
        return {
            "success": True,
            "message": f"{member['name']} has paid {member['share_paid']:.2f} of {FULL_SHARE:.2f}.",
            "share_paid": member["share_paid"],
        }

    def admit_full_member(self, member_id: str) -> dict:
        """
        Make a trial member a full member: after 365 days as a trial member, and with the whole share paid.

        Args:
            member_id (str): Member id, e.g. "MB-12".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        member = self._find(self.members, member_id)
        if member is None:
            return self._unknown("member_id", member_id)
        if member["standing"] != "trial":
            return self._fail(f"{member['name']} is not a trial member; the standing is '{member['standing']}'.")
        if self._days(member["joined_on"], self.current_date) < TRIAL_DAYS:
            return self._fail(f"{member['name']} joined on {member['joined_on']}, less than {TRIAL_DAYS} days ago.")
        if member["share_paid"] < FULL_SHARE:
            return self._fail(f"{member['name']} has paid {member['share_paid']:.2f} of {FULL_SHARE:.2f}.")
        member["standing"] = "full"
        return {"success": True, "message": f"{member['name']} is a full member."}

    # Changes: crop plans and plantings

    def propose_crop_plan(self, field_id: str, crop_id: str, hectares: float) -> dict:
        """
        Propose to grow a crop on a field, or on a part of it, in this season.

        The soil must suit the crop, the crop's family must differ from the field's last one, there must be room on the
        field beside its other plans that are not rejected, and the member must not be suspended.

        Args:
            field_id (str): Field id, e.g. "F-31".
            crop_id (str): Crop id, e.g. "barley".
            hectares (float): Area, at least 0.1, with one decimal place.

        Returns:
            dict: {"success": True, "message": str, "plan_id": str}, or {"success": False, "error": str}.
        """
        field = self._find(self.fields, field_id)
        if field is None:
            return self._unknown("field_id", field_id)
        crop = self._find(self.crops, crop_id)
        if crop is None:
            return self._unknown("crop_id", crop_id)
        member = self.members[field["member_id"]]
        if member["standing"] == "suspended":
            return self._fail(f"{member['name']} is suspended.")
        if field["soil"] not in crop["soils"]:
            return self._fail(
                f"{crop['name']} grows on {' and '.join(crop['soils'])}; {field['name']} is {field['soil']}."
            )
        if field["last_family"] == crop["family"]:
            return self._fail(f"{field['name']} bore {crop['family']} last; {crop['name']} is of the same family.")
        left = self._free_ha(field)
        if not self._is_number(hectares, 0.1, LARGEST, 1):
            return self._fail("hectares must be a number from 0.1 on, with one decimal place.")
        if hectares > left:
            return self._fail(f"{field['name']} has {left:.1f} hectares left this season.")
        plan_id = f"PLAN-{self.next_plan_number}"
        self.next_plan_number += 1
        self.crop_plans[plan_id] = {
            "plan_id": plan_id,
            "field_id": field_id,
            "crop_id": crop_id,
            "season": self.season,
            "hectares": hectares,
            "proposed_on": self.current_date,
            "status": "proposed",
            "note": "",
        }
        return {
            "success": True,
            "message": f"Proposed {plan_id}: {hectares} hectares of {crop['name']} on {field['name']}.",
            "plan_id": plan_id,
        }

    def decide_crop_plan(self, plan_id: str, decision: Literal["approved", "rejected"], note: str = "") -> dict:
        """
        Approve or reject a proposed crop plan.

        An approval needs room in the crop's area quota; a trial member may have 5 hectares approved or sown in all, and
        a suspended one gets no approval. A rejection needs a note.

        Args:
            plan_id (str): Plan id, e.g. "PLAN-80".
            decision (str): "approved" or "rejected".
            note (str, optional): Why it is rejected; for rejections only.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        plan = self._find(self.crop_plans, plan_id)
        if plan is None:
            return self._unknown("plan_id", plan_id)
        if not isinstance(decision, str) or decision not in ("approved", "rejected"):
            return self._fail("decision must be one of: approved, rejected.")
        if not isinstance(note, str):
            return self._fail("note must be a string.")
        if plan["status"] != "proposed" or plan["season"] != self.season:
            return self._fail(f"{plan_id} is not open for a decision; its status is '{plan['status']}'.")
        if decision == "rejected":
            if not note.strip():
                return self._fail("A rejection needs a note.")
            plan["status"] = "rejected"
            plan["note"] = note.strip()
            return {"success": True, "message": f"Rejected {plan_id}."}
        if note.strip():
            return self._fail("Only a rejection has a note; leave it out.")
        member = self._owner(plan)
        if member["standing"] == "suspended":
            return self._fail(f"{member['name']} is suspended.")
        crop = self.crops[plan["crop_id"]]
        left = round(crop["area_quota_ha"] - self._fixed_ha(crop_id=plan["crop_id"]), 2)
        if plan["hectares"] > left:
            return self._fail(f"The quota of {crop['name']} has {left:.1f} hectares left; {plan_id} needs more.")
        held = self._fixed_ha(member_id=member["member_id"])
        if member["standing"] == "trial" and held + plan["hectares"] > TRIAL_HECTARES:
            return self._fail(
                f"{member['name']} is a trial member and has {held:.1f} of {TRIAL_HECTARES:.1f} hectares."
            )
        plan["status"] = "approved"
        return {"success": True, "message": f"Approved {plan_id}; {left - plan['hectares']:.1f} hectares are left."}

    def sow_plan(self, plan_id: str, lot_id: str) -> dict:
        """
        Record that an approved plan was sown today, take the seed from a lot and charge it to the member.

        Today must lie within the crop's sowing window. The lot must be of that crop, hold enough for all hectares, and
        be organic for an organic field.

        Args:
            plan_id (str): Plan id, e.g. "PLAN-80".
            lot_id (str): Seed lot id, e.g. "LOT-7".

        Returns:
            dict: {"success": True, "message": str, "planting_id": str, "harvest_from": str, "seed_kg", "charged":
            float}, or {"success": False, "error": str}.
        """
        plan = self._find(self.crop_plans, plan_id)
        if plan is None:
            return self._unknown("plan_id", plan_id)
        lot = self._find(self.seed_lots, lot_id)
        if lot is None:
            return self._unknown("lot_id", lot_id)
        if plan["status"] != "approved" or plan["season"] != self.season:
            return self._fail(f"{plan_id} is not an approved plan of this season; its status is '{plan['status']}'.")
        crop = self.crops[plan["crop_id"]]
        if not crop["sow_from"] <= self.current_date[5:] <= crop["sow_until"]:
            return self._fail(f"{crop['name']} is sown from {crop['sow_from']} to {crop['sow_until']} only.")
        if lot["crop_id"] != plan["crop_id"]:
            return self._fail(f"Lot {lot_id} holds no seed of {crop['name']}.")
        field = self.fields[plan["field_id"]]
        if field["organic"] and not lot["organic"]:
            return self._fail(f"{field['name']} is organic and takes organic seed only.")
        needed = round(plan["hectares"] * crop["seed_kg_per_ha"], 1)
        if needed > lot["kg_left"]:
            return self._fail(f"Lot {lot_id} has {lot['kg_left']:.1f} kg left; {needed:.1f} kg are needed.")
        planting_id = f"PT-{self.next_planting_number}"
        self.next_planting_number += 1
        harvest_from = self._in_days(self.current_date, crop["days_to_harvest"])
        cost = round(needed * lot["price_per_kg"], 2)
        self.plantings[planting_id] = {
            "planting_id": planting_id,
            "plan_id": plan_id,
            "lot_id": lot_id,
            "sown_on": self.current_date,
            "harvest_from": harvest_from,
            "status": "growing",
        }
        lot["kg_left"] = round(lot["kg_left"] - needed, 1)
        plan["status"] = "sown"
        self._add_charge(field["member_id"], "seed", cost)
        return {
            "success": True,
            "message": f"Sown {planting_id} with {needed:.1f} kg; ripe from {harvest_from}; charged {cost:.2f}.",
            "planting_id": planting_id,
            "harvest_from": harvest_from,
            "seed_kg": needed,
            "charged": cost,
        }

    def finish_planting(self, planting_id: str, outcome: Literal["harvested", "lost"]) -> dict:
        """
        Close a growing planting: harvested after its deliveries, or lost if nothing could be delivered.

        The field then bears the mark of the crop's family if it was harvested. The hectares of a lost planting are free
        for another plan of the season: its plan becomes "rejected" with the note "lost".

        Args:
            planting_id (str): Planting id, e.g. "PT-61".
            outcome (str): "harvested" or "lost".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        planting = self._find(self.plantings, planting_id)
        if planting is None:
            return self._unknown("planting_id", planting_id)
        if not isinstance(outcome, str) or outcome not in ("harvested", "lost"):
            return self._fail("outcome must be one of: harvested, lost.")
        if planting["status"] != "growing":
            return self._fail(f"{planting_id} is not growing; its status is '{planting['status']}'.")
        delivered = any(
            row["planting_id"] == planting_id and row["grade"] != "rejected" for row in self.deliveries.values()
        )
        if delivered != (outcome == "harvested"):
            said = "has deliveries and is harvested" if delivered else "has no deliveries and is not harvested"
            return self._fail(f"{planting_id} {said}.")
        plan = self.crop_plans[planting["plan_id"]]
        planting["status"] = outcome
        if outcome == "harvested":
            self.fields[plan["field_id"]]["last_family"] = self.crops[plan["crop_id"]]["family"]
        else:
            plan["status"] = "rejected"
            plan["note"] = "lost"
        return {"success": True, "message": f"{planting_id} is {outcome}."}

    # Changes: machines

    def book_equipment(self, equipment_id: str, member_id: str, first_day: str, last_day: str) -> dict:
        """
        Book a machine for a member, for at most 3 days in a row.

        The machine must be free and not in repair on these days. The member must not be suspended, must have the
        licence that the machine needs, at most 2 bookings that are not yet returned, and owe at most 400.00.

        Args:
            equipment_id (str): Equipment id, e.g. "EQ-4".
            member_id (str): Member id, e.g. "MB-12".
            first_day (str): Date YYYY-MM-DD, today or later.
            last_day (str): Date YYYY-MM-DD, included.

        Returns:
            dict: {"success": True, "message": str, "booking_id": str, "fee": float (charged on return)}, or
            {"success": False, "error": str}.
        """
        machine = self._find(self.equipment, equipment_id)
        if machine is None:
            return self._unknown("equipment_id", equipment_id)
        member = self._find(self.members, member_id)
        if member is None:
            return self._unknown("member_id", member_id)
        if not self._is_date(first_day) or not self._is_date(last_day):
            return self._fail("first_day and last_day must be dates in the form YYYY-MM-DD.")
        days = self._days(first_day, last_day) + 1
        if first_day < self.current_date or not 1 <= days <= BOOKING_DAYS:
            return self._fail(f"A booking begins today or later and lasts 1 to {BOOKING_DAYS} days.")
        if member["standing"] == "suspended":
            return self._fail(f"{member['name']} is suspended.")
        if machine["licence"] is not None and machine["licence"] not in member["licences"]:
            return self._fail(
                f"{machine['name']} needs the licence '{machine['licence']}', which {member['name']} lacks."
            )
        held = [row for row in self.bookings.values() if row["member_id"] == member_id and row["status"] == "booked"]
        if len(held) >= BOOKING_LIMIT:
            return self._fail(f"{member['name']} already has {len(held)} bookings that are not yet returned.")
        owed = self._owed(member_id)
        if owed > CREDIT_LIMIT:
            return self._fail(f"{member['name']} owes {owed:.2f}, more than {CREDIT_LIMIT:.2f}.")
        if machine["in_repair_until"] is not None and first_day <= machine["in_repair_until"]:
            return self._fail(f"{machine['name']} is in repair until {machine['in_repair_until']}.")
        for booking in self.bookings.values():
            if (
                booking["equipment_id"] == equipment_id
                and booking["status"] == "booked"
                and booking["first_day"] <= last_day
                # A machine that is late is still out today.
                and first_day <= max(booking["last_day"], self.current_date)
            ):
                taken = f"{booking['first_day']} to {booking['last_day']}"
                return self._fail(f"{machine['name']} is booked from {taken} ({booking['booking_id']}).")
        booking_id = f"BK-{self.next_booking_number}"
        self.next_booking_number += 1
        self.bookings[booking_id] = {
            "booking_id": booking_id,
            "equipment_id": equipment_id,
            "member_id": member_id,
            "first_day": first_day,
            "last_day": last_day,
            "status": "booked",
        }
        fee = round(days * machine["daily_fee"], 2)
        return {
            "success": True,
            "message": f"Booked {machine['name']} for {member['name']} from {first_day} to {last_day}.",
            "booking_id": booking_id,
            "fee": fee,
        }

    def cancel_booking(self, booking_id: str) -> dict:
        """
        Cancel a booking; less than 2 days before its first day that costs the member half the fee.

        Args:
            booking_id (str): Booking id, e.g. "BK-33"; it must not have begun.

        Returns:
            dict: {"success": True, "message": str, "charged": float}, or {"success": False, "error": str}.
        """
        booking = self._find(self.bookings, booking_id)
        if booking is None:
            return self._unknown("booking_id", booking_id)
        if booking["status"] != "booked" or booking["first_day"] <= self.current_date:
            return self._fail(f"{booking_id} has begun or is {booking['status']}.")
        booking["status"] = "cancelled"
        cost = 0.0
        if self._days(self.current_date, booking["first_day"]) < NOTICE_DAYS:
            days = self._days(booking["first_day"], booking["last_day"]) + 1
            cost = round(days * self.equipment[booking["equipment_id"]]["daily_fee"] / 2, 2)
            self._add_charge(booking["member_id"], "late cancellation", cost)
        return {"success": True, "message": f"Cancelled {booking_id}; charged {cost:.2f}.", "charged": cost}

    def return_equipment(self, booking_id: str, damaged: bool = False) -> dict:
        """
        Take a machine back today and charge its use: the fee of all booked days, and twice the daily fee for each day
        after the last one.

        A damaged machine is in repair for 7 days from today on; bookings of others in that time stay as they are.

        Args:
            booking_id (str): Booking id, e.g. "BK-33"; its first day must have come.
            damaged (bool, optional): Whether the machine came back damaged.

        Returns:
            dict: {"success": True, "message": str, "charged": float, "in_repair_until": str or None}, or
            {"success": False, "error": str}.
        """
        booking = self._find(self.bookings, booking_id)
        if booking is None:
            return self._unknown("booking_id", booking_id)
        if not isinstance(damaged, bool):
            return self._fail("damaged must be true or false.")
        if booking["status"] != "booked" or booking["first_day"] > self.current_date:
            return self._fail(f"{booking_id} has not begun or is {booking['status']}.")
        machine = self.equipment[booking["equipment_id"]]
        days = self._days(booking["first_day"], booking["last_day"]) + 1
        late = max(0, self._days(booking["last_day"], self.current_date))
        cost = round((days + 2 * late) * machine["daily_fee"], 2)
        booking["status"] = "returned"
        if damaged:
            machine["in_repair_until"] = self._in_days(self.current_date, REPAIR_DAYS)
        self._add_charge(booking["member_id"], "equipment", cost)
        return {
            "success": True,
            "message": f"{machine['name']} is back ({late} days late); charged {cost:.2f}.",
            "charged": cost,
            "in_repair_until": machine["in_repair_until"],
        }

    # Changes: deliveries and payouts

    def record_delivery(self, planting_id: str, store_id: str, kg: int, moisture: float, impurities: float) -> dict:
        """
        Take in a part of the harvest at a store, with the readings of the sample; it is graded afterwards.

        The planting must be growing and ripe, may not deliver more than the largest yield of its hectares, and the
        store must take the crop and have room for all of it.

        Args:
            planting_id (str): Planting id, e.g. "PT-61".
            store_id (str): Store id, e.g. "ST-2".
            kg (int): Weight in whole kilograms.
            moisture (float): Percent, one decimal place.
            impurities (float): Percent, one decimal place.

        Returns:
            dict: {"success": True, "message": str, "delivery_id": str}, or {"success": False, "error": str}.
        """
        planting = self._find(self.plantings, planting_id)
        if planting is None:
            return self._unknown("planting_id", planting_id)
        store = self._find(self.stores, store_id)
        if store is None:
            return self._unknown("store_id", store_id)
        if not isinstance(kg, int) or not self._is_number(kg, 1, LARGEST, 0):
            return self._fail(f"kg must be a whole number from 1 to {LARGEST}.")
        if not self._is_number(moisture, 0, 100, 1) or not self._is_number(impurities, 0, 100, 1):
            return self._fail("moisture and impurities must be percentages with one decimal place.")
        if planting["status"] != "growing":
            return self._fail(f"{planting_id} is not growing; its status is '{planting['status']}'.")
        if self.current_date < planting["harvest_from"]:
            return self._fail(f"{planting_id} is ripe from {planting['harvest_from']} on.")
        crop_id = self.crop_plans[planting["plan_id"]]["crop_id"]
        if crop_id not in store["crop_ids"]:
            return self._fail(f"{store['name']} does not take {self.crops[crop_id]['name']}.")
        if kg > self._kg_left(planting):
            return self._fail(f"{planting_id} may still deliver {self._kg_left(planting)} kg, not {kg}.")
        room = store["capacity_kg"] - sum(store["stock"].values())
        if kg > room:
            return self._fail(f"{store['name']} has room for {room} kg.")
        delivery_id = f"DV-{self.next_delivery_number}"
        self.next_delivery_number += 1
        self.deliveries[delivery_id] = {
            "delivery_id": delivery_id,
            "planting_id": planting_id,
            "store_id": store_id,
            "kg": kg,
            "moisture": moisture,
            "impurities": impurities,
            "delivered_on": self.current_date,
            "grade": None,
            "amount": 0.0,
            "payout_id": None,
        }
        store["stock"][crop_id] = store["stock"].get(crop_id, 0) + kg
        return {"success": True, "message": f"Took in {delivery_id} at {store['name']}.", "delivery_id": delivery_id}

    def grade_delivery(self, delivery_id: str, visible_damage: bool = False) -> dict:
        """
        Grade a delivery by its readings and say what it earns.

        A: at most the crop's moisture limit and 2 % impurities; B: at most 2 points more moisture and 5 % impurities;
        otherwise C. Visible damage costs one grade. More than 5 points above the moisture limit: rejected, and the
        goods leave the store. A earns the base price, B 85 % and C 60 % of it; an organic field 25 % more.

        Args:
            delivery_id (str): Delivery id, e.g. "DV-90".
            visible_damage (bool, optional): Whether the goods are visibly damaged.

        Returns:
            dict: {"success": True, "message": str, "grade": str, "amount": float}, or
            {"success": False, "error": str}.
        """
        delivery = self._find(self.deliveries, delivery_id)
        if delivery is None:
            return self._unknown("delivery_id", delivery_id)
        if not isinstance(visible_damage, bool):
            return self._fail("visible_damage must be true or false.")
        if delivery["grade"] is not None:
            return self._fail(f"{delivery_id} has the grade '{delivery['grade']}'.")
        plan = self.crop_plans[self.plantings[delivery["planting_id"]]["plan_id"]]
        crop = self.crops[plan["crop_id"]]
        above = round(delivery["moisture"] - crop["max_moisture"], 1)
        if above > REJECT_MOISTURE:
            store = self.stores[delivery["store_id"]]
            store["stock"][plan["crop_id"]] -= delivery["kg"]
            delivery["grade"] = "rejected"
            return {"success": True, "message": f"{delivery_id} is rejected.", "grade": "rejected", "amount": 0.0}
        grade = next(
            (
                name
                for name in ("A", "B")
                if above <= GRADE_MOISTURE[name] and delivery["impurities"] <= GRADE_IMPURITIES[name]
            ),
            "C",
        )
        if visible_damage and grade != "C":
            grade = GRADES[GRADES.index(grade) + 1]
        price = crop["base_price"] * GRADE_PRICE[grade]
        if self.fields[plan["field_id"]]["organic"]:
            price *= ORGANIC_PRICE
        delivery["grade"] = grade
        delivery["amount"] = round(delivery["kg"] * price, 2)
        return {
            "success": True,
            "message": f"{delivery_id} has grade {grade} and earns {delivery['amount']:.2f}.",
            "grade": grade,
            "amount": delivery["amount"],
        }

    def pay_member(self, member_id: str) -> dict:
        """
        Pay a member for all graded deliveries that are not yet paid. Every delivery of the member must be graded.

        3 % of the gross go to the reserve fund. Open charges are taken off whole, the oldest first, until the next one
        would bring the deductions above half of the gross; the rest stays open. A suspended member is not paid.

        Args:
            member_id (str): Member id, e.g. "MB-12".

        Returns:
            dict: {"success": True, "message": str, "payout_id": str, "gross", "reserve", "deducted", "net": float}, or
            {"success": False, "error": str}.
        """
        member = self._find(self.members, member_id)
        if member is None:
            return self._unknown("member_id", member_id)
        if member["standing"] == "suspended":
            return self._fail(f"{member['name']} is suspended and is not paid.")
        own = [row for row in self.deliveries.values() if self._grower(row)["member_id"] == member_id]
        ungraded = sorted(row["delivery_id"] for row in own if self._delivery_state(row) == "ungraded")
        if ungraded:
            return self._fail(f"These deliveries of {member['name']} are not graded yet: {', '.join(ungraded)}.")
        unpaid = [row for row in own if self._delivery_state(row) == "unpaid"]
        if not unpaid:
            return self._fail(f"There is nothing to pay to {member['name']}.")
        payout_id = f"PO-{self.next_payout_number}"
        self.next_payout_number += 1
        gross = round(sum(row["amount"] for row in unpaid), 2)
        reserve = round(gross * RESERVE_SHARE, 2)
        deducted = 0.0
        charges = [row for row in self.charges.values() if row["member_id"] == member_id and row["payout_id"] is None]
        for charge in sorted(charges, key=lambda row: (row["charged_on"], self._age(row["charge_id"]))):
            if round(deducted + charge["amount"], 2) > round(gross / 2, 2):
                break
            deducted = round(deducted + charge["amount"], 2)
            charge["payout_id"] = payout_id
        for delivery in unpaid:
            delivery["payout_id"] = payout_id
        net = round(gross - reserve - deducted, 2)
        self.payouts[payout_id] = {
            "payout_id": payout_id,
            "member_id": member_id,
            "gross": gross,
            "reserve": reserve,
            "deducted": deducted,
            "net": net,
            "paid_on": self.current_date,
        }
        self.reserve_fund = round(self.reserve_fund + reserve, 2)
        return {
            "success": True,
            "message": f"Paid {net:.2f} to {member['name']}: {gross:.2f} less {reserve:.2f} and {deducted:.2f}.",
            "payout_id": payout_id,
            "gross": gross,
            "reserve": reserve,
            "deducted": deducted,
            "net": net,
        }
