from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--oracle", default="sample", choices=["sample", "all"])
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files from what happens now")
