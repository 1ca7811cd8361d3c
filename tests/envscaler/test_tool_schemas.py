"""Tool schemas from signatures and docstrings: read, never executed, whatever the source holds."""

from __future__ import annotations

from typing import Any

import pytest

from envscaler.environments import tool_specs
from harness.environment import ToolSpec
from harness.errors import DataError
from tests.envscaler.playground import SHOP, names, shop

NULL = {"type": "null"}
TEXT = {"type": "string"}
INTEGER = {"type": "integer"}
TYPES = """
class Colour(str, Enum):
    _ignore_ = []
    RED = "red"
    BLUE = "blue"

class Level(IntEnum):
    LOW = 1
    HIGH = 2

class Automatic(StrEnum):
    A = auto()

class Unnamed(Enum):
    A = auto()

class Base(str, Enum):
    pass

class Derived(Base):
    X = "x"

class Item(TypedDict):
    sku: str
    count: int
    note: NotRequired[str]

class Partial(TypedDict, total=False):
    sku: Required[str]
    count: int

class Priced(Item):
    'An item with a price.'
    sku: str
    price: float

@dataclass
class Address:
    KIND: ClassVar[str] = "post"
    street: str
    lines: List[str] = field(default_factory=list)
    city: str = "Paris"

class Node(TypedDict):
    name: str
    children: List["Node"]

class A(B):
    pass

class B(A):
    x: int

class Plain:
    pass

Status = Literal["open", "closed"]
Names: TypeAlias = List[str]
Loop = List["Loop"]
"""


