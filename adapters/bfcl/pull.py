"""`envscaler data pull bfcl`: the two pinned wheels, fetched with pip or taken from a path, checked by hash."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

from adapters.bfcl.release import PINS, Pin
from harness.errors import DataError, SettingError
from harness.files import replacing


def pull(source: str | None, folder: Path) -> None:
    """Put both wheels into `folder`. What is there and right already is left alone.

    Args:
        source: The folder that holds both wheels, or one of them; None fetches them with pip, without dependencies.
        folder: The artifact folder, `<cache>/bfcl`.
    Raises:
        SettingError: If pip cannot fetch, or `source` lacks a wheel.
        DataError: If a wheel is not the pinned one.
    """
    if source is not None:
        _take(Path(source), folder)
        return
    for pin in PINS.values():
        if not _is(pin, folder / pin.wheel):
            with tempfile.TemporaryDirectory() as scratch:
                _download(pin, Path(scratch))
                _place(pin, Path(scratch) / pin.wheel, folder)


def _take(source: Path, folder: Path) -> None:
    here = source if source.is_dir() else source.parent
    if missing := [pin.wheel for pin in PINS.values() if not (here / pin.wheel).is_file()]:
        raise SettingError(f"{here} holds no {' and no '.join(missing)}; both wheels of BFCL are needed")
    for pin in PINS.values():
        _place(pin, here / pin.wheel, folder)


def _download(pin: Pin, scratch: Path) -> None:
    # --no-deps: the package pins numpy, torch and others that clash with ours; two small parts of it are needed.
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet"]
    command += ["--dest", str(scratch), f"bfcl-eval=={pin.package}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[-1]
        hint = f"put {pin.wheel} into a folder and name it with --from"
        raise SettingError(f"pip could not fetch bfcl-eval {pin.package} ({reason}); {hint}")


def _place(pin: Pin, wheel: Path, folder: Path) -> None:
    if not _is(pin, wheel):
        raise DataError(wheel, "", f"is not bfcl-eval {pin.package}: its sha256 differs from the pinned one")
    with replacing(folder / pin.wheel) as file:
        file.write(wheel.read_bytes())


def _is(pin: Pin, wheel: Path) -> bool:
    return wheel.is_file() and hashlib.sha256(wheel.read_bytes()).hexdigest() == pin.sha256
