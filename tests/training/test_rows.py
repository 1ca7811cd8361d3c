"""Trajectories become rows, and rows become tokens with a loss mask."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import DataError, SettingError
from tests.training import tiny
from tests.training.tiny import call, says, two_turns
from training.config import Model, SftData
from training.model import load_tokenizer
from training.sft.rows import Row, Taken, rows, split, write_rows
from training.sft.tokens import Counted, check_reasoning, encode, encoded
from training.template import ChatTemplate, shown

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def tokenizer(checkpoint: Path) -> Any:
    return load_tokenizer(Model(path=str(checkpoint)))


def stock(tokenizer: Any, name: str = "qwen3", *, thinking: bool = True) -> ChatTemplate:
    """The tokenizer with a chat template as it comes with TRL."""
    made = copy.deepcopy(tokenizer)
    made.chat_template = tiny.stock_template(name)
    return ChatTemplate(made, thinking=thinking)


def row_list(record: dict[str, Any], **choices: Any) -> list[Row]:
    return list(split(record, SftData(**choices), "file: line 1"))


def test_each_round_is_a_row_with_its_last_message_alone_supervised() -> None:
    made = row_list(two_turns())
    assert [len(row.messages) for row in made] == [3, 5, 7, 9]
    assert [row.supervised for row in made] == [(2,), (4,), (6,), (8,)]


@pytest.mark.parametrize(
    ("keep", "kept"),
    [("none", [[], [], [], []]), ("chain", [[], [2], [2, 4], []]), ("all", [[], [2], [2, 4], [2, 4, 6]])],
)
def test_past_reasoning_is_kept_by_the_policy_and_the_present_one_always(keep: Any, kept: list[list[int]]) -> None:
    for row, expected in zip(row_list(two_turns(), history_reasoning=keep), kept, strict=True):
        past = [index for index, message in enumerate(row.messages[:-1]) if "reasoning_content" in message]
        assert past == expected
    assert [row.messages[-1].get("reasoning_content") for row in row_list(two_turns())] == [
        "Look first.",
        "Three stand there.",
        "Done.",
        None,
    ]


@pytest.mark.parametrize("thinking", [True, False])
@pytest.mark.parametrize("keep", ["none", "chain"])
def test_rows_and_masks_under_the_stock_qwen3_template(
    tokenizer: Any, request: pytest.FixtureRequest, thinking: bool, keep: Any
) -> None:
    template = stock(tokenizer, thinking=thinking)
    record = two_turns()
    if not thinking:
        for message in record["messages"]:
            message.pop("reasoning_content", None)
    texts = []
    for row in row_list(record, history_reasoning=keep):
        tokens = encode(row, template)
        texts.append(shown(tokens.ids, tokens.mask, template))
    golden = GOLDEN / f"qwen3_{'thinking' if thinking else 'plain'}_{keep}.txt"
    text = "\n=====\n".join(texts)
    if request.config.getoption("--update-golden"):
        golden.write_text(text)
    assert text == golden.read_text()


def test_the_mask_begins_after_the_prompt_that_the_model_is_served(tokenizer: Any) -> None:
    template = stock(tokenizer)
    for row in row_list(two_turns()):
        tokens = encode(row, template)
        served = template.ids(template.text(row.messages[:-1], row.tools, prompt=True))
        assert tokens.ids[: len(served)] == served
        assert tokens.mask == [0] * len(served) + [1] * (len(tokens.ids) - len(served))


def test_a_whole_trajectory_is_one_row_where_the_template_only_appends(tokenizer: Any) -> None:
    template = ChatTemplate(tokenizer)
    (row,) = row_list(two_turns(), split="whole")
    tokens = encode(row, template)
    one_by_one = [encode(single, template) for single in row_list(two_turns())]
    assert sum(tokens.mask) == sum(sum(single.mask) for single in one_by_one)


def test_a_template_that_rewrites_the_past_is_refused_for_whole_trajectories(tokenizer: Any) -> None:
    (row,) = row_list(two_turns(), split="whole")
    with pytest.raises(SettingError, match=r"talk: the chat template .* changes earlier messages .* data.split=round"):
        encode(row, stock(tokenizer))


def test_reasoning_that_a_template_would_drop_is_refused(tokenizer: Any) -> None:
    last = row_list(two_turns(), history_reasoning="all")[-1]
    with pytest.raises(SettingError, match=r"messages\[2\]: the chat template .* drops past reasoning"):
        check_reasoning(last, stock(tokenizer))
    check_reasoning(last, stock(tokenizer, "qwen3_training"))


def test_arguments_of_one_tool_never_gain_those_of_another() -> None:
    calls = [c for row in row_list(two_turns()) for m in row.messages for c in m.get("tool_calls", ())]
    assert {json.dumps(json.loads(c["function"]["arguments"])) for c in calls} == {
        '{"name": "jam"}',
        '{"name": "jam", "number": 2}',
    }


def test_arguments_that_came_as_an_object_are_written_as_text() -> None:
    spoken = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"a": None}}}]}
    (row,) = row_list({"messages": [{"role": "user", "content": "x"}, spoken]})
    assert row.messages[-1]["tool_calls"][0]["function"]["arguments"] == '{"a": null}'


def test_reasoning_inside_the_words_is_taken_out_of_them() -> None:
    (row,) = row_list({"messages": [{"role": "user", "content": "x"}, says("<think>\nhm\n</think>\n\nYes.")]})
    assert row.messages[-1] == {"role": "assistant", "content": "Yes.", "reasoning_content": "hm"}


@pytest.mark.parametrize("start", ["<think>\nhm\n</think>", "hm\n</think>"])
def test_reasoning_without_its_opening_mark_is_reasoning(start: str) -> None:
    """Servers whose chat template says `<think>` leave it out of the reply."""
    (row,) = row_list({"messages": [{"role": "user", "content": "x"}, says(f"{start}\n\nYes.")]})
    assert row.messages[-1] == {"role": "assistant", "content": "Yes.", "reasoning_content": "hm"}


@pytest.mark.parametrize("split_by", ["round", "whole"])
def test_a_reply_that_no_agent_could_use_is_history_but_never_learned(split_by: Any) -> None:
    broken = says("", call("count"))
    broken["tool_calls"][0]["function"]["arguments"] = '{"name": "ja'
    unusable = [
        broken,
        {**says("I will ad"), "finish_reason": "length"},
        {**says("", call("put")), "finish_reason": "length"},
        {**says(""), "finish_reason": "context_full"},
        says("", reasoning="Only thoughts."),
        says("<think>\nnever closed"),
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "x"}]
    for reply in unusable:
        messages += [reply, {"role": "user", "content": "Error: say it again."}]
    taken = Taken()
    record = {"messages": [*messages, says("", call("count"))]}
    made = list(split(record, SftData(split=split_by), "t.jsonl", taken))
    assert [row.supervised for row in made] == [(len(messages),)]
    assert len(made[0].messages) == len(messages) + 1
    assert taken.unusable == len(unusable)


def test_a_call_without_arguments_is_learned() -> None:
    spoken = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": ""}}]}
    (row,) = row_list({"messages": [{"role": "user", "content": "x"}, spoken]})
    assert row.messages[-1]["tool_calls"][0]["function"]["arguments"] == "{}"


def long_record(rounds: int, words: int = 1) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go on"}]
    for number in range(rounds - 1):
        messages += [says("", call("count", number, name="jam")), {"role": "tool", "content": "lamp " * words}]
    return {"sample_id": "long", "messages": [*messages, says("Done.")], "tools": two_turns()["tools"]}


def test_forty_rounds_are_forty_rows_each_longer_than_the_last(tokenizer: Any) -> None:
    made = row_list(long_record(40))
    tokens = [encode(row, ChatTemplate(tokenizer)) for row in made[:: len(made) // 4]]
    assert len(made) == 40
    lengths = [len(t.ids) for t in tokens]
    assert lengths == sorted(set(lengths))


def test_rows_above_the_limit_are_left_out_whole_and_counted(tokenizer: Any) -> None:
    counted = Counted()
    template = ChatTemplate(tokenizer)
    made = row_list(long_record(3, words=8_000))
    lengths = [len(encode(row, template).ids) for row in made]
    assert lengths[-1] > 32_000 > lengths[1]
    kept = list(encoded(made, template, lengths[1], counted))
    assert [len(tokens.ids) for tokens in kept] == lengths[:2]
    assert (counted.kept, counted.too_long, counted.longest) == (2, 1, lengths[1])


def test_trajectories_below_the_reward_are_left_out_and_counted(tmp_path: Path) -> None:
    good, bad, unscored, odd = two_turns(), two_turns(), two_turns(), two_turns()
    bad["outcome"]["score"]["value"] = 0.5
    del unscored["outcome"]
    odd["outcome"] = "scored"
    file = tmp_path / "t.jsonl"
    file.write_text("\n".join(map(json.dumps, (good, bad, unscored, odd))))
    taken = Taken()
    assert len(list(rows([file], SftData(min_reward=1.0), taken))) == 4
    assert (taken.trajectories, taken.below_reward, taken.rows) == (4, 3, 4)


def test_rows_are_written_without_a_tokenizer_and_read_back(tmp_path: Path) -> None:
    made = row_list(two_turns())
    assert write_rows(tmp_path / "rows.jsonl", made) == 4
    lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert lines == [row.record() for row in made]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", r"t.jsonl: line 1: is not JSON"),
        ('{"messages": 3}', r"t.jsonl: line 1: messages: must be a list of chat messages"),
        ('{"messages": [{"role": "robot"}]}', r"line 1: messages\[0\].role: must be one of"),
        ('{"messages": [], "tools": 4}', r"line 1: tools: must be a list"),
        ('{"messages": [{"role": "assistant", "tool_calls": 5}]}', r"messages\[0\]: tool_calls: must be a list"),
        (
            '{"messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]}',
            r"messages\[0\].tool_calls\[0\]: function.name: must be a text",
        ),
    ],
)
def test_a_broken_record_is_named(tmp_path: Path, line: str, problem: str) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(line)
    with pytest.raises(DataError, match=problem):
        list(rows([file], SftData()))


def test_a_row_with_nothing_supervised_is_refused(tokenizer: Any) -> None:
    row = Row("r", [{"role": "user", "content": "x"}, says("")], [], ())
    with pytest.raises(SettingError, match="r: nothing in this row is supervised"):
        encode(row, ChatTemplate(tokenizer))


def test_the_recorded_demonstration_is_read_as_it_is(trajectories: Path) -> None:
    first = next(rows([trajectories], SftData(split="whole")))
    assert [message["role"] for message in first.messages][1:] == ["user", *["assistant", "tool"] * 2, "assistant"]
