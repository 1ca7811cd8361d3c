"""All stages in a row: from environments to a corpus of scenarios, in one folder.

As for environments, its files are derived from the journals and written whole; scenarios go through their stages side
by side.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace as changed

from envscaler.audit import DEFAULT, Effort, Thresholds
from envscaler.audit.journal import CardJournal
from envscaler.audit.record import figures
from envscaler.audit.run import LIMITS
from envscaler.scenarios import Corpus, Scenario
from envscaler.scengenerator import check
from envscaler.scengenerator.gate import gate_problems, hopeless
from envscaler.scengenerator.lab import Lab
from envscaler.scengenerator.records import Begun, Checked, Gated, Problem, Solved
from envscaler.scengenerator.solve import Solver, solved
from envscaler.scengenerator.state import begin
from envscaler.scengenerator.wanted import Wanted, wanted
from envscaler.synthesis.desk import BudgetSpent, Desk, GaveUp, ServerFailed
from envscaler.synthesis.folder import Ended, Progress, RunFolder, fate
from envscaler.synthesis.shape import Size
from harness.errors import EnvironmentFault
from harness.isolation import IsolatedRunner

STAGES = ("states", "solved", "checked", "gated")
"""Files of a run, one a stage."""
CARDS = "cards.jsonl"
"""Finished audits, beside the journal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that decides what becomes of a scenario."""

    per_environment: int = 5
    """Scenarios wanted of each environment."""
    size: Size = field(default_factory=lambda: Size(3, 8))
    least_writes: int = 2
    """Calls of the oracle that change the state, at least."""
    most_checks: int = 12
    revisions: int = 3
    """How often each part (state, task with oracle, checks) may be sent back."""
    gate: Thresholds = DEFAULT
    effort: Effort = field(default_factory=Effort)
    jobs: int = 1
    """Audits at one time."""


R = TypeVar("R", Begun, Checked, Gated, Solved)


class Made(Struct, kw_only=True):
    """What became of one scenario, stage by stage."""

    begun: Begun
    solved: Solved | None = None
    checked: Checked | None = None
    gated: Gated | None = None
    scenario: Scenario | None = None

    @property
    def stages(self) -> list[Begun | Solved | Checked | Gated]:
        """Its records, as far as it came."""
        return [one for one in (self.begun, self.solved, self.checked, self.gated) if one is not None]


class Pipeline:
    """One run in one folder.

    Args:
        folder: Stage files, the journal's neighbours, and `corpus/`.
        runner: For states, calls and checks.
    """

    def __init__(
        self, folder: Path, desk: Desk, runner: IsolatedRunner, settings: Settings, progress: Progress | None = None
    ) -> None:
        self.folder = RunFolder(folder, STAGES, progress)
        self.desk = desk
        self.runner = runner
        self.settings = settings

    async def run(self, corpus: Corpus) -> Ended:
        """Do what is not done yet, and write all files.

        Raises:
            DataError: If an environment cannot be read.
        """
        self.folder.sweep()
        settings = self.settings
        items = list(wanted(corpus, settings.per_environment))
        with CardJournal(self.folder.path / CARDS) as cards, IsolatedRunner(LIMITS) as auditor:
            lab = Lab(self.runner, auditor, cards, settings.effort, settings.gate, settings.jobs)

            async def make(item: Wanted) -> Made:
                return await _Making(self.desk, lab, settings, item).make()

            made = await self.folder.each("scenarios", items, make)
        _drop_repeated(made)
        for stage, name in zip(STAGES, ("begun", "solved", "checked", "gated"), strict=True):
            records = [getattr(one, name) for one in made]
            self.folder.write(stage, [record for record in records if record is not None])
        kept = [one.scenario for one in made if one.scenario is not None]
        self.folder.write_corpus(Corpus(corpus.environments, {scenario.task_id: scenario for scenario in kept}))
        unfinished = [record.reason for one in made for record in one.stages if record.status == "unfinished"]
        return Ended(len(kept), len(unfinished), unfinished[0] if unfinished else "")


def _drop_repeated(made: Sequence[Made]) -> None:
    """Of kept scenarios of one environment with one task (case, space and signs aside) the first stays."""
    first: dict[tuple[str, str], str] = {}
    for one in made:
        if one.scenario is not None and one.gated is not None:
            task = " ".join(re.findall(r"\w+", one.scenario.task.casefold()))
            known = first.setdefault((one.scenario.env_id, task), one.scenario.task_id)
            if known != one.scenario.task_id:
                one.scenario = None
                one.gated = changed(one.gated, status="rejected", reason=f"repeats {known}")


class _Making:
    """The making of one scenario."""

    def __init__(self, desk: Desk, lab: Lab, settings: Settings, item: Wanted) -> None:
        self.desk, self.lab, self.settings, self.item = desk, lab, settings, item
        env_id, task_id = item.record.id, item.task_id
        self.begun = Begun(env_id=env_id, task_id=task_id)
        self.solved = Solved(env_id=env_id, task_id=task_id)
        self.checked = Checked(env_id=env_id, task_id=task_id)
        self.gated = Gated(env_id=env_id, task_id=task_id)

    async def make(self) -> Made:
        """Go through the stages until one rejects it."""
        settings, item = self.settings, self.item
        try:
            begun = await begin(self.desk, self.lab, item, settings.size, settings.revisions)
        except (GaveUp, ServerFailed, BudgetSpent) as error:
            begun = _fallen(self.begun, error)
        made = Made(begun=begun)
        if begun.status != "kept":
            return made
        try:
            stage = await self.lab.start(item.record, item.scenario(begun.config))
        except EnvironmentFault as fault:
            # It did start a moment ago.
            made.begun = changed(begun, status="rejected", reason="state: environment fault", problems=(str(fault),))
            return made
        solver = Solver(self.desk, self.lab, item, begun, stage, settings.least_writes, settings.revisions)
        try:
            made.solved = solved(item, *await solver.first())
        except (GaveUp, ServerFailed, BudgetSpent) as error:
            made.solved = _fallen(self.solved, error)
        if made.solved.status == "kept":
            try:
                await self._check(made, made.solved, solver)
            except (GaveUp, ServerFailed, BudgetSpent) as error:
                made.checked, made.gated = _fallen(made.checked or self.checked, error), None
            except EnvironmentFault as fault:
                broken = changed(made.checked or self.checked, problems=(str(fault),))
                made.checked = changed(broken, status="rejected", reason="checks: environment fault")
                made.gated = None
        return made

    async def _check(self, made: Made, found: Solved, solver: Solver) -> None:
        """Checks that hold, and that the gate lets through; repaired by evidence until the revisions are spent."""
        settings, item, config = self.settings, self.item, made.begun.config
        checks = await check.written(self.desk, item, made.begun, found.task, settings.most_checks)
        first_kill: float | None = None
        for number in range(settings.revisions + 1):
            scenario = item.scenario(config, found.task, found.calls, checks)
            problems = check.trial_problems(checks, *await self.lab.verdicts(scenario, solver.played))
            made.gated = None
            made.checked = _judged(changed(self.checked, checks=checks, revisions=number), "checks", problems)
            if not problems:
                card = await self.lab.audit(item.record, scenario)
                first_kill = card.kill if first_kill is None else first_kill
                problems = gate_problems(card, settings.gate)
                held = changed(self.gated, figures=figures(card), first_kill=first_kill)
                made.gated = _judged(held, "gate", problems)
                if not problems:
                    made.scenario = replace(scenario, audit=figures(card))
                if not problems or hopeless(card):
                    return
            if number == settings.revisions:
                return
            said = await self.desk.ask(
                check.repair_prompt(
                    item, made.begun, found.task, solver.played, checks, problems, number + 1, settings.most_checks
                )
            )
            checks = check.repaired(checks, said)
            if said.solution.strip():
                wrong = Problem("disputed", f"a reviewer of the outcome says: {said.solution.strip()}")
                made.solved = found = solved(item, *await solver.again([wrong]))
                if found.status != "kept":
                    made.checked = made.gated = None
                    return


def _fallen(record: R, error: GaveUp | ServerFailed | BudgetSpent) -> R:
    """A record of a stage in which no answer came."""
    status, reason = fate(error)
    problems = (str(error),) if status == "rejected" else ()
    return changed(record, status=status, reason=reason, problems=problems)


def _judged(record: R, stage: str, problems: Sequence[Problem]) -> R:
    """A record with what was found to be wrong."""
    if not problems:
        return record
    kinds = ", ".join(sorted({problem.kind for problem in problems}))
    told = tuple(problem.text for problem in problems)
    return changed(record, status="rejected", reason=f"{stage}: {kinds}", problems=told)
