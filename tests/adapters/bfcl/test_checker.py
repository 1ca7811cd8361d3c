from __future__ import annotations

import pytest

from adapters.bfcl import SUBSETS, ErrorType, check
from adapters.bfcl.canonical import MAX_DEPTH, canonical
from tests.adapters.bfcl.small_release import small_pair

PAIR = small_pair()
ENTRIES = {entry.id: entry for subset in SUBSETS for entry in PAIR.entries(subset)}
OPEN = ("open_ticket", {"title": "rain", "priority": 2})
RAIN = ("open_ticket", {"title": "rain"})
LIST = ("list_tickets", {})
CLOSE = ("close_all", {})
ROOT = ("square_root", {"number": 2, "precision": 5})
NONE = ("erase", {})


@pytest.mark.parametrize(
    ("entry", "turns", "error", "turn"),
    [
        pytest.param("base_0", [[OPEN], [LIST]], None, None, id="ground-truth"),
        pytest.param("base_0", [[OPEN, LIST], [LIST]], None, None, id="extra-reads-are-free"),
        # Done already and known already, but no call was made in the turn.
        pytest.param("base_0", [[OPEN, LIST], []], ErrorType.EMPTY_TURN, 1, id="empty-turn"),
        # Any call helps, even a failing one: the result was seen a turn earlier.
        pytest.param("base_0", [[OPEN, LIST], [NONE]], None, None, id="seen-earlier"),
        pytest.param("base_0", [[OPEN], [NONE]], ErrorType.RESPONSE, 1, id="never-seen"),
        pytest.param("base_0", [[OPEN, OPEN], [LIST]], ErrorType.STATE, 0, id="done-twice"),
        pytest.param("base_0", [[CLOSE], [LIST]], ErrorType.STATE, 0, id="not-done"),
        pytest.param("base_0", [[OPEN]], ErrorType.FORCE_TERMINATED, None, id="too-few-turns"),
        pytest.param("base_0", [[OPEN], [LIST], []], ErrorType.FORCE_TERMINATED, None, id="too-many-turns"),
        # An empty ground-truth turn is not judged, and effects in the last turn are never seen.
        pytest.param("base_1", [[ROOT], [NONE, ROOT]], None, None, id="calls-in-an-irrelevant-turn"),
        pytest.param("miss_func_0", [[], [RAIN], [CLOSE]], None, None, id="held-out"),
        # Not judged in its own turn, the early ticket is there, and its number drawn, when the next turn is judged.
        pytest.param("miss_func_0", [[RAIN], [RAIN], [CLOSE]], ErrorType.STATE, 1, id="effects-show-later"),
    ],
)
def test_the_official_rules(entry: str, turns: list, error: ErrorType | None, turn: int | None) -> None:
    verdict = check(ENTRIES[f"multi_turn_{entry}"], PAIR.backends, turns)
    assert (verdict.valid, verdict.error_type, verdict.error_turn) == (error is None, error, turn)


def test_equal_numbers_are_equal_states_but_other_texts() -> None:
    turns = [[("open_ticket", {"title": "rain", "priority": 2.0})], [LIST]]
    verdict = check(ENTRIES["multi_turn_base_0"], PAIR.backends, turns)
    assert verdict.error_type is ErrorType.RESPONSE
    assert verdict.missing == ['{"id": 237, "title": "rain", "priority": 2}']


def test_one_result_answers_for_one_expected_result() -> None:
    pair = small_pair()
    entry = pair.entries("base")[1]
    twice = type(entry)(
        entry.id, "v3", "base", entry.questions[:1], entry.classes, entry.config, (entry.truth[0] * 2,), {}
    )
    assert check(twice, pair.backends, [[ROOT]]).missing == ["{'result': Decimal('1.4142')}"]
    assert check(twice, pair.backends, [[ROOT, ROOT]]).valid


def test_a_verdict_names_what_differs() -> None:
    turns = [[OPEN, ("post_tweet", {"content": "x" * 2000})], [LIST]]
    differences = check(ENTRIES["multi_turn_base_0"], PAIR.backends, turns).differences
    assert list(differences) == ["TwitterAPI"]
    assert differences["TwitterAPI"]["tweets"]["ground_truth"] == "[]"
    assert len(differences["TwitterAPI"]["tweets"]["model"]) < 600


def test_judging_twice_gives_the_same_verdict() -> None:
    entry = ENTRIES["multi_turn_long_context_0"]
    turns = [[("pay", {"card": "gold", "amount": 30})]]
    assert [check(entry, PAIR.backends, turns).valid for _ in range(3)] == [True, True, True]


class Directory:
    def __init__(self, name: str) -> None:
        self.name, self.contents, self.parent = name, {}, None


def test_a_directory_inside_itself_has_a_form() -> None:
    root = Directory("root")
    root.contents["root"] = root
    assert canonical(root)["contents"]["root"]["@dir"] == "root"


def test_deep_values_have_a_form() -> None:
    value: list = []
    for _ in range(MAX_DEPTH * 3):
        value = [value]
    assert "@deeper" in str(canonical(value))
