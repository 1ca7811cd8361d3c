"""The scenarios that are trained on: those of a configuration, each of which can give a reward."""

from __future__ import annotations

from benchmarks.registry import Loaded, loaded
from harness.errors import SettingError
from training.config import Tasks


def rewarded(tasks: Tasks) -> Loaded:
    """The scenarios of a configuration.

    Raises:
        SettingError: If a value is none, or a scenario has no checks.
        DataError: If the corpus is broken.
    """
    ready = loaded(
        "scenarios",
        tasks.protocol,
        tasks.prompts,
        setting=tasks.setting,
        environments=tasks.environments or None,
        corpus=None if tasks.corpus == "bundled" else tasks.corpus,
        level=tasks.level,
        unchecked="play",
    )
    without = [sample.id for sample in ready.samples if not sample.metadata["checks"]]
    if without:
        raise SettingError(
            f"tasks.corpus={tasks.corpus}: {len(without):,} of {len(ready.samples):,} scenarios have no checks, the "
            f"first is '{without[0]}'; reinforcement learning needs a reward from each"
        )
    return ready
