"""The server as a process: what it answers, whom it refuses, how it ends, and a thousand episodes at once."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import pytest

from harness.messages import assistant
from tests import small_corpus

EPISODES = 1000
MAIN = "from envscaler.cli import main; main()"


@contextmanager
def served(folder: Path, *options: str, **variables: str) -> Iterator[tuple[str, psutil.Process]]:
    """A server of a corpus, on a free port; ended by its own id."""
    command = [sys.executable, "-c", MAIN, "serve", "--port", "0", "-T", f"corpus={folder}", *options]
    environment = {**os.environ, **variables}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().rsplit(" ", 1)[1].strip(), psutil.Process(process.pid)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_corpus.write(tmp_path_factory.mktemp("corpus"), scenarios=3)


@pytest.fixture(scope="module")
def url(corpus: Path) -> Iterator[str]:
    with served(corpus, "--max-episodes", "3") as (url, _):
        yield url


def ask(url: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Status and answer of one request."""
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            status, text = response.status, response.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    return status, json.loads(text) if text.startswith(b"{") else text.decode()


def test_an_episode_over_http(url: str) -> None:
    status, samples = ask(url, "/samples")
    assert (status, samples["benchmark"], len(samples["samples"])) == (200, "scenarios", 3)
    status, told = ask(url, "/reset", {"sample_id": "shelf-task_2"})
    assert status == 200
    episode_id = told["episode_id"]
    for message in (assistant("", [("put", {"name": "honey", "number": 2})]), assistant("Task Completed")):
        status, told = ask(url, "/step", {"episode_id": episode_id, "message": message})
        assert status == 200
    assert (told["done"], told["reward"]) == (True, 1.0)
    assert ask(url, "/score", {"episode_id": episode_id})[1]["sample_id"] == "shelf-task_2"
    assert ask(url, "/close", {"episode_id": episode_id}) == (200, {"episode_id": episode_id, "closed": True})
    status, told = ask(url, "/step", {"episode_id": episode_id, "message": assistant("again")})
    assert (status, told) == (410, {"error": f"episode '{episode_id}' was closed"})


def test_half_characters_of_a_model_come_back(url: str) -> None:
    _, told = ask(url, "/reset", {"sample_id": "shelf-task_1"})
    cut = assistant("", [("put", {"name": "hon\ud83d"})])
    status, told = ask(url, "/step", {"episode_id": told["episode_id"], "message": cut})
    assert (status, told["needs"]) == (200, "agent")
    status, record = ask(url, "/score", {"episode_id": told["episode_id"]})
    assert status == 200
    assert "\\ud83d" in json.dumps(record["messages"])
    ask(url, "/close", {"episode_id": told["episode_id"]})


@pytest.mark.parametrize(
    ("path", "body", "status", "sentence"),
    [
        ("/reset", {"sample_id": "shelf-task_9"}, 404, "no sample 'shelf-task_9'; did you mean 'shelf-task_"),
        ("/reset", {"sample_id": "x" * 1001}, 422, "sample_id: String should have at most 1000 characters"),
        ("/reset", {"sample": "shelf-task_1"}, 422, "sample_id: Field required"),
        ("/reset", {"sample_id": "shelf-task_1", "level": "trusted"}, 422, "level: Extra inputs are not permitted"),
        ("/reset", b"{", 422, "JSON decode error"),
        ("/step", {"episode_id": "x", "message": {}}, 404, "episode 'x' is unknown"),
        ("/step", {"episode_id": "x", "message": "text"}, 422, "message: "),
        ("/score", {"episode_id": "x", "stop_reason": "agent_done"}, 422, "stop_reason: "),
        ("/close", {"episode_id": "x"}, 404, "episode 'x' is unknown"),
        ("/reset", b"[" * 100_000, 400, "There was an error parsing the body"),
    ],
)
def test_a_bad_request_is_one_sentence(url: str, path: str, body: Any, status: int, sentence: str) -> None:
    got, told = ask(url, path, body)
    assert got == status
    assert sentence in told["error"]


