"""What a card says of small scenarios of our own, where every figure can be counted by hand."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from envscaler.audit import DEFAULT, IMPORTED, Effort, ScenarioCard, audit
from envscaler.audit.fixes import proposals
from envscaler.audit.run import runner
from envscaler.audit.search import search
from envscaler.audit.stage import Stage
from envscaler.scenarios import OracleCall, Scenario, load
from harness.isolation import IsolatedRunner
from harness.trusted import TrustedRunner
from tests.envscaler.playground import CANCELLED, cancel, check, shop

ALL_RIGHT = check("final_state['orders'] == {**initial_state['orders'], 'O-1': 'cancelled'}")


def card(scenario: Scenario, **options: object) -> ScenarioCard:
    return audit(shop(), scenario, TrustedRunner(), **options)  # type: ignore[arg-type]


def lines(scenario: Scenario) -> list[list[str]]:
    return [[flag.line for flag in found.flags] for found in card(scenario).checks]


def test_a_sound_scenario_passes_the_gate() -> None:
    found = card(cancel(ALL_RIGHT))
    assert found.failures(DEFAULT) == []
    assert (found.oracle, found.floor, found.kill, found.false_fails, found.deterministic) == (1.0, 0.0, 1.0, 0, True)
    assert (found.oracle_calls, found.writes, found.unneeded, found.survivors) == (2, 1, [], [])


def test_what_no_check_guards_survives_and_is_named() -> None:
    found = card(cancel(CANCELLED))
    assert found.kill is not None
    assert found.kill < 0.9
    assert "orders" in found.unguarded
    assert any("O-2" in survivor.what for survivor in found.survivors)
    assert "mutants noticed" in " ".join(found.failures(DEFAULT))


def test_doing_nothing_must_not_pay() -> None:
    found = card(cancel(ALL_RIGHT, check("final_state['orders']['O-2'] == 'open'")))
    assert found.floor == 0.5
    assert found.failures(DEFAULT) == ["doing nothing scores 0.5"]
    assert found.failures(IMPORTED) == []
    assert [flag.line for flag in found.checks[1].flags] == ["true at start"]


def test_an_oracle_that_fails_is_told_with_its_refusals() -> None:
    calls = (OracleCall("set_status", {"order_id": "O-1", "status": "sent"}), *(cancel().oracle or ()))
    found = card(cancel(ALL_RIGHT, oracle=calls))
    assert found.oracle == 0.0
    assert found.refused
    assert "oracle scores 0, not 1" in found.failures(DEFAULT)


def test_a_write_that_nothing_asks_for_is_not_minimal() -> None:
    extra = OracleCall("set_status", {"order_id": "O-2", "status": "cancelled"})
    found = card(cancel(CANCELLED, oracle=(*(cancel().oracle or ()), extra)))
    assert found.unneeded == ["without set_status(order_id='O-2', status='cancelled')"]


def test_without_an_oracle_the_rest_is_still_told() -> None:
    found = card(cancel(ALL_RIGHT, oracle=None))
    assert (found.oracle, found.kill, found.floor) == (None, None, 0.0)
    assert found.failures(DEFAULT) == ["has no oracle"]
    assert found.failures(IMPORTED) == []


def test_a_search_finds_the_calls_that_the_checks_wait_for() -> None:
    found = search(Stage(TrustedRunner(), shop(), cancel(ALL_RIGHT, oracle=None)), 200)
    assert (found.calls, found.share) == ((OracleCall("set_status", {"order_id": "O-1", "status": "cancelled"}),), 1.0)
    searched = card(cancel(ALL_RIGHT, oracle=None), effort=Effort(search=200))
    assert (searched.oracle, searched.oracle_from, searched.kill) == (1.0, "search", 1.0)


@pytest.mark.parametrize(
    ("function", "line"),
    [
        pytest.param("def check_func(final_state):\n    return 1", "error", id="no-bool"),
        pytest.param("def check_func(final_state):\n    return final_state['gone']", "error", id="raises"),
        pytest.param("", "error", id="empty"),
        pytest.param(
            "def check_func(final_state):\n    initial_state['orders'].clear()\n"
            "    return final_state['orders']['O-1'] == 'cancelled'",
            "mutates",
            id="changes-the-initial-state",
        ),
        pytest.param(check("__import__('random').random() < 0.5"), "clock", id="draws"),
    ],
)
def test_a_broken_check_is_flagged(function: str, line: str) -> None:
    found = lines(cancel(ALL_RIGHT, function))
    assert found[0] == []
    assert line in found[1]


def test_an_environment_that_does_not_start_is_a_fault_of_the_card() -> None:
    found = audit(shop(source="class Shop:\n    x = 1 / 0"), cancel(), TrustedRunner())
    assert found.fault
    assert found.failures(DEFAULT)[0].startswith("cannot be audited")


def test_an_environment_that_differs_between_runs_is_not_deterministic() -> None:
    # Addresses of objects differ between processes whatever is seeded.
    source = shop().source.replace("self.log: list = []", "self.log: list = [id(self)]")
    with IsolatedRunner() as isolated:
        found = audit(shop(source=source), cancel(ALL_RIGHT), TrustedRunner(), fresh=[isolated, TrustedRunner()])
    assert "not deterministic" in found.failures(DEFAULT)


def test_both_levels_give_the_same_card() -> None:
    corpus = load()
    scenario = corpus.scenarios["warehouse_fulfilment-task_1"]
    record = corpus.environments[scenario.env_id]
    cards = [
        msgspec.to_builtins(audit(record, scenario, runner(level), fresh=[runner("isolated")]))
        for level in ("trusted", "isolated")
    ]
    for found in cards:
        found.pop("seconds")
        for told in found["checks"]:
            told.pop("seconds")
    assert cards[0] == cards[1]


def test_a_guard_is_proposed_where_damage_goes_unnoticed_and_it_helps() -> None:
    orders = {"orders": {"O-1": {"status": "open", "note": ""}, "O-2": {"status": "open", "note": ""}}}
    source = shop().source.replace("self.orders[order_id] = status", "self.orders[order_id]['status'] = status")
    source = source.replace('if self.orders.get(order_id) == "sent":', "if order_id not in self.orders:")
    source = source.replace(
        "    def crash(",
        "    def note(self, order_id: str, note: str) -> dict:\n"
        '        """Note something."""\n'
        "        self.orders[order_id]['note'] = note\n"
        "        return {'success': True}\n\n    def crash(",
    )
    from harness.state import State

    record = shop(source=source)
    goal = check("final_state['orders']['O-1']['status'] == 'cancelled'")
    scenario = cancel(goal, init_config=State.of(orders))
    before = audit(record, scenario, TrustedRunner())
    fixes = {fix["fix"]: fix for fix in proposals(record, scenario, before, TrustedRunner())}
    assert set(fixes) == {"guard", "pin"}
    assert fixes["guard"]["item"] == "Has goal 0 been met, and is nothing else changed?"
    for fix in fixes.values():
        fixed = replace(scenario, checks=(replace(scenario.checks[0], function=fix["function"]),))
        after = audit(record, fixed, TrustedRunner())
        assert (after.oracle, after.floor, after.false_fails) == (1.0, 0.0, 0)
        assert (after.kill or 0) > (before.kill or 0)
    assert after.kill == 1.0


def test_a_vacuous_check_is_proposed_to_be_dropped() -> None:
    scenario = cancel(ALL_RIGHT, check("isinstance(final_state, dict)"))
    found = card(scenario)
    assert "vacuous" in [flag.line for flag in found.checks[1].flags]
    assert [(fix["fix"], fix["check"]) for fix in proposals(shop(), scenario, found, TrustedRunner())] == [("drop", 1)]
