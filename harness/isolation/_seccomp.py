"""The system-call filter of hardened children, as a classic BPF program."""

from __future__ import annotations

import struct

from harness.isolation._syscalls import Architecture

# Opcodes and return values of <linux/bpf_common.h> and <linux/seccomp.h>.
_LOAD_WORD, _JUMP_IF_EQUAL, _JUMP_IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM = 1
_PROT_EXEC = 4

# Offsets in struct seccomp_data; both architectures are little-endian, so an argument's low word comes first.
_NUMBER, _ARCHITECTURE, _THIRD_ARGUMENT = 0, 4, 32


def filter_program(architecture: Architecture) -> bytes:
    """The instructions for `architecture`: allowed calls pass, others fail with EPERM, a foreign convention kills.

    EPERM rather than death, so that a program which merely tries to open a file reads an error and goes on.
    """
    code: list[tuple[int, int, int, int]] = []
    numbers = list(architecture.allowed.values())
    guarded = list(architecture.without_exec.values())
    code.append((_LOAD_WORD, 0, 0, _ARCHITECTURE))
    code.append((_JUMP_IF_EQUAL, 1, 0, architecture.audit))
    code.append((_RETURN, 0, 0, _KILL_PROCESS))
    code.append((_LOAD_WORD, 0, 0, _NUMBER))
    end = len(code) + len(guarded) + len(numbers)  # index of the refusal; the argument test and the pass follow it
    for number in guarded:
        code.append((_JUMP_IF_EQUAL, end - len(code), 0, number))
    for number in numbers:
        code.append((_JUMP_IF_EQUAL, end + 2 - len(code), 0, number))
    code.append((_RETURN, 0, 0, _ERRNO | _EPERM))
    code.append((_LOAD_WORD, 0, 0, _THIRD_ARGUMENT))
    code.append((_JUMP_IF_ANY_BIT, 1, 0, _PROT_EXEC))
    code.append((_RETURN, 0, 0, _ALLOW))
    code.append((_RETURN, 0, 0, _ERRNO | _EPERM))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in code)
