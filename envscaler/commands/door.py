"""Rooms raise, the door prints: bad input is one sentence and exit code 2."""

from __future__ import annotations

import json
import math
import shlex
import sys
from typing import Any

import click


class BadInput(click.ClickException):
    """Something the user gave cannot be used."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(f"envscaler: {self.format_message()}", err=True)


class Door(click.Group):
    """A command group that turns our errors into sentences."""

    def invoke(self, ctx: click.Context) -> Any:
        from harness.errors import EnvScalerError
        from results.errors import LogError

        try:
            return super().invoke(ctx)
        except (EnvScalerError, LogError) as error:
            raise BadInput(str(error)) from error


class Number(click.FloatRange):
    """A number in a range. NaN, which compares as in none and as outside of none, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


def command_line() -> str:
    """The command as it was given, for the tables that it made."""
    return shlex.join(["envscaler", *sys.argv[1:]])


def parameters(pairs: tuple[str, ...]) -> dict[str, Any]:
    """`name=value` options as Inspect reads its own: JSON values where they are such, else texts."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise BadInput(f"-T {pair}: must be NAME=VALUE")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
