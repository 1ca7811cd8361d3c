"""Tau-Bench beside a plain implementation that loads, copies and hashes the whole database (DESIGN section 12)."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from adapters.tau_bench import Scorer, TauBenchEnvironment, load_tasks, open_domain
from adapters.tau_bench.database import hashable
from adapters.tau_bench.domain import TABLES, Domain
from adapters.tau_bench.environment import ENDING_TOOLS
from adapters.tau_bench.tasks import Task
from harness.artifacts import find
from tests.performance.measure import Row, at_least, at_most, cpu_seconds

REWARD_MS = {"retail": 15.0, "airline": 60.0}
LIVE = 512


def measure() -> list[Row]:
    """Reset, reward and memory, and how many times faster than the plain way.

    Raises:
        MissingData: If the data are not on this machine.
    """
    data = find("tau_bench")
    rows = []
    for name in ("retail", "airline"):
        rows += _domain(data, open_domain(name, data))
    return [*rows, *_memory()]


def _domain(data: Path, domain: Domain) -> list[Row]:
    tasks = load_tasks(data, domain.name, "test")
    scorers = [Scorer(domain, task) for task in tasks]
    task = max(tasks, key=lambda task: len(task.actions))
    scorer = scorers[task.index]
    played = _played(domain, task)
    scorer.verdict(played.session, [])
    reset = cpu_seconds(lambda: TauBenchEnvironment(domain)) * 1000
    # What a first reward of a task costs: its ground truth is replayed and hashed as well.
    first = cpu_seconds(lambda: Scorer(domain, task).verdict(played.session, [])) * 1000
    reward = cpu_seconds(lambda: scorer.verdict(played.session, [])) * 1000
    report = cpu_seconds(lambda: scorer.differences(TauBenchEnvironment(domain).session)) * 1000
    plain = Plain(data / domain.name, domain)
    plain_reset = cpu_seconds(plain.load, repeat=3) * 1000
    plain_reward = cpu_seconds(lambda: plain.reward(task), repeat=3) * 1000
    steps = sum(len(task.actions) for task in tasks)
    step = cpu_seconds(lambda: [_played(domain, task) for task in tasks]) * 1000 / steps
    return [
        at_most(f"Tau-Bench {domain.name}: reset", reset, 1.0, "ms"),
        at_most(f"Tau-Bench {domain.name}: reward", reward, REWARD_MS[domain.name], "ms"),
        at_most(f"Tau-Bench {domain.name}: first reward of a task", first, REWARD_MS[domain.name], "ms"),
        at_most(f"Tau-Bench {domain.name}: report of differences", report, REWARD_MS[domain.name], "ms"),
        at_most(f"Tau-Bench {domain.name}: ground truth step", step, 1.0, "ms"),
        at_least(f"Tau-Bench {domain.name}: reset, plain / ours", plain_reset / reset, 20, "x"),
        at_least(f"Tau-Bench {domain.name}: reward, plain / ours", plain_reward / reward, 10, "x"),
    ]


def _played(domain: Domain, task: Task) -> TauBenchEnvironment:
    environment = TauBenchEnvironment(domain)
    for action in task.actions:
        if action.name not in ENDING_TOOLS:
            environment.call(action.name, action.arguments)
    return environment


class Plain:
    """The straightforward way: every reset reads the files, every reward loads again and hashes both databases."""

    def __init__(self, folder: Path, domain: Domain) -> None:
        self.folder = folder
        self.domain = domain
        self.mine = self.load()

    def load(self) -> dict[str, Any]:
        """A fresh database."""
        return {name: json.loads((self.folder / f"{name}.json").read_bytes()) for name in TABLES[self.domain.name]}

    def reward(self, task: Task) -> bool:
        """Hash the episode's database, load another, replay the ground truth on it, and hash that."""
        found = self.digest(self.mine)
        truth = self.load()
        played = _played(self.domain, task)
        for name, table in played.session.tables.items():
            truth[name].update(table.own)
        return found == self.digest(truth)

    @staticmethod
    def digest(tables: dict[str, Any]) -> str:
        """The official hash by its definition."""
        return hashlib.sha256(str(hashable(tables)).encode()).hexdigest()


def _memory() -> list[Row]:
    """Resident memory of a fresh process with many live airline episodes, each after its whole ground truth."""
    answer = subprocess.run([sys.executable, "-c", _LIVE], capture_output=True, check=True, env=dict(os.environ))
    base, live = (int(line) / 2**20 for line in answer.stdout.split())
    return [
        at_most(f"Tau-Bench airline: per live episode, of {LIVE}", (live - base) / LIVE, 1.0, "MiB"),
        at_most(f"Tau-Bench airline: process with {LIVE} live episodes", live, 600, "MB"),
    ]


_LIVE = f"""
import psutil
from adapters.tau_bench import load_tasks, open_domain
from benchmarks.tau_bench import OFFICIAL, load_samples
from harness.episode import AgentTurn, Episode, UserTurn
from tests.performance.bench_tau_bench import _played
samples = load_samples(OFFICIAL, domain="airline")
first = samples[0].case().open()
first.session.digest()
memory = psutil.Process().memory_info
base = memory().rss
live = []
for number in range({LIVE}):
    case = samples[number % len(samples)].case()
    episode = Episode(case, OFFICIAL)
    episode.start()
    need = episode.user("Hello, please help me.")
    for message in case.oracle:
        if isinstance(need, AgentTurn):
            need = episode.agent(message)
    live.append(episode)
print(base, memory().rss)
"""
