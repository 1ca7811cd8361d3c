"""The front door: what each command prints, and how it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from envscaler import __version__
from envscaler.scenarios import write_unpacked
from harness.isolation import Support
from harness.isolation.attacks import AttackResult
from tests.envscaler.playground import CANCELLED, SHOP, cancel, corpus, door, refused, shop


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The shop as an unpacked corpus."""
    write_unpacked(corpus(cancel(), cancel(CANCELLED, task_id="shop-task_2")), tmp_path)
    return tmp_path


def test_the_list_counts_tools_rules_scenarios_and_checks(folder: Path) -> None:
    header, _, row = door("corpus", "list", folder).output.splitlines()
    assert header.split() == ["id", "title", "tools", "rules", "scenarios", "checks"]
    assert row.split() == ["shop", "Shop", "orders", "3", "1", "2", "3"]


def test_the_bundled_corpus_is_listed_by_default() -> None:
    assert door("corpus", "list").output == door("corpus", "list", "bundled").output
    assert "library_circulation" in door("corpus", "list").output


def test_an_environment_is_shown_with_rules_tools_and_scenarios(folder: Path) -> None:
    assert door("corpus", "show", "shop", "--corpus", folder).output == (
        "shop: Shop orders\n\nA shop keeps orders.\n\nRules:\n- An order that was sent stays as it is.\n\nTools:\n"
        "- get_order(order_id): Look an order up.\n"
        "- set_status(order_id, status): Give an order another status.\n"
        "- crash(why): Fail.\n\nScenarios: shop-task_1, shop-task_2\n"
    )


def test_a_tool_without_a_docstring_is_shown(tmp_path: Path) -> None:
    write_unpacked(corpus(environment=shop(source="class Shop:\n    def act(self): pass")), tmp_path)
    assert "- act(): \n" in door("corpus", "show", "shop", "--corpus", tmp_path).output


def test_its_source_is_shown_on_request(folder: Path) -> None:
    assert door("corpus", "show", "shop", "--corpus", folder, "--source").output == SHOP + "\n"


def test_a_scenario_is_shown_as_its_file_has_it(folder: Path) -> None:
    shown = door("corpus", "show", "shop-task_1", "--corpus", folder).output
    assert shown == (folder / "shop/scenarios/shop-task_1.json").read_text()
    assert json.loads(shown)["oracle"][1]["arguments"] == {"order_id": "O-1", "status": "cancelled"}


def test_an_unknown_id_is_answered_with_the_nearest(folder: Path) -> None:
    assert refused(door("corpus", "show", "shop-task_3", "--corpus", folder)) == (
        "no environment and no scenario 'shop-task_3'; did you mean 'shop-task_2'?"
    )


@pytest.mark.parametrize("form", ["github", "hub", "packed", "unpacked"])
def test_an_export_in_each_form_is_a_corpus_again(folder: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / "deep" / "out"
    result = door("corpus", "export", folder, "--form", form, "--to", out)
    assert result.output == f"{out}: 1 environments, 2 scenarios\n"
    assert out.stat().st_mode & 0o777 == 0o755
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    assert "shop" in door("corpus", "list", out).output


def test_help_and_version_are_given() -> None:
    assert door("--version").output == f"envscaler, version {__version__}\n"
    for command in ([], ["results"], ["replay"], ["data"], ["corpus"], ["corpus", "import"]):
        result = door(*command, "-h")
        assert result.exit_code == 0
        assert result.output.startswith("Usage: ")


def test_our_own_bugs_keep_their_traceback(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def bug(source: str) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("envscaler.scenarios.load", bug)
    result = door("corpus", "list", folder)
    assert isinstance(result.exception, ZeroDivisionError)
    assert result.exit_code == 1


HELD = Support(
    system="Linux 6",
    machine="x86_64",
    python="3.11",
    level="isolated",
    landlock=3,
    seccomp=True,
    probes={"open_a_file": True, "ptrace": True},
    seconds=0.05,
)


@pytest.mark.parametrize(
    ("found", "code", "words"),
    [
        pytest.param(HELD, 0, ["open a file refused, ptrace refused (50 ms)", "level      isolated"], id="isolated"),
        pytest.param(
            replace(HELD, level="process", landlock=0, probes={"ptrace": False}, problem="no filter; do this"),
            1,
            ["landlock   none", "ptrace NOT REFUSED", "level      process", "problem    no filter; do this"],
            id="weaker",
        ),
        pytest.param(replace(HELD, level=None, probes={}), 1, ["self-test  not run", "level      none"], id="nothing"),
    ],
)
def test_the_doctor_tells_what_the_machine_supports(
    monkeypatch: pytest.MonkeyPatch, found: Support, code: int, words: list[str]
) -> None:
    monkeypatch.setattr("harness.isolation.support", lambda: found)
    result = door("doctor")
    assert result.exit_code == code
    assert [word for word in words if word not in result.output] == []


@pytest.mark.parametrize("stopped", [True, False])
def test_the_doctor_exits_with_1_if_an_attack_gets_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    (tmp_path / "attacks.jsonl").write_text('{"id": "a", "where": "tool", "snippet": ""}\n')
    result_of_all = AttackResult("a", stopped, "how", harness_alive=True, next_episode_clean=True)
    monkeypatch.setattr("harness.isolation.run_attacks", lambda attacks: [result_of_all for _ in attacks])
    result = door("doctor", "--attacks", tmp_path / "attacks.jsonl")
    assert result.exit_code == (0 if stopped else 1)
    assert json.loads(result.output)["stopped"] is stopped
