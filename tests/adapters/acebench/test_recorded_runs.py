"""Against every recorded run of the official code and of the paper's, whole: 11,218 replays and 120 scripted episodes.

Where a recording and our protocol differ by design, the test has a rule with its reason, and counts how often it is
needed, so that a rule cannot quietly grow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.acebench import scoring
from adapters.acebench.environment import AceEnvironment
from adapters.acebench.judge import paper_log
from adapters.acebench.task import Task, load_tasks, load_world
from benchmarks.acebench_agent import ACEBENCH_AGENT, PAPER
from harness.case import Case
from harness.episode import Episode, Finished, UserTurn
from harness.messages import assistant
from harness.outcome import Outcome, StopReason
from tests.adapters.acebench import official_executor
from tests.adapters.acebench.official_executor import Official

Record = dict[str, Any]
Read = Callable[[str], list[Record]]
VISIBLE, PROTOCOL = "acebench_visible.jsonl.gz", "acebench_protocol.jsonl.gz"


@pytest.fixture(scope="module")
def worlds(real: Path) -> dict[str, tuple[dict[str, Any], dict[str, Task]]]:
    """Seed state and tasks by language."""
    return {code: (load_world(real, code), {t.id: t for t in load_tasks(real, code)}) for code in ("en", "zh")}


def _open(worlds: dict[str, Any], record: Record) -> tuple[AceEnvironment, Task]:
    world, tasks = worlds[record["lang"]]
    task = tasks[record["task_id"]]
    return AceEnvironment(world, task.involved, task.config, (), record["lang"]), task


def _differs(record: Record, what: str, mine: Any, theirs: Any) -> list[str]:
    return [] if mine == theirs else [f"{record['id']} {what}: {mine!r} instead of {theirs!r}"]


def test_every_run_of_the_official_executor_comes_out_the_same(real: Path, worlds: Any, recorded: Read) -> None:
    wrong: list[str] = []
    seen: Counter[str] = Counter()
    for record in recorded(VISIBLE):
        environment, task = _open(worlds, record)
        groups = [[(name, arguments) for name, arguments in group] for group in record.get("groups", ())]
        messages = record.get("raw_messages") or [scoring.official_entry(group) for group in groups]
        official = Official(environment, multi_turn=record["subset"] == "turn")
        log = messages[: official.run(messages)]
        solved = scoring.end_to_end(official.states, task.answer)
        marked = round(scoring.process(log, task.milestones, solved == 1.0), 3)
        theirs = record["official"]
        wrong += _differs(record, "observations", official.observations, theirs["obs"])
        wrong += _differs(record, "states", official.states, theirs["states"])
        wrong += _differs(record, "log", log, theirs["process_log"])
        wrong += _differs(record, "end_to_end", solved, theirs["e2e"])
        wrong += _differs(record, "process", marked, theirs["process"])
        wrong += _differs(record, "crash", official.crashed, "crash" in theirs)
        seen["runs"] += 1
        seen["crashes"] += official.crashed
        flat = [each for given in official.observations for each in (given if isinstance(given, list) else [given])]
        seen["unknown tools"] += flat.count(official_executor.UNKNOWN)
        seen["unformatted"] += official.observations.count(official_executor.UNFORMATTED)
    assert wrong == []
    assert seen == {"runs": 11_218, "crashes": 51, "unknown tools": 2937, "unformatted": 3701}


def _through_an_episode(record: Record, case: Case) -> tuple[list[str], Episode]:
    """Play the groups as messages with several calls each, then the closing words of the recording."""
    closing = iter(["Task Completed", "Task Completed"])
    groups = iter(record["groups"])
    # The recorded executor runs all calls of an action; the paper's agent never gives it more than one.
    episode = Episode(case, replace(PAPER, calls_per_step="all"))
    need = episode.start()
    opened = False
    while not isinstance(need, Finished):
        if isinstance(need, UserTurn):
            need = episode.user("finish conversation" if opened else "Hello")
            opened = True
        else:
            group = next(groups, None)
            need = episode.agent(assistant(next(closing)) if group is None else assistant(calls=group))
    by_step: dict[int, list[str]] = {}
    for call in episode.trajectory.calls:
        by_step.setdefault(call.step, []).append(call.result.text)
    # One list per call here, one per action there.
    return [f"[{', '.join(text[1:-1] for text in texts)}]" for texts in by_step.values()], episode


def test_every_run_of_the_papers_environment_comes_out_the_same(real: Path, recorded: Read) -> None:
    cases = {sample.id: sample.case() for sample in ACEBENCH_AGENT.load(PAPER)}
    wrong: list[str] = []
    runs: Counter[tuple[bool, bool]] = Counter()
    for record in recorded(VISIBLE):
        theirs = record.get("envscaler")
        if theirs is None:
            continue
        observations, episode = _through_an_episode(record, cases[record["task_id"]])
        outcome, environment = episode.trajectory.outcome, episode.environment
        assert outcome is not None
        assert outcome.score is not None
        assert environment is not None
        states = record["official"]["states"] if theirs["states"] == "same_as_official" else theirs["states"]
        wrong += _differs(record, "observations", observations, theirs["obs"])
        wrong += _differs(record, "states", environment.state().decode(), states)
        wrong += _differs(record, "end_to_end", outcome.score.parts["end_to_end"], theirs["e2e"])
        wrong += _differs(record, "process", outcome.score.parts["process"], theirs["process"])
        ended = (theirs["terminated"], theirs["truncated"])
        wrong += _differs(record, "ending", _ending(outcome), ended)
        runs[ended] += 1
        episode.close()
    assert wrong == []
    # Four recordings end by word in the very step that reaches the limit.
    assert runs == {(True, False): 5495, (False, True): 110, (True, True): 4}


def _ending(outcome: Outcome) -> tuple[bool, bool]:
    """The release's two flags: it ended by word; the limit was reached."""
    by_word = outcome.stop_reason in (StopReason.AGENT_DONE, StopReason.USER_STOP)
    return by_word, outcome.steps >= PAPER.step_limit


