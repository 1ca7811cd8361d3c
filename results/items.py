"""What single samples and checks say: never and always solved, discrimination, agreement, known defects."""

from __future__ import annotations

import csv
import io
import json
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from tabulate import tabulate

from results.errors import LogError
from results.read import Read, Row


@dataclass(frozen=True, slots=True)
class Item:
    """A sample, or a check of one, over all models and runs that met it under one protocol."""

    benchmark: str
    protocol: str
    subset: str
    sample: str
    check: str
    """The check's question; empty for a sample as a whole."""
    solved: Mapping[str, float]
    """Model -> share of its scored runs."""
    episodes: int
    discrimination: float | None
    """Correlation with the rest: of each model's share here with its share over all other items of the benchmark; None
    for fewer than three models or where all agree."""
    at_start: bool | None
    """Whether the check holds before anything was done; None for a sample."""
    known_bad: bool

    @property
    def never(self) -> bool:
        """No model solved it in any run."""
        return all(share == 0 for share in self.solved.values())

    @property
    def always(self) -> bool:
        """Every model solved it in every run."""
        return all(share == 1 for share in self.solved.values())


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often two models agree on which samples they solve in most runs."""

    benchmark: str
    protocol: str
    models: tuple[str, str]
    samples: int
    share: float
    kappa: float | None
    """Cohen's kappa: 0 is what chance gives, 1 is full agreement; None where chance alone explains all."""