def object_of(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


ITEM = object_of(["sku", "count"], sku=TEXT, count=INTEGER, note=TEXT)


def array(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def tool(signature: str, docstring: str = "", types: str = TYPES) -> ToolSpec:
    """The tool of a class with the one method `act`."""
    source = f'{types}\nclass Env:\n    def act({signature}):\n        """{docstring}"""\n'
    (spec,) = tool_specs(source, "Env")
    return spec


def schema(annotation: str) -> dict[str, Any]:
    """The schema of a parameter with an annotation and no default."""
    found: dict[str, Any] = tool(f"self, x: {annotation}").parameters["properties"]["x"]
    return found


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        pytest.param("str", TEXT, id="str"),
        pytest.param("int", INTEGER, id="int"),
        pytest.param("float", {"type": "number"}, id="float"),
        pytest.param("bool", {"type": "boolean"}, id="bool"),
        pytest.param("None", NULL, id="none"),
        pytest.param("Any", {}, id="any-is-anything"),
        pytest.param("Unheard", {}, id="an-unknown-name-is-anything"),
        pytest.param("datetime.date", TEXT, id="dotted-name"),
        pytest.param("Optional[int]", {"anyOf": [INTEGER, NULL]}, id="optional"),
        pytest.param("typing.Optional[int]", {"anyOf": [INTEGER, NULL]}, id="dotted-optional"),
        pytest.param("int | None", {"anyOf": [INTEGER, NULL]}, id="pipe"),
        pytest.param("Union[int, str, None]", {"anyOf": [INTEGER, TEXT, NULL]}, id="union"),
        pytest.param("Union[int, Union[str, int]]", {"anyOf": [INTEGER, TEXT]}, id="nested-unions-are-flat"),
        pytest.param("Union[int, Any]", {}, id="union-with-anything-is-anything"),
        pytest.param("Union[int, int]", INTEGER, id="union-of-one"),
        pytest.param('Literal["a", "b"]', {**TEXT, "enum": ["a", "b"]}, id="literal"),
        pytest.param('Literal[1, "a"]', {"enum": [1, "a"]}, id="mixed-literal-has-no-type"),
        pytest.param('Literal["a", None]', {"enum": ["a", None]}, id="literal-with-none"),
        pytest.param("Literal[Colour.RED]", {}, id="literal-of-an-enum-member-is-not-read"),
        pytest.param("Colour", {**TEXT, "enum": ["red", "blue"]}, id="enum-without-its-private-names"),
        pytest.param("Level", {**INTEGER, "enum": [1, 2]}, id="int-enum"),
        pytest.param("Automatic", TEXT, id="automatic-values-leave-the-type"),
        pytest.param("Unnamed", {}, id="automatic-values-without-a-type"),
        pytest.param("Derived", {**TEXT, "enum": ["x"]}, id="enum-through-a-base-of-ours"),
        pytest.param("list", array({}), id="bare-list"),
        pytest.param("List[int]", array(INTEGER), id="list"),
        pytest.param("list[list[str]]", array(array(TEXT)), id="nested-list"),
        pytest.param("Sequence[str]", array(TEXT), id="sequence"),
        pytest.param("Set[str]", array(TEXT, uniqueItems=True), id="set"),
        pytest.param("frozenset[str]", array(TEXT, uniqueItems=True), id="frozenset"),
        pytest.param("Tuple[int, ...]", array(INTEGER), id="open-tuple"),
        pytest.param("Tuple[int, int]", array(INTEGER, minItems=2, maxItems=2), id="pair"),
        pytest.param("Tuple[int, str]", array({}, minItems=2, maxItems=2), id="mixed-pair"),
        pytest.param("Tuple[()]", array({}, minItems=0, maxItems=0), id="empty-tuple"),
        pytest.param("dict", {"type": "object"}, id="bare-dict"),
        pytest.param("Dict[str, int]", {"type": "object", "additionalProperties": INTEGER}, id="dict"),
        pytest.param("Dict[str]", {"type": "object"}, id="dict-of-half"),
        pytest.param("(lambda: 3)()", {}, id="an-expression-is-anything"),
        pytest.param("Dict[str, Any]", {"type": "object", "additionalProperties": True}, id="dict-of-anything"),
        pytest.param("Annotated[int, 'a count']", INTEGER, id="annotated"),
        pytest.param("Item", ITEM, id="typed-dict"),
        pytest.param("List[Item]", array(ITEM), id="list-of-typed-dicts"),
        pytest.param("Partial", object_of(["sku"], sku=TEXT, count=INTEGER), id="required-in-a-partial-typed-dict"),
        pytest.param(
            "Priced",
            object_of(["sku", "count", "price"], sku=TEXT, count=INTEGER, note=TEXT, price={"type": "number"}),
            id="inherited-fields-once",
        ),
        pytest.param(
            "Address",
            object_of(["street"], street=TEXT, lines=array(TEXT), city=TEXT),
            id="dataclass-without-class-variables",
        ),
        pytest.param("Node", object_of(["name", "children"], name=TEXT, children=array({})), id="a-type-in-itself"),
        pytest.param("Plain", {"type": "object"}, id="a-class-of-no-known-kind"),
        pytest.param("A", {"type": "object"}, id="classes-that-inherit-from-each-other"),
        pytest.param("Status", {**TEXT, "enum": ["open", "closed"]}, id="alias"),
        pytest.param("Names", array(TEXT), id="declared-alias"),
        pytest.param("Loop", array({}), id="an-alias-in-itself"),
        pytest.param('"Item"', ITEM, id="forward-reference"),
        pytest.param('Optional["Item"]', {"anyOf": [ITEM, NULL]}, id="forward-reference-inside"),
        pytest.param('" List[int] "', array(INTEGER), id="forward-reference-with-blanks"),
        pytest.param('"not a type"', {}, id="a-text-that-is-no-type"),
        pytest.param('"a\\0b"', {}, id="a-text-that-is-no-python"),
    ],
)
def test_an_annotation_becomes_its_json_schema(annotation: str, expected: dict[str, Any]) -> None:
    assert schema(annotation) == expected


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        pytest.param("x: int = 5", {**INTEGER, "default": 5}, id="default"),
        pytest.param("x: int = -1", {**INTEGER, "default": -1}, id="negative-default"),
        pytest.param("x: bool = False", {"type": "boolean", "default": False}, id="false-is-a-default"),
        pytest.param("x: str = None", TEXT, id="none-for-a-text"),
        # Left out is how a model says None: offering null as well has misled tool parsers.
        pytest.param("x: Optional[str] = None", TEXT, id="optional-without-null"),
        pytest.param("x: Union[str, int, None] = None", {"anyOf": [TEXT, INTEGER]}, id="union-without-null"),
        pytest.param('x: Literal["a", None] = None', {**TEXT, "enum": ["a"]}, id="literal-without-null"),
        pytest.param("x: Optional[int] = 3", {"anyOf": [INTEGER, NULL], "default": 3}, id="null-beside-a-default"),
        pytest.param("x: list = [1]", {**array({}), "default": [1]}, id="list-default"),
        pytest.param("x: tuple = (1, 2)", {**array({}), "default": [1, 2]}, id="tuple-default-as-json"),
        pytest.param("x: float = 1e999", {"type": "number"}, id="infinity-is-no-json"),
        pytest.param("x: list = [b'x']", array({}), id="bytes-are-no-json"),
        pytest.param("x: int = LIMIT", INTEGER, id="a-named-default-is-not-read"),
        pytest.param("x=3", {**INTEGER, "default": 3}, id="type-from-the-default"),
        pytest.param("x=None", {}, id="nothing-known"),
    ],
)
def test_a_parameter_with_a_default_is_not_required(parameter: str, expected: dict[str, Any]) -> None:
    parameters = tool(f"self, {parameter}").parameters
    assert parameters["properties"] == {"x": expected}
    assert parameters["required"] == []


