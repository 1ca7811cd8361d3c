"""`envscaler data pull tau_bench`: the benchmark's data from its repository at a pinned commit, read and never run.

Databases and policies are copied; tasks, tool schemas, rules and user prompts stand in Python files as literals and are
read with `ast`. Every file that results is checked by its sha256 before the first one is written.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from adapters.tau_bench import literals
from harness.checkout import read_checkout
from harness.errors import DataError
from harness.files import replacing

COMMIT = "59a200c6"
SOURCE = f"https://github.com/sierra-research/tau-bench/archive/{COMMIT}.tar.gz"
LICENCE = "MIT"

SHA256 = {
    "LICENSE-tau-bench.txt": "243d23d45b80122b5ac575586ccef352fdc9c45e6d7d2605449aca8a17478b42",
    "airline/flights.json": "444d7565c68434a3e3fb72efd717f9f9cd5c56dce227f6f56e078f1cb0ed233a",
    "airline/reservations.json": "1cf0bbc58ad984be9de7c24dba6dd27393f94cdbd482d8524f6a54db1f561a8c",
    "airline/rules.json": "37517e5f3dc66819f61f5a7bb8ace1921282415f10551d2defa5c3eb0985b570",
    "airline/tasks_test.json": "5619dffaa2c026b335826923a876bc1d291013c6261e74198c7e53ab1e351731",
    "airline/tools.json": "d8cfd82569349eb7518f92db41545c58b9a20864b9582c450bedec0257382b7b",
    "airline/users.json": "bd264e2a31e0fa35cdfef8987e70a0dd3776828b582fe90e7a44823a12eb4cea",
    "airline/wiki.md": "56c335801c16e26b54f600f9db99eb04d31db477e86eb160341d5c66b796c5c8",
    "prompts.json": "ceb05a7450cff092e95c19dd97d5b7a4ebab5bf497b7103a75ee29ccaac6c484",
    "retail/orders.json": "2598a12586d28f2d6bd16bc86f4c800029b6af18e0abb5c475ef5c869c11ced1",
    "retail/products.json": "a9eabcc1a9742c5f5288c2779acce52b9308423383ed24706bbaf0889f762a0f",
    "retail/readme.md": "448640f4b5e104f15e4476e2aa10f3b6616181135dc38262a86e71ed1b30737d",
    "retail/rules.json": "9fdb9bd32797e10585ee77096e9ba184403b0ab7d32108e31210e2cddbcaf01a",
    "retail/tasks_dev.json": "bfc424b87fa99c4b01d136ee2f809c62d4692cdd620e9d89722b165beadeb90c",
    "retail/tasks_test.json": "1ee05f20c7dcbc7674af432392550b6f8e69ec25ec2ee29bbfd11d378d443031",
    "retail/tasks_train.json": "835b178fbc059dd5b86381ab69020164fb50d45e154b37f3928d42f8d6c3dcd5",
    "retail/tools.json": "da43b49f4783a9aa82f97f125b2f4c9b56d053cc27e09903ad0ae075026d72ac",
    "retail/users.json": "6f4fd104cc5e80b92166c4035315c31532c6cea52a90dcdf18425ee7f87c2b82",
    "retail/wiki.md": "d539fd2a46a8b8dd2e934ff9ed92f43e9f6b56bc7a718db8d2803ba8ad8f6bf7",
    "tau1_to_tau23_index_map.json": "49490e450e274cae7c2bbfc8e8e81c17905aa17eaea56dc446dcca8be154c728",
}
"""Every file that a pull makes, and what it must be."""

ENVS = "tau_bench/envs"
TABLES = (
    "retail/orders",
    "retail/products",
    "retail/users",
    "airline/flights",
    "airline/reservations",
    "airline/users",
)
COPIES = {
    "LICENSE-tau-bench.txt": "LICENSE",
    "airline/wiki.md": f"{ENVS}/airline/wiki.md",
    "retail/wiki.md": f"{ENVS}/retail/wiki.md",
    "retail/readme.md": f"{ENVS}/retail/data/readme.md",
    **{f"{table}.json": f"{ENVS}/{table.replace('/', '/data/')}.json" for table in TABLES},
}
"""Files taken over as they are, with their place in the repository."""
TASKS = ("retail/tasks_test", "retail/tasks_dev", "retail/tasks_train", "airline/tasks_test")

# fmt: off
AIRLINE_SUCCESSORS = (
    20, 19, 18, 21, 22, 17, 16, 15, 14, 23, 24, 25, 26, 13, 12, 11, 27, 10, 28, 29, 30, 31, 32, 33, 34,
    35, 37, 9, 39, 41, 42, 43, 8, 44, 7, 45, 6, 5, 46, 47, 4, 48, 49, 40, 3, 38, 2, 1, 36, 0,
)
# fmt: on
"""Index of each airline task in tau2 and tau3 (docs of Tau-Bench, section 3)."""
DROPPED_RETAIL = 95
"""The retail task that tau2 and tau3 do not have."""


def pull(source: str | None, folder: Path) -> None:
    """Make the benchmark's files in `folder`, all of them or none.

    Args:
        source: A checkout of the repository, an archive of it, or a URL of one; None is the pinned commit. A folder or
            archive of already converted files will do as well.
        folder: The artifact folder, `<cache>/tau_bench`.
    Raises:
        SettingError: If the source cannot be read.
        DataError: If a file is missing in it, or is not what it was at the pinned commit.
    """
    source = source or SOURCE
    files = read_checkout(source, _wanted)
    converted = files if "retail/tasks_test.json" in files else _convert(_Repository(source, files))
    for name, digest in SHA256.items():
        if name not in converted:
            raise DataError(source, name, "is missing")
        if hashlib.sha256(converted[name]).hexdigest() != digest:
            raise DataError(source, name, f"differs from the benchmark at commit {COMMIT}")
    for name in SHA256:
        with replacing(folder / name) as file:
            file.write(converted[name])


def _wanted(name: str) -> bool:
    return name in SHA256 or name in COPIES.values() or (name.startswith(f"{ENVS}/") and name.endswith(".py"))


class _Repository:
    """The files of a checkout; a missing one is a sentence, not a KeyError."""

    def __init__(self, source: str, files: dict[str, bytes]) -> None:
        self.source = source
        self.files = files

    def bytes(self, name: str) -> bytes:
        if name not in self.files:
            raise DataError(self.source, name, "is missing")
        return self.files[name]

    def module(self, name: str) -> literals.Module:
        return literals.Module(f"{self.source}: {name}", self.bytes(name))


def _convert(repository: _Repository) -> dict[str, bytes]:
    made = {name: repository.bytes(place) for name, place in COPIES.items()}
    for name in TASKS:
        made[f"{name}.json"] = _written(repository.module(f"{ENVS}/{name}.py").records("Task", "Action"), "\n")
    made["tau1_to_tau23_index_map.json"] = json.dumps(_successors()).encode()
    for domain in ("retail", "airline"):
        made[f"{domain}/rules.json"] = _written(repository.module(f"{ENVS}/{domain}/rules.py").assigned("RULES"), "\n")
        made[f"{domain}/tools.json"] = _written(_tools(repository, domain), "\n")
    made["prompts.json"] = _written(_prompts(repository.module(f"{ENVS}/user.py")), "")
    return made


def _written(value: Any, end: str) -> bytes:
    return (json.dumps(value, indent=1) + end).encode()


def _tools(repository: _Repository, domain: str) -> list[Any]:
    """The tools' descriptions, in the order of the list `ALL_TOOLS`."""
    folder = f"{ENVS}/{domain}/tools"
    index = repository.module(f"{folder}/__init__.py")
    places = index.imports()
    return [
        repository.module(f"{folder}/{places.get(name, name)}.py").returned(name, "get_info")
        for name in index.names("ALL_TOOLS")
    ]


def _prompts(module: literals.Module) -> dict[str, Any]:
    plain, react = "LLMUserSimulationEnv", "ReactUserSimulationEnv"
    return {
        "source": "sierra-research/tau-bench tau_bench/envs/user.py (MIT)",
        "user_simulator": {
            "first_agent_message": module.message(plain, "reset", role="user"),
            "instruction_display": module.template(plain, "build_system_prompt", "instruction_display"),
            "stop": "###STOP###",
            "llm": module.template(plain, "build_system_prompt"),
            "react": module.template(react, "build_system_prompt"),
        },
    }


def _successors() -> dict[str, dict[str, int | None]]:
    retail = {str(index): index - (index > DROPPED_RETAIL) for index in range(115)}
    airline: dict[str, int | None] = {str(index): place for index, place in enumerate(AIRLINE_SUCCESSORS)}
    kept = {index: None if index == str(DROPPED_RETAIL) else place for index, place in retail.items()}
    return {"retail_tau2": kept, "retail_tau3": kept, "airline_tau2": airline, "airline_tau3": airline}
