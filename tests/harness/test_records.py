"""Records and files: trajectories, outcomes, protocols, tools, errors, and where data lie."""

from __future__ import annotations

import dataclasses
import gzip
import io
import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.artifacts import MissingData, cache_folder, find
from harness.environment import ToolSpec
from harness.errors import DataError, EnvironmentFault, EnvScalerError, SettingError, near_miss
from harness.files import read_bytes, replacing
from harness.messages import Slip
from harness.outcome import Ending, Outcome, Score, StopReason
from harness.protocol import Protocol
from harness.rollout import play
from harness.trajectory import Recording, Trajectory, encoded, read_recordings, write_trajectories
from tests.harness.playground import PRESETS, both_presets, call, case, say, scripted, write

# Trajectories


@both_presets
def test_a_trajectory_is_written_with_the_fields_of_the_design(protocol: Protocol) -> None:
    record = play(case(), protocol, scripted(say("", write("ü", id="x"))), run=2, model="m").trajectory.record()
    assert list(record) == [
        "benchmark",
        "sample_id",
        "run",
        "protocol",
        "model",
        "messages",
        "tools",
        "stop_reason",
        "outcome",
    ]
    assert record["messages"][1]["tool_calls"] == [
        {"id": "x", "type": "function", "function": {"name": "write", "arguments": '{"note": "\\u00fc"}'}}
    ]
    assert (record["sample_id"], record["run"], record["stop_reason"]) == ("n1", 2, "agent_done")
    assert record["outcome"]["score"] == {"value": 0.1, "success": True, "parts": {}}
    assert json.loads(msgspec.json.encode(record)) == record


def test_an_unfinished_trajectory_has_no_outcome() -> None:
    record = Trajectory("a").record()
    assert (record["outcome"], record["stop_reason"]) == (None, None)


def lines(folder: Path, *records: Any) -> Path:
    """A file with these records; bytes stand as they are."""
    path = folder / "t.jsonl"
    path.write_bytes(b"\n".join(r if isinstance(r, bytes) else json.dumps(r).encode() for r in records) + b"\n")
    return path


def test_a_recording_keeps_unknown_keys_as_its_tag(tmp_path: Path) -> None:
    path = lines(tmp_path, {"sample_id": "a", "messages": [], "protocol": "paper", "note": 1.5, "big": 2**70})
    assert list(read_recordings(path)) == [
        Recording("a", [], {"note": 1.5, "big": 2**70}, protocol="paper", where="line 1")
    ]


def test_what_json_has_not_is_null_under_the_tag(tmp_path: Path) -> None:
    odd = b'{"sample_id": "a", "messages": [], "note": {"a": [NaN, 1.5, {"b": -Infinity}]}, "big": 1e999, "n": NaN}'
    (found,) = read_recordings(lines(tmp_path, odd))
    assert found.tag == {"note": {"a": [None, 1.5, {"b": None}]}, "big": None, "n": None}


@pytest.mark.parametrize("text", ["plain", "\ud800"])
def test_a_written_line_has_null_for_what_json_has_not(text: str) -> None:
    line = encoded({"text": text, "values": [float("nan"), {"inf": float("inf")}, 0.5]})
    assert json.loads(line, parse_constant=pytest.fail) == {"text": text, "values": [None, {"inf": None}, 0.5]}


def test_only_id_and_messages_are_required(tmp_path: Path) -> None:
    (found,) = read_recordings(lines(tmp_path, b"", {"sample_id": "a", "messages": [], "protocol": 5}, b"  "))
    assert (found.protocol, found.where) == ("", "line 2")


def test_recordings_may_be_gzipped_or_come_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = lines(tmp_path, {"sample_id": "a", "messages": []})
    packed = tmp_path / "t.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed.read_bytes())))
    assert list(read_recordings(packed)) == list(read_recordings("-")) == list(read_recordings(plain))


def test_what_other_tools_write_is_read_too(tmp_path: Path) -> None:
    line = b'{"sample_id": "a", "messages": [{"role": "assistant", "content": "\\ud83d"}], "loss": NaN}\r'
    (found,) = read_recordings(lines(tmp_path, line))
    assert found.messages[0]["content"] == "\ud83d"


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        pytest.param(b"{", "line 2: is not JSON (", id="no-json"),
        pytest.param(b'{"a": "\xff"}', "line 2: is not JSON (", id="no-utf8"),
        pytest.param(b"[" * 100_000, "line 2: is not JSON (", id="bomb"),
        pytest.param([], "line 2: must be a JSON object", id="no-object"),
        pytest.param({"messages": []}, "line 2: sample_id: must be a non-empty string", id="no-id"),
        pytest.param({"sample_id": 5, "messages": []}, "line 2: sample_id: must be a non-empty", id="id-no-text"),
        pytest.param({"sample_id": "", "messages": []}, "line 2: sample_id: must be a non-empty", id="empty-id"),
        pytest.param({"sample_id": "a"}, "line 2: messages: must be a list of chat messages", id="no-messages"),
        pytest.param(
            {"sample_id": "a", "messages": [{"role": "user"}, {"role": "developer"}]},
            "line 2: messages[1].role: must be one of system, user, assistant, tool",
            id="unknown-role",
        ),
        pytest.param(
            {"sample_id": "a", "messages": ["hi"]}, "line 2: messages[0].role: must be one of", id="no-message"
        ),
    ],
)
def test_a_record_that_cannot_be_replayed_is_named_with_line_and_field(
    tmp_path: Path, record: Any, problem: str
) -> None:
    path = lines(tmp_path, {"sample_id": "a", "messages": []}, record)
    with pytest.raises(DataError) as caught:
        list(read_recordings(path))
    assert str(caught.value).startswith(f"{path}: {problem}")


