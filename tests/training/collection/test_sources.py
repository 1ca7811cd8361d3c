"""Trajectories come from files of ours, the release's file and logs; a bad record is one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import DataError
from tests.envscaler.playground import door, lines, refused
from tests.training.collection.small import alone, released, scored, talked
from training.collection import Filters, sources


def read(*files: Path) -> list[Any]:
    return list(sources(files).candidates)


def test_released_rows_become_records_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "released.json"
    file.write_text(json.dumps([released(), released("conversation")]))
    one, other = read(file)
    assert one.sample_id == "env_1_sft-task_1/non_conversation"
    assert (one.env_id, one.setting, one.stop_reason, one.steps, one.reward) == (
        "env_1_sft",
        "non_conversation",
        "agent_done",
        3,
        None,
    )
    # Ids are given, reasoning stays, and what is said after the agent's last message is no part of the episode.
    assert one.messages == [{"content": "", **message} for message in alone()["messages"]]
    assert one.record["tools"] == alone()["tools"]
    assert (other.setting, other.stop_reason, other.steps) == ("conversation", "user_stop", 5)
    assert [Filters().reasons(found) for found in (one, other)] == [[], []]


def test_lists_of_a_released_row_may_be_decoded_and_rows_stand_by_id(tmp_path: Path) -> None:
    row = released()
    decoded = {**row, "messages": json.loads(row["messages"]), "tools": json.loads(row["tools"])}
    file = tmp_path / "released.json"
    file.write_text(json.dumps({"x": decoded, "y": row}))
    one, other = read(file)
    assert one.record == other.record


def test_a_record_names_its_setting_and_environment_or_they_are_read_off_it(tmp_path: Path) -> None:
    bare = {"sample_id": "shelf-task_1", "messages": talked()["messages"]}
    plain = {"sample_id": "shelf-task_2", "messages": alone()["messages"]}
    named = {**plain, "env_id": "other", "setting": "conversation"}
    found = read(lines(tmp_path / "t.jsonl", bare, plain, named, alone()))
    assert [(one.env_id, one.setting) for one in found] == [
        ("shelf", "conversation"),
        ("shelf", "non_conversation"),
        ("other", "conversation"),
        ("shelf", "non_conversation"),
    ]
    assert found[3].record == {**alone(), "env_id": "shelf", "setting": "non_conversation"}


MESSAGES = [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ([], "must be a JSON object"),
        ({"messages": MESSAGES}, "sample_id: must be a non-empty string"),
        ({"sample_id": "a"}, "messages: must be a list of chat messages, one at least"),
        ({"sample_id": "a", "messages": [{"role": "bot"}]}, "messages[0].role: must be one of system, user"),
        (
            {"sample_id": "a", "messages": [{"role": "assistant", "tool_calls": {"a": 1}}]},
            "messages[0].tool_calls: must be",
        ),
        ({**alone(), "tools": "look"}, "tools: must be a list of tool schemas"),
        ({**alone(), "benchmark": "tau_bench"}, "benchmark: is 'tau_bench'; only scenarios are collected"),
        (scored(alone(), "high"), "outcome.score.value: must be a number"),  # type: ignore[arg-type]
        (scored(alone(), float("nan")), "outcome.score.value: must be a number from 0 to 1"),
        (scored(alone(), 10**400), "outcome.score.value: must be a number from 0 to 1"),
        (scored(alone(), -0.5), "outcome.score.value: must be a number from 0 to 1"),
        ({**alone(), "setting": "alone"}, "setting: must be one of non_conversation, conversation"),
        (released(traj_type="alone"), "traj_type: must be one of"),
        (released(task_info={"env_id": "e"}), "task_info.task_id: must be a non-empty string"),
        (released(messages="[{"), "messages: is not JSON"),
        (released(tools=None), "tools: must be a list, or the JSON text of one"),
        (
            released(messages=[{"role": "assistant", "tool_calls": [{"name": "x"}]}]),
            "messages[0].tool_calls[0].function.name: must be a string",
        ),
    ],
)
def test_a_bad_record_is_one_sentence_and_nothing_is_written(tmp_path: Path, record: Any, sentence: str) -> None:
    file = lines(tmp_path / "t.jsonl", alone(), record)
    told = refused(door("collect", "--from", file, "--to", tmp_path / "out"))
    assert told.startswith(f"{file}: line 2: {sentence}")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_place_that_is_not_there_or_holds_no_logs_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file or folder"):
        sources([tmp_path / "none"])
    with pytest.raises(DataError, match="holds no log of scenarios"):
        sources([tmp_path])
