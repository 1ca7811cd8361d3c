"""Tau-Bench (the first one, retail and airline), byte for byte: its tools, database hash, reward and simulated users.

Promises: observations, hashes and rewards equal the official ones; no call raises; the shared database never changes.
"""

from adapters.tau_bench.domain import Domain, open_domain
from adapters.tau_bench.environment import TauBenchEnvironment
from adapters.tau_bench.scoring import Scorer, Verdict
from adapters.tau_bench.tasks import SPLITS, Task, load_tasks

__all__ = ["SPLITS", "Domain", "Scorer", "Task", "TauBenchEnvironment", "Verdict", "load_tasks", "open_domain"]
