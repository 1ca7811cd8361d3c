"""What both trainers are told alike, from our configuration to TRL's arguments."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from harness.errors import SettingError
from training.config import Model, Optimizer
from training.model import saved


def quiet_libraries() -> None:
    """Keep the libraries' own progress bars and notices out of the run's output."""
    import warnings

    import datasets
    import transformers

    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    datasets.disable_progress_bars()
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    warnings.filterwarnings("ignore", category=FutureWarning, module=r"(transformers|trl|torch)(\.|$)")


def common(
    output: str, model: Model, optimizer: Optimizer, *, seed: int, accumulate: int, save_every: int
) -> dict[str, Any]:
    """Arguments of any trainer."""
    import torch

    gpu = torch.cuda.is_available()
    return {
        "output_dir": output,
        "seed": seed,
        "data_seed": seed,
        "per_device_train_batch_size": optimizer.per_device_batch,
        "gradient_accumulation_steps": accumulate,
        "learning_rate": optimizer.learning_rate,
        "lr_scheduler_type": optimizer.schedule,
        "warmup_steps": optimizer.warm_up,
        "weight_decay": optimizer.weight_decay,
        "adam_beta2": optimizer.beta2,
        "max_grad_norm": optimizer.max_gradient,
        "gradient_checkpointing": model.gradient_checkpointing,
        "bf16": model.dtype == "bfloat16",
        "use_cpu": not gpu,
        "dataloader_pin_memory": gpu,
        "save_strategy": "steps",
        "save_steps": save_every,
        "report_to": "none",
        "disable_tqdm": True,
    }


def last_checkpoint(output: Path, resume: bool) -> Path | None:
    """The checkpoint from which a run goes on; None for a new run.

    Raises:
        SettingError: If a new run would write into an old one's folder, or there is nothing to resume.
    """
    if output.exists() and not output.is_dir():
        raise SettingError(f"{output}: is no folder")
    # The trainer's state is what is written last.
    found = [path for path in saved(output).values() if (path / "trainer_state.json").is_file()]
    if resume:
        if not found:
            raise SettingError(f"{output}: holds no checkpoint to resume from")
        return found[-1]
    if output.exists() and any(output.iterdir()):
        raise SettingError(f"{output}: is not empty; go on with --resume, or name another output")
    return None
