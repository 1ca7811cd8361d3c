"""Texts that share passages are found, exactly; states that share values are, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envscaler.corpus_report import Text, near_duplicates, overlaps, state_pairs, state_summaries
from harness.state import State
from tests import small_corpus
from tests.envscaler.playground import cancel, corpus, door, refused

ORDER = "Please cancel order O-1 of Mrs Vidal, and refund 25.00 euros to her card on 2026-03-01."
AGAIN = "please cancel order O-7 of Mrs Vidal and refund 310 euros to her card on 2027-04-15!"
OTHER = "Find the three oldest invoices of the branch in Porto and tell me what they add up to."


def found(*texts: str, threshold: float = 0.5) -> list[tuple[str, str, float]]:
    named = [Text(str(number), text) for number, text in enumerate(texts)]
    return [(pair.a, pair.b, pair.containment) for pair in near_duplicates(named, threshold).pairs]


def test_the_same_task_with_other_numbers_is_the_same() -> None:
    assert found(ORDER, OTHER, AGAIN) == [("0", "2", 1.0)]


def test_shared_n_grams_are_counted_by_the_shorter_text() -> None:
    """Of the words a..h and a..g x y z: 4 and 6 n-grams of five, 3 of them in both."""
    a, b = Text("a", "a b c d e f g h"), Text("b", "a b c d e f g x y z")
    (pair,) = near_duplicates([a, b], 0.1).pairs
    assert (pair.containment, pair.jaccard, pair.shared) == (3 / 4, 3 / 7, "a b c d e f g")
    assert near_duplicates([a, b], 0.76).pairs == []


def test_the_longest_shared_passage_is_told_in_the_texts_own_words() -> None:
    a = Text("a", "Now, Cancel the Order O-12\nof Mrs Vidal at once. After that cancel the order.")
    b = Text("b", "then cancel the order O-99 of mrs vidal, and after that pay the bill at the desk")
    (pair,) = near_duplicates([a, b], 0.1).pairs
    assert pair.shared == "Cancel the Order O-12 of Mrs Vidal"


def test_below_the_threshold_the_closest_pair_is_told_all_the_same() -> None:
    near = Text("b", "cancel order O-2 of Mrs Vidal and then " + OTHER)
    report = overlaps([Text("a", ORDER), Text("c", "nothing at all")], [near], 0.9)
    assert report.pairs == []
    assert report.closest is not None
    assert (report.closest.a, report.closest.b) == ("a", "b")
    assert near_duplicates([Text("a", ORDER), Text("c", OTHER)], 0.9).closest is None


def test_short_texts_empty_ones_and_han_characters() -> None:
    assert found("Pay now", "pay, now!", "Pay now please", "", "...") == [("0", "1", 1.0)]
    assert found("请取消订单并退款到银行卡", "请取消订单并退款到现金", OTHER) == [("0", "1", pytest.approx(5 / 7))]


def test_pairs_are_sorted_and_the_same_each_time() -> None:
    texts = [Text(name, ORDER if name in "ac" else f"{ORDER} {OTHER}") for name in "dbca"]
    pairs = [(pair.a, pair.b, round(pair.jaccard, 2)) for pair in near_duplicates(texts, 0.5).pairs]
    assert pairs == [(a, b, j) for a, b, j in pairs if j == 1.0] + [(a, b, j) for a, b, j in pairs if j < 1.0]
    assert pairs[:2] == [("c", "a", 1.0), ("d", "b", 1.0)]
    assert len(pairs) == 6


def state(number: int, **orders: Any) -> Any:
    return cancel(task_id=f"shop-task_{number}", init_config=State.of({"orders": orders, "days": [1, 2]}))


def test_states_are_compared_value_by_value() -> None:
    shop = corpus(state(1, A="open", B="open"), state(2, B="open", A="open"), state(3, A="open", C="sent"))
    pairs = state_pairs(shop)
    assert [(pair.a, pair.b, pair.shared, pair.different) for pair in pairs] == [
        ("shop-task_1", "shop-task_2", 4, 0),
        ("shop-task_1", "shop-task_3", 3, 2),
        ("shop-task_2", "shop-task_3", 3, 2),
    ]
    (summary,) = state_summaries(shop, pairs)
    assert (summary.scenarios, summary.closest) == (3, pairs[0])
    assert summary.mean == pytest.approx((1 + 0.6 + 0.6) / 3)
    assert summary.distinct == 2


def test_the_command_names_pairs_states_and_what_was_looked_at(tmp_path: Path) -> None:
    place = small_corpus.write(tmp_path / "corpus", scenarios=4)
    told = json.loads(door("corpus", "duplicates", place, "--against", "", "--format", "json").stdout)
    assert [(pair["a"], pair["b"]) for pair in told["tasks"]["pairs"]][:2] == [
        ("shelf-task_1", "shelf-task_2"),
        ("shelf-task_1", "shelf-task_3"),
    ]
    assert {pair["shared"] for pair in told["tasks"]["pairs"]} == {small_corpus.scenario(1)["task"].rstrip(".")}
    assert [(pair["a"], pair["b"]) for pair in told["states"]] == [("shelf-task_1", "shelf-task_4")]
    text = door("corpus", "duplicates", place, "--against", "").stdout
    assert "6 pairs of 4 tasks" in text
    assert "- none looked at" in text
    assert '- 1.00 (Jaccard 1.00) shelf-task_1, shelf-task_2: "Look how much jam' in text


def test_a_published_task_in_a_corpus_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.texts.task_texts", lambda name: {f"{name} 7": small_corpus.scenario(1)["task"]})
    place = small_corpus.write(tmp_path / "corpus", scenarios=1)
    options = ("corpus", "duplicates", place, "--against", "tau", "--format", "json")
    told = json.loads(door(*options).stdout)
    assert [(pair["a"], pair["b"]) for pair in told["contamination"]["pairs"]] == [("shelf-task_1", "tau_bench 7")]
    assert told["benchmarks"] == {"tau_bench": "1 tasks"}


def test_benchmarks_without_data_are_told_and_the_others_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENVSCALER_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("ENVSCALER_CACHE", str(tmp_path / "cache"))
    from benchmarks.registry import _loaded

    _loaded.cache_clear()
    place = small_corpus.write(tmp_path / "corpus", scenarios=1)
    result = door("corpus", "duplicates", place, "--against", "tau_bench,acebench")
    assert result.exit_code == 0
    assert "- tau_bench: not looked at: " in result.stdout
    assert "- acebench_agent: not looked at: " in result.stdout


def test_an_unknown_benchmark_is_refused() -> None:
    told = refused(door("corpus", "duplicates", "--against", "tua_bench"))
    assert told == "no published benchmark 'tua_bench'; did you mean 'tau_bench'?"
