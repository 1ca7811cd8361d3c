"""The whole of it, without network: recorded answers in, a corpus out; killed at any moment, it goes on."""

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

from envscaler.cli import main
from envscaler.scenarios import load
from envscaler.skelbuilder.gate import gate
from envscaler.skelbuilder.inspection import InspectionRules
from envscaler.skelbuilder.pipeline import STAGES, Pipeline, Settings
from envscaler.skelbuilder.texts import read_texts
from envscaler.synthesis.ask import ROLES
from envscaler.synthesis.desk import Desk, Limits
from envscaler.synthesis.folder import Ended
from envscaler.synthesis.journal import Journal, read_entries
from harness.isolation import IsolatedRunner
from tests.envscaler.skelbuilder.author.model import Author
from tests.envscaler.skelbuilder.author.record import RECORDING, TASKS, pack

KILLS = 20


def synth(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["synth", *map(str, arguments)])


def skeletons(folder: Path, *more: object) -> Result:
    model = ("--model", "reference/recorded", "-M", f"recording={RECORDING}")
    return synth("skeletons", TASKS, "--to", folder, *model, *more)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The recorded run, whole."""
    folder = tmp_path_factory.mktemp("run")
    return folder, skeletons(folder)


def records(folder: Path, stage: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{stage}.jsonl").read_text().splitlines()]


def test_task_texts_become_a_corpus_of_inspected_environments(run: tuple[Path, Result]) -> None:
    folder, result = run
    assert result.exit_code == 0, result.output
    tasks = records(folder, "tasks")
    assert len(tasks) >= 30
    corpus = load(folder / "corpus")
    assert len(corpus.environments) >= 6
    for record in corpus.environments.values():
        assert len(record.own_tools) >= 15
        assert gate(record.source, record.class_name) == []
        assert record.quality["rounds"] + record.quality["unjudged"] + record.quality["lost"] == 100
        assert record.quality["pass_rate"] >= 0.85
        assert record.released["state_space_definition"][0]["attributes"].startswith(
            f"{record.released['state_space_definition'][0]['entity'].lower()}_id: str"
        )


def test_what_is_discarded_has_a_reason(run: tuple[Path, Result]) -> None:
    folder, result = run
    stages = [records(folder, stage) for stage in ("plans", "programs", "inspections")]
    fates = {record["env_id"]: record["reason"] for stage in stages for record in stage if record["status"] != "kept"}
    assert fates == {
        "observatory_instrument_desk": "gate: clock",
        "ski_rental_counter": "pass rate below 0.85",
        "community_kitchen_booking": "config: wrong",
        "bicycle_courier_dispatch": "program: truncated",
        "pawn_shop_ledger": "plan: refused",
    }
    assert all(record["reason"] for stage in STAGES for record in records(folder, stage) if record["status"] != "kept")
    observatory = next(r for r in records(folder, "programs") if r["env_id"] == "observatory_instrument_desk")
    assert (observatory["revisions"], len(observatory["findings"])) == (3, 1)
    assert "reads the clock (datetime.date.today)" in observatory["findings"][0]
    assert "like another 1" in result.output


def test_slips_of_models_are_handled_by_rule(run: tuple[Path, Result]) -> None:
    folder, _ = run
    entries = {(entry.item, entry.attempt): entry for entry in read_entries(folder / "journal.jsonl")}
    # Sent back once, then right: cut off, refused, a wrong type, an unknown tool, arguments as a text, no verdict.
    for item in (
        "boarding_kennel_reception/state",
        "t00022",
        "t00018",
        "parcel_locker_depot/test 17",
        "parcel_locker_depot/test 23",
        "parcel_locker_depot/check 5",
        "parcel_locker_depot/check 6",
        "theatre_costume_hire/class",
    ):
        assert (item, 1) in entries
        assert (item, 2) not in entries
    revised = {record["env_id"]: record["revisions"] for record in records(folder, "programs")}
    assert revised["boarding_kennel_reception"] == revised["allotment_garden_office"] == 1
    inspections = {record["env_id"]: record for record in records(folder, "inspections")}
    assert inspections["marina_berth_office"]["lost"] == 1
    assert inspections["theatre_costume_hire"]["unjudged"] == 1
    assert inspections["parcel_locker_depot"]["warned"] == 1
    failed = [done for done in inspections["ski_rental_counter"]["rounds"] if done["verdict"] == "fail"]
    assert any(done["reason"].startswith("It raised") for done in failed)
    for inspection in inspections.values():
        assert inspection["uncovered"] == []


def test_the_ledger_says_what_it_cost(run: tuple[Path, Result]) -> None:
    folder, _ = run
    ledger = json.loads((folder / "ledger.json").read_text())
    assert ledger["total"]["calls"] == sum(cost["calls"] for cost in ledger["stages"].values())
    assert ledger["total"]["usd"] == pytest.approx(sum(cost["usd"] for cost in ledger["stages"].values()))
    assert ledger["environments"]["marina_berth_office"]["calls"] > 200
    report = synth("report", folder, "--plot", folder / "yield.svg")
    assert "Kept of inspected: 7 of 8 (88%); the paper: 191 of 266 (72%)." in report.output
    assert (folder / "yield.svg").read_text().startswith("<svg")
    assert json.loads(synth("report", folder, "--json").output)["steps"][-1]["kept"] == 7


def test_a_finished_run_asks_nothing_again(run: tuple[Path, Result], tmp_path: Path) -> None:
    folder, _ = run
    before = files(folder)
    again = skeletons(folder, "-M", f"calls={tmp_path / 'calls'}", "--budget-calls", 0)
    assert again.exit_code == 0, again.output
    assert files(folder) == before
    assert (tmp_path / "calls").read_bytes() == b""


def files(folder: Path) -> dict[str, bytes]:
    """What a run leaves, but for its journal and ledger, whose order and times are those of the run."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("journal.jsonl", "ledger.json", "yield.svg")
    }


