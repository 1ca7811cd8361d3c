"""States, tasks and right answers in the four environments, as a careful model would think them up.

What is asked and what is right are made apart from each other: the gate has to find that they agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Records = dict[str, Any]

NAMES = (
    "Adela Brook",
    "Bruno Castell",
    "Carla Dunmore",
    "Dario Eklund",
    "Elin Farrow",
    "Farid Gower",
    "Greta Holm",
    "Hugo Ibsen",
    "Ines Jarvis",
)


@dataclass
class Scene:
    """One task with what is right."""

    task: str
    calls: list[tuple[str, dict[str, Any]]]
    changed: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    """By table and key: fields with their values in the end."""
    added: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    dropped: list[tuple[str, str]] = field(default_factory=list)


def names(number: int, count: int) -> list[str]:
    """Other names for each number."""
    return [NAMES[(number + place * 2) % len(NAMES)] for place in range(count)]


# Parking permits


def parking_records(number: int) -> Records:
    people = names(number, 4)
    zones = ("north", "south", "north", "south")
    owners = (1, 1, 2, 2, 3, 4)
    permits = ((1, "active"), (3, "active"), (5, "cancelled"), (6, "active"))
    residents = {
        f"R-{i}": {"resident_id": f"R-{i}", "name": name, "zone": zone}
        for i, (name, zone) in enumerate(zip(people, zones, strict=True), start=1)
    }
    return {
        "residents": residents,
        "vehicles": {
            f"V-{i}": {"vehicle_id": f"V-{i}", "plate": f"KL {number}{i} TX", "resident_id": f"R-{owner}"}
            for i, owner in enumerate(owners, start=1)
        },
        "permits": {
            f"PM-{i}": {
                "permit_id": f"PM-{i}",
                "vehicle_id": f"V-{vehicle}",
                "zone": residents[f"R-{owners[vehicle - 1]}"]["zone"],
                "status": status,
                "reason": None if status == "active" else "sold",
            }
            for i, (vehicle, status) in enumerate(permits, start=1)
        },
        "next_number": 5,
    }


def parking(records: Records, number: int) -> Scene:
    name = [resident["name"] for resident in records["residents"].values()]
    plate = [vehicle["plate"] for vehicle in records["vehicles"].values()]
    if number % 2:
        task = (
            f"{name[0]} has a second car now, {plate[1]}, and wants the permit of the car {plate[0]} on that one. "
            f'{name[3]} has moved away: cancel the permit of the car {plate[5]}, and give "moved away" as the reason. '
            "Leave everybody else's permits as they are."
        )
        calls = [
            ("find_residents", {"name": name[0]}),
            ("list_vehicles", {"resident_id": "R-1"}),
            ("move_permit", {"permit_id": "PM-1", "vehicle_id": "V-2"}),
            ("find_residents", {"name": name[3]}),
            ("list_vehicles", {"resident_id": "R-4"}),
            ("cancel_permit", {"permit_id": "PM-4", "reason": "moved away"}),
        ]
        changed = {
            ("permits", "PM-1"): {"vehicle_id": "V-2"},
            ("permits", "PM-4"): {"status": "cancelled", "reason": "moved away"},
        }
        return Scene(task, calls, changed)
    task = (
        f'{name[1]} has given up the car {plate[2]}. Cancel its permit, and give "scrapped" as the reason. The other '
        f"car, {plate[3]}, stays, so issue a permit for it. {name[2]}, whose permit ran out when it was cancelled, "
        f"needs a new one for {plate[4]}. Both are for the zones in which they live."
    )
    calls = [
        ("find_residents", {"name": name[1]}),
        ("list_vehicles", {"resident_id": "R-2"}),
        ("cancel_permit", {"permit_id": "PM-2", "reason": "scrapped"}),
        ("issue_permit", {"vehicle_id": "V-4", "zone": "south"}),
        ("find_residents", {"name": name[2]}),
        ("list_vehicles", {"resident_id": "R-3"}),
        ("issue_permit", {"vehicle_id": "V-5", "zone": "north"}),
    ]
    added = [
        {"vehicle_id": "V-4", "zone": "south", "status": "active", "reason": None},
        {"vehicle_id": "V-5", "zone": "north", "status": "active", "reason": None},
    ]
    changed = {("permits", "PM-2"): {"status": "cancelled", "reason": "scrapped"}}
    return Scene(task, calls, changed, {"permits": added})


# Plant nursery


def nursery_records(number: int) -> Records:
    people = names(number, 3)
    plants = ("Hedge maple", "Silver birch", "Dwarf pine", "Wild rose")
    orders = ((0, 1, 4, "open"), (1, 2, 6, "open"), (2, 3, 2, "picked"), (0, 4, 5, "open"), (1, 1, 3, "cancelled"))
    return {
        "plants": {
            f"P-{i}": {"plant_id": f"P-{i}", "name": name, "stock": 10 * i + number, "price": 12.5 * i}
            for i, name in enumerate(plants, start=1)
        },
        "orders": {
            f"O-{i}": {
                "order_id": f"O-{i}",
                "customer": people[who],
                "plant_id": f"P-{plant}",
                "quantity": quantity,
                "status": status,
            }
            for i, (who, plant, quantity, status) in enumerate(orders, start=1)
        },
        "next_number": 6,
    }


def nursery(records: Records, number: int) -> Scene:
    customer = [order["customer"] for order in records["orders"].values()]
    stock = [plant["stock"] for plant in records["plants"].values()]
    if number % 2:
        task = (
            f"{customer[0]} does not want the hedge maples any more, so cancel that order; the wild roses stay. "
            f"{customer[2]} wants {number + 2} silver birches instead of waiting for later: place the order. Nothing "
            "else is to be changed today."
        )
        calls = [
            ("list_orders", {"customer": customer[0]}),
            ("search_plants", {"name": ""}),
            ("cancel_order", {"order_id": "O-1"}),
            ("place_order", {"customer": customer[2], "plant_id": "P-2", "quantity": number + 2}),
        ]
        changed = {
            ("orders", "O-1"): {"status": "cancelled"},
            ("plants", "P-1"): {"stock": stock[0] + 4},
            ("plants", "P-2"): {"stock": stock[1] - number - 2},
        }
        new = {"customer": customer[2], "plant_id": "P-2", "quantity": number + 2, "status": "open"}
        return Scene(task, calls, changed, {"orders": [new]})
    task = (
        f"A delivery of {20 + number} dwarf pines has come, so take it into the stock. The silver birches that "
        f"{customer[1]} ordered stand ready at the gate: mark that order as picked. {customer[0]} has asked to cancel "
        "the wild roses, and only those."
    )
    calls = [
        ("search_plants", {"name": "dwarf pine"}),
        ("receive_plants", {"plant_id": "P-3", "quantity": 20 + number}),
        ("list_orders", {"customer": customer[1]}),
        ("pick_order", {"order_id": "O-2"}),
        ("list_orders", {"customer": customer[0]}),
        ("cancel_order", {"order_id": "O-4"}),
    ]
    changed = {
        ("plants", "P-3"): {"stock": stock[2] + 20 + number},
        ("orders", "O-2"): {"status": "picked"},
        ("orders", "O-4"): {"status": "cancelled"},
        ("plants", "P-4"): {"stock": stock[3] + 5},
    }
    return Scene(task, calls, changed)


# Choir office


def choir_records(number: int) -> Records:
    people = names(number, 5)
    voices = ("soprano", "alto", "tenor", "bass", "alto")
    concerts = (("Spring vespers", 8, "planned"), ("Harvest songs", 9, "planned"), ("Winter psalms", 7, "cancelled"))
    entries = ((1, 1, True), (2, 1, False), (3, 2, False), (4, 2, True), (5, 3, False))
    return {
        "singers": {
            f"S-{i}": {"singer_id": f"S-{i}", "name": name, "voice": voice}
            for i, (name, voice) in enumerate(zip(people, voices, strict=True), start=1)
        },
        "concerts": {
            f"C-{i}": {
                "concert_id": f"C-{i}",
                "title": title,
                "date": f"2026-0{i + 2}-1{number % 10}",
                "places": places,
                "status": status,
            }
            for i, (title, places, status) in enumerate(concerts, start=1)
        },
        "entries": {
            f"E-{i}": {"entry_id": f"E-{i}", "singer_id": f"S-{singer}", "concert_id": f"C-{concert}", "solo": solo}
            for i, (singer, concert, solo) in enumerate(entries, start=1)
        },
        "next_number": 6,
    }


def choir(records: Records, number: int) -> Scene:
    name = [singer["name"] for singer in records["singers"].values()]
    if number % 2:
        task = (
            f"{name[2]} joins us for the Spring vespers, without a solo, so please enter that. {name[1]} has been "
            f"singing too high for years and changes to tenor from today. {name[3]} gives away the solo in the "
            "Harvest songs, but sings on."
        )
        calls = [
            ("list_concerts", {}),
            ("find_singers", {"name": ""}),
            ("enter_singer", {"singer_id": "S-3", "concert_id": "C-1", "solo": False}),
            ("set_voice", {"singer_id": "S-2", "voice": "tenor"}),
            ("set_solo", {"entry_id": "E-4", "solo": False}),
        ]
        changed = {("singers", "S-2"): {"voice": "tenor"}, ("entries", "E-4"): {"solo": False}}
        return Scene(task, calls, changed, {"entries": [{"singer_id": "S-3", "concert_id": "C-1", "solo": False}]})
    task = (
        f"{name[0]} cannot sing in the Spring vespers after all. Give the solo there to {name[1]}, and take {name[0]} "
        f"off the list. Then enter {name[4]} for the Harvest songs, with a solo beside the one that is there."
    )
    calls = [
        ("find_singers", {"name": ""}),
        ("list_concerts", {}),
        ("set_solo", {"entry_id": "E-2", "solo": True}),
        ("set_solo", {"entry_id": "E-1", "solo": False}),
        ("withdraw_entry", {"entry_id": "E-1"}),
        ("enter_singer", {"singer_id": "S-5", "concert_id": "C-2", "solo": True}),
    ]
    added = {"entries": [{"singer_id": "S-5", "concert_id": "C-2", "solo": True}]}
    return Scene(task, calls, {("entries", "E-2"): {"solo": True}}, added, [("entries", "E-1")])


# Repair cafe


def repair_records(number: int) -> Records:
    people = names(number, 8)
    skills = (["electrics", "wood"], ["sewing"], ["wood"])
    repairs = (
        (3, "toaster", "electrics", None, "waiting"),
        (4, "winter coat", "sewing", 2, "assigned"),
        (5, "oak stool", "wood", 3, "closed"),
        (6, "desk lamp", "electrics", 1, "assigned"),
        (7, "picture frame", "wood", None, "waiting"),
    )
    return {
        "volunteers": {
            f"V-{i}": {"volunteer_id": f"V-{i}", "name": people[i - 1], "skills": has}
            for i, has in enumerate(skills, start=1)
        },
        "repairs": {
            f"J-{i}": {
                "repair_id": f"J-{i}",
                "visitor": people[who],
                "item": item,
                "skill": skill,
                "volunteer_id": None if volunteer is None else f"V-{volunteer}",
                "status": status,
                "outcome": "fixed" if status == "closed" else None,
            }
            for i, (who, item, skill, volunteer, status) in enumerate(repairs, start=1)
        },
        "next_number": 6,
    }


def repair(records: Records, number: int) -> Scene:
    helper = [volunteer["name"] for volunteer in records["volunteers"].values()]
    visitor = [row["visitor"] for row in records["repairs"].values()]
    if number % 2:
        task = (
            f"{helper[0]} will look at the toaster that {visitor[0]} brought, so assign that. The winter coat of "
            f"{visitor[1]} is mended and can be closed as fixed. For the desk lamp of {visitor[3]} there are no parts: "
            "close it as given up."
        )
        calls = [
            ("list_volunteers", {}),
            ("find_repairs", {"visitor": ""}),
            ("assign_volunteer", {"repair_id": "J-1", "volunteer_id": "V-1"}),
            ("close_repair", {"repair_id": "J-2", "fixed": True}),
            ("close_repair", {"repair_id": "J-4", "fixed": False}),
        ]
        changed = {
            ("repairs", "J-1"): {"volunteer_id": "V-1", "status": "assigned"},
            ("repairs", "J-2"): {"status": "closed", "outcome": "fixed"},
            ("repairs", "J-4"): {"status": "closed", "outcome": "given up"},
        }
        return Scene(task, calls, changed)
    task = (
        f'{visitor[2]} has brought another thing, a "bread box" with a split lid: take it in as a job for wood, and '
        f"assign {helper[2]} to it. The picture frame of {visitor[4]} goes to {helper[0]}, who has time this week "
        "and likes such work."
    )
    calls = [
        ("list_volunteers", {"skill": "wood"}),
        ("take_in", {"visitor": visitor[2], "item": "bread box", "skill": "wood"}),
        ("assign_volunteer", {"repair_id": "J-6", "volunteer_id": "V-3"}),
        ("find_repairs", {"visitor": visitor[4]}),
        ("assign_volunteer", {"repair_id": "J-5", "volunteer_id": "V-1"}),
    ]
    new = {
        "visitor": visitor[2],
        "item": "bread box",
        "skill": "wood",
        "volunteer_id": "V-3",
        "status": "assigned",
        "outcome": None,
    }
    changed = {("repairs", "J-5"): {"volunteer_id": "V-1", "status": "assigned"}}
    return Scene(task, calls, changed, {"repairs": [new]})


PLACES: dict[str, tuple[Callable[[int], Records], Callable[[Records, int], Scene]]] = {
    "parking_permits": (parking_records, parking),
    "plant_nursery": (nursery_records, nursery),
    "choir_office": (choir_records, choir),
    "repair_cafe": (repair_records, repair),
}


# Checks

_GUARD = """\


