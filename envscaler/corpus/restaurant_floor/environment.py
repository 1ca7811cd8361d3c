import copy
import re
from datetime import date, datetime, timedelta
from typing import Collection, Dict, List, Literal, Optional, TypedDict, TypeVar

Record = TypeVar("Record")


class GuestInfo(TypedDict):
    guest_id: str
    name: str
    phone: str  # unique among guests
    club: bool  # member of the house club: less to pay for food
    allergies: List[str]  # allergens that must not come to this guest's table
    no_shows: int  # how often the guest has not turned up


class TableInfo(TypedDict):
    table_id: str
    area: str
    seats: int
    min_party: int  # smallest party that the table is given to
    status: str  # "free", "occupied", "dirty" or "closed"


class DishInfo(TypedDict):
    dish_id: str
    name: str
    course: str  # "starter", "main", "dessert" or "drink"
    price: float
    allergens: List[str]
    portions: int  # left for today


class ReservationInfo(TypedDict):
    reservation_id: str
    guest_id: str
    table_id: str
    date: str
    time: str
    party_size: int
    deposit: float  # what the guest has paid in advance
    deposit_status: str  # "none", "held", "refunded", "kept" or "credited" (to the bill)
    status: str  # "booked", "seated", "cancelled" or "no_show"


class WaitInfo(TypedDict):
    entry_id: str
    name: str
    party_size: int
    area: str  # the area that the party waits for, or "any"
    joined_at: str
    status: str  # "waiting", "seated" or "left"


class ServerInfo(TypedDict):
    server_id: str
    name: str
    area: str
    on_shift: bool


class OrderInfo(TypedDict):
    order_id: str
    table_id: str
    server_id: str
    reservation_id: Optional[str]  # set if the party came with a reservation
    guest_id: Optional[str]  # the guest of that reservation
    party_size: int
    opened_at: str
    status: str  # "open", "billed" or "paid"


class LineInfo(TypedDict):
    line_id: str
    order_id: str
    dish_id: str
    quantity: int
    status: str  # "ordered", "fired" (the kitchen cooks), "served" or "void"


class BillInfo(TypedDict):
    bill_id: str
    order_id: str
    subtotal: float
    discount: float
    service: float
    deposit_used: float
    total: float  # subtotal less discount, plus service, less the deposit
    paid: float
    status: str  # "open" or "paid"


class PaymentInfo(TypedDict):
    payment_id: str
    bill_id: str
    method: str  # "card", "cash" or "voucher"
    amount: float


OPENS = "17:00"  # first time for which a table can be reserved
LAST_SEATING = "21:30"  # last one
SITTING_MINUTES = 120  # how long a reservation keeps its table
EARLY_MINUTES = 30  # how early a reserved party can be seated
LATE_MINUTES = 30  # how late it must be before it is a no-show
WALK_IN_MINUTES = 90  # a table reserved sooner than this is not given to others
LARGE_PARTY = 6  # parties of this size or more pay a deposit and a service charge
NO_SHOW_LIMIT = 2  # guests with so many no-shows pay a deposit for any party
DEPOSIT_PER_HEAD = 10.00
REFUND_HOURS = 24  # a deposit is paid back when cancelled at least so long before
SERVICE_RATE = 0.125  # of the subtotal after the discount, for large parties
CLUB_RATE = 0.10  # off the food of club members
SERVER_LIMIT = 4  # orders that a server may have open at a time

COURSES = ("starter", "main", "dessert", "drink")
TABLE_STATUSES = ("free", "occupied", "dirty", "closed")
RESERVATION_STATUSES = ("booked", "seated", "cancelled", "no_show")
WAIT_STATUSES = ("waiting", "seated", "left")
ORDER_STATUSES = ("open", "billed", "paid")
BILL_STATUSES = ("open", "paid")
METHODS = ("card", "cash", "voucher")


