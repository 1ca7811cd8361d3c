"""The pieces that need no process: the filter, the screen for checks, the cache, the report."""

from __future__ import annotations

import struct

import pytest

from harness.isolation import IsolatedRunner, IsolationUnavailable, _launcher, support
from harness.isolation._plain import is_plain
from harness.isolation._runner import CodeCache
from harness.isolation._seccomp import filter_program
from harness.isolation._syscalls import AARCH64, ARCHITECTURES, X86_64, Architecture
from tests.harness.isolation.builders import check, shop

ALLOW, KILL, EPERM = 0x7FFF0000, 0x80000000, 0x00050001


def verdict(program: bytes, number: int, audit: int, protection: int = 0) -> int:
    """What the filter says of a call, by running its instructions."""
    data = struct.pack("<IIQ6Q", number, audit, 0, 0, 0, protection, 0, 0, 0)
    instructions = list(struct.iter_unpack("<HBBI", program))
    at, word = 0, 0
    while True:
        code, if_true, if_false, value = instructions[at]
        at += 1
        match code:
            case 0x20:
                (word,) = struct.unpack_from("<I", data, value)
            case 0x15:
                at += if_true if word == value else if_false
            case 0x45:
                at += if_true if word & value else if_false
            case 0x06:
                return value


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=ARCHITECTURES.keys())
def test_the_filter_allows_its_table_and_nothing_else(architecture: Architecture) -> None:
    program = filter_program(architecture)
    allowed = set(architecture.allowed.values())
    guarded = set(architecture.without_exec.values())
    for number in range(600):
        expected = ALLOW if number in allowed | guarded else EPERM
        assert verdict(program, number, architecture.audit, protection=3) == expected
        assert verdict(program, number, architecture.audit, protection=7) == (ALLOW if number in allowed else EPERM)
        assert verdict(program, number | 0x40000000, architecture.audit) == EPERM
        assert verdict(program, number, 0x40000003) == KILL


@pytest.mark.parametrize(
    "name", ["open", "openat", "socket", "connect", "clone", "clone3", "fork", "execve", "kill", "tgkill", "ptrace"]
)
def test_no_table_names_what_a_child_must_not_do(name: str) -> None:
    for architecture in (X86_64, AARCH64):
        assert name not in architecture.allowed
        assert name not in architecture.without_exec


@pytest.mark.parametrize(
    "body",
    [
        "return s['orders']['O1']['status'] == 'open'",
        "return any(o.get('id') == 1 for o in s.get('orders', {}).values())",
        "for k, v in s.items():\n    if isinstance(v, dict) and 'x' in v:\n        return True\nreturn False",
        "try:\n    return s['a'] > 1\nexcept (KeyError, TypeError):\n    return False",
        "total: float = sum([o['n'] for o in s['orders']])\nreturn round(total, 2) == 3.5",
        "def helper(x):\n    return x.lower().strip()\nreturn helper(s['name']) == 'a'",
        "return sorted(s, key=lambda k: s[k])[0] == f\"{s['a']}\"",
    ],
)
def test_checks_that_only_look_may_sit_together(body: str) -> None:
    assert is_plain(check(body).functions[0])


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("import json\nreturn True", id="imports"),
        pytest.param("from datetime import date\nreturn True", id="imports-a-name"),
        pytest.param("return __import__('os')", id="imports-by-function"),
        pytest.param("return s.__class__", id="double-underscore"),
        pytest.param("return (x for x in s).gi_frame", id="frame"),
        pytest.param("return '{0.__class__}'.format(s)", id="format-follows-attributes"),
        pytest.param("s.name = 1\nreturn True", id="assigns-an-attribute"),
        pytest.param("del s.name\nreturn True", id="deletes-an-attribute"),
        pytest.param("s.get += 1\nreturn True", id="changes-an-attribute"),
        pytest.param("for s.get in [1]: pass\nreturn True", id="loops-into-an-attribute"),
        pytest.param("class A: pass\nreturn True", id="makes-a-class"),
        pytest.param("return type('A', (), {})", id="makes-a-class-by-function"),
        pytest.param("return getattr(s, 'a')", id="getattr"),
        pytest.param("return eval('1')", id="eval"),
        pytest.param("e = exec\nreturn True", id="exec-under-another-name"),
        pytest.param("return vars()", id="vars"),
        pytest.param("return open", id="open"),
        pytest.param("return __builtins__", id="builtins"),
        pytest.param("global check_func\nreturn True", id="global"),
        pytest.param("@s\ndef f(): pass\nreturn True", id="decorator"),
        pytest.param("with s: pass\nreturn True", id="with"),
        pytest.param("yield 1", id="generator-function"),
        pytest.param("try:\n    pass\nexcept Exception as e:\n    return e.args\n", id="looks-into-an-exception"),
        pytest.param("match s:\n    case dict(): return True", id="matches-a-class"),
    ],
)
def test_checks_that_could_do_more_sit_alone(body: str) -> None:
    assert not is_plain(check(body).functions[0])


def test_the_cache_forgets_what_was_not_asked_for_longest() -> None:
    cache = CodeCache(limit=10)
    cache.keep(b"a", b"1234")
    cache.keep(b"b", b"1234")
    assert cache.get(b"a") == b"1234"
    cache.keep(b"c", b"1234")
    assert (cache.get(b"a"), cache.get(b"b"), cache.get(b"c")) == (b"1234", None, b"1234")
    cache.keep(b"d", b"x" * 11)
    assert cache.get(b"d") is None


def test_the_key_of_code_tells_sources_and_classes_apart() -> None:
    keys = {CodeCache.key(program) for program in (shop(), shop(class_name="A"), shop(source="\ud800"))}
    assert len(keys) == 3


def test_the_report_says_what_was_tried() -> None:
    report = support()
    assert report.isolated
    assert report.seccomp
    assert report.problem is None
    assert report.probes
    assert all(report.probes.values())
    assert report.seconds < 30


# A machine that cannot isolate, played by a self-test that fails in the zygote


@pytest.fixture
def helpless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have zygotes told that the machine is of a kind nobody knows."""
    start = _launcher.subprocess.Popen

    def with_another_machine(command: list[str], **options: object) -> object:
        patch = "import platform; platform.machine = lambda: 'm68k'; import sys, runpy; sys.argv = sys.argv[1:]; "
        run = "runpy.run_path(sys.argv[0], run_name='__main__')"
        return start([*command[:-2], "-c", patch + run, *command[-2:]], **options)  # type: ignore[call-overload]

    monkeypatch.setattr(_launcher.subprocess, "Popen", with_another_machine)


@pytest.mark.usefixtures("helpless")
def test_a_machine_that_cannot_isolate_is_refused_in_one_sentence() -> None:
    with pytest.raises(IsolationUnavailable) as caught, IsolatedRunner() as runner:
        runner.open(shop())
    sentence = str(caught.value)
    assert "m68k" in sentence
    assert "docs/isolation.md" in sentence
    assert "\n" not in sentence
    report = support()
    assert (report.level, report.seccomp) == ("process", False)
    assert "could still" in str(report.problem)


@pytest.mark.usefixtures("helpless")
def test_weaker_isolation_is_explicit_and_named() -> None:
    with IsolatedRunner(allow_weak=True) as runner:
        assert runner.level == "process"
        with runner.open(shop()) as instance:
            assert instance.call("say", {"text": "weak"}).text == "weak"
        assert runner.check(check("return True"))[0].passed


def test_full_isolation_is_used_where_it_works_even_if_weaker_is_allowed() -> None:
    with IsolatedRunner(allow_weak=True) as runner:
        assert runner.level == "isolated"
