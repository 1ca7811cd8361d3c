"""For LLaMA-Factory 0.9: SFT rows as the model's own chat template writes them, dataset_info and a configuration.

The form is that of the paper's release: one row a round, in pairs of user and assistant texts, the last reply alone
supervised. Tool schemas and results stand in the texts as the template renders them, so that the engine's own rendering
of tools, which is not the model's, plays no part.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import SettingError
from harness.files import new_folder
from training.config import SftConfig
from training.export import folder as folders
from training.rules import accumulation
from training.sft.rows import Row, Taken, rows
from training.template import ChatTemplate

DATASET = "envscaler"
COLUMNS = {
    "prompt": "instruction",
    "query": "input",
    "response": "output",
    "system": "system",
    "history": "history",
}
_TURN = re.compile(r"<\|im_start\|>(system|user|assistant)\n(.*?)<\|im_end\|>\n", re.DOTALL)
_DEEPSPEED = {
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto",
    "gradient_clipping": "auto",
    "zero_allow_untested_optimizer": True,
    "bf16": {"enabled": "auto"},
    "zero_optimization": {
        "stage": 3,
        "overlap_comm": True,
        "contiguous_gradients": True,
        "stage3_gather_16bit_weights_on_model_save": True,
    },
}


@dataclass(slots=True)
class Exported:
    """What became of the trajectories."""

    taken: Taken
    rows: int = 0
    without_pairs: int = 0
    """Rows that are no pairs of user and assistant texts, such as two user messages in a row."""
    too_long: int = 0


def export(config: SftConfig, tokenizer: Any, folder: Path, devices: int = 8) -> Exported:
    """Write the folder.

    Args:
        tokenizer: Of the model, with a ChatML template such as Qwen's.
        devices: GPUs that share the global batch.
    Raises:
        SettingError: If the template is none, the batch cannot be split, or no row is left.
        DataError: If a trajectory file is broken.
    """
    if config.data.split != "round":
        raise SettingError("data.split=whole: this engine masks all but the last reply; use round")
    accumulated = accumulation(config.global_batch, config.optimizer, devices, "global_batch")
    template = ChatTemplate(tokenizer, thinking=config.model.thinking)
    done = Exported(Taken())
    with new_folder(folder) as draft:
        with (draft / f"{DATASET}.jsonl").open("w", encoding="utf-8") as file:
            for record in records(rows(config.data.trajectories, config.data, done.taken), template, config, done):
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        if not done.rows:
            raise SettingError("no row is left: nothing could be trained on")
        info = {DATASET: {"file_name": f"{DATASET}.jsonl", "formatting": "alpaca", "columns": COLUMNS}}
        folders.as_json(draft / "dataset_info.json", info)
        folders.as_json(draft / "zero3.json", _DEEPSPEED)
        table = configuration(config, accumulated)
        folders.as_yaml(
            draft / "sft.yaml", table, f"SFT on EnvScaler trajectories, for LLaMA-Factory on {devices} GPUs."
        )
        folders.script(draft / "train.sh", 'FORCE_TORCHRUN=1 llamafactory-cli train sft.yaml "$@"')
    return done


def configuration(config: SftConfig, accumulated: int) -> dict[str, Any]:
    """The engine's configuration.

    Args:
        accumulated: Forward passes in one optimizer step on each device.
    """
    optimizer, lora = config.optimizer, config.model.lora
    warm_up = {"warmup_ratio": optimizer.warm_up} if optimizer.warm_up < 1 else {"warmup_steps": int(optimizer.warm_up)}
    tuning: dict[str, Any] = {"finetuning_type": "full"}
    if lora.rank:
        targets = "all" if lora.targets == "all-linear" else lora.targets
        tuning = {"finetuning_type": "lora", "lora_rank": lora.rank, "lora_alpha": lora.alpha, "lora_target": targets}
        tuning["lora_dropout"] = lora.dropout
    length = {"max_steps": config.steps} if config.steps else {"num_train_epochs": config.epochs}
    return {
        "stage": "sft",
        "do_train": True,
        "model_name_or_path": config.model.path,
        **tuning,
        "deepspeed": "zero3.json",
        "dataset_dir": ".",
        "dataset": DATASET,
        "template": "qwen3",
        "enable_thinking": config.model.thinking,
        "mask_history": True,
        "cutoff_len": config.data.max_tokens,
        "max_samples": 1_000_000,
        "preprocessing_num_workers": 16,
        "overwrite_cache": True,
        "output_dir": config.output or "checkpoints",
        "per_device_train_batch_size": optimizer.per_device_batch,
        "gradient_accumulation_steps": accumulated,
        "learning_rate": optimizer.learning_rate,
        "lr_scheduler_type": optimizer.schedule,
        **warm_up,
        **length,
        "weight_decay": optimizer.weight_decay,
        "adam_beta2": optimizer.beta2,
        "max_grad_norm": optimizer.max_gradient,
        "bf16": config.model.dtype == "bfloat16",
        "seed": config.seed,
        "logging_steps": config.log_every,
        "save_steps": config.save_every,
        "report_to": "none",
    }


def records(made: Iterable[Row], template: ChatTemplate, config: SftConfig, done: Exported) -> Iterable[dict[str, Any]]:
    """Rows in the engine's form; what does not fit is counted and left out, never cut."""
    for row in made:
        text = template.text(row.messages, row.tools, prompt=False)
        if len(template.ids(text)) > config.data.max_tokens:
            done.too_long += 1
        elif (record := pairs(text)) is None:
            done.without_pairs += 1
        else:
            done.rows += 1
            yield record


def pairs(text: str) -> dict[str, Any] | None:
    """A conversation in ChatML as system text, past pairs, and the last pair; None if it is not made of those."""
    turns = _TURN.findall(text)
    if "".join(f"<|im_start|>{role}\n{words}<|im_end|>\n" for role, words in turns) != text:
        return None
    head = turns.pop(0)[1] if turns and turns[0][0] == "system" else ""
    roles = [role for role, _ in turns]
    if not turns or roles != ["user", "assistant"] * (len(turns) // 2):
        return None
    words = [said for _, said in turns]
    past = [[words[index], words[index + 1]] for index in range(0, len(words) - 2, 2)]
    return {"instruction": words[-2], "input": "", "output": words[-1], "system": head, "history": past}
