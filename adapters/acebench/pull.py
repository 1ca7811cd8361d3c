"""`envscaler data pull acebench`: tasks and answers as published, seed state and prompts read out of Python literals.

Nothing that is read is executed: Python files are parsed and literals evaluated with `ast`. Files are told by their
content, not by where they lie, so that a checkout, an archive of it and a folder made by this command all serve.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from harness.checkout import read_checkout
from harness.errors import DataError
from harness.files import replacing

COMMIT = "56dd66c"
SOURCE = f"chenchen0103/ACEBench @ {COMMIT}"
URL = f"https://github.com/chenchen0103/ACEBench/archive/{COMMIT}.zip"

VERBATIM: Mapping[str, str] = {
    "en/data_agent_multi_step.json": "c04b7561a2a5b31b3c4fd3067807ab4e0a7907f5a72cd5ec987da3469eac1fe9",
    "en/data_agent_multi_turn.json": "0380631f379510fad4aab885b9679cfe99e66cf3a01e92f570f9180141f637d0",
    "en/possible_answer/data_agent_multi_step.json": "5081e9b5be93d8f9a52b91ee013250f1ae64a10d3edbe2d1225bb0beb99b160e",
    "en/possible_answer/data_agent_multi_turn.json": "ad077af54920d614438c28b3c7483d556b1a732d0dd0973c867e497c7c0a828b",
    "zh/data_agent_multi_step.json": "dcf74daf8dce797c1c86cbcf54e6fd63d6b83425d50bc7076ad98810b14b6b68",
    "zh/data_agent_multi_turn.json": "847df81f26e188e7c1eff8d010acf5f3c415cbe3a89ebc414efee013dc81c06e",
    "zh/possible_answer/data_agent_multi_step.json": "4ca297f2c1d5f8eee3a45cd3e7d8cce7f2bb89d1f22a8e12fd033f6c50a7069b",
    "zh/possible_answer/data_agent_multi_turn.json": "ea11d8cc8fdef39660699ec219b0eef71d261226f8018ed6c35571206e53ec00",
}
"""Files taken as they are, with the sha256 of their bytes."""

CLASSES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "BaseApi": "9d830d8cfdb637d388e2ea03639d6250d8e1b620491f913100abd316fda3ac43",
        "MessageApi": "17586247b3d98aa269d5f30a3513c6aaf0fbcfd47354fe056aed744075397aa9",
        "ReminderApi": "81cd05eba1eb03eb3e2e69d6dfe00f0b9ebabadabe00ebf1cf62c289d75f29fd",
        "FoodPlatform": "a0965f2f1e61aaf5a399eb90c776cfa019441e87314632032096d3617fffc5d3",
        "Travel": "8846964a3ece532c81c6ad011a277fbb507dfbd498876432ee7d3df9f623e2d2",
    },
    "zh": {
        "BaseApi": "9d830d8cfdb637d388e2ea03639d6250d8e1b620491f913100abd316fda3ac43",
        "MessageApi": "3e1853cbde02bc20c3c7905d765764c99ffa5274589f2ed5723b3b788ad3ee76",
        "ReminderApi": "04d014fe453517b4d3f16dd6cd0d835fc23217bb38c2e916a8cbbd7870b6e8fb",
        "FoodPlatform": "715c4ef63557f714c764423ac03224738605eda8c4a42c28a3821360a29b10c8",
        "Travel": "f8974752ffc9207d2b3f530fbdeb6c2368604ea4b9f0b981050eb5492fec7d13",
    },
}
"""Seed state of each class by language: the fingerprint of what its constructor assigns."""

PROMPTS: Mapping[str, Mapping[str, str]] = {
    "user_simulator": {
        "SYSTEM_PROMPT_TRAVEL_ZH": "32d88ed6ac63d08831fdb086e835a8cd11f9733307894c9817f8c2c729976ba5",
        "SYSTEM_PROMPT_BASE_ZH": "7347441b5b927a9da7c13e35b40249d3661e6e631e16f540887ffd22621d40ab",
        "SYSTEM_PROMPT_TRAVEL_EN": "751136ed02b3190acc3ea0986290f28097fcebdf6530bedb5058b7ccd071af90",
        "SYSTEM_PROMPT_BASE_EN": "4c3815cf4f0ddaea62a5f032894c30c3119d6483fe6ddf8af2111f985d4120a8",
    },
    "policy": {
        "TRAVEL_PROMPT_EN": "b9cf2aa7b6309c21d0629985b210245c4eaffd3ef5c087e0242c38e1ad4ebcc7",
        "BASE_PROMPT_EN": "081f5c9b46011c867d7b471e6ed1de5b66b737d2b7a2753e70be8a1f3093e15d",
        "TRAVEL_PROMPT_ZH": "64eea12f9744a32f53affcb4f932f37318da860e12accd84720a39974bda3b01",
        "BASE_PROMPT_ZH": "9321a209b8dd5d7c4b897e9bf5cca471eceffc847271e329bc634f073e1c15fa",
    },
    "agent_multi_turn": {
        "MULTI_TURN_AGENT_PROMPT_SYSTEM_ZH": "5b490b98e07c9947f6cc4222da7cbd36eb3b766d4d6644eeb05b660354db8155",
        "MULTI_TURN_AGENT_PROMPT_SYSTEM_EN": "b2963074d880be64ee36c8171462e1b582a953451ef2b5307e5de9fadd76a175",
    },
    "agent_multi_step": {
        "MULTI_TURN_AGENT_PROMPT_SYSTEM_ZH": "2487069c7547854fe300fb246acc8f5051d9338be900e5c7c8a472337dd023a2",
        "MULTI_TURN_AGENT_PROMPT_SYSTEM_EN": "b6506ea0078f220e91cc7743323c13edc5488c5fffebc137d086ffbfb63509b5",
    },
}
"""Prompts by section and name, with their fingerprints. Both agents have prompts of the same names."""

LICENCE = "LICENSE-ACEBench.md"

Files = Mapping[str, bytes]
"""The JSON, Python and licence files of a source, by path."""


def pull(source: str | None, folder: Path) -> None:
    """Fetch, convert and check the data.

    Args:
        source: A checkout, an archive (zip or tar) of one, a folder made by this command, or the URL of an archive;
            None is the pinned commit.
        folder: The artifact folder, `<cache>/acebench`. Nothing is written unless all is right.
    Raises:
        SettingError: If the source cannot be reached or read.
        DataError: If a file is missing or not the pinned one.
    """
    named = source or URL
    files = read_checkout(named, _wanted)
    content = {**_verbatim(files, named), **_converted(files, named)}
    for path, data in content.items():
        with replacing(folder / path) as file:
            file.write(data)


def fingerprint(value: Any) -> str:
    """Hex sha256 of a JSON value, whatever the order of its keys and the layout of its text."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _verbatim(files: Files, named: str) -> dict[str, bytes]:
    by_digest = {hashlib.sha256(data).hexdigest(): data for data in files.values()}
    for path, digest in VERBATIM.items():
        if digest not in by_digest:
            raise DataError(named, path, f"not found as of commit {COMMIT}: no file has the pinned sha256")
    licences = sorted((path for path in files if PurePosixPath(path).name.upper().startswith("LICENSE")), key=len)
    if not licences:
        raise DataError(named, "", "holds no licence file, and the data may only be copied with it")
    return {path: by_digest[digest] for path, digest in VERBATIM.items()} | {LICENCE: files[licences[0]]}


