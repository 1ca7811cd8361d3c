"""Scenarios and the corpora that hold them: read, written, validated, judged."""

from envscaler.scenarios.corpus import Corpus, load, read, write_records, write_unpacked
from envscaler.scenarios.scenario import SETTINGS, Check, OracleCall, Scenario, Setting

__all__ = [
    "SETTINGS",
    "Check",
    "Corpus",
    "OracleCall",
    "Scenario",
    "Setting",
    "load",
    "read",
    "write_records",
    "write_unpacked",
]
