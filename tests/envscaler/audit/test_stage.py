"""Plays in one process say what plays in processes of their own say, or are not played in one."""

from __future__ import annotations

import pytest

from envscaler.audit.stage import Stage
from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import OracleCall
from harness.errors import EnvironmentFault
from harness.isolation import IsolatedInstance, IsolatedRunner
from harness.program import Limits, Program
from tests.envscaler.playground import cancel, shop

CANCEL = OracleCall("set_status", {"order_id": "O-1", "status": "cancelled"})
OTHER = OracleCall("set_status", {"order_id": "O-2", "status": "cancelled"})


class Counting(IsolatedRunner):
    """Counts the processes that it opens."""

    opened = 0

    def open(self, program: Program) -> IsolatedInstance:
        self.opened += 1
        return super().open(program)


def stage(runner: IsolatedRunner, record: EnvironmentRecord | None = None) -> Stage:
    return Stage(runner, record or shop(), cancel())


def test_shared_plays_are_the_same_and_take_one_process() -> None:
    runner = Counting()
    with runner:
        own = stage(runner)
        alone = [own.play(calls) for calls in ([CANCEL], [OTHER], [CANCEL, OTHER])]
        own.share(alone[0])
        before = runner.opened
        shared = [own.play(play.calls) for play in alone]
        assert all(one.same(other) for one, other in zip(alone, shared, strict=True))
        assert own.states([CANCEL])[1] == [alone[0].final]
        instance = own.open(alone[0].final)
        assert instance.state() == alone[0].final
        own.leave(instance)
        assert runner.opened == before
        own.close()
        own.play([CANCEL])
        assert runner.opened == before + 1


def test_a_program_that_remembers_in_other_modules_is_not_shared() -> None:
    source = shop().source.replace(
        "self.log: list = []",
        "import json\n        json.known = getattr(json, 'known', 0) + 1\n        self.log: list = [json.known]",
    )
    runner = Counting()
    with runner:
        own = stage(runner, shop(source=source))
        first = own.play([CANCEL])
        own.share(first)
        before = runner.opened
        assert [own.play([CANCEL]).same(first) for _ in range(3)] == [True] * 3
        assert runner.opened == before + 3


def test_what_a_fault_ended_is_played_again_in_a_new_process() -> None:
    source = shop().source.replace(
        "    def crash(",
        "    def hang(self) -> dict:\n"
        '        """Never ends."""\n'
        "        while True:\n"
        "            pass\n\n    def crash(",
    )
    hang = OracleCall("hang", {})
    runner = Counting(Limits(call_seconds=0.3))
    with runner:
        own = stage(runner, shop(source=source))
        first = own.play([CANCEL])
        own.share(first)
        with pytest.raises(EnvironmentFault, match="timeout"):
            own.play([hang])
        assert own.attempt([hang]) is None
        assert own.play([CANCEL]).same(first)
