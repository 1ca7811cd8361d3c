"""Inspect logs as plain rows: one per sample and run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from zipfile import BadZipFile

from inspect_ai.log import EvalLog, list_eval_logs

from results.errors import LogError
from results.facts import LogFacts, facts_of
from results.logfile import UNSCORED, Sample, header, samples

__all__ = ["Check", "LogError", "Read", "Row", "read"]

UNREADABLE = (OSError, ValueError, KeyError, BadZipFile, NotImplementedError)
"""What reading a file that is no log, or a damaged one, raises."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a scenario in one sample and run."""

    item: str
    passed: bool
    passed_at_start: bool


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
    """In [0, 1]; None if the sample failed or could not be scored."""
    success: bool | None
    floor: float | None
    """Reward of doing nothing in this sample, where its judge knows it."""
    ending: str
    """`scored`, `unscored`, `environment_fault`, `infrastructure_error` (also: any other error of the sample)."""
    stop_reason: str
    steps: int
    tokens: int
    seconds: float
    level: str
    user: str
    """Model in the role of the user; empty if there was none."""
    log: str
    """Name of the log file."""
    parts: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The judge's parts that are single values: other scores, the type of an error."""
    checks: tuple[Check, ...] = field(default=(), compare=False)
    usage: Mapping[str, tuple[int, int, float]] = field(default_factory=dict, compare=False)
    """Role (`agent`, `user`) -> tokens read, tokens written, dollars."""
    known_bad: bool = field(default=False, compare=False)
    """Whether the sample has known defects."""
    fault: str = field(default="", compare=False)
    """Kind of the fault or error, if there was one."""

    @property
    def unscored(self) -> bool:
        """Whether it was played and nothing could score it: no sample of a figure, and no failure."""
        return self.ending == UNSCORED


@dataclass(frozen=True, slots=True)
class Read:
    """All rows of a folder, and what its logs say of the benchmarks."""

    rows: list[Row]
    columns: dict[tuple[str, str], list[dict[str, Any]]]
    """Benchmark and version -> its columns: title, subset, mean_of, part."""
    floors: dict[tuple[str, str], dict[str, float]]
    """Benchmark and version -> column title -> do-nothing score in percent, where it is known beforehand."""
    notes: list[str]
    """Sentences about logs that are incomplete, unreadable or not ours."""
    logs: dict[str, LogFacts] = field(default_factory=dict, compare=False)
    """Name of a log -> what it says of how its samples came about."""


def read(folder: str | Path | Sequence[str | Path]) -> Read:
    """Read every log below a folder, or below several. Of the same sample and run, the newest log counts.

    Raises:
        LogError: If the folder has no logs of ours.
    """
    folders = [folder] if isinstance(folder, str | Path) else list(folder)
    for place in folders:
        if not Path(place).exists():
            raise LogError(f"{place}: no such folder")
    found: dict[tuple[Any, ...], Row] = {}
    notes: dict[str, str | None] = {}
    result = Read([], {}, {}, [])
    for path, log in _by_age(folders, notes):
        name = Path(path).name
        metadata = log.eval.metadata or {}
        if "benchmark" not in metadata:
            notes[path] = f"{name}: not a log of an envscaler task; left out"
            continue
        try:
            rows, server = _rows(log, metadata, path)
        except UNREADABLE as error:
            notes[path] = f"{name}: cannot be read ({error}); left out"
            continue
        benchmark = metadata["benchmark"], str(metadata.get("benchmark_version", ""))
        result.columns[benchmark] = metadata.get("columns", [])
        result.floors[benchmark] = metadata.get("floors", {})
        result.logs[name] = facts_of(log, path, server)
        for row in rows:
            found[row.model, row.benchmark, row.version, row.protocol, row.settings, row.sample, row.run] = row
        # A retry carries the id of the task that it finishes.
        notes[log.eval.task_id] = _completeness(log, rows, name)
    result.notes.extend(note for note in notes.values() if note)
    if not found:
        raise LogError("; ".join([f"{', '.join(map(str, folders))}: no samples of envscaler tasks", *result.notes]))
    result.rows.extend(found.values())
    return result


def _by_age(folders: Sequence[str | Path], notes: dict[str, str | None]) -> list[tuple[str, EvalLog]]:
    """The logs below the folders, oldest first by what they say themselves: copying gives files another time."""
    created: dict[str, tuple[datetime, EvalLog]] = {}
    for folder in folders:
        for info in list_eval_logs(str(folder), descending=False):
            path = unquote(urlsplit(info.name).path) if info.name.startswith("file:") else info.name
            try:
                log = header(path)
                created[path] = datetime.fromisoformat(log.eval.created).astimezone(), log
            except UNREADABLE as error:
                notes[path] = f"{Path(path).name}: cannot be read ({error}); left out"
    return [(path, created[path][1]) for path in sorted(created, key=lambda path: created[path][0])]


