"""Recorded trajectories, played again and judged: `envscaler replay` (DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.registry import Loaded, get, loaded
from harness.errors import DataError, SettingError, near_miss
from harness.messages import content_text
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
    given = dict(parameters)
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
    recorded = [content_text(m.get("content")) for m in recording.messages if m["role"] == "tool"]
    observed = [content_text(m.get("content")) for m in played.trajectory.messages if m["role"] == "tool"]
    for index in range(max(len(recorded), len(observed))):
        old = recorded[index] if index < len(recorded) else None
        new = observed[index] if index < len(observed) else None
        if old != new:
            yield {"tool_message": index, "recorded": old, "observed": new}
