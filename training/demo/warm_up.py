"""The base checkpoint: a fresh model that has learned to copy a value from its prompt, and nothing about tools.

Copying is what a small model finds hardest to learn from conversations; short echo rows teach it in seconds.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from training.demo.model import END, fresh, tokenizer
from training.demo.tasks import IDS, Pair, task

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

BATCH, RATE, WARM_UP = 64, 2e-3, 30
MOST_STEPS, CHECK_EVERY, GOOD_ENOUGH = 1500, 50, 0.98

Row = tuple[list[int], list[int]]
"""Token ids, and those with -100 where nothing is supervised."""


def write_base(folder: Path, chosen: list[Pair], say: Callable[[str], None] = lambda line: None) -> None:
    """Make, warm up and save the base checkpoint.

    Args:
        chosen: Training pairs; no row is drawn from others, or what is held out would not be.
        say: Told of progress.
    """
    made = tokenizer(chosen)
    model = fresh(made)
    train(model, made, chosen, say)
    model.save_pretrained(folder)
    made.save_pretrained(folder)


def train(
    model: Qwen3ForCausalLM, made: PreTrainedTokenizerFast, chosen: list[Pair], say: Callable[[str], None]
) -> float:
    """Train until copies are right, and return their share."""
    import torch

    rng = random.Random(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.0)
    model.train()
    right = 0.0
    for step in range(1, MOST_STEPS + 1):
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, step / WARM_UP)
        ids, labels = _batch([row(made, rng, chosen) for _ in range(BATCH)], made.pad_token_id)
        output = model(input_ids=ids, attention_mask=(ids != made.pad_token_id).long(), labels=labels)
        output.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step % CHECK_EVERY == 0:
            predicted, wanted = output.logits[:, :-1].argmax(-1), labels[:, 1:]
            counted = (wanted != -100) & (wanted != made.eos_token_id)
            right = float((predicted == wanted)[counted].float().mean())
            say(f"warm-up step {step}: loss {output.loss.item():.3f}, copies right {100 * right:.1f} %")
            if right > GOOD_ENOUGH:
                break
    return right


def row(made: PreTrainedTokenizerFast, rng: random.Random, chosen: list[Pair]) -> Row:
    """A short chat whose answer stands in its prompt."""
    pair, kind = rng.choice(chosen), rng.random()
    user, cue, answer = task(pair), "name ", pair[0]
    if kind < 0.3:
        cue, answer = "price ", str(pair[1])
    elif kind < 0.6:
        cue, answer = "", str(rng.choice(IDS))
        user = json.dumps({"id": answer})
    prompt = made.encode(f"<|im_start|>user\n{user}{END}\n<|im_start|>assistant\n{cue}", add_special_tokens=False)
    target = made.encode(answer + END, add_special_tokens=False)
    return [*prompt, *target], [-100] * len(prompt) + target


def _batch(rows: list[Row], pad: int):  # type: ignore[no-untyped-def]
    import torch

    width = max(len(ids) for ids, _ in rows)
    ids = torch.tensor([ids + [pad] * (width - len(ids)) for ids, _ in rows])
    labels = torch.tensor([labels + [-100] * (width - len(labels)) for _, labels in rows])
    return ids, labels
