"""What both kinds of run do as they go: note figures, checkpoints and scores in the card, and tell of them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.card import Card
from training.config import Scoring
from training.scoring import Scorer

if TYPE_CHECKING:
    from transformers import TrainerCallback

Say = Callable[[str], None]


def first_process() -> bool:
    """Whether this process is the first of the run's, which alone writes and speaks.

    Waits for all of them: none writes into the output before every one has looked into it.
    """
    from training.model import processes

    state = processes()
    state.wait_for_everyone()
    return bool(state.is_main_process)


def recorder(card: Card, scoring: Scoring, say: Say, skips: Callable[[], bool] = lambda: False) -> TrainerCallback:
    """A callback that keeps the card, and scores checkpoints during the run where that was asked for.

    Args:
        skips: Whether the update that is about to be made must not be.
    """
    from transformers import TrainerCallback

    class Recorder(TrainerCallback):  # type: ignore[misc]
        """Keeps the card."""

        def __init__(self) -> None:
            self.scorer = Scorer(card, scoring)
            self.started = time.perf_counter()

        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.started = time.perf_counter()

        def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            # Without gradients an optimizer leaves weights and momenta alone; zeros would still move them.
            if skips():
                model.zero_grad(set_to_none=True)

        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
            figures = dict(logs or {})
            if "loss" not in figures or not state.is_world_process_zero:
                return
            figures["time/step"] = time.perf_counter() - self.started
            if "time/environment" in figures:
                figures["environment_share"] = figures["time/environment"] / figures["time/step"]
            new = [text for text in warnings(figures) if card.warn(text, state.global_step)]
            card.step(state.global_step, figures)
            say(line(state.global_step, state.max_steps, figures))
            for text in new:
                say(f"warning   {text}")

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.is_world_process_zero:
                folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
                card.checkpoint(folder)
                if scoring.when == "during" and self.scorer.wants(state.global_step):
                    self.scorer.start(folder, state.global_step)

    return Recorder()


def silence(trainer: Any) -> None:
    """Take away the trainer's own printing; the recorder tells the same in a line."""
    from transformers import PrinterCallback

    trainer.remove_callback(PrinterCallback)


def line(step: int, of: int, figures: dict[str, Any]) -> str:
    """A step in one line."""
    parts = [f"step {step}/{of}"]
    for name, form in _TOLD.items():
        if isinstance(value := figures.get(name), int | float):
            parts.append(form.format(value))
    return "  ".join(parts)


_TOLD = {
    "loss": "loss {:.4f}",
    "reward": "reward {:.3f}",
    "success": "success {:.3f}",
    "kl_to_start": "kl {:.4f}",
    "completions/mean_length": "length {:.0f}",
    "faults": "faults {:.0f}",
    "truncated": "truncated {:.0f}",
    "time/step": "{:.1f} s",
    "environment_share": "environment {:.1%}",
}


MOST_CLIPPED, MOST_EQUAL = 0.5, 0.9
"""Shares of episodes and of tasks above which a run learns little without looking broken (docs of training, 10)."""


def warnings(figures: dict[str, Any]) -> list[str]:
    """What a step's figures warn of, a sentence each."""
    found = []
    if figures.get("clipped_share", 0.0) > MOST_CLIPPED:
        found.append(
            f"more than {MOST_CLIPPED:.0%} of the episodes met a limit: rollouts.max_steps, tokens_per_step, max_tokens"
        )
    if figures.get("equal_groups", 0.0) > MOST_EQUAL:
        found.append(f"in more than {MOST_EQUAL:.0%} of the tasks all rollouts earned the same: little can be learned")
    return found


def finish(trainer: Any, card: Card, output: Path, scoring: Scoring, say: Say) -> Path:
    """Save the final checkpoint, close the card, and score what is left to score.

    The checkpoint is there only once it is whole, and takes the place of one that a shorter run left.
    """
    from training.model import servable

    final, draft = output / "final", output / ".final"
    trainer.save_model(str(draft))
    trainer.accelerator.wait_for_everyone()
    if not trainer.is_world_process_zero():
        return final
    shutil.rmtree(final, ignore_errors=True)
    draft.rename(final)
    folder = servable(final)
    card.checkpoint(folder)
    card.write("done")
    scorer = Scorer(card, scoring)
    if scoring.every:
        scorer.finish(output, trainer.state.global_step, folder)
        say(scorer.table())
    say(f"checkpoint {folder}")
    return folder
