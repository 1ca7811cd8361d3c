"""The front desk of one hotel: rooms, guests, reservations, folios and housekeeping."""

import copy
import math
import re
from datetime import date, timedelta
from typing import Dict, List, Literal, Optional, TypedDict


class RoomTypeInfo(TypedDict):
    room_type_id: str  # short code, e.g. "SUP"
    name: str
    bed_configuration: str
    base_rate: float  # EUR per night at the flexible rate
    max_occupancy: int  # adults and children together


class RoomInfo(TypedDict):
    room_number: str  # e.g. "204"
    room_type_id: str
    floor: int
    features: List[str]  # e.g. ["harbour view", "balcony"]
    housekeeping_status: str  # "clean", "dirty" or "out_of_order"


class GuestInfo(TypedDict):
    guest_id: str
    full_name: str
    email: str  # unique among the guests
    phone: str
    loyalty_tier: str  # "standard", "silver" or "gold"
    id_document: Optional[str]  # kind and number of the identity document seen at the desk; None = not yet seen


class ReservationInfo(TypedDict):
    reservation_id: str
    guest_id: str
    room_type_id: str  # the type booked (after a move: the type occupied)
    room_number: Optional[str]  # None until a room is assigned
    arrival_date: str  # YYYY-MM-DD
    departure_date: str  # YYYY-MM-DD, the morning of departure
    adults: int
    children: int
    rate_plan: str  # "flexible" or "non_refundable"
    nightly_rate: float  # EUR
    deposit_required: float  # EUR that must be on the folio before check-in
    status: str  # "confirmed", "checked_in", "checked_out", "cancelled" or "no_show"
    special_requests: str
    checked_in_on: Optional[str]
    checked_out_on: Optional[str]
    cancellation_reason: Optional[str]


class FolioEntry(TypedDict):
    entry_id: str
    reservation_id: str
    kind: str  # "charge", "payment" or "refund"
    category: str  # charge: what for; payment: "deposit" or "settlement"; refund: "refund"
    amount: float  # EUR, always positive
    description: str
    method: Optional[str]  # "card", "cash" or "bank_transfer"; None for charges
    posted_on: str  # YYYY-MM-DD
    voided: bool  # a voided charge no longer counts in the balance


class HousekeepingTaskInfo(TypedDict):
    task_id: str
    room_number: str
    task_type: str  # "cleaning", "maintenance" or "amenity"
    note: str
    priority: str  # "normal" or "high"
    status: str  # "open" or "done"
    created_on: str  # YYYY-MM-DD
    completed_on: Optional[str]


