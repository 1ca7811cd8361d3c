"""What a final state is worth: reward, success, lift, damage, and what became of each check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from envscaler.scenarios.judge import judge, lift, reward, run_checks
from harness.isolation import IsolatedRunner
from harness.program import Runner, Verdict
from harness.state import State
from harness.trusted import TrustedRunner
from tests.envscaler.playground import cancel, check

YES, NO = Verdict(True), Verdict(False)
ERROR = Verdict(False, "raised KeyError: 'x'")


@pytest.fixture(scope="module", params=["trusted", "isolated"])
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    if request.param == "trusted":
        yield TrustedRunner()
        return
    with IsolatedRunner() as isolated:
        yield isolated


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        pytest.param([YES], 1.0, id="all"),
        pytest.param([NO, NO], 0.0, id="none"),
        pytest.param([YES, NO, NO], 0.3333, id="four-places-down"),
        pytest.param([YES, YES, NO], 0.6667, id="four-places-up"),
        pytest.param([YES, ERROR], 0.5, id="an-error-is-in-the-denominator"),
    ],
)
def test_the_reward_is_the_share_of_checks_passed(verdicts: list[Verdict], expected: float) -> None:
    assert reward(verdicts) == expected


def test_no_checks_measure_nothing() -> None:
    with pytest.raises(ValueError, match="cannot be scored"):
        reward([])


@pytest.mark.parametrize(
    ("value", "floor", "expected"),
    [(1.0, 0.5, 1.0), (0.75, 0.5, 0.5), (0.5, 0.5, 0.0), (0.0, 0.5, -1.0), (0.3, 0.0, 0.3), (1.0, 1.0, None)],
)
def test_lift_is_the_share_of_the_reachable_reward(value: float, floor: float, expected: float | None) -> None:
    assert lift(value, floor) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            [NO, NO],
            [YES, YES],
            {"reward": 1.0, "success": True, "floor": 0.0, "lift": 1.0, "damage": None},
            id="solved",
        ),
        pytest.param(
            [YES, NO],
            [NO, YES],
            {"reward": 0.5, "success": False, "floor": 0.5, "lift": 0.0, "damage": 1.0},
            id="broke",
        ),
        pytest.param(
            [YES, YES, NO],
            [YES, NO, NO],
            {"reward": 0.3333, "success": False, "floor": 0.6667, "damage": 0.5},
            id="half-of-what-held",
        ),
        pytest.param(
            [YES],
            [YES],
            {"reward": 1.0, "success": True, "floor": 1.0, "lift": None, "damage": 0.0},
            id="nothing-to-do",
        ),
        pytest.param([NO, NO], [YES, ERROR], {"reward": 0.5, "success": False, "check_errors": 1}, id="check-error"),
    ],
)
def test_a_score_tells_reward_floor_lift_and_damage(
    before: list[Verdict], after: list[Verdict], expected: dict[str, Any]
) -> None:
    score = judge(cancel(*[""] * len(before)), before, after)
    assert {key: score.parts[key] for key in expected} == expected
    assert (score.value, score.success) == (score.parts["reward"], score.parts["success"])


def test_a_score_tells_of_each_check() -> None:
    score = judge(cancel("", ""), [YES, NO], [YES, ERROR])
    assert score.parts["checks"] == [
        {"item": "Has goal 0 been met?", "passed": True, "passed_at_start": True},
        {"item": "Has goal 1 been met?", "passed": False, "passed_at_start": False, "error": "raised KeyError: 'x'"},
    ]


def test_a_long_scenario_rounds_as_the_release_does() -> None:
    score = judge(cancel(*[""] * 30_000), [NO] * 30_000, [YES] * 29_999 + [NO])
    assert (score.value, score.success) == (1.0, False)


@pytest.mark.parametrize(
    ("function", "verdict"),
    [
        pytest.param(check("final_state['n'] == 2"), Verdict(True), id="final-state"),
        pytest.param(check("initial_state['n'] == 1"), Verdict(True), id="initial-state-is-a-global"),
        pytest.param(check("final_state['pair'] == (1, 2)"), Verdict(True), id="types-survive"),
        pytest.param(
            "def helper(s):\n    return s['n'] == 2\ndef check_func(final_state):\n    return helper(final_state)",
            Verdict(True),
            id="helpers-beside-it",
        ),
        pytest.param(check("1"), Verdict(False, "returned int, not a bool"), id="a-number-is-no-verdict"),
        pytest.param(check("None"), Verdict(False, "returned NoneType, not a bool"), id="nothing-is-no-verdict"),
        pytest.param(check("final_state['x']"), Verdict(False, "raised KeyError: 'x'"), id="a-raise"),
        pytest.param("def check_func(:", Verdict(False, "raised SyntaxError"), id="no-python"),
        pytest.param("", Verdict(False, "defines no check_func(final_state)"), id="empty"),
        pytest.param("check_func = 3", Verdict(False, "defines no check_func(final_state)"), id="not-callable"),
        pytest.param(check("final_state.pop('n') == 2"), Verdict(False, "changed the state", True), id="mutating"),
        pytest.param(check("exit()"), Verdict(False, "raised"), id="exit"),
    ],
)
def test_a_check_gives_a_verdict_or_the_reason_why_not(runner: Runner, function: str, verdict: Verdict) -> None:
    initial, final = State.of({"n": 1}), State.of({"n": 2, "pair": (1, 2)})
    (said,) = run_checks(runner, cancel(function), initial, final)
    assert (said.passed, said.mutated) == (verdict.passed, verdict.mutated)
    assert (said.error or "").startswith(verdict.error or "")
    assert (said.error is None) == (verdict.error is None)


def test_each_check_has_a_state_of_its_own(runner: Runner) -> None:
    spoil = check("final_state.clear() or initial_state.clear() or True")
    fine = check("final_state == {'n': 2} and initial_state == {'n': 1}")
    states = State.of({"n": 1}), State.of({"n": 2})
    verdicts = run_checks(runner, cancel(spoil, fine, spoil, fine), *states)
    assert [verdict.passed for verdict in verdicts] == [False, True, False, True]
    assert [state.decode() for state in states] == [{"n": 1}, {"n": 2}]


def test_checks_live_in_the_time_of_the_scenario(runner: Runner) -> None:
    now = "import datetime\n" + check("datetime.datetime.now().isoformat() == '2026-03-01T09:00:00'")
    (said,) = run_checks(runner, cancel(now), State.of({}), State.of({}))
    assert said == Verdict(True)
