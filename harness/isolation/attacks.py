"""Try a list of attacks on a throw-away environment, each followed by a clean episode in the same run."""

from __future__ import annotations

import builtins
import contextlib
import json
import os
import re
import socket
import sys
import tempfile
import time
import types
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from harness.errors import DataError, EnvironmentFault
from harness.isolation import _throwaway as throwaway
from harness.isolation._modules import ALLOWED_MODULES
from harness.isolation._runner import IsolatedRunner
from harness.program import Checks, Limits, Verdict
from harness.state import State

LIMITS = Limits(init_seconds=2.0, call_seconds=1.0, check_seconds=1.0)
"""Shorter than for episodes: half of a list of attacks runs into them."""
WORDS = ("ESCAPED", "FORGED")
"""What an attack says, or has an answer say, when it got through."""
_SLACK_SECONDS = 10.0
_REAP_SECONDS = 5.0


class Attack(msgspec.Struct, frozen=True):
    """One record of an attack list."""

    id: str
    where: Literal["tool", "check"]
    snippet: str
    expectation: str = ""


@dataclass(frozen=True, slots=True)
class AttackResult:
    """What became of one attack."""

    id: str
    stopped: bool
    how: str
    harness_alive: bool
    next_episode_clean: bool

    @property
    def held(self) -> bool:
        """True if nothing got through in any of the three ways."""
        return self.stopped and self.harness_alive and self.next_episode_clean


