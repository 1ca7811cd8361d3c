"""A benchmark as an Inspect task. The decorated functions live in `envscaler._registry`; these are their bodies."""

from __future__ import annotations

import sys
from typing import Any

from inspect_ai import Epochs, Task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset
from inspect_ai.dataset import Sample as InspectSample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import Generate, Solver, TaskState

from benchmarks.facts import fingerprints, simulates_user
from benchmarks.registry import loaded
from harness.errors import EnvScalerError
from harness.inspect_bridge import scorer as recorded
from harness.inspect_bridge import solver as episodes


def task(name: str, solver: Solver, scorer: Scorer, rules: str, prompts: str | None, **parameters: Any) -> Task:
    """The Inspect task of a benchmark under a protocol.

    Raises:
        PrerequisiteError: If `benchmarks.registry.loaded` refuses; Inspect prints it without a traceback.
    """
    try:
        ready = loaded(name, rules, prompts, **parameters)
    except EnvScalerError as error:
        raise PrerequisiteError(f"envscaler/{name}: {error}") from error
    dataset = MemoryDataset(
        [
            InspectSample(
                id=sample.id,
                input=str(sample.metadata.get("task", sample.id)),
                metadata={**sample.metadata, "benchmark": name, "subset": sample.subset, "group": sample.group},
            )
            for sample in ready.samples
        ],
        name=name,
    )
    return Task(
        dataset=dataset,
        solver=solver,
        scorer=scorer,
        epochs=Epochs(ready.protocol.runs, "mean"),
        config=episodes.generate_config(ready.protocol.agent).merge(
            GenerateConfig(reasoning_history="all" if ready.protocol.keep_reasoning else "none")
        ),
        # A fault or a model failure is an error of its sample, not the end of the run; tables count them.
        fail_on_error=False,
        version=ready.benchmark.version,
        metadata={
            "benchmark": name,
            "benchmark_version": ready.benchmark.version,
            "protocol": ready.protocol.record(),
            "columns": [
                {
                    "title": column.title,
                    "subset": list(column.subset) if isinstance(column.subset, tuple) else column.subset,
                    "mean_of": list(column.mean_of),
                    "part": column.part,
                }
                for column in ready.benchmark.columns
            ],
            "floors": dict(ready.benchmark.floors),
            "dropped": {protocol: list(reasons) for protocol, reasons in ready.benchmark.dropped.items()},
            "simulates_user": simulates_user(ready),
            "data": fingerprints(ready.benchmark, parameters.get("corpus")),
            "left_out": ready.left_out,
            "parameters": {key: value for key, value in parameters.items() if value is not None},
            "versions": versions(),
        },
    )


def solver(name: str, rules: str, prompts: str | None, **parameters: Any) -> Solver:
    """The solver that plays a benchmark's samples."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        ready = loaded(name, rules, prompts, **parameters)
        sample = ready.by_id[str(state.sample_id)]
        return await episodes.solve(state, sample.case(), ready.rules(sample), name)

    return solve


def scorer() -> Scorer:
    """The scorer that reads the recorded outcome."""

    async def score(state: TaskState, target: Target) -> Score:
        return await recorded.score(state, target)

    return score


def versions() -> dict[str, str]:
    """What ran: our version, Inspect's, Python's."""
    from importlib.metadata import version

    names = ("envscaler", "inspect-ai", "msgspec", "openai")
    return {**{name: version(name) for name in names}, "python": sys.version.split()[0]}