_goal = check_func


def check_func(final_state):
    changed = {changed!r}
    added = {added!r}
    dropped = {dropped!r}
    for name in {tables!r}:
        before, after = initial_state.get(name, {{}}), final_state.get(name, {{}})
        if not isinstance(after, dict):
            return False
        gone = [key for table, key in dropped if table == name]
        if len(after) != len(before) + added.get(name, 0) - len(gone):
            return False
        for key, old in before.items():
            if key in gone:
                continue
            new, free = after.get(key), changed.get((name, key), [])
            if not isinstance(new, dict) or new.keys() != old.keys():
                return False
            if any(new[field] != value for field, value in old.items() if field not in free):
                return False
    return _goal(final_state)
"""


def checklist(scene: Scene) -> list[tuple[str, str]]:
    """Items with their functions; only goals, no guard."""
    found = []
    for (table, key), fields in scene.changed.items():
        told = " and ".join(f"{name} {value!r}" for name, value in fields.items())
        terms = "\n        and ".join(f"row.get({name!r}) == {value!r}" for name, value in fields.items())
        body = f"    row = final_state.get({table!r}, {{}}).get({key!r}, {{}})\n    return (\n        {terms}\n    )"
        found.append((f"Does {key} have {told}?", f"def check_func(final_state):\n{body}\n"))
    for table, key in scene.dropped:
        body = f"    return {key!r} not in final_state.get({table!r}, {{{key!r}: None}})"
        found.append((f"Is {key} gone?", f"def check_func(final_state):\n{body}\n"))
    for table, rows in scene.added.items():
        for row in rows:
            body = (
                f"    old = initial_state.get({table!r}, {{}})\n"
                f"    new = [row for key, row in final_state.get({table!r}, {{}}).items() if key not in old]\n"
                f"    wanted = {row!r}\n"
                f"    fits = [row for row in new if all(row.get(k) == v for k, v in wanted.items())]\n"
                f"    return len(fits) == 1 and len(new) == {len(rows)}"
            )
            told = ", ".join(f"{name} {value!r}" for name, value in row.items() if value is not None)
            found.append((f"Is there one new row in {table} with {told}?", f"def check_func(final_state):\n{body}\n"))
    return found


def guarded(scene: Scene, records: Records) -> list[tuple[str, str]]:
    """As `checklist`; the last item also asks that nothing else was changed."""
    found = checklist(scene)
    item, function = found[-1]
    guard = _GUARD.format(
        changed={place: sorted(fields) for place, fields in scene.changed.items()},
        added={table: len(rows) for table, rows in scene.added.items()},
        dropped=scene.dropped,
        tables=[name for name, value in records.items() if isinstance(value, dict)],
    )
    return [*found[:-1], (f"{item.removesuffix('?')}, and is nothing else changed?", function + guard)]
