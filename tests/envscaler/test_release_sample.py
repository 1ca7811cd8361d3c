"""The sample of the public release: its checks give verdicts, its environments repeat themselves."""

from __future__ import annotations

import pytest

from benchmarks.benchmark import Sample
from benchmarks.scenarios import STRICT, load_samples
from envscaler.environments import SynthesizedEnvironment
from envscaler.scenarios import load
from envscaler.scenarios.judge import run_checks
from envscaler.scenarios.validate import validate
from harness import reference
from harness.isolation import IsolatedRunner
from harness.program import Program
from harness.rollout import play, replay
from harness.trajectory import Recording
from harness.trusted import TrustedRunner
from tests.envscaler.playground import release_sample


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return load_samples(STRICT, corpus=str(release_sample()))


def test_all_checks_run_on_the_initial_state_without_an_error() -> None:
    found = load(release_sample())
    verdicts = []
    with IsolatedRunner() as runner:
        for scenario in found.scenarios.values():
            record = found.environments[scenario.env_id]
            program = Program(
                source=record.source,
                class_name=record.class_name,
                config=scenario.init_config,
                tools=frozenset(),
                clock=scenario.time,
                seed=scenario.seed,
            )
            environment = SynthesizedEnvironment(runner, program, record.own_tools)
            verdicts += run_checks(runner, scenario, environment.initial, environment.initial)
            environment.close()
    assert len(verdicts) == 901
    assert [verdict for verdict in verdicts if verdict.error or verdict.mutated] == []
    assert 0 < sum(verdict.passed for verdict in verdicts) < 901


def test_playing_an_episode_again_gives_the_same_observations_and_state(
    samples: list[Sample], pytestconfig: pytest.Config
) -> None:
    # One scenario of each environment is enough to see a clock or a random id leak; not the one with 445 checks.
    of_each = {sample.group: sample for sample in samples if sample.metadata["checks"] < 100}
    chosen = samples if pytestconfig.getoption("oracle") == "all" else of_each.values()
    for sample in chosen:
        case = sample.case()
        live = play(case, STRICT, reference.random_legal(case))
        recording = Recording(sample.id, live.trajectory.messages)
        for again in (replay(case, STRICT, recording), replay(sample.case(), STRICT, recording)):
            assert again.final_state is not None
            assert again.final_state == live.final_state, sample.id
            assert [call.result for call in again.trajectory.calls] == [call.result for call in live.trajectory.calls]
            assert again.trajectory.outcome == live.trajectory.outcome
        assert live.trajectory.calls


def test_both_levels_leave_the_same_state(samples: list[Sample]) -> None:
    found = load(release_sample())
    scenario = next(s for s in found.scenarios.values() if "uuid4" in found.environments[s.env_id].source)
    record = found.environments[scenario.env_id]
    tools = frozenset(tool.name for tool in record.own_tools)
    program = Program(
        source=record.source, class_name=record.class_name, config=scenario.init_config, tools=tools, seed=3
    )
    case = next(sample for sample in samples if sample.id == scenario.task_id).case()
    calls = play(case, STRICT, reference.random_legal(case)).trajectory.calls
    digests = set()
    with IsolatedRunner() as isolated:
        for runner in (isolated, TrustedRunner()):
            environment = SynthesizedEnvironment(runner, program, record.own_tools)
            for call in calls:
                environment.call(call.name, call.arguments)
            digests.add(environment.state().digest)
            environment.close()
    assert len(digests) == 1


def test_the_sample_validates_without_an_error() -> None:
    found = load(release_sample()).select(["env_147_rl", "env_183_rl", "env_103_sft"])
    with IsolatedRunner() as runner:
        findings = list(validate(found, runner))
    # What its authors may see all the same: checks that doing nothing passes.
    assert {(finding.severity, finding.problem) for finding in findings} == {
        ("note", "is already true in the initial state")
    }


def test_released_tools_are_what_the_agent_sees(samples: list[Sample]) -> None:
    sample = samples[0]
    record = load(release_sample()).environments[sample.group]
    opened = sample.case().open()
    assert [tool.openai() for tool in opened.tools] == record.released["tools"]
    opened.close()


def test_our_schemas_ask_for_no_parameter_that_has_a_default() -> None:
    asked = {"own": 0, "release": 0}
    for record in load(release_sample()).environments.values():
        for own, released in zip(record.tools("own"), record.tools("release"), strict=True):
            assert own.name == released.name
            assert list(own.parameters["properties"]) == list(released.parameters["properties"])
            asked["own"] += len(own.parameters["required"])
            asked["release"] += len(released.parameters["required"])
    assert asked["own"] < asked["release"]