class RestaurantFloor:
    def __init__(self, init_config: dict):
        """
        The floor of a restaurant: from the reservation to the paid bill.

        Args:
            init_config (dict): The initial state: one key per attribute below.
        """
        # Guests: {guest_id: GuestInfo}
        self.guests: Dict[str, GuestInfo] = init_config.get("guests", {})

        # Tables: {table_id: TableInfo}
        self.tables: Dict[str, TableInfo] = init_config.get("tables", {})

        # Dishes and drinks: {dish_id: DishInfo}
        self.dishes: Dict[str, DishInfo] = init_config.get("dishes", {})

        # Reservations: {reservation_id: ReservationInfo}
        self.reservations: Dict[str, ReservationInfo] = init_config.get("reservations", {})

        # Parties without a reservation: {entry_id: WaitInfo}
        self.waitlist: Dict[str, WaitInfo] = init_config.get("waitlist", {})

        # Servers: {server_id: ServerInfo}
        self.servers: Dict[str, ServerInfo] = init_config.get("servers", {})

        # Orders, one for each seated party: {order_id: OrderInfo}
        self.orders: Dict[str, OrderInfo] = init_config.get("orders", {})

        # Lines of the orders: {line_id: LineInfo}
        self.lines: Dict[str, LineInfo] = init_config.get("lines", {})

        # Bills: {bill_id: BillInfo}
        self.bills: Dict[str, BillInfo] = init_config.get("bills", {})

        # Payments: {payment_id: PaymentInfo}
        self.payments: Dict[str, PaymentInfo] = init_config.get("payments", {})

        # Names of the areas
        self.areas: List[str] = init_config.get("areas", [])

        # Now on the floor: YYYY-MM-DD and HH:MM
        self.current_date: str = init_config.get("current_date", "2025-01-01")
        self.current_time: str = init_config.get("current_time", "18:00")

        # The number that the next new record of each kind gets
        self.next_guest_number: int = init_config.get("next_guest_number", 1)
        self.next_reservation_number: int = init_config.get("next_reservation_number", 1)
        self.next_entry_number: int = init_config.get("next_entry_number", 1)
        self.next_order_number: int = init_config.get("next_order_number", 1)
        self.next_line_number: int = init_config.get("next_line_number", 1)
        self.next_bill_number: int = init_config.get("next_bill_number", 1)
        self.next_payment_number: int = init_config.get("next_payment_number", 1)

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
    def _is_count(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 1

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
    def _is_time(value: object) -> bool:
        return isinstance(value, str) and re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", value) is not None

    @staticmethod
    def _minutes(day: str, time: str) -> int:
        """Minutes from a fixed point in the past."""
        moment = datetime.fromisoformat(f"{day}T{time}:00")
        return (moment - datetime(2000, 1, 1)) // timedelta(minutes=1)

    def _now(self) -> int:
        return self._minutes(self.current_date, self.current_time)

    def _slot(self, day: object, time: object) -> Optional[str]:
        """Say why nobody can reserve for this date and time, or None."""
        if not self._is_date(day):
            return "date must be a date in the form YYYY-MM-DD."
        if not self._is_time(time):
            return "time must be a time in the form HH:MM."
        assert isinstance(day, str) and isinstance(time, str)
        if not OPENS <= time <= LAST_SEATING or int(time[3:]) % 15:
            return f"Tables are reserved for quarter hours from {OPENS} to {LAST_SEATING}."
        if self._minutes(day, time) <= self._now():
            return f"{day} {time} is not in the future."
        return None

    @staticmethod
    def _fit(table: TableInfo, party_size: int) -> Optional[str]:
        """Say why a party does not fit a table, or None."""
        if party_size > table["seats"]:
            return f"Table {table['table_id']} has {table['seats']} seats; the party is {party_size}."
        if party_size < table["min_party"]:
            return f"Table {table['table_id']} is kept for parties of {table['min_party']} or more."
        return None

    def _clash(self, table_id: str, day: str, time: str, besides: Optional[str] = None) -> Optional[ReservationInfo]:
        """The reservation that already has the table at that time, if there is one."""
        start = self._minutes(day, time)
        for key, entry in sorted(self.reservations.items()):
            if key != besides and entry["table_id"] == table_id and entry["status"] in ("booked", "seated"):
                if abs(self._minutes(entry["date"], entry["time"]) - start) < SITTING_MINUTES:
                    return entry
        return None

    def _soon_reserved(self, table_id: str, besides: Optional[str] = None) -> Optional[ReservationInfo]:
        """The booked reservation for which the table must be kept now, if there is one."""
        for key, entry in sorted(self.reservations.items()):
            if key != besides and entry["table_id"] == table_id and entry["status"] == "booked":
                start = self._minutes(entry["date"], entry["time"])
                if self._now() - SITTING_MINUTES < start < self._now() + WALK_IN_MINUTES:
                    return entry
        return None

    @staticmethod
    def _deposit_due(guest: GuestInfo, party_size: int) -> float:
        due = party_size >= LARGE_PARTY or guest["no_shows"] >= NO_SHOW_LIMIT
        return DEPOSIT_PER_HEAD * party_size if due else 0.0

    def _open_orders(self, server_id: str) -> int:
        return sum(1 for order in self.orders.values() if order["server_id"] == server_id and order["status"] == "open")

    def _server_problem(self, server_id: object, table: TableInfo) -> Optional[str]:
        """Say why a server cannot take one more party at a table, or None."""
        server = self._find(self.servers, server_id)
        if server is None:
            return str(self._unknown("server", server_id)["error"])
        if not server["on_shift"]:
            return f"{server['name']} is not on shift."
        if server["area"] != table["area"]:
            return f"{server['name']} serves the {server['area']}; table {table['table_id']} is in the {table['area']}."
        if self._open_orders(server["server_id"]) >= SERVER_LIMIT:
            return f"{server['name']} already has {SERVER_LIMIT} open orders, the most a server may have."
        return None

    def _open_order(self, table: TableInfo, server_id: str, party_size: int, entry: Optional[ReservationInfo]) -> str:
        order_id = f"O-{self.next_order_number}"
        self.next_order_number += 1
        self.orders[order_id] = {
            "order_id": order_id,
            "table_id": table["table_id"],
            "server_id": server_id,
            "reservation_id": entry["reservation_id"] if entry else None,
            "guest_id": entry["guest_id"] if entry else None,
            "party_size": party_size,
            "opened_at": self.current_time,
            "status": "open",
        }
        table["status"] = "occupied"
        return order_id

    def _lines_of(self, order_id: str) -> List[LineInfo]:
        return [line for _, line in sorted(self.lines.items()) if line["order_id"] == order_id]

    def _finish(self, order: OrderInfo) -> None:
        order["status"] = "paid"
        self.tables[order["table_id"]]["status"] = "dirty"

    # Queries

    def search_guests(self, name: Optional[str] = None, phone: Optional[str] = None) -> dict:
        """
        Find guests on file; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            phone (str, optional): Part of the phone number.

        Returns:
            dict: {"success": True, "data": [GuestInfo, ...]} sorted by guest_id, or {"success": False, "error": str}.
        """
        problem = self._text_filter("name", name) or self._text_filter("phone", phone)
        if problem:
            return self._fail(problem)
        found = [
            guest
            for _, guest in sorted(self.guests.items())
            if self._contains(guest["name"], name) and self._contains(guest["phone"], phone)
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def list_tables(
        self,
        area: Optional[str] = None,
        status: Optional[Literal["free", "occupied", "dirty", "closed"]] = None,
    ) -> dict:
        """
        List tables with their state at this moment; every filter that is given must match.

        Args:
            area (str, optional): Exact name of an area.
            status (str, optional): "free", "occupied", "dirty" or "closed".

        Returns:
            dict: {"success": True, "data": [TableInfo with "kept_for" added, ...]} sorted by table_id; "kept_for" is
            the id of a booked reservation for which the table must be kept now, or None.
        """
        problem = self._choice_filter("area", area, self.areas) or self._choice_filter("status", status, TABLE_STATUSES)
        if problem:
            return self._fail(problem)
        found = []
        for table_id, table in sorted(self.tables.items()):
            if area in (None, table["area"]) and status in (None, table["status"]):
                entry = self._soon_reserved(table_id)
                found.append({**table, "kept_for": entry["reservation_id"] if entry else None})
        return {"success": True, "data": found}

    def find_reservable_tables(self, date: str, time: str, party_size: int, area: Optional[str] = None) -> dict:
        """
        Show which tables a party could reserve: large enough, not too large, not closed, not taken at that time.

        Args:
            date (str): YYYY-MM-DD.
            time (str): HH:MM, a quarter hour from 17:00 to 21:30.
            party_size (int): Number of guests.
            area (str, optional): Exact name of an area.

        Returns:
            dict: {"success": True, "data": [TableInfo, ...]} sorted by seats, then by table_id, or
            {"success": False, "error": str}.
        """
        problem = self._slot(date, time) or self._choice_filter("area", area, self.areas)
        if problem is None and not self._is_count(party_size):
            problem = "party_size must be a whole number of 1 or more."
        if problem:
            return self._fail(problem)
        found = [
            table
            for table_id, table in self.tables.items()
            if area in (None, table["area"])
            and table["status"] != "closed"
            and self._fit(table, party_size) is None
            and self._clash(table_id, date, time) is None
        ]
        found.sort(key=lambda table: (table["seats"], table["table_id"]))
        return {"success": True, "data": copy.deepcopy(found)}

    def list_reservations(
        self,
        date: Optional[str] = None,
        guest_id: Optional[str] = None,
        table_id: Optional[str] = None,
        status: Optional[Literal["booked", "seated", "cancelled", "no_show"]] = None,
    ) -> dict:
        """
        List reservations; every filter that is given must match.

        Args:
            date (str, optional): YYYY-MM-DD.
            guest_id (str, optional): Guest id, e.g. "G-204".
            table_id (str, optional): Table id, e.g. "T-7".
            status (str, optional): "booked", "seated", "cancelled" or "no_show".

        Returns:
            dict: {"success": True, "data": [ReservationInfo with "guest_name" added, ...]} sorted by date and time,
            or {"success": False, "error": str}.
        """
        if guest_id is not None and self._find(self.guests, guest_id) is None:
            return self._unknown("guest", guest_id)
        if table_id is not None and self._find(self.tables, table_id) is None:
            return self._unknown("table", table_id)
        problem = self._choice_filter("status", status, RESERVATION_STATUSES)
        if problem is None and date is not None and not self._is_date(date):
            problem = "date must be a date in the form YYYY-MM-DD."
        if problem:
            return self._fail(problem)
        found = [
            {**entry, "guest_name": self.guests[entry["guest_id"]]["name"]}
            for entry in self.reservations.values()
            if date in (None, entry["date"])
            and guest_id in (None, entry["guest_id"])
            and table_id in (None, entry["table_id"])
            and status in (None, entry["status"])
        ]
        found.sort(key=lambda entry: (str(entry["date"]), str(entry["time"]), str(entry["reservation_id"])))
        return {"success": True, "data": found}

    def search_dishes(
        self,
        name: Optional[str] = None,
        course: Optional[Literal["starter", "main", "dessert", "drink"]] = None,
        without: Optional[str] = None,
    ) -> dict:
        """
        Find dishes and drinks on today's card; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            course (str, optional): "starter", "main", "dessert" or "drink".
            without (str, optional): An allergen that the dish must not hold, e.g. "nuts".

        Returns:
            dict: {"success": True, "data": [DishInfo, ...]} sorted by dish_id, or {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("name", name)
            or self._choice_filter("course", course, COURSES)
            or self._text_filter("without", without)
        )
        if problem:
            return self._fail(problem)
        found = [
            dish
            for _, dish in sorted(self.dishes.items())
            if self._contains(dish["name"], name)
            and course in (None, dish["course"])
            and (without is None or without.strip().lower() not in dish["allergens"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def list_waitlist(self, status: Optional[Literal["waiting", "seated", "left"]] = None) -> dict:
        """
        List the parties that came without a reservation, the first to come first.

        Args:
            status (str, optional): "waiting", "seated" or "left".

        Returns:
            dict: {"success": True, "data": [WaitInfo, ...]}, or {"success": False, "error": str}.
        """
        problem = self._choice_filter("status", status, WAIT_STATUSES)
        if problem:
            return self._fail(problem)
        found = [entry for entry in self.waitlist.values() if status in (None, entry["status"])]
        found.sort(key=lambda entry: (entry["joined_at"], entry["entry_id"]))
        return {"success": True, "data": copy.deepcopy(found)}

    def list_servers(self, area: Optional[str] = None, on_shift: Optional[bool] = None) -> dict:
        """
        List servers; every filter that is given must match.

        Args:
            area (str, optional): Exact name of an area.
            on_shift (bool, optional): Whether the server works now.

        Returns:
            dict: {"success": True, "data": [ServerInfo with "open_orders" added, ...]} sorted by server_id, or
            {"success": False, "error": str}.
        """
        problem = self._choice_filter("area", area, self.areas)
        if problem is None and on_shift is not None and not isinstance(on_shift, bool):
            problem = "on_shift must be true or false."
        if problem:
            return self._fail(problem)
        found = [
            {**server, "open_orders": self._open_orders(server_id)}
            for server_id, server in sorted(self.servers.items())
            if area in (None, server["area"]) and on_shift in (None, server["on_shift"])
        ]
        return {"success": True, "data": found}

    def list_orders(
        self,
        table_id: Optional[str] = None,
        server_id: Optional[str] = None,
        status: Optional[Literal["open", "billed", "paid"]] = None,
    ) -> dict:
        """
        List orders with their lines; every filter that is given must match.

        Args:
            table_id (str, optional): Table id, e.g. "T-7".
            server_id (str, optional): Server id, e.g. "S-3".
            status (str, optional): "open", "billed" or "paid".

        Returns:
            dict: {"success": True, "data": [OrderInfo with "guest_name" and "lines" added, ...]} sorted by order_id;
            each line is a LineInfo with "dish", "course" and "price" added. Or {"success": False, "error": str}.
        """
        if table_id is not None and self._find(self.tables, table_id) is None:
            return self._unknown("table", table_id)
        if server_id is not None and self._find(self.servers, server_id) is None:
            return self._unknown("server", server_id)
        problem = self._choice_filter("status", status, ORDER_STATUSES)
        if problem:
            return self._fail(problem)
        found = []
        for order_id, order in sorted(self.orders.items()):
            if (
                table_id in (None, order["table_id"])
                and server_id in (None, order["server_id"])
                and status in (None, order["status"])
            ):
                guest = self._find(self.guests, order["guest_id"])
                lines = []
                for line in self._lines_of(order_id):
                    dish = self.dishes[line["dish_id"]]
                    lines.append({**line, "dish": dish["name"], "course": dish["course"], "price": dish["price"]})
                found.append({**order, "guest_name": guest["name"] if guest else None, "lines": lines})
        return {"success": True, "data": found}

    def list_bills(self, order_id: Optional[str] = None, status: Optional[Literal["open", "paid"]] = None) -> dict:
        """
        List bills; every filter that is given must match.

        Args:
            order_id (str, optional): Order id, e.g. "O-310".
            status (str, optional): "open" or "paid".

        Returns:
            dict: {"success": True, "data": [BillInfo with "table_id", "to_pay" and "payments" added, ...]} sorted by
            bill_id, or {"success": False, "error": str}.
        """
        if order_id is not None and self._find(self.orders, order_id) is None:
            return self._unknown("order", order_id)
        problem = self._choice_filter("status", status, BILL_STATUSES)
        if problem:
            return self._fail(problem)
        found = []
        for bill_id, bill in sorted(self.bills.items()):
            if order_id in (None, bill["order_id"]) and status in (None, bill["status"]):
                more = {
                    "table_id": self.orders[bill["order_id"]]["table_id"],
                    "to_pay": round(bill["total"] - bill["paid"], 2),
                    "payments": [dict(entry) for entry in self.payments.values() if entry["bill_id"] == bill_id],
                }
                found.append({**bill, **more})
        return {"success": True, "data": found}

    # Changes: guests and reservations

    def add_guest(self, name: str, phone: str, allergies: Optional[List[str]] = None) -> dict:
        """
        Put a new guest on file; not a member of the club, and without no-shows.

        Args:
            name (str): Full name.
            phone (str): Phone number in digits, spaces and a leading "+"; must not belong to another guest.
            allergies (List[str], optional): Allergens to keep from the guest's table, e.g. ["nuts", "milk"].

        Returns:
            dict: {"success": True, "message": str, "guest_id": str}, or {"success": False, "error": str}.
        """
        if not isinstance(name, str) or not name.strip():
            return self._fail("name must be a non-empty string.")
        if not isinstance(phone, str) or not re.fullmatch(r"\+?[0-9][0-9 ]{5,18}", phone.strip()):
            return self._fail("phone must be a phone number of digits and spaces, with a '+' in front if abroad.")
        if allergies is not None and not (
            isinstance(allergies, list) and all(isinstance(entry, str) and entry.strip() for entry in allergies)
        ):
            return self._fail("allergies must be a list of allergens.")
        digits = phone.replace(" ", "")
        for guest in self.guests.values():
            if guest["phone"].replace(" ", "") == digits:
                return self._fail(f"The phone number already belongs to guest {guest['guest_id']}.")
        guest_id = f"G-{self.next_guest_number}"
        self.next_guest_number += 1
        self.guests[guest_id] = {
            "guest_id": guest_id,
            "name": name.strip(),
            "phone": phone.strip(),
            "club": False,
            "allergies": sorted({entry.strip().lower() for entry in allergies or []}),
            "no_shows": 0,
        }
        return {"success": True, "message": f"{name.strip()} is on file as {guest_id}.", "guest_id": guest_id}

    def book_reservation(
        self, guest_id: str, table_id: str, date: str, time: str, party_size: int, deposit: float = 0.0
    ) -> dict:
        """
        Reserve a table, which is then kept for 120 minutes.

        The party must fit the table (not above its seats, not below its min_party), the table must be neither closed
        nor taken, and the guest must have no other booked reservation on that day. Parties of 6 or more, and guests
        with 2 or more no-shows whatever their party, pay a deposit of 10.00 a head now; others pay none.

        Args:
            guest_id (str): Guest id, e.g. "G-204".
            table_id (str): Table id, e.g. "T-7".
            date (str): YYYY-MM-DD.
            time (str): HH:MM, a quarter hour from 17:00 to 21:30, in the future.
            party_size (int): Number of guests.
            deposit (float): The deposit that is paid; must be exactly what is due.

        Returns:
            dict: {"success": True, "message": str, "reservation_id": str}, or {"success": False, "error": str}.
        """
        guest = self._find(self.guests, guest_id)
        if guest is None:
            return self._unknown("guest", guest_id)
        problem = self._booking_problem(guest, table_id, date, time, party_size, None)
        if problem:
            return self._fail(problem)
        due = self._deposit_due(guest, party_size)
        if isinstance(deposit, bool) or not isinstance(deposit, (int, float)) or deposit != due:
            return self._fail(f"The deposit for this reservation is {due:.2f}.")
        reservation_id = f"R-{self.next_reservation_number}"
        self.next_reservation_number += 1
        self.reservations[reservation_id] = {
            "reservation_id": reservation_id,
            "guest_id": guest_id,
            "table_id": table_id,
            "date": date,
            "time": time,
            "party_size": party_size,
            "deposit": due,
            "deposit_status": "held" if due else "none",
            "status": "booked",
        }
        return {
            "success": True,
            "message": f"Table {table_id} is reserved for {guest['name']} on {date} at {time} ({reservation_id}).",
            "reservation_id": reservation_id,
        }

    def _booking_problem(
        self, guest: GuestInfo, table_id: object, day: object, time: object, party_size: object, besides: Optional[str]
    ) -> Optional[str]:
        """Say why a guest cannot have a table then, or None; `besides` is the reservation that is being changed."""
        table = self._find(self.tables, table_id)
        if table is None:
            return str(self._unknown("table", table_id)["error"])
        problem = self._slot(day, time)
        if problem:
            return problem
        if not self._is_count(party_size):
            return "party_size must be a whole number of 1 or more."
        assert isinstance(day, str) and isinstance(time, str) and isinstance(party_size, int)
        if table["status"] == "closed":
            return f"Table {table['table_id']} is closed."
        problem = self._fit(table, party_size)
        if problem:
            return problem
        clash = self._clash(table["table_id"], day, time, besides)
        if clash:
            return f"Table {table['table_id']} is taken by {clash['reservation_id']} at {clash['time']} on that day."
        for key, entry in sorted(self.reservations.items()):
            if key != besides and entry["guest_id"] == guest["guest_id"]:
                if entry["status"] == "booked" and entry["date"] == day:
                    return f"{guest['name']} already has reservation {key} on {day}."
        return None

    def change_reservation(
        self,
        reservation_id: str,
        table_id: Optional[str] = None,
        date: Optional[str] = None,
        time: Optional[str] = None,
        party_size: Optional[int] = None,
    ) -> dict:
        """
        Change a booked reservation; what is left out stays as it is, and the new data must be bookable.

        The deposit follows the party size: a difference is charged or paid back at once. Less than 24 hours before
        its time, a party with a deposit cannot be made smaller.

        Args:
            reservation_id (str): Reservation id, e.g. "R-118".
            table_id (str, optional): New table.
            date (str, optional): New date, YYYY-MM-DD.
            time (str, optional): New time, HH:MM, a quarter hour from 17:00 to 21:30.
            party_size (int, optional): New number of guests.

        Returns:
            dict: {"success": True, "message": str, "deposit": float}, or {"success": False, "error": str}.
        """
        entry = self._find(self.reservations, reservation_id)
        if entry is None:
            return self._unknown("reservation", reservation_id)
        if entry["status"] != "booked":
            return self._fail(f"Reservation {reservation_id} is not booked; its status is '{entry['status']}'.")
        if table_id is None and date is None and time is None and party_size is None:
            return self._fail("Give a table_id, a date, a time or a party_size.")
        guest = self.guests[entry["guest_id"]]
        wanted_table = entry["table_id"] if table_id is None else table_id
        wanted_date = entry["date"] if date is None else date
        wanted_time = entry["time"] if time is None else time
        wanted_size = entry["party_size"] if party_size is None else party_size
        problem = self._booking_problem(guest, wanted_table, wanted_date, wanted_time, wanted_size, reservation_id)
        if problem:
            return self._fail(problem)
        ahead = self._minutes(entry["date"], entry["time"]) - self._now()
        if wanted_size < entry["party_size"] and entry["deposit"] and ahead < REFUND_HOURS * 60:
            return self._fail(f"A party with a deposit cannot be made smaller less than {REFUND_HOURS} hours before.")
        due = self._deposit_due(guest, wanted_size)
        entry["table_id"] = wanted_table
        entry["date"] = wanted_date
        entry["time"] = wanted_time
        entry["party_size"] = wanted_size
        entry["deposit"] = due
        entry["deposit_status"] = "held" if due else "none"
        return {
            "success": True,
            "message": f"{reservation_id}: table {wanted_table}, {wanted_date} {wanted_time}, party of {wanted_size}.",
            "deposit": due,
        }

    def close_reservation(self, reservation_id: str, outcome: Literal["cancelled", "no_show"]) -> dict:
        """
        Cancel a booked reservation, or record that the party did not come.

        A deposit is refunded when the guest cancels at least 24 hours before the time, and kept otherwise. A no-show
        can be recorded once the party is 30 minutes late; it counts against the guest.

        Args:
            reservation_id (str): Reservation id, e.g. "R-118".
            outcome (str): "cancelled" or "no_show".

        Returns:
            dict: {"success": True, "message": str, "deposit_status": str}, or {"success": False, "error": str}.
        """
        entry = self._find(self.reservations, reservation_id)
        if entry is None:
            return self._unknown("reservation", reservation_id)
        if not isinstance(outcome, str) or outcome not in ("cancelled", "no_show"):
            return self._fail("outcome must be one of: cancelled, no_show.")
        if entry["status"] != "booked":
            return self._fail(f"Reservation {reservation_id} is not booked; its status is '{entry['status']}'.")
        ahead = self._minutes(entry["date"], entry["time"]) - self._now()
        if outcome == "no_show" and ahead > -LATE_MINUTES:
            return self._fail(f"The party of {reservation_id} is not {LATE_MINUTES} minutes late.")
        if outcome == "no_show":
            self.guests[entry["guest_id"]]["no_shows"] += 1
        if entry["deposit_status"] == "held":
            back = outcome == "cancelled" and ahead >= REFUND_HOURS * 60
            entry["deposit_status"] = "refunded" if back else "kept"
        entry["status"] = outcome
        return {
            "success": True,
            "message": f"Reservation {reservation_id} is '{outcome}'; deposit: {entry['deposit_status']}.",
            "deposit_status": entry["deposit_status"],
        }

    # Changes: seating

    def join_waitlist(self, name: str, party_size: int, area: str = "any") -> dict:
        """
        Put a party without a reservation at the end of the waitlist.

        Args:
            name (str): Name of the party; nobody else of that name may be waiting.
            party_size (int): Number of guests; some table of the area must be large enough.
            area (str): Exact name of the only area that the party wants, or "any".

        Returns:
            dict: {"success": True, "message": str, "entry_id": str}, or {"success": False, "error": str}.
        """
        if not isinstance(name, str) or not name.strip():
            return self._fail("name must be a non-empty string.")
        if not isinstance(area, str) or area not in (*self.areas, "any"):
            return self._fail(f"area must be one of: {', '.join(self.areas)}, any.")
        if not self._is_count(party_size):
            return self._fail("party_size must be a whole number of 1 or more.")
        if not any(area in ("any", t["area"]) and self._fit(t, party_size) is None for t in self.tables.values()):
            return self._fail(f"No table of that area takes a party of {party_size}.")
        for other in self.waitlist.values():
            if other["status"] == "waiting" and other["name"].lower() == name.strip().lower():
                return self._fail(f"{other['name']} is already waiting as {other['entry_id']}.")
        entry_id = f"W-{self.next_entry_number}"
        self.next_entry_number += 1
        self.waitlist[entry_id] = {
            "entry_id": entry_id,
            "name": name.strip(),
            "party_size": party_size,
            "area": area,
            "joined_at": self.current_time,
            "status": "waiting",
        }
        return {"success": True, "message": f"{name.strip()} waits as {entry_id}.", "entry_id": entry_id}

    def leave_waitlist(self, entry_id: str) -> dict:
        """
        Record that a waiting party has left.

        Args:
            entry_id (str): Waitlist entry id, e.g. "W-52".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        entry = self._find(self.waitlist, entry_id)
        if entry is None:
            return self._unknown("entry", entry_id)
        if entry["status"] != "waiting":
            return self._fail(f"Entry {entry_id} is not waiting; its status is '{entry['status']}'.")
        entry["status"] = "left"
        return {"success": True, "message": f"{entry['name']} has left the waitlist."}

    def seat_reservation(self, reservation_id: str, server_id: str) -> dict:
        """
        Seat a party at its reserved table and open its order.

        Possible from 30 minutes before its time, while the table is free. The server must be on shift in the area of
        the table, with fewer than 4 open orders.

        Args:
            reservation_id (str): Reservation id, e.g. "R-118".
            server_id (str): Server id, e.g. "S-3".

        Returns:
            dict: {"success": True, "message": str, "order_id": str}, or {"success": False, "error": str}.
        """
        entry = self._find(self.reservations, reservation_id)
        if entry is None:
            return self._unknown("reservation", reservation_id)
        if entry["status"] != "booked":
            return self._fail(f"Reservation {reservation_id} is not booked; its status is '{entry['status']}'.")
        ahead = self._minutes(entry["date"], entry["time"]) - self._now()
        if entry["date"] != self.current_date or ahead > EARLY_MINUTES:
            return self._fail(f"Reservation {reservation_id} is for {entry['date']} at {entry['time']}.")
        table = self.tables[entry["table_id"]]
        if table["status"] != "free":
            return self._fail(f"Table {table['table_id']} is not free; its status is '{table['status']}'.")
        problem = self._server_problem(server_id, table)
        if problem:
            return self._fail(problem)
        entry["status"] = "seated"
        order_id = self._open_order(table, server_id, entry["party_size"], entry)
        return {
            "success": True,
            "message": f"Seated {reservation_id} at table {table['table_id']}; the order is {order_id}.",
            "order_id": order_id,
        }

    def seat_waiting_party(self, entry_id: str, table_id: str, server_id: str) -> dict:
        """
        Seat a party from the waitlist and open its order.

        The table must be free, fit the party, lie in the area it wants, and not be reserved within the next 90
        minutes. Whoever came first and could take this table goes first. The server must be on shift in the area of
        the table, with fewer than 4 open orders.

        Args:
            entry_id (str): Waitlist entry id, e.g. "W-52".
            table_id (str): Table id, e.g. "T-7".
            server_id (str): Server id, e.g. "S-3".

        Returns:
            dict: {"success": True, "message": str, "order_id": str}, or {"success": False, "error": str}.
        """
        entry = self._find(self.waitlist, entry_id)
        if entry is None:
            return self._unknown("entry", entry_id)
        table = self._find(self.tables, table_id)
        if table is None:
            return self._unknown("table", table_id)
        if entry["status"] != "waiting":
            return self._fail(f"Entry {entry_id} is not waiting; its status is '{entry['status']}'.")
        if entry["area"] not in ("any", table["area"]):
            return self._fail(f"{entry['name']} waits for the {entry['area']} only.")
        problem = self._taking_problem(table, entry["party_size"]) or self._server_problem(server_id, table)
        if problem:
            return self._fail(problem)
        turn = (entry["joined_at"], entry_id)
        for other in sorted(self.waitlist.values(), key=lambda row: (row["joined_at"], row["entry_id"])):
            wants = other["area"] in ("any", table["area"]) and self._fit(table, other["party_size"]) is None
            if other["status"] == "waiting" and wants and (other["joined_at"], other["entry_id"]) < turn:
                return self._fail(f"{other['name']} ({other['entry_id']}) came first and could take this table.")
        entry["status"] = "seated"
        order_id = self._open_order(table, server_id, entry["party_size"], None)
        return {
            "success": True,
            "message": f"Seated {entry['name']} at table {table_id}; the order is {order_id}.",
            "order_id": order_id,
        }

    def _taking_problem(self, table: TableInfo, party_size: int, besides: Optional[str] = None) -> Optional[str]:
        """Say why a party without a claim to a table cannot sit down at it now, or None."""
        if table["status"] != "free":
            return f"Table {table['table_id']} is not free; its status is '{table['status']}'."
        problem = self._fit(table, party_size)
        if problem:
            return problem
        soon = self._soon_reserved(table["table_id"], besides)
        if soon:
            return f"Table {table['table_id']} is kept for reservation {soon['reservation_id']} at {soon['time']}."
        return None

    def move_party(self, order_id: str, table_id: str, server_id: Optional[str] = None) -> dict:
        """
        Move a seated party with an open order to another table; the old one is dirty then.

        The new table must be free, fit the party and not be reserved within the next 90 minutes. The server stays the
        same; in another area a server of that area takes over, who must be on shift with fewer than 4 open orders.

        Args:
            order_id (str): Order id, e.g. "O-310".
            table_id (str): The new table.
            server_id (str, optional): Server who takes over; needed, and only allowed, in another area.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        order = self._find(self.orders, order_id)
        if order is None:
            return self._unknown("order", order_id)
        table = self._find(self.tables, table_id)
        if table is None:
            return self._unknown("table", table_id)
        if order["status"] != "open":
            return self._fail(f"Order {order_id} is not open; its status is '{order['status']}'.")
        problem = self._taking_problem(table, order["party_size"], order["reservation_id"])
        if problem:
            return self._fail(problem)
        old = self.tables[order["table_id"]]
        if old["area"] == table["area"]:
            if server_id is not None:
                return self._fail("The server stays the same within an area; leave server_id out.")
        else:
            problem = self._server_problem(server_id, table)
            if problem:
                return self._fail(problem)
            order["server_id"] = str(server_id)
        old["status"] = "dirty"
        table["status"] = "occupied"
        order["table_id"] = table_id
        if order["reservation_id"] is not None:
            self.reservations[order["reservation_id"]]["table_id"] = table_id
        return {"success": True, "message": f"Order {order_id} moved from {old['table_id']} to {table_id}."}

    def set_table_status(self, table_id: str, status: Literal["free", "closed"]) -> dict:
        """
        Clean a dirty table or open a closed one ("free"), or take a table out of service ("closed").

        An occupied table cannot be changed. A table cannot be closed while a booked reservation of today is on it.

        Args:
            table_id (str): Table id, e.g. "T-7".
            status (str): "free" or "closed"; must differ from the present status.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        table = self._find(self.tables, table_id)
        if table is None:
            return self._unknown("table", table_id)
        if not isinstance(status, str) or status not in ("free", "closed"):
            return self._fail("status must be one of: free, closed.")
        if table["status"] == "occupied":
            return self._fail(f"Table {table_id} is occupied.")
        if table["status"] == status:
            return self._fail(f"Table {table_id} is already '{status}'.")
        if status == "closed":
            for key, entry in sorted(self.reservations.items()):
                if (entry["table_id"], entry["date"], entry["status"]) == (table_id, self.current_date, "booked"):
                    return self._fail(f"Table {table_id} is reserved today by {key}; that must be moved first.")
        table["status"] = status
        return {"success": True, "message": f"Table {table_id} is now '{status}'."}

    # Changes: orders and the kitchen

    def order_dish(self, order_id: str, dish_id: str, quantity: int) -> dict:
        """
        Add a dish or drink to an open order; its portions are taken from what is left today.

        What holds an allergen of the guest who reserved is not brought to that table. The same dish ordered again
        before the kitchen cooks it raises the quantity of its line.

        Args:
            order_id (str): Order id, e.g. "O-310".
            dish_id (str): Dish id, e.g. "D-14".
            quantity (int): Number of portions.

        Returns:
            dict: {"success": True, "message": str, "line_id": str}, or {"success": False, "error": str}.
        """
        order = self._find(self.orders, order_id)
        if order is None:
            return self._unknown("order", order_id)
        dish = self._find(self.dishes, dish_id)
        if dish is None:
            return self._unknown("dish", dish_id)
        if not self._is_count(quantity):
            return self._fail("quantity must be a whole number of 1 or more.")
        if order["status"] != "open":
            return self._fail(f"Order {order_id} is not open; its status is '{order['status']}'.")
        guest = self._find(self.guests, order["guest_id"])
        harmful = sorted(set(guest["allergies"]) & set(dish["allergens"])) if guest else []
        if guest and harmful:
            return self._fail(f"{dish['name']} holds {', '.join(harmful)}, which {guest['name']} must not have.")
        if quantity > dish["portions"]:
            return self._fail(f"Of {dish['name']} only {dish['portions']} portions are left.")
        dish["portions"] -= quantity
        for line in self._lines_of(order_id):
            if line["dish_id"] == dish_id and line["status"] == "ordered":
                line["quantity"] += quantity
                break
        else:
            line_id = f"L-{self.next_line_number}"
            self.next_line_number += 1
            line = {
                "line_id": line_id,
                "order_id": order_id,
                "dish_id": dish_id,
                "quantity": quantity,
                "status": "ordered",
            }
            self.lines[line_id] = line
        return {
            "success": True,
            "message": f"Order {order_id} now has {line['quantity']} x {dish['name']} to send ({line['line_id']}).",
            "line_id": line["line_id"],
        }

    def cancel_line(self, line_id: str, quantity: Optional[int] = None) -> dict:
        """
        Take portions off a line that the kitchen has not begun; they can be ordered again.

        Args:
            line_id (str): Line id, e.g. "L-640". Its status must be "ordered".
            quantity (int, optional): How many portions; all of them if left out. A line without portions is "void".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        line = self._find(self.lines, line_id)
        if line is None:
            return self._unknown("line", line_id)
        if line["status"] != "ordered":
            return self._fail(f"Line {line_id} can no longer be cancelled; its status is '{line['status']}'.")
        number = line["quantity"] if quantity is None else quantity
        if not self._is_count(number) or number > line["quantity"]:
            return self._fail(f"quantity must be a whole number from 1 to {line['quantity']}.")
        line["quantity"] -= number
        self.dishes[line["dish_id"]]["portions"] += number
        if line["quantity"] == 0:
            line["status"] = "void"
        return {"success": True, "message": f"Took {number} off line {line_id}; {line['quantity']} are left on it."}

    def advance_course(
        self, order_id: str, course: Literal["starter", "main", "dessert", "drink"], step: Literal["fired", "served"]
    ) -> dict:
        """
        Send a course of an order to the kitchen or bar ("fired"), or record that it came to the table ("served").

        All lines of the course go together: "ordered" ones are fired, "fired" ones are served. Mains are fired only
        once no starter of the order is ordered or fired any more, desserts once no main is; drinks at any time.

        Args:
            order_id (str): Order id, e.g. "O-310".
            course (str): "starter", "main", "dessert" or "drink".
            step (str): "fired" or "served".

        Returns:
            dict: {"success": True, "message": str, "line_ids": [str, ...]}, or {"success": False, "error": str}.
        """
        order = self._find(self.orders, order_id)
        if order is None:
            return self._unknown("order", order_id)
        if not isinstance(course, str) or course not in COURSES:
            return self._fail(f"course must be one of: {', '.join(COURSES)}.")
        if not isinstance(step, str) or step not in ("fired", "served"):
            return self._fail("step must be one of: fired, served.")
        if order["status"] != "open":
            return self._fail(f"Order {order_id} is not open; its status is '{order['status']}'.")
        before = {"main": "starter", "dessert": "main"}.get(course)
        lines = self._lines_of(order_id)
        if step == "fired" and before is not None:
            for line in lines:
                if line["status"] in ("ordered", "fired") and self.dishes[line["dish_id"]]["course"] == before:
                    return self._fail(f"The {before}s of order {order_id} must be served before a {course} is fired.")
        present = "ordered" if step == "fired" else "fired"
        chosen = [
            line for line in lines if line["status"] == present and self.dishes[line["dish_id"]]["course"] == course
        ]
        if not chosen:
            return self._fail(f"Order {order_id} has no {course} that is '{present}'.")
        for line in chosen:
            line["status"] = step
        return {
            "success": True,
            "message": f"{len(chosen)} lines of order {order_id} are now '{step}'.",
            "line_ids": [line["line_id"] for line in chosen],
        }

    # Changes: bills

    def issue_bill(self, order_id: str) -> dict:
        """
        Make the bill of an open order, of which everything has been served.

        Club members pay 10 % less for food (not for drinks) on the order of their reservation. Parties of 6 or more
        pay a service charge of 12.5 % on the rest. A deposit that is held is credited, as far as the bill goes.

        Args:
            order_id (str): Order id, e.g. "O-310".

        Returns:
            dict: {"success": True, "message": str, "bill_id": str, "total": float}, or
            {"success": False, "error": str}.
        """
        order = self._find(self.orders, order_id)
        if order is None:
            return self._unknown("order", order_id)
        if order["status"] != "open":
            return self._fail(f"Order {order_id} is not open; its status is '{order['status']}'.")
        lines = [line for line in self._lines_of(order_id) if line["status"] != "void"]
        if not lines or any(line["status"] != "served" for line in lines):
            return self._fail(f"Order {order_id} has lines that are not served yet, or none at all.")
        food = drinks = 0.0
        for line in lines:
            dish = self.dishes[line["dish_id"]]
            if dish["course"] == "drink":
                drinks += dish["price"] * line["quantity"]
            else:
                food += dish["price"] * line["quantity"]
        guest = self._find(self.guests, order["guest_id"])
        subtotal = round(food + drinks, 2)
        discount = round(food * CLUB_RATE, 2) if guest and guest["club"] else 0.0
        service = round((subtotal - discount) * SERVICE_RATE, 2) if order["party_size"] >= LARGE_PARTY else 0.0
        gross = round(subtotal - discount + service, 2)
        entry = self._find(self.reservations, order["reservation_id"])
        deposit_used = 0.0
        if entry and entry["deposit_status"] == "held":
            deposit_used = min(float(entry["deposit"]), gross)
            entry["deposit_status"] = "credited"
        bill_id = f"B-{self.next_bill_number}"
        self.next_bill_number += 1
        total = round(gross - deposit_used, 2)
        self.bills[bill_id] = {
            "bill_id": bill_id,
            "order_id": order_id,
            "subtotal": subtotal,
            "discount": discount,
            "service": service,
            "deposit_used": deposit_used,
            "total": total,
            "paid": 0.0,
            "status": "open" if total else "paid",
        }
        if total:
            order["status"] = "billed"
        else:
            self._finish(order)
        return {
            "success": True,
            "message": f"Bill {bill_id} for order {order_id}: {total:.2f} to pay.",
            "bill_id": bill_id,
            "total": total,
        }

    def pay_bill(self, bill_id: str, method: Literal["card", "cash", "voucher"], amount: float) -> dict:
        """
        Take a payment towards an open bill; several payments may split it.

        Once nothing is left to pay the bill and its order are "paid", and the table is dirty.

        Args:
            bill_id (str): Bill id, e.g. "B-77".
            method (str): "card", "cash" or "voucher".
            amount (float): Amount in whole cents, above 0 and not above what is still to pay.

        Returns:
            dict: {"success": True, "message": str, "to_pay": float}, or {"success": False, "error": str}.
        """
        bill = self._find(self.bills, bill_id)
        if bill is None:
            return self._unknown("bill", bill_id)
        if not isinstance(method, str) or method not in METHODS:
            return self._fail(f"method must be one of: {', '.join(METHODS)}.")
        if bill["status"] != "open":
            return self._fail(f"Bill {bill_id} is not open; its status is '{bill['status']}'.")
        left = round(bill["total"] - bill["paid"], 2)
        if isinstance(amount, bool) or not isinstance(amount, (int, float)) or not 0 < amount <= left:
            return self._fail(f"amount must be a number above 0 and at most {left:.2f}, which is still to pay.")
        if abs(amount - round(amount, 2)) > 1e-9 or round(amount, 2) == 0:
            return self._fail("amount must be in whole cents.")
        payment_id = f"P-{self.next_payment_number}"
        self.next_payment_number += 1
        self.payments[payment_id] = {
            "payment_id": payment_id,
            "bill_id": bill_id,
            "method": method,
            "amount": round(float(amount), 2),
        }
        bill["paid"] = round(bill["paid"] + amount, 2)
        left = round(bill["total"] - bill["paid"], 2)
        if left == 0:
            bill["status"] = "paid"
            self._finish(self.orders[bill["order_id"]])
        return {
            "success": True,
            "message": f"Took {amount:.2f} by {method} for bill {bill_id}; {left:.2f} is left to pay.",
            "to_pay": left,
        }
