"""The model: answers every question of a run from the scenes, with the slips that real models make.

Where it slips is said here, by environment and number. What it slips in until told it mends only if the question holds
the evidence.
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any

from envscaler.synthesis.ask import Request
from harness.recordings import Answer
from tests.envscaler.scengenerator.author.scenes import PLACES, Records, Scene, checklist, guarded

REFUSAL = "I'm sorry, but I can't help with checking the work of other people."

SLIPS: dict[str, str] = {
    "parking_permits-task_2": "state names a vehicle that is not there, until told",
    "parking_permits-task_3": "oracle is refused",
    "parking_permits-task_5": "task is cut off, once",
    "parking_permits-task_6": "checks are weak, until told",
    "plant_nursery-task_2": "checks contradict each other",
    "plant_nursery-task_4": "task is impossible, once",
    "plant_nursery-task_6": "oracle is wrong, until told",
    "plant_nursery-task_7": "task repeats",
    "choir_office-task_2": "check is true at the start",
    "choir_office-task_4": "check raises, until told",
    "choir_office-task_6": "check knows the new id, until told",
    "choir_office-task_7": "state names a singer that is not there",
    "repair_cafe-task_2": "checks are weak",
    "repair_cafe-task_4": "checklist is refused",
    "repair_cafe-task_5": "state has an unknown key, until told",
    "repair_cafe-task_6": "oracle uses an id from nowhere, until told",
    "repair_cafe-task_7": "oracle is refused, until told",
}


class Author:
    """Answers as `desk.Generate`. Texts, tokens and prices are made up; the same question gets the same answer."""

    async def __call__(self, request: Request) -> Answer:
        """The answer."""
        text, stop = self.answer(request), "stop"
        if isinstance(text, tuple):
            text, stop = text
        tokens_in = sum(len(turn.content) for turn in request.turns) // 4
        return Answer(
            text=text,
            stop="length" if stop == "length" else "stop",
            tokens_in=tokens_in,
            tokens_out=len(text) // 4,
            usd=round(tokens_in * 2e-6 + len(text) // 4 * 8e-6, 6),
            seconds=round(0.4 + len(text) / 400, 3),
        )

    def answer(self, request: Request) -> Any:
        """The text, or the text and why it stopped."""
        env_id, task_id, part = request.item.split("/")
        slip = SLIPS.get(task_id, "")
        number = int(task_id.rpartition("_")[2])
        if slip == "task repeats":
            number = 5
        made, think = PLACES[env_id]
        user = request.turns[1].content
        if request.stage == "state":
            return f"```json\n{json.dumps(self._state(made(number), slip, user))}\n```"
        records = _records(user)
        scene = think(records, number)
        match request.stage:
            case "task":
                return self._task(request, scene, slip, part)
            case "oracle":
                return self._oracle(scene, slip, part, user)
            case "checklist":
                if slip == "checklist is refused":
                    return REFUSAL
                items = [item for item, _ in self._checks(scene, records, slip)]
                return json.dumps({"analysis": "The errands, and what stays.", "items": items})
            case "check":
                _, function = self._checks(scene, records, slip)[int(part.split()[1]) - 1]
                return f"Here it is.\n```python\n{function}```"
        return json.dumps(self._repair(scene, records, slip, user))

    # Stage by stage

    @staticmethod
    def _state(records: Records, slip: str, user: str) -> Records:
        records = copy.deepcopy(records)
        if slip == "state names a vehicle that is not there, until told" and "names 'V-77'" not in user:
            records["permits"]["PM-3"]["vehicle_id"] = "V-77"
        if slip == "state names a singer that is not there":
            records["entries"]["E-3"]["singer_id"] = "S-31"
        if slip == "state has an unknown key, until told" and "has the key opening_hours" not in user:
            records["opening_hours"] = "10 to 4"
        return records

    @staticmethod
    def _task(request: Request, scene: Scene, slip: str, part: str) -> Any:
        task = scene.task
        if slip == "task is impossible, once" and part == "task":
            task = f"{task} Then give all plants the names that they have in the catalogue of last year, please."
        said = json.dumps({"analysis": "Look up, then change.", "task": task})
        if slip == "task is cut off, once" and request.attempt == 0:
            return said[:120], "length"
        return said

    @staticmethod
    def _oracle(scene: Scene, slip: str, part: str, user: str) -> str:
        calls = [{"name": name, "arguments": dict(arguments)} for name, arguments in scene.calls]
        if "catalogue of last year" in user:
            return json.dumps({"calls": [], "impossible": "No tool changes the name of a plant."})
        if slip == "oracle is refused" or (slip == "oracle is refused, until told" and "was refused: " not in user):
            # The first two changes in the wrong order, or one of a thing that is closed to it.
            wrong = {"move_permit": {"vehicle_id": "V-3"}, "close_repair": {"repair_id": "J-5"}}
            place = next(index for index, call in enumerate(calls) if call["name"] in wrong)
            calls[place]["arguments"] |= wrong[calls[place]["name"]]
        if slip == "oracle is wrong, until told" and "more plants than the delivery had" not in user:
            calls[1]["arguments"]["quantity"] += 10
        if slip == "oracle uses an id from nowhere, until told" and "uses 'J-5', which neither" not in user:
            calls = [call for call in calls if call["name"] != "find_repairs"]
        return f"<think>First look, then change.</think>{json.dumps({'calls': calls, 'impossible': ''})}"

    @staticmethod
    def _checks(scene: Scene, records: Records, slip: str) -> list[tuple[str, str]]:
        """The first checks."""
        found = checklist(scene) if slip.startswith("checks are weak") else guarded(scene, records)
        item, function = found[0]
        if slip == "checks contradict each other":
            table, key = next(iter(scene.changed))
            marked = f"{{**initial_state[{table!r}][{key!r}], 'mark': 1}}"
            body = f"    return final_state.get({table!r}, {{}}).get({key!r}) == {marked}"
            found.append((f"Is {key} as it was, with a mark?", f"def check_func(final_state):\n{body}\n"))
        if slip == "check is true at the start":
            body = "    return len(final_state.get('concerts', {})) == len(initial_state['concerts'])"
            found.append(("Are there as many concerts as before?", f"def check_func(final_state):\n{body}\n"))
        if slip == "check raises, until told":
            found[0] = item, function.replace("return (", "return row['missing'] is None and (")
        if slip == "check knows the new id, until told":
            body = "    return final_state.get('entries', {}).get('E-6', {}).get('solo') is True"
            found.insert(0, ("Does E-6 have a solo?", f"def check_func(final_state):\n{body}\n"))
        return found

    def _repair(self, scene: Scene, records: Records, slip: str, user: str) -> dict[str, Any]:
        first, right = self._checks(scene, records, slip), guarded(scene, records)
        said: dict[str, Any] = {"analysis": "I looked at what went wrong.", "checks": [], "drop": [], "solution": ""}
        if slip == "oracle is wrong, until told" and "is false after the solution" in user:
            said["solution"] = "It takes in more plants than the delivery had."
        elif slip == "checks are weak, until told" and "wrong, and every check is true: " in user:
            number = len(right)
            said["checks"] = [{"number": number, "item": right[-1][0], "function": right[-1][1]}]
        elif slip == "check raises, until told" and "it raised KeyError: 'missing'" in user:
            said["checks"] = [{"number": 1, "item": right[0][0], "function": right[0][1]}]
        elif slip == "check knows the new id, until told" and "generated_ids" in user:
            said["drop"] = [1]
        else:
            # Other words for the same mistake.
            item, function = first[-1]
            said["checks"] = [{"number": len(first), "item": f"{item} (looked at again)", "function": function}]
        return said


def _records(user: str) -> Records:
    """The records in a question."""
    found = re.search(r"^## Records(?: before the work)?\n(\{.*\})$", user, re.MULTILINE)
    assert found is not None, user[:200]
    records: Records = json.loads(found[1])
    return records
