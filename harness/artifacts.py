"""Where benchmark data lie: the folder that `ENVSCALER_DATA` names, else the user's cache (DESIGN section 10)."""

from __future__ import annotations

import os
from pathlib import Path

from harness.errors import SettingError


class MissingData(SettingError):
    """Benchmark data are not on this machine; the message names the command that fetches them."""


def cache_folder() -> Path:
    """The folder that `envscaler data pull` fills; `ENVSCALER_CACHE` moves it."""
    if named := os.environ.get("ENVSCALER_CACHE"):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("envscaler"))


def find(name: str) -> Path:
    """The folder of one artifact, e.g. `tau_bench`.

    Raises:
        MissingData: If neither `ENVSCALER_DATA` nor the cache holds it.
    """
    named = os.environ.get("ENVSCALER_DATA")
    for folder in ([Path(named)] if named else []) + [cache_folder()]:
        if (folder / name).is_dir():
            return folder / name
    raise MissingData(f"{name} data not found; fetch it with: envscaler data pull {name}")
