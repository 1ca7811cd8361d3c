"""The protocol: one frozen bundle of everything that moves a score, printed into every log (DESIGN section 5)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from harness.messages import Slip

Answer = Literal["report", "text", "end_turn", "zero"]
"""What becomes of a slip: an error message to the agent; the reply counts as plain text; the agent's turn is over;
the episode ends with 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a model is sampled. None leaves the server's default."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    """Tokens per reply, reasoning included."""
    thinking: bool | None = None
    """Sent as the chat template's `enable_thinking`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How episodes of one benchmark are played and what their endings are worth."""

    name: str
    agent: Sampling = field(default_factory=Sampling)
    user: Sampling = field(default_factory=Sampling)
    user_model: str | None = None
    """The simulated user's model in published numbers; a log with another one is not comparable."""
    keep_reasoning: bool = False
    """Whether past reasoning is sent back to the agent. Past calls always are."""
    runs: int = 3
    """Passes over the benchmark; tables print their mean and standard deviation."""
    prompts: str = "own"
    """Whose agent and user prompts: `own`, `release`, `official`."""
    calls_per_step: Literal["first", "all"] = "first"
    """Of several calls in one message: the first alone, the others cut from the history, or all in order."""
    step_limit: int
    """Agent messages; reached when the agent would be asked once more. Stop reason `step_limit`."""
    step_limit_per: Literal["episode", "turn"] = "episode"
    on_limit: Literal["zero", "score_state"] = "zero"
    """What a reached limit, or a full context, is worth."""
    on_tool_exception: Literal["report", "zero"] = "report"
    """A tool that raises is shown to the agent, or ends the episode with 0 (the release does)."""
    slips: dict[Slip, Answer] = field(default_factory=lambda: dict.fromkeys(Slip, "report"))
    """The answer to each kind of unusable reply."""
    slip_texts: dict[Slip, str] = field(default_factory=dict)
    """The words in which a slip is reported, where they are a published environment's and not ours."""
    blank_arguments: Literal["slip", "call"] = "slip"
    """Arguments that are an empty string: unusable, or none given (ACEBench's executor)."""
    error_role: Literal["tool", "user"] = "tool"
    """The role in which slips and unknown tools are answered."""
    observation: Literal["python", "json"] = "python"
    """How tool results are written: Python's `str`, as the release does, or JSON."""
    observation_limit: int | None = None
    """Characters of one observation that the agent sees; longer ones are cut with a note. None: never cut."""

    def record(self) -> dict[str, Any]:
        """The protocol as plain JSON values."""
        slips = {slip.value: answer for slip, answer in self.slips.items()}
        texts = {slip.value: text for slip, text in self.slip_texts.items()}
        return {**asdict(self), "slips": slips, "slip_texts": texts}
