"""For verl 0.9.1 or later: parquet files, a Hydra configuration, and an agent loop on the environment server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.benchmark import Sample
from harness.errors import SettingError
from harness.files import new_folder
from training.config import RlConfig
from training.export import folder as folders
from training.export.tasks import PORT, Split, prompt, serve_command

PROMPT_TOKENS = 12_288
"""Room for system text, tool schemas and task; the rest of an episode's tokens is its response."""
EPOCHS = 1_000
"""More than any run takes: its steps end it."""

_ESTIMATORS = {
    "reinforce_pp": "reinforce_plus_plus",
    "reinforce_pp_baseline": "reinforce_plus_plus_baseline",
    "grpo": "grpo",
}
_KL = {"k1": "kl", "k2": "mse", "k3": "low_var_kl"}
"""Names of the estimators there."""
_MEANS = {"token": "token-mean", "sequence": "seq-mean-token-mean"}


def export(config: RlConfig, split: Split, folder: Path) -> None:
    """Write the folder.

    Raises:
        SettingError: If verl cannot do what the configuration says, or the folder cannot be written.
    """
    table = configuration(config)
    with new_folder(folder) as draft:
        _parquet(draft / "train.parquet", split.train, "train")
        _parquet(draft / "validation.parquet", split.validation, "validation")
        folders.as_yaml(draft / "verl.yaml", table, "REINFORCE++ on EnvScaler episodes, for verl 0.9.1 or later.")
        loop = {
            "name": "envscaler",
            "_target_": "verl_agent_loop.EnvScalerAgentLoop",
            "url": f"http://127.0.0.1:{PORT}",
            "tokens_per_step": config.rollouts.tokens_per_step,
            "mask_truncated": config.rollouts.truncated == "mask",
        }
        folders.as_yaml(draft / "agent_loops.yaml", [loop], "Which agent loop plays the rows, and where its server is.")
        folders.copy(draft, "envscaler_client.py", "verl_agent_loop.py", "verl_probe.py")
        folders.script(
            draft / "serve.sh", "# In the environment in which EnvScaler is installed.", serve_command(config)
        )
        folders.script(
            draft / "train.sh",
            "# In the environment in which verl is installed, with serve.sh running.",
            'export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}"',
            "python verl_probe.py",
            # Whole paths: verl's workers may stand in another folder.
            'python -m verl.trainer.main_ppo --config-path "$PWD" --config-name verl \\',
            '  data.train_files="$PWD/train.parquet" data.val_files="$PWD/validation.parquet" \\',
            '  actor_rollout_ref.rollout.agent.agent_loop_config_path="$PWD/agent_loops.yaml" "$@"',
        )


def configuration(config: RlConfig) -> dict[str, Any]:
    """verl's configuration, as overrides of its own `ppo_trainer`.

    Raises:
        SettingError: If verl has no such objective.
    """
    rollouts, objective, optimizer = config.rollouts, config.objective, config.optimizer
    if objective.algorithm not in _ESTIMATORS:
        raise SettingError(f"objective.algorithm={objective.algorithm}: verl has none like it; export for roll instead")
    if objective.advantage_clip:
        raise SettingError("objective.advantage_clip: verl cannot clip advantages; export for roll instead")
    if objective.discount != 1:
        raise SettingError("objective.discount: verl counts discounts by tokens of other places; leave it at 1")
    if rollouts.max_tokens <= PROMPT_TOKENS:
        raise SettingError(f"rollouts.max_tokens={rollouts.max_tokens}: must be above the {PROMPT_TOKENS} of a prompt")
    kl = objective.kl
    warm_up: dict[str, Any] = (
        {"lr_warmup_steps_ratio": optimizer.warm_up}
        if optimizer.warm_up < 1
        else {"lr_warmup_steps": int(optimizer.warm_up)}
    )
    if optimizer.schedule not in ("constant", "cosine"):
        raise SettingError(f"optimizer.schedule={optimizer.schedule}: verl has constant and cosine")
    return {
        "hydra": {"searchpath": ["pkg://verl.trainer.config"]},
        "defaults": ["ppo_trainer", "_self_"],
        "data": {
            "train_files": "train.parquet",
            "val_files": "validation.parquet",
            "prompt_key": "prompt",
            "return_raw_chat": True,
            "train_batch_size": rollouts.tasks_per_step,
            "max_prompt_length": PROMPT_TOKENS,
            "max_response_length": rollouts.max_tokens - PROMPT_TOKENS,
            "shuffle": True,
            "seed": config.seed,
            "apply_chat_template_kwargs": {"enable_thinking": config.model.thinking},
        },
        "actor_rollout_ref": {
            "model": {
                "path": config.model.path,
                "enable_gradient_checkpointing": config.model.gradient_checkpointing,
                "lora_rank": config.model.lora.rank,
                "lora_alpha": config.model.lora.alpha,
            },
            "actor": {
                # verl multiplies by the rollouts of a task: one optimizer step a batch.
                "ppo_mini_batch_size": rollouts.tasks_per_step,
                "ppo_epochs": 1,
                "use_dynamic_bsz": True,
                "ppo_max_token_len_per_gpu": rollouts.max_tokens,
                "clip_ratio": objective.clip,
                "clip_ratio_low": objective.clip,
                "clip_ratio_high": objective.clip,
                "loss_agg_mode": _MEANS[objective.mean],
                "entropy_coeff": 0,
                "use_kl_loss": kl.where == "loss",
                "kl_loss_coef": kl.coefficient if kl.where == "loss" else 0.0,
                "kl_loss_type": "low_var_kl",
                "optim": {
                    "lr": optimizer.learning_rate,
                    "lr_scheduler_type": optimizer.schedule,
                    "weight_decay": optimizer.weight_decay,
                    "betas": [0.9, optimizer.beta2],
                    "clip_grad": optimizer.max_gradient,
                    **warm_up,
                },
            },
            "rollout": {
                "name": "vllm",
                "mode": "async",
                "n": rollouts.per_task,
                "temperature": rollouts.temperature,
                "top_p": rollouts.top_p,
                "top_k": rollouts.top_k or -1,
                "seed": config.seed,
                "tensor_model_parallel_size": 1,
                "calculate_log_probs": True,
                "multi_turn": {"enable": True, "max_assistant_turns": rollouts.max_steps},
                "agent": {"default_agent_loop": "envscaler", "agent_loop_config_path": "agent_loops.yaml"},
            },
        },
        "algorithm": {
            "adv_estimator": _ESTIMATORS[objective.algorithm],
            "gamma": 1.0,
            "use_kl_in_reward": kl.where == "reward",
            "kl_penalty": _KL[kl.estimator],
            "kl_ctrl": {"type": "fixed", "kl_coef": kl.coefficient if kl.where == "reward" else 0.0},
        },
        "trainer": {
            "project_name": "envscaler",
            "experiment_name": objective.algorithm,
            "logger": ["console"],
            "total_epochs": EPOCHS,
            "total_training_steps": config.steps,
            "save_freq": config.save_every,
            "test_freq": config.save_every,
            "val_before_train": True,
            "critic_warmup": 0,
            "default_local_dir": config.output or "checkpoints",
        },
    }


def _parquet(path: Path, samples: list[Sample], name: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        {
            "data_source": "envscaler",
            "agent_name": "envscaler",
            "ability": sample.group,
            "prompt": [{"role": str(m["role"]), "content": str(m["content"])} for m in prompt(sample)],
            "reward_model": {"style": "rule", "ground_truth": ""},
            "extra_info": {"index": index, "sample_id": sample.id, "env_name": sample.group, "split": name},
        }
        for index, sample in enumerate(samples)
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
