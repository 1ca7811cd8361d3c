"""Which tools change state is read off the source."""

from __future__ import annotations

import pytest

from envscaler.corpus_report.effects import state_changing
from envscaler.scenarios import load, read
from tests.envscaler.playground import release_sample


def changes(body: str, helpers: str = "") -> bool:
    """Whether a tool with this body changes the state."""
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    source = f"class Shelf:\n    def tool(self, name, rows):\n{lines}\n{helpers}"
    return "tool" in state_changing(source, "Shelf")


@pytest.mark.parametrize(
    "body",
    [
        "self.jars[name] = 1",
        "self.count += 1",
        "del self.jars[name]",
        "self.jars.pop(name)",
        "jar = self.jars.get(name)\njar['open'] = True",
        "jar = self.jars[name] if name else self.spare\njar['open'] = True",
        "for jar in self.jars.values():\n    jar['open'] = True",
        "for name, jar in self.jars.items():\n    jar['tags'].append(1)",
        "jar = next((j for j in self.jars.values() if j['id'] == name), None)\njar.update(open=True)",
        "full = [j for j in self.jars.values() if j['full']]\nfull[0]['open'] = True",
        "found = []\nfor j in self.jars.values():\n    found.append(j)\nfor j in found:\n    j['open'] = True",
        "if (jar := self.jars.get(name)):\n    jar['open'] = True",
        "a, self.count = 1, 2",
        "jar = self.jars.copy()[name]\njar['open'] = True",
    ],
)
def test_what_reaches_into_the_state_changes_it(body: str) -> None:
    assert changes(body)


@pytest.mark.parametrize(
    "body",
    [
        "return self.jars[name]",
        "found = []\nfound.append(self.jars[name])\nreturn found",
        "jar = dict(self.jars[name])\njar['open'] = True\nreturn jar",
        "jar = {**self.jars[name]}\njar['open'] = True\nreturn jar",
        "jar = self.jars[name].copy()\njar['open'] = True\nreturn jar",
        "jar = copy.deepcopy(self.jars[name])\njar['tags'].append(1)\nreturn jar",
        "jars = sorted(self.jars.values(), key=len)\njars.reverse()\nreturn jars",
        "total = {}\nfor j in self.jars.values():\n    total[j['kind']] = total.get(j['kind'], 0) + 1\nreturn total",
        "kinds = {}\nfor j in self.jars.values():\n    kinds.setdefault(j['kind'], []).append(j)\nreturn kinds",
        "rows.append(1)\nname = name.strip()",
    ],
)
def test_what_a_tool_builds_itself_it_may_change(body: str) -> None:
    assert not changes(body)


def test_what_a_helper_does_its_callers_do() -> None:
    opens = "    def _open(self, jar):\n        jar['open'] = True\n"
    finds = "    def _find(self, name):\n        return self.jars[name]\n"
    shows = "    def _show(self, jar):\n        return {'name': jar['name']}\n"
    again = "    def _again(self, jar):\n        return self._open(jar)\n"
    assert changes("self._open(self.jars[name])", opens)
    assert changes("self._again(self.jars[name])", opens + again)
    assert changes("self._find(name)['open'] = True", finds)
    assert not changes("shown = self._show(self._find(name))\nshown['more'] = 1\nreturn shown", finds + shows)


def test_the_release_names_the_same_tools() -> None:
    """Of 374 operations in 20 released environments all but three, and in those the source is right."""
    folder = release_sample()
    corpus = read([folder / "github_form_envs.json.gz"])
    different = []
    number = 0
    for environment in corpus.environments.values():
        changing = state_changing(environment.source, environment.class_name)
        for operation in environment.released["operation_list"]:
            number += 1
            if (operation["operation_name"] in changing) != (operation["operation_type"] == "state_change"):
                different.append((environment.id, operation["operation_name"]))
    assert number == 374
    assert sorted(different) == sorted(
        [
            # Named state changes; they check their arguments and return a message.
            ("env_119_sft", "associate_item_with_project"),
            ("env_147_rl", "trigger_overdue_alert"),
            # Named a query; it makes a missing collection.
            ("env_132_sft", "list_conditions_by_category"),
        ]
    )


@pytest.mark.parametrize("words", [("get_", "list_", "search_", "find_", "check_eligibility", "quote_")])
def test_bundled_tools_that_look_things_up_change_nothing(words: tuple[str, ...]) -> None:
    for environment in load("bundled").environments.values():
        looks = {tool.name for tool in environment.own_tools if tool.name.startswith(words)}
        assert not looks & state_changing(environment.source, environment.class_name), environment.id
