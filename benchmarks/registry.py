"""Every benchmark by name, imported when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from benchmarks.benchmark import Benchmark, Sample, Samples
from harness.errors import SettingError, near_miss
from harness.protocol import Protocol

MODULES = {
    "scenarios": "benchmarks.scenarios:SCENARIOS",
    "bfcl_multi_turn": "benchmarks.bfcl_multi_turn:BFCL_MULTI_TURN",
    "tau_bench": "benchmarks.tau_bench:TAU_BENCH",
    "acebench_agent": "benchmarks.acebench_agent:ACEBENCH_AGENT",
}
"""Name -> module and constant."""


def get(name: str) -> Benchmark:
    """The benchmark of a name.

    Raises:
        SettingError: If there is none.
    """
    if name not in MODULES:
        raise SettingError(f"no benchmark '{name}'; {near_miss(name, list(MODULES))}")
    module, _, constant = MODULES[name].partition(":")
    benchmark: Benchmark = getattr(importlib.import_module(module), constant)
    return benchmark


def protocol(benchmark: Benchmark, name: str, prompts: str | None = None) -> Protocol:
    """A preset of a benchmark, with other prompts if named.

    Raises:
        SettingError: If it has no such preset.
    """
    if name not in benchmark.protocols:
        raise SettingError(f"{benchmark.name}: no protocol '{name}'; {near_miss(name, list(benchmark.protocols))}")
    preset = benchmark.protocols[name]
    return preset if prompts is None else replace(preset, prompts=prompts)


@lru_cache(maxsize=8)
def _loaded(name: str, rules: str, prompts: str | None, parameters: tuple[tuple[str, Any], ...]) -> Loaded:
    benchmark = get(name)
    chosen = protocol(benchmark, rules, prompts)
    return Loaded(benchmark, chosen, benchmark.load(chosen, **dict(parameters)))


def loaded(name: str, rules: str, prompts: str | None = None, **parameters: Any) -> Loaded:
    """The samples of a benchmark under a protocol; the same question twice is answered once.

    Args:
        rules: Name of the protocol.
        parameters: Of the benchmark; None leaves its default.
    Raises:
        SettingError: If a parameter has no such value, or data are missing.
        DataError: If data are broken.
    """
    given = {key: _frozen(key, value) for key, value in parameters.items() if value is not None}
    return _loaded(name, str(rules), None if prompts is None else str(prompts), tuple(sorted(given.items())))


def _frozen(name: str, value: Any) -> Any:
    """Lists from the command line as texts with commas, so that a question can be remembered."""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    if not isinstance(value, str | int | float):
        raise SettingError(f"{name}={value}: must be a text, a number, or a list of them")
    return value


class Loaded:
    """A benchmark with its samples under one protocol."""

    def __init__(self, benchmark: Benchmark, chosen: Protocol, samples: Sequence[Sample]) -> None:
        self.benchmark = benchmark
        self.protocol = chosen
        self.samples = samples
        self.by_id = {sample.id: sample for sample in samples}
        self.left_out = samples.left_out if isinstance(samples, Samples) else 0
        """Samples that a parameter left out."""

    def rules(self, sample: Sample) -> Protocol:
        """The protocol in which a sample is played."""
        return sample.protocol or self.protocol
