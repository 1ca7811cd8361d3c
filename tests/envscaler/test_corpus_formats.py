"""The forms of a corpus on disk: each is read back as it was written, and the public release loses nothing."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import Corpus, OracleCall, load, read, write_records, write_unpacked
from envscaler.scenarios.records import Form
from harness.errors import SettingError
from harness.state import State
from tests.envscaler.playground import (
    PUBLIC_ENVIRONMENT,
    PUBLIC_SCENARIO,
    cancel,
    corpus,
    door,
    files,
    lines,
    public,
    release_sample,
    shop,
)

OURS = corpus(
    cancel(audit={"noop": 0.0}),
    cancel(task_id="shop-task_10", settings=("conversation",), oracle=None, clock=None),
    cancel(task_id="shop-task_9", init_config=State.of({"orders": {}, "$odd": [1, 1.0, None, "é\u2028"]})),
    environment=shop(quality={"oracle": 1.0, "caught": 0.95}),
)


def write(found: Corpus, folder: Path, form: str) -> Path:
    folder.mkdir(exist_ok=True)
    if form == "unpacked":
        write_unpacked(found, folder)
    elif form == "packed":
        write_records(found, folder, "packed")
    return folder


def order(found: Corpus) -> tuple[list[str], list[str]]:
    return list(found.environments), list(found.scenarios)


@pytest.mark.parametrize("form", ["unpacked", "packed"])
def test_a_corpus_of_ours_comes_back_whole_and_in_order(tmp_path: Path, form: str) -> None:
    back = load(write(OURS, tmp_path / "corpus", form))
    assert back == OURS
    assert order(back) == order(OURS)
    assert [s.init_config.data for s in back.scenarios.values()] == [
        s.init_config.data for s in OURS.scenarios.values()
    ]


@pytest.mark.parametrize(("form", "through"), [("github", "unpacked"), ("hub", "packed")])
def test_the_public_sample_is_imported_without_loss(tmp_path: Path, form: Form, through: str) -> None:
    sample = release_sample()
    sources = [sample / f"{form}_form_{kind}.json.gz" for kind in ("envs", "rl_scenarios")]
    imported = door(
        "corpus", "import", *sources, "--to", tmp_path / "ours", *(["--packed"] if through == "packed" else [])
    )
    assert imported.output == f"{tmp_path / 'ours'}: 20 environments, 30 scenarios\n"
    for out in ("github", "hub"):
        exported = door("corpus", "export", tmp_path / "ours", "--form", out, "--to", tmp_path / out)
        assert exported.exit_code == 0
        for kind, name in (("envs", "environments"), ("rl_scenarios", "scenarios")):
            theirs = json.loads(gzip.decompress((sample / f"{out}_form_{kind}.json.gz").read_bytes()))
            assert json.loads((tmp_path / out / f"{name}.json").read_bytes()) == theirs


def test_both_public_forms_of_a_record_are_one(tmp_path: Path) -> None:
    hub = {key: json.dumps(v) if key in ("tools", "env_func_details") else v for key, v in PUBLIC_ENVIRONMENT.items()}
    (tmp_path / "hub.json").write_text(json.dumps([hub, {**PUBLIC_SCENARIO, "init_config": '{"orders": {}}'}]))
    (tmp_path / "github.json").write_text(json.dumps({"shop": PUBLIC_ENVIRONMENT}))
    found = read([tmp_path / "hub.json", tmp_path / "github.json"])
    assert list(found.environments) == ["shop"]
    assert found.environments["shop"].released["tools"] == PUBLIC_ENVIRONMENT["tools"]
    assert found.scenarios["shop-task_1"].init_config.decode() == {"orders": {}}


@pytest.mark.parametrize("name", ["all.json", "all.json.gz", "all.jsonl", "all.jsonl.gz"])
def test_lists_json_lines_and_gzip_are_read_alike(tmp_path: Path, name: str) -> None:
    records = [PUBLIC_ENVIRONMENT, PUBLIC_SCENARIO]
    text = "\n\n".join(map(json.dumps, records)) if "jsonl" in name else json.dumps(records)
    data = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert load(tmp_path / name) == load(public(tmp_path / "plain"))


def test_one_record_alone_in_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps(PUBLIC_ENVIRONMENT))
    assert list(load(tmp_path / "one.json").environments) == ["shop"]


def test_files_of_other_kinds_in_a_folder_are_left_alone(tmp_path: Path) -> None:
    folder = public(tmp_path)
    for name, content in (("notes.json", {"a": 1}), ("list.json", [1, 2]), ("nothing.json", [])):
        (folder / name).write_text(json.dumps(content))
    (folder / "README.md").write_text("{")
    assert list(load(folder).scenarios) == ["shop-task_1"]


def test_the_same_record_twice_is_one(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", PUBLIC_ENVIRONMENT, PUBLIC_SCENARIO, PUBLIC_SCENARIO)
    lines(tmp_path / "b.jsonl", PUBLIC_ENVIRONMENT)
    found = load(tmp_path)
    assert order(found) == (["shop"], ["shop-task_1"])


@pytest.mark.parametrize("checks", [[], ...], ids=["an-empty-list", "no-list"])
@pytest.mark.parametrize("through", ["unpacked", "packed"])
def test_a_scenario_without_checks_comes_back_as_it_was(tmp_path: Path, checks: Any, through: str) -> None:
    found = load(public(tmp_path / "in", scenario={"checklist_with_func": checks}))
    assert found.scenarios["shop-task_1"].checks == ()
    write_records(load(write(found, tmp_path / "ours", through)), tmp_path / "out", "github")
    (back,) = json.loads((tmp_path / "out" / "scenarios.json").read_bytes())
    assert back == {k: v for k, v in PUBLIC_SCENARIO.items() if k != "checklist_with_func" or checks is not ...} | (
        {} if checks is ... else {"checklist_with_func": checks}
    )


def test_an_unpacked_corpus_lies_where_authors_look(tmp_path: Path) -> None:
    write(corpus(), tmp_path, "unpacked")
    assert sorted(files(tmp_path)) == [
        "shop/environment.py",
        "shop/environment.toml",
        "shop/scenarios/shop-task_1.json",
    ]
    record = json.loads((tmp_path / "shop/scenarios/shop-task_1.json").read_bytes())
    assert list(record) == [
        *("env_id", "task_id", "settings", "init_config", "task", "checks"),
        *("oracle", "clock", "seed", "provenance", "audit"),
    ]
    assert record["checks"][0].keys() == {"item", "function"}


def test_numbered_scenarios_are_read_in_counting_order(tmp_path: Path) -> None:
    write(corpus(*(cancel(task_id=f"shop-task_{n}") for n in (1, 2, 10))), tmp_path, "unpacked")
    assert not (tmp_path / "order.json").exists()
    assert list(load(tmp_path).scenarios) == ["shop-task_1", "shop-task_2", "shop-task_10"]


def test_a_scenario_added_to_an_ordered_corpus_comes_last(tmp_path: Path) -> None:
    write(OURS, tmp_path, "unpacked")
    extra = json.loads((tmp_path / "shop/scenarios/shop-task_1.json").read_bytes()) | {"task_id": "shop-task_2"}
    (tmp_path / "shop/scenarios/shop-task_2.json").write_text(json.dumps(extra))
    assert list(load(tmp_path).scenarios) == ["shop-task_1", "shop-task_10", "shop-task_9", "shop-task_2"]


def test_an_environment_folder_is_a_corpus_of_its_own(tmp_path: Path) -> None:
    write(corpus(), tmp_path, "unpacked")
    assert load(tmp_path / "shop") == corpus()


def test_a_public_export_of_our_own_environment_has_tools_for_its_readers(tmp_path: Path) -> None:
    write_records(corpus(), tmp_path, "github")
    tools = json.loads((tmp_path / "environments.json").read_bytes())["shop"]["tools"]
    assert [tool["function"]["name"] for tool in tools] == ["get_order", "set_status", "crash"]
    assert load(tmp_path).scenarios["shop-task_1"].checks == cancel().checks


def test_records_remember_the_file_they_came_from(tmp_path: Path) -> None:
    found = load(write(corpus(), tmp_path, "unpacked"))
    assert found.environments["shop"].file == str(tmp_path / "shop/environment.py")
    assert found.scenarios["shop-task_1"].file == str(tmp_path / "shop/scenarios/shop-task_1.json")


@pytest.mark.parametrize("env_id", ["../x", "/x", "a/b", "..", ".hidden", "a\\b", "", "a\0b"])
def test_an_id_that_would_leave_the_folder_is_never_written(tmp_path: Path, env_id: str) -> None:
    hostile = Corpus({env_id: shop(id=env_id)}, {})
    with pytest.raises(SettingError, match="cannot be a file name"):
        write_unpacked(hostile, tmp_path / "in" / "deep")
    with pytest.raises(SettingError, match="cannot be a file name"):
        write_unpacked(corpus(cancel(task_id=env_id)), tmp_path / "other")
    assert not [path for path in files(tmp_path) if "shop" not in path]


def test_only_the_environments_that_ship_here_may_be_trusted(tmp_path: Path) -> None:
    assert all(record.bundled for record in load().environments.values())
    assert load("bundled") == load()
    copied = load(write(load(), tmp_path, "packed"))
    assert not any(record.bundled for record in copied.environments.values())


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(config=st.dictionaries(TEXT, VALUE, max_size=4), text=TEXT.filter(bool), arguments=st.dictionaries(TEXT, VALUE))
def test_any_text_and_any_json_survive_every_form(
    tmp_path_factory: pytest.TempPathFactory, config: Any, text: str, arguments: Any
) -> None:
    environment = shop(title=text, description=text, rules=(text,), source=text, provenance=text)
    scenario = cancel(
        text, task=text, init_config=State.of(config), oracle=(OracleCall(text, arguments),), audit={"a": arguments}
    )
    found = corpus(scenario, environment=environment)
    folder = tmp_path_factory.mktemp("corpus")
    for form in ("unpacked", "packed"):
        back = load(write(found, folder / form, form))
        assert back == found
        assert isinstance(back.environments["shop"], EnvironmentRecord)
        # As JSON text: 5 and 5.0 are not the same.
        assert json.dumps(back.scenarios["shop-task_1"].init_config.decode()) == json.dumps(config)
