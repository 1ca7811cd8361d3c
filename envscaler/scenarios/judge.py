"""What a final state is worth: checks passed, lift over doing nothing, damage done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envscaler.scenarios.scenario import Scenario
from harness.outcome import Score
from harness.program import Checks, Runner, Verdict
from harness.state import State


def run_checks(runner: Runner, scenario: Scenario, initial: State, final: State) -> list[Verdict]:
    """The verdict of each check of a scenario on a final state, in order."""
    functions = [check.function for check in scenario.checks]
    return runner.check(
        Checks(functions=functions, initial=initial, final=final, clock=scenario.time, seed=scenario.seed)
    )


def reward(verdicts: Sequence[Verdict]) -> float:
    """Share of checks passed, in [0, 1], to four places as the release rounds it. Check errors are in the denominator.

    Raises:
        ValueError: If there are no checks: such a scenario measures nothing.
    """
    if not verdicts:
        raise ValueError("a scenario without checks cannot be scored")
    return round(sum(verdict.passed for verdict in verdicts) / len(verdicts), 4)


def lift(value: float, floor: float) -> float | None:
    """Share of the reachable reward that the agent added over doing nothing; negative if it did damage.

    Args:
        value: Reward of the agent.
        floor: Reward of doing nothing in the same scenario.
    Returns:
        (value - floor) / (1 - floor), or None where doing nothing already earns everything.
    """
    return None if floor >= 1 else (value - floor) / (1 - floor)


def judge(scenario: Scenario, initial: Sequence[Verdict], final: Sequence[Verdict]) -> Score:
    """The score of a scenario from its verdicts on the initial and on the final state.

    `damage` is the share of initially passing checks that fail in the end; None if none passed initially.
    """
    value, floor = reward(final), reward(initial)
    held = [after.passed for before, after in zip(initial, final, strict=True) if before.passed]
    parts: dict[str, Any] = {
        "reward": value,
        "success": all(verdict.passed for verdict in final),
        "floor": floor,
        "lift": lift(value, floor),
        "damage": 1 - sum(held) / len(held) if held else None,
        "check_errors": sum(verdict.error is not None for verdict in final),
        "checks": [
            {
                "item": check.item,
                "passed": after.passed,
                "passed_at_start": before.passed,
                **({"error": after.error} if after.error else {}),
            }
            for check, before, after in zip(scenario.checks, initial, final, strict=True)
        ],
    }
    return Score(value, parts["success"], parts)
