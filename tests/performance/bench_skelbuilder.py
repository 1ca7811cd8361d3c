"""Synthesis: choosing among a thousand topics, and how busy the runner keeps a slow server."""

from __future__ import annotations

import asyncio
import random
import resource
import subprocess
import sys
import time

from envscaler.skelbuilder.embed import embed
from envscaler.skelbuilder.records import Topic
from envscaler.skelbuilder.select import SelectRules, above, embedded_text, select
from envscaler.synthesis.ask import Answer, Prompt, Request
from envscaler.synthesis.desk import Desk, Limits
from envscaler.synthesis.journal import Memory
from tests.performance.measure import Row

TOPICS = 1000
PLACES = (
    "clinic",
    "marina",
    "library",
    "kennel",
    "depot",
    "school",
    "observatory",
    "kitchen",
    "theatre",
    "mill",
    "bakery",
    "archive",
    "garage",
    "farm",
    "bank",
)
THINGS = (
    "slots",
    "berths",
    "books",
    "kennels",
    "lockers",
    "rooms",
    "sessions",
    "stations",
    "costumes",
    "sacks",
    "loaves",
    "boxes",
    "lifts",
    "fields",
    "loans",
)
VERBS = (
    "assigns",
    "lends",
    "moves",
    "bills",
    "closes",
    "extends",
    "inspects",
    "reserves",
    "records",
    "counts",
    "cancels",
    "returns",
)


def topics() -> list[Topic]:
    """A thousand topics of many kinds, made up."""
    chance = random.Random(1)
    found = []
    for number in range(TOPICS):
        place, thing, other = chance.choice(PLACES), chance.choice(THINGS), chance.choice(THINGS)
        first, second, third = chance.sample(VERBS, 3)
        introduction = (
            f"The {place} number {number} keeps {thing}, {other} and the people who use them. Its staff {first}, "
            f"{second} and {third} them day by day. Limits of {chance.randint(2, 90)} days bind the {place}."
        )
        scores = chance.randint(5, 10), chance.randint(5, 10)
        found.append(
            Topic(
                task_id=f"t{number}",
                task="",
                title=f"{place} {thing} desk {number}",
                introduction=introduction,
                usefulness=scores[0],
                modelability=scores[1],
            )
        )
    return found


def selection() -> tuple[float, float, int]:
    """CPU seconds and peak memory in MB for a thousand topics without network, and how many were kept."""
    started = time.process_time()
    rules = SelectRules(least_usefulness=1, least_modelability=1, most_alike=0.9, clusters=100)
    kept = [topic for topic in above(topics(), rules) if topic.status == "kept"]
    chosen = select(kept, embed([embedded_text(topic) for topic in kept]), rules)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 2**20)
    return time.process_time() - started, peak, sum(topic.status == "kept" for topic in chosen)


async def busy(concurrency: int = 32, calls: int = 960, seconds: float = 0.2) -> float:
    """Share of the configured concurrency that a slow server is kept busy with."""

    async def generate(request: Request) -> Answer:
        await asyncio.sleep(seconds)
        return Answer(text="{}")

    desk = Desk(generate, {}, Memory(), Limits(concurrency=concurrency))

    async def item(number: int) -> None:
        for part in ("first", "second"):
            await desk.ask(
                Prompt(
                    stage="s", item=f"{number} {part}", role="planner", system="s", user="u", parse=lambda text: text
                )
            )

    started = time.monotonic()
    await asyncio.gather(*(item(number) for number in range(calls // 2)))
    return desk.tally.busy_seconds / (concurrency * (time.monotonic() - started))


def measure() -> list[Row]:
    """The figures beside what they have to hold; memory is that of a process of its own."""
    ask = "from tests.performance.bench_skelbuilder import selection; print(*selection())"
    said = subprocess.run([sys.executable, "-c", ask], check=True, capture_output=True, text=True).stdout
    cpu, peak, _ = map(float, said.split())
    share = asyncio.run(busy())
    return [
        Row(f"select among {TOPICS:,} topics, offline", f"{cpu:.1f} s CPU", "< 60 s", cpu < 60),
        Row("its peak memory", f"{peak:.0f} MB", "< 1,000 MB", peak < 1000),
        Row("slow server, 32 calls at a time, kept busy", f"{share:.1%}", ">= 95 %", share >= 0.95),
    ]
