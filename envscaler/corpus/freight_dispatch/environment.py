import copy
import math
import re
from datetime import date, datetime, timedelta
from typing import Collection, Dict, List, Literal, Optional, TypedDict, TypeVar

Record = TypeVar("Record")


class CustomerInfo(TypedDict):
    customer_id: str
    name: str
    credit_limit: float  # most that may be unsettled at a time
    status: str  # "active" or "on_hold"; only the accounts office changes it


class DriverInfo(TypedDict):
    driver_id: str
    name: str
    location: str  # terminal where the driver is, or left from
    endorsements: List[str]  # "hazmat" and "tanker"
    medical_until: str  # YYYY-MM-DD, last day covered by the medical card
    drive_hours: float  # driven in the present shift, trips that are completed
    week_hours: float  # on duty in the present week, trips that are completed
    rest_kind: Optional[str]  # "daily" or "weekly": the rest that is scheduled, if any
    rest_until: Optional[str]  # YYYY-MM-DD HH:MM, end of that rest
    status: str  # "active" or "on_leave"


class TruckInfo(TypedDict):
    truck_id: str
    model: str
    location: str
    odometer_km: int
    service_due_km: int  # odometer reading that must not be passed before the next service
    status: str  # "available" or "in_shop"


class TrailerInfo(TypedDict):
    trailer_id: str
    trailer_kind: str  # "dry_van", "reefer" or "flatbed"
    max_weight_kg: int
    pallet_places: int
    location: str
    inspected_until: str  # YYYY-MM-DD, last day on which the inspection is valid
    status: str  # "available" or "in_shop"


class RouteInfo(TypedDict):
    route_id: str
    name: str
    origin: str
    destination: str
    km: int
    hours: float  # driving time
    tunnel: bool  # closed to hazardous goods


class LoadInfo(TypedDict):
    load_id: str
    customer_id: str
    reference: str  # the customer's own order number
    commodity: str
    goods_class: str  # "general", "food" or "hazmat"
    trailer_kind: str
    weight_kg: int
    pallets: int
    origin: str
    destination: str
    ready_at: str  # YYYY-MM-DD HH:MM, earliest loading
    deliver_by: str  # YYYY-MM-DD HH:MM, latest arrival
    status: str  # "booked", "planned", "in_transit", "delivered" or "cancelled"
    rate: float  # with the fuel surcharge, without charges
    settled: bool


class TripInfo(TypedDict):
    trip_id: str
    route_id: str
    load_ids: List[str]
    driver_id: str
    truck_id: str
    trailer_id: str
    departure: str  # YYYY-MM-DD HH:MM
    arrival: str  # planned; the real one once the trip is completed
    status: str  # "planned", "dispatched", "completed" or "cancelled"
    cancel_reason: Optional[str]


class DockInfo(TypedDict):
    dock_id: str
    terminal: str
    trailer_kinds: List[str]
    open_from: str  # HH:MM
    open_to: str  # HH:MM


class SlotInfo(TypedDict):
    slot_id: str
    dock_id: str
    load_id: str
    purpose: str  # "loading" or "unloading"
    start: str  # YYYY-MM-DD HH:MM
    end: str  # YYYY-MM-DD HH:MM
    status: str  # "booked" or "cancelled"


class ChargeInfo(TypedDict):
    charge_id: str
    load_id: str
    kind: str  # "detention", "layover", "lumper", "cancellation" or "late_credit" (below 0)
    amount: float
    added_on: str  # YYYY-MM-DD


TRAILER_KINDS = ("dry_van", "reefer", "flatbed")
GOODS_CLASSES = ("general", "food", "hazmat")
LOAD_STATUSES = ("booked", "planned", "in_transit", "delivered", "cancelled")
TRIP_STATUSES = ("planned", "dispatched", "completed", "cancelled")
DRIVE_LIMIT = 11.0  # hours at the wheel between two rests
WEEK_LIMIT = 60.0  # hours on duty between two weekly rests
HANDLING_HOURS = 1.0  # duty that a trip takes besides driving
REST_HOURS = {"daily": 10, "weekly": 34}
SERVICE_KM = 40000  # a truck that leaves the shop is due again after this distance
INSPECTION_DAYS = 365  # how long a trailer that leaves the shop is inspected for
RATE_PER_KM = {"dry_van": 1.60, "reefer": 2.10, "flatbed": 1.90}
MINIMUM_RATE = 250.00  # before surcharges
HAZMAT_FACTOR = 1.20
SMALL_LOAD_PALLETS = 12  # up to this many pallets take one hour at a dock, more take two
FREE_WAITING_HOURS = 2
DETENTION_RATE = 55.00  # per started hour beyond the free ones
LAYOVER_RATE = 220.00  # per night
LUMPER_RATE = 3.50  # per pallet
CANCELLATION_FEE = 150.00  # for a load cancelled less than 24 hours before it is ready
LATE_SHARE = 0.10  # of the rate, given back for a late arrival


