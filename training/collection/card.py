"""The card of a collection: what was read, kept and dropped, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Literal

from tabulate import tabulate

from training.collection.candidate import Candidate
from training.collection.filters import FILTERS, Filters, Reason

BUCKET = 5
"""Steps in one row of the printed histogram; JSON has every number of steps."""
BARS = 40
"""Characters of the longest bar."""
MOST_NOTES = 20
"""Examples of what was dropped, printed; the file of reasons has all."""

Form = Literal["terminal", "markdown"]


@dataclass(slots=True)
class Group:
    """Counts of one environment in one setting."""

    read: int = 0
    kept: int = 0
    faults: int = 0
    scored: int = 0
    solved: int = 0
    reward: float = 0.0
    """Sum over the scored ones."""

    def add(self, other: Group) -> None:
        """Take in another group."""
        for name in ("read", "kept", "faults", "scored", "solved", "reward"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def unscored(self) -> int:
        """Those that nothing scored, and that are no faults."""
        return self.read - self.scored - self.faults

    @property
    def mean_reward(self) -> float | None:
        """Over scored trajectories, kept or not."""
        return self.reward / self.scored if self.scored else None

    def record(self) -> dict[str, Any]:
        """The counts as plain JSON values."""
        return {
            "read": self.read,
            "kept": self.kept,
            "dropped": self.read - self.kept - self.faults,
            "faults": self.faults,
            "scored": self.scored,
            "unscored": self.unscored,
            "mean_reward": self.mean_reward,
            "solved": self.solved,
        }


@dataclass(slots=True)
class Card:
    """Counts along while trajectories are filtered; holds none of them."""

    filters: Filters
    facts: Sequence[Mapping[str, Any]] = ()
    """How the trajectories came about, one entry a log or file."""
    notes: Sequence[str] = ()
    made: Mapping[str, Any] = field(default_factory=dict)
    """Command, date, version."""
    groups: dict[tuple[str, str], Group] = field(default_factory=dict)
    """Setting and environment -> counts."""
    first: Counter[str] = field(default_factory=Counter)
    every: Counter[str] = field(default_factory=Counter)
    kept_steps: dict[str, Counter[int]] = field(default_factory=dict)
    """Setting -> steps -> kept trajectories."""
    read_steps: dict[str, Counter[int]] = field(default_factory=dict)
    rewards: Counter[float] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    seen: int = 0
    """Trajectories so far."""

    def count(self, candidate: Candidate, reasons: Sequence[Reason]) -> None:
        """Take in one trajectory and the reasons why it is dropped."""
        setting = candidate.setting
        self.seen += 1
        group = self.groups.setdefault((setting, candidate.env_id), Group())
        group.read += 1
        self.read_steps.setdefault(setting, Counter())[candidate.steps] += 1
        if (reward := candidate.reward) is not None and candidate.fault is None:
            group.scored += 1
            group.reward += reward
            group.solved += reward >= 1
            self.rewards[round(reward, 4)] += 1
        if not reasons:
            group.kept += 1
            self.kept_steps.setdefault(setting, Counter())[candidate.steps] += 1
            return
        group.faults += reasons[0].name == "fault"
        self.first[reasons[0].name] += 1
        self.every.update(reason.name for reason in reasons)
        if len(self.examples) < MOST_NOTES:
            told = "; ".join(f"{reason.name}: {reason.detail}" for reason in reasons)
            self.examples.append(f"{candidate.sample_id}, run {candidate.record.get('run', 1)}: {told}")

    @property
    def whole(self) -> Group:
        """All groups together."""
        whole = Group()
        for group in self.groups.values():
            whole.add(group)
        return whole

    def record(self) -> dict[str, Any]:
        """Everything, as plain JSON values."""
        reasons = {name: {"first": self.first[name], "all": self.every[name]} for name in ("fault", *FILTERS)}
        return {
            **self.made,
            "filters": self.filters.record(),
            "counts": self.whole.record(),
            "groups": [
                {"setting": setting, "environment": environment, **group.record()}
                for (setting, environment), group in self.groups.items()
            ],
            "reasons": reasons,
            "steps": {
                setting: {
                    "read": _figures(counts),
                    "kept": _figures(self.kept_steps.get(setting, Counter())),
                    "histogram_read": _histogram(counts),
                    "histogram_kept": _histogram(self.kept_steps.get(setting, Counter())),
                }
                for setting, counts in self.read_steps.items()
            },
            "rewards": {f"{reward:g}": number for reward, number in sorted(self.rewards.items())},
            "sources": [dict(fact) for fact in self.facts],
            "notes": list(self.notes),
        }

    def text(self, form: Form) -> str:
        """The card for people."""
        whole = self.whole
        dropped = whole.read - whole.kept - whole.faults
        kept = f"{whole.kept:,} kept ({_share(whole.kept, whole.read)})"
        parts = [f"{whole.read:,} trajectories: {kept}, {dropped:,} dropped, {whole.faults:,} faults"]
        if whole.unscored:
            parts.append(f"{whole.unscored:,} were never scored; the reward filter says nothing of them")
        rows = [[*name, *_row(group)] for name, group in self.groups.items()] + [["all", "", *_row(whole)]]
        headers = ["setting", "environment", "read", "kept", "dropped", "faults", "reward", "solved"]
        parts += _section("Counts", _table(headers, rows, 2, form), form)
        names = [name for name in ("fault", *FILTERS) if self.every[name] or name in FILTERS]
        about = {"fault": "not the agent's: environment or model server failed"}
        reasons = [
            [name, self.first[name], self.every[name], about.get(name) or FILTERS[name][0] + self._threshold(name)]
            for name in names
        ]
        parts += _section("Why dropped", _table(["filter", "first", "all", "drops"], reasons, 1, form, last=True), form)
        parts += _section("Steps", self._steps(form), form)
        rewards = [f"{name}: {number:,}" for name, number in _tenths(self.rewards)]
        if rewards:
            parts += _section("Rewards, before filtering", _lines(rewards, form), form)
        if self.examples:
            more = whole.read - whole.kept - len(self.examples)
            examples = self.examples + ([f"and {more:,} more; dropped.jsonl has all"] if more else [])
            parts += _section("Dropped", _lines(examples, form), form)
        told = [_told(fact) for fact in self.facts]
        told += [f"note: {note}" for note in self.notes]
        told += [f"{name}: {value}" for name, value in self.made.items()]
        parts += _section("Where from", _lines(told, form), form)
        return "\n\n".join(parts)

    def _threshold(self, name: str) -> str:
        if name in self.filters.off:
            return " (off)"
        if name == "reward":
            return f" ({self.filters.reward:g})"
        if name == "length":
            return f" ({', '.join(f'{setting} {low}-{high}' for setting, (low, high) in self.filters.steps.items())})"
        return ""

    def _steps(self, form: Form) -> str:
        rows = []
        for setting, counts in self.read_steps.items():
            for name, chosen in (("read", counts), ("kept", self.kept_steps.get(setting, Counter()))):
                found = _figures(chosen)
                shown = [f"{value:.1f}" if isinstance(value, float) else str(value) for value in found.values()]
                rows.append([setting, name, *shown])
        table = _table(["setting", "", "n", "mean", "p10", "median", "p90", "min", "max"], rows, 2, form)
        bars = []
        for setting, counts in self.kept_steps.items():
            buckets = Counter(dict.fromkeys(range(0, max(counts) + 1, BUCKET), 0))
            for steps, number in counts.items():
                buckets[steps - steps % BUCKET] += number
            most = max(buckets.values())
            bars.append(f"{setting}, kept")
            for low, number in sorted(buckets.items()):
                bar = "#" * -(-BARS * number // most)
                bars.append(f"{low:>4}-{low + BUCKET - 1:<3} {number:>7,}  {bar}".rstrip())
        block = "\n".join(bars)
        if not block:
            return table
        return f"{table}\n\n```\n{block}\n```" if form == "markdown" else f"{table}\n\n{block}"


def _figures(counts: Counter[int]) -> dict[str, Any]:
    """Mean and quantiles (nearest rank) of numbers that are given as counts."""
    total = sum(counts.values())
    if not total:
        return {"n": 0, **dict.fromkeys(("mean", "p10", "median", "p90", "min", "max"), "-")}
    ordered = sorted(counts.elements())
    ranks = {
        name: ordered[max(0, -(-share * total // 100) - 1)]
        for name, share in (("p10", 10), ("median", 50), ("p90", 90))
    }
    return {"n": total, "mean": fmean(ordered), **ranks, "min": ordered[0], "max": ordered[-1]}


def _histogram(counts: Counter[int]) -> dict[str, int]:
    return {str(steps): number for steps, number in sorted(counts.items())}


def _tenths(rewards: Counter[float]) -> list[tuple[str, int]]:
    """Trajectories by reward, in tenths; a full reward stands alone."""
    found: Counter[int] = Counter()
    for reward, number in rewards.items():
        found[10 if reward >= 1 else int(reward * 10)] += number
    return [("1" if low == 10 else f"0.{low} to 0.{low}999", number) for low, number in sorted(found.items())]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _row(group: Group) -> list[str]:
    reward = group.mean_reward
    counts = [group.read, group.kept, group.read - group.kept - group.faults, group.faults]
    return [
        *(f"{number:,}" for number in counts),
        "-" if reward is None else f"{100 * reward:.1f}",
        _share(group.solved, group.scored),
    ]


def _told(fact: Mapping[str, Any]) -> str:
    if "file" in fact:
        return f"{fact['file']}: {fact['bytes']:,} bytes, sha256 {fact['sha256']}"
    protocol = fact["protocol"]
    sampled = protocol.get("agent") or {}
    sampling = ", ".join(f"{name} {value}" for name, value in sampled.items() if value is not None)
    parameters = " ".join(f"{name}={value}" for name, value in fact["parameters"].items())
    data = ", ".join(f"{name} {value}" for name, value in fact["data"].items())
    versions = ", ".join(f"{name} {value}" for name, value in fact["versions"].items())
    seed = "none" if fact["seed"] is None else fact["seed"]
    return (
        f"{fact['log']}: model {fact['model']}, user {fact['user'] or 'none'}, protocol {protocol.get('name', '')} "
        f"({sampling}), {parameters}, seed {seed}; data {data}; {versions}"
    )


def _section(title: str, body: str, form: Form) -> list[str]:
    return [f"## {title}" if form == "markdown" else title, body]


def _lines(lines: Sequence[str], form: Form) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(headers: list[str], rows: Sequence[Sequence[Any]], left: int, form: Form, *, last: bool = False) -> str:
    """A table whose first columns, and the last if asked, are texts."""
    align = ["left"] * left + ["right"] * (len(headers) - left)
    if last:
        align[-1] = "left"
    style = "github" if form == "markdown" else "simple"
    return tabulate(rows, headers=headers, tablefmt=style, colalign=align if rows else None, disable_numparse=True)
