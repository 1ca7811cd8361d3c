"""One isolated episode as the harness holds it: calls go out, answers and faults come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import msgspec

from harness.environment import ToolResult, ToolStatus
from harness.errors import EnvironmentFault
from harness.isolation import _wire as wire
from harness.isolation._channel import (
    Ask,
    Channel,
    Conversation,
    HungUp,
    TimedOut,
    TooLong,
    converse,
    converse_async,
)
from harness.program import Limits, Program
from harness.state import NotExportable, State, tag

T = TypeVar("T")
R = TypeVar("R", bound=msgspec.Struct)


class Violation(Exception):
    """A child said what it may not say."""


class Child(Protocol):
    """A child process: who ends it, and what is known of its end."""

    eid: int
    channel: Channel
    closed: bool

    def end(self) -> None:
        """Kill it. Calling it twice is allowed."""
        ...

    def epitaph(self) -> EnvironmentFault:
        """Why it hung up."""
        ...


def read_reply(body: bytes, rid: int, eid: int) -> wire.Reply:
    """A frame, if it is one and belongs to this request.

    Raises:
        Violation: If not.
        EnvironmentFault: If the child reports that it failed.
    """
    try:
        reply: wire.Reply = wire.decode_reply(body)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise Violation(f"an unreadable frame: {error}") from error
    if reply.rid != rid or reply.eid != eid:
        raise Violation("a frame that answers no request")
    if isinstance(reply, wire.Failed):
        raise EnvironmentFault(reply.kind, readable(reply.text, reply.escaped))
    return reply


def readable(text: str, escaped: bool) -> str:
    """Text from a child.

    Raises:
        Violation: If it is not what a child may send.
    """
    try:
        return wire.unescape(text, escaped)
    except ValueError as error:
        raise Violation(f"an unreadable text: {error}") from error


def expect(kind: type[R], reply: wire.Reply) -> R:
    """`reply`, which must be of this kind.

    Raises:
        Violation: If it is not.
    """
    if not isinstance(reply, kind):
        raise Violation(f"{type(reply).__name__} where {kind.__name__} was expected")
    return reply


@contextmanager
def blame(child: Child, doing: str, too_long: str) -> Iterator[None]:
    """Turn whatever ends a conversation into a fault, and end the child: it is out of step or dead.

    Args:
        doing: What took place, for the sentence.
        too_long: Fault kind of an oversized frame.
    """
    try:
        yield
    except TimedOut as error:
        child.end()
        raise EnvironmentFault("timeout", f"{doing} took longer than allowed") from error
    except TooLong as error:
        child.end()
        raise EnvironmentFault(too_long, f"{doing}: {error}") from error
    except HungUp as error:
        raise child.epitaph() from error
    except Violation as error:
        child.end()
        raise EnvironmentFault("protocol_violation", f"{doing}: {error}") from error
    except BaseException:
        # A fault that the child reported, Ctrl-C, a cancelled task: an answer may still come, to nobody.
        child.end()
        raise


def hello(child: Child, seconds: float) -> Conversation[int]:
    """Wait for a child to be confined; its process id. Nothing of the program has run by then."""
    body = yield Ask(b"", seconds, wire.ENVELOPE_BYTES)
    return expect(wire.Hello, read_reply(body, 0, child.eid)).pid


class IsolatedInstance:
    """A program in a child process."""

    def __init__(self, child: Child, program: Program, limits: Limits) -> None:
        self._child = child
        self._tools = program.tools
        self._limits = limits

    # The episode's face

    def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        return self._hold(self._calling(name, arguments), *self._called(name))

    def state(self) -> State:
        return self._hold(self._export(), "reading the state", "state_too_large")

    def renew(self, config: State) -> None:
        self._hold(self._renewing(config), "starting the program again", "protocol_violation")

    def close(self) -> None:
        self._child.end()

    def __enter__(self) -> IsolatedInstance:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"IsolatedInstance({self._child.eid}, {'closed' if self._child.closed else 'open'})"

    # The same, for an event loop

    async def call_async(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """As `call`, while the loop runs on."""
        return await self._hold_async(self._calling(name, arguments), *self._called(name))

    async def state_async(self) -> State:
        """As `state`, while the loop runs on."""
        return await self._hold_async(self._export(), "reading the state", "state_too_large")

    # Conversations

    def start(self, program: Program, code: bytes | None, keep: Callable[[bytes], None]) -> Conversation[None]:
        """Load the program.

        Args:
            code: What an earlier child compiled from the same source.
            keep: Is given what this child compiled; the bytes are never looked into here.
        """
        rid, eid = wire.new_rid(), self._child.eid
        limits = self._limits
        request = wire.Init(
            rid=rid,
            eid=eid,
            source=tag(program.source),
            class_name=program.class_name,
            config=wire.Raw(program.config.data),
            clock=program.clock,
            seed=program.seed,
            observation=program.observation,
            code=code,
            init_seconds=limits.init_seconds,
            call_seconds=limits.call_seconds,
            reply_bytes=limits.reply_bytes,
            state_bytes=limits.state_bytes,
        )
        body = yield Ask(wire.frame(request), limits.init_seconds, wire.CODE_BYTES)
        reply = read_reply(body, rid, eid)
        if isinstance(reply, wire.Compiled) and code is None:
            keep(reply.code)
            reply = read_reply((yield Ask(b"", limits.init_seconds, wire.CODE_BYTES)), rid, eid)
        expect(wire.Ready, reply)

    def _renewing(self, config: State) -> Conversation[None]:
        rid, eid = wire.new_rid(), self._child.eid
        request = wire.Renew(rid, eid, wire.Raw(config.data))
        body = yield Ask(wire.frame(request), self._limits.init_seconds, wire.CODE_BYTES)
        expect(wire.Ready, read_reply(body, rid, eid))

    def _calling(self, name: str, arguments: dict[str, Any]) -> Conversation[ToolResult]:
        """One call."""
        if name not in self._tools:
            return ToolResult(f"Error: unknown tool '{name}'.", ToolStatus.UNKNOWN_TOOL)
        try:
            packed = wire.pack(arguments)
        except NotExportable as error:
            # Only code can make such arguments, no model's JSON; the program never sees them.
            return ToolResult(f"Error: the arguments cannot be passed on: {error}", ToolStatus.RAISED)
        rid, eid = wire.new_rid(), self._child.eid
        request = wire.Call(rid, eid, tag(name), packed)
        cap = self._limits.reply_bytes + wire.ENVELOPE_BYTES
        body = yield Ask(wire.frame(request), self._limits.call_seconds, cap)
        answer = expect(wire.Answer, read_reply(body, rid, eid))
        status = ToolStatus.RAISED if answer.raised else ToolStatus.OK
        return ToolResult(readable(answer.text, answer.escaped), status)

    def _export(self) -> Conversation[State]:
        rid, eid = wire.new_rid(), self._child.eid
        cap = self._limits.state_bytes + wire.ENVELOPE_BYTES
        body = yield Ask(wire.frame(wire.Export(rid, eid)), self._limits.call_seconds, cap)
        state = State(bytes(expect(wire.Exported, read_reply(body, rid, eid)).state))
        try:
            # The bytes come from a process that may be hostile: what cannot be hashed must not travel on. They are
            # parsed as JSON and no more; building what their tags name is left to processes that may be lost.
            state.digest  # noqa: B018
        except Exception as error:
            raise Violation(f"a state that is not canonical: {error}") from error
        return state

    def talk(self, name: str, arguments: dict[str, Any]) -> tuple[Channel, Conversation[ToolResult]]:
        """One call, for a driver of many."""
        return self._child.channel, self._calling_if_open(name, arguments)

    def settled(self, name: str, result: ToolResult | BaseException) -> ToolResult | EnvironmentFault:
        """What a driver of many got, with faults as `call` would raise them."""
        try:
            with blame(self._child, *self._called(name)):
                if isinstance(result, BaseException):
                    raise result
                return result
        except EnvironmentFault as fault:
            return fault

    def _calling_if_open(self, name: str, arguments: dict[str, Any]) -> Conversation[ToolResult]:
        self._check_open(f"calling {name}")
        return (yield from self._calling(name, arguments))

    # Driving them

    def _hold(self, conversation: Conversation[T], doing: str, too_long: str) -> T:
        self._check_open(doing)
        with blame(self._child, doing, too_long):
            return converse(self._child.channel, conversation)

    async def _hold_async(self, conversation: Conversation[T], doing: str, too_long: str) -> T:
        self._check_open(doing)
        with blame(self._child, doing, too_long):
            return await converse_async(self._child.channel, conversation)

    @staticmethod
    def _called(name: str) -> tuple[str, str]:
        return f"calling {name}", "reply_too_large"

    def _check_open(self, doing: str) -> None:
        if self._child.closed:
            raise EnvironmentFault("killed", f"{doing}: the episode is over")
