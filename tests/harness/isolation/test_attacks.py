"""Every attack is stopped, and the next episode is clean. The lists run whole, in one runner each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.errors import DataError
from harness.isolation import Attack, AttackResult, load_attacks, run_attacks
from harness.program import Limits
from tests.harness.isolation.builders import HERE

OWN = HERE / "attacks_own.jsonl"


def shared_list() -> Path | None:
    """The list that comes with the project's data, if it is on this machine."""
    data = os.environ.get("ENVSCALER_DATA")
    path = Path(data).resolve().parent / "attacks" / "attacks_visible.jsonl" if data else None
    return path if path is not None and path.is_file() else None


def got_through(results: list[AttackResult]) -> list[AttackResult]:
    return [result for result in results if not result.held]


def test_every_attack_of_our_own_is_stopped(tmp_path: Path) -> None:
    attacks = load_attacks(OWN)
    assert len(attacks) >= 45
    limits = Limits(init_seconds=2, call_seconds=0.6, check_seconds=0.6)
    assert got_through(list(run_attacks(attacks, tmp_path, limits=limits))) == []
    assert list(tmp_path.iterdir()) == []


def test_every_attack_of_the_shared_list_is_stopped(tmp_path: Path) -> None:
    path = shared_list()
    if path is None:
        pytest.skip("attacks_visible.jsonl not found; it lies in the folder 'attacks' beside ENVSCALER_DATA")
    assert got_through(list(run_attacks(load_attacks(path), tmp_path))) == []


@pytest.mark.parametrize(
    ("where", "snippet"),
    [
        pytest.param("tool", "def attack(self):\n    return 'ESCAPED'", id="says-so"),
        pytest.param("tool", "def attack(self):\n    self.note = 'ESCAPED'", id="says-so-in-the-state"),
        pytest.param(
            "check", "def attack(self):\n    pass\nCHECKS = ['def check_func(s):\\n    return True']", id="passes"
        ),
        pytest.param("check", "def check_func(s):\n    return True", id="passes-without-a-list"),
    ],
)
def test_what_gets_through_is_told(where: str, snippet: str) -> None:
    attack = Attack("bad", where, snippet)  # type: ignore[arg-type]
    (result,) = run_attacks([attack])
    assert not result.stopped


@pytest.mark.parametrize(
    ("where", "snippet"),
    [
        pytest.param(
            "tool", "def attack(self):\n    self.look_up = lambda order_id: 'ESCAPED'\n    return 1", id="tool"
        ),
        pytest.param(
            "check", "def check_func(s):\n    import builtins\n    builtins.mark = 1\n    return True", id="check"
        ),
    ],
)
def test_an_attack_on_others_may_do_as_it_likes_with_itself(where: str, snippet: str) -> None:
    attack = Attack("marks", where, snippet, "clean: no mark in the next episode")  # type: ignore[arg-type]
    (result,) = run_attacks([attack])
    assert result.held


def test_an_order_shipped_openly_is_no_forgery() -> None:
    (result,) = run_attacks([Attack("open", "tool", "def attack(self):\n    self.ship('O1')\n    return 'done'")])
    assert result.held


@pytest.mark.parametrize(
    ("line", "said"),
    [
        pytest.param("{", "line 1", id="no-json"),
        pytest.param('{"id": "a", "snippet": "x"}', "where", id="field-missing"),
        pytest.param('{"id": "a", "where": "moon", "snippet": "x"}', "where", id="unknown-place"),
    ],
)
def test_a_bad_list_is_one_sentence(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "attacks.jsonl"
    path.write_text(line)
    with pytest.raises(DataError, match=said):
        load_attacks(path)
