"""For ROLL: the configuration of the paper's release with our environments in place of its own.

ROLL is not on a package index; keys and defaults are those of the release's configuration file (docs of the release,
section 6). Not run here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.errors import SettingError
from harness.files import new_folder
from training.config import RlConfig
from training.export import folder as folders
from training.export.tasks import PORT, Split, serve_command

TAG = "EnvScaler"
GROUPS = 128
"""Validation episodes, as in the release."""


def export(config: RlConfig, split: Split, folder: Path) -> None:
    """Write the folder.

    Raises:
        SettingError: If ROLL cannot do what the configuration says, or the folder cannot be written.
    """
    table = configuration(config)
    with new_folder(folder) as draft:
        for name, samples in (("train.txt", split.train), ("validation.txt", split.validation)):
            (draft / name).write_text("".join(f"{sample.id}\n" for sample in samples), encoding="utf-8")
        folders.as_yaml(draft / "roll.yaml", table, "REINFORCE++ on EnvScaler episodes, for ROLL's agentic pipeline.")
        folders.copy(draft, "envscaler_client.py", "roll_gem_env.py")
        folders.script(
            draft / "serve.sh", "# In the environment in which EnvScaler is installed.", serve_command(config)
        )
        folders.script(
            draft / "train.sh",
            "# In the environment in which ROLL is installed, with serve.sh running; ROLL is its checkout.",
            ': "${ROLL:?set it to the checkout of ROLL}"',
            'export PYTHONPATH="$PWD:$ROLL${PYTHONPATH:+:$PYTHONPATH}"',
            "# Importing the module registers the environment with gem.",
            "python -c 'import roll_gem_env'",
            'python "$ROLL/examples/start_agentic_pipeline.py" --config_path "$PWD" --config_name roll "$@"',
        )


def configuration(config: RlConfig) -> dict[str, Any]:
    """ROLL's configuration.

    Raises:
        SettingError: If it has no such objective.
    """
    rollouts, objective, optimizer = config.rollouts, config.objective, config.optimizer
    methods = {"reinforce_pp": "identity", "reinforce_pp_baseline": "mean", "released": "mean_std", "grpo": "mean_std"}
    if rollouts.truncated != "zero_reward":
        raise SettingError(f"rollouts.truncated={rollouts.truncated}: this pipeline gives such episodes 0")
    if objective.kl.where == "loss" and objective.kl.estimator != "k3":
        raise SettingError("objective.kl.estimator: in the loss it is k3 here")
    sequence, warm_up = rollouts.max_tokens, int(optimizer.warm_up)
    if 0 < optimizer.warm_up < 1:
        warm_up = round(optimizer.warm_up * config.steps)
    sampling = {
        "max_new_tokens": rollouts.tokens_per_step,
        "temperature": rollouts.temperature,
        "top_p": rollouts.top_p,
        "top_k": rollouts.top_k or -1,
        "num_beams": 1,
        "num_return_sequences": 1,
    }
    return {
        "defaults": ["_self_"],
        "exp_name": f"envscaler-{objective.algorithm}",
        "seed": config.seed,
        "output_dir": config.output or "output",
        "logging_dir": "logs",
        "max_steps": config.steps,
        "save_steps": config.save_every,
        "eval_steps": 5,
        "logging_steps": 1,
        "resume_from_checkpoint": False,
        "num_gpus_per_node": 8,
        "pretrain": config.model.path,
        "reward_pretrain": config.model.path,
        "sequence_length": sequence,
        "rollout_batch_size": config.batch,
        "val_batch_size": GROUPS,
        "max_tokens_per_step": rollouts.tokens_per_step,
        "max_actions_per_traj": rollouts.max_steps,
        "adv_estimator": "grpo" if objective.algorithm == "grpo" else "reinforce",
        "reward_normalization": {"grouping": "traj_group_id", "method": methods[objective.algorithm]},
        "whiten_advantages": objective.algorithm != "grpo",
        "advantage_clip": objective.advantage_clip or None,
        "gamma": objective.discount,
        "ppo_epochs": 1,
        "pg_clip": objective.clip,
        "loss_agg_mode": {"token": "token-mean", "sequence": "seq-mean-token-mean"}[objective.mean],
        "entropy_loss_coef": 0,
        "max_grad_norm": optimizer.max_gradient,
        # In ROLL a coefficient alone does nothing but switch the reference model on; these two make it count.
        "init_kl_coef": objective.kl.coefficient,
        "add_token_level_kl": objective.kl.where == "reward",
        "kl_penalty": {"k1": "kl", "k2": "mse", "k3": "low_var_kl"}[objective.kl.estimator],
        "use_kl_loss": objective.kl.where == "loss",
        "kl_loss_coef": objective.kl.coefficient if objective.kl.where == "loss" else 0,
        "actor_train": {
            "training_args": {
                "learning_rate": optimizer.learning_rate,
                "weight_decay": optimizer.weight_decay,
                "lr_scheduler_type": optimizer.schedule,
                "warmup_steps": warm_up,
                "per_device_train_batch_size": optimizer.per_device_batch,
                "gradient_accumulation_steps": max(1, config.batch // (8 * optimizer.per_device_batch)),
            },
            "strategy_args": {
                "strategy_name": "megatron_train",
                "strategy_config": {
                    "tensor_model_parallel_size": 2,
                    "pipeline_model_parallel_size": 1,
                    "expert_model_parallel_size": 1,
                    "use_distributed_optimizer": True,
                    "recompute_granularity": "full",
                },
            },
            "model_args": {
                "dtype": "bf16",
                "attn_implementation": "flash_attention_2",
                "disable_gradient_checkpointing": False,
            },
            "device_mapping": "list(range(0,8))",
            "infer_batch_size": 1,
        },
        "actor_infer": {
            "generating_args": sampling,
            "strategy_args": {
                "strategy_name": "vllm",
                "strategy_config": {"gpu_memory_utilization": 0.8, "block_size": 16, "load_format": "auto"},
            },
            "model_args": {"dtype": "bf16", "disable_gradient_checkpointing": True},
            "device_mapping": "list(range(0,8))",
            "infer_batch_size": 1,
        },
        "reference": {
            "strategy_args": {
                "strategy_name": "megatron_infer",
                "strategy_config": {"tensor_model_parallel_size": 2, "pipeline_model_parallel_size": 1},
            },
            "model_args": {"dtype": "bf16", "attn_implementation": "flash_attention_2"},
            "device_mapping": "list(range(0,8))",
            "infer_batch_size": 1,
        },
        "train_env_manager": {
            "format_penalty": 0,
            "max_env_num_per_worker": 8,
            "num_env_groups": rollouts.tasks_per_step,
            "group_size": rollouts.per_task,
            "tags": [TAG],
            "num_groups_partition": [rollouts.tasks_per_step],
        },
        "val_env_manager": {
            "max_env_num_per_worker": 8,
            "num_env_groups": GROUPS,
            "group_size": 1,
            "tags": [f"{TAG}Validation"],
            "num_groups_partition": [GROUPS],
        },
        "custom_envs": {
            TAG: _environment("train.txt", rollouts.max_steps, rollouts.tokens_per_step),
            f"{TAG}Validation": _environment("validation.txt", rollouts.max_steps, rollouts.tokens_per_step),
        },
    }


def _environment(samples: str, max_steps: int, tokens_per_step: int) -> dict[str, Any]:
    return {
        "env_type": "envscaler",
        "max_steps": max_steps,
        "max_tokens_per_step": tokens_per_step,
        "env_manager_cls": "roll.pipeline.agentic.env_manager.traj_env_manager.TrajEnvManager",
        "agent_system_template": "",
        "agent_template": "{observation}",
        "env_config": {"url": f"http://127.0.0.1:{PORT}", "samples": samples},
    }
