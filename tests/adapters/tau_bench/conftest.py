from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.tau_bench import TauBenchEnvironment, open_domain
from harness.artifacts import MissingData, find
from tests.adapters.tau_bench import world


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of our own small Tau-Bench."""
    return world.write(tmp_path_factory.mktemp("world"))


@pytest.fixture
def environment(small: Path) -> Callable[[str], TauBenchEnvironment]:
    """Fresh environments of the small Tau-Bench, by domain."""
    return lambda domain: TauBenchEnvironment(open_domain(domain, small))


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder of the real data."""
    try:
        return find("tau_bench")
    except MissingData as missing:
        pytest.skip(str(missing))
