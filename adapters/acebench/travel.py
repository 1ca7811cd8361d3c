"""The airline: users with two purses, flights, reservations. Exact, with every quirk that the records show.

Names are the benchmark's interface and arguments come untyped, as in `phone`. Rules: docs/acebench.md, Environment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from adapters.acebench.language import Language

NOW = datetime(2024, 7, 14, 6)
"""The clock that cancellations read; the policy text names another one."""

FREE_PIECES: Mapping[str, tuple[int, int]] = {"regular": (1, 2), "silver": (2, 3), "gold": (3, 3)}
"""Free pieces of baggage by membership: economy, business."""

PIECE_FEE = 50
"""Yuan for each further piece."""

_FLIGHT_KEYS = (
    "flight_no",
    "origin",
    "destination",
    "depart_time",
    "arrival_time",
    "status",
    "seats_available",
    "economy_price",
    "business_price",
)


def _when(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S")


class Travel:
    """Search, book, modify and cancel flights."""

    SAVED = ("users", "reservations")

    users: dict[str, dict[str, Any]]
    flights: list[dict[str, Any]]
    reservations: list[dict[str, Any]]

    def __init__(self, world: Mapping[str, Any], config: Mapping[str, Any], language: Language) -> None:
        """Take the seed state over. There is nothing to configure."""
        vars(self).update(world)
        self._language = language

    # Reading

    def get_flight_details(self, origin: Any = None, destination: Any = None) -> Any:
        """Flights by either end; all of them if neither is given."""
        found = [
            {key: flight[key] for key in _FLIGHT_KEYS}
            for flight in self.flights
            if (not origin or flight["origin"] == origin) and (not destination or flight["destination"] == destination)
        ]
        return found or self._say("no_direct_flight")

    def find_transfer_flights(self, origin_city: Any, transfer_city: Any, destination_city: Any) -> Any:
        """Pairs of flights of which the second leaves after the first has arrived."""
        pairs = [
            {"first_leg": first, "second_leg": second}
            for first in self._available(origin_city, transfer_city)
            for second in self._available(transfer_city, destination_city)
            if _when(first["arrival_time"]) < _when(second["depart_time"])
        ]
        return pairs or self._say("no_connection")

    def get_user_details(self, user_id: Any, password: Any) -> Any:
        """A user's record without the password."""
        user = self.users.get(user_id)
        if user and user["password"] == password:
            return {key: value for key, value in user.items() if key != "password"}
        return self._error("bad_credentials")

    def authenticate_user(self, user_id: Any, password: Any) -> Any:
        """A user's record, password included; not offered as a tool, yet callable."""
        user = self.users.get(user_id)
        return user if user and user["password"] == password else self._error("bad_credentials")

    def get_reservation_details(self, reservation_id: Any = None, user_id: Any = None) -> Any:
        """Reservations by id, else by user, each with its flight (None if there is no such flight)."""
        if reservation_id:
            found = [entry for entry in self.reservations if entry["reservation_id"] == reservation_id]
        elif user_id:
            found = [entry for entry in self.reservations if entry["user_id"] == user_id]
        else:
            return self._error("reservation_or_user")
        return [{**entry, "flight_info": self._flight(entry["flight_no"])} for entry in found]

    # Prices

    def get_baggage_allowance(self, membership_level: Any, cabin_class: Any) -> Any:
        """Free pieces; 0 for an unknown level or cabin."""
        return self._free().get(membership_level, {}).get(cabin_class, 0)

    def calculate_baggage_fee(self, membership_level: Any, cabin_class: Any, baggage_count: Any) -> Any:
        """Fee for the pieces that are not free. An unknown level or cabin raises."""
        return max(baggage_count - self._free()[membership_level][cabin_class], 0) * PIECE_FEE

    def calculate_price_difference(self, flight: Any, old_cabin: Any, new_cabin: Any) -> Any:
        """Price of one cabin less that of another; an unknown cabin costs 0."""
        prices = {self._language.economy: flight["economy_price"], self._language.business: flight["business_price"]}
        old = prices.get(old_cabin, 0)
        return prices.get(new_cabin, 0) - old

    def update_balance(self, user: Any, payment_method: Any, amount: Any) -> Any:
        """Add to a purse unless that makes it negative. With an unknown purse nothing happens, and succeeds."""
        if payment_method in ("cash", "bank"):
            purse = f"{payment_method}_balance"
            if user[purse] + amount < 0:
                return False
            user[purse] += amount
        return True

    def process_refund(self, user: Any, amount: Any) -> None:
        """Refund in cash, whatever was paid with."""
        user["cash_balance"] += amount
        # The benchmark logs the name; a record without one raises after the refund.
        user["user_name"]

    # Writing

    def reserve_flight(
        self, user_id: Any, password: Any, flight_no: Any, cabin: Any, payment_method: Any, baggage_count: Any
    ) -> str:
        """Book a flight. A wrong password is noticed only because the error record has no membership level."""
        user = self.authenticate_user(user_id, password)
        flight: Any = self._flight(flight_no, available=True)
        cost = self._fare(flight, cabin) + self.calculate_baggage_fee(user["membership_level"], cabin, baggage_count)
        if payment_method not in ("cash", "bank"):
            return self._say("bad_payment")
        if cost > user[f"{payment_method}_balance"]:
            return self._say(f"{payment_method}_short")
        user[f"{payment_method}_balance"] -= cost
        flight["seats_available"] -= 1
        reservation = {
            "reservation_id": f"res_{len(self.reservations) + 1}",
            "user_id": user_id,
            "flight_no": flight_no,
            "payment_method": payment_method,
            "cabin": cabin,
            "baggage": baggage_count,
        }
        self.reservations.append(reservation)
        return self._say("booked", id=reservation["reservation_id"], cost=cost)

    def modify_flight(
        self,
        user_id: Any,
        reservation_id: Any,
        new_flight_no: Any = None,
        new_cabin: Any = None,
        add_baggage: Any = 0,
        new_payment_method: Any = None,
    ) -> str:
        """Change flight, cabin and baggage, in this order; a later failure leaves the earlier changes in place."""
        reservation = self._reservation(user_id, reservation_id)
        if not reservation:
            return self._say("no_such_booking")
        flight = self._flight(reservation["flight_no"])
        if not flight:
            return self._say("no_such_flight")
        purse = new_payment_method or reservation["payment_method"]
        user = self.users[user_id]
        if not user:
            return self._say("no_traveller")
        done: list[str] = []
        if new_flight_no and new_flight_no != reservation["flight_no"]:
            if not self._same_route(flight, self._flight(new_flight_no)):
                return self._say("flight_not_changed")
            reservation["flight_no"] = new_flight_no
            done.append(self._say("flight_changed"))
        if new_cabin and new_cabin != reservation.get("cabin"):
            # Priced by the flight before the change, even if the same call changes the flight.
            done.extend(self._change_cabin(reservation, flight, user, purse, new_cabin))
        if add_baggage > 0:
            done.extend(self._add_baggage(reservation, user, purse, add_baggage))
        return " ".join(done or [self._say("nothing_to_pay")])

    def _change_cabin(
        self, reservation: dict[str, Any], flight: dict[str, Any], user: dict[str, Any], purse: Any, cabin: Any
    ) -> Iterator[str]:
        """Change the cabin, paid or not."""
        difference = self.calculate_price_difference(flight, reservation["cabin"], cabin)
        reservation["cabin"] = cabin
        if difference > 0:
            paid = self.update_balance(user, purse, -difference)
            yield self._say("cabin_paid", amount=difference) if paid else self._say("cabin_unpaid")
        elif difference < 0:
            self.update_balance(user, purse, -difference)
            yield self._say("cabin_refunded", amount=-difference)

    def _add_baggage(self, reservation: dict[str, Any], user: dict[str, Any], purse: Any, pieces: Any) -> Iterator[str]:
        """Add baggage, paid or not. Pieces that were paid for before are charged again."""
        free = self.get_baggage_allowance(user["membership_level"], reservation["cabin"])
        total = reservation.get("baggage", 0) + pieces
        fee = max(0, total - free) * PIECE_FEE
        if fee > 0:
            paid = self.update_balance(user, purse, -fee)
            yield self._say("baggage_paid", amount=fee) if paid else self._say("baggage_unpaid")
        reservation["baggage"] = total

    def cancel_reservation(self, user_id: Any, reservation_id: Any, reason: Any) -> str:
        """Refund a reservation. It stays in the list, so that it can be refunded again."""
        user = self.users.get(user_id)
        if not user:
            return self._say("bad_user_id")
        reservation = self._reservation(user_id, reservation_id)
        if not reservation:
            return self._say("bad_reservation_id")
        flight = self._flight(reservation["flight_no"])
        if not flight:
            return self._say("bad_flight")
        departure = _when(flight["depart_time"])
        if departure < NOW:
            return self._say("departed")
        fare = self._fare(flight, reservation["cabin"])
        if reason == self._language.airline_cancelled:
            self.process_refund(user, fare)
            return self._say("airline_refund", refund=fare)
        if departure - NOW > timedelta(days=1):
            self.process_refund(user, fare)
            return self._say("early_refund", refund=fare)
        fee = fare * 0.1
        self.process_refund(user, fare - fee)
        return self._say("late_refund", fee=fee, refund=fare - fee)

    # Lookup

    def _say(self, key: str, **values: Any) -> str:
        return self._language.say(key, **values)

    def _error(self, key: str) -> dict[str, str]:
        return {"status": "error", "message": self._say(key)}

    def _free(self) -> dict[str, dict[str, int]]:
        cabins = (self._language.economy, self._language.business)
        return {level: dict(zip(cabins, pieces, strict=True)) for level, pieces in FREE_PIECES.items()}

    def _fare(self, flight: dict[str, Any], cabin: Any) -> Any:
        return flight["economy_price"] if cabin == self._language.economy else flight["business_price"]

    def _flight(self, number: Any, *, available: bool = False) -> dict[str, Any] | None:
        """The first flight with this number; two numbers occur twice."""
        for flight in self.flights:
            if flight["flight_no"] == number and (not available or flight["status"] == "available"):
                return flight
        return None

    def _available(self, origin: Any, destination: Any) -> list[dict[str, Any]]:
        wanted = (origin, destination, "available")
        return [f for f in self.flights if (f["origin"], f["destination"], f["status"]) == wanted]

    def _reservation(self, user_id: Any, reservation_id: Any) -> dict[str, Any] | None:
        for entry in self.reservations:
            if entry["reservation_id"] == reservation_id and entry["user_id"] == user_id:
                return entry
        return None

    @staticmethod
    def _same_route(flight: dict[str, Any], other: dict[str, Any] | None) -> bool:
        return other is not None and all(flight[end] == other[end] for end in ("origin", "destination"))
