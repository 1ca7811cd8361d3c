"""Facts of a loaded benchmark that its logs carry: whether somebody is simulated, and which data were read."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark, Sample
from benchmarks.registry import Loaded
from envscaler.scenarios.corpus import BUNDLED
from harness.artifacts import find

LARGE = 1 << 28
"""Bytes of one file above which its size stands for its content: the public release has a file of 700 MB."""


def one_of_each(ready: Loaded) -> list[Sample]:
    """The first sample of each subset: they are played alike."""
    first: dict[str, Sample] = {}
    for sample in ready.samples:
        first.setdefault(sample.subset, sample)
    return list(first.values())


def simulates_user(ready: Loaded) -> bool:
    """Whether any of its samples is played with a simulated user."""
    return any(sample.case().brief.user is not None for sample in one_of_each(ready))


def fingerprints(benchmark: Benchmark, corpus: Any = None) -> dict[str, str]:
    """Artifact -> the first 16 hex digits of the sha256 of all its files.

    Args:
        corpus: Path of the scenarios' corpus; None is the bundled one.
    """
    found = {artifact.name: _fingerprint(find(artifact.name)) for artifact in benchmark.artifacts}
    if benchmark.name == "scenarios":
        found["corpus"] = _fingerprint(BUNDLED if corpus in (None, "bundled") else Path(str(corpus)))
    return found


@lru_cache(maxsize=32)
def _fingerprint(place: Path) -> str:
    whole = hashlib.sha256()
    files = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())
    for path in files:
        name = path.relative_to(place).as_posix()
        if "__pycache__" in path.parts or any(part.startswith(".") for part in path.relative_to(place).parts):
            continue
        size = path.stat().st_size
        if size > LARGE:
            content = str(size)
        else:
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        whole.update(f"{name}\0{content}\n".encode())
    return whole.hexdigest()[:16]
