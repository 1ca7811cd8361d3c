"""The files that run beside an engine play episodes on a real server; the engines are stand-ins of their interfaces."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.training.export import stubs

ENGINES = Path(__file__).parents[3] / "training" / "export" / "engines"
PUT = '<tool_call>\n{"name": "put", "arguments": {"name": "honey", "number": 2}}\n</tool_call>'
COUNT = '<tool_call>\n{"name": "count", "arguments": {"name": "jam"}}\n</tool_call>'
BROKEN = '<tool_call>\n{"name": "put", "arguments": \n</tool_call>'


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The exported files as an engine finds them: in the current folder."""
    names = ("envscaler_client", "verl_agent_loop", "roll_gem_env")
    monkeypatch.syspath_prepend(str(ENGINES))
    yield
    for name in names:
        sys.modules.pop(name, None)


def loop(url: str, tokenizer: Any, replies: list[str], **options: Any) -> tuple[Any, Any]:
    """An agent loop of ours, and the policy that speaks in it."""
    policy = stubs.Policy(tokenizer, replies)
    room = options.pop("response_length", 2000)
    with stubs.installed(**stubs.verl()):
        made = importlib.import_module("verl_agent_loop").EnvScalerAgentLoop
        given = {"tokenizer": tokenizer, "server_manager": policy, "response_length": room, "tools": None}
        return made(url=url, **{"tokens_per_step": 400, **options}, **given), policy


def run(agent_loop: Any, sample: str = "shelf-task_1") -> Any:
    return asyncio.run(agent_loop.run({"temperature": 1.0}, raw_prompt=[], extra_info={"sample_id": sample}))


@pytest.mark.usefixtures("beside")
def test_verl_plays_an_episode_token_by_token(server: str, tokenizer: Any) -> None:
    agent_loop, policy = loop(server, tokenizer, [COUNT, PUT, "Task Completed"])
    output = run(agent_loop)
    assert output.reward_score == 1.0
    assert output.extra_fields == {"stop_reason": "agent_done", "fault": ""}
    assert len(output.response_ids) == len(output.response_mask) == len(output.response_logprobs)
    spoken = [token for token, counts in zip(output.response_ids, output.response_mask, strict=True) if counts]
    said = [*(tokenizer.encode(text, add_special_tokens=False) for text in (COUNT, PUT, "Task Completed"))]
    assert spoken == [token for ids in said for token in [*ids, tokenizer.eos_token_id]]
    heard = tokenizer.decode(
        [token for token, counts in zip(output.response_ids, output.response_mask, strict=True) if not counts]
    )
    assert "'data': 2" in heard
    assert "'message': 'Done.'" in heard
    # What the policy reads is what it read before, longer: nothing is tokenized again.
    for shorter, longer in zip(policy.contexts, policy.contexts[1:], strict=False):
        assert longer[: len(shorter)] == shorter
    assert output.prompt_ids == policy.contexts[0]
    assert {value for value, counts in zip(output.response_logprobs, output.response_mask, strict=True) if counts} == {
        -0.5
    }
    assert output.metrics["tool_calls"] > 0


@pytest.mark.usefixtures("beside")
def test_verl_tells_the_policy_of_a_call_that_cannot_be_read(server: str, tokenizer: Any) -> None:
    agent_loop, _ = loop(server, tokenizer, [BROKEN, PUT, "Task Completed"])
    output = run(agent_loop)
    assert output.reward_score == 1.0
    assert "could not be read" in tokenizer.decode(output.response_ids)


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("mask", [False, True])
def test_verl_ends_an_episode_at_its_limits(server: str, tokenizer: Any, mask: bool) -> None:
    agent_loop, _ = loop(server, tokenizer, [COUNT] * 9, mask_truncated=mask)
    output = run(agent_loop)
    assert output.extra_fields["stop_reason"] == "step_limit"
    assert output.reward_score == 0.0
    assert any(output.response_mask) is not mask


@pytest.mark.usefixtures("beside")
def test_verl_never_answers_with_more_tokens_than_there_is_room_for(server: str, tokenizer: Any) -> None:
    agent_loop, policy = loop(server, tokenizer, [COUNT] * 9, response_length=60, tokens_per_step=45)
    output = run(agent_loop)
    assert policy.most[0] == 45
    assert len(output.response_ids) == len(output.response_mask) <= 60
    assert output.extra_fields["stop_reason"] in ("context_full", "agent_done")


@pytest.mark.usefixtures("beside")
def test_gem_plays_the_scenario_of_a_seed(server: str, tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("shelf-task_1\nshelf-task_2\n")
    registered: dict[str, str] = {}
    with stubs.installed(**stubs.gem(registered)):
        made = importlib.import_module("roll_gem_env").EnvScalerEnv(server, str(tmp_path / "train.txt"), tag="x")
    assert registered == {"envscaler": "roll_gem_env:EnvScalerEnv"}
    first, _ = made.reset(seed=5)
    assert '{"name": "put"' in first
    assert "put two jars of honey" in first
    assert made.reset(seed=5)[0] == first
    observation, reward, ended, truncated, info = made.step(PUT)
    assert ("'message': 'Done.'" in observation, reward, ended, truncated) == (True, 0.0, False, False)
    observation, reward, ended, truncated, info = made.step("Task Completed")
    assert (reward, ended, truncated, info) == (1.0, True, False, {"metrics": {"success": True, "fault": False}})
    made.reset(seed=1)
    assert [made.step(COUNT)[2:4] for _ in range(4)][-1] == (True, True)
    made.close()


@pytest.mark.usefixtures("beside")
def test_the_client_names_what_the_server_says(server: str) -> None:
    client = importlib.import_module("envscaler_client")
    with pytest.raises(client.ServerError, match=r"404.*did you mean 'shelf-task_1'"):
        client.Client(server).reset("shelf-task_11")
    with pytest.raises(client.ServerError, match=r"127\.0\.0\.1:9"):
        client.Client("http://127.0.0.1:9", patience=0.1).reset("shelf-task_1")


def test_what_is_copied_to_engines_needs_nothing_of_ours() -> None:
    for path in ENGINES.glob("*.py"):
        source = path.read_text()
        for room in ("envscaler", "harness", "benchmarks", "adapters", "training", "results"):
            assert f"from {room}" not in source.replace("from envscaler_client", "")
            assert f"import {room}\n" not in source
