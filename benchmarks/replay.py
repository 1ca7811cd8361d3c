"""Recorded trajectories, played again and judged: `envscaler replay` (DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from benchmarks.registry import Loaded, get, loaded
from harness.errors import DataError, SettingError, near_miss
from harness.messages import Message, content_text
from harness.rollout import Played, replay
from harness.trajectory import Recording, read_recordings


def replay_file(
    benchmark: str, file: str, parameters: dict[str, Any], *, compare: bool = False
) -> Iterator[dict[str, Any]]:
    """One line per trajectory, in input order. The whole file is checked before the first is played.

    Args:
        parameters: Of the task; `protocol` and `prompts` among them. A recording's own protocol counts where none is
            given.
        compare: Add `differences`: recorded tool messages that are not what the environment says now.
    Raises:
        DataError: If a record cannot be replayed, naming line and field.
        SettingError: If the benchmark or a parameter is unknown, or data are missing.
    """
    given = {**get(benchmark).replay_parameters, **parameters}
    rules, prompts = given.pop("protocol", None), given.pop("prompts", None)
    recordings = list(read_recordings(file))
    presets = get(benchmark).protocols
    if rules is not None and str(rules) not in presets:
        raise SettingError(f"{benchmark}: no protocol '{rules}'; {near_miss(rules, list(presets))}")

    def ready(recording: Recording) -> Loaded:
        name = rules or (recording.protocol if recording.protocol in presets else "paper")
        return loaded(benchmark, name, prompts, **given)

    for recording in recordings:
        if recording.sample_id not in ready(recording).by_id:
            known = near_miss(recording.sample_id, list(ready(recording).by_id)[:2000])
            problem = f"no sample '{recording.sample_id}' in {benchmark}; {known}"
            raise DataError(file, f"{recording.where}: sample_id", problem)
    for recording in recordings:
        on = ready(recording)
        sample = on.by_id[recording.sample_id]
        played = replay(sample.case(), on.rules(sample), recording)
        yield _line(played, on.benchmark.replay_keys, recording, compare)


def _line(played: Played, keys: tuple[str, ...], recording: Recording, compare: bool) -> dict[str, Any]:
    outcome = played.trajectory.outcome
    assert outcome is not None
    score = outcome.score
    parts = score.parts if score is not None else {}
    line: dict[str, Any] = {
        "sample_id": recording.sample_id,
        "score": score.value if score is not None else None,
        "outcome": outcome.ending.value,
        "stop_reason": outcome.stop_reason.value,
        "observations": [call.result.text for call in played.trajectory.calls],
        "state_hash": played.final_state.digest if played.final_state is not None else None,
        **{key: parts.get(key) for key in keys},
    }
    if outcome.fault is not None:
        line["fault"] = outcome.fault
    if compare:
        line["differences"] = list(_differences(played, recording))
    if recording.tag:
        line["tag"] = recording.tag
    return line


def _differences(played: Played, recording: Recording) -> Iterator[dict[str, Any]]:
    """Calls whose recorded answer is not the one of now, by their place among all answers."""
    answers = zip_longest(_answers(recording.messages), _answers(played.trajectory.messages))
    for index, (old, new) in enumerate(answers):
        if old != new:
            yield {"tool_message": index, "recorded": old, "observed": new}


def _answers(messages: Sequence[Message]) -> Iterator[str | None]:
    """What each call was told, in order: by its tool message or, where a protocol answers so, by a user message."""
    steps: list[list[Message]] = [[{}]]
    for message in messages:
        if message["role"] == "assistant":
            steps.append([])
        steps[-1].append(message)
    for said, *after in steps:
        calls = said.get("tool_calls")
        calls = calls if isinstance(calls, list) else []
        told = [message for message in after if message["role"] == "tool"]
        spoken = [message for message in after if message["role"] == "user"]
        ids = [str(call.get("id")) if isinstance(call, dict) else "" for call in calls]
        by_id = {str(message.get("tool_call_id")): message for message in told}
        if len(by_id) == len(told) and by_id.keys() <= set(ids) and len(set(ids)) == len(ids):
            rest = iter(spoken)
            answers = [by_id.get(call_id) or next(rest, None) for call_id in ids]
        else:
            # Without usable ids, by their order; those that answer no call are told of as well.
            answers = [*told, *spoken[: max(0, len(calls) - len(told))]]
            answers += [None] * (len(calls) - len(answers))
        yield from (None if answer is None else content_text(answer.get("content")) for answer in answers)
