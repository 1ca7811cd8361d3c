"""ACEBench-Agent: multi_step (20 tasks, one instruction) and multi_turn (30 tasks, a simulated user), en and zh."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adapters.acebench.defects import defects
from adapters.acebench.environment import AceEnvironment, World
from adapters.acebench.judge import AceJudge
from adapters.acebench.language import LANGUAGES
from adapters.acebench.prompts import Prompts, official_agent_prompt, policy, user_prompt
from adapters.acebench.pull import SOURCE, pull
from adapters.acebench.scoring import end_to_end
from adapters.acebench.solution import corrected_answer, solution
from adapters.acebench.task import SUBSETS, Task, load_prompts, load_tasks, load_world, tools
from adapters.acebench.user import FINISH, AceUser
from benchmarks.benchmark import Artifact, Benchmark, Column, Sample
from harness.artifacts import find
from harness.case import Brief, Case, Turn
from harness.errors import DataError, SettingError, near_miss
from harness.files import read_bytes
from harness.messages import Slip, assistant
from harness.protocol import Protocol, Sampling
from harness.users import SimulatedUser

PAPER_FINISH = "Task Completed"
"""Ends a multi_step episode in the paper; the release's agent prompt asks for it. Officially it is `FINISH`."""

NUDGE = "Please do not ask me any questions, use the known conditions to solve the problem"
"""The environment's answer to talk in a multi_step episode, in both languages."""

PAPER = Protocol(
    name="paper",
    agent=Sampling(temperature=0.7, top_p=0.95, max_tokens=10_000, thinking=True),
    user=Sampling(temperature=0.001, max_tokens=10_000),
    user_model="openai/gpt-4.1-2025-04-14",
    prompts="release",
    step_limit=20,
    on_limit="score_state",
    slips={
        Slip.EMPTY: "report",
        # The paper's evaluation crashes on these and drops the task from its mean; here they count as 0, and the stop
        # reason `invalid_reply` lets a table apply the dropping rule as a second reading.
        Slip.BAD_ARGUMENTS: "zero",
        Slip.CUT_OFF_CALL: "zero",
        Slip.MARKUP: "text",
    },
    slip_texts={Slip.EMPTY: "Action is empty."},
    blank_arguments="call",
)
"""Native function calling as the paper's authors evaluated it (docs/acebench.md, Protocols)."""

OFFICIAL = Protocol(
    name="official",
    agent=Sampling(temperature=0.001, max_tokens=1000),
    user=Sampling(temperature=0.001, max_tokens=1000),
    user_model="openai/gpt-4o",
    runs=1,
    prompts="official",
    calls_per_step="all",
    # The official budget is 40 messages of all roles. Roles take turns, so that the agent has every other one.
    step_limit=20,
    on_limit="score_state",
    # Whatever is not a call is talk: it is nudged (multi_step) or goes to the user (multi_turn).
    slips=dict.fromkeys(Slip, "text"),
    blank_arguments="call",
)
"""The benchmark's budget, prompts, user and finish word, with native calls in place of calls written as text. Not
comparable with published official scores, which need the text protocol."""

STRICT = replace(
    PAPER,
    name="strict",
    calls_per_step="all",
    slips=dict.fromkeys(Slip, "report"),
    slip_texts={},
)
"""Ours: the paper's prompts and limit; every unusable reply is told to the agent, parallel calls run in order."""


@dataclass(frozen=True, slots=True)
class _Data:
    """All that the samples of one language share."""

    language: str
    protocol: Protocol
    world: World
    prompts: Prompts
    release: Mapping[str, str]
    """The release's agent prompts; empty where the protocol uses the benchmark's own."""

    @property
    def official(self) -> bool:
        return self.protocol.prompts == "official"

    def system(self, task: Task) -> str:
        """The agent's system prompt. The policy is told in multi_turn tasks only, in every protocol."""
        turns = task.subset == "multi_turn"
        rules = policy(self.prompts, self.language, flies=task.flies) if turns else ""
        if self.official:
            return official_agent_prompt(self.prompts, self.language, task.subset) + rules
        if not turns:
            return self.release["non_conversational_system_prompt"]
        return f"{self.release['conversational_system_prompt']}\n\n{self.release['heading']}\n{rules}"

    def brief(self, task: Task) -> Brief:
        """What the agent is told, and by whom."""
        finish = FINISH if self.official else PAPER_FINISH
        if task.subset == "multi_step":
            return Brief(system=self.system(task), turns=(Turn(task.question),), finish_word=finish, nudge=NUDGE)
        prompt = user_prompt(self.prompts, self.language, task.question, flies=task.flies)

        def user() -> SimulatedUser:
            return AceUser(task.question, prompt, self.language, self.official)

        # In the paper an agent cannot end a conversation: what it says goes to the user, whose word counts.
        return Brief(system=self.system(task), user=user, finish_word=finish if self.official else None)


