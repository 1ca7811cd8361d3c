"""How good are the checks? The audit of scenarios: oracles, floors, mutants, false fails, determinism, and a gate.

Promises: the same scenario gets the same card on any machine; generated code runs only through the runner it is given.
Imports the engine, environments and scenarios.
"""

from envscaler.audit.card import ScenarioCard, Summary, by_environment, summary
from envscaler.audit.scenario import audit, fingerprint
from envscaler.audit.thresholds import DEFAULT, IMPORTED, Effort, Thresholds

__all__ = [
    "DEFAULT",
    "IMPORTED",
    "Effort",
    "ScenarioCard",
    "Summary",
    "Thresholds",
    "audit",
    "by_environment",
    "fingerprint",
    "summary",
]
