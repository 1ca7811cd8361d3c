from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import math
import types
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.state import MAX_DEPTH, MISSING, Change, Member, NotExportable, Record, State, encode, tag


@dataclasses.dataclass
class Order:
    id: str
    lines: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Place:
    shelf: int


class Plain:
    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


class Colour(enum.Enum):
    RED = 1


class Status(str, enum.Enum):  # noqa: UP042
    OPEN = "open"


class Level(enum.IntEnum):
    LOW = 1


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


Point = collections.namedtuple("Point", "x y")


def unfolded(moment: Any) -> Any:
    """Without the mark that only named time zones read: states keep the offset instead."""
    return moment.replace(fold=0)


OFFSET = dt.timezone(dt.timedelta(hours=5, minutes=30))
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.text(st.characters(categories=["Cs", "Ll"])),
    st.binary(),
    st.datetimes(timezones=st.sampled_from([None, dt.UTC, OFFSET])).map(unfolded),
    st.dates(),
    st.times().map(unfolded),
    st.timedeltas(),
    st.decimals().filter(lambda number: not number.is_snan()),  # cannot be hashed
    st.fractions(),
    st.uuids(),
    st.complex_numbers(),
)
HASHABLE = st.recursive(SCALARS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=4)
KEYS = HASHABLE | st.sampled_from(["$set", "$map", "$record", "$"])
VALUES = st.recursive(
    HASHABLE,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(KEYS, inner, max_size=3),
        st.sets(HASHABLE, max_size=3),
        st.builds(collections.deque, st.lists(inner, max_size=2)),
        st.builds(tuple, st.lists(inner, max_size=2)),
    ),
    max_leaves=8,
)


def shape(value: Any) -> str:
    """A text that is equal for values that are equal in value, type and order, NaN included."""
    match value:
        case dict():
            inner = [f"{shape(key)}: {shape(item)}" for key, item in value.items()]
        case list() | tuple() | collections.deque():
            inner = [shape(item) for item in value]
        case set() | frozenset():
            inner = sorted(shape(item) for item in value)
        case _:
            inner = [repr(value)]
    return f"{type(value).__name__}({', '.join(inner)})"


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_a_value_comes_back_with_its_types_and_order(value: Any) -> None:
    assert shape(State.of(value).decode()) == shape(value)


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_what_came_back_has_the_same_bytes(value: Any) -> None:
    assert encode(State.of(value).decode()) == encode(value)


def shuffled(value: Any) -> Any:
    """The same value with every dictionary's keys in reverse order."""
    match value:
        case dict():
            return {key: shuffled(item) for key, item in reversed(value.items())}
        case list() | tuple():
            return type(value)(shuffled(item) for item in value)
    return value


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_the_order_of_keys_does_not_touch_the_digest(value: Any) -> None:
    assert State.of(shuffled(value)) == State.of(value)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param({1: "a", 2: "b"}, {2: "b", 1: "a"}, id="int-keys"),
        pytest.param({(1, 2): {3: 0, 4: 0}, "a": 1}, {"a": 1, (1, 2): {4: 0, 3: 0}}, id="mixed-keys-nested"),
        pytest.param({"b": 1, "a": 2}, {"a": 2, "b": 1}, id="text-keys"),
        pytest.param({3, 1, 2}, {2, 3, 1}, id="sets"),
        pytest.param(Order("7"), Order("7"), id="dataclasses"),
        pytest.param(collections.OrderedDict(a=1), {"a": 1}, id="kinds-of-dict"),
        pytest.param(bytearray(b"a"), b"a", id="kinds-of-bytes"),
    ],
)
def test_equal_states_have_one_digest_and_hash(left: Any, right: Any) -> None:
    one, other = State.of(left), State.of(right)
    assert (one.digest, hash(one)) == (other.digest, hash(other))
    assert one == other


DISTINCT = [1, 1.0, True, "1", Decimal(1), Fraction(1), (1,), [1], {1}, frozenset({1}), {1: 1}, {"1": 1}, None, b"1"]
DISTINCT += [-0.0, 0.0, 0, math.nan, "nan", dt.date(2025, 1, 1), dt.datetime(2025, 1, 1), "2025-01-01", UUID(int=1)]
DISTINCT += [Order("1"), Plain(id="1", lines=()), {"id": "1", "lines": ()}, Colour.RED, Level.LOW, Status.OPEN, "open"]
DISTINCT += [
    [1, 2],
    [2, 1],
    {"$set": [1]},
    {"$map": []},
    {},
    [],
    2**70,
    "0x400000000000000000",
    complex(1),
    Point(1, 2),
]


def test_types_are_part_of_the_digest() -> None:
    assert len({State.of(value).digest for value in DISTINCT}) == len(DISTINCT)


def test_the_digest_is_the_same_on_every_machine() -> None:
    state = State.of({"b": [1, 2.5, (None,)], "a": {2: "ü", 1: {"x", "y"}}})
    assert state.digest == GOLDEN
    assert repr(state) == f"State({GOLDEN}, {len(state.data)} bytes)"


GOLDEN = "ed54e4f8846721ed415be3ea9701001a"


def test_a_state_equals_only_states() -> None:
    assert State.of(1) != 1


def test_decoded_values_are_fresh() -> None:
    state = State.of({"orders": [1]})
    state.decode()["orders"].append(2)
    assert state.decode() == {"orders": [1]}


