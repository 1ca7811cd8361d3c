"""Whether a chat template can be trained with: asked before a run, of one small conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.errors import SettingError
from harness.messages import Message, read
from training.template import ChatTemplate, read_reply

_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Look something up.",
        "parameters": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    },
}
_CALL = {"id": "call_0", "type": "function", "function": {"name": "look_up", "arguments": '{"name": "lamp"}'}}
_TALK: list[Message] = [
    {"role": "system", "content": "You answer with tools."},
    {"role": "user", "content": "Where is the lamp?"},
    {"role": "assistant", "content": "", "tool_calls": [_CALL]},
    {"role": "tool", "content": "{'shelf': 4}", "tool_call_id": "call_0"},
    {"role": "assistant", "content": "On shelf 4."},
    {"role": "user", "content": "Thank you."},
]


@dataclass(frozen=True, slots=True)
class TemplateFacts:
    """What a template does, where it may do one or the other."""

    append_only: bool
    """Whether a longer conversation begins with the tokens of a shorter one."""
    keeps_reasoning: bool
    """Whether reasoning before the last user message stays visible."""

    def __str__(self) -> str:
        changes = "keeps" if self.append_only else "rewrites"
        drops = "keeps" if self.keeps_reasoning else "drops"
        return f"{changes} earlier messages as a conversation grows; {drops} reasoning before the last user message"


def check_template(template: ChatTemplate) -> TemplateFacts:
    """See that rollouts in tokens and the template's own rendering agree.

    Raises:
        SettingError: If a reply does not begin with the generation prompt; if what tools and users say is rendered
            otherwise in a longer conversation; or if the calls that the template writes are not those that we read.
    """
    name = template.tokenizer.name_or_path
    _prefix(template, name)
    for end, speaker in ((4, "tool"), (6, "user")):
        whole = template.text(_TALK[:end], [_TOOL], prompt=True)
        if not template.ids(whole)[-(length := len(suffix := template.suffix(_TALK[end - 1 : end]))) :] == suffix:
            raise SettingError(
                f"{name}: its chat template renders the last {length} tokens of a {speaker} message otherwise in a "
                "longer conversation; rollouts in tokens would not be what the model is served"
            )
    written = template.tokenizer.decode(template.reply(_TALK[2])[:-1])
    calls = read(read_reply(template.opener + str(written))).calls
    if [(call.name, call.arguments) for call in calls] != [("look_up", {"name": "lamp"})]:
        raise SettingError(f"{name}: its chat template does not write calls as <tool_call> with JSON")
    return TemplateFacts(_append_only(template), _keeps_reasoning(template))


def _prefix(template: ChatTemplate, name: str) -> None:
    start = template.ids(template.text(_TALK[:2], [_TOOL], prompt=True))
    whole = template.ids(template.text(_TALK[:3], [_TOOL], prompt=False))
    if whole[: len(start)] != start:
        raise SettingError(
            f"{name}: its chat template does not begin a reply with its own generation prompt; model.thinking may not "
            "fit it"
        )


def _append_only(template: ChatTemplate) -> bool:
    streamed = template.ids(template.text(_TALK[:2], [_TOOL], prompt=True))
    for index in (2, 4):
        streamed += template.reply(_TALK[index]) + template.suffix(_TALK[index + 1 : index + 2])
    return streamed == template.ids(template.text(_TALK, [_TOOL], prompt=True))


def _keeps_reasoning(template: ChatTemplate) -> bool:
    thought = "a thought that stands nowhere else"
    talk = [*_TALK[:2], {**_TALK[2], "reasoning_content": thought}, *_TALK[3:]]
    return thought in template.text(talk, [_TOOL], prompt=True)
