"""A matrix of models and benchmarks: what it will cost and what it lacks, and its evaluation as one resumable set."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from inspect_ai import Epochs, Task, eval_set, task_with
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import Model, get_model

from benchmarks.benchmark import Sample
from benchmarks.facts import one_of_each, simulates_user
from benchmarks.registry import MODULES, Loaded, get, loaded
from harness.errors import DataError, EnvScalerError, SettingError, near_miss

DEFAULTS: dict[str, dict[str, Any]] = {"scenarios": {"setting": "all"}}
"""Parameters in which a matrix differs from a single task: it plays both settings of the scenarios."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Which models play which benchmarks, and how."""

    models: tuple[str, ...]
    benchmarks: tuple[str, ...] = tuple(MODULES)
    logs: str
    """Folder of this matrix alone: starting it again there plays what is missing."""
    runs: int | None = None
    """None: the protocol's."""
    user: str | None = None
    """Model that plays the user where one is simulated."""
    protocol: str = "paper"
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Benchmark -> its task parameters; `protocol` among them stands above the matrix's."""
    model_args: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    """First samples of each subset only."""
    max_connections: int | None = None
    max_samples: int | None = None
    retry_on_error: int | None = None
    """Times that a failed sample is played again at once."""

    def task_parameters(self, benchmark: str) -> dict[str, Any]:
        """What its task is called with."""
        return {"protocol": self.protocol, **DEFAULTS.get(benchmark, {}), **self.parameters.get(benchmark, {})}

    def roles(self, ready: Loaded) -> dict[str, str]:
        """The models of its roles: a user only where one is simulated."""
        return {"user": self.user} if self.user and simulates_user(ready) else {}


@dataclass(frozen=True, slots=True)
class Planned:
    """One benchmark of a matrix, for one model."""

    benchmark: str
    version: str
    protocol: str
    parameters: Mapping[str, Any]
    samples: int
    runs: int
    expected: int | None
    """Agent calls if every episode takes as many steps as its oracle, and one to end; None where none is known."""
    most: int
    """Agent calls if every episode reaches its limit."""
    simulates_user: bool

    @property
    def episodes(self) -> int:
        """Samples times runs."""
        return self.samples * self.runs


@dataclass(frozen=True, slots=True)
class Plan:
    """What a matrix will do, and what it lacks to do it."""

    planned: tuple[Planned, ...]
    missing: tuple[str, ...]
    """Sentences; with any of them nothing starts."""
    warnings: tuple[str, ...]


_KEYS: dict[str, type] = {
    "models": list,
    "benchmarks": list,
    "logs": str,
    "runs": int,
    "user": str,
    "protocol": str,
    "parameters": dict,
    "model_args": dict,
    "limit": int,
    "max_connections": int,
    "max_samples": int,
    "retry_on_error": int,
}