def test_a_snapshot_does_not_follow_the_live_value() -> None:
    live = {"orders": [1]}
    state = State.of(live)
    live["orders"].append(2)
    assert state.decode() == {"orders": [1]}


@pytest.mark.parametrize(
    ("value", "attributes"),
    [
        pytest.param(Order("7", (1,)), {"id": "7", "lines": (1,)}, id="dataclass"),
        pytest.param(Plain(a={1: 2}, b=None), {"a": {1: 2}, "b": None}, id="object"),
        pytest.param(Point(1, [2]), {"x": 1, "y": [2]}, id="namedtuple"),
        pytest.param(Plain(**{"$set": [1]}), {"$set": [1]}, id="attribute-that-looks-like-a-tag"),
        pytest.param(types.SimpleNamespace(a=1), {"a": 1}, id="namespace"),
    ],
)
def test_an_object_comes_back_as_a_record_of_its_class_name(value: Any, attributes: dict[str, Any]) -> None:
    record = State.of(value).decode()
    assert isinstance(record, Record)
    assert (type(record).__name__, vars(record)) == (type(value).__name__, attributes)
    assert encode(record) == encode(value)


def test_records_are_equal_by_class_name_and_attributes() -> None:
    one, other, place = (State.of(value).decode() for value in (Order("1"), Order("1"), Plain(id="1", lines=())))
    assert one == other
    assert one != place
    assert {State.of({Place(1)}).decode().pop(): "found"}[State.of(Place(1)).decode()] == "found"


def test_a_class_whose_name_python_would_refuse_is_a_plain_record() -> None:
    assert type(State(b'{"$record": ["a\\u0000b", {"x": 1}]}').decode()) is Record


@pytest.mark.parametrize(("member", "value"), [(Status.OPEN, "open"), (Level.LOW, 1)])
def test_a_member_that_passes_for_its_value_still_does_in_a_check(member: Any, value: Any) -> None:
    found = State.of(member).decode()
    assert found == value
    assert (found.name, found.value, type(found).__name__) == (member.name, value, type(member).__name__)
    assert encode(found) == encode(member)


@pytest.mark.parametrize("member", [Colour.RED, Rights.READ | Rights.WRITE])
def test_another_member_keeps_name_and_value(member: Any) -> None:
    found = State.of(member).decode()
    assert isinstance(found, Member)
    assert (found.name, found.value) == (member.name, member.value)
    assert found == State.of(member).decode()
    assert encode(found) == encode(member)


def test_a_member_that_no_enum_could_hold_is_a_plain_one() -> None:
    assert State(b'{"$enum": ["E", "mro", 1, true]}').decode() == Member(name="mro", value=1)


class Slotted:
    __slots__ = ("a",)


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    "value",
    [len, lambda: 1, Order, types, object(), Slotted(), (i for i in ()), LOOP, {"a": [open]}, {1: LOOP}, range(3)],
    ids=[
        "builtin",
        "function",
        "class",
        "module",
        "object",
        "slots",
        "generator",
        "cycle",
        "nested",
        "in-map",
        "range",
    ],
)
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(NotExportable):
        State.of(value)


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda inner: [inner],
    "dict": lambda inner: {"a": inner},
    "int-keys": lambda inner: {1: inner},
    "tuple": lambda inner: (inner,),
    "frozenset": lambda inner: frozenset([inner]),
}


def wrapped(wrap: Callable[[Any], Any], levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = wrap(value)
    return value


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_the_deepest_state_comes_back_even_from_deep_in_a_program(wrap: Callable[[Any], Any]) -> None:
    def from_deep_inside(frames: int) -> Any:
        return from_deep_inside(frames - 1) if frames else State.of(wrapped(wrap, MAX_DEPTH)).decode()

    assert from_deep_inside(100) == wrapped(wrap, MAX_DEPTH)


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("levels", [MAX_DEPTH + 2, 5_000])
def test_nesting_beyond_the_limit_is_refused(wrap: Callable[[Any], Any], levels: int) -> None:
    with pytest.raises(NotExportable):
        State.of(wrapped(wrap, levels))


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        pytest.param({"a": 1}, {"a": 1}, [], id="nothing"),
        pytest.param({"a": 1}, {"a": 1.0}, [Change("a", 1, 1.0)], id="a-type"),
        pytest.param({"o": {"O-7": {"s": 1}}}, {"o": {"O-7": {"s": 2}}}, [Change('o["O-7"].s', 1, 2)], id="nested"),
        pytest.param({}, {"a": 1}, [Change("a", MISSING, 1)], id="added"),
        pytest.param({"a": [1, 2]}, {"a": [1]}, [Change("a[1]", 2, MISSING)], id="removed"),
        pytest.param({5: 1, 6: 2}, {6: 3, 5: 1}, [Change("[6]", 2, 3)], id="int-keys-in-another-order"),
        pytest.param({"a": {1: 1}}, {"a": 1}, [Change("a", {"$map": [[1, 1]]}, 1)], id="another-kind"),
    ],
)
def test_a_diff_names_each_change_by_its_path(before: Any, after: Any, changes: list[Change]) -> None:
    assert State.of(before).diff(State.of(after)) == changes


def test_missing_says_so() -> None:
    assert repr(MISSING) == "MISSING"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["$set", Status.OPEN]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.just("$set"), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(JSON)
def test_plain_json_has_the_bytes_that_the_walk_gives_it(value: Any) -> None:
    assert encode(value) == msgspec.json.encode(tag(value))
