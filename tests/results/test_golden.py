"""Whole tables from small logs: figures as independent formulas give them, a sentence for what a mean leaves out."""

from __future__ import annotations

import csv
import io
import json
import statistics
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from scipy import stats

from results.export import results_record
from results.frame import frame
from results.provenance import marks, provenance, remarks
from results.read import read
from results.render import render
from results.table import Line, lines
from tests.envscaler.playground import door, refused
from tests.results.playground import FAULT, UNSCORED, log, sample, scored

BASE = {"a": [1.0, 1.0, 0.5], "b": [0.0, 0.0, 0.0], "c": [1.0, 0.25, 1.0], "d": [0.5, 0.5, 0.0]}
LONG = {"e": [1.0, 0.0, 0.0], "f": [1.0, 1.0, 1.0]}


def complete(folder: Path, **changes: Any) -> Path:
    """Four samples of one column and two of another, three runs, every sample a group."""
    samples = [
        sample(name, run, scored(value), subset=subset, group=name)
        for subset, values in (("base", BASE), ("long", LONG))
        for name, found in values.items()
        for run, value in enumerate(found, start=1)
    ]
    return log(folder, *samples, epochs=3, **{"whole": 6, **changes})


def table(folder: Path) -> dict[str, Line]:
    return {line.column: line for line in lines(read(folder))}


def told(folder: Path) -> list[str]:
    found = read(folder)
    return remarks(found, lines(found))


def interval(values: list[float]) -> tuple[float, float]:
    found = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    return max(0.0, 100 * found.low), min(100.0, 100 * found.high)


def test_a_complete_table_is_what_independent_formulas_say(tmp_path: Path) -> None:
    complete(tmp_path)
    found = table(tmp_path)
    for column, values in (("Base", BASE), ("Long", LONG)):
        by_run = [100 * statistics.fmean(run) for run in zip(*values.values(), strict=True)]
        line = found[column]
        assert line.reward.mean == pytest.approx(statistics.fmean(by_run))
        assert line.reward.deviation == pytest.approx(statistics.stdev(by_run))
        low, high = interval([statistics.fmean(runs) for runs in values.values()])
        assert (line.reward.low, line.reward.high) == (pytest.approx(low), pytest.approx(high))
        full = [[value == 1.0 for value in runs] for runs in values.values()]
        assert line.success.mean == pytest.approx(100 * statistics.fmean(map(statistics.fmean, full)))
        assert line.passes.hat[2] == pytest.approx(statistics.fmean(map(all, full)))
        assert line.passes.at[2] == pytest.approx(statistics.fmean(map(any, full)))
        pairs = [[(r[0] and r[1]), (r[0] and r[2]), (r[1] and r[2])] for r in full]
        assert line.passes.hat[1] == pytest.approx(statistics.fmean(map(statistics.fmean, pairs)))
    overall = found["Overall"]
    assert overall.reward.mean == pytest.approx((found["Base"].reward.mean + found["Long"].reward.mean) / 2)  # type: ignore[operator]
    runs = [
        100 * (statistics.fmean(v[r] for v in BASE.values()) + statistics.fmean(v[r] for v in LONG.values())) / 2
        for r in range(3)
    ]
    assert overall.reward.deviation == pytest.approx(statistics.stdev(runs))
    assert told(tmp_path) == []


GOLDEN = """\
Base     47.92  13.01  0.0-100.0  33.33  14.43  0.0-94.6   4  3  2.00  0  0
Long     66.67  28.87  0.0-100.0  66.67  28.87  0.0-100.0  2  3  -     0  0
Overall  57.29  20.81  0.0-100.0  50.00  21.65  0.0-100.0  6  3  -     0  0
"""


def test_the_printed_table_has_these_digits(tmp_path: Path) -> None:
    complete(tmp_path)
    shown = render(list(table(tmp_path).values()), "terminal").splitlines()[2:5]
    assert [row.split()[4:] for row in shown] == [row.split() for row in GOLDEN.splitlines()]


