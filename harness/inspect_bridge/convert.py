"""Messages and tools between the episode's OpenAI form and Inspect's classes."""

from __future__ import annotations

import json
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    Content,
    ContentReasoning,
    ContentText,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams

from harness.environment import ToolSpec
from harness.messages import Message, content_text

RAW = "message"
"""Key of an assistant message's metadata under which a provider leaves it as the server sent it."""


def to_chat(message: Message) -> ChatMessage:
    """One message for Inspect: its log, and providers that are not ours."""
    text = content_text(message.get("content"))
    match message["role"]:
        case "system":
            return ChatMessageSystem(content=text)
        case "user":
            return ChatMessageUser(content=text)
        case "tool":
            return ChatMessageTool(content=text, tool_call_id=message.get("tool_call_id"))
    content: str | list[Content] = text
    if reasoning := message.get("reasoning_content"):
        content = [ContentReasoning(reasoning=str(reasoning)), ContentText(text=text)]
    calls = [tool_call(call) for call in message.get("tool_calls") or ()]
    return ChatMessageAssistant(content=content, tool_calls=calls or None)


def tool_call(call: dict[str, Any]) -> ToolCall:
    """A call for Inspect; what it cannot hold (arguments that are no object) it is told as a parse error."""
    function, arguments, problem = call["function"], {}, None
    try:
        arguments = json.loads(function["arguments"])
    except (ValueError, TypeError, RecursionError) as error:
        problem = str(error)
    if not isinstance(arguments, dict):
        arguments, problem = {}, "arguments are no object"
    name = str(function.get("name") or "")
    return ToolCall(id=str(call.get("id", "")), function=name, arguments=arguments, parse_error=problem)


def from_output(output: ModelOutput) -> Message:
    """What the model said, in the episode's form; raw where the provider kept it."""
    if not output.choices:
        return {"role": "assistant", "content": ""}
    choice = output.choices[0]
    said = choice.message
    raw = (said.metadata or {}).get(RAW)
    message: Message = dict(raw) if raw is not None else _parsed(said)
    if choice.stop_reason == "max_tokens":
        message["finish_reason"] = "length"
    elif choice.stop_reason == "model_length":
        message["finish_reason"] = "context_full"
    return message


def _parsed(said: ChatMessageAssistant) -> Message:
    message: Message = {"role": "assistant", "content": said.text}
    reasoning = [part.reasoning for part in said.content if isinstance(part, ContentReasoning)]
    if reasoning:
        message["reasoning_content"] = "\n".join(reasoning)
    if said.tool_calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.function, "arguments": _arguments(call)}}
            for call in said.tool_calls
        ]
    return message


def _arguments(call: ToolCall) -> str:
    """The arguments as JSON. What Inspect could not parse becomes a text that is no JSON either, and says why."""
    return f"unparsable: {call.parse_error}" if call.parse_error else json.dumps(call.arguments, ensure_ascii=False)


def tool_info(tool: ToolSpec) -> ToolInfo:
    """A tool for Inspect: schema only, nothing that it could execute.

    Inspect's schema class keeps less than JSON schema; `checkpoint/` sends the tool as it is instead.
    """
    schema = tool.parameters
    parameters = ToolParams.model_validate(
        {
            "properties": schema.get("properties", {}),
            "required": schema.get("required", []),
            "additionalProperties": schema.get("additionalProperties", False) is True,
        }
    )
    return ToolInfo(name=tool.name, description=tool.description, parameters=parameters)
