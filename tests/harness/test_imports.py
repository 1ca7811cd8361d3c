"""What RL uses in its hot loop stays light."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import harness

ROOT = Path(harness.__file__).parents[1]
HOT = ("harness.episode", "harness.rollout", "harness.reference", "harness.trusted")


@cache
def modules_after(module: str) -> frozenset[str]:
    """Every module loaded by importing one in a fresh interpreter."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return frozenset(done.stdout.split())


@pytest.mark.parametrize("module", HOT)
@pytest.mark.parametrize(
    "heavy", ["inspect_ai", "torch", "transformers", "pandas", "numpy", "openai", "pydantic", "asyncio", "time_machine"]
)
def test_importing_the_core_leaves_the_stack_alone(module: str, heavy: str) -> None:
    assert heavy not in modules_after(module)


@pytest.mark.parametrize("module", HOT)
@pytest.mark.parametrize("room", ["envscaler", "benchmarks", "adapters", "training", "results"])
def test_the_core_imports_no_other_room(module: str, room: str) -> None:
    assert room not in modules_after(module)


@pytest.mark.parametrize("module", ["harness.state", "harness.runtime", "harness.determinism"])
def test_what_children_load_imports_nothing_of_ours_but_states(module: str) -> None:
    ours = {name for name in modules_after(module) if name.startswith("harness")}
    assert ours <= {"harness", "harness.state", module}
