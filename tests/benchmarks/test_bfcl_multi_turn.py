from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.bfcl import SUBSETS, check
from adapters.bfcl.release import MODULES
from benchmarks import bfcl_multi_turn
from benchmarks.benchmark import Sample
from benchmarks.bfcl_multi_turn import BFCL_MULTI_TURN, OFFICIAL, PAPER, load_samples
from harness import reference
from harness.artifacts import MissingData
from harness.case import Case
from harness.episode import AgentTurn, Episode, Finished
from harness.errors import SettingError
from harness.messages import Message, assistant, tool, user
from harness.outcome import Outcome
from harness.rollout import Played, play, read_out, replay
from harness.trajectory import Recording
from tests.adapters.bfcl import recorded
from tests.adapters.bfcl.small_release import small_pair

WORD = assistant("Done.")
LIST = assistant("", [("list_tickets", {})])
OPEN = assistant("", [("open_ticket", {"title": "rain", "priority": 2})])


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, Sample]:
    """The samples of the small release, by id."""
    pair = small_pair()
    monkeypatch.setattr(bfcl_multi_turn, "open_pair", lambda version: pair)
    return {sample.id: sample for sample in load_samples(PAPER)}


def real_samples(version: str) -> list[Sample]:
    try:
        return load_samples(PAPER, version=version)
    except MissingData as missing:
        pytest.skip(str(missing))


@pytest.fixture
def oracles() -> Path:
    folder = Path(os.environ.get("ENVSCALER_DATA", "")).parent / "oracles"
    if "ENVSCALER_DATA" not in os.environ or not folder.is_dir():
        pytest.skip("recorded verdicts not found; set ENVSCALER_DATA to the data folder that they lie beside")
    return folder


def script(*messages: Message) -> reference.Agent:
    lines = iter(messages)
    return lambda history, tools: next(lines)


def outcome(played: Played) -> Outcome:
    assert played.trajectory.outcome is not None
    return played.trajectory.outcome


def parts(played: Played) -> dict[str, Any]:
    score = outcome(played).score
    assert score is not None
    return score.parts


