"""The court: a process that reads two states and forks one confined child per check.

It runs no generated code itself, so no check can reach another check's verdict or the state that the next one sees:
each child gets its copy of both states by the fork, which is also cheaper than decoding them again.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import time
from typing import Any

import msgspec

from harness import determinism, runtime
from harness.isolation import _wire as wire
from harness.isolation._child import CHANNEL, failed, read_request, write
from harness.isolation._hardening import OPEN_FILES_OF_ZYGOTE, Hardening
from harness.state import encode, untag

_VERDICT_BYTES = 1 << 16
"""More than a check's child may write; its longest error is 2,000 characters."""


def main(descriptor: int, eid: int, hardening: Hardening) -> None:
    """Judge until the harness hangs up."""
    write(descriptor, wire.frame(wire.Hello(0, eid, os.getpid())))
    # Deadlines here must not follow the frozen clock, which only the children install.
    while True:
        request = read_request(descriptor)
        if not isinstance(request, wire.Judge):
            return
        try:
            initial, final = (untag(msgspec.json.decode(data)) for data in (request.initial, request.final))
            # Not the bytes as they came: objects are exported by class name but decoded as plain records.
            before = encode(final)
            gc.collect()
            gc.freeze()
        except MemoryError:
            write(descriptor, wire.frame(failed(request, "out_of_memory", "the states do not fit into memory")))
            continue
        except Exception as error:
            text = f"the states cannot be read: {runtime.describe(error)}"
            write(descriptor, wire.frame(failed(request, "state_not_exportable", text)))
            continue
        for index, function in enumerate(request.functions):
            trial = _Trial(request, untag(function), initial, final, before)
            passed, mutated, why = trial.verdict(hardening)
            said = wire.Said(request.rid, request.eid, index, passed, mutated, *escape(why))
            write(descriptor, wire.frame(said))


class _Outcome(msgspec.Struct, array_like=True):
    passed: bool
    mutated: bool
    error: str | None
    escaped: bool


_decode_outcome = msgspec.json.Decoder(_Outcome).decode

Spoken = tuple[bool, bool, str | None]
"""Passed, mutated, error."""


class _Trial:
    """One check in a child of its own."""

    def __init__(self, request: wire.Judge, function: str, initial: Any, final: Any, before: bytes) -> None:
        self._request = request
        self._function = function
        self._states = initial, final, before
        self._may_sleep = request.check_seconds

    def verdict(self, hardening: Hardening) -> Spoken:
        """Fork, wait, kill: the child gets its time and not more."""
        readable, writable = os.pipe()
        here = os.getpid()
        child = os.fork()
        if child == 0:
            try:
                # The channel to the harness is replaced by a pipe that this check alone writes to.
                os.dup2(writable, CHANNEL)
                os.closerange(CHANNEL + 1, OPEN_FILES_OF_ZYGOTE)
                hardening.confine_child(here, self._request.cpu_seconds)
                self._run()
            finally:
                os._exit(0)
        os.close(writable)
        try:
            spoken = self._listen(readable)
        finally:
            os.close(readable)
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        if spoken is None:
            return False, False, self._late()
        try:
            outcome: _Outcome = _decode_outcome(spoken)
            error = None if outcome.error is None else wire.unescape(outcome.error, outcome.escaped)
        except (ValueError, RecursionError):
            return False, False, f"gave no verdict ({describe_status(status)})"
        return outcome.passed and error is None, outcome.mutated, error

    def _listen(self, readable: int) -> bytes | None:
        """One line from the child, or what it wrote before it ended; None if it took too long."""
        deadline = time.monotonic() + self._request.check_seconds
        poller = select.poll()
        poller.register(readable, select.POLLIN)
        data = b""
        while len(data) <= _VERDICT_BYTES:
            rest = deadline - time.monotonic()
            if rest <= 0 or not poller.poll(rest * 1000):
                return None
            chunk = os.read(readable, _VERDICT_BYTES)
            data += chunk
            if not chunk or chunk.endswith(b"\n"):
                return data
        return b""

    def _before_sleep(self, seconds: float) -> None:
        self._may_sleep -= max(seconds, 0.0)
        if self._may_sleep < 0:
            self._speak(False, False, self._late())
            os._exit(0)

    def _late(self) -> str:
        return f"ran longer than {self._request.check_seconds:g} s"

    def _run(self) -> None:
        try:
            determinism.install(self._request.clock, self._request.seed, self._before_sleep)
            checked = runtime.run_check(self._function, *self._states)
            passed, mutated, error = checked.passed, checked.mutated, checked.error
        except MemoryError:
            passed, mutated, error = False, False, "ran out of memory"
        except BaseException as inner:
            passed, mutated, error = False, False, f"raised {runtime.describe(inner)}"
        self._speak(passed, mutated, error)

    @staticmethod
    def _speak(passed: bool, mutated: bool, error: str | None) -> None:
        write(CHANNEL, wire.encode(_Outcome(passed, mutated, *escape(error))) + b"\n")


def escape(text: str | None) -> tuple[str | None, bool]:
    """As `wire.escape`, for what may be missing."""
    return (None, False) if text is None else wire.escape(text)


def describe_status(status: int) -> str:
    """How a process ended, from what `waitpid` says."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            return f"killed by {signal.Signals(number).name}"
        except ValueError:
            return f"killed by signal {number}"
    return f"exit code {os.WEXITSTATUS(status)}"
