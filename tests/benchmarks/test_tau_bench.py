"""Tau-Bench as a benchmark: samples, protocols, whole conversations, replay."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.benchmark import Sample
from benchmarks.replay import replay_file
from benchmarks.tau_bench import OFFICIAL, PAPER, TAU_BENCH, load_samples
from harness import reference
from harness.artifacts import MissingData, find
from harness.environment import ToolSpec
from harness.episode import AgentTurn
from harness.errors import DataError, SettingError
from harness.messages import Message, assistant, tool, user
from harness.outcome import Ending, StopReason
from harness.protocol import Protocol
from harness.rollout import Played, play, play_batch, replay
from harness.trajectory import Recording
from harness.users import STOP
from tests.adapters.tau_bench import world

CANCEL = assistant("", [("cancel_pending_order", {"order_id": "#W1", "reason": "no longer needed"})])
PROTOCOLS = pytest.mark.parametrize("protocol", [PAPER, OFFICIAL], ids=["paper", "official"])


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Sample]]:
    """Loads the samples of our own small Tau-Bench, by id."""
    world.write(tmp_path)
    monkeypatch.setenv("ENVSCALER_DATA", str(tmp_path))
    monkeypatch.setenv("ENVSCALER_CACHE", str(tmp_path / "none"))
    return lambda protocol=PAPER, **given: {sample.id: sample for sample in load_samples(protocol, **given)}


@pytest.fixture(scope="module")
def real() -> None:
    try:
        find("tau_bench")
    except MissingData as missing:
        pytest.skip(str(missing))


def said(*texts: str) -> Callable[[list[Message]], str]:
    """A user model that says these raw texts in order."""
    script = iter(texts)
    return lambda messages: next(script)


def conversation(
    sample: Sample, protocol: Protocol, agent: Iterable[Message], user_texts: Iterable[str]
) -> tuple[Played, list[list[Message]]]:
    """Play a sample with given messages; also what the agent was shown at each turn."""
    script, shown = iter(agent), []

    def speak(messages: list[Message], tools: Any) -> Message:
        shown.append(messages)
        return next(script)

    return play(sample.case(), protocol, speak, said(*user_texts)), shown


def ending(played: Played) -> tuple[StopReason, float]:
    outcome = played.trajectory.outcome
    assert outcome is not None
    assert outcome.score is not None
    assert outcome.ending is Ending.SCORED
    return outcome.stop_reason, outcome.score.value


def parts(played: Played) -> dict[str, Any]:
    outcome = played.trajectory.outcome
    assert outcome is not None
    assert outcome.score is not None
    return outcome.score.parts


# Samples and settings


def test_samples_have_the_official_ids_and_belong_to_their_column(samples: Any) -> None:
    found = samples()
    assert list(found) == ["retail/test/0", "retail/test/1", "retail/test/2", "airline/test/0"]
    assert [sample.subset for sample in found.values()] == ["retail"] * 3 + ["airline"]
    assert found["retail/test/0"].metadata["tau2_id"] == 0
    assert found["retail/test/1"].metadata["tau2_id"] is None


def test_other_splits_have_columns_of_their_own(samples: Any) -> None:
    assert [sample.subset for sample in samples(split="dev").values()] == ["retail_dev"]
    titles = {column.subset: column.title for column in TAU_BENCH.columns}
    assert (titles["retail_dev"], titles["retail_train"]) == ("Retail dev", "Retail train")
    assert samples(split="train") == {}
    assert {*samples(split="all")} == {*samples(), *samples(split="dev")}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"domain": "telecom"}, "domain=telecom: unknown; one of airline, all, retail"),
        ({"domain": "airlines"}, "domain=airlines: unknown; did you mean 'airline'"),
        ({"split": "holdout"}, "split=holdout: unknown; one of all, dev, test, train"),
        ({"domain": "airline", "split": "dev"}, "domain=airline has no split=dev; one of test"),
        ({"user_strategy": "llm"}, "user_strategy=llm: unknown; one of plain, react, reflection, verify"),
        ({"version": "v4"}, "tau_bench has no parameter 'version'; one of domain, split, user_strategy"),
    ],
)
def test_a_setting_that_does_not_exist_is_one_sentence(samples: Any, given: Mapping[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError) as raised:
        samples(**given)
    assert str(raised.value).startswith(sentence)


@pytest.mark.parametrize("missing", ["tau_bench", "envscaler_release_sample"])
def test_missing_data_name_the_command_that_fetches_them(samples: Any, tmp_path: Path, missing: str) -> None:
    (tmp_path / missing).rename(tmp_path / "elsewhere")
    with pytest.raises(MissingData, match=f"{missing} data not found; fetch it with: envscaler data pull {missing}"):
        samples()


def test_the_official_protocol_needs_no_prompts_of_the_release(samples: Any, tmp_path: Path) -> None:
    (tmp_path / "envscaler_release_sample").rename(tmp_path / "elsewhere")
    assert len(samples(OFFICIAL)) == 4


@pytest.mark.parametrize(
    ("file", "data", "sentence"),
    [
        ("tau_bench/prompts.json", b'{"user_simulator": {}}', "user_simulator.first_agent_message: must be a string"),
        ("tau_bench/retail/wiki.md", b"\xff", "wiki.md: is not UTF-8"),
        ("tau_bench/tau1_to_tau23_index_map.json", b"[]", "must be an object of objects"),
        ("envscaler_release_sample/prompts.json", b'{"agent": 1}', "is not the release's prompt file"),
    ],
)
def test_a_broken_file_is_one_sentence(samples: Any, tmp_path: Path, file: str, data: bytes, sentence: str) -> None:
    (tmp_path / file).write_bytes(data)
    with pytest.raises(DataError, match=sentence):
        samples()


def test_a_broken_table_is_one_sentence(samples: Any, tmp_path: Path) -> None:
    (tmp_path / "tau_bench/retail/orders.json").write_text('{"#W1": 5}')
    with pytest.raises(DataError, match=r"orders\.json: #W1: must be a JSON object"):
        samples()["retail/test/0"].case().open()


# What the agent is shown


def test_the_paper_puts_its_prompt_before_the_policy_and_the_official_shows_the_policy_alone(samples: Any) -> None:
    texts = {}
    for protocol in (PAPER, OFFICIAL):
        _, shown = conversation(
            samples(protocol)["retail/test/0"], protocol, [assistant("Bye.")], ["User Response: Hi.", STOP]
        )
        texts[protocol.name] = [message["content"] for message in shown[0]]
    assert texts["official"][0] == "The retail policy.\n"
    assert texts["paper"] == ["Help the user.\n\n\nThis is the place:\nThe retail policy.\n", "Hi."]


def test_the_user_is_react_in_the_paper_and_plain_in_the_official_protocol(samples: Any) -> None:
    for protocol, prompt in ((PAPER, "Think first."), (OFFICIAL, "Say it plainly.")):
        asked = samples(protocol)["retail/test/0"].case().brief.user().open().messages
        assert asked[0]["content"] == f"Play a user.\n\nTask: You are Ann {{Lee}}. Cancel it.\n{prompt}"


# Whole conversations


@PROTOCOLS
def test_a_conversation_that_does_what_was_asked_is_rewarded(samples: Any, protocol: Protocol) -> None:
    agent = [assistant("Sure?"), CANCEL, assistant("It is done.")]
    played, _ = conversation(samples(protocol)["retail/test/0"], protocol, agent, ["Cancel it.", "Yes.", STOP])
    assert ending(played) == (StopReason.USER_STOP, 1.0)
    assert parts(played)["done"] is True
    assert parts(played)["differences"] == []


@PROTOCOLS
def test_a_missing_output_costs_the_reward_and_is_reported(samples: Any, protocol: Protocol) -> None:
    sample = samples(protocol)["retail/test/1"]
    wrong, _ = conversation(sample, protocol, [assistant("It is 1,234.")], ["How much?", STOP])
    right, _ = conversation(sample, protocol, [assistant("It is 1,234.50.")], ["How much?", STOP])
    assert (ending(wrong)[1], parts(wrong)["missing_outputs"]) == (0.0, ["1234.5"])
    assert (ending(right)[1], parts(right)["missing_outputs"]) == (1.0, [])


@PROTOCOLS
def test_a_transfer_ends_at_once_and_the_state_counts(samples: Any, protocol: Protocol) -> None:
    transfer = assistant("", [("transfer_to_human_agents", {"summary": "s"})])
    played, _ = conversation(samples(protocol)["retail/test/2"], protocol, [CANCEL, transfer], ["Cancel it."])
    assert ending(played) == (StopReason.TOOL_ENDED, 1.0)


@PROTOCOLS
def test_the_step_limit_scores_nothing_even_if_the_state_is_right(samples: Any, protocol: Protocol) -> None:
    think = assistant("", [("think", {"thought": "t"})])
    played, _ = conversation(samples(protocol)["retail/test/0"], protocol, [CANCEL] + [think] * 29, ["Cancel it."])
    assert ending(played) == (StopReason.STEP_LIMIT, 0.0)
    assert parts(played)["done"] is False
    assert parts(played)["database_right"] is True


@PROTOCOLS
def test_the_thirtieth_message_may_still_end_it(samples: Any, protocol: Protocol) -> None:
    think = assistant("", [("think", {"thought": "t"})])
    agent = [CANCEL] + [think] * 28 + [assistant("Done.")]
    played, _ = conversation(samples(protocol)["retail/test/0"], protocol, agent, ["Cancel it.", STOP])
    assert ending(played) == (StopReason.USER_STOP, 1.0)


@PROTOCOLS
def test_only_the_first_call_is_executed_and_kept(samples: Any, protocol: Protocol) -> None:
    two = assistant("", [("think", {"thought": "t"}), ("cancel_pending_order", {"order_id": "#W1", "reason": "x"})])
    played, shown = conversation(
        samples(protocol)["retail/test/0"], protocol, [two, assistant("Bye.")], ["Cancel it.", STOP]
    )
    assert [call.name for call in played.trajectory.calls] == ["think"]
    assert len(shown[1][-2]["tool_calls"]) == 1


def test_an_empty_reply_ends_with_0_in_the_paper_and_is_said_to_the_user_in_the_official_protocol(samples: Any) -> None:
    paper, _ = conversation(samples()["retail/test/0"], PAPER, [CANCEL, assistant("")], ["Cancel it."])
    official, _ = conversation(
        samples(OFFICIAL)["retail/test/0"], OFFICIAL, [CANCEL, assistant("")], ["Cancel it.", STOP]
    )
    assert ending(paper) == (StopReason.INVALID_REPLY, 0.0)
    assert ending(official) == (StopReason.USER_STOP, 1.0)


@PROTOCOLS
def test_arguments_that_are_not_json_end_with_0(samples: Any, protocol: Protocol) -> None:
    broken = {"tool_calls": [{"id": "1", "function": {"name": "think", "arguments": '{"thought": '}}]}
    played, _ = conversation(samples(protocol)["retail/test/0"], protocol, [CANCEL, broken], ["Cancel it."])
    assert ending(played) == (StopReason.INVALID_REPLY, 0.0)


@pytest.mark.parametrize(("protocol", "role"), [(PAPER, "user"), (OFFICIAL, "tool")], ids=["paper", "official"])
@pytest.mark.parametrize("name", ["refund", ""])
def test_an_unknown_tool_is_answered_in_the_protocols_role(
    samples: Any, protocol: Protocol, role: str, name: str
) -> None:
    played, shown = conversation(
        samples(protocol)["retail/test/0"],
        protocol,
        [assistant("", [(name, {})]), CANCEL, assistant("Done.")],
        ["Cancel it.", STOP],
    )
    assert (shown[1][-1]["role"], shown[1][-1]["content"]) == (role, f"Unknown action {name}")
    assert ending(played) == (StopReason.USER_STOP, 1.0)


@pytest.mark.parametrize(
    ("protocol", "stop", "value"),
    [(PAPER, StopReason.USER_STOP, 1.0), (OFFICIAL, StopReason.TOOL_EXCEPTION, 0.0)],
    ids=["paper", "official"],
)
def test_the_fourth_certificate_breaks_the_official_run_only(
    samples: Any, protocol: Protocol, stop: StopReason, value: float
) -> None:
    send = assistant("", [("send_certificate", {"user_id": "ann_lee_1", "amount": 1})])
    oracle = samples(protocol)["airline/test/0"].case().oracle
    played, shown = conversation(
        samples(protocol)["airline/test/0"], protocol, [*oracle, *[send] * 4, assistant("Done.")], ["A bag.", STOP]
    )
    assert ending(played)[0] is stop
    assert parts(played)["done"] is (stop is StopReason.USER_STOP)
    if protocol is PAPER:
        assert shown[-1][-1]["content"] == "None"


# The react user under both protocols: the reading itself is tested beside the users


def test_the_thought_is_hidden_in_the_paper_and_leaks_in_the_official_protocol(samples: Any) -> None:
    first = "Thought:\nI want it gone.\n\nUser Response:\nCancel it."
    shown = {}
    for protocol in (PAPER, OFFICIAL):
        sample = samples(protocol, user_strategy="react")["retail/test/0"]
        played, turns = conversation(sample, protocol, [CANCEL, assistant("Done.")], [first, f"Thought: {STOP}"])
        shown[protocol.name] = turns[0][-1]["content"]
        assert ending(played) == (StopReason.USER_STOP, 1.0)
    assert shown == {"paper": "Cancel it.", "official": "I want it gone.\n\nUser Response:\nCancel it."}


@PROTOCOLS
def test_two_thoughts_end_with_0_whatever_the_state(samples: Any, protocol: Protocol) -> None:
    sample = samples(protocol, user_strategy="react")["retail/test/0"]
    played, _ = conversation(
        sample, protocol, [CANCEL, assistant("Done.")], ["User Response: Cancel it.", "Thought: a Thought: b"]
    )
    assert ending(played) == (StopReason.INVALID_USER_REPLY, 0.0)
    assert parts(played)["database_right"] is True


@pytest.mark.parametrize("strategy", ["plain", "react", "verify", "reflection"])
@PROTOCOLS
def test_a_scripted_user_plays_every_strategy(samples: Any, protocol: Protocol, strategy: str) -> None:
    for sample in samples(protocol, user_strategy=strategy).values():
        case = sample.case()
        persona = case.brief.user()
        # One script for the user the episode makes: the factory hands out this one.
        object.__setattr__(case.brief, "user", lambda persona=persona: persona)
        say = reference.scripted_user(persona)
        played = play(case, protocol, reference.oracle(case), lambda ms, say=say: say(_replies(ms)))
        assert ending(played) == (StopReason.USER_STOP, 1.0)


def _replies(messages: list[Message]) -> int:
    return sum(message["role"] == "assistant" for message in messages)


# Replay


@PROTOCOLS
def test_a_replay_equals_the_conversation(samples: Any, protocol: Protocol) -> None:
    sample = samples(protocol)["retail/test/0"]
    agent = [assistant("", [("refund", {})]), assistant("Sure?"), CANCEL, assistant("Done.")]
    played, _ = conversation(sample, protocol, agent, ["Cancel it.", "Yes.", STOP])
    again = replay(sample.case(), protocol, Recording(sample.id, played.trajectory.messages, {}))
    assert ending(again) == ending(played) == (StopReason.USER_STOP, 1.0)
    assert parts(again) == parts(played)
    assert again.final_state == played.final_state


def test_a_recording_without_the_users_first_words_and_without_an_end(samples: Any) -> None:
    sample = samples()["retail/test/0"]
    open_ended = replay(sample.case(), PAPER, Recording(sample.id, [CANCEL], {}))
    assert ending(open_ended) == (StopReason.RECORDING_ENDED, 0.0)
    assert {key: parts(open_ended)[key] for key in TAU_BENCH.replay_keys if key != "data_hash"} == {
        "done": False,
        "reward": 0.0,
    }
    ended = replay(sample.case(), PAPER, Recording(sample.id, [CANCEL, assistant("Done."), user(STOP)], {}))
    assert ending(ended) == (StopReason.USER_STOP, 1.0)


# The real benchmark


def _mean(protocol: Protocol, agent: Callable[..., Any], subset: str, **given: Any) -> tuple[float, int]:
    """Score in percent with a user that says its goal once and then stops, and the number of samples."""
    values = []
    for sample in load_samples(protocol, **given):
        if sample.subset == subset:
            case = sample.case()
            persona = case.brief.user()

            def once(messages: list[Message], persona: Any = persona) -> str:
                return str(persona.phrase(STOP if _replies(messages) else persona.goal))

            values.append(ending(play(case, protocol, agent(case), once))[1])
    return round(100 * sum(values) / len(values), 2), len(values)


@PROTOCOLS
@pytest.mark.parametrize(
    ("split", "subset", "count", "floor"),
    [
        ("test", "retail", 115, 6.09),
        ("test", "airline", 50, 38.0),
        ("dev", "retail_dev", 20, 5.0),
        ("train", "retail_train", 500, 1.0),
    ],
)
def test_the_oracle_scores_100_and_doing_nothing_the_floor(
    real: None, protocol: Protocol, split: str, subset: str, count: int, floor: float
) -> None:
    assert _mean(protocol, reference.oracle, subset, split=split) == (100.0, count)
    assert _mean(protocol, reference.noop, subset, split=split) == (floor, count)


def test_known_defects_and_successors_stand_in_the_metadata(real: None) -> None:
    found = {sample.id: sample.metadata for sample in load_samples(OFFICIAL)}
    assert len(found["retail/test/12"]["defects"]) == 3
    assert found["retail/test/0"]["defects"] == []
    assert (found["airline/test/0"]["tau2_id"], found["retail/test/95"]["tau3_id"]) == (20, None)


def test_the_tasks_noted_as_solved_by_doing_nothing_are_those(real: None) -> None:
    for sample in load_samples(OFFICIAL):
        case = sample.case()
        played = play(case, OFFICIAL, reference.noop(case), lambda messages: STOP if _replies(messages) else "Hi.")
        assert bool(ending(played)[1]) == ("doing nothing scores 1" in sample.metadata["defects"]), sample.id


def test_the_floors_are_the_measured_ones() -> None:
    test = {"Retail": 6.09, "Airline": 38.0, "Overall": 22.04}
    assert TAU_BENCH.floors == {**test, "Retail dev": 5.0, "Retail train": 1.0}
    assert round((100 * 7 / 115 + 38.0) / 2, 2) == 22.04


def test_the_real_prompt_holds_the_policy_under_the_heading(real: None) -> None:
    system = load_samples(PAPER, domain="airline")[0].case().brief.system
    official = load_samples(OFFICIAL, domain="airline")[0].case().brief.system
    assert system is not None
    assert official is not None
    assert system.startswith("You are a helpful assistant.")
    assert system.endswith(f"\n\nThe following is an introduction to the current environment:\n{official}")


def test_interleaved_episodes_score_as_if_they_were_alone(real: None) -> None:
    cases = [sample.case() for sample in load_samples(OFFICIAL, domain="airline")]
    scripts = {case.brief.user().goal: reference.oracle(case) for case in cases}

    def generate(turns: list[AgentTurn]) -> list[Message]:
        return [scripts[turn.messages[1]["content"]](turn.messages, turn.tools) for turn in turns]

    def user_model(messages: list[Message]) -> str:
        told = messages[0]["content"]
        return STOP if _replies(messages) else next(goal for goal in scripts if goal in told)

    played = list(play_batch(cases, OFFICIAL, generate, user_model, at_once=7))
    assert len(played) == 50
    assert {ending(one) for one in played} == {(StopReason.USER_STOP, 1.0)}


def test_a_replay_finds_the_samples_of_every_split(real: None, tmp_path: Path) -> None:
    ids = ["retail/train/499", "airline/test/0", "retail/dev/19", "retail/test/114"]
    file = tmp_path / "recordings.jsonl"
    file.write_text("".join(f"{json.dumps({'sample_id': name, 'messages': []})}\n" for name in ids))
    assert [line["sample_id"] for line in replay_file("tau_bench", str(file), {})] == ids
    with pytest.raises(DataError, match=r"line 1: sample_id: no sample 'retail/train/499'"):
        list(replay_file("tau_bench", str(file), {"split": "test"}))


@pytest.mark.parametrize(("domain", "split"), [("airline", "test"), ("retail", "dev")])
def test_a_replay_of_the_recorded_official_runs_equals_them(real: None, domain: str, split: str) -> None:
    file = find("tau_bench").resolve().parent.parent / "oracles" / "tau_visible.jsonl.gz"
    if not file.exists():
        pytest.skip(f"{file.name} not found; the recorded runs lie in the folder 'oracles' beside ENVSCALER_DATA")
    samples = load_samples(OFFICIAL, domain=domain, split=split)
    with gzip.open(file) as lines:
        records = [
            record for record in map(json.loads, lines) if (record["domain"], record["split"]) == (domain, split)
        ]
    assert records
    for record in records:
        sample = samples[record["task"]]
        played = replay(sample.case(), OFFICIAL, Recording(sample.id, _chat(record["steps"]), {}))
        found = {key: parts(played)[key] for key in ("done", "reward", "data_hash")}
        assert found == {key: record[key] for key in found}, record["id"]
        observations = [step[2] for step in record["steps"] if step[0] != "respond"]
        assert [call.result.text for call in played.trajectory.calls] == observations, record["id"]


def _chat(steps: list[list[Any]]) -> list[Message]:
    """Recorded steps as chat messages."""
    messages = []
    for name, arguments, observation in steps:
        if name == "respond":
            messages += [assistant(arguments["content"]), user(observation)]
        else:
            messages += [assistant("", [(name, arguments)]), tool(observation, "")]
    return messages


def _tools_of(sample: Sample) -> list[ToolSpec]:
    return list(sample.case().open().tools)


def test_the_tools_are_shown_as_the_file_has_them(real: None) -> None:
    retail, airline = load_samples(OFFICIAL)[0], load_samples(OFFICIAL)[-1]
    assert (len(_tools_of(retail)), len(_tools_of(airline))) == (16, 14)
    assert [tool.name for tool in _tools_of(airline)] == sorted(tool.name for tool in _tools_of(airline))
