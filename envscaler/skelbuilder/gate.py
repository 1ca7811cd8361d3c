"""The static gate: what can be read off an environment's source before anything runs.

Each finding is one sentence that tells the model which line is wrong and what is wanted. The rules answer to what the
release let through: wall clocks and random ids in 18 of 50 environments, unannotated parameters, private methods as
tools, state that does not survive JSON (docs of the release, sections 1.2, 2.1 and 8).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from envscaler.environments import EnvironmentRecord, tool_specs
from envscaler.synthesis.reading import Reading, Unreadable, assigned, is_self, reading, used


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


IMPORTS = _words(
    "__future__ abc base64 bisect calendar cmath collections collections.abc contextlib copy dataclasses datetime "
    "decimal difflib enum fractions functools graphlib hashlib heapq html ipaddress itertools json keyword math "
    "numbers operator pprint re reprlib statistics string struct textwrap time typing unicodedata urllib.parse uuid "
    "zlib zoneinfo random secrets"
)
"""A part of what isolated code may import: nothing that reaches for the machine or the interpreter. What some of these
give that differs from run to run is found where it is used."""

_CLOCK = _words(
    "datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today datetime.date.today time.time time.time_ns "
    "time.monotonic time.monotonic_ns time.perf_counter time.perf_counter_ns time.process_time time.localtime "
    "time.gmtime time.ctime time.asctime time.sleep time.strftime"
)
_CHANCE = _words("uuid.uuid1 uuid.uuid4 uuid.getnode")
_CHANCE_MODULES = ("random", "secrets")
_FORBIDDEN = _words(
    "open print input exec eval compile __import__ breakpoint globals locals vars exit quit help setattr delattr "
    "memoryview id"
)
_MUTATORS = _words("append extend insert remove pop clear update setdefault add discard popitem sort reverse")
_NOT_JSON = _words(
    "set Set frozenset FrozenSet tuple Tuple bytes bytearray complex deque Deque defaultdict DefaultDict datetime date "
    "time timedelta Decimal Fraction UUID"
)
_MUTABLE_CALLS = _words("list dict set defaultdict deque OrderedDict Counter bytearray")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the gate refuses."""

    rule: str
    """Short stable name, by which reports count."""
    line: int
    """0 where it belongs to no line."""
    problem: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.problem}" if self.line else self.problem


def gate(source: str, class_name: str, operations: Collection[str] | None = None) -> list[Finding]:
    """Every finding on a source, in order of lines.

    Args:
        operations: Planned tools; each must be there, and no other. None where there is no plan.
    """
    try:
        read = reading(source, class_name)
    except Unreadable as error:
        return [Finding("compiles", 0, str(error))]
    findings = [finding for rule in RULES for finding in rule(read)]
    if not any(finding.rule == "compiles" for finding in findings):
        findings += _schemas(read, source, class_name)
    if operations is not None:
        findings += _planned(read, operations)
    return sorted(dict.fromkeys(findings), key=lambda finding: (finding.line, finding.rule))


