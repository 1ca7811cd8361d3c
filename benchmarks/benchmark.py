"""What a benchmark is: samples that become cases, protocols, columns, and where its data come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from typing import Protocol as Interface

from harness.case import Case
from harness.protocol import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One unit that is scored. Its case is built when it is played."""

    id: str
    """The benchmark's own id."""
    subset: str
    """The table column it belongs to."""
    group: str
    """What its noise is shared with, for clustered errors: an environment, a task family."""
    case: Callable[[], Case]
    protocol: Protocol | None = None
    """Where its rules differ from the benchmark's, e.g. in the step limit of a setting."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Report-only facts for the log (JSON values), e.g. known defects."""


class Samples(list[Sample]):
    """Samples in order, and how many there are besides that were left out on request."""

    def __init__(self, samples: Iterable[Sample], left_out: int = 0) -> None:
        super().__init__(samples)
        self.left_out = left_out


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the results table: the mean over a subset, or the plain mean of other columns."""

    title: str
    subset: str | tuple[str, ...] | None = None
    """Whose samples it is the mean of; several subsets are pooled, each sample with the same weight."""
    mean_of: tuple[str, ...] = ()
    """Titles of the columns it averages; `subset` is None then."""
    part: str | None = None
    """Key of `Score.parts` that it averages in place of the score; such a column has no success and no floor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """Data of third parties that a benchmark needs; never part of this repository."""

    name: str
    """Folder name, and the word in `envscaler data pull NAME`."""
    source: str
    """Where it comes from, with its pinned version."""
    licence: str
    pull: Callable[[str | None, Path], None]
    """Fetch from a path, an archive or a URL (None: the pinned source) into a folder, checked by sha256."""


class Load(Interface):
    """Builds the samples for a protocol and task parameters."""

    def __call__(self, protocol: Protocol, **parameters: Any) -> Sequence[Sample]:
        """The samples in order; as `Samples` where some may be left out.

        Raises:
            SettingError: If a parameter has no such value.
            MissingData: If the data are not on this machine.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A named collection of samples with its protocols."""

    name: str
    version: str
    """`N-X`: N moves when scores may move, X when only the interface does."""
    protocols: Mapping[str, Protocol]
    load: Load
    columns: tuple[Column, ...]
    replay_keys: tuple[str, ...] = ()
    """Keys of `Score.parts` that `envscaler replay` prints at the top level of each line."""
    replay_parameters: Mapping[str, Any] = field(default_factory=dict)
    """Task parameters of `envscaler replay` where none is given: so wide that every sample id is found."""
    artifacts: tuple[Artifact, ...] = ()
    dropped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Protocol -> stop reasons of episodes that the published evaluation loses and leaves out of its mean. Here they
    count; tables print both readings where they differ."""
    floors: Mapping[str, float] = field(default_factory=dict)
    """Score in percent of doing nothing, by column title, printed beside every score."""
