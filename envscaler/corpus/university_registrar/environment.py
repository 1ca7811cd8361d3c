"""A university registrar's office: enrolment, waitlists, holds and grades of one term."""

import copy
import re
from typing import Any, Dict, List, Literal, Optional, TypedDict

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")
GRADE_POINTS = {
    "A": 4.0,
    "A-": 3.7,
    "B+": 3.3,
    "B": 3.0,
    "B-": 2.7,
    "C+": 2.3,
    "C": 2.0,
    "C-": 1.7,
    "D": 1.0,
    "F": 0.0,
}
PASSING_GRADES = ("A", "A-", "B+", "B", "B-", "C+", "C", "P")  # what meets a prerequisite
CREDIT_GRADES = PASSING_GRADES + ("C-", "D")  # what earns credits
HOLD_TYPES = ("financial", "advising", "disciplinary", "library")
BLOCKING_HOLDS = ("financial", "advising", "disciplinary")
STANDARD_LIMIT = 15
PROBATION_LIMIT = 12
OVERLOAD_LIMIT = 18
OVERLOAD_GPA = 3.5
FULL_TIME_CREDITS = 12


class TranscriptEntry(TypedDict):
    """A course taken in an earlier term."""

    course_id: str
    term: str
    credits: int
    grade: str  # letter grade, "P", "NP" or "W"


class StudentInfo(TypedDict):
    """A student of the university."""

    student_id: str
    name: str
    email: str
    programme: str
    year: int  # year of study, 1 to 4
    adviser: str
    standing: str  # "good" or "probation"
    credit_limit: int  # most credits in the term
    full_time_required: bool  # visa or scholarship: must keep at least 12 credits
    transcript: List[TranscriptEntry]  # earlier terms only


class CourseInfo(TypedDict):
    """A course of the catalogue."""

    course_id: str  # e.g. "CS201"
    title: str
    department: str
    credits: int
    prerequisites: List[str]  # course ids, all to be passed with C or better
    room_feature: Optional[str]  # what its rooms must have, e.g. "computers"


class RoomInfo(TypedDict):
    """A teaching room."""

    room_id: str
    building: str
    seats: int
    features: List[str]  # e.g. "projector", "computers", "lab_benches"


class SectionInfo(TypedDict):
    """A section of a course in the current term."""

    section_id: str
    course_id: str
    instructor: str
    room_id: str
    days: List[str]  # "Mon" to "Fri"
    start_time: str  # HH:MM
    end_time: str  # HH:MM
    capacity: int
    waitlist: List[str]  # student ids, first in line first
    waitlist_limit: int


class EnrolmentInfo(TypedDict):
    """A student's place in a section, past or present."""

    enrolment_id: str
    student_id: str
    section_id: str
    status: str  # "enrolled", "dropped", "withdrawn" or "completed"
    grading_basis: str  # "graded" or "pass_fail"
    grade: Optional[str]
    grade_note: Optional[str]  # why a recorded grade was changed
    enrolled_on: str  # YYYY-MM-DD
    ended_on: Optional[str]  # YYYY-MM-DD of the drop or withdrawal


class HoldInfo(TypedDict):
    """A hold on a student's record."""

    hold_id: str
    student_id: str
    hold_type: str  # "financial", "advising", "disciplinary" or "library"
    reason: str
    status: str  # "active" or "released"
    amount_due: float  # 0.0 unless financial
    placed_on: str  # YYYY-MM-DD
    released_on: Optional[str]  # YYYY-MM-DD
    release_note: Optional[str]


