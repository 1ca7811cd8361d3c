"""One SFT run: rows, tokens, trainer, card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.errors import SettingError
from training import arguments
from training.card import Card, digest
from training.config import SftConfig
from training.model import Hardware, adapters, hardware, load_model, load_tokenizer, parameters
from training.rules import accumulation, check_sft
from training.running import finish, first_process, recorder, silence
from training.sft.rows import Row, Taken, rows
from training.sft.tokens import Counted, Tokens, check_reasoning, encoded
from training.template import ChatTemplate, shown

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ready:
    """Everything that a run learns from, checked."""

    template: ChatTemplate
    tokens: list[Tokens]
    taken: Taken
    counted: Counted
    hardware: Hardware


def prepare(config: SftConfig, say: Say) -> Ready:
    """Read, tokenize and check the data, and say what was found.

    Raises:
        SettingError: If nothing is left to learn from, or the configuration cannot work.
        DataError: If a trajectory is broken.
    """
    machine = hardware()
    check_sft(config, machine.devices)
    template = ChatTemplate(load_tokenizer(config.model), thinking=config.model.thinking)
    taken, counted = Taken(), Counted()
    found: list[Row] = list(rows(config.data.trajectories, config.data, taken))
    for row in found:
        check_reasoning(row, template)
    tokens = list(encoded(found, template, config.data.max_tokens, counted))
    say(
        f"data      {taken.trajectories} trajectories -> {counted.kept} rows, {counted.tokens:,} tokens, "
        f"{counted.supervised:,} of them supervised; longest row {counted.longest:,}"
    )
    say(
        f"left out  {taken.below_reward} below data.min_reward, {taken.without_reply} without a reply, "
        f"{taken.unusable} replies cut, empty or unreadable, "
        f"{counted.too_long} rows above {config.data.max_tokens:,} tokens"
    )
    if not tokens:
        raise SettingError("no row is left to learn from")
    say(f"hardware  {machine}")
    say(f"one row, supervised between guillemets:\n{shown(tokens[0].ids, tokens[0].mask, template)}")
    return Ready(template, tokens, taken, counted, machine)


def train(config: SftConfig, *, resume: bool = False, say: Say = print) -> Path:
    """Run SFT and return the folder of the final checkpoint.

    Raises:
        SettingError: As `prepare`; also if the output belongs to another run.
    """
    arguments.quiet_libraries()
    output = Path(config.output)
    check_sft(config)
    start = arguments.last_checkpoint(output, resume)
    main = first_process()
    say = say if main else (lambda line: None)
    ready = prepare(config, say)
    card = Card(output, writes=main, kind="sft", config=config)
    card.fact("hardware", str(ready.hardware))
    card.fact("data", digest(config.data.trajectories))
    card.fact("rows", {**asdict(ready.taken), **asdict(ready.counted)})
    if start is not None:
        card.resumed(start)

    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    per_step = accumulation(config.global_batch, config.optimizer, ready.hardware.devices, "global_batch")
    model = load_model(config.model)
    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(
            **arguments.common(
                config.output,
                config.model,
                config.optimizer,
                seed=config.seed,
                accumulate=per_step,
                save_every=config.save_every,
            ),
            num_train_epochs=config.epochs,
            max_steps=config.steps or -1,
            logging_steps=config.log_every,
            max_length=None,
            # Rows come as tokens with their labels: nothing may be cut or masked anew.
            dataset_kwargs={"skip_prepare_dataset": True},
        ),
        train_dataset=Dataset.from_list([{"input_ids": t.ids, "labels": t.labels} for t in ready.tokens]),
        processing_class=ready.template.tokenizer,
        peft_config=adapters(config.model.lora, model),
        callbacks=[recorder(card, config.scoring, say)],
    )
    silence(trainer)
    for name, number in parameters(trainer.model).items():
        card.fact(name, number)
    card.write("running")
    trainer.train(resume_from_checkpoint=None if start is None else str(start))
    return finish(trainer, card, output, config.scoring, say)
