from __future__ import annotations

import pytest

from envscaler.skelbuilder.mine import Judgement, TopicAnswer
from envscaler.skelbuilder.plan import StateAnswer, read_operations, read_state
from envscaler.synthesis.answers import Unusable, code, json_object, refuses, schema_of
from envscaler.synthesis.ask import Answer, read


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a": 1}', id="bare"),
        pytest.param('Sure!\n```json\n{"a": 1}\n```\nAnything else?', id="fenced-in-prose"),
        pytest.param('<think>{"a": 2}</think>\n{"a": 1}', id="after-thinking"),
        pytest.param('{"a": 2}</think>{"a": 1}', id="after-thinking-whose-start-is-in-the-template"),
        pytest.param('Here it is: {"a": 1}. I left {x} out.', id="in-the-prose"),
        pytest.param('```\n{"a": 2}\n```\nNo, rather:\n```\n{"a": 1}\n```', id="the-last-of-two-drafts"),
    ],
)
def test_the_object_is_found_whatever_stands_around_it(text: str) -> None:
    assert json_object(text) == {"a": 1}


@pytest.mark.parametrize("text", ['{"a": 1', "<think>{}", "", "[1, 2]", "none"])
def test_half_an_object_is_none(text: str) -> None:
    with pytest.raises(Unusable, match="no complete JSON object"):
        json_object(text)


def test_half_a_character_goes_back() -> None:
    with pytest.raises(Unusable, match="cannot be kept"):
        json_object('{"a": "\\ud83d"}')


def test_no_number_is_no_json() -> None:
    assert json_object('{"a": NaN} rather: {"a": 1}') == {"a": 1}


def test_code_that_is_cut_off_or_broken_is_told_apart() -> None:
    assert code("```python\nx = 1\n```\nand\n```python\ny = 2\n```") == "x = 1\n\ny = 2\n"
    assert code("def f():\n    return 1") == "def f():\n    return 1\n"
    with pytest.raises(Unusable, match="not closed") as cut:
        code("```python\ndef f():\n    return")
    assert cut.value.kind == "truncated"
    with pytest.raises(Unusable, match=r"does not parse \(line 2\)"):
        code("```python\ndef f():\nreturn\n```")
    with pytest.raises(Unusable, match="no Python code block"):
        code("I would write a class here.")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        pytest.param(Answer(text='{"usefulness": 11}'), "wrong", id="a-field-is-missing"),
        pytest.param(Answer(text="I'm sorry, but I can't help with that."), "refused", id="declines-in-words"),
        pytest.param(Answer(text="", stop="refused"), "refused", id="filtered-by-the-server"),
        pytest.param(Answer(text='{"title": "Depot', stop="length"), "truncated", id="cut-off"),
        pytest.param(Answer(text="title: Depot"), "unparsable", id="no-json"),
    ],
)
def test_every_unusable_answer_has_a_kind(answer: Answer, kind: str) -> None:
    from envscaler.synthesis.answers import answer_of

    with pytest.raises(Unusable) as problem:
        read(answer, lambda text: answer_of(text, TopicAnswer))
    assert problem.value.kind == kind


def test_a_usable_answer_that_begins_with_an_apology_is_used() -> None:
    text = (
        "I'm sorry for the wait. "
        '{"analysis": "a", "domain_specific": true, "stateful": true, "reads": true, "writes": false}'
    )
    from envscaler.synthesis.answers import answer_of

    assert refuses(text)
    assert read(Answer(text=text), lambda text: answer_of(text, Judgement)).writes is False


def test_schemas_name_every_field_as_required_and_hold_no_references() -> None:
    schema = schema_of(StateAnswer)
    entity = schema["properties"]["entities"]["items"]
    assert entity["required"] == ["name", "attributes", "description"]
    assert entity["additionalProperties"] is False
    assert "$ref" not in str(schema)


LISTS = """\
Entity: Patient - a person
- patient_id: str (id)
- account_status: str (open or closed)
- preferences: List[str]
Entity: Equipment: a device
- equipment_id: str
## Rules
- A patient has one device at most.
"""


def test_lists_are_read_too_and_names_stay_whole() -> None:
    """The release's parser made "Patie", "quipme" and "account_sta" of these."""
    said = read_state(LISTS)
    assert [entity.name for entity in said.entities] == ["Patient", "Equipment"]
    assert [a.name for a in said.entities[0].attributes] == ["patient_id", "account_status", "preferences"]
    assert said.entities[0].attributes[2].type == "List[str]"
    assert said.rules == ("A patient has one device at most.",)


def test_operation_names_that_cannot_be_used_go_back() -> None:
    lines = [f"- do_{n} ({'query' if n % 2 else 'change'}): Does {n}." for n in range(15)]
    assert [operation.name for operation in read_operations("\n".join(lines)).operations][:2] == ["do_0", "do_1"]
    with pytest.raises(Unusable, match="'do_0' is given twice"):
        read_operations("\n".join([*lines, lines[0]]))
    with pytest.raises(Unusable, match="14 operations"):
        read_operations("\n".join(lines[1:]))
    with pytest.raises(Unusable, match="'class' is no Python name"):
        read_operations("\n".join([*lines[1:], "- class (query): Shows."]))
