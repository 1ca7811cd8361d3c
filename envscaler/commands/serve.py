"""`envscaler serve`: episodes over HTTP, for training engines in environments of their own."""

from __future__ import annotations

import ipaddress
import os
from typing import Literal

import click

from envscaler.commands import door
from envscaler.commands.door import BadInput, Number

TOKEN_VARIABLE = "ENVSCALER_TOKEN"


@click.command()
@click.option("--benchmark", default="scenarios", show_default=True)
@click.option("-T", "pairs", multiple=True, metavar="NAME=VALUE", help="Task parameter, as for inspect eval.")
@click.option("--protocol", default="paper", show_default=True)
@click.option("--prompts", help="own or release, for scenarios.")
@click.option("--user", help="Plays user turns here: reference/scripted_user or a model.  [default: the client does]")
@click.option("--host", default="127.0.0.1", show_default=True, help=f"Others than loopback need {TOKEN_VARIABLE}.")
@click.option("--port", default=8765, show_default=True, type=click.IntRange(0, 65535), help="0: any free one.")
@click.option("--max-steps", default=40, show_default=True, type=click.IntRange(1), help="Agent messages an episode.")
@click.option(
    "--truncated",
    type=click.Choice(["zero_reward", "grade_state"]),
    default="zero_reward",
    show_default=True,
    help="What an episode at a limit is worth.",
)
@click.option("--max-episodes", default=1024, show_default=True, type=click.IntRange(1), help="Live ones at once.")
@click.option("--idle-seconds", default=900.0, show_default=True, type=Number(1), help="Then one is closed.")
def serve(
    benchmark: str,
    pairs: tuple[str, ...],
    protocol: str,
    prompts: str | None,
    user: str | None,
    host: str,
    port: int,
    max_steps: int,
    truncated: Literal["zero_reward", "grade_state"],
    max_episodes: int,
    idle_seconds: float,
) -> None:
    """Serve episodes: POST /reset, /step, /score, /close; GET /samples, /health, /metrics.

    Episodes follow the rules of training: what cannot be read is told to the agent; the limits are those given here.
    Prints its address as soon as it listens. With ENVSCALER_TOKEN set, requests must bear it.
    """
    from benchmarks.registry import loaded
    from training.config import Rollouts
    from training.rl.rollouts import rules
    from training.server.run import run
    from training.server.users import user_model

    token = os.environ.get(TOKEN_VARIABLE) or None
    if token is None and not _loopback(host):
        raise BadInput(f"--host {host}: is not loopback; set {TOKEN_VARIABLE} to a secret that clients must send")
    ready = loaded(benchmark, protocol, prompts, **door.parameters(pairs))
    model = None if user is None else user_model(user, ready.protocol.user)
    limits = Rollouts(max_steps=max_steps, truncated=truncated)
    run(
        ready,
        lambda preset: rules(preset, limits),
        host=host,
        port=port,
        token=token,
        user=model,
        most=max_episodes,
        idle_seconds=idle_seconds,
        listening=lambda url: click.echo(f"{len(ready.samples)} samples of {benchmark} ({protocol}) at {url}"),
    )


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
