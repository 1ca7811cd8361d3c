"""Who may ask, and what may be sent: looked at before a request is read."""

from __future__ import annotations

import hmac
import json

from starlette.types import ASGIApp, Receive, Scope, Send

BODY_BYTES = 4 * 2**20
"""Largest request."""


class Guard:
    """Refuses strangers, what is not JSON, and what is too large.

    Args:
        app: The application behind.
        token: Asked for as a bearer token; None asks for none.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._bearer = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self._refused(scope) if scope["type"] == "http" else None
        if refused is None:
            await self._app(scope, receive, send)
            return
        status, sentence = refused
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps({"error": sentence}).encode()})

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        headers = dict(scope["headers"])
        if self._bearer is not None and not hmac.compare_digest(headers.get(b"authorization", b""), self._bearer):
            return 401, "the token is missing or wrong"
        if scope["method"] == "POST":
            # A page in a browser can post text to loopback unasked; JSON it cannot.
            if headers.get(b"content-type", b"").partition(b";")[0].strip() != b"application/json":
                return 415, "the body must be application/json"
            length = headers.get(b"content-length", b"").decode("latin-1")
            # Of a body in chunks the server ignores the length that is told beside it.
            if not length.isdecimal() or b"transfer-encoding" in headers:
                return 411, "the length of the body must be told"
            if int(length) > BODY_BYTES:
                return 413, f"the body is larger than {BODY_BYTES} bytes"
        return None
