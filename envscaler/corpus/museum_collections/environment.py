"""The collections office of an art museum: objects, stores and galleries, loans, exhibitions and conservation."""

import copy
import re
from datetime import date, timedelta
from typing import Dict, Iterable, List, Literal, Optional, TypedDict, TypeVar

Record = TypeVar("Record")


class ArtistInfo(TypedDict):
    artist_id: str
    name: str
    born: int
    died: Optional[int]
    country: str


class ObjectInfo(TypedDict):
    object_id: str  # the accession number, e.g. "1987.14"
    title: str
    artist_id: str
    year: int
    medium: str  # "painting", "sculpture", "paper", "textile" or "photograph"
    insured_value: float
    condition: str  # "good", "fair", "poor" or "critical", as the latest report says
    status: str  # "in_storage", "on_display", "in_studio" or "on_loan"
    location_id: Optional[str]  # None while the object is on loan
    displayed_since: Optional[str]  # YYYY-MM-DD, while it is on display
    rest_until: Optional[str]  # last day on which a light-sensitive object must rest
    unpacked_check: bool  # True from its return from a loan until its condition has been recorded


class LocationInfo(TypedDict):
    location_id: str
    name: str
    kind: str  # "storage", "gallery" or "studio"
    capacity: int  # objects
    light_lux: int
    security: int  # 1 (low) to 3 (high)


class InstitutionInfo(TypedDict):
    institution_id: str
    name: str
    city: str
    facility_report_until: str  # last day on which the facility report is valid
    insurance_limit: float  # the most that its insurance covers at a time


class LoanInfo(TypedDict):
    loan_id: str
    institution_id: str
    purpose: str
    object_ids: List[str]
    start_date: str
    end_date: str
    status: str  # "agreed", "out", "returned" or "cancelled"
    sent_on: Optional[str]
    returned_on: Optional[str]


class ExhibitionInfo(TypedDict):
    exhibition_id: str
    title: str
    location_id: str  # the gallery
    opens: str
    closes: str
    status: str  # "planned" or "closed"; open between its dates
    object_ids: List[str]


class ConditionReport(TypedDict):
    report_id: str
    object_id: str
    reported_on: str
    reason: str  # "routine", "pre_loan", "return" or "incident"
    condition: str
    note: str


class ConservatorInfo(TypedDict):
    conservator_id: str
    name: str
    media: List[str]
    is_senior: bool
    hourly_rate: float


class TreatmentInfo(TypedDict):
    treatment_id: str
    object_id: str
    conservator_id: str
    kind: str  # "cleaning", "stabilisation" or "restoration"
    started_on: str
    status: str  # "in_progress" or "completed"
    completed_on: Optional[str]
    hours: Optional[float]
    cost: Optional[float]


class MovementInfo(TypedDict):
    movement_id: str
    object_id: str
    from_location: Optional[str]  # None: from a loan, or a new accession
    to_location: Optional[str]  # None: to a loan
    moved_on: str


MEDIA = ("painting", "sculpture", "paper", "textile", "photograph")
LIGHT_SENSITIVE = ("paper", "textile", "photograph")
MOST_LUX = 50  # for light-sensitive objects
SHOW_DAYS = 120  # longest exhibition or loan with light-sensitive objects
REST_DAYS = 240  # after a display or loan
HIGH_VALUE = 250000.00  # needs security 3, and a senior conservator
LOAN_LEAD_DAYS = 60  # from the agreement to the start
LOAN_DAYS = 365
PACKING_DAYS = 14  # kept free before and after each loan and exhibition
REPORT_DAYS = 30  # how old a condition report may be when an object is sent
INSTALL_DAYS = 14  # how early objects are hung before an opening
OPEN_TREATMENTS = 2  # of one conservator

CONDITIONS = ("good", "fair", "poor", "critical")
SOUND = ("good", "fair")
OBJECT_STATUSES = ("in_storage", "on_display", "in_studio", "on_loan")
KINDS = ("storage", "gallery", "studio")
STATUS_OF_KIND = {"storage": "in_storage", "gallery": "on_display", "studio": "in_studio"}
LOAN_STATUSES = ("agreed", "out", "returned", "cancelled")
REASONS = ("routine", "pre_loan", "return", "incident")
TREATMENTS = ("cleaning", "stabilisation", "restoration")


