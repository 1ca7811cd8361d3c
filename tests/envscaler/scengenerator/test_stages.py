"""The stages one by one: how answers are read, what running shows to be wrong, how that is told to the model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from envscaler.audit import DEFAULT, ScenarioCard
from envscaler.audit.card import CheckCard, Flag, Survivor
from envscaler.audit.journal import CardJournal
from envscaler.audit.stage import Stage
from envscaler.audit.thresholds import Effort
from envscaler.scenarios import OracleCall, load
from envscaler.scengenerator.check import (
    Change,
    RepairAnswer,
    checklist_prompt,
    function_problem,
    function_prompt,
    repair_prompt,
    repaired,
    trial_problems,
)
from envscaler.scengenerator.gate import gate_problems, hopeless
from envscaler.scengenerator.lab import Executed, Lab
from envscaler.scengenerator.records import Begun, CheckText, Problem
from envscaler.scengenerator.solve import guessed_ids, listed, oracle_prompt, problems_of, task_prompt
from envscaler.scengenerator.state import begin, state_prompt
from envscaler.scengenerator.wanted import Wanted, wanted
from envscaler.synthesis.answers import Unusable
from envscaler.synthesis.ask import ROLES, Answer, Request
from envscaler.synthesis.desk import Desk, Limits
from envscaler.synthesis.journal import Memory
from envscaler.synthesis.shape import Size
from harness.errors import EnvironmentFault
from harness.program import Verdict
from harness.trusted import TrustedRunner
from tests.envscaler.scengenerator.author.record import CORPUS
from tests.envscaler.scengenerator.author.scenes import choir_records, repair_records

SIZE = Size(3, 8)
WORDS = "please change this and that for me today " * 5


@pytest.fixture(scope="module")
def choir() -> Wanted:
    return next(wanted(load(CORPUS).select(["choir_office"]), 1))


@pytest.fixture(scope="module")
def begun(choir: Wanted) -> Begun:
    return Begun(task_id=choir.task_id, env_id="choir_office", config=choir_records(1))


def play(item: Wanted, records: dict[str, Any], *calls: tuple[str, dict[str, Any]]) -> Executed:
    """Calls on our own environment, in this process."""
    stage = Stage(TrustedRunner(), item.record, item.scenario(records))
    made = [OracleCall(name, arguments) for name, arguments in calls]
    results, states = stage.states(made)
    return Executed(stage.initial, tuple(made), tuple(results), tuple(states))


# What is wanted


def test_scenarios_of_an_environment_differ_in_day_names_and_tools() -> None:
    items = list(wanted(load(CORPUS).select(["choir_office"]), 4))
    assert [item.task_id for item in items] == [f"choir_office-task_{number}" for number in (1, 2, 3, 4)]
    assert len({item.clock for item in items}) == 4
    assert len({item.letters for item in items}) == 4
    changes = {"enter_singer", "withdraw_entry", "set_solo", "set_voice"}
    assert set().union(*(item.focus for item in items)) == changes
    assert all(len(item.focus) == 2 for item in items)


def test_numbers_go_on_after_those_that_the_corpus_has() -> None:
    corpus = load("bundled").select(["library_circulation"])
    known = len(corpus.scenarios)
    items = list(wanted(corpus, 2))
    assert [item.task_id for item in items] == [f"library_circulation-task_{known + n}" for n in (1, 2)]
    assert items[0].shape.examples[0] == next(iter(corpus.scenarios.values())).init_config.decode()


# Reading


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        pytest.param({"analysis": "", "task": "Do it."}, "the task has 2 words; 30 to 300", id="too-short"),
        pytest.param({"analysis": "", "task": WORDS + "with set_voice"}, "names the tool set_voice", id="tool-name"),
        pytest.param({"analysis": ""}, "missing required field `task`", id="no-task"),
    ],
)
def test_a_task_that_cannot_be_used_goes_back(
    choir: Wanted, begun: Begun, answer: dict[str, Any], problem: str
) -> None:
    with pytest.raises(Unusable, match=problem):
        task_prompt(choir, begun).parse(json.dumps(answer))
    assert task_prompt(choir, begun).parse(json.dumps({"analysis": "", "task": WORDS})).task == WORDS


@pytest.mark.parametrize(
    ("calls", "problem"),
    [
        pytest.param([], "it has 0 calls", id="none"),
        pytest.param(
            [{"name": "set_voices", "arguments": {}}], "call 1: there is no tool 'set_voices'; did", id="tool"
        ),
        pytest.param([{"name": "set_voice", "arguments": {"voice": "alto"}}], "requires singer_id", id="lacks"),
        pytest.param(
            [{"name": "list_concerts", "arguments": {"year": 2026}}],
            "list_concerts has no parameter year",
            id="surplus",
        ),
    ],
)
def test_calls_that_no_tool_takes_go_back(choir: Wanted, begun: Begun, calls: list[Any], problem: str) -> None:
    parse = oracle_prompt(choir, begun, "task").parse
    with pytest.raises(Unusable, match=problem):
        parse(json.dumps({"calls": calls, "impossible": ""}))
    assert parse('{"calls": [], "impossible": "No such tool."}').impossible == "No such tool."


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        pytest.param([], "it has 0 items", id="none"),
        pytest.param(["Is a?", "Is b?", "Is c?"], "it has 3 items; 1 to 2", id="too-many"),
        pytest.param(["Is a?", "is A?"], "an item twice", id="twice"),
        pytest.param(["Is a?", ""], "length >= 1", id="empty"),
    ],
)
def test_a_checklist_that_cannot_be_used_goes_back(choir: Wanted, begun: Begun, items: list[str], problem: str) -> None:
    with pytest.raises(Unusable, match=problem):
        checklist_prompt(choir, begun, "task", 2).parse(json.dumps({"analysis": "", "items": items}))


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        pytest.param("def check_func(final_state):\n    return True", None, id="right"),
        pytest.param("def check_func(final_state, more=1):\n    return True", None, id="defaults-are-fine"),
        pytest.param("def check(final_state):\n    return True", "it does not define check_func", id="other-name"),
        pytest.param("def check_func():\n    return True", "check_func takes one argument", id="no-argument"),
        pytest.param("def check_func(initial, final):\n    return True", "check_func takes one argument", id="two"),
        pytest.param("def check_func(final_state):\nreturn True", "the check does not parse", id="no-python"),
    ],
)
def test_a_check_is_a_function_of_the_final_state(source: str, problem: str | None) -> None:
    said = function_problem(source)
    assert said is None if problem is None else (said or "").startswith(problem)


def test_a_repair_replaces_adds_and_drops() -> None:
    checks = [CheckText("a", "A"), CheckText("b", "B"), CheckText("c", "C")]
    answer = RepairAnswer(analysis="", checks=(Change(2, "b2", "B2"), Change(4, "d", "D")), drop=(1,))
    assert repaired(checks, answer) == (CheckText("b2", "B2"), CheckText("c", "C"), CheckText("d", "D"))


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        pytest.param({}, "it changes nothing", id="nothing"),
        pytest.param({"drop": [1]}, "it leaves 0 checks", id="drops-all"),
        pytest.param(
            {"checks": [{"number": 9, "item": "x", "function": "y"}]}, "no check number 9; 1 to 3", id="number"
        ),
        pytest.param(
            {"checks": [{"number": 1, "item": "x", "function": "y"}]}, "check 1: it does not define", id="code"
        ),
    ],
)
def test_a_repair_that_cannot_be_used_goes_back(
    choir: Wanted, begun: Begun, answer: dict[str, Any], problem: str
) -> None:
    played = play(choir, begun.config)
    prompt = repair_prompt(choir, begun, "task", played, [CheckText("a", "A")], [], 1, 3)
    with pytest.raises(Unusable, match=problem):
        prompt.parse(json.dumps({"analysis": "", **answer}))
    assert prompt.parse('{"analysis": "", "solution": "It forgets the alto."}').solution == "It forgets the alto."


# What running shows


def problems(item: Wanted, task: str, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    played = play(item, choir_records(1), *calls)
    return [f"{problem.kind}: {problem.text}" for problem in problems_of(played, task, item.documentation, 2)]


def test_calls_that_hold_have_no_problem(choir: Wanted) -> None:
    calls = (
        ("find_singers", {"name": ""}),
        ("set_voice", {"singer_id": "S-2", "voice": "tenor"}),
        ("set_solo", {"entry_id": "E-2", "solo": True}),
    )
    assert problems(choir, "Let Dario sing.", *calls) == []


def test_each_way_in_which_calls_fail_is_told_with_its_evidence(choir: Wanted) -> None:
    look = ("find_singers", {"name": ""})
    removed = ("withdraw_entry", {"entry_id": "E-1"})
    assert problems(choir, "", look, removed) == [
        'refused: call 2, withdraw_entry({"entry_id": "E-1"}), was refused: '
        '{"success": false, "error": "The entry has a solo; give it to somebody else first."}',
        "changes nothing: the calls leave the records as they were",
    ]
    assert problems(choir, "", look, ("withdraw_entry", {"entry_id": "E-2"})) == [
        "too few changes: 1 of the calls change the records; the task should take at least 2"
    ]
    calls = [("set_solo", {"entry_id": entry, "solo": True}) for entry in ("E-2", "E-3")]
    assert problems(choir, "Give a solo to E-2 and to S-44.", *calls) == [
        "id from nowhere: call 2, set_solo, uses 'E-3', which neither the task nor an earlier result says; "
        "look it up first",
        "unknown id: the task names S-44, which is in no record, neither before nor after",
    ]


def test_an_id_is_known_when_it_was_said_as_a_word_of_its_own(choir: Wanted) -> None:
    played = play(choir, choir_records(1), ("set_solo", {"entry_id": "E-3", "solo": True}))
    for heard in ("", "E-33 and CE-3", "e-3"):
        assert [*guessed_ids(played, heard)] == [(0, "E-3")]
    for heard in ("(E-3)", '{"entry_id":"E-3"}', r'"The entries:\nE-3"'):
        assert [*guessed_ids(played, heard)] == []


def test_an_id_is_known_after_the_call_that_returned_it_and_not_before(choir: Wanted) -> None:
    look, use = ("find_singers", {"name": ""}), ("set_solo", {"entry_id": "E-3", "solo": True})
    assert [*guessed_ids(play(choir, choir_records(1), look, use), "")] == []
    assert [*guessed_ids(play(choir, choir_records(1), use, look), "")] == [(0, "E-3")]


def test_verdicts_at_the_start_and_in_the_end_are_told_apart() -> None:
    checks = [CheckText(name, "") for name in "abcd"]
    yes, no, broken = Verdict(True), Verdict(False), Verdict(False, "raised KeyError: 'x'")
    found = trial_problems(checks, [no, yes, no, no], [yes, yes, no, broken])
    assert [(problem.kind, problem.text) for problem in found] == [
        ("true at start", "check 2 (b) is true before the work: doing nothing passes it"),
        ("false after the oracle", "check 3 (c) is false after the solution"),
        ("error", "check 4 (d) gives no verdict after the solution: it raised KeyError: 'x'"),
    ]


def card(**values: Any) -> ScenarioCard:
    return ScenarioCard(
        **{"env_id": "e", "task_id": "t", "of": "0", "oracle": 1.0, "checks": [CheckCard(item="a")], **values}
    )


def test_the_gate_lets_through_what_holds_and_tells_what_was_seen() -> None:
    good: dict[str, Any] = {"made": {"missing_call": 10}, "killed": {"missing_call": 9}}
    assert gate_problems(card(**good), DEFAULT) == []
    weak = card(
        made={"dropped_record": 4}, killed={"dropped_record": 3}, survivors=[Survivor("dropped_record", "E-3 gone")]
    )
    assert [problem.text for problem in gate_problems(weak, DEFAULT)] == [
        "the checks notice 3 of 4 wrong records, and must notice 90%",
        "wrong, and every check is true: E-3 gone (dropped_record)",
    ]
    strict = CheckCard(item="a", flags=[Flag("generated_ids", "E-6 called E-43"), Flag("accident", "passes")])
    assert gate_problems(card(**good, false_fails=1, checks=[strict]), DEFAULT) == [
        Problem("false fails", "check 1 (a): generated_ids: E-6 called E-43")
    ]
    spare = card(**good, unneeded=["without set_solo()"])
    assert gate_problems(spare, DEFAULT) == [Problem("unneeded write", "every check is true without set_solo()")]


def test_no_check_can_help_where_the_environment_fails() -> None:
    assert hopeless(card(fault="timeout: too slow"))
    assert hopeless(card(deterministic=False))
    unstable = CheckCard(item="a", flags=[Flag("unstable", "says different things of one state")])
    assert not hopeless(card(deterministic=False, checks=[unstable]))
    assert not hopeless(card(made={"missing_call": 1}))


# Revisions


def desk(answer: Callable[[Request], str]) -> tuple[Desk, list[Request]]:
    asked: list[Request] = []

    async def generate(request: Request) -> Answer:
        asked.append(request)
        return Answer(text=answer(request))

    return Desk(generate, dict.fromkeys(ROLES, "m"), Memory(), Limits(server_wait=0.0)), asked


def lab() -> Lab:
    runner = TrustedRunner()
    return Lab(runner, runner, CardJournal(None), Effort(), DEFAULT, 1)


def test_a_state_goes_back_with_the_offending_id_and_not_for_ever() -> None:
    item = next(wanted(load(CORPUS).select(["repair_cafe"]), 1))
    records = repair_records(1)
    records["repairs"]["J-2"]["volunteer_id"] = "V-9"
    made, asked = desk(lambda request: json.dumps(records))
    found = asyncio.run(begin(made, lab(), item, SIZE, revisions=2))
    assert (found.status, found.reason, found.revisions) == ("rejected", "state: dangling reference", 2)
    assert found.problems == ("repairs[\"J-2\"].volunteer_id names 'V-9', which is in no table",)
    assert len(asked) == 3
    assert f"- {found.problems[0]}\n" in asked[1].turns[1].content
    assert '"volunteer_id": "V-9"' in asked[1].turns[1].content


def test_a_state_from_which_the_environment_does_not_start_goes_back(choir: Wanted) -> None:
    items = next(wanted(load(CORPUS).select(["repair_cafe"]), 1))
    broken = items.record.source.replace('init_config.get("next_number", 1)', 'int(init_config["next_number"]) + 1')
    from dataclasses import replace

    item = replace(items, record=replace(items.record, source=broken))
    made, _ = desk(lambda request: json.dumps(repair_records(1) | {"next_number": "six"}))
    found = asyncio.run(begin(made, lab(), item, SIZE, revisions=0))
    assert found.reason == "state: does not start"


def test_a_program_that_was_late_once_is_started_again() -> None:
    class Late(TrustedRunner):
        faults: ClassVar[list[str]] = ["timeout"]

        def open(self, program: Any) -> Any:
            if self.faults:
                raise EnvironmentFault(self.faults.pop(), "too slow")
            return super().open(program)

    item = next(wanted(load(CORPUS).select(["repair_cafe"]), 1))
    runner = Late()
    made = Lab(runner, runner, CardJournal(None), Effort(), DEFAULT, 1)
    scenario = item.scenario(repair_records(1))
    assert asyncio.run(made.start(item.record, scenario)).initial == scenario.init_config
    for faults in (["timeout", "timeout"], ["killed"]):
        runner.faults = faults
        with pytest.raises(EnvironmentFault, match="too slow"):
            asyncio.run(made.start(item.record, scenario))


def test_sizes_are_asked_for_and_held() -> None:
    item = next(wanted(load(CORPUS).select(["repair_cafe"]), 1))
    assert "Tables have 4 to 9 rows." in state_prompt(item, Size(4, 9)).user
    made, _ = desk(lambda request: json.dumps(repair_records(1)))
    found = asyncio.run(begin(made, lab(), item, Size(4, 9), revisions=0))
    assert found.problems == ("volunteers has 3 rows; at least 4 are needed",)


def test_questions_show_what_their_reader_may_know(choir: Wanted, begun: Begun) -> None:
    task = "Give the solo away."
    played = play(choir, begun.config, ("set_solo", {"entry_id": "E-1", "solo": False}))
    oracle = oracle_prompt(choir, begun, task, (listed(played), [Problem("x", "it is wrong")]), 1)
    assert "def " not in oracle.user
    assert '1. set_solo({"entry_id": "E-1", "solo": false}) -> {"success": true' in oracle.user
    assert "- it is wrong\n" in oracle.user
    function = function_prompt(choir, begun, task, ["Is a?", "Is b?"], 1)
    assert "set_solo({" not in function.user
    assert function.user.endswith("Write the check of item 2: Is b?")
    repair = repair_prompt(choir, begun, task, played, [CheckText("Is a?", "def f(): ...")], [Problem("x", "no")], 1, 9)
    assert 'entries["E-1"].solo: true -> false' in repair.user
    assert "1. Is a?\n```python\ndef f(): ...\n```" in repair.user