@pytest.mark.parametrize(
    ("signature", "properties", "required"),
    [
        pytest.param("self", [], [], id="none"),
        pytest.param("self, a, b=1", ["a", "b"], ["a"], id="without-annotations"),
        pytest.param("self, *, a, b=1", ["a", "b"], ["a"], id="keyword-only"),
        pytest.param("self, a, /, b", ["a", "b"], ["a", "b"], id="positional-only"),
        pytest.param("self, a, *rest", ["a"], ["a"], id="varargs-are-not-offered"),
        pytest.param("", [], [], id="without-self"),
    ],
)
def test_parameters_keep_their_order_and_need(signature: str, properties: list[str], required: list[str]) -> None:
    parameters = tool(signature).parameters
    assert (list(parameters["properties"]), parameters["required"]) == (properties, required)
    assert parameters["additionalProperties"] is False


def test_free_keywords_are_allowed_where_the_method_takes_them() -> None:
    assert "additionalProperties" not in tool("self, a, **changes").parameters


def test_private_helpers_properties_dunders_and_what_must_be_awaited_are_no_tools() -> None:
    source = """
class Env:
    def __init__(self): pass
    def __call__(self): pass
    def _helper(self): pass
    @property
    def size(self): pass
    @functools.cached_property
    def cost(self): pass
    @size.setter
    def size(self, value): pass
    value = 3
    @staticmethod
    def fixed(a: int): pass
    @classmethod
    def of(cls, a: int): pass
    async def wait(self, a: int): pass
    async def _rest(self): pass
"""
    tools = tool_specs(source, "Env")
    assert names(tools) == ["fixed", "of"]
    assert shop(source=source, class_name="Env").awaitable_methods == ("wait",)
    assert all(list(spec.parameters["properties"]) == ["a"] for spec in tools)


def test_inherited_methods_are_tools_and_the_nearest_definition_counts() -> None:
    source = """
class Root:
    def act(self, root): pass
    def only(self): pass
    def hidden(self): pass
class Left(Root):
    def act(self, left): pass
class Right(Root):
    def act(self, right): pass
    def other(self): pass
class Env(Left, Right, Elsewhere):
    @property
    def hidden(self): pass
"""
    tools = {spec.name: spec for spec in tool_specs(source, "Env")}
    assert sorted(tools) == ["act", "only", "other"]
    assert list(tools["act"].parameters["properties"]) == ["left"]  # as Python's method resolution has it


GOOGLE = """Ship an order.

        It must be open.

        Args:
            order (str): Its id,
                as the list shows it: O-1.
            speed: How fast.

        Returns:
            dict: what became of it.
        """