class MuseumCollections:
    """State and tools of the collections office. Every tool returns a dict with "success"."""

    def __init__(self, init_config: dict):
        """
        Set every state attribute from the initial configuration.

        Args:
            init_config (dict): The initial state: one key per attribute below.
        """
        self.artists: Dict[str, ArtistInfo] = init_config.get("artists", {})
        self.objects: Dict[str, ObjectInfo] = init_config.get("objects", {})
        self.locations: Dict[str, LocationInfo] = init_config.get("locations", {})
        self.institutions: Dict[str, InstitutionInfo] = init_config.get("institutions", {})
        self.loans: Dict[str, LoanInfo] = init_config.get("loans", {})
        self.exhibitions: Dict[str, ExhibitionInfo] = init_config.get("exhibitions", {})
        self.condition_reports: Dict[str, ConditionReport] = init_config.get("condition_reports", {})
        self.conservators: Dict[str, ConservatorInfo] = init_config.get("conservators", {})
        self.treatments: Dict[str, TreatmentInfo] = init_config.get("treatments", {})
        self.movements: Dict[str, MovementInfo] = init_config.get("movements", {})
        self.current_date: str = init_config.get("current_date", "2025-01-01")
        self.next_accession_number: int = init_config.get("next_accession_number", 1)
        self.next_artist_number: int = init_config.get("next_artist_number", 1)
        self.next_loan_number: int = init_config.get("next_loan_number", 1)
        self.next_report_number: int = init_config.get("next_report_number", 1)
        self.next_treatment_number: int = init_config.get("next_treatment_number", 1)
        self.next_movement_number: int = init_config.get("next_movement_number", 1)

    # Helpers

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    @staticmethod
    def _unknown(kind: str, value: object) -> dict:
        shown = f"'{value[:60]}'" if isinstance(value, str) else "that is not a string"
        return {"success": False, "error": f"There is no {kind} with an id {shown}."}

    @staticmethod
    def _find(table: Dict[str, Record], key: object) -> Optional[Record]:
        return table.get(key) if isinstance(key, str) else None

    @staticmethod
    def _choice(name: str, value: object, allowed: Iterable[str], optional: bool = False) -> Optional[str]:
        """Say what is wrong with a value from a fixed set, or None."""
        if (optional and value is None) or (isinstance(value, str) and value in allowed):
            return None
        return f"{name} must be one of: {', '.join(allowed)}."

    @staticmethod
    def _text_filter(name: str, value: object) -> Optional[str]:
        return None if value is None or isinstance(value, str) else f"{name} must be a string."

    @staticmethod
    def _is_text(value: object) -> bool:
        return isinstance(value, str) and value.strip() != ""

    @staticmethod
    def _contains(text: str, part: Optional[str]) -> bool:
        return part is None or part.strip().lower() in text.lower()

    @staticmethod
    def _is_int(value: object, least: int, most: int) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    @staticmethod
    def _is_amount(value: object, most: float) -> bool:
        """Whether a value is a number with at most two decimals, above 0 and up to the limit."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return 0.01 <= value <= most and abs(value - round(value, 2)) < 1e-9

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
    def _days(start: str, end: str) -> int:
        return (date.fromisoformat(end) - date.fromisoformat(start)).days

    @staticmethod
    def _shift(day: str, days: int) -> str:
        return (date.fromisoformat(day) + timedelta(days=days)).isoformat()

    def _held(self, location_id: str) -> int:
        return sum(1 for entry in self.objects.values() if entry["location_id"] == location_id)

    @staticmethod
    def _is_sensitive(entry: ObjectInfo) -> bool:
        return entry["medium"] in LIGHT_SENSITIVE

    def _treated(self, object_id: str) -> Optional[TreatmentInfo]:
        """The treatment in progress on an object."""
        for treatment in self.treatments.values():
            if treatment["object_id"] == object_id and treatment["status"] == "in_progress":
                return treatment
        return None

    def _place_problem(self, entry: ObjectInfo, place: LocationInfo) -> Optional[str]:
        """Why the place cannot take the object, or None."""
        if self._held(place["location_id"]) >= place["capacity"]:
            return f"{place['name']} is full with {place['capacity']} objects."
        if entry["insured_value"] > HIGH_VALUE and place["security"] < 3:
            return f"'{entry['title']}' is insured above {HIGH_VALUE:.2f} and needs a place of security 3."
        if place["kind"] == "gallery" and self._is_sensitive(entry) and place["light_lux"] > MOST_LUX:
            return f"'{entry['title']}' is light-sensitive and {place['name']} has more than {MOST_LUX} lux."
        return None

    def _commitments(self, object_id: str) -> List[dict]:
        """The loans and exhibitions that an object is promised to, from the first to the last."""
        found: List[dict] = []
        for loan in self.loans.values():
            if object_id in loan["object_ids"] and loan["status"] in ("agreed", "out"):
                found.append(
                    {"kind": "loan", "of": loan["loan_id"], "start": loan["start_date"], "end": loan["end_date"]}
                )
        for show in self.exhibitions.values():
            if object_id in show["object_ids"] and show["status"] == "planned":
                found.append(
                    {"kind": "exhibition", "of": show["exhibition_id"], "start": show["opens"], "end": show["closes"]}
                )
        return sorted(found, key=lambda entry: (entry["start"], entry["of"]))

    def _show_problem(self, entry: ObjectInfo, start: str, end: str) -> Optional[str]:
        """Why the object cannot be promised to a loan or exhibition of these dates, or None."""
        title = f"'{entry['title']}' ({entry['object_id']})"
        if entry["condition"] not in SOUND:
            return f"{title} is in {entry['condition']} condition."
        if self._treated(entry["object_id"]) is not None:
            return f"{title} is being treated."
        free = REST_DAYS if self._is_sensitive(entry) else PACKING_DAYS
        for taken in self._commitments(entry["object_id"]):
            first, last = self._shift(start, -free), self._shift(end, free)
            if taken["start"] <= last and first <= taken["end"]:
                return (
                    f"{title} is promised to {taken['kind']} {taken['of']} from {taken['start']} to {taken['end']};"
                    f" {free} days must lie between."
                )
        if self._is_sensitive(entry):
            if self._days(start, end) + 1 > SHOW_DAYS:
                return f"{title} is light-sensitive and is shown for at most {SHOW_DAYS} days."
            if entry["rest_until"] is not None and entry["rest_until"] >= start:
                return f"{title} must rest until {entry['rest_until']}."
        return None

    def _log(self, object_id: str, origin: Optional[str], target: Optional[str]) -> str:
        movement_id = f"M-{self.next_movement_number}"
        self.next_movement_number += 1
        self.movements[movement_id] = {
            "movement_id": movement_id,
            "object_id": object_id,
            "from_location": origin,
            "to_location": target,
            "moved_on": self.current_date,
        }
        return movement_id

    def _view(self, entry: ObjectInfo) -> dict:
        place = self.locations[entry["location_id"]]["name"] if entry["location_id"] is not None else None
        artist = self.artists[entry["artist_id"]]["name"]
        return {**entry, "artist_name": artist, "location_name": place, "light_sensitive": self._is_sensitive(entry)}

    # Queries

    def search_objects(
        self,
        title: Optional[str] = None,
        artist: Optional[str] = None,
        medium: Optional[Literal["painting", "sculpture", "paper", "textile", "photograph"]] = None,
        status: Optional[Literal["in_storage", "on_display", "in_studio", "on_loan"]] = None,
        location_id: Optional[str] = None,
    ) -> dict:
        """
        Find objects; every filter that is given must match.

        Args:
            title (str, optional): Part of the title, any case.
            artist (str, optional): Part of the artist's name, any case.
            medium (str, optional): "painting", "sculpture", "paper", "textile" or "photograph".
            status (str, optional): "in_storage", "on_display", "in_studio" or "on_loan".
            location_id (str, optional): Location id, e.g. "LOC-3".

        Returns:
            dict: {"success": True, "data": [ObjectInfo with "artist_name", "location_name" and "light_sensitive"
            added, ...]}, or {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("title", title)
            or self._text_filter("artist", artist)
            or self._choice("medium", medium, MEDIA, optional=True)
            or self._choice("status", status, OBJECT_STATUSES, optional=True)
        )
        if problem:
            return self._fail(problem)
        if location_id is not None and self._find(self.locations, location_id) is None:
            return self._unknown("location", location_id)
        found = [
            self._view(entry)
            for _, entry in sorted(self.objects.items())
            if self._contains(entry["title"], title)
            and self._contains(self.artists[entry["artist_id"]]["name"], artist)
            and medium in (None, entry["medium"])
            and status in (None, entry["status"])
            and location_id in (None, entry["location_id"])
        ]
        return {"success": True, "data": found}

    def get_object(self, object_id: str) -> dict:
        """
        Show an object with its condition reports, treatments, movements and what it is promised to.

        Args:
            object_id (str): Accession number, e.g. "1987.14".

        Returns:
            dict: {"success": True, "data": {"object": ObjectInfo, "condition_reports": [ConditionReport, ...] oldest
            first, "treatments": [TreatmentInfo, ...], "movements": [MovementInfo, ...], "commitments": [{"kind",
            "of", "start", "end"}, ...]}}, or {"success": False, "error": str}.
        """
        entry = self._find(self.objects, object_id)
        if entry is None:
            return self._unknown("object", object_id)
        reports = [report for report in self.condition_reports.values() if report["object_id"] == object_id]
        reports.sort(key=lambda report: (report["reported_on"], len(report["report_id"]), report["report_id"]))
        file = {
            "object": self._view(entry),
            "condition_reports": reports,
            "treatments": [item for item in self.treatments.values() if item["object_id"] == object_id],
            "movements": [item for item in self.movements.values() if item["object_id"] == object_id],
            "commitments": self._commitments(object_id),
        }
        return {"success": True, "data": copy.deepcopy(file)}

    def search_artists(self, name: Optional[str] = None) -> dict:
        """
        Find artists.

        Args:
            name (str, optional): Part of the name, any case; all artists if left out.

        Returns:
            dict: {"success": True, "data": [ArtistInfo, ...]}, or {"success": False, "error": str}.
        """
        problem = self._text_filter("name", name)
        if problem:
            return self._fail(problem)
        found = [artist for _, artist in sorted(self.artists.items()) if self._contains(artist["name"], name)]
        return {"success": True, "data": copy.deepcopy(found)}

    def list_locations(self, kind: Optional[Literal["storage", "gallery", "studio"]] = None) -> dict:
        """
        List stores, galleries and studios with the room that is left.

        Args:
            kind (str, optional): "storage", "gallery" or "studio"; all if left out.

        Returns:
            dict: {"success": True, "data": [LocationInfo with "free_places" added, ...]}, or
            {"success": False, "error": str}.
        """
        problem = self._choice("kind", kind, KINDS, optional=True)
        if problem:
            return self._fail(problem)
        found = [
            {**place, "free_places": place["capacity"] - self._held(location_id)}
            for location_id, place in sorted(self.locations.items())
            if kind in (None, place["kind"])
        ]
        return {"success": True, "data": found}

    def search_institutions(self, name: Optional[str] = None, city: Optional[str] = None) -> dict:
        """
        Find institutions that borrow from the museum; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            city (str, optional): Part of the city's name, any case.

        Returns:
            dict: {"success": True, "data": [InstitutionInfo with "insured_out" (value of its agreed and running
            loans) added, ...]}, or {"success": False, "error": str}.
        """
        problem = self._text_filter("name", name) or self._text_filter("city", city)
        if problem:
            return self._fail(problem)
        found = [
            {**place, "insured_out": self._insured_out(institution_id)}
            for institution_id, place in sorted(self.institutions.items())
            if self._contains(place["name"], name) and self._contains(place["city"], city)
        ]
        return {"success": True, "data": found}

    def _insured_out(self, institution_id: str) -> float:
        """Value of the objects that an institution has or has been promised."""
        total = sum(
            self.objects[object_id]["insured_value"]
            for loan in self.loans.values()
            if loan["institution_id"] == institution_id and loan["status"] in ("agreed", "out")
            for object_id in loan["object_ids"]
        )
        return round(total, 2)

    def list_loans(
        self,
        institution_id: Optional[str] = None,
        object_id: Optional[str] = None,
        status: Optional[Literal["agreed", "out", "returned", "cancelled"]] = None,
    ) -> dict:
        """
        List loans by start; every filter that is given must match.

        Args:
            institution_id (str, optional): Institution id, e.g. "INS-2".
            object_id (str, optional): Accession number, e.g. "1987.14".
            status (str, optional): "agreed", "out", "returned" or "cancelled".

        Returns:
            dict: {"success": True, "data": [LoanInfo with "institution_name" added, ...]}, or
            {"success": False, "error": str}.
        """
        if institution_id is not None and self._find(self.institutions, institution_id) is None:
            return self._unknown("institution", institution_id)
        if object_id is not None and self._find(self.objects, object_id) is None:
            return self._unknown("object", object_id)
        problem = self._choice("status", status, LOAN_STATUSES, optional=True)
        if problem:
            return self._fail(problem)
        found = [
            {**loan, "institution_name": self.institutions[loan["institution_id"]]["name"]}
            for loan in sorted(self.loans.values(), key=lambda row: (row["start_date"], row["loan_id"]))
            if institution_id in (None, loan["institution_id"])
            and (object_id is None or object_id in loan["object_ids"])
            and status in (None, loan["status"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def list_exhibitions(
        self, title: Optional[str] = None, status: Optional[Literal["planned", "closed"]] = None
    ) -> dict:
        """
        List exhibitions by opening; every filter that is given must match.

        Args:
            title (str, optional): Part of the title, any case.
            status (str, optional): "planned" (to come or running) or "closed".

        Returns:
            dict: {"success": True, "data": [ExhibitionInfo with "gallery_name", "light_lux" and "is_open" added,
            ...]}, or {"success": False, "error": str}.
        """
        problem = self._text_filter("title", title) or self._choice(
            "status", status, ("planned", "closed"), optional=True
        )
        if problem:
            return self._fail(problem)
        found = []
        for show in sorted(self.exhibitions.values(), key=lambda row: (row["opens"], row["exhibition_id"])):
            if self._contains(show["title"], title) and status in (None, show["status"]):
                gallery = self.locations[show["location_id"]]
                is_open = show["status"] == "planned" and show["opens"] <= self.current_date <= show["closes"]
                added = {"gallery_name": gallery["name"], "light_lux": gallery["light_lux"], "is_open": is_open}
                found.append({**show, **added})
        return {"success": True, "data": copy.deepcopy(found)}

    def list_treatments(
        self,
        object_id: Optional[str] = None,
        conservator_id: Optional[str] = None,
        status: Optional[Literal["in_progress", "completed"]] = None,
    ) -> dict:
        """
        List treatments; every filter that is given must match.

        Args:
            object_id (str, optional): Accession number, e.g. "1987.14".
            conservator_id (str, optional): Conservator id, e.g. "CON-1".
            status (str, optional): "in_progress" or "completed".

        Returns:
            dict: {"success": True, "data": [TreatmentInfo with "title" and "conservator_name" added, ...]}, or
            {"success": False, "error": str}.
        """
        if object_id is not None and self._find(self.objects, object_id) is None:
            return self._unknown("object", object_id)
        if conservator_id is not None and self._find(self.conservators, conservator_id) is None:
            return self._unknown("conservator", conservator_id)
        problem = self._choice("status", status, ("in_progress", "completed"), optional=True)
        if problem:
            return self._fail(problem)
        found = [
            {
                **item,
                "title": self.objects[item["object_id"]]["title"],
                "conservator_name": self.conservators[item["conservator_id"]]["name"],
            }
            for _, item in sorted(self.treatments.items())
            if object_id in (None, item["object_id"])
            and conservator_id in (None, item["conservator_id"])
            and status in (None, item["status"])
        ]
        return {"success": True, "data": found}

    def list_conservators(
        self, medium: Optional[Literal["painting", "sculpture", "paper", "textile", "photograph"]] = None
    ) -> dict:
        """
        List conservators with the number of their treatments in progress.

        Args:
            medium (str, optional): Only conservators of this medium.

        Returns:
            dict: {"success": True, "data": [ConservatorInfo with "open_treatments" added, ...]}, or
            {"success": False, "error": str}.
        """
        problem = self._choice("medium", medium, MEDIA, optional=True)
        if problem:
            return self._fail(problem)
        found = [
            {**person, "open_treatments": self._open_treatments(conservator_id)}
            for conservator_id, person in sorted(self.conservators.items())
            if medium is None or medium in person["media"]
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def _open_treatments(self, conservator_id: str) -> int:
        return sum(
            1
            for item in self.treatments.values()
            if item["conservator_id"] == conservator_id and item["status"] == "in_progress"
        )

    # Changes: the collection

    def register_artist(self, name: str, born: int, country: str, died: Optional[int] = None) -> dict:
        """
        Add an artist to the register, who must not be in it under the same name and year of birth.

        Args:
            name (str): Full name.
            born (int): Year of birth.
            country (str): Country.
            died (int, optional): Year of death; left out for a living artist.

        Returns:
            dict: {"success": True, "message": str, "artist_id": str}, or {"success": False, "error": str}.
        """
        if not self._is_text(name) or not self._is_text(country):
            return self._fail("name and country must be non-empty strings.")
        this_year = int(self.current_date[:4])
        if not self._is_int(born, 1000, this_year):
            return self._fail("born must be a year.")
        if died is not None and not self._is_int(died, born, this_year):
            return self._fail("died must be a year, not before the birth.")
        for other in self.artists.values():
            if other["name"].lower() == name.strip().lower() and other["born"] == born:
                return self._fail(f"The artist is in the register already, as {other['artist_id']}.")
        artist_id = f"ART-{self.next_artist_number}"
        self.next_artist_number += 1
        self.artists[artist_id] = {
            "artist_id": artist_id,
            "name": name.strip(),
            "born": born,
            "died": died,
            "country": country.strip(),
        }
        return {"success": True, "message": f"Registered {name.strip()} as {artist_id}.", "artist_id": artist_id}

    def accession_object(
        self,
        title: str,
        artist_id: str,
        year: int,
        medium: Literal["painting", "sculpture", "paper", "textile", "photograph"],
        insured_value: float,
        condition: Literal["good", "fair", "poor", "critical"],
        location_id: str,
    ) -> dict:
        """
        Take a new object into the collection and put it into a store, with a first condition report.

        The accession number is this year and a running number.

        Args:
            title (str): Title.
            artist_id (str): Artist id, e.g. "ART-4".
            year (int): Year in which it was made, not before the artist's birth.
            medium (str): "painting", "sculpture", "paper", "textile" or "photograph".
            insured_value (float): Insured value, above 0.
            condition (str): "good", "fair", "poor" or "critical".
            location_id (str): Id of a store with room for it, e.g. "LOC-1".

        Returns:
            dict: {"success": True, "message": str, "object_id": str, "report_id": str}, or
            {"success": False, "error": str}.
        """
        if not self._is_text(title):
            return self._fail("title must be a non-empty string.")
        artist = self._find(self.artists, artist_id)
        if artist is None:
            return self._unknown("artist", artist_id)
        if not self._is_int(year, artist["born"], int(self.current_date[:4])):
            return self._fail("year must be a year, not before the artist's birth.")
        problem = self._choice("medium", medium, MEDIA) or self._choice("condition", condition, CONDITIONS)
        if problem:
            return self._fail(problem)
        if not self._is_amount(insured_value, 100000000):
            return self._fail("insured_value must be an amount above 0.")
        place = self._find(self.locations, location_id)
        if place is None:
            return self._unknown("location", location_id)
        if place["kind"] != "storage":
            return self._fail(f"{place['name']} is not a store.")
        object_id = f"{self.current_date[:4]}.{self.next_accession_number}"
        entry: ObjectInfo = {
            "object_id": object_id,
            "title": title.strip(),
            "artist_id": artist_id,
            "year": year,
            "medium": medium,
            "insured_value": insured_value,
            "condition": condition,
            "status": "in_storage",
            "location_id": location_id,
            "displayed_since": None,
            "rest_until": None,
            "unpacked_check": False,
        }
        problem = self._place_problem(entry, place)
        if problem:
            return self._fail(problem)
        self.next_accession_number += 1
        self.objects[object_id] = entry
        report_id = self._report(object_id, "routine", condition, "On accession")
        self._log(object_id, None, location_id)
        return {
            "success": True,
            "message": f"'{title.strip()}' is {object_id} and stands in {place['name']}.",
            "object_id": object_id,
            "report_id": report_id,
        }

    def _report(self, object_id: str, reason: str, condition: str, note: str) -> str:
        report_id = f"CR-{self.next_report_number}"
        self.next_report_number += 1
        self.condition_reports[report_id] = {
            "report_id": report_id,
            "object_id": object_id,
            "reported_on": self.current_date,
            "reason": reason,
            "condition": condition,
            "note": note,
        }
        return report_id

    def record_condition(
        self,
        object_id: str,
        condition: Literal["good", "fair", "poor", "critical"],
        reason: Literal["routine", "pre_loan", "return", "incident"],
        note: str = "",
    ) -> dict:
        """
        Record what an examination today found; the object's condition becomes the one reported.

        An object on loan is not examined, and one that is being treated gets its report when that ends. "return" is
        for an object that has just come back from a loan, which needs it before anything else.

        Args:
            object_id (str): Accession number, e.g. "1987.14".
            condition (str): "good", "fair", "poor" or "critical".
            reason (str): "routine", "pre_loan", "return" or "incident".
            note (str): What was seen.

        Returns:
            dict: {"success": True, "message": str, "report_id": str}, or {"success": False, "error": str}.
        """
        entry = self._find(self.objects, object_id)
        if entry is None:
            return self._unknown("object", object_id)
        problem = self._choice("condition", condition, CONDITIONS) or self._choice("reason", reason, REASONS)
        if problem:
            return self._fail(problem)
        if not isinstance(note, str):
            return self._fail("note must be a string.")
        if entry["status"] == "on_loan":
            return self._fail(f"'{entry['title']}' is on loan.")
        if self._treated(object_id) is not None:
            return self._fail(f"'{entry['title']}' is being treated.")
        if entry["unpacked_check"] != (reason == "return"):
            state = "has come back from a loan" if entry["unpacked_check"] else "has not just come back from a loan"
            return self._fail(f"'{entry['title']}' {state}; the reason '{reason}' does not fit.")
        entry["condition"] = condition
        entry["unpacked_check"] = False
        report_id = self._report(object_id, reason, condition, note.strip())
        return {
            "success": True,
            "message": f"'{entry['title']}' is in {condition} condition ({report_id}).",
            "report_id": report_id,
        }

    def move_object(self, object_id: str, location_id: str) -> dict:
        """
        Move an object that is in the house to a store, a gallery or the studio.

        The place needs room and, above an insured value of 250000.00, security 3. A gallery takes only sound objects
        (good or fair) of an exhibition there that is open or opens within 14 days, and light-sensitive ones only up
        to 50 lux and not before their rest is over. Leaving a gallery, a light-sensitive object rests for 240 days.
        An object that has come back from a loan is moved after its return report, one in treatment not at all.

        Args:
            object_id (str): Accession number, e.g. "1987.14".
            location_id (str): Location id, e.g. "LOC-3".

        Returns:
            dict: {"success": True, "message": str, "movement_id": str, "rest_until": str or None}, or
            {"success": False, "error": str}.
        """
        entry = self._find(self.objects, object_id)
        if entry is None:
            return self._unknown("object", object_id)
        place = self._find(self.locations, location_id)
        if place is None:
            return self._unknown("location", location_id)
        if entry["status"] == "on_loan":
            return self._fail(f"'{entry['title']}' is on loan.")
        if entry["unpacked_check"]:
            return self._fail(f"'{entry['title']}' has come back from a loan and needs its return report first.")
        if self._treated(object_id) is not None:
            return self._fail(f"'{entry['title']}' is being treated.")
        if entry["location_id"] == location_id:
            return self._fail(f"'{entry['title']}' is in {place['name']} already.")
        problem = self._place_problem(entry, place)
        if problem is None and place["kind"] == "gallery":
            problem = self._hanging_problem(entry, place)
        if problem:
            return self._fail(problem)
        if entry["status"] == "on_display" and self._is_sensitive(entry):
            entry["rest_until"] = self._shift(self.current_date, REST_DAYS)
        entry["displayed_since"] = self.current_date if place["kind"] == "gallery" else None
        movement_id = self._log(object_id, entry["location_id"], location_id)
        entry["location_id"] = location_id
        entry["status"] = STATUS_OF_KIND[place["kind"]]
        return {
            "success": True,
            "message": f"'{entry['title']}' is now in {place['name']}.",
            "movement_id": movement_id,
            "rest_until": entry["rest_until"],
        }

    def _hanging_problem(self, entry: ObjectInfo, gallery: LocationInfo) -> Optional[str]:
        """Why the object cannot be shown in the gallery today, or None."""
        if entry["condition"] not in SOUND:
            return f"'{entry['title']}' is in {entry['condition']} condition and is not shown."
        if self._is_sensitive(entry):
            if entry["status"] == "on_display":
                return f"'{entry['title']}' is light-sensitive and must rest after this display."
            if entry["rest_until"] is not None and entry["rest_until"] >= self.current_date:
                return f"'{entry['title']}' must rest until {entry['rest_until']}."
        for show in self.exhibitions.values():
            early = self._shift(show["opens"], -INSTALL_DAYS)
            if (
                show["location_id"] == gallery["location_id"]
                and show["status"] == "planned"
                and entry["object_id"] in show["object_ids"]
                and early <= self.current_date <= show["closes"]
            ):
                return None
        return f"No exhibition in {gallery['name']} shows '{entry['title']}' now or within {INSTALL_DAYS} days."

    # Changes: loans

    def create_loan(
        self, institution_id: str, object_ids: List[str], start_date: str, end_date: str, purpose: str
    ) -> dict:
        """
        Agree a loan of objects to an institution.

        The loan starts at least 60 days ahead and lasts at most 365 days. The institution's facility report must be
        valid to its end, no loan of it may be overdue, and all that it has and gets stays within its insurance limit.
        Each object must be sound (good or fair), not in treatment and not promised elsewhere within 14 days before or
        after (240 if light-sensitive); light-sensitive ones go for at most 120 days and after their rest.

        Args:
            institution_id (str): Institution id, e.g. "INS-2".
            object_ids (List[str]): Accession numbers.
            start_date (str): First day, YYYY-MM-DD.
            end_date (str): Last day, YYYY-MM-DD.
            purpose (str): What the loan is for.

        Returns:
            dict: {"success": True, "message": str, "loan_id": str}, or {"success": False, "error": str}.
        """
        place = self._find(self.institutions, institution_id)
        if place is None:
            return self._unknown("institution", institution_id)
        if not isinstance(object_ids, list) or not object_ids:
            return self._fail("object_ids must be a non-empty list of accession numbers.")
        entries = []
        for object_id in object_ids:
            entry = self._find(self.objects, object_id)
            if entry is None:
                return self._unknown("object", object_id)
            entries.append(entry)
        if len(set(object_ids)) != len(object_ids):
            return self._fail("object_ids names an object twice.")
        if not self._is_date(start_date) or not self._is_date(end_date) or end_date < start_date:
            return self._fail("start_date and end_date must be dates in the form YYYY-MM-DD, in this order.")
        if not LOAN_LEAD_DAYS <= self._days(self.current_date, start_date) <= 1000:
            return self._fail(f"A loan starts at least {LOAN_LEAD_DAYS} and at most 1000 days ahead.")
        if self._days(start_date, end_date) + 1 > LOAN_DAYS:
            return self._fail(f"A loan lasts at most {LOAN_DAYS} days.")
        if not self._is_text(purpose):
            return self._fail("purpose must be a non-empty string.")
        if place["facility_report_until"] < end_date:
            return self._fail(f"The facility report of {place['name']} ends on {place['facility_report_until']}.")
        for loan in self.loans.values():
            late = loan["status"] == "out" and loan["end_date"] < self.current_date
            if late and loan["institution_id"] == institution_id:
                return self._fail(f"{place['name']} has not returned loan {loan['loan_id']}, due {loan['end_date']}.")
        total = self._insured_out(institution_id) + sum(entry["insured_value"] for entry in entries)
        if total > place["insurance_limit"]:
            return self._fail(f"{place['name']} is insured up to {place['insurance_limit']:.2f}, not {total:.2f}.")
        for entry in entries:
            problem = self._show_problem(entry, start_date, end_date)
            if problem:
                return self._fail(problem)
        loan_id = f"LN-{self.next_loan_number}"
        self.next_loan_number += 1
        self.loans[loan_id] = {
            "loan_id": loan_id,
            "institution_id": institution_id,
            "purpose": purpose.strip(),
            "object_ids": list(object_ids),
            "start_date": start_date,
            "end_date": end_date,
            "status": "agreed",
            "sent_on": None,
            "returned_on": None,
        }
        return {
            "success": True,
            "message": f"Agreed loan {loan_id} of {len(entries)} objects to {place['name']}.",
            "loan_id": loan_id,
        }

    def cancel_loan(self, loan_id: str) -> dict:
        """
        Cancel an agreed loan that has not been sent.

        Args:
            loan_id (str): Loan id, e.g. "LN-12".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        loan = self._find(self.loans, loan_id)
        if loan is None:
            return self._unknown("loan", loan_id)
        if loan["status"] != "agreed":
            return self._fail(f"Loan {loan_id} cannot be cancelled; its status is '{loan['status']}'.")
        loan["status"] = "cancelled"
        return {"success": True, "message": f"Cancelled loan {loan_id}."}

    def send_loan(self, loan_id: str) -> dict:
        """
        Send the objects of an agreed loan, from 14 days before its start to its end.

        All of them must be in storage, sound (good or fair), not at rest if light-sensitive, and have a condition
        report of the last 30 days.

        Args:
            loan_id (str): Loan id, e.g. "LN-12".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        loan = self._find(self.loans, loan_id)
        if loan is None:
            return self._unknown("loan", loan_id)
        if loan["status"] != "agreed":
            return self._fail(f"Loan {loan_id} cannot be sent; its status is '{loan['status']}'.")
        if not self._shift(loan["start_date"], -PACKING_DAYS) <= self.current_date <= loan["end_date"]:
            return self._fail(f"Loan {loan_id} runs from {loan['start_date']} to {loan['end_date']}.")
        since = self._shift(self.current_date, -REPORT_DAYS)
        for object_id in loan["object_ids"]:
            entry = self.objects[object_id]
            if entry["status"] != "in_storage" or entry["unpacked_check"]:
                return self._fail(f"'{entry['title']}' ({object_id}) is not ready in storage.")
            if entry["condition"] not in SOUND:
                return self._fail(f"'{entry['title']}' ({object_id}) is in {entry['condition']} condition.")
            if entry["rest_until"] is not None and entry["rest_until"] >= self.current_date:
                return self._fail(f"'{entry['title']}' ({object_id}) must rest until {entry['rest_until']}.")
            reports = [report for report in self.condition_reports.values() if report["object_id"] == object_id]
            if not any(report["reported_on"] >= since for report in reports):
                return self._fail(f"'{entry['title']}' ({object_id}) has no report of the last {REPORT_DAYS} days.")
        for object_id in loan["object_ids"]:
            entry = self.objects[object_id]
            self._log(object_id, entry["location_id"], None)
            entry["location_id"] = None
            entry["status"] = "on_loan"
        loan["status"] = "out"
        loan["sent_on"] = self.current_date
        return {"success": True, "message": f"Sent {len(loan['object_ids'])} objects of loan {loan_id}."}

    def receive_loan(self, loan_id: str, location_id: str) -> dict:
        """
        Take back the objects of a loan into one store. Each of them then needs its return report.

        Light-sensitive objects rest for 240 days from today.

        Args:
            loan_id (str): Loan id, e.g. "LN-12".
            location_id (str): Id of a store with room for all of them, e.g. "LOC-1".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        loan = self._find(self.loans, loan_id)
        if loan is None:
            return self._unknown("loan", loan_id)
        place = self._find(self.locations, location_id)
        if place is None:
            return self._unknown("location", location_id)
        if loan["status"] != "out":
            return self._fail(f"Loan {loan_id} is not out; its status is '{loan['status']}'.")
        if place["kind"] != "storage":
            return self._fail(f"{place['name']} is not a store.")
        if self._held(location_id) + len(loan["object_ids"]) > place["capacity"]:
            return self._fail(f"{place['name']} has no room for {len(loan['object_ids'])} more objects.")
        entries = [self.objects[object_id] for object_id in loan["object_ids"]]
        for entry in entries:
            problem = self._place_problem(entry, place)
            if problem:
                return self._fail(problem)
        for entry in entries:
            self._log(entry["object_id"], None, location_id)
            entry["location_id"] = location_id
            entry["status"] = "in_storage"
            entry["unpacked_check"] = True
            if self._is_sensitive(entry):
                entry["rest_until"] = self._shift(self.current_date, REST_DAYS)
        loan["status"] = "returned"
        loan["returned_on"] = self.current_date
        return {"success": True, "message": f"Loan {loan_id} is back in {place['name']}."}

    # Changes: exhibitions

    def add_to_exhibition(self, exhibition_id: str, object_id: str) -> dict:
        """
        Promise an object to an exhibition that is not over.

        The gallery must suit the object and the list have fewer objects than the gallery has places; for the object
        the same holds as for a loan: sound, not in treatment, free 14 days before and after, and, if light-sensitive,
        free 240 days before and after, shown for at most 120 days and after its rest.

        Args:
            exhibition_id (str): Exhibition id, e.g. "EX-3".
            object_id (str): Accession number, e.g. "1987.14".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        show = self._find(self.exhibitions, exhibition_id)
        if show is None:
            return self._unknown("exhibition", exhibition_id)
        entry = self._find(self.objects, object_id)
        if entry is None:
            return self._unknown("object", object_id)
        if show["status"] != "planned" or show["closes"] < self.current_date:
            return self._fail(f"Exhibition {exhibition_id} is over.")
        if object_id in show["object_ids"]:
            return self._fail(f"'{entry['title']}' is on the list of exhibition {exhibition_id} already.")
        gallery = self.locations[show["location_id"]]
        if len(show["object_ids"]) >= gallery["capacity"]:
            return self._fail(f"{gallery['name']} has {gallery['capacity']} places, and all are promised.")
        if entry["insured_value"] > HIGH_VALUE and gallery["security"] < 3:
            return self._fail(f"'{entry['title']}' is insured above {HIGH_VALUE:.2f} and needs security 3.")
        if self._is_sensitive(entry) and gallery["light_lux"] > MOST_LUX:
            return self._fail(f"'{entry['title']}' is light-sensitive; the gallery has {gallery['light_lux']} lux.")
        problem = self._show_problem(entry, max(show["opens"], self.current_date), show["closes"])
        if problem:
            return self._fail(problem)
        show["object_ids"].append(object_id)
        return {"success": True, "message": f"'{entry['title']}' is on the list of '{show['title']}'."}

    def remove_from_exhibition(self, exhibition_id: str, object_id: str) -> dict:
        """
        Take an object off the list of an exhibition; it must not hang in the gallery any more.

        Args:
            exhibition_id (str): Exhibition id, e.g. "EX-3".
            object_id (str): Accession number, e.g. "1987.14".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        show = self._find(self.exhibitions, exhibition_id)
        if show is None:
            return self._unknown("exhibition", exhibition_id)
        entry = self._find(self.objects, object_id)
        if entry is None:
            return self._unknown("object", object_id)
        if show["status"] != "planned":
            return self._fail(f"Exhibition {exhibition_id} is closed.")
        if object_id not in show["object_ids"]:
            return self._fail(f"'{entry['title']}' is not on the list of exhibition {exhibition_id}.")
        if entry["location_id"] == show["location_id"]:
            return self._fail(f"'{entry['title']}' is still in the gallery; move it first.")
        show["object_ids"].remove(object_id)
        return {"success": True, "message": f"'{entry['title']}' is off the list of '{show['title']}'."}

    def close_exhibition(self, exhibition_id: str) -> dict:
        """
        Close an exhibition on or after its last day, once none of its objects is in the gallery.

        Args:
            exhibition_id (str): Exhibition id, e.g. "EX-3".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        show = self._find(self.exhibitions, exhibition_id)
        if show is None:
            return self._unknown("exhibition", exhibition_id)
        if show["status"] != "planned":
            return self._fail(f"Exhibition {exhibition_id} is closed already.")
        if self.current_date < show["closes"]:
            return self._fail(f"Exhibition {exhibition_id} runs until {show['closes']}.")
        left = [key for key in show["object_ids"] if self.objects[key]["location_id"] == show["location_id"]]
        if left:
            return self._fail(f"Still in the gallery: {', '.join(sorted(left))}.")
        show["status"] = "closed"
        return {"success": True, "message": f"Closed '{show['title']}'."}

    # Changes: conservation

    def start_treatment(
        self,
        object_id: str,
        conservator_id: str,
        kind: Literal["cleaning", "stabilisation", "restoration"],
    ) -> dict:
        """
        Begin the treatment of an object that is in the studio.

        The conservator must know the medium, have fewer than 2 treatments in progress and, above an insured value of
        250000.00, be senior. An object in critical condition is stabilised before anything else is done to it.

        Args:
            object_id (str): Accession number, e.g. "1987.14".
            conservator_id (str): Conservator id, e.g. "CON-1".
            kind (str): "cleaning", "stabilisation" or "restoration".

        Returns:
            dict: {"success": True, "message": str, "treatment_id": str}, or {"success": False, "error": str}.
        """
        entry = self._find(self.objects, object_id)
        if entry is None:
            return self._unknown("object", object_id)
        person = self._find(self.conservators, conservator_id)
        if person is None:
            return self._unknown("conservator", conservator_id)
        problem = self._choice("kind", kind, TREATMENTS)
        if problem:
            return self._fail(problem)
        if entry["status"] != "in_studio":
            return self._fail(f"'{entry['title']}' is not in the studio.")
        if self._treated(object_id) is not None:
            return self._fail(f"'{entry['title']}' is being treated already.")
        if entry["condition"] == "critical" and kind != "stabilisation":
            return self._fail(f"'{entry['title']}' is in critical condition and must be stabilised first.")
        if entry["medium"] not in person["media"]:
            return self._fail(f"{person['name']} does not treat the medium '{entry['medium']}'.")
        if entry["insured_value"] > HIGH_VALUE and not person["is_senior"]:
            return self._fail(f"'{entry['title']}' is insured above {HIGH_VALUE:.2f}; a senior conservator treats it.")
        if self._open_treatments(conservator_id) >= OPEN_TREATMENTS:
            return self._fail(f"{person['name']} already has {OPEN_TREATMENTS} treatments in progress.")
        treatment_id = f"TR-{self.next_treatment_number}"
        self.next_treatment_number += 1
        self.treatments[treatment_id] = {
            "treatment_id": treatment_id,
            "object_id": object_id,
            "conservator_id": conservator_id,
            "kind": kind,
            "started_on": self.current_date,
            "status": "in_progress",
            "completed_on": None,
            "hours": None,
            "cost": None,
        }
        return {
            "success": True,
            "message": f"{person['name']} began the {kind} of '{entry['title']}' ({treatment_id}).",
            "treatment_id": treatment_id,
        }

    def complete_treatment(self, treatment_id: str, hours: float) -> dict:
        """
        End a treatment in progress; its cost is the hours at the conservator's rate.

        A stabilisation raises a poor or critical object to fair, a restoration any object to good, a cleaning changes
        no condition. A routine condition report is written. The object stays in the studio.

        Args:
            treatment_id (str): Treatment id, e.g. "TR-6".
            hours (float): Hours worked, above 0 and at most 500.

        Returns:
            dict: {"success": True, "message": str, "cost": float, "condition": str, "report_id": str}, or
            {"success": False, "error": str}.
        """
        item = self._find(self.treatments, treatment_id)
        if item is None:
            return self._unknown("treatment", treatment_id)
        if item["status"] != "in_progress":
            return self._fail(f"Treatment {treatment_id} was completed on {item['completed_on']}.")
        if not self._is_amount(hours, 500):
            return self._fail("hours must be a number above 0 and at most 500.")
        entry = self.objects[item["object_id"]]
        if item["kind"] == "restoration":
            entry["condition"] = "good"
        elif item["kind"] == "stabilisation" and entry["condition"] not in SOUND:
            entry["condition"] = "fair"
        item["status"] = "completed"
        item["completed_on"] = self.current_date
        item["hours"] = hours
        item["cost"] = round(hours * self.conservators[item["conservator_id"]]["hourly_rate"], 2)
        report_id = self._report(item["object_id"], "routine", entry["condition"], f"After {item['kind']}")
        return {
            "success": True,
            "message": f"Completed {treatment_id} for {item['cost']:.2f}; condition {entry['condition']}.",
            "cost": item["cost"],
            "condition": entry["condition"],
            "report_id": report_id,
        }