def items(read: Read, by: str = "sample") -> list[Item]:
    """The items in the order of the logs.

    Args:
        by: `sample` or `check`.
    """
    found: dict[tuple[str, str], dict[tuple[str, str], list[tuple[Row, bool, bool | None]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in read.rows:
        if row.success is None:
            continue
        rules = row.benchmark, " ".join(part for part in (row.protocol, row.settings) if part)
        if by == "check":
            for one in row.checks:
                found[rules][row.sample, one.item].append((row, one.passed, one.passed_at_start))
        else:
            found[rules][row.sample, ""].append((row, row.success, None))
    result = []
    for (benchmark, protocol), answers in found.items():
        shares = {name: _shares(given) for name, given in answers.items()}
        rest = _Rest(shares.values())
        for (sample, check), given in answers.items():
            row = given[0][0]
            solved = shares[sample, check]
            result.append(
                Item(
                    benchmark=benchmark,
                    protocol=protocol,
                    subset=row.subset,
                    sample=sample,
                    check=check,
                    solved=solved,
                    episodes=len(given),
                    discrimination=rest.correlation(solved),
                    at_start=given[0][2],
                    known_bad=row.known_bad,
                )
            )
    return result


def _shares(given: Iterable[tuple[Row, bool, bool | None]]) -> dict[str, float]:
    by_model: dict[str, list[bool]] = defaultdict(list)
    for row, passed, _ in given:
        by_model[row.model].append(passed)
    return {model: statistics.fmean(passed) for model, passed in by_model.items()}


class _Rest:
    """Every model's sum over all items, from which one item is taken out to see what it adds."""

    def __init__(self, shares: Iterable[Mapping[str, float]]) -> None:
        self.sums: dict[str, float] = defaultdict(float)
        self.counts: dict[str, int] = defaultdict(int)
        for solved in shares:
            for model, share in solved.items():
                self.sums[model] += share
                self.counts[model] += 1

    def correlation(self, solved: Mapping[str, float]) -> float | None:
        models = [model for model in solved if self.counts[model] > 1]
        here = [solved[model] for model in models]
        rest = [(self.sums[model] - solved[model]) / (self.counts[model] - 1) for model in models]
        if len(models) < 3 or len(set(here)) < 2 or max(rest) - min(rest) < 1e-12:
            return None
        return statistics.correlation(here, rest)


def agreements(found: Sequence[Item]) -> list[Agreement]:
    """Each pair of models on the samples that both met."""
    solved: dict[tuple[str, str], dict[str, dict[str, bool]]] = defaultdict(lambda: defaultdict(dict))
    for item in found:
        for model, share in item.solved.items():
            solved[item.benchmark, item.protocol][model][item.sample + item.check] = share > 0.5
    result = []
    for (benchmark, protocol), by_model in solved.items():
        for pair in combinations(sorted(by_model), 2):
            one, other = (by_model[model] for model in pair)
            both = sorted(set(one) & set(other))
            if both:
                share = statistics.fmean(one[name] == other[name] for name in both)
                yes = [statistics.fmean(side[name] for name in both) for side in (one, other)]
                chance = math.prod(yes) + math.prod(1 - value for value in yes)
                kappa = (share - chance) / (1 - chance) if chance < 1 else None
                result.append(Agreement(benchmark, protocol, pair, len(both), share, kappa))
    return result


def errors(read: Read) -> dict[tuple[str, str, str], int]:
    """Benchmark, model and kind of failure (with its turn, where the judge names one) -> episodes."""
    counts: dict[tuple[str, str, str], int] = defaultdict(int)
    for row in read.rows:
        if kind := row.parts.get("error_type"):
            turn = row.parts.get("error_turn")
            counts[row.benchmark, row.model, str(kind) + ("" if turn is None else f", turn {turn}")] += 1
        elif row.fault:
            counts[row.benchmark, row.model, f"{row.ending}: {row.fault}"] += 1
    return dict(sorted(counts.items(), key=lambda item: (*item[0][:2], -item[1])))


def summary(found: Sequence[Item]) -> list[str]:
    """Sentences on the items of each benchmark."""
    told = []
    groups: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in found:
        groups[item.benchmark, item.protocol].append(item)
    for (benchmark, protocol), group in groups.items():
        models = {model for item in group for model in item.solved}
        never = [item for item in group if item.never]
        always = sum(item.always for item in group)
        word = "checks" if group[0].check else "samples"
        told.append(
            f"{benchmark} {protocol}: {len(group)} {word}, {len(models)} models; {len(never)} never solved, "
            f"{always} always solved"
        )
        bad = sum(item.known_bad for item in group)
        if bad:
            both = sum(item.known_bad for item in never)
            told.append(
                f"{benchmark} {protocol}: {bad} have known defects, among them {both} of the {len(never)} never solved"
            )
        if against := [item for item in group if item.discrimination is not None and item.discrimination < 0]:
            told.append(
                f"{benchmark} {protocol}: {len(against)} are solved more by the models that solve less elsewhere"
            )
        if started := sum(bool(item.at_start) for item in group):
            told.append(f"{benchmark} {protocol}: {started} hold before anything is done")
    return told


def report(read: Read, form: str, by: str, every: bool) -> str:
    """The statistics as text, CSV or JSON.

    Args:
        every: All items; else those that stand out: never or always solved, or negative discrimination.
    Raises:
        LogError: If the logs have no checks and checks are asked for.
    """
    found = items(read, by)
    if not found:
        raise LogError("no scored sample has checks in these logs" if by == "check" else "no sample was scored")
    pairs = agreements(found)
    if form == "json":
        record = {
            "items": [{**asdict(item), "never": item.never, "always": item.always} for item in found],
            "agreement": [asdict(pair) for pair in pairs],
            "errors": [
                dict(zip(("benchmark", "model", "kind"), key, strict=True), episodes=n)
                for key, n in errors(read).items()
            ],
            "summary": summary(found),
        }
        return json.dumps(record, indent=1)
    models = sorted({model for item in found for model in item.solved})
    headers = ["benchmark", "protocol", "subset", by, *models, "discrimination", "known defects", "stands out"]
    shown = [item for item in found if form == "csv" or every or _stands_out(item)]
    rows = [_cells(item, models) for item in shown]
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([headers, *rows])
        return out.getvalue().rstrip("\n")
    style = "github" if form == "markdown" else "simple"

    def text(table: Sequence[Sequence[Any]], titles: Sequence[str]) -> str:
        return tabulate(table, headers=titles, tablefmt=style, disable_numparse=True)

    parts = ["\n".join(summary(found)), text(rows, headers) if rows else "no item stands out"]
    if pairs:
        table = [
            [
                *(pair.benchmark, pair.protocol, *pair.models, str(pair.samples), f"{100 * pair.share:.1f}"),
                "-" if pair.kappa is None else f"{pair.kappa:.2f}",
            ]
            for pair in pairs
        ]
        parts.append(text(table, ["benchmark", "protocol", "model", "model", "n", "agree %", "kappa"]))
    if counted := errors(read):
        parts.append(
            text([[*key, str(n)] for key, n in counted.items()], ["benchmark", "model", "failure", "episodes"])
        )
    return "\n\n".join(parts)


def _stands_out(item: Item) -> bool:
    return item.never or item.always or (item.discrimination is not None and item.discrimination < 0)


def _cells(item: Item, models: Sequence[str]) -> list[str]:
    against = item.discrimination is not None and item.discrimination < 0
    mark = "never" if item.never else "always" if item.always else "against the rest" if against else ""
    return [
        *(item.benchmark, item.protocol, item.subset),
        f"{item.sample}: {item.check}" if item.check else item.sample,
        *(f"{100 * item.solved[model]:.0f}" if model in item.solved else "-" for model in models),
        "-" if item.discrimination is None else f"{item.discrimination:+.2f}",
        "yes" if item.known_bad else "",
        mark,
    ]
