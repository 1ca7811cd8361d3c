"""Every artifact of every benchmark, and fetching one into the cache."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path

from benchmarks.benchmark import Artifact
from benchmarks.registry import MODULES, get
from harness.artifacts import cache_folder
from harness.errors import DataError, SettingError, near_miss
from harness.files import read_bytes, replacing

_RELEASE_FILES = {
    "prompts.json": "2872168bdae90136778f42e22812212146bdd7b2706042187b7e2c733134b91d",
}


def _pull_release_sample(source: str | None, folder: Path) -> None:
    """Copy the release's prompts from a folder that has them; they have no pinned download of their own."""
    if source is None:
        raise SettingError("envscaler_release_sample: name a folder that holds prompts.json with --from")
    for name, digest in _RELEASE_FILES.items():
        data = read_bytes(Path(source) / name)
        if hashlib.sha256(data).hexdigest() != digest:
            raise DataError(Path(source) / name, "", "is not the pinned version (sha256 differs)")
        with replacing(folder / name) as file:
            file.write(data)


RELEASE_SAMPLE = Artifact(
    name="envscaler_release_sample",
    source="RUC-NLPIR/EnvScaler @ 87e6673",
    licence="MIT",
    pull=_pull_release_sample,
)
"""The release's prompts, which several protocols use."""


def artifacts() -> list[Artifact]:
    """All artifacts, by name."""
    found = {RELEASE_SAMPLE.name: RELEASE_SAMPLE}
    for name in MODULES:
        found |= {artifact.name: artifact for artifact in get(name).artifacts}
    return [found[name] for name in sorted(found)]


def pull(name: str, source: str | None) -> Path:
    """Fetch an artifact into the cache, whole or not at all.

    Raises:
        SettingError: If there is no such artifact, it needs a source, or the cache cannot be written.
        DataError: If what was fetched is not the pinned version.
    """
    known = {artifact.name: artifact for artifact in artifacts()}
    if name not in known:
        raise SettingError(f"no artifact '{name}'; {near_miss(name, list(known))}")
    target = cache_folder() / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=target.parent))
    except OSError as error:
        raise SettingError(f"{target}: cannot be written: {error.strerror}") from error
    try:
        known[name].pull(source, draft)
        draft.chmod(0o755)
        if target.exists():
            shutil.rmtree(target)
        draft.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target
