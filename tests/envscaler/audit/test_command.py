"""`envscaler audit`: exit codes, forms, resuming, proposals, figures in the corpus."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import psutil
import pytest

from envscaler.audit import Effort, fingerprint
from envscaler.audit.run import audit_corpus
from envscaler.scenarios import load, write_unpacked
from harness.errors import SettingError
from tests.envscaler.playground import CANCELLED, cancel, check, corpus, door, files, public, refused

SOUND = check("final_state['orders'] == {**initial_state['orders'], 'O-1': 'cancelled'}")
TWO = corpus(cancel(SOUND), cancel(SOUND, task_id="shop-task_2"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_unpacked(TWO, tmp_path / "corpus")
    return tmp_path / "corpus"


def test_a_sound_corpus_passes(folder: Path) -> None:
    result = door("audit", folder, "--jobs", 1)
    assert result.exit_code == 0
    assert "2 of 2 scenarios pass the gate" in result.stdout
    assert "[2/2] shop-task_2: kill 100.0%" in result.stderr


def test_a_gate_that_fails_is_exit_code_1(tmp_path: Path) -> None:
    write_unpacked(corpus(cancel(CANCELLED)), tmp_path / "weak")
    result = door("audit", tmp_path / "weak", "--jobs", 1)
    assert result.exit_code == 1
    assert "shop-task_1: " in result.stdout
    assert door("audit", tmp_path / "weak", "--jobs", 1, "--kill", 0.1).exit_code == 0


def test_an_imported_corpus_is_reported(tmp_path: Path) -> None:
    source = public(tmp_path / "public")
    assert door("audit", source, "--jobs", 1).exit_code == 1
    result = door("audit", source, "--jobs", 1, "--imported", "--search", 100, "--format", "json")
    assert result.exit_code == 0
    (found,) = json.loads(result.stdout)["scenarios"]
    assert (found["oracle_from"], found["imported"], found["failures"]) == ("search", True, [])


def test_every_form_is_written_and_the_page_needs_nothing_else(folder: Path, tmp_path: Path) -> None:
    assert door("audit", folder, "--jobs", 1, "--to", tmp_path / "cards").exit_code == 0
    written = files(tmp_path / "cards")
    assert set(written) == {"cards.jsonl", "card.txt", "card.md", "card.json", "card.html"}
    page = written["card.html"].decode()
    assert "shop-task_2" in page
    assert "http" not in page
    assert "<script" not in page
    assert written["card.md"].decode().startswith("| environment")


def test_what_was_audited_is_not_audited_again(folder: Path, tmp_path: Path) -> None:
    cards = tmp_path / "cards"
    assert door("audit", folder, "--jobs", 1, "--to", cards).exit_code == 0
    journal = cards / "cards.jsonl"
    head, tail = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(head + tail[: len(tail) // 2])
    result = door("audit", folder, "--jobs", 1, "--to", cards)
    assert "shop-task_2" in result.stderr
    assert "[2/2]" in result.stderr
    assert "shop-task_1:" not in result.stderr
    assert door("audit", folder, "--jobs", 1, "--to", cards).stderr.count("kill") == 0
    journal.write_bytes(b"no card\n" + head)
    assert refused(door("audit", folder, "--jobs", 1, "--to", cards)).startswith(f"{journal}: line 1: is not a card")


def test_a_killed_audit_leaves_no_process_and_goes_on_where_it_was(tmp_path: Path) -> None:
    many = corpus(*(cancel(SOUND, task_id=f"shop-task_{number}") for number in range(1, 41)))
    write_unpacked(many, tmp_path / "many")
    arguments = ["audit", str(tmp_path / "many"), "--jobs", "2", "--to", str(tmp_path / "cards")]
    journal = tmp_path / "cards" / "cards.jsonl"
    audit = subprocess.Popen(
        [sys.executable, "-c", f"from envscaler.cli import main; main({arguments!r})"], stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not journal.is_file() or journal.read_bytes().count(b"\n") < 3):
        time.sleep(0.02)
    busy = door("audit", tmp_path / "many", "--jobs", 1, "--to", tmp_path / "cards")
    assert refused(busy).startswith(f"{journal}: another audit is writing it")
    children = psutil.Process(audit.pid).children(recursive=True)
    audit.kill()
    audit.wait()
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
    done = journal.read_bytes().count(b"\n")
    assert 3 <= done < 40
    result = door(*arguments)
    assert result.exit_code == 0
    assert result.stderr.count("kill 100.0%") == 40 - done
    assert journal.read_bytes().count(b"\n") == 40


def test_a_changed_scenario_is_audited_again(folder: Path, tmp_path: Path) -> None:
    journal = tmp_path / "cards.jsonl"
    told: list[str] = []

    def progress(card: Any, done: int, of: int) -> None:
        told.append(card.task_id)

    audit_corpus(load(folder), journal=journal, progress=progress)
    path = folder / "shop" / "scenarios" / "shop-task_2.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "task": "Cancel O-1, please."}))
    audit_corpus(load(folder), journal=journal, progress=progress)
    assert told == ["shop-task_1", "shop-task_2", "shop-task_2"]


def test_several_processes_give_the_same_cards(folder: Path) -> None:
    alone, together = (audit_corpus(load(folder), jobs=jobs) for jobs in (1, 2))
    assert [(card.of, card.kill, card.made) for card in alone] == [(card.of, card.kill, card.made) for card in together]


def test_figures_are_written_only_when_asked(folder: Path) -> None:
    before = files(folder)
    assert door("audit", folder, "--jobs", 1).exit_code == 0
    assert files(folder) == before
    assert door("audit", folder, "--jobs", 1, "--write").exit_code == 0
    found = load(folder)
    figures = found.scenarios["shop-task_1"].audit
    assert (figures["oracle"], figures["floor"], figures["kill"], figures["false_fails"]) == (1.0, 0.0, 1.0, 0)
    quality = tomllib.loads((folder / "shop" / "environment.toml").read_text())["quality"]["audit"]
    assert (quality["scenarios"], quality["passed"]) == (2, 2)
    # They do not count as a change, and nothing else was touched.
    assert door("audit", folder, "--jobs", 1).exit_code == 0
    scenario = found.scenarios["shop-task_1"]
    assert figures["of"] == fingerprint(found.environments["shop"], scenario, Effort())


def test_figures_need_files_of_their_own(tmp_path: Path) -> None:
    source = public(tmp_path / "public")
    sentence = refused_after_report(door("audit", source, "--jobs", 1, "--imported", "--write"))
    assert sentence.endswith("figures are written into unpacked corpora only")


def refused_after_report(result: Any) -> str:
    assert result.exit_code == 2
    return str(result.stderr.rstrip("\n").splitlines()[-1])


def test_proposals_go_into_a_new_file_and_nowhere_else(tmp_path: Path) -> None:
    write_unpacked(corpus(cancel(SOUND, check("isinstance(final_state, dict)"))), tmp_path / "weak")
    before = files(tmp_path / "weak")
    fixes = tmp_path / "fixes.json"
    assert door("audit", tmp_path / "weak", "--jobs", 1, "--fix", fixes).exit_code == 1
    assert [fix["fix"] for fix in json.loads(fixes.read_text())] == ["drop"]
    assert files(tmp_path / "weak") == before
    assert refused(door("audit", tmp_path / "weak", "--fix", fixes)) == f"{fixes}: exists; name a new file"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--level", "trusted"], "level=trusted: only for the bundled corpus"),
        (["--level", "lax"], "level=lax: unknown; one of isolated, process, trusted"),
        (["--scenarios", "shop-task_3"], "no scenario 'shop-task_3'; did you mean"),
        (["--environments", "shops"], "no environment 'shops'; did you mean 'shop'?"),
    ],
)
def test_bad_input_is_one_sentence(folder: Path, arguments: list[str], sentence: str) -> None:
    assert refused(door("audit", folder, "--jobs", 1, *arguments)).startswith(sentence)


def test_a_corpus_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    assert "cannot be read" in refused(door("audit", tmp_path / "none"))


def test_the_library_refuses_trust_too(folder: Path) -> None:
    with pytest.raises(SettingError):
        audit_corpus(load(folder), level="trusted")
