"""A matrix of models and benchmarks: its plan, its file, and that a killed one goes on where it stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.matrix import Matrix, chosen, merged, plan, read_matrix
from benchmarks.registry import MODULES
from harness.artifacts import MissingData, find
from harness.errors import DataError, SettingError
from results.logfile import samples
from results.read import read
from tests import small_corpus
from tests.envscaler.playground import door, refused

MODELS = ("--model", "reference/oracle", "--model", "reference/noop")
USER = ("--user", "reference/scripted_user")


def small(folder: Path, scenarios: int = 2) -> tuple[str, ...]:
    """Options for the benchmark that needs no third-party data."""
    corpus = small_corpus.write(folder / "corpus", scenarios=scenarios)
    return ("--benchmarks", "scenarios", "-T", f"scenarios.corpus={corpus}")


def test_a_plan_counts_episodes_and_calls_and_starts_nothing(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    result = door("eval", *MODELS, *USER, *small(tmp_path), "--logs", logs, "--dry-run")
    assert result.exit_code == 0, result.output
    # Two scenarios in two settings, three runs; the oracle makes two calls and ends; limits are 30 and 40.
    (line,) = [line for line in result.output.splitlines() if line.startswith("scenarios ")]
    assert line.split()[-5:] == ["3", "12", "36", "420", "yes"]
    assert "in all 24 episodes; about 72 agent calls (as many as the oracles take), at most 840" in result.output
    assert "the user is reference/scripted_user; published figures have openai/gpt-4.1-2025-04-14" in result.output
    assert not logs.exists()


def test_what_is_missing_is_told_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVSCALER_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("ENVSCALER_CACHE", str(tmp_path / "cache"))
    options = ("--benchmarks", "scenarios,tau_bench", "--logs", tmp_path / "logs")
    sentence = refused(door("eval", "--model", "checkpoint/nowhere", "--model", "reference/orcale", *options))
    assert "scenarios: a user is simulated and none is named; give one with --user" in sentence
    assert "tau_bench: tau_bench data not found; fetch it with: envscaler data pull tau_bench" in sentence
    assert "model checkpoint/nowhere: checkpoint/nowhere: no config.json there" in sentence
    assert "model reference/orcale: no model 'reference/orcale'; did you mean 'oracle'?" in sentence
    assert not (tmp_path / "logs").exists()


def test_a_checkpoint_without_a_gpu_is_a_warning(tmp_path: Path) -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("there is a GPU here")
    pytest.importorskip("transformers")
    (tmp_path / "config.json").write_text("{}")
    matrix = Matrix(
        models=(f"checkpoint/{tmp_path}",),
        benchmarks=("scenarios",),
        logs=str(tmp_path / "logs"),
        parameters={"scenarios": {"setting": "non_conversation"}},
    )
    found = plan(matrix)
    assert found.missing == ()
    assert found.warnings == (f"model checkpoint/{tmp_path}: no GPU here; it is served on the CPU, which is slow",)


def test_a_file_holds_the_same_matrix_and_options_stand_above_it(tmp_path: Path) -> None:
    file = tmp_path / "matrix.toml"
    file.write_text(
        'models = ["reference/oracle"]\nbenchmarks = ["scenarios"]\nlogs = "logs/x"\nruns = 5\n'
        '[parameters.scenarios]\nsetting = "conversation"\nlevel = "isolated"\n'
    )
    matrix = merged(read_matrix(file), {"runs": 1, "user": None, "parameters": {"scenarios": {"level": "process"}}})
    assert (matrix.models, matrix.benchmarks, matrix.runs, matrix.logs) == (
        *(("reference/oracle",), ("scenarios",), 1, "logs/x"),
    )
    assert matrix.task_parameters("scenarios") == {"protocol": "paper", "setting": "conversation", "level": "process"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("models = [", "is not TOML"),
        ('modles = ["a"]', "modles: unknown; did you mean 'models'?"),
        ('models = "a"', "models: must be a list of texts"),
        ("models = [1]", "models: must be a list of texts"),
        ("runs = true", "runs: must be a whole number"),
        ("[parameters.tau_bnch]\nx = 1", "parameters.tau_bnch: is no benchmark; did you mean 'tau_bench'?"),
        ("[parameters]\ntau_bench = 1", "parameters.tau_bench: must be a table of task parameters"),
    ],
)
def test_a_broken_file_is_one_sentence(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "m.toml"
    file.write_text(text)
    with pytest.raises(DataError, match=r"^.*m\.toml: ") as caught:
        read_matrix(file)
    assert problem in str(caught.value)
    assert problem in refused(door("eval", "--config", file))


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    assert refused(door("eval", "--config", tmp_path / "m.toml")).endswith("cannot be read: No such file or directory")


def test_benchmarks_are_named_with_commas_or_all() -> None:
    assert chosen(["all"]) == tuple(MODULES)
    assert chosen(["tau_bench,scenarios", "tau_bench"]) == ("tau_bench", "scenarios")
    with pytest.raises(SettingError, match="no benchmark 'tau_bnch'; did you mean 'tau_bench'"):
        chosen(["tau_bnch"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--logs", "x"), "--model is missing"),
        (("--model", "reference/noop"), "--logs is missing"),
        (("-T", "setting=all"), "-T setting: must be BENCHMARK.NAME=VALUE"),
        (("-T", "scenario.setting=all"), "no benchmark 'scenario'; did you mean 'scenarios'?"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(options: tuple[str, ...], problem: str) -> None:
    assert refused(door("eval", *options)) == problem


def test_a_parameter_that_a_benchmark_refuses_is_missing_nothing_else(tmp_path: Path) -> None:
    options = (*small(tmp_path), "-T", "scenarios.setting=some", "--logs", tmp_path / "logs")
    assert refused(door("eval", *MODELS, *options)).startswith("scenarios: setting=some: unknown")


def finished(log: Path) -> int:
    """Samples that a log file on disk holds so far."""
    try:
        with zipfile.ZipFile(log) as archive:
            return sum(name.startswith("samples/") for name in archive.namelist())
    except (zipfile.BadZipFile, FileNotFoundError):
        return 0


def identities(logs: Path) -> dict[tuple[str, str, str, int], str | None]:
    """Model, benchmark, sample and run -> its play."""
    found: dict[tuple[str, str, str, int], str | None] = {}
    for path in sorted(logs.glob("*.eval")):
        if not finished(path):
            continue
        for row, sample in zip(read(path).rows, samples(str(path)), strict=True):
            name = row.model, row.benchmark, row.sample, row.run
            # Inspect leaves the killed log beside the one that finished it, which holds the same plays.
            assert found.setdefault(name, sample.uuid) == sample.uuid, f"{name} was played twice"
    return found


def test_a_killed_matrix_goes_on_and_plays_each_sample_once(tmp_path: Path) -> None:
    """Two reference models on all benchmarks whose data are here: SIGKILL half-way, then the same command again."""
    names = [name for name, data in NEEDS.items() if _here(data)]
    logs = tmp_path / "logs"
    code = "import sys; sys.argv[0] = 'envscaler'; from envscaler.cli import main; main()"
    command = [sys.executable, "-c", code, "eval", *MODELS, *USER, "--benchmarks", ",".join(names)]
    command += ["--limit", "1", "--runs", "2", "--logs", str(logs), "--max-samples", "1", "--display", "none"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 240
    while sum(map(finished, logs.glob("*.eval"))) < 3 * len(names):
        assert run.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline, "too few samples were written"
        time.sleep(0.02)
    run.send_signal(signal.SIGKILL)
    run.wait()
    before = identities(logs)
    again = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
    assert again.returncode == 0, again.stderr[-3000:]
    after = identities(logs)
    subsets = {"scenarios": 2, "bfcl_multi_turn": 4, "tau_bench": 2, "acebench_agent": 2}
    expected = {(model, name): 2 * subsets[name] for model in ("reference/oracle", "reference/noop") for name in names}
    assert Counter((model, name) for model, name, _, _ in after) == expected
    assert 0 < len(before) < len(after)
    # What was on disk stayed: it was not played again.
    assert {name: after[name] for name in before} == before
    found = read(logs)
    assert found.notes == []
    solved = {row.reward for row in found.rows if row.model == "reference/oracle"}
    assert solved == {1.0}
    assert "reference/oracle" in again.stdout


NEEDS = {
    "scenarios": (),
    "bfcl_multi_turn": ("bfcl",),
    "tau_bench": ("tau_bench", "envscaler_release_sample"),
    "acebench_agent": ("acebench", "envscaler_release_sample"),
}


def _here(artifacts: tuple[str, ...]) -> bool:
    try:
        return all(find(name) for name in artifacts)
    except MissingData:
        return False
