"""Scores from the outcome that the solver recorded: `reward` is what tables average, `success` whether all held."""

from __future__ import annotations

from inspect_ai.scorer import Score, Target
from inspect_ai.solver import TaskState

from harness.inspect_bridge.solver import STORE_KEY
from harness.outcome import Ending


async def score(state: TaskState, target: Target) -> Score:
    """The recorded outcome as Inspect's score; of a case without a judge one that metrics and reducers leave out.

    Raises:
        ValueError: If the sample failed or was not played: it must not be averaged.
    """
    record = state.store.get(STORE_KEY) or {}
    outcome = record.get("outcome") or {}
    scored = outcome.get("score")
    answer = state.output.completion or None
    if outcome.get("ending") == Ending.UNSCORED:
        return Score.unscored(
            reason=Ending.UNSCORED.value,
            answer=answer,
            explanation=f"{outcome['stop_reason']} after {outcome['steps']} steps; there is nothing to score it by",
            metadata={"stop_reason": outcome["stop_reason"], "steps": outcome["steps"]},
        )
    if scored is None:
        raise ValueError(f"sample {state.sample_id} has no score: {outcome.get('fault') or 'it was not played'}")
    return Score(
        value={"reward": scored["value"], "success": float(scored["success"])},
        answer=answer,
        explanation=f"{outcome['stop_reason']} after {outcome['steps']} steps",
        metadata={**scored["parts"], "stop_reason": outcome["stop_reason"], "steps": outcome["steps"]},
    )
