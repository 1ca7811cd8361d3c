"""Level `isolated`: opens programs and judges states in children of a zygote, which is started when first needed."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import hashlib
import itertools
import os
import signal
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import msgspec

from harness.environment import Level, ToolResult
from harness.errors import EnvironmentFault
from harness.isolation import _wire as wire
from harness.isolation._channel import Ask, Channel, Conversation, converse, converse_all, converse_async
from harness.isolation._instance import IsolatedInstance, Violation, blame, expect, hello, read_reply, readable
from harness.isolation._launcher import Zygote, ZygoteGone
from harness.isolation._zygote import describe_status
from harness.program import Checks, Hearing, Limits, Program, Verdict
from harness.runtime import FAILED, ODD, PASSED, RAISED
from harness.state import State, tag

SPAWN_SECONDS = 60.0
"""For a child to be forked and confined, before its program's own time begins: many may stand in line."""
CPU_SECONDS = 60
"""Least CPU time of a child; more if its calls may take longer."""
_CODE_CACHE_BYTES = 64 * 2**20
_COURT_GRACE_SECONDS = 10.0
"""For the court to fork and reap, beside the time of the check itself."""

_ATTEMPTS = ("first", "last")


class _Child:
    """A child process and its channel."""

    def __init__(self, zygote: Zygote, eid: int, cpu_seconds: int, *, court: bool = False) -> None:
        self.zygote = zygote
        self.eid = eid
        self.closed = False
        self.pid: int | None = None
        self.channel = Channel(zygote.spawn(eid, cpu_seconds, court=court))

    def end(self) -> None:
        """Kill it, here and now; the zygote reaps it."""
        if not self._close():
            return
        if self.pid is not None and self.zygote.alive():
            # The zygote keeps the process id until `end`, so it cannot mean another process by now.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self.zygote.end(self.eid)

    def epitaph(self) -> EnvironmentFault:
        """Why it hung up, from its exit status; it is gone then."""
        if not self._close():
            return EnvironmentFault("killed", "the episode is over")
        try:
            status = self.zygote.report_end(self.eid)
        except ZygoteGone:
            return EnvironmentFault("zygote_crashed", "the isolation process crashed, and this episode with it")
        if status >= 0 and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            return EnvironmentFault("timeout", "the program used up its CPU time")
        return EnvironmentFault("killed", f"the program's process ended: {describe_status(status)}")

    def forget(self) -> None:
        """In a forked copy of the harness: close the channel, leave the child to the original."""
        self.closed = True
        self.channel.close()

    def _close(self) -> bool:
        first, self.closed = not self.closed, True
        self.channel.close()
        return first


class CodeCache:
    """Compiled code by source, as the bytes that a child sent: opaque here, loaded in children only."""

    def __init__(self, limit: int = _CODE_CACHE_BYTES) -> None:
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()

    @staticmethod
    def key(program: Program) -> bytes:
        """Identifies source, class (it stands in the code's file name) and interpreter."""
        text = f"{sys.implementation.cache_tag} {sys.hexversion:x}\0{program.class_name}\0{program.source}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

    def get(self, key: bytes) -> bytes | None:
        """The code, if a child compiled it before."""
        with self._lock:
            code = self._kept.get(key)
            if code is not None:
                self._kept.move_to_end(key)
            return code

    def keep(self, key: bytes, code: bytes) -> None:
        """Remember it, in place of what was not asked for longest."""
        with self._lock:
            if key in self._kept or len(code) > self._limit:
                return
            self._kept[key] = code
            self._size += len(code)
            while self._size > self._limit:
                _, dropped = self._kept.popitem(last=False)
                self._size -= len(dropped)


