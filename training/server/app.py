"""The sessions over HTTP: reset, step, score by episode id (issue of the engines; the shape follows OpenEnv).

Only JSON, only on loopback unless a token is set. Moves run in threads: the environments are other processes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, Any, Literal

import anyio
import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from harness.episode import UserTurn
from harness.errors import EnvironmentFault, EnvScalerError, EpisodeMisuse
from harness.messages import Message
from harness.outcome import StopReason
from training.server.guard import Guard
from training.server.metrics import exposition
from training.server.sessions import OutOfTurn, Session, Sessions, TooMany, UnknownEpisode, UnknownSample
from training.server.users import UserFailed, UserModel
from training.template import read_reply

THREADS = 8
"""Moves at once. They mostly wait for their environment's process; more threads only contend for the interpreter."""
REAP_SECONDS = 5.0
"""Between two looks for idle episodes, at most."""

STATUS: dict[type[Exception], int] = {
    UnknownSample: 404,
    OutOfTurn: 409,
    EpisodeMisuse: 409,
    TooMany: 429,
    UserFailed: 502,
    EnvironmentFault: 503,
}


Name = Annotated[str, Field(max_length=1000)]
"""An id; an unknown one is compared with all that are known, which takes time by its length."""


class _Body(BaseModel):
    """A request. Unknown keys are refused: a misspelt one would be ignored in silence."""

    model_config = ConfigDict(extra="forbid")


class Reset(_Body):
    """Start an episode of a sample."""

    sample_id: Name
    run: Annotated[int, Field(ge=1)] = 1
    model: str = ""


class Step(_Body):
    """One move: the agent's message or its raw text (Hermes form), or the user model's raw text."""

    episode_id: Name
    message: dict[str, Any] | None = None
    text: str | None = None
    finish_reason: Literal["length"] | None = None
    """Of `text`: a token limit cut it, so that no call in it is executed."""
    user: str | None = None
    move: Annotated[int, Field(ge=1)] | None = None

    def agent(self) -> Message | None:
        """The agent's message, if this is its move."""
        if self.text is None:
            return self.message
        message = read_reply(self.text)
        return message if self.finish_reason is None else {**message, "finish_reason": self.finish_reason}


class Score(_Body):
    """Ask for the outcome; ends an episode that is not over."""

    episode_id: Name
    stop_reason: Literal["recording_ended", "context_full"] = "recording_ended"


class Close(_Body):
    """Free an episode."""

    episode_id: Name


def application(sessions: Sessions, *, hosts: list[str], token: str | None, user: UserModel | None) -> FastAPI:
    """The ASGI application.

    Args:
        hosts: Names under which it may be asked (the Host header), against pages that point a name of theirs here.
        token: Asked for as a bearer token; None on loopback.
        user: Answers user turns on the server's side; None leaves them to the client.
    """
    threads = anyio.CapacityLimiter(THREADS)

    async def do(work: Callable[[], Any]) -> Any:
        return await anyio.to_thread.run_sync(work, limiter=threads)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async def reap() -> None:
            while True:
                await asyncio.sleep(min(REAP_SECONDS, sessions.idle_seconds / 4))
                await do(sessions.reap)

        reaper = asyncio.create_task(reap())
        try:
            yield
        finally:
            reaper.cancel()
            await anyio.to_thread.run_sync(sessions.close_all)

    app = FastAPI(title="EnvScaler environments", lifespan=lifespan)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts)
    app.add_middleware(Guard, token=token)

    @app.exception_handler(EnvScalerError)
    async def told(_: Request, error: EnvScalerError) -> Response:
        if isinstance(error, UnknownEpisode):
            return _refusal(410 if error.gone else 404, str(error))
        return _refusal(STATUS.get(type(error), 500), str(error))

    @app.exception_handler(RequestValidationError)
    async def misread(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body") or "body"
        return _refusal(422, f"{place}: {first['msg']}")

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        return _refusal(error.status_code, str(error.detail))

    async def with_user(session: Session, answer: dict[str, Any]) -> dict[str, Any]:
        """Answer the user turns here, if that is this server's task."""
        while user is not None and isinstance(turn := session.need, UserTurn):
            try:
                text = await user.reply(session.episode, turn)
            except Exception as error:
                # The move was made; the same move number asked again goes on from here.
                raise UserFailed(f"the user model failed: {type(error).__name__}: {error}") from error
            answer = await do(partial(sessions.user_here, session, turn, text))
        return answer

    @app.post("/reset")
    async def reset(body: Reset) -> Response:
        session, answer = await do(lambda: sessions.open(body.sample_id, body.run, body.model))
        try:
            return Answer(await with_user(session, answer))
        except UserFailed:
            # The client has no id yet under which it could ask again.
            await do(lambda: sessions.close(session))
            raise

    @app.post("/step")
    async def step(body: Step) -> Response:
        session = sessions.find(body.episode_id)
        if sum(given is not None for given in (body.message, body.text, body.user)) != 1:
            return _refusal(422, "exactly one of message, text and user must be given")
        if (message := body.agent()) is not None:
            answer = await do(partial(sessions.agent, session, message, body.move))
        else:
            answer = await do(partial(sessions.user, session, body.user or "", body.move))
        return Answer(await with_user(session, answer))

    @app.post("/score")
    async def score(body: Score) -> Response:
        session = sessions.find(body.episode_id)
        return Answer(await do(lambda: sessions.score(session, StopReason(body.stop_reason))))

    @app.post("/close")
    async def close(body: Close) -> Response:
        session = sessions.find(body.episode_id)
        await do(lambda: sessions.close(session))
        return Answer({"episode_id": session.id, "closed": True})

    @app.get("/samples")
    async def samples() -> Response:
        rows = [{"sample_id": s.id, "subset": s.subset, "group": s.group} for s in sessions.ready.samples]
        return Answer(
            {
                "benchmark": sessions.ready.benchmark.name,
                "version": sessions.ready.benchmark.version,
                "protocol": sessions.ready.protocol.name,
                "samples": rows,
            }
        )

    @app.get("/health")
    async def health() -> Response:
        return Answer({"status": "healthy", "live": sessions.live, "limit": sessions.most})

    @app.get("/metrics")
    async def metrics() -> Response:
        return PlainTextResponse(exposition(sessions), media_type="text/plain; version=0.0.4")

    return app


class Answer(Response):
    """JSON in ASCII: texts of models may hold halves of characters, which UTF-8 cannot carry."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content).encode()


def _refusal(status: int, sentence: str) -> Response:
    headers = {"Retry-After": "1"} if status == 429 else None
    return Answer({"error": sentence}, status_code=status, headers=headers)
