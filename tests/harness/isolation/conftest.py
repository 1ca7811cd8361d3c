from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.isolation import IsolatedRunner
from harness.program import Limits


@pytest.fixture(scope="session")
def runner() -> Iterator[IsolatedRunner]:
    """A runner with the usual limits, shared: episodes leave nothing behind, or a test here fails."""
    with IsolatedRunner() as shared:
        yield shared


@pytest.fixture
def hasty() -> Iterator[IsolatedRunner]:
    """A runner of the test's own, with short deadlines and small caps."""
    limits = Limits(init_seconds=2, call_seconds=0.5, check_seconds=0.5, reply_bytes=10_000, state_bytes=20_000)
    with IsolatedRunner(limits) as own:
        yield own
