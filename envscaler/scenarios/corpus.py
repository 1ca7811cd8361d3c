"""A corpus on disk: unpacked for authors, packed for exchange, or the public release; read and written here.

corpus/<env_id>/environment.py, environment.toml, scenarios/<task_id>.json      unpacked
environments.jsonl, scenarios.jsonl                                              packed

Folders have no order; an unpacked corpus whose records came in another one than that of their names says so in a file
`order.json` beside them.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import records
from envscaler.scenarios.fields import Fields, decode
from envscaler.scenarios.records import Form
from envscaler.scenarios.scenario import Scenario
from harness.errors import DataError, SettingError, near_miss
from harness.files import read_bytes, replacing

T = TypeVar("T")

ORDER = "order.json"
BUNDLED = Path(__file__).parent.parent / "corpus"
"""The corpus that ships with the package."""


@dataclass(frozen=True)
class Corpus:
    """Environments and their scenarios, in file order."""

    environments: dict[str, EnvironmentRecord] = field(default_factory=dict)
    scenarios: dict[str, Scenario] = field(default_factory=dict)

    def select(self, env_ids: Iterable[str]) -> Corpus:
        """The part in the named environments.

        Raises:
            SettingError: If there is no such environment.
        """
        wanted = list(env_ids)
        for env_id in wanted:
            if env_id not in self.environments:
                raise SettingError(f"no environment '{env_id}'; {near_miss(env_id, list(self.environments))}")
        return Corpus(
            {env_id: self.environments[env_id] for env_id in wanted},
            {task_id: s for task_id, s in self.scenarios.items() if s.env_id in wanted},
        )

    def add_environment(self, file: str, path: str, environment: EnvironmentRecord) -> None:
        """Take an environment in; the same one twice is one.

        Raises:
            DataError: If another environment has its id.
        """
        known = self.environments.setdefault(environment.id, environment)
        if known != environment:
            raise DataError(file, f"{path}.env_id" if path else "id", f"'{environment.id}' is taken by another record")

    def add_scenario(self, file: str, path: str, scenario: Scenario) -> None:
        """Take a scenario in; the same one twice is one.

        Raises:
            DataError: If another scenario has its id.
        """
        known = self.scenarios.setdefault(scenario.task_id, scenario)
        if known != scenario:
            where = f"{path}.task_id" if path else "task_id"
            raise DataError(file, where, f"'{scenario.task_id}' is taken by another record")


def load(source: str | Path | None = None) -> Corpus:
    """A corpus in any of its forms; None is the bundled one.

    Raises:
        DataError: Naming file, record and field of the first mistake, or that nothing was found.
    """
    if source is None or str(source) == "bundled":
        corpus = read([BUNDLED])
        bundled = {env_id: replace(record, bundled=True) for env_id, record in corpus.environments.items()}
        return Corpus(bundled, corpus.scenarios)
    return read([Path(source)])


def read(sources: Iterable[Path]) -> Corpus:
    """One corpus from files and folders.

    Raises:
        DataError: As `load`; also if a scenario's environment is in none of the sources.
    """
    corpus = Corpus()
    named = list(sources)
    for source in named:
        _read_folder(source, corpus) if source.is_dir() else _read_file(source, corpus, required=True)
    if not corpus.environments and not corpus.scenarios:
        raise DataError(", ".join(map(str, named)), "", "no environments and no scenarios found")
    for scenario in corpus.scenarios.values():
        environment = corpus.environments.get(scenario.env_id)
        if environment is None:
            problem = f"no environment '{scenario.env_id}'"
            if corpus.environments:
                problem += f"; {near_miss(scenario.env_id, list(corpus.environments))}"
            raise DataError(scenario.file, f"{scenario.task_id}.env_id", problem)
        if scenario.class_name not in ("", environment.class_name):
            problem = f"is {scenario.class_name}, the environment's is {environment.class_name}"
            raise DataError(scenario.file, f"{scenario.task_id}.env_class_name", problem)
    return corpus


def _read_folder(folder: Path, corpus: Corpus) -> None:
    if _is_unpacked(folder):
        _read_unpacked(folder, corpus)
        return
    known = [*corpus.environments], [*corpus.scenarios]
    for path in sorted(folder.iterdir()):
        if _is_unpacked(path):
            _read_unpacked(path, corpus)
        elif path.name.removesuffix(".gz").endswith((".json", ".jsonl")) and path.name != ORDER:
            _read_file(path, corpus, required=False)
    if (folder / ORDER).is_file():
        order = Fields.of(str(folder / ORDER), "", _json(folder / ORDER))
        _sort(corpus.environments, [*known[0], *order.texts("environments")])
        _sort(corpus.scenarios, [*known[1], *order.texts("scenarios")])


def _sort(entries: dict[str, T], ids: Iterable[str]) -> None:
    """Put the entries into the order of `ids`; others follow."""
    rank = {name: place for place, name in enumerate(dict.fromkeys(ids))}
    items = sorted(entries.items(), key=lambda item: rank.get(item[0], len(rank)))
    entries.clear()
    entries.update(items)


def _is_unpacked(folder: Path) -> bool:
    return (folder / "environment.toml").is_file() or (folder / "environment.py").is_file()


def _read_unpacked(folder: Path, corpus: Corpus) -> None:
    corpus.add_environment(str(folder), "", _unpacked_environment(folder))
    for path in sorted((folder / "scenarios").glob("*.json"), key=lambda path: _natural(path.stem)):
        scenario = records.read_own_scenario(str(path), _json(path))
        if scenario.task_id != path.stem:
            raise DataError(path, "task_id", f"is '{scenario.task_id}', the file is named '{path.stem}'")
        if scenario.env_id != folder.name:
            raise DataError(path, "env_id", f"is '{scenario.env_id}', the folder is named '{folder.name}'")
        corpus.add_scenario(str(path), "", scenario)


def _natural(name: str) -> tuple[str, int, str]:
    """`task_10` after `task_9`."""
    head, _, number = name.rpartition("_")
    return (head, int(number), name) if number.isdecimal() else (name, 0, name)


def _unpacked_environment(folder: Path) -> EnvironmentRecord:
    path = folder / "environment.toml"
    try:
        table = tomllib.loads(read_bytes(path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(path, "", f"is not TOML ({error})") from error
    fields = Fields.of(str(path), "", table)
    if fields.text("id") != folder.name:
        raise DataError(path, "id", f"is '{table['id']}', the folder is named '{folder.name}'")
    path = folder / "released.json"
    released = Fields.of(str(path), "", _json(path) if path.is_file() else {})
    records.check_tools(released)
    return EnvironmentRecord(
        id=folder.name,
        title=fields.text("title"),
        class_name=fields.text("class"),
        description=fields.text("description"),
        rules=fields.texts("rules"),
        source=_text(folder / "environment.py"),
        provenance=fields.text("provenance", ""),
        licence=fields.text("licence", ""),
        quality=fields.get("quality", dict, {}),
        released=dict(released.values),
        file=str(folder / "environment.py"),
    )


def _text(path: Path) -> str:
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise DataError(path, "", f"is not UTF-8 ({error})") from error


def _json(path: Path) -> Any:
    return decode(path, "", read_bytes(path))


def _read_file(path: Path, corpus: Corpus, *, required: bool) -> None:
    """Read a packed or public file; one without records of ours is skipped unless it was named by the user."""
    found = False
    for where, record in _entries(path):
        if records.is_environment(record):
            corpus.add_environment(str(path), where, records.read_environment(str(path), where, record))
        elif records.is_scenario(record):
            corpus.add_scenario(str(path), where, records.read_scenario(str(path), where, record))
        elif found or required:
            raise DataError(
                path, where, "is neither an environment (env_class_code) nor a scenario (init_config, task)"
            )
        else:
            return
        found = True


def _entries(path: Path) -> Iterator[tuple[str, Any]]:
    """Records with their place: of a list, of a dict by id, or of JSON lines."""
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        for number, line in enumerate(read_bytes(path).splitlines(), start=1):
            if line.strip():
                yield f"line {number}", decode(path, f"line {number}", line)
        return
    content = _json(path)
    if isinstance(content, Mapping) and not (records.is_environment(content) or records.is_scenario(content)):
        for key, record in content.items():
            named = record.get("env_id", key) if isinstance(record, Mapping) else key
            if records.is_environment(record) and named != key:
                raise DataError(path, f"{key}.env_id", f"is '{named}', its key is '{key}'")
            yield key, record
    else:
        for index, record in enumerate(content if isinstance(content, list) else [content]):
            yield f"[{index}]", record


def write_unpacked(corpus: Corpus, folder: Path) -> None:
    """Write a corpus for authors and reviewers: one folder an environment, one file a scenario.

    Raises:
        SettingError: If an id cannot be a file name, or a figure of the audit cannot be written as TOML.
    """
    for environment in corpus.environments.values():
        home = folder / _file_name(environment.id)
        table: dict[str, Any] = {
            "id": environment.id,
            "title": environment.title,
            "class": environment.class_name,
            "description": environment.description,
            "rules": list(environment.rules),
            "provenance": environment.provenance,
            "licence": environment.licence,
        }
        if environment.quality:
            table["quality"] = environment.quality
        _write(home / "environment.py", environment.source.encode())
        if environment.released:
            _write(home / "released.json", _pretty(environment.released))
        _write(home / "environment.toml", _toml(environment, table))
    for scenario in corpus.scenarios.values():
        path = folder / _file_name(scenario.env_id) / "scenarios" / f"{_file_name(scenario.task_id)}.json"
        _write(path, _pretty(records.write_own_scenario(scenario)))
    order = {"environments": [*corpus.environments], "scenarios": [*corpus.scenarios]}
    by_name = sorted(corpus.scenarios.values(), key=lambda scenario: (scenario.env_id, _natural(scenario.task_id)))
    if order != {"environments": sorted(corpus.environments), "scenarios": [scenario.task_id for scenario in by_name]}:
        _write(folder / ORDER, _pretty(order))


def _toml(environment: EnvironmentRecord, table: Mapping[str, Any]) -> bytes:
    import tomli_w

    try:
        return tomli_w.dumps(table, multiline_strings=False).encode()
    except TypeError as error:
        raise SettingError(f"environment '{environment.id}': quality cannot be written as TOML ({error})") from error


def write_records(corpus: Corpus, folder: Path, form: Form) -> None:
    """Write a corpus as two files: packed JSON lines, or either public form."""
    environments = [records.write_environment(record, form) for record in corpus.environments.values()]
    scenarios = [
        records.write_scenario(scenario, form, corpus.environments[scenario.env_id].class_name)
        for scenario in corpus.scenarios.values()
    ]
    if form == "packed":
        _write(folder / "environments.jsonl", b"".join(_line(record) for record in environments))
        _write(folder / "scenarios.jsonl", b"".join(_line(record) for record in scenarios))
        return
    by_id = {record["env_id"]: record for record in environments}
    _write(folder / "environments.json", _pretty(by_id if form == "github" else environments))
    _write(folder / "scenarios.json", _pretty(scenarios))


def _file_name(name: str) -> str:
    """An id as a file name.

    Raises:
        SettingError: If it would leave the folder or hide in it: ids come from downloaded data.
    """
    if not name or name.startswith(".") or any(sign in name for sign in "/\\\0"):
        raise SettingError(f"id {name!r} cannot be a file name")
    return name


def _line(record: Any) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def _pretty(record: Any) -> bytes:
    return json.dumps(record, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass") + b"\n"


def _write(path: Path, data: bytes) -> None:
    with replacing(path) as file:
        file.write(data)
