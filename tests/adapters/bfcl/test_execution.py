from __future__ import annotations

import decimal
import time

import pytest

from adapters.bfcl.execution import Execution
from harness.environment import ToolStatus
from harness.errors import SettingError
from tests.adapters.bfcl.small_release import small_pair

PAIR = small_pair()
TICKETS, MATHS = PAIR.entries("base")
(POSTS,) = PAIR.entries("miss_param")
(TRAVEL,) = PAIR.entries("long_context")


def world(entry=TICKETS) -> Execution:
    return Execution(entry, PAIR.backends)


@pytest.mark.parametrize(
    ("name", "arguments", "text", "status"),
    [
        pytest.param("say", {"text": "as it is"}, "as it is", ToolStatus.OK, id="text-is-not-encoded"),
        pytest.param("list_tickets", {}, "[]", ToolStatus.OK, id="list-is-printed"),
        pytest.param("close_all", {}, "None", ToolStatus.OK, id="nothing-is-printed"),
        pytest.param(
            "open_ticket",
            {"title": "é"},
            '{"id": 237, "title": "\\u00e9", "priority": 1}',
            ToolStatus.OK,
            id="dict-is-ascii-json",
        ),
        pytest.param("fail", {}, "Error during execution: 'nothing here'", ToolStatus.RAISED, id="exception"),
        pytest.param(
            "open_ticket",
            {},
            "Error during execution: TicketAPI.open_ticket() missing 1 required positional argument: 'title'",
            ToolStatus.RAISED,
            id="missing-argument",
        ),
        pytest.param(
            "say",
            {"text": "a", "loud": True},
            "Error during execution: TicketAPI.say() got an unexpected keyword argument 'loud'",
            ToolStatus.RAISED,
            id="unknown-argument",
        ),
        pytest.param(
            "say",
            {"self": "a", "text": "b"},
            "Error during execution: TicketAPI.say() got multiple values for argument 'self'",
            ToolStatus.RAISED,
            id="self-as-argument",
        ),
        pytest.param(
            "erase", {}, "Error during execution: name 'erase' is not defined", ToolStatus.UNKNOWN_TOOL, id="unknown"
        ),
        pytest.param(
            "functions.say",
            {"text": "a"},
            "Error during execution: name 'functions' is not defined",
            ToolStatus.UNKNOWN_TOOL,
            id="dotted",
        ),
        pytest.param(
            "_load_scenario",
            {"scenario": {}},
            "Error during execution: name '_load_scenario' is not defined",
            ToolStatus.UNKNOWN_TOOL,
            id="private",
        ),
        pytest.param(
            "kill",
            {},
            "Error during execution: Function call kill is not allowed.",
            ToolStatus.UNKNOWN_TOOL,
            id="denied",
        ),
        pytest.param(
            "os.remove",
            {"path": "/"},
            "Error during execution: Function call remove is not allowed.",
            ToolStatus.UNKNOWN_TOOL,
            id="denied-behind-a-dot",
        ),
        # Python's built-ins run in the official executor; here they are no tools.
        pytest.param(
            "len", {}, "Error during execution: name 'len' is not defined", ToolStatus.UNKNOWN_TOOL, id="built-in"
        ),
        pytest.param("say ", {"text": "a"}, "a", ToolStatus.OK, id="blank-behind-the-name"),
        pytest.param(
            "say it",
            {},
            "Error during execution: invalid syntax (<string>, line 1)",
            ToolStatus.UNKNOWN_TOOL,
            id="two-words",
        ),
        pytest.param(
            "say",
            {"te-xt": 1},
            'Error during execution: expression cannot contain assignment, perhaps you meant "=="? (<string>, line 1)',
            ToolStatus.RAISED,
            id="key-is-no-identifier",
        ),
        pytest.param(
            "say",
            {"text": float("nan")},
            "Error during execution: name 'nan' is not defined",
            ToolStatus.RAISED,
            id="nan",
        ),
        pytest.param(
            "say",
            {"text": [1, {"a": float("-inf")}]},
            "Error during execution: name 'inf' is not defined",
            ToolStatus.RAISED,
            id="infinity-inside",
        ),
        # Official code would put the instance's name into the text.
        pytest.param("say", {"text": "say (1)"}, "say (1)", ToolStatus.OK, id="text-that-looks-like-a-call"),
        pytest.param("say", {"text": True}, "True", ToolStatus.OK, id="no-coercion"),
    ],
)
def test_a_call_is_answered_as_the_official_executor_does(name, arguments, text, status) -> None:
    result = world().call(name, arguments)
    assert (result.text, result.status) == (text, status)


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [50, 120])
def test_nested_arguments_arrive_whole(depth: int) -> None:
    assert world().call("say", {"text": nested(depth)}).text == str(nested(depth))


