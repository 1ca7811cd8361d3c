"""The solver's loop: Inspect generates, the episode decides. The live environment never leaves it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, assert_never

import anyio.to_thread
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, get_model
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolInfo
from inspect_ai.util import store

from harness.case import Case
from harness.environment import ToolSpec
from harness.episode import AgentTurn, Episode, Finished, Need, UserTurn
from harness.errors import EnvironmentFault
from harness.inspect_bridge.convert import from_output, to_chat, tool_info
from harness.inspect_bridge.playing import PLAYING, Playing
from harness.messages import Message
from harness.outcome import Ending
from harness.protocol import Protocol, Sampling
from harness.rollout import read_out

STORE_KEY = "envscaler"
"""Where a sample's log holds its trajectory, outcome and final state hash."""

T = TypeVar("T")


class ModelFailure(Exception):
    """The model server failed beyond Inspect's retries; the sample is an error, not a score."""


def generate_config(sampling: Sampling) -> GenerateConfig:
    """A protocol's sampling as Inspect's configuration; what it leaves open stays open."""
    return GenerateConfig(temperature=sampling.temperature, top_p=sampling.top_p, max_tokens=sampling.max_tokens)


async def solve(state: TaskState, case: Case, protocol: Protocol, benchmark: str) -> TaskState:
    """Play one sample and leave its record in the store.

    Raises:
        EnvironmentFault: After recording it: Inspect counts the sample as an error, never as a 0.
        Exception: Of the model provider, after recording it, likewise.
    """
    model = get_model()
    episode = Episode(case, protocol, run=state.epoch, model=str(model))
    episode.trajectory.benchmark = benchmark
    playing = Playing(case, episode, state.epoch)
    token = PLAYING.set(playing)
    loop = _Loop(playing, model, protocol)
    try:
        await loop.run()
    finally:
        PLAYING.reset(token)
        await loop.record(state)
    outcome = episode.trajectory.outcome
    if outcome is not None and outcome.ending is Ending.ENVIRONMENT_FAULT:
        kind, _, detail = (outcome.fault or "").partition(": ")
        raise EnvironmentFault(kind, detail)
    state.completed = True
    return state


class _Loop:
    """One episode's conversation with the models."""

    def __init__(self, playing: Playing, model: Model, protocol: Protocol) -> None:
        self.playing = playing
        self.episode = playing.episode
        self.model = model
        self.protocol = protocol
        self.chat: list[ChatMessage] = []
        self.output: ModelOutput | None = None
        self.tools: list[ToolInfo] = []
        self._offered: tuple[ToolSpec, ...] = ()
        # Inspect copies the tools of each call three times, a third of its cost; our own providers know the turn.
        self._tells_tools = not getattr(model.api, "episode_aware", False)

    async def run(self) -> None:
        need = await self._do(self.episode.start)
        while not isinstance(need, Finished):
            self.playing.turn = need
            try:
                match need:
                    case AgentTurn():
                        message = await self._agent(need)
                        need = await self._do(partial(self.episode.agent, message))
                    case UserTurn():
                        text = await self._user(need)
                        need = await self._do(partial(self.episode.user, text))
                    case _:
                        assert_never(need)
            except Exception as error:
                if self.playing.turn is need:
                    # The move was not made: it is the model's side that failed, and the record says so.
                    self.episode.fail(f"{type(error).__name__}: {error}")
                raise

    async def _do(self, move: Callable[[], Need]) -> Need:
        """Make a move; in a thread where the environment is another process and may take its time."""
        return move() if self.playing.case.level == "trusted" else await anyio.to_thread.run_sync(move)

    async def _agent(self, turn: AgentTurn) -> Message:
        self.chat += [to_chat(message) for message in turn.messages[len(self.chat) :]]
        if self._tells_tools and turn.tools is not self._offered:
            self._offered, self.tools = tuple(turn.tools), [tool_info(tool) for tool in turn.tools]
        self.output = await self.model.generate(self.chat, tools=self.tools, config=self._config())
        return from_output(self.output)

    def _config(self) -> GenerateConfig:
        """One seed would make all runs alike; a given one moves on with the run (docs of Inspect, fact 8)."""
        seed = self.model.config.seed
        return GenerateConfig(seed=None if seed is None else seed + self.playing.run - 1)

    async def _user(self, turn: UserTurn) -> str:
        model = get_model(role="user", required=True, config=generate_config(self.protocol.user))
        output = await model.generate([to_chat(message) for message in turn.messages])
        return output.completion

    async def record(self, state: TaskState) -> None:
        """Put the record into the log and free the environment."""
        played = await anyio.to_thread.run_sync(partial(read_out, self.episode))
        trajectory = played.trajectory
        state.output = self.output or state.output
        state.messages = [to_chat(message) for message in trajectory.messages]
        record: dict[str, Any] = trajectory.record()
        record["state_hash"] = played.final_state.digest if played.final_state is not None else None
        store().set(STORE_KEY, record)
        if trajectory.outcome is not None:
            transcript().info(trajectory.outcome.record(), source="outcome")
