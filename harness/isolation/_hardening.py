"""What a process gives up before it may run generated code: ctypes and the standard library, no root, no container.

Runs in the zygote and its children; imports nothing of ours but the tables.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

from harness.isolation._seccomp import filter_program
from harness.isolation._syscalls import ARCHITECTURES, LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF

MEMORY_BYTES = 2**30
"""Address space of a child."""
OPEN_FILES = 16
OPEN_FILES_OF_ZYGOTE = 64
"""The zygote holds descriptors for the moment of a fork only, however many children live."""

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SECCOMP_MODE_FILTER = 2
_LANDLOCK_VERSION_FLAG = 1


class HardeningFailed(Exception):
    """This machine refused a step; the text says which."""


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


class Hardening:
    """The steps, with everything that can be prepared before a fork prepared.

    Args:
        weak: Leave out what this machine lacks instead of failing; for level `process`.
    Raises:
        HardeningFailed: If the machine is not one we know and `weak` is not set.
    """

    def __init__(self, *, weak: bool = False) -> None:
        self.weak = weak
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._prctl: Any = getattr(self._libc, "prctl", None)
        self._filter: _FilterProgram | None = None
        machine = platform.machine()
        known = sys.platform == "linux" and machine in ARCHITECTURES and struct.calcsize("P") == 8
        if known:
            code = filter_program(ARCHITECTURES[machine])
            self._code = ctypes.create_string_buffer(code, len(code))
            self._filter = _FilterProgram(len(code) // 8, ctypes.addressof(self._code))
        elif not weak:
            raise HardeningFailed(f"no system-call table for {sys.platform} on {machine}")

    def confine_zygote(self) -> int:
        """Give up files, network and new privileges, for this process and all it forks.

        Returns:
            The Landlock version in force; 0 if the kernel has none (the children's filter stands alone then).
        Raises:
            HardeningFailed: If new privileges cannot be given up.
        """
        if self._filter is None:
            return 0
        self._control("no_new_privs", _PR_SET_NO_NEW_PRIVS, 1)
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES_OF_ZYGOTE, OPEN_FILES_OF_ZYGOTE))
        for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK):
            resource.setrlimit(limit, (0, 0))
        return self._landlock()

    def confine_child(self, parent: int, cpu_seconds: int) -> None:
        """Give up everything that generated code has no business with. The system-call filter comes last.

        Args:
            parent: Process that must still be the parent; the child ends with it.
            cpu_seconds: CPU time after which the kernel ends the child; a backstop, deadlines are the harness's.
        Raises:
            HardeningFailed: If a step is refused.
        """
        os.setsid()
        for limit, value in (
            (resource.RLIMIT_AS, MEMORY_BYTES),
            (resource.RLIMIT_NOFILE, OPEN_FILES),
            (resource.RLIMIT_NPROC, 0),
        ):
            self._limit(limit, value)
        self._limit(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)
        self.die_with(parent)
        if self._filter is not None:
            self._control("the system-call filter", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(self._filter))

    def confine_court(self, parent: int) -> None:
        """What the court gives up: memory without end. It forks, and it runs no generated code."""
        self._limit(resource.RLIMIT_AS, MEMORY_BYTES)
        self.die_with(parent)

    def die_with(self, parent: int) -> None:
        """Have the kernel end this process when `parent` ends (where the kernel can)."""
        if self._filter is not None:
            self._control("the parent-death signal", _PR_SET_PDEATHSIG, int(signal.SIGKILL))
        if os.getppid() != parent:
            os._exit(0)  # the parent ended before the kernel was told to watch it

    def _limit(self, limit: int, soft: int, hard: int | None = None) -> None:
        try:
            resource.setrlimit(limit, (soft, soft if hard is None else hard))
        except (ValueError, OSError) as error:
            if not self.weak:
                raise HardeningFailed(f"a resource limit cannot be set: {error}") from error

    def _control(self, what: str, option: int, *arguments: Any) -> None:
        padded = [*arguments, *[0] * (4 - len(arguments))]
        if self._prctl(option, *(a if not isinstance(a, int) else ctypes.c_ulong(a) for a in padded)) != 0:
            if self.weak:
                return
            raise HardeningFailed(f"the kernel refused {what}: {os.strerror(ctypes.get_errno())}")

    def _landlock(self) -> int:
        version = landlock_version(self._libc)
        if version < 1:
            return 0
        rights = 13 + (version >= 2) + (version >= 3) + (version >= 5)
        attributes = struct.pack("<Q", (1 << rights) - 1)
        if version >= 4:
            attributes += struct.pack("<Q", 0b11)  # bind and connect TCP
        if version >= 6:
            attributes += struct.pack("<Q", 0b11)  # abstract sockets and signals of others
        size = ctypes.c_size_t(len(attributes))
        ruleset = self._libc.syscall(LANDLOCK_CREATE_RULESET, ctypes.c_char_p(attributes), size, 0)
        if ruleset < 0:
            return 0
        # A ruleset without rules: nothing of what it handles is allowed.
        refused = self._libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0)
        os.close(ruleset)
        return 0 if refused else version


def landlock_version(libc: Any) -> int:
    """The kernel's Landlock ABI; 0 if it has none."""
    found: int = libc.syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_VERSION_FLAG)
    return max(found, 0)


def _open_file() -> None:
    os.close(os.open("/", os.O_RDONLY))


def _list_folder() -> None:
    os.listdir("/")


def _look_up_file() -> None:
    os.stat("/")


def _make_socket() -> None:
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).close()


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _execute() -> None:
    os.execv("/", ["/"])


def _signal_parent() -> None:
    os.kill(os.getppid(), 0)


def _map_code() -> None:
    mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()


PROBES: dict[str, Callable[[], None]] = {
    "open_file": _open_file,
    "list_folder": _list_folder,
    "look_up_file": _look_up_file,
    "make_socket": _make_socket,
    "fork": _fork,
    "execute": _execute,
    "signal_parent": _signal_parent,
    "map_code": _map_code,
}
"""What the start-up self-test tries in a hardened child; each must be refused."""


def probe() -> dict[str, bool]:
    """True for each probe that the filter refused. Call it in a hardened child."""
    refused = {}
    for name, attempt in PROBES.items():
        try:
            attempt()
        except OSError as error:
            # The filter says EPERM; any other error means that the call itself went through to the kernel.
            refused[name] = error.errno == errno.EPERM
        else:
            refused[name] = False
    return refused
