"""Synthesized scenarios, Non-Conversation and Conversation: the paper's own environments, and ours."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal, get_args

from benchmarks.benchmark import Benchmark, Column, Sample, Samples
from benchmarks.scenario_prompts import AGENT_PREFIX, OPENER, Prompts, prompts
from envscaler.environments import EnvironmentRecord, SynthesizedEnvironment, Tools
from envscaler.scenarios import SETTINGS, Corpus, Scenario, Setting, load
from envscaler.scenarios.judge import judge, run_checks
from harness.case import Brief, Case, Turn
from harness.environment import Environment, ToolSpec
from harness.errors import SettingError, near_miss
from harness.isolation import IsolatedRunner
from harness.messages import Slip, assistant
from harness.outcome import Score
from harness.program import Program, Runner, Verdict
from harness.protocol import Protocol, Sampling
from harness.state import State
from harness.trajectory import Trajectory
from harness.trusted import TrustedRunner
from harness.users import GoalUser, SimulatedUser

STEP_LIMITS: dict[Setting, int] = {"non_conversation": 30, "conversation": 40}
"""Agent messages per episode in the paper's evaluation (docs of the release, section 3)."""

Unchecked = Literal["refuse", "skip", "play"]
"""What becomes of scenarios without checks, as the release's 4,684 for SFT are: nothing says what they are worth."""

KEPT_VERDICTS = 64
"""States of one scenario whose verdicts are remembered."""

PAPER = Protocol(
    name="paper",
    agent=Sampling(temperature=0.7, top_p=0.95, max_tokens=10_000, thinking=True),
    user=Sampling(temperature=0.7),
    user_model="openai/gpt-4.1-2025-04-14",
    step_limit=STEP_LIMITS["non_conversation"],
    on_tool_exception="zero",
    slips={**dict.fromkeys(Slip, "report"), Slip.MARKUP: "text"},
    error_role="user",
)
"""How the paper's authors play scenarios. A tool call that the server left in the text is text to them, and so it is
here; the outcome counts it."""

STRICT = replace(
    PAPER,
    name="strict",
    calls_per_step="all",
    on_limit="score_state",
    on_tool_exception="report",
    slips=dict.fromkeys(Slip, "report"),
    error_role="tool",
    observation="json",
    observation_limit=100_000,
)
"""Ours: exceptions are told to the agent, limits score the state, parallel calls run in order."""


def load_samples(
    protocol: Protocol,
    *,
    setting: str = "non_conversation",
    environments: str | Sequence[str] | None = None,
    corpus: str | None = None,
    limit: int | None = None,
    level: str = "isolated",
    tools: str | None = None,
    unchecked: str = "refuse",
    **unknown: Any,
) -> Samples:
    """The scenarios of a corpus as samples.

    Args:
        setting: `non_conversation`, `conversation`, or `all` for both (sample ids then end in the setting's name).
        environments: Only these environment ids (a list, or a text with commas).
        corpus: Path of a corpus in any form; None is the bundled one.
        limit: At most so many scenarios in each setting, spread evenly over the environments.
        level: `isolated`; `process` accepts weaker isolation where the machine cannot do better; `trusted` runs in this
            process, only for the bundled corpus.
        tools: `own` or `release` schemas; None is the record's own `tools` where it came with some, else ours.
        unchecked: What becomes of scenarios without checks: `refuse` to load any, `skip` them, `play` them unscored.
    Raises:
        SettingError: If a parameter has no such value, scenarios cannot be scored, or none is left to play.
        DataError: If the corpus is broken.
    """
    if unknown:
        raise SettingError(f"scenarios has no parameter '{next(iter(unknown))}'")
    found = load(None if corpus is None else str(corpus))
    if environments:
        names = environments if isinstance(environments, list | tuple) else str(environments).split(",")
        found = found.select(name.strip() for name in names if name.strip())
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise SettingError(f"limit={limit}: must be a whole number, 1 or more")
    if unchecked not in get_args(Unchecked):
        raise SettingError(f"unchecked={unchecked}: unknown; one of play, refuse, skip")
    runner = runner_at(level, found)
    texts = prompts(protocol.prompts)
    left_out: set[str] = set()
    played: list[tuple[Setting, Scenario]] = []
    for chosen in _settings(setting):
        scenarios = [scenario for scenario in found.scenarios.values() if chosen in scenario.settings]
        if unchecked == "skip":
            left_out |= {scenario.task_id for scenario in scenarios if not scenario.checks}
            scenarios = [scenario for scenario in scenarios if scenario.checks]
        played += [(chosen, scenario) for scenario in _spread(scenarios, limit)]
    if not played and left_out:
        raise SettingError(f"unchecked=skip: none of the {len(left_out):,} chosen scenarios has checks")
    if not played:
        raise SettingError(f"no scenarios for setting={setting} in the chosen environments")
    if unchecked == "refuse":
        _refuse_unchecked({scenario.task_id: scenario for _, scenario in played}.values())
    samples = []
    verdicts = {task_id: _Verdicts(runner, scenario) for task_id, scenario in found.scenarios.items()}
    for chosen, scenario in played:
        environment = found.environments[scenario.env_id]
        shown = _tools(environment, tools)
        suffix = f"/{chosen}" if setting == "all" else ""
        asked = verdicts[scenario.task_id]
        samples.append(_sample(scenario, environment, shown, chosen, suffix, protocol, texts, runner, asked))
    return Samples(samples, len(left_out))


