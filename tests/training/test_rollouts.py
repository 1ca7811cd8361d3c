"""Episodes in tokens: what is learned from, what is not, and how limits and faults count."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.benchmark import Sample
from harness.errors import EnvironmentFault, SettingError
from harness.messages import Message, assistant
from harness.outcome import StopReason
from harness.protocol import Protocol
from tests import small_corpus
from tests.training import tiny
from training.config import Model, RlConfig, Rollouts
from training.model import load_tokenizer
from training.rl.rollouts import Engine, Rollout, play, rules
from training.rl.script import oracle_messages, script
from training.rl.users import user_model
from training.settings import overlaid
from training.template import ChatTemplate, read_reply, shown
from training.template_check import check_template

LIMITS = Rollouts(tasks_per_step=2, per_task=2, max_steps=6, tokens_per_step=200, max_tokens=4000, at_once=8)
PUT = [("put", {"name": "honey", "number": 2})]
COUNT = [("count", {"name": "jam"})]


@pytest.fixture(scope="module")
def tokenizer(checkpoint: Path) -> Any:
    return load_tokenizer(Model(path=str(checkpoint)))


@pytest.fixture(scope="module", params=["compact", "qwen3", "qwen3 plain"])
def template(tokenizer: Any, request: pytest.FixtureRequest) -> ChatTemplate:
    made = copy.deepcopy(tokenizer)
    if request.param != "compact":
        made.chat_template = tiny.stock_template("qwen3")
    return ChatTemplate(made, thinking=request.param != "qwen3 plain")


@pytest.fixture(scope="module")
def compact(tokenizer: Any) -> ChatTemplate:
    return ChatTemplate(tokenizer)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    from benchmarks.registry import loaded

    folder = small_corpus.write(tmp_path_factory.mktemp("shelf"))
    return dict(loaded("scenarios", "paper", corpus=str(folder), setting="all").by_id)


def protocol(shelf: dict[str, Sample], limits: Rollouts = LIMITS) -> Protocol:
    from benchmarks.scenarios import PAPER

    return rules(PAPER, limits)


def played(
    shelf: dict[str, Sample],
    template: ChatTemplate,
    says: Sequence[Message],
    limits: Rollouts = LIMITS,
    name: str = "shelf-task_1/non_conversation",
    **rest: Any,
) -> Rollout:
    """One episode in which the policy says these messages."""
    engine = script(list(says), template)
    (rollout,), _ = play(shelf, [name], protocol(shelf, limits), template, limits, engine, **rest)
    return rollout


def sampled(rollout: Rollout, template: ChatTemplate) -> list[str]:
    """The spans that are learned from."""
    text = shown(rollout.stream.ids, rollout.stream.mask, template)
    return [part.partition("»")[0] for part in text.split("«")[1:]]


def test_in_three_rounds_with_two_tools_only_what_was_said_is_learned(
    shelf: dict[str, Sample], template: ChatTemplate
) -> None:
    says = [assistant("", COUNT), assistant("I add two.", PUT), assistant("Task Completed")]
    rollout = played(shelf, template, says)
    assert rollout.reward == 1.0
    assert [len(template.ids(span)) for span in sampled(rollout, template)] == [len(template.reply(m)) for m in says]
    stream = rollout.stream
    assert len(stream.mask) == len(stream.ids) == len(stream.logprobs)
    heard = template.tokenizer.decode([t for t, m in zip(stream.ids, stream.mask, strict=True) if not m])
    assert "<tool_response>\n{'success': True, 'data': 2}\n</tool_response>" in heard
    assert "I add two" not in heard


def test_the_tokens_of_an_episode_are_what_the_template_renders(
    shelf: dict[str, Sample], compact: ChatTemplate
) -> None:
    rollout = played(shelf, compact, [assistant("", COUNT), assistant("Task Completed")])
    trajectory = rollout.trajectory
    messages = [{k: v for k, v in m.items() if k != "finish_reason"} for m in trajectory.messages]
    rendered = compact.text(messages, [tool.openai() for tool in trajectory.tools], prompt=False)
    assert compact.ids(rendered.rstrip("\n")) == rollout.stream.prompt + rollout.stream.ids


def test_episodes_come_back_in_the_order_in_which_they_were_asked(
    shelf: dict[str, Sample], compact: ChatTemplate
) -> None:
    """The first one of two takes longer; each gets the replies to its own turns."""
    long, short = "shelf-task_1/non_conversation", "shelf-task_2/non_conversation"
    seen: list[int] = []

    def engine(contexts: list[list[int]]) -> tuple[list[list[int]], None]:
        seen.append(len(contexts))
        first = len(seen) == 1
        says = [assistant("", PUT), assistant("Bye.")] if first else [assistant("Task Completed")]
        return [compact.reply(message) for message in says], None

    rollouts, clock = play(shelf, [long, short], protocol(shelf), compact, LIMITS, engine)
    assert seen == [2, 1]
    assert [r.trajectory.sample_id for r in rollouts] == [long, short]
    assert [r.reward for r in rollouts] == [1.0, 0.0]
    assert clock.environment > 0


def cut(template: ChatTemplate, message: Message, left: int) -> Engine:
    """An engine that stops in the middle of a message once, then says goodbye."""
    replies = [template.reply(message)[:left], template.reply(assistant("Task Completed"))]
    return lambda contexts: ([replies.pop(0)], None)


def test_a_reply_that_was_cut_is_told_so_and_its_call_never_runs(
    shelf: dict[str, Sample], compact: ChatTemplate
) -> None:
    whole = len(compact.reply(assistant("", PUT)))
    engine = cut(compact, assistant("", PUT), whole - 1)
    (rollout,), _ = play(shelf, ["shelf-task_1/non_conversation"], protocol(shelf), compact, LIMITS, engine)
    assert rollout.trajectory.calls == []
    assert rollout.trajectory.outcome is not None
    assert rollout.trajectory.outcome.counts["cut_off_call"] == 1
    # The end-of-turn token that the template needs was not sampled, and is not learned from.
    position = rollout.stream.ids.index(compact.end_id)
    assert rollout.stream.mask[position] == 0


def raw(template: ChatTemplate, *texts: str) -> Engine:
    replies = [[*template.ids(text), template.end_id] for text in texts]
    return lambda contexts: ([replies.pop(0)], None)


@pytest.mark.parametrize("broken", ['<tool_call>\n{"name": "put", "arg\n</tool_call>', "<tool_call>", ""])
def test_a_call_that_cannot_be_read_is_answered_and_the_episode_goes_on(
    shelf: dict[str, Sample], compact: ChatTemplate, broken: str
) -> None:
    engine = raw(compact, broken, "Task Completed")
    (rollout,), _ = play(shelf, ["shelf-task_1/non_conversation"], protocol(shelf), compact, LIMITS, engine)
    errors = [m for m in rollout.trajectory.messages if m["role"] == "user"][1:]
    assert [str(m["content"])[:6] for m in errors] == ["Error:"]
    assert rollout.trajectory.steps == 2


@pytest.mark.parametrize(("policy", "reward"), [("zero_reward", 0.0), ("mask", None), ("grade_state", 1.0)])
@pytest.mark.parametrize("limit", [{"max_steps": 2}, {"max_tokens": 150}])
def test_what_a_truncated_episode_is_worth(
    shelf: dict[str, Sample], compact: ChatTemplate, policy: Any, reward: float | None, limit: dict[str, int]
) -> None:
    limits = replace(LIMITS, truncated=policy, tokens_per_step=60, **limit)
    says = [assistant("", PUT), *[assistant("", COUNT)] * 5]
    rollout = played(shelf, compact, says, limits)
    assert rollout.truncated
    assert rollout.reward == reward
    assert len(rollout.stream.prompt) + len(rollout.stream.ids) <= limits.max_tokens


def test_an_environment_fault_does_not_count(shelf: dict[str, Sample], compact: ChatTemplate) -> None:
    sample = shelf["shelf-task_1/non_conversation"]

    def broken() -> Any:
        raise EnvironmentFault("killed", "out of memory")

    faulty = {sample.id: replace(sample, case=lambda: replace(sample.case(), open=broken))}
    rollout = played(faulty, compact, [assistant("Bye.")])
    assert rollout.fault
    assert rollout.reward is None
    assert rollout.stream.ids == []


def test_an_episode_without_a_judge_does_not_count_and_is_no_fault(
    shelf: dict[str, Sample], compact: ChatTemplate
) -> None:
    sample = shelf["shelf-task_1/non_conversation"]
    bare = {sample.id: replace(sample, case=lambda: replace(sample.case(), judge=None))}
    rollout = played(bare, compact, [assistant("", PUT), assistant("Task Completed")])
    assert (rollout.reward, rollout.fault, rollout.trajectory.steps) == (None, False, 2)


def test_in_a_conversation_the_users_words_are_not_learned(shelf: dict[str, Sample], template: ChatTemplate) -> None:
    config = overlaid(RlConfig(), {"rollouts": {"user": "scripted"}, "tasks": {"setting": "conversation"}})
    says = [assistant("", PUT), assistant("Done. Anything else?")]
    name = "shelf-task_1/conversation"
    rollout = played(shelf, template, says, name=name, user=user_model(config))
    assert rollout.trajectory.stop_reason is StopReason.USER_STOP
    spoken = [m for m in rollout.trajectory.messages if m["role"] == "user"]
    assert str(spoken[0]["content"]) == "Look how much jam there is."
    assert "jars of honey" not in "".join(sampled(rollout, template))


def test_an_oracle_is_a_perfect_episode(shelf: dict[str, Sample], template: ChatTemplate) -> None:
    sample = shelf["shelf-task_2/non_conversation"]
    assert played(shelf, template, oracle_messages(sample.case()), name=sample.id).reward == 1.0


def test_log_probabilities_of_the_engine_stand_beside_what_it_sampled(
    shelf: dict[str, Sample], compact: ChatTemplate
) -> None:
    reply = compact.reply(assistant("Task Completed"))
    engine: Engine = lambda contexts: ([reply], [[-0.5] * len(reply)])  # noqa: E731
    (rollout,), _ = play(shelf, ["shelf-task_1/non_conversation"], protocol(shelf), compact, LIMITS, engine)
    assert rollout.stream.logprobs == [-0.5] * len(reply)


@pytest.mark.parametrize(
    ("text", "content", "reasoning", "calls"),
    [
        ("Hello.", "Hello.", None, []),
        ("<think>\nhm\n</think>\n\nHello.", "Hello.", "hm", []),
        ('<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>', "", None, [("f", '{"a": 1}')]),
        (
            "Now.\n"
            '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\n'
            '<tool_call>\n{"name": "g", "arguments": "x"}\n</tool_call>',
            "Now.",
            None,
            [("f", "{}"), ("g", '"x"')],
        ),
    ],
)
def test_a_reply_is_read(text: str, content: str, reasoning: str | None, calls: list[tuple[str, str]]) -> None:
    message = read_reply(text)
    assert message["content"] == content
    assert message.get("reasoning_content") == reasoning
    found = [(c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls", [])]
    assert found == calls


def test_template_facts(template: ChatTemplate, compact: ChatTemplate) -> None:
    assert check_template(compact).append_only
    facts = check_template(template)
    assert not facts.keeps_reasoning


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("<|im_end|>' }}\n        {%- endgen", "' }}\n        {%- endgen"), "does not end a reply"),
        (("'<|im_start|>assistant\\n' }}\n{%- endif", "'<|im_start|>model\\n' }}\n{%- endif"), "generation prompt"),
        (('"arguments": ', '"parameters": '), "does not write calls as <tool_call>"),
        (("'\\n<tool_response>\\n'", "'\\n<tool_response>' + (messages | length | string)"), "tool message otherwise"),
    ],
)
def test_a_template_that_cannot_be_trained_with_is_refused(
    tokenizer: Any, change: tuple[str, str], problem: str
) -> None:
    made = copy.deepcopy(tokenizer)
    assert change[0] in made.chat_template
    made.chat_template = made.chat_template.replace(*change)
    with pytest.raises(SettingError, match=problem):
        check_template(ChatTemplate(made))


def test_a_tokenizer_without_a_template_is_refused(tokenizer: Any) -> None:
    made = copy.deepcopy(tokenizer)
    made.chat_template = None
    with pytest.raises(SettingError, match="has no chat template"):
        ChatTemplate(made)


def test_tools_that_change_during_an_episode_are_refused(compact: ChatTemplate) -> None:
    from harness.environment import ToolSpec
    from harness.episode import AgentTurn
    from training.rl.stream import Stream

    stream = Stream()
    talk = [{"role": "user", "content": "x"}]
    stream.hear(AgentTurn(talk, [ToolSpec("f", "")], "s"), compact)
    stream.say(compact.reply(assistant("y")), None, compact, 500)
    turn = AgentTurn([*talk, assistant("y"), *talk], [ToolSpec("g", "")], "s")
    with pytest.raises(SettingError, match="s: its tools change during the episode"):
        stream.hear(turn, compact)


def test_trajectories_of_rollouts_are_written_like_any_other(shelf: dict[str, Sample], compact: ChatTemplate) -> None:
    rollout = played(shelf, compact, [assistant("Task Completed")])
    assert json.loads(json.dumps(rollout.trajectory.record()))["sample_id"] == "shelf-task_1/non_conversation"


def test_check_shows_what_a_run_would_do_and_trains_nothing(checkpoint: Path, tasks: Path, tmp_path: Path) -> None:
    from training.check import check
    from training.presets import CPU_RL

    said: list[str] = []
    table = {"output": str(tmp_path / "run"), "model": {"path": str(checkpoint)}, "tasks": {"corpus": str(tasks)}}
    check(overlaid(CPU_RL, table), said.append)
    text = "\n".join(said)
    assert "oracle    mean reward 1.000 over 4 episodes" in text
    assert "noop      mean reward 0.000" in text
    assert "«<tool_call>" in text
    assert not (tmp_path / "run").exists()


def test_tasks_in_which_nothing_can_be_earned_are_refused(shelf: dict[str, Sample]) -> None:
    from harness.outcome import Score
    from training.check import play_references

    def earned(sample: Sample) -> Sample:
        case = replace(sample.case(), judge=lambda trajectory, environment: Score(1.0, True))
        return replace(sample, case=lambda: case)

    tasks = {name: earned(sample) for name, sample in shelf.items() if name.endswith("non_conversation")}
    with pytest.raises(SettingError, match="doing nothing earns as much as the oracle"):
        play_references(tasks, protocol(shelf), None)