class FreightDispatch:
    def __init__(self, init_config: dict):
        """
        The dispatch office of a road haulier with several terminals.

        Args:
            init_config (dict): The initial state: one key per attribute below.
        """
        self.customers: Dict[str, CustomerInfo] = init_config.get("customers", {})
        self.drivers: Dict[str, DriverInfo] = init_config.get("drivers", {})
        self.trucks: Dict[str, TruckInfo] = init_config.get("trucks", {})
        self.trailers: Dict[str, TrailerInfo] = init_config.get("trailers", {})
        self.routes: Dict[str, RouteInfo] = init_config.get("routes", {})
        self.loads: Dict[str, LoadInfo] = init_config.get("loads", {})
        self.trips: Dict[str, TripInfo] = init_config.get("trips", {})
        self.docks: Dict[str, DockInfo] = init_config.get("docks", {})
        self.dock_slots: Dict[str, SlotInfo] = init_config.get("dock_slots", {})
        self.charges: Dict[str, ChargeInfo] = init_config.get("charges", {})

        # Names of the terminals
        self.terminals: List[str] = init_config.get("terminals", [])

        # Now at the dispatch office, YYYY-MM-DD HH:MM
        self.current_time: str = init_config.get("current_time", "2025-01-06 08:00")

        # Added to every rate that is quoted, in percent
        self.fuel_surcharge_percent: float = init_config.get("fuel_surcharge_percent", 0.0)

        # The number that the next new record of each kind gets
        self.next_load_number: int = init_config.get("next_load_number", 1)
        self.next_trip_number: int = init_config.get("next_trip_number", 1)
        self.next_slot_number: int = init_config.get("next_slot_number", 1)
        self.next_charge_number: int = init_config.get("next_charge_number", 1)

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
    def _is_text(value: object) -> bool:
        return isinstance(value, str) and value.strip() != ""

    @staticmethod
    def _is_count(value: object, most: int) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most

    @staticmethod
    def _is_moment(value: object) -> bool:
        if not isinstance(value, str):
            return False
        if not re.fullmatch(r"20[0-9]{2}-[0-9]{2}-[0-9]{2} ([01][0-9]|2[0-3]):[0-5][0-9]", value):
            return False
        try:
            datetime.fromisoformat(value)
        except ValueError:
            return False
        return True

    @staticmethod
    def _later(moment: str, hours: float) -> str:
        return (datetime.fromisoformat(moment) + timedelta(hours=hours)).strftime("%Y-%m-%d %H:%M")

    def _rate(self, km: int, trailer_kind: str, goods_class: str) -> float:
        base = max(km * RATE_PER_KM[trailer_kind], MINIMUM_RATE)
        if goods_class == "hazmat":
            base *= HAZMAT_FACTOR
        return round(base * (1 + self.fuel_surcharge_percent / 100), 2)

    def _connections(self, origin: str, destination: str) -> List[RouteInfo]:
        return [r for r in self.routes.values() if r["origin"] == origin and r["destination"] == destination]

    def _total(self, load: LoadInfo) -> float:
        """What a load costs its customer: the rate unless it was cancelled, and its charges."""
        extra = sum(charge["amount"] for charge in self.charges.values() if charge["load_id"] == load["load_id"])
        return round((0.0 if load["status"] == "cancelled" else load["rate"]) + extra, 2)

    def _exposure(self, customer_id: str) -> float:
        unsettled = [x for x in self.loads.values() if x["customer_id"] == customer_id and not x["settled"]]
        return round(sum(self._total(load) for load in unsettled), 2)

    def _open_trip(self, field: Literal["driver_id", "truck_id", "trailer_id"], value: str) -> Optional[TripInfo]:
        """The planned or dispatched trip of a driver, truck or trailer: there is at most one."""
        for trip in self.trips.values():
            if trip[field] == value and trip["status"] in ("planned", "dispatched"):
                return trip
        return None

    def _trip_of(self, load_id: str) -> Optional[TripInfo]:
        for trip in self.trips.values():
            if load_id in trip["load_ids"] and trip["status"] != "cancelled":
                return trip
        return None

    def _slot_of(self, load_id: str, purpose: str) -> Optional[SlotInfo]:
        for slot in self.dock_slots.values():
            if slot["load_id"] == load_id and slot["purpose"] == purpose and slot["status"] == "booked":
                return slot
        return None

    def _hours_left(self, driver: DriverInfo, moment: str) -> Dict[str, float]:
        """Hours that a driver has left at a moment, counting a scheduled rest that is over by then."""
        drive, week = driver["drive_hours"], driver["week_hours"]
        if driver["rest_until"] is not None and driver["rest_until"] <= moment:
            drive = 0.0
            week = 0.0 if driver["rest_kind"] == "weekly" else week
        return {"drive": round(DRIVE_LIMIT - drive, 2), "week": round(WEEK_LIMIT - week, 2)}

    def _driver_problem(self, driver: DriverInfo, trip: TripInfo) -> Optional[str]:
        name, route = driver["name"], self.routes[trip["route_id"]]
        if driver["status"] != "active":
            return f"{name} is on leave."
        other = self._open_trip("driver_id", driver["driver_id"])
        if other is not None and other["trip_id"] != trip["trip_id"]:
            return f"{name} already has trip {other['trip_id']}, which is {other['status']}."
        if driver["location"] != route["origin"]:
            return f"{name} is at {driver['location']}, not at {route['origin']}."
        if driver["medical_until"] < trip["arrival"][:10]:
            return f"The medical card of {name} ends on {driver['medical_until']}, before the trip does."
        if driver["rest_until"] is not None and trip["departure"] < driver["rest_until"]:
            return f"{name} is to rest until {driver['rest_until']}."
        if any(self.loads[key]["goods_class"] == "hazmat" for key in trip["load_ids"]):
            if "hazmat" not in driver["endorsements"]:
                return f"{name} has no hazmat endorsement."
        left = self._hours_left(driver, trip["departure"])
        if route["hours"] > left["drive"]:
            return f"{name} has {left['drive']:g} driving hours left in this shift; the route takes {route['hours']:g}."
        if route["hours"] + HANDLING_HOURS > left["week"]:
            return (
                f"{name} has {left['week']:g} duty hours left this week; the trip takes"
                f" {route['hours'] + HANDLING_HOURS:g}."
            )
        return None

    def _truck_problem(self, truck: TruckInfo, trip: TripInfo) -> Optional[str]:
        route = self.routes[trip["route_id"]]
        if truck["status"] != "available":
            return f"Truck {truck['truck_id']} is in the shop."
        other = self._open_trip("truck_id", truck["truck_id"])
        if other is not None and other["trip_id"] != trip["trip_id"]:
            return f"Truck {truck['truck_id']} already has trip {other['trip_id']}."
        if truck["location"] != route["origin"]:
            return f"Truck {truck['truck_id']} is at {truck['location']}, not at {route['origin']}."
        if truck["odometer_km"] + route["km"] > truck["service_due_km"]:
            return (
                f"Truck {truck['truck_id']} may drive {truck['service_due_km'] - truck['odometer_km']} km before its"
                f" service; the route has {route['km']} km."
            )
        return None

    def _trailer_problem(self, trailer: TrailerInfo, trip: TripInfo) -> Optional[str]:
        route, key = self.routes[trip["route_id"]], trailer["trailer_id"]
        loads = [self.loads[load_id] for load_id in trip["load_ids"]]
        if trailer["status"] != "available":
            return f"Trailer {key} is in the shop."
        other = self._open_trip("trailer_id", key)
        if other is not None and other["trip_id"] != trip["trip_id"]:
            return f"Trailer {key} already has trip {other['trip_id']}."
        if trailer["location"] != route["origin"]:
            return f"Trailer {key} is at {trailer['location']}, not at {route['origin']}."
        if trailer["inspected_until"] < trip["arrival"][:10]:
            return f"The inspection of trailer {key} ends on {trailer['inspected_until']}, before the trip does."
        wrong = [load["load_id"] for load in loads if load["trailer_kind"] != trailer["trailer_kind"]]
        if wrong:
            return f"Trailer {key} is a {trailer['trailer_kind']}; load {wrong[0]} needs another kind."
        weight, pallets = sum(load["weight_kg"] for load in loads), sum(load["pallets"] for load in loads)
        if weight > trailer["max_weight_kg"]:
            return f"The loads weigh {weight} kg; trailer {key} takes {trailer['max_weight_kg']} kg."
        if pallets > trailer["pallet_places"]:
            return f"The loads have {pallets} pallets; trailer {key} has {trailer['pallet_places']} places."
        return None

    def _trip_problem(self, trip: TripInfo) -> Optional[str]:
        """The first rule that a trip as it is given would break, or None."""
        route = self.routes[trip["route_id"]]
        loads = [self.loads[load_id] for load_id in trip["load_ids"]]
        if trip["departure"] < self.current_time:
            return "departure must not lie in the past."
        classes = {load["goods_class"] for load in loads}
        if {"food", "hazmat"} <= classes:
            return "Food and hazardous goods must not share a trailer."
        if route["tunnel"] and "hazmat" in classes:
            return f"Route {route['route_id']} has a tunnel that is closed to hazardous goods."
        for load in loads:
            if trip["departure"] < load["ready_at"]:
                return f"Load {load['load_id']} is not ready before {load['ready_at']}."
            if trip["arrival"] > load["deliver_by"]:
                return (
                    f"The trip would arrive at {trip['arrival']}; load {load['load_id']} is due {load['deliver_by']}."
                )
            loading = self._slot_of(load["load_id"], "loading")
            if loading is not None and loading["end"] > trip["departure"]:
                return f"Load {load['load_id']} is at the dock until {loading['end']} (slot {loading['slot_id']})."
            unloading = self._slot_of(load["load_id"], "unloading")
            if unloading is not None and unloading["start"] < trip["arrival"]:
                return f"Load {load['load_id']} is to be unloaded at {unloading['start']}, before the trip arrives."
        return (
            self._driver_problem(self.drivers[trip["driver_id"]], trip)
            or self._truck_problem(self.trucks[trip["truck_id"]], trip)
            or self._trailer_problem(self.trailers[trip["trailer_id"]], trip)
        )

    def _add_charge(self, load_id: str, kind: str, amount: float) -> str:
        charge_id = f"CH-{self.next_charge_number}"
        self.next_charge_number += 1
        self.charges[charge_id] = {
            "charge_id": charge_id,
            "load_id": load_id,
            "kind": kind,
            "amount": amount,
            "added_on": self.current_time[:10],
        }
        return charge_id

    # Queries

    def search_customers(self, name: Optional[str] = None) -> dict:
        """
        Find customers, with the credit that they use.

        Args:
            name (str, optional): Part of the name, any case.

        Returns:
            dict: {"success": True, "data": [CustomerInfo plus "unsettled": float and "credit_left": float, ...]}
            sorted by customer_id, or {"success": False, "error": str}.
        """
        problem = self._text_filter("name", name)
        if problem:
            return self._fail(problem)
        found = []
        for key, customer in sorted(self.customers.items()):
            if name is None or name.strip().lower() in customer["name"].lower():
                unsettled = self._exposure(key)
                left = round(customer["credit_limit"] - unsettled, 2)
                found.append({**customer, "unsettled": unsettled, "credit_left": left})
        return {"success": True, "data": found}

    def search_drivers(
        self,
        name: Optional[str] = None,
        location: Optional[str] = None,
        endorsement: Optional[Literal["hazmat", "tanker"]] = None,
    ) -> dict:
        """
        Find drivers, with the hours that they have left now; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            location (str, optional): Exact name of the terminal.
            endorsement (str, optional): "hazmat" or "tanker".

        Returns:
            dict: {"success": True, "data": [DriverInfo plus "drive_hours_left": float (of 11 in a shift),
            "week_hours_left": float (of 60) and "open_trip_id": str or None, ...]} sorted by driver_id, or
            {"success": False, "error": str}. After a scheduled rest the driver has the full hours again.
        """
        problem = (
            self._text_filter("name", name)
            or self._choice_filter("location", location, self.terminals)
            or self._choice_filter("endorsement", endorsement, ("hazmat", "tanker"))
        )
        if problem:
            return self._fail(problem)
        found = []
        for key, driver in sorted(self.drivers.items()):
            if name is not None and name.strip().lower() not in driver["name"].lower():
                continue
            if location not in (None, driver["location"]):
                continue
            if endorsement is not None and endorsement not in driver["endorsements"]:
                continue
            left, trip = self._hours_left(driver, self.current_time), self._open_trip("driver_id", key)
            row: Dict[str, object] = dict(copy.deepcopy(driver))
            row["drive_hours_left"] = left["drive"]
            row["week_hours_left"] = left["week"]
            row["open_trip_id"] = trip["trip_id"] if trip else None
            found.append(row)
        return {"success": True, "data": found}

    def search_trucks(
        self, location: Optional[str] = None, status: Optional[Literal["available", "in_shop"]] = None
    ) -> dict:
        """
        Find trucks; every filter that is given must match.

        Args:
            location (str, optional): Exact name of the terminal.
            status (str, optional): "available" or "in_shop".

        Returns:
            dict: {"success": True, "data": [TruckInfo plus "km_before_service": int and "open_trip_id": str or None,
            ...]} sorted by truck_id, or {"success": False, "error": str}.
        """
        problem = self._choice_filter("location", location, self.terminals) or self._choice_filter(
            "status", status, ("available", "in_shop")
        )
        if problem:
            return self._fail(problem)
        found = []
        for key, truck in sorted(self.trucks.items()):
            if location in (None, truck["location"]) and status in (None, truck["status"]):
                trip = self._open_trip("truck_id", key)
                left = truck["service_due_km"] - truck["odometer_km"]
                found.append({**truck, "km_before_service": left, "open_trip_id": trip["trip_id"] if trip else None})
        return {"success": True, "data": found}

    def search_trailers(
        self,
        trailer_kind: Optional[Literal["dry_van", "reefer", "flatbed"]] = None,
        location: Optional[str] = None,
        status: Optional[Literal["available", "in_shop"]] = None,
    ) -> dict:
        """
        Find trailers; every filter that is given must match.

        Args:
            trailer_kind (str, optional): "dry_van", "reefer" or "flatbed".
            location (str, optional): Exact name of the terminal.
            status (str, optional): "available" or "in_shop".

        Returns:
            dict: {"success": True, "data": [TrailerInfo plus "open_trip_id": str or None, ...]} sorted by trailer_id,
            or {"success": False, "error": str}.
        """
        problem = (
            self._choice_filter("trailer_kind", trailer_kind, TRAILER_KINDS)
            or self._choice_filter("location", location, self.terminals)
            or self._choice_filter("status", status, ("available", "in_shop"))
        )
        if problem:
            return self._fail(problem)
        found = []
        for key, trailer in sorted(self.trailers.items()):
            if trailer_kind not in (None, trailer["trailer_kind"]) or location not in (None, trailer["location"]):
                continue
            if status in (None, trailer["status"]):
                trip = self._open_trip("trailer_id", key)
                found.append({**trailer, "open_trip_id": trip["trip_id"] if trip else None})
        return {"success": True, "data": found}

    def search_loads(
        self,
        text: Optional[str] = None,
        customer_id: Optional[str] = None,
        status: Optional[Literal["booked", "planned", "in_transit", "delivered", "cancelled"]] = None,
        origin: Optional[str] = None,
        destination: Optional[str] = None,
    ) -> dict:
        """
        Find loads; every filter that is given must match.

        Args:
            text (str, optional): Part of the customer's reference or of the commodity, any case.
            customer_id (str, optional): Customer id, e.g. "CU-12".
            status (str, optional): "booked" (no trip yet), "planned", "in_transit", "delivered" or "cancelled".
            origin (str, optional): Exact name of the terminal where the load starts.
            destination (str, optional): Exact name of the terminal where it goes.

        Returns:
            dict: {"success": True, "data": [LoadInfo, ...]} sorted by load_id, or {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("text", text)
            or self._choice_filter("status", status, LOAD_STATUSES)
            or self._choice_filter("origin", origin, self.terminals)
            or self._choice_filter("destination", destination, self.terminals)
        )
        if problem:
            return self._fail(problem)
        if customer_id is not None and self._find(self.customers, customer_id) is None:
            return self._unknown("customer", customer_id)
        found = [
            load
            for _, load in sorted(self.loads.items())
            if (text is None or text.strip().lower() in f"{load['reference']}\n{load['commodity']}".lower())
            and customer_id in (None, load["customer_id"])
            and status in (None, load["status"])
            and origin in (None, load["origin"])
            and destination in (None, load["destination"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def get_load(self, load_id: str) -> dict:
        """
        Show a load with its charges, its dock slots and its trip.

        Args:
            load_id (str): Load id, e.g. "LD-2041".

        Returns:
            dict: {"success": True, "data": LoadInfo plus "charges": [ChargeInfo, ...], "total_due": float (rate and
            charges; 0 once settled), "dock_slots": [SlotInfo, ...] and "trip": TripInfo or None}, or
            {"success": False, "error": str}.
        """
        load = self._find(self.loads, load_id)
        if load is None:
            return self._unknown("load", load_id)
        row: Dict[str, object] = dict(load)
        row["charges"] = [c for c in self.charges.values() if c["load_id"] == load_id]
        row["total_due"] = 0.0 if load["settled"] else self._total(load)
        row["dock_slots"] = [s for s in self.dock_slots.values() if s["load_id"] == load_id]
        row["trip"] = self._trip_of(load_id)
        return {"success": True, "data": copy.deepcopy(row)}

    def list_routes(self, origin: Optional[str] = None, destination: Optional[str] = None) -> dict:
        """
        List the routes between terminals with the rates of a load; every filter that is given must match.

        Args:
            origin (str, optional): Exact name of the first terminal.
            destination (str, optional): Exact name of the last terminal.

        Returns:
            dict: {"success": True, "data": [RouteInfo plus "rates": {trailer kind: float}, ...]} sorted by route_id,
            or {"success": False, "error": str}. The rates hold the fuel surcharge, count the shortest route between
            the two terminals and are a fifth higher for hazardous goods.
        """
        problem = self._choice_filter("origin", origin, self.terminals) or self._choice_filter(
            "destination", destination, self.terminals
        )
        if problem:
            return self._fail(problem)
        found = []
        for _, route in sorted(self.routes.items()):
            if origin in (None, route["origin"]) and destination in (None, route["destination"]):
                shortest = min(r["km"] for r in self._connections(route["origin"], route["destination"]))
                rates = {kind: self._rate(shortest, kind, "general") for kind in TRAILER_KINDS}
                found.append({**route, "rates": rates})
        return {"success": True, "data": found}

    def search_trips(
        self,
        status: Optional[Literal["planned", "dispatched", "completed", "cancelled"]] = None,
        driver_id: Optional[str] = None,
    ) -> dict:
        """
        Find trips; every filter that is given must match.

        Args:
            status (str, optional): "planned", "dispatched", "completed" or "cancelled".
            driver_id (str, optional): Driver id, e.g. "DR-07".

        Returns:
            dict: {"success": True, "data": [TripInfo, ...]} sorted by trip_id, or {"success": False, "error": str}.
        """
        problem = self._choice_filter("status", status, TRIP_STATUSES)
        if problem:
            return self._fail(problem)
        if driver_id is not None and self._find(self.drivers, driver_id) is None:
            return self._unknown("driver", driver_id)
        found = [
            trip
            for _, trip in sorted(self.trips.items())
            if status in (None, trip["status"]) and driver_id in (None, trip["driver_id"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def list_docks(self, terminal: Optional[str] = None) -> dict:
        """
        List the docks with the slots that are booked at them.

        Args:
            terminal (str, optional): Exact name of the terminal.

        Returns:
            dict: {"success": True, "data": [DockInfo plus "booked_slots": [SlotInfo, ...] by start, ...]} sorted by
            dock_id, or {"success": False, "error": str}.
        """
        problem = self._choice_filter("terminal", terminal, self.terminals)
        if problem:
            return self._fail(problem)
        found = []
        for key, dock in sorted(self.docks.items()):
            if terminal in (None, dock["terminal"]):
                booked = [s for s in self.dock_slots.values() if s["dock_id"] == key and s["status"] == "booked"]
                row: Dict[str, object] = dict(dock)
                row["booked_slots"] = sorted(booked, key=lambda slot: slot["start"])
                found.append(row)
        return {"success": True, "data": copy.deepcopy(found)}

    # Changes: loads

    def book_load(
        self,
        customer_id: str,
        reference: str,
        commodity: str,
        goods_class: Literal["general", "food", "hazmat"],
        trailer_kind: Literal["dry_van", "reefer", "flatbed"],
        weight_kg: int,
        pallets: int,
        origin: str,
        destination: str,
        ready_at: str,
        deliver_by: str,
    ) -> dict:
        """
        Book a load for a customer; its rate is worked out from the shortest route.

        The customer must be active, and the rate must fit into the credit that is left.

        Args:
            customer_id (str): Customer id, e.g. "CU-12".
            reference (str): The customer's own order number; the customer must have no other load of this reference.
            commodity (str): What is carried.
            goods_class (str): "general", "food" or "hazmat".
            trailer_kind (str): "dry_van", "reefer" or "flatbed".
            weight_kg (int): Weight in kilograms, 1 to 30000.
            pallets (int): Number of pallets, 1 to 40.
            origin (str): Exact name of the terminal where the load starts.
            destination (str): Exact name of the terminal where it goes.
            ready_at (str): Earliest loading, "YYYY-MM-DD HH:MM", not in the past.
            deliver_by (str): Latest arrival, "YYYY-MM-DD HH:MM", after ready_at.

        Returns:
            dict: {"success": True, "message": str, "load_id": str, "rate": float}, or
            {"success": False, "error": str}.
        """
        customer = self._find(self.customers, customer_id)
        if customer is None:
            return self._unknown("customer", customer_id)
        if not self._is_text(reference) or not self._is_text(commodity):
            return self._fail("reference and commodity must be non-empty strings.")
        if not isinstance(goods_class, str) or goods_class not in GOODS_CLASSES:
            return self._fail(f"goods_class must be one of: {', '.join(GOODS_CLASSES)}.")
        if not isinstance(trailer_kind, str) or trailer_kind not in TRAILER_KINDS:
            return self._fail(f"trailer_kind must be one of: {', '.join(TRAILER_KINDS)}.")
        if not self._is_count(weight_kg, 30000):
            return self._fail("weight_kg must be a whole number from 1 to 30000.")
        if not self._is_count(pallets, 40):
            return self._fail("pallets must be a whole number from 1 to 40.")
        if not isinstance(origin, str) or not isinstance(destination, str):
            return self._fail("origin and destination must be strings.")
        connections = self._connections(origin, destination)
        if not connections:
            return self._fail(f"There is no route from '{origin[:60]}' to '{destination[:60]}'.")
        if not self._is_moment(ready_at) or not self._is_moment(deliver_by):
            return self._fail("ready_at and deliver_by must be given as 'YYYY-MM-DD HH:MM'.")
        if ready_at < self.current_time or deliver_by <= ready_at:
            return self._fail("ready_at must not lie in the past, and deliver_by must be after it.")
        if any(x["customer_id"] == customer_id and x["reference"] == reference.strip() for x in self.loads.values()):
            return self._fail(f"{customer['name']} already has a load with reference '{reference.strip()}'.")
        if customer["status"] != "active":
            return self._fail(f"{customer['name']} is on hold and cannot book loads.")
        rate = self._rate(min(route["km"] for route in connections), trailer_kind, goods_class)
        left = round(customer["credit_limit"] - self._exposure(customer_id), 2)
        if rate > left:
            return self._fail(f"The rate is {rate:.2f}; {customer['name']} has {left:.2f} of credit left.")
        load_id = f"LD-{self.next_load_number}"
        self.next_load_number += 1
        self.loads[load_id] = {
            "load_id": load_id,
            "customer_id": customer_id,
            "reference": reference.strip(),
            "commodity": commodity.strip(),
            "goods_class": goods_class,
            "trailer_kind": trailer_kind,
            "weight_kg": weight_kg,
            "pallets": pallets,
            "origin": origin,
            "destination": destination,
            "ready_at": ready_at,
            "deliver_by": deliver_by,
            "status": "booked",
            "rate": rate,
            "settled": False,
        }
        return {
            "success": True,
            "message": f"Booked load {load_id} for {customer['name']} at {rate:.2f}.",
            "load_id": load_id,
            "rate": rate,
        }

    def cancel_load(self, load_id: str) -> dict:
        """
        Cancel a booked load, with the dock slots that it has.

        A load that is planned on a trip must be freed first (cancel_trip). Less than 24 hours before it is ready, or
        later, a load costs a cancellation charge of 150.00; otherwise it costs nothing.

        Args:
            load_id (str): Load id, e.g. "LD-2041".

        Returns:
            dict: {"success": True, "message": str, "fee": float}, or {"success": False, "error": str}.
        """
        load = self._find(self.loads, load_id)
        if load is None:
            return self._unknown("load", load_id)
        if load["status"] != "booked":
            return self._fail(f"Load {load_id} is {load['status']}; only a booked load can be cancelled.")
        late = self._later(self.current_time, 24) > load["ready_at"]
        load["status"] = "cancelled"
        for slot in self.dock_slots.values():
            if slot["load_id"] == load_id:
                slot["status"] = "cancelled"
        if late:
            self._add_charge(load_id, "cancellation", CANCELLATION_FEE)
        fee = CANCELLATION_FEE if late else 0.0
        return {"success": True, "message": f"Cancelled load {load_id}; the fee is {fee:.2f}.", "fee": fee}

    def add_charge(self, load_id: str, kind: Literal["detention", "layover", "lumper"], quantity: float) -> dict:
        """
        Charge a customer for waiting, a night on the road or help at unloading, once of each kind for a load.

        Detention costs 55.00 for each started hour after two free ones, a layover 220.00 a night, a lumper 3.50 a
        pallet. The load must be in transit or delivered, and not settled.

        Args:
            load_id (str): Load id, e.g. "LD-2041".
            kind (str): "detention", "layover" or "lumper".
            quantity (float): All hours waited, the free ones included (detention), nights (layover) or pallets
                (lumper); nights and pallets are whole numbers.

        Returns:
            dict: {"success": True, "message": str, "charge_id": str, "amount": float}, or
            {"success": False, "error": str}.
        """
        load = self._find(self.loads, load_id)
        if load is None:
            return self._unknown("load", load_id)
        if not isinstance(kind, str) or kind not in ("detention", "layover", "lumper"):
            return self._fail("kind must be one of: detention, layover, lumper.")
        if isinstance(quantity, bool) or not isinstance(quantity, (int, float)) or not 0 < quantity <= 100:
            return self._fail("quantity must be a number above 0 and at most 100.")
        if kind != "detention" and quantity != int(quantity):
            return self._fail(f"quantity must be a whole number for a {kind} charge.")
        if load["status"] not in ("in_transit", "delivered") or load["settled"]:
            return self._fail(f"Load {load_id} must be in transit or delivered, and not settled.")
        if any(c["load_id"] == load_id and c["kind"] == kind for c in self.charges.values()):
            return self._fail(f"Load {load_id} already has a {kind} charge.")
        if kind == "lumper" and quantity > load["pallets"]:
            return self._fail(f"Load {load_id} has {load['pallets']} pallets.")
        if kind == "detention":
            amount = DETENTION_RATE * max(0, math.ceil(quantity - FREE_WAITING_HOURS))
        else:
            amount = quantity * (LAYOVER_RATE if kind == "layover" else LUMPER_RATE)
        if amount == 0:
            return self._fail(f"The first {FREE_WAITING_HOURS} hours of waiting are free.")
        amount = round(amount, 2)
        charge_id = self._add_charge(load_id, kind, amount)
        return {
            "success": True,
            "message": f"Charged {amount:.2f} for {kind} on load {load_id} as {charge_id}.",
            "charge_id": charge_id,
            "amount": amount,
        }

    def settle_load(self, load_id: str, amount: float) -> dict:
        """
        Take the payment of a delivered load, or of the fee of a cancelled one; it must be paid in full.

        Args:
            load_id (str): Load id, e.g. "LD-2041".
            amount (float): Exactly what is due: rate and charges.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        load = self._find(self.loads, load_id)
        if load is None:
            return self._unknown("load", load_id)
        if isinstance(amount, bool) or not isinstance(amount, (int, float)):
            return self._fail("amount must be a number.")
        due = self._total(load)
        if load["settled"] or load["status"] not in ("delivered", "cancelled") or due == 0:
            return self._fail(f"Nothing can be settled for load {load_id} now.")
        if not due - 0.001 <= amount <= due + 0.001:
            return self._fail(
                f"Load {load_id} is settled by one payment of everything that is due; {amount} is not it."
            )
        load["settled"] = True
        return {"success": True, "message": f"Load {load_id} is settled with {due:.2f}."}

    # Changes: trips

    def plan_trip(
        self, route_id: str, load_ids: List[str], driver_id: str, truck_id: str, trailer_id: str, departure: str
    ) -> dict:
        """
        Plan a trip that carries booked loads along a route.

        All loads go from the route's origin to its destination, are ready by the departure and due no earlier than
        the arrival. Driver, truck and trailer stand at the origin and have no other trip that is planned or
        dispatched. See the rules for hours, endorsement, service, inspection, weight and places.

        Args:
            route_id (str): Route id, e.g. "RT-03".
            load_ids (list[str]): Ids of the loads, at least one.
            driver_id (str): Driver id, e.g. "DR-07".
            truck_id (str): Truck id, e.g. "TK-21".
            trailer_id (str): Trailer id, e.g. "TL-115".
            departure (str): "YYYY-MM-DD HH:MM", not in the past.

        Returns:
            dict: {"success": True, "message": str, "trip_id": str, "arrival": str}, or
            {"success": False, "error": str}.
        """
        route = self._find(self.routes, route_id)
        if route is None:
            return self._unknown("route", route_id)
        if not isinstance(load_ids, list) or not load_ids or not all(isinstance(key, str) for key in load_ids):
            return self._fail("load_ids must be a list of load ids with at least one.")
        if len(set(load_ids)) != len(load_ids):
            return self._fail("load_ids names a load twice.")
        for key in load_ids:
            load = self._find(self.loads, key)
            if load is None:
                return self._unknown("load", key)
            if load["status"] != "booked":
                return self._fail(f"Load {key} is {load['status']}; only booked loads can be planned.")
            if (load["origin"], load["destination"]) != (route["origin"], route["destination"]):
                return self._fail(f"Load {key} goes from {load['origin']} to {load['destination']}.")
        if self._find(self.drivers, driver_id) is None:
            return self._unknown("driver", driver_id)
        if self._find(self.trucks, truck_id) is None:
            return self._unknown("truck", truck_id)
        if self._find(self.trailers, trailer_id) is None:
            return self._unknown("trailer", trailer_id)
        if not self._is_moment(departure):
            return self._fail("departure must be given as 'YYYY-MM-DD HH:MM'.")
        trip_id = f"TP-{self.next_trip_number}"
        trip: TripInfo = {
            "trip_id": trip_id,
            "route_id": route_id,
            "load_ids": sorted(load_ids),
            "driver_id": driver_id,
            "truck_id": truck_id,
            "trailer_id": trailer_id,
            "departure": departure,
            "arrival": self._later(departure, route["hours"]),
            "status": "planned",
            "cancel_reason": None,
        }
        problem = self._trip_problem(trip)
        if problem:
            return self._fail(problem)
        self.next_trip_number += 1
        self.trips[trip_id] = trip
        for key in load_ids:
            self.loads[key]["status"] = "planned"
        return {
            "success": True,
            "message": f"Planned trip {trip_id}, which arrives at {route['destination']} at {trip['arrival']}.",
            "trip_id": trip_id,
            "arrival": trip["arrival"],
        }

    def change_trip(
        self,
        trip_id: str,
        driver_id: Optional[str] = None,
        truck_id: Optional[str] = None,
        trailer_id: Optional[str] = None,
        departure: Optional[str] = None,
        route_id: Optional[str] = None,
    ) -> dict:
        """
        Give a planned trip another driver, truck, trailer, departure or route; what is left out stays.

        The changed trip must keep every rule of plan_trip, and the new route must join the same terminals.

        Args:
            trip_id (str): Trip id, e.g. "TP-311"; the trip must be "planned".
            driver_id (str, optional): New driver.
            truck_id (str, optional): New truck.
            trailer_id (str, optional): New trailer.
            departure (str, optional): New departure, "YYYY-MM-DD HH:MM".
            route_id (str, optional): New route.

        Returns:
            dict: {"success": True, "message": str, "arrival": str}, or {"success": False, "error": str}.
        """
        trip = self._find(self.trips, trip_id)
        if trip is None:
            return self._unknown("trip", trip_id)
        if trip["status"] != "planned":
            return self._fail(f"Trip {trip_id} is {trip['status']}; only a planned trip can be changed.")
        changed = copy.deepcopy(trip)
        if driver_id is not None:
            if self._find(self.drivers, driver_id) is None:
                return self._unknown("driver", driver_id)
            changed["driver_id"] = driver_id
        if truck_id is not None:
            if self._find(self.trucks, truck_id) is None:
                return self._unknown("truck", truck_id)
            changed["truck_id"] = truck_id
        if trailer_id is not None:
            if self._find(self.trailers, trailer_id) is None:
                return self._unknown("trailer", trailer_id)
            changed["trailer_id"] = trailer_id
        if departure is not None:
            if not self._is_moment(departure):
                return self._fail("departure must be given as 'YYYY-MM-DD HH:MM'.")
            changed["departure"] = departure
        old = self.routes[trip["route_id"]]
        if route_id is not None:
            new = self._find(self.routes, route_id)
            if new is None:
                return self._unknown("route", route_id)
            if (new["origin"], new["destination"]) != (old["origin"], old["destination"]):
                return self._fail(f"Route {route_id} does not go from {old['origin']} to {old['destination']}.")
            changed["route_id"] = route_id
        changed["arrival"] = self._later(changed["departure"], self.routes[changed["route_id"]]["hours"])
        if changed == trip:
            return self._fail("Nothing would change.")
        problem = self._trip_problem(changed)
        if problem:
            return self._fail(problem)
        self.trips[trip_id] = changed
        return {
            "success": True,
            "message": f"Trip {trip_id} leaves at {changed['departure']} and arrives at {changed['arrival']}.",
            "arrival": changed["arrival"],
        }

    def cancel_trip(self, trip_id: str, reason: str) -> dict:
        """
        Cancel a planned trip; its loads are booked again and keep their dock slots.

        Args:
            trip_id (str): Trip id, e.g. "TP-311"; the trip must be "planned".
            reason (str): Why it is cancelled; must not be empty.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        trip = self._find(self.trips, trip_id)
        if trip is None:
            return self._unknown("trip", trip_id)
        if not self._is_text(reason):
            return self._fail("reason must say why the trip is cancelled.")
        if trip["status"] != "planned":
            return self._fail(f"Trip {trip_id} is {trip['status']}; only a planned trip can be cancelled.")
        trip["status"] = "cancelled"
        trip["cancel_reason"] = reason.strip()
        for key in trip["load_ids"]:
            self.loads[key]["status"] = "booked"
        return {"success": True, "message": f"Cancelled trip {trip_id}; booked again: {', '.join(trip['load_ids'])}."}

    def dispatch_trip(self, trip_id: str) -> dict:
        """
        Send a planned trip off, on the day of its departure; its loads are in transit then.

        Each load must have a loading slot that ends no later than the departure.

        Args:
            trip_id (str): Trip id, e.g. "TP-311".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        trip = self._find(self.trips, trip_id)
        if trip is None:
            return self._unknown("trip", trip_id)
        if trip["status"] != "planned":
            return self._fail(f"Trip {trip_id} is {trip['status']}; only a planned trip can be dispatched.")
        if trip["departure"][:10] != self.current_time[:10]:
            return self._fail(f"Trip {trip_id} departs on {trip['departure'][:10]} and is dispatched on that day.")
        for key in trip["load_ids"]:
            if self._slot_of(key, "loading") is None:
                return self._fail(f"Load {key} has no loading slot.")
        problem = self._trip_problem(trip)
        if problem:
            return self._fail(problem)
        trip["status"] = "dispatched"
        for key in trip["load_ids"]:
            self.loads[key]["status"] = "in_transit"
        return {"success": True, "message": f"Dispatched trip {trip_id}; it arrives at {trip['arrival']}."}

    def complete_trip(self, trip_id: str, arrived_at: str) -> dict:
        """
        Record the arrival of a dispatched trip: its loads are delivered, and driver, truck and trailer are there.

        The driver's hours grow by the route's hours (duty by one hour more) and the odometer by its kilometres. A
        load that arrives after its latest arrival gets a late credit of 10 percent of its rate.

        Args:
            trip_id (str): Trip id, e.g. "TP-311".
            arrived_at (str): "YYYY-MM-DD HH:MM", after the departure and not in the future.

        Returns:
            dict: {"success": True, "message": str, "late_load_ids": [str, ...]}, or {"success": False, "error": str}.
        """
        trip = self._find(self.trips, trip_id)
        if trip is None:
            return self._unknown("trip", trip_id)
        if not self._is_moment(arrived_at):
            return self._fail("arrived_at must be given as 'YYYY-MM-DD HH:MM'.")
        if trip["status"] != "dispatched":
            return self._fail(f"Trip {trip_id} is {trip['status']}; only a dispatched trip can be completed.")
        if not trip["departure"] < arrived_at <= self.current_time:
            return self._fail("arrived_at must be after the departure and not in the future.")
        route, driver = self.routes[trip["route_id"]], self.drivers[trip["driver_id"]]
        left = self._hours_left(driver, trip["departure"])
        driver["drive_hours"] = round(DRIVE_LIMIT - left["drive"] + route["hours"], 2)
        driver["week_hours"] = round(WEEK_LIMIT - left["week"] + route["hours"] + HANDLING_HOURS, 2)
        driver["rest_kind"] = None
        driver["rest_until"] = None
        driver["location"] = route["destination"]
        truck = self.trucks[trip["truck_id"]]
        truck["location"] = route["destination"]
        truck["odometer_km"] += route["km"]
        self.trailers[trip["trailer_id"]]["location"] = route["destination"]
        trip["status"] = "completed"
        trip["arrival"] = arrived_at
        late = []
        for key in trip["load_ids"]:
            load = self.loads[key]
            load["status"] = "delivered"
            if arrived_at > load["deliver_by"]:
                late.append(key)
                self._add_charge(key, "late_credit", -round(load["rate"] * LATE_SHARE, 2))
        return {
            "success": True,
            "message": f"Trip {trip_id} arrived at {route['destination']}; {len(late)} of its loads came late.",
            "late_load_ids": late,
        }

    # Changes: docks, drivers and equipment

    def book_dock(self, dock_id: str, load_id: str, purpose: Literal["loading", "unloading"], start: str) -> dict:
        """
        Book a dock for loading or unloading a load: one hour for up to 12 pallets, two hours for more.

        The dock stands at the load's origin (loading) or destination (unloading), serves its trailer kind, is open
        and free all that time. Loading begins no earlier than the load is ready and ends by the departure of its
        trip, if it has one. Unloading needs a trip and begins no earlier than the trip arrives. A load has at most
        one slot for each purpose.

        Args:
            dock_id (str): Dock id, e.g. "DK-04".
            load_id (str): Load id, e.g. "LD-2041".
            purpose (str): "loading" or "unloading".
            start (str): "YYYY-MM-DD HH:MM", not in the past.

        Returns:
            dict: {"success": True, "message": str, "slot_id": str, "end": str}, or {"success": False, "error": str}.
        """
        dock = self._find(self.docks, dock_id)
        if dock is None:
            return self._unknown("dock", dock_id)
        load = self._find(self.loads, load_id)
        if load is None:
            return self._unknown("load", load_id)
        if not isinstance(purpose, str) or purpose not in ("loading", "unloading"):
            return self._fail("purpose must be 'loading' or 'unloading'.")
        if not self._is_moment(start):
            return self._fail("start must be given as 'YYYY-MM-DD HH:MM'.")
        if start < self.current_time:
            return self._fail("start must not lie in the past.")
        terminal = load["origin"] if purpose == "loading" else load["destination"]
        if dock["terminal"] != terminal:
            return self._fail(f"Dock {dock_id} is at {dock['terminal']}; the {purpose} is at {terminal}.")
        if load["trailer_kind"] not in dock["trailer_kinds"]:
            return self._fail(f"Dock {dock_id} does not serve a {load['trailer_kind']}.")
        if load["status"] not in (("booked", "planned") if purpose == "loading" else ("planned", "in_transit")):
            return self._fail(f"Load {load_id} is {load['status']}; no {purpose} can be booked for it.")
        held = self._slot_of(load_id, purpose)
        if held is not None:
            return self._fail(f"Load {load_id} already has slot {held['slot_id']} for {purpose}.")
        end = self._later(start, 1 if load["pallets"] <= SMALL_LOAD_PALLETS else 2)
        if start[11:] < dock["open_from"] or end > f"{start[:10]} {dock['open_to']}":
            return self._fail(f"Dock {dock_id} is open from {dock['open_from']} to {dock['open_to']}.")
        for slot in self.dock_slots.values():
            if slot["dock_id"] == dock_id and slot["status"] == "booked":
                if start < slot["end"] and slot["start"] < end:
                    return self._fail(f"Dock {dock_id} is taken from {slot['start']} to {slot['end']}.")
        trip = self._trip_of(load_id)
        if purpose == "loading" and start < load["ready_at"]:
            return self._fail(f"Load {load_id} is not ready before {load['ready_at']}.")
        if purpose == "loading" and trip is not None and end > trip["departure"]:
            return self._fail(f"Loading would last until {end}; trip {trip['trip_id']} departs at {trip['departure']}.")
        if purpose == "unloading" and trip is not None and start < trip["arrival"]:
            return self._fail(f"Trip {trip['trip_id']} does not arrive before {trip['arrival']}.")
        slot_id = f"SL-{self.next_slot_number}"
        self.next_slot_number += 1
        self.dock_slots[slot_id] = {
            "slot_id": slot_id,
            "dock_id": dock_id,
            "load_id": load_id,
            "purpose": purpose,
            "start": start,
            "end": end,
            "status": "booked",
        }
        message = f"Booked dock {dock_id} for {purpose} load {load_id} from {start} to {end}."
        return {"success": True, "message": message, "slot_id": slot_id, "end": end}

    def cancel_dock_slot(self, slot_id: str) -> dict:
        """
        Give a booked dock slot back; its load can then be booked at another time.

        Args:
            slot_id (str): Slot id, e.g. "SL-88". A loading slot of a load that is in transit or delivered stays.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        slot = self._find(self.dock_slots, slot_id)
        if slot is None:
            return self._unknown("slot", slot_id)
        if slot["status"] != "booked":
            return self._fail(f"Slot {slot_id} is already cancelled.")
        load = self.loads[slot["load_id"]]
        if load["status"] == "delivered" or (load["status"] == "in_transit" and slot["purpose"] == "loading"):
            return self._fail(f"Load {load['load_id']} is {load['status']}; slot {slot_id} stays on record.")
        slot["status"] = "cancelled"
        return {"success": True, "message": f"Cancelled slot {slot_id} at dock {slot['dock_id']}."}

    def schedule_rest(self, driver_id: str, rest_kind: Literal["daily", "weekly"], start: str) -> dict:
        """
        Schedule a rest for a driver who has no trip planned or dispatched.

        A daily rest lasts 10 hours and gives the full driving hours of a shift again; a weekly rest lasts 34 hours
        and gives the duty hours of the week again as well. No trip of the driver may depart before the rest is over.
        A rest that is already scheduled is replaced.

        Args:
            driver_id (str): Driver id, e.g. "DR-07".
            rest_kind (str): "daily" or "weekly".
            start (str): "YYYY-MM-DD HH:MM", not in the past.

        Returns:
            dict: {"success": True, "message": str, "rest_until": str}, or {"success": False, "error": str}.
        """
        driver = self._find(self.drivers, driver_id)
        if driver is None:
            return self._unknown("driver", driver_id)
        if not isinstance(rest_kind, str) or rest_kind not in REST_HOURS:
            return self._fail("rest_kind must be 'daily' or 'weekly'.")
        if not self._is_moment(start) or start < self.current_time:
            return self._fail("start must be given as 'YYYY-MM-DD HH:MM' and not lie in the past.")
        trip = self._open_trip("driver_id", driver_id)
        if trip is not None:
            return self._fail(f"{driver['name']} has trip {trip['trip_id']}, which is {trip['status']}.")
        driver["rest_kind"] = rest_kind
        driver["rest_until"] = self._later(start, REST_HOURS[rest_kind])
        return {
            "success": True,
            "message": f"{driver['name']} rests until {driver['rest_until']}.",
            "rest_until": driver["rest_until"],
        }

    def set_truck_status(self, truck_id: str, status: Literal["available", "in_shop"]) -> dict:
        """
        Send a truck to the shop, or take it back into service; then its next service is due after 40000 km.

        Args:
            truck_id (str): Truck id, e.g. "TK-21". It must have no trip planned or dispatched.
            status (str): "available" or "in_shop"; must differ from the present status.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        truck = self._find(self.trucks, truck_id)
        if truck is None:
            return self._unknown("truck", truck_id)
        if not isinstance(status, str) or status not in ("available", "in_shop"):
            return self._fail("status must be 'available' or 'in_shop'.")
        if truck["status"] == status:
            return self._fail(f"Truck {truck_id} is already '{status}'.")
        trip = self._open_trip("truck_id", truck_id)
        if trip is not None:
            return self._fail(f"Truck {truck_id} has trip {trip['trip_id']}, which is {trip['status']}.")
        truck["status"] = status
        if status == "available":
            truck["service_due_km"] = truck["odometer_km"] + SERVICE_KM
        return {"success": True, "message": f"Truck {truck_id} is now '{status}'."}

    def set_trailer_status(self, trailer_id: str, status: Literal["available", "in_shop"]) -> dict:
        """
        Send a trailer to the shop, or take it back into service; then it is inspected for 365 days from today.

        Args:
            trailer_id (str): Trailer id, e.g. "TL-115". It must have no trip planned or dispatched.
            status (str): "available" or "in_shop"; must differ from the present status.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        trailer = self._find(self.trailers, trailer_id)
        if trailer is None:
            return self._unknown("trailer", trailer_id)
        if not isinstance(status, str) or status not in ("available", "in_shop"):
            return self._fail("status must be 'available' or 'in_shop'.")
        if trailer["status"] == status:
            return self._fail(f"Trailer {trailer_id} is already '{status}'.")
        trip = self._open_trip("trailer_id", trailer_id)
        if trip is not None:
            return self._fail(f"Trailer {trailer_id} has trip {trip['trip_id']}, which is {trip['status']}.")
        trailer["status"] = status
        if status == "available":
            today = date.fromisoformat(self.current_time[:10])
            trailer["inspected_until"] = (today + timedelta(days=INSPECTION_DAYS)).isoformat()
        return {"success": True, "message": f"Trailer {trailer_id} is now '{status}'."}
