"""A whole corpus through gate and scripted inspection: what its environments fail, without a model."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import Corpus, load
from envscaler.skelbuilder.gate import Finding, gate, released_schema_findings
from envscaler.skelbuilder.inspection import Inspection, InspectionRules, Subject, inspect
from envscaler.skelbuilder.scripted import ContractChecker, ScriptedTester
from harness.errors import DataError
from harness.isolation import IsolatedRunner
from harness.state import State


@dataclass(frozen=True)
class Line:
    """One environment."""

    env_id: str
    tools: int
    findings: tuple[Finding, ...]
    inspection: Inspection | None
    """None where nothing was run."""

    @property
    def gate(self) -> str:
        """`passed`, or findings by rule."""
        counts = Counter(finding.rule for finding in self.findings)
        return ", ".join(f"{rule} {count}" for rule, count in counts.most_common()) or "passed"

    @property
    def rate(self) -> str:
        """Pass rate of the inspection."""
        return "" if self.inspection is None or self.inspection.rate is None else f"{self.inspection.rate:.2f}"

    @property
    def fate(self) -> str:
        """What would become of it."""
        if any(finding.rule not in ("released_defaults", "released_tools") for finding in self.findings):
            return "stopped by the gate"
        if self.inspection is None:
            return "not run"
        return self.inspection.status + (f" ({self.inspection.reason})" if self.inspection.reason else "")

    @property
    def details(self) -> list[str]:
        """Each finding and each round that did not pass."""
        told = [f"{finding.rule}: {finding}" for finding in self.findings]
        for done in self.inspection.rounds if self.inspection else ():
            if done.verdict != "pass":
                told.append(f"round {done.number}: {done.tool}: {done.verdict}: {done.reason}")
        return told


def survey(source: str, rules: InspectionRules, *, run: bool = True) -> Iterator[Line]:
    """A line for each environment of a corpus.

    Args:
        run: Also inspect those of which a state is known; programs run isolated.
    """
    corpus = load(source)
    with IsolatedRunner() as runner:
        for record in corpus.environments.values():
            try:
                found = [*gate(record.source, record.class_name), *released_schema_findings(record)]
                tools = len(record.own_tools)
            except DataError as error:
                yield Line(record.id, 0, (Finding("compiles", 0, error.problem),), None)
                continue
            subject = subject_of(corpus, record) if run else None
            inspection = None
            if subject is not None:
                inspection = asyncio.run(inspect(subject, ScriptedTester(), ContractChecker(), runner, rules))
            yield Line(record.id, tools, tuple(found), inspection)


def subject_of(corpus: Corpus, record: EnvironmentRecord) -> Subject | None:
    """An environment in the state of its first scenario, or in one that came with it; None if there is neither."""
    for scenario in corpus.scenarios.values():
        if scenario.env_id == record.id:
            return Subject.of(record, scenario.init_config, scenario.time, scenario.seed)
    for config in record.released.get("init_config_list") or ():
        if isinstance(config, dict):
            return Subject.of(record, State.of(config))
    return None
