"""Files and folders appear whole or not at all: written under a temporary name beside, renamed on success."""

from __future__ import annotations

import codecs
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from harness.errors import DataError, SettingError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A binary file that takes the place of `path` when the block ends well, and vanishes when it does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files that only their owner can read; results are meant to be shared.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A draft beside `folder`, which becomes it when the block ends well, and vanishes when it does not.

    Raises:
        SettingError: If the folder is the current one, exists and is not empty, or cannot be written.
    """
    target = folder.resolve()
    draft: Path | None = None
    try:
        if target == Path.cwd():
            raise SettingError(f"{folder}: is the current folder; name a new one in it")
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise SettingError(f"{folder}: exists and is not an empty folder; name a new one")
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        yield draft
        draft.chmod(0o755)
        draft.replace(target)
    except OSError as error:
        raise SettingError(f"{folder}: cannot be written: {error.strerror or error}") from error
    finally:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)


def read_bytes(source: str | Path) -> bytes:
    """The bytes of a file, unpacked if gzipped and without a byte order mark; `-` reads standard input.

    Raises:
        DataError: If the file is missing, unreadable, or a broken gzip stream.
    """
    try:
        data = sys.stdin.buffer.read() if str(source) == "-" else Path(source).read_bytes()
        return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).removeprefix(codecs.BOM_UTF8)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DataError(source, "", f"cannot be read: {reason}") from error
