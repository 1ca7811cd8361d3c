"""BFCL Multi-Turn: four subsets of 200 entries, in the version that the paper used (v3) and the current one (v4)."""

from __future__ import annotations

from functools import partial
from typing import Any

from adapters.bfcl import ARTIFACT, PINS, SUBSETS, BfclEnvironment, Pair, judge, open_pair, pull
from adapters.bfcl.entry import Entry
from benchmarks.benchmark import Artifact, Benchmark, Column, Sample
from harness.case import Brief, Case
from harness.errors import SettingError
from harness.messages import Slip
from harness.protocol import Protocol, Sampling

PAPER = Protocol(
    name="paper",
    agent=Sampling(temperature=0.7, top_p=0.95, max_tokens=10_000, thinking=True),
    prompts="official",
    calls_per_step="all",
    step_limit=21,
    step_limit_per="turn",
    on_limit="score_state",
    slips=dict.fromkeys(Slip, "end_turn"),
)
"""How the paper's authors play it: the official loop, with thinking, in a context of 64K tokens.

The official loop quits when more than 20 steps of a turn were executed; a message without calls ends the turn before it
counts. So it executes 21 steps and asks no more, which is a limit of 21 messages per turn (docs of BFCL, section 1.3).
"""

OFFICIAL = Protocol(
    name="official",
    agent=Sampling(temperature=0.001),
    keep_reasoning=True,
    runs=1,
    prompts="official",
    calls_per_step="all",
    step_limit=21,
    step_limit_per="turn",
    on_limit="score_state",
    slips=dict.fromkeys(Slip, "end_turn"),
)
"""The official loop in its chat-completions form, at its default temperature; reasoning stays in the history."""


def load_samples(protocol: Protocol, *, version: str = "v3", subset: str = "all", **unknown: Any) -> list[Sample]:
    """The entries of one subset, or of all four in the order of the columns.

    Args:
        version: `v3` or `v4`; decides on data and backends together.
        subset: `base`, `miss_func`, `miss_param`, `long_context`, or `all`.
    Raises:
        SettingError: If a parameter has no such value.
        MissingData: If the wheel is not on this machine.
        DataError: If the wheel is not the pinned one, or broken.
    """
    if unknown:
        raise SettingError(f"bfcl_multi_turn has no parameter '{next(iter(unknown))}'; one of subset, version")
    if version not in PINS:
        raise SettingError(f"version={version}: unknown; one of {', '.join(PINS)}")
    if subset not in (*SUBSETS, "all"):
        raise SettingError(f"subset={subset}: unknown; one of {', '.join(SUBSETS)}, all")
    pair = open_pair(version)
    chosen = SUBSETS if subset == "all" else (subset,)
    return [_sample(entry, pair) for name in chosen for entry in pair.entries(name)]


def _sample(entry: Entry, pair: Pair) -> Sample:
    return Sample(
        id=entry.id,
        subset=entry.subset,
        # The environment is the set of backends: entries on the same ones resemble each other.
        group="+".join(sorted(entry.classes)),
        case=partial(_case, entry, pair),
        metadata={
            "task": next((text for text in entry.questions if text), entry.id),
            "version": entry.version,
            "classes": list(entry.classes),
            "known_defects": pair.defects(entry),
        },
    )


def _case(entry: Entry, pair: Pair) -> Case:
    return Case(
        id=entry.id,
        open=partial(BfclEnvironment, entry, pair),
        brief=Brief(turns=pair.turns(entry)),
        judge=partial(judge, entry, pair),
        oracle=pair.oracle(entry),
    )


BFCL_MULTI_TURN = Benchmark(
    name="bfcl_multi_turn",
    version="1-A",
    protocols={"paper": PAPER, "official": OFFICIAL},
    load=load_samples,
    columns=(
        Column("Base", subset="base"),
        Column("Miss-Func", subset="miss_func"),
        Column("Miss-Param", subset="miss_param"),
        Column("Long-Context", subset="long_context"),
        Column("Overall", mean_of=("Base", "Miss-Func", "Miss-Param", "Long-Context")),
    ),
    replay_keys=("valid", "error_type", "error_turn"),
    artifacts=(
        Artifact(
            name=ARTIFACT,
            source=" and ".join(f"bfcl-eval {pin.package} on PyPI" for pin in PINS.values()),
            licence="Apache-2.0",
            pull=pull,
        ),
    ),
    # Doing nothing fails each entry at its first turn that has a ground truth.
    floors=dict.fromkeys(("Base", "Miss-Func", "Miss-Param", "Long-Context", "Overall"), 0.0),
)
"""Verdicts equal the official checker's on any trajectory; what the executor does differently is in docs/bfcl.md."""
