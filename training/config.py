"""What a training run is made of. Every field can stand in a TOML file; nothing else moves a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Algorithm = Literal["reinforce_pp", "reinforce_pp_baseline", "released", "grpo"]
Truncated = Literal["zero_reward", "mask", "grade_state"]
History = Literal["none", "chain", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lora:
    """Low-rank adapters in place of full fine-tuning; used where `rank` is above 0."""

    rank: int = 0
    alpha: int = 32
    dropout: float = 0.0
    targets: str = "all-linear"
    """Module names with commas, or `all-linear`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The checkpoint to start from, and how it is loaded."""

    path: str = ""
    dtype: Literal["float32", "bfloat16"] = "bfloat16"
    """Of the computation, and of weights under adapters; weights that are trained are float32."""
    attention: str = ""
    """`flash_attention_2`, `sdpa`, ...; empty: the library's choice."""
    gradient_checkpointing: bool = True
    thinking: bool = True
    """Given to the chat template as `enable_thinking`."""
    lora: Lora = field(default_factory=Lora)


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimizer:
    """How weights are moved."""

    learning_rate: float = 1e-6
    schedule: Literal["cosine", "constant", "linear"] = "cosine"
    warm_up: float = 0.0
    """Below 1 a share of all steps, else a number of steps."""
    weight_decay: float = 0.0
    beta2: float = 0.999
    max_gradient: float = 1.0
    """Norm to which gradients are clipped."""
    per_device_batch: int = 1
    """Sequences in one forward pass; the rest of a batch is accumulated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """Scoring of saved checkpoints with `envscaler eval`."""

    every: int = 0
    """Score every so many steps, at multiples of `save_every`, and the last one. 0: never."""
    benchmarks: str = "scenarios"
    runs: int = 3
    when: Literal["during", "after"] = "after"
    """In a process beside the training, or once it is over."""
    arguments: str = ""
    """Further arguments of `envscaler eval`, e.g. `--user openai/gpt-4.1 -T scenarios.corpus=held_out`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SftData:
    """Which trajectories become rows, and how."""

    trajectories: tuple[str, ...] = ()
    """JSONL files (docs/engine.md), gzipped or not."""
    min_reward: float | None = None
    """Leave out trajectories scored below it, or without a score. None: take all."""
    split: Literal["round", "whole"] = "round"
    """One row for each assistant message, with it alone supervised; or one row a trajectory, with all of them."""
    history_reasoning: History = "none"
    """Reasoning kept in past messages: none, of the messages since the last user turn, all."""
    max_tokens: int = 32_768
    """Longer rows are left out and counted, never cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SftConfig:
    """Supervised fine-tuning."""

    output: str = ""
    model: Model = field(default_factory=Model)
    data: SftData = field(default_factory=SftData)
    optimizer: Optimizer = field(default_factory=Optimizer)
    epochs: float = 3.0
    steps: int = 0
    """Stop after so many steps instead of epochs, if above 0."""
    global_batch: int = 256
    """Rows in one optimizer step, over all devices."""
    seed: int = 42
    save_every: int = 100
    log_every: int = 1
    scoring: Scoring = field(default_factory=Scoring)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """The scenarios that are played."""

    corpus: str = "bundled"
    environments: str = ""
    """Only these, with commas."""
    setting: Literal["non_conversation", "conversation"] = "non_conversation"
    protocol: Literal["paper", "strict"] = "paper"
    """Whose rules; `rollouts` sets the limits and what a truncated episode is worth."""
    prompts: Literal["own", "release"] = "own"
    level: Literal["isolated", "process", "trusted"] = "isolated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollouts:
    """How episodes are sampled."""

    tasks_per_step: int = 64
    per_task: int = 8
    max_steps: int = 40
    """Agent messages in an episode."""
    tokens_per_step: int = 4_096
    max_tokens: int = 32_768
    """Of a whole episode: prompt, agent, tools and user."""
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    """0: off."""
    truncated: Truncated = "zero_reward"
    """Episodes at a limit: reward 0; left out of the batch; or scored by the state they left."""
    max_fault_share: float = 0.1
    """Of a step's episodes; with more environment faults the run ends."""
    at_once: int = 512
    """Live episodes on each device."""
    threads: int = 0
    """In which environments and users move side by side; 0: two for each core. More contend for the interpreter."""
    engine: Literal["transformers", "vllm_colocate", "vllm_server"] = "transformers"
    server: str = ""
    """URL, for `vllm_server`."""
    user: str = ""
    """Who plays the user in conversations: `scripted`, or the name of a model."""
    user_url: str = ""
    """OpenAI-compatible server of that model; empty: OpenAI's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kl:
    """The leash to the model that the run starts from."""

    coefficient: float = 0.0
    where: Literal["reward", "loss", "none"] = "none"
    estimator: Literal["k1", "k2", "k3"] = "k1"
    """With d = log pi - log pi_ref: d; d^2 / 2; exp(-d) + d - 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """Advantages and loss (docs/training.md has the formulas)."""

    algorithm: Algorithm = "reinforce_pp"
    kl: Kl = field(default_factory=Kl)
    discount: float = 1.0
    advantage_clip: float = 0.0
    """Bound on the size of an advantage; 0: none."""
    clip: float = 0.2
    """Of the probability ratio."""
    mean: Literal["token", "sequence"] = "token"
    """The loss is the mean over tokens, or over sequences of their means over tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RlConfig:
    """Reinforcement learning."""

    output: str = ""
    model: Model = field(default_factory=Model)
    tasks: Tasks = field(default_factory=Tasks)
    rollouts: Rollouts = field(default_factory=Rollouts)
    objective: Objective = field(default_factory=Objective)
    optimizer: Optimizer = field(default_factory=Optimizer)
    steps: int = 200
    seed: int = 42
    save_every: int = 50
    scoring: Scoring = field(default_factory=Scoring)

    @property
    def batch(self) -> int:
        """Episodes in one optimizer step, over all devices."""
        return self.rollouts.tasks_per_step * self.rollouts.per_task


Config = SftConfig | RlConfig


def record(config: Config) -> dict[str, Any]:
    """A configuration as plain JSON values."""
    return asdict(config)
