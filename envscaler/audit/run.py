"""The audit of a corpus: scenario by scenario, in several processes, resumed where it stopped."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path

from envscaler.audit.card import ScenarioCard
from envscaler.audit.journal import CardJournal
from envscaler.audit.scenario import audit, fingerprint
from envscaler.audit.thresholds import Effort, Thresholds
from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import Corpus, Scenario
from harness.errors import SettingError
from harness.isolation import IsolatedRunner
from harness.program import Limits, Runner
from harness.trusted import TrustedRunner

LEVELS = ("isolated", "process", "trusted")
LIMITS = Limits(check_seconds=30.0)
"""A check hears many states in one go."""

Progress = Callable[[ScenarioCard, int, int], None]
"""Called with each card, how many there are by now, and how many there will be."""


def audit_corpus(
    corpus: Corpus,
    *,
    level: str = "isolated",
    jobs: int = 1,
    effort: Effort | None = None,
    gate: Thresholds | None = None,
    journal: Path | None = None,
    progress: Progress | None = None,
) -> list[ScenarioCard]:
    """The cards of all scenarios, in the corpus's order.

    Args:
        level: As for the benchmark: `trusted` only for the bundled corpus.
        jobs: Processes.
        journal: File of finished cards, read first and appended to.
    Raises:
        SettingError: If the level is unknown or not allowed for this corpus, or another audit writes the journal.
        DataError: If the journal is broken.
        IsolationUnavailable: If this machine cannot isolate and nothing weaker was asked for.
    """
    effort, gate = effort or Effort(), gate or Thresholds()
    check_level(corpus, level)
    wanted = {
        scenario.task_id: fingerprint(corpus.environments[scenario.env_id], scenario, effort)
        for scenario in corpus.scenarios.values()
    }
    with CardJournal(journal) as finished:
        known = {task_id: finished.get(of) for task_id, of in wanted.items()}
        cards = {task_id: card for task_id, card in known.items() if card is not None}
        left = [scenario for scenario in corpus.scenarios.values() if scenario.task_id not in cards]
        for card in _audited(corpus, left, level, jobs, effort, gate):
            cards[card.task_id] = card
            finished.add(card)
            if progress is not None:
                progress(card, len(cards), len(wanted))
    return [cards[task_id] for task_id in wanted]


def check_level(corpus: Corpus, level: str) -> None:
    """See that code of a corpus may run at a level, and that this machine has it.

    Raises:
        SettingError: If not.
        IsolationUnavailable: If the machine lacks it.
    """
    if level not in LEVELS:
        raise SettingError(f"level={level}: unknown; one of {', '.join(LEVELS)}")
    if level == "trusted" and not all(record.bundled for record in corpus.environments.values()):
        raise SettingError("level=trusted: only for the bundled corpus; other code runs at level=isolated")
    if level != "trusted":
        _ = runner(level).level


@cache
def runner(level: str) -> Runner:
    """The runner of this process for a level."""
    return TrustedRunner() if level == "trusted" else IsolatedRunner(LIMITS, allow_weak=level == "process")


def _audited(
    corpus: Corpus, scenarios: list[Scenario], level: str, jobs: int, effort: Effort, gate: Thresholds
) -> Iterator[ScenarioCard]:
    if min(jobs, len(scenarios)) <= 1:
        for scenario in scenarios:
            yield _one(corpus.environments[scenario.env_id], scenario, level, effort, gate)
        return
    # Fresh interpreters: a fork would take over sockets and locks of this one.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        min(jobs, len(scenarios)), mp_context=context, initializer=_end_with, initargs=(os.getpid(),)
    ) as pool:
        futures = [
            pool.submit(_one, corpus.environments[scenario.env_id], scenario, level, effort, gate)
            for scenario in scenarios
        ]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _end_with(parent: int) -> None:
    """Let this process not outlive the one that started it: a killed audit cannot tell its workers."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _one(record: EnvironmentRecord, scenario: Scenario, level: str, effort: Effort, gate: Thresholds) -> ScenarioCard:
    # Trusted code is replayed in child processes too: what one process agrees on may differ in the next.
    fresh = runner("process" if level == "trusted" else level)
    return audit(record, scenario, runner(level), fresh=[fresh], effort=effort, gate=gate)
