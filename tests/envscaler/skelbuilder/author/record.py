"""Write the recording anew: `python -m tests.envscaler.skelbuilder.author.record`, after prompts or domains changed."""

from __future__ import annotations

import asyncio
import gzip
import tempfile
from pathlib import Path

import msgspec

from envscaler.skelbuilder.pipeline import Pipeline, Settings
from envscaler.skelbuilder.texts import read_texts
from envscaler.synthesis.ask import ROLES
from envscaler.synthesis.desk import Desk, Limits
from envscaler.synthesis.folder import Ended
from envscaler.synthesis.journal import Journal, read_entries
from harness.isolation import IsolatedRunner
from harness.recordings import Line
from tests.envscaler.skelbuilder.author.model import Author

HERE = Path(__file__).parent
TASKS = HERE / "tasks.txt"
RECORDING = HERE / "recording.jsonl.gz"


async def write(folder: Path) -> Ended:
    """Run the pipeline with the author as every model, and keep its answers."""
    journal = Journal(folder / "journal.jsonl")
    try:
        with IsolatedRunner() as runner:
            desk = Desk(Author(), dict.fromkeys(ROLES, "author"), journal, Limits())
            return await Pipeline(folder, desk, runner, Settings()).run(read_texts([TASKS]))
    finally:
        journal.close()


def pack(journal: Path, target: Path) -> None:
    """A journal as a recording: what was asked, by name, and what was answered."""
    entries = sorted(read_entries(journal), key=lambda entry: (entry.stage, entry.item, entry.attempt))
    lines = b"".join(msgspec.json.encode(Line(prompt=e.prompt, answer=e.answer)) + b"\n" for e in entries)
    target.write_bytes(gzip.compress(lines, 9, mtime=0))


def main() -> None:
    """Write it."""
    with tempfile.TemporaryDirectory() as folder:
        ended = asyncio.run(write(Path(folder)))
        pack(Path(folder) / "journal.jsonl", RECORDING)
    print(f"{RECORDING.name}: {RECORDING.stat().st_size} bytes, {ended.kept} environments kept")


if __name__ == "__main__":
    main()
