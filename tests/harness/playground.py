"""A small environment and the words to play in it: what the tests of the core share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from benchmarks.scenarios import PAPER, STRICT
from harness.case import Brief, Case, Turn
from harness.environment import Environment, ToolResult, ToolSpec, ToolStatus
from harness.episode import AgentTurn, Episode, Finished, Need
from harness.errors import EnvironmentFault
from harness.messages import Message
from harness.outcome import Outcome, Score
from harness.protocol import Protocol
from harness.rollout import Agent, Played
from harness.state import State
from harness.trajectory import Recording, Trajectory
from harness.users import GoalUser, SimulatedUser

PRESETS = {"paper": PAPER, "strict": STRICT}
both_presets = pytest.mark.parametrize("protocol", [pytest.param(rules, id=name) for name, rules in PRESETS.items()])


def _spec(name: str, **properties: str) -> ToolSpec:
    shapes = {key: {"type": kind} for key, kind in properties.items()}
    return ToolSpec(name, f"{name}.", {"type": "object", "properties": shapes, "required": list(shapes)})


WRITE, WIPE, FAIL, LEAVE, SHOW, CRASH = TOOLS = (
    _spec("write", note="string"),
    _spec("wipe"),
    _spec("fail"),
    _spec("leave"),
    _spec("show", size="integer"),
    _spec("crash"),
)


class Notebook:
    """Keeps what it is given, as the very objects; a second environment never sees them."""

    def __init__(self, notes: Sequence[Any] = (), tools: Sequence[ToolSpec] = TOOLS) -> None:
        self.tools = tools
        self.notes: list[Any] = list(notes)
        self.received: list[tuple[str, dict[str, Any]]] = []
        self.closed = 0

    def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        self.received.append((name, arguments))
        match name:
            case "write":
                self.notes.append(arguments)
                return ToolResult(repr(arguments))
            case "wipe":
                for note in self.notes:
                    note.clear()
                return ToolResult("wiped")
            case "fail":
                return ToolResult("Error: ValueError: no", ToolStatus.RAISED)
            case "leave":
                return ToolResult("left", ends=True)
            case "show":
                return ToolResult("x" * arguments.get("size", 0))
            case "crash":
                raise EnvironmentFault("killed", "the notebook burned")
        return ToolResult(f"Error: unknown tool '{name}'.", ToolStatus.UNKNOWN_TOOL)

    def state(self) -> State:
        return State.of({"notes": self.notes})

    def close(self) -> None:
        self.closed += 1


def count_notes(trajectory: Trajectory, environment: Environment) -> Score:
    """A tenth for each note."""
    assert isinstance(environment, Notebook)
    return Score(len(environment.notes) / 10, success=bool(environment.notes))


def goal_user(goal: str = "Write it down.") -> SimulatedUser:
    """The release's user, with a short prompt."""
    return GoalUser(goal=goal, prompt=f"You want: {goal}", opener="Hello!", agent_prefix="[Agent] ")


@dataclass
class Shelf:
    """Opens notebooks and remembers them."""

    opened: list[Notebook] = field(default_factory=list)

    def __call__(self) -> Notebook:
        self.opened.append(Notebook())
        return self.opened[-1]


def case(
    *turns: str,
    id: str = "n1",
    user: Callable[[], SimulatedUser] | None = None,
    open: Callable[[], Environment] = Notebook,
    oracle: tuple[Message, ...] | None = None,
    **brief: Any,
) -> Case:
    """A sample in a notebook: one fixed turn, unless turns or a user are given."""
    spoken = () if user else tuple(map(Turn, turns or ("Take notes.",)))
    return Case(id=id, open=open, judge=count_notes, oracle=oracle, brief=Brief(turns=spoken, user=user, **brief))


def limited(protocol: Protocol, steps: int, per: str = "episode") -> Protocol:
    """The same rules with another step limit."""
    return replace(protocol, step_limit=steps, step_limit_per=per)  # type: ignore[arg-type]


def call(name: str = "write", arguments: Any = None, id: Any = None) -> dict[str, Any]:
    """One call as a server sends it. Arguments that are no text are written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments)
    return {
        **({"id": id} if id is not None else {}),
        "type": "function",
        "function": {"name": name, "arguments": text},
    }


def write(note: Any = "milk", id: Any = None) -> dict[str, Any]:
    """A call that writes a note."""
    return call("write", {"note": note}, id)


def say(text: Any = "", *calls: Any, stop: str | None = None, **more: Any) -> Message:
    """An agent's message."""
    message: Message = {"role": "assistant", "content": text, **more}
    if calls:
        message["tool_calls"] = list(calls)
    if stop:
        message["finish_reason"] = stop
    return message


def told(text: str) -> str:
    """A user model's raw answer in the release's form."""
    return f"# Thought:\nhm\n# Reply:\n{text}"


def started(protocol: Protocol, of: Case | None = None) -> tuple[Episode, Notebook]:
    """An episode that waits for its first message, and its notebook."""
    episode = Episode(of or case(), protocol)
    episode.start()
    assert isinstance(episode.environment, Notebook)
    return episode, episode.environment


def asked(need: Need) -> list[Message]:
    """The history of an agent's turn."""
    assert isinstance(need, AgentTurn)
    return need.messages


def ended(need: Need) -> Outcome:
    """The outcome of a finished episode."""
    assert isinstance(need, Finished)
    return need.outcome


def scripted(*messages: Message) -> Agent:
    """An agent that says these messages, then that it is done."""
    script = iter(messages)
    return lambda history, tools: next(script, None) or say("Done.")


def recording(played: Played) -> Recording:
    """What a file would hold of a played episode."""
    record = json.loads(json.dumps(played.trajectory.record()))
    return Recording(record["sample_id"], record["messages"], protocol=record["protocol"])


def verdict(played: Played) -> dict[str, Any]:
    """All that a replay must reproduce. Calls that the protocol dropped are in no recording."""
    outcome = played.trajectory.outcome
    assert outcome is not None
    counts = {name: number for name, number in outcome.counts.items() if name != "dropped_calls"}
    return {
        **outcome.record(),
        "counts": counts,
        "calls": played.trajectory.calls,
        "state": played.final_state.digest if played.final_state else None,
    }


def assert_servers_accept(messages: Sequence[Mapping[str, Any]]) -> None:
    """Calls are followed by exactly their answers, in order, and nothing else answers; no half characters."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert waiting, "a tool message answers no call"
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert not waiting, f"a {message['role']} message parts a call from its answer"
            waiting = [entry["id"] for entry in message.get("tool_calls", ())]
    assert not waiting
    ids = [entry["id"] for message in messages for entry in message.get("tool_calls", ())]
    assert len(set(ids)) == len(ids)
