"""The tools of the airline domain. Checks, their order and their texts are the official ones; so are the odd details.

No tool enforces the policy: what may be cancelled or refunded is the agent's to know. Arguments are of any JSON type,
as in the retail domain (docs of Tau-Bench, section 1.11).
"""

from __future__ import annotations

import json
from typing import Any

from adapters.tau_bench.database import Entity, Session, copied
from adapters.tau_bench.toolbox import calculate, think, toolbox, transfer_to_human_agents

AIRPORTS = {
    "SFO": "San Francisco",
    "JFK": "New York",
    "LAX": "Los Angeles",
    "ORD": "Chicago",
    "DFW": "Dallas",
    "DEN": "Denver",
    "SEA": "Seattle",
    "ATL": "Atlanta",
    "MIA": "Miami",
    "BOS": "Boston",
    "PHX": "Phoenix",
    "IAH": "Houston",
    "LAS": "Las Vegas",
    "MCO": "Orlando",
    "EWR": "Newark",
    "CLT": "Charlotte",
    "MSP": "Minneapolis",
    "DTW": "Detroit",
    "PHL": "Philadelphia",
    "LGA": "LaGuardia",
}
"""The airports that `list_all_airports` names; the data files do not hold them."""
NEW_RESERVATIONS = ("HATHAT", "HATHAU", "HATHAV")
"""Ids of the reservations an episode books; from the fourth on, the last is overwritten."""
NEW_CERTIFICATES = ("certificate_3221322", "certificate_3221323", "certificate_3221324")
NOW = "2024-05-15T15:00:00"

# Reading


def get_reservation_details(db: Session, reservation_id: Any) -> str:
    """A reservation as JSON; the refusal speaks of a user."""
    if reservation_id in db["reservations"]:
        return json.dumps(db["reservations"][reservation_id])
    return "Error: user not found"


def get_user_details(db: Session, user_id: Any) -> str:
    """A user's profile as JSON."""
    return json.dumps(db["users"][user_id]) if user_id in db["users"] else "Error: user not found"


def list_all_airports(db: Session) -> str:
    """Cities by airport code, as JSON."""
    return json.dumps(AIRPORTS)


def search_direct_flight(db: Session, origin: Any, destination: Any, date: Any) -> str:
    """The flights between two airports that can be booked on a date, as JSON."""
    found = []
    for _, flight in db["flights"].items():
        if flight["origin"] == origin and flight["destination"] == destination and _bookable(flight, date):
            found.append(_on(flight, date))
    return json.dumps(found)


def search_onestop_flight(db: Session, origin: Any, destination: Any, date: Any) -> str:
    """Pairs of flights with one stop, as JSON."""
    flights = [flight for _, flight in db["flights"].items()]
    second_legs = [flight for flight in flights if flight["destination"] == destination]
    found = []
    for first in flights:
        if first["origin"] != origin:
            continue
        for second in second_legs:
            if second["origin"] != first["destination"]:
                continue
            arrival = first["scheduled_arrival_time_est"]
            # No zero before a single digit, and May has no end: both stand in the official tool.
            date2 = f"2024-05-{int(date[-2:]) + 1}" if "+1" in arrival else date
            # Texts are compared, so an arrival "+1" the next day still sorts by its hour.
            if arrival > second["scheduled_departure_time_est"]:
                continue
            if date in first["dates"] and date2 in second["dates"] and _available(first, date, second, date2):
                # The second leg shows seats and prices of the first day even if it leaves on the next.
                found.append([{**_on(first, date), "date": date}, {**_on(second, date), "date": date2}])
    return json.dumps(found)


# Writing


