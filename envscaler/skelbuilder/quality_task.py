"""The inspection as an Inspect task: any corpus, ours or the release's, inspected by any models and compared.

The decorated functions live in `envscaler._registry`; these are their bodies.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
from inspect_ai import Task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import Generate, Solver, TaskState

from envscaler.scenarios import Corpus, load
from envscaler.skelbuilder.agents import ModelChecker, ModelTester
from envscaler.skelbuilder.gate import gate
from envscaler.skelbuilder.inspection import InspectionRules, inspect
from envscaler.skelbuilder.survey import subject_of
from envscaler.synthesis.ask import ROLES
from envscaler.synthesis.desk import Desk, Limits
from envscaler.synthesis.journal import Memory
from envscaler.synthesis.models import InspectModels
from harness.errors import EnvScalerError, SettingError
from harness.isolation import IsolatedRunner

VERSION = "1-A"
STORE_KEY = "inspection"
_COUNTINGS = ("strict", "release")
_IN_FLIGHT = 1
"""Calls of one sample: its rounds depend on each other. Samples run side by side."""


def task(
    solver: Solver, scorer: Scorer, corpus: str | None, environments: str | list[str] | None, rules: Mapping[str, Any]
) -> Task:
    """One sample an environment of which a state is known.

    Raises:
        PrerequisiteError: If the corpus or a parameter is no good; Inspect prints it without a traceback.
    """
    try:
        _rules(rules)
        found = _loaded(corpus)
        if environments:
            names = environments.split(",") if isinstance(environments, str) else list(environments)
            found = found.select(names)
        ready = [record for record in found.environments.values() if subject_of(found, record) is not None]
        if not ready:
            raise SettingError(f"corpus '{corpus}' has no environment with a scenario or a state to start from")
    except EnvScalerError as error:
        raise PrerequisiteError(f"envscaler/environment_quality: {error}") from error
    left_out = [env_id for env_id in found.environments if env_id not in {record.id for record in ready}]
    samples = [
        Sample(
            id=record.id,
            input=f"{record.title}: {record.description}",
            metadata={"title": record.title, "tools": len(record.own_tools), "rules": len(record.rules)},
        )
        for record in ready
    ]
    return Task(
        dataset=MemoryDataset(samples, name="environment_quality"),
        solver=solver,
        scorer=scorer,
        fail_on_error=False,
        version=VERSION,
        metadata={"rules": dict(rules), "corpus": corpus or "bundled", "left_out": left_out},
    )


def _rules(values: Mapping[str, Any]) -> InspectionRules:
    if values["counting"] not in _COUNTINGS:
        raise SettingError(f"counting={values['counting']}: unknown; one of {', '.join(_COUNTINGS)}")
    return InspectionRules(**values)


@lru_cache(maxsize=4)
def _loaded(corpus: str | None) -> Corpus:
    return load(corpus)


def solver(corpus: str | None, tries: int, **rules: Any) -> Solver:
    """Inspects the environment of a sample, and leaves what it found in the store."""
    runner = IsolatedRunner()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        found = _loaded(corpus)
        record = found.environments[str(state.sample_id)]
        subject = subject_of(found, record)
        if subject is None:
            raise ValueError(f"environment {record.id} has no state to start from")
        models = InspectModels({}, required=False)
        names: dict[str, str] = {role: str(get_model(role=role)) for role in ROLES}
        desk = Desk(models, names, Memory(), Limits(concurrency=_IN_FLIGHT, tries=tries))
        inspection = await inspect(subject, ModelTester(desk), ModelChecker(desk), runner, _rules(rules))
        findings = [str(finding) for finding in gate(record.source, record.class_name)]
        state.store.set(STORE_KEY, {**msgspec.to_builtins(inspection), "findings": findings})
        state.completed = True
        return state

    return solve


def scorer() -> Scorer:
    """Scores from what the inspection found."""

    async def score(state: TaskState, target: Target) -> Score:
        found = state.store.get(STORE_KEY) or {}
        if found.get("rate") is None or str(found.get("reason", "")).startswith("undecided"):
            raise ValueError(f"environment {state.sample_id} was not judged: {found.get('reason') or 'no inspection'}")
        gate_passed = not found["findings"]
        value = {"pass_rate": found["rate"], "kept": float(found["status"] == "kept"), "gate": float(gate_passed)}
        counts = {
            name: found[name] for name in ("passed", "warned", "failed", "unjudged", "lost", "uncovered", "tools")
        }
        return Score(
            value=value,
            explanation=found["reason"] or "kept",
            metadata={**counts, "findings": found["findings"], "reason": found["reason"]},
        )

    return score
