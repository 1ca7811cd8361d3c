"""The audit audited: hand-made flaws are each flagged by the right line, correct checks are not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from envscaler.audit import ScenarioCard, audit
from envscaler.scenarios import Check, load
from harness.trusted import TrustedRunner
from tests.envscaler.audit.faulty import TWELVE, Facts, faulty

CORPUS = load()
FACTS = pytest.mark.parametrize("facts", TWELVE, ids=[facts.task_id for facts in TWELVE])
KINDS = list(faulty(TWELVE[0]))


@cache
def card(facts: Facts) -> ScenarioCard:
    """The scenario's own checks after eight faulty ones."""
    scenario = CORPUS.scenarios[facts.task_id]
    added = tuple(Check(kind, function) for kind, (function, _) in faulty(facts).items())
    record = CORPUS.environments[scenario.env_id]
    return audit(record, replace(scenario, checks=added + scenario.checks), TrustedRunner())


@pytest.mark.parametrize("kind", KINDS)
@FACTS
def test_a_flaw_is_flagged_by_its_line(facts: Facts, kind: str) -> None:
    found = card(facts).checks[KINDS.index(kind)]
    assert faulty(facts)[kind][1] in [flag.line for flag in found.flags]


@FACTS
def test_correct_checks_are_not_flagged(facts: Facts) -> None:
    assert [check for check in card(facts).checks[len(KINDS) :] if check.flags] == []


def test_there_are_twelve_scenarios_and_eight_kinds() -> None:
    assert (len({facts.task_id for facts in TWELVE}), len(KINDS)) == (12, 8)
