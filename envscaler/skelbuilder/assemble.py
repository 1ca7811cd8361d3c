"""Put a program together from what a model wrote in parts: by syntax tree, never by pattern.

Imports are merged, later definitions of a name replace earlier ones, methods go into the class. The text of each part
is kept as it was written, comments included; where indenting it would change it, it is written anew from the tree.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable

from envscaler.synthesis.answers import Unusable
from envscaler.synthesis.reading import Function, Unreadable, parsed


def assemble(class_name: str, parts: Iterable[str]) -> str:
    """One source with the class of that name.

    Args:
        parts: Sources: the first holds the class; others hold functions that become its methods, more of the class, or
            further definitions of the module.
    Raises:
        Unusable: If a part does not parse, or none defines the class.
    """
    imports: dict[tuple[str, str | None], dict[str, ast.alias]] = {}
    outside: dict[str, str] = {}
    header: list[str] = []
    inside: dict[str, str] = {}
    for part in parts:
        try:
            tree = parsed(part)
        except Unreadable as error:
            raise Unusable(str(error)) from error
        for node in tree.body:
            match node:
                case ast.Import() | ast.ImportFrom():
                    _merge(imports, node)
                case ast.ClassDef(name=name) if name == class_name:
                    header = _header(part, node)
                    for item in node.body:
                        _put(inside, item, part)
                case ast.FunctionDef() | ast.AsyncFunctionDef() if _is_method(node):
                    _put(inside, node, part)
                case _ if not (_is_docstring(node) or _is_main(node)):
                    _put(outside, node, part)
    if not header:
        raise Unusable(f"no part defines the class {class_name}", "wrong")
    body = "\n\n".join(_indented(text) for text in inside.values()) or "    pass"
    blocks = [_imports(imports), *outside.values(), "\n".join([*header, body])]
    source = "\n\n\n".join(block for block in blocks if block) + "\n"
    try:
        parsed(source)
    except Unreadable as error:
        raise Unusable(f"its parts do not fit together: {error}", "wrong") from error
    return source


def _is_method(node: Function) -> bool:
    arguments = [*node.args.posonlyargs, *node.args.args]
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    return bool(arguments and arguments[0].arg in ("self", "cls")) or bool(decorators & {"staticmethod", "classmethod"})


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_main(node: ast.stmt) -> bool:
    """`if __name__ == "__main__"` and loose calls: trials of the model's own, no part of the program."""
    return isinstance(node, ast.If | ast.Expr)


def _merge(imports: dict[tuple[str, str | None], dict[str, ast.alias]], node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        if isinstance(node, ast.Import):
            imports.setdefault(("import", None), {})[f"{alias.name} {alias.asname}"] = alias
        else:
            module = "." * node.level + (node.module or "")
            imports.setdefault(("from", module), {})[f"{alias.name} {alias.asname}"] = alias


def _imports(imports: dict[tuple[str, str | None], dict[str, ast.alias]]) -> str:
    lines = []
    for (kind, module), aliases in imports.items():
        ordered = [aliases[key] for key in sorted(aliases)]
        if kind == "import":
            lines += [ast.unparse(ast.Import(names=[alias])) for alias in ordered]
        else:
            lines.append(f"from {module} import {', '.join(ast.unparse(alias) for alias in ordered)}")
    # `from __future__` must stand first.
    return "\n".join(
        sorted(lines, key=lambda line: (not line.startswith("from __future__"), line.startswith("from"), line))
    )


def _header(source: str, node: ast.ClassDef) -> list[str]:
    """The class line with its docstring."""
    bases = [ast.unparse(base) for base in node.bases] + [f"{k.arg}={ast.unparse(k.value)}" for k in node.keywords]
    lines = [f"@{ast.unparse(decorator)}" for decorator in node.decorator_list]
    lines.append(f"class {node.name}{'(' + ', '.join(bases) + ')' if bases else ''}:")
    doc = ast.get_docstring(node)
    return [*lines, f"    {_quoted(doc)}", ""] if doc else lines


def _quoted(doc: str) -> str:
    text = textwrap.indent(doc, "    ").strip()
    if '"""' in text or "\\" in text or text.endswith('"'):
        return repr(doc)
    return f'"""{text}\n    """' if "\n" in text else f'"""{text}"""'


def _put(kept: dict[str, str], node: ast.stmt, source: str) -> None:
    """Take a definition in, in place of an earlier one of its name."""
    if _is_docstring(node) or isinstance(node, ast.Pass):
        return
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            name = node.name
        case ast.Assign(targets=[ast.Name(id=target), *_]):
            name = target
        case ast.AnnAssign(target=ast.Name(id=target)):
            name = target
        case _:
            name = f"line {len(kept)}: {ast.dump(node)[:80]}"
    kept[name] = _text(node, source)


def _text(node: ast.stmt, source: str) -> str:
    """A statement as it stands in the source, not indented."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    lines = source.splitlines()
    # Comment lines right above belong to it.
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    text = textwrap.dedent("\n".join(lines[first - 1 : node.end_lineno]))
    return text if _alone(text) and not _runs_over_lines(node) else ast.unparse(node)


def _indented(text: str) -> str:
    return textwrap.indent(text, "    ")


def _alone(text: str) -> bool:
    """Whether it is one statement: two may share a line."""
    try:
        return len(ast.parse(text).body) == 1
    except SyntaxError:
        return False


def _runs_over_lines(node: ast.stmt) -> bool:
    """Whether a string that is no docstring does: indenting it would change what it says."""
    docstrings = {
        id(item.body[0].value)
        for item in ast.walk(node)
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and isinstance(item.body[0], ast.Expr)
    }
    return any(
        isinstance(item, ast.JoinedStr | ast.Constant) and item.lineno != item.end_lineno and id(item) not in docstrings
        for item in ast.walk(node)
    )
