"""The whole of it, without network: recorded answers in, scenarios out; killed at any moment, it goes on."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from envscaler.audit import DEFAULT, Effort
from envscaler.audit.journal import CardJournal
from envscaler.cli import main
from envscaler.scenarios import Corpus, load
from envscaler.scenarios.validate import validate
from envscaler.scengenerator.pipeline import CARDS, STAGES, Settings
from envscaler.synthesis.desk import Limits
from envscaler.synthesis.journal import Journal, read_entries
from harness.isolation import IsolatedRunner
from tests import small_corpus
from tests.envscaler.scengenerator.author.model import SLIPS, Author
from tests.envscaler.scengenerator.author.record import CORPUS, PER_ENVIRONMENT, RECORDING, run
from tests.envscaler.skelbuilder.author.record import pack

KILLS = 5
REJECTED = {
    "choir_office-task_2": "checks: true at start",
    "choir_office-task_7": "state: dangling reference",
    "parking_permits-task_3": "oracle: id from nowhere, refused, too few changes",
    "plant_nursery-task_2": "checks: false after the oracle",
    "plant_nursery-task_7": "repeats plant_nursery-task_5",
    "repair_cafe-task_2": "gate: weak checks",
    "repair_cafe-task_4": "checklist: refused",
}


def synth(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["synth", *map(str, arguments)])


def scenarios(folder: Path, *more: object) -> Result:
    model = ("--model", "reference/recorded", "-M", f"recording={RECORDING}")
    return synth("scenarios", CORPUS, "--to", folder, "--per-environment", PER_ENVIRONMENT, *model, *more)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The recorded run, whole."""
    folder = tmp_path_factory.mktemp("run")
    return folder, scenarios(folder, "--jobs", 2)


def records(folder: Path, stage: str) -> dict[str, dict[str, Any]]:
    found = [json.loads(line) for line in (folder / f"{stage}.jsonl").read_text().splitlines()]
    return {record["task_id"]: record for record in found}


def test_environments_become_a_corpus_of_scenarios_that_hold(recorded: tuple[Path, Result]) -> None:
    folder, result = recorded
    assert result.exit_code == 0, result.output
    made, given = load(folder / "corpus"), load(CORPUS)
    assert made.environments == given.environments
    assert len(made.scenarios) >= 20
    assert {scenario.env_id for scenario in made.scenarios.values()} == set(given.environments)
    for scenario in made.scenarios.values():
        assert scenario.provenance == "made by ScenGenerator"
        assert (scenario.audit["oracle"], scenario.audit["floor"], scenario.audit["false_fails"]) == (1.0, 0.0, 0)
        assert scenario.audit["kill"] >= 0.9
        assert scenario.audit["deterministic"] is True
        assert scenario.clock
    with IsolatedRunner() as runner:
        assert list(validate(made, runner)) == []


def test_what_is_rejected_has_its_reason_and_the_evidence(recorded: tuple[Path, Result]) -> None:
    folder, result = recorded
    files = [records(folder, stage) for stage in STAGES]
    last = {task_id: record for file in files for task_id, record in file.items()}
    assert {name: record["reason"] for name, record in last.items() if record["status"] != "kept"} == REJECTED
    assert all(reason in result.output for reason in REJECTED.values())
    evidence = {name: " ".join(last[name]["problems"]) for name in REJECTED}
    assert "entries[\"E-3\"].singer_id names 'S-31', which is in no table" in evidence["choir_office-task_7"]
    assert "is true before the work: doing nothing passes it" in evidence["choir_office-task_2"]
    assert "was refused" in evidence["parking_permits-task_3"]
    assert "The vehicle has an active permit." in evidence["parking_permits-task_3"]
    assert "is false after the solution" in evidence["plant_nursery-task_2"]
    assert "wrong, and every check is true: " in evidence["repair_cafe-task_2"]
    # Sent back as often as is allowed, and no more.
    assert last["choir_office-task_7"]["revisions"] == last["parking_permits-task_3"]["revisions"] == 3


def test_evidence_mends_what_was_wrong(recorded: tuple[Path, Result]) -> None:
    """The author mends what it did wrong only where the question tells it (`author.model`)."""
    folder, _ = recorded
    states, solved, checked, gated = (records(folder, stage) for stage in STAGES)
    assert states["parking_permits-task_2"]["revisions"] == states["repair_cafe-task_5"]["revisions"] == 1
    for name in ("plant_nursery-task_4", "plant_nursery-task_6", "repair_cafe-task_6", "repair_cafe-task_7"):
        assert solved[name]["revisions"] == 1
    assert "catalogue" not in solved["plant_nursery-task_4"]["task"]
    for name in ("parking_permits-task_6", "choir_office-task_4", "choir_office-task_6"):
        assert checked[name]["revisions"] == 1
    weak = gated["parking_permits-task_6"]
    assert weak["first_kill"] < 0.9 <= weak["figures"]["kill"]
    clean = set(gated) - set(SLIPS)
    assert all(record[name]["revisions"] == 0 for name in clean for record in (states, solved, checked))


