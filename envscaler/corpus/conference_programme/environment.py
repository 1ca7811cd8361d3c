import copy
from datetime import date
from typing import Collection, Dict, List, Literal, Optional, TypedDict, TypeVar

Record = TypeVar("Record")


class PersonInfo(TypedDict):
    person_id: str
    name: str
    email: str
    affiliation: str  # a reviewer reads nothing that has an author of the same affiliation
    is_reviewer: bool  # member of the programme committee


class TrackInfo(TypedDict):
    track: str  # the name, which is also the key
    chair_id: str  # person_id
    places: int  # how many submissions the track can accept


class SubmissionInfo(TypedDict):
    submission_id: str
    title: str
    track: str
    kind: str  # "talk", "poster" or "workshop"
    author_ids: List[str]
    presenter_id: str  # one of the authors
    minutes: int  # time that it needs in a session; 0 for a poster
    status: str  # "under_review", "waitlisted", "accepted", "rejected" or "withdrawn"
    decided_on: Optional[str]


class ReviewInfo(TypedDict):
    review_id: str
    submission_id: str
    reviewer_id: str
    status: str  # "assigned", "done" or "released" (handed back unfinished)
    score: Optional[int]  # 1 (poor) to 5 (excellent), once done
    comment: str
    assigned_on: str


class RoomInfo(TypedDict):
    room_id: str
    name: str
    capacity: int
    equipment: List[str]
    step_free: bool


class SlotInfo(TypedDict):
    slot_id: str
    day: str
    start: str  # HH:MM
    end: str  # HH:MM


class SessionInfo(TypedDict):
    session_id: str
    title: str
    track: str
    kind: str  # as the submissions in it
    room_id: str
    slot_id: str
    chair_id: str
    expected: int  # guests for whom the room must have seats
    needs: List[str]  # equipment that the room must have
    running_order: Dict[str, int]  # {submission_id: place}; place 1 is the first


class RegistrationInfo(TypedDict):
    registration_id: str
    person_id: str
    category: str  # "student", "academic" or "industry"
    voucher: Optional[str]
    fee: float
    paid: float
    refunded: float
    status: str  # "pending" until paid in full, then "confirmed"; or "cancelled"
    registered_on: str
    workshop_ids: List[str]  # session_ids of the workshops in which a seat is booked


class VoucherInfo(TypedDict):
    code: str
    percent: int  # taken off the fee
    category: str  # the only category for which it counts
    uses_left: int


FEES: Dict[str, float] = {"student": 120.00, "academic": 260.00, "industry": 420.00}
LATE_PERCENT = 25  # added to the fee after the early day
REVIEW_LIMIT = 4  # reviews that a reviewer may have assigned and not done
REVIEWS_NEEDED = 3  # finished reviews before a decision
ACCEPT_MEAN = 3.50
WAITLIST_MEAN = 2.50
GAP_MINUTES = 5  # between two submissions of a session
WORKSHOP_LIMIT = 2  # workshops per registration
REFUNDS = ((30, 80), (14, 50))  # days before the first day at least, percent of what was paid

EQUIPMENT = ("projector", "microphone", "whiteboard", "recording", "desk_sockets")
KINDS = ("talk", "poster", "workshop")
SUBMISSION_STATUSES = ("under_review", "waitlisted", "accepted", "rejected", "withdrawn")
DECISIONS = ("accepted", "waitlisted", "rejected")
REVIEW_STATUSES = ("assigned", "done", "released")
REGISTRATION_STATUSES = ("pending", "confirmed", "cancelled")


