"""Published rows as data: every figure with its source, date, protocol and runs, digits as printed."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from results.errors import LogError
from results.table import Line

FOLDER = Path(__file__).parent / "reference"


@dataclass(frozen=True, slots=True)
class Published:
    """One printed figure."""

    benchmark: str
    column: str
    printed: str
    """In percent, with the digits of the source."""
    runs: int | None
    """Runs that seem to stand behind it; None where it mixes figures of several."""

    @property
    def value(self) -> float:
        """The figure as a number, in percent."""
        return float(self.printed)


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """One published model."""

    model: str
    training: str
    thinking: str
    figures: Mapping[tuple[str, str], Published]
    """Benchmark and column -> figure."""

    @property
    def label(self) -> str:
        """The model with its training, as one name."""
        return self.model + (f" +{self.training}" if self.training not in ("", "none") else "")


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which rules a benchmark's figures came about."""

    title: str
    protocol: str
    settings: tuple[str, ...] = ()
    """Task parameters that a comparable log has."""
    user: str = ""
    """Model that played the user."""
    why_not: str = ""
    """Why no log of ours is comparable; empty if one under the same terms is."""
    not_comparable: Mapping[str, str] = field(default_factory=dict)
    """Rows that are not, with the reason."""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Gain:
    """A mean difference between rows of the table, as its source computes it."""

    title: str
    figures: Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Reference:
    """One published table."""

    name: str
    title: str
    source: str
    date: str
    rows: tuple[ReferenceRow, ...]
    terms: Mapping[str, Terms]
    """Benchmark -> terms."""
    columns: tuple[tuple[str, str], ...]
    """Benchmark and column, in the order of the source."""
    gains: tuple[Gain, ...] = ()
    runs_note: str = ""

    def notes(self, benchmarks: Sequence[str] | None = None) -> list[str]:
        """Sentences on source, runs and comparability, for the benchmarks that are shown."""
        shown = [name for name in self.terms if benchmarks is None or name in benchmarks]
        notes = [f"{self.name}: {self.title} ({self.date}). Source: {self.source}."]
        if self.runs_note:
            notes.append(f"{self.name}: {self.runs_note}.")
        for name in shown:
            terms = self.terms[name]
            if terms.why_not:
                notes.append(f"{self.name}, {terms.title}: not comparable with any log: {terms.why_not}.")
            else:
                needs = [f"protocol {terms.protocol}", *terms.settings, *([f"user {terms.user}"] if terms.user else [])]
                notes.append(f"{self.name}, {terms.title}: comparable with logs under {', '.join(needs)}.")
            for row, reason in terms.not_comparable.items():
                notes.append(f"{self.name}, {row}: not comparable: {reason}.")
            if terms.remark:
                notes.append(f"{self.name}, {terms.title}: {terms.remark}.")
        return notes

    def obstacles(self, line: Line, user: str) -> list[str]:
        """Why a line of ours cannot be set beside this table's figures; empty if it can.

        Args:
            user: Model that played the user in the line's logs.
        """
        terms = self.terms[line.benchmark]
        found = [terms.why_not] if terms.why_not else []
        if line.protocol != terms.protocol:
            found.append(f"protocol is {line.protocol}, not {terms.protocol}")
        given = line.settings.split()
        found += [f"{setting} is not set" for setting in terms.settings if setting not in given]
        if terms.user and user.rpartition("/")[2] != terms.user:
            found.append(f"user is {user or 'not named'}, not {terms.user}")
        return found


def names() -> list[str]:
    """The published tables that come with this package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def reference(name: str) -> Reference:
    """A published table by name.

    Raises:
        LogError: If there is none of this name.
    """
    if name not in names():
        raise LogError(f"no reference '{name}'; one of {', '.join(names())}, all")
    record = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    places = {
        key: (benchmark, column)
        for benchmark, terms in record["benchmarks"].items()
        for key, column in terms["columns"].items()
    }
    with (FOLDER / record["rows"]).open(encoding="utf-8", newline="") as file:
        rows = tuple(_row(line, places, record) for line in csv.DictReader(file))
    columns = tuple(places.values())
    return Reference(
        name=name,
        title=record["title"],
        source=record["source"],
        date=record["date"],
        rows=rows,
        terms={benchmark: _terms(terms) for benchmark, terms in record["benchmarks"].items()},
        columns=columns,
        gains=tuple(_gain(gain, rows, columns) for gain in record.get("gains", ())),
        runs_note=record.get("runs_note", ""),
    )


def references(given: Sequence[str]) -> list[Reference]:
    """Tables by name; `all` is every one."""
    chosen = names() if "all" in given else list(dict.fromkeys(given))
    return [reference(name) for name in chosen]


def _terms(record: Mapping[str, Any]) -> Terms:
    return Terms(
        title=record["title"],
        protocol=record["protocol"],
        settings=tuple(record.get("settings", ())),
        user=record.get("user", ""),
        why_not=record.get("why_not", ""),
        not_comparable=record.get("not_comparable", {}),
        remark=record.get("remark", ""),
    )


def _row(line: Mapping[str, str], places: Mapping[str, tuple[str, str]], record: Mapping[str, Any]) -> ReferenceRow:
    figures = {}
    for key, place in places.items():
        if printed := line.get(key):
            figures[place] = Published(*place, _percent(printed, record["unit"]), _runs(line["model"], key, record))
    return ReferenceRow(line["model"], line.get("training", ""), line.get("thinking", ""), figures)


def _percent(printed: str, unit: str) -> str:
    """Digits as printed; a share moves its point by two places and keeps them."""
    return printed if unit == "percent" else str(Decimal(printed).scaleb(2))


def _runs(model: str, key: str, record: Mapping[str, Any]) -> int | None:
    if key.endswith("overall") and "more_runs" in record:
        return None
    for more in record.get("more_runs", ()):
        if model in more["models"] and key in more["columns"]:
            return int(more["columns"][key])
    return record.get("runs")


def _gain(record: Mapping[str, Any], rows: Sequence[ReferenceRow], columns: Sequence[tuple[str, str]]) -> Gain:
    by_name = {(row.model, row.training): row.figures for row in rows}
    figures = {}
    for place in columns:
        differences = [
            Decimal(by_name[model, record["after"]][place].printed)
            - Decimal(by_name[model, record["before"]][place].printed)
            for model in record["models"]
        ]
        mean = sum(differences, Decimal(0)) / len(differences)
        figures[place] = f"{mean.quantize(Decimal('0.01'), ROUND_HALF_UP):+}"
    return Gain(record["title"], figures)
