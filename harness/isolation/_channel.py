"""The harness's end of a child's channel: one request out, frames in, each by a deadline and under a cap.

The bytes are read here and only here; what they mean is the runner's business. The same `Ask` is answered by a blocking
wait, by an asyncio loop, or by one poll over many channels.
"""

from __future__ import annotations

import asyncio
import select
import socket
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from harness.isolation._wire import HEADER

_CHUNK = 1 << 16
_MARGIN_SECONDS = 0.001
"""Polls wait whole milliseconds; without a margin the last one would spin."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """Send bytes (or none), then read one frame."""

    out: bytes
    seconds: float
    cap: int
    """Bytes that the frame may have; a longer one is refused before anything is allocated for it."""


Conversation = Generator[Ask, bytes, T]
"""Yields what to ask and is sent the frames: the logic of an exchange without its I/O."""


class ChannelDown(Exception):
    """The conversation cannot go on. Base of the reasons."""


class TimedOut(ChannelDown):
    """No frame in time."""


class HungUp(ChannelDown):
    """The other end is closed."""


class TooLong(ChannelDown):
    """A frame announces more than its cap."""


class Channel:
    """A non-blocking stream socket to one child."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._buffer = bytearray()
        self._need = HEADER.size
        self._poller: select.poll | None = None

    def close(self) -> None:
        """Close it. Calling it twice is allowed."""
        self.socket.close()

    # Without I/O: what to read next, and what came of it

    def take(self, cap: int) -> bytes | None:
        """The next frame if all of it is here.

        Raises:
            TooLong: If it announces more than `cap` bytes.
        """
        buffer = self._buffer
        if len(buffer) < HEADER.size:
            return None
        (size,) = HEADER.unpack_from(buffer)
        if size > cap:
            raise TooLong(f"a frame of {size} bytes where {cap} are allowed")
        end = HEADER.size + size
        if len(buffer) < end:
            self._need = end - len(buffer)
            return None
        body = bytes(memoryview(buffer)[HEADER.size : end])
        del buffer[:end]
        self._need = HEADER.size
        return body

    def receive(self) -> bool:
        """Read what is there. False if nothing is.

        Raises:
            HungUp: If the other end is closed.
        """
        try:
            data = self.socket.recv(max(_CHUNK, min(self._need, 1 << 20)))
        except BlockingIOError:
            return False
        except OSError as error:
            raise HungUp from error
        if not data:
            raise HungUp
        self._buffer += data
        return True

    def send(self, data: memoryview | bytes) -> int:
        """Bytes that could be sent now.

        Raises:
            HungUp: If the other end is closed.
        """
        try:
            return self.socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise HungUp from error

    # Blocking

    def ask(self, ask: Ask) -> bytes:
        """Send and wait for a frame.

        Raises:
            ChannelDown: One of its reasons.
        """
        deadline = time.monotonic() + ask.seconds
        if ask.out:
            sent = self.send(ask.out)
            if sent < len(ask.out):
                self._send_rest(memoryview(ask.out)[sent:], deadline)
        while (body := self.take(ask.cap)) is None:
            self._wait(select.POLLIN, deadline)
            self.receive()
        return body

    def _send_rest(self, rest: memoryview, deadline: float) -> None:
        while rest:
            self._wait(select.POLLOUT, deadline)
            rest = rest[self.send(rest) :]

    def _wait(self, event: int, deadline: float) -> None:
        if self._poller is None:
            self._poller = select.poll()
            self._poller.register(self.socket, event)
        else:
            self._poller.modify(self.socket, event)
        left = deadline - time.monotonic()
        if left <= 0 or not self._poller.poll((left + _MARGIN_SECONDS) * 1000):
            raise TimedOut

    # With asyncio

    async def ask_async(self, ask: Ask) -> bytes:
        """As `ask`, on the running loop."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(ask.seconds):
                if ask.out:
                    try:
                        await loop.sock_sendall(self.socket, ask.out)
                    except OSError as error:
                        raise HungUp from error
                while (body := self.take(ask.cap)) is None:
                    # sock_recv tries at once and registers with the selector only if nothing is there.
                    try:
                        data = await loop.sock_recv(self.socket, max(_CHUNK, min(self._need, 1 << 20)))
                    except OSError as error:
                        raise HungUp from error
                    if not data:
                        raise HungUp
                    self._buffer += data
                return body
        except TimeoutError as error:
            raise TimedOut from error


def converse(channel: Channel, conversation: Conversation[T]) -> T:
    """Hold a conversation, blocking.

    Raises:
        ChannelDown: As `Channel.ask`; the conversation is closed then.
    """
    try:
        ask = next(conversation)
        while True:
            ask = conversation.send(channel.ask(ask))
    except StopIteration as stop:
        value: T = stop.value
        return value
    finally:
        conversation.close()


async def converse_async(channel: Channel, conversation: Conversation[T]) -> T:
    """Hold a conversation on the running loop."""
    try:
        ask = next(conversation)
        while True:
            ask = conversation.send(await channel.ask_async(ask))
    except StopIteration as stop:
        value: T = stop.value
        return value
    finally:
        conversation.close()


class _Talk(Generic[T]):
    """One of many conversations: where it stands, and what it waits for."""

    def __init__(self, channel: Channel, conversation: Conversation[T]) -> None:
        self.channel = channel
        self._conversation = conversation
        self._rest = memoryview(b"")
        self._cap = 0
        self.deadline = 0.0
        self.result: T | BaseException | None = None
        self.over = False
        self._next(None)

    @property
    def event(self) -> int:
        """What the poll should watch for."""
        return select.POLLOUT if self._rest else select.POLLIN

    def step(self) -> None:
        """Do what can be done now."""
        try:
            if self._rest:
                self._rest = self._rest[self.channel.send(self._rest) :]
                return
            self.channel.receive()
            while not self.over and not self._rest and (body := self.channel.take(self._cap)) is not None:
                self._next(body)
        except ChannelDown as error:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """End it with an exception."""
        self._conversation.close()
        self.result, self.over = error, True

    def _next(self, body: bytes | None) -> None:
        try:
            ask = next(self._conversation) if body is None else self._conversation.send(body)
            self._cap = ask.cap
            self.deadline = time.monotonic() + ask.seconds
            self._rest = memoryview(ask.out)
            self._rest = self._rest[self.channel.send(self._rest) :] if ask.out else self._rest
        except StopIteration as stop:
            self.result, self.over = stop.value, True
        except Exception as error:
            self.fail(error)


def converse_all(talks: Sequence[tuple[Channel, Conversation[T]]]) -> list[T | BaseException]:
    """Hold many conversations at once, one poll over all of them.

    Returns:
        For each its result, or the exception that ended it, in order.
    """
    held = [_Talk(channel, conversation) for channel, conversation in talks]
    waiting = {talk.channel.socket.fileno(): talk for talk in held if not talk.over}
    poller = select.poll()
    for talk in waiting.values():
        poller.register(talk.channel.socket, talk.event)

    def drop(descriptor: int) -> None:
        del waiting[descriptor]
        poller.unregister(descriptor)

    # Looked at again only when it has passed: most deadlines are never reached, and moving on sets later ones.
    soonest = 0.0
    while waiting:
        now = time.monotonic()
        if soonest <= now:
            for descriptor, talk in list(waiting.items()):
                if talk.deadline <= now:
                    talk.fail(TimedOut())
                    drop(descriptor)
            soonest = min((talk.deadline for talk in waiting.values()), default=now)
        for descriptor, _ in poller.poll(max(0.0, soonest - now + _MARGIN_SECONDS) * 1000) if waiting else ():
            talk = waiting[descriptor]
            event = talk.event
            talk.step()
            if talk.over:
                drop(descriptor)
            elif talk.event != event:
                poller.modify(descriptor, talk.event)
    return [talk.result for talk in held]  # type: ignore[misc]  # set, since it is over