def _at(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _imports(read: Reading) -> Iterator[Finding]:
    for node in read.nodes:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield Finding("imports", _at(node), "imports relatively; the environment is one file on its own")
                continue
            names = [node.module or ""]
            if any(alias.name == "*" for alias in node.names):
                yield Finding("imports", _at(node), f"imports * from {node.module}; name what is needed")
        for name in names:
            if name not in IMPORTS:
                yield Finding("imports", _at(node), f"imports {name}, which environments may not use")


def _clock_and_chance(read: Reading) -> Iterator[Finding]:
    for node in read.nodes:
        if not isinstance(node, ast.Attribute | ast.Name):
            continue
        name = read.dotted(node)
        if name is None:
            continue
        if name in _CLOCK:
            problem = f"reads the clock ({name}); today's date is a value in the state, set from init_config"
            yield Finding("clock", _at(node), problem)
        elif name in _CHANCE or (name.split(".")[0] in _CHANCE_MODULES and name not in _CHANCE_MODULES):
            problem = f"draws at random ({name}); new ids come from a counter in the state"
            yield Finding("chance", _at(node), problem)


def _machine(read: Reading) -> Iterator[Finding]:
    own = {node.name for node in read.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in read.nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Load()) if name in _FORBIDDEN and name not in own | _local(read, name):
                yield Finding("input_output", _at(node), f"uses {name}, which environments may not")
            case ast.Call(func=ast.Name(id="getattr"), args=[_, key, *_]) if not isinstance(key, ast.Constant):
                yield Finding("input_output", _at(node), "uses getattr with a computed name; reach attributes by name")
            case ast.Attribute(attr=attr) if attr.startswith("__") and attr.endswith("__") and attr != "__init__":
                yield Finding("input_output", _at(node), f"reaches for {attr}, which environments may not")
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield Finding("state", _at(node), f"rebinds {', '.join(names)} outside its function; state is in self")


def _local(read: Reading, name: str) -> set[str]:
    """The name, if some function has a parameter or a variable of it."""
    for node in read.nodes:
        if (isinstance(node, ast.arg) and node.arg == name) or (
            isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        ):
            return {name}
    return set()


def _constructor(read: Reading) -> Iterator[Finding]:
    constructor = read.methods.get("__init__")
    if constructor is None:
        yield Finding("constructor", _at(read.cls), "has no __init__(self, init_config) that sets the state")
        return
    arguments = constructor.args
    needed = [*arguments.posonlyargs, *arguments.args][1:]
    needed = needed[: len(needed) - len(arguments.defaults)] if arguments.defaults else needed
    alone = [arg.arg for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if not default]
    if len(needed) > 1 or alone:
        extra = ", ".join([*(argument.arg for argument in needed[1:]), *alone])
        yield Finding("constructor", _at(constructor), f"__init__ needs {extra}; it is given init_config and no more")
    if read.cls.bases or read.cls.keywords:
        yield Finding("constructor", _at(read.cls), "has base classes; write the environment as one plain class")


def _state(read: Reading) -> Iterator[Finding]:
    reached = read.reachable()
    named = set().union(*(used(method) for method in reached.values())) if reached else set()
    for name, node in read.attributes.items():
        if name in read.methods:
            yield Finding("tools", _at(node), f"the attribute {name} hides the method of that name")
        elif name not in named:
            yield Finding("state", _at(node), f"self.{name} is set but no tool ever reads or writes it")
    known = {*read.attributes, *read.methods, *read.constants}
    told: set[str] = set()
    for method in read.methods.values():
        for item in ast.walk(method):
            if is_self(item) and isinstance(item, ast.Attribute) and item.attr not in known | told:
                told.add(item.attr)
                yield Finding("state", _at(item), f"self.{item.attr} is used but never set in __init__")


def _json_state(read: Reading) -> Iterator[Finding]:
    for target, statement in [pair for method in read.methods.values() for pair in assigned(method)]:
        if is_self(target) and isinstance(statement, ast.AnnAssign):
            yield from _annotation(statement.annotation, f"self.{target.attr}")
    for record in read.tree.body:
        if isinstance(record, ast.ClassDef) and record is not read.cls and _is_row(record):
            for item in record.body:
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                    yield from _annotation(item.annotation, f"{record.name}.{item.target.id}")
    rows = {
        record.name
        for record in read.tree.body
        if isinstance(record, ast.ClassDef) and record is not read.cls and not _is_row(record)
    }
    for method in read.methods.values():
        for inner in ast.walk(method):
            if isinstance(inner, ast.Assign | ast.AnnAssign | ast.AugAssign) and inner.value is not None:
                targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
                if any(_rooted_in_self(target) for target in targets):
                    yield from _value(inner.value, rows, read)


def _is_row(node: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name | ast.Attribute) and "TypedDict" in ast.unparse(base) for base in node.bases)


def _rooted_in_self(node: ast.AST) -> bool:
    while isinstance(node, ast.Subscript | ast.Attribute):
        if is_self(node):
            return True
        node = node.value
    return False


def _value(node: ast.expr, rows: set[str], read: Reading) -> Iterator[Finding]:
    """What a value written into the state holds that JSON cannot."""
    match node:
        case ast.Set() | ast.SetComp():
            yield Finding("json_state", _at(node), "puts a set into the state; use a list")
        case ast.Tuple(ctx=ast.Load()):
            yield Finding("json_state", _at(node), "puts a tuple into the state; use a list")
        case ast.Call(func=ast.Name(id=name)) if name in ("set", "frozenset", "tuple", "bytes", "Decimal", "deque"):
            yield Finding("json_state", _at(node), f"puts a {name} into the state; use a list, number or string")
        case ast.Call(func=ast.Name(id=name)) if name in rows:
            yield Finding("json_state", _at(node), f"puts an object of {name} into the state; use a plain dict")
        case ast.Dict(keys=keys, values=values):
            for key in keys:
                if isinstance(key, ast.Constant) and not isinstance(key.value, str):
                    yield Finding("json_state", _at(key), "uses a key that is no string; JSON turns it into one")
            for value in values:
                yield from _value(value, rows, read)
        case ast.List(elts=elts):
            for element in elts:
                yield from _value(element, rows, read)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _value(value, rows, read)


def _annotation(node: ast.expr, where: str) -> Iterator[Finding]:
    for item in ast.walk(node):
        name = item.id if isinstance(item, ast.Name) else item.attr if isinstance(item, ast.Attribute) else None
        if name in _NOT_JSON:
            yield Finding("json_state", _at(item), f"{where} is annotated with {name}, which JSON does not keep")
        if isinstance(item, ast.Subscript) and ast.unparse(item.value).rpartition(".")[2] in (
            "dict",
            "Dict",
            "Mapping",
        ):
            key = item.slice.elts[0] if isinstance(item.slice, ast.Tuple) else item.slice
            if ast.unparse(key) not in ("str", "'str'") and not ast.unparse(key).startswith("Literal"):
                problem = f"{where} has keys of type {ast.unparse(key)}; JSON keeps only strings"
                yield Finding("json_state", _at(item), problem)


