"""Bars of every column and learning curves over checkpoints, as PNG or SVG."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from results.errors import LogError
from results.files import write
from results.grid import TITLES
from results.table import Figure, Line

Measure = Literal["reward", "success"]

_STEP = re.compile(r"^(?P<series>.*?)[/_-]?(?:checkpoint|step)[-_](?P<step>\d+)/?$")


def checkpoint_step(model: str) -> tuple[str, int] | None:
    """A model's training run and its step, where its name ends in `checkpoint-100` or `step-100`."""
    found = _STEP.match(model)
    return (found["series"].rstrip("/"), int(found["step"])) if found else None


def bars(lines: Sequence[Line], to: Path, measure: Measure = "reward") -> None:
    """One group of bars a column, one bar a model, with its interval and the do-nothing floor.

    Raises:
        LogError: If nothing can be drawn, the format is unknown, or matplotlib is not here.
        OSError: If the file cannot be written.
    """
    shown = [line for line in lines if _figure(line, measure).mean is not None and not line.extra]
    if not shown:
        raise LogError("no column has a figure to draw")
    names = list(dict.fromkeys(_name(line) for line in shown))
    places = list(dict.fromkeys((line.benchmark, line.column) for line in shown))
    figure, axes = _canvas(to, width=max(6.0, 0.45 * len(places) * (len(names) + 1)))
    width = 0.8 / len(names)
    for index, name in enumerate(names):
        mine = {(line.benchmark, line.column): line for line in shown if _name(line) == name}
        xs = [x + (index - (len(names) - 1) / 2) * width for x, place in enumerate(places) if place in mine]
        found = [_figure(mine[place], measure) for place in places if place in mine]
        axes.bar(xs, [one.mean for one in found], width * 0.92, yerr=_whiskers(found), capsize=2, label=name)
    for x, place in enumerate(places):
        floors = {line.floor for line in shown if (line.benchmark, line.column) == place and line.floor is not None}
        for floor in floors:
            axes.hlines(floor, x - 0.42, x + 0.42, colors="black", linestyles="dotted", linewidth=1)
    labels = [f"{TITLES.get(benchmark, benchmark)}\n{column}" for benchmark, column in places]
    axes.set_xticks(range(len(places)), labels, fontsize=8)
    axes.set_ylabel(f"{measure}, %; whiskers: 95 %; dotted: doing nothing")
    _finish(figure, axes, to)


def curve(lines: Sequence[Line], to: Path, measure: Measure = "reward") -> None:
    """One line a column and training run, over the steps of its checkpoints, with intervals.

    Raises:
        LogError: If fewer than two checkpoints are there, the format is unknown, or matplotlib is not here.
        OSError: If the file cannot be written.
    """
    series: dict[tuple[str, str], list[tuple[int, Figure]]] = defaultdict(list)
    for line in lines:
        step, found = checkpoint_step(line.model), _figure(line, measure)
        if step is not None and found.mean is not None and not line.extra:
            title = f"{TITLES.get(line.benchmark, line.benchmark)} {line.column}"
            series[step[0], f"{title}, {line.protocol} {line.settings}".strip()].append((step[1], found))
    if not any(len(points) > 1 for points in series.values()):
        raise LogError("a curve needs two models whose names end in checkpoint-STEP, on the same column")
    figure, axes = _canvas(to, width=7.0)
    several = len({run for run, _ in series}) > 1
    for (run, title), points in sorted(series.items()):
        points.sort(key=lambda point: point[0])
        figures = [one for _, one in points]
        label = f"{Path(run).name or run}: {title}" if several else title
        steps = [step for step, _ in points]
        axes.errorbar(steps, [one.mean for one in figures], _whiskers(figures), marker="o", capsize=2, label=label)
    axes.set_xlabel("training step")
    axes.set_ylabel(f"{measure}, %; whiskers: 95 %")
    _finish(figure, axes, to)


def _name(line: Line) -> str:
    return " ".join(part for part in (line.model, "" if line.protocol == "paper" else line.protocol) if part)


def _figure(line: Line, measure: Measure) -> Figure:
    return line.reward if measure == "reward" else line.success


def _whiskers(found: Sequence[Figure]) -> list[list[float]]:
    """Distances down and up; none where there is no interval."""
    down = [0.0 if one.low is None or one.mean is None else one.mean - one.low for one in found]
    up = [0.0 if one.high is None or one.mean is None else one.high - one.mean for one in found]
    return [[max(0.0, value) for value in down], [max(0.0, value) for value in up]]


def _canvas(to: Path, width: float) -> tuple[Any, Any]:
    if to.suffix not in (".png", ".svg"):
        raise LogError(f"{to}: must end in .png or .svg")
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas
    except ImportError as error:
        raise LogError("plots need matplotlib; install it with: pip install 'envscaler[plots]'") from error
    figure = Canvas(figsize=(width, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _finish(figure: Any, axes: Any, to: Path) -> None:
    axes.set_ylim(0, 105)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize=8)
    out = io.BytesIO()
    # Without a date the same logs give the same file.
    metadata = {"Date": None} if to.suffix == ".svg" else {"Software": None}
    figure.savefig(out, format=to.suffix[1:], dpi=150, metadata=metadata)
    write(to, out.getvalue())