def test_a_body_that_is_too_large_is_refused_before_it_is_read(url: str) -> None:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    connection.putrequest("POST", "/reset")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(4 * 2**20 + 1))
    connection.endheaders()
    response = connection.getresponse()
    assert (response.status, json.load(response)) == (413, {"error": "the body is larger than 4194304 bytes"})
    connection.close()


def refused(url: str, head: str, body: str) -> tuple[int, bytes]:
    """Status and answer of a request that goes out in one piece: it is refused before its body is asked for."""
    host, _, port = url.removeprefix("http://").partition(":")
    text = f"POST /reset HTTP/1.1\r\nHost: {url.removeprefix('http://')}\r\n{head}\r\n{body}"
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(text.encode())
        response = http.client.HTTPResponse(connection)
        response.begin()
        return response.status, response.read()


def test_a_body_in_chunks_is_refused_whatever_length_is_told_beside_it(url: str) -> None:
    head = "Content-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n"
    status, told = refused(url, head, "2\r\n{}\r\n0\r\n\r\n")
    assert (status, json.loads(told)) == (411, {"error": "the length of the body must be told"})


def test_a_page_in_a_browser_cannot_play(url: str) -> None:
    assert refused(url, "Content-Type: text/plain\r\nContent-Length: 2\r\n", "{}")[0] == 415
    assert ask(url, "/reset", {"sample_id": "shelf-task_1"}, Host="evil.example")[0] == 400


def test_both_or_neither_of_message_and_user_is_refused(url: str) -> None:
    _, told = ask(url, "/reset", {"sample_id": "shelf-task_1"})
    episode_id = told["episode_id"]
    assert ask(url, "/step", {"episode_id": episode_id})[0] == 422
    assert ask(url, "/step", {"episode_id": episode_id, "message": {}, "user": "x"})[0] == 422
    assert ask(url, "/step", {"episode_id": episode_id, "user": "x"})[0] == 409
    assert ask(url, "/step", {"episode_id": episode_id, "message": {}, "move": 5})[0] == 409
    ask(url, "/close", {"episode_id": episode_id})


def test_a_full_server_says_so(url: str) -> None:
    told = [ask(url, "/reset", {"sample_id": "shelf-task_1"}) for _ in range(4)]
    assert [status for status, _ in told] == [200, 200, 200, 429]
    assert "3 episodes are live" in told[3][1]["error"]
    for _, answer in told[:3]:
        ask(url, "/close", {"episode_id": answer["episode_id"]})
    assert ask(url, "/health")[1] == {"status": "healthy", "live": 0, "limit": 3}


def test_a_token_is_asked_for_where_one_is_set(corpus: Path) -> None:
    with served(corpus, ENVSCALER_TOKEN="secret") as (url, _):
        assert ask(url, "/health")[0] == 401
        assert ask(url, "/health", Authorization="Bearer wrong")[0] == 401
        assert ask(url, "/health", Authorization="Bearer secret")[0] == 200


