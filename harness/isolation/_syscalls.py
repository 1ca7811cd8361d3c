"""System calls that a hardened child may make, with their numbers on each architecture we know.

What is missing here is refused: no call that opens, connects, starts, signals, traces or maps code. `mmap` and
`mprotect` are allowed without PROT_EXEC only (see `_seccomp`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Architecture:
    """What the filter must know of a machine."""

    audit: int
    """AUDIT_ARCH_* of <linux/audit.h>: the filter kills a caller that used another calling convention."""
    allowed: Mapping[str, int]
    without_exec: Mapping[str, int]
    """Calls whose third argument is a protection, which must not hold PROT_EXEC."""


LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF = 444, 446
"""The same numbers on every architecture."""

X86_64 = Architecture(
    audit=0xC000003E,
    allowed={
        "read": 0,
        "write": 1,
        "close": 3,
        "fstat": 5,
        "poll": 7,
        "lseek": 8,
        "munmap": 11,
        "brk": 12,
        "rt_sigaction": 13,
        "rt_sigprocmask": 14,
        "rt_sigreturn": 15,
        "pread64": 17,
        "readv": 19,
        "writev": 20,
        "sched_yield": 24,
        "mremap": 25,
        "madvise": 28,
        "nanosleep": 35,
        "getpid": 39,
        "exit": 60,
        "uname": 63,
        "gettimeofday": 96,
        "getrusage": 98,
        "sysinfo": 99,
        "times": 100,
        "getuid": 102,
        "getgid": 104,
        "geteuid": 107,
        "getegid": 108,
        "sigaltstack": 131,
        "gettid": 186,
        "time": 201,
        "futex": 202,
        "restart_syscall": 219,
        "clock_gettime": 228,
        "clock_nanosleep": 230,
        "exit_group": 231,
        "set_robust_list": 273,
        "getrandom": 318,
        "rseq": 334,
    },
    without_exec={"mmap": 9, "mprotect": 10},
)

AARCH64 = Architecture(
    audit=0xC00000B7,
    allowed={
        "close": 57,
        "lseek": 62,
        "read": 63,
        "write": 64,
        "readv": 65,
        "writev": 66,
        "pread64": 67,
        "ppoll": 73,  # glibc's poll(): this architecture has no other
        "fstat": 80,
        "exit": 93,
        "exit_group": 94,
        "futex": 98,
        "set_robust_list": 99,
        "nanosleep": 101,
        "clock_gettime": 113,
        "clock_nanosleep": 115,
        "sched_yield": 124,
        "restart_syscall": 128,
        "sigaltstack": 132,
        "rt_sigaction": 134,
        "rt_sigprocmask": 135,
        "rt_sigreturn": 139,
        "times": 153,
        "uname": 160,
        "getrusage": 165,
        "gettimeofday": 169,
        "getpid": 172,
        "getuid": 174,
        "geteuid": 175,
        "getgid": 176,
        "getegid": 177,
        "gettid": 178,
        "sysinfo": 179,
        "brk": 214,
        "munmap": 215,
        "mremap": 216,
        "madvise": 233,
        "getrandom": 278,
        "rseq": 293,
    },
    without_exec={"mmap": 222, "mprotect": 226},
)

ARCHITECTURES: Mapping[str, Architecture] = {"x86_64": X86_64, "aarch64": AARCH64}
"""By `platform.machine()` of a 64-bit process on Linux."""
