"""Level `trusted`: programs run in this process. Only for code that ships in this repository, and for tests.

Nothing protects the harness from such a program: no deadline, no memory limit. Time and randomness come from the
scenario all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from harness import runtime
from harness.determinism import Importer
from harness.environment import Level, ToolResult, ToolStatus
from harness.errors import EnvironmentFault
from harness.program import Checks, Hearing, Program, Verdict
from harness.state import NotExportable, State


class TrustedInstance:
    """A program in this process."""

    def __init__(self, program: Program) -> None:
        self._start(program)

    def _start(self, program: Program) -> None:
        importer = Importer(program.clock, program.seed)
        with _blaming("init_failed"):
            cls = runtime.load_class(program.source, program.class_name, importer)
            self._instance = runtime.instantiate(cls, program.config.decode())
        self._program = program

    def renew(self, config: State) -> None:
        self._start(replace(self._program, config=config))

    def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        if name not in self._program.tools:
            return ToolResult(f"Error: unknown tool '{name}'.", ToolStatus.UNKNOWN_TOOL)
        with _blaming("call_failed"):
            called = runtime.call(self._instance, name, arguments, self._program.observation)
        return ToolResult(called.text, ToolStatus.RAISED if called.raised else ToolStatus.OK)

    def state(self) -> State:
        with _blaming("state_not_exportable"):
            return State(runtime.export(self._instance))

    def close(self) -> None:
        self._instance = None


class TrustedRunner:
    """Runs programs and checks in this process."""

    level: Level = "trusted"

    def open(self, program: Program) -> TrustedInstance:
        return TrustedInstance(program)

    def check(self, checks: Checks) -> list[Verdict]:
        pristine = checks.initial.decode(), checks.final.decode()
        given: tuple[Any, Any] | None = None
        verdicts = []
        for function in checks.functions:
            importer = Importer(checks.clock, checks.seed)
            if given is None:
                given = checks.initial.decode(), checks.final.decode()
            try:
                checked = runtime.run_check(function, *given, checks.final.data, importer)
                verdicts.append(Verdict(checked.passed, checked.error, checked.mutated))
            except MemoryError:
                verdicts.append(Verdict(False, "ran out of memory"))
            # Decoded again only where a check may have changed them: decoding costs more than the check itself.
            if verdicts[-1].error is not None or given != pristine:
                given = None
        return verdicts

    def hear(self, hearing: Hearing) -> list[str]:
        initials, finals = hearing.packed()
        exhibit = runtime.Exhibit(lambda: (initials.decode(), finals.decode()))
        told = []
        for function in hearing.functions:
            importer = Importer(hearing.clock, hearing.seed)
            shown = exhibit.show()
            try:
                told.append(runtime.hear(function, shown[0], shown[1], importer))
            except MemoryError:
                told.append(runtime.RAISED * len(hearing.states))
        return told


@contextmanager
def _blaming(kind: str) -> Iterator[None]:
    """Whatever comes out of the program is its fault, in the words of level `isolated`."""
    try:
        yield
    except MemoryError as error:
        raise EnvironmentFault("out_of_memory", "the program used up its memory") from error
    except (runtime.ProgramError, NotExportable) as error:
        raise EnvironmentFault(kind, str(error)) from error
