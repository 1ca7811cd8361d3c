"""`checkpoint/`: a local checkpoint or a served one, with exactly the wire that chat templates were trained on.

Inspect's OpenAI-compatible provider adds a `strict` key to each tool and a newline where reasoning was removed, and
both are rendered into the prompt (docs of Inspect, sections 0 and 2). Here the episode's own messages and tools go out
as they stand, and the reply is kept as it came. Goes when inspect-ai's provider passes the golden wire test.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import ChatCompletionChoice, ChatMessage, GenerateConfig, ModelOutput
from inspect_ai.model._model_call import ModelCall
from inspect_ai.model._providers.openai_compatible import OpenAICompatibleAPI
from inspect_ai.tool import ToolChoice, ToolInfo
from openai.types.chat import ChatCompletion

from harness.episode import AgentTurn
from harness.errors import SettingError
from harness.inspect_bridge.convert import RAW
from harness.inspect_bridge.playing import PLAYING
from harness.inspect_bridge.serving import Server, served_model
from harness.messages import Message


class CheckpointAPI(OpenAICompatibleAPI):
    """A checkpoint behind an OpenAI-compatible server.

    `checkpoint/PATH` serves the folder itself: with vLLM where a GPU and vLLM are there, else with `transformers serve`
    on CPU. `checkpoint/http://HOST:PORT/v1` uses a running server; so does `checkpoint/NAME` with a base URL.

    Args:
        model: Name under which the server knows the model; default is the first one it lists.
        thinking: Sent to the chat template as `enable_thinking`; None leaves the template's default.
        engine: `auto`, `vllm` or `transformers`, for a folder.
        tool_call_parser: vLLM's, for a folder: the form in which this family writes its calls.
        reasoning_parser: vLLM's, likewise; empty for models without reasoning.
        server_args: Further flags of the server, as one text.
    Raises:
        PrerequisiteError: If the name is neither a folder with a checkpoint nor a URL, or an option is unknown;
            Inspect prints it without a traceback.
    """

    episode_aware = True
    """Takes messages and tools from the episode in play, not from Inspect."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        model: str | None = None,
        thinking: bool | None = True,
        engine: str = "auto",
        tool_call_parser: str = "hermes",
        reasoning_parser: str = "qwen3",
        server_args: str = "",
        **unknown: Any,
    ) -> None:
        if unknown:
            raise PrerequisiteError(f"checkpoint/: no option '{next(iter(unknown))}'")
        self._thinking = thinking
        self._server: Server | None = None
        self._served = model
        if base_url is None and model_name.startswith(("http://", "https://")):
            base_url = model_name
        elif base_url is None:
            try:
                self._server = Server(Path(model_name), engine, tool_call_parser, reasoning_parser, server_args)
            except SettingError as error:
                raise PrerequisiteError(str(error)) from error
            base_url = self._server.url
            self._served = model or self._server.served_name
        else:
            self._served = model or model_name
        super().__init__(
            model_name=model_name,
            base_url=base_url,
            # Local servers ask for no key, the client library insists on one.
            api_key=api_key or "none",
            config=config or GenerateConfig(),
            service="checkpoint",
        )

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput | tuple[ModelOutput | Exception, ModelCall]:
        if self._server is not None:
            await self._server.ready()
        if self._served is None:
            self._served = await served_model(str(self.base_url))
        if (turn := _agent_turn()) is not None and turn.tools:
            # Stands for the episode's tools, so that the request has some; `tools_to_openai` puts them in.
            tools, tool_choice = [ToolInfo(name="episode", description="")], "auto"
        return await super().generate(input, tools, tool_choice, config)

    def service_model_name(self) -> str:
        return self._served or self.model_name

    def completion_params(self, config: GenerateConfig, tools: bool) -> dict[str, Any]:
        params = super().completion_params(config, tools)
        if self._thinking is not None:
            extra = dict(params.get("extra_body") or {})
            template = {"enable_thinking": self._thinking, **extra.get("chat_template_kwargs", {})}
            params["extra_body"] = {**extra, "chat_template_kwargs": template}
        return params

    def tools_to_openai(self, tools: list[ToolInfo]) -> list[Any]:
        if (turn := _agent_turn()) is not None:
            return [tool.openai() for tool in turn.tools]
        converted: list[Any] = super().tools_to_openai(tools)
        for tool in converted:
            tool["function"].pop("strict", None)
        return converted

    async def messages_to_openai(self, input: list[ChatMessage]) -> list[Any]:
        if (turn := _agent_turn()) is not None:
            return list(turn.messages)
        converted: list[Any] = await super().messages_to_openai(input)
        for message in converted:
            if message["role"] == "assistant" and isinstance(message.get("content"), str):
                message["content"] = message["content"].removeprefix("\n")
        return converted

    def chat_choices_from_completion(
        self, completion: ChatCompletion, tools: list[ToolInfo]
    ) -> list[ChatCompletionChoice]:
        choices: list[ChatCompletionChoice] = super().chat_choices_from_completion(completion, tools)
        # Inspect sorts choices by index; the raw ones are matched the same way.
        for choice, raw in zip(choices, sorted(completion.choices, key=lambda choice: choice.index), strict=True):
            choice.message.metadata = {**(choice.message.metadata or {}), RAW: _raw(raw.message)}
        return choices

    def canonical_name(self) -> str:
        return Path(self.model_name).name

    async def aclose(self) -> None:
        await super().aclose()
        if self._server is not None:
            self._server.stop()


def _agent_turn() -> AgentTurn | None:
    """The turn being answered, if it is the agent's: a simulated user may be a checkpoint as well."""
    playing = PLAYING.get()
    turn = playing.turn if playing is not None else None
    return turn if isinstance(turn, AgentTurn) else None


def _raw(message: Any) -> Message:
    """The assistant message as the server sent it, in the trajectory's keys."""
    sent = message.model_dump(exclude_none=True)
    kept: Message = {"role": "assistant", "content": sent.get("content") or ""}
    # vLLM calls it `reasoning` since 0.11, others `reasoning_content`.
    if reasoning := sent.get("reasoning_content") or sent.get("reasoning"):
        kept["reasoning_content"] = reasoning
    if sent.get("tool_calls"):
        kept["tool_calls"] = [
            {"id": call.get("id") or "", "type": "function", "function": call.get("function") or {}}
            for call in sent["tool_calls"]
        ]
    return kept
