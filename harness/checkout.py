"""Files of a third party's repository, read from a folder, an archive or a URL of one; nothing is unpacked or run."""

from __future__ import annotations

import io
import tarfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from harness.errors import SettingError

TIMEOUT_S = 60.0
"""For a server to answer, not for the whole download."""


def read_checkout(source: str, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """The wanted files by their path in the repository, with `/`; an archive's single top folder does not count.

    Args:
        source: Path of a folder or of a `.tar.gz` or `.zip` archive, or an http(s) URL of such an archive.
        wanted: Told a path, says whether the file is needed.
    Raises:
        SettingError: If the source cannot be read.
    """
    try:
        if source.startswith(("http://", "https://")):
            with urllib.request.urlopen(source, timeout=TIMEOUT_S) as answer:
                return _archive(answer.read(), source, wanted)
        path = Path(source)
        if path.is_dir():
            names = (file.relative_to(path).as_posix() for file in sorted(path.rglob("*")) if file.is_file())
            return {name: (path / name).read_bytes() for name in names if wanted(name)}
        return _archive(path.read_bytes(), source, wanted)
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise SettingError(f"{source}: cannot be read ({error}); name a checkout, an archive or a URL") from error


def _archive(data: bytes, source: str, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    if zipfile.is_zipfile(io.BytesIO(data)):
        return dict(_zip_members(data, wanted))
    return dict(_tar_members(data, wanted))


def _zip_members(data: bytes, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        top = _top(names)
        for name in names:
            if wanted(name[len(top) :]):
                yield name[len(top) :], archive.read(name)


def _tar_members(data: bytes, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        top = _top([member.name for member in members])
        for member in members:
            file = archive.extractfile(member)
            if file is not None and wanted(member.name[len(top) :]):
                yield member.name[len(top) :], file.read()


def _top(names: list[str]) -> str:
    """The folder that all files lie in, with its slash; empty if there is none."""
    tops = {PurePosixPath(name).parts[0] for name in names}
    return f"{tops.pop()}/" if len(tops) == 1 and all("/" in name for name in names) else ""
