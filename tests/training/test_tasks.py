"""Scenarios to train on by reinforcement: each must give a reward, and one that gives none is told before a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import SettingError
from tests import small_corpus
from training.config import Model, RlConfig, Tasks
from training.export.tasks import split
from training.rl.run import prepare
from training.tasks import rewarded


def test_scenarios_are_those_of_the_configuration(tmp_path: Path) -> None:
    corpus = str(small_corpus.write(tmp_path, scenarios=2))
    ready = rewarded(Tasks(corpus=corpus, protocol="strict", environments="shelf"))
    assert [sample.id for sample in ready.samples] == ["shelf-task_1", "shelf-task_2"]
    assert ready.protocol.name == "strict"


def test_a_scenario_without_checks_is_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    corpus = str(small_corpus.write(tmp_path / "corpus", scenarios=3, unchecked=(2, 3)))
    config = RlConfig(output=str(tmp_path / "out"), model=Model(path="nowhere"), tasks=Tasks(corpus=corpus))
    sentence = (
        f"tasks.corpus={corpus}: 2 of 3 scenarios have no checks, the first is 'shelf-task_2'; reinforcement learning "
        "needs a reward from each"
    )
    for refuses in (lambda: prepare(config, print), lambda: split(config, 1)):
        with pytest.raises(SettingError) as raised:
            refuses()
        assert str(raised.value) == sentence
