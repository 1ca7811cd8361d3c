"""Frozen time and seeded randomness for generated code: same seed and same calls, same state, on any machine.

Two ways with the same answers: `install` patches a whole process (a child of the isolation level, which belongs to one
episode); `Importer` gives code in this process its own `datetime`, `time`, `random`, `uuid` and `secrets` and touches
nothing else, so that many episodes run side by side.
"""

from __future__ import annotations

import builtins
import datetime as dt
import os
import random
import secrets
import sys
import time
import types
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def parse_clock(clock: str) -> dt.datetime:
    """An ISO 8601 time as an aware UTC datetime; without an offset it is UTC.

    Raises:
        ValueError: If it is not ISO 8601.
    """
    moment = dt.datetime.fromisoformat(clock)
    return moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment.astimezone(dt.UTC)


class Sources:
    """The seeded sources of one episode. Each is a stream of its own, so that drawing from one leaves the others."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._ids = random.Random(f"ids {seed}")
        self._bytes = random.Random(f"bytes {seed}")

    def uuid4(self) -> uuid.UUID:
        """The next version-4 UUID."""
        return uuid.UUID(int=self._ids.getrandbits(128), version=4)

    def uuid1(self, node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:
        """The next version-1 UUID; its parts are drawn, not read from the machine."""
        return uuid.UUID(int=self._ids.getrandbits(128), version=1)

    def token_bytes(self, nbytes: int | None = None) -> bytes:
        """Random bytes, 32 by default."""
        return self._bytes.randbytes(32 if nbytes is None else nbytes)

    def secrets(self) -> dict[str, Any]:
        """The functions of `secrets`, drawing from here."""
        import base64

        def token_urlsafe(nbytes: int | None = None) -> str:
            return base64.urlsafe_b64encode(self.token_bytes(nbytes)).rstrip(b"=").decode()

        return {
            "token_bytes": self.token_bytes,
            "token_hex": lambda nbytes=None: self.token_bytes(nbytes).hex(),
            "token_urlsafe": token_urlsafe,
            "randbelow": lambda n: self._bytes.randrange(n),
            "randbits": lambda k: self._bytes.getrandbits(k),
            "choice": lambda sequence: self._bytes.choice(sequence),
        }


def install(clock: str, seed: int, before_sleep: Callable[[float], None] | None = None) -> None:
    """Freeze and seed this whole process, for good. Only for a child that runs one episode.

    Args:
        before_sleep: Told of every sleep, which moves the frozen clock and takes no time.
    """
    import time_machine

    sources = Sources(seed)
    traveller = time_machine.travel(parse_clock(clock), tick=False).start()

    def sleep(seconds: float) -> None:
        if before_sleep is not None:
            before_sleep(float(seconds))
        traveller.shift(float(seconds))

    time.sleep = sleep
    time.monotonic = time.perf_counter = time.process_time = time.time
    time.monotonic_ns = time.perf_counter_ns = time.process_time_ns = time.time_ns
    random.setstate(sources.random.getstate())
    uuid.uuid4 = sources.uuid4
    uuid.uuid1 = sources.uuid1
    os.urandom = sources.token_bytes
    for name, function in sources.secrets().items():
        setattr(secrets, name, function)


class Importer:
    """An `__import__` for generated code in this process: time and randomness come from the episode, the rest is real.

    Args:
        clock: Frozen time, ISO 8601.
        seed: Seed of the random sources.
    """

    def __init__(self, clock: str, seed: int) -> None:
        self._clock = clock
        self._seed = seed
        self._modules: dict[str, types.ModuleType] = {}

    def __call__(
        self,
        name: str,
        globals_: Mapping[str, Any] | None = None,
        locals_: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        module = builtins.__import__(name, globals_, locals_, fromlist or (), level)
        if level == 0 and name in _SHIMMED:
            if not self._modules:
                self._modules = _modules(parse_clock(self._clock), Sources(self._seed))
            return self._modules[name]
        return module


_SHIMMED = frozenset({"datetime", "time", "random", "uuid", "secrets"})


def _modules(start: dt.datetime, sources: Sources) -> dict[str, types.ModuleType]:
    now = [start]

    def current() -> dt.datetime:
        return now[0]

    def sleep(seconds: float) -> None:
        now[0] += dt.timedelta(seconds=float(seconds))

    seeded = {name: getattr(sources.random, name) for name in dir(sources.random) if not name.startswith("_")}
    return {
        "datetime": _shim("datetime", _datetime_names(current)),
        "time": _shim("time", {**_time_names(current), "sleep": sleep}),
        "random": _shim("random", {name: value for name, value in seeded.items() if name in random.__all__}),
        "uuid": _shim("uuid", {"uuid4": sources.uuid4, "uuid1": sources.uuid1}),
        "secrets": _shim("secrets", sources.secrets()),
    }


def _shim(name: str, replaced: dict[str, Any]) -> types.ModuleType:
    module = types.ModuleType(name)
    vars(module).update({key: value for key, value in vars(sys.modules[name]).items() if not key.startswith("__")})
    vars(module).update(replaced)
    return module


def _datetime_names(current: Callable[[], dt.datetime]) -> dict[str, Any]:
    """`datetime` and `date` that know the episode's time. Their instances are the real types: nothing leaks."""

    class _Real(type):
        """Builds and recognises instances of the real class behind the stand-in."""

        real: Any

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, cls.real)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, cls.real)

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            return cls.real(*args, **kwargs)

        def __getattr__(cls, name: str) -> Any:
            return getattr(cls.real, name)

    def local() -> dt.datetime:
        return current().replace(tzinfo=None)

    class datetime(metaclass=_Real):
        real = dt.datetime

        @staticmethod
        def now(tz: dt.tzinfo | None = None) -> dt.datetime:
            return local() if tz is None else current().astimezone(tz)

        @staticmethod
        def utcnow() -> dt.datetime:
            return local()

        @staticmethod
        def today() -> dt.datetime:
            return local()

    class date(metaclass=_Real):
        real = dt.date

        @staticmethod
        def today() -> dt.date:
            return local().date()

    return {"datetime": datetime, "date": date}


def _time_names(current: Callable[[], dt.datetime]) -> dict[str, Any]:
    def seconds() -> float:
        return current().timestamp()

    def nanoseconds() -> int:
        return int(seconds() * 1_000_000_000)

    def gmtime(secs: float | None = None) -> time.struct_time:
        return time.gmtime(seconds() if secs is None else secs)

    def moment(given: tuple[int, ...] | time.struct_time | None) -> Any:
        return gmtime() if given is None else given

    return {
        **dict.fromkeys(("time", "monotonic", "perf_counter", "process_time"), seconds),
        **dict.fromkeys(("time_ns", "monotonic_ns", "perf_counter_ns", "process_time_ns"), nanoseconds),
        "gmtime": gmtime,
        "localtime": gmtime,
        "ctime": lambda secs=None: time.asctime(gmtime(secs)),
        "asctime": lambda t=None: time.asctime(moment(t)),
        "strftime": lambda form, t=None: time.strftime(form, moment(t)),
    }