def verdict(played: Played) -> tuple[Any, ...]:
    return tuple(parts(played)[key] for key in BFCL_MULTI_TURN.replay_keys)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"version": "v5"}, "version=v5: unknown; one of v3, v4"),
        ({"subset": "composite"}, "subset=composite: unknown; one of base, miss_func, miss_param, long_context, all"),
        ({"backends": "v4"}, "no parameter 'backends'; one of subset, version"),
    ],
)
def test_unknown_parameters_are_refused(parameters: dict[str, str], sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        load_samples(PAPER, **parameters)


@pytest.mark.parametrize("version", ["v3", "v4"])
def test_samples_are_the_published_entries(version: str) -> None:
    samples = real_samples(version)
    assert Counter(sample.subset for sample in samples) == dict.fromkeys(SUBSETS, 200)
    assert len({sample.id for sample in samples}) == 800
    assert {name for sample in samples for name in sample.group.split("+")} == set(MODULES)
    assert all(json.dumps(sample.metadata) for sample in samples)
    subset = load_samples(OFFICIAL, version=version, subset="miss_param")
    assert [sample.id for sample in subset] == [f"multi_turn_miss_param_{index}" for index in range(200)]


@pytest.mark.parametrize("version", ["v3", "v4"])
@pytest.mark.parametrize(("agent", "score"), [("oracle", 1.0), ("noop", 0.0)])
def test_reference_agents_mark_the_ends_of_the_scale(version: str, agent: str, score: float) -> None:
    for sample in real_samples(version):
        case = sample.case()
        played = play(case, PAPER, reference.AGENTS[agent](case, 1))
        assert outcome(played).score.value == score, sample.id
    assert score or set(BFCL_MULTI_TURN.floors.values()) == {0.0}


def test_reference_agents_mark_the_ends_of_the_scale_without_the_data(small: dict[str, Sample]) -> None:
    for sample in small.values():
        for agent, score in (("oracle", 1.0), ("noop", 0.0)):
            case = sample.case()
            assert outcome(play(case, PAPER, reference.AGENTS[agent](case, 1))).score.value == score


def test_the_agent_sees_the_turns_and_no_system_prompt(small: dict[str, Sample]) -> None:
    heard: list[tuple[list[str], list[str]]] = []

    def agent(messages, tools):
        heard.append(([message["content"] for message in messages], [tool.name for tool in tools]))
        return WORD

    play(small["multi_turn_miss_func_0"].case(), PAPER, agent)
    texts, tools = zip(*heard, strict=True)
    assert texts[-1] == ["Open a ticket about rain.", "Done.", "New tools. And now?", "Done.", "Close everything."]
    # The held-out tool comes last, and stays.
    assert tools == (["list_tickets", "close_all"], *[["list_tickets", "close_all", "open_ticket"]] * 2)


def test_a_step_has_all_its_calls_in_order(small: dict[str, Sample]) -> None:
    both = assistant("I open and list.", [("open_ticket", {"title": "rain", "priority": 2}), ("list_tickets", {})])
    played = play(small["multi_turn_base_0"].case(), PAPER, script(both, WORD, LIST, WORD))
    assert verdict(played) == (True, None, None)
    assert [call.name for call in played.trajectory.calls] == ["open_ticket", "list_tickets", "list_tickets"]


@pytest.mark.parametrize(
    "unusable",
    [
        pytest.param(assistant(""), id="empty"),
        pytest.param(assistant("<tool_call>{"), id="markup"),
        pytest.param({"role": "assistant", "content": None, "tool_calls": []}, id="no-calls"),
        pytest.param(
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": "1", "function": {"name": "close_all", "arguments": "{}"}},
                    {"id": "2", "function": {"name": "close_all", "arguments": "not json"}},
                ],
            },
            id="one-bad-call-spoils-the-step",
        ),
    ],
)
def test_what_does_not_decode_ends_the_turn(small: dict[str, Sample], unusable: Message) -> None:
    played = play(small["multi_turn_base_0"].case(), PAPER, script(OPEN, unusable, LIST, WORD))
    assert verdict(played) == (True, None, None)
    assert [call.name for call in played.trajectory.calls] == ["open_ticket", "list_tickets"]


@pytest.mark.parametrize(("steps", "error"), [(20, None), (21, "multi_turn:force_terminated")])
def test_a_turn_has_twenty_steps_and_one_that_ends_everything(
    small: dict[str, Sample], steps: int, error: str | None
) -> None:
    messages = [OPEN, *[LIST] * (steps - 1), WORD, LIST, WORD]
    played = play(small["multi_turn_base_0"].case(), PAPER, script(*messages))
    assert parts(played)["error_type"] == error
    assert len(played.trajectory.calls) == steps + (error is None)


def test_the_limit_in_the_last_turn_costs_nothing(small: dict[str, Sample]) -> None:
    played = play(small["multi_turn_base_0"].case(), PAPER, script(OPEN, WORD, *[LIST] * 21))
    assert outcome(played).stop_reason == "step_limit"
    assert verdict(played) == (True, None, None)


def test_a_full_context_is_an_inference_error(small: dict[str, Sample]) -> None:
    full = {"role": "assistant", "content": "", "finish_reason": "context_full"}
    played = play(small["multi_turn_base_0"].case(), PAPER, script(OPEN, WORD, LIST, full))
    assert verdict(played) == (False, "multi_turn:inference_error", None)
    assert outcome(played).score.value == 0.0


def test_the_score_tells_what_was_done(small: dict[str, Sample]) -> None:
    played = play(small["multi_turn_base_0"].case(), PAPER, script(OPEN, WORD, WORD))
    assert parts(played) == {
        "valid": False,
        "error_type": "multi_turn:empty_turn_model_response",
        "error_turn": 1,
        "differences": {},
        "missing": [],
        "steps": 3,
        "calls": 1,
        "known_bad": False,
    }
    json.dumps(outcome(played).record())


