"""What agents and users are told, what users say, and the solutions in the milestones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from adapters.acebench.defects import defects, matches
from adapters.acebench.prompts import native, policy
from adapters.acebench.solution import REPAIRS, corrected_answer, parse_calls
from adapters.acebench.task import load_prompts, load_tasks, load_world, tools
from adapters.acebench.user import AceUser
from harness.errors import DataError
from harness.users import STOP


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        ("One.\nTwo. Write [ApiName(a='b')].\nThree.", "One.\nTwo.\nThree."),
        ("One.\n\nCalls:\nWrite [ApiName(a='b')]!\n\nEnd.", "One.\n\nEnd."),
        ("1. Write [ApiName(a='b')].\n2. Wait.", "2. Wait."),
        ("先查询，再预订，格式为[ApiName(a='b')]", "先查询，再预订"),
    ],
)
def test_the_textual_form_of_calls_is_left_out(prompt: str, kept: str) -> None:
    assert native(prompt, by_clause=True) == kept


@pytest.mark.parametrize(("name", "flies"), [("TRAVEL", True), ("BASE", False)])
def test_the_english_policies_are_the_papers_to_the_letter(real: Path, name: str, flies: bool) -> None:
    theirs = json.loads((real / "prompts.json").read_text())["paper_policy"][f"{name}_PROMPT_EN"]
    assert policy(load_prompts(real), "en", flies=flies) == theirs


def test_the_english_tools_are_the_papers_to_the_letter(real: Path) -> None:
    tasks = {task.id: task for task in load_tasks(real, "en")}
    patch = json.loads((real / "en" / "envscaler_task_patch.json").read_text())
    for entry in patch:
        task_id, _, index, _, _, argument, _ = entry["path"].split("/")
        for english, text in ((True, entry["envscaler"]), (False, entry["official"])):
            shown = tools(tasks[task_id], english_cabins=english)[int(index)]
            assert shown.parameters["properties"][argument]["description"] == text
    changed = [t.id for t in tasks.values() if tools(t, english_cabins=True) != tools(t, english_cabins=False)]
    assert changed == [entry["path"].split("/")[0] for entry in patch]


def test_a_user_ends_the_conversation_with_two_words_in_lower_case() -> None:
    user = AceUser("goal", "prompt")
    assert [message["role"] for message in user.open().messages] == ["system", "user"]
    assert user.reply("<think>finish conversation?</think>\nHello").stops is False
    assert user.reply("Finish Conversation").stops is False
    said = user.reply("Thanks, finish conversation please")
    assert (said.stops, said.text) == (True, "Thanks, finish conversation please")
    assert user.messages[2] == {"role": "assistant", "content": "Hello"}
    assert user.reply(user.phrase(STOP)).stops is True


def test_the_official_user_keeps_its_words_as_system_messages_and_sees_no_prefix() -> None:
    user = AceUser("goal", "prompt", official=True)
    user.open()
    user.reply("Hello")
    assert user.hear("agent: Which one?").messages[-2:] == [
        {"role": "system", "content": "Hello"},
        {"role": "user", "content": " Which one?"},
    ]


@pytest.mark.parametrize(
    ("milestone", "calls", "native_log"),
    [
        ("[f()]", [("f", {})], True),
        ("[f(a='It's', n=4)] ", [("f", {"a": "It's", "n": 4})], True),
        ("[f(a=\"don't\", b='x, y')]", [("f", {"a": "don't", "b": "x, y"})], False),
        ("[f(items=[{'p':'T', 'q': 1}])]", [("f", {"items": [{"p": "T", "q": 1}]})], False),
        ("[f(), g(n=1)]", [("f", {}), ("g", {"n": 1})], False),
    ],
)
def test_milestones_are_read_although_they_are_not_python(
    milestone: str, calls: list[tuple[str, dict[str, object]]], native_log: bool
) -> None:
    assert parse_calls(milestone) == calls
    assert matches(milestone) is native_log


def test_the_corrected_answers_differ_where_the_document_says(real: Path) -> None:
    for language in ("en", "zh"):
        world = load_world(real, language)
        changed = [t.id for t in load_tasks(real, language) if corrected_answer(t, world.seed) != list(t.answer)]
        assert changed == [f"agent_multi_{n}" for n in ("step_0", "step_1", "turn_7", "turn_9")]


def test_defects_are_noted_where_the_document_says(real: Path) -> None:
    assert (len([key for key in REPAIRS if key[0] == "en"]), len([key for key in REPAIRS if key[0] == "zh"])) == (9, 7)
    for language in ("en", "zh"):
        noted = {task.id.removeprefix("agent_multi_"): defects(task, language) for task in load_tasks(real, language)}
        never = [number for number, notes in noted.items() if "milestone_never_matches" in notes]
        steps, turns = ("step_6", "step_7", "step_8", "step_9", "step_10"), ("4", "5", "6", "7", "22", "26", "27")
        assert never == [*steps, *(f"turn_{number}" for number in turns)]
        assert [number for number, notes in noted.items() if "passes_untouched" in notes] == ["turn_7"]


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("en/data_agent_multi_step.json", "{", "line 1: is not JSON"),
        ("en/data_agent_multi_step.json", "[]", "line 1: must be a JSON object"),
        ("en/data_agent_multi_step.json", '{"id": "q"}', "q: has no answer"),
        ("en/data_agent_multi_step.json", '{"id": "agent_multi_step_2"}', "involved_classes: must be a list"),
        (
            "en/data_agent_multi_step.json",
            '{"id": "agent_multi_step_2", "involved_classes": ["Bank"]}',
            "involved_classes: no class 'Bank'",
        ),
        ("en/world.json", "{}", "must hold the seed state of BaseApi"),
        ("prompts.json", '{"policy": {}}', "user_simulator: is missing"),
    ],
)
def test_broken_data_are_named_in_one_sentence(
    small_data: Path, tmp_path: Path, file: str, content: str, problem: str
) -> None:
    shutil.copytree(small_data / "acebench", tmp_path / "acebench")
    (tmp_path / "acebench" / file).write_text(content)
    with pytest.raises(DataError) as caught:
        _load_all(tmp_path / "acebench")
    assert file.rpartition("/")[2] in str(caught.value)
    assert problem in str(caught.value)


def _load_all(folder: Path) -> None:
    load_tasks(folder, "en")
    load_world(folder, "en")
    load_prompts(folder)
