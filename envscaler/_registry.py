"""What Inspect finds of us: tasks, solver, scorer and model providers, each a line that delegates.

They live in this package because Inspect names them after the top-level import package, and recognises an editable
install only if the distribution has the same name (DESIGN section 2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspect_ai import Task, task
from inspect_ai._util.registry import registry_add, registry_info, registry_unqualified_name
from inspect_ai.model import ModelAPI, modelapi
from inspect_ai.scorer import Scorer, grouped, mean, scorer, stderr
from inspect_ai.solver import Solver, solver

METRICS = {
    "reward": [mean(), stderr(cluster="group"), grouped(mean(), "group", all=False)],
    "success": [mean(), stderr(cluster="group")],
}


@solver
def episode(benchmark: str, protocol: str, prompts: str | None = None, **parameters: Any) -> Solver:
    """Plays samples of a benchmark as episodes under a protocol."""
    from benchmarks import inspect_task

    return inspect_task.solver(benchmark, protocol, prompts, **parameters)


def _found_again(made: Callable[[], Scorer]) -> Callable[[], Scorer]:
    """A scorer that `inspect score` finds in every log, also in one that it wrote itself.

    Inspect logs a scorer's name less its package and looks up what it logged: `envscaler/envscaler/outcome` stands in
    logs as `envscaler/outcome`. So it is registered under that name too; the last registration is what it is called.
    """
    named = registry_info(made)
    registry_add(made, named.model_copy(update={"name": registry_unqualified_name(named)}))
    registry_add(made, named)
    return made


@_found_again
@scorer(metrics=METRICS, name="envscaler/outcome")
def outcome() -> Scorer:
    """Reads the outcome that the episode recorded: `reward` and `success`."""
    from benchmarks import inspect_task

    return inspect_task.scorer()


def _task(benchmark: str, protocol: str, prompts: str | None = None, **parameters: Any) -> Task:
    from benchmarks import inspect_task

    plays = episode(benchmark, protocol, prompts, **parameters)
    return inspect_task.task(benchmark, plays, outcome(), protocol, prompts, **parameters)


@task
def scenarios(
    setting: str = "non_conversation",
    protocol: str = "paper",
    environments: str | list[str] | None = None,
    corpus: str | None = None,
    limit: int | None = None,
    level: str = "isolated",
    prompts: str = "own",
    tools: str | None = None,
    unchecked: str = "refuse",
) -> Task:
    """Synthesized scenarios, of the bundled corpus or of `corpus`."""
    parameters = {"setting": setting, "environments": environments, "corpus": corpus, "limit": limit}
    return _task("scenarios", protocol, prompts, level=level, tools=tools, unchecked=unchecked, **parameters)


@task
def bfcl_multi_turn(protocol: str = "paper", version: str = "v3", subset: str = "all") -> Task:
    """BFCL Multi-Turn: base, miss_func, miss_param, long_context."""
    return _task("bfcl_multi_turn", protocol, version=version, subset=subset)


@task
def tau_bench(
    protocol: str = "paper", domain: str = "all", split: str = "test", user_strategy: str | None = None
) -> Task:
    """Tau-Bench: retail and airline."""
    return _task("tau_bench", protocol, domain=domain, split=split, user_strategy=user_strategy)


@task
def acebench_agent(protocol: str = "paper", language: str = "en", subset: str = "all") -> Task:
    """ACEBench-Agent: multi_step and multi_turn."""
    return _task("acebench_agent", protocol, language=language, subset=subset)


QUALITY_METRICS = {"pass_rate": [mean(), stderr()], "kept": [mean()], "gate": [mean()]}


@solver
def inspection(**parameters: Any) -> Solver:
    """Inspects an environment: a tester calls its tools, a checker judges the calls."""
    from envscaler.skelbuilder import quality_task

    return quality_task.solver(**parameters)


@_found_again
@scorer(metrics=QUALITY_METRICS, name="envscaler/quality")
def quality() -> Scorer:
    """Reads the recorded inspection: `pass_rate`, whether the environment is `kept`, whether the `gate` is passed."""
    from envscaler.skelbuilder import quality_task

    return quality_task.scorer()


@task
def environment_quality(
    corpus: str | None = None,
    environments: str | list[str] | None = None,
    rounds: int = 100,
    least_per_tool: int = 2,
    threshold: float = 0.85,
    counting: str = "strict",
    tries: int = 3,
) -> Task:
    """Quality of environments by the dual-agent inspection; roles `tester` and `checker`."""
    from envscaler.skelbuilder import quality_task

    rules = {"rounds": rounds, "least_per_tool": least_per_tool, "threshold": threshold, "counting": counting}
    plays = inspection(corpus=corpus, tries=tries, **rules)
    return quality_task.task(plays, quality(), corpus, environments, rules)


@modelapi(name="reference")
def reference() -> type[ModelAPI]:
    """`reference/oracle`, `noop`, `random`, the user `reference/scripted_user`, and `reference/recorded`."""
    from harness.inspect_bridge.reference import ReferenceAPI

    return ReferenceAPI


@modelapi(name="checkpoint")
def checkpoint() -> type[ModelAPI]:
    """`checkpoint/PATH` or `checkpoint/URL`: the exact wire that chat templates expect."""
    from harness.inspect_bridge.checkpoint import CheckpointAPI

    return CheckpointAPI
