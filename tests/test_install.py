"""The package as users install it: `envscaler/...` is found from any folder, editable and not (DESIGN section 2)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parent.parent

EVALUATE = """
from inspect_ai import eval
import envscaler
assert envscaler.__file__.startswith({home!r}), envscaler.__file__
(log,) = eval("envscaler/scenarios", model="reference/oracle", task_args=dict(environments="hotel_front_desk", limit=1),
              epochs=1, log_dir="logs", display="none")
assert log.status == "success", log.error
assert log.eval.task == "envscaler/scenarios", log.eval.task
assert [step.solver for step in log.plan.steps] == ["envscaler/episode"], log.plan
assert [scorer.name for scorer in log.eval.scorers] == ["envscaler/outcome"], log.eval.scorers
assert log.samples[0].scores["envscaler/outcome"].value["reward"] == 1.0
"""


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--disable-pip-version-check", *arguments], check=True, capture_output=True, text=True)


def evaluate(folder: Path, home: Path, environment: dict[str, str]) -> None:
    """Run a task by its registered name, far from the checkout."""
    folder.mkdir()
    run = subprocess.run(
        [sys.executable, "-c", EVALUATE.format(home=str(home))],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]


def test_an_ordinary_install_is_found_from_any_folder(tmp_path: Path) -> None:
    # Inspect takes a package for installed by the name of the folder it lies in.
    site = tmp_path / "site-packages"
    pip("--target", str(site), str(ROOT))
    evaluate(tmp_path / "elsewhere", site, {"PYTHONPATH": str(site)})
    packages = {path.name for path in site.iterdir() if path.is_dir() and "." not in path.name}
    assert packages - {"bin"} == {"adapters", "benchmarks", "envscaler", "harness", "results", "training"}


def test_an_editable_install_is_found_from_any_folder(tmp_path: Path) -> None:
    installed = json.loads(distribution("envscaler").read_text("direct_url.json") or "{}")
    assert installed.get("dir_info", {}).get("editable"), (
        "the tests run in an editable install; make one with: make test"
    )
    evaluate(tmp_path / "elsewhere", ROOT, {})
