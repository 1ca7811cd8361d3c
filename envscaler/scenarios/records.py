"""Records of the packed form and of both public forms, to and from our objects, without loss.

The packed form has the field names of the public release and ours beside them. The release comes as decoded JSON
(GitHub: environments are a dict by id) or with JSON in strings (Hub: environments are a list). Names in it that look
cut off are real state keys; nothing is repaired (docs of the release, section 2).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from envscaler.environments import EnvironmentRecord
from envscaler.scenarios.fields import Fields
from envscaler.scenarios.scenario import SETTINGS, Check, OracleCall, Scenario, Setting
from harness.errors import near_miss
from harness.state import NotExportable, State

Form = Literal["github", "hub", "packed"]

_ENVIRONMENT_NAMES = {
    "env_id",
    "environment_summary",
    "environment_introduction",
    "constraints_rules",
    "env_class_name",
    "env_class_code",
}
_ENVIRONMENT_EXTRA = ("provenance", "licence", "quality")
_HUB_STRINGS = ("tools", "env_func_details", "env_structure")
"""Environment fields that the Hub form holds as JSON strings."""
_SCENARIO_NAMES = {"env_id", "env_class_name", "task_id", "init_config", "task", "checklist_with_func"}
_SCENARIO_EXTRA = ("settings", "oracle", "clock", "seed", "provenance", "audit")


def is_environment(record: Any) -> bool:
    """Whether a record of a public or packed file is an environment."""
    return isinstance(record, Mapping) and "env_class_code" in record


def is_scenario(record: Any) -> bool:
    """Whether a record of a public or packed file is a scenario."""
    return isinstance(record, Mapping) and "init_config" in record and "task" in record


def read_environment(file: str, path: str, record: Mapping[str, Any]) -> EnvironmentRecord:
    """An environment from a packed or public record.

    Raises:
        DataError: Naming file, record and field.
    """
    fields = Fields.of(file, path, record)
    released = fields.rest(*_ENVIRONMENT_NAMES, *_ENVIRONMENT_EXTRA)
    for name in _HUB_STRINGS:
        if isinstance(released.get(name), str):
            released[name] = fields.decoded(name, list if name == "tools" else dict)
    check_tools(Fields(file, path, released))
    return EnvironmentRecord(
        id=fields.text("env_id"),
        title=fields.text("environment_summary"),
        class_name=fields.text("env_class_name"),
        description=fields.text("environment_introduction"),
        rules=fields.texts("constraints_rules"),
        source=fields.text("env_class_code"),
        provenance=fields.text("provenance", ""),
        licence=fields.text("licence", ""),
        quality=fields.get("quality", dict, {}),
        released=released,
        file=file,
    )


def check_tools(released: Fields) -> None:
    """See that the tools of a record are OpenAI tools with names.

    Raises:
        DataError: Naming file, record and field.
    """
    for tool in released.objects("tools"):
        Fields.of(tool.file, f"{tool.path}.function", tool.get("function", dict)).text("name")


def write_environment(environment: EnvironmentRecord, form: Form) -> dict[str, Any]:
    """The record of an environment in one of the forms."""
    record: dict[str, Any] = {
        "env_id": environment.id,
        "environment_summary": environment.title,
        "environment_introduction": environment.description,
        "constraints_rules": list(environment.rules),
        "env_class_name": environment.class_name,
        "env_class_code": environment.source,
        **environment.released,
    }
    if form == "packed":
        record |= {name: getattr(environment, name) for name in _ENVIRONMENT_EXTRA}
    elif "tools" not in record:
        record["tools"] = [tool.openai() for tool in environment.own_tools]
    return _strings(record, _HUB_STRINGS) if form == "hub" else record


def read_scenario(file: str, path: str, record: Mapping[str, Any]) -> Scenario:
    """A scenario from a packed or public record.

    Raises:
        DataError: Naming file, record and field.
    """
    fields = Fields.of(file, path, record)
    checks = [
        Check(entry.get("check_item", str, ""), entry.get("check_func", str, ""))
        for entry in fields.objects("checklist_with_func")
    ]
    # An empty list of checks is kept as it is, beside a record that has none.
    kept = set() if checks else {"checklist_with_func"}
    released = fields.rest(*(_SCENARIO_NAMES - kept), *_SCENARIO_EXTRA)
    scenario = _scenario(fields, fields.decoded("init_config", dict), checks, released)
    return replace(scenario, class_name=fields.text("env_class_name", ""))


def read_own_scenario(file: str, record: Mapping[str, Any]) -> Scenario:
    """A scenario from a file of the unpacked form.

    Raises:
        DataError: Naming file and field.
    """
    fields = Fields.of(file, "", record)
    checks = [Check(entry.get("item", str, ""), entry.get("function", str)) for entry in fields.objects("checks")]
    released = fields.get("released", dict, {})
    return _scenario(fields, fields.get("init_config", dict), checks, released)


def write_scenario(scenario: Scenario, form: Form, class_name: str) -> dict[str, Any]:
    """The record of a scenario in one of the forms."""
    record: dict[str, Any] = {
        "env_id": scenario.env_id,
        "env_class_name": class_name,
        "task_id": scenario.task_id,
        "init_config": scenario.init_config.decode(),
        "task": scenario.task,
    }
    if scenario.checks:
        record["checklist_with_func"] = [
            {"check_item": check.item, "check_func": check.function} for check in scenario.checks
        ]
    record |= scenario.released
    if form == "packed":
        record |= _own_fields(scenario)
    return _strings(record, ("init_config",)) if form == "hub" else record


def write_own_scenario(scenario: Scenario) -> dict[str, Any]:
    """The record of a scenario in the unpacked form."""
    own = _own_fields(scenario)
    record = {
        "env_id": scenario.env_id,
        "task_id": scenario.task_id,
        "settings": own.pop("settings"),
        "init_config": scenario.init_config.decode(),
        "task": scenario.task,
        "checks": [{"item": check.item, "function": check.function} for check in scenario.checks],
        **own,
    }
    return {**record, "released": scenario.released} if scenario.released else record


def _own_fields(scenario: Scenario) -> dict[str, Any]:
    oracle = scenario.oracle
    return {
        "settings": list(scenario.settings),
        "oracle": None if oracle is None else [{"name": c.name, "arguments": c.arguments} for c in oracle],
        "clock": scenario.clock,
        "seed": scenario.seed,
        "provenance": scenario.provenance,
        "audit": scenario.audit,
    }


def _scenario(fields: Fields, config: dict[str, Any], checks: list[Check], released: dict[str, Any]) -> Scenario:
    clock = fields.values.get("clock")
    return Scenario(
        env_id=fields.text("env_id"),
        task_id=fields.text("task_id"),
        init_config=_state(fields, config),
        task=fields.text("task"),
        checks=tuple(checks),
        settings=_settings(fields),
        oracle=_oracle(fields),
        clock=None if clock is None else _clock(fields),
        seed=fields.get("seed", int, 0),
        provenance=fields.text("provenance", ""),
        audit=fields.get("audit", dict, {}),
        released=released,
        file=fields.file,
    )


def _state(fields: Fields, config: dict[str, Any]) -> State:
    try:
        return State.of(config)
    except NotExportable as error:
        raise fields.error("init_config", str(error)) from error


def _settings(fields: Fields) -> tuple[Setting, ...]:
    named = fields.texts("settings") or SETTINGS
    for index, name in enumerate(named):
        if name not in SETTINGS:
            raise fields.error(f"settings[{index}]", f"no setting '{name}'; {near_miss(name, list(SETTINGS))}")
    return tuple(setting for setting in SETTINGS if setting in named)


def _oracle(fields: Fields) -> tuple[OracleCall, ...] | None:
    if fields.values.get("oracle") is None:
        return None
    return tuple(OracleCall(call.text("name"), call.get("arguments", dict)) for call in fields.objects("oracle"))


def _clock(fields: Fields) -> str:
    from harness.determinism import parse_clock

    clock = fields.text("clock")
    try:
        parse_clock(clock)
    except ValueError as error:
        raise fields.error("clock", f"is not an ISO 8601 time: {clock!r}") from error
    return clock


def _strings(record: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    encoded = {name: json.dumps(record[name], ensure_ascii=False) for name in names if name in record}
    return {**record, **encoded}
