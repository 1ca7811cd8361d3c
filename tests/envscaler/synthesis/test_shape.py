"""What an initial state must look like: learnt from sources and examples, and told with the offending value."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from envscaler.scenarios import load
from envscaler.synthesis.reading import outline, reading
from envscaler.synthesis.shape import Shape, Size, dangling
from tests.envscaler.skelbuilder.author.domains import DOMAINS
from tests.envscaler.skelbuilder.author.writing import CLASS, config, words

DESK = '''
from typing import Any, Dict, List, Literal, NotRequired, Optional, TypedDict

KINDS = ("a", "b")


class ItemInfo(TypedDict):
    item_id: str
    price: float
    tags: List[str]
    kind: Literal["a", "b"]
    note: Optional[str]
    more: Any
    extra: NotRequired[int]


class Desk:
    """Items."""

    def __init__(self, init_config):
        self.items: Dict[str, ItemInfo] = init_config.get("items", {})
        self.log: List[dict] = []
        self.day: str = init_config["day"]

    def look(self) -> dict:
        """Look."""
        return {"n": len(self.items)}

    @property
    def _hidden(self) -> int:
        return 1
'''


def item(**changes: Any) -> dict[str, Any]:
    return {"item_id": "I-1", "price": 2, "tags": [], "kind": "a", "note": None, "more": {}, **changes}


def told(state: dict[str, Any], size: Size | None = None, examples: tuple[dict[str, Any], ...] = ()) -> list[str]:
    shape = Shape.of(reading(DESK, "Desk"), examples)
    return [f"{misfit.rule}: {misfit}" for misfit in shape.misfits(state, size or Size(1, 2))]


@pytest.mark.parametrize(
    ("state", "misfits"),
    [
        pytest.param({"items": {"I-1": item()}, "day": "x"}, [], id="fits"),
        pytest.param({"items": {"I-1": item(extra=1)}, "day": "x"}, [], id="not-required-may-be-there"),
        pytest.param({"items": {"I-1": item()}}, ["missing key: lacks the attribute day"], id="missing-key"),
        pytest.param(
            {"items": {"I-1": item()}, "day": "x", "dya": "y"},
            ["unknown key: has the key dya, which the program never sets"],
            id="unknown-key",
        ),
        pytest.param(
            {"items": {"I-1": item(price="2", kind=1)}, "day": "x"},
            ['type: items["I-1"].price is "2", not float or int', 'type: items["I-1"].kind is 1, not str'],
            id="types",
        ),
        pytest.param(
            {"items": {"I-2": item(), "I-1": item(), "I-3": item(item_id="I-3")}, "day": "x"},
            [
                "size: items has 3 rows; at most 2 are wanted",
                "row key: items[\"I-2\"].item_id is 'I-1'; the key of a row is its id",
            ],
            id="size-and-key",
        ),
        pytest.param({"items": [1], "day": "x"}, ["row: items[0] must be an object"], id="no-row"),
        pytest.param({"items": {}, "day": "x"}, ["size: items has 0 rows; at least 1 are needed"], id="too-few"),
    ],
)
def test_what_does_not_fit_the_source_is_told_with_its_place(state: dict[str, Any], misfits: list[str]) -> None:
    assert told(state) == misfits


def test_examples_teach_what_the_source_does_not_say() -> None:
    example = {"items": {}, "day": "x", "log": [{"at": "x", "n": 1}]}
    state = {"items": {}, "day": "x", "log": [{"at": 1, "m": 1}]}
    assert told(state, examples=(example,)) == [
        "row: log[0] lacks n",
        "row: log[0] has m, which no row of the example has",
        "type: log[0].at is 1, not null or str",
    ]


def test_a_configuration_must_fit_the_program() -> None:
    domain = DOMAINS[0]
    shape = Shape.of(reading(words(domain, CLASS), "AllotmentGardenOffice"))
    assert list(shape.misfits(config(domain), Size())) == []
    broken = config(domain)
    broken["leases"]["C-1"]["plot_id"] = "A-77"
    broken["plots"].pop("A-3")
    broken["plots"].pop("A-4")
    broken["gardeners"]["P-1"].pop("phone")
    broken["gardeners"]["P-2"]["preferenc"] = []
    broken["nonsense"] = 1
    del broken["next_number"]
    assert [str(misfit) for misfit in shape.misfits(broken, Size())] == [
        "lacks the attribute next_number",
        'gardeners["P-1"] lacks phone',
        'gardeners["P-2"] has preferenc, which its TypedDict does not name',
        "plots has 2 rows; at least 3 are needed",
        "has the key nonsense, which the program never sets",
        "leases[\"C-1\"].plot_id names 'A-77', which is in no table",
        "leases[\"C-3\"].plot_id names 'A-3', which is in no table",
    ]


PEOPLE = {"P-1": {"person_id": "P-1"}, "P-2": {"person_id": "P-2"}}


@pytest.mark.parametrize(
    ("orders", "names"),
    [
        pytest.param({"person_id": "P-9"}, ["P-9"], id="by-the-name-of-the-table"),
        pytest.param({"owner_id": "P-9"}, ["P-9"], id="by-the-form-of-the-id"),
        pytest.param({"owner_id": None}, [], id="none-is-no-reference"),
        pytest.param({"owner_ids": ["P-1", "P-9"]}, ["P-9"], id="in-a-list"),
        pytest.param({"lines": [{"person_id": "P-8"}]}, ["P-8"], id="in-nested-rows"),
        pytest.param({"tracking_id": "ZX 1"}, [], id="ids-of-elsewhere-refer-to-nothing"),
    ],
)
def test_dangling_references_are_found_whatever_the_environment(orders: dict[str, Any], names: list[str]) -> None:
    state = {"people": copy.deepcopy(PEOPLE), "orders": {"O-1": {"order_id": "O-1", **orders}}}
    found = list(dangling(state))
    assert [re.findall(r"names '(.*?)'", str(misfit)) for misfit in found] == [[name] for name in names]


def test_an_example_knows_better_than_a_name() -> None:
    example = {"people": PEOPLE, "orders": {"1": {"person_id": "ext-1"}, "2": {"person_id": "ext-2"}}}
    state = {"people": PEOPLE, "orders": {"1": {"person_id": "ext-7"}}}
    assert len(list(dangling(state))) == 1
    assert list(dangling(state, [example])) == []
    wards = {"wards": {"North": {}, "South": {}}, "beds": {"1": {"place": "North"}, "2": {"place": "South"}}}
    lost = {"wards": {"North": {}, "South": {}}, "beds": {"1": {"place": "Nroth"}}}
    assert list(dangling(lost)) == []
    assert [str(misfit) for misfit in dangling(lost, [wards])] == [
        "beds[\"1\"].place names 'Nroth', which is in no table"
    ]


def test_sound_states_pass_and_broken_ids_are_found() -> None:
    """On the first scenario of each bundled environment, with every sixth id in a field named so broken in turn."""
    corpus = load("bundled")
    seen: set[str] = set()
    broken = 0
    for scenario in corpus.scenarios.values():
        if scenario.env_id in seen:
            continue
        seen.add(scenario.env_id)
        record = corpus.environments[scenario.env_id]
        state = scenario.init_config.decode()
        assert list(Shape.of(reading(record.source, record.class_name)).misfits(state, Size(0))) == []
        for table, key, field, value in id_fields(state)[::6]:
            changed = {
                **state,
                table: {**state[table], key: {**state[table][key], field: re.sub(r"\d+$", "", value) + "98765"}},
            }
            assert list(dangling(changed)), f"{record.id}: {table}[{key}].{field}"
            broken += 1
    assert broken > 40


def id_fields(state: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [
        (table, key, field, value)
        for table, rows in state.items()
        if isinstance(rows, dict)
        for key, row in rows.items()
        if isinstance(row, dict)
        for field, value in row.items()
        if field.endswith("_id") and isinstance(value, str) and value and value != key
    ]


def test_an_outline_leaves_the_operations_out() -> None:
    text = outline(DESK, reading(DESK, "Desk"))
    assert "class ItemInfo(TypedDict):" in text
    assert 'KINDS = ("a", "b")' in text
    assert 'self.day: str = init_config["day"]' in text
    assert "def look" not in text
    assert "_hidden" not in text
