"""What this machine can isolate, for `envscaler doctor`."""

from __future__ import annotations

import platform
import sys
import time
from dataclasses import dataclass, field

from harness.environment import Level
from harness.errors import EnvScalerError
from harness.isolation._launcher import CURE, IsolationUnavailable, Zygote, ZygoteGone, why_weak


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The result of the self-test."""

    system: str
    """Operating system and kernel version."""
    machine: str
    python: str
    level: Level | None
    """What a runner would offer: `isolated`, or `process` if weaker isolation were allowed; None if nothing works."""
    landlock: int
    """ABI version in force; 0 if the kernel has none. The system-call filter alone is enough for `isolated`."""
    seccomp: bool
    """True if every probe was refused by the system-call filter."""
    probes: dict[str, bool] = field(default_factory=dict)
    """What a confined child tried; true where it was refused."""
    seconds: float = 0.0
    """Start of the isolation process, self-test included."""
    problem: str | None = None
    """Why it is not `isolated`, and what to do about it."""

    @property
    def isolated(self) -> bool:
        """True if generated code can run at level `isolated` here."""
        return self.level == "isolated"


def support() -> Support:
    """Start an isolation process, have it test itself, and end it. Never raises for what the machine lacks."""
    started = time.monotonic()
    level: Level | None = None
    landlock, probes, problem = 0, {}, None
    try:
        zygote = Zygote(allow_weak=True)
    except IsolationUnavailable as error:
        problem = str(error)
    except (ZygoteGone, EnvScalerError, OSError) as error:
        problem = f"{error}; {CURE}"
    else:
        level, landlock, probes = zygote.level, zygote.report["landlock"], zygote.report["tests"]
        if level != "isolated":
            problem = f"{why_weak(zygote.report)}; {CURE}"
        zygote.kill()
    return Support(
        system=f"{platform.system()} {platform.release()}",
        machine=platform.machine(),
        python=f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})",
        level=level,
        landlock=landlock,
        seccomp=level == "isolated",
        probes=probes,
        seconds=time.monotonic() - started,
        problem=problem,
    )