class ConferenceProgramme:
    def __init__(self, init_config: dict):
        """
        The programme office of a scientific conference.

        Args:
            init_config (dict): The initial state: one key per attribute below.
        """
        # People: {person_id: PersonInfo}
        self.people: Dict[str, PersonInfo] = init_config.get("people", {})

        # Tracks: {name: TrackInfo}
        self.tracks: Dict[str, TrackInfo] = init_config.get("tracks", {})

        # Submissions: {submission_id: SubmissionInfo}
        self.submissions: Dict[str, SubmissionInfo] = init_config.get("submissions", {})

        # Reviews: {review_id: ReviewInfo}
        self.reviews: Dict[str, ReviewInfo] = init_config.get("reviews", {})

        # Rooms: {room_id: RoomInfo}
        self.rooms: Dict[str, RoomInfo] = init_config.get("rooms", {})

        # Slots, which do not overlap: {slot_id: SlotInfo}
        self.slots: Dict[str, SlotInfo] = init_config.get("slots", {})

        # Sessions: {session_id: SessionInfo}
        self.sessions: Dict[str, SessionInfo] = init_config.get("sessions", {})

        # Registrations: {registration_id: RegistrationInfo}
        self.registrations: Dict[str, RegistrationInfo] = init_config.get("registrations", {})

        # Vouchers: {code: VoucherInfo}
        self.vouchers: Dict[str, VoucherInfo] = init_config.get("vouchers", {})

        # Today, the last day of the early fees, and the first day of the conference, YYYY-MM-DD
        self.current_date: str = init_config.get("current_date", "2025-01-01")
        self.early_until: str = init_config.get("early_until", "2025-01-01")
        self.first_day: str = init_config.get("first_day", "2025-01-01")

        # The number that the next new record of each kind gets
        self.next_review_number: int = init_config.get("next_review_number", 1)
        self.next_session_number: int = init_config.get("next_session_number", 1)
        self.next_registration_number: int = init_config.get("next_registration_number", 1)

    # Helpers

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    @staticmethod
    def _unknown(kind: str, value: object) -> dict:
        if not isinstance(value, str):
            return {"success": False, "error": f"The {kind} must be given as a string."}
        return {"success": False, "error": f"There is no {kind} '{value[:60]}'."}

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
    def _flag_filter(name: str, value: object) -> Optional[str]:
        """Say what is wrong with an optional yes-or-no filter, or None."""
        return None if value is None or isinstance(value, bool) else f"{name} must be true or false."

    @staticmethod
    def _equipment_problem(name: str, value: object) -> Optional[str]:
        """Say what is wrong with a list of equipment, or None."""
        if isinstance(value, list) and all(isinstance(item, str) and item in EQUIPMENT for item in value):
            return None
        return f"{name} must be a list of: {', '.join(EQUIPMENT)}."

    @staticmethod
    def _contains(text: str, part: Optional[str]) -> bool:
        return part is None or part.strip().lower() in text.lower()

    @staticmethod
    def _is_count(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10_000

    def _name(self, person_id: str) -> str:
        return self.people[person_id]["name"]

    def _reviews_of(self, submission_id: str) -> List[ReviewInfo]:
        return [review for _, review in sorted(self.reviews.items()) if review["submission_id"] == submission_id]

    def _scores(self, submission_id: str) -> List[int]:
        return [
            review["score"]
            for review in self._reviews_of(submission_id)
            if review["status"] == "done" and review["score"] is not None
        ]

    def _mean(self, submission_id: str) -> Optional[float]:
        scores = self._scores(submission_id)
        return round(sum(scores) / len(scores), 2) if scores else None

    def _accepted(self, track: str) -> int:
        return sum(1 for s in self.submissions.values() if s["track"] == track and s["status"] == "accepted")

    def _session_of(self, submission_id: str) -> Optional[SessionInfo]:
        for session in self.sessions.values():
            if submission_id in session["running_order"]:
                return session
        return None

    def _registration_of(self, person_id: str) -> Optional[RegistrationInfo]:
        """The registration of a person that is not cancelled."""
        for registration in self.registrations.values():
            if registration["person_id"] == person_id and registration["status"] != "cancelled":
                return registration
        return None

    def _presents(self, person_id: str) -> List[str]:
        """Titles of the scheduled submissions that a person presents."""
        return [
            submission["title"]
            for submission in self.submissions.values()
            if submission["presenter_id"] == person_id and self._session_of(submission["submission_id"]) is not None
        ]

    def _slot_minutes(self, slot_id: str) -> int:
        slot = self.slots[slot_id]
        hours = [int(slot[end][:2]) * 60 + int(slot[end][3:]) for end in ("start", "end")]
        return hours[1] - hours[0]

    def _minutes(self, session: SessionInfo) -> int:
        """Minutes that the submissions of a session take, with the gaps between them."""
        if session["kind"] == "poster" or not session["running_order"]:
            return 0
        gaps = GAP_MINUTES * (len(session["running_order"]) - 1)
        return gaps + sum(self.submissions[key]["minutes"] for key in session["running_order"])

    @staticmethod
    def _leave(session: SessionInfo, submission_id: str) -> None:
        """Take a submission out of a session; those behind it move up."""
        left = session["running_order"].pop(submission_id)
        for key, place in session["running_order"].items():
            session["running_order"][key] = place - 1 if place > left else place

    def _booked(self, session_id: str) -> int:
        return sum(1 for registration in self.registrations.values() if session_id in registration["workshop_ids"])

    def _busy(self, person_id: str, slot_id: str, except_session: Optional[str] = None) -> Optional[str]:
        """What a person chairs or presents in a slot, in words, or None."""
        for session in self.sessions.values():
            if session["slot_id"] != slot_id or session["session_id"] == except_session:
                continue
            if session["chair_id"] == person_id:
                return f"{self._name(person_id)} chairs '{session['title']}' in that slot."
            if any(self.submissions[key]["presenter_id"] == person_id for key in session["running_order"]):
                return f"{self._name(person_id)} presents in '{session['title']}' in that slot."
        return None

    def _attends(self, person_id: str, slot_id: str, moved_session: Optional[str] = None) -> Optional[str]:
        """The workshop in which a person has a seat in a slot (or, wherever it is now, the moved one), or None."""
        registration = self._registration_of(person_id)
        for key in registration["workshop_ids"] if registration else ():
            session = self.sessions[key]
            if session["slot_id"] == slot_id or key == moved_session:
                return f"{self._name(person_id)} has a seat in the workshop '{session['title']}' in that slot."
        return None

    def _room_problem(
        self, room: RoomInfo, slot_id: str, seats: int, needs: List[str], except_session: Optional[str] = None
    ) -> Optional[str]:
        """Why a session cannot be in a room in a slot, or None."""
        for session in self.sessions.values():
            same = session["room_id"] == room["room_id"] and session["slot_id"] == slot_id
            if same and session["session_id"] != except_session:
                return f"Room {room['name']} holds '{session['title']}' in that slot."
        if room["capacity"] < seats:
            return f"Room {room['name']} has {room['capacity']} seats; {seats} are needed."
        missing = [item for item in needs if item not in room["equipment"]]
        return f"Room {room['name']} lacks: {', '.join(missing)}." if missing else None

    def _fee(self, category: str, voucher: Optional[VoucherInfo]) -> float:
        fee = FEES[category]
        if self.current_date > self.early_until:
            fee = fee * (100 + LATE_PERCENT) / 100
        return round(fee * (100 - voucher["percent"]) / 100, 2) if voucher else fee

    # Queries

    def get_conference_info(self) -> dict:
        """
        Show the frame of the conference: dates, fees that hold today, slots, tracks, and vouchers.

        Returns:
            dict: {"success": True, "data": {"current_date", "early_until", "first_day": str, "fees_today":
            {category: float}, "slots": [SlotInfo with "minutes", ...], "tracks": [TrackInfo with "chair" and
            "accepted" (places taken), ...], "vouchers": [VoucherInfo, ...]}}.
        """
        slots = [{**slot, "minutes": self._slot_minutes(key)} for key, slot in sorted(self.slots.items())]
        tracks = [
            {**track, "chair": self._name(track["chair_id"]), "accepted": self._accepted(name)}
            for name, track in sorted(self.tracks.items())
        ]
        info = {
            "current_date": self.current_date,
            "early_until": self.early_until,
            "first_day": self.first_day,
            "fees_today": {category: self._fee(category, None) for category in FEES},
            "slots": slots,
            "tracks": tracks,
            "vouchers": [copy.deepcopy(voucher) for _, voucher in sorted(self.vouchers.items())],
        }
        return {"success": True, "data": info}

    def search_people(
        self,
        name: Optional[str] = None,
        affiliation: Optional[str] = None,
        is_reviewer: Optional[bool] = None,
    ) -> dict:
        """
        Find people; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            affiliation (str, optional): Part of the affiliation, any case.
            is_reviewer (bool, optional): Whether the person is on the programme committee.

        Returns:
            dict: {"success": True, "data": [PersonInfo with "open_reviews" (assigned and not done) added, ...]}
            sorted by person_id, or {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("name", name)
            or self._text_filter("affiliation", affiliation)
            or self._flag_filter("is_reviewer", is_reviewer)
        )
        if problem:
            return self._fail(problem)
        found = [
            {**person, "open_reviews": self._open_reviews(key)}
            for key, person in sorted(self.people.items())
            if self._contains(person["name"], name)
            and self._contains(person["affiliation"], affiliation)
            and is_reviewer in (None, person["is_reviewer"])
        ]
        return {"success": True, "data": found}

    def _open_reviews(self, person_id: str) -> int:
        return sum(1 for r in self.reviews.values() if r["reviewer_id"] == person_id and r["status"] == "assigned")

    def search_submissions(
        self,
        title: Optional[str] = None,
        track: Optional[str] = None,
        kind: Optional[Literal["talk", "poster", "workshop"]] = None,
        status: Optional[Literal["under_review", "waitlisted", "accepted", "rejected", "withdrawn"]] = None,
        author_id: Optional[str] = None,
    ) -> dict:
        """
        Find submissions; every filter that is given must match.

        Args:
            title (str, optional): Part of the title, any case.
            track (str, optional): Exact name of the track.
            kind (str, optional): "talk", "poster" or "workshop".
            status (str, optional): "under_review", "waitlisted", "accepted", "rejected" or "withdrawn".
            author_id (str, optional): Person id of one of the authors.

        Returns:
            dict: {"success": True, "data": [SubmissionInfo with "finished_reviews" and "mean_score" (None without
            reviews) added, ...]} sorted by submission_id, or {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("title", title)
            or self._choice_filter("track", track, self.tracks)
            or self._choice_filter("kind", kind, KINDS)
            or self._choice_filter("status", status, SUBMISSION_STATUSES)
        )
        if problem:
            return self._fail(problem)
        if author_id is not None and self._find(self.people, author_id) is None:
            return self._unknown("person", author_id)
        found = [
            {
                **copy.deepcopy(submission),
                "finished_reviews": len(self._scores(key)),
                "mean_score": self._mean(key),
            }
            for key, submission in sorted(self.submissions.items())
            if self._contains(submission["title"], title)
            and track in (None, submission["track"])
            and kind in (None, submission["kind"])
            and status in (None, submission["status"])
            and (author_id is None or author_id in submission["author_ids"])
        ]
        return {"success": True, "data": found}

    def get_submission(self, submission_id: str) -> dict:
        """
        Show a submission with its authors, reviews and place in the programme.

        Args:
            submission_id (str): Submission id, e.g. "S-204".

        Returns:
            dict: {"success": True, "data": {"submission": SubmissionInfo, "authors": [PersonInfo, ...],
            "presenter_registration": RegistrationInfo or None, "reviews": [ReviewInfo with "reviewer", ...],
            "finished_reviews": int, "mean_score": float or None, "session_id": str or None}}, or
            {"success": False, "error": str}.
        """
        submission = self._find(self.submissions, submission_id)
        if submission is None:
            return self._unknown("submission", submission_id)
        session = self._session_of(submission_id)
        details = {
            "submission": submission,
            "authors": [self.people[key] for key in submission["author_ids"]],
            "presenter_registration": self._registration_of(submission["presenter_id"]),
            "reviews": [
                {**review, "reviewer": self._name(review["reviewer_id"])} for review in self._reviews_of(submission_id)
            ],
            "finished_reviews": len(self._scores(submission_id)),
            "mean_score": self._mean(submission_id),
            "session_id": session["session_id"] if session else None,
        }
        return {"success": True, "data": copy.deepcopy(details)}

    def list_reviews(
        self,
        reviewer_id: Optional[str] = None,
        status: Optional[Literal["assigned", "done", "released"]] = None,
        track: Optional[str] = None,
    ) -> dict:
        """
        List reviews; every filter that is given must match.

        Args:
            reviewer_id (str, optional): Person id of the reviewer.
            status (str, optional): "assigned", "done" or "released".
            track (str, optional): Exact name of the track of the submission.

        Returns:
            dict: {"success": True, "data": [ReviewInfo with "title" and "reviewer" added, ...]} sorted by review_id,
            or {"success": False, "error": str}.
        """
        if reviewer_id is not None and self._find(self.people, reviewer_id) is None:
            return self._unknown("person", reviewer_id)
        problem = self._choice_filter("status", status, REVIEW_STATUSES) or self._choice_filter(
            "track", track, self.tracks
        )
        if problem:
            return self._fail(problem)
        found = []
        for _, review in sorted(self.reviews.items()):
            submission = self.submissions[review["submission_id"]]
            if (
                reviewer_id in (None, review["reviewer_id"])
                and status in (None, review["status"])
                and track in (None, submission["track"])
            ):
                names = {"title": submission["title"], "reviewer": self._name(review["reviewer_id"])}
                found.append({**review, **names})
        return {"success": True, "data": found}

    def find_rooms(
        self,
        slot_id: Optional[str] = None,
        min_capacity: Optional[int] = None,
        equipment: Optional[List[str]] = None,
        step_free: Optional[bool] = None,
    ) -> dict:
        """
        Find rooms; every filter that is given must match.

        Args:
            slot_id (str, optional): Only rooms without a session in this slot, e.g. "D1-AM1".
            min_capacity (int, optional): Fewest seats.
            equipment (list of str, optional): All that the room must have, of "projector", "microphone",
                "whiteboard", "recording", "desk_sockets".
            step_free (bool, optional): Whether the room can be reached without steps.

        Returns:
            dict: {"success": True, "data": [RoomInfo, ...]} the smallest first, or {"success": False, "error": str}.
        """
        if slot_id is not None and self._find(self.slots, slot_id) is None:
            return self._unknown("slot", slot_id)
        if min_capacity is not None and not self._is_count(min_capacity):
            return self._fail("min_capacity must be a whole number from 1 on.")
        problem = None if equipment is None else self._equipment_problem("equipment", equipment)
        problem = problem or self._flag_filter("step_free", step_free)
        if problem:
            return self._fail(problem)
        taken = {session["room_id"] for session in self.sessions.values() if session["slot_id"] == slot_id}
        found = [
            copy.deepcopy(room)
            for room in sorted(self.rooms.values(), key=lambda room: (room["capacity"], room["room_id"]))
            if room["room_id"] not in taken
            and room["capacity"] >= (min_capacity or 0)
            and all(item in room["equipment"] for item in equipment or [])
            and step_free in (None, room["step_free"])
        ]
        return {"success": True, "data": found}

    def list_sessions(
        self,
        title: Optional[str] = None,
        track: Optional[str] = None,
        kind: Optional[Literal["talk", "poster", "workshop"]] = None,
        slot_id: Optional[str] = None,
        person_id: Optional[str] = None,
    ) -> dict:
        """
        List the sessions of the programme; every filter that is given must match.

        Args:
            title (str, optional): Part of the title, any case.
            track (str, optional): Exact name of the track.
            kind (str, optional): "talk", "poster" or "workshop".
            slot_id (str, optional): Slot id, e.g. "D1-AM1".
            person_id (str, optional): Only sessions that this person chairs or presents in.

        Returns:
            dict: {"success": True, "data": [SessionInfo with "room", "chair", "day", "start", "end",
            "minutes_left" and, for a workshop, "seats_left" added, ...]} in the order of time, or
            {"success": False, "error": str}.
        """
        problem = (
            self._text_filter("title", title)
            or self._choice_filter("track", track, self.tracks)
            or self._choice_filter("kind", kind, KINDS)
        )
        if problem:
            return self._fail(problem)
        if slot_id is not None and self._find(self.slots, slot_id) is None:
            return self._unknown("slot", slot_id)
        if person_id is not None and self._find(self.people, person_id) is None:
            return self._unknown("person", person_id)
        found = []
        for key, session in self.sessions.items():
            involved = {session["chair_id"]} | {self.submissions[s]["presenter_id"] for s in session["running_order"]}
            if (
                self._contains(session["title"], title)
                and track in (None, session["track"])
                and kind in (None, session["kind"])
                and slot_id in (None, session["slot_id"])
                and (person_id is None or person_id in involved)
            ):
                slot, room = self.slots[session["slot_id"]], self.rooms[session["room_id"]]
                row = {**copy.deepcopy(session), "room": room["name"], "chair": self._name(session["chair_id"])}
                row |= {"day": slot["day"], "start": slot["start"], "end": slot["end"]}
                row["minutes_left"] = self._slot_minutes(slot["slot_id"]) - self._minutes(session)
                if session["kind"] == "workshop":
                    row["seats_left"] = room["capacity"] - self._booked(key)
                found.append(row)
        return {"success": True, "data": sorted(found, key=lambda row: (row["day"], row["start"], row["session_id"]))}

    def search_registrations(
        self,
        person_id: Optional[str] = None,
        category: Optional[Literal["student", "academic", "industry"]] = None,
        status: Optional[Literal["pending", "confirmed", "cancelled"]] = None,
    ) -> dict:
        """
        Find registrations; every filter that is given must match.

        Args:
            person_id (str, optional): Person id, e.g. "P-17".
            category (str, optional): "student", "academic" or "industry".
            status (str, optional): "pending", "confirmed" or "cancelled".

        Returns:
            dict: {"success": True, "data": [RegistrationInfo with "name" and "balance" (still to pay) added, ...]}
            sorted by registration_id, or {"success": False, "error": str}.
        """
        if person_id is not None and self._find(self.people, person_id) is None:
            return self._unknown("person", person_id)
        problem = self._choice_filter("category", category, FEES) or self._choice_filter(
            "status", status, REGISTRATION_STATUSES
        )
        if problem:
            return self._fail(problem)
        found = [
            {**copy.deepcopy(row), "name": self._name(row["person_id"]), "balance": self._due(row)}
            for _, row in sorted(self.registrations.items())
            if person_id in (None, row["person_id"])
            and category in (None, row["category"])
            and status in (None, row["status"])
        ]
        return {"success": True, "data": found}

    def _due(self, registration: RegistrationInfo) -> float:
        return round(registration["fee"] - registration["paid"], 2) if registration["status"] == "pending" else 0.0

    # Changes: reviews and decisions

    def assign_reviewer(self, submission_id: str, reviewer_id: str) -> dict:
        """
        Ask a member of the programme committee to review a submission that is under review.

        Refused for an author, for anybody of the same affiliation as an author, for whoever has had this submission
        before (also if the review was released), and at 4 reviews assigned and not done.

        Args:
            submission_id (str): Submission id, e.g. "S-204".
            reviewer_id (str): Person id of the reviewer, e.g. "P-17".

        Returns:
            dict: {"success": True, "message": str, "review_id": str}, or {"success": False, "error": str}.
        """
        submission = self._find(self.submissions, submission_id)
        if submission is None:
            return self._unknown("submission", submission_id)
        person = self._find(self.people, reviewer_id)
        if person is None:
            return self._unknown("person", reviewer_id)
        if submission["status"] != "under_review":
            return self._fail(f"'{submission['title']}' is not under review; its status is '{submission['status']}'.")
        if not person["is_reviewer"]:
            return self._fail(f"{person['name']} is not on the programme committee.")
        for author_id in submission["author_ids"]:
            author = self.people[author_id]
            if author_id == reviewer_id:
                return self._fail(f"{person['name']} is an author of '{submission['title']}'.")
            if author["affiliation"] == person["affiliation"]:
                return self._fail(
                    f"{person['name']} and the author {author['name']} are both at {person['affiliation']}."
                )
        if any(review["reviewer_id"] == reviewer_id for review in self._reviews_of(submission_id)):
            return self._fail(f"{person['name']} has had '{submission['title']}' for review before.")
        if self._open_reviews(reviewer_id) >= REVIEW_LIMIT:
            return self._fail(f"{person['name']} already has {REVIEW_LIMIT} reviews that are not done.")
        review_id = f"R-{self.next_review_number}"
        self.next_review_number += 1
        self.reviews[review_id] = {
            "review_id": review_id,
            "submission_id": submission_id,
            "reviewer_id": reviewer_id,
            "status": "assigned",
            "score": None,
            "comment": "",
            "assigned_on": self.current_date,
        }
        return {
            "success": True,
            "message": f"{person['name']} reviews '{submission['title']}' as {review_id}.",
            "review_id": review_id,
        }

    def release_reviewer(self, review_id: str) -> dict:
        """
        Take an assigned review back from its reviewer, who cannot get the same submission again.

        Args:
            review_id (str): Review id, e.g. "R-318". The review must be "assigned".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        review = self._find(self.reviews, review_id)
        if review is None:
            return self._unknown("review", review_id)
        if review["status"] != "assigned":
            return self._fail(f"Review {review_id} is not assigned; its status is '{review['status']}'.")
        review["status"] = "released"
        return {"success": True, "message": f"Released {self._name(review['reviewer_id'])} from review {review_id}."}

    def record_review(self, review_id: str, score: int, comment: str) -> dict:
        """
        Enter the outcome of an assigned review; it is then done and cannot be changed.

        Args:
            review_id (str): Review id, e.g. "R-318". The review must be "assigned".
            score (int): 1 (poor) to 5 (excellent).
            comment (str): What the reviewer says to the authors; must not be empty.

        Returns:
            dict: {"success": True, "message": str, "finished_reviews": int, "mean_score": float}, or
            {"success": False, "error": str}.
        """
        review = self._find(self.reviews, review_id)
        if review is None:
            return self._unknown("review", review_id)
        if not self._is_count(score) or score > 5:
            return self._fail("score must be a whole number from 1 to 5.")
        if not isinstance(comment, str) or not comment.strip():
            return self._fail("comment must be a non-empty string.")
        if review["status"] != "assigned":
            return self._fail(f"Review {review_id} is not assigned; its status is '{review['status']}'.")
        review["status"] = "done"
        review["score"] = score
        review["comment"] = comment.strip()
        submission_id = review["submission_id"]
        return {
            "success": True,
            "message": f"Review {review_id} is done with a score of {score}.",
            "finished_reviews": len(self._scores(submission_id)),
            "mean_score": self._mean(submission_id),
        }

    def decide_submission(self, submission_id: str, decision: Literal["accepted", "waitlisted", "rejected"]) -> dict:
        """
        Decide on a submission that is under review or on the waiting list.

        Needs 3 finished reviews. "accepted" needs a mean score of 3.50 or more and a free place in the track,
        "waitlisted" a mean score of 2.50 or more. A decision other than "waitlisted" is final.

        Args:
            submission_id (str): Submission id, e.g. "S-204".
            decision (str): "accepted", "waitlisted" or "rejected".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        submission = self._find(self.submissions, submission_id)
        if submission is None:
            return self._unknown("submission", submission_id)
        if not isinstance(decision, str) or decision not in DECISIONS:
            return self._fail(f"decision must be one of: {', '.join(DECISIONS)}.")
        title = submission["title"]
        if submission["status"] not in ("under_review", "waitlisted") or submission["status"] == decision:
            return self._fail(f"'{title}' cannot become '{decision}'; its status is '{submission['status']}'.")
        scores = self._scores(submission_id)
        if len(scores) < REVIEWS_NEEDED:
            return self._fail(f"'{title}' has {len(scores)} finished reviews; {REVIEWS_NEEDED} are needed.")
        mean = sum(scores) / len(scores)
        if decision == "accepted" and mean < ACCEPT_MEAN:
            return self._fail(f"'{title}' has a mean score of {mean:.2f}; {ACCEPT_MEAN:.2f} is needed.")
        if decision == "waitlisted" and mean < WAITLIST_MEAN:
            return self._fail(f"'{title}' has a mean score of {mean:.2f}; {WAITLIST_MEAN:.2f} is needed.")
        places = self.tracks[submission["track"]]["places"]
        if decision == "accepted" and self._accepted(submission["track"]) >= places:
            return self._fail(f"All {places} places of the track {submission['track']} are taken.")
        submission["status"] = decision
        submission["decided_on"] = self.current_date
        return {"success": True, "message": f"'{title}' is {decision}."}

    def withdraw_submission(self, submission_id: str) -> dict:
        """
        Withdraw a submission for its authors: it leaves its session, and its open reviews are released.

        Args:
            submission_id (str): Submission id, e.g. "S-204"; neither rejected nor withdrawn already.

        Returns:
            dict: {"success": True, "message": str, "released_reviews": int}, or {"success": False, "error": str}.
        """
        submission = self._find(self.submissions, submission_id)
        if submission is None:
            return self._unknown("submission", submission_id)
        if submission["status"] in ("rejected", "withdrawn"):
            return self._fail(f"'{submission['title']}' is already {submission['status']}.")
        submission["status"] = "withdrawn"
        session = self._session_of(submission_id)
        if session is not None:
            self._leave(session, submission_id)
        released = 0
        for review in self._reviews_of(submission_id):
            if review["status"] == "assigned":
                review["status"] = "released"
                released += 1
        left = f" It left the session '{session['title']}'." if session else ""
        return {
            "success": True,
            "message": f"Withdrew '{submission['title']}'.{left}",
            "released_reviews": released,
        }

    def set_presenter(self, submission_id: str, person_id: str) -> dict:
        """
        Name another author as presenter.

        If the submission is already scheduled, the new presenter needs a confirmed registration and must be free in
        that slot.

        Args:
            submission_id (str): Submission id, e.g. "S-204"; neither rejected nor withdrawn.
            person_id (str): Person id of one of the authors.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        submission = self._find(self.submissions, submission_id)
        if submission is None:
            return self._unknown("submission", submission_id)
        if self._find(self.people, person_id) is None:
            return self._unknown("person", person_id)
        if submission["status"] in ("rejected", "withdrawn"):
            return self._fail(f"'{submission['title']}' is {submission['status']}.")
        if person_id not in submission["author_ids"]:
            return self._fail(f"{self._name(person_id)} is not an author of '{submission['title']}'.")
        if person_id == submission["presenter_id"]:
            return self._fail(f"{self._name(person_id)} already presents '{submission['title']}'.")
        session = self._session_of(submission_id)
        if session is not None:
            problem = self._presenter_problem(person_id, session)
            if problem:
                return self._fail(problem)
        submission["presenter_id"] = person_id
        return {"success": True, "message": f"{self._name(person_id)} presents '{submission['title']}'."}

    def _presenter_problem(self, person_id: str, session: SessionInfo) -> Optional[str]:
        """Why a person cannot present in a session, or None."""
        registration = self._registration_of(person_id)
        if registration is None or registration["status"] != "confirmed":
            return f"{self._name(person_id)} has no confirmed registration."
        if session["chair_id"] == person_id:
            return f"{self._name(person_id)} chairs '{session['title']}' and cannot present in it."
        return self._busy(person_id, session["slot_id"], session["session_id"]) or self._attends(
            person_id, session["slot_id"]
        )

    # Changes: programme

    def create_session(
        self,
        title: str,
        track: str,
        kind: Literal["talk", "poster", "workshop"],
        room_id: str,
        slot_id: str,
        chair_id: str,
        expected: int,
        needs: Optional[List[str]] = None,
    ) -> dict:
        """
        Put a new, empty session into the programme.

        The room must be free in the slot and have the equipment and the seats; the chair must neither chair nor
        present elsewhere in the slot, nor have a seat in a workshop in it.

        Args:
            title (str): Title of the session; no other session has it.
            track (str): Exact name of the track.
            kind (str): "talk", "poster" or "workshop".
            room_id (str): Room id, e.g. "RM-3".
            slot_id (str): Slot id, e.g. "D1-AM1".
            chair_id (str): Person id of the chair.
            expected (int): Number of guests that the room must seat.
            needs (list of str, optional): Equipment, of "projector", "microphone", "whiteboard", "recording",
                "desk_sockets".

        Returns:
            dict: {"success": True, "message": str, "session_id": str}, or {"success": False, "error": str}.
        """
        if not isinstance(title, str) or not title.strip():
            return self._fail("title must be a non-empty string.")
        if not isinstance(track, str) or track not in self.tracks:
            return self._fail(f"track must be one of: {', '.join(self.tracks)}.")
        if not isinstance(kind, str) or kind not in KINDS:
            return self._fail(f"kind must be one of: {', '.join(KINDS)}.")
        room = self._find(self.rooms, room_id)
        if room is None:
            return self._unknown("room", room_id)
        if self._find(self.slots, slot_id) is None:
            return self._unknown("slot", slot_id)
        if self._find(self.people, chair_id) is None:
            return self._unknown("person", chair_id)
        if not self._is_count(expected):
            return self._fail("expected must be a whole number from 1 on.")
        wanted = [] if needs is None else needs
        problem = self._equipment_problem("needs", wanted)
        if problem:
            return self._fail(problem)
        if any(session["title"].lower() == title.strip().lower() for session in self.sessions.values()):
            return self._fail(f"There is a session '{title.strip()}' already.")
        problem = (
            self._room_problem(room, slot_id, expected, wanted)
            or self._busy(chair_id, slot_id)
            or self._attends(chair_id, slot_id)
        )
        if problem:
            return self._fail(problem)
        session_id = f"SE-{self.next_session_number}"
        self.next_session_number += 1
        self.sessions[session_id] = {
            "session_id": session_id,
            "title": title.strip(),
            "track": track,
            "kind": kind,
            "room_id": room_id,
            "slot_id": slot_id,
            "chair_id": chair_id,
            "expected": expected,
            "needs": sorted(set(wanted)),
            "running_order": {},
        }
        return {
            "success": True,
            "message": f"Session {session_id} '{title.strip()}' is in room {room['name']} in slot {slot_id}.",
            "session_id": session_id,
        }

    def change_session(
        self,
        session_id: str,
        room_id: Optional[str] = None,
        slot_id: Optional[str] = None,
        chair_id: Optional[str] = None,
    ) -> dict:
        """
        Give a session another room, slot or chair; what is left out stays as it is.

        The room must be free in the slot and have the equipment and the seats (for a workshop also one for each
        booking); the talks must fit into the slot; chair and presenters must be free in it, and so must all who have
        a seat in the workshop; a chair must not present in their own session.

        Args:
            session_id (str): Session id, e.g. "SE-41".
            room_id (str, optional): Room id, e.g. "RM-3".
            slot_id (str, optional): Slot id, e.g. "D1-AM1".
            chair_id (str, optional): Person id of the new chair.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        session = self._find(self.sessions, session_id)
        if session is None:
            return self._unknown("session", session_id)
        if room_id is None and slot_id is None and chair_id is None:
            return self._fail("Give a room_id, a slot_id or a chair_id.")
        room = self._find(self.rooms, session["room_id"] if room_id is None else room_id)
        if room is None:
            return self._unknown("room", room_id)
        slot = self._find(self.slots, session["slot_id"] if slot_id is None else slot_id)
        if slot is None:
            return self._unknown("slot", slot_id)
        chair = self._find(self.people, session["chair_id"] if chair_id is None else chair_id)
        if chair is None:
            return self._unknown("person", chair_id)
        seats = max(session["expected"], self._booked(session_id))
        problem = self._room_problem(room, slot["slot_id"], seats, session["needs"], session_id)
        if problem:
            return self._fail(problem)
        minutes = self._minutes(session)
        if minutes > self._slot_minutes(slot["slot_id"]):
            return self._fail(f"'{session['title']}' takes {minutes} minutes and does not fit into {slot['slot_id']}.")
        presenters = [self.submissions[key]["presenter_id"] for key in session["running_order"]]
        if chair["person_id"] in presenters:
            return self._fail(f"{chair['name']} presents in '{session['title']}' and cannot chair it.")
        for person_id in (chair["person_id"], *presenters):
            problem = self._busy(person_id, slot["slot_id"], session_id) or self._attends(
                person_id, slot["slot_id"], session_id
            )
            if problem:
                return self._fail(problem)
        for registration in self.registrations.values():
            if session_id in registration["workshop_ids"]:
                others = [key for key in registration["workshop_ids"] if key != session_id]
                if any(self.sessions[key]["slot_id"] == slot["slot_id"] for key in others):
                    return self._fail(f"{self._name(registration['person_id'])} has another workshop in that slot.")
                problem = self._busy(registration["person_id"], slot["slot_id"], session_id)
                if problem:
                    return self._fail(problem)
        session["room_id"] = room["room_id"]
        session["slot_id"] = slot["slot_id"]
        session["chair_id"] = chair["person_id"]
        return {
            "success": True,
            "message": f"'{session['title']}' is in room {room['name']} in slot {slot['slot_id']}, chaired by"
            f" {chair['name']}.",
        }

    def schedule_submission(self, session_id: str, submission_id: str) -> dict:
        """
        Add an accepted submission at the end of a session of its own track and kind.

        The presenter needs a confirmed registration, must be free in the slot and must not chair the session; the
        submission must fit into the time that is left, with 5 minutes between two (no time counts for posters). A
        workshop session holds one workshop. A submission is in one session only.

        Args:
            session_id (str): Session id, e.g. "SE-41".
            submission_id (str): Submission id, e.g. "S-204".

        Returns:
            dict: {"success": True, "message": str, "minutes_left": int}, or {"success": False, "error": str}.
        """
        session = self._find(self.sessions, session_id)
        if session is None:
            return self._unknown("session", session_id)
        submission = self._find(self.submissions, submission_id)
        if submission is None:
            return self._unknown("submission", submission_id)
        title = submission["title"]
        if submission["status"] != "accepted":
            return self._fail(f"'{title}' is not accepted; its status is '{submission['status']}'.")
        current = self._session_of(submission_id)
        if current is not None:
            return self._fail(f"'{title}' is already in the session '{current['title']}'.")
        if (submission["track"], submission["kind"]) != (session["track"], session["kind"]):
            return self._fail(
                f"'{title}' is a {submission['kind']} of {submission['track']}; the session takes a"
                f" {session['kind']} of {session['track']}."
            )
        if session["kind"] == "workshop" and session["running_order"]:
            return self._fail(f"'{session['title']}' already holds its workshop.")
        problem = self._presenter_problem(submission["presenter_id"], session)
        if problem:
            return self._fail(problem)
        left = self._slot_minutes(session["slot_id"]) - self._minutes(session)
        gap = GAP_MINUTES if session["running_order"] else 0
        if session["kind"] != "poster" and submission["minutes"] + gap > left:
            return self._fail(
                f"'{title}' takes {submission['minutes']} minutes and '{session['title']}' has {left} left."
            )
        session["running_order"][submission_id] = len(session["running_order"]) + 1
        return {
            "success": True,
            "message": f"'{title}' is number {len(session['running_order'])} of '{session['title']}'.",
            "minutes_left": self._slot_minutes(session["slot_id"]) - self._minutes(session),
        }

    def unschedule_submission(self, submission_id: str) -> dict:
        """
        Take a submission out of its session; it stays accepted.

        Args:
            submission_id (str): Submission id, e.g. "S-204". The submission must be in a session.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        submission = self._find(self.submissions, submission_id)
        if submission is None:
            return self._unknown("submission", submission_id)
        session = self._session_of(submission_id)
        if session is None:
            return self._fail(f"'{submission['title']}' is not in any session.")
        self._leave(session, submission_id)
        return {"success": True, "message": f"Took '{submission['title']}' out of '{session['title']}'."}

    # Changes: registrations

    def register_person(
        self,
        person_id: str,
        category: Literal["student", "academic", "industry"],
        voucher: Optional[str] = None,
    ) -> dict:
        """
        Register a person at the fee that holds today; the registration is pending until it is paid in full.

        The fee is 120.00 for a student, 260.00 academic and 420.00 industry, 25 % more after the early day. A voucher
        takes its percentage off, counts for one category, and is used up by one.

        Args:
            person_id (str): Person id, e.g. "P-17". The person must not be registered already.
            category (str): "student", "academic" or "industry".
            voucher (str, optional): Code of a voucher.

        Returns:
            dict: {"success": True, "message": str, "registration_id": str, "fee": float}, or
            {"success": False, "error": str}.
        """
        person = self._find(self.people, person_id)
        if person is None:
            return self._unknown("person", person_id)
        if not isinstance(category, str) or category not in FEES:
            return self._fail(f"category must be one of: {', '.join(FEES)}.")
        existing = self._registration_of(person_id)
        if existing is not None:
            return self._fail(f"{person['name']} is already registered as {existing['registration_id']}.")
        discount = None
        if voucher is not None:
            discount = self._find(self.vouchers, voucher)
            if discount is None:
                return self._unknown("voucher", voucher)
            if discount["category"] != category:
                return self._fail(f"Voucher {voucher} counts for the category '{discount['category']}' only.")
            if discount["uses_left"] < 1:
                return self._fail(f"Voucher {voucher} is used up.")
            discount["uses_left"] -= 1
        fee = self._fee(category, discount)
        registration_id = f"RG-{self.next_registration_number}"
        self.next_registration_number += 1
        self.registrations[registration_id] = {
            "registration_id": registration_id,
            "person_id": person_id,
            "category": category,
            "voucher": voucher,
            "fee": fee,
            "paid": 0.0,
            "refunded": 0.0,
            "status": "pending" if fee > 0 else "confirmed",
            "registered_on": self.current_date,
            "workshop_ids": [],
        }
        return {
            "success": True,
            "message": f"Registered {person['name']} as {registration_id}; the fee is {fee:.2f}.",
            "registration_id": registration_id,
            "fee": fee,
        }

    def record_payment(self, registration_id: str, amount: float) -> dict:
        """
        Book a payment for a pending registration; paid in full, it is confirmed.

        Args:
            registration_id (str): Registration id, e.g. "RG-55".
            amount (float): More than 0, in whole cents, and not more than what is still to pay.

        Returns:
            dict: {"success": True, "message": str, "balance": float}, or {"success": False, "error": str}.
        """
        registration = self._find(self.registrations, registration_id)
        if registration is None:
            return self._unknown("registration", registration_id)
        if registration["status"] != "pending":
            return self._fail(f"Registration {registration_id} is {registration['status']}; nothing is to be paid.")
        if isinstance(amount, bool) or not isinstance(amount, (int, float)) or not 0 < amount <= 10_000:
            return self._fail("amount must be a number above 0.")
        if abs(amount * 100 - round(amount * 100)) > 1e-6:
            return self._fail("amount must be in whole cents.")
        due = self._due(registration)
        if round(amount, 2) > due:
            return self._fail(f"Only {due:.2f} is still to pay for {registration_id}.")
        registration["paid"] = round(registration["paid"] + amount, 2)
        left = self._due(registration)
        if left == 0:
            registration["status"] = "confirmed"
        return {
            "success": True,
            "message": f"Booked {amount:.2f} for {registration_id}; {left:.2f} is still to pay.",
            "balance": left,
        }

    def cancel_registration(self, registration_id: str) -> dict:
        """
        Cancel a registration and pay back a part of what was paid; its workshop seats become free.

        Back goes 80 % up to 30 days before the first day of the conference, 50 % up to 14 days before it, nothing
        later. Refused while the person presents a scheduled submission or chairs a session.

        Args:
            registration_id (str): Registration id, e.g. "RG-55".

        Returns:
            dict: {"success": True, "message": str, "refund": float}, or {"success": False, "error": str}.
        """
        registration = self._find(self.registrations, registration_id)
        if registration is None:
            return self._unknown("registration", registration_id)
        if registration["status"] == "cancelled":
            return self._fail(f"Registration {registration_id} is already cancelled.")
        person_id = registration["person_id"]
        presents = self._presents(person_id)
        if presents:
            return self._fail(f"{self._name(person_id)} presents '{presents[0]}', which is scheduled.")
        chairs = [session["title"] for session in self.sessions.values() if session["chair_id"] == person_id]
        if chairs:
            return self._fail(f"{self._name(person_id)} chairs '{chairs[0]}'.")
        days = (date.fromisoformat(self.first_day) - date.fromisoformat(self.current_date)).days
        percent = next((share for least, share in REFUNDS if days >= least), 0)
        refund = round(registration["paid"] * percent / 100, 2)
        registration["status"] = "cancelled"
        registration["refunded"] = refund
        registration["workshop_ids"] = []
        return {
            "success": True,
            "message": f"Cancelled {registration_id} of {self._name(person_id)}; {refund:.2f} is paid back.",
            "refund": refund,
        }

    def book_workshop(self, registration_id: str, session_id: str) -> dict:
        """
        Book a seat in a workshop session for a confirmed registration.

        At most 2 workshops for a registration, never two in one slot, and none in a slot in which the person chairs
        or presents. The room's seats are the limit.

        Args:
            registration_id (str): Registration id, e.g. "RG-55".
            session_id (str): Session id of a workshop, e.g. "SE-41".

        Returns:
            dict: {"success": True, "message": str, "seats_left": int}, or {"success": False, "error": str}.
        """
        registration = self._find(self.registrations, registration_id)
        if registration is None:
            return self._unknown("registration", registration_id)
        session = self._find(self.sessions, session_id)
        if session is None:
            return self._unknown("session", session_id)
        person_id, booked = registration["person_id"], registration["workshop_ids"]
        if session["kind"] != "workshop":
            return self._fail(f"'{session['title']}' is not a workshop and needs no booking.")
        if registration["status"] != "confirmed":
            return self._fail(f"Registration {registration_id} is {registration['status']}, not confirmed.")
        if session_id in booked:
            return self._fail(f"{self._name(person_id)} already has a seat in '{session['title']}'.")
        if len(booked) >= WORKSHOP_LIMIT:
            return self._fail(f"{self._name(person_id)} already has {WORKSHOP_LIMIT} workshops, the limit.")
        for other in booked:
            if self.sessions[other]["slot_id"] == session["slot_id"]:
                return self._fail(f"'{self.sessions[other]['title']}' is in the same slot.")
        busy = self._busy(person_id, session["slot_id"])
        if busy:
            return self._fail(busy)
        left = self.rooms[session["room_id"]]["capacity"] - self._booked(session_id)
        if left < 1:
            return self._fail(f"All seats of '{session['title']}' are booked.")
        booked.append(session_id)
        return {
            "success": True,
            "message": f"{self._name(person_id)} has a seat in '{session['title']}'.",
            "seats_left": left - 1,
        }

    def leave_workshop(self, registration_id: str, session_id: str) -> dict:
        """
        Give back a seat in a workshop.

        Args:
            registration_id (str): Registration id, e.g. "RG-55".
            session_id (str): Session id of a workshop in which the registration has a seat.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        registration = self._find(self.registrations, registration_id)
        if registration is None:
            return self._unknown("registration", registration_id)
        session = self._find(self.sessions, session_id)
        if session is None:
            return self._unknown("session", session_id)
        if session_id not in registration["workshop_ids"]:
            return self._fail(f"{self._name(registration['person_id'])} has no seat in '{session['title']}'.")
        registration["workshop_ids"].remove(session_id)
        return {"success": True, "message": f"{self._name(registration['person_id'])} left '{session['title']}'."}