class IsolatedRunner:
    """Runs programs and checks in hardened child processes.

    Usable from any number of threads and from event loops; in a forked copy of this process it starts anew.

    Args:
        limits: Deadlines and sizes.
        allow_weak: Where this machine cannot isolate, run in plain child processes instead of refusing. What
            happened is in `level`, and so in every outcome.
    """

    def __init__(self, limits: Limits | None = None, *, allow_weak: bool = False) -> None:
        self.limits = limits or Limits()
        self._allow_weak = allow_weak
        self.code = CodeCache()
        self._eids = itertools.count(1)
        self._cpu_seconds = max(CPU_SECONDS, int(self.limits.init_seconds), int(self.limits.call_seconds) * 6)
        self._lock = threading.Lock()
        self._zygote: Zygote | None = None
        self._children: weakref.WeakSet[_Child] = weakref.WeakSet()
        self._closed = False
        _runners.add(self)

    def __enter__(self) -> IsolatedRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"IsolatedRunner({'closed' if self._closed else 'idle' if self._zygote is None else self._zygote.level})"

    @property
    def level(self) -> Level:
        """`isolated`, or `process` where only that was possible and allowed.

        Raises:
            IsolationUnavailable: If this machine cannot isolate and nothing weaker is allowed.
        """
        return self.zygote().level

    def zygote(self) -> Zygote:
        """The running zygote; a new one if there is none or the last one ended.

        Raises:
            IsolationUnavailable: As `level`.
            EnvironmentFault: If it does not start.
        """
        with self._lock:
            if self._closed:
                raise EnvironmentFault("killed", "the runner is closed")
            if self._zygote is not None and not self._zygote.alive():
                self._zygote.kill()
                self._zygote = None
            if self._zygote is None:
                try:
                    self._zygote = Zygote(allow_weak=self._allow_weak)
                except ZygoteGone as error:
                    raise EnvironmentFault("zygote_crashed", str(error)) from error
            return self._zygote

    # Programs

    def open(self, program: Program) -> IsolatedInstance:
        child = self._spawn()
        with blame(child, "starting the program", "protocol_violation"):
            child.pid = converse(child.channel, hello(child, SPAWN_SECONDS))
            instance, conversation = self._starting(child, program)
            converse(child.channel, conversation)
        return instance

    async def open_async(self, program: Program) -> IsolatedInstance:
        """As `open`, while the event loop runs on."""
        child = await self._spawn_async()
        with blame(child, "starting the program", "protocol_violation"):
            child.pid = await converse_async(child.channel, hello(child, SPAWN_SECONDS))
            instance, conversation = self._starting(child, program)
            await converse_async(child.channel, conversation)
        return instance

    def call_many(
        self, calls: Sequence[tuple[IsolatedInstance, str, dict[str, Any]]]
    ) -> list[ToolResult | EnvironmentFault]:
        """One call in each of many instances, at the same time.

        Returns:
            In order, what each gave; a fault ends its own episode only.
        """
        results = converse_all([instance.talk(name, arguments) for instance, name, arguments in calls])
        return [instance.settled(name, result) for (instance, name, _), result in zip(calls, results, strict=True)]

    # Checks

    def check(self, checks: Checks) -> list[Verdict]:
        return [_verdict(said) for said in self._judged(self._question(checks, checks.initial, checks.final))]

    def hear(self, hearing: Hearing) -> list[str]:
        said = self._judged(self._question(hearing, *hearing.packed(), many=True))
        return [_letters(one.letters, len(hearing.states)) for one in said]

    def _judged(self, question: wire.Judge) -> list[wire.Said]:
        for attempt in _ATTEMPTS:
            court = self._spawn(court=True)
            try:
                with blame(court, "judging", "protocol_violation"):
                    court.pid = converse(court.channel, hello(court, SPAWN_SECONDS))
                    return converse(court.channel, self._judging(court, question))
            except EnvironmentFault as fault:
                _unless_again(fault, attempt)
            finally:
                court.end()
        raise AssertionError("unreachable")

    async def check_async(self, checks: Checks) -> list[Verdict]:
        """As `check`, while the event loop runs on."""
        question = self._question(checks, checks.initial, checks.final)
        for attempt in _ATTEMPTS:
            court = await self._spawn_async(court=True)
            try:
                with blame(court, "judging", "protocol_violation"):
                    court.pid = await converse_async(court.channel, hello(court, SPAWN_SECONDS))
                    said = await converse_async(court.channel, self._judging(court, question))
                    return [_verdict(one) for one in said]
            except EnvironmentFault as fault:
                _unless_again(fault, attempt)
            finally:
                court.end()
        raise AssertionError("unreachable")

    def _question(self, asked: Checks | Hearing, initial: State, final: State, *, many: bool = False) -> wire.Judge:
        return wire.Judge(
            rid=0,
            eid=0,
            functions=[tag(function) for function in asked.functions],
            initial=wire.Raw(initial.data),
            final=wire.Raw(final.data),
            clock=asked.clock,
            seed=asked.seed,
            check_seconds=self.limits.check_seconds,
            cpu_seconds=self._cpu_seconds,
            many=many,
        )

    def _judging(self, court: _Child, question: wire.Judge) -> Conversation[list[wire.Said]]:
        if not question.functions:
            return []
        rid, eid, limits = wire.new_rid(), court.eid, self.limits
        out = wire.frame(msgspec.structs.replace(question, rid=rid, eid=eid))
        seconds = limits.init_seconds + _COURT_GRACE_SECONDS
        told: dict[int, wire.Said] = {}
        # Verdicts come one by one as they are said, which is not quite in order: some checks sit alone, at the end.
        for _ in question.functions:
            seconds += limits.check_seconds
            said = expect(wire.Said, read_reply((yield Ask(out, seconds, limits.reply_bytes)), rid, eid))
            if said.error is not None:
                said.error, said.escaped = readable(said.error, said.escaped), False
            told[said.index] = said
            out = b""
        if told.keys() != set(range(len(question.functions))):
            raise Violation("a verdict is missing")
        return [told[index] for index in range(len(question.functions))]

    # Children

    def _spawn(self, *, court: bool = False) -> _Child:
        for attempt in _ATTEMPTS:
            try:
                child = _Child(self.zygote(), next(self._eids), self._cpu_seconds, court=court)
            except ZygoteGone as error:
                if attempt == "last":
                    raise EnvironmentFault("zygote_crashed", "the isolation process crashed twice") from error
            else:
                with self._lock:
                    self._children.add(child)
                return child
        raise AssertionError("unreachable")

    async def _spawn_async(self, *, court: bool = False) -> _Child:
        if self._zygote is None or not self._zygote.alive():
            await asyncio.to_thread(self.zygote)  # starting one takes a while; ordering a child does not
        return self._spawn(court=court)

    def _starting(self, child: _Child, program: Program) -> tuple[IsolatedInstance, Conversation[None]]:
        instance = IsolatedInstance(child, program, self.limits)
        key = self.code.key(program)
        return instance, instance.start(program, self.code.get(key), lambda code: self.code.keep(key, code))

    # The end

    def close(self) -> None:
        """End the zygote and every child of it. Calling it twice is allowed."""
        with self._lock:
            self._closed = True
            zygote, self._zygote = self._zygote, None
            children = list(self._children)
        for child in children:
            child.forget()
        if zygote is not None:
            zygote.kill()

    def forget(self) -> None:
        """In a forked copy of this process: the zygote and its children are the original's."""
        self._lock = threading.Lock()
        self.code = CodeCache()
        for child in list(self._children):
            child.forget()
        self._children = weakref.WeakSet()
        if self._zygote is not None:
            self._zygote.forget()
            self._zygote = None


def _verdict(said: wire.Said) -> Verdict:
    return Verdict(said.passed, said.error, said.mutated)


def _letters(text: str, count: int) -> str:
    """What a function said of each state; that it raised, where it was not heard to the end or said something else."""
    whole = len(text) == count and set(text) <= {PASSED, FAILED, RAISED, ODD}
    return text if whole else RAISED * count


def _unless_again(fault: EnvironmentFault, attempt: str) -> None:
    """Checks leave no trace: after a crash that is not theirs they can simply be run again."""
    if fault.kind != "zygote_crashed" or attempt == _ATTEMPTS[-1]:
        raise fault


_runners: weakref.WeakSet[IsolatedRunner] = weakref.WeakSet()


def _close_all() -> None:
    for runner in list(_runners):
        runner.close()


def _forget_all() -> None:
    for runner in list(_runners):
        runner.forget()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
