from typing import Literal, TypedDict


class SingerInfo(TypedDict):
    singer_id: str  # "S-1"
    name: str
    voice: str  # "soprano", "alto", "tenor" or "bass"


class ConcertInfo(TypedDict):
    concert_id: str  # "C-1"
    title: str
    date: str  # YYYY-MM-DD
    places: int  # singers at most
    status: str  # "planned" or "cancelled"


class EntryInfo(TypedDict):
    entry_id: str  # "E-1"
    singer_id: str
    concert_id: str
    solo: bool


class ChoirOffice:
    """The office of a choir: singers, concerts, and who sings where."""

    def __init__(self, init_config: dict):
        self.singers: dict[str, SingerInfo] = init_config.get("singers", {})
        self.concerts: dict[str, ConcertInfo] = init_config.get("concerts", {})
        self.entries: dict[str, EntryInfo] = init_config.get("entries", {})
        self.next_number: int = init_config.get("next_number", 1)

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    def find_singers(self, name: str) -> dict:
        """Find singers by a part of their name, with their entries.

        Args:
            name: Part of the name.
        """
        found = [s for s in self.singers.values() if str(name).lower() in s["name"].lower()]
        data = [
            {**s, "entries": [dict(e) for e in self.entries.values() if e["singer_id"] == s["singer_id"]]}
            for s in found
        ]
        return {"success": True, "data": data}

    def list_concerts(self) -> dict:
        """List all concerts."""
        return {"success": True, "data": [dict(c) for c in self.concerts.values()]}

    def enter_singer(self, singer_id: str, concert_id: str, solo: bool = False) -> dict:
        """Enter a singer for a planned concert. Refused if there is no place, or the singer is entered already.

        Args:
            singer_id: Id of the singer.
            concert_id: Id of the concert.
            solo: Whether the singer has a solo.
        """
        if singer_id not in self.singers or concert_id not in self.concerts:
            return self._fail("There is no such singer or concert.")
        concert = self.concerts[concert_id]
        taken = [e for e in self.entries.values() if e["concert_id"] == concert_id]
        if concert["status"] != "planned":
            return self._fail("The concert is cancelled.")
        if len(taken) >= concert["places"]:
            return self._fail("There is no place left.")
        if any(e["singer_id"] == singer_id for e in taken):
            return self._fail("The singer is entered already.")
        entry_id = f"E-{self.next_number}"
        self.next_number += 1
        self.entries[entry_id] = {
            "entry_id": entry_id,
            "singer_id": singer_id,
            "concert_id": concert_id,
            "solo": bool(solo),
        }
        return {"success": True, "message": "Entered.", "entry_id": entry_id}

    def withdraw_entry(self, entry_id: str) -> dict:
        """Remove an entry. Refused if it has a solo.

        Args:
            entry_id: Id of the entry.
        """
        if entry_id not in self.entries:
            return self._fail("There is no such entry.")
        if self.entries[entry_id]["solo"]:
            return self._fail("The entry has a solo; give it to somebody else first.")
        del self.entries[entry_id]
        return {"success": True, "message": "Removed."}

    def set_solo(self, entry_id: str, solo: bool) -> dict:
        """Give a solo to an entry, or take it.

        Args:
            entry_id: Id of the entry.
            solo: Whether it has a solo.
        """
        if entry_id not in self.entries:
            return self._fail("There is no such entry.")
        if not isinstance(solo, bool):
            return self._fail("solo is true or false.")
        self.entries[entry_id]["solo"] = solo
        return {"success": True, "message": "Set."}

    def set_voice(self, singer_id: str, voice: Literal["soprano", "alto", "tenor", "bass"]) -> dict:
        """Change the voice of a singer.

        Args:
            singer_id: Id of the singer.
            voice: The voice.
        """
        if singer_id not in self.singers:
            return self._fail("There is no such singer.")
        if voice not in ("soprano", "alto", "tenor", "bass"):
            return self._fail("There is no such voice.")
        self.singers[singer_id]["voice"] = voice
        return {"success": True, "message": "Changed."}
