"""Inspect logs as plain rows: one per sample and run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, list_eval_logs, read_eval_log

STORE_KEY = "envscaler"


class LogError(Exception):
    """A log folder that holds nothing to tabulate."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one sample scored in one run."""

    model: str
    benchmark: str
    version: str
    protocol: str
    settings: str
    """Task parameters that move a score, e.g. `prompts=release`."""
    subset: str
    group: str
    sample: str
    run: int
    reward: float | None
    """In [0, 1]; None if the sample failed."""
    success: bool | None
    floor: float | None
    """Reward of doing nothing in this sample, where its judge knows it."""
    ending: str
    """`scored`, `environment_fault`, `infrastructure_error` (also: any other error of the sample)."""
    stop_reason: str
    steps: int
    tokens: int
    seconds: float
    level: str
    user: str
    """Model in the role of the user; empty if there was none."""
    log: str


@dataclass(frozen=True, slots=True)
class Read:
    """All rows of a folder, and what its logs say of the benchmarks."""

    rows: list[Row]
    columns: dict[str, list[dict[str, Any]]]
    """Benchmark -> its columns: title, subset, mean_of."""
    floors: dict[str, dict[str, float]]
    """Benchmark -> column title -> do-nothing score in percent, where it is known beforehand."""
    notes: list[str]
    """Sentences about logs that are incomplete or not ours."""


def read(folder: str | Path) -> Read:
    """Read every log below a folder. Of the same sample and run, the newest log counts.

    Raises:
        LogError: If the folder has no logs of ours.
    """
    if not Path(folder).exists():
        raise LogError(f"{folder}: no such folder")
    found: dict[tuple[Any, ...], Row] = {}
    result = Read([], {}, {}, [])
    for info in reversed(list_eval_logs(str(folder))):
        log = read_eval_log(info)
        metadata = log.eval.metadata or {}
        if "benchmark" not in metadata:
            result.notes.append(f"{info.name}: not a log of an envscaler task; left out")
            continue
        result.columns[metadata["benchmark"]] = metadata.get("columns", [])
        result.floors[metadata["benchmark"]] = metadata.get("floors", {})
        for row in _rows(log, metadata, info.name):
            found[row.model, row.benchmark, row.version, row.protocol, row.settings, row.sample, row.run] = row
        result.notes.extend(_completeness(log, info.name))
    if not found:
        raise LogError(f"{folder}: no logs of envscaler tasks")
    result.rows.extend(found.values())
    return result


def _completeness(log: EvalLog, name: str) -> Iterator[str]:
    expected = (log.eval.dataset.samples or 0) * (log.eval.config.epochs or 1)
    done = len(log.samples or ())
    if log.status != "success" or done < expected:
        resume = "finish it with: inspect eval-retry " + Path(name).name
        yield f"{Path(name).name}: {log.status}, {done} of {expected} samples; {resume}"


_SHOWN = ("corpus", "prompts", "tools", "version", "language", "split", "user_strategy", "environments", "limit")


def _rows(log: EvalLog, metadata: dict[str, Any], name: str) -> Iterator[Row]:
    parameters = {**(metadata.get("parameters") or {}), **(log.eval.task_args or {})}
    settings = " ".join(f"{key}={parameters[key]}" for key in _SHOWN if parameters.get(key) not in (None, "own"))
    roles = log.eval.model_roles or {}
    user = roles.get("user")
    for sample in log.samples or ():
        record = (sample.store or {}).get(STORE_KEY) or {}
        outcome = record.get("outcome") or {}
        facts = sample.metadata or {}
        score = None if sample.error else outcome.get("score")
        yield Row(
            model=log.eval.model,
            benchmark=metadata["benchmark"],
            version=str(metadata.get("benchmark_version", "")),
            protocol=metadata["protocol"]["name"],
            settings=settings,
            subset=str(facts.get("subset", "")),
            group=str(facts.get("group", "")),
            sample=str(sample.id),
            run=sample.epoch,
            reward=score["value"] if score else None,
            success=score["success"] if score else None,
            floor=(score["parts"] if score else {}).get("floor"),
            ending=_ending(sample, outcome),
            stop_reason=str(outcome.get("stop_reason") or ""),
            steps=int(outcome.get("steps") or 0),
            tokens=sum(usage.total_tokens for usage in sample.model_usage.values()),
            seconds=float(sample.total_time or 0.0),
            level=str(outcome.get("level") or ""),
            user=_model_name(user),
            log=Path(name).name,
        )


def _model_name(role: Any) -> str:
    first = role[0] if isinstance(role, list) and role else role
    return str(getattr(first, "model", "") or "")


def _ending(sample: EvalSample, outcome: dict[str, Any]) -> str:
    if sample.error is not None and outcome.get("ending") in (None, "scored"):
        return "infrastructure_error"
    return str(outcome.get("ending") or "infrastructure_error")
