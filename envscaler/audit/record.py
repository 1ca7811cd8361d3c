"""The figures of an audit beside what they are about: `audit` of a scenario, `quality` of an environment."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomli_w

from envscaler.audit.card import ScenarioCard, by_environment
from envscaler.audit.thresholds import Thresholds
from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import Corpus, Scenario
from envscaler.scenarios.records import read_own_scenario, write_own_scenario
from harness.errors import DataError
from harness.files import read_bytes, replacing


def figures(card: ScenarioCard) -> dict[str, Any]:
    """What is kept of a card; `of` tells which scenario it was."""
    return {
        "of": card.of,
        "oracle": card.oracle,
        "floor": card.floor,
        "random": round(sum(card.random) / len(card.random), 4) if card.random else None,
        "mutants": card.mutants,
        "kill": None if card.kill is None else round(card.kill, 4),
        "false_fails": card.false_fails,
        "deterministic": card.deterministic,
    }


def write(corpus: Corpus, cards: Sequence[ScenarioCard], gate: Thresholds) -> list[Path]:
    """Write the figures of audited scenarios into the files of an unpacked corpus.

    Returns:
        The files written.
    Raises:
        DataError: If a scenario is not in a file of its own, or that file is not what was audited any more.
    """
    pending: list[tuple[Path, bytes]] = []
    for card in cards:
        if not card.fault:
            scenario = corpus.scenarios[card.task_id]
            changed = replace(scenario, audit=figures(card))
            text = json.dumps(write_own_scenario(changed), ensure_ascii=False, indent=1) + "\n"
            pending.append((_own_file(scenario), text.encode("utf-8", "surrogatepass")))
    for summary in by_environment([card for card in cards if not card.fault], gate):
        environment = corpus.environments[summary.name]
        quality = {
            "scenarios": summary.scenarios,
            "passed": summary.passed,
            "checks": summary.checks,
            "floor": round(summary.floor, 4),
            "random": round(summary.random, 4),
            "mutants": summary.mutants,
            "kill": round(summary.kill or 0.0, 4),
            "false_fails": summary.false_fails,
        }
        pending.append(_toml(environment, quality))
    # All of them are made before the first is written.
    for path, data in pending:
        with replacing(path) as file:
            file.write(data)
    return [path for path, _ in pending]


def _own_file(scenario: Scenario) -> Path:
    path = Path(scenario.file)
    if path.parent.name != "scenarios" or path.stem != scenario.task_id:
        raise DataError(path, scenario.task_id, "figures are written into unpacked corpora only")
    now = read_own_scenario(str(path), json.loads(read_bytes(path)))
    if replace(now, audit={}) != replace(scenario, audit={}):
        raise DataError(path, "", "was changed while it was audited; audit it again")
    return path


def _toml(environment: EnvironmentRecord, quality: Mapping[str, Any]) -> tuple[Path, bytes]:
    path = Path(environment.file).with_name("environment.toml")
    table = tomllib.loads(read_bytes(path).decode())
    table["quality"] = {**table.get("quality", {}), "audit": dict(quality)}
    return path, tomli_w.dumps(table, multiline_strings=False).encode()
