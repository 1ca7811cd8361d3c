"""Bars and learning curves as files."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as tree
from pathlib import Path

import pytest

from results.plots import bars, checkpoint_step, curve
from results.table import lines
from tests.envscaler.playground import door, refused
from tests.results.playground import log, read_of, row, sample, scored


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("checkpoint/runs/sft/checkpoint-200", ("checkpoint/runs/sft", 200)),
        ("checkpoint/runs/rl/step_40/", ("checkpoint/runs/rl", 40)),
        ("openai/gpt-4.1", None),
        ("checkpoint/final", None),
    ],
)
def test_a_checkpoint_is_known_by_the_end_of_its_name(model: str, found: tuple[str, int] | None) -> None:
    assert checkpoint_step(model) == found


def checkpoints(*steps: int) -> list:  # type: ignore[type-arg]
    return lines(
        read_of(
            *(row(f"s{i}", 1, float(i < step // 100), model=f"p/checkpoint-{step}") for step in steps for i in range(4))
        )
    )


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_both_plots_are_files_of_their_kind_and_alike_each_time(tmp_path: Path, kind: str) -> None:
    for name, draw in (("bars", bars), ("curve", curve)):
        files = [tmp_path / f"{name}{index}.{kind}" for index in (1, 2)]
        for file in files:
            draw(checkpoints(100, 200, 300), file)
        data = files[0].read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n" if kind == "png" else tree.fromstring(data).tag.endswith("svg")
        if kind == "png":
            assert data == files[1].read_bytes()
    assert len(list(tmp_path.iterdir())) == 4


def test_a_curve_stands_in_the_order_of_its_steps() -> None:
    assert [line.model for line in checkpoints(300, 100, 1000)] == [f"p/checkpoint-{n}" for n in (100, 300, 1000)]


def test_what_cannot_be_drawn_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log(tmp_path, sample("s1", 1, scored(1.0)))
    assert refused(door("results", "plot", tmp_path, "--to", tmp_path / "a.pdf")).endswith("must end in .png or .svg")
    curved = refused(door("results", "plot", tmp_path, "--kind", "curve", "--to", tmp_path / "a.png"))
    assert curved == "a curve needs two models whose names end in checkpoint-STEP, on the same column"
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "pip install 'envscaler[plots]'" in refused(door("results", "plot", tmp_path, "--to", tmp_path / "a.png"))
    assert not list(tmp_path.glob("a.*"))
