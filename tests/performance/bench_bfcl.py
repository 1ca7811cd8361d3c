"""BFCL: our executor and checker on 800 ground-truth answers, beside the official ones on the same answers."""

from __future__ import annotations

import importlib
import itertools
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from adapters.bfcl import ARTIFACT, PINS, SUBSETS, Pair, check, open_pair
from adapters.bfcl.checker import named
from adapters.bfcl.release import Release
from harness.artifacts import MissingData, find
from tests.performance.measure import Row, at_most, cpu_seconds

NO_SLOWER = 1.0
"""CPU time as a share of the official checker's. The aim is a third."""


def measure() -> list[Row]:
    rows = []
    for version in PINS:
        try:
            pair = open_pair(version)
        except MissingData as missing:
            return [Row(f"BFCL {version}, 800 ground-truth entries", str(missing), "data", False)]
        with official_checker(version) as official:
            theirs = cpu_seconds(_official_pass(pair, official))
        ours = cpu_seconds(_our_pass(pair))
        first = cpu_seconds(partial(_first_pass, pair.release))
        what = f"BFCL {version}, 800 ground-truth entries, official {theirs:.2f} s"
        rows.append(at_most(f"{what}: ours", ours / theirs, NO_SLOWER, "x official"))
        rows.append(at_most(f"{what}: ours, with nothing cached", first / theirs, NO_SLOWER, "x official"))
    return rows


def _first_pass(release: Release) -> None:
    """Everything but importing the backends: reading entries, loading scenarios, playing and judging."""
    _our_pass(Pair(release))()


def _our_pass(pair: Pair) -> Callable[[], None]:
    entries = [entry for subset in SUBSETS for entry in pair.entries(subset)]
    answers = [[[named(call, pair.backends, entry) for call in turn] for turn in entry.truth] for entry in entries]

    def work() -> None:
        for entry, turns in zip(entries, answers, strict=True):
            assert check(entry, pair.backends, turns).valid

    return work


def _official_pass(pair: Pair, official: Callable[..., dict[str, Any]]) -> Callable[[], None]:
    jobs = []
    for subset in SUBSETS:
        name = f"BFCL_{pair.release.version}_multi_turn_{subset}.json"
        questions, answers = (pair.release.records(f"data/{folder}{name}") for folder in ("", "possible_answer/"))
        jobs += [(q, a["ground_truth"]) for q, a in zip(questions, answers, strict=True)]
    # Its instances live on under the model's name: a second pass needs another one to start afresh.
    passes = itertools.count()

    def work() -> None:
        model = f"pass_{next(passes)}"
        for question, truth in jobs:
            steps = [[[call] for call in turn] for turn in truth]
            assert official(steps, truth, question, "multi_turn", model)["valid"]

    return work


@contextmanager
def official_checker(version: str) -> Iterator[Callable[..., dict[str, Any]]]:
    """The `multi_turn_checker` of a release, imported from its wheel and forgotten afterwards."""
    before = set(sys.modules)
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(find(ARTIFACT) / PINS[version].wheel) as wheel:
            wheel.extractall(folder)
        sys.path.insert(0, folder)
        try:
            module = importlib.import_module("bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker")
            yield module.multi_turn_checker
        finally:
            sys.path.remove(folder)
            for name in set(sys.modules) - before:
                if name.partition(".")[0] == "bfcl_eval":
                    del sys.modules[name]