def _mutable(read: Reading) -> Iterator[Finding]:
    for node in read.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                if default is not None and _is_mutable(default):
                    yield Finding("mutable_default", _at(default), "has a mutable default; use None and make a new one")
    shared = dict(read.constants)
    for item in read.tree.body:
        if isinstance(item, ast.Assign):
            shared |= {target.id: item for target in item.targets if isinstance(target, ast.Name)}
    changed = _changed_names(read)
    for name, setting in shared.items():
        value = getattr(setting, "value", None)
        if value is not None and _is_mutable(value) and (name in changed or name.strip("_") != name.strip("_").upper()):
            yield Finding(
                "mutable_default", _at(setting), f"{name} is shared by all instances and can change; set it in __init__"
            )


def _is_mutable(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MUTABLE_CALLS
    )


def _changed_names(read: Reading) -> set[str]:
    """Names of what is written into or changed by a method, as `name[...] = `, `self.name.append(...)`."""
    found: set[str] = set()
    for node in read.nodes:
        base: ast.AST | None = None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            base = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
            base = node.func.value
        if isinstance(base, ast.Name):
            found.add(base.id)
        elif isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name) and base.value.id in ("self", "cls"):
            found.add(base.attr)
    return found


def _tools(read: Reading) -> Iterator[Finding]:
    if not read.tools:
        yield Finding("tools", _at(read.cls), "has no public method, so no tool")
    for method in read.repeated:
        yield Finding("tools", _at(method), f"{method.name} is defined twice; the first is never reached")
    for name, method in read.tools.items():
        arguments = method.args
        if isinstance(method, ast.AsyncFunctionDef):
            yield Finding("tools", _at(method), f"{name} is async; tools are plain functions")
        if any(isinstance(item, ast.Yield | ast.YieldFrom) for item in ast.walk(method)):
            yield Finding("tools", _at(method), f"{name} is a generator; tools return their result")
        for decorator in method.decorator_list:
            if ast.unparse(decorator) not in ("staticmethod", "classmethod"):
                yield Finding("tools", _at(method), f"{name} is decorated ({ast.unparse(decorator)}); tools are plain")
        if arguments.posonlyargs or arguments.vararg or arguments.kwarg:
            yield Finding("tools", _at(method), f"{name} takes arguments that cannot be given by name")
        if not ast.get_docstring(method):
            yield Finding("annotations", _at(method), f"{name} has no docstring; it is what an agent reads of the tool")


def _schemas(read: Reading, source: str, class_name: str) -> Iterator[Finding]:
    try:
        specs = {tool.name: tool for tool in tool_specs(source, class_name)}
    except ValueError as error:
        yield Finding("annotations", 0, str(error))
        return
    for name, method in read.tools.items():
        static = any(ast.unparse(decorator) == "staticmethod" for decorator in method.decorator_list)
        arguments = [*method.args.posonlyargs, *method.args.args][0 if static else 1 :]
        for argument in [*arguments, *method.args.kwonlyargs]:
            if argument.annotation is None:
                yield Finding("annotations", _at(argument), f"{name}: parameter {argument.arg} has no annotation")
                continue
            schema = specs[name].parameters["properties"][argument.arg] if name in specs else {}
            if not schema.keys() & {"type", "anyOf", "enum"}:
                shown = ast.unparse(argument.annotation)
                problem = f"{name}: the annotation {shown} of {argument.arg} tells an agent nothing; give a plain type"
                yield Finding("annotations", _at(argument), problem)


def _planned(read: Reading, operations: Collection[str]) -> Iterator[Finding]:
    for name in operations:
        if name not in read.tools:
            yield Finding("tools", 0, f"the planned operation {name} is missing")
    for name, method in read.tools.items():
        if name not in operations:
            yield Finding("tools", _at(method), f"{name} is not a planned operation; helpers begin with an underscore")


RULES: tuple[Callable[[Reading], Iterator[Finding]], ...] = (
    _imports,
    _clock_and_chance,
    _machine,
    _constructor,
    _state,
    _json_state,
    _mutable,
    _tools,
)


def released_schema_findings(record: EnvironmentRecord) -> list[Finding]:
    """What is wrong with the tool schemas that came with a record, measured against its source.

    The release lists parameters that have a default as required (docs of the release, section 2.1).
    """
    own = {tool.name: tool for tool in record.own_tools}
    findings = []
    for tool in record.released.get("tools", ()):
        name = tool["function"]["name"]
        if name not in own:
            findings.append(Finding("released_tools", 0, f"the released tool {name} is no public method"))
            continue
        required = (tool["function"].get("parameters") or {}).get("required") or ()
        optional = [arg for arg in required if arg not in own[name].parameters["required"]]
        for argument in optional:
            problem = f"{name}: {argument} has a default, and the released schema requires it"
            findings.append(Finding("released_defaults", 0, problem))
    return findings
