"""Lines as grids of text: one row a line, or one row a model in the paper's layout."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from results.provenance import key, marks
from results.references import Reference, ReferenceRow
from results.table import Figure, Line

TITLES = {
    "scenarios": "Scenarios",
    "bfcl_multi_turn": "BFCL MT",
    "tau_bench": "Tau-Bench",
    "acebench_agent": "ACEBench-Agent",
}
"""Benchmarks as tables call them; others by their own names."""
HEADERS = (
    *("model", "benchmark", "protocol", "column"),
    *("reward", "sd", "95 %", "success", "sd", "95 %"),
    *("n", "runs", "floor", "faults", "errors"),
)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of texts."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int
    """Columns that are flush left."""
    groups: Sequence[tuple[str, int]] = ()
    """Titles above the headers and how many columns each spans."""
    rules: frozenset[int] = field(default_factory=frozenset)
    """Rows with a rule above them."""


def number(value: float | None) -> str:
    """Two decimals, or a dash for what does not exist."""
    return "-" if value is None else f"{value:.2f}"


def interval(figure: Figure) -> str:
    """The confidence interval as `low-high` to one decimal: more would claim what it does not know."""
    return "-" if figure.low is None or figure.high is None else f"{figure.low:.1f}-{figure.high:.1f}"


def line_grid(lines: Sequence[Line], references: Sequence[Reference] = ()) -> Grid:
    """One row a line; published figures of the columns that are shown below those of their benchmark."""
    letters, _ = marks(lines)
    rows: list[list[str]] = []
    rules = set()
    for benchmark, found in groupby(lines, key=lambda line: line.benchmark):
        ours = list(found)
        rules.add(len(rows))
        rows += [_cells(line, letters) for line in ours]
        shown = list(dict.fromkeys(line.column for line in ours))
        for table in references:
            rows += [cells for row in table.rows for cells in _published(table, row, benchmark, shown)]
    return Grid(HEADERS, rows, left=4, rules=frozenset(rules - {0}))


def _cells(line: Line, letters: Mapping[tuple[str, ...], str]) -> list[str]:
    mark = f" [{letters[key(line)]}]" if key(line) in letters else ""
    return [
        line.model + mark,
        f"{line.benchmark} {line.version}".strip(),
        f"{line.protocol} {line.settings}".strip(),
        line.column,
        *(number(line.reward.mean), number(line.reward.deviation), interval(line.reward)),
        *(number(line.success.mean), number(line.success.deviation), interval(line.success)),
        str(line.samples),
        str(line.runs),
        number(line.floor),
        str(line.faults),
        str(line.errors),
    ]


def _published(table: Reference, row: ReferenceRow, benchmark: str, columns: Sequence[str]) -> Iterable[list[str]]:
    for column in columns:
        if (found := row.figures.get((benchmark, column))) is not None:
            start = [row.label, benchmark, f"{table.terms[benchmark].protocol} ({table.name})", column]
            runs = "-" if found.runs is None else str(found.runs)
            yield [*start, found.printed, *["-"] * 6, runs, "-", "-", "-"]


def paper_grid(lines: Sequence[Line], references: Sequence[Reference] = ()) -> Grid:
    """One row a model, the paper's columns beside each other: mean, and deviation over runs where there are several.

    Below them the floor and the number of samples of each column, then the published rows.
    """
    lines = [line for line in lines if not line.extra]
    places = list(dict.fromkeys([*_shown(lines), *(() if lines else _all_places(references))]))
    letters, _ = marks(lines)
    rows: list[list[str]] = []
    by_row: dict[tuple[str, str], dict[tuple[str, str, str], list[Line]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        by_row[line.model, line.protocol][line.benchmark, line.version, line.settings].append(line)
    for (model, protocol), variants in by_row.items():
        rows += _model_rows(model, protocol, variants, places, letters)
    rules = {len(rows)}
    if lines:
        rows.append(["doing nothing", "", *_below(lines, places, lambda line: number(line.floor))])
        rows.append(["samples", "", *_below(lines, places, lambda line: str(line.samples))])
    for table in references:
        rules.add(len(rows))
        for row in table.rows:
            figures = [row.figures.get((benchmark, column)) for benchmark, column, _ in places]
            if any(figures):
                rows.append([row.label, f"{table.name}", *(figure.printed if figure else "-" for figure in figures)])
    spans = [(title, len(list(group))) for title, group in groupby(TITLES.get(place[0], place[0]) for place in places)]
    headers = ["model", "protocol", *(f"{column}{suffix}" for _, column, suffix in places)]
    return Grid(headers, rows, left=2, groups=(("", 2), *spans), rules=frozenset(rules - {0, len(rows)}))


def _shown(lines: Sequence[Line]) -> Iterable[tuple[str, str, str]]:
    """Benchmark, column, and what is measured: success has a column of its own where it is not the reward."""
    order = {name: index for index, name in enumerate(TITLES)}
    for line in sorted(lines, key=lambda line: order.get(line.benchmark, len(order))):
        split = any(_differs(other) for other in lines if _place(other) == _place(line))
        yield (*_place(line), " reward" if split else "")
        if split:
            yield (*_place(line), " success")


def _place(line: Line) -> tuple[str, str]:
    return line.benchmark, line.column


def _differs(line: Line) -> bool:
    return line.success.mean is not None and line.success != line.reward


def _all_places(references: Sequence[Reference]) -> Iterable[tuple[str, str, str]]:
    for table in references:
        yield from ((benchmark, column, "") for benchmark, column in table.columns)


def _model_rows(
    model: str,
    protocol: str,
    variants: Mapping[tuple[str, str, str], Sequence[Line]],
    places: Sequence[tuple[str, str, str]],
    letters: Mapping[tuple[str, ...], str],
) -> Iterable[list[str]]:
    """One row, and a further one for each other version or setting of a benchmark."""
    by_benchmark: dict[str, list[tuple[str, Sequence[Line]]]] = defaultdict(list)
    for (benchmark, version, settings), found in variants.items():
        by_benchmark[benchmark].append((f"{benchmark} {version} {settings}".strip(), found))
    for index in range(max(map(len, by_benchmark.values()))):
        chosen = [found[index] for found in by_benchmark.values() if index < len(found)]
        cells = {_place(line): line for _, found in chosen for line in found}
        marked = sorted({letters[key(line)] for line in cells.values() if key(line) in letters})
        name = model + (f" [{','.join(marked)}]" if marked else "")
        label = protocol if index == 0 else f"{protocol}; {'; '.join(label for label, _ in chosen)}"
        yield [name, label, *(_cell(cells.get(place[:2]), place[2]) for place in places)]


def _cell(line: Line | None, measure: str) -> str:
    if line is None:
        return "-"
    figure = line.success if measure == " success" else line.reward
    spread = "" if figure.deviation is None else f" ± {figure.deviation:.2f}"
    failed = "*" if line.readings else ""
    return f"{number(figure.mean)}{spread}{failed}"


def _below(lines: Sequence[Line], places: Sequence[tuple[str, str, str]], of: object) -> Iterable[str]:
    assert callable(of)
    for place in places:
        found = sorted({of(line) for line in lines if _place(line) == place[:2]})
        yield "" if place[2] == " success" else "/".join(found)


def reference_grid(table: Reference) -> Grid:
    """A published table as its source prints it, and its gains computed from the printed digits."""
    terms = [(table.terms[benchmark].title, column) for benchmark, column in table.columns]
    spans = [(title, len(list(group))) for title, group in groupby(title for title, _ in terms)]
    rows = [[row.model, row.training, row.thinking, *_printed(row, table.columns)] for row in table.rows]
    gains = [[gain.title, "", "", *(gain.figures[place] for place in table.columns)] for gain in table.gains]
    headers = ["model", "training", "thinking", *(column for _, column in terms)]
    rules = frozenset({len(rows)} if gains else ())
    return Grid(headers, [*rows, *gains], left=3, groups=(("", 3), *spans), rules=rules)


def _printed(row: ReferenceRow, columns: Sequence[tuple[str, str]]) -> Iterable[str]:
    for place in columns:
        found = row.figures.get(place)
        yield found.printed if found else "-"


def detail_grids(lines: Sequence[Line]) -> list[tuple[str, Grid]]:
    """Further tables: several runs of one sample, what episodes cost, how they stopped."""
    grids = []
    most = max((len(line.passes.hat) for line in lines), default=0)
    if most > 1:
        ks = range(1, most + 1)
        headers = [*HEADERS[:4], *(f"pass^{k}" for k in ks), *(f"pass@{k}" for k in ks if k > 1)]
        rows = [
            [*_cells(line, {})[:4], *_shares(line.passes.hat, most), *_shares(line.passes.at, most)[1:]]
            for line in lines
            if line.passes.hat
        ]
        grids.append(("runs: solved in all of k runs (pass^k), in any of k (pass@k)", Grid(headers, rows, left=4)))
    roles = sorted({role for line in lines for role in line.usage})
    headers = [*HEADERS[:4], "steps", "seconds"]
    headers += [f"{role} {what}" for role in roles for what in ("tokens in", "tokens out", "$")]
    rows = [[*_cells(line, {})[:4], f"{line.steps:.1f}", f"{line.seconds:.1f}", *_costs(line, roles)] for line in lines]
    grids.append(("cost: mean of an episode", Grid(headers, rows, left=4)))
    reasons = list(dict.fromkeys(reason for line in lines for reason in line.stops))
    rows = [[*_cells(line, {})[:4], *(str(line.stops.get(reason, 0)) for reason in reasons)] for line in lines]
    grids.append(("endings: episodes by stop reason", Grid([*HEADERS[:4], *reasons], rows, left=4)))
    return grids


def _shares(values: Sequence[float], most: int) -> list[str]:
    return [f"{100 * value:.2f}" for value in values] + ["-"] * (most - len(values))


def _costs(line: Line, roles: Sequence[str]) -> Iterable[str]:
    for role in roles:
        read, written, dollars = line.usage.get(role, (0.0, 0.0, 0.0))
        yield from (f"{read:.0f}", f"{written:.0f}", f"{dollars:.4f}" if dollars else "-")
