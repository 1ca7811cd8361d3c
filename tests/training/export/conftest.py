from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import small_corpus
from tests.training.server.test_http import served
from training.demo.model import tokenizer as demo_tokenizer


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    """A tokenizer of ours with the stock template of Qwen3."""
    import trl

    made = demo_tokenizer([("apple", 1), ("bag", 2)])
    made.chat_template = (Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text()
    return made


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_corpus.write(tmp_path_factory.mktemp("corpus"), scenarios=4)


@pytest.fixture(scope="session")
def server(shelf: Path) -> Iterator[str]:
    with served(shelf, "--max-steps", "4") as (url, _):
        yield url