def read_matrix(file: Path) -> dict[str, Any]:
    """The fields of a `Matrix` that a TOML file names.

    Raises:
        DataError: If it cannot be read, or names a key that is none or has no such type.
    """
    try:
        record = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(file, "", f"cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(file, "", f"is not TOML ({error})") from error
    for key, value in record.items():
        if key not in _KEYS:
            raise DataError(file, key, f"unknown; {near_miss(key, list(_KEYS))}")
        kind = _KEYS[key]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise DataError(file, key, f"must be {_KINDS[kind]}")
        if isinstance(value, list) and not all(isinstance(item, str) for item in value):
            raise DataError(file, key, "must be a list of texts")
    for benchmark, given in record.get("parameters", {}).items():
        if benchmark not in MODULES:
            raise DataError(file, f"parameters.{benchmark}", f"is no benchmark; {near_miss(benchmark, list(MODULES))}")
        if not isinstance(given, dict):
            raise DataError(file, f"parameters.{benchmark}", "must be a table of task parameters")
    return {key: tuple(value) if isinstance(value, list) else value for key, value in record.items()}


_KINDS = {list: "a list of texts", str: "a text", int: "a whole number", dict: "a table"}


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """Benchmarks by name; `all` is every one, in the order of the paper's table.

    Raises:
        SettingError: If there is none of a name, or none is named.
    """
    flat = [part.strip() for name in names for part in name.split(",") if part.strip()]
    if not flat:
        raise SettingError("no benchmark is named; one of " + ", ".join([*MODULES, "all"]))
    for name in flat:
        if name != "all":
            get(name)
    return tuple(MODULES) if "all" in flat else tuple(dict.fromkeys(flat))


def plan(matrix: Matrix) -> Plan:
    """What each model will play, and what is missing: data, a user, models, a GPU. Starts nothing."""
    planned, missing, warnings = [], [], []
    for name in matrix.benchmarks:
        try:
            ready = _ready(matrix, name)
        except EnvScalerError as error:
            missing.append(f"{name}: {error}")
            continue
        planned.append(_planned(matrix, name, ready))
        if ready.left_out:
            warnings.append(f"{name}: {ready.left_out:,} scenarios are left out, for want of checks")
        if planned[-1].simulates_user and not matrix.user:
            asked = ready.protocol.user_model
            named = f", e.g. --user {asked}" if asked else ""
            missing.append(f"{name}: a user is simulated and none is named; give one with --user{named}")
        elif planned[-1].simulates_user and ready.protocol.user_model not in (None, matrix.user):
            warnings.append(f"{name}: the user is {matrix.user}; published figures have {ready.protocol.user_model}")
    for name in dict.fromkeys([*matrix.models, *([matrix.user] if matrix.user else [])]):
        try:
            _model(matrix, name, role=name == matrix.user and name not in matrix.models)
        except (PrerequisiteError, EnvScalerError, ValueError, ImportError, OSError) as error:
            missing.append(f"model {name}: {' '.join(str(error).split())}")
        else:
            if _served_here(name) and not Path("/dev/nvidiactl").exists():
                warnings.append(f"model {name}: no GPU here; it is served on the CPU, which is slow")
    return Plan(tuple(planned), tuple(missing), tuple(warnings))


def _ready(matrix: Matrix, name: str) -> Loaded:
    given = matrix.task_parameters(name)
    return loaded(name, given.pop("protocol"), given.pop("prompts", None), **given)


def _planned(matrix: Matrix, name: str, ready: Loaded) -> Planned:
    samples = _limited(matrix, ready)
    runs = matrix.runs or ready.protocol.runs
    expected: int | None = 0
    most = 0
    for sample in samples:
        case, rules = sample.case(), ready.rules(sample)
        turns = len(case.brief.turns) if rules.step_limit_per == "turn" else 1
        most += rules.step_limit * turns
        # The oracle's last message ends an episode; with several user turns each of them is ended.
        known = None if case.oracle is None or expected is None else expected + len(case.oracle) + 1
        expected = known
    return Planned(
        benchmark=name,
        version=ready.benchmark.version,
        protocol=ready.protocol.name,
        parameters={key: value for key, value in matrix.task_parameters(name).items() if key != "protocol"},
        samples=len(samples),
        runs=runs,
        expected=None if expected is None else expected * runs,
        most=most * runs,
        simulates_user=any(sample.case().brief.user is not None for sample in one_of_each(ready)),
    )


def _limited(matrix: Matrix, ready: Loaded) -> list[Sample]:
    """The samples that are played."""
    seen: Counter[str] = Counter()
    kept = []
    for sample in ready.samples:
        seen[sample.subset] += 1
        if matrix.limit is None or seen[sample.subset] <= matrix.limit:
            kept.append(sample)
    return kept


def _model(matrix: Matrix, name: str, *, role: bool = False) -> Model:
    return get_model(name, memoize=False, **({} if role else _model_args(matrix, name)))


def _model_args(matrix: Matrix, name: str) -> dict[str, Any]:
    """Arguments are for models that are served; reference agents take none."""
    return {} if name.startswith("reference/") else dict(matrix.model_args)


def _served_here(name: str) -> bool:
    return name.startswith("checkpoint/") and Path(name.removeprefix("checkpoint/")).is_dir()


def evaluate(matrix: Matrix, make: Callable[..., Task], display: Any = None) -> bool:
    """Play a matrix as an Inspect eval set. In a folder where it was started before, only what is missing is played.

    Args:
        make: Makes the task of a benchmark: `make(benchmark, **parameters)`.
        display: Inspect's display; None is its own choice.
    Returns:
        Whether every task was completed.
    Raises:
        SettingError: If Inspect refuses, e.g. because the folder holds other logs.
    """
    tasks = []
    selected: list[str] | None = [] if matrix.limit else None
    for name in matrix.benchmarks:
        ready = _ready(matrix, name)
        made = make(name, **matrix.task_parameters(name))
        if roles := matrix.roles(ready):
            made = task_with(made, model_roles=dict(roles))
        tasks.append(made)
        if selected is not None:
            selected += [f"{made.name}:{sample.id}" for sample in _limited(matrix, ready)]
    try:
        done, _ = eval_set(
            tasks,
            log_dir=matrix.logs,
            model=[_model(matrix, name) for name in matrix.models],
            epochs=None if matrix.runs is None else Epochs(matrix.runs, "mean"),
            sample_id=selected,
            max_connections=matrix.max_connections,
            max_samples=matrix.max_samples,
            retry_on_error=matrix.retry_on_error,
            display=display,
            # Every sample is on disk as soon as it is done: a killed evaluation plays none of them twice.
            log_buffer=1,
            # Whatever the machine's settings say: only this format can be read a sample at a time.
            log_format="eval",
            retry_attempts=3,
            ctl_server=False,
            acp_server=False,
        )
    except PrerequisiteError as error:
        raise SettingError(" ".join(str(error).split())) from error
    return done


def merged(file: Mapping[str, Any], given: Mapping[str, Any]) -> Matrix:
    """A matrix of a file's fields, those of the command line above them.

    Raises:
        SettingError: If models or the folder of logs are missing.
    """
    fields = {**file, **{key: value for key, value in given.items() if value not in (None, (), {})}}
    for key, option in (("models", "--model"), ("logs", "--logs")):
        if not fields.get(key):
            raise SettingError(f"{option} is missing")
    matrix = Matrix(**{**fields, "benchmarks": chosen(fields.get("benchmarks") or ("all",))})
    parameters = {name: dict(values) for name, values in file.get("parameters", {}).items()}
    for name, values in given.get("parameters", {}).items():
        parameters.setdefault(name, {}).update(values)
    return replace(matrix, parameters=parameters)
