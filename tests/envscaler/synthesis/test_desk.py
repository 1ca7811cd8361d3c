from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from envscaler.synthesis.answers import Unusable, json_object
from envscaler.synthesis.ask import Answer, Prompt, Request
from envscaler.synthesis.desk import BudgetSpent, Desk, GaveUp, Limits, ServerFailed
from envscaler.synthesis.journal import Memory
from harness.errors import SettingError


def prompt(item: str = "x") -> Prompt[dict[str, Any]]:
    return Prompt(stage="plan", item=item, role="planner", system="s", user="u", parse=json_object)


def desk(answers: list[Any], memory: Memory | None = None, **limits: Any) -> tuple[Desk, list[Request]]:
    asked: list[Request] = []

    async def generate(request: Request) -> Answer:
        asked.append(request)
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Answer) else Answer(text=answer, usd=0.5)

    made = Desk(generate, {"planner": "m"}, memory or Memory(), Limits(server_wait=0.0, **limits))
    return made, asked


def test_an_unusable_answer_goes_back_with_the_reason() -> None:
    made, asked = desk(["no", '{"a": 1}'])
    assert asyncio.run(made.ask(prompt())) == {"a": 1}
    assert [turn.content for turn in asked[1].turns[2:]] == [
        "no",
        "That answer cannot be used: it holds no complete JSON object. Answer again, whole, in the form asked for.",
    ]


def test_a_refusal_is_answered_and_in_the_end_believed() -> None:
    made, asked = desk(["I'm sorry, I can't."] * 3)
    with pytest.raises(GaveUp) as given:
        asyncio.run(made.ask(prompt()))
    assert given.value.kind == "refused"
    assert "made up, for testing" in asked[1].turns[-1].content


def test_a_failing_server_is_asked_again_but_not_for_ever() -> None:
    made, asked = desk([OSError("a"), OSError("b"), "{}"])
    assert asyncio.run(made.ask(prompt())) == {}
    assert len(asked) == 3
    made, asked = desk([OSError("a")] * 9)
    with pytest.raises(ServerFailed, match="OSError: a"):
        asyncio.run(made.ask(prompt()))
    assert len(asked) == 3


def test_what_was_answered_is_not_asked_again() -> None:
    memory = Memory()
    first, _ = desk(["no", "{}"], memory)
    asyncio.run(first.ask(prompt()))
    second, asked = desk([], memory)
    assert asyncio.run(second.ask(prompt())) == {}
    assert (asked, second.tally.replayed) == ([], 2)


@pytest.mark.parametrize("limits", [{"budget_calls": 1}, {"budget_usd": 0.4}])
def test_a_spent_budget_makes_no_further_call(limits: dict[str, Any]) -> None:
    made, asked = desk(["{}", "{}"], **limits)
    asyncio.run(made.ask(prompt()))
    with pytest.raises(BudgetSpent):
        asyncio.run(made.ask(prompt("y")))
    assert len(asked) == 1


def test_a_budget_of_money_needs_prices() -> None:
    made, _ = desk([Answer(text="{}", tokens_in=9)], budget_usd=1.0)
    with pytest.raises(SettingError, match="no price is known for m; give --price m=IN,OUT"):
        asyncio.run(made.ask(prompt()))


def test_a_slow_server_is_kept_busy() -> None:
    """At least 95 % of the configured concurrency, over the whole of a stage."""

    async def generate(request: Request) -> Answer:
        await asyncio.sleep(0.1)
        return Answer(text="{}")

    async def stage() -> tuple[float, float]:
        made = Desk(generate, {}, Memory(), Limits(concurrency=16))
        started = time.monotonic()
        await asyncio.gather(*(made.ask(prompt(str(number))) for number in range(320)))
        return made.tally.busy_seconds, time.monotonic() - started

    busy, took = asyncio.run(stage())
    assert busy / (16 * took) >= 0.95


def test_an_unusable_answer_is_one_sentence() -> None:
    with pytest.raises(Unusable, match="it holds no complete JSON object"):
        json_object("[]")
