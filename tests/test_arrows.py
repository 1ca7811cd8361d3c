"""The arrows of the house: who may import whom (DESIGN section 2)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("envscaler", "harness", "benchmarks", "adapters", "training", "results")
PARTS = ("envscaler.environments", "envscaler.scenarios")
"""The part of `envscaler` that other rooms may use."""

MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "harness": (),
    "adapters": ("harness",),
    "results": (),
    "benchmarks": ("adapters", "harness", *PARTS),
    "training": ("benchmarks", "harness", "results", *PARTS),
    "envscaler": ("harness",),
}
DOOR = {
    str(path.relative_to(ROOT)): ("benchmarks", "training", "results", "harness")
    for path in [
        ROOT / "envscaler" / "_registry.py",
        ROOT / "envscaler" / "cli.py",
        *(ROOT / "envscaler" / "commands").glob("*.py"),
    ]
}


def modules(room: str) -> list[Path]:
    return [path for path in sorted((ROOT / room).rglob("*.py")) if "corpus" not in path.relative_to(ROOT).parts]


def imported(path: Path) -> Iterator[str]:
    """Modules of ours that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports of ours are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name for name in names if name.split(".")[0] in ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_along_the_arrows(room: str) -> None:
    strays = []
    for path in modules(room):
        name = str(path.relative_to(ROOT))
        allowed = (room, *DOOR.get(name, MAY_IMPORT[room]))
        for module in imported(path):
            if not any(module == target or module.startswith(f"{target}.") for target in allowed):
                strays.append(f"{name} imports {module}")
    assert strays == []


def test_only_the_bridge_imports_inspect_in_the_harness() -> None:
    strays = [
        str(path.relative_to(ROOT))
        for room in ("harness", "adapters")
        for path in modules(room)
        if "inspect_bridge" not in path.parts and "inspect_ai" in path.read_text()
    ]
    assert strays == []


def test_the_door_imports_its_rooms_only_when_a_command_runs() -> None:
    for name in DOOR:
        tree = ast.parse((ROOT / name).read_text())
        top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {alias for node in top for alias in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [])}
        assert not {name.split(".")[0] for name in names} & (set(ROOMS) - {"envscaler"})


def test_every_module_stays_readable() -> None:
    long = {
        str(p.relative_to(ROOT)): n for r in ROOMS for p in modules(r) if (n := len(p.read_text().splitlines())) > 400
    }
    assert long == {}
    assert not [p for r in ROOMS for p in modules(r) if p.stem == "utils"]
