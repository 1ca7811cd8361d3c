"""`envscaler collect`: what a teacher played is filtered into a folder, and a killed collection goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests import small_corpus
from tests.envscaler.playground import door, lines, refused
from tests.training.collection.small import alone, called, scored, talked
from training.collection import Filters, sources

PLAY = ("--user", "reference/scripted_user", "--display", "none")


def rows(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scenarios, played by the oracle in both settings."""
    folder = tmp_path_factory.mktemp("collect")
    corpus = small_corpus.write(folder / "corpus")
    result = door("collect", "--model", "reference/oracle", "--corpus", corpus, "--to", folder / "out", *PLAY)
    assert result.exit_code == 0, result.output
    return folder


def test_the_oracles_episodes_are_all_kept(played: Path) -> None:
    card = json.loads((played / "out" / "card.json").read_text())
    # In the conversation setting the small task is told in two parts: two calls and two messages are four steps.
    assert card["counts"] == {
        "read": 4,
        "kept": 2,
        "dropped": 2,
        "faults": 0,
        "scored": 4,
        "unscored": 0,
        "mean_reward": 1.0,
        "solved": 4,
    }
    assert {(row["setting"], row["reasons"][0]["detail"]) for row in rows(played / "out" / "dropped.jsonl")} == {
        ("conversation", "4 steps, not 5 to 39")
    }
    (source,) = card["sources"]
    assert (source["model"], source["user"]) == ("reference/oracle", "reference/scripted_user")
    assert (source["protocol"]["name"], source["seed"], source["parameters"]["setting"]) == ("paper", None, "all")
    assert set(source["versions"]) >= {"envscaler", "inspect-ai", "python"}


def test_what_is_kept_can_be_replayed(played: Path) -> None:
    found = rows(played / "out" / "trajectories.jsonl")
    assert [row["sample_id"] for row in found] == [f"shelf-task_{n}/non_conversation" for n in (1, 2)]
    assert {(row["env_id"], row["setting"], row["stop_reason"]) for row in found} == {
        ("shelf", "non_conversation", "agent_done")
    }
    options = ("-T", "setting=all", "-T", f"corpus={played / 'corpus'}", "--compare")
    result = door("replay", "scenarios", played / "out" / "trajectories.jsonl", *options)
    again = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(line["score"], line["differences"]) for line in again] == [(1.0, []), (1.0, [])]


def test_started_again_nothing_is_played_and_the_same_is_written(played: Path) -> None:
    before = {name: (played / "out" / name).read_bytes() for name in ("trajectories.jsonl", "dropped.jsonl")}
    logs = sorted((played / "out" / "logs").glob("*.eval"))
    command = ("collect", "--model", "reference/oracle", "--corpus", played / "corpus", "--to", played / "out", *PLAY)
    assert door(*command).exit_code == 0
    assert {name: (played / "out" / name).read_bytes() for name in before} == before
    assert sorted((played / "out" / "logs").glob("*.eval")) == logs


def test_logs_and_what_was_collected_from_them_are_collected_alike(played: Path, tmp_path: Path) -> None:
    options = ("--turns", "4-39")
    assert door("collect", "--from", played / "out" / "logs", "--to", tmp_path / "a", *options).exit_code == 0
    file = tmp_path / "a" / "trajectories.jsonl"
    assert len(rows(file)) == 4
    assert door("collect", "--from", file, "--to", tmp_path / "b", *options).exit_code == 0
    assert (tmp_path / "b" / "trajectories.jsonl").read_bytes() == file.read_bytes()


def test_scenarios_without_checks_are_played_and_kept_by_the_other_filters(tmp_path: Path) -> None:
    corpus = small_corpus.write(tmp_path / "corpus", scenarios=3, unchecked=(1, 2))
    command = ("collect", "--model", "reference/oracle", "--corpus", corpus, "--setting", "non_conversation", *PLAY)
    result = door(*command, "--to", tmp_path / "all")
    assert result.exit_code == 0, result.output
    assert "2 were never scored; the reward filter says nothing of them" in result.stdout
    card = json.loads((tmp_path / "all" / "card.json").read_text())
    counts = {name: card["counts"][name] for name in ("read", "kept", "faults", "scored", "unscored", "mean_reward")}
    assert counts == {"read": 3, "kept": 3, "faults": 0, "scored": 1, "unscored": 2, "mean_reward": 1.0}
    kept = rows(tmp_path / "all" / "trajectories.jsonl")
    assert [(row["outcome"]["ending"], row["outcome"]["score"] is None) for row in kept] == [
        ("unscored", True),
        ("unscored", True),
        ("scored", False),
    ]
    assert door("collect", "--from", tmp_path / "all" / "trajectories.jsonl", "--to", tmp_path / "b").exit_code == 0
    assert json.loads((tmp_path / "b" / "card.json").read_text())["counts"] == card["counts"]
    result = door(*command, "--to", tmp_path / "some", "-T", "unchecked=skip")
    assert result.exit_code == 0, result.output
    assert "envscaler: scenarios: 2 scenarios are left out, for want of checks" in result.stderr
    assert [row["sample_id"] for row in rows(tmp_path / "some" / "trajectories.jsonl")] == ["shelf-task_3"]
    refusal = refused(door(*command, "--to", tmp_path / "none", "-T", "unchecked=refuse"))
    assert refusal.startswith("scenarios: 2 of 3 scenarios have no checks")