def book_reservation(
    db: Session,
    user_id: Any,
    origin: Any,
    destination: Any,
    flight_type: Any,
    cabin: Any,
    flights: Any,
    passengers: Any,
    payment_methods: Any,
    total_baggages: Any,
    nonfree_baggages: Any,
    insurance: Any,
) -> str:
    """Book flights if they have seats and the payments add up to the exact price; seats are not taken."""
    if user_id not in db["users"]:
        return "Error: user not found"
    reservation_id = next((key for key in NEW_RESERVATIONS if key not in db["reservations"]), NEW_RESERVATIONS[-1])
    reservation = {
        "reservation_id": reservation_id,
        "user_id": user_id,
        "origin": origin,
        "destination": destination,
        "flight_type": flight_type,
        "cabin": cabin,
        "flights": copied(flights),
        "passengers": passengers,
        "payment_history": payment_methods,
        "created_at": NOW,
        "total_baggages": total_baggages,
        "nonfree_baggages": nonfree_baggages,
        "insurance": insurance,
    }
    price = 0
    for flight in reservation["flights"]:
        if refusal := _fill_in(db, flight, cabin, passengers):
            return refusal
        price += flight["price"] * len(passengers)
    if insurance == "yes":
        price += 30 * len(passengers)
    price += 50 * nonfree_baggages
    if refusal := _check_payments(db, user_id, payment_methods, price):
        return refusal
    methods = db["users"].edit(user_id)["payment_methods"]
    for payment in payment_methods:
        # A certificate listed twice is gone the second time: the KeyError comes after the first was taken.
        match methods[payment["payment_id"]]["source"]:
            case "gift_card":
                methods[payment["payment_id"]]["amount"] -= payment["amount"]
            case "certificate":
                del methods[payment["payment_id"]]
    db["reservations"].add(reservation_id, reservation)
    db["users"].edit(user_id)["reservations"].append(reservation_id)
    return json.dumps(reservation)


def cancel_reservation(db: Session, reservation_id: Any) -> str:
    """Cancel a reservation, whatever the policy says; a second time refunds the refunds as well."""
    if reservation_id not in db["reservations"]:
        return "Error: reservation not found"
    reservation = db["reservations"].edit(reservation_id)
    refunds = [
        {"payment_id": payment["payment_id"], "amount": -payment["amount"]}
        for payment in reservation["payment_history"]
    ]
    reservation["payment_history"].extend(refunds)
    reservation["status"] = "cancelled"
    return json.dumps(reservation)


def send_certificate(db: Session, user_id: Any, amount: Any) -> str | None:
    """Give a user a certificate; the official tool returns nothing from the fourth on."""
    if user_id not in db["users"]:
        return "Error: user not found"
    for payment_id in NEW_CERTIFICATES:
        if payment_id not in db["users"][user_id]["payment_methods"]:
            certificate = {"source": "certificate", "amount": amount, "id": payment_id}
            db["users"].edit(user_id)["payment_methods"][payment_id] = certificate
            return f"Certificate {payment_id} added to user {user_id} with amount {amount}."
    return None


def update_reservation_baggages(
    db: Session, reservation_id: Any, total_baggages: Any, nonfree_baggages: Any, payment_id: Any
) -> str:
    """Change the bags of a reservation; only additional nonfree ones cost."""
    if reservation_id not in db["reservations"]:
        return "Error: reservation not found"
    reservation = db["reservations"][reservation_id]
    price = 50 * max(0, nonfree_baggages - reservation["nonfree_baggages"])
    if refusal := _check_update(db, reservation, payment_id, price):
        return refusal
    reservation = db["reservations"].edit(reservation_id)
    reservation["total_baggages"] = total_baggages
    reservation["nonfree_baggages"] = nonfree_baggages
    _pay(db, reservation, payment_id, price)
    return json.dumps(reservation)


def update_reservation_flights(db: Session, reservation_id: Any, cabin: Any, flights: Any, payment_id: Any) -> str:
    """Replace the flights of a reservation; a flight that stays keeps its old price."""
    if reservation_id not in db["reservations"]:
        return "Error: reservation not found"
    reservation = db["reservations"][reservation_id]
    passengers = reservation["passengers"]
    price = 0
    flights = copied(flights)
    for flight in flights:
        kept = [
            old
            for old in reservation["flights"]
            if old["flight_number"] == flight["flight_number"]
            and old["date"] == flight["date"]
            and cabin == reservation["cabin"]
        ]
        if kept:
            flight.update({key: kept[0][key] for key in ("price", "origin", "destination")})
        elif refusal := _fill_in(db, flight, cabin, passengers):
            return refusal
        price += flight["price"] * len(passengers)
    price -= sum(flight["price"] for flight in reservation["flights"]) * len(passengers)
    if refusal := _check_update(db, reservation, payment_id, price):
        return refusal
    reservation = db["reservations"].edit(reservation_id)
    reservation["flights"] = flights
    _pay(db, reservation, payment_id, price)
    return json.dumps(reservation)


