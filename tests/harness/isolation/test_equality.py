"""Isolated and trusted give the same observations, states and verdicts; the same seed gives the same state anywhere."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import EnvironmentFault
from harness.isolation import IsolatedRunner, repeat, replayed_state, restore
from harness.program import Checks, Program, Runner
from harness.state import State
from harness.trusted import TrustedRunner
from tests.harness.isolation.builders import SHOP, TOOLS, check, shop

Call = tuple[str, dict[str, Any]]


def transcript(runner: Runner, program: Program, calls: list[Call]) -> list[str]:
    """Every observation with its status, then the state's digest."""
    try:
        instance = runner.open(program)
    except EnvironmentFault as fault:
        return [str(fault)]
    seen = []
    try:
        for name, arguments in calls:
            result = instance.call(name, arguments)
            seen.append(f"{result.status} {result.text}")
        seen.append(instance.state().digest)
    except EnvironmentFault as fault:
        seen.append(str(fault))
    finally:
        instance.close()
    return seen


def test_a_scripted_episode_is_the_same_at_both_levels(runner: IsolatedRunner) -> None:
    calls: list[Call] = [
        ("look_up", {"order_id": "O1"}),
        ("ship", {"order_id": "O1"}),
        ("ship", {"order_id": "none"}),
        ("draw", {}),
        ("draw", {}),
        ("fail", {}),
        ("no_such_tool", {}),
        ("look_up", {"wrong": 1}),
    ]
    program = shop(clock="2031-05-06T07:08:09.123456+02:00", seed=11)
    assert transcript(runner, program, calls) == transcript(TrustedRunner(), program, calls)


@pytest.mark.parametrize("observation", ["python", "json"])
def test_observations_have_the_form_asked_for(runner: IsolatedRunner, observation: Any) -> None:
    program = shop(observation=observation)
    calls: list[Call] = [("look_up", {"order_id": "O1"}), ("say", {"text": None}), ("say", {"text": "ä"})]
    assert transcript(runner, program, calls) == transcript(TrustedRunner(), program, calls)


# Seeds and time


def test_seed_and_clock_decide_everything_random(runner: IsolatedRunner) -> None:
    calls: list[Call] = [("draw", {})] * 3
    one = transcript(runner, shop(seed=1), calls)
    assert transcript(runner, shop(seed=1), calls) == one
    assert transcript(runner, shop(seed=2), calls) != one
    assert transcript(runner, shop(seed=1, clock="2026-01-01T00:00:00Z"), calls) != one


def test_another_process_gets_the_same_digest() -> None:
    script = (
        "from harness.isolation import IsolatedRunner, replayed_state\n"
        "from tests.harness.isolation.builders import shop\n"
        "with IsolatedRunner() as runner:\n"
        "    print(replayed_state(runner, shop(seed=7), [('draw', {}), ('ship', {'order_id': 'O1'})]).digest)\n"
    )
    # String hashes of the harness differ from run to run; those of a child must not.
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


# Snapshots


@pytest.mark.parametrize("make", [IsolatedRunner, TrustedRunner])
def test_an_episode_starts_where_another_stood(make: type[Runner]) -> None:
    runner = make()
    calls: list[Call] = [("ship", {"order_id": "O1"}), ("draw", {})]
    state = replayed_state(runner, shop(), calls)
    restored = restore(runner, shop(), state)
    assert restored.state() == state
    restored.close()
    # A repeated episode goes on exactly as the first would have: streams and clock are where they were.
    again = repeat(runner, shop(), calls)
    again.call("draw", {})
    assert again.state() == replayed_state(runner, shop(), [*calls, ("draw", {})])
    again.close()


def test_code_is_compiled_once_and_kept_as_bytes(runner: IsolatedRunner) -> None:
    program = shop(source=SHOP + "\nMARK = 'code cache'\n")
    first = transcript(runner, program, [("draw", {})])
    kept = runner.code.get(runner.code.key(program))
    assert isinstance(kept, bytes)
    assert transcript(runner, program, [("draw", {})]) == first
    assert runner.code.get(runner.code.key(replace(program, class_name="Other"))) is None


# The public sample and our own environments


def sample_folder() -> Path:
    data = os.environ.get("ENVSCALER_DATA")
    folder = Path(data or "") / "envscaler_release_sample"
    if not data or not folder.is_dir():
        pytest.skip("the released sample is not here; set ENVSCALER_DATA to the folder that holds it")
    return folder


def sample() -> Iterator[tuple[Program, dict[str, Any], dict[str, Any]]]:
    """Every scenario of the sample with its environment."""
    folder = sample_folder()
    environments = json.loads(gzip.decompress((folder / "github_form_envs.json.gz").read_bytes()))
    by_id = {environment["env_id"]: environment for environment in environments.values()}
    for scenario in json.loads(gzip.decompress((folder / "github_form_rl_scenarios.json.gz").read_bytes())):
        environment = by_id[scenario["env_id"]]
        program = Program(
            source=environment["env_class_code"],
            class_name=environment["env_class_name"],
            config=State.of(scenario["init_config"]),
            tools=frozenset(tool["function"]["name"] for tool in environment["tools"]),
        )
        yield program, environment, scenario


