"""Tau-Bench: a service agent, a simulated customer and a policy, in a shop (retail) and at an airline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.tau_bench import SPLITS, Domain, Scorer, Task, TauBenchEnvironment, load_tasks, open_domain
from adapters.tau_bench.defects import notes
from adapters.tau_bench.domain import read_json
from adapters.tau_bench.environment import ENDING_TOOLS
from adapters.tau_bench.pull import LICENCE, SOURCE, pull
from adapters.tau_bench.users import STRATEGIES, Parse, Strategy, UserTexts, load_texts, simulated_user
from benchmarks.benchmark import Artifact, Benchmark, Column, Sample
from harness.artifacts import find
from harness.case import Brief, Case
from harness.errors import DataError, SettingError, near_miss
from harness.messages import Message, Slip, assistant
from harness.protocol import Protocol, Sampling
from harness.users import SimulatedUser

PAPER = Protocol(
    name="paper",
    agent=Sampling(temperature=0.7, top_p=0.95, max_tokens=10_000, thinking=True),
    user=Sampling(temperature=0.7),
    user_model="openai/gpt-4.1-2025-04-14",
    prompts="release",
    step_limit=30,
    slips={Slip.EMPTY: "zero", Slip.BAD_ARGUMENTS: "zero", Slip.CUT_OFF_CALL: "zero", Slip.MARKUP: "text"},
    error_role="user",
)
"""How the paper's authors play Tau-Bench (docs of Tau-Bench, section 1.10)."""

OFFICIAL = Protocol(
    name="official",
    agent=Sampling(temperature=0.0),
    user_model="openai/gpt-4o",
    keep_reasoning=True,
    runs=4,
    prompts="official",
    step_limit=30,
    on_tool_exception="zero",
    slips={Slip.EMPTY: "text", Slip.BAD_ARGUMENTS: "zero", Slip.CUT_OFF_CALL: "zero", Slip.MARKUP: "text"},
)
"""How the benchmark's authors play it, with native tool calls. Four runs stand behind each row of their table."""


def load_samples(
    protocol: Protocol,
    *,
    domain: str = "all",
    split: str = "test",
    user_strategy: str | None = None,
    **unknown: Any,
) -> list[Sample]:
    """The tasks of one or both domains as samples.

    Args:
        domain: `retail`, `airline`, or `all` that have the split.
        split: `test`; `dev` and `train`, which exist for retail only; or `all`.
        user_strategy: `plain`, `react`, `verify` or `reflection`; None is the protocol's.
    Raises:
        SettingError: If a parameter has no such value.
        MissingData: If the data, or the release's prompts for `paper`, are not on this machine.
        DataError: If the data are broken.
    """
    if unknown:
        raise SettingError(f"tau_bench has no parameter '{next(iter(unknown))}'; one of domain, split, user_strategy")
    chosen = _splits(domain, split)
    strategy = _strategy(protocol, user_strategy)
    data = find("tau_bench")
    texts = load_texts(data)
    successors = _successors(data)
    samples = []
    for name, splits in chosen.items():
        opened = open_domain(name, data)
        maker = _Maker(opened, _system(protocol, opened), texts, strategy, _parse(protocol), successors)
        samples += [maker.sample(task) for each in splits for task in load_tasks(data, name, each)]
    return samples


def _splits(domain: str, split: str) -> dict[str, tuple[str, ...]]:
    """The chosen splits by domain; one that has none of them is left out."""
    splits = sorted({name for known in SPLITS.values() for name in known})
    if domain not in (*SPLITS, "all"):
        raise SettingError(f"domain={domain}: unknown; {near_miss(domain, [*SPLITS, 'all'])}")
    if split not in (*splits, "all"):
        raise SettingError(f"split={split}: unknown; {near_miss(split, [*splits, 'all'])}")
    if domain != "all" and split not in (*SPLITS[domain], "all"):
        raise SettingError(f"domain={domain} has no split={split}; one of {', '.join(SPLITS[domain])}")
    found = {
        name: tuple(each for each in known if split in (each, "all"))
        for name, known in SPLITS.items()
        if domain in (name, "all")
    }
    return {name: chosen for name, chosen in found.items() if chosen}


def _strategy(protocol: Protocol, chosen: str | None) -> Strategy:
    if chosen is None:
        return "plain" if _parse(protocol) == "official" else "react"
    for strategy in STRATEGIES:
        if chosen == strategy:
            return strategy
    raise SettingError(f"user_strategy={chosen}: unknown; {near_miss(chosen, list(STRATEGIES))}")


