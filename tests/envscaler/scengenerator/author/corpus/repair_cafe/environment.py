from typing import TypedDict


class VolunteerInfo(TypedDict):
    volunteer_id: str  # "V-1"
    name: str
    skills: list[str]  # of "electrics", "sewing", "wood"


class RepairInfo(TypedDict):
    repair_id: str  # "J-1"
    visitor: str
    item: str
    skill: str  # "electrics", "sewing" or "wood"
    volunteer_id: str | None
    status: str  # "waiting", "assigned" or "closed"
    outcome: str | None  # "fixed" or "given up"


class RepairCafe:
    """A repair cafe: volunteers with skills, and the repairs that visitors bring."""

    def __init__(self, init_config: dict):
        self.volunteers: dict[str, VolunteerInfo] = init_config.get("volunteers", {})
        self.repairs: dict[str, RepairInfo] = init_config.get("repairs", {})
        self.next_number: int = init_config.get("next_number", 1)

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    def list_volunteers(self, skill: str | None = None) -> dict:
        """List volunteers.

        Args:
            skill: Only those who have it.
        """
        found = [v for v in self.volunteers.values() if skill is None or skill in v["skills"]]
        return {"success": True, "data": [{**v, "skills": list(v["skills"])} for v in found]}

    def find_repairs(self, visitor: str) -> dict:
        """Find repairs by a part of the visitor's name.

        Args:
            visitor: Part of the name.
        """
        found = [r for r in self.repairs.values() if str(visitor).lower() in r["visitor"].lower()]
        return {"success": True, "data": [dict(r) for r in found]}

    def take_in(self, visitor: str, item: str, skill: str) -> dict:
        """Take in an item to be repaired.

        Args:
            visitor: Name of the visitor.
            item: What is to be repaired.
            skill: "electrics", "sewing" or "wood".
        """
        if skill not in ("electrics", "sewing", "wood"):
            return self._fail("There is no such skill.")
        if not all(isinstance(text, str) and text.strip() for text in (visitor, item)):
            return self._fail("Visitor and item are needed.")
        repair_id = f"J-{self.next_number}"
        self.next_number += 1
        self.repairs[repair_id] = {
            "repair_id": repair_id,
            "visitor": visitor,
            "item": item,
            "skill": skill,
            "volunteer_id": None,
            "status": "waiting",
            "outcome": None,
        }
        return {"success": True, "message": "Taken in.", "repair_id": repair_id}

    def assign_volunteer(self, repair_id: str, volunteer_id: str) -> dict:
        """Assign a volunteer who has the skill to a repair that is not closed.

        Args:
            repair_id: Id of the repair.
            volunteer_id: Id of the volunteer.
        """
        if repair_id not in self.repairs or volunteer_id not in self.volunteers:
            return self._fail("There is no such repair or volunteer.")
        repair = self.repairs[repair_id]
        if repair["status"] == "closed":
            return self._fail("The repair is closed.")
        if repair["skill"] not in self.volunteers[volunteer_id]["skills"]:
            return self._fail("The volunteer lacks the skill.")
        repair["volunteer_id"] = volunteer_id
        repair["status"] = "assigned"
        return {"success": True, "message": "Assigned."}

    def close_repair(self, repair_id: str, fixed: bool) -> dict:
        """Close an assigned repair.

        Args:
            repair_id: Id of the repair.
            fixed: Whether the item works again.
        """
        if repair_id not in self.repairs:
            return self._fail("There is no such repair.")
        repair = self.repairs[repair_id]
        if repair["status"] != "assigned":
            return self._fail("Nobody is assigned.")
        if not isinstance(fixed, bool):
            return self._fail("fixed is true or false.")
        repair["status"] = "closed"
        repair["outcome"] = "fixed" if fixed else "given up"
        return {"success": True, "message": "Closed."}