def test_the_report_tells_yield_and_cost(recorded: tuple[Path, Result]) -> None:
    folder, _ = recorded
    report = synth("report", folder, "--plot", folder / "yield.svg")
    assert "Kept: 21 of 28 (75%), 12 of them without any revision." in report.output
    assert (folder / "yield.svg").read_text().startswith("<svg")
    ledger = json.loads(synth("report", folder, "--json").output)
    assert ledger == json.loads((folder / "ledger.json").read_text())
    assert [step["kept"] for step in ledger["steps"]] == [27, 26, 23, 21]
    assert ledger["total"]["calls"] == sum(cost["calls"] for cost in ledger["stages"].values())
    assert ledger["total"]["calls"] == sum(cost["calls"] for cost in ledger["environments"].values())
    assert ledger["scenarios"]["repair_cafe-task_2"]["reason"] == "gate: weak checks"


def test_a_finished_run_asks_nothing_and_audits_nothing_again(recorded: tuple[Path, Result], tmp_path: Path) -> None:
    folder, _ = recorded
    before, audited = files(folder), (folder / CARDS).read_bytes()
    again = scenarios(folder, "-M", f"calls={tmp_path / 'calls'}", "--budget-calls", 0)
    assert again.exit_code == 0, again.output
    assert files(folder) == before
    assert (folder / CARDS).read_bytes() == audited
    assert (tmp_path / "calls").read_bytes() == b""


def files(folder: Path) -> dict[str, bytes]:
    """What a run leaves, but for journals and ledger, whose order and times are those of the run."""
    left_out = ("journal.jsonl", CARDS, "ledger.json", "yield.svg")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in left_out
    }


# Resuming

QUICK = Effort(replays=1, per_operator=2, extra_writes=1, tries_per_tool=4, random_episodes=1, random_calls=2, swaps=1)
SOME = Settings(per_environment=2, effort=QUICK)
CALLS = 4


def some() -> Corpus:
    return load(CORPUS).select(["choir_office", "parking_permits"])


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run, undisturbed."""
    folder = tmp_path_factory.mktemp("quick")
    ended = asyncio.run(run(folder, Author(), some(), SOME))
    assert (ended.kept, ended.unfinished) == (3, 0)
    return folder


def recorded_child(folder: Path, recording: Path, calls: Path) -> int:
    """The short run in a process of its own, through Inspect and `reference/recorded`; its process id."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        from envscaler.synthesis.models import InspectModels, bind_roles

        bind_roles("reference/recorded", (), {"recording": str(recording), "calls": str(calls), "seconds": 0.05})
        models = InspectModels({}, concurrency=CALLS)
        asyncio.run(run(folder, models, some(), SOME, Limits(concurrency=CALLS)))
        status = 0
    finally:
        os._exit(status)


def test_killed_at_any_moment_it_resumes_to_the_same_files_and_repeats_no_finished_call(
    quick: Path, tmp_path: Path
) -> None:
    recording, folder = tmp_path / "recording.jsonl.gz", tmp_path / "run"
    pack(quick / "journal.jsonl", recording)
    # Two questions may be worded alike: each may be asked as often as the undisturbed run asked it.
    wanted = Counter(entry.prompt for entry in read_entries(quick / "journal.jsonl"))
    chance = random.Random(3)
    killed, finished, asked = 0, False, Counter[str]()
    for number in range(KILLS * 4):
        journal, audits = folder / "journal.jsonl", folder / CARDS
        done = Counter(entry.prompt for entry in read_entries(journal)) if journal.exists() else Counter[str]()
        cards = audits.read_bytes() if audits.exists() else b""
        calls = tmp_path / f"calls {number}"
        pid = recorded_child(folder, recording, calls)
        if killed < KILLS:
            time.sleep(chance.uniform(0.3, 1.2))
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        made = calls.read_text().split() if calls.exists() else []
        assert Counter(made) <= wanted - done, "a call that was finished was made again"
        assert not audits.exists() or audits.read_bytes().startswith(cards[: cards.rfind(b"\n") + 1])
        asked.update(made)
        if os.WIFSIGNALED(status):
            killed += 1
            continue
        finished = True
        if killed >= KILLS:
            break
    assert finished
    assert killed == KILLS
    assert files(folder) == files(quick)
    digests = [json.loads(line)["of"] for line in (folder / CARDS).read_text().splitlines()]
    assert len(digests) == len(set(digests)), "a finished audit was made again"
    # Only what was in flight at a kill was asked twice.
    assert asked.total() - wanted.total() <= killed * CALLS