def load_samples(protocol: Protocol, *, language: str = "en", subset: str = "all", **unknown: Any) -> list[Sample]:
    """The tasks of a language as samples, under their official ids.

    Args:
        language: `en` or `zh`. The paper evaluated English only; its rules are applied to both.
        subset: `multi_step`, `multi_turn`, or `all`.
    Raises:
        SettingError: If a parameter has no such value.
        MissingData: If the data are not on this machine.
        DataError: If they are broken.
    """
    if unknown:
        raise SettingError(f"acebench_agent has no parameter '{next(iter(unknown))}'")
    for name, value, known in (("language", language, [*LANGUAGES]), ("subset", subset, [*SUBSETS, "all"])):
        if value not in known:
            raise SettingError(f"{name}={value}: unknown; {near_miss(str(value), known)}")
    if protocol.prompts not in ("release", "official"):
        raise SettingError(f"prompts={protocol.prompts}: acebench_agent has prompts release, official")
    folder = find("acebench")
    release = _release_prompts() if protocol.prompts == "release" else {}
    data = _Data(language, protocol, load_world(folder, language), load_prompts(folder), release)
    return [_sample(task, data) for task in load_tasks(folder, language) if subset in (task.subset, "all")]


def _release_prompts() -> dict[str, str]:
    """The release's agent prompts for both settings, and its sentence before an environment's introduction."""
    path: Path = find("envscaler_release_sample") / "prompts.json"
    try:
        prompts = json.loads(read_bytes(path))
        return {**prompts["agent"], "heading": prompts["environment_introduction_heading"]}
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(path, "", "does not hold the release's agent prompts") from error


def _sample(task: Task, data: _Data) -> Sample:
    notes = defects(task, data.language)
    return Sample(
        id=task.id,
        subset=task.subset,
        group="+".join(task.involved),
        case=lambda: _case(task, data),
        metadata={"language": data.language, "classes": list(task.involved), "defects": notes},
    )


def _case(task: Task, data: _Data) -> Case:
    # The paper's copy of the English tasks names cabins in English; the official one in Chinese, in ten descriptions.
    shown = tools(task, english_cabins=data.language == "en" and not data.official)

    def start() -> AceEnvironment:
        return AceEnvironment(data.world, task.involved, task.config, shown, data.language)

    official = data.protocol.name == "official"
    judge = AceJudge(
        task,
        corrected_answer(task, data.world.seed),
        floor=0.0 if official else end_to_end(start().snapshot(), task.answer),
        official=official,
        empty_last_reply_loses=data.protocol.name == "paper",
    )
    return Case(
        id=task.id,
        open=start,
        brief=data.brief(task),
        judge=judge,
        oracle=tuple(assistant(calls=[call]) for call in solution(task, data.world.seed, data.language)),
    )


ACEBENCH_AGENT = Benchmark(
    name="acebench_agent",
    version="1-A",
    protocols={"paper": PAPER, "official": OFFICIAL, "strict": STRICT},
    load=load_samples,
    columns=(
        Column("Multi-Step", subset="multi_step"),
        Column("Multi-Turn", subset="multi_turn"),
        Column("Overall", mean_of=("Multi-Step", "Multi-Turn")),
        # By the other rule in use, and by the other scores of the judge.
        Column("Solved of 50", subset=("multi_step", "multi_turn")),
        Column("Multi-Step strict", subset="multi_step", part="strict"),
        Column("Multi-Turn strict", subset="multi_turn", part="strict"),
        Column("Multi-Step process", subset="multi_step", part="process"),
        Column("Multi-Turn process", subset="multi_turn", part="process"),
    ),
    dropped={"paper": ("invalid_reply", "invalid_user_reply", "tool_exception")},
    replay_keys=("end_to_end", "process", "strict"),
    artifacts=(Artifact(name="acebench", source=SOURCE, licence="MIT", pull=pull),),
)
"""`envscaler/acebench_agent`."""
