"""Against recorded runs of the official code: every observation, end, reward, hash and changed entity."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from adapters.tau_bench import Scorer, TauBenchEnvironment, load_tasks, open_domain
from adapters.tau_bench.arithmetic import calculate
from harness.users import stops


@cache
def _records(real: Path, name: str) -> list[dict[str, Any]]:
    file = real.resolve().parent.parent / "oracles" / name
    if not file.exists():
        pytest.skip(f"{name} not found; the recorded runs lie in the folder 'oracles' beside ENVSCALER_DATA")
    with gzip.open(file) as lines:
        return [json.loads(line) for line in lines]


def _disagreements(record: dict[str, Any], scorer: Scorer) -> Iterator[str]:
    environment = TauBenchEnvironment(scorer.domain)
    said, done = [], False
    for number, (name, arguments, observation) in enumerate(record["steps"]):
        if name == "respond":
            said.append(arguments["content"])
            done = stops(observation)
            continue
        result = environment.call(name, arguments)
        done = result.ends
        if result.text != observation:
            yield f"{record['id']} step {number} {name}: {result.text!r} instead of {observation!r}"
    verdict = scorer.verdict(environment.session, said)
    found = {
        "done": done,
        "reward": verdict.reward if done else 0.0,
        "data_hash": verdict.data_hash,
        "changed": environment.state().decode(),
    }
    if done:
        found |= {"gt_data_hash": verdict.gt_data_hash, "outputs": verdict.outputs}
        found["r_actions"] = float(verdict.database_right)
        found["r_outputs"] = float(all(verdict.outputs.values()))
    for key, value in found.items():
        # As text: 5 and 5.0 are not the same here.
        if record.get(key) is not None and json.dumps(value, sort_keys=True) != json.dumps(record[key], sort_keys=True):
            yield f"{record['id']} {key}: {value!r} instead of {record[key]!r}"


@pytest.mark.parametrize(
    ("domain", "split", "count"),
    [("retail", "test", 1635), ("retail", "dev", 70), ("retail", "train", 1380), ("airline", "test", 528)],
)
def test_every_recorded_run_comes_out_the_same(real: Path, domain: str, split: str, count: int) -> None:
    opened = open_domain(domain, real)
    scorers = [Scorer(opened, task) for task in load_tasks(real, domain, split)]
    records = [r for r in _records(real, "tau_visible.jsonl.gz") if (r["domain"], r["split"]) == (domain, split)]
    assert len(records) == count
    assert [line for record in records for line in _disagreements(record, scorers[record["task"]])] == []


def test_every_recorded_calculation_comes_out_the_same(real: Path) -> None:
    records = _records(real, "tau_calculate.jsonl.gz")
    assert len(records) == 401
    assert [r for r in records if calculate(r["expression"]) != r["result"]] == []