def update_reservation_passengers(db: Session, reservation_id: Any, passengers: Any) -> str:
    """Replace the passengers of a reservation by as many others."""
    if reservation_id not in db["reservations"]:
        return "Error: reservation not found"
    if len(passengers) != len(db["reservations"][reservation_id]["passengers"]):
        return "Error: number of passengers does not match"
    reservation = db["reservations"].edit(reservation_id)
    reservation["passengers"] = passengers
    return json.dumps(reservation)


# What they share


def _bookable(flight: Entity, date: Any) -> bool:
    return bool(date in flight["dates"] and flight["dates"][date]["status"] == "available")


def _available(first: Entity, date: Any, second: Entity, date2: Any) -> bool:
    return bool(first["dates"][date]["status"] == "available" and second["dates"][date2]["status"] == "available")


def _on(flight: Entity, date: Any) -> Entity:
    """A flight with the details of one date in place of all dates."""
    return {**{key: value for key, value in flight.items() if key != "dates"}, **flight["dates"][date]}


def _fill_in(db: Session, flight: Any, cabin: Any, passengers: Any) -> str | None:
    """Write price, origin and destination into a flight that is to be booked; or the refusal."""
    number = flight["flight_number"]
    if number not in db["flights"]:
        return f"Error: flight {number} not found"
    schedule = db["flights"][number]
    if flight["date"] not in schedule["dates"]:
        return f"Error: flight {number} not found on date {flight['date']}"
    offer = schedule["dates"][flight["date"]]
    if offer["status"] != "available":
        return f"Error: flight {number} not available on date {flight['date']}"
    if offer["available_seats"][cabin] < len(passengers):
        return f"Error: not enough seats on flight {number}"
    flight["price"] = offer["prices"][cabin]
    flight["origin"] = schedule["origin"]
    flight["destination"] = schedule["destination"]
    return None


def _check_payments(db: Session, user_id: str, payments: Any, price: Any) -> str | None:
    """Why these payments cannot pay for a booking."""
    methods = db["users"][user_id]["payment_methods"]
    for payment in payments:
        payment_id, amount = payment["payment_id"], payment["amount"]
        if payment_id not in methods:
            return f"Error: payment method {payment_id} not found"
        method = methods[payment_id]
        if method["source"] in ["gift_card", "certificate"] and method["amount"] < amount:
            return f"Error: not enough balance in payment method {payment_id}"
    paid = sum(payment["amount"] for payment in payments)
    if paid != price:
        return f"Error: payment amount does not add up, total price is {price}, but paid {paid}"
    return None


def _check_update(db: Session, reservation: Entity, payment_id: Any, price: Any) -> str | None:
    """Why a change of a reservation cannot be paid this way."""
    methods = db["users"][reservation["user_id"]]["payment_methods"]
    if payment_id not in methods:
        return "Error: payment method not found"
    method = methods[payment_id]
    if method["source"] == "certificate":
        return "Error: certificate cannot be used to update reservation"
    if method["source"] == "gift_card" and method["amount"] < price:
        return "Error: gift card balance is not enough"
    return None


def _pay(db: Session, reservation: Entity, payment_id: str, price: Any) -> None:
    """Take the price from a gift card, and note it; a refund is a negative amount."""
    if db["users"][reservation["user_id"]]["payment_methods"][payment_id]["source"] == "gift_card":
        db["users"].edit(reservation["user_id"])["payment_methods"][payment_id]["amount"] -= price
    if price != 0:
        reservation["payment_history"].append({"payment_id": payment_id, "amount": price})


TOOLS = toolbox(
    "airline",
    (
        book_reservation,
        calculate,
        cancel_reservation,
        get_reservation_details,
        get_user_details,
        list_all_airports,
        search_direct_flight,
        search_onestop_flight,
        send_certificate,
        think,
        transfer_to_human_agents,
        update_reservation_baggages,
        update_reservation_flights,
        update_reservation_passengers,
    ),
)
"""The 14 tools by name."""
