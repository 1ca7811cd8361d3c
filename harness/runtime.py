"""Load, instantiate, call, export and check generated code: what both levels do, one in this process, one in a child.

Runs inside children of the isolation level, so it imports only the standard library and `harness.state`.
"""

from __future__ import annotations

import functools
import json
import linecache
import marshal
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from harness.state import NotExportable, encode

MODULE = "dynamic_env"
"""Module name of generated code, as in the release."""

Importer = Callable[..., Any]

PASSED, FAILED, RAISED, ODD = "P", "F", "E", "N"
"""What a check said of one of many states: true, false, an exception, no bool."""


class ProgramError(Exception):
    """Generated code that cannot be loaded or instantiated."""


def namespace(name: str, importer: Importer | None = None) -> dict[str, Any]:
    """Fresh module globals; `importer` replaces `__import__` for the code that runs in them."""
    import builtins

    names = dict(vars(builtins))
    if importer is not None:
        names["__import__"] = importer
    return {"__name__": name, "__builtins__": names}


@functools.lru_cache(maxsize=4096)
def compiled(source: str, filename: str) -> types.CodeType:
    """The code object of `source`; kept, since compiling an environment costs more than running an episode's calls."""
    return compile(source, filename, "exec", dont_inherit=True)


@functools.lru_cache(maxsize=256)
def _lines(source: str) -> list[str]:
    return source.splitlines(keepends=True)


def compile_class(source: str, class_name: str) -> types.CodeType:
    """The code of an environment's source, under the file name that its tracebacks show."""
    return compiled(source, _filename(class_name))


def _filename(class_name: str) -> str:
    return f"<{MODULE}.{class_name}>"


def load_class(
    source: str, class_name: str, importer: Importer | None = None, code: types.CodeType | None = None
) -> type:
    """The environment class that `source` defines.

    Args:
        code: What `compile_class` gave for it, if that is at hand.
    Raises:
        ProgramError: If the source does not compile or run, or defines no such class.
    """
    filename = _filename(class_name)
    module = types.ModuleType(MODULE)
    vars(module).update(namespace(MODULE, importer))
    # Dataclasses with string annotations look their module up by name; tracebacks look the source up.
    sys.modules[MODULE] = module
    linecache.cache[filename] = (len(source), None, _lines(source), filename)
    try:
        exec(compiled(source, filename) if code is None else code, vars(module))
    except MemoryError:
        raise
    except BaseException as error:
        _reraise_interrupt(error)
        raise ProgramError(f"environment source fails: {describe(error)}") from error
    loaded = vars(module).get(class_name)
    if not isinstance(loaded, type):
        raise ProgramError(f"environment source defines no class {class_name}")
    return loaded


def instantiate(cls: type, config: Any) -> Any:
    """An instance in its initial state, as the release makes one: constructor, then every key as an attribute.

    Args:
        config: A copy that the instance may keep.
    Raises:
        ProgramError: If the constructor fails both with and without the configuration.
    """
    try:
        try:
            instance = cls(config)
        except TypeError:
            instance = cls()
        for key, value in config.items():
            setattr(instance, key, value)
    except MemoryError:
        raise
    except BaseException as error:
        _reraise_interrupt(error)
        raise ProgramError(f"{cls.__name__} does not take its configuration: {describe(error)}") from error
    return instance


@dataclass(frozen=True, slots=True)
class Called:
    """What a method call gave: its result as text, or what it raised."""

    text: str
    raised: bool


def call(instance: Any, name: str, arguments: Mapping[str, Any], observation: str) -> Called:
    """Call a method with the arguments as they came.

    Args:
        observation: `python`: `str(result)`, as the release shows it; `json`: JSON.
    """
    try:
        result = getattr(instance, name)(**arguments)
        return Called(observe(result, observation), raised=False)
    except MemoryError:
        raise
    except BaseException as error:
        _reraise_interrupt(error)
        return Called(f"Error: {describe(error)}", raised=True)


