"""A model of some thousand weights and the demonstration's tokenizer, made anew in a second, and small task sets."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

from benchmarks.registry import Loaded, loaded
from envscaler.scenarios import write_records
from harness.trajectory import write_trajectories
from training.demo.model import fresh, tokenizer
from training.demo.tasks import corpus, pairs
from training.demo.trajectories import recorded


def write_checkpoint(folder: Path) -> Path:
    """A random Qwen3 with the demonstration's tokenizer."""
    made = tokenizer(pairs()[0][:200])
    model = fresh(made, hidden=16, layers=1)
    model.save_pretrained(folder)
    made.save_pretrained(folder)
    return folder


def write_corpus(folder: Path, number: int = 4) -> Path:
    """A corpus of so many price tasks."""
    write_records(corpus(pairs()[0][:number], "train"), folder, "packed")
    return folder


def load_corpus(folder: Path) -> Loaded:
    return loaded("scenarios", "paper", corpus=str(folder))


def write_recorded(file: Path, tasks: Path, unfinished: float = 0.0) -> Path:
    """The oracle's trajectories of a corpus."""
    write_trajectories(file, recorded(load_corpus(tasks), unfinished))
    return file


def tool(name: str, *parameters: str) -> dict[str, Any]:
    properties = {parameter: {"type": "string"} for parameter in parameters}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return {"type": "function", "function": {"name": name, "description": f"{name}.", "parameters": schema}}


def call(function: str, number: int = 0, /, **arguments: Any) -> dict[str, Any]:
    return {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": function, "arguments": json.dumps(arguments)},
    }


def says(content: str = "", *calls: dict[str, Any], reasoning: str = "") -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = list(calls)
    if reasoning:
        message["reasoning_content"] = reasoning
    return message


def two_turns() -> dict[str, Any]:
    """A trajectory with reasoning in each step, two tools of different schemas, and two user turns."""
    return {
        "sample_id": "talk",
        "messages": [
            {"role": "system", "content": "You keep a shelf."},
            {"role": "user", "content": "How much jam is there? Then add two jars."},
            says("", call("count", 0, name="jam"), reasoning="Look first."),
            {"role": "tool", "content": "{'data': 3}", "tool_call_id": "call_0"},
            says("I add two.", call("put", 1, name="jam", number=2), reasoning="Three stand there."),
            {"role": "tool", "content": "{'success': True}", "tool_call_id": "call_1"},
            says("There are five jars now.", reasoning="Done."),
            {"role": "user", "content": "Thank you. Nothing else."},
            says("Goodbye."),
        ],
        "tools": [tool("count", "name"), tool("put", "name", "number")],
        "outcome": {"ending": "scored", "score": {"value": 1.0, "success": True}},
    }


def stock_template(name: str) -> str:
    """A chat template as it comes with the installed TRL, which is not imported for it."""
    found = importlib.util.find_spec("trl")
    assert found is not None
    assert found.origin is not None
    return (Path(found.origin).parent / "chat_templates" / f"{name}.jinja").read_text()
