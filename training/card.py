"""The run card: what a run was made of and how it went, written as it goes (card.json, card.md)."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import math
import platform
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.errors import DataError, SettingError
from harness.files import read_bytes, replacing
from training.config import Config, record

PACKAGES = ("envscaler", "torch", "transformers", "trl", "accelerate", "datasets", "peft", "inspect-ai", "vllm")
FREE_TO_CHANGE = ("output", "scoring", "save_every", "steps", "epochs")
"""What may differ when a run is resumed: it changes no step that was taken."""

DATA_FACTS = ("data", "tasks")
"""Facts that say what a run learns from."""


class Card:
    """The card of one run.

    Args:
        folder: The run's.
        kind: `sft` or `rl`.
        config: Of the run.
        writes: Whether this process is the one that writes it.
    """

    def __init__(self, folder: Path, kind: str, config: Config, writes: bool = True) -> None:
        self.folder = folder
        self.writes = writes
        self.content: dict[str, Any] = {
            "kind": kind,
            "config": json.loads(json.dumps(record(config))),
            "versions": versions(),
            "command": sys.argv[1:],
            "facts": {},
            "steps": [],
            "totals": {},
            "warnings": {},
            "checkpoints": [],
            "scores": [],
            "state": "started",
        }

    def resumed(self, checkpoint: Path) -> None:
        """Go on with the card in the folder, as it was at a checkpoint. The facts of the data have to be noted before.

        Raises:
            SettingError: If the run was of another kind, or had another configuration or other data.
        """
        before, now = read_card(self.folder), self.content
        if before["kind"] != now["kind"]:
            raise SettingError(f"{self.folder}: holds a run of {before['kind']}, which {now['kind']} cannot resume")
        for key, value in now["config"].items():
            if key not in FREE_TO_CHANGE and before["config"].get(key) != value:
                raise SettingError(f"{self.folder}: was started with another {key}; a resumed run cannot change it")
        for fact in DATA_FACTS:
            if before["facts"].get(fact) != now["facts"].get(fact):
                raise SettingError(f"{self.folder}: its {fact} changed since it was started; start anew")
        step = int(checkpoint.name.rpartition("-")[2])
        now["steps"] = [entry for entry in before["steps"] if entry["step"] <= step]
        warned = {text: [at for at in steps if at <= step] for text, steps in before.get("warnings", {}).items()}
        now["warnings"] = {text: steps for text, steps in warned.items() if steps}
        now["checkpoints"] = list(dict.fromkeys([*before["checkpoints"], str(checkpoint)]))
        now["scores"] = before["scores"]
        now["facts"]["resumed_at"] = [*before["facts"].get("resumed_at", []), step]

    def fact(self, name: str, value: Any) -> None:
        """Note something that holds for the whole run."""
        self.content["facts"][name] = value

    def step(self, number: int, figures: dict[str, Any]) -> None:
        """Note the figures of a step, and write the card."""
        kept = {key: _plain(value) for key, value in figures.items() if isinstance(value, int | float)}
        steps = self.content["steps"]
        if steps and steps[-1]["step"] == number:
            steps[-1].update(kept)
        else:
            steps.append({"step": number, **kept})
        self.content["totals"] = {
            name: sum(entry.get(name) or 0 for entry in steps) for name in _TOTALS[self.content["kind"]]
        }
        self.write()

    def warn(self, text: str, step: int) -> bool:
        """Note a warning for the next writing; returns whether it is the first one of its kind."""
        steps = self.content["warnings"].setdefault(text, [])
        steps.append(step)
        return len(steps) == 1

    def checkpoint(self, path: Path) -> None:
        """Note a saved checkpoint, and write the card."""
        if str(path) not in self.content["checkpoints"]:
            self.content["checkpoints"].append(str(path))
        self.write()

    def write(self, state: str | None = None) -> None:
        """Write both files."""
        if state is not None:
            self.content["state"] = state
        if not self.writes:
            return
        with replacing(self.folder / "card.json") as file:
            file.write(json.dumps(self.content, indent=1, ensure_ascii=False).encode() + b"\n")
        with replacing(self.folder / "card.md") as file:
            file.write(page(self.content).encode())


def _plain(value: float) -> float | int | None:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_card(folder: Path) -> dict[str, Any]:
    """The card in a run's folder.

    Raises:
        DataError: If there is none, or it is no card.
    """
    try:
        card = json.loads(read_bytes(folder / "card.json"))
    except ValueError as error:
        raise DataError(folder / "card.json", "", f"is not JSON ({error})") from error
    if not isinstance(card, dict) or not {"kind", "config", "facts", "steps"} <= card.keys():
        raise DataError(folder / "card.json", "", "is no run card")
    return card


def versions() -> dict[str, str]:
    """Versions of everything that moves a number."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def digest(files: Iterable[str | Path]) -> dict[str, str]:
    """SHA-256 of files by name."""
    return {str(file): hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files}


_CURVES = {
    "sft": "loss learning_rate grad_norm",
    "rl": "reward success kl_to_start entropy completions/mean_length truncated faults time/step environment_share",
}
_TOTALS = {
    "sft": (),
    "rl": (
        *("episodes", "faults", "truncated", "skipped_updates"),
        *("time/generation", "time/environment", "time/step"),
    ),
}
_MOST_LINES = 40


def page(content: dict[str, Any]) -> str:
    """The card for people, as Markdown."""
    lines = [f"# {content['kind'].upper()} run, {content['state']}", "", "## Facts", ""]
    lines += [f"- {name}: {_told(value)}" for name, value in content["facts"].items()]
    lines += ["", "## Curve", "", *_curve(content), "", "## Totals", ""]
    lines += [f"- {name}: {_told(value)}" for name, value in content["totals"].items()] or ["- none yet"]
    if content["warnings"]:
        lines += ["", "## Warnings", ""]
        lines += [f"- {text} (steps: {len(at)}, the first {at[0]})" for text, at in content["warnings"].items()]
    lines += ["", "## Checkpoints", "", *(f"- {path}" for path in content["checkpoints"])]
    if content["scores"]:
        lines += ["", "## Scores", ""]
        lines += [f"- {_told(score)}" for score in content["scores"]]
    lines += ["", "## Configuration", "", "```json", json.dumps(content["config"], indent=1), "```", ""]
    lines += ["## Versions", "", ", ".join(f"{name} {version}" for name, version in content["versions"].items()), ""]
    return "\n".join(lines)


def _curve(content: dict[str, Any]) -> list[str]:
    steps = content["steps"]
    known = [name for name in _CURVES[content["kind"]].split() if any(name in entry for entry in steps)]
    if not known:
        return ["Nothing yet."]
    every = -(-len(steps) // _MOST_LINES)
    chosen = [entry for index, entry in enumerate(steps) if index % every == 0 or index == len(steps) - 1]
    rows = [f"| {entry['step']} | " + " | ".join(_told(entry.get(name)) for name in known) + " |" for entry in chosen]
    return ["| step | " + " | ".join(known) + " |", "|" + "---|" * (len(known) + 1), *rows]


def _told(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
