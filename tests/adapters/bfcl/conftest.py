from __future__ import annotations

import os
from pathlib import Path

import pytest

from adapters.bfcl import PINS, Pair, open_pair
from harness.artifacts import MissingData


@pytest.fixture(params=list(PINS))
def pair(request: pytest.FixtureRequest) -> Pair:
    """A real release; without its wheel the test is skipped with the command that fetches it."""
    try:
        return open_pair(request.param)
    except MissingData as missing:
        pytest.skip(str(missing))


@pytest.fixture
def oracles() -> Path:
    """The folder of recorded verdicts, beside the data."""
    folder = Path(os.environ.get("ENVSCALER_DATA", "")).parent / "oracles"
    if "ENVSCALER_DATA" not in os.environ or not folder.is_dir():
        pytest.skip("recorded verdicts not found; set ENVSCALER_DATA to the data folder that they lie beside")
    return folder
