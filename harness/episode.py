"""One episode without I/O: fed messages, it says what it needs next. All rules of the interaction live here.

    episode = Episode(case, protocol)
    need = episode.start()
    # AgentTurn(messages, tools) -> need = episode.agent(message)
    # UserTurn(messages)         -> need = episode.user(text)
    # Finished(outcome)

Drivers (Inspect, batches, replay, tests) share it, so that they cannot drift apart. A driver's mistake raises
`EpisodeMisuse`; an agent's mistake is data, answered by the rule of the protocol.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from harness.case import Case
from harness.environment import Environment, ToolResult, ToolSpec, ToolStatus
from harness.errors import EnvironmentFault, EpisodeMisuse
from harness.messages import (
    Call,
    Message,
    Reply,
    Slip,
    as_text,
    content_text,
    read,
    system,
    tool,
    user,
    visible,
    with_calls,
    without_calls,
    without_surrogates,
)
from harness.outcome import Ending, Outcome, Score, StopReason
from harness.protocol import Protocol
from harness.trajectory import ExecutedCall, Trajectory
from harness.users import Ask, Said, SimulatedUser


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """The agent is to speak: give its message to `Episode.agent`. `sample`, the case's id, tells turns apart."""

    messages: list[Message]
    tools: Sequence[ToolSpec]
    sample: str = ""


@dataclass(frozen=True, slots=True)
class UserTurn:
    """The user model is to speak: give its raw text to `Episode.user`."""

    messages: list[Message]


@dataclass(frozen=True, slots=True)
class Finished:
    """The episode is over."""

    outcome: Outcome


Need = AgentTurn | UserTurn | Finished


class Phase(StrEnum):
    """What an episode waits for."""

    NEW = "start"
    AGENT = "agent"
    USER = "user"
    DONE = "nothing"


MOVES: Mapping[Phase, frozenset[str]] = {
    Phase.NEW: frozenset({"start"}),
    Phase.AGENT: frozenset({"agent", "end_turn", "finish", "fail"}),
    Phase.USER: frozenset({"user", "said", "finish", "fail"}),
    Phase.DONE: frozenset(),
}
"""Which moves a driver may make in which phase; a missing one is an `EpisodeMisuse`."""

ZERO_ENDINGS = frozenset({StopReason.TOOL_EXCEPTION, StopReason.INVALID_REPLY, StopReason.INVALID_USER_REPLY})


