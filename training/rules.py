"""What a configuration must satisfy before anything is loaded: each refusal is one sentence."""

from __future__ import annotations

import shlex

from harness.errors import SettingError
from training.config import Objective, Optimizer, RlConfig, Scoring, SftConfig


def check_sft(config: SftConfig, devices: int = 1) -> None:
    """Refuse what cannot work.

    Args:
        devices: Processes that share the global batch.
    Raises:
        SettingError: Naming the first field at fault.
    """
    _required(("output", config.output), ("model.path", config.model.path))
    if not config.data.trajectories:
        raise SettingError("data.trajectories is missing: name the JSONL files to learn from")
    if "-" in config.data.trajectories:
        raise SettingError("data.trajectories=-: must be a file, which a resumed run can read again")
    _positive(("data.max_tokens", config.data.max_tokens), ("log_every", config.log_every))
    if config.steps <= 0 and config.epochs <= 0:
        raise SettingError("epochs and steps are both 0: there is nothing to do")
    accumulation(config.global_batch, config.optimizer, devices, "global_batch")
    _common(config)


def check_rl(config: RlConfig, devices: int = 1) -> None:
    """As `check_sft`, for reinforcement learning."""
    _required(("output", config.output), ("model.path", config.model.path))
    rollouts = config.rollouts
    _positive(
        ("steps", config.steps),
        ("rollouts.tasks_per_step", rollouts.tasks_per_step),
        ("rollouts.max_steps", rollouts.max_steps),
        ("rollouts.tokens_per_step", rollouts.tokens_per_step),
        ("rollouts.at_once", rollouts.at_once),
    )
    if rollouts.threads < 0:
        raise SettingError(f"rollouts.threads={rollouts.threads}: must be 0 or more")
    if rollouts.per_task < 2:
        raise SettingError(f"rollouts.per_task={rollouts.per_task}: must be 2 or more")
    if rollouts.temperature <= 0:
        raise SettingError(f"rollouts.temperature={rollouts.temperature}: must be above 0; all rollouts would be one")
    if rollouts.max_tokens <= rollouts.tokens_per_step:
        raise SettingError(
            f"rollouts.max_tokens={rollouts.max_tokens}: must be above rollouts.tokens_per_step, the limit of one reply"
        )
    if not 0 <= rollouts.max_fault_share <= 1:
        raise SettingError(f"rollouts.max_fault_share={rollouts.max_fault_share}: must be from 0 to 1")
    if (rollouts.engine == "vllm_server") != bool(rollouts.server):
        raise SettingError("rollouts.server belongs to rollouts.engine=vllm_server, and that needs it")
    if config.tasks.setting == "conversation" and not rollouts.user:
        raise SettingError("rollouts.user is missing: somebody must play the user in conversations")
    accumulation(config.batch, config.optimizer, devices, "rollouts.tasks_per_step x rollouts.per_task")
    if not 0 < rollouts.top_p <= 1:
        raise SettingError(f"rollouts.top_p={rollouts.top_p}: must be above 0 and at most 1")
    if rollouts.top_k < 0:
        raise SettingError(f"rollouts.top_k={rollouts.top_k}: must not be negative")
    _objective(config.objective)
    _common(config)


def accumulation(batch: int, optimizer: Optimizer, devices: int, name: str) -> int:
    """Forward passes in one optimizer step.

    Raises:
        SettingError: If the batch cannot be split evenly.
    """
    once = optimizer.per_device_batch * devices
    if once < 1 or batch < 1 or batch % once:
        raise SettingError(
            f"{name}={batch}: must be a multiple of optimizer.per_device_batch ({optimizer.per_device_batch}) x "
            f"devices ({devices})"
        )
    return batch // once


def _objective(objective: Objective) -> None:
    kl = objective.kl
    if kl.coefficient < 0:
        raise SettingError(f"objective.kl.coefficient={kl.coefficient}: must not be negative")
    if (kl.coefficient > 0) != (kl.where != "none"):
        raise SettingError(
            f"objective.kl.coefficient={kl.coefficient} with objective.kl.where={kl.where} has no effect; "
            "set both, or neither"
        )
    if kl.where == "loss" and kl.estimator == "k1":
        raise SettingError("objective.kl.estimator=k1 in the loss has a gradient of zero on average; use k3")
    if kl.where == "loss" and kl.estimator == "k2":
        raise SettingError("objective.kl.estimator=k2 in the loss is not offered; use k3")
    if kl.where == "reward" and objective.algorithm == "grpo":
        raise SettingError("objective.kl.where=reward has no effect with objective.algorithm=grpo; use loss, k3")
    if not 0 < objective.discount <= 1:
        raise SettingError(f"objective.discount={objective.discount}: must be above 0 and at most 1")
    if objective.discount != 1 and objective.algorithm == "grpo":
        raise SettingError("objective.discount has no effect with objective.algorithm=grpo")
    if not 0 < objective.clip < 1:
        raise SettingError(f"objective.clip={objective.clip}: must be between 0 and 1")
    if objective.advantage_clip < 0:
        raise SettingError(f"objective.advantage_clip={objective.advantage_clip}: must not be negative")


def _common(config: SftConfig | RlConfig) -> None:
    _positive(("save_every", config.save_every), ("model.lora.alpha", config.model.lora.alpha))
    if not 0 <= config.seed < 2**32:
        raise SettingError(f"seed={config.seed}: must be from 0 to {2**32 - 1}")
    if config.model.lora.rank < 0:
        raise SettingError(f"model.lora.rank={config.model.lora.rank}: must not be negative")
    if not 0 <= config.model.lora.dropout < 1:
        raise SettingError(f"model.lora.dropout={config.model.lora.dropout}: must be from 0 to below 1")
    _optimizer(config.optimizer)
    _scoring(config.scoring, config.save_every)


def _scoring(scoring: Scoring, save_every: int) -> None:
    if scoring.every < 0 or scoring.every % save_every:
        raise SettingError(f"scoring.every={scoring.every}: must be 0 or a multiple of save_every ({save_every})")
    _positive(("scoring.runs", scoring.runs))
    try:
        shlex.split(scoring.arguments)
    except ValueError as error:
        raise SettingError(f"scoring.arguments={scoring.arguments}: cannot be split ({error})") from error


def _optimizer(optimizer: Optimizer) -> None:
    if optimizer.learning_rate <= 0:
        raise SettingError(f"optimizer.learning_rate={optimizer.learning_rate}: must be above 0")
    for name in ("warm_up", "weight_decay", "max_gradient"):
        if (value := getattr(optimizer, name)) < 0:
            raise SettingError(f"optimizer.{name}={value}: must not be negative")
    if not 0 <= optimizer.beta2 < 1:
        raise SettingError(f"optimizer.beta2={optimizer.beta2}: must be from 0 to below 1")


def _required(*fields: tuple[str, str]) -> None:
    for name, value in fields:
        if not value:
            raise SettingError(f"{name} is missing")


def _positive(*fields: tuple[str, int]) -> None:
    for name, value in fields:
        if value < 1:
            raise SettingError(f"{name}={value}: must be 1 or more")
