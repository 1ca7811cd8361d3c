"""Two-step runs of both trainers on a tiny model: they learn, resume, keep their card, and stop when they must."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import SettingError
from training.card import read_card
from training.config import Kl, Objective, RlConfig, SftConfig
from training.presets import CPU_RL, CPU_SFT
from training.settings import overlaid

pytestmark = pytest.mark.filterwarnings("ignore")


def sft_config(checkpoint: Path, trajectories: Path, output: Path, **more: Any) -> SftConfig:
    table = {
        "model": {"path": str(checkpoint)},
        "data": {"trajectories": [str(trajectories)]},
        "output": str(output),
        "optimizer": {"per_device_batch": 2, "warm_up": 0},
        "global_batch": 4,
        "steps": 4,
        "save_every": 2,
        "log_every": 1,
    }
    config: SftConfig = overlaid(overlaid(CPU_SFT, table), more)
    return config


def rl_config(checkpoint: Path, tasks: Path, output: Path, **more: Any) -> RlConfig:
    table = {
        "model": {"path": str(checkpoint)},
        "tasks": {"corpus": str(tasks)},
        "output": str(output),
        "rollouts": {"tasks_per_step": 2, "per_task": 2, "tokens_per_step": 6, "max_tokens": 120, "max_steps": 2},
        "optimizer": {"per_device_batch": 2},
        "steps": 2,
        "save_every": 1,
    }
    config: RlConfig = overlaid(overlaid(CPU_RL, table), more)
    return config


def losses(folder: Path) -> dict[int, float]:
    return {entry["step"]: entry["loss"] for entry in read_card(folder)["steps"]}


@pytest.fixture(scope="module")
def whole(
    checkpoint: Path, trajectories: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[SftConfig, list[str]]:
    """An SFT run of four steps, and what it said."""
    from training.sft.run import train

    said: list[str] = []
    config = sft_config(checkpoint, trajectories, tmp_path_factory.mktemp("sft") / "run")
    train(config, say=said.append)
    return config, said


def test_sft_lowers_its_loss_and_leaves_a_servable_checkpoint(whole: tuple[SftConfig, list[str]]) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    config, said = whole
    found = losses(Path(config.output))
    assert found[4] < found[1]
    final = Path(config.output) / "final"
    assert AutoModelForCausalLM.from_pretrained(final).generation_config.do_sample
    assert AutoTokenizer.from_pretrained(final).chat_template
    assert any("«<tool_call>" in line for line in said)


def test_sft_resumes_with_the_same_losses(whole: tuple[SftConfig, list[str]], tmp_path: Path) -> None:
    import shutil

    from training.sft.run import train

    config, _ = whole
    output = tmp_path / "run"
    shutil.copytree(config.output, output)
    shutil.rmtree(output / "checkpoint-4")
    train(replace(config, output=str(output)), resume=True, say=lambda line: None)
    assert losses(output) == pytest.approx(losses(Path(config.output)), abs=1e-6)
    assert read_card(output)["facts"]["resumed_at"] == [2]


def test_a_resumed_run_cannot_change_what_it_learns_from(whole: tuple[SftConfig, list[str]]) -> None:
    from training.sft.run import train

    with pytest.raises(SettingError, match="was started with another seed; a resumed run cannot change it"):
        train(replace(whole[0], seed=7), resume=True, say=lambda line: None)


def test_a_run_of_another_kind_or_of_other_data_is_not_resumed(
    whole: tuple[SftConfig, list[str]], trajectories: Path, tmp_path: Path
) -> None:
    from training.card import Card

    output, checkpoint = Path(whole[0].output), Path(whole[0].output) / "checkpoint-2"
    with pytest.raises(SettingError, match="holds a run of sft, which rl cannot resume"):
        Card(output, "rl", RlConfig()).resumed(checkpoint)
    card = Card(output, "sft", whole[0])
    card.fact("data", {str(trajectories): "0" * 64})
    with pytest.raises(SettingError, match="its data changed since it was started; start anew"):
        card.resumed(checkpoint)


def test_steps_of_the_papers_learning_rate_are_not_lost_in_bfloat16(
    checkpoint: Path, trajectories: Path, tmp_path: Path
) -> None:
    from safetensors.torch import load_file

    from training.sft.run import train

    optimizer = {"per_device_batch": 2, "warm_up": 0, "learning_rate": 1e-6, "schedule": "constant"}
    changes = {"model": {"dtype": "bfloat16"}, "optimizer": optimizer, "steps": 2, "save_every": 5}
    final = train(sft_config(checkpoint, trajectories, tmp_path / "run", **changes), say=lambda line: None)
    before, after = (load_file(folder / "model.safetensors") for folder in (checkpoint, final))
    moved = sum(int((before[name] != after[name]).sum()) for name in before)
    assert moved > 0.5 * sum(values.numel() for values in before.values())


def test_a_final_checkpoint_is_there_only_once_it_is_whole(tmp_path: Path) -> None:
    from training.card import Card
    from training.running import finish

    class Killed:
        def save_model(self, folder: str) -> None:
            Path(folder).mkdir()
            (Path(folder) / "config.json").write_text("{}")
            raise KeyboardInterrupt

    config = SftConfig()
    with pytest.raises(KeyboardInterrupt):
        finish(Killed(), Card(tmp_path, "sft", config), tmp_path, config.scoring, print)
    assert not (tmp_path / "final").exists()


def test_an_output_that_is_a_file_is_refused(tmp_path: Path) -> None:
    from training.arguments import last_checkpoint

    (tmp_path / "run").write_text("")
    (tmp_path / "more" / "checkpoint-old").mkdir(parents=True)
    (tmp_path / "more" / "checkpoint-old" / "trainer_state.json").write_text("{}")
    with pytest.raises(SettingError, match="run: is no folder"):
        last_checkpoint(tmp_path / "run", resume=False)
    with pytest.raises(SettingError, match="more: holds no checkpoint to resume from"):
        last_checkpoint(tmp_path / "more", resume=True)


def test_a_new_run_never_writes_into_an_old_ones_folder(whole: tuple[SftConfig, list[str]]) -> None:
    from training.sft.run import train

    with pytest.raises(SettingError, match="is not empty; go on with --resume"):
        train(whole[0], say=lambda line: None)


def test_sft_of_adapters_leaves_a_merged_checkpoint(checkpoint: Path, trajectories: Path, tmp_path: Path) -> None:
    from training.sft.run import train

    lora = {"lora": {"rank": 2}}
    folder = train(
        sft_config(checkpoint, trajectories, tmp_path / "run", model=lora, steps=1, save_every=5), say=lambda line: None
    )
    card = read_card(tmp_path / "run")
    assert (folder / "config.json").is_file()
    assert not (folder / "adapter_config.json").exists()
    assert card["facts"]["trained_parameters"] < card["facts"]["parameters"]
    lora = {"lora": {"rank": 2, "targets": "q_proj, query"}}
    wrong = sft_config(checkpoint, trajectories, tmp_path / "wrong", model=lora)
    with pytest.raises(SettingError, match=r"model\.lora\.targets: the model has no module 'query'"):
        train(wrong, say=lambda line: None)
    assert not (tmp_path / "wrong").exists()


def test_a_longer_run_of_adapters_leaves_what_it_learned_last(
    checkpoint: Path, trajectories: Path, tmp_path: Path
) -> None:
    from training.sft.run import train

    changes = {"model": {"lora": {"rank": 2}}, "save_every": 1}
    config = sft_config(checkpoint, trajectories, tmp_path / "run", steps=1, **changes)
    first = weights(train(config, say=lambda line: None))
    assert weights(train(replace(config, steps=3), resume=True, say=lambda line: None)) != first


def test_rows_that_are_all_too_long_are_no_run(checkpoint: Path, trajectories: Path, tmp_path: Path) -> None:
    from training.sft.run import train

    with pytest.raises(SettingError, match="no row is left to learn from"):
        train(sft_config(checkpoint, trajectories, tmp_path / "run", data={"max_tokens": 5}), say=lambda line: None)


# Reinforcement learning


class Rewarded:
    """Gives rollouts rewards of the test's own in place of their episodes' (a random model earns nothing)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, rewards: Callable[[int], float | None]) -> None:
        import training.rl.run as run
        from training.rl.rollouts import play

        self.played: list[Any] = []

        def rewarded(*arguments: Any) -> Any:
            rollouts, clock = play(*arguments)
            for place, rollout in enumerate(rollouts):
                rollout.reward = rewards(place)
            self.played += rollouts
            return rollouts, clock

        monkeypatch.setattr(run, "play", rewarded)


