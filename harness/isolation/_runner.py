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

from harness.environment import Level, ToolResult
from harness.errors import EnvironmentFault
from harness.isolation import _wire as wire
from harness.isolation._channel import Ask, Channel, Conversation, converse, converse_all, converse_async
from harness.isolation._instance import IsolatedInstance, Violation, blame, expect, hello, read_reply, readable
from harness.isolation._launcher import Zygote, ZygoteGone
from harness.isolation._zygote import describe_status
from harness.program import Checks, Limits, Program, Verdict
from harness.state import tag

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
        for attempt in _ATTEMPTS:
            court = self._spawn(court=True)
            try:
                with blame(court, "judging", "protocol_violation"):
                    court.pid = converse(court.channel, hello(court, SPAWN_SECONDS))
                    return converse(court.channel, self._judging(court, checks))
            except EnvironmentFault as fault:
                _unless_again(fault, attempt)
            finally:
                court.end()
        raise AssertionError("unreachable")

    async def check_async(self, checks: Checks) -> list[Verdict]:
        """As `check`, while the event loop runs on."""
        for attempt in _ATTEMPTS:
            court = await self._spawn_async(court=True)
            try:
                with blame(court, "judging", "protocol_violation"):
                    court.pid = await converse_async(court.channel, hello(court, SPAWN_SECONDS))
                    return await converse_async(court.channel, self._judging(court, checks))
            except EnvironmentFault as fault:
                _unless_again(fault, attempt)
            finally:
                court.end()
        raise AssertionError("unreachable")

    def _judging(self, court: _Child, checks: Checks) -> Conversation[list[Verdict]]:
        if not checks.functions:
            return []
        rid, eid, limits = wire.new_rid(), court.eid, self.limits
        request = wire.Judge(
            rid=rid,
            eid=eid,
            functions=[tag(function) for function in checks.functions],
            initial=wire.Raw(checks.initial.data),
            final=wire.Raw(checks.final.data),
            clock=checks.clock,
            seed=checks.seed,
            check_seconds=limits.check_seconds,
            cpu_seconds=self._cpu_seconds,
        )
        out = wire.frame(request)
        seconds = limits.init_seconds + _COURT_GRACE_SECONDS
        said: dict[int, Verdict] = {}
        # Verdicts come one by one as they are said, which is not quite in order: some checks sit alone, at the end.
        for _ in checks.functions:
            seconds += limits.check_seconds
            verdict = expect(wire.Said, read_reply((yield Ask(out, seconds, limits.reply_bytes)), rid, eid))
            error = None if verdict.error is None else readable(verdict.error, verdict.escaped)
            said[verdict.index] = Verdict(verdict.passed, error, verdict.mutated)
            out = b""
        if said.keys() != set(range(len(checks.functions))):
            raise Violation("a verdict is missing")
        return [said[index] for index in range(len(checks.functions))]

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