def observe(result: Any, observation: str) -> str:
    """A tool's result as the agent reads it."""
    if observation != "json":
        return str(result)
    try:
        return json.dumps(result, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        # Keys that are tuples, or a value that holds itself. The call was made: its result is not an exception.
        return json.dumps(str(result), ensure_ascii=False)


def export(instance: Any) -> bytes:
    """The state of an instance: its attributes but for dunders, as canonical bytes.

    Raises:
        NotExportable: If an attribute has no canonical form.
    """
    try:
        attributes = vars(instance)
    except TypeError as error:
        raise NotExportable(f"{type(instance).__name__} keeps its state in __slots__") from error
    return encode({key: value for key, value in attributes.items() if not key.startswith("__")})


@dataclass(frozen=True, slots=True)
class Checked:
    """What one check function did."""

    passed: bool
    error: str | None
    mutated: bool


def run_check(function: str, initial: Any, final: Any, final_bytes: bytes, importer: Importer | None = None) -> Checked:
    """Run one check function on states it may keep.

    Args:
        function: Source that defines `check_func(final_state)`.
        final_bytes: Canonical bytes of `final`, to tell whether the check changed it.
    """
    globals_ = namespace("check", importer)
    globals_["initial_state"] = initial
    try:
        exec(compiled(function, "<check>"), globals_)
        check_func = globals_.get("check_func")
        if not callable(check_func):
            return Checked(False, "defines no check_func(final_state)", False)
        answer = check_func(final)
    except MemoryError:
        raise
    except BaseException as error:
        _reraise_interrupt(error)
        return Checked(False, f"raised {describe(error)}", False)
    mutated = _changed(final, final_bytes)
    if mutated:
        return Checked(False, "changed the state that it was given", True)
    if type(answer) is not bool:
        return Checked(False, f"returned {type(answer).__name__}, not a bool", False)
    return Checked(answer, None, False)


def hear(function: str, initials: Sequence[Any], finals: Sequence[Any], importer: Importer | None = None) -> str:
    """What one check function says of each of many states, a letter each.

    Args:
        function: As for `run_check`. Loaded anew for each state, so that it takes nothing along but the initial states.
        finals: Pairs of the index of an initial state and a final state.
    """
    shared = namespace("check", importer)
    told = []
    for number, final in finals:
        globals_ = {**shared, "initial_state": initials[number]}
        try:
            exec(compiled(function, "<check>"), globals_)
            answer = globals_["check_func"](final)
            told.append(PASSED if answer is True else FAILED if answer is False else ODD)
        except MemoryError:
            raise
        except BaseException as error:
            _reraise_interrupt(error)
            told.append(RAISED)
    return "".join(told)


class Exhibit:
    """What several functions are shown one after another: made anew only where the last one may have changed it.

    Args:
        make: Makes a value that nobody else holds.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._shown: Any = None
        self._mark: bytes | None = None

    def show(self) -> Any:
        """The value as it was made."""
        if self._mark is None or _marshalled(self._shown) != self._mark:
            self._shown = self._make()
            self._mark = _marshalled(self._shown)
        return self._shown


def _marshalled(value: Any) -> bytes | None:
    """Bytes that tell types as well as values; None if there are values in it of types that marshal does not know."""
    try:
        return marshal.dumps(value, 2)  # later versions also say how often a value is referred to
    except ValueError:
        return None


def _changed(value: Any, before: bytes) -> bool:
    """Whether a value is no longer the one that `before` encodes."""
    try:
        # Plain JSON encodes to the same bytes without our walk; anything else takes the sure way.
        if msgspec.json.encode(value) == before:
            return False
    except (TypeError, ValueError, OverflowError, RecursionError, AttributeError):
        pass
    try:
        return encode(value) != before
    except NotExportable:
        return True


def describe(error: BaseException) -> str:
    """An exception in one line. Never fails, whatever its `__str__` does."""
    try:
        text = str(error)
    except BaseException as inner:
        _reraise_interrupt(inner)
        text = "no text"
    return f"{type(error).__name__}: {text[:2000]}" if text else type(error).__name__


def _reraise_interrupt(error: BaseException) -> None:
    """Ctrl-C is the user's, not the program's."""
    if isinstance(error, KeyboardInterrupt):
        raise error
