"""Write the recording anew, if prompts or scenes changed: `python -m tests.envscaler.scengenerator.author.record`."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from envscaler.scenarios import Corpus, load
from envscaler.scengenerator.pipeline import Pipeline, Settings
from envscaler.synthesis.ask import ROLES
from envscaler.synthesis.desk import Desk, Limits
from envscaler.synthesis.folder import Ended
from envscaler.synthesis.journal import Journal
from harness.isolation import IsolatedRunner
from tests.envscaler.scengenerator.author.model import Author
from tests.envscaler.skelbuilder.author.record import pack

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
RECORDING = HERE / "recording.jsonl.gz"
PER_ENVIRONMENT = 7


async def run(folder: Path, generate: Any, corpus: Corpus, settings: Settings, limits: Limits | None = None) -> Ended:
    """A run with any model, in this process."""
    journal = Journal(folder / "journal.jsonl")
    try:
        with IsolatedRunner() as runner:
            desk = Desk(generate, dict.fromkeys(ROLES, "author"), journal, limits or Limits())
            return await Pipeline(folder, desk, runner, settings).run(corpus)
    finally:
        journal.close()


def main() -> None:
    """Write it."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(per_environment=PER_ENVIRONMENT)
        ended = asyncio.run(run(Path(folder), Author(), load(CORPUS), settings))
        pack(Path(folder) / "journal.jsonl", RECORDING)
    print(f"{RECORDING.name}: {RECORDING.stat().st_size} bytes, {ended.kept} scenarios kept")


if __name__ == "__main__":
    main()