class UniversityRegistrar:
    """The registrar's office during one term."""

    def __init__(self, init_config: dict):
        """Set up the office.

        Args:
            init_config: the initial value of every state attribute.
        """
        self.current_date: str = init_config.get("current_date", "2026-08-24")
        self.current_term: str = init_config.get("current_term", "2026-FA")
        # Calendar of the current term, YYYY-MM-DD each.
        self.registration_opens: str = init_config.get("registration_opens", "2026-08-10")
        self.add_deadline: str = init_config.get("add_deadline", "2026-09-04")
        self.drop_deadline: str = init_config.get("drop_deadline", "2026-09-18")
        self.withdraw_deadline: str = init_config.get("withdraw_deadline", "2026-11-06")
        self.grading_opens: str = init_config.get("grading_opens", "2026-12-07")
        self.students: Dict[str, StudentInfo] = init_config.get("students", {})
        self.courses: Dict[str, CourseInfo] = init_config.get("courses", {})
        self.rooms: Dict[str, RoomInfo] = init_config.get("rooms", {})
        self.sections: Dict[str, SectionInfo] = init_config.get("sections", {})
        self.enrolments: Dict[str, EnrolmentInfo] = init_config.get("enrolments", {})
        self.holds: Dict[str, HoldInfo] = init_config.get("holds", {})
        self.next_section_number: int = init_config.get("next_section_number", 101)
        self.next_enrolment_number: int = init_config.get("next_enrolment_number", 5001)
        self.next_hold_number: int = init_config.get("next_hold_number", 301)

    # ------------------------------------------------------------------ helpers

    @staticmethod
    def _fail(message: str) -> Dict[str, Any]:
        return {"success": False, "error": message}

    @staticmethod
    def _is_text(value: Any) -> bool:
        return isinstance(value, str) and value.strip() != ""

    @staticmethod
    def _is_int(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    @staticmethod
    def _is_time(value: Any) -> bool:
        return isinstance(value, str) and re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", value) is not None

    @staticmethod
    def _find(table: Dict[str, Any], label: str, key: Any) -> Optional[str]:
        """The error for an id that is not in a table, or None."""
        if not isinstance(key, str):
            return f"The {label} id must be a string."
        if key not in table:
            return f"There is no {label} with the id '{key}'."
        return None

    def _check_meeting(self, days: Any, start_time: Any, end_time: Any) -> Optional[str]:
        """The error in a list of days and a pair of times, or None."""
        if not isinstance(days, list) or not days or any(d not in DAYS for d in days) or len(set(days)) != len(days):
            return f"days must be a list of different weekdays out of {', '.join(DAYS)}."
        if not self._is_time(start_time) or not self._is_time(end_time):
            return "start_time and end_time must be given as HH:MM (24-hour clock)."
        if end_time <= start_time:
            return "end_time must be after start_time."
        return None

    @staticmethod
    def _clash(section: SectionInfo, days: List[str], start_time: str, end_time: str) -> bool:
        return (
            bool(set(section["days"]) & set(days))
            and section["start_time"] < end_time
            and start_time < section["end_time"]
        )

    def _enrolled_count(self, section_id: str) -> int:
        return sum(1 for e in self.enrolments.values() if e["section_id"] == section_id and e["status"] == "enrolled")

    def _seats_left(self, section_id: str) -> int:
        return self.sections[section_id]["capacity"] - self._enrolled_count(section_id)

    def _current(self, student_id: str) -> List[EnrolmentInfo]:
        """The enrolments a student holds now."""
        return [e for e in self.enrolments.values() if e["student_id"] == student_id and e["status"] == "enrolled"]

    def _enrolment(self, student_id: str, section_id: str, statuses: tuple = ("enrolled",)) -> Optional[EnrolmentInfo]:
        for enrolment in self.enrolments.values():
            if (
                enrolment["student_id"] == student_id
                and enrolment["section_id"] == section_id
                and enrolment["status"] in statuses
            ):
                return enrolment
        return None

    def _credits(self, section_id: str) -> int:
        return self.courses[self.sections[section_id]["course_id"]]["credits"]

    def _term_credits(self, student_id: str) -> int:
        return sum(self._credits(e["section_id"]) for e in self._current(student_id))

    def _graded_courses(self, student_id: str) -> List[tuple]:
        """(course_id, credits, grade) of every course the student has a grade for, this term's included."""
        rows = [(t["course_id"], t["credits"], t["grade"]) for t in self.students[student_id]["transcript"]]
        for enrolment in self.enrolments.values():
            if enrolment["student_id"] == student_id and enrolment["status"] == "completed":
                course = self.courses[self.sections[enrolment["section_id"]]["course_id"]]
                rows.append((course["course_id"], course["credits"], enrolment["grade"]))
        return rows

    def _passed(self, student_id: str) -> List[str]:
        return [course_id for course_id, _, grade in self._graded_courses(student_id) if grade in PASSING_GRADES]

    def _gpa(self, student_id: str) -> Optional[float]:
        rows = [
            (credits, GRADE_POINTS[grade])
            for _, credits, grade in self._graded_courses(student_id)
            if grade in GRADE_POINTS
        ]
        total = sum(credits for credits, _ in rows)
        if total == 0:
            return None
        return round(sum(credits * points for credits, points in rows) / total, 2)

    def _earned_credits(self, student_id: str) -> int:
        return sum(credits for _, credits, grade in self._graded_courses(student_id) if grade in CREDIT_GRADES)

    def _active_holds(self, student_id: str) -> List[HoldInfo]:
        return [h for h in self.holds.values() if h["student_id"] == student_id and h["status"] == "active"]

    def _adding_closed(self) -> Optional[str]:
        """The error when no student can be added to a section today, or None."""
        if self.current_date < self.registration_opens:
            return f"Registration opens on {self.registration_opens}."
        if self.current_date > self.add_deadline:
            return f"The last day to add a course was {self.add_deadline}."
        return None

    def _course_problems(self, student_id: str, course_id: str, leaving: Optional[str] = None) -> List[str]:
        """What keeps a student from a course whatever the section; leaving = id of an enrolment being given up."""
        problems = []
        for hold in self._active_holds(student_id):
            if hold["hold_type"] in BLOCKING_HOLDS:
                problems.append(f"Active {hold['hold_type']} hold {hold['hold_id']}.")
        passed = self._passed(student_id)
        for needed in self.courses[course_id]["prerequisites"]:
            if needed not in passed:
                problems.append(f"Prerequisite {needed} is not passed with C or better.")
        if course_id in passed:
            problems.append(f"{course_id} is already passed.")
        for enrolment in self._current(student_id):
            if enrolment["enrolment_id"] == leaving:
                continue
            if self.sections[enrolment["section_id"]]["course_id"] == course_id:
                problems.append(f"Already enrolled in {course_id} (section {enrolment['section_id']}).")
        return problems

    def _section_problems(self, student_id: str, section_id: str, leaving: Optional[str] = None) -> List[str]:
        """What keeps a student from a section, seats and waitlist apart."""
        section = self.sections[section_id]
        problems = self._course_problems(student_id, section["course_id"], leaving)
        load = self._credits(section_id)
        for enrolment in self._current(student_id):
            if enrolment["enrolment_id"] == leaving:
                continue
            load += self._credits(enrolment["section_id"])
            if self._clash(
                self.sections[enrolment["section_id"]], section["days"], section["start_time"], section["end_time"]
            ):
                problems.append(f"Time conflict with section {enrolment['section_id']}.")
        limit = self.students[student_id]["credit_limit"]
        if load > limit:
            problems.append(f"The term load would be {load} credits, the limit being {limit}.")
        return problems

    def _seat_problems(self, section_id: str) -> List[str]:
        problems = []
        if self._seats_left(section_id) <= 0:
            problems.append(f"Section {section_id} is full.")
        if self.sections[section_id]["waitlist"]:
            problems.append(f"Section {section_id} has a waitlist; its seats go to the waitlist in order.")
        return problems

    def _below_full_time(self, student_id: str, change: int) -> Optional[str]:
        """The error when changing the load by so many credits breaks the full-time requirement, or None."""
        if not self.students[student_id]["full_time_required"] or change >= 0:
            return None
        load = self._term_credits(student_id) + change
        if load < FULL_TIME_CREDITS:
            return (
                f"{self.students[student_id]['name']} must stay full-time: the load would fall to {load} credits, below"
                f" {FULL_TIME_CREDITS}."
            )
        return None

    def _add_enrolment(self, student_id: str, section_id: str, grading_basis: str) -> str:
        """Enrol a student and strike the student from the course's waitlists."""
        enrolment_id = f"EN-{self.next_enrolment_number}"
        self.next_enrolment_number += 1
        self.enrolments[enrolment_id] = {
            "enrolment_id": enrolment_id,
            "student_id": student_id,
            "section_id": section_id,
            "status": "enrolled",
            "grading_basis": grading_basis,
            "grade": None,
            "grade_note": None,
            "enrolled_on": self.current_date,
            "ended_on": None,
        }
        course_id = self.sections[section_id]["course_id"]
        for section in self.sections.values():
            if section["course_id"] == course_id and student_id in section["waitlist"]:
                section["waitlist"].remove(student_id)
        return enrolment_id

    def _room_problem(
        self,
        course_id: str,
        room_id: str,
        capacity: int,
        days: List[str],
        start_time: str,
        end_time: str,
        own_section: Optional[str] = None,
    ) -> Optional[str]:
        """The error that keeps a section from a room, or None."""
        room = self.rooms[room_id]
        feature = self.courses[course_id]["room_feature"]
        if feature is not None and feature not in room["features"]:
            return f"{course_id} needs a room with {feature}, which {room_id} lacks."
        if capacity > room["seats"]:
            return f"Room {room_id} has {room['seats']} seats, fewer than the capacity of {capacity}."
        for section in self.sections.values():
            if section["section_id"] != own_section and section["room_id"] == room_id:
                if self._clash(section, days, start_time, end_time):
                    return f"Room {room_id} is taken by section {section['section_id']} at that time."
        return None

    def _instructor_problem(
        self, instructor: str, days: List[str], start_time: str, end_time: str, own_section: Optional[str] = None
    ) -> Optional[str]:
        """The error that keeps an instructor from a meeting time, or None."""
        for section in self.sections.values():
            if section["section_id"] != own_section and section["instructor"].lower() == instructor.strip().lower():
                if self._clash(section, days, start_time, end_time):
                    return f"{instructor} teaches section {section['section_id']} at that time."
        return None

    def _section_row(self, section: SectionInfo) -> Dict[str, Any]:
        """A section as the queries show it, without the names on the waitlist."""
        row: Dict[str, Any] = copy.deepcopy(section)
        row["waitlist_length"] = len(row.pop("waitlist"))
        row["course_title"] = self.courses[section["course_id"]]["title"]
        row["credits"] = self.courses[section["course_id"]]["credits"]
        row["enrolled"] = self._enrolled_count(section["section_id"])
        row["seats_left"] = self._seats_left(section["section_id"])
        return row

    # ------------------------------------------------------------------ queries

    def get_term_calendar(self) -> Dict[str, Any]:
        """Get today's date, the current term and its deadlines.

        Returns:
            data: current_date, current_term, registration_opens, add_deadline (last day to enrol), drop_deadline (last
            day to drop without a trace), withdraw_deadline (last day to withdraw with a W) and grading_opens.
        """
        return {
            "success": True,
            "data": {
                "current_date": self.current_date,
                "current_term": self.current_term,
                "registration_opens": self.registration_opens,
                "add_deadline": self.add_deadline,
                "drop_deadline": self.drop_deadline,
                "withdraw_deadline": self.withdraw_deadline,
                "grading_opens": self.grading_opens,
            },
        }

    def search_students(
        self,
        name: Optional[str] = None,
        programme: Optional[str] = None,
        year: Optional[int] = None,
        standing: Optional[Literal["good", "probation"]] = None,
    ) -> Dict[str, Any]:
        """Search students; the filters given must all match, and no filter lists everybody.

        Args:
            name: part of the name, upper or lower case.
            programme: part of the programme's name, upper or lower case.
            year: year of study, 1 to 4.
            standing: "good" or "probation".

        Returns:
            data: list of student_id, name, email, programme, year, adviser and standing.
        """
        if name is not None and not isinstance(name, str):
            return self._fail("name must be a string.")
        if programme is not None and not isinstance(programme, str):
            return self._fail("programme must be a string.")
        if year is not None and not self._is_int(year):
            return self._fail("year must be a whole number.")
        if standing is not None and standing not in ("good", "probation"):
            return self._fail("standing must be 'good' or 'probation'.")
        found = []
        for student in self.students.values():
            if name is not None and name.lower() not in student["name"].lower():
                continue
            if programme is not None and programme.lower() not in student["programme"].lower():
                continue
            if year is not None and student["year"] != year:
                continue
            if standing is not None and student["standing"] != standing:
                continue
            keys = ("student_id", "name", "email", "programme", "year", "adviser", "standing")
            found.append({key: student[key] for key in keys})
        return {"success": True, "data": found}

    def get_student(self, student_id: str) -> Dict[str, Any]:
        """Get one student with credit load, grade point average and active holds.

        Args:
            student_id: id of the student, e.g. "ST-2041".

        Returns:
            data: the student record without the transcript, plus term_credits (load now), gpa (null without letter
            grades), earned_credits and active_holds.
        """
        error = self._find(self.students, "student", student_id)
        if error:
            return self._fail(error)
        data: Dict[str, Any] = copy.deepcopy(self.students[student_id])
        data.pop("transcript")
        data["term_credits"] = self._term_credits(student_id)
        data["gpa"] = self._gpa(student_id)
        data["earned_credits"] = self._earned_credits(student_id)
        data["active_holds"] = copy.deepcopy(self._active_holds(student_id))
        return {"success": True, "data": data}

    def get_schedule(self, student_id: str) -> Dict[str, Any]:
        """Get a student's sections of the current term and places on waitlists.

        Args:
            student_id: id of the student.

        Returns:
            data: enrolments (each with its section's course, days, times and credits; dropped ones left out) and
            waitlists (section_id, course_id and position, 1 being next in line).
        """
        error = self._find(self.students, "student", student_id)
        if error:
            return self._fail(error)
        rows = []
        for enrolment in self.enrolments.values():
            if enrolment["student_id"] != student_id or enrolment["status"] == "dropped":
                continue
            section = self.sections[enrolment["section_id"]]
            row: Dict[str, Any] = copy.deepcopy(enrolment)
            row["course_id"] = section["course_id"]
            row["course_title"] = self.courses[section["course_id"]]["title"]
            row["credits"] = self.courses[section["course_id"]]["credits"]
            row["days"] = list(section["days"])
            row["start_time"] = section["start_time"]
            row["end_time"] = section["end_time"]
            rows.append(row)
        waiting = [
            {
                "section_id": s["section_id"],
                "course_id": s["course_id"],
                "position": s["waitlist"].index(student_id) + 1,
            }
            for s in self.sections.values()
            if student_id in s["waitlist"]
        ]
        return {"success": True, "data": {"enrolments": rows, "waitlists": waiting}}

    def get_transcript(self, student_id: str) -> Dict[str, Any]:
        """Get a student's grades of earlier terms and those already recorded in this one.

        Args:
            student_id: id of the student.

        Returns:
            data: entries (course_id, term, credits, grade), gpa and earned_credits.
        """
        error = self._find(self.students, "student", student_id)
        if error:
            return self._fail(error)
        entries: List[Dict[str, Any]] = copy.deepcopy(self.students[student_id]["transcript"])
        for enrolment in self.enrolments.values():
            if enrolment["student_id"] == student_id and enrolment["status"] in ("completed", "withdrawn"):
                section = self.sections[enrolment["section_id"]]
                entries.append(
                    {
                        "course_id": section["course_id"],
                        "term": self.current_term,
                        "credits": self._credits(section["section_id"]),
                        "grade": enrolment["grade"],
                    }
                )
        return {
            "success": True,
            "data": {
                "entries": entries,
                "gpa": self._gpa(student_id),
                "earned_credits": self._earned_credits(student_id),
            },
        }

    def search_courses(self, text: Optional[str] = None, department: Optional[str] = None) -> Dict[str, Any]:
        """Search the course catalogue; the filters given must all match, and no filter lists it whole.

        Args:
            text: part of the course id or title, upper or lower case.
            department: part of the department's name, upper or lower case.

        Returns:
            data: list of course records (course_id, title, department, credits, prerequisites, room_feature).
        """
        if text is not None and not isinstance(text, str):
            return self._fail("text must be a string.")
        if department is not None and not isinstance(department, str):
            return self._fail("department must be a string.")
        found = []
        for course in self.courses.values():
            if text is not None and text.lower() not in (course["course_id"] + "\n" + course["title"]).lower():
                continue
            if department is not None and department.lower() not in course["department"].lower():
                continue
            found.append(copy.deepcopy(course))
        return {"success": True, "data": found}

    def search_sections(
        self,
        course_id: Optional[str] = None,
        instructor: Optional[str] = None,
        day: Optional[Literal["Mon", "Tue", "Wed", "Thu", "Fri"]] = None,
        open_only: bool = False,
    ) -> Dict[str, Any]:
        """Search the sections of the current term; the filters given must all match.

        Args:
            course_id: id of the course, e.g. "CS201".
            instructor: part of the instructor's name, upper or lower case.
            day: "Mon", "Tue", "Wed", "Thu" or "Fri"; sections that meet on that day.
            open_only: true for sections with a free seat and nobody waiting.

        Returns:
            data: list of sections (section_id, course_id, course_title, credits, instructor, room_id, days, start_time,
            end_time, capacity, enrolled, seats_left, waitlist_length, waitlist_limit).
        """
        if course_id is not None:
            error = self._find(self.courses, "course", course_id)
            if error:
                return self._fail(error)
        if instructor is not None and not isinstance(instructor, str):
            return self._fail("instructor must be a string.")
        if day is not None and day not in DAYS:
            return self._fail(f"day must be one of: {', '.join(DAYS)}.")
        if not isinstance(open_only, bool):
            return self._fail("open_only must be true or false.")
        found = []
        for section in self.sections.values():
            if course_id is not None and section["course_id"] != course_id:
                continue
            if instructor is not None and instructor.lower() not in section["instructor"].lower():
                continue
            if day is not None and day not in section["days"]:
                continue
            if open_only and (section["waitlist"] or self._seats_left(section["section_id"]) <= 0):
                continue
            found.append(self._section_row(section))
        return {"success": True, "data": found}

    def get_section(self, section_id: str) -> Dict[str, Any]:
        """Get one section with its roster and its waitlist in order.

        Args:
            section_id: id of the section, e.g. "SEC-104".

        Returns:
            data: the section as in search_sections, plus roster (student_id, name, status, grading_basis, grade; no
            dropped students) and waitlist (position, student_id, name).
        """
        error = self._find(self.sections, "section", section_id)
        if error:
            return self._fail(error)
        section = self.sections[section_id]
        data = self._section_row(section)
        data["roster"] = [
            {
                "student_id": e["student_id"],
                "name": self.students[e["student_id"]]["name"],
                "status": e["status"],
                "grading_basis": e["grading_basis"],
                "grade": e["grade"],
            }
            for e in self.enrolments.values()
            if e["section_id"] == section_id and e["status"] != "dropped"
        ]
        data["waitlist"] = [
            {"position": place, "student_id": student_id, "name": self.students[student_id]["name"]}
            for place, student_id in enumerate(section["waitlist"], start=1)
        ]
        return {"success": True, "data": data}

    def check_eligibility(self, student_id: str, section_id: str) -> Dict[str, Any]:
        """List everything that keeps a student from enrolling in a section today; changes nothing.

        Args:
            student_id: id of the student.
            section_id: id of the section.

        Returns:
            data: eligible (bool) and problems (list of sentences: holds, prerequisites, time conflicts, credit limit,
            seats, waitlist, deadline).
        """
        error = self._find(self.students, "student", student_id) or self._find(self.sections, "section", section_id)
        if error:
            return self._fail(error)
        problems = self._section_problems(student_id, section_id) + self._seat_problems(section_id)
        closed = self._adding_closed()
        if closed:
            problems.append(closed)
        return {"success": True, "data": {"eligible": not problems, "problems": problems}}

    def list_holds(
        self,
        student_id: Optional[str] = None,
        hold_type: Optional[Literal["financial", "advising", "disciplinary", "library"]] = None,
        active_only: bool = True,
    ) -> Dict[str, Any]:
        """List holds on student records; the filters given must all match.

        Args:
            student_id: id of the student.
            hold_type: "financial", "advising", "disciplinary" or "library".
            active_only: false to see released holds too.

        Returns:
            data: list of hold records plus student_name.
        """
        if student_id is not None:
            error = self._find(self.students, "student", student_id)
            if error:
                return self._fail(error)
        if hold_type is not None and hold_type not in HOLD_TYPES:
            return self._fail(f"hold_type must be one of: {', '.join(HOLD_TYPES)}.")
        if not isinstance(active_only, bool):
            return self._fail("active_only must be true or false.")
        found = []
        for hold in self.holds.values():
            if student_id is not None and hold["student_id"] != student_id:
                continue
            if hold_type is not None and hold["hold_type"] != hold_type:
                continue
            if active_only and hold["status"] != "active":
                continue
            row: Dict[str, Any] = copy.deepcopy(hold)
            row["student_name"] = self.students[hold["student_id"]]["name"]
            found.append(row)
        return {"success": True, "data": found}

    def search_rooms(
        self,
        days: List[str],
        start_time: str,
        end_time: str,
        min_seats: int = 1,
        feature: Optional[Literal["projector", "computers", "lab_benches", "piano"]] = None,
    ) -> Dict[str, Any]:
        """Find the rooms that are free at a weekly meeting time.

        Args:
            days: weekdays of the meeting, out of "Mon", "Tue", "Wed", "Thu", "Fri".
            start_time: HH:MM, 24-hour clock.
            end_time: HH:MM, 24-hour clock.
            min_seats: fewest seats wanted, 1 or more.
            feature: "projector", "computers", "lab_benches" or "piano".

        Returns:
            data: list of free rooms (room_id, building, seats, features).
        """
        error = self._check_meeting(days, start_time, end_time)
        if error:
            return self._fail(error)
        if not self._is_int(min_seats) or min_seats < 1:
            return self._fail("min_seats must be a whole number of 1 or more.")
        if feature is not None and feature not in ("projector", "computers", "lab_benches", "piano"):
            return self._fail("feature must be one of: projector, computers, lab_benches, piano.")
        found = []
        for room in self.rooms.values():
            if room["seats"] < min_seats or (feature is not None and feature not in room["features"]):
                continue
            taken = any(
                s["room_id"] == room["room_id"] and self._clash(s, days, start_time, end_time)
                for s in self.sections.values()
            )
            if not taken:
                found.append(copy.deepcopy(room))
        return {"success": True, "data": found}

    # --------------------------------------------------------------- enrolments

    def enroll_student(
        self, student_id: str, section_id: str, grading_basis: Literal["graded", "pass_fail"] = "graded"
    ) -> Dict[str, Any]:
        """Enrol a student in a section with a free seat and no waitlist, up to the add deadline.

        Refused for an active financial, advising or disciplinary hold, a prerequisite not passed with C or better, a
        course already passed or already taken this term, a time conflict, or a load over the student's credit limit.
        Strikes the student from the waitlists of the same course.

        Args:
            student_id: id of the student.
            section_id: id of the section.
            grading_basis: "graded" or "pass_fail"; one pass/fail course per student and term, none on probation.

        Returns:
            message and enrolment_id.
        """
        error = self._find(self.students, "student", student_id) or self._find(self.sections, "section", section_id)
        if error:
            return self._fail(error)
        if grading_basis not in ("graded", "pass_fail"):
            return self._fail("grading_basis must be 'graded' or 'pass_fail'.")
        closed = self._adding_closed()
        if closed:
            return self._fail(closed)
        if grading_basis == "pass_fail":
            if self.students[student_id]["standing"] == "probation":
                return self._fail("A student on probation cannot take a course pass/fail.")
            if any(e["grading_basis"] == "pass_fail" for e in self._current(student_id)):
                return self._fail("The student already takes one course pass/fail this term.")
        problems = self._section_problems(student_id, section_id) + self._seat_problems(section_id)
        if problems:
            return self._fail(" ".join(problems))
        enrolment_id = self._add_enrolment(student_id, section_id, grading_basis)
        return {
            "success": True,
            "message": f"{self.students[student_id]['name']} is enrolled in {section_id}.",
            "enrolment_id": enrolment_id,
        }

    def drop_enrolment(self, student_id: str, section_id: str) -> Dict[str, Any]:
        """Drop a student from a section without a trace on the transcript, up to the drop deadline.

        Refused when it would take a student who must stay full-time below 12 credits. The seat is not given to the
        waitlist by itself: see promote_from_waitlist.

        Args:
            student_id: id of the student.
            section_id: id of the section.

        Returns:
            message.
        """
        error = self._find(self.students, "student", student_id) or self._find(self.sections, "section", section_id)
        if error:
            return self._fail(error)
        enrolment = self._enrolment(student_id, section_id)
        if enrolment is None:
            return self._fail(f"Student '{student_id}' is not enrolled in section '{section_id}'.")
        if self.current_date > self.drop_deadline:
            return self._fail(f"The last day to drop was {self.drop_deadline}; use withdraw_student.")
        error = self._below_full_time(student_id, -self._credits(section_id))
        if error:
            return self._fail(error)
        enrolment["status"] = "dropped"
        enrolment["ended_on"] = self.current_date
        return {"success": True, "message": f"{self.students[student_id]['name']} is dropped from {section_id}."}

    def withdraw_student(self, student_id: str, section_id: str) -> Dict[str, Any]:
        """Withdraw a student from a section with the grade W, after the drop deadline and up to the withdraw deadline.

        Refused when it would take a student who must stay full-time below 12 credits.

        Args:
            student_id: id of the student.
            section_id: id of the section.

        Returns:
            message.
        """
        error = self._find(self.students, "student", student_id) or self._find(self.sections, "section", section_id)
        if error:
            return self._fail(error)
        enrolment = self._enrolment(student_id, section_id)
        if enrolment is None:
            return self._fail(f"Student '{student_id}' is not enrolled in section '{section_id}'.")
        if self.current_date <= self.drop_deadline:
            return self._fail(f"Until {self.drop_deadline} a course is dropped; use drop_enrolment.")
        if self.current_date > self.withdraw_deadline:
            return self._fail(f"The last day to withdraw was {self.withdraw_deadline}.")
        error = self._below_full_time(student_id, -self._credits(section_id))
        if error:
            return self._fail(error)
        enrolment["status"] = "withdrawn"
        enrolment["grade"] = "W"
        enrolment["ended_on"] = self.current_date
        return {"success": True, "message": f"{self.students[student_id]['name']} is withdrawn from {section_id}."}

    def swap_enrolment(self, student_id: str, from_section_id: str, to_section_id: str) -> Dict[str, Any]:
        """Move a student from one section to another in one step, keeping the grading basis.

        The conditions of enroll_student apply to the new section, without counting the section given up; the full-time
        requirement applies to the new load. If anything is refused, the student keeps the old seat.

        Args:
            student_id: id of the student.
            from_section_id: section to give up.
            to_section_id: section to join; it may be of another course.

        Returns:
            message and enrolment_id of the new enrolment.
        """
        error = (
            self._find(self.students, "student", student_id)
            or self._find(self.sections, "section", from_section_id)
            or self._find(self.sections, "section", to_section_id)
        )
        if error:
            return self._fail(error)
        if from_section_id == to_section_id:
            return self._fail("The two sections are the same.")
        old = self._enrolment(student_id, from_section_id)
        if old is None:
            return self._fail(f"Student '{student_id}' is not enrolled in section '{from_section_id}'.")
        closed = self._adding_closed()
        if closed:
            return self._fail(closed)
        if self.current_date > self.drop_deadline:
            return self._fail(f"The last day to drop was {self.drop_deadline}.")
        problems = self._section_problems(student_id, to_section_id, leaving=old["enrolment_id"])
        problems += self._seat_problems(to_section_id)
        if problems:
            return self._fail(" ".join(problems))
        error = self._below_full_time(student_id, self._credits(to_section_id) - self._credits(from_section_id))
        if error:
            return self._fail(error)
        old["status"] = "dropped"
        old["ended_on"] = self.current_date
        enrolment_id = self._add_enrolment(student_id, to_section_id, old["grading_basis"])
        return {
            "success": True,
            "message": f"{self.students[student_id]['name']} moved from {from_section_id} to {to_section_id}.",
            "enrolment_id": enrolment_id,
        }

    # ---------------------------------------------------------------- waitlists

    def join_waitlist(self, student_id: str, section_id: str) -> Dict[str, Any]:
        """Put a student at the end of a section's waitlist, up to the add deadline.

        The section must be full or have a waitlist already, and the waitlist must be below its limit. Refused for a
        blocking hold, a missing prerequisite, or a course already passed or taken this term. Time conflicts and the
        credit limit count only when the seat is given.

        Args:
            student_id: id of the student.
            section_id: id of the section.

        Returns:
            message and position (1 is next in line).
        """
        error = self._find(self.students, "student", student_id) or self._find(self.sections, "section", section_id)
        if error:
            return self._fail(error)
        closed = self._adding_closed()
        if closed:
            return self._fail(closed)
        section = self.sections[section_id]
        if student_id in section["waitlist"]:
            return self._fail(f"Student '{student_id}' is already on the waitlist of '{section_id}'.")
        if not self._seat_problems(section_id):
            return self._fail(f"Section '{section_id}' has a free seat; use enroll_student.")
        if len(section["waitlist"]) >= section["waitlist_limit"]:
            return self._fail(f"The waitlist of '{section_id}' is full ({section['waitlist_limit']} places).")
        problems = self._course_problems(student_id, section["course_id"])
        if problems:
            return self._fail(" ".join(problems))
        section["waitlist"].append(student_id)
        position = len(section["waitlist"])
        return {
            "success": True,
            "message": f"{self.students[student_id]['name']} is number {position} on the waitlist of {section_id}.",
            "position": position,
        }

    def leave_waitlist(self, student_id: str, section_id: str) -> Dict[str, Any]:
        """Take a student off a section's waitlist; those behind move up.

        Args:
            student_id: id of the student.
            section_id: id of the section.

        Returns:
            message.
        """
        error = self._find(self.students, "student", student_id) or self._find(self.sections, "section", section_id)
        if error:
            return self._fail(error)
        section = self.sections[section_id]
        if student_id not in section["waitlist"]:
            return self._fail(f"Student '{student_id}' is not on the waitlist of '{section_id}'.")
        section["waitlist"].remove(student_id)
        return {
            "success": True,
            "message": f"{self.students[student_id]['name']} is off the waitlist of {section_id}.",
        }

    def promote_from_waitlist(self, section_id: str) -> Dict[str, Any]:
        """Give a free seat to the first student on the waitlist (graded basis), up to the add deadline.

        All conditions of enroll_student apply to that student. If they are not met nothing happens: clear the problem,
        or take the student off the waitlist, before the next in line can be promoted.

        Args:
            section_id: id of the section.

        Returns:
            message, student_id and enrolment_id.
        """
        error = self._find(self.sections, "section", section_id)
        if error:
            return self._fail(error)
        closed = self._adding_closed()
        if closed:
            return self._fail(closed)
        section = self.sections[section_id]
        if not section["waitlist"]:
            return self._fail(f"Nobody is on the waitlist of '{section_id}'.")
        if self._seats_left(section_id) <= 0:
            return self._fail(f"Section '{section_id}' is full.")
        student_id = section["waitlist"][0]
        name = self.students[student_id]["name"]
        problems = self._section_problems(student_id, section_id)
        if problems:
            return self._fail(f"{name} ({student_id}) is first in line but cannot enrol: {' '.join(problems)}")
        enrolment_id = self._add_enrolment(student_id, section_id, "graded")
        return {
            "success": True,
            "message": f"{name} is enrolled in {section_id} from the waitlist.",
            "student_id": student_id,
            "enrolment_id": enrolment_id,
        }

    # -------------------------------------------------------------------- holds

    def place_hold(
        self,
        student_id: str,
        hold_type: Literal["financial", "advising", "disciplinary", "library"],
        reason: str,
        amount_due: float = 0.0,
    ) -> Dict[str, Any]:
        """Place a hold on a student's record; all but library holds block enrolment and waitlists.

        Args:
            student_id: id of the student, who must have no active hold of the same type.
            hold_type: "financial", "advising", "disciplinary" or "library".
            reason: why the hold is placed.
            amount_due: amount owed in dollars; above 0 (at most 100000) for a financial hold, 0 for the others.

        Returns:
            message and hold_id.
        """
        error = self._find(self.students, "student", student_id)
        if error:
            return self._fail(error)
        if hold_type not in HOLD_TYPES:
            return self._fail(f"hold_type must be one of: {', '.join(HOLD_TYPES)}.")
        if not self._is_text(reason):
            return self._fail("reason must be a non-empty string.")
        if isinstance(amount_due, bool) or not isinstance(amount_due, (int, float)):
            return self._fail("amount_due must be a number.")
        if hold_type == "financial" and not 0.01 <= amount_due <= 100000:
            return self._fail("A financial hold needs an amount_due above 0, at most 100000.")
        if hold_type != "financial" and amount_due != 0:
            return self._fail("Only a financial hold has an amount_due.")
        if any(h["hold_type"] == hold_type for h in self._active_holds(student_id)):
            return self._fail(f"Student '{student_id}' already has an active {hold_type} hold.")
        hold_id = f"HD-{self.next_hold_number}"
        self.next_hold_number += 1
        self.holds[hold_id] = {
            "hold_id": hold_id,
            "student_id": student_id,
            "hold_type": hold_type,
            "reason": reason,
            "status": "active",
            "amount_due": round(float(amount_due), 2),
            "placed_on": self.current_date,
            "released_on": None,
            "release_note": None,
        }
        return {
            "success": True,
            "message": f"Hold {hold_id} placed on {self.students[student_id]['name']}.",
            "hold_id": hold_id,
        }

    def record_payment(self, hold_id: str, amount: float) -> Dict[str, Any]:
        """Record a payment against an active financial hold; the hold stays until it is released.

        Args:
            hold_id: id of the hold.
            amount: amount paid in dollars, above 0 and not above the amount due.

        Returns:
            message and amount_due (what is still owed).
        """
        error = self._find(self.holds, "hold", hold_id)
        if error:
            return self._fail(error)
        hold = self.holds[hold_id]
        if hold["hold_type"] != "financial" or hold["status"] != "active":
            return self._fail(f"Hold '{hold_id}' is not an active financial hold.")
        if isinstance(amount, bool) or not isinstance(amount, (int, float)):
            return self._fail("amount must be a number.")
        if not 0.01 <= amount <= hold["amount_due"]:
            return self._fail(f"amount must be above 0 and not above the {hold['amount_due']:.2f} due.")
        hold["amount_due"] = round(hold["amount_due"] - round(float(amount), 2), 2)
        return {
            "success": True,
            "message": f"Payment recorded; {hold['amount_due']:.2f} is still due.",
            "amount_due": hold["amount_due"],
        }

    def release_hold(self, hold_id: str, release_note: str) -> Dict[str, Any]:
        """Release an active hold; a financial one only when nothing is due any more.

        Args:
            hold_id: id of the hold.
            release_note: why it is released.

        Returns:
            message.
        """
        error = self._find(self.holds, "hold", hold_id)
        if error:
            return self._fail(error)
        if not self._is_text(release_note):
            return self._fail("release_note must be a non-empty string.")
        hold = self.holds[hold_id]
        if hold["status"] != "active":
            return self._fail(f"Hold '{hold_id}' is already released.")
        if hold["amount_due"] > 0:
            return self._fail(f"{hold['amount_due']:.2f} is still due on hold '{hold_id}'.")
        hold["status"] = "released"
        hold["released_on"] = self.current_date
        hold["release_note"] = release_note
        return {"success": True, "message": f"Hold {hold_id} is released."}

    # ------------------------------------------------- credit limits and grades

    def set_credit_limit(self, student_id: str, credit_limit: int) -> Dict[str, Any]:
        """Set the most credits a student may take this term.

        At most 12 on probation, else at most 15, or at most 18 with a GPA of 3.50 or more. Never below the load the
        student already has.

        Args:
            student_id: id of the student.
            credit_limit: credits, 3 to 18.

        Returns:
            message.
        """
        error = self._find(self.students, "student", student_id)
        if error:
            return self._fail(error)
        if not self._is_int(credit_limit) or not 3 <= credit_limit <= OVERLOAD_LIMIT:
            return self._fail(f"credit_limit must be a whole number from 3 to {OVERLOAD_LIMIT}.")
        student = self.students[student_id]
        gpa = self._gpa(student_id)
        if student["standing"] == "probation" and credit_limit > PROBATION_LIMIT:
            return self._fail(f"A student on probation may take at most {PROBATION_LIMIT} credits.")
        if credit_limit > STANDARD_LIMIT and (gpa is None or gpa < OVERLOAD_GPA):
            return self._fail(
                f"More than {STANDARD_LIMIT} credits need a GPA of at least {OVERLOAD_GPA:.2f};"
                f" {student['name']} has {'none' if gpa is None else format(gpa, '.2f')}."
            )
        load = self._term_credits(student_id)
        if credit_limit < load:
            return self._fail(f"{student['name']} already takes {load} credits.")
        student["credit_limit"] = credit_limit
        return {"success": True, "message": f"The credit limit of {student['name']} is now {credit_limit}."}

    def record_grade(
        self,
        student_id: str,
        section_id: str,
        grade: Literal["A", "A-", "B+", "B", "B-", "C+", "C", "C-", "D", "F", "P", "NP"],
        change_reason: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Record a student's final grade in a section, or change one already recorded, from the day grading opens.

        Args:
            student_id: id of the student, enrolled in or having completed the section.
            section_id: id of the section.
            grade: "A" to "C-", "D" or "F" on the graded basis; "P" or "NP" on the pass_fail basis.
            change_reason: why; required (and used only) when a recorded grade is changed.

        Returns:
            message.
        """
        error = self._find(self.students, "student", student_id) or self._find(self.sections, "section", section_id)
        if error:
            return self._fail(error)
        if change_reason is not None and not isinstance(change_reason, str):
            return self._fail("change_reason must be a string.")
        enrolment = self._enrolment(student_id, section_id, ("enrolled", "completed"))
        if enrolment is None:
            return self._fail(f"Student '{student_id}' has no place in section '{section_id}' to be graded.")
        if self.current_date < self.grading_opens:
            return self._fail(f"Grading opens on {self.grading_opens}.")
        allowed = tuple(GRADE_POINTS) if enrolment["grading_basis"] == "graded" else ("P", "NP")
        if grade not in allowed:
            return self._fail(
                f"On the {enrolment['grading_basis']} basis the grade must be one of {', '.join(allowed)}."
            )
        if enrolment["status"] == "completed":
            if enrolment["grade"] == grade:
                return self._fail(f"The recorded grade is already {grade}.")
            if not self._is_text(change_reason):
                return self._fail("A change_reason is required to change a recorded grade.")
            enrolment["grade_note"] = change_reason
        enrolment["status"] = "completed"
        enrolment["grade"] = grade
        return {"success": True, "message": f"{self.students[student_id]['name']} has {grade} in {section_id}."}

    # ----------------------------------------------------------------- sections

    def create_section(
        self,
        course_id: str,
        instructor: str,
        room_id: str,
        days: List[str],
        start_time: str,
        end_time: str,
        capacity: int,
        waitlist_limit: int = 5,
    ) -> Dict[str, Any]:
        """Open another section of a course, up to the add deadline.

        The room must have the feature the course needs, enough seats, and be free; the instructor must be free.

        Args:
            course_id: id of the course.
            instructor: full name of the instructor.
            room_id: id of the room.
            days: weekdays, out of "Mon", "Tue", "Wed", "Thu", "Fri".
            start_time: HH:MM, 24-hour clock.
            end_time: HH:MM, 24-hour clock.
            capacity: 1 up to the room's seats.
            waitlist_limit: most students on the waitlist, 0 to 50.

        Returns:
            message and section_id.
        """
        error = self._find(self.courses, "course", course_id) or self._find(self.rooms, "room", room_id)
        if error:
            return self._fail(error)
        if not self._is_text(instructor):
            return self._fail("instructor must be a non-empty string.")
        error = self._check_meeting(days, start_time, end_time)
        if error:
            return self._fail(error)
        if not self._is_int(capacity) or capacity < 1:
            return self._fail("capacity must be a whole number of 1 or more.")
        if not self._is_int(waitlist_limit) or not 0 <= waitlist_limit <= 50:
            return self._fail("waitlist_limit must be a whole number from 0 to 50.")
        if self.current_date > self.add_deadline:
            return self._fail(f"The last day to add a course was {self.add_deadline}.")
        error = self._room_problem(course_id, room_id, capacity, days, start_time, end_time)
        error = error or self._instructor_problem(instructor, days, start_time, end_time)
        if error:
            return self._fail(error)
        section_id = f"SEC-{self.next_section_number}"
        self.next_section_number += 1
        self.sections[section_id] = {
            "section_id": section_id,
            "course_id": course_id,
            "instructor": instructor.strip(),
            "room_id": room_id,
            "days": [d for d in DAYS if d in days],
            "start_time": start_time,
            "end_time": end_time,
            "capacity": capacity,
            "waitlist": [],
            "waitlist_limit": waitlist_limit,
        }
        return {
            "success": True,
            "message": f"Section {section_id} of {course_id} is open.",
            "section_id": section_id,
        }

    def update_section(
        self,
        section_id: str,
        capacity: Optional[int] = None,
        room_id: Optional[str] = None,
        instructor: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Change the capacity, the room or the instructor of a section; give at least one.

        The capacity must not be below the number enrolled nor above the room's seats; the room must have the feature
        the course needs and be free at the section's time, and so must the instructor.

        Args:
            section_id: id of the section.
            capacity: new capacity.
            room_id: id of the new room.
            instructor: full name of the new instructor.

        Returns:
            message.
        """
        error = self._find(self.sections, "section", section_id)
        if error:
            return self._fail(error)
        if capacity is None and room_id is None and instructor is None:
            return self._fail("Give a capacity, a room_id or an instructor.")
        section = self.sections[section_id]
        meeting = (section["days"], section["start_time"], section["end_time"])
        if capacity is not None:
            if not self._is_int(capacity) or capacity < 1:
                return self._fail("capacity must be a whole number of 1 or more.")
            if capacity < self._enrolled_count(section_id):
                return self._fail(f"{self._enrolled_count(section_id)} students are enrolled in '{section_id}'.")
        if room_id is not None:
            error = self._find(self.rooms, "room", room_id)
            if error:
                return self._fail(error)
        new_capacity = section["capacity"] if capacity is None else capacity
        new_room = section["room_id"] if room_id is None else room_id
        if capacity is not None or room_id is not None:
            error = self._room_problem(section["course_id"], new_room, new_capacity, *meeting, own_section=section_id)
            if error:
                return self._fail(error)
        if instructor is not None:
            if not self._is_text(instructor):
                return self._fail("instructor must be a non-empty string.")
            error = self._instructor_problem(instructor, *meeting, own_section=section_id)
            if error:
                return self._fail(error)
            section["instructor"] = instructor.strip()
        section["capacity"] = new_capacity
        section["room_id"] = new_room
        return {"success": True, "message": f"Section {section_id} is updated."}