def test_each_parameter_has_its_line_of_the_docstring() -> None:
    spec = tool("self, order: str, speed: str = 'slow'", GOOGLE)
    assert spec.parameters["properties"]["order"]["description"] == "Its id, as the list shows it: O-1."
    assert spec.parameters["properties"]["speed"]["description"] == "How fast."
    assert spec.description == "Ship an order.\n\nIt must be open.\n\nReturns:\n    dict: what became of it."


@pytest.mark.parametrize(
    ("docstring", "text"),
    [
        pytest.param("Do.\n\nArgs:\n    a: one\nReturns: a dict", "Do.\n\nReturns: a dict", id="section-on-one-line"),
        pytest.param("Do.\nArgs:\na: one\nReturns: a dict", "Do.\nReturns: a dict", id="not-indented"),
        pytest.param("Do.\nArgs:\n    None\nNote:\n    x", "Do.\nNote:\n    x", id="nothing-to-describe"),
        pytest.param(
            "Do.\nArgs:\n    a: one\n    **changes: names\n        and values\nEnd.",
            "Do.\n**changes: names\nand values\nEnd.",
            id="an-entry-that-is-no-parameter-stays",
        ),
        pytest.param("Do.\nArgs:\n    a: one", "Do.", id="nothing-after-it"),
        pytest.param("", "", id="empty"),
    ],
)
def test_the_docstring_loses_nothing_but_the_parameters(docstring: str, text: str) -> None:
    assert tool("self, a", docstring.replace("\n", "\n        ")).description == text


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        pytest.param("class Env(:", "does not parse", id="no-python"),
        pytest.param("x = 1\0", "does not parse", id="null-byte"),
        pytest.param("x = " + "-" * 100_000 + "1", "nested too deeply", id="nested-expression"),
        pytest.param("class Other: pass", "no class Env", id="another-class"),
        pytest.param(
            "".join(f"class C{n}(C{n + 1}): pass\n" for n in range(3000)) + "class Env(C0): pass",
            "nested too deeply",
            id="a-long-line-of-ancestors",
        ),
        # Each class holds the next one twice: 2 ** 40 types if they were all written out.
        pytest.param(
            "".join(f"class C{n}(TypedDict):\n a: C{n + 1}\n b: C{n + 1}\n" for n in range(40))
            + "class Env:\n def act(self, x: C0): pass",
            "more than 20000 types",
            id="a-bomb-of-types",
        ),
    ],
)
def test_source_that_cannot_be_read_is_named_not_executed(source: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        tool_specs(source, "Env")


def test_the_source_is_never_executed() -> None:
    assert names(tool_specs("raise SystemExit\nclass Env:\n    def act(self): pass", "Env")) == ["act"]


def test_a_record_whose_source_does_not_parse_says_which() -> None:
    with pytest.raises(DataError, match=r"corpus/shop/environment.py: shop.source: .* does not parse"):
        shop(source="class Shop(:", file="corpus/shop/environment.py").tools("own")


def test_released_tools_are_shown_unchanged() -> None:
    released = {
        "type": "function",
        "function": {
            "name": "get_order",
            "description": "Look up.\n\nArgs: ...",
            "parameters": {"type": "object", "properties": {"id": {"type": ["string", "null"]}}, "required": ["id"]},
            "strict": False,
        },
    }
    (shown,) = shop(released={"tools": [released]}).tools("release")
    assert shown.openai() == released


def test_a_released_tool_that_must_be_awaited_is_not_shown() -> None:
    tools = [{"type": "function", "function": {"name": name}} for name in ("get_order", "set_status")]
    source = SHOP.replace("def set_status", "async def set_status")
    record = shop(source=source, released={"tools": tools})
    assert names(record.tools("release")) == ["get_order"]
    assert "set_status" not in names(record.tools("own"))


def test_own_tools_do_not_depend_on_released_ones() -> None:
    record = shop(released={"tools": []})
    assert names(record.tools("own")) == ["get_order", "set_status", "crash"]
