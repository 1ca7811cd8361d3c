"""Reference agents as model providers: `--model reference/oracle`, `noop`, `random`; users `scripted_user`, `human`.

`reference/recorded` is none of them: it answers from a file, whatever is asked.
"""

from __future__ import annotations

import json
from typing import Any

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from inspect_ai.util import input_screen

from harness.episode import AgentTurn, UserTurn
from harness.errors import SettingError, near_miss
from harness.inspect_bridge.convert import RAW, tool_call
from harness.inspect_bridge.playing import PLAYING, Playing
from harness.inspect_bridge.recorded import RecordedAnswers
from harness.messages import Message, content_text
from harness.reference import AGENTS, scripted_user

USER = "scripted_user"
HUMAN = "human"
RECORDED = "recorded"


class ReferenceAPI(ModelAPI):
    """Answers from the case in play; no network, no tokens.

    Raises:
        PrerequisiteError: If there is no reference agent of this name; Inspect prints it without a traceback.
    """

    episode_aware = True
    """Takes messages and tools from the episode in play, not from Inspect."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        known = [*AGENTS, USER, HUMAN, RECORDED]
        if model_name not in known:
            raise PrerequisiteError(f"no model 'reference/{model_name}'; {near_miss(model_name, known)}")
        self._recorded = RecordedAnswers(**model_args) if model_name == RECORDED else None

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        if self._recorded is not None:
            return await self._recorded.answer(input)
        playing = PLAYING.get()
        if playing is None:
            raise SettingError(f"reference/{self.model_name} plays only the tasks of envscaler")
        message = self._user(playing) if self.model_name in (USER, HUMAN) else self._agent(playing)
        return _output(self.model_name, message)

    def _agent(self, playing: Playing) -> Message:
        if not isinstance(playing.turn, AgentTurn):
            raise SettingError(f"reference/{self.model_name} is an agent; bind role user to reference/{USER}")
        agent = playing.reference.get(self.model_name)
        if agent is None:
            agent = AGENTS[self.model_name](playing.case, playing.run)
            playing.reference[self.model_name] = agent
        message: Message = agent(playing.turn.messages, playing.turn.tools)
        return message

    def _user(self, playing: Playing) -> Message:
        user = playing.episode.simulated_user
        if not isinstance(playing.turn, UserTurn) or user is None:
            raise SettingError(f"reference/{self.model_name} is a user; give an agent with --model")
        if self.model_name == HUMAN:
            return {"role": "assistant", "content": user.phrase(_ask(playing.turn.messages))}
        say = playing.reference.setdefault(USER, scripted_user(user))
        given = sum(1 for message in playing.turn.messages if message["role"] == "assistant")
        return {"role": "assistant", "content": say(given)}

    def max_connections(self) -> int:
        # Two conversations at one terminal would be none.
        return {HUMAN: 1, RECORDED: 10_000}.get(self.model_name, 100)


def _ask(messages: list[Message]) -> str:
    """What the person at the terminal answers; what they want is shown first."""
    with input_screen(header="You are the user") as console:
        if not any(message["role"] == "assistant" for message in messages):
            console.print(content_text(messages[0].get("content")))
        console.print(f"agent> {content_text(messages[-1].get('content'))}", markup=False)
        return console.input("you> ")


def _output(name: str, message: Message) -> ModelOutput:
    calls = [tool_call(call) for call in message.get("tool_calls") or ()]
    text = content_text(message.get("content"))
    said = ChatMessageAssistant(
        content=text, tool_calls=calls or None, metadata={RAW: json.loads(json.dumps(message))}, source="generate"
    )
    choice = ChatCompletionChoice(message=said, stop_reason="tool_calls" if calls else "stop")
    # Without a usage Inspect counts tokens with a tokenizer that it downloads.
    return ModelOutput(model=f"reference/{name}", choices=[choice], usage=ModelUsage())
