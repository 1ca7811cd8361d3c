"""Models by role, through Inspect: the one module here that knows it. Imported only when models are asked."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from inspect_ai._cli.util import parse_model_role_cli_args
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.model._model import init_model_roles
from inspect_ai.model._util import resolve_model_roles
from inspect_ai.util import JSONSchema

from envscaler.synthesis.ask import ROLES, Answer, Request
from harness.errors import SettingError

Prices = Mapping[str, tuple[float, float]]
"""USD per million tokens, in and out, by model name."""

_MAX_RETRIES = 4
"""Of Inspect, for what a provider calls transient (rate limits, lost connections)."""
_STOPS = {"max_tokens": "length", "model_length": "length", "content_filter": "refused"}
_CLASSES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


def bind_roles(model: str | None, roles: tuple[str, ...], model_args: Mapping[str, Any]) -> dict[str, str]:
    """Bind the roles of a synthesis, and tell the name of each one's model.

    Args:
        model: For every role that is not named; None: every role must be.
        roles: As `inspect eval --model-role`: `tester=provider/name` or `tester={model: …, temperature: …}`.
        model_args: As `inspect eval -M`, for `model`.
    Raises:
        SettingError: If a role has no model, is no role of ours, or a model cannot be had.
    """
    try:
        named = parse_model_role_cli_args(roles)
        for role in named:
            if role not in ROLES:
                raise SettingError(f"--model-role {role}: unknown; one of {', '.join(ROLES)}")
        bound = resolve_model_roles(named) or {}
        for role in ROLES:
            if role not in bound:
                if model is None:
                    raise SettingError(f"no model for role '{role}'; give --model or --model-role {role}=...")
                bound[role] = get_model(model, memoize=True, **model_args)
    except (PrerequisiteError, ValueError, TypeError, ImportError) as error:
        raise SettingError(str(getattr(error, "message", error))) from error
    init_model_roles(bound)
    return {role: str(get_model(role=role, required=True)) for role in ROLES}


class InspectModels:
    """Calls the model that is bound to a request's role.

    Args:
        concurrency: Calls in flight at most; the desk sees to it, Inspect must not want fewer.
        structured: Send the schema of an answer, where it has one; providers without structured output ignore it.
        required: Every role must be bound; else the model under evaluation stands in for one that is not.
    """

    def __init__(
        self, prices: Prices, *, concurrency: int | None = None, structured: bool = True, required: bool = True
    ) -> None:
        self._prices = prices
        self._required = required
        self._concurrency = concurrency
        self._structured = structured

    async def __call__(self, request: Request) -> Answer:
        """The answer of the role's model."""
        model = get_model(role=request.role, required=self._required)
        messages: list[ChatMessage] = [_CLASSES[turn.role](content=turn.content) for turn in request.turns]
        started = time.monotonic()
        output = await model.generate(messages, config=self._config(request))
        return self._answer(model, output, time.monotonic() - started)

    def _config(self, request: Request) -> GenerateConfig:
        schema = None
        if self._structured and request.form is not None:
            form = JSONSchema.model_validate(request.form)
            schema = ResponseSchema(name=f"{request.stage}_answer", json_schema=form)
        return GenerateConfig(
            temperature=request.temperature,
            max_tokens=request.max_tokens,
            response_schema=schema,
            max_connections=self._concurrency,
            adaptive_connections=None if self._concurrency is None else False,
            max_retries=_MAX_RETRIES,
        )

    def _answer(self, model: Model, output: ModelOutput, seconds: float) -> Answer:
        if output.error is not None or not output.choices:
            raise RuntimeError(output.error or f"{model} gave no answer")
        usage = output.usage
        tokens_in = usage.input_tokens if usage else 0
        tokens_out = usage.output_tokens if usage else 0
        usd = usage.total_cost if usage and usage.total_cost is not None else None
        if usd is None:
            per_in, per_out = self._prices.get(str(model), (0.0, 0.0))
            usd = (tokens_in * per_in + tokens_out * per_out) / 1e6
        stop = _STOPS.get(str(output.stop_reason), "stop")
        return Answer(
            # A cut answer may end in half a character, which no journal takes.
            text=output.choices[0].message.text.encode("utf-8", "replace").decode(),
            stop="length" if stop == "length" else "refused" if stop == "refused" else "stop",
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            usd=usd,
            seconds=round(seconds, 3),
        )
