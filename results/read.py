"""Inspect logs as plain rows: one per sample and run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

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
    columns: dict[tuple[str, str], list[dict[str, Any]]]
    """Benchmark and version -> its columns: title, subset, mean_of."""
    floors: dict[tuple[str, str], dict[str, float]]
    """Benchmark and version -> column title -> do-nothing score in percent, where it is known beforehand."""
    notes: list[str]
    """Sentences about logs that are incomplete, unreadable or not ours."""


def read(folder: str | Path) -> Read:
    """Read every log below a folder. Of the same sample and run, the newest log counts.

    Raises:
        LogError: If the folder has no logs of ours.
    """
    if not Path(folder).exists():
        raise LogError(f"{folder}: no such folder")
    found: dict[tuple[Any, ...], Row] = {}
    notes: dict[str, str | None] = {}
    result = Read([], {}, {}, [])
    for name in _by_age(folder, notes):
        log = read_eval_log(name)
        metadata = log.eval.metadata or {}
        if "benchmark" not in metadata:
            notes[name] = f"{Path(name).name}: not a log of an envscaler task; left out"
            continue
        benchmark = metadata["benchmark"], str(metadata.get("benchmark_version", ""))
        result.columns[benchmark] = metadata.get("columns", [])
        result.floors[benchmark] = metadata.get("floors", {})
        for row in _rows(log, metadata, name):
            found[row.model, row.benchmark, row.version, row.protocol, row.settings, row.sample, row.run] = row
        # A retry carries the id of the task that it finishes.
        notes[log.eval.task_id] = _completeness(log, name)
    result.notes.extend(note for note in notes.values() if note)
    if not found:
        raise LogError("; ".join([f"{folder}: no samples of envscaler tasks", *result.notes]))
    result.rows.extend(found.values())
    return result


def _by_age(folder: str | Path, notes: dict[str, str | None]) -> list[str]:
    """The logs below a folder, oldest first by what they say themselves: copying gives files another time."""
    created: dict[str, datetime] = {}
    for info in list_eval_logs(str(folder), descending=False):
        try:
            created[info.name] = datetime.fromisoformat(read_eval_log(info, header_only=True).eval.created).astimezone()
        except (OSError, ValueError, KeyError, BadZipFile) as error:
            notes[info.name] = f"{Path(info.name).name}: cannot be read ({error}); left out"
    return sorted(created, key=lambda name: created[name])


def _completeness(log: EvalLog, name: str) -> str | None:
    dataset = log.eval.dataset
    chosen = len(dataset.sample_ids) if dataset.sample_ids is not None else dataset.samples or 0
    expected = chosen * (log.eval.config.epochs or 1)
    done = sum(sample.error is None for sample in log.samples or ())
    if log.status == "success" and done >= expected:
        return None
    file = Path(name).name
    return f"{file}: {log.status}, {done} of {expected} samples; finish it with: inspect eval-retry {file}"


_SHOWN = ("corpus", "prompts", "tools", "version", "language", "split", "user_strategy", "environments", "limit")
_DEFAULTS = {"prompts": "own"}


def _settings(parameters: dict[str, Any], user: str) -> str:
    """What moves a score beside model and protocol, where it is not the default; the user's model among it."""
    shown = {key: parameters.get(key) for key in _SHOWN if parameters.get(key) != _DEFAULTS.get(key)}
    return " ".join(f"{key}={value}" for key, value in {**shown, "user": user or None}.items() if value is not None)


def _rows(log: EvalLog, metadata: dict[str, Any], name: str) -> Iterator[Row]:
    user = _model_name((log.eval.model_roles or {}).get("user"))
    settings = _settings({**(metadata.get("parameters") or {}), **(log.eval.task_args or {})}, user)
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
            user=user,
            log=Path(name).name,
        )


def _model_name(role: Any) -> str:
    first = role[0] if isinstance(role, list) and role else role
    return str(getattr(first, "model", "") or "")


def _ending(sample: EvalSample, outcome: dict[str, Any]) -> str:
    if sample.error is not None and outcome.get("ending") in (None, "scored"):
        return "infrastructure_error"
    return str(outcome.get("ending") or "infrastructure_error")
