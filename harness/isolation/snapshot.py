"""Start an episode where another one stood: from its state, or by repeating its calls. Works at every level.

A state is enough where the program keeps all it knows in its attributes, which is what states hold; random streams,
ids and a clock that was slept forward begin anew. Repeating the calls restores those too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from harness.program import Instance, Program, Runner
from harness.state import State


def restore(runner: Runner, program: Program, state: State) -> Instance:
    """A new instance in `state`, which an instance of the same program exported.

    Objects of the program's own classes come back as `harness.state.Record`: same attributes, no methods.

    Raises:
        EnvironmentFault: As `Runner.open`.
    """
    return runner.open(replace(program, config=state))


def repeat(runner: Runner, program: Program, calls: Iterable[tuple[str, dict[str, Any]]]) -> Instance:
    """A new instance on which `calls` (name, arguments) were made: same state, streams and clock as the first time.

    Raises:
        EnvironmentFault: As `Runner.open` and `Instance.call`; the instance is closed then.
    """
    instance = runner.open(program)
    try:
        for name, arguments in calls:
            instance.call(name, arguments)
    except BaseException:
        instance.close()
        raise
    return instance


def replayed_state(runner: Runner, program: Program, calls: Iterable[tuple[str, dict[str, Any]]]) -> State:
    """The state that `calls` lead to.

    Raises:
        EnvironmentFault: As `repeat`, or if the state cannot be exported.
    """
    instance = repeat(runner, program, calls)
    try:
        return instance.state()
    finally:
        instance.close()