def test_another_address_than_loopback_needs_a_token(corpus: Path) -> None:
    command = [sys.executable, "-c", MAIN, "serve", "--host", "0.0.0.0", "-T", f"corpus={corpus}"]
    environment = {name: value for name, value in os.environ.items() if name != "ENVSCALER_TOKEN"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 2
    assert done.stderr.strip() == (
        "envscaler: --host 0.0.0.0: is not loopback; set ENVSCALER_TOKEN to a secret that clients must send"
    )


def test_an_idle_episode_is_reaped_and_a_scripted_user_answers_here(corpus: Path) -> None:
    options = ("--idle-seconds", "1", "--user", "reference/scripted_user", "-T", "setting=conversation")
    with served(corpus, *options) as (url, _):
        _, told = ask(url, "/reset", {"sample_id": "shelf-task_1"})
        assert told["needs"] == "agent"
        assert told["messages"][-1]["role"] == "user"
        ended = ask(url, "/reset", {"sample_id": "shelf-task_1"})[1]
        while not ended["done"]:
            message = assistant("Is there anything else?")
            _, ended = ask(url, "/step", {"episode_id": ended["episode_id"], "message": message})
        assert ended["outcome"]["stop_reason"] == "user_stop"
        asyncio.run(asyncio.sleep(3))
        status, gone = ask(url, "/step", {"episode_id": told["episode_id"], "message": assistant("x")})
        assert (status, gone["error"].endswith("was closed after 1 s without a word")) == (410, True)
        assert "envscaler_episodes_kept 0" in ask(url, "/metrics")[1]


def test_a_killed_server_leaves_no_environment_behind(corpus: Path) -> None:
    with served(corpus) as (url, process):
        for _ in range(3):
            ask(url, "/reset", {"sample_id": "shelf-task_1"})
        family = process.children(recursive=True)
        assert len(family) == 4, "three environments and the process they are forked from"
        process.send_signal(signal.SIGKILL)
        _, alive = psutil.wait_procs(family, timeout=30)
        assert alive == []


def test_a_thousand_episodes_at_once_are_neither_lost_nor_mixed(corpus: Path) -> None:
    """Each puts jars of a kind of its own, all are live together, and each finds its own and no other."""
    with served(corpus, "--max-episodes", str(EPISODES)) as (url, process):
        rewards = asyncio.run(_thousand(url))
        assert rewards == [1.0] * EPISODES
        metrics = ask(url, "/metrics")[1]
        assert f'envscaler_episodes_total{{ending="scored"}} {EPISODES}' in metrics
        assert f"envscaler_steps_total {4 * EPISODES}" in metrics
        assert "envscaler_episodes_live 0\n" in metrics
        family = process.children(recursive=True)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) in (0, -signal.SIGTERM)
        _, alive = psutil.wait_procs(family, timeout=30)
        assert alive == []


async def _thousand(url: str) -> list[float]:
    unlimited, patient = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(total=300)
    async with aiohttp.ClientSession(url, connector=unlimited, timeout=patient) as session:

        async def post(path: str, **body: Any) -> dict[str, Any]:
            async with session.post(path, json=body) as response:
                assert response.status == 200, await response.text()
                answer: dict[str, Any] = await response.json()
                return answer

        ids = await asyncio.gather(*(_reset(post, number) for number in range(EPISODES)))
        assert len(set(ids)) == EPISODES
        async with session.get("/health") as response:
            assert (await response.json())["live"] == EPISODES
        return list(await asyncio.gather(*(_play(post, number, ids[number]) for number in range(EPISODES))))


async def _reset(post: Any, number: int) -> str:
    told = await post("/reset", sample_id=f"shelf-task_{number % 3 + 1}")
    return str(told["episode_id"])


async def _play(post: Any, number: int, episode_id: str) -> float:
    own, other = f"kind {number}", f"kind {number + 1}"
    calls = [("count", {"name": "jam"}), ("count", {"name": other}), ("put", {"name": "honey", "number": 2})]
    jam = (number % 3 + 1) % 3 + 1
    expected = [jam, 0, None]
    for (name, arguments), value in zip(calls, expected, strict=True):
        told = await post("/step", episode_id=episode_id, message=assistant(own, [(name, arguments)]))
        assert told["episode_id"] == episode_id
        if value is not None:
            assert f"'data': {value}" in told["messages"][0]["content"], (number, told)
    told = await post("/step", episode_id=episode_id, message=assistant(f"Task Completed {own}"))
    record = await post("/score", episode_id=episode_id)
    assert record["messages"][-1]["content"] == f"Task Completed {own}"
    assert record["sample_id"] == f"shelf-task_{number % 3 + 1}"
    return float(told["reward"])
