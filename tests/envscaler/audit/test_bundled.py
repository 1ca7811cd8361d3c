"""The bundled corpus holds the default gate, and the figures in its files are those of the scenarios beside them."""

from __future__ import annotations

import pytest

from envscaler.audit import DEFAULT, Effort, audit, fingerprint
from envscaler.audit.run import runner
from envscaler.scenarios import Scenario, load

CORPUS = load()


@pytest.mark.parametrize("scenario", CORPUS.scenarios.values(), ids=list(CORPUS.scenarios))
def test_a_scenario_passes_the_gate_and_carries_its_own_figures(scenario: Scenario) -> None:
    record = CORPUS.environments[scenario.env_id]
    # The figures are of this very text: after a change, `envscaler audit bundled --write` makes them anew.
    if scenario.audit.get("of") != fingerprint(record, scenario, Effort()):
        pytest.fail(f"{scenario.task_id} was changed after its audit; run: envscaler audit bundled --write")
    figures = scenario.audit
    assert (figures["oracle"], figures["floor"], figures["false_fails"], figures["deterministic"]) == (
        1.0,
        0.0,
        0,
        True,
    )
    assert figures["kill"] >= (DEFAULT.kill or 0)


@pytest.mark.parametrize("env_id", CORPUS.environments)
def test_one_scenario_of_each_environment_gives_its_figures_again(env_id: str) -> None:
    scenario = next(scenario for scenario in CORPUS.scenarios.values() if scenario.env_id == env_id)
    card = audit(CORPUS.environments[env_id], scenario, runner("trusted"), fresh=[runner("process")])
    assert card.failures(DEFAULT) == []
    assert (card.mutants, round(card.kill or 0, 4)) == (scenario.audit["mutants"], scenario.audit["kill"])
