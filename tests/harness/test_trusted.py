"""Generated code in this process: loading, calls, states and checks."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from harness.environment import ToolResult, ToolStatus
from harness.errors import EnvironmentFault
from harness.program import Checks, Program, Verdict
from harness.runtime import describe
from harness.state import State
from harness.trusted import TrustedInstance, TrustedRunner

SHOP = '''
"""A shop."""
import datetime
from dataclasses import dataclass

@dataclass
class Line:
    item: str
    count: int = 1

class Shop:
    def __init__(self, config):
        self.config_seen = sorted(config)
        self.lines = []

    def order(self, item, count=1):
        """Order an item."""
        if item == "nothing":
            return {"success": False, "error": "no such item"}
        self.lines.append(Line(item, count))
        return {"success": True, "when": datetime.datetime.now().isoformat()}

    def drop(self):
        self.stock.clear()

    def fail(self, how):
        raise {"exit": SystemExit(3), "value": ValueError("no"), "memory": MemoryError()}[how]

    def interrupt(self):
        raise KeyboardInterrupt

    def odd(self, what):
        loop = []
        loop.append(loop)
        return {"loop": loop, "keys": {(1, 2): "x"}, "nan": float("nan"), "none": None, "set": {1}, "ü": "ü"}[what]

    def keep(self, what):
        self.kept = {"function": len, "deep": self._deep(), "$set": [1]}[what]

    def _deep(self):
        value = []
        for _ in range(300):
            value = [value]
        return value

    def _hidden(self):
        return "secret"
'''
CONFIG = {"stock": {"milk": 3, 5: "five"}, "orders": {}}
TOOLS = frozenset({"order", "drop", "fail", "interrupt", "odd", "keep"})
CLASS = "class Shop:\n    "

CHANGED = "changed the state that it was given"


def program(source: str = SHOP, config: Any = CONFIG, name: str = "Shop", **more: Any) -> Program:
    return Program(source=source, class_name=name, config=State.of(config), tools=TOOLS, **more)


def called(name: str, observation: Literal["python", "json"] = "python", **arguments: Any) -> ToolResult:
    return TrustedInstance(program(observation=observation)).call(name, arguments)


def state_after(source: str, config: Any = CONFIG) -> Any:
    return TrustedInstance(program(source, config)).state().decode()


# Calls


def test_a_result_is_python_text_in_paper_and_json_in_strict() -> None:
    when = "2025-01-01T00:00:00"
    assert called("order", item="milk").text == f"{{'success': True, 'when': '{when}'}}"
    assert called("order", "json", item="milk").text == f'{{"success": true, "when": "{when}"}}'


def test_a_refusal_by_the_tool_is_no_error() -> None:
    assert called("order", item="nothing").status is ToolStatus.OK


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        pytest.param({}, "missing 1 required positional argument: 'item'", id="missing"),
        pytest.param({"item": "milk", "size": 1}, "unexpected keyword argument 'size'", id="extra"),
        pytest.param({"item": "milk", "self": 1}, "multiple values for argument 'self'", id="self"),
    ],
)
def test_missing_and_extra_arguments_raise_in_the_tool(arguments: dict[str, Any], text: str) -> None:
    result = called("order", **{}) if not arguments else TrustedInstance(program()).call("order", arguments)
    assert result.status is ToolStatus.RAISED
    assert result.text.startswith("Error: TypeError: ")
    assert text in result.text


@pytest.mark.parametrize("name", ["missing", "_hidden", "__init__", "lines", "", "order.__func__"])
def test_only_tools_can_be_called(name: str) -> None:
    assert called(name) == ToolResult(f"Error: unknown tool '{name}'.", ToolStatus.UNKNOWN_TOOL)


@pytest.mark.parametrize(("how", "text"), [("exit", "Error: SystemExit: 3"), ("value", "Error: ValueError: no")])
def test_whatever_a_tool_raises_is_reported(how: str, text: str) -> None:
    assert called("fail", how=how) == ToolResult(text, ToolStatus.RAISED)


def test_a_tool_that_uses_up_the_memory_is_a_fault() -> None:
    with pytest.raises(EnvironmentFault, match="out_of_memory"):
        called("fail", how="memory")


def test_an_interrupt_is_the_users() -> None:
    with pytest.raises(KeyboardInterrupt):
        called("interrupt")


@pytest.mark.parametrize(
    ("what", "python", "json"),
    [
        ("loop", "[[...]]", '"[[...]]"'),
        ("keys", "{(1, 2): 'x'}", "\"{(1, 2): 'x'}\""),
        ("nan", "nan", "NaN"),
        ("none", "None", "null"),
        ("set", "{1}", '"{1}"'),
        ("ü", "ü", '"ü"'),
    ],
)
def test_an_odd_result_is_observed_and_no_exception(what: str, python: str, json: str) -> None:
    assert called("odd", what=what) == ToolResult(python)
    assert called("odd", "json", what=what) == ToolResult(json)


# Construction and state


def test_the_configuration_is_given_to_the_constructor_and_set_as_attributes() -> None:
    state = state_after(SHOP)
    assert state == {"config_seen": ["orders", "stock"], "lines": [], **CONFIG}


@pytest.mark.parametrize(
    ("init", "config"),
    [
        pytest.param("def __init__(self): self.a = 1", {"b": 2}, id="takes-no-configuration"),
        pytest.param("def __init__(self, config={}): self.a = 1", {"b": 2}, id="has-a-default"),
        pytest.param("a = 0\n    def __init__(self, config): self.a, self.b = 1, config['b']", {"b": 2}, id="reads-it"),
    ],
)
def test_a_class_may_or_may_not_take_its_configuration(init: str, config: Any) -> None:
    assert state_after(CLASS + init, config) == {"a": 1, "b": 2}


def test_dunder_attributes_are_no_state() -> None:
    assert state_after(CLASS + "def __init__(self): self.__dict__['__x'] = self._y = 1", {}) == {"_y": 1}


def test_types_of_the_configuration_survive() -> None:
    instance = TrustedInstance(program(config={"stock": {5: (1, {2})}, "$set": 1}))
    assert instance.state().decode()["stock"] == {5: (1, {2})}


def test_the_configuration_is_never_modified_and_no_two_instances_share_it() -> None:
    of = program()
    before = of.config.data
    one, other = TrustedInstance(of), TrustedInstance(of)
    one.call("drop", {})
    assert one.state().decode()["stock"] == {}
    assert other.state().decode()["stock"] == CONFIG["stock"]
    assert of.config.data == before


def test_module_level_state_is_not_shared_either() -> None:
    source = "seen = []\n" + CLASS + "all = []\n    def order(self, item): seen.append(item); self.all.append(item)"
    source += "; return (seen, self.all)"
    one, other = (TrustedInstance(program(source, {})) for _ in range(2))
    one.call("order", {"item": 1})
    assert other.call("order", {"item": 2}).text == "([2], [2])"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        pytest.param("class Shop:", "environment source fails: ", id="does-not-compile"),
        pytest.param("import nowhere", "environment source fails: ModuleNotFoundError", id="does-not-import"),
        pytest.param("raise SystemExit", "environment source fails: SystemExit", id="exits"),
        pytest.param("a\0", "environment source fails: ", id="null-byte"),
        pytest.param("class Other: pass", "environment source defines no class Shop", id="another-class"),
        pytest.param("Shop = 5", "environment source defines no class Shop", id="no-class"),
        pytest.param(
            CLASS + "def __init__(self): 1/0", "Shop does not take its configuration: ZeroDivision", id="constructor"
        ),
    ],
)
def test_code_that_does_not_start_is_a_fault(source: str, problem: str) -> None:
    with pytest.raises(EnvironmentFault, match=f"^init_failed: {problem}"):
        TrustedInstance(program(source))


def test_source_that_exhausts_the_memory_is_a_fault() -> None:
    with pytest.raises(EnvironmentFault, match=r"^out_of_memory: "):
        TrustedInstance(program("raise MemoryError"))
    with pytest.raises(EnvironmentFault, match=r"^out_of_memory: "):
        TrustedInstance(program(CLASS + "def __init__(self): raise MemoryError"))


def test_a_configuration_that_is_no_mapping_is_a_fault() -> None:
    with pytest.raises(EnvironmentFault, match="does not take its configuration"):
        TrustedInstance(program(config=[1]))


@pytest.mark.parametrize("what", ["function", "deep"])
def test_a_state_that_cannot_be_exported_is_a_fault(what: str) -> None:
    instance = TrustedInstance(program())
    instance.call("keep", {"what": what})
    with pytest.raises(EnvironmentFault, match=r"^state_not_exportable: "):
        instance.state()


def test_a_class_with_slots_is_a_fault() -> None:
    with pytest.raises(EnvironmentFault, match="state_not_exportable: Shop keeps its state in __slots__"):
        TrustedInstance(program(CLASS + "__slots__ = ()", {})).state()


def test_closing_twice_is_allowed() -> None:
    instance = TrustedInstance(program())
    instance.close()
    instance.close()


# Checks

INITIAL, FINAL = {"a": [1], "t": (1, 2)}, {"a": [1, 2], "t": (1, 2)}


def verdicts(*functions: str, final: Any = FINAL) -> list[Verdict]:
    return TrustedRunner().check(Checks(functions=functions, initial=State.of(INITIAL), final=State.of(final)))


def check(body: str) -> str:
    return f"def check_func(final_state):\n    {body}"


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        pytest.param("return final_state['a'] == [1, 2]", Verdict(True), id="passes"),
        pytest.param("return False", Verdict(False), id="fails"),
        pytest.param("return final_state['a'] != initial_state['a']", Verdict(True), id="sees-the-initial-state"),
        pytest.param("return final_state['t'] == (1, 2)", Verdict(True), id="sees-types"),
        pytest.param("return 1", Verdict(False, "returned int, not a bool"), id="no-bool"),
        pytest.param("return None", Verdict(False, "returned NoneType, not a bool"), id="nothing"),
        pytest.param("return final_state['b']", Verdict(False, "raised KeyError: 'b'"), id="raises"),
        pytest.param("raise SystemExit", Verdict(False, "raised SystemExit"), id="exits"),
        pytest.param("raise MemoryError", Verdict(False, "ran out of memory"), id="memory"),
        pytest.param("final_state['a'].clear(); return True", Verdict(False, CHANGED, True), id="mutates"),
        pytest.param("final_state['a'] = len; return True", Verdict(False, CHANGED, True), id="mutates-beyond-export"),
    ],
)
def test_a_check_says_its_verdict(body: str, verdict: Verdict) -> None:
    assert verdicts(check(body)) == [verdict]


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("", "defines no check_func(final_state)"),
        ("check_func = 5", "defines no check_func(final_state)"),
        ("def check_func(", "raised SyntaxError"),
        ("def check_func(): return True", "raised TypeError"),
    ],
)
def test_a_check_that_cannot_run_is_a_check_error_and_no_pass(source: str, error: str) -> None:
    (verdict,) = verdicts(source)
    assert not verdict.passed
    assert verdict.error is not None
    assert verdict.error.startswith(error)


def test_no_check_sees_what_another_did() -> None:
    spoil = check("final_state['a'].clear(); initial_state.clear(); return True")
    said = verdicts(spoil, check("return final_state['a'] == [1, 2] and initial_state != {}"))
    assert [verdict.passed for verdict in said] == [False, True]


def test_checks_may_use_helpers_and_imports_and_see_frozen_time() -> None:
    helped = "import datetime\ndef year(): return datetime.date.today().year\n" + check("return year() == 2025")
    assert verdicts(helped) == [Verdict(True)]


def test_objects_in_a_state_are_not_taken_for_a_mutation() -> None:
    instance = TrustedInstance(program())
    instance.call("order", {"item": "milk"})
    function = check("return final_state['lines'][0].item == 'milk'")
    final = instance.state()
    assert TrustedRunner().check(Checks(functions=[function], initial=final, final=final)) == [Verdict(True)]


def test_an_exception_is_described_in_one_piece_whatever_its_text_does() -> None:
    class Nasty(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert describe(Nasty()) == "Nasty: no text"
    assert describe(KeyError()) == "KeyError"
    assert len(describe(ValueError("x" * 5_000))) == 2_012


def test_the_runner_opens_programs_at_its_level() -> None:
    runner = TrustedRunner()
    assert runner.level == "trusted"
    assert runner.open(program()).call("order", {"item": "milk"}).status is ToolStatus.OK


def test_same_seed_and_same_calls_give_the_same_state() -> None:
    source = "import uuid, random, time\n" + CLASS + "def order(self, n):\n        time.sleep(n)\n"
    source += "        setattr(self, f'k{n}', (str(uuid.uuid4()), random.random(), time.time()))"

    def digest(seed: int) -> str:
        instance = TrustedInstance(program(source, {}, seed=seed))
        for n in (1, 2):
            instance.call("order", {"n": n})
        return instance.state().digest

    assert digest(1) == digest(1)
    assert digest(1) != digest(2)