def test_the_interval_of_overall_is_welchs(tmp_path: Path) -> None:
    complete(tmp_path)
    columns = [[statistics.fmean(runs) for runs in values.values()] for values in (BASE, {**LONG, "h": [0.5] * 3})]
    log(tmp_path, *(sample("h", run, scored(0.5), subset="long", group="h") for run in (1, 2, 3)), name="b", epochs=3)
    overall = table(tmp_path)["Overall"].reward
    # The mean of two means is half their sum, and a sum has the error and the freedom of a difference.
    welch = stats.ttest_ind(columns[0], [-value for value in columns[1]], equal_var=False).confidence_interval(0.95)
    assert overall.mean == pytest.approx(50 * sum(map(statistics.fmean, columns)))
    assert (overall.low, overall.high) == (
        pytest.approx(max(0, 50 * welch.low)),
        pytest.approx(min(100, 50 * welch.high)),
    )


def test_errors_leave_the_average_and_the_other_reading_is_printed(tmp_path: Path) -> None:
    broken = [sample("a", run, scored(1.0), group="a") for run in (1, 2)]
    log(
        tmp_path,
        *broken,
        sample("b", 1, scored(0.5), group="b"),
        sample("b", 2, FAULT, "EnvironmentFault", group="b"),
        sample("c", 1, None, "server down", group="c"),
        sample("c", 2, scored(0.0), group="c"),
        epochs=2,
        whole=3,
    )
    line = table(tmp_path)["Base"]
    # Runs: (1 + 0.5) / 2 and (1 + 0) / 2; with failures as 0 both are over three.
    assert line.reward.mean == pytest.approx(100 * (0.75 + 0.5) / 2)
    assert line.readings == {"failed samples as 0": pytest.approx(100 * (0.5 + 1 / 3) / 2)}
    assert (line.faults, line.errors) == (1, 1)
    assert told(tmp_path) == [
        "m, bench 1-A paper, Base: 2 of 3 samples have fewer than 2 scored runs, the fewest 1 (2 episodes failed); "
        "each run is averaged over the samples it has",
        "m, bench 1-A paper, Base: reward 62.50 as printed, 41.67 with failed samples as 0",
        "m, bench 1-A paper: no Overall, for want of Long",
    ]


def test_what_cannot_be_scored_is_told_and_leaves_every_figure_alone(tmp_path: Path) -> None:
    scored_ones = [sample(name, 1, scored(value), group=name) for name, value in (("a", 1.0), ("b", 0.0))]
    log(tmp_path / "plain", *scored_ones, whole=2)
    bare = [sample(f"u{index}", 1, UNSCORED) for index in range(3)]
    log(tmp_path / "mixed", *scored_ones, *bare, whole=5)
    with_them, without = table(tmp_path / "mixed")["Base"], table(tmp_path / "plain")["Base"]
    assert (with_them.reward, with_them.samples, with_them.unscored) == (without.reward, 2, 3)
    assert told(tmp_path / "mixed") == [
        "m, bench 1-A paper, Base: 3 episodes were played and cannot be scored, for want of checks; they are in no "
        "figure but cost and endings",
        *told(tmp_path / "plain"),
    ]
    found = frame(read(tmp_path / "mixed"))
    assert found["unscored"].tolist() == [0, 0, 1, 1, 1]
    assert (found["faults"].sum(), found["errors"].sum(), found["reward"].count()) == (0, 0, 2)
    (first, *_) = csv.DictReader(door("results", tmp_path / "mixed", "--format", "csv").stdout.splitlines())
    assert (first["samples"], first["unscored"], first["faults"]) == ("2", "3", "0")
    folder = tmp_path / "out"
    assert door("results", "export", tmp_path / "mixed", "--to", folder).exit_code == 0
    record = json.loads((folder / "results.json").read_text())
    jsonschema.validate(record, json.loads((folder / "schema.json").read_text()))
    assert record["results"][0]["unscored"] == 3
    assert '["u0"' not in (folder / "index.html").read_text()


