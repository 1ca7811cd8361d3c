"""The inside of a hardened child that runs one episode: read a request, do it, answer. Runs beside hostile code.

Nothing here protects the harness; that is the kernel's and the channel's part. It only has to answer honestly when the
program is honest.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import marshal
import os
import types
from collections.abc import Callable, Iterator
from typing import Any

from harness import determinism, runtime
from harness.isolation import _wire as wire
from harness.state import NotExportable, State, untag

_CHUNK = 1 << 16
CHANNEL = 3
"""File descriptor of the channel in a child."""


class Gone(Exception):
    """The harness closed the channel."""


@contextlib.contextmanager
def collecting_later() -> Iterator[None]:
    """No garbage collection meanwhile: building or walking a state makes thousands of objects and no garbage."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def read_request(descriptor: int) -> wire.Request:
    """The next request, from a blocking descriptor. The harness sends no other before this one is answered.

    Raises:
        Gone: If the harness hangs up.
    """
    data = _read(descriptor, _CHUNK)
    while len(data) < wire.HEADER.size:
        data += _read(descriptor, _CHUNK)
    (size,) = wire.HEADER.unpack_from(data)
    missing = wire.HEADER.size + size - len(data)
    if missing > 0:
        buffer = bytearray(data)
        while missing > 0:
            more = _read(descriptor, min(missing, 1 << 20))
            buffer += more
            missing -= len(more)
        data = bytes(buffer)
    request: wire.Request = wire.decode_request(memoryview(data)[wire.HEADER.size :])
    return request


def _read(descriptor: int, size: int) -> bytes:
    data = os.read(descriptor, size)
    if not data:
        raise Gone
    return data


def write(descriptor: int, data: bytes) -> None:
    """All of `data`, to a blocking descriptor."""
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, memoryview(data)[written:])


def failed(request: wire.Request, kind: wire.FaultKind, text: str) -> wire.Failed:
    """The answer to a request that cannot be done."""
    return wire.Failed(request.rid, request.eid, kind, *wire.escape(text))


class Episode:
    """One program in this process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._instance: Any = None
        self._load: Callable[[], type] | None = None
        self._rewind: Callable[[], None] | None = None
        self._observation = "python"
        self._reply_bytes = self._state_bytes = 0
        self._call_seconds = self._init_seconds = self._may_sleep = 0.0
        self._request: wire.Request | None = None

    def serve(self) -> None:
        """Answer requests until the harness hangs up."""
        while True:
            request = self._request = read_request(self._descriptor)
            self._may_sleep = self._call_seconds
            write(self._descriptor, self._answer(request))

    def _before_sleep(self, seconds: float) -> None:
        """A sleep moves the clock and takes no time, but it counts: what sleeps past its deadline has missed it."""
        self._may_sleep -= max(seconds, 0.0)
        if self._may_sleep < 0 and self._request is not None:
            write(self._descriptor, wire.frame(failed(self._request, "timeout", "the program slept past its deadline")))
            os._exit(0)

    def _answer(self, request: wire.Request) -> bytes:
        try:
            return self._capped(request, wire.frame(self._do(request)))
        except NotExportable as error:
            reply = failed(request, "state_not_exportable", str(error))
        except runtime.ProgramError as error:
            reply = failed(request, "init_failed", str(error))
        except MemoryError:
            reply = failed(request, "out_of_memory", "the program used up its memory")
        except Gone:
            raise
        except BaseException as error:
            # Anything else came out of the program itself, e.g. a class that raises while its attributes are walked.
            kind: wire.FaultKind = (
                "init_failed" if isinstance(request, wire.Init | wire.Renew) else "state_not_exportable"
            )
            reply = failed(request, kind, runtime.describe(error))
        return wire.frame(reply)

    def _do(self, request: wire.Request) -> wire.Reply:
        match request:
            case wire.Call():
                return self._call(request)
            case wire.Export():
                with collecting_later():
                    return wire.Exported(request.rid, request.eid, wire.Raw(runtime.export(self._instance)))
            case wire.Init():
                self._init(request)
                return wire.Ready(request.rid, request.eid)
            case wire.Renew():
                self._renew(request)
                return wire.Ready(request.rid, request.eid)
            case _:
                raise Gone

    def _capped(self, request: wire.Request, data: bytes) -> bytes:
        kind: wire.FaultKind
        if isinstance(request, wire.Export):
            kind, cap = "state_too_large", self._state_bytes
        else:
            kind, cap = "reply_too_large", self._reply_bytes
        if len(data) <= cap + wire.ENVELOPE_BYTES:
            return data
        return wire.frame(failed(request, kind, f"{len(data)} bytes; at most {cap} are allowed"))

    def _call(self, request: wire.Call) -> wire.Answer:
        arguments = wire.unpack(request.arguments)
        try:
            called = runtime.call(self._instance, untag(request.name), arguments, self._observation)
        except KeyboardInterrupt as error:
            # No terminal reaches this process: the program raised it itself.
            called = runtime.Called(f"Error: {runtime.describe(error)}", raised=True)
        text, escaped = wire.escape(called.text)
        return wire.Answer(request.rid, request.eid, text, escaped, called.raised)

    def _init(self, request: wire.Init) -> None:
        self._observation = request.observation
        self._reply_bytes, self._state_bytes = request.reply_bytes, request.state_bytes
        self._call_seconds, self._init_seconds = request.call_seconds, request.init_seconds
        self._may_sleep = self._init_seconds
        source = untag(request.source)
        code = self._code(request, source)
        self._rewind = determinism.install(request.clock, request.seed, self._before_sleep)
        self._load = functools.partial(runtime.load_class, source, request.class_name, code=code)
        self._make(self._load, request.config)

    def _renew(self, request: wire.Renew) -> None:
        if self._load is None or self._rewind is None:
            raise Gone
        self._instance, self._may_sleep = None, self._init_seconds
        self._rewind()
        self._make(self._load, request.config)

    def _make(self, load: Callable[[], type], data: wire.Raw) -> None:
        cls = load()
        with collecting_later():
            config = State(bytes(data)).decode()
        self._instance = runtime.instantiate(cls, config)

    def _code(self, request: wire.Init, source: str) -> types.CodeType | None:
        if request.code is not None:
            code: types.CodeType = marshal.loads(request.code)
            return code
        try:
            code = runtime.compile_class(source, request.class_name)
        except MemoryError:
            raise
        except Exception:
            return None  # loading it says what is wrong
        # Sent before any of it runs: what the harness keeps for later episodes is the compiler's work alone.
        write(self._descriptor, wire.frame(wire.Compiled(request.rid, request.eid, marshal.dumps(code))))
        return code


def main(descriptor: int, eid: int) -> None:
    """Serve one episode in this (confined) process."""
    write(descriptor, wire.frame(wire.Hello(0, eid, os.getpid())))
    Episode(descriptor).serve()