def load_attacks(path: Path) -> list[Attack]:
    """The attacks of a JSON-lines file.

    Raises:
        DataError: If the file cannot be read or a record is not an attack.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(path, "", f"cannot be read: {error.strerror}") from error
    attacks = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            attacks.append(msgspec.json.decode(line, type=Attack))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise DataError(path, f"line {number}", str(error)) from error
    return attacks


def run_attacks(
    attacks: Iterable[Attack], folder: Path | None = None, *, limits: Limits = LIMITS, allow_weak: bool = False
) -> Iterator[AttackResult]:
    """Try attacks one after another, in one runner.

    Args:
        folder: Where the attacks' probe files would appear; a temporary one by default.
    Raises:
        IsolationUnavailable: If this machine cannot isolate.
    """
    with contextlib.ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        attacks = list(attacks)
        stack.enter_context(_secret())
        bait = stack.enter_context(_Bait(attacks))
        with IsolatedRunner(limits, allow_weak=allow_weak) as runner:
            baseline = throwaway.clean_episode(runner)
            for number, attack in enumerate(attacks):
                yield _Trial(runner, attack, folder / f"probe-{os.getpid()}-{number}", bait, baseline).result()


class _Trial:
    """One attack, from its episode to the next."""

    def __init__(
        self, runner: IsolatedRunner, attack: Attack, probe: Path, bait: _Bait, baseline: throwaway.Look
    ) -> None:
        self._runner = runner
        self._attack = attack
        self._probe = probe
        self._snippet = attack.snippet.replace("{PROBE}", str(probe))
        self._bait = bait
        self._baseline = baseline
        # It wants to leave a mark for others; what its own episode or its own check says afterwards is its own affair.
        self._marks_only = attack.expectation.startswith("clean")
        self._zygote = runner.zygote().pid
        self._notes: list[str] = []
        self._escapes: list[str] = []

    def result(self) -> AttackResult:
        """Attack, then look at the harness and at the next episode."""
        before = _own_face()
        started = time.monotonic()
        # What the checks of a real run would be: an attack that finds or replaces them has left its process.
        SECRET_CHECKS = [*throwaway.FAILING]
        final = self._play()
        self._judge(final)
        limits = self._runner.limits
        allowed = limits.init_seconds + 3 * limits.call_seconds + 20 * limits.check_seconds + _SLACK_SECONDS
        if time.monotonic() - started > allowed:
            self._escapes.append("held the harness up beyond its limits")
        if os.path.lexists(self._probe):
            self._escapes.append("wrote the probe file")
        if self._bait.taken():
            self._escapes.append("reached a socket of the harness")
        if tuple(SECRET_CHECKS) != throwaway.FAILING:
            self._escapes.append("changed the checks")
        alive = self._harness_alive(before)
        clean = self._next_episode_clean()
        how = "; ".join(self._escapes or self._notes)
        return AttackResult(self._attack.id, not self._escapes, how, alive, clean)

    def _play(self) -> State | None:
        """Call the attack and export what it left."""
        try:
            with self._runner.open(throwaway.program(self._snippet)) as instance:
                result = instance.call("attack", {})
                self._hear("the call", result.text)
                self._notes.append(f"{'raised' if result.status == 'raised' else 'returned'} {_short(result.text)}")
                # A second request: an answer that was written ahead must not be taken for it.
                look = instance.call("look_up", {"order_id": "O1"})
                final = instance.state()
                if not self._marks_only:
                    self._hear("the next call", look.text)
                    self._hear("the state", final.data.decode("utf-8", "replace"))
                return final
        except EnvironmentFault as fault:
            self._hear("the fault", fault.detail)
            self._notes.append(_short(str(fault)))
            return None

    def _judge(self, final: State | None) -> None:
        """No check may pass on a state that does not hold what it asks for; no check that attacks may pass at all."""
        final = throwaway.CONFIG if final is None else final
        verdicts = self._verdicts(list(throwaway.FAILING), final)
        if any(verdict.passed for verdict in verdicts) and not throwaway.shipped(final):
            self._escapes.append("a check passed that must not")
        if self._attack.where != "check":
            return
        planted = self._planted()
        verdicts = self._verdicts(planted, final)
        said = (f"{verdict.error or verdict.passed}{' (mutated)' * verdict.mutated}" for verdict in verdicts)
        self._notes.append(f"checks: {_short('; '.join(said))}")
        for verdict in verdicts:
            self._hear("a check", verdict.error or "")
        passed = any(verdict.passed and not verdict.mutated for verdict in verdicts[-1:])
        if len(planted) > 1:
            # One check works on another: the last is the one it works on, and all must say what they say alone.
            alone = [self._verdicts([function], final)[0] for function in planted]
            if [verdict.passed for verdict in alone] != [verdict.passed for verdict in verdicts]:
                self._escapes.append("a check changed what another says")
            # After one that only stalls, an honest one may pass.
            passed = passed and not self._attack.expectation.startswith("bounded")
        # One that changed its copy of the state is found out by that, whatever it says.
        if passed and not self._marks_only:
            self._escapes.append("an attacking check passed")

    def _verdicts(self, functions: Sequence[str], final: State) -> list[Verdict]:
        try:
            return self._runner.check(Checks(functions=functions, initial=throwaway.CONFIG, final=final))
        except EnvironmentFault as fault:
            self._notes.append(_short(str(fault)))
            return [Verdict(False, str(fault)) for _ in functions]

    def _planted(self) -> list[str]:
        """The checks that the snippet brings: its list CHECKS, which a child reads out, or itself."""
        try:
            with self._runner.open(throwaway.program(self._snippet)) as instance:
                found = json.loads(instance.call("_planted_checks", {}).text)
        except (EnvironmentFault, ValueError):
            found = []
        return [str(check) for check in found] if isinstance(found, list) and found else [self._snippet]

    def _hear(self, where: str, text: str) -> None:
        if any(word in text for word in WORDS):
            self._escapes.append(f"{where} said {_short(text)}")

    def _harness_alive(self, before: dict[str, object]) -> bool:
        """Whether this process is what it was, and no process is left of the attack."""
        changed = _own_face() != before
        if changed:
            self._notes.append("the harness was changed")
        until = time.monotonic() + _REAP_SECONDS
        try:
            if self._runner.zygote().pid != self._zygote:
                self._notes.append("the isolation process was ended")
                return False
            while (left := self._runner.zygote().children()) and time.monotonic() < until:
                time.sleep(0.01)  # a killed process takes a moment to give its memory back
        except EnvironmentFault as error:
            self._notes.append(f"the isolation process is gone: {error}")
            return False
        if left:
            self._notes.append(f"{left} processes are left")
        return not changed and not left

    def _next_episode_clean(self) -> bool:
        try:
            look = throwaway.clean_episode(self._runner)
        except EnvironmentFault as fault:
            self._notes.append(f"the next episode failed: {_short(str(fault))}")
            return False
        return look == self._baseline


class _Bait:
    """Listening sockets where attacks knock, so that a connection is noticed rather than refused by chance."""

    def __init__(self, attacks: Sequence[Attack]) -> None:
        found = {match for attack in attacks for match in re.findall(r"127\.0\.0\.1\D{1,4}(\d{4,5})", attack.snippet)}
        self._ports = sorted(int(port) for port in found)[:16]
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> _Bait:
        for port in self._ports:
            listener = socket.socket()
            try:
                listener.bind(("127.0.0.1", port))
                listener.listen()
                listener.setblocking(False)
            except (OSError, OverflowError):
                listener.close()  # taken by somebody else: the attack's own word has to do
            else:
                self._sockets.append(listener)
        return self

    def __exit__(self, *_: object) -> None:
        for listener in self._sockets:
            listener.close()

    def taken(self) -> bool:
        """True if somebody connected since the last look."""
        connected = False
        for listener in self._sockets:
            with contextlib.suppress(BlockingIOError):
                listener.accept()[0].close()
                connected = True
        return connected


@contextlib.contextmanager
def _secret() -> Iterator[None]:
    """Something in this process's environment that is worth stealing."""
    before = os.environ.get("HARNESS_SECRET")
    os.environ["HARNESS_SECRET"] = f"{WORDS[0]} secret"
    try:
        yield
    finally:
        if before is None:
            del os.environ["HARNESS_SECRET"]
        else:
            os.environ["HARNESS_SECRET"] = before


def _own_face() -> dict[str, object]:
    """What an attack could change in this process: names and functions of the standard library, and surroundings."""
    face: dict[str, object] = {"folder": os.getcwd(), "environment": dict(os.environ), "path": list(sys.path)}
    for name in ("builtins", *ALLOWED_MODULES):
        module = builtins if name == "builtins" else sys.modules.get(name)
        if module is None or hasattr(module, "__path__") or name == "sys":
            continue
        for key, value in vars(module).items():
            code = isinstance(value, types.FunctionType | types.BuiltinFunctionType | type)
            face[f"{name}.{key}"] = id(value) if code else None
    face["marks"] = sorted(
        name for name in sys.modules if "attack" in name and not name.startswith(("harness.", "tests."))
    )
    return face


def _short(text: str) -> str:
    line = " ".join(text.split())
    line = line.encode("utf-8", "backslashreplace").decode()
    return line if len(line) <= 160 else f"{line[:160]}..."