def test_crashes_that_a_published_evaluation_drops_are_read_both_ways(tmp_path: Path) -> None:
    crash = {**scored(0.0), "stop_reason": "invalid_reply"}
    samples = [sample("a", 1, scored(1.0), group="a"), sample("b", 1, crash, group="b"), sample("c", 1, scored(0.0))]
    log(tmp_path / "paper", *samples, whole=3, extra={"dropped": {"paper": ["invalid_reply"]}})
    log(tmp_path / "other", *samples, whole=3, extra={"dropped": {"official": ["invalid_reply"]}})
    line = table(tmp_path / "paper")["Base"]
    assert line.reward.mean == pytest.approx(100 / 3)
    assert line.readings == {"crashes dropped": 50.0}
    assert table(tmp_path / "other")["Base"].readings == {}


def test_missing_runs_and_unequal_columns_are_told(tmp_path: Path) -> None:
    log(
        tmp_path,
        *(sample("a", run, scored(1.0), group="a") for run in (1, 2, 3)),
        *(sample("b", run, scored(0.0), group="b") for run in (1, 2)),
        sample("e", 1, scored(1.0), subset="long", group="e"),
        whole=3,
        epochs=3,
        status="cancelled",
    )
    found = told(tmp_path)
    assert found == [
        "m, bench 1-A paper, Base: 1 of 2 samples have fewer than 3 scored runs, the fewest 2; each run is averaged "
        "over the samples it has",
        "m, bench 1-A paper: Overall averages columns with different numbers of runs (Base 3, Long 1)",
    ]
    (note,) = read(tmp_path).notes
    assert "cancelled, 6 of 9 samples" in note


def test_a_part_of_a_benchmark_is_told_and_a_score_below_its_floor(tmp_path: Path) -> None:
    log(tmp_path / "part", sample("a", 1, scored(0.0)))
    assert told(tmp_path / "part")[0] == "m, bench 1-A paper: no Overall, for want of Long"
    assert told(tmp_path / "part")[1] == "m, bench 1-A paper: a part of the benchmark, 1 of 100 samples"
    log(tmp_path / "whole", sample("a", 1, scored(0.0)), whole=1)
    assert told(tmp_path / "whole")[0] == "m, bench 1-A paper, Base: lies below the do-nothing floor of 2.00"


def test_other_scores_of_the_judge_and_pooled_subsets_are_columns(tmp_path: Path) -> None:
    columns = [
        {"title": "Base", "subset": "base", "mean_of": [], "part": None},
        {"title": "Long", "subset": "long", "mean_of": [], "part": None},
        {"title": "Solved of 3", "subset": ["base", "long"], "mean_of": [], "part": None},
        {"title": "Base strict", "subset": "base", "mean_of": [], "part": "strict"},
    ]
    log(
        tmp_path,
        sample("a", 1, scored(1.0, strict=0.5)),
        sample("b", 1, scored(1.0, strict=False)),
        sample("c", 1, scored(0.0, strict=0.0), subset="long"),
        whole=3,
        extra={"columns": columns, "floors": {}},
    )
    found = table(tmp_path)
    assert found["Solved of 3"].reward.mean == pytest.approx(200 / 3)
    assert found["Base strict"].reward.mean == 25.0
    assert found["Base strict"].success.mean is None
    paper = render(list(found.values()), "markdown", layout="paper")
    assert "strict" not in paper


def test_rows_that_were_made_in_different_ways_are_marked(tmp_path: Path) -> None:
    log(tmp_path, sample("a", 1, scored(1.0)), name="a", model="m1", model_args={"tool_call_parser": "hermes"})
    log(tmp_path, sample("a", 1, scored(1.0)), name="b", model="m2", model_args={"tool_call_parser": "qwen3_coder"})
    found = lines(read(tmp_path))
    letters, notes = marks(found)
    assert list(letters.values()) == ["a", "b"]
    assert notes == [
        "bench 1-A, paper: rows were made in different ways: [a] tool_call_parser hermes; [b] tool_call_parser "
        "qwen3_coder"
    ]
    assert "m1 [a]" in render(found, "markdown")


def test_where_a_model_was_served_and_its_key_are_never_told(tmp_path: Path) -> None:
    given = {"base_url": "http://10.1.2.3:8000/v1", "api_key": "s3cret", "server_args": "--x"}
    log(tmp_path, sample("a", 1, scored(1.0)), model_args=given)
    found = read(tmp_path)
    origin = provenance(found, "envscaler results logs", "0")
    text = render(lines(found), "json", provenance=origin)
    assert "10.1.2.3" not in text
    assert "s3cret" not in text
    assert '"server_args": "--x"' in text
    assert origin.sentences()[0].endswith("by envscaler 0: envscaler results logs")