def words(value: Any) -> Iterator[Any]:
    """Every key and leaf of a configuration: what fuzzed arguments are made of."""
    if isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from words(item)
    elif isinstance(value, list):
        for item in value:
            yield from words(item)
    else:
        yield value


def fuzzed_calls(tools: list[dict[str, Any]], config: dict[str, Any], count: int, seed: str) -> list[Call]:
    """Calls with arguments from the configuration, mostly of the right names, some of odd types."""
    draw = random.Random(seed)
    pool = sorted(set(map(repr, words(config))))
    values = [*map(eval, pool), None, True, -1, 5.0, "", [], {}, "2025-01-01", 10**30]
    calls = []
    for _ in range(count):
        function = draw.choice(tools)["function"]
        names = list(function["parameters"]["properties"])
        arguments = {name: draw.choice(values) for name in names if draw.random() < 0.95}
        calls.append((function["name"], arguments))
    return calls


def test_the_released_sample_is_the_same_at_both_levels(runner: IsolatedRunner) -> None:
    trusted, checks = TrustedRunner(), 0
    for program, environment, scenario in sample():
        calls = fuzzed_calls(environment["tools"], scenario["init_config"], 40, scenario["task_id"])
        assert transcript(runner, program, calls) == transcript(trusted, program, calls), scenario["task_id"]
        functions = [item["check_func"] for item in scenario["checklist_with_func"]]
        task = Checks(functions=functions, initial=program.config, final=program.config)
        assert runner.check(task) == trusted.check(task), scenario["task_id"]
        checks += len(functions)
    assert checks == 901


CORPUS = Path(__file__).parents[3] / "envscaler" / "corpus"


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in CORPUS.glob("*/environment.toml")))
def test_a_bundled_environment_is_the_same_at_both_levels(runner: IsolatedRunner, folder: str) -> None:
    import ast
    import tomllib

    source = (CORPUS / folder / "environment.py").read_text()
    class_name = tomllib.loads((CORPUS / folder / "environment.toml").read_text())["class"]
    (body,) = (n.body for n in ast.parse(source).body if isinstance(n, ast.ClassDef) and n.name == class_name)
    methods = [n for n in body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
    tools = [
        {"function": {"name": m.name, "parameters": {"properties": [a.arg for a in m.args.args[1:]]}}} for m in methods
    ]
    trusted = TrustedRunner()
    for path in sorted((CORPUS / folder / "scenarios").glob("*.json")):
        scenario = json.loads(path.read_text())
        program = Program(
            source=source,
            class_name=class_name,
            config=State.of(scenario["init_config"]),
            tools=frozenset(method.name for method in methods),
            clock=scenario.get("clock", "2025-01-01T00:00:00Z"),
            seed=scenario.get("seed", 0),
        )
        oracle = [(call["name"], call["arguments"]) for call in scenario.get("oracle", [])]
        for calls in (oracle, fuzzed_calls(tools, scenario["init_config"], 20, path.stem)):
            assert transcript(runner, program, calls) == transcript(trusted, program, calls), path.name
        functions = [item["function"] for item in scenario["checks"]]
        final = replayed_state(runner, program, oracle)
        task = Checks(functions=functions, initial=program.config, final=final, clock=program.clock, seed=program.seed)
        assert runner.check(task) == trusted.check(task), path.name


def test_checks_say_the_same_at_both_levels(runner: IsolatedRunner) -> None:
    task = check(
        "return s == initial_state",
        "s['orders'].clear()\nreturn True",
        "return sorted(s['orders']) == ['O1', 'O2']",
        "return 1",
        "return None",
        "raise LookupError('\\ud800')",
        "return s['when'].year == 2025",
        "import datetime, random, uuid\nreturn (datetime.datetime.now().year, random.random() < 1) == (2025, True)",
        "return all(isinstance(k, str) for k in s) and s['pair'] == (1, 2) and 3 in s['seen']",
        "def helper(x):\n    return x\nreturn helper(True)",
        "return s.nowhere",
        final={
            "orders": {"O2": {}, "O1": {}},
            "when": __import__("datetime").date(2025, 1, 1),
            "pair": (1, 2),
            "seen": {3},
        },
    )
    broken = replace(task, functions=[*task.functions, "def check_func(", "x = 1", "check_func = 3"])
    assert runner.check(broken) == TrustedRunner().check(broken)


def test_tools_of_the_shop_are_all_there() -> None:
    assert all(f"def {tool}(" in SHOP for tool in TOOLS)
