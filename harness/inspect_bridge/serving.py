"""Serving a checkpoint folder on loopback: vLLM where there is a GPU, `transformers serve` on CPU."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx2

from harness.errors import SettingError

START_SECONDS = 900.0
"""How long a server may take to load a checkpoint."""


class ServerFailed(Exception):
    """The server ended or did not answer in time; the message holds the end of its output."""


class Server:
    """A server process for one checkpoint, started at first use and ended with this process.

    Args:
        folder: The checkpoint.
        engine: `auto`, `vllm` or `transformers`.
        tool_call_parser: vLLM's tool call parser.
        reasoning_parser: vLLM's reasoning parser; empty for none.
        arguments: Further flags, as one text.
    Raises:
        SettingError: If the folder holds no checkpoint or the engine is not installed.
    """

    def __init__(self, folder: Path, engine: str, tool_call_parser: str, reasoning_parser: str, arguments: str) -> None:
        if not (folder / "config.json").is_file():
            raise SettingError(f"checkpoint/{folder}: no config.json there; name a checkpoint folder or a server's URL")
        self.folder = folder.resolve()
        self.engine = _engine(engine)
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.served_name = str(self.folder)
        self._extra = shlex.split(arguments)
        self._parsers = (tool_call_parser, reasoning_parser)
        self._process: subprocess.Popen[bytes] | None = None
        self._output = Path(tempfile.mkdtemp(prefix="envscaler-serve-")) / "server.log"
        self._lock = asyncio.Lock()

    def command(self) -> list[str]:
        """The server's command line."""
        if self.engine == "transformers":
            command = [_script("transformers"), "serve", self.served_name, "--device", "cpu"]
            return [*command, "--host", "127.0.0.1", "--port", str(self.port), *self._extra]
        tool_call_parser, reasoning_parser = self._parsers
        command = [_script("vllm"), "serve", self.served_name, "--host", "127.0.0.1", "--port", str(self.port)]
        command += ["--enable-auto-tool-choice", "--tool-call-parser", tool_call_parser]
        if reasoning_parser:
            command += ["--reasoning-parser", reasoning_parser]
        return [*command, *self._extra]

    async def ready(self) -> None:
        """Start the server if it is not running, and wait until it answers.

        Raises:
            ServerFailed: If it ends or does not answer in `START_SECONDS`.
        """
        async with self._lock:
            if self._process is None:
                self._start()
                await self._answers()
            elif self._process.poll() is not None:
                raise ServerFailed(f"the server of {self.folder} ended: {self._tail()}")

    def _start(self) -> None:
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
        environment.setdefault("OMP_NUM_THREADS", "1")
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )
        atexit.register(self.stop)

    async def _answers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        async with httpx2.AsyncClient() as client:
            while time.monotonic() < deadline:
                assert self._process is not None
                if self._process.poll() is not None:
                    raise ServerFailed(f"the server of {self.folder} ended: {self._tail()}")
                with contextlib.suppress(httpx2.HTTPError):
                    if (await client.get(f"{self.url}/models", timeout=5.0)).status_code == 200:
                        return
                await asyncio.sleep(0.5)
        self.stop()
        raise ServerFailed(f"the server of {self.folder} did not answer in {START_SECONDS:.0f} s: {self._tail()}")

    def _tail(self) -> str:
        return self._output.read_text(errors="replace")[-2000:].strip()

    def stop(self) -> None:
        """End the server and what it started. Calling it twice is allowed."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        shutil.rmtree(self._output.parent, ignore_errors=True)


async def served_model(url: str) -> str:
    """The first model that a server lists.

    Raises:
        ServerFailed: If it lists none.
    """
    async with httpx2.AsyncClient() as client:
        answer = await client.get(f"{url.rstrip('/')}/models", timeout=30.0)
    models = answer.json().get("data") if answer.status_code == 200 else None
    if not models:
        raise ServerFailed(f"{url}: lists no model (status {answer.status_code}); name one with -M model=NAME")
    return str(models[0]["id"])


def _engine(engine: str) -> str:
    import importlib.util

    if engine not in ("auto", "vllm", "transformers"):
        raise SettingError(f"engine={engine}: unknown; one of auto, vllm, transformers")
    if engine == "auto":
        gpu = Path("/dev/nvidiactl").exists() and importlib.util.find_spec("vllm") is not None
        engine = "vllm" if gpu else "transformers"
    if importlib.util.find_spec(engine) is None:
        extra = "vllm" if engine == "vllm" else "serve"
        raise SettingError(f"{engine} is not installed; install it with: pip install 'envscaler[{extra}]'")
    return engine


def _script(name: str) -> str:
    """A console script of this Python's environment, which need not be on PATH."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else name


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _die_with_parent() -> None:
    """Ask the kernel to end the server when this process dies, however it dies."""
    import ctypes

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