def test_what_a_server_says_of_itself_is_a_fact_of_its_row(tmp_path: Path) -> None:
    one = sample("a", 1, scored(1.0))
    one.store["envscaler"]["serving"] = {"server": "vllm 0.31"}
    log(tmp_path, one, extra={"serving": {"template": "sha256 1f"}})
    (line,) = lines(read(tmp_path))
    assert (line.serving["server"], line.serving["template"]) == ("vllm 0.31", "sha256 1f")


def test_tokens_and_dollars_are_told_by_role(tmp_path: Path) -> None:
    from inspect_ai.model import ModelUsage

    one = sample("a", 1, scored(1.0))
    one.model_usage = {
        "m": ModelUsage(input_tokens=30, output_tokens=3, total_tokens=33, total_cost=0.5),
        "u": ModelUsage(input_tokens=10, output_tokens=1, total_tokens=11),
    }
    one.role_usage = {"user": ModelUsage(input_tokens=10, output_tokens=1, total_tokens=11)}
    log(tmp_path, one, user="u", whole=1)
    line = table(tmp_path)["Base"]
    assert line.usage == {"agent": (30.0, 3.0, 0.5), "user": (10.0, 1.0, 0.0)}
    (record,) = csv.DictReader(io.StringIO(render([line], "csv")))
    assert (record["agent_tokens_in"], record["user_tokens_out"], record["agent_dollars"]) == ("30.0", "1.0", "0.5")


def test_a_role_that_simulates_nobody_is_no_setting(tmp_path: Path) -> None:
    log(tmp_path, sample("a", 1, scored(1.0)), user="u", extra={"simulates_user": False})
    (found,) = read(tmp_path).rows
    assert (found.user, found.settings) == ("", "")


def test_the_frame_has_a_line_for_each_sample_and_run(tmp_path: Path) -> None:
    complete(tmp_path)
    log(tmp_path, sample("a", 1, FAULT, "EnvironmentFault", group="a"), name="b", model="n", epochs=1)
    found = frame(read(tmp_path))
    assert len(found) == 19
    assert found.loc[found["model"] == "n", ["faults", "errors"]].to_numpy().tolist() == [[1, 0]]
    means = found[found["subset"] == "base"].groupby(["model", "run"])["reward"].mean().groupby("model").mean()
    assert 100 * means["m"] == pytest.approx(47.9166667)


def test_an_export_is_described_by_its_schema_and_written_whole_or_not_at_all(tmp_path: Path) -> None:
    complete(tmp_path / "logs")
    folder = tmp_path / "out"
    result = door("results", "export", tmp_path / "logs", "--to", folder, "--reference", "all")
    assert result.exit_code == 0, result.output
    record = json.loads((folder / "results.json").read_text())
    jsonschema.validate(record, json.loads((folder / "schema.json").read_text()))
    assert {found["column"]: found["reward"]["mean"] for found in record["results"]}["Base"] == pytest.approx(
        47.9166667
    )
    assert sorted(path.name for path in folder.iterdir()) == [
        *("index.html", "model_card.md", "results.json", "samples.csv", "schema.json"),
        *("table.csv", "table.md", "table.tex"),
    ]
    assert "value: 47.92" in (folder / "model_card.md").read_text()
    again = refused(door("results", "export", tmp_path / "logs", "--to", folder))
    assert again == f"{folder}: exists and is not an empty folder; name a new one"
    broken = results_record([], [], [], provenance(read(tmp_path / "logs"), "c", "0"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**broken, "extra": 1}, json.loads((folder / "schema.json").read_text()))


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    complete(tmp_path / "logs")
    (tmp_path / "file").write_text("")
    assert refused(door("results", tmp_path / "logs", "--to", tmp_path / "file" / "table.txt")).startswith(
        f"{tmp_path / 'file' / 'table.txt'}: cannot be written: "
    )
    assert door("results", tmp_path / "logs", "--to", tmp_path / "new" / "t.md", "--format", "markdown").exit_code == 0
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["t.md"]
