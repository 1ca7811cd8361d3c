"""What every export puts into its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any


def copy(draft: Path, *names: str) -> None:
    """Put files of ours into the folder that run beside an engine, without any import of ours."""
    engines = resources.files("training.export") / "engines"
    for name in names:
        (draft / name).write_text((engines / name).read_text(encoding="utf-8"), encoding="utf-8")


def script(path: Path, *lines: str) -> None:
    """Write a shell script that runs in its own folder."""
    head = ("#!/usr/bin/env bash", "set -euo pipefail", 'cd "$(dirname "$0")"')
    path.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")
    path.chmod(0o755)


def as_yaml(path: Path, table: Mapping[str, Any] | list[Any], comment: str) -> None:
    """Write YAML under a comment."""
    import yaml

    text = yaml.safe_dump(table, sort_keys=False, allow_unicode=True, width=110)
    heading = "".join(f"# {line}\n" for line in comment.splitlines())
    path.write_text(heading + text, encoding="utf-8")


def as_json(path: Path, value: Any) -> None:
    """Write JSON."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
