from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from adapters.bfcl import PINS, SUBSETS, Pair, open_pair, pull
from adapters.bfcl import pull as pull_wheels
from adapters.bfcl.entry import TruthCall
from adapters.bfcl.pair import known_defects
from adapters.bfcl.release import Release
from harness.artifacts import MissingData
from harness.errors import DataError, SettingError
from tests.adapters.bfcl.small_release import small_files, small_pair, small_wheel


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no data folder."""
    monkeypatch.setenv("ENVSCALER_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ENVSCALER_DATA", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Little wheels that satisfy the pins, by file name."""
    wheels = {}
    for version in list(PINS):
        pin, data = small_wheel(version)
        pin = type(pin)(version, PINS[version].package, pin.sha256)
        monkeypatch.setitem(PINS, version, pin)
        wheels[pin.wheel] = data
    return wheels


def test_without_data_one_sentence_names_the_command(cache: Path) -> None:
    with pytest.raises(MissingData, match=r"^bfcl data not found; fetch it with: envscaler data pull bfcl$"):
        open_pair("v3")


def test_without_one_of_the_wheels_one_sentence_names_the_command(cache: Path) -> None:
    (cache / "bfcl").mkdir(parents=True)
    with pytest.raises(MissingData, match=r"2025\.7\.9.* not found; fetch it with: envscaler data pull bfcl$"):
        open_pair("v3")


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(SettingError, match="'v5': unknown; one of v3, v4"):
        open_pair("v5")


def test_pulled_wheels_are_found(cache: Path, tmp_path: Path, pinned: dict[str, bytes]) -> None:
    for name, data in pinned.items():
        (tmp_path / name).write_bytes(data)
    pull_wheels(str(tmp_path), cache / "bfcl")
    assert [entry.id for entry in open_pair("v4").entries("base")] == ["multi_turn_base_0", "multi_turn_base_1"]


def test_a_wheel_that_is_not_pinned_is_not_pulled(cache: Path, tmp_path: Path, pinned: dict[str, bytes]) -> None:
    for name in pinned:
        (tmp_path / name).write_bytes(b"something else")
    with pytest.raises(DataError, match="its sha256 differs from the pinned one"):
        pull(str(tmp_path), cache / "bfcl")
    assert not list(cache.rglob("*.whl"))


def test_a_source_without_both_wheels_is_refused(cache: Path, tmp_path: Path, pinned: dict[str, bytes]) -> None:
    first, second = pinned
    (tmp_path / first).write_bytes(pinned[first])
    with pytest.raises(SettingError, match=f"holds no {second}; both wheels of BFCL are needed"):
        pull(str(tmp_path / first), cache / "bfcl")


def test_a_wheel_under_the_wrong_name_is_refused(cache: Path, pinned: dict[str, bytes]) -> None:
    (cache / "bfcl").mkdir(parents=True)
    for name, data in zip(pinned, reversed(pinned.values()), strict=True):
        (cache / "bfcl" / name).write_bytes(data)
    with pytest.raises(DataError, match=r"is not bfcl-eval 2025\.7\.9 .*envscaler data pull bfcl"):
        open_pair("v3")


@pytest.mark.parametrize(
    ("path", "text", "sentence"),
    [
        ("data/BFCL_v3_multi_turn_base.json", '{"id": 1', "line 1: is not JSON"),
        ("data/BFCL_v3_multi_turn_base.json", "[]", "line 1: must be an object with an id or a name"),
        ("data/BFCL_v3_multi_turn_base.json", '{"id": "x_1"}', "x_1: has no answer"),
        (
            "data/BFCL_v3_multi_turn_base.json",
            '{"id": "multi_turn_base_0"}',
            r"multi_turn_base_0: cannot be read \(Key",
        ),
        ("data/possible_answer/BFCL_v3_multi_turn_base.json", "", "multi_turn_base_0: has no answer"),
        (
            "data/possible_answer/BFCL_v3_multi_turn_base.json",
            '{"id": "multi_turn_base_0", "ground_truth": [["open(x)"]]}',
            "multi_turn_base_0: cannot be read",
        ),
    ],
)
def test_broken_data_are_named(path: str, text: str, sentence: str) -> None:
    release = Release(*small_wheel("v3", small_files("v3") | {path: text}))
    with pytest.raises(DataError, match=sentence):
        release.entries("base")


def test_a_missing_file_is_named() -> None:
    release = Release(*small_wheel("v3", {"x": ""}))
    with pytest.raises(DataError, match=r"bfcl_eval/data/.*base\.json: is missing"):
        release.entries("base")
    with pytest.raises(DataError, match=r"default_prompts\.py: is missing"):
        _ = release.hold_out_sentence


@pytest.mark.parametrize("text", ["f(g(1))", "f(x)", "a.f()", "f", "f(*[1])", "1 + 1", "__import__('os').getcwd()"])
def test_ground_truth_is_read_and_never_run(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - several kinds of it, all about the text
        TruthCall.parse(text)


def test_real_releases_are_whole(pair: Pair) -> None:
    entries = {subset: pair.entries(subset) for subset in SUBSETS}
    for subset, found in entries.items():
        assert [entry.id for entry in found] == [f"multi_turn_{subset}_{index}" for index in range(200)]
    calls = {subset: sum(len(turn) for entry in found for turn in entry.truth) for subset, found in entries.items()}
    expected = {"v3": (1161, 1159, 1159, 1222), "v4": (1142, 1140, 1140, 1203)}
    assert tuple(calls.values()) == expected[pair.release.version]
    odd = [e.id for found in entries.values() for e in found if len(e.questions) != len(e.truth)]
    # One entry of v3 has fewer questions than turns of ground truth; it is played with a wordless last turn.
    assert odd == {"v3": ["multi_turn_base_154"], "v4": []}[pair.release.version]


def test_known_defects_name_entries_that_exist(pair: Pair) -> None:
    ids = {entry.id for subset in SUBSETS for entry in pair.entries(subset)}
    mine = [defect for defect in known_defects() if pair.release.version in defect["versions"]]
    assert mine
    assert all(set(defect["entries"]) <= ids and defect["source"] and defect["state"] for defect in mine)


def test_known_defects_are_told_with_their_source() -> None:
    pair = small_pair("v3")
    assert pair.defects(pair.entries("base")[0]) == []
    (told,) = pair.defects(pair.entries("base")[1])
    assert "ShishirPatil/gorilla issue 771" in told


def test_hashes_are_of_whole_wheels() -> None:
    pin, data = small_wheel("v3")
    assert pin.sha256 == hashlib.sha256(data).hexdigest()
    with pytest.raises(DataError, match="is not bfcl-eval"):
        Release(pin, data + b" ")
