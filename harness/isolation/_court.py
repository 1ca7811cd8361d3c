"""The court: a process that reads two states and forks confined children in which checks say their verdicts.

It runs no generated code itself. Checks that can only look (`_plain`) sit together, each with states as they were
decoded; every other check sits alone, in a process of its own. So no check can reach another check's verdict or the
state that the next one sees. A child that crashes or is late loses the check it was at; the rest go to a new one.
"""

from __future__ import annotations

import builtins
import gc
import os
import select
import signal
import time
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from harness import determinism, runtime
from harness.isolation import _wire as wire
from harness.isolation._child import CHANNEL, collecting_later, failed, read_request, write
from harness.isolation._hardening import OPEN_FILES_OF_ZYGOTE, Hardening
from harness.isolation._plain import is_plain
from harness.isolation._zygote import describe_status
from harness.state import State, untag

_LINE_BYTES = 1 << 16
"""More than a child may write per check; the longest error is 2,000 characters."""
_SHARED_STATE_BYTES = 1 << 18
"""Above this, decoding both states anew for each check costs more than a fork that copies them."""


class _Outcome(msgspec.Struct, array_like=True):
    """What a child writes about one check, as a line."""

    index: int
    say: Literal["verdict", "last", "not_plain"]
    """`last`: a verdict after which this child ends. `not_plain`: it will not run the check among others."""
    passed: bool
    mutated: bool
    error: str | None
    escaped: bool
    letters: str


_decode_outcome = msgspec.json.Decoder(_Outcome).decode


def main(descriptor: int, eid: int, hardening: Hardening) -> None:
    """Judge until the harness hangs up."""
    write(descriptor, wire.frame(wire.Hello(0, eid, os.getpid())))
    while True:
        request = read_request(descriptor)
        if not isinstance(request, wire.Judge):
            return
        try:
            court = _Court(request, hardening)
        except MemoryError:
            reply: wire.Reply = failed(request, "out_of_memory", "the states do not fit into memory")
            write(descriptor, wire.frame(reply))
            continue
        except Exception as error:
            text = f"the states cannot be read: {runtime.describe(error)}"
            write(descriptor, wire.frame(failed(request, "state_not_exportable", text)))
            continue
        for said in court.verdicts():
            write(descriptor, wire.frame(said))


class _Court:
    """One request: its states and functions, and the children that hear them."""

    def __init__(self, request: wire.Judge, hardening: Hardening) -> None:
        self.request = request
        self.hardening = hardening
        self.functions = [untag(function) for function in request.functions]
        self._initial, self._final = State(bytes(request.initial)), State(bytes(request.final))
        self.states = self.decode()
        self.before = self._final.data
        gc.collect()
        gc.freeze()

    def decode(self) -> tuple[Any, Any]:
        """Both states, fresh."""
        with collecting_later():
            return self._initial.decode(), self._final.decode()

    def verdicts(self) -> Iterator[wire.Said]:
        """One for each function, in the order in which they are heard."""
        waiting = list(range(len(self.functions)))
        alone = []
        if len(self.request.initial) + len(self.request.final) > _SHARED_STATE_BYTES and not self.request.many:
            waiting, alone = [], waiting
        while waiting:
            heard = 0
            for outcome in _Sitting(self, waiting, together=True).outcomes():
                heard += 1
                if outcome.say == "not_plain":
                    alone.append(outcome.index)
                else:
                    yield self._said(outcome)
            waiting = waiting[heard:]
        for index in alone:
            for outcome in _Sitting(self, [index], together=False).outcomes():
                yield self._said(outcome)

    def late(self) -> str:
        """The error of a check that ran out of time."""
        return f"ran longer than {self.request.check_seconds:g} s"

    def _said(self, outcome: _Outcome) -> wire.Said:
        passed = outcome.passed and outcome.error is None
        rid, eid, index = self.request.rid, self.request.eid, outcome.index
        return wire.Said(rid, eid, index, passed, outcome.mutated, outcome.error, outcome.escaped, outcome.letters)


