"""Configurations: presets, TOML, options, and what is refused in one sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from envscaler.cli import main
from envscaler.commands.train import resolved
from harness.errors import DataError, SettingError
from training.config import Config, RlConfig, SftConfig
from training.presets import PRESETS
from training.rules import accumulation, check_rl, check_sft
from training.settings import resolve, written


def read(tmp_path: Path, text: str, kind: Any = RlConfig, **more: Any) -> Any:
    file = tmp_path / "run.toml"
    file.write_text(text)
    return resolve(kind, file, **more)


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_preset_survives_its_own_toml(name: str, tmp_path: Path) -> None:
    config: Config = PRESETS[name]
    assert read(tmp_path, written(config), type(config)) == config


def complete(config: Any) -> Any:
    """With what every run has to name."""
    config = replace(config, output="x", model=replace(config.model, path="y"))
    if isinstance(config, SftConfig):
        config = replace(config, data=replace(config.data, trajectories=("t.jsonl",)))
    return config


@pytest.mark.parametrize("name", list(PRESETS))
@pytest.mark.parametrize("devices", [1, 8])
def test_every_preset_can_run(name: str, devices: int) -> None:
    config = complete(PRESETS[name])
    if name.startswith("cpu") and devices > 1:
        return
    (check_sft if isinstance(config, SftConfig) else check_rl)(config, devices)


def test_the_papers_numbers() -> None:
    sft, rl, released = PRESETS["paper_sft"], PRESETS["paper_rl"], PRESETS["released_rl"]
    assert isinstance(sft, SftConfig)
    assert isinstance(rl, RlConfig)
    assert isinstance(released, RlConfig)
    assert (sft.epochs, sft.optimizer.learning_rate, sft.optimizer.warm_up) == (3, 1e-6, 0.1)
    assert sft.data.max_tokens == 32_768
    assert (sft.data.split, sft.data.history_reasoning, sft.global_batch) == ("round", "none", 256)
    assert (rl.batch, rl.steps, rl.rollouts.max_steps, rl.rollouts.tokens_per_step) == (512, 200, 40, 4096)
    assert (rl.objective.kl.coefficient, rl.objective.kl.where, rl.objective.kl.estimator) == (0.1, "reward", "k1")
    assert released.objective.kl.where == "none"
    assert (released.objective.algorithm, released.objective.advantage_clip) == ("released", 0.2)
    assert (released.rollouts.temperature, released.rollouts.top_p, released.rollouts.top_k) == (0.99, 0.99, 100)


def test_a_file_stands_above_its_preset_and_options_above_the_file(tmp_path: Path) -> None:
    text = 'preset = "released_rl"\nsteps = 7\n[rollouts]\nper_task = 4\n'
    config = read(tmp_path, text, options=["rollouts.per_task=2", "model.path=here"])
    assert (config.steps, config.rollouts.per_task, config.model.path) == (7, 2, "here")
    assert config.objective.algorithm == "released"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("stepz = 3", r"run.toml: stepz: unknown; did you mean 'steps'\?"),
        ("[rollouts]\nper_tasks = 3", r"rollouts.per_tasks: unknown; did you mean 'per_task'\?"),
        ("steps = 'three'", "steps=three: must be a whole number"),
        ("steps = true", "steps=True: must be a whole number"),
        ("[optimizer]\nlearning_rate = '1e-6'", "optimizer.learning_rate=1e-6: must be a number"),
        ("rollouts = 3", "rollouts: must be a table"),
        ("[objective]\nalgorithm = 'ppo'", "objective.algorithm=ppo: unknown; one of"),
        ("[rollouts]\ntruncated = 'masked'", r"rollouts.truncated=masked: unknown; did you mean 'mask'\?"),
        ("steps = ", "run.toml: is not TOML"),
        ("[optimizer]\nlearning_rate = nan", "optimizer.learning_rate=nan: must be a number"),
        ("[objective]\nclip = inf", "objective.clip=inf: must be a number"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        read(tmp_path, text)


def test_a_preset_of_the_other_kind_is_refused() -> None:
    with pytest.raises(SettingError, match=r"preset=paper_rl: unknown; did you mean 'paper_sft'\?"):
        resolve(SftConfig, preset="paper_rl")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["objective.kl.where=none"], "objective.kl.coefficient=0.1 with objective.kl.where=none has no effect"),
        (["objective.kl.coefficient=0"], "objective.kl.coefficient=0.0 with objective.kl.where=reward has no effect"),
        (["objective.kl.where=loss"], "k1 in the loss has a gradient of zero on average; use k3"),
        (["objective.kl.where=loss", "objective.kl.estimator=k2"], "k2 in the loss is not offered; use k3"),
        (["objective.algorithm=grpo"], "objective.kl.where=reward has no effect with objective.algorithm=grpo"),
        (["rollouts.per_task=1"], "rollouts.per_task=1: must be 2 or more"),
        (["rollouts.threads=-1"], "rollouts.threads=-1: must be 0 or more"),
        (["rollouts.temperature=0"], "rollouts.temperature=0.0: must be above 0"),
        (["rollouts.max_tokens=4096"], "rollouts.max_tokens=4096: must be above rollouts.tokens_per_step"),
        (["optimizer.per_device_batch=3"], r"512: must be a multiple of optimizer.per_device_batch \(3\)"),
        (["rollouts.engine=vllm_server"], "rollouts.server belongs to rollouts.engine=vllm_server"),
        (["tasks.setting=conversation"], "rollouts.user is missing"),
        (["steps=0"], "steps=0: must be 1 or more"),
        (["model.path="], "model.path is missing"),
        (["objective.clip=0"], "objective.clip=0.0: must be between 0 and 1"),
        (["rollouts.top_p=0"], "rollouts.top_p=0.0: must be above 0"),
        (["rollouts.top_k=-1"], "rollouts.top_k=-1: must not be negative"),
        (["seed=-1"], "seed=-1: must be from 0"),
        (["model.lora.rank=-1"], "model.lora.rank=-1: must not be negative"),
        (["model.lora.dropout=1"], "model.lora.dropout=1.0: must be from 0 to below 1"),
        (["optimizer.beta2=1"], "optimizer.beta2=1.0: must be from 0 to below 1"),
        (["optimizer.weight_decay=-0.1"], "optimizer.weight_decay=-0.1: must not be negative"),
        (["scoring.every=30"], r"scoring.every=30: must be 0 or a multiple of save_every \(50\)"),
        (["scoring.runs=0"], "scoring.runs=0: must be 1 or more"),
        (["scoring.arguments=-T 'a"], r"scoring.arguments=-T 'a: cannot be split \(No closing quotation\)"),
    ],
)
def test_what_cannot_work_is_refused(options: list[str], problem: str) -> None:
    config = resolve(RlConfig, options=["output=x", "model.path=y", *options])
    with pytest.raises(SettingError, match=problem):
        check_rl(config)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["log_every=0"], "log_every=0: must be 1 or more"),
        (["data.trajectories=-"], "data.trajectories=-: must be a file"),
        (["steps=-1", "epochs=0"], "epochs and steps are both 0"),
    ],
)
def test_what_cannot_work_is_refused_for_sft_as_well(options: list[str], problem: str) -> None:
    config = resolve(SftConfig, options=["output=x", "model.path=y", "data.trajectories=t.jsonl", *options])
    with pytest.raises(SettingError, match=problem):
        check_sft(config)


def test_a_folder_may_be_called_like_a_number() -> None:
    given = {"model": "true", "output": "2026", "data": ("7",), "options": ()}
    config = resolved("sft", None, None, **given)
    assert (config.model.path, config.output, config.data.trajectories) == ("true", "2026", ("7",))


def test_accumulation_makes_the_global_batch() -> None:
    config = PRESETS["paper_rl"]
    assert isinstance(config, RlConfig)
    assert accumulation(config.batch, config.optimizer, 8, "batch") == 64


def test_the_door_says_it_in_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text("[model]\nlora_rank = 8\n")
    done = CliRunner().invoke(main, ["train", "sft", "--config", str(file)])
    assert done.exit_code == 2
    assert done.output == f"envscaler: {file}: model.lora_rank: unknown; did you mean 'lora'?\n"


@pytest.mark.parametrize("name", ["fsdp2", "zero3"])
def test_settings_for_accelerate_ship_with_the_package(name: str) -> None:
    import yaml

    import training

    file = Path(training.__file__).parent / "accelerate" / f"{name}.yaml"
    settings = yaml.safe_load(file.read_text())
    assert settings["num_processes"] == 8
    assert settings["mixed_precision"] == "bf16"


def test_the_options_of_scoring_are_fields_of_the_configuration() -> None:
    given = {"options": ("scoring.runs=5",), "model": "here", "output": "2026", "data": ()}
    config = resolved("rl", None, None, score_every=50, benchmarks="scenarios,bfcl_multi_turn", **given)
    assert (config.scoring.every, config.scoring.benchmarks, config.scoring.runs) == (
        50,
        "scenarios,bfcl_multi_turn",
        5,
    )
    assert (config.model.path, config.output) == ("here", "2026")
    untouched = resolved("rl", None, None, score_every=None, benchmarks=None, **given)
    assert (untouched.scoring.every, untouched.scoring.benchmarks) == (0, "scenarios")
