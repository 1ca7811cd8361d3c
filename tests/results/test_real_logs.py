"""Logs that Inspect itself wrote: what the solver records is what the table reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval

from envscaler._registry import scenarios
from results.read import Read, read
from results.table import Figure, lines
from tests.envscaler.playground import door


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scenarios in a conversation, three runs, by the agent that does nothing."""
    folder = tmp_path_factory.mktemp("logs")
    (log,) = inspect_eval(
        scenarios(setting="conversation", environments="library_circulation", level="trusted"),
        model="reference/noop",
        model_roles={"user": "reference/scripted_user"},
        limit=2,
        log_dir=str(folder),
        display="none",
    )
    assert log.status == "success", log.error
    return folder


@pytest.fixture(scope="module")
def found(logs: Path) -> Read:
    return read(logs)


def test_each_sample_and_run_is_a_row(found: Read) -> None:
    ids = ["library_circulation-task_1", "library_circulation-task_2"]
    assert sorted((row.sample, row.run) for row in found.rows) == [(name, run) for name in ids for run in (1, 2, 3)]
    for row in found.rows:
        assert (row.model, row.benchmark, row.protocol, row.subset) == (
            *("reference/noop", "scenarios", "paper", "conversation"),
        )
        assert (row.reward, row.success, row.floor, row.ending) == (0.0, False, 0.0, "scored")
        assert (row.stop_reason, row.level, row.group) == ("user_stop", "trusted", "library_circulation")
        assert row.steps > 0


def test_a_complete_log_has_no_note(found: Read) -> None:
    assert found.notes == []


def test_the_table_shows_the_floor_beside_the_score(found: Read) -> None:
    (line,) = lines(found)
    assert (line.column, line.samples, line.runs, line.floor) == ("Conversation", 2, 3, 0.0)
    # Two samples of one environment, both 0: the bound of a share that two tries never showed.
    assert line.reward == line.success == Figure(0.0, 0.0, 0.0, pytest.approx(100 * (1 - 0.025**0.5)))
    assert line.settings == "environments=library_circulation user=reference/scripted_user"


def test_the_command_prints_it(logs: Path) -> None:
    result = door("results", logs, "--format", "markdown")
    assert result.exit_code == 0
    assert "| reference/noop | scenarios 1-A |" in result.output
