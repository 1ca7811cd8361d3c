"""What agent and user are told in synthesized scenarios: our own words, or the release's, loaded from its data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import msgspec

from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import Setting
from harness.artifacts import find
from harness.errors import DataError, SettingError
from harness.files import read_bytes

Source = Literal["own", "release"]

AGENT_PREFIX = "[Agent] "
"""Marks the agent's words in the simulated user's eyes (the release)."""
OPENER = "Hi! How can I help you today?"
"""What the agent is taken to have said first (the release)."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """The texts of one source."""

    agent: dict[Setting, str]
    heading: str
    """The sentence before the environment's introduction."""
    user: str
    """The simulated user's system prompt, with `{task}` where the goal stands."""
    now: str = ""
    """The sentence that tells the time, with `{now}` where it stands; empty if it is not told (the release)."""

    def system(self, setting: Setting, environment: EnvironmentRecord, clock: str | None = None) -> str:
        """The agent's system prompt: instructions, the time, the heading, the introduction.

        Args:
            clock: The scenario's own time, ISO 8601; None if it has none, and none is told.
        """
        told = f"\n{self.now.replace('{now}', spoken(clock))}" if self.now and clock else ""
        return f"{self.agent[setting]}{told}\n\n{self.heading}\n{introduction(environment)}"

    def goal(self, task: str) -> str:
        """The simulated user's system prompt for a task."""
        # Not str.format: a task may hold braces.
        return self.user.replace("{task}", task)


def spoken(clock: str) -> str:
    """A time as an agent is told it: weekday, date, hour and minute."""
    return f"{datetime.fromisoformat(clock):%A, %Y-%m-%d, %H:%M}"


def introduction(environment: EnvironmentRecord) -> str:
    """The environment's documentation in the release's layout (docs of the release, section 3)."""
    rules = "\n".join(f"- {rule}" for rule in environment.rules)
    return (
        f"# Environment Information\n\n## Brief Introduction:  \n{environment.description}\n\n"
        f"## Environment Rules / Constraints:  \n{rules}"
    )


OWN = Prompts(
    agent={
        "non_conversation": (
            "You work in a software environment that you can reach only through the tools below. You are given one "
            "task; nobody will answer questions about it.\n"
            "- Take one step at a time: call exactly one tool, read its result, then decide on the next call.\n"
            "- Look things up before you change them. Never guess an identifier or a value that a tool can tell you.\n"
            "- Do all that the task asks and nothing beyond it. If a call is refused, read why and adapt.\n"
            "- When everything is done, answer with the two words Task Completed and make no further call. Any answer "
            "without a tool call ends your work.\n"
        ),
        "conversation": (
            "You help a user in a software environment that you can reach only through the tools below.\n"
            "- In each step either call exactly one tool or write to the user; never both at once.\n"
            "- Look things up with the tools before you change anything or ask. Ask the user only for what no tool can "
            "tell you.\n"
            "- Do all that the user asks and nothing beyond it. If a call is refused, read why and adapt, or say so.\n"
            "- When a request is done, tell the user what you did and ask whether there is anything else. The user "
            "ends the conversation, not you.\n"
        ),
    },
    now="It is {now}.\n",
    heading="This is the environment you work in:",
    user=(
        "You play a person who wants an assistant to get something done. You are not the assistant, and you cannot use "
        "any tools yourself.\n\nWhat you want:\n{task}\n\n"
        "How you talk:\n"
        "- Bring up one part of what you want at a time, in the order in which it stands above, and go on to the next "
        "part when the assistant has dealt with the last one or asks what else there is.\n"
        "- Answer the assistant's questions from the text above. Copy names, numbers, dates and other exact values "
        "from it letter by letter. Where it says nothing, say that you have no preference.\n"
        "- Add no wish, fact or value that is not in the text, and never recite the text as a whole.\n"
        "- One or two natural sentences at a time.\n"
        "- When every part has been dealt with, or the assistant has made clear that the rest cannot be done, write "
        "###STOP### as your reply and nothing else. Before that, never write it.\n\n"
        "Answer in exactly this form:\n"
        "# Thought:\n<what you consider; the assistant will not see it>\n"
        "# Reply:\n<what you say to the assistant>"
    ),
)


def prompts(source: str) -> Prompts:
    """The prompts of a source.

    Raises:
        SettingError: If there is no such source.
        MissingData: If the release's prompts are not on this machine.
        DataError: If their file lacks a text.
    """
    if source == "own":
        return OWN
    if source != "release":
        raise SettingError(f"prompts={source}: unknown; one of own, release")
    path = find("envscaler_release_sample") / "prompts.json"
    try:
        data = msgspec.json.decode(read_bytes(path))
        return Prompts(
            agent={
                "non_conversation": data["agent"]["non_conversational_system_prompt"],
                "conversation": data["agent"]["conversational_system_prompt"],
            },
            heading=data["environment_introduction_heading"],
            user=data["user_simulator"]["user_system_prompt"],
        )
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        raise DataError(path, "", f"is not the release's prompt file ({error!r})") from error