class Episode:
    """One interaction from reset to outcome.

    Args:
        case: The sample to play.
        protocol: The rules.
        run: 1-based pass over the benchmark, for the record.
        model: Name of the agent, for the record.
    """

    def __init__(self, case: Case, protocol: Protocol, *, run: int = 1, model: str = "") -> None:
        self.case = case
        self.protocol = protocol
        self.trajectory = Trajectory(case.id, protocol=protocol.name, run=run, model=model)
        self.phase = Phase.NEW
        self.counts: Counter[str] = Counter()
        self.environment: Environment | None = None
        self._history: list[Message] = []
        self._tools: Sequence[ToolSpec] = ()
        self.simulated_user: SimulatedUser | None = None
        self._turn = -1
        self._call_ids: set[str] = set()

    def __repr__(self) -> str:
        return f"Episode({self.case.id}, waits for {self.phase.value}, step {self.trajectory.steps})"

    # Moves of the driver

    def start(self) -> Need:
        """Open the environment and say what is needed first."""
        self._move("start")
        try:
            self.environment = self.case.open()
        except EnvironmentFault as fault:
            return self._fault(Ending.ENVIRONMENT_FAULT, str(fault))
        self._offer(self.environment.tools)
        if self.case.brief.system is not None:
            self._append(system(self.case.brief.system))
        if self.case.brief.user is not None:
            self.simulated_user = self.case.brief.user()
            return self._ask(self.simulated_user.open())
        return self._next_turn()

    def agent(self, message: Message) -> Need:
        """Take the agent's message: execute its calls, or pass its text on."""
        self._move("agent")
        self.trajectory.turn_steps[-1] += 1
        message = {**message, "role": "assistant"}
        if message.get("finish_reason") == "context_full":
            self.trajectory.messages.append(message)
            return self._end(StopReason.CONTEXT_FULL)
        reply = read(message, blank_arguments=self.protocol.blank_arguments == "call")
        try:
            return self._calls(message, reply) if self._has_calls(reply) else self._text(message, reply)
        except EnvironmentFault as fault:
            return self._fault(Ending.ENVIRONMENT_FAULT, str(fault))

    def user(self, raw: str) -> Need:
        """Take the user model's raw reply."""
        self._move("user")
        assert self.simulated_user is not None
        answer = self.simulated_user.reply(raw)
        return self._ask(answer) if isinstance(answer, Ask) else self._hear(answer)

    def said(self, text: str) -> Need:
        """Take a user reply as the agent saw it, already read (replay)."""
        self._move("said")
        assert self.simulated_user is not None
        return self._hear(self.simulated_user.said(text))

    def end_turn(self) -> Need:
        """The agent's turn is over although it said nothing to end it (replay of a recording without that message)."""
        self._move("end_turn")
        return self._yield_turn("")

    def finish(self, reason: StopReason = StopReason.RECORDING_ENDED) -> Need:
        """End the episode as it stands and judge it."""
        self._move("finish")
        return self._end(reason)

    def fail(self, detail: str) -> Need:
        """End the episode for a failure outside it: the model server's, the machine's."""
        self._move("fail")
        return self._fault(Ending.INFRASTRUCTURE_ERROR, detail)

    def close(self) -> None:
        """Free the environment. Drivers call it once they have read what they need of the final state."""
        if self.environment is not None:
            self.environment.close()

    # Rules

    def _move(self, move: str) -> None:
        if move not in MOVES[self.phase]:
            step = self.trajectory.steps
            raise EpisodeMisuse(
                f"episode {self.case.id} waits for {self.phase.value} (step {step}); {move}() was called"
            )

    def _has_calls(self, reply: Reply) -> bool:
        if reply.calls and self.case.brief.finish_word and self.case.brief.finish_word in reply.text:
            self.counts["calls_beside_finish_word"] += len(reply.calls)
            return False
        return bool(reply.calls)

    def _calls(self, message: Message, reply: Reply) -> Need:
        """Execute the calls of one message; the answers stand in the history in the order of the calls."""
        calls = reply.calls if self.protocol.calls_per_step == "all" else reply.calls[:1]
        self.counts["dropped_calls"] += len(reply.calls) - len(calls)
        ids = [self._fresh_id(call.id) for call in calls]
        answers = {call.slip: self.protocol.slips[call.slip] for call in calls if call.slip}
        for slip in answers:
            self.counts[slip.value] += 1
        if "zero" in answers.values() or "end_turn" in answers.values() or "text" in answers.values():
            # One unusable call discards the whole step: BFCL's decoder takes the message or leaves it.
            self._append(with_calls(message, calls, ids), view=without_calls(message, calls))
            if "zero" in answers.values():
                return self._end(StopReason.INVALID_REPLY)
            return self._yield_turn(reply.text)
        try:
            results = [self._execute(call) for call in calls]
        except EnvironmentFault:
            # The message that broke the environment belongs to the record: replay shows the fault again.
            self._append(with_calls(message, calls, ids))
            raise
        self._record_step(message, calls, ids, results)
        if any(result.ends for result in results):
            return self._end(StopReason.TOOL_ENDED)
        if self.protocol.on_tool_exception == "zero" and any(r.status is ToolStatus.RAISED for r in results):
            return self._end(StopReason.TOOL_EXCEPTION)
        return self._ask_agent()

    def _execute(self, call: Call) -> ToolResult:
        if call.slip is not None:
            return ToolResult(f"Error: {call.problem}.", ToolStatus.UNKNOWN_TOOL)
        assert self.environment is not None
        assert call.name is not None
        assert call.arguments is not None
        # The environment may keep what it is given and change it later; the record stays as the call was made.
        result = self.environment.call(call.name, copy.deepcopy(call.arguments))
        if not result.text.isascii():
            result = replace(result, text=without_surrogates(result.text))
        step, turn = self.trajectory.steps, max(self._turn, 0)
        self.trajectory.calls.append(ExecutedCall(turn, step, call.name, call.arguments, result))
        if result.status is not ToolStatus.OK:
            self.counts["tool_exceptions" if result.status is ToolStatus.RAISED else "unknown_tools"] += 1
        return result

    def _record_step(
        self, message: Message, calls: Sequence[Call], ids: Sequence[str], results: Sequence[ToolResult]
    ) -> None:
        """Put the message and its answers into the record and into the agent's history.

        Where the protocol answers an error as the user, the call stays unanswered; the history shows it as text then.
        """
        as_user = self.protocol.error_role == "user"
        answered: list[tuple[Call, str, ToolResult]] = []
        unanswered: list[tuple[Call, str, ToolResult]] = []
        for call, call_id, result in zip(calls, ids, results, strict=True):
            bad = result.status is ToolStatus.UNKNOWN_TOOL and as_user
            (unanswered if bad else answered).append((call, call_id, result))
        view = with_calls(message, [c for c, _, _ in answered if not c.slip], [i for c, i, _ in answered if not c.slip])
        shown_as_text = [c for c, _, _ in unanswered] + [c for c, _, _ in answered if c.slip]
        if shown_as_text:
            view["content"] = "\n".join([content_text(view.get("content")), *map(as_text, shown_as_text)]).strip("\n")
        self._append(with_calls(message, calls, ids), view=view)
        told: list[Message] = []
        for call, call_id, result in answered:
            answer = tool(self._cut(result.text), call_id)
            self.trajectory.messages.append(answer)
            # A call shown as text has no tool message to point to; its error is told as the user instead, after the
            # answers, from which servers let nothing part the calls.
            (told if call.slip else self._history).append(user(answer["content"]) if call.slip else answer)
        self._history += told
        for _, _, result in unanswered:
            self._append(user(self._cut(result.text)))

    def _text(self, message: Message, reply: Reply) -> Need:
        """Take a message without calls, or whose calls do not count."""
        self._append(message, view=without_calls(message, ()))
        if reply.slip is not None:
            self.counts[reply.slip.value] += 1
            match self.protocol.slips[reply.slip]:
                case "report":
                    text = self.protocol.slip_texts.get(reply.slip, f"Error: {_SLIP_TEXT[reply.slip]}")
                    self._append(user(text))
                    return self._ask_agent()
                case "zero":
                    return self._end(StopReason.INVALID_REPLY)
                case "end_turn":
                    return self._yield_turn("")
                case "text":
                    pass
        return self._yield_turn(reply.text)

    def _yield_turn(self, text: str) -> Need:
        """The agent has spoken to its user: what comes next?"""
        brief = self.case.brief
        if self.simulated_user is not None:
            if brief.finish_word is not None and brief.finish_word in text:
                return self._end(StopReason.AGENT_DONE)
            return self._ask(self.simulated_user.hear(text))
        if brief.finish_word is not None and brief.finish_word not in text:
            if brief.nudge is not None:
                self._append(user(brief.nudge))
            return self._ask_agent()
        return self._next_turn()

    def _next_turn(self) -> Need:
        turns = self.case.brief.turns
        if self._turn + 1 == len(turns):
            return self._end(StopReason.AGENT_DONE if len(turns) == 1 else StopReason.TURNS_DONE)
        turn = turns[self._turn + 1]
        if turn.tools is not None:
            self._offer(turn.tools)
        self._begin_turn(turn.text)
        return self._ask_agent()

    def _begin_turn(self, text: str) -> None:
        self._turn += 1
        self.trajectory.turn_steps.append(0)
        self._append(user(text))

    def _hear(self, said: Said) -> Need:
        self._begin_turn(said.text)
        if said.breaks:
            return self._end(StopReason.INVALID_USER_REPLY)
        return self._end(StopReason.USER_STOP) if said.stops else self._ask_agent()

    def _ask(self, ask: Ask) -> Need:
        self.phase = Phase.USER
        return UserTurn(ask.messages)

    def _ask_agent(self) -> Need:
        steps = self.trajectory.turn_steps
        if (steps[-1] if self.protocol.step_limit_per == "turn" else sum(steps)) >= self.protocol.step_limit:
            return self._end(StopReason.STEP_LIMIT)
        self.phase = Phase.AGENT
        return AgentTurn(list(self._history), self._tools, self.case.id)

    # Endings

    def _end(self, reason: StopReason) -> Finished:
        assert self.environment is not None
        self.trajectory.stop_reason = reason
        try:
            if self.case.judge is None:
                self.environment.state()  # one that cannot be exported is a fault here as well
                return self._finished(Ending.UNSCORED, reason, None, None)
            score = self.case.judge(self.trajectory, self.environment)
        except EnvironmentFault as fault:
            return self._fault(Ending.ENVIRONMENT_FAULT, str(fault))
        limited = reason in (StopReason.STEP_LIMIT, StopReason.CONTEXT_FULL)
        if reason in ZERO_ENDINGS or (limited and self.protocol.on_limit == "zero"):
            # The state is judged all the same, so that a table can say what the rule cost.
            score = Score(0.0, success=False, parts={**score.parts, "state_value": score.value})
        return self._finished(Ending.SCORED, reason, score, None)

    def _fault(self, ending: Ending, detail: str) -> Finished:
        return self._finished(ending, StopReason.FAULT, None, detail)

    def _finished(self, ending: Ending, reason: StopReason, score: Score | None, fault: str | None) -> Finished:
        self.phase = Phase.DONE
        self.trajectory.stop_reason = reason
        counts = {name: number for name, number in sorted(self.counts.items()) if number}
        outcome = Outcome(ending, reason, self.trajectory.steps, self.case.level, score, fault, counts)
        self.trajectory.outcome = outcome
        return Finished(outcome)

    # The record and the agent's view of it

    def _append(self, message: Message, *, view: Message | None = None) -> None:
        self.trajectory.messages.append(message)
        view = message if view is None else view
        self._history.append(view if view["role"] != "assistant" else self._past(view))

    def _past(self, message: Message) -> Message:
        """An assistant message as the agent sees it later: without our keys and, by the protocol, without reasoning."""
        past = {key: value for key, value in message.items() if key != "finish_reason"}
        if not self.protocol.keep_reasoning:
            past.pop("reasoning_content", None)
            past["content"] = visible(content_text(past.get("content")))
        return past

    def _offer(self, tools: Sequence[ToolSpec]) -> None:
        self._tools = tuple(tools)
        self.trajectory.tools = list(tools)

    def _fresh_id(self, call_id: str) -> str:
        """The call's id, or a new one if it is missing or was used before: answers are matched by it."""
        if not call_id or call_id in self._call_ids:
            number = len(self._call_ids)
            while (call_id := f"call_{number}") in self._call_ids:
                number += 1
        self._call_ids.add(call_id)
        return call_id

    def _cut(self, text: str) -> str:
        limit = self.protocol.observation_limit
        if limit is None or len(text) <= limit:
            return text
        self.counts["cut_observations"] += 1
        return f"{text[:limit]}\n[cut: {len(text) - limit} more characters]"


_SLIP_TEXT: Mapping[Slip, str] = {
    Slip.EMPTY: "the reply is empty. Call a tool or answer in words.",
    Slip.MARKUP: "the reply holds a tool call or a reasoning block that could not be read. Write it again.",
}
