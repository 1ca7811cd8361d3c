"""Configurations from presets, TOML files and `section.key=value` options, each above the one before."""

from __future__ import annotations

import dataclasses
import json
import math
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

from harness.errors import DataError, SettingError, near_miss
from training.config import Config, RlConfig, SftConfig
from training.presets import PAPER_RL, PAPER_SFT, PRESETS

C = TypeVar("C", SftConfig, RlConfig)
T = TypeVar("T")

_DEFAULTS: dict[type, Config] = {SftConfig: PAPER_SFT, RlConfig: PAPER_RL}


def resolve(kind: type[C], file: Path | None = None, preset: str | None = None, options: Sequence[str] = ()) -> C:
    """The configuration of a run.

    Args:
        kind: `SftConfig` or `RlConfig`.
        file: TOML; its key `preset` names what it stands on.
        preset: Name of a preset, above the file's `preset`; with neither it is the paper's.
        options: `section.key=value`, above the file.
    Raises:
        DataError: If the file cannot be read, or names a key that is none or has no such value.
        SettingError: Likewise for presets and options.
    """
    table = _read(file) if file is not None else {}
    named = table.pop("preset", None)
    base = _preset(kind, preset or named)
    try:
        config = overlaid(base, table)
    except SettingError as error:
        assert file is not None
        raise DataError(file, "", str(error)) from error
    for option in options:
        config = overlaid(config, _option(option))
    return config


def _preset(kind: type[C], name: Any) -> C:
    base = _DEFAULTS[kind]
    if name is not None:
        fitting = [known for known, config in PRESETS.items() if isinstance(config, kind)]
        if name not in fitting:
            raise SettingError(f"preset={name}: unknown; {near_miss(name, fitting)}")
        base = PRESETS[name]
    assert isinstance(base, kind)
    return base


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(file, "", f"cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(file, "", f"is not TOML ({error})") from error


def _option(text: str) -> dict[str, Any]:
    """`a.b=1` as `{"a": {"b": 1}}`; values are JSON where they are such, else texts."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise SettingError(f"{text}: must be SECTION.KEY=VALUE")
    try:
        decoded = json.loads(value)
    except (ValueError, RecursionError):
        decoded = value
    for key in reversed(name.split(".")):
        decoded = {key: decoded}
    assert isinstance(decoded, dict)
    return decoded


def overlaid(config: T, table: Mapping[str, Any], path: str = "") -> T:
    """`config` with the values of a table in place of its own.

    Raises:
        SettingError: Naming the first key that is unknown, or whose value has not its type.
    """
    kinds = typing.get_type_hints(type(config))
    changed = {}
    for key, value in table.items():
        place = f"{path}{key}"
        if key not in kinds:
            raise SettingError(f"{place}: unknown; {near_miss(key, list(kinds))}")
        if dataclasses.is_dataclass(kinds[key]):
            if not isinstance(value, Mapping):
                raise SettingError(f"{place}: must be a table")
            changed[key] = overlaid(getattr(config, key), value, f"{place}.")
        else:
            changed[key] = _value(place, kinds[key], value)
    made: T = dataclasses.replace(cast("Any", config), **changed)
    return made


_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _value(place: str, kind: Any, value: Any) -> Any:
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise SettingError(f"{place}={value}: unknown; {near_miss(value, list(get_args(kind)))}")
        return value
    if get_origin(kind) is types.UnionType:
        (kind,) = (part for part in get_args(kind) if part is not type(None))
    if get_origin(kind) is tuple:
        entries = [value] if isinstance(value, str) else value
        if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
            raise SettingError(f"{place}: must be a list of texts")
        return tuple(entries)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or (kind is float and not math.isfinite(value)):
        raise SettingError(f"{place}={value}: must be {_NAMES[kind]}")
    return value


def written(config: Config) -> str:
    """The configuration as TOML; reading it again gives it back."""
    import tomli_w

    return tomli_w.dumps(_without_none(dataclasses.asdict(config)))


def _without_none(table: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_none(value) if isinstance(value, dict) else list(value) if isinstance(value, tuple) else value
        for key, value in table.items()
        if value is not None
    }
