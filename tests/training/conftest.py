from __future__ import annotations

from pathlib import Path

import pytest

from tests.training import tiny


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Two threads spin against whatever else the machine does."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_checkpoint(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="session")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def trajectories(tmp_path_factory: pytest.TempPathFactory, tasks: Path) -> Path:
    return tiny.write_recorded(tmp_path_factory.mktemp("data") / "trajectories.jsonl", tasks)
