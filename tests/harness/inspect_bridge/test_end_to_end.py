"""Whole evaluations through Inspect: reference agents, resuming after SIGKILL, scoring again, a served checkpoint."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as run_eval
from inspect_ai import score as score_again
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.scorer._scorer import as_scorer_spec, scorer_create

from envscaler._registry import outcome, scenarios
from results.read import read
from results.table import lines
from tests import small_corpus
from tests.harness.inspect_bridge.scripted_server import call, serving
from tests.harness.inspect_bridge.tiny_model import make

INSPECT = [sys.executable, "-m", "inspect_ai"]


def rewards(log: EvalLog) -> dict[tuple[str, int], Any]:
    assert log.samples is not None
    scored = [(sample, next(iter(sample.scores.values()))) for sample in log.samples if sample.scores]
    return {(str(sample.id), sample.epoch): score.as_dict()["reward"] for sample, score in scored}


@pytest.mark.parametrize(("agent", "reward"), [("oracle", 1.0), ("noop", 0.0)])
def test_reference_agents_score_their_truth_in_both_settings(tmp_path: Path, agent: str, reward: float) -> None:
    corpus = small_corpus.write(tmp_path / "corpus")
    log = run_eval(
        scenarios(corpus=str(corpus), setting="all"),
        model=f"reference/{agent}",
        model_roles={"user": "reference/scripted_user"},
        log_dir=str(tmp_path / "logs"),
        display="none",
        epochs=5 if agent == "noop" else None,
    )[0]
    assert log.status == "success"
    assert set(rewards(log).values()) == {reward}
    assert len(rewards(log)) == 2 * 2 * (5 if agent == "noop" else 3)
    table = {line.column: line for line in lines(read(tmp_path / "logs"))}
    assert [table[name].reward.mean for name in ("Non-Conversation", "Conversation")] == [100 * reward] * 2
    assert {line.floor for line in table.values()} == {0.0}
    assert log.eval.metadata is not None
    assert log.eval.metadata["protocol"]["name"] == "paper"
    assert log.samples is not None
    assert log.samples[0].store["envscaler"]["outcome"]["level"] == "isolated"
    assert log.eval.metadata["versions"]["inspect-ai"]


def test_a_simulated_user_must_be_named(tmp_path: Path) -> None:
    corpus = small_corpus.write(tmp_path / "corpus", scenarios=1)
    log = run_eval(
        scenarios(corpus=str(corpus), setting="conversation"),
        model="reference/oracle",
        log_dir=str(tmp_path / "logs"),
        display="none",
        epochs=1,
    )[0]
    assert log.samples is not None
    assert log.samples[0].error is not None
    assert "'user' is required" in log.samples[0].error.message
    assert log.samples[0].store["envscaler"]["outcome"]["ending"] == "infrastructure_error"


def test_a_log_is_scored_again_without_playing(tmp_path: Path) -> None:
    corpus = small_corpus.write(tmp_path / "corpus", scenarios=1)
    log = run_eval(
        scenarios(corpus=str(corpus)), model="reference/oracle", log_dir=str(tmp_path / "logs"), display="none"
    )[0]
    again = score_again(read_eval_log(log.location), outcome(), action="overwrite", display="none")
    assert again.status == "success"
    assert rewards(again) == rewards(log) == dict.fromkeys(rewards(log), 1.0)
    command = [*INSPECT, "score", log.location, "--overwrite", "--action", "overwrite"]
    for _ in range(2):  # what Inspect writes must name the scorer as the first log did
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "INSPECT_DISPLAY": "none"})
        scored = read_eval_log(log.location)
        assert rewards(scored) == rewards(log)
        assert [entry.name for entry in scored.eval.scorers or ()] == ["envscaler/outcome"]


@pytest.mark.parametrize("name", ["envscaler/outcome", "envscaler/quality"])
def test_a_scorer_is_found_by_the_name_that_it_has_in_logs(name: str) -> None:
    assert as_scorer_spec(scorer_create(name)).scorer == name


def test_an_environment_fault_is_an_error_and_no_zero(tmp_path: Path) -> None:
    corpus = small_corpus.write(tmp_path / "corpus", scenarios=2)
    source = corpus / "shelf" / "environment.py"
    ending = 'import os\n        os._exit(3) if len(self.jars) == 1 and self.jars["jam"] == 2 else None\n        return'
    source.write_text(source.read_text().replace("return", ending, 1))
    log = run_eval(
        scenarios(corpus=str(corpus)),
        model="reference/oracle",
        log_dir=str(tmp_path / "logs"),
        display="none",
        epochs=1,
    )[0]
    assert log.status == "success"
    (line,) = lines(read(tmp_path / "logs"))
    assert (line.reward.mean, line.samples, line.faults, line.errors) == (100.0, 2, 1, 0)


def test_what_has_no_checks_is_played_and_is_in_no_mean(tmp_path: Path) -> None:
    corpus = small_corpus.write(tmp_path / "corpus", scenarios=3, unchecked=(2,))
    task = scenarios(corpus=str(corpus), unchecked="play")
    log = run_eval(task, model="reference/oracle", log_dir=str(tmp_path / "logs"), display="none")[0]
    assert log.status == "success"
    assert log.results is not None
    assert [(score.name, score.scored_samples, score.unscored_samples) for score in log.results.scores] == [
        ("reward", 2, 1),
        ("success", 2, 1),
    ]
    reward, success = (score.metrics for score in log.results.scores)
    assert (reward["mean"].value, reward["grouped_shelf"].value, success["mean"].value) == (1.0, 1.0, 1.0)
    assert log.samples is not None
    bare = [sample for sample in log.samples if sample.id == "shelf-task_2"]
    assert [sample.store["envscaler"]["outcome"]["ending"] for sample in bare] == ["unscored"] * 3
    assert all(sample.error is None and len(sample.store["envscaler"]["messages"]) == 7 for sample in bare)
    (line,) = lines(read(tmp_path / "logs"))
    assert (line.reward.mean, line.samples, line.runs, line.faults, line.errors, line.unscored) == (100, 2, 3, 0, 0, 3)
    assert not line.readings
    again = score_again(read_eval_log(log.location), outcome(), action="overwrite", display="none")
    assert again.results is not None
    assert again.results.scores[0].unscored_samples == 1


@pytest.mark.parametrize("agent", ["oracle", "noop"])
def test_where_nothing_can_be_scored_there_is_no_mean(tmp_path: Path, agent: str) -> None:
    corpus = small_corpus.write(tmp_path / "corpus", scenarios=2, unchecked=(1, 2))
    task = scenarios(corpus=str(corpus), unchecked="play")
    log = run_eval(task, model=f"reference/{agent}", log_dir=str(tmp_path / "logs"), display="none", epochs=1)[0]
    assert log.status == "success"
    assert log.results is not None
    assert all(math.isnan(score.metrics["mean"].value) for score in log.results.scores)
    (line,) = lines(read(tmp_path / "logs"))
    assert (line.reward.mean, line.success.mean, line.floor) == (None, None, None)
    assert (line.samples, line.faults, line.errors, line.unscored) == (0, 0, 0, 2)


def test_what_is_left_out_is_told_in_the_log(tmp_path: Path) -> None:
    corpus = small_corpus.write(tmp_path / "corpus", scenarios=3, unchecked=(1, 2))
    task = scenarios(corpus=str(corpus), unchecked="skip")
    assert [sample.id for sample in task.dataset] == ["shelf-task_3"]
    assert task.metadata is not None
    assert (task.metadata["left_out"], task.metadata["parameters"]["unchecked"]) == (2, "skip")


def finished(log: Path) -> int:
    """Samples that a log file on disk holds so far."""
    try:
        with zipfile.ZipFile(log) as archive:
            return sum(name.startswith("samples/") for name in archive.namelist())
    except (zipfile.BadZipFile, FileNotFoundError):
        return 0


def test_a_killed_run_is_finished_by_starting_it_again(tmp_path: Path) -> None:
    """`eval-retry` keeps what was done before SIGKILL and plays the rest."""
    corpus = small_corpus.write(tmp_path / "corpus", scenarios=6)
    slow = True

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        spoken = sum(message["role"] == "assistant" for message in request["messages"])
        time.sleep(0.4 if slow else 0)
        return {"content": "Task Completed"} if spoken else {"tool_calls": [call("count", '{"name": "jam"}')]}

    environment = {**os.environ, "INSPECT_DISPLAY": "none"}
    logs = tmp_path / "logs"
    with serving(answer) as server:
        command = [*INSPECT, "eval", "envscaler/scenarios", "-T", f"corpus={corpus}", "--log-dir", str(logs)]
        command += ["--model", f"checkpoint/{server.url}", "--max-samples", "1", "--log-buffer", "1"]
        run = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 120
        while not (found := list(logs.glob("*.eval"))) or finished(found[0]) < 3:
            assert run.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < deadline, "no sample was written in two minutes"
            time.sleep(0.1)
        run.send_signal(signal.SIGKILL)
        run.wait()
        before = len(server.requests)
        done = finished(found[0])
        slow = False
        retry = [*INSPECT, "eval-retry", str(found[0]), "--log-dir", str(logs)]
        subprocess.run(retry, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        played = len(server.requests) - before
    newest = max(logs.glob("*.eval"), key=lambda path: path.stat().st_mtime)
    log = read_eval_log(str(newest))
    assert log.status == "success"
    assert len(rewards(log)) == 18
    assert 3 <= done < 18
    assert played == 2 * (18 - done)


@pytest.mark.slow
def test_a_tiny_checkpoint_is_served_and_evaluated_for_three_runs(tmp_path: Path) -> None:
    """The whole stack on CPU: a random Qwen3 behind `transformers serve`, three epochs of a scenario."""
    corpus = small_corpus.write(tmp_path / "corpus", scenarios=1)
    folder = make(tmp_path / "tiny")
    command = [*INSPECT, "eval", "envscaler/scenarios", "-T", f"corpus={corpus}", "--log-dir", str(tmp_path / "logs")]
    command += ["--model", f"checkpoint/{folder}", "--max-tokens", "8", "--max-connections", "1"]
    environment = {**os.environ, "INSPECT_DISPLAY": "plain", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=540, check=False)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    (path,) = (tmp_path / "logs").glob("*.eval")
    log = read_eval_log(str(path))
    assert log.status == "success"
    assert log.samples is not None
    assert sorted(sample.epoch for sample in log.samples) == [1, 2, 3]
    assert [sample.error for sample in log.samples] == [None] * 3
    assert all(usage.output_tokens > 0 for usage in log.stats.model_usage.values())
    assert len(rewards(log)) == 3


def test_a_person_at_the_terminal_may_be_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = iter(["Honey, please.", "###STOP###"])
    monkeypatch.setattr("builtins.input", lambda prompt="": next(said))
    corpus = small_corpus.write(tmp_path / "corpus", scenarios=1)
    log = run_eval(
        scenarios(corpus=str(corpus), setting="conversation"),
        model="reference/noop",
        model_roles={"user": "reference/human"},
        log_dir=str(tmp_path / "logs"),
        display="none",
        epochs=1,
    )[0]
    assert log.samples is not None
    record = log.samples[0].store["envscaler"]
    assert [message["content"] for message in record["messages"] if message["role"] == "user"] == [
        "Honey, please.",
        "###STOP###",
    ]
    assert record["stop_reason"] == "user_stop"