# Resuming

QUICK = Settings(inspection=InspectionRules(rounds=8, least_per_tool=0, threshold=0.5, most_lost=1.0))
CALLS = 4


async def pipeline(folder: Path, generate: Any, limits: Limits) -> Ended:
    journal = Journal(folder / "journal.jsonl")
    try:
        with IsolatedRunner() as runner:
            desk = Desk(generate, dict.fromkeys(ROLES, "author"), journal, limits)
            return await Pipeline(folder, desk, runner, QUICK).run(read_texts([TASKS]))
    finally:
        journal.close()


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run, undisturbed."""
    folder = tmp_path_factory.mktemp("quick")
    asyncio.run(pipeline(folder, Author(), Limits()))
    return folder


def recorded_child(folder: Path, recording: Path, calls: Path) -> int:
    """The short run in a process of its own, through Inspect and `reference/recorded`; its process id."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        from envscaler.synthesis.models import InspectModels, bind_roles

        bind_roles("reference/recorded", (), {"recording": str(recording), "calls": str(calls), "seconds": 0.02})
        asyncio.run(pipeline(folder, InspectModels({}, concurrency=CALLS), Limits(concurrency=CALLS)))
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
    chance = random.Random(20)
    killed, finished, asked = 0, False, Counter[str]()
    for number in range(KILLS * 3):
        done = (
            Counter(entry.prompt for entry in read_entries(folder / "journal.jsonl")) if folder.exists() else Counter()
        )
        calls = tmp_path / f"calls {number}"
        pid = recorded_child(folder, recording, calls)
        if killed < KILLS:
            time.sleep(chance.uniform(0.05, 0.6))
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        made = calls.read_text().split() if calls.exists() else []
        assert Counter(made) <= wanted - done, "a call that was finished was made again"
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
    # Only what was in flight at a kill was asked twice.
    assert asked.total() - wanted.total() <= killed * CALLS


def test_a_spent_budget_stops_cleanly_and_more_budget_goes_on(quick: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    ended = asyncio.run(pipeline(folder, Author(), Limits(budget_calls=40)))
    assert ended.unfinished
    assert ended.reason == "the budget of 40 calls is spent"
    assert len(read_entries(folder / "journal.jsonl")) == 40
    assert {record["status"] for record in records(folder, "tasks")} == {"kept", "rejected"}
    money = sum(entry.answer.usd for entry in read_entries(folder / "journal.jsonl"))
    assert asyncio.run(pipeline(folder, Author(), Limits(budget_usd=money))).reason.endswith("USD is spent")
    assert asyncio.run(pipeline(folder, Author(), Limits())).unfinished == 0
    assert files(folder) == files(quick)


def test_a_failing_server_leaves_items_open_and_a_later_run_closes_them(quick: Path, tmp_path: Path) -> None:
    author, failing = Author(), True

    async def generate(request: Any) -> Any:
        if failing and request.item.startswith(("t00003", "marina")):
            raise ConnectionError("server down")
        return await author(request)

    patient = Limits(server_wait=0.0)
    first = asyncio.run(pipeline(tmp_path / "run", generate, patient))
    assert (first.unfinished, first.reason) == (1, "model server: judge: ConnectionError: server down")
    failing = False
    assert asyncio.run(pipeline(tmp_path / "run", generate, patient)).unfinished == 0
    assert files(tmp_path / "run") == files(quick)


# The door


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "nowhere"), "envscaler: nowhere: holds no run of `envscaler synth`\n"),
        (
            ("skeletons", "none.jsonl", "--to", "x"),
            "envscaler: none.jsonl: cannot be read: No such file or directory\n",
        ),
        (
            ("skeletons", TASKS, "--to", "x"),
            "envscaler: no model for role 'planner'; give --model or --model-role planner=...\n",
        ),
        (("skeletons", TASKS, "--to", "x", "--model-role", "judge=a/b"), "--model-role judge: unknown; one of planner"),
        (("skeletons", TASKS, "--to", "x", "--price", "cheap"), "--price cheap: must be MODEL=IN,OUT"),
        (("skeletons", TASKS, "--to", "x", "--model", "reference/recorded"), "-M recording=FILE"),
        (("inspect", "nowhere"), "nowhere"),
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


def test_two_runs_in_one_folder_do_not_mix(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    result = skeletons(tmp_path)
    journal.close()
    assert result.exit_code == 2
    assert "another run is writing it" in result.output


def test_a_torn_last_line_is_dropped_and_a_broken_one_is_named(run: tuple[Path, Result], tmp_path: Path) -> None:
    data = (run[0] / "journal.jsonl").read_bytes()
    path = tmp_path / "journal.jsonl"
    path.write_bytes(data[:-40])
    journal = Journal(path)
    journal.close()
    assert len(journal.entries) == data.count(b"\n") - 1
    assert path.read_bytes() == data[: data[:-1].rfind(b"\n") + 1]
    path.write_bytes(b"{}\n" + data)
    assert "journal.jsonl: line 1: is not a finished call" in skeletons(tmp_path).output


def test_the_recording_holds_answers_only() -> None:
    lines = gzip.decompress(RECORDING.read_bytes()).splitlines()
    assert RECORDING.stat().st_size < 400_000
    assert all(msgspec.json.decode(line).keys() == {"prompt", "answer"} for line in lines)
