"""The scenarios of an export: which are trained on, which are held out, and what a prompt looks like."""

from __future__ import annotations

import random
import shlex
from dataclasses import dataclass
from pathlib import Path

from benchmarks.benchmark import Sample
from harness.errors import SettingError
from harness.messages import Message, system, user
from training.config import RlConfig
from training.tasks import rewarded

PORT = 8765
"""Of the environment server that an export talks to."""
SPEAKS_FIRST = "(The simulated user speaks first.)"
"""Stands for the first turn of a conversation in tables that want one; the episode never shows it."""


@dataclass(frozen=True, slots=True)
class Split:
    """Samples to train on and samples to validate on."""

    train: list[Sample]
    validation: list[Sample]


def split(config: RlConfig, validation: int) -> Split:
    """The scenarios of a configuration, some of them held out at random.

    Args:
        validation: How many are held out.
    Raises:
        SettingError: If that leaves none to train on, or the scenarios cannot be had.
    """
    samples = list(rewarded(config.tasks).samples)
    if not 0 < validation < len(samples):
        raise SettingError(f"validation={validation}: must be above 0 and below the {len(samples)} scenarios there are")
    held = set(random.Random(config.seed).sample(range(len(samples)), validation))
    return Split(
        [sample for index, sample in enumerate(samples) if index not in held],
        [sample for index, sample in enumerate(samples) if index in held],
    )


def prompt(sample: Sample) -> list[Message]:
    """What an agent reads first."""
    brief = sample.case().brief
    first = brief.turns[0].text if brief.turns else SPEAKS_FIRST
    return [*([] if brief.system is None else [system(brief.system)]), user(first)]


def serve_command(config: RlConfig) -> str:
    """The command that starts the environment server an export talks to, as a shell reads it."""
    tasks, rollouts = config.tasks, config.rollouts
    words = ["envscaler", "serve", "--port", str(PORT), "--protocol", tasks.protocol, "--prompts", tasks.prompts]
    words += ["-T", f"setting={tasks.setting}", "-T", f"level={tasks.level}"]
    if tasks.environments:
        words += ["-T", f"environments={tasks.environments}"]
    if tasks.corpus != "bundled":
        # The script runs in its own folder, not in the one that the path was given in.
        words += ["-T", f"corpus={Path(tasks.corpus).absolute()}"]
    words += ["--max-steps", str(rollouts.max_steps), "--truncated", _graded(config)]
    words += ["--max-episodes", str(max(1024, 2 * config.batch)), "--idle-seconds", "3600"]
    if tasks.setting == "conversation":
        # Rollouts here name a model of an OpenAI-compatible server; the server wants the name that Inspect has for it.
        words += ["--user", "reference/scripted_user" if rollouts.user == "scripted" else f"openai/{rollouts.user}"]
        if rollouts.user_url:
            words = ["env", f"OPENAI_BASE_URL={rollouts.user_url}", "OPENAI_API_KEY=none", *words]
    return shlex.join(words)


def _graded(config: RlConfig) -> str:
    """Episodes that are masked by the engine are scored by the server all the same."""
    return "grade_state" if config.rollouts.truncated == "grade_state" else "zero_reward"
