"""What ends an episode, under which name, and what does not."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest

from harness.environment import ToolStatus
from harness.errors import EnvironmentFault
from harness.isolation import IsolatedRunner
from harness.program import Limits
from harness.state import State
from tests.harness.isolation.builders import check, shop


def kill_zygote(runner: IsolatedRunner) -> int:
    """End the zygote as a crash would; its process id."""
    zygote = runner.zygote()
    os.kill(zygote.pid, signal.SIGKILL)
    while zygote.alive():
        time.sleep(0.001)
    return zygote.pid


def test_a_method_that_raises_is_the_tool_s_own_answer(runner: IsolatedRunner) -> None:
    with runner.open(shop()) as instance:
        result = instance.call("fail", {})
        assert (result.text, result.status) == ("Error: ValueError: no such order", ToolStatus.RAISED)
        assert instance.call("look_up", {"order_id": "O1"}).status is ToolStatus.OK


def test_a_name_that_is_no_tool_never_reaches_the_program(runner: IsolatedRunner) -> None:
    with runner.open(shop()) as instance:
        assert instance.call("__init__", {}).status is ToolStatus.UNKNOWN_TOOL


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        pytest.param("loop", {}, "timeout", id="loops"),
        pytest.param("leave", {"code": 3}, "killed", id="leaves"),
        pytest.param("crash", {}, "killed", id="crashes"),
        pytest.param("say", {"text": "x" * 20_000}, "reply_too_large", id="talks-too-much"),
    ],
)
def test_a_call_that_ends_the_episode(hasty: IsolatedRunner, tool: str, arguments: dict[str, Any], kind: str) -> None:
    instance = hasty.open(shop())
    with pytest.raises(EnvironmentFault) as caught:
        instance.call(tool, arguments)
    assert caught.value.kind == kind
    with pytest.raises(EnvironmentFault, match="the episode is over"):
        instance.call("look_up", {"order_id": "O1"})


def test_memory_runs_out_as_a_fault(runner: IsolatedRunner) -> None:
    instance = runner.open(shop())
    with pytest.raises(EnvironmentFault) as caught:
        instance.call("grow", {})
    assert caught.value.kind == "out_of_memory"


def test_a_sleep_within_the_limit_takes_no_time_and_a_longer_one_is_late(runner: IsolatedRunner) -> None:
    sleeper = shop(
        source="import time\nclass Shop:\n    def say(self, text):\n        time.sleep(text)\n        return 1"
    )
    started = time.monotonic()
    with runner.open(sleeper) as instance:
        assert instance.call("say", {"text": 9.5}).text == "1"
        with pytest.raises(EnvironmentFault, match="timeout"):
            instance.call("say", {"text": 10.5})
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        pytest.param("fill", {"size": 40_000}, "state_too_large", id="too-large"),
        pytest.param("plant", {}, "state_not_exportable", id="holds-code"),
    ],
)
def test_a_state_that_cannot_leave(hasty: IsolatedRunner, tool: str, arguments: dict[str, Any], kind: str) -> None:
    instance = hasty.open(shop())
    instance.call(tool, arguments)
    with pytest.raises(EnvironmentFault) as caught:
        instance.state()
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("source", "said"),
    [
        pytest.param("class Shop(", "SyntaxError", id="does-not-compile"),
        pytest.param("1 / 0", "ZeroDivisionError", id="does-not-load"),
        pytest.param("Shop = 1", "defines no class Shop", id="no-class"),
        pytest.param("class Shop:\n    def __init__(self, a, b, c): pass", "does not take", id="constructor"),
        pytest.param("import socketserver", "not available in environments: socketserver", id="import"),
    ],
)
def test_a_program_that_does_not_start(runner: IsolatedRunner, source: str, said: str) -> None:
    with pytest.raises(EnvironmentFault, match=said) as caught:
        runner.open(shop(source=source))
    assert caught.value.kind == "init_failed"


def test_starting_has_a_deadline(hasty: IsolatedRunner) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        hasty.open(shop(source="while True: pass"))
    assert caught.value.kind == "timeout"


def test_closing_twice_is_allowed(runner: IsolatedRunner) -> None:
    instance = runner.open(shop())
    instance.close()
    instance.close()
    with pytest.raises(EnvironmentFault, match="the episode is over"):
        instance.state()


def test_checks_that_fail_are_verdicts_and_the_rest_is_heard(hasty: IsolatedRunner) -> None:
    verdicts = hasty.check(
        check(
            "return s['n'] == 1",
            "while True: pass",
            "raise KeyError('n')",
            "return 1",
            "import os\nos._exit(4)",
            "s['n'] = 2\nreturn True",
            "import datetime\nreturn datetime.datetime.now().year == 2025",
            "return initial_state == s",
        )
    )
    assert [(verdict.passed, verdict.error, verdict.mutated) for verdict in verdicts] == [
        (True, None, False),
        (False, "ran longer than 0.5 s", False),
        (False, "raised KeyError: 'n'", False),
        (False, "returned int, not a bool", False),
        (False, "gave no verdict (exit code 4)", False),
        (False, "changed the state that it was given", True),
        (True, None, False),
        (True, None, False),
    ]


def test_no_checks_give_no_verdicts(runner: IsolatedRunner) -> None:
    assert runner.check(check()) == []


def test_a_state_that_nobody_can_read_is_a_fault_not_a_verdict(runner: IsolatedRunner) -> None:
    checks = check("return True")
    broken = type(checks)(functions=checks.functions, initial=checks.initial, final=State(b'{"$decimal": "x"}'))
    with pytest.raises(EnvironmentFault, match="state_not_exportable"):
        runner.check(broken)


def test_a_crashed_zygote_is_replaced_and_only_its_episodes_fault() -> None:
    with IsolatedRunner() as runner:
        lost = runner.open(shop())
        first = kill_zygote(runner)
        with pytest.raises(EnvironmentFault) as caught:
            lost.call("look_up", {"order_id": "O1"})
        assert caught.value.kind == "zygote_crashed"
        with runner.open(shop()) as later:
            assert later.call("look_up", {"order_id": "O1"}).status is ToolStatus.OK
        assert runner.zygote().pid != first


def test_checks_are_run_again_after_a_crash_that_is_not_theirs() -> None:
    with IsolatedRunner(Limits(check_seconds=5)) as runner:
        kill_zygote(runner)
        assert [verdict.passed for verdict in runner.check(check("return True"))] == [True]


def test_a_closed_runner_says_so() -> None:
    runner = IsolatedRunner()
    instance = runner.open(shop())
    runner.close()
    runner.close()
    with pytest.raises(EnvironmentFault):
        instance.call("look_up", {"order_id": "O1"})
    with pytest.raises(EnvironmentFault, match="the runner is closed"):
        runner.open(shop())
