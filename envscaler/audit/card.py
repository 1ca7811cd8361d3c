"""Score cards: what an audit found of a scenario, and what that comes to for environments and corpora."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from envscaler.audit.thresholds import Thresholds

LINES = (
    "oracle",
    "error",
    "vacuous",
    "true at start",
    "accident",
    "key_order",
    "number_spelling",
    "text_spelling",
    "bystander",
    "generated_ids",
    "list_order",
    "read_order",
    "write_order",
    "mutates",
    "clock",
    "unstable",
    "slow",
)
"""What can be wrong with a check, one line each (docs/audit.md)."""


class Flag(Struct, frozen=True):
    """One thing that is wrong with a check."""

    line: str
    evidence: str


class CheckCard(Struct, frozen=True, kw_only=True):
    """What an audit found of one check."""

    item: str
    flags: list[Flag] = field(default_factory=list)
    kills: dict[str, int] = field(default_factory=dict)
    """Mutants it noticed, by operator."""
    seconds: float = 0.0
    """On one state, with everything around it."""


class Survivor(Struct, frozen=True):
    """A wrong state that every check took for right."""

    operator: str
    what: str


class ScenarioCard(Struct, frozen=True, kw_only=True):
    """What an audit found of one scenario."""

    env_id: str
    task_id: str
    of: str
    """Digest of the scenario, its environment, and how it was audited: equal digests, equal cards."""
    imported: bool = False
    fault: str = ""
    """Why it could not be audited at all."""
    oracle: float | None = None
    """Reward of the oracle's calls; None without an oracle."""
    oracle_from: str = ""
    """`recorded`, `search`, or empty."""
    reached: float | None = None
    """Most reward that the search for an oracle reached, where it found none."""
    oracle_calls: int = 0
    writes: int = 0
    refused: list[str] = field(default_factory=list)
    """Oracle calls that the environment refused."""
    unneeded: list[str] = field(default_factory=list)
    """Writes of the oracle that cost no reward when left out."""
    reads_matter: bool = False
    """Whether the oracle's state depends on its reads."""
    floor: float = 0.0
    """Reward of doing nothing."""
    empty: float = 0.0
    """Reward of a state without records."""
    random: list[float] = field(default_factory=list)
    """Rewards of random legal calls."""
    made: dict[str, int] = field(default_factory=dict)
    """Mutants by operator."""
    killed: dict[str, int] = field(default_factory=dict)
    survivors: list[Survivor] = field(default_factory=list)
    relations: dict[str, int] = field(default_factory=dict)
    """Harmless variants by relation."""
    false_fails: int = 0
    """Pairs of a check and a harmless variant that it fails."""
    unguarded: list[str] = field(default_factory=list)
    """Collections and fields that a legal call can damage without any check noticing."""
    deterministic: bool = True
    checks: list[CheckCard] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def mutants(self) -> int:
        """All mutants."""
        return sum(self.made.values())

    @property
    def kill(self) -> float | None:
        """Share of mutants that some check noticed; None without mutants."""
        return sum(self.killed.values()) / self.mutants if self.mutants else None

    @property
    def true_at_start(self) -> int:
        """Checks that doing nothing passes."""
        return sum(any(flag.line in ("true at start", "vacuous") for flag in check.flags) for check in self.checks)

    def failures(self, gate: Thresholds) -> list[str]:
        """Why the scenario does not pass a gate, one sentence each; none if it does."""
        if self.fault:
            return [f"cannot be audited: {self.fault}"]
        found = []
        if not self.checks:
            found.append("has no checks")
        if gate.oracle is not None:
            if self.oracle is None:
                found.append("has no oracle")
            elif self.oracle < gate.oracle:
                found.append(f"oracle scores {self.oracle:g}, not {gate.oracle:g}")
        if gate.floor is not None and self.floor > gate.floor:
            found.append(f"doing nothing scores {self.floor:g}")
        if gate.kill is not None and self.oracle == 1.0 and (self.kill or 0.0) < gate.kill:
            found.append(f"{sum(self.killed.values())} of {self.mutants} mutants noticed, less than {gate.kill:.0%}")
        if gate.false_fails is not None and self.false_fails > gate.false_fails:
            found.append(f"{self.false_fails} false fails")
        if gate.deterministic and not self.deterministic:
            found.append("not deterministic")
        if gate.minimal and self.unneeded:
            found.append(f"{len(self.unneeded)} writes of the oracle are not needed")
        return found


class Summary(Struct, frozen=True, kw_only=True):
    """Figures of several scenarios."""

    name: str
    scenarios: int
    passed: int
    checks: int
    true_at_start: int
    floor: float
    empty: float
    random: float
    oracles: int
    mutants: int
    killed: int
    false_fails: int
    unguarded: int
    undeterministic: int
    flagged: int
    """Checks with a flag of any line."""
    median_kill: float | None

    @property
    def kill(self) -> float | None:
        """Share of mutants noticed; None without mutants."""
        return self.killed / self.mutants if self.mutants else None


def summary(name: str, cards: Sequence[ScenarioCard], gate: Thresholds) -> Summary:
    """The figures of some scenarios. Rewards are plain means over scenarios; those with a fault have none."""
    sound = [card for card in cards if not card.fault]
    kills = [card.kill for card in sound if card.kill is not None]
    return Summary(
        name=name,
        scenarios=len(cards),
        passed=sum(not card.failures(gate) for card in cards),
        checks=sum(len(card.checks) for card in sound),
        true_at_start=sum(card.true_at_start for card in sound),
        floor=_mean(card.floor for card in sound),
        empty=_mean(card.empty for card in sound),
        random=_mean(_mean(card.random) for card in sound if card.random),
        oracles=sum(card.oracle == 1.0 for card in sound),
        mutants=sum(card.mutants for card in sound),
        killed=sum(sum(card.killed.values()) for card in sound),
        false_fails=sum(card.false_fails for card in sound),
        unguarded=sum(len(card.unguarded) for card in sound),
        undeterministic=sum(not card.deterministic for card in sound),
        flagged=sum(bool(check.flags) for card in sound for check in card.checks),
        median_kill=statistics.median(kills) if kills else None,
    )


def by_environment(cards: Sequence[ScenarioCard], gate: Thresholds) -> list[Summary]:
    """A summary for each environment, in order."""
    names = dict.fromkeys(card.env_id for card in cards)
    return [summary(name, [card for card in cards if card.env_id == name], gate) for name in names]


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return statistics.fmean(found) if found else 0.0
