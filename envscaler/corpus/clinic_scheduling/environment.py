"""The scheduling desk of one outpatient clinic: patients, clinicians, slots, appointments, referrals, prescriptions."""

import copy
import re
from datetime import date, timedelta
from typing import Dict, List, Literal, Optional, TypedDict


class PatientInfo(TypedDict):
    patient_id: str
    full_name: str
    date_of_birth: str  # YYYY-MM-DD
    phone: str
    email: Optional[str]
    guardian_name: Optional[str]  # needed for patients under 16
    allergies: List[str]  # active ingredients in lower case, e.g. ["amoxicillin"]
    missed_visits: int  # no-shows and late cancellations
    active: bool  # False = left the clinic, cannot book


class ClinicianInfo(TypedDict):
    clinician_id: str
    full_name: str
    specialty: str  # "general_practice", "paediatrics", "cardiology", "dermatology" or "orthopaedics"
    min_age: int  # youngest age treated, in completed years on the day of the visit
    max_age: Optional[int]  # oldest age treated; None = no upper limit
    min_lead_days: int  # days between booking and visit; 0 = same day
    requires_referral: bool
    can_refer: bool
    can_prescribe: bool
    accepting_new_patients: bool


class SlotInfo(TypedDict):
    slot_id: str
    clinician_id: str
    date: str  # YYYY-MM-DD
    start_time: str  # HH:MM, 24 hours
    end_time: str  # HH:MM, 24 hours
    visit_type: str  # "in_person" or "video"
    room: Optional[str]  # None for video slots
    status: str  # "open", "booked" or "blocked"
    block_reason: Optional[str]


class AppointmentInfo(TypedDict):
    appointment_id: str
    patient_id: str
    clinician_id: str
    slot_id: Optional[str]  # None once the slot of a past visit is archived
    date: str  # YYYY-MM-DD
    start_time: str  # HH:MM
    end_time: str  # HH:MM
    visit_type: str  # "in_person" or "video"
    reason: str
    referral_id: Optional[str]
    status: str  # "booked", "arrived", "completed", "cancelled" or "no_show"
    booked_on: str  # YYYY-MM-DD
    cancellation_reason: Optional[str]
    visit_note: Optional[str]


class ReferralInfo(TypedDict):
    referral_id: str
    patient_id: str
    referring_clinician_id: str
    specialty: str
    reason: str
    urgency: str  # "routine" or "urgent"
    issued_on: str  # YYYY-MM-DD
    expires_on: str  # YYYY-MM-DD, last day a visit may take place
    visits_allowed: int
    visits_used: int  # booked and past visits


class PrescriptionInfo(TypedDict):
    prescription_id: str
    patient_id: str
    clinician_id: str
    medication: str  # e.g. "Lisoprin 10 mg tablets"
    active_ingredient: str  # lower case
    dosage: str
    days_supply: int  # days one fill lasts
    refills_remaining: int
    controlled: bool  # controlled medicines have no refills
    issued_on: str  # YYYY-MM-DD
    last_filled_on: str  # YYYY-MM-DD
    expires_on: str  # YYYY-MM-DD, last day a refill may be given
    status: str  # "active" or "discontinued"
    discontinued_reason: Optional[str]


