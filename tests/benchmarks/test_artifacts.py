"""Third-party data: named, fetched whole or not at all, and looked for where the user says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import artifacts
from benchmarks.benchmark import Artifact
from harness.artifacts import MissingData, cache_folder, find
from harness.errors import DataError
from tests.envscaler.playground import door, files, refused, release_sample

NAME = "toy"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no data folder."""
    monkeypatch.setenv("ENVSCALER_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ENVSCALER_DATA", raising=False)
    return tmp_path / "cache"


def offer(monkeypatch: pytest.MonkeyPatch, pull: Callable[[str | None, Path], None]) -> None:
    """Make a toy the one artifact."""
    toy = Artifact(name=NAME, source="somewhere @ 1", licence="MIT", pull=pull)
    monkeypatch.setattr(artifacts, "artifacts", lambda: [toy])


def write(source: str | None, folder: Path) -> None:
    (folder / "data.json").write_text(json.dumps(source))


def fail_half_way(source: str | None, folder: Path) -> None:
    write("half", folder)
    raise DataError("archive.zip", "data.json", "is not the pinned version (sha256 differs)")


def test_what_is_pulled_lies_in_the_cache_and_is_found(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, write)
    result = door("data", "pull", NAME, "--from", "here")
    assert (result.exit_code, result.output) == (0, f"toy: {cache / NAME}\n")
    assert files(cache) == {"toy/data.json": b'"here"'}
    assert find(NAME) == cache / NAME


def test_pulling_again_replaces_the_old_whole(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, write)
    artifacts.pull(NAME, "old")
    (cache / NAME / "stray").write_text("x")
    artifacts.pull(NAME, "new")
    assert files(cache) == {"toy/data.json": b'"new"'}


@pytest.mark.parametrize("before", [False, True], ids=["nothing-before", "something-before"])
def test_a_failed_pull_leaves_the_cache_as_it_was(cache: Path, monkeypatch: pytest.MonkeyPatch, before: bool) -> None:
    if before:
        offer(monkeypatch, write)
        artifacts.pull(NAME, "old")
    offer(monkeypatch, fail_half_way)
    assert refused(door("data", "pull", NAME)) == "archive.zip: data.json: is not the pinned version (sha256 differs)"
    assert files(cache) == ({"toy/data.json": b'"old"'} if before else {})
    assert [path.name for path in cache.iterdir()] == ([NAME] if before else [])


def test_an_unknown_artifact_is_named_with_the_nearest(cache: Path) -> None:
    assert refused(door("data", "pull", "tau_bnech")) == "no artifact 'tau_bnech'; did you mean 'tau_bench'?"


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ENVSCALER_CACHE", str(tmp_path / "file"))
    offer(monkeypatch, write)
    assert refused(door("data", "pull", NAME)) == f"{tmp_path / 'file' / NAME}: cannot be written: File exists"


def test_the_list_tells_where_each_artifact_lies(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, write)
    assert door("data", "list").output == "toy\tnot here\tsomewhere @ 1\tMIT\n"
    artifacts.pull(NAME, None)
    assert door("data", "list").output == f"toy\t{cache / NAME}\tsomewhere @ 1\tMIT\n"


def test_every_benchmark_names_its_data_once_with_source_and_licence() -> None:
    found = artifacts.artifacts()
    assert {artifact.name for artifact in found} >= {"envscaler_release_sample", "tau_bench", "acebench"}
    assert [artifact.name for artifact in found] == sorted({artifact.name for artifact in found})
    assert all(artifact.source and artifact.licence for artifact in found)


def test_the_release_prompts_are_copied_from_a_folder_that_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = release_sample()
    monkeypatch.setenv("ENVSCALER_CACHE", str(tmp_path))
    assert artifacts.pull("envscaler_release_sample", str(source)) == tmp_path / "envscaler_release_sample"
    prompts = (source / "prompts.json").read_bytes()
    assert files(tmp_path) == {"envscaler_release_sample/prompts.json": prompts}


def test_other_prompts_than_the_pinned_ones_are_refused(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "prompts.json").write_text("{}")
    sentence = refused(door("data", "pull", "envscaler_release_sample", "--from", tmp_path))
    assert sentence == f"{tmp_path / 'prompts.json'}: is not the pinned version (sha256 differs)"


def test_the_release_prompts_need_a_source(cache: Path) -> None:
    assert refused(door("data", "pull", "envscaler_release_sample")).endswith("with --from")


def test_the_named_folder_is_looked_at_before_the_cache(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (tmp_path / "data", cache):
        (place / NAME).mkdir(parents=True)
    assert find(NAME) == cache / NAME
    monkeypatch.setenv("ENVSCALER_DATA", str(tmp_path / "data"))
    assert find(NAME) == tmp_path / "data" / NAME
    with pytest.raises(MissingData, match="other data not found; fetch it with: envscaler data pull other"):
        find("other")


def test_the_cache_is_the_users_own_where_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENVSCALER_CACHE", raising=False)
    assert cache_folder().name == "envscaler"
