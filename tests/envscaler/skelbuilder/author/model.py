"""The model: answers every question of a run from the domains, with the slips that real models make.

What it reads is the question alone, as a model would; where it slips is said here, by item and attempt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Coroutine
from typing import Any

from msgspec.structs import replace

from envscaler.skelbuilder.evidence import Count, Documentation, TestCall, View
from envscaler.skelbuilder.scripted import ScriptedTester
from envscaler.synthesis.ask import Request
from harness.environment import ToolSpec
from harness.recordings import Answer
from harness.state import State
from tests.envscaler.skelbuilder.author.domains import DOMAINS, Domain
from tests.envscaler.skelbuilder.author.writing import (
    CLASS,
    config,
    operations,
    operations_answer,
    state_answer,
    words,
)

CUT = "length"
REFUSAL = "I'm sorry, but I can't help with designing a system of this kind."

_SUBJECTS: dict[str, tuple[str, ...]] = {
    "Allotment garden office": ("plot", "allotment", "lease"),
    "Marina berth office": ("berth", "mooring", "rig"),
    "Neighbourhood tool library": ("hammer", "ladder"),
    "Boarding kennel reception": ("kennel", "dog"),
    "Theatre costume hire": ("suit", "gown", "costume"),
    "Parcel locker depot": ("locker", "parcel"),
    "Music school practice rooms": ("room", "violin"),
    "Observatory instrument desk": ("session", "instrument"),
    "Ski rental counter": ("skis", "rental"),
    "Community kitchen booking": ("hygiene", "cold bay"),
    "Bicycle courier dispatch": ("bike", "tour"),
    "Pawn shop ledger": ("pledge",),
}
_ONLY_ASKS = (
    "What is the difference",
    "Which of our lockers",
    "Write a cheerful",
    "Please compute",
    "Remind me",
    "Sort my",
)


def _domain(text: str) -> Domain:
    for domain in DOMAINS:
        if any(word in text.lower() for word in _SUBJECTS[domain.title]):
            return domain
    raise LookupError(text)


def _said(value: Any, wrap: str = "{}") -> str:
    return wrap.replace("{}", json.dumps(value, ensure_ascii=False), 1)


class Author:
    """Answers requests; the same request always alike."""

    async def __call__(self, request: Request) -> Answer:
        stop = "stop"
        text = getattr(self, f"_{request.stage}")(request)
        if isinstance(text, tuple):
            text, stop = text
        tokens_in = sum(len(turn.content) for turn in request.turns) // 4
        seconds = round(0.4 + len(text) / 400, 3)
        usd = round(tokens_in * 2e-6 + len(text) // 4 * 8e-6, 6)
        answer = Answer(text=text, tokens_in=tokens_in, tokens_out=len(text) // 4, usd=usd, seconds=seconds)
        return answer if stop == "stop" else replace(answer, stop="length")

    # Mining

    def _judge(self, request: Request) -> Any:
        task = request.turns[1].content
        asks = any(start in task for start in _ONLY_ASKS)
        lockers = "Which of our lockers" in task
        said = {
            "analysis": "It looks things up." if asks else "It looks records up and changes them.",
            "domain_specific": not asks or lockers,
            "stateful": not asks or lockers,
            "reads": True,
            "writes": not asks,
        }
        if "dragon suit" in task and request.attempt == 0:
            # Cut in the middle of a word, without the server saying so.
            return json.dumps(said)[:70]
        if "forced locker" in task:
            return _said(said, "<think>Is a locker a record? {It is}.</think>\nHere is my verdict:\n```json\n{}\n```")
        if "violin" in task and request.attempt == 0:
            return json.dumps({**said, "writes": "maybe"})
        return _said(said)

    def _topic(self, request: Request) -> Any:
        task = request.turns[1].content
        domain = _domain(task)
        said = {
            "analysis": f"Such requests belong to: {domain.title}.",
            "title": domain.title,
            "introduction": domain.introduction,
            "usefulness": domain.usefulness,
            "modelability": domain.modelability,
        }
        if "broken cleat" in task:
            # The same place under another name: too alike to be built twice.
            said["title"] = "Berth office of a marina"
            said["introduction"] = domain.introduction.replace(
                "A marina's berth office records", "A berth office keeps"
            )
        if "general way" in task:
            said["modelability"] = 3
        if "Fit Priya" in task and request.attempt == 0:
            return json.dumps({**said, "usefulness": 11})
        if "Roy Grant" in task and request.attempt == 0:
            return REFUSAL
        if "Take a gold ring" in task and request.attempt == 1:
            return _said(said, "Of course, since it is made up: {}")
        return _said(said)

    # Planning

    def _plan(self, request: Request) -> Any:
        domain = self._of(request)
        if domain.fate == "refused":
            return REFUSAL
        if request.item.endswith("/state"):
            said = state_answer(domain)
            if domain.title == "Marina berth office":
                return self._lists(said)
            if domain.title == "Boarding kennel reception" and request.attempt == 0:
                return json.dumps(said)[:400], CUT
            return _said(said, "```json\n{}\n```")
        planned = operations_answer(domain)
        if domain.title == "Parcel locker depot" and request.attempt == 0:
            return _said({"operations": planned["operations"][:9]})
        if domain.title == "Marina berth office":
            return "\n".join(f"- `{o['name']}` ({o['kind']}): {o['description']}" for o in planned["operations"])
        return _said(planned)

    @staticmethod
    def _lists(said: dict[str, Any]) -> str:
        lines = []
        for entity in said["entities"]:
            lines.append(f"### Entity: {entity['name']} - {entity['description']}")
            lines += [f"- {a['name']}: {a['type']}" for a in entity["attributes"]]
        return "\n".join([*lines, "", "## Rules", *(f"- {rule}" for rule in said["rules"])])

    @staticmethod
    def _of(request: Request) -> Domain:
        text = next(turn.content for turn in request.turns if turn.role == "user")
        title = re.match(r"# (.+)", text)
        assert title is not None, text[:80]
        return next(domain for domain in DOMAINS if domain.title == title[1])

    # Programming

    def _program(self, request: Request) -> Any:
        domain = self._of(request)
        part = request.item.partition("/")[2]
        if domain.fate == "truncated":
            return f"```python\n{words(domain, CLASS)[:900]}", CUT
        if part == "class":
            source = words(domain, CLASS)
            if domain.title == "Theatre costume hire" and request.attempt == 0:
                source = source.replace("class TheatreCostumeHire:", "class CostumeHire:")
            if domain.title == "Allotment garden office":
                source = source.replace("List, Optional, TypedDict", "List, Optional, Set, TypedDict").replace(
                    "    active: bool\n", "    active: bool\n    tags: Set[str]\n"
                )
            return f"Here is the state.\n```python\n{source}```"
        if part.startswith("operations"):
            names = re.findall(r"\w+", request.turns[1].content.rpartition("Write now: ")[2])
            parts = [operations(domain)[name][2] for name in names]
            source = "\n\n".join(self._slipped(domain, name, text) for name, text in zip(names, parts, strict=True))
            if domain.title == "Music school practice rooms" and request.attempt == 0 and part == "operations 2":
                return f"```python\n{source[:600]}\n```"
            return f"```python\n{source}```"
        return self._repaired(domain)

    @staticmethod
    def _slipped(domain: Domain, name: str, text: str) -> str:
        """What is wrong with an operation at first."""
        if domain.fate == "gate" or domain.title == "Boarding kennel reception":
            # Reads the clock, although the conventions forbid it.
            text = text.replace('"start_date": self.current_date', '"start_date": date.today().isoformat()')
        if domain.fate == "inspection":
            # Rules that are not enforced, records that do not follow, an exception.
            text = text.replace('        return self._fail("Something is still owed.")\n', "        pass\n")
            text = text.replace('    asset["status"] = "taken"\n', "")
            text = text.replace('    if row is None:\n        return self._fail("There is no such guest.")\n', "")
            text = text.replace('    if row is None:\n        return self._fail("There is no such rental.")\n', "")
        if domain.title == "Neighbourhood tool library" and name == "record_payment":
            text = text.replace("amount: float", "amount")
        return text

    @staticmethod
    def _repaired(domain: Domain) -> str:
        opening = words(domain, "open_@case@")
        source = operations(domain)[opening][2]
        if domain.fate == "gate":
            source = source.replace('"start_date": self.current_date', '"start_date": date.today().isoformat()')
        if domain.title == "Allotment garden office":
            source = words(domain, CLASS).partition("class AllotmentGardenOffice")[0]
        if domain.title == "Neighbourhood tool library":
            source = operations(domain)["record_payment"][2]
        return f"I changed what was asked.\n```python\n{source}```"

    def _config(self, request: Request) -> Any:
        domain = self._of(request)
        records = config(domain)
        events = records[f"{domain.event}s"]
        if domain.fate == "config" or (domain.title == "Parcel locker depot" and request.attempt == 0):
            # Names a case that is not there.
            events["E-2"][f"{domain.case}_id"] = "C-9"
        if domain.title == "Theatre costume hire" and request.attempt == 0:
            records["hire_log"] = []
        return _said(records, "```json\n{}\n```")

    # Inspection

    def _inspect(self, request: Request) -> Any:
        env_id, _, what = request.item.partition("/")
        number = int(what.split()[1])
        if request.role == "tester":
            return self._test(request, env_id, number)
        return self._check(request, env_id, number)

    def _test(self, request: Request, env_id: str, number: int) -> Any:
        call = self._tester_call(request.turns[1].content, env_id, number)
        said = {"purpose": call.purpose, "tool": call.tool, "arguments": call.arguments, "case": call.case}
        if number == 17 and request.attempt == 0:
            return _said({**said, "tool": "drop_everything"})
        if number == 23 and request.attempt == 0:
            return _said({**said, "arguments": json.dumps(call.arguments)})
        if number == 41 and env_id == "marina_berth_office":
            return "I would rather not call anything in this round."
        return _said(said)

    def _tester_call(self, text: str, env_id: str, number: int) -> TestCall:
        tools = self._tools(text)
        state = text.partition("## Records now\n")[2].partition("\n\n## Tests so far")[0]
        counted = re.findall(r"^(\w+): (\d+) positive, (\d+) negative$", text, re.MULTILINE)
        counts = {name: Count(positive=int(good), negative=int(bad)) for name, good, bad in counted}
        documentation = Documentation(env_id, "", "", (), tuple(tools))
        view = View(documentation, number, 0, State(state.encode()), counts, [*counts], ())
        # A fresh tester for each call: what it answers depends on the question alone.
        return _at_once(ScriptedTester().call(view))

    @staticmethod
    def _tools(text: str) -> list[ToolSpec]:
        part = text.partition("## Tools\n")[2].partition("\n\n## Records now")[0]
        found = []
        name = ""
        for line in part.splitlines():
            if line.startswith("  parameters: "):
                found.append(ToolSpec(name, "", json.loads(line.removeprefix("  parameters: "))))
                name = ""
            elif not name and (head := re.match(r"(\w+): ", line)):
                name = head[1]
        return found

    def _check(self, request: Request, env_id: str, number: int) -> Any:
        text = request.turns[1].content
        call = re.search(r"^## The tool (\w+)$", text, re.MULTILINE)
        assert call is not None
        raised = "\n## It raised an exception\n" in text
        verdict, reason = "pass", "It does what it says, and the records follow."
        if raised:
            verdict, reason = "fail", "It raised an exception instead of refusing."
        elif env_id == "ski_rental_counter":
            came = text.partition("## It returned\n")[2].partition("\n")[0]
            if call[1] == "open_rental" and '"success": true' in came:
                verdict, reason = "fail", "The ski set is handed out and still counts as free."
        elif number == 60:
            verdict, reason = "warning", "The outcome is right; the message could name the record."
        said = {"reason": reason, "verdict": verdict}
        if number == 5 and request.attempt == 0:
            return "The tool is INCORRECTLY documented, but its behaviour is CORRECT: pass."
        if number == 6 and request.attempt == 0:
            return _said({**said, "verdict": "passed"})
        if number == 33 and env_id == "theatre_costume_hire":
            return "verdict: pass, I think"
        return _said(said)


def _at_once(coroutine: Coroutine[Any, Any, TestCall]) -> TestCall:
    """The result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        call: TestCall = done.value
        return call
    raise AssertionError("the scripted tester waits for nothing")
