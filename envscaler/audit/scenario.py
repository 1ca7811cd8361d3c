"""The audit of one scenario: everything is run, nothing is believed."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace
from typing import Any

from envscaler.audit import legal, search
from envscaler.audit.card import CheckCard, Flag, ScenarioCard, Survivor
from envscaler.audit.mutants import COLLATERAL, Mutant, mutants
from envscaler.audit.oracle import Oracle, misled, told
from envscaler.audit.stage import Play, Stage
from envscaler.audit.thresholds import Effort, Thresholds
from envscaler.audit.tree import effects, is_number, is_tag, state, tree
from envscaler.audit.variants import Variant, variants
from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import OracleCall, Scenario
from envscaler.scenarios.judge import reward
from envscaler.scenarios.records import write_own_scenario
from harness.determinism import parse_clock
from harness.errors import EnvironmentFault
from harness.program import Runner, Verdict
from harness.runtime import FAILED, ODD, PASSED, RAISED
from harness.state import State

VERSION = 1
"""Moves when the same scenario may get another card."""
_SHIFTS = (dt.timedelta(seconds=1), dt.timedelta(days=400, hours=13, minutes=7))
_PURE = """

_judged = check_func

def check_func(final_state):
    before = repr(initial_state)
    _judged(final_state)
    return repr(initial_state) == before
