"""The process that forks children: a clean interpreter with the standard library loaded. It runs no generated code.

Orders come as fixed records over a socket, a new child's end of its channel beside them. It ends with the harness.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import struct
import sys
import time
import traceback
from typing import Any

ORDER = struct.Struct("<BxxxIQ")
"""What to do, a number (CPU seconds), the episode."""
SPAWN, COURT, END, REPORT, COUNT = 1, 2, 3, 4, 5
ANSWER = struct.Struct("<qQ")
"""A wait status or a count, the episode."""
LENGTH = struct.Struct("<I")

NO_SUCH_CHILD = -1
_CONTROL = 3
_GRACE_SECONDS = 0.02
"""How long a child that closed its channel may take to end by itself, so that its exit status can be told."""


def main(control: int, harness: int, *, weak: bool) -> None:
    """Prepare, test, report, serve."""
    # Dispositions and masks pass through exec: a harness that ignores dead children must not make this one blind.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.environ.clear()
    # A low number, below the limit on open files: the harness may hold thousands.
    os.dup2(control, _CONTROL)
    if control != _CONTROL:
        os.close(control)
    channel = socket.socket(fileno=_CONTROL)
    try:
        zygote = _prepare(channel, harness, weak)
    except Exception:
        _hello(channel, {"error": traceback.format_exc(limit=-3)})
        return
    if zygote is not None:
        zygote.serve()


def _hello(channel: socket.socket, report: dict[str, Any]) -> None:
    body = json.dumps(report).encode()
    channel.sendall(LENGTH.pack(len(body)) + body)


def _prepare(channel: socket.socket, harness: int, weak: bool) -> Zygote | None:
    # Fork hooks of random, logging and threading reseed and renew locks in every child. A zygote has one thread and
    # holds no locks, and an episode seeds by itself: without the hooks a fork touches a third fewer pages.
    register, os.register_at_fork = os.register_at_fork, lambda **_: None
    from harness.isolation import _modules

    _modules.load()
    import time_machine  # noqa: F401

    from harness.isolation import _child, _court, _hardening

    os.register_at_fork = register
    if sys.flags.hash_randomization:
        raise RuntimeError("string hashes are randomized: PYTHONHASHSEED=0 was not heard")
    stdout: Any = sys.stdout
    stdout.reconfigure(errors="backslashreplace")
    watch = _watch(harness)
    _die_first()
    hardening = _hardening.Hardening(weak=weak)
    landlock = hardening.confine_zygote()
    _modules.close_the_door()
    found = _self_test(hardening)
    tests, problem = ({}, found) if isinstance(found, str) else (found, None)
    sound = bool(tests) and all(tests.values())
    level = "isolated" if sound else "process"
    report = {"landlock": landlock, "tests": tests, "problem": problem, "level": level}
    _hello(channel, report)
    if not sound and not weak:
        return None
    gc.collect()
    gc.freeze()
    return Zygote(channel, watch, hardening, _child.main, _court.main)


def _watch(harness: int) -> int | None:
    """A descriptor that turns readable when the harness ends, also if a copy of the control socket lives on."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        watch = os.pidfd_open(harness)
    except OSError:
        return None
    if os.getppid() != harness:
        os._exit(0)
    return watch


def _die_first() -> None:
    """If the machine runs out of memory, better these processes than the harness (or a training run beside it)."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("500")


def _self_test(hardening: Any) -> dict[str, bool] | str:
    """What a confined child was refused, or why it could not be confined."""
    from harness.isolation import _hardening

    readable, writable = os.pipe()
    here = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            hardening.confine_child(here, 5)
            os.write(writable, json.dumps(_hardening.probe()).encode())
        except _hardening.HardeningFailed as error:
            os.write(writable, json.dumps(str(error)).encode())
        finally:
            os._exit(0)
    os.close(writable)
    data = os.read(readable, 1 << 16) if select.select([readable], [], [], 5)[0] else b""
    os.close(readable)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    found: dict[str, bool] | str = json.loads(data) if data else "a confined process does not run"
    return found


class Zygote:
    """The loop: fork what is ordered, reap what is released, nothing else."""

    def __init__(self, channel: socket.socket, watch: int | None, hardening: Any, episode: Any, court: Any) -> None:
        self._channel = channel
        self._watch = watch
        self._hardening = hardening
        self._mains = {SPAWN: episode, COURT: court}
        self._children: dict[int, int] = {}
        self._dying: set[int] = set()

    def serve(self) -> None:
        """Until the harness hangs up or ends. Children end with this process."""
        poller = select.poll()
        poller.register(self._channel, select.POLLIN)
        if self._watch is not None:
            poller.register(self._watch, select.POLLIN)
        while True:
            ready = dict(poller.poll(20 if self._dying else None))
            self._reap()
            if self._watch in ready:
                return
            if self._channel.fileno() in ready and not self._obey():
                return

    def _obey(self) -> bool:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._channel, ORDER.size, 1)
        except ConnectionError:
            return False
        if len(data) != ORDER.size:
            return False
        order, number, eid = ORDER.unpack(data)
        if order in self._mains:
            self._spawn(order, number, eid, descriptors[0])
        elif order == COUNT:
            self._channel.sendall(ANSWER.pack(len(self._children) + len(self._dying), eid))
        elif order == REPORT:
            self._channel.sendall(ANSWER.pack(self._report(self._children.pop(eid, None)), eid))
        else:
            self._end(self._children.pop(eid, None))
        return True

    def _spawn(self, order: int, cpu_seconds: int, eid: int, descriptor: int) -> None:
        here = os.getpid()
        try:
            child = os.fork()
        except OSError:
            os.close(descriptor)  # the harness reads the end of the channel
            return
        if child == 0:
            self._become(order, cpu_seconds, eid, descriptor, here)
        os.close(descriptor)
        self._children[eid] = child

    def _become(self, order: int, cpu_seconds: int, eid: int, descriptor: int, parent: int) -> None:
        """The child's life. Never returns."""
        from harness.isolation import _child, _hardening

        try:
            os.dup2(descriptor, _child.CHANNEL)
            os.closerange(_child.CHANNEL + 1, _hardening.OPEN_FILES_OF_ZYGOTE)
            if order == SPAWN:
                self._hardening.confine_child(parent, cpu_seconds)
                self._mains[order](_child.CHANNEL, eid)
            else:
                self._hardening.confine_court(parent)
                self._mains[order](_child.CHANNEL, eid, self._hardening)
        finally:
            os._exit(0)

    def _report(self, child: int | None) -> int:
        """The wait status of a child that closed its channel, ended by force if it does not end by itself."""
        if child is None:
            return NO_SUCH_CHILD
        until = time.monotonic() + _GRACE_SECONDS
        while time.monotonic() < until:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return status
            time.sleep(0.0005)
        self._end(child)
        return int(signal.SIGKILL)

    def _end(self, child: int | None) -> None:
        if child is not None:
            os.kill(child, signal.SIGKILL)
            self._dying.add(child)
            self._reap()

    def _reap(self) -> None:
        for child in list(self._dying):
            if os.waitpid(child, os.WNOHANG)[0]:
                self._dying.discard(child)


def describe_status(status: int) -> str:
    """How a process ended, from what `waitpid` says."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            return f"killed by {signal.Signals(number).name}"
        except ValueError:
            return f"killed by signal {number}"
    return f"exit code {os.WEXITSTATUS(status)}"
