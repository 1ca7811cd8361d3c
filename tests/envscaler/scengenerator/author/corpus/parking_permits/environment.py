from typing import Literal, TypedDict


class ResidentInfo(TypedDict):
    resident_id: str  # "R-1"
    name: str
    zone: str  # "north" or "south"


class VehicleInfo(TypedDict):
    vehicle_id: str  # "V-1"
    plate: str
    resident_id: str


class PermitInfo(TypedDict):
    permit_id: str  # "PM-1"
    vehicle_id: str
    zone: str
    status: str  # "active" or "cancelled"
    reason: str | None  # why it was cancelled


class ParkingPermits:
    """Parking permits of a town: residents, their vehicles, and permits for zones."""

    def __init__(self, init_config: dict):
        self.residents: dict[str, ResidentInfo] = init_config.get("residents", {})
        self.vehicles: dict[str, VehicleInfo] = init_config.get("vehicles", {})
        self.permits: dict[str, PermitInfo] = init_config.get("permits", {})
        self.next_number: int = init_config.get("next_number", 1)

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    def _active(self, vehicle_id: str) -> list[PermitInfo]:
        return [p for p in self.permits.values() if p["vehicle_id"] == vehicle_id and p["status"] == "active"]

    def find_residents(self, name: str) -> dict:
        """Find residents by a part of their name.

        Args:
            name: Part of the name.
        """
        found = [dict(r) for r in self.residents.values() if str(name).lower() in r["name"].lower()]
        return {"success": True, "data": found}

    def list_vehicles(self, resident_id: str) -> dict:
        """List a resident's vehicles with their permits.

        Args:
            resident_id: Id of the resident.
        """
        if resident_id not in self.residents:
            return self._fail("There is no such resident.")
        own = [v for v in self.vehicles.values() if v["resident_id"] == resident_id]
        data = [
            {**v, "permits": [dict(p) for p in self.permits.values() if p["vehicle_id"] == v["vehicle_id"]]}
            for v in own
        ]
        return {"success": True, "data": data}

    def issue_permit(self, vehicle_id: str, zone: Literal["north", "south"]) -> dict:
        """Issue a permit. Refused if the vehicle has an active one, or its owner lives in another zone.

        Args:
            vehicle_id: Id of the vehicle.
            zone: The zone.
        """
        if vehicle_id not in self.vehicles:
            return self._fail("There is no such vehicle.")
        if self._active(vehicle_id):
            return self._fail("The vehicle has an active permit.")
        if self.residents[self.vehicles[vehicle_id]["resident_id"]]["zone"] != zone:
            return self._fail("The owner lives in another zone.")
        permit_id = f"PM-{self.next_number}"
        self.next_number += 1
        self.permits[permit_id] = {
            "permit_id": permit_id,
            "vehicle_id": vehicle_id,
            "zone": zone,
            "status": "active",
            "reason": None,
        }
        return {"success": True, "message": "Issued.", "permit_id": permit_id}

    def cancel_permit(self, permit_id: str, reason: str) -> dict:
        """Cancel an active permit.

        Args:
            permit_id: Id of the permit.
            reason: Why.
        """
        if permit_id not in self.permits:
            return self._fail("There is no such permit.")
        if not isinstance(reason, str) or not reason.strip():
            return self._fail("A reason is needed.")
        if self.permits[permit_id]["status"] != "active":
            return self._fail("The permit is cancelled already.")
        self.permits[permit_id]["status"] = "cancelled"
        self.permits[permit_id]["reason"] = reason
        return {"success": True, "message": "Cancelled."}

    def move_permit(self, permit_id: str, vehicle_id: str) -> dict:
        """Move an active permit to another vehicle of the same resident that has none.

        Args:
            permit_id: Id of the permit.
            vehicle_id: Id of the vehicle that gets it.
        """
        if permit_id not in self.permits or vehicle_id not in self.vehicles:
            return self._fail("There is no such permit or vehicle.")
        permit = self.permits[permit_id]
        if permit["status"] != "active":
            return self._fail("The permit is cancelled.")
        if self._active(vehicle_id):
            return self._fail("The vehicle has an active permit.")
        if self.vehicles[permit["vehicle_id"]]["resident_id"] != self.vehicles[vehicle_id]["resident_id"]:
            return self._fail("The vehicle belongs to somebody else.")
        permit["vehicle_id"] = vehicle_id
        return {"success": True, "message": "Moved."}
