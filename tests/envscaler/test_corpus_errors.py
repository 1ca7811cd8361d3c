"""Bad corpora are answered with one sentence that names file, record and field; exit code 2; nothing half-written."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from envscaler.scenarios import load, write_unpacked
from harness.errors import DataError, SettingError
from tests.envscaler.playground import (
    PUBLIC_ENVIRONMENT,
    PUBLIC_SCENARIO,
    cancel,
    corpus,
    door,
    files,
    lines,
    public,
    refused,
    shop,
)

CHECK = {"check_item": "x", "check_func": "y"}


def mistake(folder: Path) -> str:
    """What loading a folder says, without the folder."""
    with pytest.raises(DataError) as raised:
        load(folder)
    return str(raised.value).replace(f"{folder}/", "").replace(str(folder), "FOLDER")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        pytest.param({"env_id": ...}, "env_id: is missing", id="missing"),
        pytest.param({"env_id": ""}, "env_id: must not be empty", id="empty"),
        pytest.param({"env_id": 5}, "env_id: must be a string, not int", id="number"),
        pytest.param({"env_id": None}, "env_id: must be a string, not NoneType", id="null"),
        pytest.param({"environment_summary": []}, "environment_summary: must be a string, not list", id="list"),
        pytest.param({"env_class_name": ...}, "env_class_name: is missing", id="no-class"),
        pytest.param({"env_class_code": {}}, "env_class_code: must be a string, not dict", id="object-as-source"),
        pytest.param({"constraints_rules": "x"}, "constraints_rules: must be a list, not str", id="rules-as-text"),
        pytest.param({"constraints_rules": ["a", 1]}, "constraints_rules[1]: must be a string, not int", id="rule"),
        pytest.param({"tools": "[1"}, "tools: is a string that is not JSON (Input data was truncated)", id="bad-json"),
        pytest.param({"tools": "{}"}, "tools: must be a list, not dict", id="json-of-another-type"),
        pytest.param({"env_func_details": "[]"}, "env_func_details: must be an object, not list", id="details"),
        pytest.param({"tools": ["x"]}, "tools[0]: must be an object, not str", id="tool"),
        pytest.param({"tools": [{}]}, "tools[0].function: is missing", id="tool-without-function"),
        pytest.param({"tools": [{"function": {}}]}, "tools[0].function.name: is missing", id="tool-without-name"),
        pytest.param({"quality": 1}, "quality: must be an object, not int", id="quality"),
    ],
)
def test_a_bad_environment_names_file_record_and_field(
    tmp_path: Path, changes: Mapping[str, Any], problem: str
) -> None:
    assert mistake(public(tmp_path, environment=changes)) == f"environments.jsonl: line 1.{problem}"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        pytest.param({"task_id": ""}, "task_id: must not be empty", id="no-id"),
        pytest.param({"task": ""}, "task: must not be empty", id="no-task"),
        pytest.param({"init_config": "{"}, "init_config: is a string that is not JSON", id="bad-json"),
        pytest.param({"init_config": "[" * 5000}, "init_config: is a string that is not JSON", id="nested-json"),
        pytest.param(
            {"init_config": {"a": json.loads("[" * 300 + "]" * 300)}},
            "init_config: nested deeper than 200 levels",
            id="config-nested-too-deeply",
        ),
        pytest.param({"init_config": [1]}, "init_config: must be an object, not list", id="list-as-config"),
        pytest.param({"init_config": "3"}, "init_config: must be an object, not int", id="number-in-a-string"),
        pytest.param({"init_config": None}, "init_config: must be an object, not NoneType", id="null-as-config"),
        pytest.param({"checklist_with_func": {}}, "checklist_with_func: must be a list, not dict", id="checks"),
        pytest.param({"checklist_with_func": [CHECK, 3]}, "checklist_with_func[1]: must be an object", id="check"),
        pytest.param(
            {"checklist_with_func": [{**CHECK, "check_func": 1}]},
            "checklist_with_func[0].check_func: must be a string, not int",
            id="check-function",
        ),
        pytest.param(
            {"settings": ["conversation", "conversatoin"]},
            "settings[1]: no setting 'conversatoin'; did you mean 'conversation'?",
            id="setting",
        ),
        pytest.param({"oracle": [{"arguments": {}}]}, "oracle[0].name: is missing", id="oracle-name"),
        pytest.param(
            {"oracle": [{"name": "f", "arguments": "{}"}]}, "oracle[0].arguments: must be an object", id="args"
        ),
        pytest.param({"oracle": {}}, "oracle: must be a list, not dict", id="oracle"),
        pytest.param({"env_class_name": 1}, "env_class_name: must be a string, not int", id="class"),
        pytest.param({"clock": "noon"}, "clock: is not an ISO 8601 time: 'noon'", id="clock"),
        pytest.param(
            {"clock": "9999-12-31T23:00:00-02:00"}, "clock: is not an ISO 8601 time: '9999", id="clock-too-late"
        ),
        pytest.param({"clock": 5}, "clock: must be a string, not int", id="clock-as-number"),
        pytest.param({"seed": True}, "seed: must be an integer, not bool", id="seed"),
        pytest.param({"audit": []}, "audit: must be an object, not list", id="audit"),
    ],
)
def test_a_bad_scenario_names_file_record_and_field(tmp_path: Path, changes: Mapping[str, Any], problem: str) -> None:
    assert mistake(public(tmp_path, scenario=changes)).startswith(f"scenarios.jsonl: line 1.{problem}")


@pytest.mark.parametrize(
    ("scenario", "sentence"),
    [
        pytest.param(
            {"env_id": "shopp"},
            "scenarios.jsonl: shop-task_1.env_id: no environment 'shopp'; did you mean 'shop'?",
            id="unknown-environment",
        ),
        pytest.param(
            {"env_class_name": "Shopp"},
            "scenarios.jsonl: shop-task_1.env_class_name: is Shopp, the environment's is Shop",
            id="another-class",
        ),
    ],
)
def test_records_that_do_not_fit_together_name_the_scenario(
    tmp_path: Path, scenario: Mapping[str, Any], sentence: str
) -> None:
    assert mistake(public(tmp_path, scenario=scenario)) == sentence


def test_another_record_under_the_same_id_is_refused(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", PUBLIC_ENVIRONMENT, {**PUBLIC_ENVIRONMENT, "env_class_name": "Other"})
    assert mistake(tmp_path) == "a.jsonl: line 2.env_id: 'shop' is taken by another record"
    lines(tmp_path / "a.jsonl", PUBLIC_ENVIRONMENT, PUBLIC_SCENARIO, {**PUBLIC_SCENARIO, "task": "Another."})
    assert mistake(tmp_path) == "a.jsonl: line 3.task_id: 'shop-task_1' is taken by another record"


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        pytest.param("a.jsonl", b'{"a": 1', "a.jsonl: line 1: is not JSON (Input data was truncated)", id="cut-off"),
        pytest.param("a.json", b"[" * 100_000, "a.json: is not JSON (maximum recursion depth", id="nested"),
        pytest.param("a.json", b'["\xff"]', "a.json: is not JSON (Invalid UTF-8", id="not-utf-8"),
        pytest.param("a.json", b"[1e999]", "a.json: is not JSON (Number out of range", id="number-out-of-range"),
        pytest.param("a.json.gz", b"\x1f\x8bnope", "a.json.gz: cannot be read: ", id="no-gzip"),
        pytest.param("a.json.gz", gzip.compress(b"[1]")[:-9], "a.json.gz: cannot be read: ", id="cut-off-gzip"),
        pytest.param(
            "a.json.gz", gzip.compress(b"x")[:10] + b"\xff" * 9, "a.json.gz: cannot be read: ", id="damaged-gzip"
        ),
        pytest.param("a.json", b"[1]", "FOLDER: no environments and no scenarios found", id="nothing-of-ours"),
        pytest.param(
            "a.json",
            json.dumps([PUBLIC_ENVIRONMENT, {"x": 1}]).encode(),
            "a.json: [1]: is neither an environment (env_class_code) nor a scenario (init_config, task)",
            id="a-stranger-among-records",
        ),
        pytest.param(
            "a.json",
            json.dumps({"shop2": PUBLIC_ENVIRONMENT}).encode(),
            "a.json: shop2.env_id: is 'shop', its key is 'shop2'",
            id="a-key-that-is-not-the-id",
        ),
        pytest.param(
            "a.json",
            json.dumps([PUBLIC_SCENARIO]).encode(),
            "a.json: shop-task_1.env_id: no environment 'shop'",
            id="a-scenario-alone",
        ),
    ],
)
def test_a_broken_file_is_named_with_its_place(tmp_path: Path, name: str, data: bytes, sentence: str) -> None:
    (tmp_path / name).write_bytes(data)
    assert mistake(tmp_path).startswith(sentence)


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("shop/environment.toml", "id = ", "shop/environment.toml: is not TOML (Invalid value"),
        ("shop/environment.toml", 'id = "other"', "shop/environment.toml: id: is 'other', the folder is named 'shop'"),
        ("shop/environment.toml", 'id = "shop"', "shop/environment.toml: title: is missing"),
        ("shop/environment.toml", None, "shop/environment.toml: cannot be read: No such file"),
        ("shop/environment.py", None, "shop/environment.py: cannot be read: No such file"),
        ("shop/environment.py", b"\xff", "shop/environment.py: is not UTF-8"),
        ("shop/environment.toml", b"\xff", "shop/environment.toml: is not TOML"),
        ("shop/released.json", "[]", "shop/released.json: must be an object, not list"),
        ("shop/released.json", '{"tools": [{}]}', "shop/released.json: tools[0].function: is missing"),
        ("order.json", '{"scenarios": [1]}', "order.json: scenarios[0]: must be a string, not int"),
        ("shop/scenarios/shop-task_1.json", "[]", "shop/scenarios/shop-task_1.json: must be an object, not list"),
        ("shop/scenarios/shop-task_1.json", "{}", "shop/scenarios/shop-task_1.json: init_config: is missing"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_broken_file_of_an_unpacked_corpus_is_named(
    tmp_path: Path, file: str, content: str | bytes | None, sentence: str
) -> None:
    write_unpacked(corpus(), tmp_path)
    if content is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_bytes(content.encode() if isinstance(content, str) else content)
    assert mistake(tmp_path).startswith(sentence)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"task_id": "other"}, "task_id: is 'other', the file is named 'shop-task_1'"),
        ({"env_id": "other"}, "env_id: is 'other', the folder is named 'shop'"),
        ({"checks": [{"item": "x"}]}, "checks[0].function: is missing"),
        ({"init_config": "{}"}, "init_config: must be an object, not str"),
    ],
    ids=["task-id", "env-id", "check", "config"],
)
def test_a_bad_scenario_file_names_the_field(tmp_path: Path, changes: Mapping[str, Any], problem: str) -> None:
    write_unpacked(corpus(), tmp_path)
    path = tmp_path / "shop/scenarios/shop-task_1.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **changes}))
    assert mistake(tmp_path) == f"shop/scenarios/shop-task_1.json: {problem}"


def test_a_command_says_it_in_one_sentence_with_exit_code_2(tmp_path: Path) -> None:
    folder = public(tmp_path, scenario={"task_id": ...})
    sentence = f"{folder}/scenarios.jsonl: line 1.task_id: is missing"
    for command in (["list", folder], ["validate", folder], ["show", "x", "--corpus", folder]):
        assert refused(door("corpus", *command)) == sentence
    assert refused(door("corpus", "export", folder, "--to", tmp_path / "out")) == sentence
    assert refused(door("corpus", "import", folder, "--to", tmp_path / "out")) == sentence
    assert not (tmp_path / "out").exists()


def test_a_missing_source_is_named() -> None:
    assert refused(door("corpus", "list", "nowhere.json")) == "nowhere.json: cannot be read: No such file or directory"


@pytest.mark.parametrize("command", [["list"], ["show", "shop", "--corpus"]], ids=["list", "show"])
def test_source_that_does_not_parse_is_named_by_every_command(tmp_path: Path, command: list[str]) -> None:
    folder = public(tmp_path, environment={"env_class_code": "class Shop(:"})
    sentence = refused(door("corpus", *command, folder))
    assert sentence.startswith(f"{folder}/environments.jsonl: shop.source: environment source does not parse")


HOSTILE = [
    pytest.param({"env_id": "../x"}, {"env_id": "../x"}, "id '../x' cannot be a file name", id="environment-leaves"),
    pytest.param({}, {"task_id": "../../x"}, "id '../../x' cannot be a file name", id="scenario-leaves"),
    pytest.param({}, {"task_id": "x" * 300}, "OUT: cannot be written: File name too long", id="too-long"),
    pytest.param(
        {"quality": {"oracle": None}},
        {},
        "environment 'shop': quality cannot be written as TOML",
        id="no-toml",
    ),
]


@pytest.mark.parametrize(("environment", "scenario", "problem"), HOSTILE)
def test_what_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, environment: Mapping[str, Any], scenario: Mapping[str, Any], problem: str
) -> None:
    source = public(tmp_path / "deep" / "in", environment=environment, scenario=scenario)
    before = files(tmp_path)
    out = tmp_path / "deep" / "out"
    assert refused(door("corpus", "import", source, "--to", out)).startswith(problem.replace("OUT", str(out)))
    assert files(tmp_path) == before
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["in"]


def test_a_folder_with_something_in_it_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = public(tmp_path / "in")
    (tmp_path / "file").write_text("mine")
    for taken in (source, tmp_path / "file"):
        assert "exists and is not an empty folder" in refused(door("corpus", "export", source, "--to", taken))
    assert "cannot be written" in refused(door("corpus", "export", source, "--to", tmp_path / "file" / "below"))
    monkeypatch.chdir(tmp_path)
    assert refused(door("corpus", "export", source, "--to", ".")) == ".: is the current folder; name a new one in it"
    assert (tmp_path / "file").read_text() == "mine"


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert door("corpus", "export", public(tmp_path / "in"), "--to", tmp_path / "out").exit_code == 0
    assert sorted(files(tmp_path / "out")) == ["environments.jsonl", "scenarios.jsonl"]


def test_an_unknown_environment_is_answered_with_the_nearest() -> None:
    with pytest.raises(SettingError, match="no environment 'shpo'; did you mean 'shop'"):
        corpus().select(["shpo"])


def test_a_selection_keeps_only_its_scenarios() -> None:
    other = cancel(env_id="other", task_id="other-task_1")
    both = corpus(cancel(), other)
    both.environments["other"] = shop(id="other")
    assert list(both.select(["other"]).scenarios) == ["other-task_1"]
