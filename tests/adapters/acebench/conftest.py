from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapters.acebench.environment import AceEnvironment
from adapters.acebench.task import load_world
from harness.artifacts import MissingData, find
from tests.adapters.acebench import small

Open = Callable[..., AceEnvironment]


@pytest.fixture(scope="session")
def small_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `ENVSCALER_DATA` names for our own small ACEBench."""
    return small.write(tmp_path_factory.mktemp("data"))


@pytest.fixture
def open_small(small_data: Path) -> Open:
    """Fresh environments of the small world: `open_small("MessageApi", wifi=True, language="zh")`."""
    world = load_world(small_data / "acebench", "en")

    def open_classes(*classes: str, language: str = "en", **device: bool) -> AceEnvironment:
        return AceEnvironment(world, classes, {"BaseApi": device}, (), language)

    return open_classes


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder of the real data."""
    try:
        return find("acebench")
    except MissingData as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def recorded(real: Path) -> Callable[[str], list[dict[str, Any]]]:
    """Recorded runs of official code, by file name."""

    def read(name: str) -> list[dict[str, Any]]:
        file = real.resolve().parent.parent / "oracles" / name
        if not file.exists():
            pytest.skip(f"{name} not found; the recorded runs lie in the folder 'oracles' beside ENVSCALER_DATA")
        with gzip.open(file) as lines:
            return [json.loads(line) for line in lines]

    return read
