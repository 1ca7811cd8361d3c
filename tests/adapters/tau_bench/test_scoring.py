from __future__ import annotations

from pathlib import Path

import pytest

from adapters.tau_bench import Scorer, TauBenchEnvironment, load_tasks, open_domain
from adapters.tau_bench.defects import DEFECTS, notes
from adapters.tau_bench.environment import ENDING_TOOLS
from adapters.tau_bench.scoring import outputs_said, said_to_user
from harness.errors import DataError
from harness.messages import assistant, user


@pytest.mark.parametrize(
    ("output", "said", "found"),
    [
        pytest.param("1234.5", "It is $1,234.50.", True, id="commas-in-the-words-do-not-count"),
        pytest.param("10", "7103", True, id="part-of-another-number"),
        pytest.param("625.6", "625.60", True, id="a-prefix"),
        pytest.param("625.60", "625.6", False, id="digit-by-digit"),
        pytest.param("Blue", "the BLUE one", True, id="any-case"),
        pytest.param("1,2", "1,2", False, id="a-comma-in-an-output-never-matches"),
    ],
)
def test_an_output_is_a_part_of_what_was_said(output: str, said: str, found: bool) -> None:
    assert outputs_said([output], ["Hello.", said]) == {output: found}


def test_words_beside_a_call_and_inside_reasoning_are_not_said_to_the_user() -> None:
    messages = [
        user("10"),
        assistant("20", [("think", {"thought": "30"})]),
        {"role": "tool", "content": "40", "tool_call_id": "1"},
        assistant("<think>50</think>60"),
    ]
    assert list(said_to_user(messages)) == ["60"]


def test_a_report_names_each_field_that_differs(small: Path) -> None:
    domain = open_domain("retail", small)
    scorer = Scorer(domain, load_tasks(small, "retail", "test")[0])
    environment = TauBenchEnvironment(domain)
    environment.call("cancel_pending_order", {"order_id": "#W1", "reason": "ordered by mistake"})
    assert not scorer.verdict(environment.session, []).database_right
    assert scorer.differences(environment.session) == [
        """["orders/#W1"].cancel_reason: 'ordered by mistake' instead of 'no longer needed'"""
    ]
    untouched = scorer.differences(TauBenchEnvironment(domain).session)
    assert """["orders/#W1"].status: 'pending' instead of 'cancelled'""" in untouched
    assert """["users/ann_lee_1"].payment_methods.gift_card_1.balance: 5 instead of 55.3""" in untouched


def test_a_report_tells_of_entities_that_should_not_be_there_and_stays_short(small: Path) -> None:
    domain = open_domain("airline", small)
    scorer = Scorer(domain, load_tasks(small, "airline", "test")[0])
    environment = TauBenchEnvironment(domain)
    passengers = [{"x" * 1000: "y" * 1000}] + [{str(number): number} for number in range(100)]
    booking = {"user_id": "ann_lee_1", "origin": "JFK", "destination": "ORD", "flight_type": "", "cabin": "economy"}
    rest = {"flights": [], "payment_methods": [], "total_baggages": 0, "nonfree_baggages": 0, "insurance": "no"}
    assert "HATHAT" in environment.call("book_reservation", {**booking, **rest, "passengers": passengers}).text
    lines = scorer.differences(environment.session)
    assert any(line.startswith('["reservations/HATHAT"]: {') and line.endswith("instead of nothing") for line in lines)
    assert len(lines) <= 20
    assert max(map(len, lines)) < 700


def test_the_ground_truth_is_replayed_without_the_calls_that_end(small: Path) -> None:
    domain = open_domain("retail", small)
    plain, with_transfer = (Scorer(domain, load_tasks(small, "retail", "test")[index]) for index in (0, 2))
    assert plain.ground_truth.data_hash == with_transfer.ground_truth.data_hash


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is not JSON"),
        ("{}", "must be a list of tasks"),
        ('[{"user_id": "a", "instruction": "b", "actions": [{"name": "x"}]}]', "[0].actions[0]: must be an object"),
        ('[{"user_id": "a", "actions": []}]', "[0].instruction: must be a string"),
    ],
)
def test_a_broken_task_file_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "retail").mkdir()
    (tmp_path / "retail" / "tasks_test.json").write_text(text)
    with pytest.raises(DataError, match=sentence.replace("[", r"\[").replace("]", r"\]")):
        load_tasks(tmp_path, "retail", "test")


def test_a_tool_without_an_implementation_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text('[{"type": "function", "function": {"name": "fly"}}]')
    domain = open_domain("retail", tmp_path)
    domain.folder = tmp_path
    with pytest.raises(DataError, match=r"tools\.json: must describe the 16 tools of retail; differs in: .*fly"):
        _ = domain.specs


def test_the_noted_defects_of_the_ground_truths_are_there(real: Path) -> None:
    """Which calls of the ground truths are refused is measured; the notes must name exactly those tasks."""
    refused = {"retail": set[int](), "airline": set[int]()}
    for domain, indices in refused.items():
        opened = open_domain(domain, real)
        for task in load_tasks(real, domain, "test"):
            environment = TauBenchEnvironment(opened)
            for action in task.actions:
                if action.name in ENDING_TOOLS:
                    continue
                if environment.call(action.name, action.arguments).text.startswith("Error"):
                    indices.add(task.index)
    noted = {
        index
        for indices, note in DEFECTS["retail/test"].items()
        if "refused" in note or "finds nothing" in note or "does not exist" in note
        for index in indices
    }
    assert refused == {"retail": noted, "airline": set()}
    assert notes("retail", "train", 2) == []
