"""The two agents of an inspection as models: prompts and how their answers are read."""

from __future__ import annotations

import json
from dataclasses import dataclass

from msgspec import Struct

from envscaler.skelbuilder.evidence import Evidence, Judgement, Ruling, TestCall, View
from envscaler.synthesis import shown
from envscaler.synthesis.answers import Unusable, answer_of
from envscaler.synthesis.ask import Prompt
from envscaler.synthesis.desk import Desk

TESTER = """\
You test the tools of a program through its documentation. You see its tools, its current records and how often each \
tool was tested; you never see its code. Choose one tool and one call that is worth a test:
- a positive call should succeed, with ids and values that fit the records as they are now;
- a negative call should be refused: an id that does not exist, a value out of bounds, a rule that forbids it in the \
present state. Break one thing at a time.
Keep the balance: prefer tools with few tests, about as many positive calls as negative ones, and different reasons \
each time.
Answer with one JSON object and nothing else:
{"purpose": "one sentence", "tool": "…", "arguments": {…}, "case": "positive"}"""

CHECKER = """\
You review one call of a tool. You see the program's documentation and rules, the code of the tool, the arguments, \
what came back, and how the records changed. Decide whether the tool did what its documentation and the rules promise:
- pass: what came back is right, the records changed exactly as they should, and not at all where the call was \
refused or only asked;
- warning: the outcome is right, but something small is not (an unclear message, a missing detail);
- fail: a rule was not enforced, a wrong or missing change, a wrong answer, a refusal without cause, a crash.
A refusal that the documentation calls for is a pass. Judge the tool, not whether the call was sensible.
Answer with one JSON object and nothing else:
{"reason": "one or two sentences", "verdict": "pass"}"""


class TesterAnswer(Struct):
    """The tester's answer, as asked for."""

    purpose: str
    tool: str
    arguments: dict[str, object]
    case: str


class CheckerAnswer(Struct):
    """The checker's answer."""

    reason: str
    verdict: Judgement


@dataclass(frozen=True, slots=True)
class ModelTester:
    """A tester that is a model."""

    desk: Desk
    temperature: float = 0.5

    async def call(self, view: View) -> TestCall:
        """Ask for a call that can be made."""
        return await self.desk.ask(tester_prompt(view, self.temperature))


@dataclass(frozen=True, slots=True)
class ModelChecker:
    """A checker that is a model."""

    desk: Desk
    temperature: float = 0.0

    async def rule(self, evidence: Evidence) -> Ruling:
        """Ask for a ruling."""
        return await self.desk.ask(checker_prompt(evidence, self.temperature))


def tester_prompt(view: View, temperature: float) -> Prompt[TestCall]:
    """Ask for the next call."""
    documentation = view.documentation
    tools = {tool.name: tool for tool in documentation.tools}
    table = "\n".join(
        f"{name}: {count.positive} positive, {count.negative} negative"
        for name, count in view.counts.items()
        if name in view.allowed
    )
    last = "\n".join(f"{shown.call(call.tool, call.arguments)} -> {said[:300]}" for call, said in view.last)
    user = (
        shown.documentation(documentation.title, documentation.introduction, documentation.rules)
        + "\n## Tools\n"
        + "\n".join(shown.tool(tools[name]) for name in view.allowed)
        + f"\n\n## Records now\n{shown.records(view.state)}"
        + f"\n\n## Tests so far (this is number {view.number} of {view.rounds})\n{table}"
        + (f"\n\n## Latest calls\n{last}" if last else "")
    )

    def parse(text: str) -> TestCall:
        said = answer_of(text, TesterAnswer)
        if said.case not in ("positive", "negative"):
            raise Unusable("case is neither 'positive' nor 'negative'", "wrong")
        call = TestCall(
            tool=said.tool,
            arguments=dict(said.arguments),
            case="positive" if said.case == "positive" else "negative",
            purpose=said.purpose,
        )
        problem = shown.call_problem(call.tool, call.arguments, tools)
        if problem is None and call.tool not in view.allowed:
            problem = f"{call.tool} was tested enough; choose one of {', '.join(view.allowed)}"
        if problem:
            raise Unusable(problem, "wrong")
        return call

    return Prompt(
        stage="inspect",
        item=f"{documentation.env_id}/test {view.number}",
        role="tester",
        system=TESTER,
        user=user,
        parse=parse,
        temperature=temperature,
    )


def checker_prompt(evidence: Evidence, temperature: float) -> Prompt[Ruling]:
    """Ask for a ruling."""
    documentation, call = evidence.documentation, evidence.call
    described = next((tool.description for tool in documentation.tools if tool.name == call.tool), "")
    came = "raised an exception" if evidence.raised else "returned"
    user = (
        shown.documentation(documentation.title, documentation.introduction, documentation.rules)
        + f"\n## The tool {call.tool}\n{described}\n```python\n{evidence.source}\n```\n"
        + f"\n## The call, meant as a {call.case} one\n{json.dumps(call.arguments, ensure_ascii=False)}\n"
        + f"\n## It {came}\n{evidence.observation[:8000]}\n"
        + f"\n## Changes in the records\n{shown.differences(evidence.before, evidence.after)}\n"
        + f"\n## Records before\n{evidence.before.data.decode('utf-8', 'replace')[: shown.MOST_STATE]}"
    )

    def parse(text: str) -> Ruling:
        said = answer_of(text, CheckerAnswer)
        return Ruling(verdict=said.verdict, reason=said.reason)

    return Prompt(
        stage="inspect",
        item=f"{documentation.env_id}/check {evidence.number}",
        role="checker",
        system=CHECKER,
        user=user,
        parse=parse,
        form=CheckerAnswer,
        temperature=temperature,
    )