def _parse(protocol: Protocol) -> Parse:
    return "official" if protocol.name == OFFICIAL.name else "paper"


def _system(protocol: Protocol, domain: Domain) -> str:
    """What the agent is told: the policy alone, or the release's conversation prompt, a heading and the policy."""
    if protocol.prompts == "official":
        return domain.policy
    if protocol.prompts != "release":
        raise SettingError(f"tau_bench: prompts={protocol.prompts}: unknown; one of official, release")
    file = find("envscaler_release_sample") / "prompts.json"
    record = read_json(file)
    try:
        prompt, heading = record["agent"]["conversational_system_prompt"], record["environment_introduction_heading"]
    except (KeyError, TypeError) as error:
        raise DataError(file, "", f"is not the release's prompt file ({error!r})") from error
    return f"{prompt}\n\n{heading}\n{domain.policy}"


def _successors(data: Path) -> dict[str, dict[str, Any]]:
    """The index of each test task in the successors, by `domain_successor` and index; None where it was dropped."""
    file = data / "tau1_to_tau23_index_map.json"
    record = read_json(file)
    if not isinstance(record, dict) or not all(isinstance(ids, dict) for ids in record.values()):
        raise DataError(file, "", "must be an object of objects: task ids by benchmark and index")
    return record


@dataclass(frozen=True, slots=True)
class _Maker:
    """Builds the samples of one domain."""

    domain: Domain
    system: str
    texts: UserTexts
    strategy: Strategy
    parse: Parse
    successors: dict[str, dict[str, Any]]

    def sample(self, task: Task) -> Sample:
        # One scorer per sample, not per case: it keeps the ground truth, which is replayed once.
        scorer = Scorer(self.domain, task)
        return Sample(
            id=task.id,
            subset=task.domain if task.split == "test" else f"{task.domain}_{task.split}",
            # Neighbouring tasks are variations on one customer's wishes.
            group=f"{task.domain}/{task.user_id}",
            case=lambda: self.case(task, scorer),
            metadata=self.metadata(task),
        )

    def case(self, task: Task, scorer: Scorer) -> Case:
        return Case(
            id=task.id,
            open=lambda: TauBenchEnvironment(self.domain),
            brief=Brief(system=self.system, user=lambda: self.user(task)),
            judge=scorer.judge,
            oracle=oracle(task),
        )

    def user(self, task: Task) -> SimulatedUser:
        return simulated_user(task.instruction, self.texts, self.strategy, self.parse)

    def metadata(self, task: Task) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "task": task.instruction,
            "user_strategy": self.strategy,
            "outputs": list(task.outputs),
            "defects": notes(task.domain, task.split, task.index),
        }
        if task.split == "test":
            for successor in ("tau2", "tau3"):
                facts[f"{successor}_id"] = self.successors.get(f"{task.domain}_{successor}", {}).get(str(task.index))
        return facts


def oracle(task: Task) -> tuple[Message, ...]:
    """Messages that solve a task: its calls but those that end the episode, then what must be told."""
    calls = [assistant("", [(act.name, act.arguments)]) for act in task.actions if act.name not in ENDING_TOOLS]
    told = [assistant(f"This is what you asked for: {'; '.join(task.outputs)}.")] if task.outputs else []
    return tuple(calls + told)


TAU_BENCH = Benchmark(
    name="tau_bench",
    version="1-A",
    protocols={"paper": PAPER, "official": OFFICIAL},
    load=load_samples,
    columns=(
        Column("Retail", subset="retail"),
        Column("Airline", subset="airline"),
        Column("Overall", mean_of=("Retail", "Airline")),
        Column("Retail dev", subset="retail_dev"),
        Column("Retail train", subset="retail_train"),
    ),
    replay_keys=("done", "data_hash", "reward"),
    replay_parameters={"split": "all"},
    # A customer's reply with a repeated label breaks the published evaluation.
    dropped={"paper": ("invalid_reply", "invalid_user_reply", "tool_exception")},
    artifacts=(Artifact(name="tau_bench", source=SOURCE, licence=LICENCE, pull=pull),),
    # Doing nothing is right in 7 of 115 and 19 of 50 tasks, 1 of 20 and 5 of 500 (docs of Tau-Bench, section 0).
    floors={"Retail": 6.09, "Airline": 38.0, "Overall": 22.04, "Retail dev": 5.0, "Retail train": 1.0},
)
"""Scores equal the official ones; what differs between the protocols stands in their definitions above."""
