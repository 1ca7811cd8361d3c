"""The audit of a corpus: scenario by scenario, in several processes, resumed where it stopped.

The journal holds one finished card a line. A card is used again as long as its digest is that of the scenario, its
environment and the effort; so a changed scenario is audited anew, and nothing else is.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO

import msgspec

from envscaler.audit.card import ScenarioCard
from envscaler.audit.scenario import audit, fingerprint
from envscaler.audit.thresholds import Effort, Thresholds
from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import Corpus, Scenario
from harness.errors import DataError, SettingError
from harness.isolation import IsolatedRunner
from harness.program import Limits, Runner
from harness.trusted import TrustedRunner

LEVELS = ("isolated", "process", "trusted")
_LIMITS = Limits(check_seconds=30.0)
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
    with _appending(journal) as file:
        cards = {card.task_id: card for card in _read(journal) if wanted.get(card.task_id) == card.of}
        left = [scenario for scenario in corpus.scenarios.values() if scenario.task_id not in cards]
        for card in _audited(corpus, left, level, jobs, effort, gate):
            cards[card.task_id] = card
            if file is not None:
                file.write(msgspec.json.encode(card) + b"\n")
                file.flush()
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
    return TrustedRunner() if level == "trusted" else IsolatedRunner(_LIMITS, allow_weak=level == "process")


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


@contextmanager
def _appending(journal: Path | None) -> Iterator[BinaryIO | None]:
    if journal is None:
        yield None
        return
    journal.parent.mkdir(parents=True, exist_ok=True)
    with journal.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SettingError(
                f"{journal}: another audit is writing it; wait for it, or choose another folder"
            ) from error
        yield file


def _read(journal: Path | None) -> Iterator[ScenarioCard]:
    """Finished cards; a torn last line, as a killed run leaves it, is cut off.

    Raises:
        DataError: If another line is broken.
    """
    if journal is None or not journal.is_file():
        return
    data = journal.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole != len(data):
        os.truncate(journal, whole)
    for number, line in enumerate(data[:whole].splitlines(), start=1):
        try:
            yield msgspec.json.decode(line, type=ScenarioCard)
        except msgspec.MsgspecError as error:
            raise DataError(journal, f"line {number}", f"is not a card of an audit ({error})") from error
