"""The server as a process: a socket, uvicorn, and a clean end."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from benchmarks.registry import Loaded
from harness.errors import SettingError
from harness.protocol import Protocol
from training.server.app import application
from training.server.sessions import Sessions
from training.server.users import UserModel

BACKLOG = 4096
"""Connections that may wait to be accepted: thousands of episodes may begin in one moment."""


def run(
    ready: Loaded,
    rules: Callable[[Protocol], Protocol],
    *,
    host: str,
    port: int,
    token: str | None,
    user: UserModel | None,
    most: int,
    idle_seconds: float,
    listening: Callable[[str], None],
) -> None:
    """Serve until SIGINT or SIGTERM; every live environment is closed then.

    Args:
        rules: From the benchmark's protocol to that of training.
        port: 0 takes any free one.
        listening: Is told the URL, once connections are taken.
    Raises:
        SettingError: If the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise SettingError(f"{host}:{port}: cannot listen there: {error.strerror or error}") from error
    taken = listener.getsockname()[1]
    shown = f"[{host}]" if family == socket.AF_INET6 else host
    sessions = Sessions(ready, rules, most=most, idle_seconds=idle_seconds)
    # A token keeps strangers out by itself; without one, only our own names are answered.
    hosts = ["*"] if token is not None else ["localhost", "127.0.0.1", "[::1]", shown]
    app = application(sessions, hosts=hosts, token=token, user=user)
    config = uvicorn.Config(app, log_level="warning", access_log=False, backlog=BACKLOG, timeout_keep_alive=60)
    listening(f"http://{shown}:{taken}")
    with listener:
        uvicorn.Server(config).run(sockets=[listener])
