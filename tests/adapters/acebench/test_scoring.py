"""Official scoring and the strict score, on small cases worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.acebench.scoring import end_to_end, official_entry, paper_entry, process, strict

States = list[dict[str, dict[str, Any]]]


@pytest.mark.parametrize(
    ("states", "expected", "published", "both_ways"),
    [
        pytest.param([{"A": {"x": 1}}], [{"A": {"x": 1}}], 1, 1, id="equal"),
        pytest.param([{"A": {"x": 1}}], [{"A": {"x": 2}}], 0, 0, id="another-value"),
        pytest.param([{"A": {"x": {"a": 1, "b": 2}}}], [{"A": {"x": {"a": 1}}}], 1, 0, id="more-entries-are-free"),
        pytest.param([{"A": {"x": {"a": 1}}}], [{"A": {"x": {"a": 1, "b": 2}}}], 0, 0, id="fewer-entries"),
        pytest.param(
            [{"A": {"x": {"a": {"c": 1, "d": 2}}}}], [{"A": {"x": {"a": {"c": 1}}}}], 0, 0, id="entries-exact"
        ),
        pytest.param([{"A": {"x": [1, 2]}}], [{"A": {"x": [2, 1]}}], 0, 0, id="order-in-lists"),
        pytest.param([{"A": {"x": 1, "y": 2}}], [{"A": {"x": 1}}], 0, 0, id="attribute-the-answer-lacks"),
        pytest.param([{"A": {"x": 1}}], [{"A": {"x": 1, "y": 2}}], 1, 0, id="attribute-the-state-lacks"),
        pytest.param([{"A": {"x": 1}}], [{"A": {"x": 1}}, {"B": {}}], 0, 0, id="number-of-classes"),
        pytest.param([], [{"A": {"x": 1}}], 0, 0, id="no-state"),
        pytest.param(
            [{"A": {"x": 1}}, {"B": {"y": 0}}], [{"A": {"x": 1}}, {"Bb": {"y": 1}}], 1, 0, id="misspelt-class"
        ),
        pytest.param([{"B": {"y": 0}}, {"A": {"x": 1}}], [{"A": {"x": 1}}, {"B": {"y": 0}}], 1, 1, id="any-order"),
    ],
)
def test_states_against_answers(states: States, expected: States, published: float, both_ways: float) -> None:
    assert (end_to_end(states, expected), strict(states, expected)) == (published, both_ways)


@pytest.mark.parametrize(
    ("log", "milestones", "mark"),
    [
        pytest.param(["[a()]", "[b()]"], ["[a()]", "[b()] "], 1.0, id="spaces-at-the-ends"),
        pytest.param(["[x()]", "[a()]", "[y()]", "[b()]"], ["[a()]", "[b()]"], 1.0, id="others-between"),
        pytest.param(["[b()]", "[a()]"], ["[a()]", "[b()]"], 0.5, id="out-of-order"),
        pytest.param(["[b()]", "[c()]"], ["[a()]", "[b()]", "[c()]"], 0.0, id="a-miss-uses-up-the-log"),
        pytest.param(["[a()]"], ["[a()]", "[a()]", "[a()]"], 1 / 3, id="flat-is-not-rounded"),
        pytest.param(["[a()]"], [["[b()]"], ["[a()]", "[b()]", "[c()]"]], 0.333, id="best-of-lists-is-rounded"),
        pytest.param([], [], 1.0, id="no-milestones"),
    ],
)
def test_milestones_met_in_order(log: list[str], milestones: list[Any], mark: float) -> None:
    assert process(log, milestones, solved=False) == mark
    assert process(log, milestones, solved=True) == 1.0


def test_log_entries_are_written_as_each_executor_writes_them() -> None:
    arguments = {"text": "It's", "items": [{"n": 1}], "flag": None}
    assert paper_entry("f", arguments) == "[f(text='It's', items=[{'n': 1}], flag=None)]"
    assert official_entry([("f", arguments), ("g", {})]) == "[f(text=\"It's\", items=[{'n': 1}], flag=None), g()]"
