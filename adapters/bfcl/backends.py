"""The official backends of one release, run in this process under private module names.

They are code of hash-checked wheels, so they are trusted (DESIGN section 7). Two releases live side by side; instances
share nothing with each other or with the modules, unlike in the official executor (docs/bfcl.md, section 1.4).
"""

from __future__ import annotations

import copy
import importlib.abc
import importlib.util
import inspect
import pickle
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.bfcl.entry import Entry
from adapters.bfcl.release import MODULES, Release
from harness.errors import SettingError

_OFFICIAL_PACKAGE = b"bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
_STATELESS = frozenset({"MathAPI"})
"""Classes that get no initial configuration."""


@dataclass(frozen=True, slots=True)
class Method:
    """One public method of a backend: a function that takes the instance first."""

    owner: str
    function: Callable[..., Any]
    parameters: dict[str, None]
    """Names, without `self`, in order."""
    shared_defaults: bool
    """Whether a default value could be changed by a call and so leak into the next one."""

    @classmethod
    def of(cls, owner: str, function: types.FunctionType) -> Method:
        """The method that a function of a class is."""
        names = dict.fromkeys(list(inspect.signature(function).parameters)[1:])
        shared = any(isinstance(default, (list, dict, set)) for default in function.__defaults__ or ())
        return cls(owner, function, names, shared)

    def unshared(self) -> Callable[..., Any]:
        """The same function with default values of its own."""
        function = self.function
        assert isinstance(function, types.FunctionType)
        defaults = copy.deepcopy(function.__defaults__)
        twin = types.FunctionType(function.__code__, function.__globals__, None, defaults, function.__closure__)
        twin.__kwdefaults__ = copy.deepcopy(function.__kwdefaults__)
        # Argument errors print the qualified name.
        twin.__qualname__ = function.__qualname__
        return twin


class _WheelLoader(importlib.abc.SourceLoader):
    """Loads one backend module from the wheel, with its imports of siblings pointed at the private package."""

    def __init__(self, release: Release, package: str) -> None:
        self._release, self._package = release, package

    def get_filename(self, fullname: str) -> str:
        return f"{self._release.file}/{fullname.rpartition('.')[2]}.py"

    def get_data(self, path: str | bytes) -> bytes:
        module = str(path).rpartition("/")[2].removesuffix(".py")
        source = self._release.backend_source(module)
        return source.replace(_OFFICIAL_PACKAGE, self._package.encode())


class Backends:
    """The backend classes of one release, and fresh instances of them."""

    def __init__(self, release: Release) -> None:
        self.version = release.version
        self.answers: dict[str, dict[int, list[str]]] = {}
        """Results of ground truths, by entry and turn, as far as they are known."""
        self._release = release
        # The hash keeps apart two wheels that claim one version (tests build such).
        self._package = f"_envscaler_bfcl_{release.version}_{release.pin.sha256[:8]}"
        self._classes: dict[str, type] = {}
        self._tables: dict[tuple[str, ...], dict[str, Method]] = {}
        self._initial: dict[str, bytes] = {}

    def methods(self, classes: Sequence[str]) -> Mapping[str, Method]:
        """What an agent can call: every public method of the classes, also held-out and undocumented ones."""
        key = tuple(classes)
        if key not in self._tables:
            table = {}
            for name in key:
                for method, function in inspect.getmembers(self._class(name), inspect.isfunction):
                    if not method.startswith("_"):
                        table[method] = Method.of(name, function)
            self._tables[key] = table
        return self._tables[key]

    def fresh(self, entry: Entry) -> dict[str, Any]:
        """New instances in the entry's initial state, by class.

        Raises:
            SettingError: If the entry belongs to another release: its own ground truth would fail here.
        """
        if entry.version != self.version:
            raise SettingError(
                f"{entry.id}: {entry.version} data run on {entry.version} backends only, not on {self.version} ones; "
                "data and backends of BFCL are a pair"
            )
        if entry.id not in self._initial:
            self._initial[entry.id] = pickle.dumps(self._load(entry), protocol=pickle.HIGHEST_PROTOCOL)
        # Bytes we pickled ourselves: a copy that is faster than deepcopy and shares nothing with the module.
        instances: dict[str, Any] = pickle.loads(self._initial[entry.id])
        return instances

    def _load(self, entry: Entry) -> dict[str, Any]:
        instances = {}
        for name in entry.classes:
            instances[name] = instance = self._class(name)()
            if name not in _STATELESS:
                config = copy.deepcopy(entry.config.get(name, {}))
                instance._load_scenario(config, long_context=entry.long_context)
        return instances

    def _class(self, name: str) -> type:
        if name not in self._classes:
            self._import("long_context")
            self._classes[name] = getattr(self._import(MODULES[name]), name)
        return self._classes[name]

    def _import(self, module: str) -> types.ModuleType:
        # The parent exists so that pickle can find the classes by name.
        sys.modules.setdefault(self._package, types.ModuleType(self._package)).__path__ = []
        full = f"{self._package}.{module}"
        if full not in sys.modules:
            loader = _WheelLoader(self._release, self._package)
            spec = importlib.util.spec_from_loader(full, loader)
            assert spec is not None
            loaded = importlib.util.module_from_spec(spec)
            loader.exec_module(loaded)
            sys.modules[full] = loaded
        return sys.modules[full]
