"""Frozen time and seeded randomness for generated code: same seed and same calls, same state, on any machine.

Two ways with the same answers: `install` patches a whole process (a child of the isolation level, which belongs to one
episode); `Importer` gives code in this process its own `datetime`, `time`, `random`, `uuid`, `secrets` and `os.urandom`
and touches nothing else, so that many episodes run side by side. One table (`_seeded`, `_clocks`) serves both.
"""

from __future__ import annotations

import base64
import builtins
import calendar
import datetime as dt
import functools
import os
import random
import secrets
import time
import types
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def parse_clock(clock: str) -> dt.datetime:
    """An ISO 8601 time as an aware UTC datetime; without an offset it is UTC.

    Raises:
        ValueError: If it is not ISO 8601, or in no year from 1 to 9999 once it is UTC.
    """
    moment = dt.datetime.fromisoformat(clock)
    try:
        return moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment.astimezone(dt.UTC)
    except OverflowError as error:
        raise ValueError(str(error)) from error


_REAL = {module.__name__: module for module in (dt, time, random, uuid, secrets, os)}
"""The modules that get names of ours."""
_Random = random.Random
"""The real one: in a child, the module's name for it is replaced."""


class Sources:
    """The seeded sources of one episode. Each is a stream of its own, so that drawing from one leaves the others."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    @functools.cached_property
    def _ids(self) -> _Random:
        return _Random(f"ids {self._seed}")

    @functools.cached_property
    def _bytes(self) -> _Random:
        return _Random(f"bytes {self._seed}")

    @functools.cached_property
    def _fresh(self) -> _Random:
        return _Random(f"fresh {self._seed}")

    def random_names(self) -> dict[str, Any]:
        """The functions and classes of `random`, drawing from here and never from the machine."""
        sources = self

        class Random(_Random):
            def seed(self, a: Any = None, version: int = 2) -> None:
                super().seed(sources._fresh.getrandbits(128) if a is None else a, version)

        class SystemRandom(_Random):
            def seed(self, *args: Any, **kwds: Any) -> None:
                """Without effect, as in the original."""

            def random(self) -> float:
                return sources._bytes.random()

            def getrandbits(self, k: int, /) -> int:
                return sources._bytes.getrandbits(k)

        shared = Random(self._seed)
        functions = {name: getattr(shared, name) for name in random.__all__ if name[0].islower()}
        return {**functions, "Random": Random, "SystemRandom": SystemRandom}

    def uuid4(self) -> uuid.UUID:
        """The next version-4 UUID."""
        return uuid.UUID(int=self._ids.getrandbits(128), version=4)

    def uuid1(self, node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:
        """The next version-1 UUID; its parts are drawn, not read from the machine."""
        return uuid.UUID(int=self._ids.getrandbits(128), version=1)

    def getnode(self) -> int:
        """A number in place of the machine's hardware address."""
        return _Random(f"node {self._seed}").getrandbits(48)

    def token_bytes(self, nbytes: int | None = None) -> bytes:
        """Random bytes, 32 by default."""
        return self._bytes.randbytes(32 if nbytes is None else nbytes)

    def secrets(self) -> dict[str, Any]:
        """The functions of `secrets`, drawing from here."""

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


def _seeded(sources: Sources) -> dict[str, dict[str, Any]]:
    """What stands for the unpredictable names of each module."""
    names = sources.random_names()
    return {
        "random": names,
        "uuid": {"uuid4": sources.uuid4, "uuid1": sources.uuid1, "getnode": sources.getnode},
        "secrets": {**sources.secrets(), "SystemRandom": names["SystemRandom"]},
        "os": {"urandom": sources.token_bytes},
    }


def _clocks(
    now_ns: Callable[[], int], localtime: Callable[[float | None], time.struct_time]
) -> dict[str, Callable[..., Any]]:
    """The names of `time` that tell how late it is, but for those that `time_machine` replaces well itself."""

    def seconds() -> float:
        return now_ns() / 1_000_000_000

    return {
        **dict.fromkeys(("monotonic", "perf_counter", "process_time", "thread_time"), seconds),
        **dict.fromkeys(("monotonic_ns", "perf_counter_ns", "process_time_ns", "thread_time_ns"), now_ns),
        "clock_gettime": lambda clk_id: seconds(),
        "clock_gettime_ns": lambda clk_id: now_ns(),
        "ctime": lambda secs=None: time.asctime(localtime(secs)),
        "asctime": lambda t=None, of=time.asctime: of(localtime(None) if t is None else t),
    }


def install(clock: str, seed: int, before_sleep: Callable[[float], None] | None = None) -> Callable[[], None]:
    """Freeze and seed this whole process, for good. Only for a child that runs one program.

    Args:
        before_sleep: Told of every sleep, which moves the frozen clock and takes no time.
    Returns:
        Sets clock and random sources back to where they began.
    """
    import time_machine

    start = parse_clock(clock)
    traveller = time_machine.travel(start, tick=False).start()

    def sleep(seconds: float) -> None:
        if before_sleep is not None:
            before_sleep(float(seconds))
        traveller.shift(float(seconds))

    def again() -> None:
        traveller.move_to(start, tick=False)
        for name, names in _seeded(Sources(seed)).items():
            vars(_REAL[name]).update(names)

    vars(time).update({**_clocks(time.time_ns, time.localtime), "sleep": sleep})
    again()
    return again