def test_the_card_says_why_each_was_dropped(tmp_path: Path) -> None:
    fault = {**alone(), "outcome": {"ending": "environment_fault", "score": None, "fault": "timeout: 5 s"}}
    unscored = {**alone(called(0), called(1), called(2)), "outcome": None}
    poor = scored(alone(called(0), last="No."), 0.5)
    file = lines(tmp_path / "t.jsonl", alone(), alone(), talked(), fault, unscored, poor)
    result = door("collect", "--from", file, "--to", tmp_path / "out")
    assert result.exit_code == 0, result.output
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["counts"]["read"] == 6
    assert card["counts"]["kept"] == 3
    assert card["counts"]["faults"] == 1
    reasons = {name: (one["first"], one["all"]) for name, one in card["reasons"].items() if one["all"]}
    assert reasons == {"fault": (1, 1), "completion": (1, 1), "length": (0, 1), "reward": (0, 1), "duplicate": (1, 1)}
    assert card["steps"]["non_conversation"]["histogram_kept"] == {"3": 1, "4": 1}
    assert card["rewards"] == {"0.5": 1, "1": 3}
    dropped = rows(tmp_path / "out" / "dropped.jsonl")
    assert [[reason["filter"] for reason in row["reasons"]] for row in dropped] == [
        ["duplicate"],
        ["fault"],
        ["completion", "length", "reward"],
    ]
    told = (tmp_path / "out" / "card.md").read_text()
    assert "6 trajectories: 3 kept (50.0 %), 2 dropped, 1 faults" in told
    assert "1 were never scored; the reward filter says nothing of them" in told
    assert "shelf-task_1/non_conversation, run 1: fault: timeout: 5 s" in told
    assert told.splitlines()[0] in result.stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "give either --model, to play scenarios, or --from, to read trajectories"),
        (("--model", "reference/oracle", "--from", "x"), "give either --model"),
        (("--from", "x", "--limit", "3"), "--limit is about playing; --from reads what was played"),
        (("--from", "x", "--without", "lenght"), "--without lenght: no such filter; did you mean 'length'?"),
        (("--from", "x", "--steps", "9-3"), "--steps 9-3: must be LEAST-MOST, e.g. 3-29"),
        (("--from", "nowhere"), "nowhere: no such file or folder"),
        (("--model", "reference/oracle"), "scenarios: a user is simulated and none is named"),
        (("--model", "reference/orcale", "--setting", "non_conversation"), "model reference/orcale: no model"),
    ],
)
def test_what_cannot_be_done_is_told_before_anything_is_written(
    tmp_path: Path, options: tuple[str, ...], sentence: str
) -> None:
    assert refused(door("collect", "--to", tmp_path / "out", *options)).startswith(sentence)
    assert not (tmp_path / "out").exists()


def test_a_threshold_is_a_number_that_a_reward_can_have(tmp_path: Path) -> None:
    for reward in ("nan", "1.5", "-inf"):
        result = door("collect", "--from", "x", "--to", tmp_path / "out", "--reward", reward)
        assert (result.exit_code, f"{reward} is not in the range 0<=x<=1" in result.output) == (2, True)


def test_what_is_read_is_never_replaced_by_what_is_kept_of_it(tmp_path: Path) -> None:
    file = lines(tmp_path / "trajectories.jsonl", alone(), scored(alone(), 0.5))
    (tmp_path / "same").symlink_to(tmp_path)
    before = file.read_bytes()
    told = refused(door("collect", "--from", file, "--to", tmp_path / "same"))
    assert told.startswith(f"--from {file}: would be replaced by what is kept of it")
    assert [file.read_bytes(), sorted(path.name for path in tmp_path.iterdir())] == [before, ["same", file.name]]