def as_recording(case_id: str, turns: list[list[Message]]) -> Recording:
    """Recorded as a server's log holds it: user messages, replies, and an answer to each call."""
    messages: list[Message] = []
    for number, replies in enumerate(turns):
        messages.append(user(f"turn {number}"))
        for reply in replies:
            messages.append(reply)
            messages += [tool("recorded", call.get("id", "")) for call in reply.get("tool_calls") or ()]
    return Recording(case_id, messages)


BAD = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "close_all", "arguments": "[1]"}}]}


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        pytest.param([[OPEN, WORD], [LIST, WORD]], (True, None, None), id="as-played"),
        pytest.param([[OPEN], [LIST]], (True, None, None), id="without-closing-words"),
        # The official checker drops what is no call, wherever it stands in the turn.
        pytest.param([[WORD, BAD, OPEN, WORD, WORD], [BAD, LIST]], (True, None, None), id="words-in-between"),
        pytest.param([[], []], (False, "multi_turn:empty_turn_model_response", 0), id="nothing"),
        pytest.param([[OPEN], []], (False, "multi_turn:empty_turn_model_response", 1), id="an-empty-turn"),
        pytest.param([[OPEN, WORD]], (False, "multi_turn:force_terminated", None), id="too-few-turns"),
        pytest.param([[OPEN], [LIST], []], (False, "multi_turn:force_terminated", None), id="too-many-turns"),
        pytest.param([[OPEN], [LIST], [LIST]], (False, "multi_turn:force_terminated", None), id="calls-after-the-end"),
        # It does not count steps either: the loop did.
        pytest.param([[OPEN, *[LIST] * 25], [LIST] * 25], (True, None, None), id="more-steps-than-the-loop-allows"),
        pytest.param([[OPEN, *[LIST] * 20], [LIST]], (True, None, None), id="exactly-the-limit"),
    ],
)
def test_replay_takes_the_turns_as_recorded(
    small: dict[str, Sample], turns: list[list[Message]], expected: tuple[Any, ...]
) -> None:
    played = replay(small["multi_turn_base_0"].case(), PAPER, as_recording("multi_turn_base_0", turns))
    assert verdict(played) == expected
    made = sum(len(reply.get("tool_calls") or ()) for turn in turns for reply in turn if reply is not BAD)
    assert len(played.trajectory.calls) == made


def test_replay_of_replies_alone_follows_the_loop(small: dict[str, Sample]) -> None:
    recording = Recording("multi_turn_base_0", [OPEN, WORD, LIST, WORD])
    assert verdict(replay(small["multi_turn_base_0"].case(), PAPER, recording)) == (True, None, None)


@pytest.mark.parametrize("agent", ["oracle", "random"])
def test_a_replay_equals_what_was_played(small: dict[str, Sample], agent: str) -> None:
    for sample in small.values():
        case = sample.case()
        live = play(case, PAPER, reference.AGENTS[agent](case, 1))
        again = replay(sample.case(), PAPER, Recording(sample.id, live.trajectory.messages))
        assert outcome(again).score == outcome(live).score
        assert again.final_state == live.final_state
        assert [c.result for c in again.trajectory.calls] == [c.result for c in live.trajectory.calls]


def interleaved(cases: list[Case], agents: list[reference.Agent]) -> list[Played]:
    """All episodes at once, a step of each in turn."""
    episodes = [Episode(case, PAPER) for case in cases]
    needs = [episode.start() for episode in episodes]
    while not all(isinstance(need, Finished) for need in needs):
        for index, need in enumerate(needs):
            if isinstance(need, AgentTurn):
                needs[index] = episodes[index].agent(agents[index](need.messages, need.tools))
    return [read_out(episode) for episode in episodes]