class Importer:
    """An `__import__` for generated code in this process: time and randomness come from the episode, the rest is real.

    Two things stay the machine's: its time zone in a naive datetime's own `timestamp()` and `astimezone()`, and the
    type, as `type(datetime.now()) is datetime` tells.

    Args:
        clock: Frozen time, ISO 8601.
        seed: Seed of the random sources.
    """

    def __init__(self, clock: str, seed: int) -> None:
        self._clock = clock
        self._seed = seed
        self._modules: dict[str, types.ModuleType] = {}
        self._now: _Clock | None = None
        self._sources: dict[str, dict[str, Any]] | None = None

    def __call__(
        self,
        name: str,
        globals_: Mapping[str, Any] | None = None,
        locals_: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        module = builtins.__import__(name, globals_, locals_, fromlist or (), level)
        if level == 0 and name in _REAL:
            if name not in self._modules:
                self._modules[name] = _shim(name, self._names(name))
            return self._modules[name]
        return module

    def _names(self, module: str) -> dict[str, Any]:
        """What stands for a module's names; made when it is imported, since most programs use one or none."""
        if module in ("datetime", "time"):
            self._now = self._now or _Clock(parse_clock(self._clock))
            return _datetime_names(self._now) if module == "datetime" else _time_names(self._now)
        self._sources = self._sources or _seeded(Sources(self._seed))
        return self._sources[module]


class _Clock:
    """A clock that only sleeping moves. Counts whole nanoseconds and rounds where `time_machine` does."""

    def __init__(self, start: dt.datetime) -> None:
        microseconds = (start - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
        self._ns = microseconds * 1_000

    def time_ns(self) -> int:
        return self._ns

    def time(self) -> float:
        return self._ns / 1_000_000_000

    def sleep(self, seconds: float) -> None:
        self._ns += round(float(seconds) * 1_000_000_000)


def _shim(name: str, replaced: dict[str, Any]) -> types.ModuleType:
    module = types.ModuleType(name)
    vars(module).update({key: value for key, value in vars(_REAL[name]).items() if not key.startswith("__")})
    vars(module).update(replaced)
    return module


class _StandIn(type):
    """Builds and recognises instances of the real class behind a stand-in, and passes for that class."""

    real: Any

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.real)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(_behind(subclass), cls.real)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.real(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.real, name)

    def __eq__(cls, other: object) -> bool:
        return cls.real is _behind(other)

    def __hash__(cls) -> int:
        return hash(cls.real)

    def __repr__(cls) -> str:
        return repr(cls.real)


def _behind(kind: Any) -> Any:
    return kind.real if isinstance(kind, _StandIn) else kind


def _datetime_names(clock: _Clock) -> dict[str, Any]:
    """`datetime` and `date` that know the episode's time, in UTC. Their instances are the real types."""

    def moment(timestamp: float, tz: dt.tzinfo | None) -> dt.datetime:
        aware = dt.datetime.fromtimestamp(timestamp, dt.UTC)
        return aware.replace(tzinfo=None) if tz is None else aware.astimezone(tz)

    class datetime(metaclass=_StandIn):
        real = dt.datetime

        @staticmethod
        def now(tz: dt.tzinfo | None = None) -> dt.datetime:
            return moment(clock.time(), tz)

        @staticmethod
        def utcnow() -> dt.datetime:
            return moment(clock.time(), None)

        @staticmethod
        def today() -> dt.datetime:
            return moment(clock.time(), None)

        @staticmethod
        def fromtimestamp(timestamp: float, tz: dt.tzinfo | None = None) -> dt.datetime:
            return moment(timestamp, tz)

    class date(metaclass=_StandIn):
        real = dt.date

        @staticmethod
        def today() -> dt.date:
            return moment(clock.time(), None).date()

        @staticmethod
        def fromtimestamp(timestamp: float, /) -> dt.date:
            return moment(timestamp, None).date()

    return {"datetime": datetime, "date": date}


def _time_names(clock: _Clock) -> dict[str, Any]:
    def gmtime(secs: float | None = None) -> time.struct_time:
        return time.gmtime(clock.time() if secs is None else secs)

    def localtime(secs: float | None = None) -> time.struct_time:
        return time.struct_time(tuple(gmtime(secs)), {"tm_zone": "UTC", "tm_gmtoff": 0})

    def strftime(form: str, t: time.struct_time | None = None) -> str:
        return time.strftime(form, localtime() if t is None else t)

    return {
        **_clocks(clock.time_ns, localtime),
        "time": clock.time,
        "time_ns": clock.time_ns,
        "sleep": clock.sleep,
        "gmtime": gmtime,
        "localtime": localtime,
        "strftime": strftime,
        "mktime": lambda t: float(calendar.timegm(t)),
        **{"timezone": 0, "altzone": 0, "daylight": 0, "tzname": ("UTC", "UTC"), "tzset": lambda: None},
    }
