"""A trajectory that asks to be kept: its record (DESIGN section 6), and what filters need to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envscaler.scenarios import SETTINGS, Setting
from harness.errors import DataError
from harness.messages import Message, content_text, read
from harness.outcome import Ending, StopReason
from harness.users import stops

ROLES = ("system", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One trajectory of a scenario."""

    record: dict[str, Any]
    """The line that is written if it is kept."""
    setting: Setting
    env_id: str
    """Empty if nothing names it."""
    fault: str | None = None
    """What failed, if it was not the agent: such an episode was never scored."""

    @property
    def sample_id(self) -> str:
        """Id of the scenario, as it was played."""
        return str(self.record["sample_id"])

    @property
    def messages(self) -> list[Message]:
        """The conversation."""
        messages: list[Message] = self.record["messages"]
        return messages

    @property
    def steps(self) -> int:
        """Agent messages, the last one included: what the release counts as turns in both settings."""
        return sum(message["role"] == "assistant" for message in self.messages)

    @property
    def reward(self) -> float | None:
        """Share of the checks that passed; None if it was not scored."""
        score = (self.record.get("outcome") or {}).get("score")
        return None if score is None else float(score["value"])

    @property
    def stop_reason(self) -> str:
        """Why the episode ended; where the record does not say, what its last message says."""
        known = self.record.get("stop_reason")
        return str(known) if known else _stop_reason(self.messages, self.setting)


def _stop_reason(messages: list[Message], setting: Setting) -> str:
    last: Message = messages[-1] if messages else {"role": ""}
    if setting == "conversation":
        done = last["role"] == "user" and stops(content_text(last.get("content")))
        return (StopReason.USER_STOP if done else StopReason.RECORDING_ENDED).value
    done = last["role"] == "assistant" and not read(last).calls
    return (StopReason.AGENT_DONE if done else StopReason.RECORDING_ENDED).value


def candidate(record: Any, file: str, where: str) -> Candidate:
    """A record of a trajectory file of ours.

    Raises:
        DataError: Naming the field that is not what it should be. Also if the trajectory is of a published benchmark:
            who trains on its tasks can no longer be measured on them.
    """

    def wrong(field: str, problem: str) -> DataError:
        return DataError(file, f"{where}: {field}" if field else where, problem)

    if not isinstance(record, dict):
        raise wrong("", "must be a JSON object")
    if not isinstance(record.get("sample_id"), str) or not record["sample_id"]:
        raise wrong("sample_id", "must be a non-empty string")
    if record.get("benchmark") not in (None, "", "scenarios"):
        raise wrong(
            "benchmark", f"is '{record['benchmark']}'; only scenarios are collected, benchmarks are not trained on"
        )
    check_messages(record.get("messages"), wrong)
    if not isinstance(record.get("tools") or [], list):
        raise wrong("tools", "must be a list of tool schemas")
    if not isinstance(record.get("stop_reason", ""), str | None):
        raise wrong("stop_reason", "must be a string")
    outcome = record.get("outcome")
    if outcome is not None and not isinstance(outcome, dict):
        raise wrong("outcome", "must be an object")
    score = (outcome or {}).get("score")
    value = score.get("value") if isinstance(score, dict) else None
    if score is not None and (not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1):
        raise wrong("outcome.score.value", "must be a number from 0 to 1")
    setting = record.get("setting", setting_of(record))
    if setting not in SETTINGS:
        raise wrong("setting", f"must be one of {', '.join(SETTINGS)}")
    env_id = record.get("env_id", env_of(record["sample_id"]))
    if not isinstance(env_id, str):
        raise wrong("env_id", "must be a string")
    return Candidate({**record, "env_id": env_id, "setting": setting}, setting, env_id, fault_of(outcome))


def fault_of(outcome: Mapping[str, Any] | None) -> str | None:
    """What failed, by an outcome; None if nothing did, or nothing is known of it."""
    if not outcome or outcome.get("ending") in (None, Ending.SCORED.value, Ending.UNSCORED.value):
        return None
    return str(outcome.get("fault") or outcome["ending"])


def check_messages(messages: Any, wrong: Any) -> None:
    """Refuse what is no conversation.

    Args:
        wrong: Makes the error of a field and a problem.
    Raises:
        DataError: Naming the message.
    """
    if not isinstance(messages, list) or not messages:
        raise wrong("messages", "must be a list of chat messages, one at least")
    for index, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in ROLES:
            raise wrong(f"messages[{index}].role", f"must be one of {', '.join(ROLES)}")
        if not isinstance(message.get("tool_calls") or [], list):
            raise wrong(f"messages[{index}].tool_calls", "must be a list")


def setting_of(record: Mapping[str, Any]) -> str:
    """The setting of a record that does not name it: its id may, else who speaks does."""
    for setting in SETTINGS:
        if record["sample_id"].endswith(f"/{setting}"):
            return setting
    said = [message for message in record["messages"] if message["role"] == "user"]
    talks = (
        record.get("stop_reason") == StopReason.USER_STOP.value or stops(content_text(said[-1].get("content")))
        if said
        else False
    )
    return "conversation" if talks else "non_conversation"


def env_of(sample_id: str) -> str:
    """The environment of a scenario by its id, `{env_id}-task_{n}` in the release and in corpora of ours."""
    return sample_id.rpartition("-task_")[0]
