"""`envscaler replay`: recorded trajectories are played again, judged again, and told one JSON line each."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.benchmark import Sample
from benchmarks.scenarios import PAPER, STRICT, load_samples
from envscaler.scenarios import load, write_records
from harness import reference
from harness.messages import Message, assistant, tool, user
from harness.protocol import Protocol
from harness.rollout import Agent, Played, play
from tests.envscaler.playground import SHOP, cancel, corpus, door, lines, refused, shop

CANCEL = assistant("", [("set_status", {"order_id": "O-1", "status": "cancelled"})])
LOOK = assistant("", [("get_order", {"order_id": "O-1"})])
CRASH = assistant("", [("crash", {})])
DONE = assistant("Task Completed")
OBSERVED = {"look": "{'success': True, 'data': 'open'}", "cancel": "{'success': True, 'message': 'done'}"}


def said(*messages: Message, **more: Any) -> dict[str, Any]:
    """A recording of the shop's scenario."""
    return {"sample_id": "shop-task_1", "messages": list(messages), **more}


@pytest.fixture
def shops(tmp_path: Path) -> str:
    """The option that names the shop's corpus."""
    write_records(corpus(), tmp_path / "corpus", "packed")
    return f"-Tcorpus={tmp_path / 'corpus'}"


@pytest.fixture
def replayed(tmp_path: Path, shops: str) -> Callable[..., list[dict[str, Any]]]:
    """Replays recordings of the shop through the door."""

    def replay(*recordings: dict[str, Any], options: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        result = door("replay", "scenarios", lines(tmp_path / "recordings.jsonl", *recordings), shops, *options)
        assert result.exit_code == 0, result.output
        return [json.loads(line) for line in result.stdout.splitlines()]

    return replay


Replayed = Callable[..., list[dict[str, Any]]]


def test_a_line_tells_score_observations_and_state(replayed: Replayed) -> None:
    (line,) = replayed(said(user("Cancel it."), LOOK, tool("whatever", "c1"), CANCEL, tool("", "c2"), DONE))
    state_hash = line.pop("state_hash")
    checks = line.pop("checks")
    assert line == {
        "sample_id": "shop-task_1",
        "score": 1.0,
        "outcome": "scored",
        "stop_reason": "agent_done",
        "observations": [OBSERVED["look"], OBSERVED["cancel"]],
        "reward": 1.0,
        "success": True,
    }
    assert len(state_hash) == 32
    assert [check["passed"] for check in checks] == [True, True]


def test_the_same_recording_twice_gives_the_same_line(replayed: Replayed) -> None:
    first, second = replayed(said(CANCEL, DONE), said(CANCEL, DONE))
    assert first == second
    (other,) = replayed(said(LOOK, DONE))
    assert other["state_hash"] != first["state_hash"]


def test_lines_stand_in_input_order_with_the_other_keys_under_tag(replayed: Replayed) -> None:
    found = replayed(said(DONE, seed=1, note={"a": [None]}), said(CANCEL, DONE), said(LOOK, DONE, seed=2, run=3))
    assert [line.get("tag") for line in found] == [{"seed": 1, "note": {"a": [None]}}, None, {"seed": 2}]
    assert [line["score"] for line in found] == [0.0, 1.0, 0.0]


def test_a_line_is_json_whatever_the_recording_had_for_numbers(tmp_path: Path, shops: str) -> None:
    file = lines(tmp_path / "odd.jsonl", said(CANCEL, DONE, note=[float("nan"), {"most": float("inf")}, 1]))
    assert "NaN" in file.read_text()
    result = door("replay", "scenarios", file, shops)
    line = json.loads(result.stdout, parse_constant=pytest.fail)
    assert line["tag"] == {"note": [None, {"most": None}, 1]}


@pytest.mark.parametrize("form", ["plain", "gzipped", "stdin", "gzipped-stdin"])
def test_a_file_is_read_plain_gzipped_or_from_standard_input(tmp_path: Path, shops: str, form: str) -> None:
    data = (json.dumps(said(CANCEL, DONE)) + "\n\n").encode()
    data = gzip.compress(data) if "gzipped" in form else data
    (tmp_path / "file").write_bytes(data)
    result = door("replay", "scenarios", "-", shops, stdin=data) if "stdin" in form else None
    result = result or door("replay", "scenarios", tmp_path / "file", shops)
    assert json.loads(result.stdout)["score"] == 1.0


def test_a_recording_of_a_scenario_without_checks_is_played_and_has_no_score(tmp_path: Path) -> None:
    write_records(corpus(cancel(checks=())), tmp_path / "corpus", "packed")
    file = lines(tmp_path / "recordings.jsonl", said(CANCEL, DONE))
    (line,) = door("replay", "scenarios", file, f"-Tcorpus={tmp_path / 'corpus'}").stdout.splitlines()
    found = json.loads(line)
    assert (found["outcome"], found["score"], found["reward"], found["checks"]) == ("unscored", None, None, None)
    assert found["observations"] == [OBSERVED["cancel"]]
    assert len(found["state_hash"]) == 32
    assert "fault" not in found
    skipped = door("replay", "scenarios", file, f"-Tcorpus={tmp_path / 'corpus'}", "-Tunchecked=skip")
    assert refused(skipped) == "unchecked=skip: none of the 1 chosen scenarios has checks"


def test_an_empty_file_gives_no_lines(replayed: Replayed) -> None:
    assert replayed() == []


def test_every_recorded_call_is_executed_also_where_the_protocol_would_drop_it(replayed: Replayed) -> None:
    both = assistant("", [("get_order", {"order_id": "O-1"}), ("get_order", {"order_id": "O-9"})])
    (line,) = replayed(said(both, DONE))
    assert line["observations"] == [OBSERVED["look"], "{'success': False, 'error': 'no such order'}"]


def test_a_recording_that_stops_is_judged_as_it_stands(replayed: Replayed) -> None:
    solved, nothing = replayed(said(CANCEL), said())
    assert (solved["score"], solved["stop_reason"]) == (1.0, "recording_ended")
    assert (nothing["score"], nothing["stop_reason"], nothing["observations"]) == (0.0, "recording_ended", [])


def test_messages_after_the_end_are_not_played(replayed: Replayed) -> None:
    (line,) = replayed(said(DONE, CANCEL))
    assert (line["score"], line["observations"]) == (0.0, [])


def test_a_user_message_where_the_agent_is_wanted_ends_its_turn(replayed: Replayed) -> None:
    (line,) = replayed(said(user("The task."), LOOK, user("Something else."), CANCEL))
    assert (line["observations"], line["score"]) == ([OBSERVED["look"]], 0.0)


def test_a_conversation_takes_the_recorded_words_of_the_user(replayed: Replayed) -> None:
    recording = said(user("Cancel O-1."), CANCEL, assistant("Done."), user("Thanks! ###STOP###"))
    (line,) = replayed(recording, options=("-Tsetting=conversation",))
    assert (line["score"], line["stop_reason"]) == (1.0, "user_stop")
    (cut,) = replayed(said(user("Cancel O-1."), CANCEL, assistant("Done.")), options=("-Tsetting=conversation",))
    assert (cut["score"], cut["stop_reason"]) == (1.0, "recording_ended")


def test_the_recording_says_its_protocol_and_the_option_overrules_it(replayed: Replayed) -> None:
    crashing = (LOOK, CRASH, CANCEL, DONE)
    for recording, options, protocol in (
        (said(*crashing), (), "paper"),
        (said(*crashing, protocol="strict"), (), "strict"),
        (said(*crashing, protocol="paper"), ("-Tprotocol=strict",), "strict"),
        (said(*crashing, protocol="of another benchmark"), (), "paper"),
    ):
        (line,) = replayed(recording, options=options)
        expected = {"paper": (0.0, "tool_exception", 2), "strict": (1.0, "agent_done", 3)}[protocol]
        assert (line["score"], line["stop_reason"], len(line["observations"])) == expected
        assert line["observations"][0] == (
            OBSERVED["look"] if protocol == "paper" else '{"success": true, "data": "open"}'
        )


def test_compare_shows_where_recorded_tool_messages_differ(replayed: Replayed) -> None:
    recording = said(
        LOOK, tool("{'success': True, 'data': 'sent'}", "c1"), CANCEL, tool(OBSERVED["cancel"], "c2"), DONE
    )
    (line,) = replayed(recording, options=("--compare",))
    difference = {"tool_message": 0, "recorded": "{'success': True, 'data': 'sent'}", "observed": OBSERVED["look"]}
    assert line["differences"] == [difference]
    assert "differences" not in replayed(recording)[0]


def test_compare_shows_tool_messages_that_only_one_side_has(replayed: Replayed) -> None:
    missing, extra, same = replayed(
        said(LOOK, DONE),
        said(tool("x", "c1"), DONE),
        said(LOOK, tool(OBSERVED["look"], "any"), DONE),
        options=("--compare",),
    )
    assert missing["differences"] == [{"tool_message": 0, "recorded": None, "observed": OBSERVED["look"]}]
    assert extra["differences"] == [{"tool_message": 0, "recorded": "x", "observed": None}]
    assert same["differences"] == []


NO_TOOL = assistant("", [("no_such_tool", {})])


@pytest.mark.parametrize("answer", [tool("no such tool", "c1"), user("no such tool")], ids=["tool", "user"])
def test_compare_keeps_step_where_an_error_is_answered_in_another_role(replayed: Replayed, answer: Message) -> None:
    recording = said(NO_TOOL, answer, LOOK, tool(OBSERVED["look"], "c2"), CANCEL, DONE)
    (line,) = replayed(recording, options=("--compare",))
    unknown, missing = line["differences"]
    assert (unknown["tool_message"], unknown["recorded"]) == (0, "no such tool")
    assert "no_such_tool" in unknown["observed"]
    assert (missing["tool_message"], missing["recorded"]) == (2, None)


def test_compare_matches_answers_by_their_ids_and_else_by_their_order(replayed: Replayed) -> None:
    two = assistant("", [("get_order", {"order_id": "O-1"}), ("get_order", {"order_id": "O-9"})])
    first, second = OBSERVED["look"], "{'success': False, 'error': 'no such order'}"
    named = {**two, "tool_calls": [{**call, "id": id_} for call, id_ in zip(two["tool_calls"], "ab", strict=True)]}
    odd = {**two, "tool_calls": [{**call, "id": ["x"]} for call in two["tool_calls"]]}
    for recording in (
        said(named, tool(second, "b"), tool(first, "a"), DONE),
        said(two, tool(first, "c1"), tool(second, "c2"), DONE),
        said(odd, {**tool(first, ""), "tool_call_id": ["x"]}, tool(second, "c2"), DONE),
    ):
        (line,) = replayed(recording, options=("--compare",))
        assert line["differences"] == []


def test_a_fault_has_no_score_and_says_why(tmp_path: Path) -> None:
    broken = shop(source=SHOP.replace('dict(init_config.get("orders", {}))', "init_config.missing"))
    write_records(corpus(environment=broken), tmp_path, "packed")
    result = door("replay", "scenarios", "-", f"-Tcorpus={tmp_path}", stdin=json.dumps(said(DONE)))
    line = json.loads(result.stdout)
    assert (line["outcome"], line["score"], line["reward"], line["state_hash"]) == (
        "environment_fault",
        None,
        None,
        None,
    )
    assert line["fault"].startswith("init_failed: ")


@pytest.mark.parametrize(
    ("second", "sentence"),
    [
        pytest.param(
            {"sample_id": "shop-task_2", "messages": []},
            "-: line 2: sample_id: no sample 'shop-task_2' in scenarios; did you mean 'shop-task_1'?",
            id="unknown-id",
        ),
        pytest.param({"sample_id": 5, "messages": []}, "-: line 2: sample_id: must be a non-empty string", id="id"),
        pytest.param({"sample_id": "shop-task_1"}, "-: line 2: messages: must be a list of chat messages", id="none"),
        pytest.param(
            said({"role": "robot"}),
            "-: line 2: messages[0].role: must be one of system, user, assistant, tool",
            id="role",
        ),
        pytest.param([1], "-: line 2: must be a JSON object", id="list"),
    ],
)
def test_a_bad_record_is_named_before_anything_is_played(shops: str, second: Any, sentence: str) -> None:
    stdin = json.dumps(said(DONE)) + "\n" + json.dumps(second) + "\n"
    assert refused(door("replay", "scenarios", "-", shops, stdin=stdin)) == sentence


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["scenario", "-"], "no benchmark 'scenario'; did you mean 'scenarios'?"),
        (["scenarios", "nowhere"], "nowhere: cannot be read: No such file or directory"),
        (["scenarios", "-", "-Tprotocol=papr"], "scenarios: no protocol 'papr'; did you mean 'paper'?"),
        (["scenarios", "-", "-Tprotocol=[1]"], "scenarios: no protocol '[1]'; one of paper, strict"),
        (["scenarios", "-", "-Tprompts=5"], "prompts=5: unknown; one of own, release"),
        (["scenarios", "-", "-Tlimit=abc"], "limit=abc: must be a whole number, 1 or more"),
        (["scenarios", "-", '-Tenvironments={"a": 1}'], "environments={'a': 1}: must be a text, a number, or a list"),
        (["scenarios", "-", "-Tsetting"], "-T setting: must be NAME=VALUE"),
        (["scenarios", "-", "-T=1"], "-T =1: must be NAME=VALUE"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_an_option_that_cannot_be_honoured_is_named(arguments: list[str], sentence: str) -> None:
    assert refused(door("replay", *arguments, stdin=json.dumps(said(DONE)))).startswith(sentence)


@pytest.mark.parametrize("data", [b"{", b"\xff", b"\x1f\x8bnope", b"[" * 100_000], ids=repr)
def test_a_broken_file_is_named(shops: str, data: bytes) -> None:
    assert refused(door("replay", "scenarios", "-", shops, stdin=data[:100_000])).startswith("-: ")


def test_options_are_json_values_or_texts(replayed: Replayed) -> None:
    (line,) = replayed(said(DONE), options=('-Tenvironments=["shop"]', "-Tlimit=1", "-Tsetting=non_conversation"))
    assert line["outcome"] == "scored"


def call(name: str, arguments: str, **more: Any) -> Message:
    """An assistant message with one raw call."""
    return {"role": "assistant", "tool_calls": [{"function": {"name": name, "arguments": arguments}}], **more}


SLIPS: dict[str, list[Message]] = {
    "bad-json": [call("get_order", '{"order_id": "O-'), CANCEL, DONE],
    "no-object": [call("get_order", '"O-1"'), CANCEL, DONE],
    "unknown-tool": [call("get_ordr", "{}"), CANCEL, DONE],
    "missing-argument": [call("get_order", "{}"), CANCEL, DONE],
    "extra-argument": [call("get_order", '{"order_id": "O-1", "x": 1}'), CANCEL, DONE],
    "empty-reply": [assistant(""), CANCEL, DONE],
    "cut-off": [call("set_status", '{"order_id": "O-1", "status": "sent"}', finish_reason="length"), CANCEL, DONE],
    "several-calls": [assistant("", [("get_order", {"order_id": "O-1"}), ("crash", {})]), CANCEL, DONE],
    "text-beside-a-call": [{**CANCEL, "content": "I cancel it."}, DONE],
    "markup": [assistant('<tool_call>{"name": "crash"}</tool_call>'), CANCEL, DONE],
    "unclosed-thought": [assistant("<think>so"), CANCEL, DONE],
    "context-full": [LOOK, assistant("") | {"finish_reason": "context_full"}],
    "step-limit": [LOOK] * 40,
}


@pytest.mark.parametrize("protocol", [PAPER, STRICT], ids=lambda protocol: protocol.name)
@pytest.mark.parametrize("setting", ["non_conversation", "conversation"])
def test_a_recorded_slip_replays_as_it_was_played(
    replayed: Replayed, shops: str, protocol: Protocol, setting: str
) -> None:
    (sample,) = load_samples(protocol, corpus=shops.removeprefix("-Tcorpus="), setting=setting)
    plays = [play_script(sample, messages) for messages in SLIPS.values()]
    recordings = [played.trajectory.record() for played in plays]
    found = replayed(*recordings, options=(f"-Tsetting={setting}", "--compare"))
    for name, played, line in zip(SLIPS, plays, found, strict=True):
        assert told(line) == truth(played), name
        assert line["differences"] == [], name


def play_script(sample: Sample, messages: list[Message]) -> Played:
    """An episode with these messages; then the agent is done, and a user who stops after two replies."""
    script = iter(messages)
    words = iter(["# Thought:\na\n# Reply:\nCancel O-1.", *["# Thought:\na\n# Reply:\nGo on."] * 2])
    return play(
        sample.case(),
        sample.protocol or PAPER,
        lambda *_: next(script, DONE),
        lambda _: next(words, "# Thought:\na\n# Reply:\n###STOP###"),
    )


def told(line: dict[str, Any]) -> dict[str, Any]:
    return {key: line[key] for key in ("score", "outcome", "stop_reason", "observations", "state_hash", "checks")}


def truth(played: Played) -> dict[str, Any]:
    """What replay must say of a live episode."""
    outcome = played.trajectory.outcome
    assert outcome is not None
    assert outcome.score is not None
    assert played.final_state is not None
    return {
        "score": outcome.score.value,
        "outcome": outcome.ending,
        "stop_reason": outcome.stop_reason,
        "observations": [call.result.text for call in played.trajectory.calls],
        "state_hash": played.final_state.digest,
        "checks": outcome.score.parts["checks"],
    }


@pytest.mark.parametrize("protocol", [PAPER, STRICT], ids=lambda protocol: protocol.name)
@pytest.mark.parametrize("setting", ["non_conversation", "conversation"])
def test_every_bundled_environment_replays_as_it_was_played(tmp_path: Path, protocol: Protocol, setting: str) -> None:
    of_each = {scenario.env_id: scenario.task_id for scenario in load().scenarios.values()}
    samples = load_samples(protocol, setting=setting, level="trusted")
    chosen = [sample for sample in samples if sample.id in of_each.values()]
    plays = [live(sample, agent) for sample in chosen for agent in (reference.oracle, reference.random_legal)]
    recordings = lines(tmp_path / "file", *(played.trajectory.record() for played in plays))
    result = door("replay", "scenarios", recordings, f"-Tsetting={setting}", "-Tlevel=trusted", "--compare")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [told(line) for line in found] == [truth(played) for played in plays]
    assert all(line["differences"] == [] for line in found)


def live(sample: Sample, agent: Callable[..., Agent]) -> Played:
    case = sample.case()
    say = reference.scripted_user(case.brief.user()) if case.brief.user is not None else None

    def person(messages: list[Message]) -> str:
        assert say is not None
        return say(sum(message["role"] == "assistant" for message in messages))

    return play(case, sample.protocol or PAPER, agent(case), person)


def test_sample_ids_of_both_settings_at_once_tell_them_apart(replayed: Replayed) -> None:
    talked = {**said(user("Cancel."), CANCEL, assistant("Done.")), "sample_id": "shop-task_1/conversation"}
    alone = {**said(CANCEL, DONE), "sample_id": "shop-task_1/non_conversation"}
    found = replayed(talked, alone, options=("-Tsetting=all",))
    assert [(line["sample_id"], line["stop_reason"]) for line in found] == [
        ("shop-task_1/conversation", "recording_ended"),
        ("shop-task_1/non_conversation", "agent_done"),
    ]


def test_any_text_leaves_as_ascii(tmp_path: Path) -> None:
    odd = cancel(init_config=cancel().init_config.of({"orders": {"O-1": "é\u2028\U0001f600"}}))
    write_records(corpus(odd), tmp_path, "packed")
    result = door("replay", "scenarios", "-", f"-Tcorpus={tmp_path}", stdin=json.dumps(said(LOOK)))
    assert result.stdout.isascii()
    assert json.loads(result.stdout)["observations"] == ["{'success': True, 'data': 'é\\u2028\U0001f600'}"]
