"""`reference/recorded`: answers from a recording, by what is asked; no network."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ModelOutput,
    ModelUsage,
    StopReason,
)

from harness.errors import DataError
from harness.recordings import Recording, prompt_key

_STOPS: dict[str, StopReason] = {"stop": "stop", "length": "max_tokens", "refused": "content_filter"}


class NotRecorded(RuntimeError):
    """A conversation that the recording does not hold."""


class RecordedAnswers:
    """What `reference/recorded` answers with.

    Args:
        recording: File of recorded answers.
        calls: File to which the name of each conversation is appended when it is asked, for counting.
        seconds: How long an answer takes.
    Raises:
        PrerequisiteError: If the recording is missing or broken.
    """

    def __init__(self, recording: Any = None, calls: Any = None, seconds: Any = 0.0) -> None:
        if recording is None:
            raise PrerequisiteError("model 'reference/recorded' needs the file of its answers: -M recording=FILE")
        try:
            self._recording = Recording.load(str(recording))
        except DataError as error:
            raise PrerequisiteError(f"model 'reference/recorded': {error}") from error
        self._calls = None if calls is None else os.open(str(calls), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._seconds = float(seconds)

    async def answer(self, messages: list[ChatMessage]) -> ModelOutput:
        """The next recorded answer.

        Raises:
            NotRecorded: If there is none.
            RuntimeError: If the recording says that the server failed.
        """
        prompt = prompt_key((message.role, message.text) for message in messages)
        if self._calls is not None:
            os.write(self._calls, f"{prompt}\n".encode())
        if self._seconds:
            await asyncio.sleep(self._seconds)
        line = self._recording.next(prompt)
        if line is None:
            raise NotRecorded(f"no answer is recorded for conversation {prompt}")
        if line.answer is None:
            raise RuntimeError(line.error)
        said = line.answer
        choice = ChatCompletionChoice(
            message=ChatMessageAssistant(content=said.text, source="generate"), stop_reason=_STOPS[said.stop]
        )
        usage = ModelUsage(
            input_tokens=said.tokens_in,
            output_tokens=said.tokens_out,
            total_tokens=said.tokens_in + said.tokens_out,
            total_cost=said.usd or None,
        )
        return ModelOutput(model="reference/recorded", choices=[choice], usage=usage)
