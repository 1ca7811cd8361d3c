"""The gate: a scenario is kept if the audit lets it through. What does not pass goes back as evidence."""

from __future__ import annotations

from envscaler.audit import ScenarioCard, Thresholds
from envscaler.scengenerator.records import Problem

_MOST_SURVIVORS = 20
_NOTES = ("vacuous", "true at start", "accident", "slow")
"""Flags of a check that fail no gate by themselves."""


def gate_problems(card: ScenarioCard, gate: Thresholds) -> list[Problem]:
    """Why a scenario does not pass, with what was seen; none if it does."""
    failures = card.failures(gate)
    if not failures:
        return []
    if card.fault:
        return [Problem("fault", failures[0])]
    found = []
    if gate.kill is not None and card.oracle == 1.0 and (card.kill or 0.0) < gate.kill:
        noticed = sum(card.killed.values())
        told = f"the checks notice {noticed} of {card.mutants} wrong records, and must notice {gate.kill:.0%}"
        found.append(Problem("weak checks", told))
        found += [
            Problem("weak checks", f"wrong, and every check is true: {survivor.what} ({survivor.operator})")
            for survivor in card.survivors[:_MOST_SURVIVORS]
        ]
    found += [Problem("unneeded write", f"every check is true {what}") for what in card.unneeded if gate.minimal]
    for number, check in enumerate(card.checks, start=1):
        for flag in check.flags:
            if flag.line not in _NOTES:
                found.append(Problem(_kind(flag.line), f"check {number} ({check.item}): {flag.line}: {flag.evidence}"))
    if gate.deterministic and not card.deterministic:
        found.append(Problem("not deterministic", "replays of the calls, or verdicts on one state, differ"))
    return found or [Problem("gate", sentence) for sentence in failures]


def _kind(line: str) -> str:
    return line if line in ("oracle", "error", "mutates", "clock", "unstable") else "false fails"


def hopeless(card: ScenarioCard) -> bool:
    """Whether no other check could help: the environment itself fails, or does not replay alike."""
    unstable = any(flag.line == "unstable" for check in card.checks for flag in check.flags)
    return bool(card.fault) or (not card.deterministic and not unstable)