def test_rl_learns_and_keeps_its_card(
    checkpoint: Path, tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.rl.run import train

    Rewarded(monkeypatch, lambda place: place % 2)
    said: list[str] = []
    config = rl_config(checkpoint, tasks, tmp_path / "run")
    final = train(config, say=said.append)
    card = read_card(tmp_path / "run")
    steps = card["steps"]
    assert [entry["step"] for entry in steps] == [1, 2]
    assert steps[0]["reward"] == 0.5
    assert steps[0]["kl_to_start"] == pytest.approx(0, abs=1e-6)
    assert steps[1]["kl_to_start"] != steps[0]["kl_to_start"]
    assert steps[0]["grad_norm"] > 0
    for entry in steps:
        parts = sum(entry[f"time/{part}"] for part in ("generation", "environment", "tokens"))
        assert parts == pytest.approx(entry["time/rollouts"], rel=0.2)
        assert 0 < entry["environment_share"] < 1
    assert card["totals"]["episodes"] == 8
    assert card["state"] == "done"
    assert any("environment" in line for line in said)
    assert (tmp_path / "run" / "card.md").read_text().startswith("# RL run, done")
    assert weights(final) != weights(checkpoint)

    # Two steps at once and one after the other end at the same weights.
    again = tmp_path / "again"
    train(replace(config, output=str(again), steps=1), say=lambda line: None)
    train(replace(config, output=str(again)), resume=True, say=lambda line: None)
    assert losses(again) == pytest.approx(losses(tmp_path / "run"), abs=1e-6)
    assert read_card(again)["totals"]["episodes"] == 8
    assert read_card(again)["steps"][1]["kl_to_start"] == pytest.approx(steps[1]["kl_to_start"], abs=1e-6)


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()[-4000:]


def test_a_batch_without_signal_moves_nothing(checkpoint: Path, tasks: Path, tmp_path: Path) -> None:
    """Every episode of the random model earns 0."""
    from training.rl.run import train

    said: list[str] = []
    final = train(rl_config(checkpoint, tasks, tmp_path / "run"), say=said.append)
    card = read_card(tmp_path / "run")
    assert card["totals"]["skipped_updates"] == 2
    assert weights(final) == weights(checkpoint)
    # It says so once, and the card at which steps: replies of six tokens are all cut.
    told = [
        "more than 50% of the episodes met a limit: rollouts.max_steps, tokens_per_step, max_tokens",
        "in more than 90% of the tasks all rollouts earned the same: little can be learned",
    ]
    assert [line for line in said if line.startswith("warning")] == [f"warning   {text}" for text in told]
    assert card["warnings"] == {text: [1, 2] for text in told}
    assert f"- {told[1]} (steps: 2, the first 1)" in (tmp_path / "run" / "card.md").read_text()


def test_tokens_of_tools_and_users_have_no_part_in_the_loss(
    checkpoint: Path, tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gradient of the loss by each token's log-probability, where the oracle plays."""
    import torch
    from trl import GRPOTrainer

    import training.rl.run as run
    from training.rl.script import scripted_rollout

    seen: list[Any] = []
    original, loss = GRPOTrainer._get_per_token_logps_and_entropies, GRPOTrainer._compute_loss

    def log_probabilities(self: Any, *arguments: Any, **more: Any) -> Any:
        found, *rest = original(self, *arguments, **more)
        if found.requires_grad:
            found.retain_grad()
            seen.append(found)
        return found, *rest

    def computed(self: Any, model: Any, inputs: Any) -> Any:
        seen.append((inputs["tool_mask"] * inputs["completion_mask"]).clone())
        return loss(self, model, inputs)

    def played(samples: Any, chosen: Any, protocol: Any, template: Any, limits: Any, engine: Any, user: Any) -> Any:
        rollouts = [scripted_rollout(samples[name], protocol, template, limits) for name in chosen]
        for place, rollout in enumerate(rollouts):
            rollout.reward = float(place % 2)
        return rollouts, Clock()

    from training.rl.rollouts import Clock

    monkeypatch.setattr(GRPOTrainer, "_get_per_token_logps_and_entropies", log_probabilities)
    monkeypatch.setattr(GRPOTrainer, "_compute_loss", computed)
    monkeypatch.setattr(run, "play", played)
    rollouts = {"max_steps": 5, "max_tokens": 300, "tokens_per_step": 40}
    config = rl_config(checkpoint, tasks, tmp_path / "run", rollouts=rollouts, steps=1)
    run.train(config, say=lambda line: None)
    masks, found = seen[::2], seen[1::2]
    assert len(masks) == len(found) == 2
    for mask, log_probability in zip(masks, found, strict=True):
        heard = mask == 0
        assert heard.any()
        assert torch.all(log_probability.grad[heard] == 0)
        assert torch.all(log_probability.grad[~heard] != 0)


def test_too_many_faults_end_the_run(
    checkpoint: Path, tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import benchmarks.scenarios
    from harness.errors import EnvironmentFault
    from training.rl.run import train
    from training.rl.trainer import TooManyFaults

    def broken(*_: Any) -> Any:
        raise EnvironmentFault("killed", "out of memory")

    monkeypatch.setattr(benchmarks.scenarios._Verdicts, "of", broken)
    with pytest.raises(TooManyFaults, match=r"100 % of the environments failed in step 1, .* killed: out of memory"):
        train(rl_config(checkpoint, tasks, tmp_path / "run", rollouts={"max_fault_share": 0.5}), say=lambda line: None)


def test_rl_of_adapters_with_kl_in_the_loss(
    checkpoint: Path, tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.rl.run import train

    Rewarded(monkeypatch, lambda place: None if place == 3 else place % 2)
    objective = Objective(
        algorithm="released", kl=Kl(coefficient=0.1, where="loss", estimator="k3"), mean="sequence", advantage_clip=0.2
    )
    config = rl_config(checkpoint, tasks, tmp_path / "run", model={"lora": {"rank": 2}}, steps=1)
    final = train(replace(config, objective=objective), say=lambda line: None)
    (step,) = read_card(tmp_path / "run")["steps"]
    assert step["counted_share"] == 0.75
    assert step["advantage_size"] <= 0.2 + 1e-6
    assert (final / "config.json").is_file()


def test_the_private_names_of_trl_are_where_we_expect_them() -> None:
    from trl import GRPOTrainer

    from training.rl.trainer import PRIVATE

    source = inspect.getsource(GRPOTrainer)
    assert [name for name in PRIVATE if name not in source] == []
    scoring = inspect.getsource(GRPOTrainer._generate_and_score_completions)
    for key in ("completion_mask", "ref_per_token_logps", "old_per_token_logps", "advantages", "tool_mask"):
        assert f'"{key}"' in scoring
    loss = inspect.getsource(GRPOTrainer._compute_loss)
    assert "advantages.dim() == 1" in loss
    assert "if self.beta != 0.0" in loss
    returned = inspect.signature(GRPOTrainer._get_per_token_logps_and_entropies).return_annotation
    assert str(returned).count("Tensor") == 3
    parameters = list(inspect.signature(GRPOTrainer._generate_single_turn).parameters)
    assert parameters[1:5] == ["prompt_ids", "images", "multimodal_fields", "num_generations"]


def test_a_card_can_be_read_by_machines_and_people(whole: tuple[SftConfig, list[str]]) -> None:
    folder = Path(whole[0].output)
    card = json.loads((folder / "card.json").read_text())
    assert {"kind", "config", "versions", "facts", "steps", "checkpoints", "scores"} <= card.keys()
    assert len(next(iter(card["facts"]["data"].values()))) == 64
    assert card["config"]["data"]["history_reasoning"] == "none"
    assert "| 4 |" in (folder / "card.md").read_text()
