"""An OpenAI-compatible server on loopback that records what it is asked and answers from a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], dict[str, Any]]
"""From a request to the assistant message of the reply."""


class ScriptedServer(ThreadingHTTPServer):
    """Answers chat completions with what `answer` says, and keeps every request."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.requests: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedServer

    def do_GET(self) -> None:
        self._reply({"object": "list", "data": [{"id": "tiny", "object": "model"}]})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        message = {"role": "assistant", "content": None, **self.server.answer(request)}
        reason = message.pop("finish_reason", "tool_calls" if message.get("tool_calls") else "stop")
        self._reply(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": request["model"],
                "choices": [{"index": 0, "finish_reason": reason, "message": message}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        )

    def _reply(self, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""


@contextmanager
def serving(answer: Answer) -> Iterator[ScriptedServer]:
    """A running server; stopped at the end of the block."""
    with ScriptedServer(answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def call(name: str, arguments: str, call_id: str = "c1") -> dict[str, Any]:
    """A tool call as servers send it."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
