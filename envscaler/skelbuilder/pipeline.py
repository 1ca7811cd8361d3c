"""All stages in a row: from task texts to a corpus of inspected environments, in one folder.

Its files are derived from the journal and written whole: killed at any moment and started again, a run asks only what
was not answered yet and ends with the same files. Tasks, and then environments, go through their stages side by side.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from envscaler.scenarios import Corpus
from envscaler.skelbuilder import keep, mine, plan, select
from envscaler.skelbuilder.agents import ModelChecker, ModelTester
from envscaler.skelbuilder.config import configured
from envscaler.skelbuilder.embed import Kind, embed
from envscaler.skelbuilder.inspection import Inspection, InspectionRules, Subject, inspect
from envscaler.skelbuilder.program import ProgramRules, build, env_id_of
from envscaler.skelbuilder.records import Built, Judged, Plan, TaskText, Topic
from envscaler.synthesis.desk import BudgetSpent, Desk, GaveUp, ServerFailed
from envscaler.synthesis.folder import Ended, Progress, RunFolder, fate
from harness.isolation import IsolatedRunner
from harness.state import State

STAGES = ("tasks", "judged", "topics", "selected", "plans", "programs", "inspections")
"""Files of a run, one a stage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that decides what becomes of a task text."""

    texts: mine.TextRules = field(default_factory=mine.TextRules)
    select: select.SelectRules = field(default_factory=select.SelectRules)
    embeddings: Kind = "ngrams"
    embedding_model: str | None = None
    embedding_url: str | None = None
    most_topics: int | None = None
    """Environments to build at most, the first ones."""
    program: ProgramRules = field(default_factory=ProgramRules)
    inspection: InspectionRules = field(default_factory=InspectionRules)


class Pipeline:
    """One run in one folder.

    Args:
        folder: Stage files, the journal's neighbours, and `corpus/`.
    """

    def __init__(
        self, folder: Path, desk: Desk, runner: IsolatedRunner, settings: Settings, progress: Progress | None = None
    ) -> None:
        self.folder = RunFolder(folder, STAGES, progress)
        self.desk = desk
        self.runner = runner
        self.settings = settings

    async def run(self, texts: Sequence[TaskText]) -> Ended:
        """Do what is not done yet, and write all files."""
        self.folder.sweep()
        tasks = mine.filtered(texts, self.settings.texts)
        self.folder.write("tasks", tasks)
        kept = [task for task in tasks if task.status == "kept"]
        mined = await self.folder.each("mine", kept, self._mine)
        self.folder.write("judged", [judged for judged, _ in mined])
        topics = [topic for _, topic in mined if topic is not None]
        self.folder.write("topics", topics)
        broken = [record for pair in mined for record in pair if record is not None and record.status == "unfinished"]
        if broken:
            # Which topics are alike is known only when all are there.
            return Ended(0, len(broken), broken[0].reason)
        selected = await asyncio.to_thread(self._select, topics)
        self.folder.write("selected", selected)
        taken: set[str] = set()
        chosen = [(env_id_of(topic.title, taken), topic) for topic in selected if topic.status == "kept"]
        made = await self.folder.each("build", chosen, self._environment)
        self.folder.write("plans", [one for one, _, _ in made])
        self.folder.write("programs", [one for _, one, _ in made if one is not None])
        inspections = [one for _, _, one in made if one is not None]
        self.folder.write("inspections", inspections)
        records = [
            keep.environment(planned, built, found, topic)
            for (_, topic), (planned, built, found) in zip(chosen, made, strict=True)
            if built is not None and found is not None and found.status == "kept"
        ]
        self.folder.write_corpus(Corpus({one.id: one for one in records}, {}))
        stages = [record for group in made for record in group if record is not None]
        unfinished = [record.reason for record in stages if record.status == "unfinished"]
        return Ended(len(records), len(unfinished), unfinished[0] if unfinished else "")

    async def _mine(self, task: TaskText) -> tuple[Judged, Topic | None]:
        try:
            judged = mine.judged(task, await self.desk.ask(mine.judge_prompt(task)))
        except (GaveUp, ServerFailed, BudgetSpent) as error:
            status, reason = fate(error)
            return Judged(task_id=task.id, status=status, reason=reason), None
        if judged.status != "kept":
            return judged, None
        try:
            return judged, mine.topic(task, await self.desk.ask(mine.topic_prompt(task)))
        except (GaveUp, ServerFailed, BudgetSpent) as error:
            status, reason = fate(error)
            return judged, Topic(task_id=task.id, task=task.text, status=status, reason=reason)

    def _select(self, topics: Sequence[Topic]) -> list[Topic]:
        settings = self.settings
        marked = select.above(topics, settings.select)
        good = [topic for topic in marked if topic.status == "kept"]
        if good:
            texts = [select.embedded_text(topic) for topic in good]
            vectors = embed(texts, settings.embeddings, model=settings.embedding_model, base_url=settings.embedding_url)
            chosen = {topic.task_id: topic for topic in select.select(good, vectors, settings.select)}
            marked = [chosen.get(topic.task_id, topic) for topic in marked]
        if settings.most_topics is not None:
            left = settings.most_topics
            for index, topic in enumerate(marked):
                if topic.status == "kept":
                    left -= 1
                    if left < 0:
                        marked[index] = replace(topic, status="rejected", reason="more topics than asked for")
        return marked

    async def _environment(self, chosen: tuple[str, Topic]) -> tuple[Plan, Built | None, Inspection | None]:
        env_id, topic = chosen
        planned = Plan(env_id=env_id, title=topic.title, introduction=topic.introduction)
        try:
            said = await self.desk.ask(plan.state_prompt(topic, env_id))
            planned = replace(planned, entities=said.entities, rules=said.rules)
            more = await self.desk.ask(plan.operations_prompt(planned, topic.task))
            planned = replace(planned, operations=more.operations)
        except (GaveUp, ServerFailed, BudgetSpent) as error:
            status, reason = fate(error)
            return replace(planned, status=status, reason=reason), None, None
        built = Built(env_id=env_id)
        try:
            built = await build(self.desk, planned, self.settings.program)
            if built.status == "kept":
                built = await configured(self.desk, self.runner, planned, built)
        except (ServerFailed, BudgetSpent) as error:
            status, reason = fate(error)
            return planned, replace(built, status=status, reason=reason), None
        if built.status != "kept":
            return planned, built, None
        return planned, built, await self._inspect(planned, built)

    async def _inspect(self, planned: Plan, built: Built) -> Inspection:
        record = keep.record(planned, built)
        subject = Subject.of(record, State.of(built.config))
        try:
            return await inspect(
                subject, ModelTester(self.desk), ModelChecker(self.desk), self.runner, self.settings.inspection
            )
        except (ServerFailed, BudgetSpent) as error:
            return Inspection(env_id=planned.env_id, status="unfinished", reason=fate(error)[1])
