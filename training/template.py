"""A chat template in tokens: prompts, what follows an agent's reply, and how a reply is read back.

Rollouts never tokenize twice what was sampled. The prompt is rendered once; afterwards only what tools and users say is
rendered, as the template puts it after the end of an assistant message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from harness.environment import ToolSpec
from harness.errors import SettingError
from harness.messages import Message

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_MARK = "\u2063reply\u2063"
"""Stands for the assistant's words in a dummy conversation; occurs in no other text."""
_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)


class ChatTemplate:
    """The chat template of a tokenizer.

    Args:
        tokenizer: With a chat template and an end-of-turn token as its `eos_token`.
        thinking: Given to the template as `enable_thinking`.
    Raises:
        SettingError: If the tokenizer has no chat template, or it does not end a reply with the end-of-turn token.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, *, thinking: bool = True) -> None:
        if not tokenizer.chat_template:
            raise SettingError(f"{tokenizer.name_or_path}: its tokenizer has no chat template")
        self.tokenizer = tokenizer
        self.thinking = thinking
        self.end = str(tokenizer.eos_token)
        self.end_id = int(tokenizer.eos_token_id)
        self.reply({"role": "assistant", "content": "x"})

    def text(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]], *, prompt: bool) -> str:
        """A conversation as the template renders it; with `prompt`, up to where the agent speaks."""
        rendered = self.tokenizer.apply_chat_template(
            [dict(message) for message in messages],
            # An empty list renders other prompts than None in some templates.
            tools=list(tools) or None,
            add_generation_prompt=prompt,
            tokenize=False,
            enable_thinking=self.thinking,
        )
        assert isinstance(rendered, str)
        return rendered

    def ids(self, text: str) -> list[int]:
        """Tokens of a rendered text."""
        return list(self.tokenizer.encode(text, add_special_tokens=False))

    def prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[int]:
        """Tokens up to where the agent speaks for the first time."""
        return self.ids(self.text(messages, [tool.openai() for tool in tools], prompt=True))

    def suffix(self, messages: Sequence[Message]) -> list[int]:
        """Tokens between the end of an assistant message and the next one, with what was said in between.

        Args:
            messages: Of tools and users, one or more.
        """
        return self.ids(self._after_reply(messages))

    def _after_reply(self, messages: Sequence[Message]) -> str:
        reply: Message = {"role": "assistant", "content": _MARK}
        calls = [str(message.get("tool_call_id", "call")) for message in messages if message["role"] == "tool"]
        if calls:
            function = {"name": "x", "arguments": "{}"}
            reply["tool_calls"] = [{"id": name, "type": "function", "function": function} for name in calls]
        text = self.text([{"role": "user", "content": "x"}, reply, *messages], (), prompt=True)
        _, mark, after = text.partition(_MARK)
        _, end, after = after.partition(self.end)
        if not mark or not end:
            raise SettingError(_endless(self))
        return after

    def reply(self, message: Message) -> list[int]:
        """Tokens of an assistant message as a model would have sampled it, up to its end-of-turn token."""
        before: list[Message] = [{"role": "user", "content": "x"}]
        start, whole = self.text(before, (), prompt=True), self.text([*before, message], (), prompt=False)
        if not whole.startswith(start):
            raise SettingError(
                f"{self.tokenizer.name_or_path}: its chat template does not begin a reply with its own generation "
                "prompt; model.thinking may not fit it"
            )
        words, end, _ = whole[len(start) :].partition(self.end)
        if not end:
            raise SettingError(_endless(self))
        return self.ids(words + end)

    @cached_property
    def opener(self) -> str:
        """What the template puts at the head of a reply before the agent says a word, e.g. `<think>`."""
        text = self.text([{"role": "user", "content": "x"}], (), prompt=True)
        return "<think>\n" if text.rstrip().endswith("<think>") else ""

    def message(self, ids: Sequence[int], *, cut: bool = False) -> Message:
        """A sampled reply as a message. What is no readable call stays in its text, as servers leave it.

        Args:
            ids: With or without the end-of-turn token.
            cut: Whether the token limit ended it.
        """
        words = [token for token in ids if token != self.end_id]
        message = read_reply(self.opener + str(self.tokenizer.decode(words, skip_special_tokens=True)))
        if cut:
            message["finish_reason"] = "length"
        return message


def _endless(template: ChatTemplate) -> str:
    return (
        f"{template.tokenizer.name_or_path}: its chat template does not end a reply with {template.end}, "
        "the tokenizer's end-of-turn token"
    )


def read_reply(text: str) -> Message:
    """An assistant message in Hermes form (`<think>`, `<tool_call>` with JSON) in OpenAI's.

    One call that cannot be read leaves the whole reply as text: the protocol answers it.
    """
    message: Message = {"role": "assistant", "content": text}
    if "</think>" in text:
        reasoning, _, text = text.partition("</think>")
        message["reasoning_content"] = reasoning.partition("<think>")[2] if "<think>" in reasoning else reasoning
        message["reasoning_content"] = message["reasoning_content"].strip("\n")
        message["content"] = text = text.lstrip("\n")
    found = _CALL.findall(text)
    if not found or text.count("<tool_call>") != len(found):
        return message
    calls = []
    for body in found:
        try:
            call = json.loads(body)
        except (ValueError, RecursionError):
            return message
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            return message
        arguments = json.dumps(call.get("arguments"), ensure_ascii=False)
        calls.append({"type": "function", "function": {"name": call["name"], "arguments": arguments}})
    return {**message, "content": text.partition("<tool_call>")[0].rstrip("\n"), "tool_calls": calls}


def shown(ids: Sequence[int], mask: Sequence[int], template: ChatTemplate) -> str:
    """Tokens as text, with those that are learned from between guillemets."""
    parts, start = [], 0
    for position in range(1, len(ids) + 1):
        if position == len(ids) or mask[position] != mask[start]:
            text = str(template.tokenizer.decode(list(ids[start:position])))
            parts.append(f"«{text}»" if mask[start] else text)
            start = position
    return "".join(parts)
