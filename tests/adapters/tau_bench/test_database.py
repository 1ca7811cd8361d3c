"""The hash of parts is the hash of the whole, and no call reaches the shared database."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.tau_bench import TauBenchEnvironment, open_domain
from adapters.tau_bench.database import Database, hashable
from adapters.tau_bench.domain import TOOLS, Domain
from harness.environment import ToolStatus
from tests.adapters.tau_bench import world

WORLDS = {"retail": world.RETAIL, "airline": world.AIRLINE}


def official_hash(tables: Any) -> str:
    """The definition, on whole tables."""
    return hashlib.sha256(str(hashable(tables)).encode()).hexdigest()


def whole(environment: TauBenchEnvironment) -> dict[str, Any]:
    """An episode's database in one piece."""
    return {name: dict(table.items()) for name, table in environment.session.tables.items()}


@pytest.mark.parametrize("tables", [{"a": {"x": {"n": 1}}}, {"a": {"x": {}, "y": {}}, "b": {"z": {"n": [1, 2.0]}}}])
def test_the_hash_follows_pythons_way_of_writing_short_tuples(tables: dict[str, Any]) -> None:
    assert Database(tables).digest({}) == official_hash(tables)
    session = Database(tables).session()
    session["a"].add("k", {"new": True})
    session["a"].edit("x")["more"] = None
    assert session.digest() == official_hash({**tables, "a": {**tables["a"], **session["a"].own}})


@pytest.mark.parametrize("domain", ["retail", "airline"])
def test_the_hash_of_the_real_databases(real: Path, domain: str) -> None:
    database = open_domain(domain, real).database
    assert database.digest({}) == official_hash(database.tables)


def _known_values(domain: str) -> list[Any]:
    """Every value that stands in the small world, so that random calls also succeed."""
    found: dict[str, Any] = {}

    def walk(value: Any) -> None:
        found[json.dumps(value, sort_keys=True)] = value
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(inner)
        for key in value if isinstance(value, dict) else ():
            found[json.dumps(key)] = key

    walk(WORLDS[domain])
    return [
        *found.values(),
        ["lamp-red"],
        ["lamp-green"],
        "no longer needed",
        [{"payment_id": "credit_card_1", "amount": 100}],
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def _calls(domain: str) -> st.SearchStrategy[list[tuple[str, dict[str, Any]]]]:
    values = st.sampled_from(_known_values(domain)) | JSON

    def call(name: str) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
        tool = TOOLS[domain].get(name)
        fitting = st.fixed_dictionaries(dict.fromkeys(tool.parameters, values)) if tool else st.just({})
        odd = st.dictionaries(st.sampled_from([*(tool.parameters if tool else ()), "data", "db", ""]), values)
        return st.tuples(st.just(name), fitting | odd)

    return st.lists(st.sampled_from([*TOOLS[domain], "no_such_tool"]).flatmap(call), max_size=6)


@pytest.mark.parametrize("domain", ["retail", "airline"])
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_odd_calls_raise_nothing_and_leave_the_shared_database_alone(domain: str, data: st.DataObject) -> None:
    tables = json.loads(json.dumps(WORLDS[domain]))
    opened = Domain(domain, Path())
    opened.__dict__["database"] = Database(tables)
    environment, other = TauBenchEnvironment(opened), TauBenchEnvironment(opened)
    for name, arguments in data.draw(_calls(domain)):
        before = repr(arguments)
        result = environment.call(name, arguments)
        assert isinstance(result.text, str)
        assert (result.status is ToolStatus.UNKNOWN_TOOL) == (name not in TOOLS[domain])
        assert repr(arguments) == before
    assert environment.session.digest() == official_hash(whole(environment))
    assert environment.state().digest == environment.state().digest
    assert repr(tables) == repr(WORLDS[domain])
    assert other.session.digest() == official_hash(WORLDS[domain])


def test_interleaved_episodes_do_not_see_each_other(small: Path) -> None:
    domain = open_domain("retail", small)
    first, second = TauBenchEnvironment(domain), TauBenchEnvironment(domain)
    cancel = {"order_id": "#W1", "reason": "ordered by mistake"}
    assert first.call("cancel_pending_order", cancel).text == second.call("cancel_pending_order", cancel).text
    first.close()
    assert first.state().decode() == {}
    assert list(second.state().decode()) == ["orders/#W1", "users/ann_lee_1"]


def test_a_change_and_its_reversal_leave_no_trace(small: Path) -> None:
    environment = TauBenchEnvironment(open_domain("retail", small))
    address = {key: world.ADDRESS[key] for key in world.ADDRESS}
    environment.call("modify_user_address", {"user_id": "bo_lee_2", **address, "city": "Bruges"})
    assert list(environment.state().decode()) == ["users/bo_lee_2"]
    environment.call("modify_user_address", {"user_id": "bo_lee_2", **address})
    assert environment.state().decode() == {}
    assert environment.session.digest() == TauBenchEnvironment(environment.domain).session.digest()
