"""The data are made from the repository's own files. Its layout is rebuilt here from the data, as Python source."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from adapters.tau_bench.pull import COPIES, ENVS, SHA256, SOURCE, TASKS, pull
from harness.errors import DataError, SettingError


def _task(task: dict[str, Any]) -> str:
    actions = ", ".join(f"Action(name={a['name']!r}, kwargs={a['kwargs']!r})" for a in task["actions"])
    outputs = f", outputs={task['outputs']!r}" if task["outputs"] else ""
    return (
        f"    Task(annotator='0', user_id={task['user_id']!r}, instruction={task['instruction']!r}, "
        f"actions=[{actions}]{outputs}),"
    )


def _tool(class_name: str, description: dict[str, Any]) -> str:
    return (
        f"import json\nclass {class_name}(Tool):\n"
        "    @staticmethod\n    def invoke(data):\n        return json.dumps(1)\n"
        f"    @staticmethod\n    def get_info():\n        return {description!r}\n"
    )


def _user(prompts: dict[str, Any]) -> str:
    def method(template: str) -> str:
        quoted = template.replace("\n", "\\n")
        display = '("\\n\\nInstruction: " + instruction + "\\n" if instruction is not None else "")'
        return (
            "    def build_system_prompt(self, instruction):\n"
            f'        instruction_display = {display}\n        return f"""{quoted}"""\n'
        )

    reset = (
        "    def reset(self, instruction):\n        self.messages = [\n"
        "            {'role': 'system', 'content': self.build_system_prompt(instruction)},\n"
        f"            {{'role': 'user', 'content': {prompts['first_agent_message']!r}}},\n        ]\n"
    )
    return (
        f"class LLMUserSimulationEnv(Base):\n{reset}{method(prompts['llm'])}\n"
        f"class ReactUserSimulationEnv(LLMUserSimulationEnv):\n{method(prompts['react'])}"
    )


def _repository(real: Path) -> dict[str, bytes]:
    files = {place: (real / name).read_bytes() for name, place in COPIES.items()}
    for name in TASKS:
        tasks = json.loads((real / f"{name}.json").read_text())
        body = "\n".join(_task(task) for task in tasks)
        files[f"{ENVS}/{name}.py"] = f"from tau_bench.types import Task, Action\n\nTASKS = [\n{body}\n]\n".encode()
    for domain in ("retail", "airline"):
        rules = json.loads((real / domain / "rules.json").read_text())
        files[f"{ENVS}/{domain}/rules.py"] = f"RULES = {rules!r}\n".encode()
        classes = {}
        for tool in json.loads((real / domain / "tools.json").read_text()):
            name = tool["function"]["name"]
            classes[name] = "".join(word.capitalize() for word in name.split("_"))
            files[f"{ENVS}/{domain}/tools/{name}.py"] = _tool(classes[name], tool).encode()
        imports = "".join(f"from .{name} import {class_name}\n" for name, class_name in classes.items())
        listed = f"{imports}\nALL_TOOLS = [{', '.join(classes.values())}]\n"
        files[f"{ENVS}/{domain}/tools/__init__.py"] = listed.encode()
    prompts = json.loads((real / "prompts.json").read_text())["user_simulator"]
    files[f"{ENVS}/user.py"] = _user(prompts).encode()
    return files


def _lay_out(files: dict[str, bytes], folder: Path) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def _tar(files: dict[str, bytes], path: Path) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"tau-bench-59a200c6/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def _zip(files: dict[str, bytes], path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(f"tau-bench-main/{name}", data)
    return path


@pytest.mark.parametrize("form", ["folder", "tar.gz", "zip", "converted"])
def test_a_pull_equals_the_data(real: Path, tmp_path: Path, form: str) -> None:
    if form == "converted":
        source = real
    else:
        files = _repository(real)
        lay_out = {"folder": _lay_out, "tar.gz": _tar, "zip": _zip}[form]
        source = lay_out(files, tmp_path / f"source.{form}")
    pull(str(source), tmp_path / "made")
    made = {path.relative_to(tmp_path / "made").as_posix() for path in (tmp_path / "made").rglob("*") if path.is_file()}
    assert made == set(SHA256)
    assert all((tmp_path / "made" / name).read_bytes() == (real / name).read_bytes() for name in made)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        (f"{ENVS}/retail/tasks_test.py", "TASKS = [Task(user_id=f())]", "holds no user_id, instruction"),
        (f"{ENVS}/retail/tasks_test.py", "TASKS = (", "is not Python"),
        (f"{ENVS}/retail/rules.py", "RULES = open('x').read()", "is not a literal"),
        (f"{ENVS}/retail/rules.py", "RULES = ['another']", "retail/rules.json: differs from the benchmark at commit"),
        (f"{ENVS}/user.py", "", "holds no message of role|LLMUserSimulationEnv"),
        (f"{ENVS}/airline/wiki.md", None, "airline/wiki.md: is missing"),
    ],
)
def test_a_source_that_is_not_the_benchmark_is_refused_and_nothing_is_written(
    real: Path, tmp_path: Path, name: str, text: str | None, sentence: str
) -> None:
    files = _repository(real)
    del files[name]
    if text is not None:
        files[name] = text.encode()
    with pytest.raises(DataError, match=sentence):
        pull(str(_lay_out(files, tmp_path / "source")), tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_without_a_source_the_archive_at_the_pinned_commit_is_fetched(
    real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, asked = _tar(_repository(real), tmp_path / "archive.tar.gz"), []

    def urlopen(url: str, timeout: float) -> Any:
        asked.append(url)
        return io.BytesIO(archive.read_bytes())

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    pull(None, tmp_path / "made")
    assert asked == [SOURCE]
    assert "59a200c6" in SOURCE
    assert (tmp_path / "made" / "prompts.json").read_bytes() == (real / "prompts.json").read_bytes()


def test_a_source_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "broken.tar.gz").write_bytes(b"no archive")
    for source in (tmp_path / "broken.tar.gz", tmp_path / "nowhere"):
        with pytest.raises(SettingError, match="cannot be read"):
            pull(str(source), tmp_path / "made")
