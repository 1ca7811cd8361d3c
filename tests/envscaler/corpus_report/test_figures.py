"""The figures of a corpus, and the command that prints them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.benchmark import Sample
from benchmarks.registry import Loaded, loaded
from envscaler.corpus_report import corpus_figures
from envscaler.scenarios import load, read
from harness.messages import Message
from harness.reference import oracle, scripted_user
from harness.rollout import play
from tests import small_corpus
from tests.envscaler.playground import cancel, corpus, door, lines, release_sample, shop
from tests.training.collection.small import alone, talked


def figures(**changes: Any) -> dict[str, tuple[int, float]]:
    """Number and mean of each figure of the shop."""
    scenarios = (cancel(), cancel(task_id="shop-task_2", oracle=None, task="One two three.", **changes))
    return {
        figure.name: (figure.record()["n"], figure.record()["mean"]) for figure in corpus_figures(corpus(*scenarios))
    }


def test_each_figure_counts_what_it_says() -> None:
    assert figures() == {
        "tools": (1, 3),
        "query tools": (1, 2),
        "state-changing tools": (1, 1),
        "state categories": (1, 1),
        "rules": (1, 1),
        "lines of source": (1, 30),
        "scenarios": (1, 2),
        "checks": (2, 2),
        "words of the task": (2, (8 + 3) / 2),
        "characters of the task": (2, (53 + 14) / 2),
        "calls of the oracle": (1, 2),
        "oracle steps, non_conversation": (1, 3),
        # Two sentences, told one by one.
        "oracle steps, conversation": (1, 4),
    }


def test_steps_are_those_that_the_oracle_takes(tmp_path: Path) -> None:
    place = small_corpus.write(tmp_path / "corpus")
    found = {figure.name: figure.values for figure in corpus_figures(load(str(place)))}
    for setting in ("non_conversation", "conversation"):
        ready = loaded("scenarios", "paper", setting=setting, corpus=str(place))
        assert [_steps(ready, sample) for sample in ready.samples] == found[f"oracle steps, {setting}"]


def _steps(ready: Loaded, sample: Sample) -> int:
    case = sample.case()
    say = scripted_user(case.brief.user()) if case.brief.user else None

    def user(messages: list[Message]) -> str:
        assert say is not None
        return say(sum(message["role"] == "assistant" for message in messages))

    return play(case, ready.rules(sample), oracle(case), user).trajectory.steps


def test_a_state_of_records_has_their_fields_as_categories() -> None:
    from harness.state import State

    state = {"orders": {"O-1": {"id": 1, "sum": 2}, "O-2": {"id": 1, "tip": 2}}, "log": [], "today": "2026-01-01"}
    (figure,) = (
        figure
        for figure in corpus_figures(corpus(cancel(init_config=State.of(state))))
        if figure.name == "state categories"
    )
    assert figure.values == [5]


def test_a_released_record_says_itself_which_tools_change_state_and_what_the_state_is() -> None:
    operations = [{"operation_name": name, "operation_type": "query"} for name in ("get_order", "set_status")]
    space = [{"entity": "Order", "attributes": "id, status, su"}, {"entity": "Log", "attributes": "text"}]
    environment = shop(released={"operation_list": operations, "state_space_definition": space})
    found = {figure.name: figure.values for figure in corpus_figures(corpus(environment=environment))}
    assert (found["query tools"], found["state-changing tools"], found["state categories"]) == ([2], [0], [4])


def test_an_environment_without_scenarios_has_no_state_to_count() -> None:
    empty = replace(corpus(), scenarios={})
    found = {figure.name: figure.record() for figure in corpus_figures(empty)}
    assert (found["scenarios"]["max"], found["state categories"]["n"], found["checks"]["mean"]) == (0, 0, None)


def test_the_released_sample_looks_like_the_papers_figure() -> None:
    """Its 20 environments: 10.65 and 8.05 tools; the paper says 10.44 and 8.14 of all 191."""
    folder = release_sample()
    found = read([folder / "github_form_envs.json.gz", folder / "github_form_rl_scenarios.json.gz"])
    means = {figure.name: figure.record()["mean"] for figure in corpus_figures(found)}
    assert means["query tools"] == pytest.approx(10.65)
    assert means["state-changing tools"] == pytest.approx(8.05)
    assert means["checks"] == pytest.approx(901 / 30)


def test_query_and_state_changing_tools_of_the_bundled_corpus_are_all_its_tools() -> None:
    found = {figure.name: figure.values for figure in corpus_figures(load("bundled"))}
    both = zip(found["query tools"], found["state-changing tools"], strict=True)
    assert [query + change for query, change in both] == found["tools"]
    assert min(found["oracle steps, non_conversation"]) >= 3


def test_the_table_has_a_row_for_each_figure_in_every_format(tmp_path: Path) -> None:
    place = small_corpus.write(tmp_path / "corpus")
    file = lines(tmp_path / "t.jsonl", alone(), talked())
    options = ("corpus", "stats", place, "--trajectories", file)
    terminal, markdown = (door(*options, "--format", form).stdout for form in ("terminal", "markdown"))
    told = json.loads(door(*options, "--format", "json").stdout)
    assert told["environments"] == 1
    assert [line.split("  ")[0].strip() for line in terminal.splitlines()[2:]] == [
        figure["figure"] for figure in told["figures"]
    ]
    assert "| steps, conversation" in markdown
    assert len(markdown.splitlines()) == len(terminal.splitlines())
