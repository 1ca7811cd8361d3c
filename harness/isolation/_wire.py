"""Frames between the harness and its children: a length, then one JSON message.

Every message carries `rid`, the request it belongs to (drawn at random, so that a frame written ahead answers nothing),
and `eid`, the episode. What a child says is decoded into these types and nothing else: the harness never builds an
object that a child chose.
"""

from __future__ import annotations

import base64
import json
import os
import struct
from typing import Any, Literal

import msgspec

from harness.state import NotExportable, tag, untag

HEADER = struct.Struct(">I")
ENVELOPE_BYTES = 1024
"""What a frame may hold beside its payload."""
CODE_BYTES = 16 * 2**20
"""Cap on compiled code and on every frame that has no cap of its own."""

Raw = msgspec.Raw


class Init(msgspec.Struct, tag="init"):
    """Load a class and make an instance. `code` is what an earlier child compiled from the same source."""

    rid: int
    eid: int
    source: Any
    class_name: str
    config: Raw
    clock: str
    seed: int
    observation: str
    code: bytes | None
    init_seconds: float
    call_seconds: float
    reply_bytes: int
    state_bytes: int


class Renew(msgspec.Struct, tag="renew"):
    """Load the class once more and make another instance, in place of the last."""

    rid: int
    eid: int
    config: Raw


class Call(msgspec.Struct, tag="call"):
    """Call a method; name and arguments are packed."""

    rid: int
    eid: int
    name: Any
    arguments: Any


class Export(msgspec.Struct, tag="export"):
    """Give the state."""

    rid: int
    eid: int


class Judge(msgspec.Struct, tag="judge"):
    """Run check functions (packed sources) on two states, one verdict each; or on many, with a letter for each state:
    `initial` is a list of states then, and `final` one of pairs, each the index of an initial state and a final state.
    """

    rid: int
    eid: int
    functions: list[Any]
    initial: Raw
    final: Raw
    clock: str
    seed: int
    check_seconds: float
    cpu_seconds: int
    many: bool


Request = Init | Renew | Call | Export | Judge


class Hello(msgspec.Struct, tag="hello"):
    """First frame of a child, once it is confined and before it reads anything."""

    rid: int
    eid: int
    pid: int


class Compiled(msgspec.Struct, tag="compiled"):
    """Marshalled code, sent before any of it has run."""

    rid: int
    eid: int
    code: bytes


class Ready(msgspec.Struct, tag="ready"):
    """The instance is there."""

    rid: int
    eid: int


class Answer(msgspec.Struct, tag="answer"):
    """What a call gave."""

    rid: int
    eid: int
    text: str
    escaped: bool
    raised: bool


class Exported(msgspec.Struct, tag="exported"):
    """The state, as canonical bytes."""

    rid: int
    eid: int
    state: Raw


class Said(msgspec.Struct, tag="said"):
    """One verdict: what a check returned, or in `error` why there is none; of many states, in `letters`."""

    rid: int
    eid: int
    index: int
    passed: bool
    mutated: bool
    error: str | None
    escaped: bool
    letters: str


FaultKind = Literal[
    "init_failed", "timeout", "out_of_memory", "state_not_exportable", "state_too_large", "reply_too_large"
]


class Failed(msgspec.Struct, tag="failed"):
    """The request could not be answered; the episode is over."""

    rid: int
    eid: int
    kind: FaultKind
    text: str
    escaped: bool


Reply = Hello | Compiled | Ready | Answer | Exported | Said | Failed

encode = msgspec.json.Encoder().encode
decode_request = msgspec.json.Decoder(Request).decode
decode_reply = msgspec.json.Decoder(Reply).decode


def frame(message: Request | Reply) -> bytes:
    """The bytes of one message on the wire."""
    body = encode(message)
    return HEADER.pack(len(body)) + body


def new_rid() -> int:
    """A request id that nobody can guess."""
    return int.from_bytes(os.urandom(7), "big")


def escape(text: str) -> tuple[str, bool]:
    """`text` as JSON can carry it, and whether it had to be escaped (it holds lone surrogates)."""
    if text.isascii():
        return text, False
    try:
        text.encode()
    except UnicodeEncodeError:
        return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode(), True
    return text, False


def unescape(text: str, escaped: bool) -> str:
    """The inverse of `escape`, for text from a child.

    Raises:
        ValueError: If it is not what `escape` makes.
    """
    if not escaped:
        return text
    return base64.b64decode(text, validate=True).decode("utf-8", "surrogatepass")


def pack(value: Any) -> Any:
    """A value of any JSON type as plain JSON can carry it, exactly: NaN, big integers, lone surrogates, deep nesting.

    Raises:
        NotExportable: If it is no JSON value, or nested so deeply that Python cannot walk it.
    """
    try:
        return tag(value)
    except (NotExportable, RecursionError):
        pass
    try:
        # Nesting beyond what states may have: json's own walk is in C and goes as deep as the model's JSON was read.
        return {"$json": json.dumps(value)}
    except (RecursionError, TypeError, ValueError) as error:
        raise NotExportable(str(error)) from error


def unpack(value: Any) -> Any:
    """The inverse of `pack`."""
    if isinstance(value, dict) and len(value) == 1 and "$json" in value:
        return json.loads(value["$json"])
    return untag(value)
