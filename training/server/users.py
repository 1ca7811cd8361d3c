"""Who answers user turns on the server's side: the scripted user, or any model of Inspect."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Protocol

from harness.episode import Episode, UserTurn
from harness.errors import EnvScalerError, SettingError
from harness.protocol import Sampling
from harness.reference import scripted_user

SCRIPTED = "reference/scripted_user"


class UserFailed(EnvScalerError):
    """The user model did not answer; the episode still waits for it."""


class UserModel(Protocol):
    """Plays the user in every episode."""

    async def reply(self, episode: Episode, turn: UserTurn) -> str:
        """The raw reply to the user turn that the episode waits in."""
        ...


class ScriptedUser:
    """Reveals the goal in parts and stops, without a model."""

    def __init__(self) -> None:
        self._scripts: weakref.WeakKeyDictionary[Episode, tuple[Callable[[int], str], list[int]]]
        self._scripts = weakref.WeakKeyDictionary()

    async def reply(self, episode: Episode, turn: UserTurn) -> str:
        assert episode.simulated_user is not None
        script, given = self._scripts.setdefault(episode, (scripted_user(episode.simulated_user), [0]))
        given[0] += 1
        return script(given[0] - 1)


class InspectUser:
    """A model by its Inspect name, with the protocol's sampling.

    Raises:
        SettingError: If it cannot be had.
    """

    def __init__(self, name: str, sampling: Sampling) -> None:
        from inspect_ai._util.error import PrerequisiteError
        from inspect_ai.model import get_model

        from harness.inspect_bridge.solver import generate_config

        try:
            self._model = get_model(name, config=generate_config(sampling))
        except (PrerequisiteError, ValueError, ImportError) as error:
            raise SettingError(f"user model {name}: {getattr(error, 'message', error)}") from error

    async def reply(self, episode: Episode, turn: UserTurn) -> str:
        from harness.inspect_bridge.convert import to_chat

        output = await self._model.generate([to_chat(message) for message in turn.messages])
        return output.completion


def user_model(name: str, sampling: Sampling) -> UserModel:
    """The user of a name: `reference/scripted_user`, or a model as for inspect eval.

    Raises:
        SettingError: If it cannot be had.
    """
    return ScriptedUser() if name == SCRIPTED else InspectUser(name, sampling)
