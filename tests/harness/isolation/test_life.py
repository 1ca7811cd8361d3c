"""Processes, descriptors, threads, loops and forks: nothing outlives its owner, and nobody gets another's answer."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from harness.errors import EnvironmentFault
from harness.isolation import IsolatedInstance, IsolatedRunner
from harness.program import Limits
from tests.harness.isolation.builders import check, shop

HARNESS = """
import sys, time
from harness.isolation import IsolatedRunner
from tests.harness.isolation.builders import shop
runner = IsolatedRunner()
live = [runner.open(shop()) for _ in range(3)]
print(runner.zygote().pid, *(instance._child.pid for instance in live), flush=True)
try:
    live[0].call("loop", {})
except KeyboardInterrupt:
    live[1].call("look_up", {"order_id": "O1"})
    print("interrupted", flush=True)
"""


def start_harness() -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    """A harness of its own, in a call that never returns; the processes of its isolation."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    harness = subprocess.Popen(
        [sys.executable, "-c", HARNESS], stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    assert harness.stdout is not None
    pids = [int(word) for word in harness.stdout.readline().split()]
    assert len(pids) == 4
    return harness, [psutil.Process(pid) for pid in pids]


def all_gone(processes: list[psutil.Process], seconds: float = 10) -> bool:
    """True once none of them is left, zombies of others' aside."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        left = [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
        if not left:
            return True
        time.sleep(0.02)
    return False


def test_nothing_outlives_a_harness_that_was_killed() -> None:
    harness, processes = start_harness()
    harness.kill()
    harness.communicate()
    assert all_gone(processes)


def test_ctrl_c_reaches_the_harness_alone_and_nothing_outlives_it() -> None:
    harness, processes = start_harness()
    time.sleep(0.2)
    os.killpg(harness.pid, signal.SIGINT)  # what the terminal sends to its foreground group
    out, _ = harness.communicate(timeout=20)
    assert out.strip() == "interrupted"
    assert harness.returncode == 0
    assert all_gone(processes)


def test_nothing_outlives_the_zygote() -> None:
    harness, processes = start_harness()
    processes[0].kill()
    assert all_gone(processes[1:])
    harness.communicate(timeout=20)


def test_a_copy_of_the_harness_neither_holds_nor_ends_the_original_s_children() -> None:
    with IsolatedRunner() as runner, runner.open(shop()) as instance:
        copy = os.fork()
        if copy == 0:
            try:
                with pytest.raises(EnvironmentFault):
                    instance.call("look_up", {"order_id": "O1"})
                with runner.open(shop()) as own:
                    assert own.call("say", {"text": "copy"}).text == "copy"
                runner.close()
            except BaseException:
                os._exit(1)
            os._exit(0)
        assert os.waitpid(copy, 0)[1] == 0
        assert instance.call("say", {"text": "original"}).text == "original"


def test_many_threads_share_a_runner(runner: IsolatedRunner) -> None:
    def episode(number: int) -> str:
        with runner.open(shop()) as instance:
            for _ in range(5):
                instance.call("look_up", {"order_id": "O1"})
            return instance.call("say", {"text": str(number)}).text

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(episode, range(64))) == [str(number) for number in range(64)]


def test_the_thread_that_started_the_zygote_may_end() -> None:
    with IsolatedRunner() as runner:
        opened: list[IsolatedInstance] = []
        thread = threading.Thread(target=lambda: opened.append(runner.open(shop())))
        thread.start()
        thread.join()
        assert opened[0].call("say", {"text": "alive"}).text == "alive"


def test_many_episodes_on_one_event_loop(runner: IsolatedRunner) -> None:
    async def episode(number: int) -> tuple[str, str]:
        instance = await runner.open_async(shop())
        try:
            await instance.call_async("ship", {"order_id": "O1"})
            said = await instance.call_async("say", {"text": str(number)})
            return said.text, (await instance.state_async()).digest
        finally:
            instance.close()

    async def all_of_them() -> list[tuple[str, str]]:
        verdicts, *results = await asyncio.gather(
            runner.check_async(check("return True")), *(episode(number) for number in range(32))
        )
        assert [verdict.passed for verdict in verdicts] == [True]
        return results

    results = asyncio.run(all_of_them())
    assert [text for text, _ in results] == [str(number) for number in range(32)]
    assert len({digest for _, digest in results}) == 1


def test_a_cancelled_call_ends_its_episode_only() -> None:
    async def cancel() -> None:
        stuck, other = await runner.open_async(shop()), await runner.open_async(shop())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await stuck.call_async("loop", {})
        with pytest.raises(EnvironmentFault):
            await stuck.call_async("look_up", {"order_id": "O1"})
        assert (await other.call_async("say", {"text": "on"})).text == "on"

    with IsolatedRunner() as runner:
        asyncio.run(cancel())


def test_one_call_in_each_of_many_instances() -> None:
    with IsolatedRunner(Limits(call_seconds=1)) as runner:
        live = [runner.open(shop()) for _ in range(8)]
        calls = [(instance, "say", {"text": str(number) * 300_000}) for number, instance in enumerate(live)]
        calls[2] = (live[2], "loop", {})
        calls[5] = (live[5], "leave", {"code": 0})
        calls[6] = (live[6], "no_such_tool", {})
        results = runner.call_many(calls)
        kinds = [result.kind if isinstance(result, EnvironmentFault) else len(result.text) for result in results]
        assert kinds == [300_000, 300_000, "timeout", 300_000, 300_000, "killed", 35, 300_000]
        again = runner.call_many([(live[0], "say", {"text": "x"}), (live[2], "say", {"text": "x"})])
        assert isinstance(again[1], EnvironmentFault)
        assert not isinstance(again[0], EnvironmentFault)


def test_descriptors_do_not_reach_unrelated_programs() -> None:
    with IsolatedRunner() as runner, runner.open(shop()):
        listing = subprocess.run(
            [sys.executable, "-c", "import os; print(*os.listdir('/proc/self/fd'))"],
            close_fds=False,
            capture_output=True,
            text=True,
            check=True,
        )
        inherited = [os.path.basename(fd) for fd in listing.stdout.split()]
        ours = {str(instance.fileno()) for instance in _sockets(runner)}
        assert not ours & set(inherited)


def _sockets(runner: IsolatedRunner) -> list[object]:
    return [child.channel.socket for child in runner._children] + [runner.zygote()._control]


def test_a_forgotten_instance_is_ended() -> None:
    with IsolatedRunner() as runner:
        runner.open(shop()).call("look_up", {"order_id": "O1"})
        gc.collect()
        assert settled(runner) == 0


def settled(runner: IsolatedRunner) -> int:
    """How many children are left, once the ended ones are reaped."""
    until = time.monotonic() + 10
    while (count := runner.zygote().children()) and time.monotonic() < until:
        time.sleep(0.01)
    return count


def test_a_soak_leaves_no_process_descriptor_or_memory() -> None:
    """2,000 short episodes, 32 at a time. The zygote's memory is watched: whatever leaked would be inherited by all."""

    def episode(number: int) -> None:
        with runner.open(shop(seed=number)) as instance:
            instance.call("ship", {"order_id": "O1"})
            if number % 50 == 0:
                final = instance.state()
                task = check("return s['orders']['O1']['status'] == 'shipped'")
                assert runner.check(type(task)(functions=task.functions, initial=final, final=final))[0].passed

    with IsolatedRunner() as runner, ThreadPoolExecutor(32) as pool:
        list(pool.map(episode, range(200)))
        gc.collect()
        harness, zygote = psutil.Process(), psutil.Process(runner.zygote().pid)
        descriptors, memory = (harness.num_fds(), zygote.num_fds()), zygote.memory_full_info().uss
        list(pool.map(episode, range(1800)))
        gc.collect()
        assert settled(runner) == 0
        assert zygote.children() == []
        assert (harness.num_fds(), zygote.num_fds()) == descriptors
        assert zygote.memory_full_info().uss - memory < 4 * 2**20
