"""What `checkpoint/` sends is what chat templates expect: pinned by a golden file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as run_eval
from inspect_ai.log import EvalLog

from envscaler._registry import scenarios
from tests import small_corpus
from tests.harness.inspect_bridge.scripted_server import call, serving

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "wire_two_steps.json"


def two_steps(request: dict[str, Any]) -> dict[str, Any]:
    """Think and look, think and put, think and finish."""
    spoken = sum(message["role"] == "assistant" for message in request["messages"])
    return [
        {"reasoning_content": "First I look.", "content": "", "tool_calls": [call("count", '{"name": "jam"}', "c1")]},
        {
            "reasoning": "Now I put.",
            "content": "\n\nI put them there.",
            "tool_calls": [call("put", '{"name": "honey", "number": 2}', "c1")],
        },
        {"content": "<think>\nAll done.\n</think>\n\nTask Completed"},
    ][spoken]


def play(tmp_path: Path, url: str, **parameters: Any) -> EvalLog:
    corpus = small_corpus.write(tmp_path / "corpus", scenarios=1)
    task = scenarios(corpus=str(corpus), **parameters)
    logs = run_eval(task, model=f"checkpoint/{url}", log_dir=str(tmp_path / "logs"), display="none", epochs=1)
    return logs[0]


def sent(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: request[key] for key in sorted(request)} for request in requests]


def test_checkpoint_sends_exactly_what_the_chat_template_expects(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    with serving(two_steps) as server:
        log = play(tmp_path, server.url)
    assert log.status == "success"
    if pytestconfig.getoption("--update-golden"):
        GOLDEN.write_text(json.dumps(sent(server.requests), indent=1) + "\n")
    assert sent(server.requests) == json.loads(GOLDEN.read_text())


def test_past_reasoning_is_absent_and_past_calls_are_present(tmp_path: Path) -> None:
    with serving(two_steps) as server:
        log = play(tmp_path, server.url)
    last = server.requests[-1]
    past = [message for message in last["messages"] if message["role"] == "assistant"]
    assert [message["tool_calls"][0]["function"]["name"] for message in past] == ["count", "put"]
    assert "First I look" not in json.dumps(last)
    assert "Now I put." not in json.dumps(last)
    assert [message["content"] for message in past] == ["", "I put them there."]
    assert not any("strict" in tool["function"] for tool in last["tools"])
    assert log.samples is not None
    record = log.samples[0].store["envscaler"]
    assert record["messages"][2]["reasoning_content"] == "First I look."
    assert record["outcome"]["score"]["value"] == 1.0


def test_a_repeated_call_id_is_made_unique_in_the_history(tmp_path: Path) -> None:
    with serving(two_steps) as server:
        play(tmp_path, server.url)
    ids = [m["tool_calls"][0]["id"] for m in server.requests[-1]["messages"] if m.get("tool_calls")]
    answered = [m["tool_call_id"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert ids == answered
    assert len(set(ids)) == 2


def test_arguments_reach_the_environment_as_the_server_sent_them(tmp_path: Path) -> None:
    """Inspect reads arguments that are no object leniently; the episode must see what was written."""

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        first = not any(message["role"] == "assistant" for message in request["messages"])
        return {"tool_calls": [call("count", '"jam"')]} if first else {"content": "Task Completed"}

    with serving(answer) as server:
        log = play(tmp_path, server.url)
    assert log.samples is not None
    assert log.samples[0].store["envscaler"]["outcome"]["counts"] == {"bad_arguments": 1}
    assert "must be a JSON object, not str" in server.requests[-1]["messages"][-1]["content"]


def test_a_reply_cut_by_the_token_limit_is_never_executed(tmp_path: Path) -> None:
    def answer(request: dict[str, Any]) -> dict[str, Any]:
        first = not any(message["role"] == "assistant" for message in request["messages"])
        cut = {"tool_calls": [call("put", '{"name": "honey"}')], "finish_reason": "length"}
        return cut if first else {"content": "Task Completed"}

    with serving(answer) as server:
        log = play(tmp_path, server.url)
    assert log.samples is not None
    outcome = log.samples[0].store["envscaler"]["outcome"]
    assert outcome["counts"] == {"cut_off_call": 1}
    assert outcome["score"]["value"] == 0.0


def test_the_simulated_user_may_be_a_checkpoint_too(tmp_path: Path) -> None:
    def answer(request: dict[str, Any]) -> dict[str, Any]:
        if "tools" in request:
            return {"content": "What do you want?"}
        spoken = sum(message["role"] == "assistant" for message in request["messages"])
        return {"content": f"# Thought:\nHm.\n# Reply:\n{'###STOP###' if spoken else 'Honey, please.'}"}

    corpus = small_corpus.write(tmp_path / "corpus", scenarios=1)
    with serving(answer) as server:
        log = run_eval(
            scenarios(corpus=str(corpus), setting="conversation"),
            model=f"checkpoint/{server.url}",
            model_roles={"user": f"checkpoint/{server.url}"},
            log_dir=str(tmp_path / "logs"),
            display="none",
            epochs=1,
        )[0]
    assert log.status == "success"
    agent, user = server.requests[1], server.requests[0]
    assert agent["messages"][-1] == {"role": "user", "content": "Honey, please."}
    assert "tools" not in user
    assert user["messages"][0]["role"] == "system"
    assert log.samples is not None
    assert log.samples[0].store["envscaler"]["stop_reason"] == "user_stop"
