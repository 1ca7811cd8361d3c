"""Just enough of other engines to run our files beside them: their interfaces, as documented, and nothing more."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from training.template import ChatTemplate


def module(name: str, **contents: Any) -> types.ModuleType:
    made = types.ModuleType(name)
    vars(made).update(contents)
    return made


@contextlib.contextmanager
def installed(**modules: types.ModuleType) -> Iterator[None]:
    """Make modules importable, by their names with `__` for dots."""
    named = {name.replace("__", "."): made for name, made in modules.items()}
    before = {name: sys.modules.get(name) for name in named}
    sys.modules.update(named)
    try:
        yield
    finally:
        for name, made in before.items():
            if made is None:
                del sys.modules[name]
            else:
                sys.modules[name] = made


# verl: the base class of agent loops, with its token methods on a chat template of ours.


@dataclass
class Merged:
    token_ids: list[int]


@dataclass
class TokenOutput:
    token_ids: list[int]
    log_probs: list[float] | None


@dataclass
class AgentLoopOutput:
    prompt_ids: list[int]
    response_ids: list[int]
    response_mask: list[int]
    metrics: dict[str, float]
    response_logprobs: list[float] | None = None
    reward_score: float | None = None
    num_turns: int = 0
    extra_fields: dict[str, Any] = field(default_factory=dict)


@contextlib.contextmanager
def simple_timer(name: str, timings: dict[str, float]) -> Iterator[None]:
    start = time.perf_counter()
    yield
    timings[name] = timings.get(name, 0.0) + time.perf_counter() - start


class AgentLoopBase:
    """Rendering stays the template's; masks and log-probabilities are kept in step with the tokens."""

    def __init__(self, *, tokenizer: Any, server_manager: Any, response_length: int, tools: Any = None) -> None:
        self.tokenizer = tokenizer
        self.server_manager = server_manager
        self.rollout_config = types.SimpleNamespace(response_length=response_length)
        self.template = ChatTemplate(tokenizer, thinking=False)

    async def ct_build_initial_tokens(self, messages: list[Any], tools: list[Any]) -> list[int]:
        return self.template.ids(self.template.text(messages, tools, prompt=True))

    async def ct_merge_assistant_token(
        self,
        tokens: list[int],
        new: list[int],
        mask: list[int],
        logprobs: list[float] | None,
        assistant_logprobs: list[float] | None,
    ) -> tuple[Merged, list[int], list[float] | None]:
        kept = None if logprobs is None else logprobs + (assistant_logprobs or [0.0] * len(new))
        return Merged(tokens + new), mask + [1] * len(new), kept

    async def ct_merge_context_msg(
        self,
        before: list[Any],
        after: list[Any],
        tokens: list[int],
        mask: list[int],
        logprobs: list[float] | None,
        tools: list[Any],
    ) -> tuple[Merged, list[int], list[float] | None]:
        assert after[: len(before)] == before, "messages are only ever appended"
        new = self.template.suffix(after[len(before) :])
        kept = None if logprobs is None else logprobs + [0.0] * len(new)
        return Merged(tokens + new), mask + [0] * len(new), kept


def verl() -> dict[str, types.ModuleType]:
    def register(name: str) -> Callable[[type], type]:
        return lambda registered: registered

    names = {"AgentLoopBase": AgentLoopBase, "AgentLoopOutput": AgentLoopOutput, "register": register}
    return {
        "verl__experimental__agent_loop__agent_loop": module("agent_loop", **names),
        "verl__utils__profiler": module("profiler", simple_timer=simple_timer),
    }


class Policy:
    """Answers each context with the next of its replies, as token ids."""

    def __init__(self, tokenizer: Any, replies: list[str]) -> None:
        self.tokenizer = tokenizer
        self.replies = replies
        self.contexts: list[list[int]] = []
        self.most: list[int] = []

    async def generate(self, *, request_id: str, prompt_ids: list[int], sampling_params: dict[str, Any]) -> TokenOutput:
        await asyncio.sleep(0)
        self.contexts.append(list(prompt_ids))
        self.most.append(sampling_params["max_tokens"])
        ids = self.tokenizer.encode(self.replies[len(self.contexts) - 1], add_special_tokens=False)
        ids = [*ids, self.tokenizer.eos_token_id][: sampling_params["max_tokens"]]
        return TokenOutput(ids, [-0.5] * len(ids))


# gem: an environment base class and a registry.


class GemEnv:
    def reset(self, seed: int | None = None) -> None:
        self.seed = seed


def gem(registered: dict[str, str]) -> dict[str, types.ModuleType]:
    def register(name: str, entry_point: str) -> None:
        registered[name] = entry_point

    return {"gem": module("gem", Env=GemEnv, register=register)}