class ClinicScheduling:
    """State and tools of the scheduling desk. Every tool returns a dict with "success"."""

    _SPECIALTIES = ("general_practice", "paediatrics", "cardiology", "dermatology", "orthopaedics")
    _APPOINTMENT_STATUSES = ("booked", "arrived", "completed", "cancelled", "no_show")
    _GUARDIAN_AGE = 16
    _BOOKING_HORIZON_DAYS = 90
    _MISSED_VISITS_LIMIT = 3
    _SEEN_FOR_REFERRAL_DAYS = 90
    _SEEN_FOR_PRESCRIPTION_DAYS = 30
    _EARLY_REFILL_DAYS = 7

    def __init__(self, init_config: dict):
        """Set every state attribute from the initial configuration."""
        self.current_date: str = init_config.get("current_date", "2026-01-01")
        self.patients: Dict[str, PatientInfo] = init_config.get("patients", {})
        self.clinicians: Dict[str, ClinicianInfo] = init_config.get("clinicians", {})
        self.slots: Dict[str, SlotInfo] = init_config.get("slots", {})
        self.appointments: Dict[str, AppointmentInfo] = init_config.get("appointments", {})
        self.referrals: Dict[str, ReferralInfo] = init_config.get("referrals", {})
        self.prescriptions: Dict[str, PrescriptionInfo] = init_config.get("prescriptions", {})
        self.next_patient_number: int = init_config.get("next_patient_number", 1)
        self.next_slot_number: int = init_config.get("next_slot_number", 1)
        self.next_appointment_number: int = init_config.get("next_appointment_number", 1)
        self.next_referral_number: int = init_config.get("next_referral_number", 1)
        self.next_prescription_number: int = init_config.get("next_prescription_number", 1)

    # ------------------------------------------------------------------ helpers

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    @staticmethod
    def _unknown(what: str, value) -> dict:
        shown = repr(value) if isinstance(value, str) else "with an id that is not a string"
        return {"success": False, "error": f"There is no {what} {shown}."}

    @staticmethod
    def _is_text(value) -> bool:
        return isinstance(value, str) and value.strip() != ""

    @staticmethod
    def _is_int(value) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    @staticmethod
    def _parse_date(value) -> Optional[date]:
        if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            return None
        try:
            return date.fromisoformat(value)
        except ValueError:
            return None

    @staticmethod
    def _parse_minutes(value) -> Optional[int]:
        """Minutes since midnight of a time written as HH:MM, or None."""
        if not isinstance(value, str) or not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", value):
            return None
        return int(value[:2]) * 60 + int(value[3:])

    @staticmethod
    def _is_phone(value) -> bool:
        return isinstance(value, str) and len(re.findall(r"[0-9]", value)) >= 5

    @staticmethod
    def _is_email(value) -> bool:
        return isinstance(value, str) and re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", value.strip()) is not None

    @staticmethod
    def _name_matches(wanted: str, text: str) -> bool:
        return all(word in text.lower() for word in wanted.lower().split())

    def _today(self) -> date:
        return date.fromisoformat(self.current_date)

    def _days_ahead(self, day: str) -> int:
        return (date.fromisoformat(day) - self._today()).days

    @staticmethod
    def _age_on(date_of_birth: str, day: str) -> int:
        """Age in completed years on the given day."""
        years = int(day[:4]) - int(date_of_birth[:4])
        return years - 1 if day[5:] < date_of_birth[5:] else years

    @staticmethod
    def _find(table: dict, key) -> Optional[dict]:
        return table.get(key) if isinstance(key, str) else None

    @staticmethod
    def _new_id(table: dict, prefix: str, number: int) -> tuple:
        """The next free id and the number to continue with."""
        while f"{prefix}-{number}" in table:
            number += 1
        return f"{prefix}-{number}", number + 1

    def _seen_within(self, patient_id: str, clinician_id: str, days: int) -> bool:
        """Whether the clinician has seen the patient (arrived or completed) in the last so many days."""
        return any(
            visit["patient_id"] == patient_id
            and visit["clinician_id"] == clinician_id
            and visit["status"] in ("arrived", "completed")
            and 0 <= -self._days_ahead(visit["date"]) <= days
            for visit in self.appointments.values()
        )

    def _is_known_to(self, patient_id: str, clinician_id: str) -> bool:
        return any(
            visit["patient_id"] == patient_id
            and visit["clinician_id"] == clinician_id
            and visit["status"] == "completed"
            for visit in self.appointments.values()
        )

    @staticmethod
    def _referral_fits(referral: ReferralInfo, patient_id: str, specialty: str, day: str) -> bool:
        return (
            referral["patient_id"] == patient_id
            and referral["specialty"] == specialty
            and referral["issued_on"] <= day <= referral["expires_on"]
            and referral["visits_used"] < referral["visits_allowed"]
        )

    def _slot_problems(
        self,
        patient: PatientInfo,
        slot: SlotInfo,
        referral: Optional[ReferralInfo],
        ignore: Optional[str] = None,
    ) -> List[str]:
        """Every reason, apart from a missing referral, why the patient cannot have the slot."""
        patient_id = patient["patient_id"]
        clinician = self.clinicians[slot["clinician_id"]]
        problems = []
        if not patient["active"]:
            problems.append(f"{patient['full_name']} is no longer an active patient.")
        if slot["status"] != "open":
            problems.append(f"Slot {slot['slot_id']} is {slot['status']}, not open.")
        ahead = self._days_ahead(slot["date"])
        urgent = referral is not None and referral["urgency"] == "urgent"
        if ahead < 0:
            problems.append(f"The slot lies in the past; today is {self.current_date}.")
        elif ahead < clinician["min_lead_days"] and not urgent:
            problems.append(f"{clinician['full_name']} needs {clinician['min_lead_days']} day(s) of lead time.")
        age = self._age_on(patient["date_of_birth"], slot["date"])
        if age < clinician["min_age"] or (clinician["max_age"] is not None and age > clinician["max_age"]):
            limit = "and older" if clinician["max_age"] is None else f"to {clinician['max_age']}"
            problems.append(
                f"{clinician['full_name']} treats ages {clinician['min_age']} {limit}; the patient is {age}."
            )
        if not self._is_known_to(patient_id, clinician["clinician_id"]):
            if not clinician["accepting_new_patients"]:
                problems.append(f"{clinician['full_name']} is not accepting new patients.")
            if slot["visit_type"] == "video":
                problems.append(f"The first visit with {clinician['full_name']} must be in person.")
        upcoming = [
            visit
            for visit in self.appointments.values()
            if visit["patient_id"] == patient_id
            and visit["status"] in ("booked", "arrived")
            and visit["appointment_id"] != ignore
        ]
        for visit in upcoming:
            same_day = visit["date"] == slot["date"]
            if same_day and visit["start_time"] < slot["end_time"] and slot["start_time"] < visit["end_time"]:
                problems.append(f"The patient already has appointment {visit['appointment_id']} at that time.")
        booked = [visit for visit in upcoming if visit["status"] == "booked"]
        if booked and patient["missed_visits"] >= self._MISSED_VISITS_LIMIT:
            problems.append(
                f"With {patient['missed_visits']} missed visits the patient may hold only one booked appointment."
            )
        return problems

    def _refill_from(self, prescription: PrescriptionInfo) -> str:
        wait = max(0, prescription["days_supply"] - self._EARLY_REFILL_DAYS)
        return (date.fromisoformat(prescription["last_filled_on"]) + timedelta(days=wait)).isoformat()

    def _patient_view(self, patient: PatientInfo) -> dict:
        view = copy.deepcopy(dict(patient))
        view["age"] = self._age_on(patient["date_of_birth"], self.current_date)
        return view

    def _slot_view(self, slot: SlotInfo) -> dict:
        view = copy.deepcopy(dict(slot))
        clinician = self.clinicians[slot["clinician_id"]]
        view["clinician_name"] = clinician["full_name"]
        view["specialty"] = clinician["specialty"]
        return view

    def _appointment_view(self, appointment: AppointmentInfo) -> dict:
        view = copy.deepcopy(dict(appointment))
        view["patient_name"] = self.patients[appointment["patient_id"]]["full_name"]
        clinician = self.clinicians[appointment["clinician_id"]]
        view["clinician_name"] = clinician["full_name"]
        view["specialty"] = clinician["specialty"]
        return view

    def _date_filter_problem(self, **values) -> Optional[str]:
        for label, value in values.items():
            if value is not None and self._parse_date(value) is None:
                return f"{label} must be a real calendar date written as YYYY-MM-DD."
        return None

    def _specialty_problem(self, specialty) -> Optional[str]:
        if specialty is not None and specialty not in self._SPECIALTIES:
            return "specialty must be one of: " + ", ".join(self._SPECIALTIES) + "."
        return None

    # ------------------------------------------------------------------ queries

    def search_patients(
        self,
        name: Optional[str] = None,
        date_of_birth: Optional[str] = None,
        phone: Optional[str] = None,
    ) -> dict:
        """Find patients; all given filters must match, without filters every patient is listed.

        Args:
            name: Full name or part of it, upper and lower case alike.
            date_of_birth: Exact date of birth, YYYY-MM-DD.
            phone: Telephone number; only its digits are compared.

        Returns:
            success and data: a list of patient_id, full_name, date_of_birth, age, phone and active.
        """
        for label, value in (("name", name), ("phone", phone)):
            if value is not None and not isinstance(value, str):
                return self._fail(f"{label} must be a string.")
        problem = self._date_filter_problem(date_of_birth=date_of_birth)
        if problem:
            return self._fail(problem)
        found = []
        for patient in self.patients.values():
            if name is not None and not self._name_matches(name, patient["full_name"]):
                continue
            if date_of_birth is not None and patient["date_of_birth"] != date_of_birth:
                continue
            if phone is not None and re.sub(r"[^0-9]", "", phone) != re.sub(r"[^0-9]", "", patient["phone"]):
                continue
            view = self._patient_view(patient)
            keys = ("patient_id", "full_name", "date_of_birth", "age", "phone", "active")
            found.append({key: view[key] for key in keys})
        return {"success": True, "data": found}

    def get_patient(self, patient_id: str) -> dict:
        """Show the whole record of a patient and the appointments that are still booked.

        Args:
            patient_id: Id of the patient, e.g. "P-204".

        Returns:
            success and data: the patient record with age and booked_appointments (ids with date, time, clinician).
        """
        patient = self._find(self.patients, patient_id)
        if patient is None:
            return self._unknown("patient", patient_id)
        view = self._patient_view(patient)
        visits = [
            visit
            for visit in self.appointments.values()
            if visit["patient_id"] == patient_id and visit["status"] == "booked"
        ]
        visits.sort(key=lambda item: (item["date"], item["start_time"]))
        view["booked_appointments"] = [
            {
                "appointment_id": visit["appointment_id"],
                "date": visit["date"],
                "start_time": visit["start_time"],
                "clinician_name": self.clinicians[visit["clinician_id"]]["full_name"],
            }
            for visit in visits
        ]
        return {"success": True, "data": view}

    def search_clinicians(
        self,
        name: Optional[str] = None,
        specialty: Optional[
            Literal["general_practice", "paediatrics", "cardiology", "dermatology", "orthopaedics"]
        ] = None,
        accepting_new_patients: Optional[bool] = None,
    ) -> dict:
        """Find clinicians with their booking rules; all given filters must match.

        Args:
            name: Full name or part of it.
            specialty: "general_practice", "paediatrics", "cardiology", "dermatology" or "orthopaedics".
            accepting_new_patients: true or false.

        Returns:
            success and data: a list of clinicians (age limits, min_lead_days, requires_referral, can_refer,
            can_prescribe, accepting_new_patients).
        """
        if name is not None and not isinstance(name, str):
            return self._fail("name must be a string.")
        problem = self._specialty_problem(specialty)
        if problem:
            return self._fail(problem)
        if accepting_new_patients is not None and not isinstance(accepting_new_patients, bool):
            return self._fail("accepting_new_patients must be true or false.")
        found = [
            copy.deepcopy(clinician)
            for clinician in self.clinicians.values()
            if (name is None or self._name_matches(name, clinician["full_name"]))
            and (specialty is None or clinician["specialty"] == specialty)
            and (accepting_new_patients is None or clinician["accepting_new_patients"] is accepting_new_patients)
        ]
        return {"success": True, "data": found}

    def find_open_slots(
        self,
        clinician_id: Optional[str] = None,
        specialty: Optional[
            Literal["general_practice", "paediatrics", "cardiology", "dermatology", "orthopaedics"]
        ] = None,
        date_from: Optional[str] = None,
        date_to: Optional[str] = None,
        visit_type: Optional[Literal["in_person", "video"]] = None,
        earliest_start: Optional[str] = None,
    ) -> dict:
        """List the open slots from today on, earliest first; all given filters must match.

        The list does not look at any patient: use check_booking_eligibility for that.

        Args:
            clinician_id: Id of a clinician, e.g. "C-03".
            specialty: "general_practice", "paediatrics", "cardiology", "dermatology" or "orthopaedics".
            date_from: First day, YYYY-MM-DD.
            date_to: Last day, YYYY-MM-DD, included.
            visit_type: "in_person" or "video".
            earliest_start: Earliest start time on each day, HH:MM.

        Returns:
            success and data: a list of slots with clinician_name and specialty.
        """
        if clinician_id is not None and self._find(self.clinicians, clinician_id) is None:
            return self._unknown("clinician", clinician_id)
        problem = self._specialty_problem(specialty) or self._date_filter_problem(date_from=date_from, date_to=date_to)
        if problem:
            return self._fail(problem)
        if visit_type is not None and visit_type not in ("in_person", "video"):
            return self._fail('visit_type must be "in_person" or "video".')
        if earliest_start is not None and self._parse_minutes(earliest_start) is None:
            return self._fail("earliest_start must be a time written as HH:MM.")
        found = []
        for slot in self.slots.values():
            if slot["status"] != "open" or slot["date"] < self.current_date:
                continue
            view = self._slot_view(slot)
            if clinician_id is not None and slot["clinician_id"] != clinician_id:
                continue
            if specialty is not None and view["specialty"] != specialty:
                continue
            if date_from is not None and slot["date"] < date_from:
                continue
            if date_to is not None and slot["date"] > date_to:
                continue
            if visit_type is not None and slot["visit_type"] != visit_type:
                continue
            if earliest_start is not None and slot["start_time"] < earliest_start:
                continue
            found.append(view)
        found.sort(key=lambda item: (item["date"], item["start_time"], item["slot_id"]))
        return {"success": True, "data": found}

    def get_clinician_schedule(self, clinician_id: str, day: str) -> dict:
        """Show every slot of a clinician on one day, with the patient where it is booked.

        Args:
            clinician_id: Id of the clinician, e.g. "C-03".
            day: The day, YYYY-MM-DD.

        Returns:
            success and data: slots in order of time, each with appointment_id, patient_id and patient_name (None unless
            booked).
        """
        if self._find(self.clinicians, clinician_id) is None:
            return self._unknown("clinician", clinician_id)
        if self._parse_date(day) is None:
            return self._fail("day must be a real calendar date written as YYYY-MM-DD.")
        holders = {
            visit["slot_id"]: visit
            for visit in self.appointments.values()
            if visit["slot_id"] is not None and visit["status"] != "cancelled"
        }
        schedule = []
        for slot in self.slots.values():
            if slot["clinician_id"] != clinician_id or slot["date"] != day:
                continue
            view = self._slot_view(slot)
            visit = holders.get(slot["slot_id"])
            view["appointment_id"] = visit["appointment_id"] if visit else None
            view["patient_id"] = visit["patient_id"] if visit else None
            view["patient_name"] = self.patients[visit["patient_id"]]["full_name"] if visit else None
            schedule.append(view)
        schedule.sort(key=lambda item: (item["start_time"], item["slot_id"]))
        return {"success": True, "data": schedule}

    def list_appointments(
        self,
        patient_id: Optional[str] = None,
        clinician_id: Optional[str] = None,
        status: Optional[Literal["booked", "arrived", "completed", "cancelled", "no_show"]] = None,
        date_from: Optional[str] = None,
        date_to: Optional[str] = None,
    ) -> dict:
        """List appointments, past and coming, by date and time; all given filters must match.

        Args:
            patient_id: Id of a patient, e.g. "P-204".
            clinician_id: Id of a clinician, e.g. "C-03".
            status: "booked", "arrived", "completed", "cancelled" or "no_show".
            date_from: First day, YYYY-MM-DD.
            date_to: Last day, YYYY-MM-DD, included.

        Returns:
            success and data: a list of appointments with patient_name, clinician_name and specialty.
        """
        if patient_id is not None and self._find(self.patients, patient_id) is None:
            return self._unknown("patient", patient_id)
        if clinician_id is not None and self._find(self.clinicians, clinician_id) is None:
            return self._unknown("clinician", clinician_id)
        if status is not None and status not in self._APPOINTMENT_STATUSES:
            return self._fail("status must be one of: " + ", ".join(self._APPOINTMENT_STATUSES) + ".")
        problem = self._date_filter_problem(date_from=date_from, date_to=date_to)
        if problem:
            return self._fail(problem)
        found = [
            self._appointment_view(visit)
            for visit in self.appointments.values()
            if (patient_id is None or visit["patient_id"] == patient_id)
            and (clinician_id is None or visit["clinician_id"] == clinician_id)
            and (status is None or visit["status"] == status)
            and (date_from is None or visit["date"] >= date_from)
            and (date_to is None or visit["date"] <= date_to)
        ]
        found.sort(key=lambda item: (item["date"], item["start_time"], item["appointment_id"]))
        return {"success": True, "data": found}

    def list_referrals(
        self,
        patient_id: str,
        specialty: Optional[
            Literal["general_practice", "paediatrics", "cardiology", "dermatology", "orthopaedics"]
        ] = None,
    ) -> dict:
        """List the referrals of a patient, newest first.

        Args:
            patient_id: Id of the patient, e.g. "P-204".
            specialty: Only referrals to this specialty.

        Returns:
            success and data: a list of referrals with visits_left and usable_today (not expired, a visit left).
        """
        if self._find(self.patients, patient_id) is None:
            return self._unknown("patient", patient_id)
        problem = self._specialty_problem(specialty)
        if problem:
            return self._fail(problem)
        found = []
        for referral in self.referrals.values():
            if referral["patient_id"] != patient_id:
                continue
            if specialty is not None and referral["specialty"] != specialty:
                continue
            view = copy.deepcopy(dict(referral))
            view["visits_left"] = max(0, referral["visits_allowed"] - referral["visits_used"])
            view["usable_today"] = self._referral_fits(referral, patient_id, referral["specialty"], self.current_date)
            found.append(view)
        found.sort(key=lambda item: (item["issued_on"], item["referral_id"]), reverse=True)
        return {"success": True, "data": found}

    def list_prescriptions(
        self,
        patient_id: str,
        status: Optional[Literal["active", "discontinued"]] = None,
    ) -> dict:
        """List the prescriptions of a patient.

        Args:
            patient_id: Id of the patient, e.g. "P-204".
            status: "active" or "discontinued".

        Returns:
            success and data: a list of prescriptions with clinician_name and refill_possible_from (the first day a
            refill may be given, None without refills).
        """
        if self._find(self.patients, patient_id) is None:
            return self._unknown("patient", patient_id)
        if status is not None and status not in ("active", "discontinued"):
            return self._fail('status must be "active" or "discontinued".')
        found = []
        for prescription in self.prescriptions.values():
            if prescription["patient_id"] != patient_id:
                continue
            if status is not None and prescription["status"] != status:
                continue
            view = copy.deepcopy(dict(prescription))
            view["clinician_name"] = self.clinicians[prescription["clinician_id"]]["full_name"]
            view["refill_possible_from"] = (
                self._refill_from(prescription) if prescription["refills_remaining"] > 0 else None
            )
            found.append(view)
        return {"success": True, "data": found}

    def check_booking_eligibility(self, patient_id: str, slot_id: str) -> dict:
        """Tell whether a patient could book a slot, and if not, every reason; changes nothing.

        Args:
            patient_id: Id of the patient, e.g. "P-204".
            slot_id: Id of the slot, e.g. "S-31".

        Returns:
            success and data: eligible, problems (list of sentences), requires_referral and usable_referral_ids (those
            valid on the day of the slot).
        """
        patient = self._find(self.patients, patient_id)
        if patient is None:
            return self._unknown("patient", patient_id)
        slot = self._find(self.slots, slot_id)
        if slot is None:
            return self._unknown("slot", slot_id)
        clinician = self.clinicians[slot["clinician_id"]]
        usable = [
            referral
            for referral in self.referrals.values()
            if self._referral_fits(referral, patient_id, clinician["specialty"], slot["date"])
        ]
        urgent_first = sorted(usable, key=lambda item: item["urgency"] != "urgent")
        needed = clinician["requires_referral"]
        problems = self._slot_problems(patient, slot, urgent_first[0] if needed and usable else None)
        if needed and not usable:
            problems.append(f"A referral to {clinician['specialty']} that is valid on {slot['date']} is needed.")
        return {
            "success": True,
            "data": {
                "eligible": not problems,
                "problems": problems,
                "requires_referral": needed,
                "usable_referral_ids": [referral["referral_id"] for referral in urgent_first] if needed else [],
            },
        }

    # ------------------------------------------------------------------ changes

    def register_patient(
        self,
        full_name: str,
        date_of_birth: str,
        phone: str,
        email: Optional[str] = None,
        guardian_name: Optional[str] = None,
        allergies: Optional[List[str]] = None,
    ) -> dict:
        """Create the record of a new patient.

        Nobody of the same name and date of birth may be on file; a patient under 16 needs a guardian.

        Args:
            full_name: First and last name.
            date_of_birth: YYYY-MM-DD, not in the future.
            phone: Telephone number of at least 5 digits.
            email: E-mail address.
            guardian_name: Full name of a parent or guardian; required under 16.
            allergies: Active ingredients the patient is allergic to, e.g. ["amoxicillin"].

        Returns:
            success, message and the new patient_id.
        """
        if not self._is_text(full_name):
            return self._fail("full_name must be a non-empty string.")
        born = self._parse_date(date_of_birth)
        if born is None:
            return self._fail("date_of_birth must be a real calendar date written as YYYY-MM-DD.")
        if born > self._today():
            return self._fail("date_of_birth lies in the future.")
        if not self._is_phone(phone):
            return self._fail("phone must be a string with at least 5 digits.")
        if email is not None and not self._is_email(email):
            return self._fail("email must be an address such as name@example.com.")
        if guardian_name is not None and not self._is_text(guardian_name):
            return self._fail("guardian_name must be a non-empty string.")
        if guardian_name is None and self._age_on(date_of_birth, self.current_date) < self._GUARDIAN_AGE:
            return self._fail(f"A patient under {self._GUARDIAN_AGE} needs a guardian_name.")
        listed = [] if allergies is None else allergies
        if not isinstance(listed, list) or not all(self._is_text(item) for item in listed):
            return self._fail("allergies must be a list of non-empty strings.")
        for patient in self.patients.values():
            if patient["full_name"].lower() == full_name.strip().lower() and patient["date_of_birth"] == date_of_birth:
                return self._fail(f"This person is already on file as {patient['patient_id']}.")
        patient_id, self.next_patient_number = self._new_id(self.patients, "P", self.next_patient_number)
        self.patients[patient_id] = {
            "patient_id": patient_id,
            "full_name": full_name.strip(),
            "date_of_birth": date_of_birth,
            "phone": phone.strip(),
            "email": email.strip() if email is not None else None,
            "guardian_name": guardian_name.strip() if guardian_name is not None else None,
            "allergies": sorted({item.strip().lower() for item in listed}),
            "missed_visits": 0,
            "active": True,
        }
        return {"success": True, "message": f"{full_name.strip()} is registered.", "patient_id": patient_id}

    def update_patient(
        self,
        patient_id: str,
        phone: Optional[str] = None,
        email: Optional[str] = None,
        guardian_name: Optional[str] = None,
        add_allergies: Optional[List[str]] = None,
    ) -> dict:
        """Change contact data of a patient or add allergies; fields left out stay as they are.

        Args:
            patient_id: Id of the patient, e.g. "P-204".
            phone: New telephone number of at least 5 digits.
            email: New e-mail address.
            guardian_name: Full name of a parent or guardian.
            add_allergies: Active ingredients to add to the recorded allergies, e.g. ["amoxicillin"].

        Returns:
            success, message and affected_prescription_ids (active prescriptions with an ingredient just added).
        """
        patient = self._find(self.patients, patient_id)
        if patient is None:
            return self._unknown("patient", patient_id)
        if phone is None and email is None and guardian_name is None and not add_allergies:
            return self._fail("Give at least one of phone, email, guardian_name and add_allergies.")
        if phone is not None and not self._is_phone(phone):
            return self._fail("phone must be a string with at least 5 digits.")
        if email is not None and not self._is_email(email):
            return self._fail("email must be an address such as name@example.com.")
        if guardian_name is not None and not self._is_text(guardian_name):
            return self._fail("guardian_name must be a non-empty string.")
        listed = [] if add_allergies is None else add_allergies
        if not isinstance(listed, list) or not all(self._is_text(item) for item in listed):
            return self._fail("add_allergies must be a list of non-empty strings.")
        added = {item.strip().lower() for item in listed}
        if phone is not None:
            patient["phone"] = phone.strip()
        if email is not None:
            patient["email"] = email.strip()
        if guardian_name is not None:
            patient["guardian_name"] = guardian_name.strip()
        patient["allergies"] = sorted(set(patient["allergies"]) | added)
        affected = [
            prescription["prescription_id"]
            for prescription in self.prescriptions.values()
            if prescription["patient_id"] == patient_id
            and prescription["status"] == "active"
            and prescription["active_ingredient"] in added
        ]
        return {
            "success": True,
            "message": f"The record of {patient['full_name']} is updated.",
            "affected_prescription_ids": affected,
        }

    def book_appointment(self, patient_id: str, slot_id: str, reason: str, referral_id: Optional[str] = None) -> dict:
        """Book an open slot for an active patient.

        The slot must respect the clinician's lead time (an urgent referral waives it) and age limits; the patient may
        not have another visit at that time. Patients new to a clinician need one who accepts new patients and come in
        person the first time. Clinicians that require a referral need one to their specialty that is valid on the day
        and has a visit left; the booking uses one visit. Patients with 3 or more missed visits may hold only one booked
        appointment.

        Args:
            patient_id: Id of the patient, e.g. "P-204".
            slot_id: Id of the slot, e.g. "S-31".
            reason: Reason for the visit, free text.
            referral_id: Id of the referral to use, e.g. "RF-12"; leave out where no referral is required.

        Returns:
            success, message and the new appointment_id.
        """
        patient = self._find(self.patients, patient_id)
        if patient is None:
            return self._unknown("patient", patient_id)
        slot = self._find(self.slots, slot_id)
        if slot is None:
            return self._unknown("slot", slot_id)
        if not self._is_text(reason):
            return self._fail("reason must be a non-empty string.")
        referral = None
        if referral_id is not None:
            referral = self._find(self.referrals, referral_id)
            if referral is None:
                return self._unknown("referral", referral_id)
        clinician = self.clinicians[slot["clinician_id"]]
        if clinician["requires_referral"] and referral is None:
            return self._fail(f"{clinician['full_name']} sees patients on referral only; give a referral_id.")
        if not clinician["requires_referral"] and referral is not None:
            return self._fail(f"{clinician['full_name']} needs no referral; leave referral_id out.")
        if referral is not None and not self._referral_fits(referral, patient_id, clinician["specialty"], slot["date"]):
            return self._fail(
                f"Referral {referral_id} does not fit: it must be this patient's, to {clinician['specialty']}, "
                f"valid on {slot['date']} and have a visit left."
            )
        problems = self._slot_problems(patient, slot, referral)
        if problems:
            return self._fail(" ".join(problems))
        appointment_id, self.next_appointment_number = self._new_id(
            self.appointments, "A", self.next_appointment_number
        )
        self.appointments[appointment_id] = {
            "appointment_id": appointment_id,
            "patient_id": patient_id,
            "clinician_id": slot["clinician_id"],
            "slot_id": slot_id,
            "date": slot["date"],
            "start_time": slot["start_time"],
            "end_time": slot["end_time"],
            "visit_type": slot["visit_type"],
            "reason": reason.strip(),
            "referral_id": referral_id,
            "status": "booked",
            "booked_on": self.current_date,
            "cancellation_reason": None,
            "visit_note": None,
        }
        slot["status"] = "booked"
        if referral is not None:
            referral["visits_used"] += 1
        return {
            "success": True,
            "message": f"Booked with {clinician['full_name']} on {slot['date']} at {slot['start_time']}.",
            "appointment_id": appointment_id,
        }

    def reschedule_appointment(self, appointment_id: str, new_slot_id: str) -> dict:
        """Move a booked appointment to another open slot of the same specialty; it keeps its id and referral.

        Allowed until the day before the visit; every booking rule applies to the new slot, and a referral used must
        still be valid on the new day. The old slot becomes open again.

        Args:
            appointment_id: Id of a booked appointment, e.g. "A-77".
            new_slot_id: Id of the new slot, e.g. "S-31".

        Returns:
            success and message.
        """
        visit = self._find(self.appointments, appointment_id)
        if visit is None:
            return self._unknown("appointment", appointment_id)
        slot = self._find(self.slots, new_slot_id)
        if slot is None:
            return self._unknown("slot", new_slot_id)
        if visit["status"] != "booked":
            return self._fail(f"Only booked appointments can be moved; this one is {visit['status']}.")
        if visit["date"] <= self.current_date:
            return self._fail("An appointment can be moved until the day before the visit only.")
        clinician = self.clinicians[slot["clinician_id"]]
        specialty = self.clinicians[visit["clinician_id"]]["specialty"]
        if clinician["specialty"] != specialty:
            return self._fail(f"The new slot is in {clinician['specialty']}; the appointment is in {specialty}.")
        referral = self._find(self.referrals, visit["referral_id"])
        if clinician["requires_referral"] and referral is None:
            return self._fail(f"{clinician['full_name']} sees patients on referral only; book anew with a referral.")
        if referral is not None and slot["date"] > referral["expires_on"]:
            return self._fail(f"Referral {referral['referral_id']} expires on {referral['expires_on']}.")
        problems = self._slot_problems(self.patients[visit["patient_id"]], slot, referral, ignore=appointment_id)
        if problems:
            return self._fail(" ".join(problems))
        old_slot = self._find(self.slots, visit["slot_id"])
        if old_slot is not None:
            old_slot["status"] = "open"
        slot["status"] = "booked"
        visit["clinician_id"] = slot["clinician_id"]
        visit["slot_id"] = new_slot_id
        for key in ("date", "start_time", "end_time", "visit_type"):
            visit[key] = slot[key]
        return {
            "success": True,
            "message": f"Moved to {clinician['full_name']} on {slot['date']} at {slot['start_time']}.",
        }

    def cancel_appointment(
        self, appointment_id: str, reason: str, cancelled_by: Literal["patient", "clinic"] = "patient"
    ) -> dict:
        """Cancel a booked appointment that is not over; its slot becomes open again.

        A patient who cancels on the day of the visit or the day before cancels late: it counts as a missed visit and
        the referral visit is lost. Otherwise (or when the clinic cancels) the referral gets its visit back.

        Args:
            appointment_id: Id of a booked appointment, e.g. "A-77".
            reason: Why it is cancelled, free text.
            cancelled_by: "patient" or "clinic".

        Returns:
            success, message and late (true or false).
        """
        visit = self._find(self.appointments, appointment_id)
        if visit is None:
            return self._unknown("appointment", appointment_id)
        if visit["status"] != "booked":
            return self._fail(f"Only booked appointments can be cancelled; this one is {visit['status']}.")
        if visit["date"] < self.current_date:
            return self._fail(f"The appointment was on {visit['date']}; it cannot be cancelled any more.")
        if not self._is_text(reason):
            return self._fail("reason must be a non-empty string.")
        if cancelled_by not in ("patient", "clinic"):
            return self._fail('cancelled_by must be "patient" or "clinic".')
        late = cancelled_by == "patient" and self._days_ahead(visit["date"]) <= 1
        visit["status"] = "cancelled"
        visit["cancellation_reason"] = reason.strip()
        slot = self._find(self.slots, visit["slot_id"])
        if slot is not None:
            slot["status"] = "open"
        referral = self._find(self.referrals, visit["referral_id"])
        if late:
            self.patients[visit["patient_id"]]["missed_visits"] += 1
        elif referral is not None:
            referral["visits_used"] = max(0, referral["visits_used"] - 1)
        return {"success": True, "message": f"Appointment {appointment_id} is cancelled.", "late": late}

    def check_in_patient(self, appointment_id: str) -> dict:
        """Record that the patient has arrived for an appointment of today.

        Args:
            appointment_id: Id of an appointment booked for today, e.g. "A-77".

        Returns:
            success and message.
        """
        visit = self._find(self.appointments, appointment_id)
        if visit is None:
            return self._unknown("appointment", appointment_id)
        if visit["status"] != "booked":
            return self._fail(f"Only booked appointments can be checked in; this one is {visit['status']}.")
        if visit["date"] != self.current_date:
            return self._fail(f"The appointment is on {visit['date']}, not today.")
        visit["status"] = "arrived"
        name = self.patients[visit["patient_id"]]["full_name"]
        return {"success": True, "message": f"{name} has arrived for the {visit['start_time']} appointment."}

    def complete_appointment(self, appointment_id: str, visit_note: str) -> dict:
        """Close the visit of a patient who has arrived.

        Args:
            appointment_id: Id of an appointment with status "arrived", e.g. "A-77".
            visit_note: Short note on the visit, free text.

        Returns:
            success and message.
        """
        visit = self._find(self.appointments, appointment_id)
        if visit is None:
            return self._unknown("appointment", appointment_id)
        if visit["status"] != "arrived":
            return self._fail(f"Only a visit of an arrived patient can be completed; this one is {visit['status']}.")
        if not self._is_text(visit_note):
            return self._fail("visit_note must be a non-empty string.")
        visit["status"] = "completed"
        visit["visit_note"] = visit_note.strip()
        return {"success": True, "message": f"Appointment {appointment_id} is completed."}

    def mark_no_show(self, appointment_id: str) -> dict:
        """Record that a patient did not come; it counts as a missed visit and uses up the referral visit.

        Args:
            appointment_id: Id of an appointment booked for today or earlier, e.g. "A-77".

        Returns:
            success, message and missed_visits of the patient.
        """
        visit = self._find(self.appointments, appointment_id)
        if visit is None:
            return self._unknown("appointment", appointment_id)
        if visit["status"] != "booked":
            return self._fail(f"Only booked appointments can become a no-show; this one is {visit['status']}.")
        if visit["date"] > self.current_date:
            return self._fail(f"The appointment is on {visit['date']}, which is still to come.")
        visit["status"] = "no_show"
        patient = self.patients[visit["patient_id"]]
        patient["missed_visits"] += 1
        return {
            "success": True,
            "message": f"Appointment {appointment_id} is a no-show.",
            "missed_visits": patient["missed_visits"],
        }

    def add_slot(
        self,
        clinician_id: str,
        day: str,
        start_time: str,
        end_time: str,
        visit_type: Literal["in_person", "video"] = "in_person",
        room: Optional[str] = None,
    ) -> dict:
        """Open a new slot for a clinician.

        It lasts 10 to 120 minutes, may not overlap another slot of the clinician and, in person, needs a room that no
        other slot uses at that time.

        Args:
            clinician_id: Id of the clinician, e.g. "C-03".
            day: YYYY-MM-DD, from today to 90 days ahead.
            start_time: HH:MM.
            end_time: HH:MM, later than start_time.
            visit_type: "in_person" or "video".
            room: Name of the room, e.g. "Room 4"; required in person, left out for video.

        Returns:
            success, message and the new slot_id.
        """
        clinician = self._find(self.clinicians, clinician_id)
        if clinician is None:
            return self._unknown("clinician", clinician_id)
        if self._parse_date(day) is None:
            return self._fail("day must be a real calendar date written as YYYY-MM-DD.")
        if not 0 <= self._days_ahead(day) <= self._BOOKING_HORIZON_DAYS:
            return self._fail(f"day must lie between today and {self._BOOKING_HORIZON_DAYS} days ahead.")
        start = self._parse_minutes(start_time)
        end = self._parse_minutes(end_time)
        if start is None or end is None:
            return self._fail("start_time and end_time must be times written as HH:MM.")
        if not 10 <= end - start <= 120:
            return self._fail("A slot lasts between 10 and 120 minutes.")
        if visit_type not in ("in_person", "video"):
            return self._fail('visit_type must be "in_person" or "video".')
        if visit_type == "in_person" and not self._is_text(room):
            return self._fail("An in-person slot needs a room.")
        if visit_type == "video" and room is not None:
            return self._fail("A video slot has no room.")
        for slot in self.slots.values():
            if slot["date"] != day or slot["end_time"] <= start_time or end_time <= slot["start_time"]:
                continue
            if slot["clinician_id"] == clinician_id:
                return self._fail(f"It overlaps slot {slot['slot_id']} of {clinician['full_name']}.")
            if room is not None and slot["room"] is not None and slot["room"].lower() == room.strip().lower():
                return self._fail(f"{slot['room']} is used by slot {slot['slot_id']} at that time.")
        slot_id, self.next_slot_number = self._new_id(self.slots, "S", self.next_slot_number)
        self.slots[slot_id] = {
            "slot_id": slot_id,
            "clinician_id": clinician_id,
            "date": day,
            "start_time": start_time,
            "end_time": end_time,
            "visit_type": visit_type,
            "room": room.strip() if room is not None else None,
            "status": "open",
            "block_reason": None,
        }
        return {"success": True, "message": f"A slot on {day} at {start_time} is open.", "slot_id": slot_id}

    def block_slot(self, slot_id: str, reason: str) -> dict:
        """Take an open slot out of use; a booked slot must be freed first.

        Args:
            slot_id: Id of an open slot, e.g. "S-31".
            reason: Why it is blocked, free text.

        Returns:
            success and message.
        """
        slot = self._find(self.slots, slot_id)
        if slot is None:
            return self._unknown("slot", slot_id)
        if slot["status"] != "open":
            return self._fail(f"Only open slots can be blocked; slot {slot_id} is {slot['status']}.")
        if not self._is_text(reason):
            return self._fail("reason must be a non-empty string.")
        slot["status"] = "blocked"
        slot["block_reason"] = reason.strip()
        return {"success": True, "message": f"Slot {slot_id} is blocked."}

    def create_referral(
        self,
        patient_id: str,
        referring_clinician_id: str,
        specialty: Literal["general_practice", "paediatrics", "cardiology", "dermatology", "orthopaedics"],
        reason: str,
        urgency: Literal["routine", "urgent"] = "routine",
        visits_allowed: int = 1,
    ) -> dict:
        """Record a referral to a specialty whose clinicians see patients on referral only.

        The referring clinician must be one who can refer and has seen the patient in the last 90 days; the patient may
        not have another usable referral to that specialty. A routine referral is valid for 90 days, an urgent one for
        30 days.

        Args:
            patient_id: Id of an active patient, e.g. "P-204".
            referring_clinician_id: Id of the clinician who refers, e.g. "C-01".
            specialty: The specialty referred to, e.g. "cardiology".
            reason: Medical reason, free text.
            urgency: "routine" or "urgent".
            visits_allowed: Number of visits, 1 to 6.

        Returns:
            success, message, the new referral_id and expires_on.
        """
        patient = self._find(self.patients, patient_id)
        if patient is None:
            return self._unknown("patient", patient_id)
        clinician = self._find(self.clinicians, referring_clinician_id)
        if clinician is None:
            return self._unknown("clinician", referring_clinician_id)
        if specialty not in self._SPECIALTIES:
            return self._fail("specialty must be one of: " + ", ".join(self._SPECIALTIES) + ".")
        if not self._is_text(reason):
            return self._fail("reason must be a non-empty string.")
        if urgency not in ("routine", "urgent"):
            return self._fail('urgency must be "routine" or "urgent".')
        if not self._is_int(visits_allowed) or not 1 <= visits_allowed <= 6:
            return self._fail("visits_allowed must be an integer from 1 to 6.")
        if not patient["active"]:
            return self._fail(f"{patient['full_name']} is no longer an active patient.")
        if not clinician["can_refer"]:
            return self._fail(f"{clinician['full_name']} cannot refer patients.")
        if not any(item["requires_referral"] and item["specialty"] == specialty for item in self.clinicians.values()):
            return self._fail(f"No clinician in {specialty} requires a referral.")
        if not self._seen_within(patient_id, referring_clinician_id, self._SEEN_FOR_REFERRAL_DAYS):
            return self._fail(
                f"{clinician['full_name']} has not seen the patient in the last {self._SEEN_FOR_REFERRAL_DAYS} days."
            )
        for other in self.referrals.values():
            if self._referral_fits(other, patient_id, specialty, self.current_date):
                return self._fail(f"The patient already has the usable referral {other['referral_id']}.")
        days = 30 if urgency == "urgent" else 90
        expires_on = (self._today() + timedelta(days=days)).isoformat()
        referral_id, self.next_referral_number = self._new_id(self.referrals, "RF", self.next_referral_number)
        self.referrals[referral_id] = {
            "referral_id": referral_id,
            "patient_id": patient_id,
            "referring_clinician_id": referring_clinician_id,
            "specialty": specialty,
            "reason": reason.strip(),
            "urgency": urgency,
            "issued_on": self.current_date,
            "expires_on": expires_on,
            "visits_allowed": visits_allowed,
            "visits_used": 0,
        }
        return {
            "success": True,
            "message": f"{patient['full_name']} is referred to {specialty} until {expires_on}.",
            "referral_id": referral_id,
            "expires_on": expires_on,
        }

    def issue_prescription(
        self,
        patient_id: str,
        clinician_id: str,
        medication: str,
        active_ingredient: str,
        dosage: str,
        days_supply: int,
        refills: int = 0,
        controlled: bool = False,
    ) -> dict:
        """Record a new prescription, filled for the first time today and valid for refills for 180 days.

        The clinician must be allowed to prescribe and have seen the patient in the last 30 days (today's arrival
        counts). The ingredient may not be among the patient's allergies nor in another active prescription of the
        patient. Controlled medicines: no refills and at most 30 days of supply.

        Args:
            patient_id: Id of an active patient, e.g. "P-204".
            clinician_id: Id of the prescribing clinician, e.g. "C-01".
            medication: Name, strength and form, e.g. "Lisoprin 10 mg tablets".
            active_ingredient: Name of the ingredient, e.g. "lisinopril".
            dosage: Instruction for the patient, e.g. "1 tablet every morning".
            days_supply: Days one fill lasts, 1 to 90.
            refills: Number of refills, 0 to 5.
            controlled: Whether it is a controlled medicine.

        Returns:
            success, message and the new prescription_id.
        """
        patient = self._find(self.patients, patient_id)
        if patient is None:
            return self._unknown("patient", patient_id)
        clinician = self._find(self.clinicians, clinician_id)
        if clinician is None:
            return self._unknown("clinician", clinician_id)
        for label, value in (
            ("medication", medication),
            ("active_ingredient", active_ingredient),
            ("dosage", dosage),
        ):
            if not self._is_text(value):
                return self._fail(f"{label} must be a non-empty string.")
        if not self._is_int(days_supply) or not 1 <= days_supply <= 90:
            return self._fail("days_supply must be an integer from 1 to 90.")
        if not self._is_int(refills) or not 0 <= refills <= 5:
            return self._fail("refills must be an integer from 0 to 5.")
        if not isinstance(controlled, bool):
            return self._fail("controlled must be true or false.")
        if not patient["active"]:
            return self._fail(f"{patient['full_name']} is no longer an active patient.")
        if not clinician["can_prescribe"]:
            return self._fail(f"{clinician['full_name']} cannot prescribe.")
        if controlled and (refills > 0 or days_supply > 30):
            return self._fail("A controlled medicine has no refills and at most 30 days of supply.")
        if not self._seen_within(patient_id, clinician_id, self._SEEN_FOR_PRESCRIPTION_DAYS):
            return self._fail(
                f"{clinician['full_name']} has not seen the patient in the last "
                f"{self._SEEN_FOR_PRESCRIPTION_DAYS} days."
            )
        ingredient = active_ingredient.strip().lower()
        if ingredient in patient["allergies"]:
            return self._fail(f"{patient['full_name']} is allergic to {ingredient}.")
        for other in self.prescriptions.values():
            if (
                other["patient_id"] == patient_id
                and other["status"] == "active"
                and other["active_ingredient"] == ingredient
            ):
                return self._fail(f"Prescription {other['prescription_id']} with {ingredient} is already active.")
        prescription_id, self.next_prescription_number = self._new_id(
            self.prescriptions, "RX", self.next_prescription_number
        )
        self.prescriptions[prescription_id] = {
            "prescription_id": prescription_id,
            "patient_id": patient_id,
            "clinician_id": clinician_id,
            "medication": medication.strip(),
            "active_ingredient": ingredient,
            "dosage": dosage.strip(),
            "days_supply": days_supply,
            "refills_remaining": refills,
            "controlled": controlled,
            "issued_on": self.current_date,
            "last_filled_on": self.current_date,
            "expires_on": (self._today() + timedelta(days=180)).isoformat(),
            "status": "active",
            "discontinued_reason": None,
        }
        return {
            "success": True,
            "message": f"{medication.strip()} is prescribed for {patient['full_name']}.",
            "prescription_id": prescription_id,
        }

    def renew_prescription(self, prescription_id: str) -> dict:
        """Give one refill of an active prescription today.

        A refill must remain, the prescription may not have expired, the ingredient may not be among the patient's
        allergies, and the last fill must run out in 7 days or less.

        Args:
            prescription_id: Id of the prescription, e.g. "RX-50".

        Returns:
            success, message and refills_remaining.
        """
        prescription = self._find(self.prescriptions, prescription_id)
        if prescription is None:
            return self._unknown("prescription", prescription_id)
        if prescription["status"] != "active":
            return self._fail(f"Prescription {prescription_id} is {prescription['status']}.")
        if prescription["controlled"] or prescription["refills_remaining"] < 1:
            return self._fail(f"Prescription {prescription_id} has no refills left; a visit is needed.")
        if prescription["expires_on"] < self.current_date:
            return self._fail(f"Prescription {prescription_id} expired on {prescription['expires_on']}.")
        patient = self.patients[prescription["patient_id"]]
        if prescription["active_ingredient"] in patient["allergies"]:
            return self._fail(f"{patient['full_name']} is allergic to {prescription['active_ingredient']}.")
        possible_from = self._refill_from(prescription)
        if self.current_date < possible_from:
            return self._fail(f"The next refill is possible from {possible_from} on.")
        prescription["refills_remaining"] -= 1
        prescription["last_filled_on"] = self.current_date
        return {
            "success": True,
            "message": f"{prescription['medication']} is refilled.",
            "refills_remaining": prescription["refills_remaining"],
        }

    def discontinue_prescription(self, prescription_id: str, reason: str) -> dict:
        """Stop an active prescription for good.

        Args:
            prescription_id: Id of an active prescription, e.g. "RX-50".
            reason: Why it is stopped, free text.

        Returns:
            success and message.
        """
        prescription = self._find(self.prescriptions, prescription_id)
        if prescription is None:
            return self._unknown("prescription", prescription_id)
        if prescription["status"] != "active":
            return self._fail(f"Prescription {prescription_id} is already {prescription['status']}.")
        if not self._is_text(reason):
            return self._fail("reason must be a non-empty string.")
        prescription["status"] = "discontinued"
        prescription["discontinued_reason"] = reason.strip()
        return {"success": True, "message": f"{prescription['medication']} is discontinued."}
