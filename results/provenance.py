"""Where a table comes from, and which of its rows were made in different ways."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from results.facts import merged
from results.read import Read
from results.table import Line


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a reader needs to make the table again."""

    command: str
    made: str
    """Date and time, UTC."""
    version: str
    """Of this package."""
    logs: Mapping[str, str]
    """File name -> date of the log."""
    benchmarks: Mapping[str, Mapping[str, str]]
    """Benchmark with version and protocol -> sampling, user, data, versions of its logs."""
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The same key -> the protocol's whole record."""

    def record(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)

    def sentences(self) -> list[str]:
        """As lines below a table."""
        days = sorted({date[:10] for date in self.logs.values()})
        span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}" if days else ""
        told = [f"made {self.made} by envscaler {self.version}: {self.command}"]
        if self.logs:
            told.append(f"from {len(self.logs)} log{'s' if len(self.logs) > 1 else ''} of {span}")
        for name, facts in self.benchmarks.items():
            told.append(f"{name}: {', '.join(f'{key} {value}' for key, value in facts.items()) or 'nothing known'}")
        return told


def provenance(read: Read, command: str, version: str) -> Provenance:
    """The provenance of what was read.

    Args:
        command: The command line as the user gave it.
        version: Of this package.
    """
    used = {row.log for row in read.rows}
    facts = {name: fact for name, fact in read.logs.items() if name in used}
    by_benchmark: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    rules: dict[str, Mapping[str, Any]] = {}
    for fact in facts.values():
        name = f"{fact.benchmark} {fact.version}, {fact.protocol.get('name', '')}"
        rules[name] = fact.protocol
        user = {"user": fact.user} if fact.user else {}
        by_benchmark[name].append({**fact.serving, **user})
    return Provenance(
        command=command,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=version,
        logs={name: fact.created for name, fact in sorted(facts.items())},
        benchmarks={name: merged(found) for name, found in sorted(by_benchmark.items())},
        rules=rules,
    )


def marks(lines: Sequence[Line]) -> tuple[dict[tuple[str, ...], str], list[str]]:
    """Letters for rows of one benchmark that were served in different ways, and a sentence for each benchmark.

    Returns:
        `key(line)` -> letter, empty where all rows agree; and what differs.
    """
    groups: dict[tuple[str, str, str], dict[tuple[str, ...], Mapping[str, str]]] = defaultdict(dict)
    for line in lines:
        known = groups[line.benchmark, line.version, line.protocol]
        known[key(line)] = merged([known[key(line)], line.serving]) if key(line) in known else line.serving
    letters: dict[tuple[str, ...], str] = {}
    notes = []
    for (benchmark, version, protocol), rows in groups.items():
        names = sorted({name for facts in rows.values() for name in facts})
        differing = [name for name in names if len({facts.get(name, "-") for facts in rows.values()}) > 1]
        if not differing:
            continue
        ways: dict[tuple[str, ...], str] = {}
        for row, facts in rows.items():
            way = tuple(facts.get(name, "-") for name in differing)
            letters[row] = ways.setdefault(way, _letter(len(ways)))
        told = "; ".join(
            f"[{letter}] " + ", ".join(f"{name} {value}" for name, value in zip(differing, way, strict=True))
            for way, letter in ways.items()
        )
        notes.append(f"{benchmark} {version}, {protocol}: rows were made in different ways: {told}")
    return letters, notes


def key(line: Line) -> tuple[str, ...]:
    """What a row of a table is, over its columns."""
    return line.model, line.benchmark, line.version, line.protocol, line.settings


def _letter(index: int) -> str:
    return chr(ord("a") + index) if index < 26 else f"a{index}"


def remarks(read: Read, lines: Iterable[Line]) -> list[str]:
    """Sentences on what makes an average less than it seems: missing runs, unequal columns, parts of a benchmark."""
    told: dict[str, None] = {}
    rows: dict[tuple[str, ...], list[Line]] = defaultdict(list)
    for line in lines:
        rows[key(line)].append(line)
    for found in rows.values():
        partial = list(_parts(read, found))
        for line in found:
            # An Overall repeats what its columns say.
            if line.column not in _sums(read, line):
                told |= dict.fromkeys(_line_remarks(line, bool(partial)))
        told |= dict.fromkeys(_unequal(read, found))
        told |= dict.fromkeys(partial)
    return list(told)


def _where(line: Line) -> str:
    return f"{line.model}, {line.benchmark} {line.version} {line.protocol}"


def _sums(read: Read, line: Line) -> Mapping[str, Sequence[str]]:
    columns = read.columns.get((line.benchmark, line.version), [])
    return {column["title"]: column["mean_of"] for column in columns if column.get("mean_of")}


def _line_remarks(line: Line, partial: bool) -> Iterable[str]:
    fewest, most, lacking = line.complete
    failed = line.faults + line.errors
    if lacking:
        cause = f" ({failed} episodes failed)" if failed else ""
        yield (
            f"{_where(line)}, {line.column}: {lacking} of {line.samples} samples have fewer than {most} scored runs, "
            f"the fewest {fewest}{cause}; each run is averaged over the samples it has"
        )
    if line.unscored:
        yield (
            f"{_where(line)}, {line.column}: {line.unscored} episodes were played and cannot be scored, for want of "
            "checks; they are in no figure but cost and endings"
        )
    for name, value in line.readings.items():
        mean = "-" if line.reward.mean is None else f"{line.reward.mean:.2f}"
        yield f"{_where(line)}, {line.column}: reward {mean} as printed, {value:.2f} with {name}"
    # Compared as printed: a floor is known to two places.
    if (
        line.floor
        and not partial
        and line.reward.mean is not None
        and round(line.reward.mean, 2) < round(line.floor, 2)
    ):
        yield f"{_where(line)}, {line.column}: lies below the do-nothing floor of {line.floor:.2f}"
    if line.one_group and line.samples > 1:
        yield f"{_where(line)}, {line.column}: all samples are of one group; the interval is over samples of that group"


def _unequal(read: Read, found: Sequence[Line]) -> Iterable[str]:
    by_title = {line.column: line for line in found}
    for title, parts in _sums(read, found[0]).items():
        if title not in by_title:
            continue
        runs = {part: by_title[part].runs for part in parts}
        if len(set(runs.values())) > 1:
            counted = ", ".join(f"{part} {count}" for part, count in runs.items())
            yield f"{_where(found[0])}: {title} averages columns with different numbers of runs ({counted})"
    missing = [
        title
        for title, parts in _sums(read, found[0]).items()
        if title not in by_title and any(part in by_title for part in parts)
    ]
    for title in missing:
        lacking = [part for part in _sums(read, found[0])[title] if part not in by_title]
        yield f"{_where(found[0])}: no {title}, for want of {', '.join(lacking)}"


def _parts(read: Read, found: Sequence[Line]) -> Iterable[str]:
    facts = [read.logs[name] for name in found[0].logs if name in read.logs]
    if facts and all(fact.chosen < fact.whole for fact in facts):
        most = max(facts, key=lambda fact: fact.chosen)
        yield f"{_where(found[0])}: a part of the benchmark, {most.chosen} of {most.whole} samples"
