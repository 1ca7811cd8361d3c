"""The harness's handle on a zygote: start it, order children, end them, notice its death."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from harness.environment import Level
from harness.errors import SettingError
from harness.isolation._zygote import ANSWER, COUNT, COURT, END, LENGTH, ORDER, REPORT, SPAWN

START_SECONDS = 60.0
_ANSWER_SECONDS = 10.0

_ENVIRONMENT = {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "1"}
"""All of a zygote's environment: the harness's own holds keys."""
_FOR_THE_INTERPRETER = ("LD_LIBRARY_PATH", "PYTHONHOME")
"""But for what some builds of Python need to start at all. The zygote forgets it before it forks."""

CURE = (
    "run EnvScaler inside a Linux container (docs/isolation.md has the recipe), "
    "or accept weaker isolation explicitly (allow_weak)"
)


class IsolationUnavailable(SettingError):
    """This machine cannot run generated code at level `isolated`, and nothing weaker was allowed."""


class ZygoteGone(Exception):
    """The zygote ended, or does not answer."""


def _places() -> dict[str, str]:
    """Files of the only modules outside the standard library that a zygote may import."""
    places = {"harness": str(Path(__file__).parents[1] / "__init__.py")}
    for name in ("msgspec", "time_machine", "_time_machine"):
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise IsolationUnavailable(f"isolation needs the package {name}, which is not installed")
        places[name] = spec.origin
    return places


class Zygote:
    """A running zygote process. Orders may be given from any thread.

    Args:
        allow_weak: Serve at level `process` where the self-test fails.
    Raises:
        IsolationUnavailable: If the self-test fails and weaker isolation is not allowed.
        ZygoteGone: If the process does not start.
    """

    def __init__(self, *, allow_weak: bool) -> None:
        if not hasattr(os, "fork"):
            raise IsolationUnavailable(f"isolation is not available on {sys.platform}: {CURE}")
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair()
        self._control.settimeout(START_SECONDS)
        with theirs:
            settings = {"control": theirs.fileno(), "harness": os.getpid(), "places": _places(), "weak": allow_weak}
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-s",
                    "-S",
                    "-P",
                    "-B",
                    str(Path(__file__).with_name("_boot.py")),
                    json.dumps(settings),
                ],
                env=_ENVIRONMENT | {name: os.environ[name] for name in _FOR_THE_INTERPRETER if name in os.environ},
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,  # Ctrl-C in the terminal is the harness's alone
            )
        self.report = self._hello(allow_weak)
        self.level: Level = "isolated" if self.report["level"] == "isolated" else "process"
        self._control.settimeout(_ANSWER_SECONDS)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def _hello(self, allow_weak: bool) -> dict[str, Any]:
        try:
            (size,) = LENGTH.unpack(self._exactly(LENGTH.size))
            report: dict[str, Any] = json.loads(self._exactly(size))
        except (OSError, ValueError, ZygoteGone) as error:
            self.kill()
            raise ZygoteGone("the isolation process did not start") from error
        if report.get("level") == "isolated" or ("error" not in report and allow_weak):
            return report
        self.kill()
        raise IsolationUnavailable(f"isolation is not available here: {why_weak(report)}; {CURE}")

    def alive(self) -> bool:
        """False once it has ended."""
        return self._process.poll() is None

    def spawn(self, eid: int, cpu_seconds: int, *, court: bool = False) -> socket.socket:
        """Order a child; its end of the channel goes to it, ours comes back, non-blocking.

        Raises:
            ZygoteGone: If there is nobody to order it from.
        """
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        try:
            with theirs, self._lock:
                order = ORDER.pack(COURT if court else SPAWN, cpu_seconds, eid)
                socket.send_fds(self._control, [order], [theirs.fileno()])
        except OSError as error:
            ours.close()
            raise ZygoteGone(str(error)) from error
        return ours

    def end(self, eid: int) -> None:
        """Kill a child and forget it. Does nothing if the zygote has ended: its children ended with it."""
        with contextlib.suppress(OSError), self._lock:
            self._control.sendall(ORDER.pack(END, 0, eid))

    def report_end(self, eid: int) -> int:
        """The wait status of a child that closed its channel; it is gone then.

        Raises:
            ZygoteGone: If the zygote has ended.
        """
        return self._ask(REPORT, eid)

    def children(self) -> int:
        """How many children live or are not yet reaped.

        Raises:
            ZygoteGone: If the zygote has ended.
        """
        return self._ask(COUNT, 0)

    def _ask(self, order: int, eid: int) -> int:
        try:
            with self._lock:
                self._control.sendall(ORDER.pack(order, 0, eid))
                status, _ = ANSWER.unpack(self._exactly(ANSWER.size))
        except OSError as error:
            # Also when it is too slow: an answer that comes late would be taken for that of the next question.
            self.kill()
            raise ZygoteGone(str(error)) from error
        return int(status)

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            chunk = self._control.recv(size - len(data))
            if not chunk:
                raise ZygoteGone("the isolation process ended")
            data += chunk
        return data

    def kill(self) -> None:
        """End it and its children. Calling it twice is allowed."""
        self._control.close()
        self._process.kill()
        self._process.wait()

    def forget(self) -> None:
        """In a forked copy of the harness: let go without ending what belongs to the original."""
        self._lock = threading.Lock()
        self._control.close()
        self._process.returncode = 0  # not this process's child: nothing to wait for


def why_weak(report: dict[str, Any]) -> str:
    """What keeps a zygote from level `isolated`, in words."""
    if "error" in report:
        lines = str(report["error"]).strip().splitlines()
        return lines[-1].partition("HardeningFailed: ")[2] or lines[-1]
    if report["problem"]:
        return str(report["problem"])
    passed = [name.replace("_", " ") for name, refused in report["tests"].items() if not refused]
    return f"a confined process could still {', '.join(passed)}"
