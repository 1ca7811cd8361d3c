"""The table as text: every format tells the same figures."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from envscaler import __version__
from results.provenance import provenance, remarks
from results.read import read
from results.render import Format, render
from results.table import Figure, Line, lines
from tests.envscaler.playground import door, refused
from tests.results.playground import log, sample, scored

LINE = Line(
    model="m",
    benchmark="bench",
    version="1-A",
    protocol="paper",
    settings="prompts=release",
    column="Base",
    reward=Figure(200 / 3, 1 / 3, 60.0, 220 / 3),
    success=Figure(50.0, None),
    samples=12,
    runs=3,
    floor=None,
    faults=1,
    errors=2,
)
FIGURES = ["66.67", "0.33", "60.0-73.3", "50.00", "-", "-", "12", "3", "-", "1", "2"]


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_a_table_has_two_decimals_and_a_dash_for_what_does_not_exist(form: Format) -> None:
    text = render([LINE], form, ["one log is missing"])
    (found,) = (line for line in text.splitlines() if "66.67" in line)
    cells = [cell.strip() for cell in found.split("|") if cell] if form == "markdown" else found.split()
    start = ["m", "bench 1-A", "paper prompts=release", "Base"]
    assert cells == [*(start if form == "markdown" else " ".join(start).split()), *FIGURES]
    assert text.splitlines()[-1] == "note: one log is missing"  # nothing else was given
    assert "faults and errors are in no average" in text


def test_a_bar_in_a_name_does_not_break_a_markdown_row() -> None:
    text = render([replace(LINE, model="a|b")], "markdown")
    widths = {line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("|")}
    assert widths == {16}


def test_csv_has_full_precision_and_empty_cells() -> None:
    (found,) = csv.DictReader(io.StringIO(render([LINE], "csv", ["note"])))
    assert float(found["reward"]) == 200 / 3
    assert {name: found[name] for name in list(found)[:16]} == {
        "model": "m",
        "benchmark": "bench",
        "version": "1-A",
        "protocol": "paper",
        "settings": "prompts=release",
        "column": "Base",
        "reward": repr(200 / 3),
        "reward_sd": repr(1 / 3),
        "success": "50.0",
        "success_sd": "",
        "samples": "12",
        "runs": "3",
        "floor": "",
        "faults": "1",
        "errors": "2",
        "unscored": "0",
    }


def test_json_has_every_field_and_the_notes() -> None:
    found = json.loads(render([LINE], "json", ["one"]))
    assert found["notes"] == ["one"]
    assert found["lines"][0]["reward"] == {"mean": 200 / 3, "deviation": 1 / 3, "low": 60.0, "high": 220 / 3}
    assert found["lines"][0]["floor"] is None
    assert found["lines"][0]["version"] == "1-A"


@pytest.mark.parametrize("form", ["terminal", "markdown", "latex", "csv", "json"])
def test_the_command_prints_a_folder_in_each_format(tmp_path: Path, form: Format) -> None:
    log(tmp_path, sample("s1", 1, scored(1.0)), sample("s2", 1, scored(0.0)), whole=2)
    result = door("results", tmp_path, "--format", form)
    found = read(tmp_path)
    table = lines(found)
    assert result.exit_code == 0
    if form == "json":
        record = json.loads(result.output)
        assert record["lines"] == json.loads(render(table, "json"))["lines"]
        assert record["provenance"]["version"] == __version__
        return
    expected = render(table, form, remarks(found, table), provenance=provenance(found, "COMMAND", __version__))
    shown, start = result.output.splitlines(), ("made ", "% made ")
    assert [text for text in shown if not text.startswith(start)] == [
        text for text in expected.splitlines() if not text.startswith(start)
    ]
    assert sum(text.startswith(start) for text in shown) == (form != "csv")


def test_the_command_refuses_a_folder_without_logs(tmp_path: Path) -> None:
    assert refused(door("results", tmp_path)) == f"{tmp_path}: no samples of envscaler tasks"
    assert refused(door("results", tmp_path / "nowhere")) == f"{tmp_path / 'nowhere'}: no such folder"
