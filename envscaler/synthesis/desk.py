"""The desk: asks models, at most so many at once, within a budget, and never the same thing twice.

An answer that cannot be used goes back with the reason, a few times. A model server that fails is asked again, a few
times, and what then remains is an infrastructure failure: nothing is journaled, so that a later run asks again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from envscaler.synthesis.answers import Unusable, schema_of
from envscaler.synthesis.ask import Answer, Generate, Prompt, Request, Turn, objection, read
from envscaler.synthesis.journal import Memory
from harness.errors import EnvScalerError, SettingError

T = TypeVar("T")


class GaveUp(EnvScalerError):
    """A question that no usable answer came to.

    Args:
        kind: As `Unusable`, of the last answer.
    """

    def __init__(self, stage: str, kind: str, problem: str, tries: int) -> None:
        super().__init__(f"{stage}: no usable answer in {tries} tries; the last: {problem}")
        self.stage = stage
        self.kind = kind


class ServerFailed(EnvScalerError):
    """The model server failed beyond the retries. Not the item's fault."""


class BudgetSpent(EnvScalerError):
    """The budget allows no further call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is asked, and how often."""

    concurrency: int = 8
    """Calls in flight."""
    tries: int = 3
    """Answers asked for per question, the first included."""
    server_tries: int = 3
    """Calls per answer, the first included, while the server fails."""
    server_wait: float = 2.0
    """Seconds before a failed call is repeated; doubled each time."""
    budget_calls: int | None = None
    """Finished calls, those of earlier runs included."""
    budget_usd: float | None = None


@dataclass
class Tally:
    """What a desk did in this process."""

    made: int = 0
    replayed: int = 0
    """Answers that came from the journal."""
    failed: int = 0
    """Calls that the server failed."""
    busy_seconds: float = 0.0
    """Sum over the calls in flight."""
    unusable: dict[str, int] = field(default_factory=dict)
    """Answers sent back, by kind."""


class Desk:
    """Where questions are asked.

    Args:
        generate: The model servers.
        models: Name of the model of each role, as requests are keyed.
    """

    def __init__(self, generate: Generate, models: Mapping[str, str], journal: Memory, limits: Limits) -> None:
        self._generate = generate
        self._models = models
        self._journal = journal
        self.limits = limits
        self._free = asyncio.Semaphore(limits.concurrency)
        self._in_flight = 0
        self._calls = len(journal.entries)
        self._usd = sum(entry.answer.usd for entry in journal.entries.values())
        self.tally = Tally()

    async def ask(self, prompt: Prompt[T]) -> T:
        """A usable answer.

        Raises:
            GaveUp: If none came.
            ServerFailed: If the server failed beyond the retries.
            BudgetSpent: If a call would be needed that the budget does not allow.
            SettingError: If there is a budget of money and a model has no price.
        """
        turns = prompt.turns()
        problem = Unusable("it was not asked")
        for attempt in range(self.limits.tries):
            request = Request(
                stage=prompt.stage,
                item=prompt.item,
                attempt=attempt,
                role=prompt.role,
                model=self._models.get(prompt.role, ""),
                turns=turns,
                temperature=prompt.temperature,
                max_tokens=prompt.max_tokens,
                form=None if prompt.form is None else schema_of(prompt.form),
            )
            answer = await self._answer(request)
            try:
                return read(answer, prompt.parse)
            except Unusable as error:
                problem = error
                self.tally.unusable[error.kind] = self.tally.unusable.get(error.kind, 0) + 1
                turns = (*turns, Turn("assistant", answer.text), Turn("user", objection(error)))
        raise GaveUp(prompt.stage, problem.kind, str(problem), self.limits.tries)

    async def _answer(self, request: Request) -> Answer:
        known = self._journal.get(request.key)
        if known is not None:
            self.tally.replayed += 1
            return known
        async with self._free:
            for attempt in range(self.limits.server_tries):
                self._spend()
                self._in_flight += 1
                started = time.monotonic()
                try:
                    answer = await self._generate(request)
                except EnvScalerError:
                    raise  # A wrong setting is not cured by asking again.
                except Exception as error:  # Providers raise whatever they like.
                    self.tally.failed += 1
                    if attempt + 1 == self.limits.server_tries:
                        raise ServerFailed(f"{request.stage}: {type(error).__name__}: {error}") from error
                else:
                    self._journal.add(request, answer)
                    self._calls += 1
                    self._usd += answer.usd
                    self.tally.made += 1
                    if self.limits.budget_usd is not None and not answer.usd and answer.tokens_in:
                        # Else the budget would never end.
                        raise SettingError(
                            f"no price is known for {request.model}; give --price {request.model}=IN,OUT"
                        )
                    return answer
                finally:
                    self._in_flight -= 1
                    self.tally.busy_seconds += time.monotonic() - started
                await asyncio.sleep(self.limits.server_wait * 2**attempt)
        raise AssertionError("unreachable")

    def _spend(self) -> None:
        limits = self.limits
        if limits.budget_calls is not None and self._calls + self._in_flight >= limits.budget_calls:
            raise BudgetSpent(f"the budget of {limits.budget_calls} calls is spent")
        if limits.budget_usd is not None and self._usd >= limits.budget_usd:
            raise BudgetSpent(f"the budget of {limits.budget_usd:g} USD is spent")