def _converted(files: Files, named: str) -> dict[str, bytes]:
    modules = list(_modules(files))
    made: dict[str, Any] = {
        f"{language}/world.json": {
            name: _pick(_seeds(modules, files, language, name), digest, named, f"{language}: {name}")
            for name, digest in classes.items()
        }
        for language, classes in CLASSES.items()
    }
    made["prompts.json"] = {
        section: {
            name: _pick(_texts(modules, files, section, name), digest, named, f"{section}: {name}")
            for name, digest in prompts.items()
        }
        for section, prompts in PROMPTS.items()
    }
    return {path: json.dumps(value, ensure_ascii=False, indent=1).encode() for path, value in made.items()}


def _pick(candidates: Iterable[Any], digest: str, named: str, what: str) -> Any:
    for candidate in candidates:
        if fingerprint(candidate) == digest:
            return candidate
    raise DataError(named, what, f"not found as of commit {COMMIT}: nothing of this name has the pinned fingerprint")


def _ready(files: Files, path: str, *keys: str) -> Iterator[Any]:
    """A value of a converted file, where the source is a folder made by this command."""
    for name, data in files.items():
        if name == path or name.endswith(f"/{path}"):
            try:
                value = json.loads(data)
                for key in keys:
                    value = value[key]
            except (ValueError, KeyError, TypeError):
                continue
            yield value


# Reading literals


def _modules(files: Files) -> Iterator[ast.Module]:
    for path, data in sorted(files.items()):
        if path.endswith(".py"):
            try:
                yield ast.parse(data)
            except (SyntaxError, ValueError):
                # Not every file of a checkout is for this Python; what is needed is told by its fingerprint.
                continue


def _literals(body: list[ast.stmt], *, of_self: bool) -> dict[str, Any]:
    """The literals that `body` assigns to names, or to attributes of `self`."""
    found: dict[str, Any] = {}
    for statement in body:
        match statement:
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                name = _assigned(target, of_self)
                if name is not None:
                    try:
                        found[name] = ast.literal_eval(value)
                    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                        continue
    return found


def _assigned(target: ast.expr, of_self: bool) -> str | None:
    match target:
        case ast.Attribute(value=ast.Name(id="self"), attr=name) if of_self:
            return name
        case ast.Name(id=name) if not of_self:
            return name
    return None


def _seeds(modules: Sequence[ast.Module], files: Files, language: str, name: str) -> Iterator[Any]:
    """What each class of this name starts with: the literals that its constructor, and a base's it calls, assigns."""
    yield from _ready(files, f"{language}/world.json", name)
    for node in _definitions(modules, name):
        for made in _constructors([node]):
            inherited: dict[str, Any] = {}
            if "super().__init__" in ast.unparse(made):
                bases = (base for each in node.bases for base in _definitions(modules, ast.unparse(each)))
                inherited = next((_literals(f.body, of_self=True) for f in _constructors(bases)), {})
            # JSON keys are strings; loading restores the ints.
            yield json.loads(json.dumps({**inherited, **_literals(made.body, of_self=True)}, default=repr))


def _definitions(modules: Sequence[ast.Module], name: str) -> Iterator[ast.ClassDef]:
    return (node for each in modules for node in each.body if isinstance(node, ast.ClassDef) and node.name == name)


def _constructors(classes: Iterable[ast.ClassDef]) -> Iterator[ast.FunctionDef]:
    return (f for node in classes for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "__init__")


def _texts(modules: Sequence[ast.Module], files: Files, section: str, name: str) -> Iterator[Any]:
    """Every text that is assigned to this name at the top of a module."""
    yield from _ready(files, "prompts.json", section, name)
    for module in modules:
        text = _literals(module.body, of_self=False).get(name)
        if isinstance(text, str):
            yield text


def _wanted(path: str) -> bool:
    name = PurePosixPath(path).name
    return name.endswith((".json", ".py")) or name.upper().startswith("LICENSE")
