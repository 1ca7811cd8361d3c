"""Fetching the data: found by content wherever it lies, checked before anything is written, never executed."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from adapters.acebench import pull as pulling
from adapters.acebench.task import load_prompts, load_tasks, load_world
from harness.errors import DataError, SettingError


@pytest.fixture
def checkout(real: Path, tmp_path: Path) -> Path:
    """A repository such as the benchmark's: data files, and seed state and prompts as literals in Python files."""
    root = tmp_path / "ACEBench-pinned"
    for language in ("en", "zh"):
        for path in (real / language).rglob("data_agent_*.json"):
            _write(root / f"data_all/data_{language}" / path.relative_to(real / language), path.read_bytes())
        world = json.loads((real / language / "world.json").read_text())
        _write(root / f"loop/scenarios{language}/classes.py", _classes(world).encode())
    prompts = json.loads((real / "prompts.json").read_text())
    for section in pulling.PROMPTS:
        module = "".join(f"{name} = {text!r}\n" for name, text in prompts[section].items())
        _write(root / "loop" / f"{section}.py", module.encode())
    _write(root / "LICENSE.md", b"A licence.")
    _write(root / "setup.py", b"raise SystemExit('executed')")
    _write(root / "old.py", b"print 'of another Python'")
    return root


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _classes(world: dict[str, dict[str, Any]]) -> str:
    """Classes whose constructors assign the seed state; one takes its device from its base, as the benchmark's does."""
    text = ""
    for name, seed in world.items():
        base = "(BaseApi)" if name == "MessageApi" else ""
        own = {key: value for key, value in seed.items() if not base or key not in world["BaseApi"]}
        text += f"class {name}{base}:\n    def __init__(self):\n"
        text += "        super().__init__()\n" if base else ""
        text += "".join(f"        self.{key}: object = {value!r}\n" for key, value in own.items())
        text += "        self.clock = open('never')\n"
    return text


@pytest.mark.parametrize("form", ["folder", "archive", "own folder"])
def test_a_source_is_read_in_any_form(real: Path, checkout: Path, tmp_path: Path, form: str) -> None:
    source = {"folder": checkout, "archive": tmp_path / "all.zip", "own folder": tmp_path / "made"}[form]
    if form == "archive":
        with zipfile.ZipFile(source, "w") as archive:
            for path in checkout.rglob("*"):
                archive.write(path, path.relative_to(tmp_path))
    if form == "own folder":
        pulling.pull(str(checkout), source)
    folder = tmp_path / "acebench"
    pulling.pull(str(source), folder)
    for language in ("en", "zh"):
        assert load_tasks(folder, language) == load_tasks(real, language)
        assert load_world(folder, language).seed == load_world(real, language).seed
    theirs = load_prompts(real)
    assert all(
        theirs[section][name] == text for section, texts in load_prompts(folder).items() for name, text in texts.items()
    )
    assert (folder / pulling.LICENCE).read_text() == "A licence."


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("data_all/data_en/data_agent_multi_step.json", "en/data_agent_multi_step.json: not found"),
        ("loop/scenarioszh/classes.py", "zh: "),
        ("loop/policy.py", "policy: "),
        ("LICENSE.md", "no licence file"),
    ],
)
def test_nothing_is_written_if_a_file_is_missing_or_changed(
    checkout: Path, tmp_path: Path, path: str, problem: str
) -> None:
    (checkout / path).unlink()
    with pytest.raises(DataError, match=problem):
        pulling.pull(str(checkout), tmp_path / "acebench")
    assert not (tmp_path / "acebench").exists()


def test_a_folder_without_the_benchmark_is_refused(tmp_path: Path) -> None:
    _write(tmp_path / "source" / "data_agent_multi_step.json", b'{"id": "agent_multi_step_0"}')
    with pytest.raises(DataError, match="no file has the pinned sha256"):
        pulling.pull(str(tmp_path / "source"), tmp_path / "acebench")
    assert not (tmp_path / "acebench").exists()


def test_a_source_that_is_not_there_is_a_setting_error(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="nowhere"):
        pulling.pull(str(tmp_path / "nowhere"), tmp_path / "acebench")
