"""What `corpus validate` finds: each kind of mistake in a corpus that has no other, with its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import Corpus, OracleCall, Scenario, write_unpacked
from envscaler.scenarios.validate import Finding, validate
from harness.isolation import IsolatedRunner
from harness.program import Runner
from harness.state import State
from harness.trusted import TrustedRunner
from tests.envscaler.playground import CANCELLED, SHOP, cancel, check, corpus, door, refused, shop


@pytest.fixture(scope="module", params=["trusted", "isolated"])
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    if request.param == "trusted":
        yield TrustedRunner()
        return
    with IsolatedRunner() as isolated:
        yield isolated


def found(runner: Runner, scenario: Scenario | None = None, environment: EnvironmentRecord | None = None) -> list[str]:
    """The findings as `severity: place: problem`."""
    findings = validate(corpus(scenario or cancel(), environment=environment), runner)
    return [f"{finding.severity}: {finding}" for finding in findings]


def oracle(*calls: tuple[str, dict[str, object]]) -> Scenario:
    """The scenario with these calls as its solution."""
    return cancel(oracle=tuple(OracleCall(name, arguments) for name, arguments in calls))


def test_a_sound_corpus_has_no_findings(runner: Runner) -> None:
    assert found(runner) == []


@pytest.mark.parametrize(
    ("environment", "finding"),
    [
        pytest.param(
            shop(source="class Shop(:"),
            "error: shop.source: environment source does not parse: invalid syntax",
            id="no-python",
        ),
        pytest.param(
            shop(class_name="Shopp"),
            "error: shop.source: environment source defines no class Shopp",
            id="no-such-class",
        ),
        pytest.param(
            shop(source="class Shop:\n    def _a(self): pass"),
            "error: shop.source: class Shop has no public method",
            id="no-tools",
        ),
        pytest.param(
            shop(released={"tools": [{"function": {"name": "get_ordr"}}]}),
            "error: shop.tools[0].function.name: no method 'get_ordr'; did you mean 'get_order'?",
            id="a-tool-that-is-no-method",
        ),
        pytest.param(
            shop(source="class Shop:\n    async def get_order(self): pass"),
            "error: shop.source: tool 'get_order' is an async def, and calls are not awaited; write it as a plain def",
            id="only-an-async-tool",
        ),
        pytest.param(
            shop(
                source=SHOP.replace("def set_status", "async def set_status"),
                released={"tools": [{"function": {"name": "set_status"}}]},
            ),
            "error: shop.source: tool 'set_status' is an async def, and calls are not awaited; write it as a plain def",
            id="an-async-tool-among-others-that-was-released",
        ),
    ],
)
def test_a_broken_environment_is_found_and_its_scenarios_are_not_run(
    environment: EnvironmentRecord, finding: str
) -> None:
    (only,) = found(TrustedRunner(), cancel("no python"), environment)
    assert only.startswith(finding)


@pytest.mark.parametrize(
    ("scenario", "finding"),
    [
        pytest.param(
            cancel(CANCELLED, "def check_func(:"),
            "error: shop-task_1.checks[1].function: does not parse (invalid syntax",
            id="check-that-is-no-python",
        ),
        pytest.param(
            cancel("x = " + "-" * 100_000 + "1"),
            "error: shop-task_1.checks[0].function: does not parse (nested too deeply)",
            id="check-nested-too-deeply",
        ),
        pytest.param(
            cancel(CANCELLED, "def chek_func(s): pass"),
            "error: shop-task_1.checks[1].function: does not define check_func(final_state)",
            id="check-of-another-name",
        ),
        pytest.param(
            cancel(CANCELLED, ""),
            "error: shop-task_1.checks[1].function: does not define check_func(final_state)",
            id="empty-check",
        ),
        pytest.param(
            oracle(("set_statsu", {})),
            "error: shop-task_1.oracle[0].name: no tool 'set_statsu'; did you mean 'set_status'?",
            id="oracle-of-an-unknown-tool",
        ),
        pytest.param(
            oracle(("get_order", {"order_id": "O-1"}), ("set_status", {"order_id": "O-1"})),
            "error: shop-task_1.oracle[1].arguments: lacks 'status', which set_status requires",
            id="oracle-that-lacks-an-argument",
        ),
        pytest.param(
            oracle(("get_order", {"order_id": "O-1", "order": 1})),
            "error: shop-task_1.oracle[0].arguments: get_order has no parameter 'order'; did you mean 'order_id'?",
            id="oracle-with-another-argument",
        ),
        pytest.param(
            oracle(("get_order", {"order_id": "O-1"}), ("crash", {})),
            "error: shop-task_1.oracle[1]: crash: Error: RuntimeError: no reason",
            id="oracle-call-that-raises",
        ),
        pytest.param(
            oracle(("set_status", {"order_id": "O-2", "status": "cancelled"})),
            "error: shop-task_1.checks[0]: after the oracle's calls it is false",
            id="oracle-that-does-not-solve-it",
        ),
        pytest.param(
            cancel(CANCELLED, check("final_state['nothing']")),
            "error: shop-task_1.checks[1].function: on the initial state it raised KeyError: 'nothing'",
            id="check-that-raises",
        ),
        pytest.param(
            cancel(CANCELLED, check("1")),
            "error: shop-task_1.checks[1].function: on the initial state it returned int, not a bool",
            id="check-that-returns-no-bool",
        ),
        pytest.param(
            cancel(CANCELLED, "from nowhere import x\ndef check_func(final_state): return True"),
            "error: shop-task_1.checks[1].function: on the initial state it raised",
            id="check-that-does-not-load",
        ),
        pytest.param(
            cancel(check("final_state['orders'].pop('O-2') == 'x' or " + CANCELLED.partition("return ")[2])),
            "error: shop-task_1.checks[0].function: on the initial state it changed the state",
            id="check-that-changes-the-state",
        ),
        pytest.param(
            cancel(CANCELLED, check("'O-2' in final_state['orders']")),
            "note: shop-task_1.checks[1].function: is already true in the initial state",
            id="check-true-at-the-start",
        ),
        pytest.param(
            cancel(init_config=State.of({"orders": {"O-1": "open", "O-2": "open"}, "ordrs": 1})),
            "note: shop-task_1.init_config.ordrs: is a key that the environment never reads",
            id="key-that-nobody-reads",
        ),
        pytest.param(
            replace(cancel(), checks=()), "note: shop-task_1.checks: has none, so it cannot be scored", id="no-checks"
        ),
    ],
)
def test_each_mistake_in_a_scenario_is_found_at_its_place(runner: Runner, scenario: Scenario, finding: str) -> None:
    findings = found(runner, scenario)
    assert findings[0].startswith(finding)
    # What is wrong with a check on the initial state is wrong with it after the oracle's calls too.
    assert all("after the oracle's calls" in other for other in findings[1:])


def test_an_environment_that_does_not_start_is_found(runner: Runner) -> None:
    broken = shop(source=SHOP.replace('dict(init_config.get("orders", {}))', "init_config.missing"))
    (only,) = found(runner, environment=broken)
    assert only.startswith("error: shop-task_1.init_config: the environment does not start (init_failed: ")
    assert "AttributeError" in only


def test_an_environment_whose_first_state_cannot_be_read_is_found(runner: Runner) -> None:
    (only,) = found(runner, environment=shop(source=SHOP.replace("self.log: list = []", "self.log = len")))
    place = "shop-task_1.init_config"
    assert only.startswith(f"error: {place}: the environment does not start (state_not_exportable: ")


def test_an_environment_whose_state_cannot_be_read_is_found(runner: Runner) -> None:
    unreadable = shop(source=SHOP.replace("self.orders[order_id] = status", "self.orders[order_id] = len"))
    assert (
        "error: shop-task_1: the environment fails when played (state_not_exportable: "
        in found(runner, environment=unreadable)[0]
    )


def test_all_findings_are_reported_in_order_with_their_files() -> None:
    first, second = cancel("", "", file="a.json"), cancel("", task_id="shop-task_2", file="b.json")
    findings = list(validate(corpus(first, second), TrustedRunner()))
    assert [(finding.file, finding.where) for finding in findings] == [
        ("a.json", "shop-task_1.checks[0].function"),
        ("a.json", "shop-task_1.checks[1].function"),
        ("b.json", "shop-task_2.checks[0].function"),
    ]


def test_a_scenario_of_no_known_environment_is_left_to_the_reader() -> None:
    assert list(validate(Corpus({}, {"shop-task_1": cancel()}), TrustedRunner())) == []


@pytest.mark.parametrize("notes", [[], ["--notes"]], ids=["errors", "notes"])
def test_the_command_prints_findings_and_exits_with_2_for_an_error(tmp_path: Path, notes: list[str]) -> None:
    # Wrong, true at the start, and so a note as well; sound but for the note.
    write_unpacked(corpus(cancel("", check("True")), cancel(check("True"), task_id="shop-task_2")), tmp_path)
    result = door("corpus", "validate", tmp_path, *notes)
    folder = tmp_path / "shop" / "scenarios"
    lines = [
        f"{folder}/shop-task_1.json: error: shop-task_1.checks[0].function: does not define check_func(final_state)"
    ]
    if notes:
        place = "shop-task_2.checks[0].function"
        lines.append(f"{folder}/shop-task_2.json: note: {place}: is already true in the initial state")
    lines.append(f"{tmp_path}: 1 environments, 2 scenarios; 1 errors, 1 notes")
    assert (result.output.splitlines(), result.exit_code) == (lines, 2)


def test_the_command_exits_with_0_for_a_sound_corpus(tmp_path: Path) -> None:
    write_unpacked(corpus(), tmp_path)
    result = door("corpus", "validate", tmp_path)
    assert (result.output, result.exit_code) == (f"{tmp_path}: 1 environments, 1 scenarios; 0 errors, 0 notes\n", 0)


def test_the_level_is_as_asked_and_only_bundled_code_may_be_trusted(tmp_path: Path) -> None:
    write_unpacked(corpus(), tmp_path)
    result = door("corpus", "validate", tmp_path, "--level", "process")
    assert (result.output, result.exit_code) == (f"{tmp_path}: 1 environments, 1 scenarios; 0 errors, 0 notes\n", 0)
    sentence = "level=trusted: only for the bundled corpus; other code runs at level=isolated"
    assert refused(door("corpus", "validate", tmp_path, "--level", "trusted")) == sentence
    sentence = "level=trustd: unknown; one of isolated, process, trusted"
    assert refused(door("corpus", "validate", tmp_path, "--level", "trustd")) == sentence


def test_bundled_code_that_is_trusted_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    bundled = corpus(cancel(check("True")), environment=shop(bundled=True))
    monkeypatch.setattr("envscaler.scenarios.load", lambda source: bundled)
    monkeypatch.setattr(IsolatedRunner, "zygote", pytest.fail)
    result = door("corpus", "validate", "--level", "trusted")
    assert (result.output, result.exit_code) == ("bundled: 1 environments, 1 scenarios; 0 errors, 1 notes\n", 0)


def test_a_finding_reads_as_place_and_problem() -> None:
    assert str(Finding("error", "a.checks[0]", "is wrong")) == "a.checks[0]: is wrong"
