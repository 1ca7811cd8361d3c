"""Rows and logs as they come from evaluations, each builder with the interesting argument visible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalConfig, EvalDataset, EvalError, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import ModelConfig, ModelUsage

from results.read import Read, Row

COLUMNS: list[dict[str, Any]] = [
    {"title": "Base", "subset": "base", "mean_of": []},
    {"title": "Long", "subset": "long", "mean_of": []},
    {"title": "Overall", "subset": None, "mean_of": ["Base", "Long"]},
]
ROW = Row(
    model="m",
    benchmark="bench",
    version="1-A",
    protocol="paper",
    settings="",
    subset="base",
    group="g",
    sample="s1",
    run=1,
    reward=1.0,
    success=True,
    floor=None,
    ending="scored",
    stop_reason="agent_done",
    steps=3,
    tokens=0,
    seconds=0.0,
    level="isolated",
    user="",
    log="a.eval",
)


def row(sample: str = "s1", run: int = 1, reward: float | None = 1.0, **changes: Any) -> Row:
    """One sample in one run; solved if its reward is 1, failed if there is none."""
    success = None if reward is None else reward == 1.0
    return replace(ROW, **{"sample": sample, "run": run, "reward": reward, "success": success, **changes})


def fault(sample: str, run: int = 1, **changes: Any) -> Row:
    return row(sample, run, None, ending="environment_fault", **changes)


def error(sample: str, run: int = 1, **changes: Any) -> Row:
    return row(sample, run, None, ending="infrastructure_error", **changes)


def unscored(sample: str, run: int = 1, **changes: Any) -> Row:
    return row(sample, run, None, ending="unscored", **changes)


def read_of(*rows: Row, floors: Mapping[str, float] | None = None) -> Read:
    """What was read of a folder with these rows."""
    benchmarks = {(row.benchmark, row.version) for row in rows}
    return Read(
        list(rows), dict.fromkeys(benchmarks, COLUMNS), {key: dict(floors or {}) for key in benchmarks}, notes=[]
    )


def scored(value: float, **parts: Any) -> dict[str, Any]:
    """The outcome of a sample that was scored."""
    score = {"value": value, "success": value == 1.0, "parts": parts}
    return {"ending": "scored", "stop_reason": "agent_done", "steps": 3, "level": "isolated", "score": score}


FAULT = {"ending": "environment_fault", "stop_reason": "fault", "steps": 1, "level": "isolated", "score": None}

UNSCORED = {"ending": "unscored", "stop_reason": "agent_done", "steps": 4, "level": "isolated", "score": None}


def sample(
    name: str = "s1", run: int = 1, outcome: Mapping[str, Any] | None = None, failed: str | None = None, **facts: Any
) -> EvalSample:
    """A sample of a log: what the solver recorded, and the error it ended with, if any."""
    return EvalSample(
        id=name,
        epoch=run,
        input="task",
        target="",
        metadata={"subset": "base", "group": "g", **facts},
        store={"envscaler": {"outcome": dict(outcome)}} if outcome is not None else {},
        error=EvalError(message=failed, traceback="", traceback_ansi="") if failed else None,
        model_usage={"m": ModelUsage(total_tokens=7)},
        total_time=1.5,
    )


def log(
    folder: Path,
    *samples: EvalSample,
    name: str = "a",
    created: str = "2026-11-01T10:00:00+00:00",
    task_id: str = "",
    model: str = "m",
    user: str | None = None,
    status: Any = "success",
    chosen: Sequence[str] | None = None,
    epochs: int = 1,
    ours: bool = True,
    task_args: Mapping[str, Any] | None = None,
    version: str = "1-A",
    whole: int = 100,
    extra: Mapping[str, Any] | None = None,
    model_args: Mapping[str, Any] | None = None,
) -> Path:
    """A log file with these samples.

    Args:
        chosen: Ids of the samples that were to be played; None is those there are.
        ours: Whether it is of an envscaler task.
        whole: Samples of the whole dataset; by default it is larger than what was asked for.
        extra: Further metadata of the task.
    """
    metadata = {
        "benchmark": "bench",
        "benchmark_version": version,
        "protocol": {"name": "paper"},
        "columns": COLUMNS,
        "floors": {"Base": 2.0},
        "parameters": {},
        **(extra or {}),
    }
    ids = list(chosen) if chosen is not None else list(dict.fromkeys(str(sample.id) for sample in samples))
    spec = EvalSpec(
        created=created,
        task="envscaler/bench",
        task_id=task_id or name,
        dataset=EvalDataset(name="bench", samples=whole, sample_ids=list(ids)),
        model=model,
        model_args=dict(model_args or {}),
        model_roles={"user": ModelConfig(model=user)} if user else None,
        config=EvalConfig(epochs=epochs),
        metadata=metadata if ours else {"other": 1},
        task_args=dict(task_args or {}),
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{created[:19].replace(':', '-')}_bench_{name}.eval"
    write_eval_log(EvalLog(eval=spec, status=status, samples=list(samples)), str(path))
    return path