class _Sitting:
    """A child that hears some checks, one after another.

    Args:
        together: Run only what is plain, with states of its own for each; otherwise run the one check there is.
    """

    def __init__(self, court: _Court, indices: Sequence[int], *, together: bool) -> None:
        self._court = court
        self._indices = indices
        self._together = together
        self._may_sleep = 0.0
        self._frozen = False
        self._index = -1

    # In the court

    def outcomes(self) -> Iterator[_Outcome]:
        """What the child says, check by check, until it has heard all or fails at one."""
        readable, writable = os.pipe()
        child = self._fork(writable)
        os.close(writable)
        lines = self._lines(readable)
        reaped = False
        try:
            for index in self._indices:
                line = next(lines)
                if line is None:
                    yield _failure(index, self._court.late())
                    return
                try:
                    outcome: _Outcome = _decode_outcome(line)
                    broken = outcome.index != index
                except (ValueError, RecursionError):
                    broken = True
                if broken:
                    os.kill(child, signal.SIGKILL)
                    reaped = True
                    yield _failure(index, f"gave no verdict ({describe_status(os.waitpid(child, 0)[1])})")
                    return
                yield outcome
                if outcome.say == "last":
                    return
        finally:
            os.close(readable)
            if not reaped:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)

    def _fork(self, writable: int) -> int:
        court = os.getpid()
        child = os.fork()
        if child == 0:
            try:
                # The channel to the harness is replaced by a pipe that leads to the court alone.
                os.dup2(writable, CHANNEL)
                os.closerange(CHANNEL + 1, OPEN_FILES_OF_ZYGOTE)
                self._court.hardening.confine_child(court, self._court.request.cpu_seconds)
                self._hear()
            finally:
                os._exit(0)
        return child

    def _lines(self, readable: int) -> Iterator[bytes | None]:
        """Line by line, each in its time; None if it is late; what there is if the child ended or writes too much."""
        poller = select.poll()
        poller.register(readable, select.POLLIN)
        data = b""
        while True:
            deadline = time.monotonic() + self._court.request.check_seconds
            while (end := data.find(b"\n")) < 0 and len(data) <= _LINE_BYTES:
                rest = deadline - time.monotonic()
                if rest <= 0 or not poller.poll(rest * 1000):
                    yield None
                chunk = os.read(readable, _LINE_BYTES)
                if not chunk:
                    yield data
                data += chunk
            yield data[:end] if end >= 0 else b""
            data = data[end + 1 :]

    # In the child

    def _hear(self) -> None:
        court = self._court
        exhibit = runtime.Exhibit(court.decode)
        for index in self._indices:
            self._index = index
            function = court.functions[index]
            if self._together and not is_plain(function):
                self._speak("not_plain")
                continue
            self._may_sleep = court.request.check_seconds
            try:
                if court.request.many:
                    # Decoding hundreds of states for each check would cost more than all of them do.
                    initials, finals = exhibit.show() if self._together else court.states
                    self._speak("verdict", letters=runtime.hear(function, initials, finals, self._import))
                    continue
                states = court.decode() if self._together else court.states
                checked = runtime.run_check(function, *states, court.before, importer=self._import)
                self._speak("verdict", checked.passed, checked.mutated, checked.error)
            except MemoryError:
                self._speak("last", error="ran out of memory")
                return
            except BaseException as error:
                self._speak("last", error=f"raised {runtime.describe(error)}")
                return

    def _import(self, *arguments: Any, **options: Any) -> Any:
        """Freeze time and seed randomness when the check imports something; most checks never do."""
        if not self._frozen:
            self._frozen = True
            determinism.install(self._court.request.clock, self._court.request.seed, self._before_sleep)
        return builtins.__import__(*arguments, **options)

    def _before_sleep(self, seconds: float) -> None:
        self._may_sleep -= max(seconds, 0.0)
        if self._may_sleep < 0:
            self._speak("last", error=self._court.late())
            os._exit(0)

    def _speak(
        self,
        say: Literal["verdict", "last", "not_plain"],
        passed: bool = False,
        mutated: bool = False,
        error: str | None = None,
        letters: str = "",
    ) -> None:
        text, escaped = (None, False) if error is None else wire.escape(error)
        outcome = _Outcome(self._index, say, passed, mutated, text, escaped, letters)
        write(CHANNEL, wire.encode(outcome) + b"\n")


def _failure(index: int, error: str) -> _Outcome:
    return _Outcome(index, "last", False, False, error, False, "")