def _completeness(log: EvalLog, rows: Sequence[Row], file: str) -> str | None:
    dataset = log.eval.dataset
    chosen = len(dataset.sample_ids) if dataset.sample_ids is not None else dataset.samples or 0
    expected = chosen * (log.eval.config.epochs or 1)
    done = sum(not row.fault for row in rows)
    if log.status == "success" and done >= expected:
        return None
    return f"{file}: {log.status}, {done} of {expected} samples; finish it with: inspect eval-retry {file}"


_SHOWN = ("corpus", "prompts", "tools", "version", "language", "split", "user_strategy", "environments", "limit")
_DEFAULTS = {"prompts": "own"}


def _settings(parameters: dict[str, Any], user: str) -> str:
    """What moves a score beside model and protocol, where it is not the default; the user's model among it."""
    shown = {key: parameters.get(key) for key in _SHOWN if parameters.get(key) != _DEFAULTS.get(key)}
    return " ".join(f"{key}={value}" for key, value in {**shown, "user": user or None}.items() if value is not None)


def _rows(log: EvalLog, metadata: dict[str, Any], path: str) -> tuple[list[Row], dict[str, Any]]:
    """The rows of a log, and what its samples say of the model's server."""
    # A role may be bound for a whole set of tasks; one that simulates nobody has no user.
    user = _model_name((log.eval.model_roles or {}).get("user")) if metadata.get("simulates_user", True) else ""
    settings = _settings({**(metadata.get("parameters") or {}), **(log.eval.task_args or {})}, user)
    shared: dict[str, Any] = {
        "model": log.eval.model,
        "benchmark": metadata["benchmark"],
        "version": str(metadata.get("benchmark_version", "")),
        "protocol": metadata["protocol"]["name"],
        "settings": settings,
        "user": user,
        "log": Path(path).name,
    }
    rows: list[Row] = []
    server: dict[str, Any] = {}
    for sample in samples(path):
        rows.append(_row(sample, shared))
        server = server or sample.serving
    return rows, server


def _row(sample: Sample, shared: dict[str, Any]) -> Row:
    outcome, facts = sample.outcome, sample.metadata or {}
    score = None if sample.error else outcome.get("score")
    parts = (score or {}).get("parts") or {}
    fault = str(outcome.get("fault") or (sample.error or {}).get("message") or "")
    ending = _ending(sample, outcome)
    failed = score is None and ending != UNSCORED
    return Row(
        **shared,
        subset=sys.intern(str(facts.get("subset", ""))),
        group=sys.intern(str(facts.get("group", ""))),
        sample=str(sample.id),
        run=sample.epoch,
        reward=score["value"] if score else None,
        success=score["success"] if score else None,
        floor=parts.get("floor"),
        ending=ending,
        stop_reason=sys.intern(str(outcome.get("stop_reason") or "")),
        steps=int(outcome.get("steps") or 0),
        tokens=sum(usage.total_tokens for usage in sample.model_usage.values()),
        seconds=float(sample.total_time or 0.0),
        level=sys.intern(str(outcome.get("level") or "")),
        parts={sys.intern(key): value for key, value in parts.items() if _single(value)},
        checks=tuple(_checks(parts.get("checks"))),
        usage=_usage(sample),
        known_bad=bool(facts.get("known_defects") or facts.get("defects") or parts.get("known_bad")),
        fault=sys.intern(fault.partition(":")[0][:60] or "unknown") if failed else "",
    )


def _single(value: Any) -> bool:
    """Numbers, and words that name a kind; no texts and hashes."""
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 60)


def _checks(records: Any) -> Iterator[Check]:
    for record in records if isinstance(records, list) else ():
        yield Check(sys.intern(str(record["item"])), bool(record["passed"]), bool(record.get("passed_at_start")))


def _usage(sample: Sample) -> dict[str, tuple[int, int, float]]:
    """Tokens and dollars of the agent and of every named role; the agent's are what no role used."""
    if not sample.role_usage and len(sample.model_usage) == 1:
        (used_by_agent,) = sample.model_usage.values()
        return {"agent": (used_by_agent.input_tokens, used_by_agent.output_tokens, used_by_agent.total_cost or 0.0)}
    roles = {role: (u.input_tokens, u.output_tokens, u.total_cost or 0.0) for role, u in sample.role_usage.items()}
    every = [(u.input_tokens, u.output_tokens, u.total_cost or 0.0) for u in sample.model_usage.values()]
    used = [
        sum(column) - sum(role[index] for role in roles.values())
        for index, column in enumerate(zip(*every, strict=True))
    ]
    if not used:
        return roles
    return {"agent": (int(used[0]), int(used[1]), max(float(used[2]), 0.0)), **roles}


def _model_name(role: Any) -> str:
    first = role[0] if isinstance(role, list) and role else role
    return str(getattr(first, "model", "") or "")


def _ending(sample: Sample, outcome: dict[str, Any]) -> str:
    if sample.error is not None and outcome.get("ending") in (None, "scored", UNSCORED):
        return "infrastructure_error"
    return str(outcome.get("ending") or "infrastructure_error")
