"""What the tasks of the published benchmarks say: what training data must not repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.benchmark import Sample
from benchmarks.registry import loaded
from harness.errors import SettingError, near_miss

PARTS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "bfcl_multi_turn": ({"version": "v3"}, {"version": "v4"}),
    "tau_bench": ({"split": "all"},),
    "acebench_agent": ({"language": "en"}, {"language": "zh"}),
}
"""Benchmark -> parameters of all that it has."""


def published(name: str) -> str:
    """The name of a published benchmark by its name or how that begins.

    Raises:
        SettingError: If there is none.
    """
    for known in PARTS:
        if name and known.startswith(name):
            return known
    raise SettingError(f"no published benchmark '{name}'; {near_miss(name, list(PARTS))}")


def task_texts(name: str) -> dict[str, str]:
    """Sample -> everything its user says or wants: fixed turns, or the goal of the simulated user.

    Args:
        name: A published benchmark. All its versions, splits and languages are read; a sample of several has its
            parameters in its name.
    Raises:
        MissingData: If its data are not on this machine.
    """
    found: dict[str, str] = {}
    for part in PARTS[name]:
        several = len(PARTS[name]) > 1
        label = ",".join(f"{key}={value}" for key, value in part.items()) if several else ""
        # The benchmark's own protocol: it needs no prompts but its own.
        for sample in loaded(name, "official", **part).samples:
            found[f"{name} {sample.id} {label}".rstrip()] = _said(sample)
    return found


def _said(sample: Sample) -> str:
    brief = sample.case().brief
    return brief.user().goal if brief.user is not None else "\n".join(turn.text for turn in brief.turns)
