"""What the server has done, in the text form that Prometheus reads."""

from __future__ import annotations

from collections.abc import Mapping

from harness.outcome import Ending
from training.server.sessions import Sessions

_FAULT = "fault "


def exposition(sessions: Sessions) -> str:
    """The metrics, one line a value; counters grow from the server's start."""
    counts = sessions.counts
    lines = _metric("episodes_live", "gauge", "Episodes that hold an environment.", {"": sessions.live})
    lines += _metric("episodes_kept", "gauge", "Episodes that can be asked for.", {"": sessions.kept})
    for name, meaning in (
        ("resets", "Episodes started."),
        ("steps", "Moves made."),
        ("repeated", "Moves asked for again and answered from memory."),
        ("refused", "Episodes refused because the server was full."),
        ("reaped", "Episodes closed because nobody spoke to them."),
    ):
        lines += _metric(f"{name}_total", "counter", meaning, {"": counts[name]})
    endings = {f'{{ending="{ending.value}"}}': counts[ending.value] for ending in Ending}
    lines += _metric("episodes_total", "counter", "Episodes that are over, by how they ended.", endings)
    faults = {
        f'{{kind="{name.removeprefix(_FAULT)}"}}': number
        for name, number in sorted(counts.items())
        if name.startswith(_FAULT)
    }
    lines += _metric("faults_total", "counter", "Environment faults by kind.", faults)
    seconds = {"": round(sessions.move_seconds, 6)}
    lines += _metric("move_seconds_total", "counter", "Time spent in environments and checks.", seconds)
    return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, meaning: str, values: Mapping[str, float]) -> list[str]:
    name = f"envscaler_{name}"
    head = [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
    return head + [f"{name}{labels} {value}" for labels, value in values.items()]