def facts(played: Played) -> tuple[Any, ...]:
    results = [call.result for call in played.trajectory.calls]
    return played.trajectory.sample_id, results, played.final_state, outcome(played).score


def assert_independent(samples: list[Sample], agent: str) -> None:
    make = reference.AGENTS[agent]
    together = interleaved(*map(list, zip(*[(c := s.case(), make(c, 1)) for s in samples], strict=True)))
    alone = [play(case := sample.case(), PAPER, make(case, 1)) for sample in samples]
    assert [facts(played) for played in together] == [facts(played) for played in alone]


@pytest.mark.parametrize("agent", ["oracle", "random"])
def test_interleaved_episodes_are_independent(agent: str) -> None:
    # Classes whose official backends leak: shared defaults, shared constants, process-wide precision.
    leaky = {"TwitterAPI", "TravelAPI", "MathAPI"}
    samples = []
    for version in ("v3", "v4"):
        found = [s for s in real_samples(version) if leaky & set(s.metadata["classes"])]
        samples += found[:8] + [s for s in found if s.subset == "long_context"][-8:] + found[4:20]
    assert len(samples) == 64
    assert_independent(samples, agent)


def test_interleaved_episodes_are_independent_without_the_data(small: dict[str, Sample]) -> None:
    assert_independent(list(small.values()) * 13, "random")


def test_the_judge_agrees_with_the_checker_on_its_own(small: dict[str, Sample]) -> None:
    pair = small_pair()
    entry = pair.entries("base")[0]
    live = play(small[entry.id].case(), PAPER, script(LIST, WORD, LIST, WORD))
    direct = check(entry, pair.backends, [[("list_tickets", {})], [("list_tickets", {})]])
    assert verdict(live) == (direct.valid, direct.error_type, direct.error_turn)
    assert parts(live)["differences"] == direct.differences


def test_protocols_differ_in_sampling_and_history_only() -> None:
    same = replace(OFFICIAL, name=PAPER.name, agent=PAPER.agent, keep_reasoning=False, runs=PAPER.runs)
    assert same == PAPER


def test_the_artifact_is_what_the_adapter_looks_for() -> None:
    (artifact,) = BFCL_MULTI_TURN.artifacts
    assert artifact.name == "bfcl"


def recorded_as_messages(row: dict[str, Any]) -> Recording:
    """A recorded result as a chat: a step is a message, and a user message opens each turn."""
    turns: list[list[Message]] = []
    for turn in row["result"]:
        replies: list[Message] = []
        for step in turn:
            reply: Message = {"role": "assistant", "content": step if isinstance(step, str) else None}
            if isinstance(step, list):
                calls = [(name, text) for call in step for name, text in call.items()]
                reply["tool_calls"] = [{"function": {"name": name, "arguments": text}} for name, text in calls]
            replies.append(reply)
        turns.append(replies)
    return as_recording(row["id"], turns)


@pytest.mark.parametrize("version", ["v3", "v4"])
def test_replayed_recordings_get_the_official_verdict(version: str, oracles: Path) -> None:
    samples = {sample.id: sample for sample in real_samples(version)}
    blobs = dict(recorded.read(oracles / f"bfcl_{version}_visible_blobs.jsonl.gz"))
    kinds: Counter[str] = Counter()
    for row in recorded.read(oracles / f"bfcl_{version}_visible.jsonl.gz"):
        kinds[row["kind"]] += 1
        # Every kind, on entries spread over the file.
        if kinds[row["kind"]] % 60 == 1:
            row = recorded.unpacked(row, blobs)
            played = replay(samples[row["id"]].case(), PAPER, recorded_as_messages(row))
            assert verdict(played) == (row["valid"], row["error_type"], row["error_turn"]), (row["id"], row["kind"])
            assert len(played.trajectory.calls) == sum(len(step) for turn in row["exec"] for step in turn)
    assert len(kinds) == 49
