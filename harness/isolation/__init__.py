"""Run generated code at arm's length: a zygote, one hardened child per episode, checks in children of their own.

Promises: no call blocks longer than its limit; a dead child is an `EnvironmentFault`; this process never compiles,
unpickles or unmarshals what it was given. Imports nothing of ours but the engine's core.
"""

from __future__ import annotations

from harness.isolation._instance import IsolatedInstance
from harness.isolation._launcher import IsolationUnavailable
from harness.isolation._modules import ALLOWED_MODULES
from harness.isolation._runner import IsolatedRunner
from harness.isolation._support import Support, support
from harness.isolation.attacks import Attack, AttackResult, load_attacks, run_attacks
from harness.isolation.snapshot import repeat, replayed_state, restore

__all__ = [
    "ALLOWED_MODULES",
    "Attack",
    "AttackResult",
    "IsolatedInstance",
    "IsolatedRunner",
    "IsolationUnavailable",
    "Support",
    "load_attacks",
    "repeat",
    "replayed_state",
    "restore",
    "run_attacks",
    "support",
]