@pytest.mark.parametrize("depth", [250, 900, 5000])
def test_arguments_nested_beyond_what_python_parses_are_refused(depth: int) -> None:
    result = world().call("say", {"text": nested(depth)})
    assert result.status is ToolStatus.RAISED
    assert result.text.startswith("Error during execution: ")


@pytest.mark.parametrize(
    "name", ["", "(", "1", "a\nb", "\ud800", "x" * 10_000, "say(text='a')", "__import__('os').getcwd"]
)
def test_no_name_raises_or_runs(name: str) -> None:
    assert world().call(name, {"text": "a"}).status is ToolStatus.UNKNOWN_TOOL


@pytest.mark.parametrize("key", ["", "a=1,b", "**", "*", "text)", "\x00", "\ud800", "class", "None"])
def test_no_key_raises_or_runs(key: str) -> None:
    assert world().call("say", {key: "a"}).status is ToolStatus.RAISED


def test_the_record_of_a_call_does_not_change_with_the_state() -> None:
    arguments = {"content": "a", "mentions": ["@ann"]}
    posts = world(POSTS)
    posts.call("post_tweet", arguments)
    posts.call("mention", {"names": ["@bob"]})
    assert arguments == {"content": "a", "mentions": ["@ann"]}


def test_default_values_are_shared_within_an_episode_and_not_beyond() -> None:
    first, second = world(POSTS), world(POSTS)
    first.call("post_tweet", {"content": "a"})
    first.call("mention", {"names": ["@bob"]})
    # The official backend keeps one default list, so the next tweet of the same episode has the mention.
    assert first.call("post_tweet", {"content": "b"}).text == '{"content": "b", "mentions": ["@bob"]}'
    assert second.call("post_tweet", {"content": "b"}).text == '{"content": "b", "mentions": []}'


def test_constants_of_the_long_form_are_not_shared() -> None:
    assert world(TRAVEL).call("pay", {"card": "gold", "amount": 30}).text == '{"balance": 70}'
    assert world(TRAVEL).call("pay", {"card": "gold", "amount": 30}).text == '{"balance": 70}'


def test_precision_ends_with_the_call() -> None:
    before = decimal.getcontext().prec
    text = world(MATHS).call("square_root", {"number": 2, "precision": 3}).text
    assert text == "{'result': Decimal('1.41')}"
    assert decimal.getcontext().prec == before


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("power", {"base": 10, "exponent": 10**12}, "Exceeds the limit (4300 digits) for integer string conversion"),
        ("power", {"base": 10, "exponent": 10_000}, "Exceeds the limit (4300 digits) for integer string conversion"),
        ("power", {"base": 1, "exponent": 10**12}, '{"result": 1}'),
        ("power", {"base": 2, "exponent": 100}, '{"result": 1267650600228229401496703205376}'),
        ("square_root", {"number": 2, "precision": 10**9}, "Precision of more than 10000 digits is not supported"),
    ],
)
def test_endless_arithmetic_ends(name: str, arguments: dict, text: str) -> None:
    start = time.process_time()
    assert text in world(MATHS).call(name, arguments).text
    assert time.process_time() - start < 2


def test_data_run_on_their_own_backends_only() -> None:
    with pytest.raises(SettingError, match="multi_turn_base_0: v3 data run on v3 backends only, not on v4 ones"):
        Execution(TICKETS, small_pair("v4").backends)


def test_two_releases_live_side_by_side() -> None:
    loud = small_pair(
        "v4",
        ticket_api="class TicketAPI:\n def _load_scenario(self, s, long_context): pass\n def say(self): return 'v4'\n",
    )
    theirs = Execution(loud.entries("base")[0], loud.backends)
    assert theirs.call("say", {}).text == "v4"
    assert world().call("say", {"text": "v3"}).text == "v3"