def test_a_trajectory_with_half_a_character_is_written_and_read(tmp_path: Path) -> None:
    live = play(case(), PRESETS["paper"], scripted(say("a\ud83d", call("\ud83d")), say("<think>\udc00")))
    write_trajectories(tmp_path / "t.jsonl", [live.trajectory])
    (found,) = read_recordings(tmp_path / "t.jsonl")
    assert found.messages == live.trajectory.messages


# Files


def test_a_file_appears_whole_with_the_usual_rights(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    with replacing(path) as file:
        file.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    (tmp_path / "plain").touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_a_file_that_fails_half_way_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def fail() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["a.txt"])


PACKED = gzip.compress(b"whole" * 100)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(PACKED[:20], id="cut-off"),
        pytest.param(PACKED[:15] + b"\xff\xff" + PACKED[17:], id="damaged"),
        pytest.param(b"\x1f\x8bnonsense", id="no-gzip-at-all"),
        pytest.param(None, id="missing"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, data: bytes | None) -> None:
    path = tmp_path / "a.gz"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(DataError, match=r"a\.gz: cannot be read: \w"):
        read_bytes(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzipped"])
def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "a").write_bytes(pack(b"\xef\xbb\xbf{}"))
    assert read_bytes(tmp_path / "a") == b"{}"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        read_bytes(tmp_path)


# Where data lie


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    monkeypatch.setenv("ENVSCALER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ENVSCALER_CACHE", str(tmp_path / "cache"))
    return {"data": tmp_path / "data", "cache": tmp_path / "cache"}


@pytest.mark.parametrize(("present", "found"), [(["data", "cache"], "data"), (["cache"], "cache")])
def test_the_named_folder_is_looked_at_before_the_cache(
    places: dict[str, Path], present: list[str], found: str
) -> None:
    for place in present:
        (places[place] / "tau_bench").mkdir(parents=True)
    assert find("tau_bench") == places[found] / "tau_bench"


def test_missing_data_name_the_command_that_fetches_them(places: dict[str, Path]) -> None:
    with pytest.raises(MissingData, match="tau_bench data not found; fetch it with: envscaler data pull tau_bench"):
        find("tau_bench")


def test_the_cache_is_the_users_unless_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENVSCALER_CACHE", raising=False)
    assert cache_folder().name == "envscaler"


# Outcomes, protocols, tools, errors

GOOD = Score(1.0, success=True, parts={"checks": [True]})


@pytest.mark.parametrize(
    ("ending", "score"),
    [(Ending.SCORED, None), (Ending.ENVIRONMENT_FAULT, GOOD), (Ending.INFRASTRUCTURE_ERROR, GOOD)],
)
def test_a_score_belongs_to_scored_outcomes_only(ending: Ending, score: Score | None) -> None:
    with pytest.raises(ValueError, match=f"outcome {ending}: score is "):
        Outcome(ending, StopReason.FAULT, 1, "trusted", score)


def test_an_outcome_is_recorded_whole() -> None:
    outcome = Outcome(Ending.SCORED, StopReason.AGENT_DONE, 3, "isolated", GOOD, None, {"dropped_calls": 1})
    assert outcome.record() == {
        "ending": "scored",
        "stop_reason": "agent_done",
        "steps": 3,
        "level": "isolated",
        "score": {"value": 1.0, "success": True, "parts": {"checks": [True]}},
        "fault": None,
        "counts": {"dropped_calls": 1},
    }


@both_presets
def test_every_field_of_a_protocol_is_recorded_as_json(protocol: Protocol) -> None:
    record = protocol.record()
    assert record.keys() == {field.name for field in dataclasses.fields(protocol)}
    assert record["slips"].keys() == {slip.value for slip in Slip}
    assert json.loads(json.dumps(record)) == record


@pytest.mark.parametrize(
    "tool",
    [
        ToolSpec("a", "A tool."),
        ToolSpec("a", "", {"type": "object", "properties": {"x": {"$ref": "#/y"}}}, {"response": {}, "strict": True}),
    ],
)
def test_a_tool_survives_its_openai_form(tool: ToolSpec) -> None:
    assert ToolSpec.from_openai(tool.openai()) == tool


def test_a_bare_openai_tool_has_no_parameters() -> None:
    assert ToolSpec.from_openai({"function": {"name": "a"}}) == ToolSpec("a", "")


def test_an_unknown_word_gets_the_nearest_known_one_or_all() -> None:
    assert near_miss("papr", ["paper", "strict"]) == "did you mean 'paper'?"
    assert near_miss("x", ["strict", "paper"]) == "one of paper, strict"
    many = [f"task_{number:03}" for number in range(165)]
    assert near_miss("x", many).endswith(", task_018, task_019 and 145 more")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DataError("a.json", "checks[3]", "is empty"), "a.json: checks[3]: is empty"),
        (DataError(Path("a.json"), "", "is empty"), "a.json: is empty"),
        (EnvironmentFault("timeout", "too slow"), "timeout: too slow"),
        (SettingError("limit=0"), "limit=0"),
    ],
)
def test_errors_are_one_sentence(error: EnvScalerError, text: str) -> None:
    assert str(error) == text