def _refuse_unchecked(scenarios: Collection[Scenario]) -> None:
    without = [scenario.task_id for scenario in scenarios if not scenario.checks]
    if without:
        raise SettingError(
            f"{len(without):,} of {len(scenarios):,} scenarios have no checks and cannot be scored, the first is "
            f"'{without[0]}'; unchecked=skip leaves them out, unchecked=play plays them without a score"
        )


def _spread(scenarios: list[Scenario], limit: int | None) -> list[Scenario]:
    """At most `limit` scenarios in their order: the first of each environment, then the second of each, and so on."""
    if limit is None:
        return scenarios
    seen: Counter[str] = Counter()
    ranks = []
    for place, scenario in enumerate(scenarios):
        ranks.append((seen[scenario.env_id], place))
        seen[scenario.env_id] += 1
    return [scenarios[place] for place in sorted(place for _, place in sorted(ranks)[:limit])]


def _settings(setting: str) -> tuple[Setting, ...]:
    for known in SETTINGS:
        if setting == known:
            return (known,)
    if setting == "all":
        return SETTINGS
    raise SettingError(f"setting={setting}: unknown; {near_miss(setting, [*SETTINGS, 'all'])}")


def runner_at(level: str, corpus: Corpus) -> Runner:
    """What runs the code of a corpus at a level; the same one for the same level.

    Raises:
        SettingError: If there is no such level, or the corpus may not run at it.
        IsolationUnavailable: If this machine cannot isolate and nothing weaker is allowed.
    """
    if level == "trusted":
        if not all(record.bundled for record in corpus.environments.values()):
            raise SettingError("level=trusted: only for the bundled corpus; other code runs at level=isolated")
        return TrustedRunner()
    if level not in ("isolated", "process"):
        raise SettingError(f"level={level}: unknown; one of isolated, process, trusted")
    runner = _isolated(level == "process")
    # Asked now, so that a machine that cannot isolate is told before anything runs.
    _ = runner.level
    return runner


@cache
def _isolated(allow_weak: bool) -> IsolatedRunner:
    """One runner for all samples: its zygote serves every episode of this process."""
    return IsolatedRunner(allow_weak=allow_weak)


def _tools(environment: EnvironmentRecord, whose: str | None) -> tuple[ToolSpec, ...]:
    if whose is None:
        whose = "release" if "tools" in environment.released else "own"
    if whose not in get_args(Tools):
        raise SettingError(f"tools={whose}: unknown; one of own, release")
    if whose == "release" and "tools" not in environment.released:
        raise SettingError(f"tools=release: environment '{environment.id}' came without tool schemas")
    return environment.tools("release" if whose == "release" else "own")


