"""The demonstration: its tasks, its split, and the three checkpoints that ship with the package."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from envscaler.scenarios import write_records
from harness.outcome import StopReason
from harness.reference import oracle
from harness.rollout import play
from tests.training import tiny
from training.config import Model
from training.demo.run import CHECKPOINTS, HELD_OUT, HELD_OUT_TASKS, STAGES, TRAINING_TASKS, whole
from training.demo.tasks import NAMES, PRICES, corpus, pairs
from training.demo.trajectories import recorded
from training.demo.warm_up import row
from training.model import load_model, load_tokenizer
from training.presets import CPU_RL
from training.rl.rollouts import play as play_in_tokens
from training.rl.rollouts import rules
from training.template import ChatTemplate


def test_what_is_held_out_are_pairs_and_every_item_and_price_is_trained_on() -> None:
    train, held_out = pairs()
    assert not set(train) & set(held_out)
    assert len(train) + len(held_out) == len(NAMES) * len(PRICES)
    used = train[:TRAINING_TASKS]
    assert {name for name, _ in used} == set(NAMES)
    assert {price for _, price in used} == set(PRICES)


def test_tasks_are_the_same_every_time_and_their_oracle_solves_them(tasks: Path) -> None:
    train, _ = pairs()
    assert corpus(train[:3], "train") == corpus(train[:3], "train")
    ready = tiny.load_corpus(tasks)
    for sample in ready.samples:
        outcome = play(sample.case(), ready.rules(sample), oracle(sample.case())).trajectory.outcome
        assert outcome is not None
        assert outcome.score is not None
        assert outcome.score.value == 1.0


def test_the_held_out_tasks_that_ship_are_those_that_are_generated(tmp_path: Path) -> None:
    write_records(corpus(pairs()[1][:HELD_OUT_TASKS], "held_out"), tmp_path, "packed")
    for made in tmp_path.iterdir():
        assert (HELD_OUT / made.name).read_bytes() == made.read_bytes()


def test_part_of_the_recorded_episodes_stops_early(tasks: Path) -> None:
    scores = [t.outcome.score.value for t in recorded(tiny.load_corpus(tasks), 0.5) if t.outcome and t.outcome.score]
    assert set(scores) == {0.0, 1.0}
    assert {t.stop_reason for t in recorded(tiny.load_corpus(tasks), 1.0)} == {StopReason.AGENT_DONE}


def test_the_warm_up_reads_no_pair_that_is_held_out(checkpoint: Path) -> None:
    made: Any = load_tokenizer(Model(path=str(checkpoint)))
    chosen = pairs()[0][:1]
    rng = random.Random(0)
    texts = [made.decode(row(made, rng, chosen)[0]) for _ in range(60)]
    tasks_seen = {text for text in texts if "set " in text}
    assert tasks_seen
    assert all(f"set {chosen[0][0]} to {chosen[0][1]}." in text for text in tasks_seen)


@pytest.mark.parametrize("replace", [False, True])
def test_a_folder_is_there_only_once_it_is_whole(tmp_path: Path, replace: bool) -> None:
    def broken() -> None:
        with whole(tmp_path / "made", replace=replace) as draft:
            (draft / "file").write_text("half")
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        broken()
    assert list(tmp_path.iterdir()) == []
    with whole(tmp_path / "made", replace=replace) as draft:
        (draft / "file").write_text("all of it")
    assert (tmp_path / "made" / "file").read_text() == "all of it"


@pytest.mark.parametrize("stage", STAGES)
def test_a_shipped_checkpoint_is_small_and_samples(stage: str) -> None:
    folder = CHECKPOINTS / stage
    model = load_model(Model(path=str(folder), dtype="float32"))
    assert sum(p.numel() for p in model.parameters()) < 2_000_000
    assert model.generation_config is not None
    assert model.generation_config.do_sample
    assert ChatTemplate(load_tokenizer(Model(path=str(folder)))).end == "<|im_end|>"


@pytest.mark.parametrize(("stage", "low", "high"), [("base", 0.0, 0.0), ("rl", 0.75, 1.0)])
def test_a_shipped_checkpoint_solves_what_its_table_says(tmp_path: Path, stage: str, low: float, high: float) -> None:
    """Greedily, on tasks that were held out from training."""
    import torch

    from envscaler.scenarios import write_records

    assert HELD_OUT_TASKS >= 8
    write_records(corpus(pairs()[1][:8], "held_out"), tmp_path, "packed")
    ready = tiny.load_corpus(tmp_path)
    chosen = Model(path=str(CHECKPOINTS / stage), dtype="float32")
    tokenizer, model = load_tokenizer(chosen), load_model(chosen)

    def engine(contexts: list[list[int]]) -> tuple[list[list[int]], None]:
        width = max(map(len, contexts))
        pad: Any = tokenizer.pad_token_id
        ids = torch.tensor([[pad] * (width - len(context)) + context for context in contexts])
        with torch.no_grad():
            made = model.generate(ids, attention_mask=(ids != pad).long(), do_sample=False, max_new_tokens=40)
        replies = [row[width:].tolist() for row in made]
        end: Any = tokenizer.eos_token_id
        return [reply[: reply.index(end) + 1] if end in reply else reply for reply in replies], None

    limits = CPU_RL.rollouts
    names = [sample.id for sample in ready.samples]
    template = ChatTemplate(tokenizer)
    played, _ = play_in_tokens(ready.by_id, names, rules(ready.protocol, limits), template, limits, engine)
    assert low <= sum(rollout.reward or 0.0 for rollout in played) / len(played) <= high
