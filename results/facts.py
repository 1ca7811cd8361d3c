"""How the samples of a log came about: versions, data, protocol, and how the model was served."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog

_HOST = re.compile(r"https?://[^/\s\"']+")
_SECRET = re.compile(r"key|token|secret|password", re.IGNORECASE)
_SAMPLING = ("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort", "reasoning_history")


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What one log says of itself."""

    path: str
    created: str
    status: str
    model: str
    benchmark: str
    version: str
    protocol: Mapping[str, Any]
    """The protocol's record: every rule that moves a score."""
    serving: Mapping[str, str]
    """Sampling, server, template, parser, versions: what may differ between two rows of one table."""
    versions: Mapping[str, str]
    data: Mapping[str, str]
    """Artifact -> fingerprint or pinned source."""
    user: str
    """Model that played the user; empty if nobody was simulated."""
    chosen: int
    """Samples that were to be played."""
    whole: int
    """Samples that the task has."""
    epochs: int
    dropped: tuple[str, ...] = ()
    """Stop reasons whose samples a published evaluation leaves out of its mean."""
    subsets: Mapping[str, int] = field(default_factory=dict)


def facts_of(log: EvalLog, path: str, server: Mapping[str, Any]) -> LogFacts:
    """The facts of a log's header.

    Args:
        server: What its samples say of the model's server.
    """
    spec, metadata = log.eval, log.eval.metadata or {}
    protocol = metadata.get("protocol") or {}
    versions = {**(spec.packages or {}), **(metadata.get("versions") or {})}
    dataset = spec.dataset
    whole = dataset.samples or 0
    chosen = len(dataset.sample_ids) if dataset.sample_ids is not None else whole
    role = (spec.model_roles or {}).get("user")
    user = role[0] if isinstance(role, list) and role else role
    simulated = bool(metadata.get("simulates_user", True))
    serving = {
        **_sampling(log),
        **_arguments(spec.model_args or {}),
        **({"endpoint": hostless(spec.model_base_url)} if spec.model_base_url else {}),
        **_arguments(server),
        **_arguments(metadata.get("serving") or {}),
        **{f"user {key}": value for key, value in _user(user).items() if simulated},
        **{name: str(versions[name]) for name in ("envscaler", "inspect-ai") if name in versions},
        **{f"data {name}": str(value)[:60] for name, value in (metadata.get("data") or {}).items()},
    }
    return LogFacts(
        path=path,
        created=spec.created,
        status=log.status,
        model=spec.model,
        benchmark=str(metadata.get("benchmark", "")),
        version=str(metadata.get("benchmark_version", "")),
        protocol=protocol,
        serving=serving,
        versions={key.replace("_", "-"): str(value) for key, value in versions.items()},
        data={key: str(value) for key, value in (metadata.get("data") or {}).items()},
        user=str(getattr(user, "model", "") or "") if simulated else "",
        chosen=chosen,
        whole=max(whole, chosen),
        epochs=spec.config.epochs or 1,
        dropped=tuple((metadata.get("dropped") or {}).get(protocol.get("name"), ())),
    )


def hostless(value: object) -> str:
    """A value without the machines that it names: where a model was served moves no score."""
    return _HOST.sub("", str(value)) or "/"


def _sampling(log: EvalLog) -> dict[str, str]:
    given = log.plan.config.model_dump(exclude_none=True)
    # What the command line gave for the model stands above the task's own.
    given |= log.eval.model_generate_config.model_dump(exclude_none=True)
    return {key: str(given[key]) for key in _SAMPLING if key in given}


def _user(role: Any) -> dict[str, str]:
    config = getattr(role, "config", None)
    given = config.model_dump(exclude_none=True) if config is not None else {}
    return {key: str(given[key]) for key in _SAMPLING if key in given}


def _arguments(given: Mapping[str, Any]) -> dict[str, str]:
    shown = {key: value for key, value in given.items() if value is not None and not _SECRET.search(key)}
    shown |= {key: given[key] for key in given if key.endswith("_tokens")}
    return {key: hostless(Path(value).name if _is_path(value) else value) for key, value in sorted(shown.items())}


def _is_path(value: object) -> bool:
    return isinstance(value, str) and value.startswith("/")


def merged(facts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The facts of several logs as one; a fact in which they differ names all its values."""
    values: dict[str, list[str]] = {}
    many = list(facts)
    for key in sorted({key for one in many for key in one}):
        values[key] = sorted({one.get(key, "-") for one in many})
    return {key: " or ".join(found) for key, found in values.items()}
