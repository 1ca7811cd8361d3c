"""Who plays the user in Conversation episodes: a script, or a model behind an OpenAI-compatible server."""

from __future__ import annotations

from typing import Any

from benchmarks.scenario_prompts import prompts
from harness.errors import SettingError
from harness.messages import Message
from harness.reference import scripted_user
from harness.rollout import UserModel
from harness.users import GoalUser
from training.config import RlConfig

TEMPERATURE = 0.7
"""Of the user in the paper's scenarios."""
RETRIES = 10


def user_model(config: RlConfig) -> UserModel | None:
    """The user of a run; None where none is named.

    Raises:
        SettingError: If a model is named and nothing says how to reach it.
    """
    name = config.rollouts.user
    if not name:
        return None
    return scripted(config.tasks.prompts) if name == "scripted" else served(name, config.rollouts.user_url)


def served(model: str, url: str) -> UserModel:
    """A model behind a server; the key comes from the environment, as OpenAI's client reads it."""
    from openai import OpenAI, OpenAIError

    try:
        client = OpenAI(base_url=url, api_key="none", max_retries=RETRIES) if url else OpenAI(max_retries=RETRIES)
    except OpenAIError as error:
        raise SettingError(f"rollouts.user={model}: {error}") from error

    def user(messages: list[Message]) -> str:
        sent: Any = messages
        answer = client.chat.completions.create(model=model, messages=sent, temperature=TEMPERATURE)
        return answer.choices[0].message.content or ""

    return user


def scripted(source: str) -> UserModel:
    """A user without a model: reveals its goal in parts, then stops. For checks and tests, not for training.

    Args:
        source: Whose prompts the user is given; the goal stands in them.
    """
    before, _, after = prompts(source).user.partition("{task}")

    def user(messages: list[Message]) -> str:
        goal = str(messages[0]["content"]).removeprefix(before).removesuffix(after)
        script = scripted_user(GoalUser(goal=goal, prompt="", opener=""))
        return script(sum(message["role"] == "assistant" for message in messages))

    return user
