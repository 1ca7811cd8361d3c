"""One RL run: tasks, episodes, trainer, card."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Sample
from benchmarks.facts import fingerprints
from benchmarks.scenarios import SCENARIOS
from harness.environment import ToolSpec
from harness.errors import EnvironmentFault, SettingError
from harness.messages import system, user
from harness.protocol import Protocol
from harness.rollout import UserModel
from training import arguments
from training.card import Card
from training.config import RlConfig
from training.model import Hardware, adapters, hardware, load_model, load_tokenizer, parameters
from training.rl.rollouts import Clock, Engine, Rollout, play, rules
from training.rl.trainer import trainer_class
from training.rl.users import user_model
from training.rules import accumulation, check_rl
from training.running import finish, first_process, recorder, silence
from training.tasks import rewarded
from training.template import ChatTemplate
from training.template_check import TemplateFacts, check_template

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ready:
    """Everything that a run plays, checked."""

    template: ChatTemplate
    samples: Mapping[str, Sample]
    protocol: Protocol
    user: UserModel | None
    hardware: Hardware
    longest_prompt: int
    """Tokens."""
    facts: TemplateFacts

    def play(self, config: RlConfig, chosen: Sequence[str], engine: Engine) -> tuple[list[Rollout], Clock]:
        """Play one episode for each id, in order."""
        return play(self.samples, chosen, self.protocol, self.template, config.rollouts, engine, self.user)


def prepare(config: RlConfig, say: Say) -> Ready:
    """Load and check tasks, template and user, and say what was found.

    Raises:
        SettingError: If the configuration cannot work.
        DataError: If the corpus is broken.
    """
    machine = hardware()
    check_rl(config, machine.devices)
    if config.rollouts.engine != "transformers":
        _needs_vllm(config.rollouts.engine, machine)
    tasks = config.tasks
    ready = rewarded(tasks)
    template = ChatTemplate(load_tokenizer(config.model), thinking=config.model.thinking)
    facts = check_template(template)
    protocol = rules(ready.protocol, config.rollouts)
    groups = {sample.group: sample for sample in ready.samples}
    tools = {group: _tools(sample) for group, sample in groups.items()}
    longest = max(_prompt_tokens(sample, tools[sample.group], template) for sample in ready.samples)
    say(f"tasks     {len(ready.samples)} scenarios in {len(groups)} environments, setting {tasks.setting}")
    say(f"prompts   at most {longest:,} tokens, of {config.rollouts.max_tokens:,} for an episode")
    if longest + config.rollouts.tokens_per_step > config.rollouts.max_tokens:
        raise SettingError(
            f"rollouts.max_tokens={config.rollouts.max_tokens}: the longest prompt has {longest} tokens and a reply up "
            f"to {config.rollouts.tokens_per_step}; an episode could not even begin"
        )
    say(f"template  {facts}")
    say(f"hardware  {machine}; engine {config.rollouts.engine}")
    return Ready(template, ready.by_id, protocol, user_model(config), machine, longest, facts)


def _needs_vllm(engine: str, machine: Hardware) -> None:
    import importlib.util

    if machine.gpus == 0:
        raise SettingError(f"rollouts.engine={engine}: there is no GPU here; use transformers")
    if importlib.util.find_spec("vllm") is None:
        raise SettingError(f"rollouts.engine={engine}: vllm is not installed; pip install 'envscaler[vllm]'")


def _tools(sample: Sample) -> Sequence[ToolSpec]:
    """The tools of a sample's environment."""
    try:
        with closing(sample.case().open()) as environment:
            return environment.tools
    except EnvironmentFault as fault:
        raise SettingError(f"{sample.id}: its environment does not start: {fault}") from fault


def _prompt_tokens(sample: Sample, tools: Sequence[ToolSpec], template: ChatTemplate) -> int:
    """Tokens of a sample's first prompt; a simulated user's first words are not known yet and count nothing."""
    brief = sample.case().brief
    first = brief.turns[0].text if brief.turns else ""
    return len(template.prompt([system(brief.system or ""), user(first)], tools))


def _tasks(config: RlConfig, samples: Mapping[str, Sample]) -> dict[str, Any]:
    """Which tasks are trained on: their ids, and the corpus with its checks, states and programs, as digests."""
    ids = hashlib.sha256(json.dumps(list(samples)).encode()).hexdigest()
    return {"number": len(samples), "ids": ids, **fingerprints(SCENARIOS, config.tasks.corpus)}


def train(config: RlConfig, *, resume: bool = False, say: Say = print) -> Path:
    """Run reinforcement learning and return the folder of the final checkpoint.

    Raises:
        SettingError: As `prepare`; also if the output belongs to another run.
        TooManyFaults: If more environments fail than the run allows.
    """
    arguments.quiet_libraries()
    output = Path(config.output)
    check_rl(config)
    start = arguments.last_checkpoint(output, resume)
    main = first_process()
    say = say if main else (lambda line: None)
    ready = prepare(config, say)
    card = Card(output, writes=main, kind="rl", config=config)
    card.fact("hardware", str(ready.hardware))
    card.fact("tasks", _tasks(config, ready.samples))
    card.fact("template", str(ready.facts))
    card.content["protocol"] = ready.protocol.record()
    if start is not None:
        card.resumed(start)

    from datasets import Dataset

    model = load_model(config.model)
    trainer = trainer_class()(
        run=config,
        play=partial(ready.play, config),
        model=model,
        args=grpo_arguments(config, ready.hardware),
        train_dataset=Dataset.from_list([{"prompt": name} for name in ready.samples]),
        processing_class=ready.template.tokenizer,
        peft_config=adapters(config.model.lora, model),
    )
    silence(trainer)
    trainer.add_callback(recorder(card, config.scoring, say, lambda: bool(trainer.skip_update)))
    for name, number in parameters(trainer.model).items():
        card.fact(name, number)
    card.write("running")
    trainer.train(resume_from_checkpoint=None if start is None else str(start))
    return finish(trainer, card, output, config.scoring, say)


def grpo_arguments(config: RlConfig, machine: Hardware) -> Any:
    """TRL's arguments for a run."""
    from trl import GRPOConfig

    rollouts, objective = config.rollouts, config.objective
    engine: dict[str, Any] = {}
    if rollouts.engine != "transformers":
        engine = {
            "use_vllm": True,
            "vllm_mode": rollouts.engine.removeprefix("vllm_"),
            "vllm_server_base_url": rollouts.server or None,
            "vllm_max_model_length": rollouts.max_tokens,
            # Ratios of whole sequences of 32K tokens leave their bounds by chance (docs of training, 2.5).
            "vllm_importance_sampling_mode": "token_truncate",
        }
    per_step = accumulation(config.batch, config.optimizer, machine.devices, "rollouts")
    return GRPOConfig(
        **arguments.common(
            config.output,
            config.model,
            config.optimizer,
            seed=config.seed,
            accumulate=per_step,
            save_every=config.save_every,
        ),
        **engine,
        max_steps=config.steps,
        logging_steps=1,
        num_generations=rollouts.per_task,
        # One reply's limit; whole episodes are limited by the rollouts.
        max_completion_length=rollouts.tokens_per_step,
        temperature=rollouts.temperature,
        top_p=rollouts.top_p,
        top_k=rollouts.top_k,
        # Above 0 for the reference model to be there; the trainer says where the KL enters.
        beta=objective.kl.coefficient,
        use_bias_correction_kl=False,
        epsilon=objective.clip,
        loss_type="dapo" if objective.mean == "token" else "grpo",
        # The trainer brings its own advantages.
        scale_rewards="none",
    )