"""


def fingerprint(record: EnvironmentRecord, scenario: Scenario, effort: Effort) -> str:
    """Digest of all that a card depends on."""
    own = write_own_scenario(replace(scenario, audit={}))
    parts = [VERSION, record.source, record.class_name, own, asdict(effort)]
    return hashlib.blake2b(json.dumps(parts, sort_keys=True, default=str).encode(), digest_size=8).hexdigest()


def audit(
    record: EnvironmentRecord,
    scenario: Scenario,
    runner: Runner,
    *,
    fresh: Sequence[Runner] = (),
    effort: Effort | None = None,
    gate: Thresholds | None = None,
) -> ScenarioCard:
    """The card of a scenario. What goes wrong in its code is a finding, never an exception.

    Args:
        runner: The level at which its code runs.
        fresh: Runners whose programs run in other processes, for replays; none: `runner` itself.
    """
    effort, gate = effort or Effort(), gate or Thresholds()
    begun = time.perf_counter()
    base = ScenarioCard(
        env_id=scenario.env_id,
        task_id=scenario.task_id,
        of=fingerprint(record, scenario, effort),
        imported=bool(scenario.class_name or scenario.released),
    )
    try:
        stage = Stage(runner, record, scenario)
        with closing(stage):
            card = _Audit(stage, fresh or [runner], effort, gate).card(base)
    except EnvironmentFault as fault:
        card = _changed(base, fault=str(fault))
    return _changed(card, seconds=round(time.perf_counter() - begun, 3))


def _changed(card: ScenarioCard, **values: Any) -> ScenarioCard:
    from msgspec.structs import replace as with_values

    return with_values(card, **values)


class _Audit:
    def __init__(self, stage: Stage, fresh: Sequence[Runner], effort: Effort, gate: Thresholds) -> None:
        self.stage, self.fresh, self.effort, self.gate = stage, fresh, effort, gate
        self.scenario = stage.scenario
        self.rng = random.Random(f"audit {self.scenario.task_id}")
        self.reached: float | None = None
        self.flags: list[dict[str, str]] = [{} for _ in self.scenario.checks]

    def flag(self, index: int, line: str, evidence: str) -> None:
        """Note a flaw of a check; the first evidence of each line is kept."""
        self.flags[index].setdefault(line, evidence)

    def card(self, card: ScenarioCard) -> ScenarioCard:
        if not self.scenario.checks:
            return card
        stage, effort = self.stage, self.effort
        started = time.perf_counter()
        first = stage.verdicts(stage.initial)
        seconds = (time.perf_counter() - started) / len(first)
        calls, origin = self._oracle()
        whole = None if calls is None else stage.play(calls)
        if whole is not None:
            stage.share(whole)
        drawn = legal.episodes(
            stage, self.rng, count=effort.random_episodes, calls=effort.random_calls, tries=effort.tries_per_tool
        )
        heard = stage.ask([state(_emptied(stage.start)), *(play.final for play in drawn)])
        nothing = [letters[0] == PASSED for letters in heard]
        empty, *values = (round(_share(letters), 4) for letters in zip(*heard, strict=True))
        card = _changed(card, floor=reward(first), empty=empty, random=values)
        deterministic = self._deterministic(calls)
        if whole is not None:
            card = self._with_oracle(card, whole, origin, first, nothing)
        else:
            self._judge(first, first, None)
            self._dependence([stage.initial])
        deterministic = deterministic and not any("unstable" in flags for flags in self.flags)
        for index, verdict in enumerate(first):
            if verdict.passed and "vacuous" not in self.flags[index]:
                self.flag(index, "true at start", "passes on the initial state")
            if seconds > self.gate.check_seconds:
                self.flag(index, "slow", f"{seconds:.2f} s on one state")
        done = {index: card.checks[index].kills if card.checks else {} for index in range(len(first))}
        checks = [
            CheckCard(
                item=check.item,
                flags=[Flag(line, evidence) for line, evidence in self.flags[index].items()],
                kills=done[index],
                seconds=round(seconds, 4),
            )
            for index, check in enumerate(self.scenario.checks)
        ]
        return _changed(card, checks=checks, deterministic=deterministic, reached=self.reached)

    # What needs no oracle

    def _oracle(self) -> tuple[tuple[OracleCall, ...] | None, str]:
        if self.scenario.oracle is not None:
            return self.scenario.oracle, "recorded"
        if self.effort.search:
            found = search.search(self.stage, self.effort.search)
            if found.share == 1.0:
                return found.calls, "search"
            self.reached = found.share
        return None, ""

    def _deterministic(self, calls: tuple[OracleCall, ...] | None) -> bool:
        """Whether replays in different processes leave one state, and one verdict of each check on it."""
        calls = calls or ()
        digests, heard = set(), set()
        for index in range(self.effort.replays):
            runner = self.fresh[index % len(self.fresh)]
            played = self.stage.play(calls, runner)
            digests.add((played.final.digest, tuple(result.text for result in played.results)))
            verdicts = self.stage.verdicts(played.final)
            heard.add(tuple(verdict.passed for verdict in verdicts))
        if len(digests) == 1 and len(heard) > 1:
            for index in range(len(self.scenario.checks)):
                if len({verdicts[index] for verdicts in heard}) > 1:
                    self.flag(index, "unstable", "says different things of one state")
        return len(digests) == 1

    def _judge(self, first: Sequence[Verdict], final: Sequence[Verdict], oracle: Oracle | None) -> None:
        for index, verdict in enumerate(final):
            if verdict.mutated or first[index].mutated:
                self.flag(index, "mutates", "changes the state that it is given")
            elif (error := verdict.error or first[index].error) is not None:
                self.flag(index, "error", error[:200])
            elif oracle is not None and not verdict.passed:
                self.flag(index, "oracle", "is false after the oracle's calls")
        wrapped = replace(
            self.scenario,
            checks=tuple(replace(check, function=check.function + _PURE) for check in self.scenario.checks),
        )
        stage = self.stage
        final_state = oracle.play.final if oracle else stage.initial
        for index, letters in enumerate(_asking(stage, wrapped, [final_state])):
            if letters == FAILED:
                self.flag(index, "mutates", "changes initial_state")

    def _dependence(self, seen: Sequence[State]) -> None:
        """Flag checks whose verdict moves with the clock or the seed."""
        now = parse_clock(self.scenario.time)
        usual = self.stage.ask(seen)
        for number, shift in enumerate(_SHIFTS, start=1):
            clock = (now + shift).isoformat()
            later = self.stage.ask(seen, clock=clock, seed=self.scenario.seed + number)
            for index, (one, other) in enumerate(zip(usual, later, strict=True)):
                if one != other:
                    self.flag(index, "clock", f"says something else of the same state at {clock}, seed + {number}")

    # What the oracle shows

    def _with_oracle(
        self,
        card: ScenarioCard,
        whole: Play,
        origin: str,
        first: Sequence[Verdict],
        nothing: Sequence[bool],
    ) -> ScenarioCard:
        stage = self.stage
        calls = whole.calls
        final = stage.verdicts(whole.final)
        results, states = stage.states(calls)
        steps = list(zip(calls, [stage.initial, *states], states, strict=False))
        changing = [call for call, before, after in steps if before != after]
        short = stage.play(changing)
        reads_matter = short.final != whole.final
        oracle = Oracle(whole if reads_matter else short, effects(stage.start, whole.tree))
        for call, before, after in steps:
            oracle.learn(call, effects(tree(before), tree(after)))
        card = _changed(
            card,
            oracle=reward(final),
            oracle_from=origin,
            oracle_calls=len(calls),
            writes=len(changing),
            refused=[f"{told(calls[index])}: {results[index].text[:160]}" for index in whole.refused],
            reads_matter=reads_matter,
        )
        self._judge(first, final, oracle)
        self._dependence([whole.final, stage.initial])
        if not oracle.records:
            return card
        passing = [verdict.passed for verdict in final]
        alone = self._legal(oracle)
        extra = legal.writes(
            stage, oracle.play.final, self.rng, most=self.effort.extra_writes, tries=self.effort.tries_per_tool
        )
        for step in extra:
            oracle.see(effects(oracle.play.tree, tree(step.final)))
        harmless = variants(stage, oracle, calls, self.effort.swaps)
        wrong = mutants(stage, oracle, extra, self.rng, self.effort.per_operator)
        heard = stage.ask(
            [
                *((variant.initial, variant.final) for variant in harmless),
                *(mutant.final for mutant in wrong),
                misled(oracle, stage.start),
                *(step.final for step in alone),
            ]
        )
        ends = len(harmless), len(harmless) + len(wrong)
        card = self._false_fails(card, harmless, [letters[: ends[0]] for letters in heard], passing)
        card = self._kills(card, wrong, [letters[ends[0] : ends[1]] for letters in heard], passing)
        self._vacuous(first, nothing, final, len(wrong), card)
        self._accidents(alone, [letters[ends[1] :] for letters in heard], first, passing)
        return card

    def _legal(self, oracle: Oracle) -> list[legal.Step]:
        """Single legal calls from the start; those that have nothing to do with the oracle's effects."""
        stage = self.stage
        oracle.see(oracle.effects)
        found = legal.writes(
            stage, stage.initial, self.rng, most=self.effort.extra_writes, tries=self.effort.tries_per_tool
        )
        # Another record of a collection that the oracle changes may be another way to do what was asked.
        touched = {effect.path[0] for effect in oracle.records}
        apart = []
        for step in found:
            done = [effect for effect in effects(stage.start, tree(step.final)) if not effect.is_setting]
            oracle.see(done)
            if done and not any(effect.path[0] in touched for effect in done):
                apart.append(step)
        return apart

    def _false_fails(
        self, card: ScenarioCard, found: Sequence[Variant], heard: Sequence[str], passing: Sequence[bool]
    ) -> ScenarioCard:
        count = 0
        for index, letters in enumerate(heard):
            for letter, variant in zip(letters, found, strict=True):
                if passing[index] and letter != PASSED:
                    count += 1
                    self.flag(index, variant.relation, f"{_said(letter)} though only: {variant.what}")
        return _changed(card, relations=dict(Counter(variant.relation for variant in found)), false_fails=count)

    def _kills(
        self, card: ScenarioCard, found: Sequence[Mutant], heard: Sequence[str], passing: Sequence[bool]
    ) -> ScenarioCard:
        made: Counter[str] = Counter(mutant.operator for mutant in found)
        killed: Counter[str] = Counter()
        kills: list[Counter[str]] = [Counter() for _ in passing]
        survivors, unneeded = [], []
        unguarded: dict[str, None] = {}
        for number, mutant in enumerate(found):
            noticed = [index for index, letters in enumerate(heard) if passing[index] and letters[number] != PASSED]
            killed[mutant.operator] += bool(noticed)
            for index in noticed:
                kills[index][mutant.operator] += 1
            if not noticed:
                survivors.append(Survivor(mutant.operator, mutant.what))
                if mutant.operator in COLLATERAL:
                    unguarded[mutant.target] = None
                if mutant.operator == "missing_call":
                    unneeded.append(mutant.what)
        return _changed(
            card,
            made=dict(made),
            killed=dict(killed),
            survivors=survivors,
            unguarded=list(unguarded),
            unneeded=unneeded,
            checks=[CheckCard(item="", kills=dict(counts)) for counts in kills],
        )

    def _vacuous(
        self,
        first: Sequence[Verdict],
        nothing: Sequence[bool],
        final: Sequence[Verdict],
        count: int,
        card: ScenarioCard,
    ) -> None:
        for index, verdict in enumerate(first):
            always = verdict.passed and final[index].passed
            if always and count and not card.checks[index].kills:
                besides = " and on an empty state" if nothing[index] else ""
                self.flag(index, "vacuous", f"passes at the start, after {count} wrong call lists and states{besides}")

    def _accidents(
        self, alone: Sequence[legal.Step], heard: Sequence[str], first: Sequence[Verdict], passing: Sequence[bool]
    ) -> None:
        told_of = ["as many changes, none of them what was asked", *(f"only {told(step.call)}" for step in alone)]
        for index, letters in enumerate(heard):
            if passing[index] and not first[index].passed and PASSED in letters:
                self.flag(index, "accident", f"passes after {told_of[letters.index(PASSED)]}")


def _asking(stage: Stage, scenario: Scenario, finals: Sequence[State]) -> list[str]:
    """What the checks of a changed scenario say in the same place."""
    other = Stage.__new__(Stage)
    other.__dict__ = {**stage.__dict__, "scenario": scenario}
    return other.ask(finals)


def _said(letter: str) -> str:
    return {FAILED: "fails", RAISED: "raises", ODD: "returns no bool"}.get(letter, "passes")


def _share(letters: Sequence[str]) -> float:
    return sum(letter == PASSED for letter in letters) / len(letters)


def _emptied(root: Any) -> Any:
    """A state without records."""
    emptied: dict[str, Any] = {}
    for key, value in root.items():
        if isinstance(value, dict) and not is_tag(value):
            emptied[key] = {}
        elif isinstance(value, list):
            emptied[key] = []
        else:
            emptied[key] = 0 if is_number(value) else value
    return emptied