def _sample(
    scenario: Scenario,
    environment: EnvironmentRecord,
    tools: tuple[ToolSpec, ...],
    setting: Setting,
    suffix: str,
    protocol: Protocol,
    texts: Prompts,
    runner: Runner,
    verdicts: _Verdicts,
) -> Sample:
    program = Program(
        source=environment.source,
        class_name=environment.class_name,
        config=scenario.init_config,
        tools=frozenset(tool.name for tool in tools),
        clock=scenario.time,
        seed=scenario.seed,
        observation=protocol.observation,
    )

    def score(_: Trajectory, played: Environment) -> Score:
        assert isinstance(played, SynthesizedEnvironment)
        initial = played.initial
        return judge(scenario, verdicts.of(initial, initial), verdicts.of(initial, played.state()))

    def case() -> Case:
        return Case(
            id=scenario.task_id + suffix,
            open=lambda: SynthesizedEnvironment(runner, program, tools),
            brief=_brief(scenario, environment, setting, texts),
            judge=score if scenario.checks else None,
            level=runner.level,
            oracle=_oracle(scenario),
        )

    return Sample(
        id=scenario.task_id + suffix,
        subset=setting,
        group=scenario.env_id,
        case=case,
        protocol=replace(protocol, step_limit=STEP_LIMITS[setting]),
        metadata={"env_id": scenario.env_id, "setting": setting, "checks": len(scenario.checks), "task": scenario.task},
    )


class _Verdicts:
    """The checks of a scenario on the states that it meets.

    The same state is judged once: the do-nothing floor is asked for in every episode, and rollouts of one task often
    end alike. A check that gave no verdict is asked again, since the machine may have been at fault.
    """

    def __init__(self, runner: Runner, scenario: Scenario) -> None:
        self._runner = runner
        self._scenario = scenario
        self._known: OrderedDict[bytes, list[Verdict]] = OrderedDict()

    def of(self, initial: State, final: State) -> list[Verdict]:
        """The verdicts on a final state.

        Raises:
            EnvironmentFault: If the checks cannot be run.
        """
        # Not the digests: they are the same for any order of keys, on which a check may depend.
        key = hashlib.blake2b(initial.data, digest_size=16).digest() + hashlib.blake2b(final.data).digest()
        verdicts = self._known.get(key)
        if verdicts is None:
            verdicts = run_checks(self._runner, self._scenario, initial, final)
            if not any(verdict.error for verdict in verdicts):
                self._known[key] = verdicts
                if len(self._known) > KEPT_VERDICTS:
                    self._known.popitem(last=False)
        return verdicts


def _brief(scenario: Scenario, environment: EnvironmentRecord, setting: Setting, texts: Prompts) -> Brief:
    system = texts.system(setting, environment, scenario.clock)
    if setting == "non_conversation":
        return Brief(system=system, turns=(Turn(scenario.task),))

    def user() -> SimulatedUser:
        prompt = texts.goal(scenario.task)
        return GoalUser(goal=scenario.task, prompt=prompt, opener=OPENER, agent_prefix=AGENT_PREFIX)

    return Brief(system=system, user=user)


def _oracle(scenario: Scenario) -> tuple[dict[str, Any], ...] | None:
    if scenario.oracle is None:
        return None
    return tuple(assistant("", [(call.name, call.arguments)]) for call in scenario.oracle)


SCENARIOS = Benchmark(
    name="scenarios",
    version="1-A",
    protocols={"paper": PAPER, "strict": STRICT},
    load=load_samples,
    columns=(
        Column("Non-Conversation", subset="non_conversation"),
        Column("Conversation", subset="conversation"),
    ),
    replay_keys=("reward", "success", "checks"),
    # A recording may be of a scenario that was played without a score.
    replay_parameters={"unchecked": "play"},
)
