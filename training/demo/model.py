"""The demonstration's model: a tokenizer of some hundred tokens and a Qwen3 of half a million parameters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from training.demo.tasks import NAMES, PRICES, Pair, task

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

END, PAD = "<|im_end|>", "<|endoftext|>"
MARKUP = tuple(f"<{slash}{name}>" for name in ("tools", "tool_call", "tool_response", "think") for slash in ("", "/"))
VOCABULARY = 900
"""Upper bound; the texts hold fewer words."""
_PIECES = r"[0-9]{1,2}| |[A-Za-z]+|[^A-Za-z0-9 ]+"
"""Numbers of two digits, names and runs of signs are tokens of their own: copying one takes one step."""


def tokenizer(chosen: list[Pair]) -> PreTrainedTokenizerFast:
    """A byte-level BPE trained on the demonstration's own texts; every name and price becomes one token.

    Args:
        chosen: Pairs whose conversations it is trained on.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        min_frequency=2,
        special_tokens=[PAD, "<|im_start|>", END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(_texts(chosen), trainer)
    raw.add_tokens(list(MARKUP))
    made = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=END, pad_token=PAD, padding_side="left")
    made.chat_template = (Path(__file__).parent / "template.jinja").read_text()
    return made


def _texts(chosen: list[Pair]) -> Iterator[str]:
    for pair in chosen:
        yield task(pair)
        yield json.dumps({"name": "find_item", "arguments": {"name": pair[0]}})
        yield json.dumps({"name": "set_price", "arguments": {"item_id": "10", "price": pair[1]}})
        yield from (str({"id": "10"}), str({"done": "10"}), str({"error": "no such item"}), "Task Completed")
        yield "system user assistant find_item(name) set_price(item_id, price)"
    for _ in range(3):
        yield from NAMES
        yield from map(str, range(max(PRICES) + 1))


def fresh(made: PreTrainedTokenizerFast, *, hidden: int = 128, layers: int = 3) -> Qwen3ForCausalLM:
    """A Qwen3 with random weights that fits the tokenizer."""
    from transformers import GenerationConfig, Qwen3Config, Qwen3ForCausalLM, set_seed

    set_seed(0)
    config = Qwen3Config(
        vocab_size=-(-len(made) // 8) * 8,
        hidden_size=hidden,
        num_hidden_layers=layers,
        intermediate_size=2 * hidden,
        num_attention_heads=4,
        num_key_value_heads=4,
        head_dim=hidden // 4,
        max_position_embeddings=512,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        tie_word_embeddings=True,
        eos_token_id=made.eos_token_id,
        pad_token_id=made.pad_token_id,
        bos_token_id=None,
    )
    model = Qwen3ForCausalLM(config)
    # A served checkpoint samples only where its own generation settings say so, whatever temperature is asked for.
    model.generation_config = GenerationConfig(
        do_sample=True, eos_token_id=made.eos_token_id, pad_token_id=made.pad_token_id
    )
    return model