class HotelFrontDesk:
    """State and tools of the front desk. Every tool returns a dict with "success"."""

    _MAX_NIGHTS = 30
    _HORIZON_DAYS = 365
    _NON_REFUNDABLE_FACTOR = 0.85
    _FREE_CANCELLATION_DAYS = {"standard": 3, "silver": 2, "gold": 1}
    _HOUSEKEEPING_STATUSES = ("clean", "dirty", "out_of_order")
    _RESERVATION_STATUSES = ("confirmed", "checked_in", "checked_out", "cancelled", "no_show")
    _EXTRA_CATEGORIES = ("minibar", "restaurant", "laundry", "parking", "spa", "other")
    _PAYMENT_METHODS = ("card", "cash", "bank_transfer")
    _TASK_TYPES = ("cleaning", "maintenance", "amenity")

    def __init__(self, init_config: dict):
        """Set every state attribute from the initial configuration."""
        self.current_date: str = init_config.get("current_date", "2026-01-01")
        self.room_types: Dict[str, RoomTypeInfo] = init_config.get("room_types", {})
        self.rooms: Dict[str, RoomInfo] = init_config.get("rooms", {})
        self.guests: Dict[str, GuestInfo] = init_config.get("guests", {})
        self.reservations: Dict[str, ReservationInfo] = init_config.get("reservations", {})
        self.folio_entries: Dict[str, FolioEntry] = init_config.get("folio_entries", {})
        self.housekeeping_tasks: Dict[str, HousekeepingTaskInfo] = init_config.get("housekeeping_tasks", {})
        self.next_guest_number: int = init_config.get("next_guest_number", 1)
        self.next_reservation_number: int = init_config.get("next_reservation_number", 1)
        self.next_entry_number: int = init_config.get("next_entry_number", 1)
        self.next_task_number: int = init_config.get("next_task_number", 1)

    # ------------------------------------------------------------------ helpers

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    @staticmethod
    def _unknown(what: str, value) -> dict:
        shown = repr(value) if isinstance(value, str) else "with an id that is not a string"
        return {"success": False, "error": f"There is no {what} {shown}."}

    @staticmethod
    def _is_text(value) -> bool:
        return isinstance(value, str) and value.strip() != ""

    @staticmethod
    def _is_int(value) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    @staticmethod
    def _parse_date(value) -> Optional[date]:
        if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            return None
        try:
            return date.fromisoformat(value)
        except ValueError:
            return None

    @staticmethod
    def _parse_amount(value) -> Optional[float]:
        """A positive amount of at most 100000, rounded to cents; None when it is not one."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        if isinstance(value, float) and not math.isfinite(value):
            return None
        if not 0 < value <= 100000:
            return None
        amount = round(float(value), 2)
        return amount if amount > 0 else None

    @staticmethod
    def _name_matches(wanted: str, text: str) -> bool:
        return all(word in text.lower() for word in wanted.lower().split())

    def _today(self) -> date:
        return date.fromisoformat(self.current_date)

    @staticmethod
    def _nights(arrival: str, departure: str) -> int:
        return (date.fromisoformat(departure) - date.fromisoformat(arrival)).days

    def _find_reservation(self, reservation_id) -> Optional[ReservationInfo]:
        return self.reservations.get(reservation_id) if isinstance(reservation_id, str) else None

    def _find_room(self, room_number) -> Optional[RoomInfo]:
        return self.rooms.get(room_number) if isinstance(room_number, str) else None

    def _stay_total(self, reservation: ReservationInfo) -> float:
        nights = self._nights(reservation["arrival_date"], reservation["departure_date"])
        return round(nights * reservation["nightly_rate"], 2)

    def _sum_entries(self, reservation_id: str, kind: str) -> float:
        return round(
            sum(
                entry["amount"]
                for entry in self.folio_entries.values()
                if entry["reservation_id"] == reservation_id and entry["kind"] == kind and not entry["voided"]
            ),
            2,
        )

    def _paid(self, reservation_id: str) -> float:
        return round(self._sum_entries(reservation_id, "payment") - self._sum_entries(reservation_id, "refund"), 2)

    def _balance(self, reservation_id: str) -> float:
        return round(self._sum_entries(reservation_id, "charge") - self._paid(reservation_id), 2)

    def _occupant(self, room_number: str) -> Optional[str]:
        """The reservation that occupies the room now."""
        for reservation_id, reservation in self.reservations.items():
            if reservation["status"] == "checked_in" and reservation["room_number"] == room_number:
                return reservation_id
        return None

    def _holder(self, room_number: str, arrival: str, departure: str, ignore: Optional[str] = None) -> Optional[str]:
        """A confirmed or checked-in reservation that holds the room on some night of the period."""
        for reservation_id, reservation in self.reservations.items():
            if reservation_id == ignore or reservation["room_number"] != room_number:
                continue
            if reservation["status"] not in ("confirmed", "checked_in"):
                continue
            if reservation["arrival_date"] < departure and arrival < reservation["departure_date"]:
                return reservation_id
        return None

    def _rooms_left(self, room_type_id: str, arrival: str, departure: str, ignore: Optional[str] = None) -> int:
        """Rooms of the type that can still be sold on every night of the period (may be negative)."""
        sellable = sum(
            1
            for room in self.rooms.values()
            if room["room_type_id"] == room_type_id and room["housekeeping_status"] != "out_of_order"
        )
        stays = [
            reservation
            for reservation_id, reservation in self.reservations.items()
            if reservation_id != ignore
            and reservation["room_type_id"] == room_type_id
            and reservation["status"] in ("confirmed", "checked_in")
        ]
        left = sellable
        night = date.fromisoformat(arrival)
        last = date.fromisoformat(departure)
        while night < last:
            day = night.isoformat()
            taken = sum(1 for stay in stays if stay["arrival_date"] <= day < stay["departure_date"])
            left = min(left, sellable - taken)
            night += timedelta(days=1)
        return left

    def _contact_problem(self, email, phone, id_document, guest_id: Optional[str] = None) -> Optional[str]:
        """Why the contact values cannot be stored, or None; with a guest_id, values of None mean "unchanged"."""
        if email is not None or guest_id is None:
            if not isinstance(email, str) or not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", email.strip()):
                return "email must be an address such as name@example.com."
            for other in self.guests.values():
                if other["guest_id"] != guest_id and other["email"].lower() == email.strip().lower():
                    return f"The address {email.strip()} already belongs to guest {other['guest_id']}."
        if phone is not None or guest_id is None:
            if not isinstance(phone, str) or len(re.findall(r"[0-9]", phone)) < 5:
                return "phone must be a string with at least 5 digits."
        if id_document is not None and not self._is_text(id_document):
            return "id_document must be a non-empty string."
        return None

    def _period_problem(self, arrival_date, departure_date) -> Optional[str]:
        """Why the two dates are no bookable period, or None."""
        arrival = self._parse_date(arrival_date)
        departure = self._parse_date(departure_date)
        if arrival is None or departure is None:
            return "Dates must be real calendar dates written as YYYY-MM-DD."
        if arrival < self._today():
            return f"The arrival date {arrival_date} lies before today, {self.current_date}."
        if departure <= arrival:
            return "The departure date must be after the arrival date."
        if (departure - arrival).days > self._MAX_NIGHTS:
            return f"A stay may last at most {self._MAX_NIGHTS} nights."
        if (arrival - self._today()).days > self._HORIZON_DAYS:
            return f"Arrivals are taken at most {self._HORIZON_DAYS} days ahead."
        return None

    def _rate(self, room_type: RoomTypeInfo, rate_plan: str) -> float:
        factor = self._NON_REFUNDABLE_FACTOR if rate_plan == "non_refundable" else 1.0
        return round(room_type["base_rate"] * factor, 2)

    def _cancellation_fee(self, reservation: ReservationInfo) -> float:
        if reservation["rate_plan"] == "non_refundable":
            return self._stay_total(reservation)
        tier = self.guests[reservation["guest_id"]]["loyalty_tier"]
        days_ahead = (date.fromisoformat(reservation["arrival_date"]) - self._today()).days
        if days_ahead >= self._FREE_CANCELLATION_DAYS.get(tier, 3):
            return 0.0
        return reservation["nightly_rate"]

    def _reservation_view(self, reservation: ReservationInfo) -> dict:
        view = copy.deepcopy(dict(reservation))
        view["guest_name"] = self.guests[reservation["guest_id"]]["full_name"]
        view["room_type_name"] = self.room_types[reservation["room_type_id"]]["name"]
        return view

    def _room_view(self, room: RoomInfo) -> dict:
        view = copy.deepcopy(dict(room))
        occupant = self._occupant(room["room_number"])
        view["occupancy"] = "occupied" if occupant else "vacant"
        view["occupied_by_reservation"] = occupant
        view["upcoming_reservations"] = sorted(
            reservation_id
            for reservation_id, reservation in self.reservations.items()
            if reservation["status"] == "confirmed" and reservation["room_number"] == room["room_number"]
        )
        return view

    def _post(
        self,
        reservation_id: str,
        kind: str,
        category: str,
        amount: float,
        description: str,
        method: Optional[str] = None,
    ) -> str:
        while f"F-{self.next_entry_number}" in self.folio_entries:
            self.next_entry_number += 1
        entry_id = f"F-{self.next_entry_number}"
        self.next_entry_number += 1
        self.folio_entries[entry_id] = {
            "entry_id": entry_id,
            "reservation_id": reservation_id,
            "kind": kind,
            "category": category,
            "amount": round(amount, 2),
            "description": description,
            "method": method,
            "posted_on": self.current_date,
            "voided": False,
        }
        return entry_id

    def _refund(self, reservation_id: str, amount: float, description: str) -> str:
        methods = [
            entry["method"]
            for entry in self.folio_entries.values()
            if entry["reservation_id"] == reservation_id and entry["kind"] == "payment"
        ]
        return self._post(reservation_id, "refund", "refund", amount, description, methods[-1] if methods else None)

    def _open_task(self, room_number: str, task_type: str, note: str, priority: str) -> str:
        while f"HK-{self.next_task_number}" in self.housekeeping_tasks:
            self.next_task_number += 1
        task_id = f"HK-{self.next_task_number}"
        self.next_task_number += 1
        self.housekeeping_tasks[task_id] = {
            "task_id": task_id,
            "room_number": room_number,
            "task_type": task_type,
            "note": note,
            "priority": priority,
            "status": "open",
            "created_on": self.current_date,
            "completed_on": None,
        }
        return task_id

    def _has_open_task(self, room_number: str, task_type: str) -> bool:
        return any(
            task["room_number"] == room_number and task["task_type"] == task_type and task["status"] == "open"
            for task in self.housekeeping_tasks.values()
        )

    def _leave_dirty(self, room_number: str, note: str) -> None:
        """Mark a room that was just left as dirty and see to it that a cleaning task is open for it."""
        self.rooms[room_number]["housekeeping_status"] = "dirty"
        if not self._has_open_task(room_number, "cleaning"):
            self._open_task(room_number, "cleaning", note, "normal")

    # ------------------------------------------------------------------ queries

    def search_guests(
        self,
        name: Optional[str] = None,
        email: Optional[str] = None,
        loyalty_tier: Optional[Literal["standard", "silver", "gold"]] = None,
    ) -> dict:
        """Find guest profiles; all given filters must match, without filters every guest is listed.

        Args:
            name: Full name or part of it, upper and lower case alike.
            email: The exact e-mail address, upper and lower case alike.
            loyalty_tier: "standard", "silver" or "gold".

        Returns:
            success and data: a list of guest profiles (guest_id, full_name, email, phone, loyalty_tier, id_document).
        """
        for label, value in (("name", name), ("email", email), ("loyalty_tier", loyalty_tier)):
            if value is not None and not isinstance(value, str):
                return self._fail(f"{label} must be a string.")
        if loyalty_tier is not None and loyalty_tier not in self._FREE_CANCELLATION_DAYS:
            return self._fail('loyalty_tier must be "standard", "silver" or "gold".')
        found = []
        for guest in self.guests.values():
            if name is not None and not self._name_matches(name, guest["full_name"]):
                continue
            if email is not None and guest["email"].lower() != email.strip().lower():
                continue
            if loyalty_tier is not None and guest["loyalty_tier"] != loyalty_tier:
                continue
            found.append(copy.deepcopy(guest))
        return {"success": True, "data": found}

    def list_room_types(self) -> dict:
        """List the room types of the hotel, cheapest first, with both nightly rates and the number of rooms.

        Returns:
            success and data: a list of room types (room_type_id, name, bed_configuration, max_occupancy, base_rate,
            non_refundable_rate, number_of_rooms).
        """
        types = []
        for room_type in sorted(self.room_types.values(), key=lambda item: (item["base_rate"], item["room_type_id"])):
            view = copy.deepcopy(dict(room_type))
            view["non_refundable_rate"] = self._rate(room_type, "non_refundable")
            view["number_of_rooms"] = sum(
                1 for room in self.rooms.values() if room["room_type_id"] == room_type["room_type_id"]
            )
            types.append(view)
        return {"success": True, "data": types}

    def search_rooms(
        self,
        room_number: Optional[str] = None,
        room_type_id: Optional[str] = None,
        housekeeping_status: Optional[Literal["clean", "dirty", "out_of_order"]] = None,
        occupancy: Optional[Literal["vacant", "occupied"]] = None,
        feature: Optional[str] = None,
        floor: Optional[int] = None,
    ) -> dict:
        """Find rooms by their state right now; all given filters must match.

        Args:
            room_number: Exact room number, e.g. "204".
            room_type_id: Code of a room type, e.g. "SUP".
            housekeeping_status: "clean", "dirty" or "out_of_order".
            occupancy: "occupied" when a checked-in guest is in the room, otherwise "vacant".
            feature: A word or phrase among the room's features, e.g. "balcony".
            floor: Floor number.

        Returns:
            success and data: a list of rooms in order of room number, with their occupant and the confirmed
            reservations they are assigned to.
        """
        for label, value in (("room_number", room_number), ("room_type_id", room_type_id), ("feature", feature)):
            if value is not None and not isinstance(value, str):
                return self._fail(f"{label} must be a string.")
        if room_type_id is not None and room_type_id not in self.room_types:
            return self._unknown("room type", room_type_id)
        if housekeeping_status is not None and housekeeping_status not in self._HOUSEKEEPING_STATUSES:
            return self._fail('housekeeping_status must be "clean", "dirty" or "out_of_order".')
        if occupancy is not None and occupancy not in ("vacant", "occupied"):
            return self._fail('occupancy must be "vacant" or "occupied".')
        if floor is not None and not self._is_int(floor):
            return self._fail("floor must be an integer.")
        found = []
        for room in sorted(self.rooms.values(), key=lambda item: item["room_number"]):
            if room_number is not None and room["room_number"] != room_number.strip():
                continue
            if room_type_id is not None and room["room_type_id"] != room_type_id:
                continue
            if housekeeping_status is not None and room["housekeeping_status"] != housekeeping_status:
                continue
            if feature is not None and not any(feature.strip().lower() in item.lower() for item in room["features"]):
                continue
            if floor is not None and room["floor"] != floor:
                continue
            view = self._room_view(room)
            if occupancy is not None and view["occupancy"] != occupancy:
                continue
            found.append(view)
        return {"success": True, "data": found}

    def check_availability(
        self,
        arrival_date: str,
        departure_date: str,
        room_type_id: Optional[str] = None,
        party_size: int = 1,
    ) -> dict:
        """Show, cheapest type first, what can be sold for a whole period and which rooms are unassigned in it.

        A room type can be booked when rooms_left is at least 1. Rooms that are out of order are never counted.

        Args:
            arrival_date: First night, YYYY-MM-DD, today or later.
            departure_date: Morning of departure, YYYY-MM-DD, 1 to 30 nights after the arrival.
            room_type_id: Look at this room type only.
            party_size: Adults and children together; types that are too small are left out.

        Returns:
            success and data: per room type rooms_left, both nightly rates, max_occupancy, nights and free_rooms (room
            number, housekeeping status, features, occupied_now).
        """
        problem = self._period_problem(arrival_date, departure_date)
        if problem:
            return self._fail(problem)
        if room_type_id is not None and (not isinstance(room_type_id, str) or room_type_id not in self.room_types):
            return self._unknown("room type", room_type_id)
        if not self._is_int(party_size) or party_size < 1:
            return self._fail("party_size must be an integer of at least 1.")
        result = []
        for room_type in sorted(self.room_types.values(), key=lambda item: (item["base_rate"], item["room_type_id"])):
            type_id = room_type["room_type_id"]
            if room_type_id is not None and type_id != room_type_id:
                continue
            if room_type["max_occupancy"] < party_size:
                continue
            free_rooms = [
                {
                    "room_number": room["room_number"],
                    "housekeeping_status": room["housekeeping_status"],
                    "features": list(room["features"]),
                    "occupied_now": self._occupant(room["room_number"]) is not None,
                }
                for room in sorted(self.rooms.values(), key=lambda item: item["room_number"])
                if room["room_type_id"] == type_id
                and room["housekeeping_status"] != "out_of_order"
                and self._holder(room["room_number"], arrival_date, departure_date) is None
            ]
            result.append(
                {
                    "room_type_id": type_id,
                    "name": room_type["name"],
                    "max_occupancy": room_type["max_occupancy"],
                    "flexible_rate": room_type["base_rate"],
                    "non_refundable_rate": self._rate(room_type, "non_refundable"),
                    "nights": self._nights(arrival_date, departure_date),
                    "rooms_left": max(0, self._rooms_left(type_id, arrival_date, departure_date)),
                    "free_rooms": free_rooms,
                }
            )
        return {"success": True, "data": result}

    def search_reservations(
        self,
        guest_name: Optional[str] = None,
        status: Optional[Literal["confirmed", "checked_in", "checked_out", "cancelled", "no_show"]] = None,
        room_number: Optional[str] = None,
        arrival_date: Optional[str] = None,
        departure_date: Optional[str] = None,
    ) -> dict:
        """Find reservations; all given filters must match.

        Args:
            guest_name: Full name of the guest or part of it.
            status: "confirmed", "checked_in", "checked_out", "cancelled" or "no_show".
            room_number: The room assigned or occupied, e.g. "204".
            arrival_date: Exact arrival date, YYYY-MM-DD.
            departure_date: Exact departure date, YYYY-MM-DD.

        Returns:
            success and data: a list of reservations by arrival date, each with guest_name and room_type_name.
        """
        for label, value in (("guest_name", guest_name), ("room_number", room_number)):
            if value is not None and not isinstance(value, str):
                return self._fail(f"{label} must be a string.")
        for label, value in (("arrival_date", arrival_date), ("departure_date", departure_date)):
            if value is not None and self._parse_date(value) is None:
                return self._fail(f"{label} must be a real calendar date written as YYYY-MM-DD.")
        if status is not None and status not in self._RESERVATION_STATUSES:
            return self._fail("status must be one of: " + ", ".join(self._RESERVATION_STATUSES) + ".")
        found = []
        for reservation in self.reservations.values():
            view = self._reservation_view(reservation)
            if guest_name is not None and not self._name_matches(guest_name, view["guest_name"]):
                continue
            if status is not None and view["status"] != status:
                continue
            if room_number is not None and view["room_number"] != room_number.strip():
                continue
            if arrival_date is not None and view["arrival_date"] != arrival_date:
                continue
            if departure_date is not None and view["departure_date"] != departure_date:
                continue
            found.append(view)
        found.sort(key=lambda item: (item["arrival_date"], item["reservation_id"]))
        return {"success": True, "data": found}

    def get_reservation(self, reservation_id: str) -> dict:
        """Show one reservation with its guest and where its money stands.

        Args:
            reservation_id: Id of the reservation, e.g. "R-2041".

        Returns:
            success and data: the reservation with the guest profile, nights, stay_total, paid, balance and
            deposit_outstanding (EUR still missing before check-in).
        """
        reservation = self._find_reservation(reservation_id)
        if reservation is None:
            return self._unknown("reservation", reservation_id)
        view = self._reservation_view(reservation)
        paid = self._paid(reservation_id)
        view["guest"] = copy.deepcopy(self.guests[reservation["guest_id"]])
        view["nights"] = self._nights(reservation["arrival_date"], reservation["departure_date"])
        view["stay_total"] = self._stay_total(reservation)
        view["paid"] = paid
        view["balance"] = self._balance(reservation_id)
        outstanding = max(0.0, round(reservation["deposit_required"] - paid, 2))
        view["deposit_outstanding"] = outstanding if reservation["status"] == "confirmed" else 0.0
        return {"success": True, "data": view}

    def get_arrivals_and_departures(self, day: Optional[str] = None) -> dict:
        """Show the desk list of one day: who is due to arrive and which in-house guests are due to leave.

        Args:
            day: The day, YYYY-MM-DD; today when left out.

        Returns:
            success and data: arrivals (confirmed reservations with their room's housekeeping status and the deposit
            still missing) and departures (checked-in reservations with their balance).
        """
        if day is not None and self._parse_date(day) is None:
            return self._fail("day must be a real calendar date written as YYYY-MM-DD.")
        wanted = self.current_date if day is None else day
        arrivals = []
        departures = []
        for reservation_id, reservation in sorted(self.reservations.items()):
            line = {
                "reservation_id": reservation_id,
                "guest_name": self.guests[reservation["guest_id"]]["full_name"],
                "room_type_id": reservation["room_type_id"],
                "room_number": reservation["room_number"],
            }
            if reservation["status"] == "confirmed" and reservation["arrival_date"] == wanted:
                room = self._find_room(reservation["room_number"])
                line["room_housekeeping_status"] = room["housekeeping_status"] if room else None
                missing = round(reservation["deposit_required"] - self._paid(reservation_id), 2)
                line["deposit_outstanding"] = max(0.0, missing)
                arrivals.append(line)
            elif reservation["status"] == "checked_in" and reservation["departure_date"] == wanted:
                line["balance"] = self._balance(reservation_id)
                departures.append(line)
        return {"success": True, "data": {"day": wanted, "arrivals": arrivals, "departures": departures}}

    def get_folio(self, reservation_id: str) -> dict:
        """Show the folio (the account) of a reservation with every entry and the balance.

        Args:
            reservation_id: Id of the reservation, e.g. "R-2041".

        Returns:
            success and data: entries, charges_total, payments_total, refunds_total and balance (positive = the guest
            still owes). Voided charges are listed but not counted.
        """
        if self._find_reservation(reservation_id) is None:
            return self._unknown("reservation", reservation_id)
        entries = [
            copy.deepcopy(entry) for entry in self.folio_entries.values() if entry["reservation_id"] == reservation_id
        ]
        return {
            "success": True,
            "data": {
                "reservation_id": reservation_id,
                "entries": entries,
                "charges_total": self._sum_entries(reservation_id, "charge"),
                "payments_total": self._sum_entries(reservation_id, "payment"),
                "refunds_total": self._sum_entries(reservation_id, "refund"),
                "balance": self._balance(reservation_id),
            },
        }

    def quote_cancellation(self, reservation_id: str) -> dict:
        """Tell what cancelling a confirmed reservation today would cost; changes nothing.

        Args:
            reservation_id: Id of a confirmed reservation, e.g. "R-2041".

        Returns:
            success and data: fee, paid so far, refund (paid minus fee, if positive) and balance_due (fee minus paid, if
            positive), all in EUR.
        """
        reservation = self._find_reservation(reservation_id)
        if reservation is None:
            return self._unknown("reservation", reservation_id)
        if reservation["status"] != "confirmed":
            return self._fail(f"Reservation {reservation_id} is {reservation['status']}, not confirmed.")
        fee = self._cancellation_fee(reservation)
        paid = self._paid(reservation_id)
        return {
            "success": True,
            "data": {
                "reservation_id": reservation_id,
                "fee": fee,
                "paid": paid,
                "refund": max(0.0, round(paid - fee, 2)),
                "balance_due": max(0.0, round(fee - paid, 2)),
            },
        }

    def list_housekeeping_tasks(
        self,
        room_number: Optional[str] = None,
        task_type: Optional[Literal["cleaning", "maintenance", "amenity"]] = None,
        status: Optional[Literal["open", "done"]] = None,
    ) -> dict:
        """List housekeeping tasks; all given filters must match.

        Args:
            room_number: Exact room number, e.g. "204".
            task_type: "cleaning", "maintenance" or "amenity".
            status: "open" or "done".

        Returns:
            success and data: a list of tasks.
        """
        if room_number is not None and not isinstance(room_number, str):
            return self._fail("room_number must be a string.")
        if task_type is not None and task_type not in self._TASK_TYPES:
            return self._fail('task_type must be "cleaning", "maintenance" or "amenity".')
        if status is not None and status not in ("open", "done"):
            return self._fail('status must be "open" or "done".')
        found = [
            copy.deepcopy(task)
            for task in self.housekeeping_tasks.values()
            if (room_number is None or task["room_number"] == room_number.strip())
            and (task_type is None or task["task_type"] == task_type)
            and (status is None or task["status"] == status)
        ]
        return {"success": True, "data": found}

    # ------------------------------------------------------------------ changes

    def register_guest(self, full_name: str, email: str, phone: str, id_document: Optional[str] = None) -> dict:
        """Create the profile of a new guest, with loyalty tier "standard".

        Args:
            full_name: First and last name.
            email: E-mail address; it must not belong to a guest on file.
            phone: Telephone number of at least 5 digits.
            id_document: Kind and number of the identity document shown, e.g. "passport K4471920"; leave out if none
                was shown yet.

        Returns:
            success, message and the new guest_id.
        """
        if not self._is_text(full_name):
            return self._fail("full_name must be a non-empty string.")
        problem = self._contact_problem(email, phone, id_document)
        if problem:
            return self._fail(problem)
        while f"G-{self.next_guest_number}" in self.guests:
            self.next_guest_number += 1
        guest_id = f"G-{self.next_guest_number}"
        self.next_guest_number += 1
        self.guests[guest_id] = {
            "guest_id": guest_id,
            "full_name": full_name.strip(),
            "email": email.strip(),
            "phone": phone.strip(),
            "loyalty_tier": "standard",
            "id_document": id_document.strip() if id_document is not None else None,
        }
        return {"success": True, "message": f"Guest {full_name.strip()} is registered.", "guest_id": guest_id}

    def update_guest(
        self,
        guest_id: str,
        email: Optional[str] = None,
        phone: Optional[str] = None,
        id_document: Optional[str] = None,
    ) -> dict:
        """Change contact data of a guest or record the identity document shown; fields left out stay as they are.

        Args:
            guest_id: Id of the guest, e.g. "G-118".
            email: New e-mail address; it must not belong to another guest.
            phone: New telephone number of at least 5 digits.
            id_document: Kind and number of the identity document shown, e.g. "passport K4471920".

        Returns:
            success and message.
        """
        if not isinstance(guest_id, str) or guest_id not in self.guests:
            return self._unknown("guest", guest_id)
        if email is None and phone is None and id_document is None:
            return self._fail("Give at least one of email, phone and id_document.")
        problem = self._contact_problem(email, phone, id_document, guest_id)
        if problem:
            return self._fail(problem)
        guest = self.guests[guest_id]
        if email is not None:
            guest["email"] = email.strip()
        if phone is not None:
            guest["phone"] = phone.strip()
        if id_document is not None:
            guest["id_document"] = id_document.strip()
        return {"success": True, "message": f"The profile of {guest['full_name']} is updated."}

    def create_reservation(
        self,
        guest_id: str,
        room_type_id: str,
        arrival_date: str,
        departure_date: str,
        adults: int,
        children: int = 0,
        rate_plan: Literal["flexible", "non_refundable"] = "flexible",
        special_requests: str = "",
    ) -> dict:
        """Book a room type for a guest; no room is assigned yet and nothing is paid yet.

        The type must have a room left on every night and must hold the whole party. The nightly rate is the base rate
        ("flexible") or 15 % less ("non_refundable"). The deposit required before check-in is one night ("flexible") or
        the whole stay ("non_refundable").

        Args:
            guest_id: Id of the guest, e.g. "G-118".
            room_type_id: Code of the room type, e.g. "SUP".
            arrival_date: YYYY-MM-DD, today or later, at most 365 days ahead.
            departure_date: YYYY-MM-DD, 1 to 30 nights after the arrival.
            adults: At least 1.
            children: 0 or more.
            rate_plan: "flexible" or "non_refundable".
            special_requests: Free text, may be empty.

        Returns:
            success, message, the new reservation_id, nightly_rate, stay_total and deposit_required.
        """
        if not isinstance(guest_id, str) or guest_id not in self.guests:
            return self._unknown("guest", guest_id)
        if not isinstance(room_type_id, str) or room_type_id not in self.room_types:
            return self._unknown("room type", room_type_id)
        problem = self._period_problem(arrival_date, departure_date)
        if problem:
            return self._fail(problem)
        if not self._is_int(adults) or adults < 1:
            return self._fail("adults must be an integer of at least 1.")
        if not self._is_int(children) or children < 0:
            return self._fail("children must be an integer of at least 0.")
        if rate_plan not in ("flexible", "non_refundable"):
            return self._fail('rate_plan must be "flexible" or "non_refundable".')
        if not isinstance(special_requests, str):
            return self._fail("special_requests must be a string.")
        room_type = self.room_types[room_type_id]
        if adults + children > room_type["max_occupancy"]:
            return self._fail(f"{room_type['name']} holds at most {room_type['max_occupancy']} persons.")
        if self._rooms_left(room_type_id, arrival_date, departure_date) < 1:
            return self._fail(f"{room_type['name']} is sold out on at least one night of this stay.")
        rate = self._rate(room_type, rate_plan)
        total = round(rate * self._nights(arrival_date, departure_date), 2)
        deposit = total if rate_plan == "non_refundable" else rate
        while f"R-{self.next_reservation_number}" in self.reservations:
            self.next_reservation_number += 1
        reservation_id = f"R-{self.next_reservation_number}"
        self.next_reservation_number += 1
        self.reservations[reservation_id] = {
            "reservation_id": reservation_id,
            "guest_id": guest_id,
            "room_type_id": room_type_id,
            "room_number": None,
            "arrival_date": arrival_date,
            "departure_date": departure_date,
            "adults": adults,
            "children": children,
            "rate_plan": rate_plan,
            "nightly_rate": rate,
            "deposit_required": deposit,
            "status": "confirmed",
            "special_requests": special_requests.strip(),
            "checked_in_on": None,
            "checked_out_on": None,
            "cancellation_reason": None,
        }
        return {
            "success": True,
            "message": f"{room_type['name']} is booked from {arrival_date} to {departure_date}.",
            "reservation_id": reservation_id,
            "nightly_rate": rate,
            "stay_total": total,
            "deposit_required": deposit,
        }

    def change_stay_dates(
        self,
        reservation_id: str,
        new_arrival_date: Optional[str] = None,
        new_departure_date: Optional[str] = None,
    ) -> dict:
        """Change the dates of a confirmed flexible reservation, or prolong the stay of a checked-in guest.

        Confirmed: only flexible reservations; the room type must have a room left on every new night; the nightly rate
        stays; an assigned room is released if it is not free on the new dates; money paid above the new stay total is
        refunded. Checked in (any rate plan): only a later departure; the room itself must be free on the added nights,
        which are charged to the folio at once. A stay may last at most 30 nights.

        Args:
            reservation_id: Id of the reservation, e.g. "R-2041".
            new_arrival_date: YYYY-MM-DD; leave out to keep the arrival.
            new_departure_date: YYYY-MM-DD; leave out to keep the departure.

        Returns:
            success, message, room_number (None if no room is assigned) and stay_total.
        """
        reservation = self._find_reservation(reservation_id)
        if reservation is None:
            return self._unknown("reservation", reservation_id)
        if reservation["status"] not in ("confirmed", "checked_in"):
            return self._fail(f"Reservation {reservation_id} is {reservation['status']}; its dates cannot change.")
        for value in (new_arrival_date, new_departure_date):
            if value is not None and self._parse_date(value) is None:
                return self._fail("Dates must be real calendar dates written as YYYY-MM-DD.")
        arrival = reservation["arrival_date"] if new_arrival_date is None else new_arrival_date
        departure = reservation["departure_date"] if new_departure_date is None else new_departure_date
        if arrival == reservation["arrival_date"] and departure == reservation["departure_date"]:
            return self._fail("The reservation already has these dates.")
        if reservation["status"] == "checked_in":
            return self._prolong(reservation, arrival, departure)
        if reservation["rate_plan"] == "non_refundable":
            return self._fail("A non-refundable reservation cannot be moved to other dates.")
        problem = self._period_problem(arrival, departure)
        if problem:
            return self._fail(problem)
        room_type_id = reservation["room_type_id"]
        if self._rooms_left(room_type_id, arrival, departure, ignore=reservation_id) < 1:
            return self._fail(f"Room type {room_type_id} is sold out on at least one night of the new dates.")
        reservation["arrival_date"] = arrival
        reservation["departure_date"] = departure
        room_number = reservation["room_number"]
        if room_number is not None and self._holder(room_number, arrival, departure, ignore=reservation_id):
            reservation["room_number"] = None
        total = self._stay_total(reservation)
        excess = round(self._paid(reservation_id) - total, 2)
        if excess > 0:
            self._refund(reservation_id, excess, "Paid above the new stay total")
        return {
            "success": True,
            "message": f"Reservation {reservation_id} now runs from {arrival} to {departure}.",
            "room_number": reservation["room_number"],
            "stay_total": total,
        }

    def _prolong(self, reservation: ReservationInfo, arrival: str, departure: str) -> dict:
        """Prolong a checked-in stay (the second half of change_stay_dates)."""
        reservation_id = reservation["reservation_id"]
        old_departure = reservation["departure_date"]
        if arrival != reservation["arrival_date"]:
            return self._fail("The arrival date of a checked-in guest cannot change.")
        if departure <= old_departure:
            return self._fail("A checked-in stay can only be prolonged; guests who leave early are checked out.")
        if self._nights(arrival, departure) > self._MAX_NIGHTS:
            return self._fail(f"A stay may last at most {self._MAX_NIGHTS} nights.")
        room_number = reservation["room_number"]
        holder = self._holder(room_number, old_departure, departure, ignore=reservation_id)
        if holder is not None:
            return self._fail(f"Room {room_number} is assigned to reservation {holder} on the added nights.")
        if self._rooms_left(reservation["room_type_id"], old_departure, departure, ignore=reservation_id) < 1:
            return self._fail(f"Room type {reservation['room_type_id']} is sold out on at least one added night.")
        added = self._nights(old_departure, departure)
        reservation["departure_date"] = departure
        self._post(
            reservation_id,
            "charge",
            "room",
            added * reservation["nightly_rate"],
            f"Room {room_number}, {added} added night(s) until {departure}",
        )
        return {
            "success": True,
            "message": f"The stay is prolonged until {departure}; {added} night(s) were charged.",
            "room_number": room_number,
            "stay_total": self._stay_total(reservation),
        }

    def cancel_reservation(self, reservation_id: str, reason: str) -> dict:
        """Cancel a confirmed reservation, post the cancellation fee and refund what was paid above it.

        Fee: non-refundable = the whole stay; flexible = nothing up to 3 days before arrival (silver: 2 days, gold:
        1 day), later one night. A fee that exceeds the payments stays on the folio as balance due. An assigned room is
        released.

        Args:
            reservation_id: Id of a confirmed reservation, e.g. "R-2041".
            reason: Why it is cancelled, free text.

        Returns:
            success, message, fee, refund and balance_due in EUR.
        """
        reservation = self._find_reservation(reservation_id)
        if reservation is None:
            return self._unknown("reservation", reservation_id)
        if reservation["status"] != "confirmed":
            return self._fail(f"Only confirmed reservations can be cancelled; this one is {reservation['status']}.")
        if not self._is_text(reason):
            return self._fail("reason must be a non-empty string.")
        fee = self._cancellation_fee(reservation)
        refund = max(0.0, round(self._paid(reservation_id) - fee, 2))
        reservation["status"] = "cancelled"
        reservation["cancellation_reason"] = reason.strip()
        reservation["room_number"] = None
        if fee > 0:
            self._post(reservation_id, "charge", "cancellation_fee", fee, "Cancellation fee")
        if refund > 0:
            self._refund(reservation_id, refund, "Refund after cancellation")
        return {
            "success": True,
            "message": f"Reservation {reservation_id} is cancelled.",
            "fee": fee,
            "refund": refund,
            "balance_due": max(0.0, self._balance(reservation_id)),
        }

    def assign_room(self, reservation_id: str, room_number: str) -> dict:
        """Assign a room to a confirmed reservation, replacing the room assigned before.

        The room must be of the booked type, must not be out of order and must not be held by another reservation on any
        night of the stay. It need not be clean or empty yet (it must be both at check-in).

        Args:
            reservation_id: Id of a confirmed reservation, e.g. "R-2041".
            room_number: Room number, e.g. "204".

        Returns:
            success and message.
        """
        reservation = self._find_reservation(reservation_id)
        if reservation is None:
            return self._unknown("reservation", reservation_id)
        room = self._find_room(room_number)
        if room is None:
            return self._unknown("room", room_number)
        if reservation["status"] != "confirmed":
            return self._fail(f"Rooms are assigned to confirmed reservations; this one is {reservation['status']}.")
        if room["room_type_id"] != reservation["room_type_id"]:
            return self._fail(
                f"Room {room_number} is of type {room['room_type_id']}, booked is {reservation['room_type_id']}."
            )
        if room["housekeeping_status"] == "out_of_order":
            return self._fail(f"Room {room_number} is out of order.")
        if reservation["room_number"] == room_number:
            return self._fail(f"Room {room_number} is already assigned to this reservation.")
        holder = self._holder(
            room_number, reservation["arrival_date"], reservation["departure_date"], ignore=reservation_id
        )
        if holder is not None:
            return self._fail(f"Room {room_number} is held by reservation {holder} during this stay.")
        reservation["room_number"] = room_number
        return {"success": True, "message": f"Room {room_number} is assigned to reservation {reservation_id}."}

    def check_in_guest(self, reservation_id: str) -> dict:
        """Check a guest in and post the room charge of the whole stay to the folio.

        Allowed on the arrival date only, when a room is assigned that is clean and empty, the guest's identity document
        is on file and the required deposit is paid.

        Args:
            reservation_id: Id of a confirmed reservation, e.g. "R-2041".

        Returns:
            success, message, room_number and balance (EUR still owed for the stay).
        """
        reservation = self._find_reservation(reservation_id)
        if reservation is None:
            return self._unknown("reservation", reservation_id)
        if reservation["status"] != "confirmed":
            return self._fail(f"Only confirmed reservations can be checked in; this one is {reservation['status']}.")
        if reservation["arrival_date"] != self.current_date:
            return self._fail(f"The arrival date is {reservation['arrival_date']}, not today.")
        room_number = reservation["room_number"]
        if room_number is None:
            return self._fail("No room is assigned yet.")
        occupant = self._occupant(room_number)
        if occupant is not None:
            return self._fail(f"Room {room_number} is still occupied by reservation {occupant}.")
        if self.rooms[room_number]["housekeeping_status"] != "clean":
            return self._fail(f"Room {room_number} is {self.rooms[room_number]['housekeeping_status']}, not clean.")
        guest = self.guests[reservation["guest_id"]]
        if not guest["id_document"]:
            return self._fail(f"No identity document of {guest['full_name']} is on file.")
        missing = round(reservation["deposit_required"] - self._paid(reservation_id), 2)
        if missing > 0:
            return self._fail(f"{missing:.2f} EUR of the deposit are still missing.")
        nights = self._nights(reservation["arrival_date"], reservation["departure_date"])
        reservation["status"] = "checked_in"
        reservation["checked_in_on"] = self.current_date
        self._post(
            reservation_id, "charge", "room", self._stay_total(reservation), f"Room {room_number}, {nights} night(s)"
        )
        return {
            "success": True,
            "message": f"{guest['full_name']} is checked in to room {room_number}.",
            "room_number": room_number,
            "balance": self._balance(reservation_id),
        }

    def move_guest_to_room(
        self,
        reservation_id: str,
        new_room_number: str,
        reason: Literal["guest_request", "maintenance"],
    ) -> dict:
        """Move a checked-in guest to another room for the rest of the stay.

        The new room must be clean, empty, big enough for the party and not held by another reservation until the
        departure; if it is of another type, that type must not be sold out. reason "guest_request": moving to a dearer
        type posts the difference of the base rates for every remaining night and raises the nightly rate by it (a
        cheaper type gives no credit); the old room becomes dirty with an open cleaning task. reason "maintenance":
        nothing is charged; the old room becomes out of order with an open maintenance task.

        Args:
            reservation_id: Id of a checked-in reservation that leaves tomorrow or later, e.g. "R-2041".
            new_room_number: Room number, e.g. "204".
            reason: "guest_request" or "maintenance".

        Returns:
            success, message, extra_charge and balance in EUR.
        """
        reservation = self._find_reservation(reservation_id)
        if reservation is None:
            return self._unknown("reservation", reservation_id)
        room = self._find_room(new_room_number)
        if room is None:
            return self._unknown("room", new_room_number)
        if reason not in ("guest_request", "maintenance"):
            return self._fail('reason must be "guest_request" or "maintenance".')
        if reservation["status"] != "checked_in":
            return self._fail(f"Only checked-in guests can move; this reservation is {reservation['status']}.")
        if reservation["room_number"] == new_room_number:
            return self._fail(f"The guest is already in room {new_room_number}.")
        departure = reservation["departure_date"]
        if departure <= self.current_date:
            return self._fail("The guest leaves today; there is no remaining night to move for.")
        if room["housekeeping_status"] != "clean":
            return self._fail(f"Room {new_room_number} is {room['housekeeping_status']}, not clean.")
        occupant = self._occupant(new_room_number)
        if occupant is not None:
            return self._fail(f"Room {new_room_number} is occupied by reservation {occupant}.")
        holder = self._holder(new_room_number, self.current_date, departure, ignore=reservation_id)
        if holder is not None:
            return self._fail(f"Room {new_room_number} is held by reservation {holder} before {departure}.")
        old_type = self.room_types[reservation["room_type_id"]]
        new_type = self.room_types[room["room_type_id"]]
        if reservation["adults"] + reservation["children"] > new_type["max_occupancy"]:
            return self._fail(f"{new_type['name']} holds at most {new_type['max_occupancy']} persons.")
        changes_type = new_type["room_type_id"] != old_type["room_type_id"]
        if changes_type and self._rooms_left(new_type["room_type_id"], self.current_date, departure) < 1:
            return self._fail(f"{new_type['name']} is sold out on at least one remaining night.")
        old_room = reservation["room_number"]
        difference = max(0.0, round(new_type["base_rate"] - old_type["base_rate"], 2))
        extra = 0.0
        if reason == "guest_request" and difference > 0:
            nights = self._nights(self.current_date, departure)
            extra = round(difference * nights, 2)
            reservation["nightly_rate"] = round(reservation["nightly_rate"] + difference, 2)
            self._post(reservation_id, "charge", "upgrade", extra, f"Upgrade to {new_type['name']}, {nights} night(s)")
        reservation["room_number"] = new_room_number
        reservation["room_type_id"] = new_type["room_type_id"]
        if reason == "maintenance":
            self.rooms[old_room]["housekeeping_status"] = "out_of_order"
            if not self._has_open_task(old_room, "maintenance"):
                self._open_task(old_room, "maintenance", "Guest moved out because of a defect", "high")
        else:
            self._leave_dirty(old_room, "Guest moved to another room")
        return {
            "success": True,
            "message": f"The guest moved from room {old_room} to room {new_room_number}.",
            "extra_charge": extra,
            "balance": self._balance(reservation_id),
        }

    def check_out_guest(self, reservation_id: str) -> dict:
        """Check a guest out; the folio balance must be exactly zero.

        Leaving before the departure date is allowed, but nights already charged are not credited. The room becomes
        dirty and gets an open cleaning task.

        Args:
            reservation_id: Id of a checked-in reservation, e.g. "R-2041".

        Returns:
            success, message and room_number.
        """
        reservation = self._find_reservation(reservation_id)
        if reservation is None:
            return self._unknown("reservation", reservation_id)
        if reservation["status"] != "checked_in":
            return self._fail(f"Only checked-in guests can check out; this reservation is {reservation['status']}.")
        balance = self._balance(reservation_id)
        if balance != 0:
            return self._fail(f"The folio balance is {balance:.2f} EUR; it must be settled first.")
        room_number = reservation["room_number"]
        reservation["status"] = "checked_out"
        reservation["checked_out_on"] = self.current_date
        self._leave_dirty(room_number, "Departure")
        return {"success": True, "message": f"Room {room_number} is checked out.", "room_number": room_number}

    def post_charge(
        self,
        reservation_id: str,
        category: Literal["minibar", "restaurant", "laundry", "parking", "spa", "other"],
        amount: float,
        description: str,
    ) -> dict:
        """Post an extra to the folio of a checked-in guest (room charges are posted by check-in and date changes).

        Args:
            reservation_id: Id of a checked-in reservation, e.g. "R-2041".
            category: "minibar", "restaurant", "laundry", "parking", "spa" or "other".
            amount: EUR, greater than 0, rounded to cents.
            description: What it is for, free text.

        Returns:
            success, message, the new entry_id and balance.
        """
        reservation = self._find_reservation(reservation_id)
        if reservation is None:
            return self._unknown("reservation", reservation_id)
        if reservation["status"] != "checked_in":
            return self._fail(f"Extras go to checked-in guests only; this reservation is {reservation['status']}.")
        if category not in self._EXTRA_CATEGORIES:
            return self._fail("category must be one of: " + ", ".join(self._EXTRA_CATEGORIES) + ".")
        value = self._parse_amount(amount)
        if value is None:
            return self._fail("amount must be a number greater than 0 and at most 100000.")
        if not self._is_text(description):
            return self._fail("description must be a non-empty string.")
        entry_id = self._post(reservation_id, "charge", category, value, description.strip())
        return {
            "success": True,
            "message": f"{value:.2f} EUR ({category}) posted to reservation {reservation_id}.",
            "entry_id": entry_id,
            "balance": self._balance(reservation_id),
        }

    def void_charge(self, entry_id: str, reason: str) -> dict:
        """Void a wrong extra on the folio of a checked-in guest; the entry stays visible but no longer counts.

        Room charges, upgrades and cancellation fees cannot be voided, nor can a charge that is already paid (the
        balance may not fall below zero).

        Args:
            entry_id: Id of the folio entry, e.g. "F-310".
            reason: Why it is voided, free text; it is added to the entry's description.

        Returns:
            success, message and balance.
        """
        entry = self.folio_entries.get(entry_id) if isinstance(entry_id, str) else None
        if entry is None:
            return self._unknown("folio entry", entry_id)
        if not self._is_text(reason):
            return self._fail("reason must be a non-empty string.")
        if entry["kind"] != "charge" or entry["category"] not in self._EXTRA_CATEGORIES:
            return self._fail(f"Entry {entry_id} is a {entry['category']} {entry['kind']}; only extras can be voided.")
        if entry["voided"]:
            return self._fail(f"Entry {entry_id} is already voided.")
        reservation_id = entry["reservation_id"]
        if self.reservations[reservation_id]["status"] != "checked_in":
            return self._fail("Charges can be voided only while the guest is checked in.")
        if round(self._balance(reservation_id) - entry["amount"], 2) < 0:
            return self._fail("The charge is already paid; voiding it would leave the folio in credit.")
        entry["voided"] = True
        entry["description"] = f"{entry['description']} [void: {reason.strip()}]"
        return {
            "success": True,
            "message": f"Entry {entry_id} over {entry['amount']:.2f} EUR is voided.",
            "balance": self._balance(reservation_id),
        }

    def record_payment(
        self,
        reservation_id: str,
        amount: float,
        method: Literal["card", "cash", "bank_transfer"],
    ) -> dict:
        """Record money received from a guest.

        Confirmed reservation: the payment is a deposit, all deposits together at most the stay total. Checked in or
        cancelled: the payment settles the folio and may not exceed its balance.

        Args:
            reservation_id: Id of a confirmed, checked-in or cancelled reservation, e.g. "R-2041".
            amount: EUR, greater than 0, rounded to cents.
            method: "card", "cash" or "bank_transfer".

        Returns:
            success, message, the new entry_id and balance.
        """
        reservation = self._find_reservation(reservation_id)
        if reservation is None:
            return self._unknown("reservation", reservation_id)
        value = self._parse_amount(amount)
        if value is None:
            return self._fail("amount must be a number greater than 0 and at most 100000.")
        if method not in self._PAYMENT_METHODS:
            return self._fail('method must be "card", "cash" or "bank_transfer".')
        status = reservation["status"]
        if status == "confirmed":
            limit = round(self._stay_total(reservation) - self._paid(reservation_id), 2)
        elif status in ("checked_in", "cancelled"):
            limit = self._balance(reservation_id)
        else:
            return self._fail(f"No payment can be recorded on a reservation that is {status}.")
        if value > limit:
            return self._fail(f"At most {max(0.0, limit):.2f} EUR can be paid on reservation {reservation_id}.")
        category = "deposit" if status == "confirmed" else "settlement"
        entry_id = self._post(reservation_id, "payment", category, value, f"Payment by {method}", method)
        return {
            "success": True,
            "message": f"{value:.2f} EUR received by {method}.",
            "entry_id": entry_id,
            "balance": self._balance(reservation_id),
        }

    def create_housekeeping_task(
        self,
        room_number: str,
        task_type: Literal["cleaning", "maintenance", "amenity"],
        note: str,
        priority: Literal["normal", "high"] = "normal",
    ) -> dict:
        """Open a housekeeping task for a room.

        "cleaning" marks a clean room as dirty (one open cleaning task per room). "maintenance" takes a vacant room out
        of order; that is refused while a confirmed reservation is assigned to the room or when its type would be
        oversold. In an occupied room "maintenance" leaves the room's status as it is. "amenity" (cot, towels, flowers)
        never changes the room.

        Args:
            room_number: Room number, e.g. "204".
            task_type: "cleaning", "maintenance" or "amenity".
            note: What is to be done, free text.
            priority: "normal" or "high".

        Returns:
            success, message and the new task_id.
        """
        room = self._find_room(room_number)
        if room is None:
            return self._unknown("room", room_number)
        if task_type not in self._TASK_TYPES:
            return self._fail('task_type must be "cleaning", "maintenance" or "amenity".')
        if not self._is_text(note):
            return self._fail("note must be a non-empty string.")
        if priority not in ("normal", "high"):
            return self._fail('priority must be "normal" or "high".')
        if task_type == "cleaning" and self._has_open_task(room_number, "cleaning"):
            return self._fail(f"A cleaning task is already open for room {room_number}.")
        closes_room = (
            task_type == "maintenance"
            and room["housekeeping_status"] != "out_of_order"
            and self._occupant(room_number) is None
        )
        if closes_room:
            for reservation_id, reservation in self.reservations.items():
                if reservation["status"] == "confirmed" and reservation["room_number"] == room_number:
                    return self._fail(f"Room {room_number} is assigned to reservation {reservation_id}.")
            departures = [
                reservation["departure_date"]
                for reservation in self.reservations.values()
                if reservation["status"] in ("confirmed", "checked_in")
                and reservation["room_type_id"] == room["room_type_id"]
            ]
            last = max(departures, default=self.current_date)
            if last > self.current_date and self._rooms_left(room["room_type_id"], self.current_date, last) < 1:
                return self._fail(f"Without room {room_number} its room type would be oversold.")
        task_id = self._open_task(room_number, task_type, note.strip(), priority)
        if closes_room:
            room["housekeeping_status"] = "out_of_order"
        if task_type == "cleaning" and room["housekeeping_status"] == "clean":
            room["housekeeping_status"] = "dirty"
        return {
            "success": True,
            "message": f"A task ({task_type}) is open for room {room_number}, which is {room['housekeeping_status']}.",
            "task_id": task_id,
        }

    def complete_housekeeping_task(self, task_id: str) -> dict:
        """Mark an open housekeeping task as done and update its room.

        A finished cleaning makes a dirty room clean (refused while the room is out of order). The last finished
        maintenance of an out-of-order room makes it dirty and sees to an open cleaning task.

        Args:
            task_id: Id of an open task, e.g. "HK-52".

        Returns:
            success, message and housekeeping_status of the room.
        """
        task = self.housekeeping_tasks.get(task_id) if isinstance(task_id, str) else None
        if task is None:
            return self._unknown("housekeeping task", task_id)
        if task["status"] != "open":
            return self._fail(f"Task {task_id} is already done.")
        room_number = task["room_number"]
        room = self.rooms[room_number]
        if task["task_type"] == "cleaning" and room["housekeeping_status"] == "out_of_order":
            return self._fail(f"Room {room_number} is out of order; finish its maintenance first.")
        task["status"] = "done"
        task["completed_on"] = self.current_date
        if task["task_type"] == "cleaning":
            room["housekeeping_status"] = "clean"
        elif (
            task["task_type"] == "maintenance"
            and room["housekeeping_status"] == "out_of_order"
            and not self._has_open_task(room_number, "maintenance")
        ):
            self._leave_dirty(room_number, "After maintenance")
        return {
            "success": True,
            "message": f"Task {task_id} is done; room {room_number} is {room['housekeeping_status']}.",
            "housekeeping_status": room["housekeeping_status"],
        }
