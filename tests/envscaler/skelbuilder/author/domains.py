"""Ten back offices: their words, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Domain:
    """One environment, from its words."""

    title: str
    introduction: str
    party: str
    asset: str
    case: str
    event: str
    kinds: tuple[str, str, str]
    """Kinds of the asset."""
    people: tuple[str, str, str, str]
    names: tuple[str, str, str, str]
    """Of the assets."""
    places: str
    """What the capacity of an asset counts."""
    limit: int
    """Open cases of one party."""
    longest: int
    """Days of a case."""
    debt: int
    """What a party may owe and still open a case."""
    fee: int
    """For a case that is closed late, a day."""
    fate: str = "kept"
    usefulness: int = 8
    modelability: int = 9


DOMAINS = (
    Domain(
        "Allotment garden office",
        "The office of an allotment garden keeps gardeners, plots, leases and the inspections of leased "
        "plots. Its clerks admit gardeners, let and reclaim plots, and write down what inspectors find. "
        "Waiting rules, lease terms and unpaid dues limit who may lease a plot and for how long.",
        "gardener",
        "plot",
        "lease",
        "inspection",
        ("sunny", "shaded", "greenhouse"),
        ("Ines Albrecht", "Tomas Okoro", "Wilma Sund", "Pavel Drost"),
        ("North hedge", "Well corner", "Long strip", "Glass row"),
        "beds",
        2,
        365,
        40,
        1,
    ),
    Domain(
        "Marina berth office",
        "A marina's berth office records skippers, berths, moorings and the safety checks of moored boats. "
        "Harbour staff assign berths, prolong stays, log checks and settle what skippers owe. Berth size, "
        "season length and open bills decide whether a boat may tie up.",
        "skipper",
        "berth",
        "mooring",
        "safety_check",
        ("pontoon", "buoy", "quay"),
        ("Greta Holm", "Luis Pereira", "Aziz Demir", "Nora Quist"),
        ("Pontoon A1", "Pontoon B4", "Buoy 7", "East quay 2"),
        "metres",
        2,
        60,
        100,
        8,
    ),
    Domain(
        "Neighbourhood tool library",
        "The lending desk of a tool library tracks borrowers, power tools, loans and repairs of what came "
        "back broken. Volunteers issue tools, take them back, book repairs and collect late charges. Loan "
        "periods, the number of tools on loan and unpaid charges bound what may be lent.",
        "borrower",
        "tool",
        "loan",
        "repair",
        ("electric", "hand", "ladder"),
        ("Marek Zielin", "Oona Kivi", "Sam Adeyemi", "Ruth Calder"),
        ("Rotary hammer", "Bench plane", "Tall ladder", "Jigsaw"),
        "pieces",
        3,
        14,
        15,
        2,
    ),
    Domain(
        "Boarding kennel reception",
        "A boarding kennel's reception keeps dog owners, kennels, stays and the daily care notes of boarded "
        "dogs. Receptionists check dogs in and out, lengthen stays and write up walks and meals. Kennel "
        "sizes, the longest stay and what an owner still owes govern every check-in.",
        "owner",
        "kennel",
        "stay",
        "care_note",
        ("small", "large", "heated"),
        ("Hanna Voss", "Idris Bello", "Mia Lunde", "Carlo Riva"),
        ("Kennel 1", "Kennel 2", "Kennel 3", "Annex"),
        "dogs",
        2,
        30,
        60,
        12,
    ),
    Domain(
        "Theatre costume hire",
        "The wardrobe of a theatre hires costumes out to companies and schools and records fittings and "
        "hires. Wardrobe staff reserve costumes, note fittings, take costumes back and bill for delay. Hire "
        "periods, deposits owed and the number of costumes out at once are limited for each client.",
        "client",
        "costume",
        "hire",
        "fitting",
        ("period", "fantasy", "uniform"),
        ("Lyceum Players", "Oak School", "Harbour Opera", "Red Cellar Stage"),
        ("Velvet doublet", "Dragon suit", "Guard tunic", "Court gown"),
        "sets",
        4,
        21,
        80,
        5,
    ),
    Domain(
        "Parcel locker depot",
        "A depot runs parcel lockers: it knows recipients, lockers, deposits and the incidents around them. "
        "Depot workers place parcels, extend pick-up times, clear lockers and record incidents. Compartment "
        "sizes, storage times and storage charges restrict how lockers are used.",
        "recipient",
        "locker",
        "deposit",
        "incident",
        ("compact", "medium", "oversize"),
        ("Jana Petrov", "Omar Haddad", "Elsie Marsh", "Bram Visser"),
        ("Gate 1", "Gate 2", "Lobby 5", "Yard 9"),
        "compartments",
        3,
        7,
        5,
        1,
    ),
    Domain(
        "Music school practice rooms",
        "A music school's front office lends practice rooms to students and keeps bookings and tuning visits."
        " The office enrols students, books and moves rooms, and notes what the tuner did. Booking lengths, "
        "bookings per student and unpaid room money confine who may book.",
        "student",
        "room",
        "booking",
        "tuning_visit",
        ("piano", "drums", "strings"),
        ("Yuki Mori", "Dario Conti", "Freya Lind", "Kofi Mensah"),
        ("Room Bartok", "Room Holst", "Room Satie", "Attic"),
        "seats",
        3,
        10,
        20,
        3,
    ),
    Domain(
        "Observatory instrument desk",
        "An observatory's desk schedules researchers on telescopes and keeps sessions and calibration logs. "
        "Operators grant and withdraw sessions, lengthen runs and log calibrations. Observing runs, session "
        "quotas and overdue reports restrain the allocation of instruments.",
        "researcher",
        "telescope",
        "session",
        "calibration",
        ("optical", "radio", "infrared"),
        ("Dr. Amara Obi", "Dr. Lev Brandt", "Dr. Sole Reyes", "Dr. Kit Wen"),
        ("Dome West", "Dish 2", "Refractor", "Spectrograph"),
        "channels",
        2,
        20,
        50,
        10,
        fate="gate",
    ),
    Domain(
        "Ski rental counter",
        "A ski rental counter hands out skis to guests and records rentals and binding services. Counter "
        "staff fit guests, prolong and take back rentals, and log services. Rental days, sets per guest and "
        "unpaid damage restrict what goes out.",
        "guest",
        "ski_set",
        "rental",
        "service",
        ("carving", "touring", "junior"),
        ("Lotte Baier", "Jan Novak", "Priya Nair", "Owen Reed"),
        ("Set 11", "Set 12", "Set 20", "Set 31"),
        "pairs",
        2,
        14,
        30,
        4,
        fate="inspection",
    ),
    Domain(
        "Community kitchen booking",
        "A community kitchen rents cooking stations to small producers and keeps shifts and hygiene audits. "
        "The manager admits producers, assigns stations, prolongs shifts and files audits. Shift lengths, "
        "stations per producer and open invoices bind every assignment.",
        "producer",
        "station",
        "shift",
        "hygiene_audit",
        ("oven", "cold", "packing"),
        ("Sweet Crumb", "Green Jar", "Nomad Noodles", "Barrel and Bean"),
        ("Oven 1", "Oven 2", "Cold bay", "Packing line"),
        "workers",
        2,
        5,
        120,
        25,
        fate="config",
    ),
    Domain(
        "Bicycle courier dispatch",
        "A courier firm's dispatch desk assigns bicycles to riders and keeps tours and bicycle checks. "
        "Dispatchers start and end tours, lengthen them and log checks. Tour lengths, tours per rider and "
        "damage charges keep the fleet in order.",
        "rider",
        "bicycle",
        "tour",
        "bike_check",
        ("cargo", "road", "electric"),
        ("Ana Prado", "Ben Osei", "Cleo Farr", "Dov Katz"),
        ("Cargo 1", "Road 5", "Volt 2", "Volt 3"),
        "bags",
        2,
        3,
        10,
        2,
        fate="truncated",
    ),
    Domain(
        "Pawn shop ledger",
        "A pawn shop lends money on goods and keeps clients, shelves, pledges and valuations. Clerks take "
        "pledges in, prolong and redeem them, and record valuations. Terms, the number of pledges and "
        "interest owed limit what a client may pawn.",
        "pawner",
        "shelf",
        "pledge",
        "valuation",
        ("jewels", "tools", "media"),
        ("Ada Finch", "Roy Grant", "Lea Stein", "Max Dorn"),
        ("Shelf A", "Shelf B", "Shelf C", "Safe"),
        "slots",
        3,
        90,
        50,
        2,
        fate="refused",
    ),
)
