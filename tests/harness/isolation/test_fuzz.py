"""Hostile and odd input on both sides of the channel: the harness answers or faults, and goes on."""

from __future__ import annotations

import math
import socket
import threading
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.environment import ToolStatus
from harness.errors import EnvironmentFault
from harness.isolation import IsolatedInstance, IsolatedRunner
from harness.isolation import _wire as wire
from harness.isolation._channel import Channel
from harness.program import Limits
from tests.harness.isolation.builders import shop

text = st.text(st.characters(codec=None), max_size=40)
"""Any code points, lone surrogates among them."""
scalars = st.none() | st.booleans() | st.integers() | st.integers(-(10**400), 10**400) | st.floats() | text
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4))

slow = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def instance(runner: IsolatedRunner) -> IsolatedInstance:
    return runner.open(shop())


@slow
@given(arguments=st.dictionaries(text.filter(lambda name: name != "self"), values, max_size=4))
def test_arguments_arrive_exactly(instance: IsolatedInstance, arguments: dict[str, Any]) -> None:
    result = instance.call("echo", arguments)
    assert (result.status, result.text) == (ToolStatus.OK, ascii(arguments))


@slow
@given(said=text)
def test_observations_arrive_exactly(instance: IsolatedInstance, said: str) -> None:
    assert instance.call("say", {"text": said}).text == said


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(math.nan, id="nan"),
        pytest.param(-0.0, id="minus-zero"),
        pytest.param(2**64, id="beyond-64-bits"),
        pytest.param(10**4000, id="four-thousand-digits"),
        pytest.param("\ud83d\ude00", id="two-lone-surrogates-that-make-a-pair"),
        pytest.param({"$set": [1]}, id="looks-like-our-tags"),
        pytest.param({"$json": "1"}, id="looks-like-our-nesting"),
        pytest.param(nested(150), id="nested-150"),
        pytest.param(nested(400), id="nested-400"),
        pytest.param({"\ud800": {"": None}}, id="odd-keys"),
        pytest.param([5, 5.0, True, 1], id="numbers-keep-their-types"),
    ],
)
def test_a_value_arrives_exactly(instance: IsolatedInstance, value: Any) -> None:
    result = instance.call("echo", {"value": value})
    assert result.text == ascii({"value": value})


@pytest.mark.parametrize(
    "value",
    [
        # Python refuses to read or to write an integer of so many digits, so no model's JSON can hold it.
        pytest.param(10**100_000, id="a-hundred-thousand-digits"),
        pytest.param(nested(100_000), id="nested-100000"),
        pytest.param(object(), id="no-json-value"),
    ],
)
def test_a_value_that_no_json_holds_is_answered(runner: IsolatedRunner, value: Any) -> None:
    with runner.open(shop()) as instance:
        assert instance.call("echo", {"value": value}).status is ToolStatus.RAISED
        assert instance.call("say", {"text": "on"}).text == "on"


def test_ten_megabytes_go_in_and_seven_come_out(runner: IsolatedRunner) -> None:
    with runner.open(shop()) as instance:
        assert instance.call("look_up", {"order_id": "ä" * (10 << 20)}).text == "None"
        assert len(instance.call("say", {"text": "x" * (7 << 20)}).text) == 7 << 20


def test_a_request_that_nobody_reads_has_a_deadline() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    from harness.isolation._channel import Ask, TimedOut

    with theirs, pytest.raises(TimedOut):
        Channel(ours).ask(Ask(b"x" * (64 << 20), 0.2, 100))
    ours.close()


class FakeChild:
    """A child that answers every request with given bytes."""

    eid = 1

    def __init__(self, answer: bytes) -> None:
        ours, self._theirs = socket.socketpair()
        ours.setblocking(False)
        self.channel = Channel(ours)
        self.closed = False
        self._thread = threading.Thread(target=self._serve, args=(answer,))
        self._thread.start()

    def _serve(self, answer: bytes) -> None:
        self._theirs.recv(1 << 16)
        self._theirs.sendall(answer)
        self._theirs.close()

    def end(self) -> None:
        self.closed = True
        self.channel.close()
        self._thread.join()

    def epitaph(self) -> EnvironmentFault:
        self.end()
        return EnvironmentFault("killed", "gone")


KINDS = {"protocol_violation", "reply_too_large", "state_too_large", "killed", "timeout", *wire.FaultKind.__args__}  # type: ignore[attr-defined]

bodies = (
    st.binary(max_size=60)
    | values.map(lambda value: wire.encode(wire.tag(value)) if not isinstance(value, int) else b"1")
    | st.fixed_dictionaries(
        {"type": st.sampled_from(["answer", "exported", "failed", "ready", "said", "hello", "no"])},
        optional={
            "rid": st.integers(0, 2**70),
            "eid": st.just(1),
            "text": st.text(max_size=5) | st.integers(),
            "kind": st.sampled_from(["timeout", "odd"]),
            "escaped": st.booleans(),
            "raised": st.booleans(),
            "state": st.just([]),
        },
    ).map(msgspec.json.encode)
)


@settings(max_examples=150, deadline=None)
@given(bodies=st.lists(bodies, max_size=3), lengths=st.none() | st.integers(0, 2**32 - 1), export=st.booleans())
def test_no_frame_hurts_the_harness(bodies: list[bytes], lengths: int | None, export: bool) -> None:
    answer = b"".join(wire.HEADER.pack(len(body) if lengths is None else lengths) + body for body in bodies)
    instance = IsolatedInstance(FakeChild(answer), shop(), Limits(call_seconds=1))
    ask = instance.state if export else lambda: instance.call("look_up", {"order_id": "O1"})
    with pytest.raises(EnvironmentFault) as caught:
        ask()
    assert caught.value.kind in KINDS


def test_a_frame_is_refused_before_anything_is_allocated_for_it() -> None:
    # Four gigabytes are announced and none is sent: whoever believed it would wait, or run out of memory.
    instance = IsolatedInstance(FakeChild(b"\xff\xff\xff\xff"), shop(), Limits())
    with pytest.raises(EnvironmentFault, match="reply_too_large"):
        instance.call("look_up", {"order_id": "O1"})


@given(value=values)
def test_packing_is_exact(value: Any) -> None:
    assert ascii(wire.unpack(msgspec.json.decode(wire.encode(wire.pack(value))))) == ascii(value)


@given(said=text)
def test_escaping_is_exact(said: str) -> None:
    assert wire.unescape(*wire.escape(said)) == said