def test_halves_of_characters_are_told_as_escapes(tmp_path: Path) -> None:
    file = lines(tmp_path / "t.jsonl", alone(), {**alone(last="No."), "sample_id": "jam\ud83d"})
    result = door("collect", "--from", file, "--to", tmp_path / "out")
    assert result.exit_code == 0, result.output
    for told in (result.stdout, (tmp_path / "out" / "card.md").read_text()):
        assert "- jam\\ud83d, run 1: completion" in told


def test_what_inspect_recovered_of_a_killed_run_keeps_its_trajectory(played: Path, tmp_path: Path) -> None:
    """A recovered sample has events and no store."""
    (log,) = (played / "out" / "logs").glob("*.eval")
    with zipfile.ZipFile(log) as old, zipfile.ZipFile(tmp_path / log.name, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name.startswith("samples/"):
                sample = json.loads(data)
                assert sample["store"].pop("envscaler")
                data = json.dumps(sample).encode()
            new.writestr(name, data)
    recovered, whole = (list(sources([place]).candidates) for place in (tmp_path / log.name, log))
    assert len(whole) == 4
    assert recovered == whole


def test_a_sample_without_any_record_is_a_fault(played: Path, tmp_path: Path) -> None:
    (log,) = (played / "out" / "logs").glob("*.eval")
    with zipfile.ZipFile(log) as old, zipfile.ZipFile(tmp_path / log.name, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name.startswith("samples/"):
                data = json.dumps({**json.loads(data), "store": {}, "events": [], "error": None}).encode()
            new.writestr(name, data)
    for one in sources([tmp_path / log.name]).candidates:
        (reason,) = Filters().reasons(one)
        assert (reason.name, reason.detail) == ("fault", "the log holds no trajectory of this sample")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, None])
def test_a_damaged_sample_of_a_log_is_one_sentence_and_nothing_is_written(
    played: Path, tmp_path: Path, method: int | None
) -> None:
    (log,) = (played / "out" / "logs").glob("*.eval")
    copy = tmp_path / log.name
    if method is None:
        copy.write_bytes(log.read_bytes())
    else:
        with zipfile.ZipFile(log) as old, zipfile.ZipFile(copy, "w", method) as new:
            for name in old.namelist():
                new.writestr(name, old.read(name))
    with zipfile.ZipFile(copy) as archive:
        part = next(info for info in archive.infolist() if info.filename.startswith("samples/"))
    data = bytearray(copy.read_bytes())
    middle = part.header_offset + 30 + len(part.filename) + part.compress_size // 2
    data[middle : middle + 4] = bytes(byte ^ 255 for byte in data[middle : middle + 4])
    copy.write_bytes(data)
    told = refused(door("collect", "--from", copy, "--to", tmp_path / "out"))
    assert told.startswith(f"{copy}: {part.filename}: cannot be read (")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_killed_collection_goes_on_and_plays_nothing_twice(tmp_path: Path) -> None:
    """SIGKILL in the middle, then the same command; the machine's settings ask for another format of logs."""
    corpus = small_corpus.write(tmp_path / "corpus", scenarios=8)
    code = "import sys; sys.argv[0] = 'envscaler'; from envscaler.cli import main; main()"
    command = [sys.executable, "-c", code, "collect", "--model", "reference/oracle", "--corpus", str(corpus)]
    command += [
        "--setting",
        "non_conversation",
        "--without",
        "duplicate",
        "--max-samples",
        "1",
        "--display",
        "none",
        "--to",
        str(tmp_path / "out"),
    ]
    logs = tmp_path / "out" / "logs"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "INSPECT_LOG_FORMAT": "json"}
    run = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not any(_samples(path) for path in logs.glob("*.eval")):
        assert run.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline, "nothing was written"
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    before = {name: uuid for path in logs.glob("*.eval") for name, uuid in _samples(path).items()}
    assert not (tmp_path / "out" / "trajectories.jsonl").exists()
    again = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert again.returncode == 0, again.stderr[-3000:]
    after = {name: uuid for path in sorted(logs.glob("*.eval")) for name, uuid in _samples(path).items()}
    assert len(after) == 8
    assert {name: after[name] for name in before} == before
    assert len(rows(tmp_path / "out" / "trajectories.jsonl")) == 8
    assert "8 trajectories: 8 kept (100.0 %), 0 dropped, 0 faults" in again.stdout


def _samples(path: Path) -> dict[str, str]:
    """Sample -> id of its play; nothing while the log is being written."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.startswith("samples/")]
            return {name: json.loads(archive.read(name))["uuid"] for name in names}
    except (zipfile.BadZipFile, OSError):
        return {}