def test_a_spent_budget_and_a_failing_server_leave_scenarios_open(quick: Path, tmp_path: Path) -> None:
    author, failing, folder = Author(), True, tmp_path / "run"

    async def generate(request: Any) -> Any:
        if failing and request.item == "choir_office/choir_office-task_1/check 2":
            raise ConnectionError("server down")
        return await author(request)

    ended = asyncio.run(run(folder, generate, some(), SOME, Limits(budget_calls=9)))
    assert (ended.kept, ended.unfinished, ended.reason) == (0, 4, "the budget of 9 calls is spent")
    assert len(read_entries(folder / "journal.jsonl")) == 9
    assert list(load(folder / "corpus").environments) == ["choir_office", "parking_permits"]
    ended = asyncio.run(run(folder, generate, some(), SOME, Limits(server_wait=0.0)))
    assert (ended.kept, ended.unfinished) == (2, 1)
    assert ended.reason == "model server: check: ConnectionError: server down"
    failing = False
    assert asyncio.run(run(folder, generate, some(), SOME)).unfinished == 0
    assert files(folder) == files(quick)


# The door


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("scenarios", "nowhere", "--to", "x"), "envscaler: nowhere: cannot be read: No such file or directory\n"),
        (("scenarios", CORPUS, "--to", "x"), "envscaler: no model for role 'planner'; give --model or --model-role"),
        (
            ("scenarios", CORPUS, "--to", "x", "--environments", "choir"),
            "envscaler: no environment 'choir'; one of choir_office, parking_permits",
        ),
        (
            ("scenarios", CORPUS, "--to", "x", "--least-rows", 9),
            "envscaler: --most-rows 8: is less than --least-rows 9\n",
        ),
        (
            ("scenarios", CORPUS, "--to", "x", "--model", "reference/noop", "--price", "reference/noop=nan,1"),
            "envscaler: --price reference/noop=nan,1: must be MODEL=IN,OUT, in USD per million tokens\n",
        ),
        (("report", "nowhere"), "envscaler: nowhere: holds no run of `envscaler synth`\n"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: tuple[object, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = synth(*arguments)
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert result.output.count("\n") == 1
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"status": "kept"', "is not JSON (Input data was truncated)"),
        ('{"task_id": "a"}', "has no field 'status'"),
        ('{"status": "kept", "env_id": "e"}', "is no record of this stage (Object missing required field `task_id`)"),
        (
            '{"status": "kept", "env_id": "e", "task_id": []}',
            "is no record of this stage (Expected `str`, got `array` - at `$.task_id`)",
        ),
    ],
)
def test_a_broken_stage_file_is_one_sentence(line: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "states.jsonl").write_text(f"{line}\n")
    result = synth("report", tmp_path)
    assert (result.exit_code, result.output) == (2, f"envscaler: {tmp_path}/states.jsonl: line 1: {sentence}\n")


def test_a_corpus_that_no_run_made_is_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small_corpus.write(tmp_path / "corpus")
    for source in ("corpus", CORPUS):
        result = synth("scenarios", source, "--to", ".", "--model", "reference/noop")
        assert (result.exit_code, result.output) == (
            2,
            "envscaler: corpus: is there and of no run, and would be replaced; choose another folder\n",
        )
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]
    assert len(load(tmp_path / "corpus").scenarios) == 2


def test_a_run_never_replaces_the_corpus_that_it_reads(recorded: tuple[Path, Result]) -> None:
    folder, _ = recorded
    before = sorted(load(folder / "corpus").scenarios)
    result = synth("scenarios", folder / "corpus", "--to", folder, "--model", "reference/noop")
    assert (result.exit_code, "would be replaced while it is read" in result.output) == (2, True)
    assert sorted(load(folder / "corpus").scenarios) == before


def test_two_runs_in_one_folder_do_not_mix(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    result = scenarios(tmp_path)
    journal.close()
    assert result.exit_code == 2
    assert "another run is writing it" in result.output
    with CardJournal(tmp_path / CARDS):
        assert "another audit is writing it" in scenarios(tmp_path).output


def test_the_gate_is_that_of_the_audit() -> None:
    assert Settings().gate == DEFAULT
    assert (DEFAULT.oracle, DEFAULT.floor, DEFAULT.kill, DEFAULT.false_fails) == (1.0, 0.0, 0.9, 0)
    assert Settings().effort == Effort()


def test_the_recording_holds_answers_only() -> None:
    lines = gzip.decompress(RECORDING.read_bytes()).splitlines()
    assert RECORDING.stat().st_size < 100_000
    assert all(msgspec.json.decode(line).keys() == {"prompt", "answer"} for line in lines)
