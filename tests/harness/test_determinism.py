"""Both ways of freezing time and seeding randomness give the same values, on any machine."""

from __future__ import annotations

import datetime
import json
import os
import random
import subprocess
import sys
import time
import uuid
from typing import Any

import pytest

from harness.determinism import Importer, parse_clock
from harness.runtime import namespace

CLOCK = "2025-03-04T05:06:07.891234+02:00"
SEED = 7

PROGRAM = """
import datetime, json, os, random, secrets, time, uuid
from datetime import date, timedelta, timezone
from datetime import datetime as now_is
from random import choice

def seen(expression):
    try:
        return repr(eval(expression))
    except Exception as error:
        return type(error).__name__
"""

EXPRESSIONS = {
    "dates": [
        "now_is.now()",
        "now_is.utcnow()",
        "now_is.today()",
        "date.today()",
        "datetime.datetime.now().isoformat()",
        "now_is.now(timezone.utc)",
        "now_is.now(tz=timezone(timedelta(hours=5)))",
        "now_is.fromtimestamp(0)",
        "now_is.fromtimestamp(time.time(), timezone.utc)",
        "date.fromtimestamp(time.time())",
        "now_is.strptime('2025-01-02', '%Y-%m-%d') - now_is.now()",
        "now_is.fromisoformat('2025-01-01T00:00:00'), date.fromisoformat('2025-01-01'), now_is.max",
        "now_is(2025, 1, 2) < now_is.now(), date(2025, 1, 2)",
        "now_is.now('UTC')",
    ],
    "types": [
        "isinstance(now_is.now(), now_is), isinstance(now_is.now(), date), isinstance(date.today(), now_is)",
        "issubclass(now_is, date), issubclass(date, now_is), issubclass(bool, date)",
        "type(now_is.now()) == now_is, {now_is: 1}[type(now_is.now())], now_is != date",
        "now_is, now_is.__name__, date",
    ],
    "times": [
        *[f"time.{name}()" for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time")],
        *[f"time.{name}_ns()" for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time")],
        "time.clock_gettime(time.CLOCK_REALTIME), time.clock_gettime_ns(time.CLOCK_MONOTONIC)",
        "time.localtime(), time.gmtime(), time.localtime(5), time.localtime().tm_zone, time.localtime().tm_gmtoff",
        "time.ctime(), time.ctime(5), time.asctime(), time.asctime(time.gmtime(5))",
        "time.strftime('%Y-%m-%d %H:%M:%S %Z'), time.strftime('%c', time.gmtime(5))",
        "time.mktime(time.localtime()), time.timezone, time.tzname, time.daylight",
    ],
    "sleep": [
        "time.sleep(0.1), time.time()",
        "time.sleep(0.3), time.time(), time.sleep(True), now_is.now()",
        "time.sleep(1e-7), time.time_ns()",
        "time.sleep('x')",
        "time.sleep(86400), time.ctime(), time.monotonic_ns()",
    ],
    "random": [
        "random.random(), random.randint(1, 100), choice('abc'), random.sample(range(50), 5), random.gauss(0, 1)",
        "random.shuffle(x := [1, 2, 3, 4]), x, random.uniform(1, 2), random.getrandbits(70), random.randbytes(4)",
        "random.Random().random(), random.Random().random(), random.Random(5).random()",
        "random.SystemRandom().random(), random.SystemRandom().choice('abc'), random.SystemRandom(1).getrandbits(9)",
        "random.seed(), random.random(), random.seed(3), random.random()",
    ],
    "ids": [
        "uuid.uuid4(), uuid.uuid1(), uuid.uuid1(5, 6).version, str(uuid.uuid4())[14]",
        "uuid.getnode(), uuid.uuid5(uuid.NAMESPACE_DNS, 'x')",
    ],
    "secrets": [
        "secrets.token_hex(4), secrets.token_hex(), secrets.token_bytes(3), secrets.token_urlsafe(5)",
        "secrets.choice([1, 2, 3]), secrets.randbelow(100), secrets.randbits(8), secrets.SystemRandom().random()",
        "os.urandom(4)",
    ],
}
ALL = [expression for group in EXPRESSIONS.values() for expression in group]

CHILD = """
import json, sys
from harness.determinism import install
clock, seed, expressions, program = json.load(sys.stdin)
install(clock, seed)
names = {"__name__": "x"}
exec(program, names)
print(json.dumps({expression: names["seen"](expression) for expression in expressions}))
"""


def in_this_process(clock: str = CLOCK, seed: int = SEED) -> dict[str, str]:
    names = namespace("x", Importer(clock, seed))
    exec(PROGRAM, names)
    return {expression: names["seen"](expression) for expression in ALL}


def in_a_child(zone: str, clock: str = CLOCK, seed: int = SEED) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps([clock, seed, ALL, PROGRAM]),
        env={**os.environ, "TZ": zone, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    answers: dict[str, str] = json.loads(done.stdout)
    return answers


@pytest.fixture(scope="module")
def patched() -> dict[str, str]:
    return in_a_child("UTC")


@pytest.mark.parametrize("group", EXPRESSIONS)
def test_this_process_and_a_patched_one_give_the_same_values(patched: dict[str, str], group: str) -> None:
    here = in_this_process()
    assert {e: here[e] for e in EXPRESSIONS[group]} == {e: patched[e] for e in EXPRESSIONS[group]}


def test_the_time_zone_of_the_machine_changes_nothing_in_a_patched_process(patched: dict[str, str]) -> None:
    assert in_a_child("America/New_York") == patched


def test_the_time_zone_of_the_machine_changes_nothing_here(
    patched: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert in_this_process() == patched
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_same_seed_gives_the_same_values_again() -> None:
    assert in_this_process() == in_this_process()


@pytest.mark.parametrize("group", ["random", "ids", "secrets"])
def test_another_seed_gives_other_values(group: str) -> None:
    one, other = in_this_process(seed=1), in_this_process(seed=2)
    assert all(one[expression] != other[expression] for expression in EXPRESSIONS[group])


@pytest.mark.parametrize(
    ("clock", "now"),
    [
        ("2025-01-01", "2025-01-01 00:00:00"),
        ("2025-01-01T12:00:00Z", "2025-01-01 12:00:00"),
        ("2025-01-01T12:00:00.000001+02:00", "2025-01-01 10:00:00.000001"),
        ("1969-12-31T23:59:59.5Z", "1969-12-31 23:59:59.500000"),
    ],
)
def test_the_clock_stands_where_the_scenario_says(clock: str, now: str) -> None:
    names = namespace("x", Importer(clock, 0))
    exec("from datetime import datetime\nnow = str(datetime.now())", names)
    assert names["now"] == now


@pytest.mark.parametrize("clock", ["tomorrow", "9999-12-31T23:00:00-02:00", "0001-01-01T00:00:00+01:00"])
def test_a_clock_that_is_no_time_is_refused(clock: str) -> None:
    with pytest.raises(ValueError, match=r"isoformat|out of range"):
        parse_clock(clock)


def test_two_programs_have_clocks_and_streams_of_their_own() -> None:
    def opened() -> dict[str, Any]:
        names = namespace("x", Importer(CLOCK, SEED))
        exec("import time, random", names)
        return names

    one, other = opened(), opened()
    exec("time.sleep(60); random.random(); random.seed(1)", one)
    exec("late, drawn = time.time(), random.random()", other)
    assert other["late"] == parse_clock(CLOCK).timestamp()
    assert other["drawn"] == random.Random(SEED).random()


def test_drawing_from_one_source_leaves_the_others() -> None:
    names = namespace("x", Importer(CLOCK, SEED))
    exec("import uuid, random, secrets\nuuid.uuid4(); secrets.token_hex()\ndrawn = random.random()", names)
    assert names["drawn"] == random.Random(SEED).random()


def test_nothing_of_the_process_is_touched() -> None:
    real = (datetime.datetime, time.time, time.sleep, uuid.uuid4, os.urandom, random.Random, random.random)
    random.seed(0)
    in_this_process()
    drawn = random.random()
    assert drawn == random.Random(0).random()
    assert real == (datetime.datetime, time.time, time.sleep, uuid.uuid4, os.urandom, random.Random, random.random)
    assert abs(time.time() - parse_clock(CLOCK).timestamp()) > 86_400


def test_other_modules_are_the_real_ones() -> None:
    names = namespace("x", Importer(CLOCK, SEED))
    exec("import json, os.path, collections.abc\nfrom os.path import join", names)
    assert names["json"] is json
    assert names["join"] is os.path.join


def test_a_patched_process_tells_of_every_sleep_before_it_happens() -> None:
    code = (
        "import time; from harness.determinism import install; told = []\n"
        "install('2025-01-01', 0, lambda s: told.append((s, time.time())))\n"
        "time.sleep(2); time.sleep(0.5); print(told)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[(2.0, 1735689600.0), (0.5, 1735689602.0)]"


def test_every_clock_tells_the_frozen_time_in_its_unit() -> None:
    names = namespace("x", Importer("2025-01-01", 0))
    exec("import time\ntime.sleep(0.5)", names)
    of = names["time"]
    seconds, nanoseconds = 1735689600.5, 1735689600500000000
    clocks = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
    assert {getattr(of, name)() for name in clocks} | {of.clock_gettime(of.CLOCK_REALTIME)} == {seconds}
    assert {getattr(of, f"{name}_ns")() for name in clocks} | {of.clock_gettime_ns(of.CLOCK_REALTIME)} == {nanoseconds}
