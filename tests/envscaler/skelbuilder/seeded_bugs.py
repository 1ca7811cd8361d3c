"""How many seeded bugs gate and scripted agents find: `python -m tests.envscaler.skelbuilder.seeded_bugs [ROUNDS]`.

The tester calls what the solutions of the environment's scenarios call, then what it makes up from documentation and
records; the checker knows the right answers from the sound original. The share says what an inspection of so many calls
can reach at most, not how well a model judges.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from envscaler.scenarios import Corpus, Scenario, load
from envscaler.skelbuilder.evidence import Checker, TestCall, Tester, View
from envscaler.skelbuilder.gate import gate
from envscaler.skelbuilder.inspection import InspectionRules, Subject, inspect
from envscaler.skelbuilder.scripted import ContractChecker, ReferenceChecker, ScriptedTester
from harness.isolation import IsolatedRunner
from tests.envscaler.skelbuilder.mutants import Mutant, mutants


@dataclass
class OracleTester:
    """Plays the solution of a scenario."""

    scenario: Scenario

    async def call(self, view: View) -> TestCall:
        step = (self.scenario.oracle or ())[view.number - 1]
        return TestCall(tool=step.name, arguments=step.arguments, case="positive")


@dataclass(frozen=True)
class Seen:
    """What found a bug."""

    gate: bool
    contract: bool
    reference: bool

    @property
    def any(self) -> bool:
        return self.gate or self.contract or self.reference


def look(
    mutant: Mutant,
    corpus: Corpus,
    runner: IsolatedRunner,
    rounds: int = 100,
    checkers: tuple[str, ...] = ("contract", "reference"),
) -> Seen:
    """Inspect one environment with a bug."""
    found = dict.fromkeys(("contract", "reference"), False)
    for name in checkers:
        for tester, subject, number in _inspections(mutant, corpus, rounds):
            sound = Subject.of(corpus.environments[mutant.record.id], subject.program.config, subject.program.clock)
            checker: Checker = ContractChecker() if name == "contract" else ReferenceChecker(sound.program, runner)
            rules = InspectionRules(rounds=number, least_per_tool=0)
            if asyncio.run(inspect(subject, tester, checker, runner, rules)).failed:
                found[name] = True
                break
    return Seen(bool(gate(mutant.record.source, mutant.record.class_name)), **found)


def _inspections(mutant: Mutant, corpus: Corpus, rounds: int) -> Iterator[tuple[Tester, Subject, int]]:
    own = [scenario for scenario in corpus.scenarios.values() if scenario.env_id == mutant.record.id]
    for scenario in own:
        subject = Subject.of(mutant.record, scenario.init_config, scenario.time)
        yield OracleTester(scenario), subject, len(scenario.oracle or ())
    yield ScriptedTester(), Subject.of(mutant.record, own[0].init_config, own[0].time), rounds


def main() -> None:
    """Print the shares by kind of bug."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    corpus = load("bundled")
    counts: Counter[tuple[str, str]] = Counter()
    with IsolatedRunner() as runner:
        for mutant in mutants():
            seen = look(mutant, corpus, runner, rounds)
            for name in ("gate", "contract", "reference", "any"):
                counts[mutant.kind, name] += getattr(seen, name)
                counts["all", name] += getattr(seen, name)
            counts[mutant.kind, "of"] += 1
            counts["all", "of"] += 1
    for kind in dict.fromkeys(kind for kind, _ in counts):
        print(kind, *(f"{name} {counts[kind, name]}" for name in ("gate", "contract", "reference", "any", "of")))


if __name__ == "__main__":
    main()
