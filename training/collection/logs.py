"""Trajectories out of Inspect logs: what the solver left in each sample."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envscaler.scenarios import SETTINGS
from harness.errors import DataError
from training.collection.candidate import Candidate, env_of, fault_of, setting_of

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

STORE_KEY = "envscaler"
UNREADABLE = (OSError, ValueError, KeyError, zipfile.BadZipFile, NotImplementedError)
"""What reading a damaged log raises."""


@dataclass(frozen=True, slots=True)
class Log:
    """One log of scenarios, without its samples."""

    path: Path
    header: EvalLog
    members: dict[tuple[str, int], str]
    """Sample and run -> name in the archive."""


def logs(folder: Path) -> tuple[list[Log], list[str]]:
    """The logs of scenarios in a folder, or in one file, oldest first; and sentences on those that are left out.

    Raises:
        DataError: If there is none.
    """
    from inspect_ai.log import list_eval_logs, read_eval_log

    found, notes = [], []
    paths = [folder] if folder.is_file() else [_path(info.name) for info in list_eval_logs(str(folder))]
    for path in sorted(paths):
        try:
            header = read_eval_log(str(path), header_only=True)
            if (benchmark := (header.eval.metadata or {}).get("benchmark")) != "scenarios":
                notes.append(f"{path.name}: of {benchmark or 'another task'}, not of scenarios; left out")
                continue
            found.append(Log(path, header, _members(path)))
        except UNREADABLE as error:
            # A killed run leaves such a file; the log that finished it holds what was played.
            notes.append(f"{path.name}: cannot be read ({' '.join(str(error).split())}); left out")
    if not found:
        raise DataError(folder, "", "; ".join(["holds no log of scenarios", *notes]))
    return sorted(found, key=lambda log: log.header.eval.created), notes


def _path(name: str) -> Path:
    from urllib.parse import unquote, urlsplit

    return Path(unquote(urlsplit(name).path)) if name.startswith("file:") else Path(name)


def _members(path: Path) -> dict[tuple[str, int], str]:
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.startswith("samples/"):
                sample, _, run = name.removeprefix("samples/").removesuffix(".json").rpartition("_epoch_")
                found[sample, int(run)] = name
    return found


def candidates(found: list[Log]) -> Iterator[Candidate]:
    """The trajectories of logs, by sample in the order of the scenarios, then by run.

    Of the same model, sample and run the newest log counts; a log that finishes another holds what that had.

    Raises:
        DataError: Naming the log and the sample that is damaged.
    """
    newest: dict[tuple[str, str, int], Log] = {}
    order: dict[str, int] = {}
    for log in found:
        for sample in log.header.eval.dataset.sample_ids or ():
            order.setdefault(str(sample), len(order))
        for sample, run in log.members:
            newest[log.header.eval.model, sample, run] = log
    keys = sorted(newest, key=lambda key: (key[0], order.get(key[1], len(order)), key[1], key[2]))
    for key in keys:
        log = newest[key]
        yield _candidate(_sample(log, log.members[key[1:]]), log)


def _sample(log: Log, member: str) -> dict[str, Any]:
    from zstandard import ZstdError

    try:
        with zipfile.ZipFile(log.path) as archive:
            # Inspect writes NaN and halves of a character, so the strict and faster decoder does not do.
            sample = json.loads(archive.read(member))
    except (*UNREADABLE, EOFError, zlib.error, ZstdError) as error:
        raise DataError(log.path, member, f"cannot be read ({' '.join(str(error).split())})") from error
    if not isinstance(sample, dict):
        raise DataError(log.path, member, "must be a JSON object")
    return sample


def _candidate(sample: dict[str, Any], log: Log) -> Candidate:
    metadata = sample.get("metadata") or {}
    record = (sample.get("store") or {}).get(STORE_KEY) or _recovered(sample, log)
    error = (sample.get("error") or {}).get("message")
    if record is None:
        error = error or "the log holds no trajectory of this sample"
        record = {
            "benchmark": "scenarios",
            "sample_id": str(sample["id"]),
            "run": sample["epoch"],
            "protocol": "",
            "model": log.header.eval.model,
            "messages": [],
            "tools": [],
            "stop_reason": None,
            "outcome": None,
        }
    known = {"sample_id": str(sample["id"]), "messages": record["messages"]}
    named = metadata.get("setting")
    setting = next((one for one in SETTINGS if one == (named or setting_of(known))), SETTINGS[0])
    env_id = str(metadata.get("env_id") or env_of(known["sample_id"]))
    line = {key: value for key, value in record.items() if key not in ("state_hash", "serving")}
    return Candidate(
        {**line, "env_id": env_id, "setting": setting}, setting, env_id, fault_of(record["outcome"]) or error
    )


def _recovered(sample: dict[str, Any], log: Log) -> dict[str, Any] | None:
    """The record from the sample's events: what Inspect recovers of a killed run has them, and no store."""
    from inspect_ai.event import StoreEvent
    from inspect_ai.log import read_eval_log_sample

    if not any(event.get("event") == "store" for event in sample.get("events") or ()):
        return None
    whole = read_eval_log_sample(str(log.path), sample["id"], sample["epoch"], resolve_attachments="full")
    for event in reversed(whole.events):
        for change in event.changes if isinstance(event, StoreEvent) else ():
            if change.path == f"/{STORE_KEY}" and isinstance(change.value, dict):
                return dict(change.value)
    return None


def facts(log: Log) -> dict[str, Any]:
    """How a log's episodes came about: model, user, protocol, parameters, data, versions, seed."""
    from inspect_ai.model import ModelConfig

    told = log.header.eval
    metadata = told.metadata or {}
    user = (told.model_roles or {}).get("user")
    return {
        "log": log.path.name,
        "model": told.model,
        "user": user.model if isinstance(user, ModelConfig) else None,
        "protocol": metadata.get("protocol", {}),
        "parameters": metadata.get("parameters", {}),
        "data": metadata.get("data", {}),
        "versions": metadata.get("versions", {}),
        "seed": told.model_generate_config.seed,
    }
