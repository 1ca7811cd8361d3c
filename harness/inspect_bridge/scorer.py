"""Scores from the outcome that the solver recorded: `reward` is what tables average, `success` whether all held."""

from __future__ import annotations

from inspect_ai.scorer import Score, Target
from inspect_ai.solver import TaskState

from harness.inspect_bridge.solver import STORE_KEY


async def score(state: TaskState, target: Target) -> Score:
    """The recorded outcome as Inspect's score.

    Raises:
        ValueError: If the sample holds no scored outcome: it failed, and must not be averaged.
    """
    record = state.store.get(STORE_KEY) or {}
    outcome = record.get("outcome") or {}
    scored = outcome.get("score")
    if scored is None:
        raise ValueError(f"sample {state.sample_id} has no score: {outcome.get('fault') or 'it was not played'}")
    return Score(
        value={"reward": scored["value"], "success": float(scored["success"])},
        answer=state.output.completion or None,
        explanation=f"{outcome['stop_reason']} after {outcome['steps']} steps",
        metadata={**scored["parts"], "stop_reason": outcome["stop_reason"], "steps": outcome["steps"]},
    )