class Scripted:
    """One scripted episode of the release's `env.step`, played through ours."""

    def __init__(self, record: Record, case: Case) -> None:
        self.record = record
        self.heard: list[str] = []
        self._replies = iter(record["user_replies"])
        self._episode = Episode(case, replace(PAPER, calls_per_step="all"))
        self._need = self._episode.start()
        if isinstance(self._need, UserTurn):
            self._need = self._episode.user("Hello")

    @property
    def outcome(self) -> Outcome | None:
        """How it ended, once it has."""
        return self._need.outcome if isinstance(self._need, Finished) else None

    @property
    def log(self) -> list[str]:
        """What the process score sees."""
        return paper_log(self._episode.trajectory.messages)

    def step(self, action: dict[str, Any]) -> dict[str, str] | None:
        """The observation that answers an action; None if it ended the episode."""
        messages = self._episode.trajectory.messages
        before = len(messages) + 1
        self._need = self._episode.agent({"role": "assistant", **action})
        if isinstance(self._need, UserTurn):
            self.heard.append(self._need.messages[-1]["content"])
            self._need = self._episode.user(next(self._replies, "ok"))
        answers = messages[before:]
        if not answers:
            return None
        texts = [answer["content"] for answer in answers]
        if answers[0]["role"] == "user":
            return {"type": "user", "content": texts[0]}
        return {"type": "tool", "content": f"[{', '.join(text[1:-1] for text in texts)}]"}


def test_every_scripted_episode_of_the_papers_environment_comes_out_the_same(real: Path, recorded: Read) -> None:
    cases = {sample.id: sample.case() for sample in ACEBENCH_AGENT.load(PAPER)}
    wrong: list[str] = []
    rules: Counter[str] = Counter()
    for record in recorded(PROTOCOL):
        rules["episodes"] += 1
        mine = Scripted(record, cases[record["task_id"]])
        for number, step in enumerate(record["steps"], start=1):
            if number > PAPER.step_limit:
                # Empty replies are never counted against the limit there; the agent's loop stops asking, and gives 0.
                rules["empty replies past the limit"] += 1
                assert record["scenario"] == "twenty_empty"
                break
            found = mine.step(step["action"])
            wrong += _step_differences(record, number, step, found, mine.outcome, rules)
        wrong += _differs(record, "log", mine.log, record["log"])
        # The recordings hold no more than the last three.
        wrong += _differs(record, "user_saw", mine.heard[-3:], record["user_saw"])
        if record["scenario"] == "twenty_empty":
            assert mine.outcome is not None
            assert mine.outcome.score is not None
            wrong += _differs(record, "value", mine.outcome.score.value, 0.0)
    assert wrong == []
    assert rules == {
        "episodes": 120,
        "no words after the end": 12,
        "a crash is an invalid reply": 12,
        "null content is no content": 3,
        "empty replies past the limit": 6,
    }


def _step_differences(
    record: Record,
    number: int,
    theirs: dict[str, Any],
    found: dict[str, str] | None,
    outcome: Outcome | None,
    rules: Counter[str],
) -> Iterator[str]:
    where = f"step {number}"
    if "exception" in theirs:
        if record["scenario"] == "none_content":
            # `null` beside a call is the ordinary form of a call on the wire. Its environment crashes on it, in
            # multi_step only; its agent never sends it.
            rules["null content is no content"] += 1
            yield from _differs(record, where, (found is not None, outcome), (True, None))
            return
        rules["a crash is an invalid reply"] += 1
        assert outcome is not None
        assert outcome.score is not None
        ended = (outcome.stop_reason, outcome.score.value, outcome.score.parts["end_to_end"])
        yield from _differs(record, where, ended, (StopReason.INVALID_REPLY, 0.0, 0.0))
        return
    if theirs["observation"]["content"] == "Task finished":
        rules["no words after the end"] += 1
        yield from _differs(record, where, found, None)
    else:
        yield from _differs(record, where, found, theirs["observation"])
    if record["scenario"] == "twenty_empty":
        return
    ending = _ending(outcome) if outcome is not None else (False, False)
    yield from _differs(record, f"{where} ending", ending, (theirs["terminated"], theirs["truncated"]))
    scores = theirs["scores"]
    if scores is not None:
        assert outcome is not None
        assert outcome.score is not None
        parts = outcome.score.parts
        marks = (parts["end_to_end"], parts["process"])
        yield from _differs(record, f"{where} scores", marks, (scores["end_to_end_score"], scores["process_score"]))
