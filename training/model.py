"""Checkpoints in and out: loading one to train it, and making a saved one servable."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import SettingError
from training.config import Lora, Model

if TYPE_CHECKING:
    from accelerate import PartialState
    from peft import LoraConfig
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass(frozen=True, slots=True)
class Hardware:
    """What there is to train on."""

    devices: int
    """Processes of this run, as accelerate started them."""
    gpus: int
    gpu: str
    """Name of the first one; empty without any."""

    def __str__(self) -> str:
        place = f"{self.gpus} x {self.gpu}" if self.gpus else "CPU"
        return f"{place}, {self.devices} process{'es' if self.devices > 1 else ''}"


def hardware() -> Hardware:
    """What this machine offers."""
    import torch

    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return Hardware(processes().num_processes, gpus, torch.cuda.get_device_name(0) if gpus else "")


def processes() -> PartialState:
    """The processes of this run, as the trainer will see them."""
    import torch
    from accelerate import PartialState

    # Whoever asks first decides for all: without this a CPU run on several processes takes itself for one.
    return PartialState(cpu=not torch.cuda.is_available())


def load_tokenizer(model: Model) -> PreTrainedTokenizerBase:
    """The tokenizer of a checkpoint.

    Raises:
        SettingError: If there is none, or it names no end-of-turn token.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(model.path, padding_side="left")
    except (OSError, ValueError) as error:
        raise SettingError(f"model.path={model.path}: its tokenizer cannot be loaded: {_first(error)}") from error
    if tokenizer.eos_token_id is None:
        raise SettingError(f"model.path={model.path}: its tokenizer has no eos_token to end a reply with")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_model(model: Model) -> PreTrainedModel:
    """The weights of a checkpoint, on the CPU; the trainer places them.

    Weights that are trained are float32 whatever `dtype` says, which is what they are computed with: bfloat16 has three
    digits, in which most steps of the paper's learning rate, 1e-6, are lost. Under adapters they are frozen.

    Raises:
        SettingError: If there are none.
    """
    import torch
    from transformers import AutoModelForCausalLM

    options: dict[str, Any] = {"dtype": getattr(torch, model.dtype) if model.lora.rank else torch.float32}
    if model.attention:
        options["attn_implementation"] = model.attention
    try:
        loaded: PreTrainedModel = AutoModelForCausalLM.from_pretrained(model.path, **options)
    except (OSError, ValueError, ImportError) as error:
        raise SettingError(f"model.path={model.path}: cannot be loaded: {_first(error)}") from error
    return loaded


def _first(error: BaseException) -> str:
    """The first line of an error that may have many."""
    return str(error).strip().partition("\n")[0]


def parameters(model: PreTrainedModel) -> dict[str, int]:
    """Numbers of weights: all, and those that are trained; of the whole model where it is sharded."""
    sizes = [(int(getattr(p, "ds_numel", p.numel())), p.requires_grad) for p in model.parameters()]
    return {
        "parameters": sum(size for size, _ in sizes),
        "trained_parameters": sum(size for size, trained in sizes if trained),
    }


def adapters(lora: Lora, model: PreTrainedModel) -> LoraConfig | None:
    """The adapters to train, if any.

    Raises:
        SettingError: If the model has no module of a name.
    """
    if lora.rank <= 0:
        return None
    from peft import LoraConfig

    targets: str | list[str] = lora.targets
    if targets != "all-linear":
        targets = [name.strip() for name in lora.targets.split(",")]
        known = {name.rpartition(".")[2] for name, _ in model.named_modules()}
        for name in targets:
            if name.rpartition(".")[2] not in known:
                raise SettingError(f"model.lora.targets: the model has no module '{name}'")
    return LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=targets,
        task_type="CAUSAL_LM",
    )


def servable(folder: Path) -> Path:
    """A folder that a server takes: the checkpoint itself, or its adapters merged into their base, beside them.

    Raises:
        SettingError: If it holds no checkpoint.
    """
    if (folder / "config.json").is_file():
        return folder
    if not (folder / "adapter_config.json").is_file():
        raise SettingError(f"{folder}: holds no checkpoint (no config.json, no adapter_config.json)")
    merged, draft = folder / "merged", folder / ".merged"
    if not merged.exists():
        from peft import AutoPeftModelForCausalLM
        from transformers import AutoTokenizer

        model = AutoPeftModelForCausalLM.from_pretrained(str(folder)).merge_and_unload()
        AutoTokenizer.from_pretrained(str(folder)).save_pretrained(draft)
        model.save_pretrained(draft)
        draft.rename(merged)
    return merged


def saved(output: Path) -> dict[int, Path]:
    """The checkpoints in a run's folder by step, in order."""
    found = {path.name.removeprefix("checkpoint-"): path for path in output.glob("checkpoint-*")}
    return {int(step): found[step] for step in sorted(filter(str.isdecimal, found), key=int)}
