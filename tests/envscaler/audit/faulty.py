"""Checks with one flaw each, made by hand for twelve scenarios of the bundled corpus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.envscaler.playground import check

FRESH = "[row for key, row in final_state[{table!r}].items() if key not in initial_state[{table!r}]]"


@dataclass(frozen=True)
class Facts:
    """What is true of one scenario after its oracle."""

    task_id: str
    table: str
    key: str
    """A record that the oracle changes."""
    goal: str
    """What becomes of it, as an expression of `row`."""
    other: str
    """A record that the oracle leaves alone, and of which the goal is false."""
    grown: str
    """A collection that gains a record."""
    fresh: str
    """The name that the environment gives to it."""
    strict: str
    """True after the oracle, and false if an equal number or a free text is spelt otherwise."""
    strict_line: str
    day: str
    """Date of the scenario's clock."""
    order: str = ""
    """True after the oracle, and false if elements of a list stand in another order."""


def fresh(table: str, value: str) -> str:
    """A list of what the new records of a table say, as an expression of `row`."""
    return f"[{value} for row in {FRESH.format(table=table)}]"


TWELVE = (
    Facts(
        "clinic_scheduling-task_4",
        *("patients", "P-294", "row['missed_visits'] == 2", "P-290"),
        *("prescriptions", "RX-115"),
        *("repr(final_state['patients']['P-294']['missed_visits']) == '2'", "number_spelling", "2026-10-05"),
    ),
    Facts(
        "clinic_scheduling-task_5",
        *("prescriptions", "RX-132", "row['status'] == 'discontinued'", "RX-130"),
        *("appointments", "A-280"),
        "final_state['prescriptions']['RX-132']['discontinued_reason'] == 'Allergy to naproxen'",
        *("text_spelling", "2026-02-16"),
    ),
    Facts(
        "hotel_front_desk-task_1",
        *("guests", "G-101", "row['id_document'] == 'passport N8841207'", "G-102"),
        *("folio_entries", "F-324"),
        *("'95.0' in " + fresh("folio_entries", "str(row['amount'])"), "number_spelling", "2026-05-14"),
    ),
    Facts(
        "hotel_front_desk-task_4",
        *("rooms", "302", "row['housekeeping_status'] == 'clean'", "106"),
        *("guests", "G-211"),
        *(fresh("reservations", "repr(row['adults'])") + " == ['2']", "number_spelling", "2026-07-11"),
    ),
    Facts(
        "it_service_desk-task_1",
        *("tickets", "INC-2029", "row['status'] == 'cancelled'", "REQ-2024"),
        *("tickets", "INC-2048"),
        "'Since this morning Outlook crashes every time the shared invoice mailbox is opened.' in "
        + fresh("tickets", "row['description']"),
        *("text_spelling", "2026-03-09"),
    ),
    Facts(
        "it_service_desk-task_7",
        *("tickets", "REQ-2461", "row['resolution_code'] == 'fulfilled'", "REQ-2472"),
        *("tickets", "REQ-2508"),
        "final_state['tickets']['REQ-2461']['resolution_notes'] == 'Monitor MN-5601 handed over.'",
        *("text_spelling", "2026-09-30"),
    ),
    Facts(
        "library_circulation-task_4",
        *("copies", "C-3302", "row['status'] == 'lost'", "C-3301"),
        *("loans", "L-5314"),
        *("'0' in " + fresh("loans", "repr(row['renewals'])"), "number_spelling", "2026-01-20"),
    ),
    Facts(
        "library_circulation-task_7",
        *("patrons", "P-1501", "row['card_expiry'] == '2026-12-02'", "P-1502"),
        *("holds", "H-886"),
        *("final_state['fines']['F-1082']['note'] == 'Year-end goodwill'", "text_spelling", "2025-12-02"),
    ),
    Facts(
        "university_registrar-task_3",
        *("sections", "SEC-111", "row['capacity'] == 6", "SEC-114"),
        *("enrolments", "EN-5061"),
        *("str(final_state['sections']['SEC-111']['capacity']) == '6'", "number_spelling", "2026-09-01"),
    ),
    Facts(
        "university_registrar-task_7",
        *("students", "ST-2053", "row['credit_limit'] == 18", "ST-2056"),
        *("enrolments", "EN-5211"),
        "type(final_state['students']['ST-2053']['credit_limit']) is int and "
        "final_state['students']['ST-2053']['credit_limit'] == 18",
        *("number_spelling", "2027-01-20"),
    ),
    Facts(
        "warehouse_fulfilment-task_2",
        *("bins", "A-01-02", "row['contents'].get('ART-HRT') == 24", "A-02-01"),
        *("shipments", "SH-616"),
        "f\"{final_state['bins']['A-01-02']['contents']['ART-HRT']}\" == '24'",
        *("number_spelling", "2025-06-19", fresh("shipments", "row['lines'][0]['sku']") + " == ['TOM-PEL']"),
    ),
    Facts(
        "warehouse_fulfilment-task_7",
        *("bins", "A-01-02", "row['contents'].get('ART-HRT') == 50", "A-02-01"),
        *("sales_orders", "SO-2610"),
        "str(final_state['bins']['A-01-02']['contents']['ART-HRT']) == '50'",
        *("number_spelling", "2025-11-18", fresh("sales_orders", "row['lines'][0]['sku']") + " == ['PAS-RIG']"),
    ),
)


def faulty(facts: Facts) -> Mapping[str, tuple[str, str]]:
    """Kind of flaw to a check that has it, and the line that must flag it."""
    table, grown = f"final_state[{facts.table!r}]", f"final_state[{facts.grown!r}]"
    before = f"initial_state[{facts.grown!r}]"
    met = f"(lambda row: {facts.goal})"
    right = f"{met}({table}[{facts.key!r}])"
    last = f"list({grown})[-1] not in {before}"
    today = "__import__('datetime').date.today().isoformat()"
    return {
        "vacuous": (check(f"isinstance(final_state.get({facts.table!r}, {{}}), dict)"), "vacuous"),
        "wrong entity": (check(f"{met}({table}[{facts.other!r}])"), "oracle"),
        "too strict on spelling": (check(facts.strict), facts.strict_line),
        "order-dependent": (check(facts.order), "list_order") if facts.order else (check(last), "key_order"),
        "stale id": (check(f"{facts.fresh!r} in {grown}"), "generated_ids"),
        "true by accident": (check(f"len({grown}) > len({before})"), "accident"),
        "mutating": (check(f"{right} and {table}.pop({facts.other!r}) is not None"), "mutates"),
        "clock-dependent": (check(f"{right} and {today} == {facts.day!r}"), "clock"),
    }
