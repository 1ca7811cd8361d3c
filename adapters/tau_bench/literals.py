"""What stands in a Python file as literals, read from its syntax tree; no code of the file runs."""

from __future__ import annotations

import ast
from typing import Any

from harness.errors import DataError


class Module:
    """One parsed Python file.

    Args:
        name: How messages name it.
    Raises:
        DataError: If it is not Python; its methods raise it if what they look for is not there.
    """

    def __init__(self, name: str, source: bytes) -> None:
        self.name = name
        try:
            self.tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise DataError(name, "", f"is not Python ({error})") from error

    def assigned(self, variable: str) -> Any:
        """The literal assigned to a variable."""
        return self._literal(self._assignment(self.tree, variable))

    def names(self, variable: str) -> list[str]:
        """The names in the list assigned to a variable."""
        value = self._assignment(self.tree, variable)
        if not isinstance(value, ast.List):
            raise self._missing(f"a list '{variable}'")
        return [element.id for element in value.elts if isinstance(element, ast.Name)]

    def imports(self) -> dict[str, str]:
        """The module that each imported name comes from, its last part."""
        return {
            alias.asname or alias.name: node.module.rpartition(".")[2]
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }

    def records(self, outer: str, inner: str) -> list[dict[str, Any]]:
        """The file's list of `outer(...)` calls, as tasks: `user_id, actions, instruction, outputs`."""
        for node in self.tree.body:
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if isinstance(value, ast.List) and value.elts and all(_calls(item, outer) for item in value.elts):
                return [self._task(item, inner) for item in value.elts]
        raise self._missing(f"a list of {outer}(...)")

    def returned(self, owner: str, method: str) -> Any:
        """The literal that a method of a class returns."""
        return self._literal(self._return(owner, method))

    def template(self, owner: str, method: str, variable: str | None = None) -> str:
        """The text that a method returns, or assigns to a variable, with `{name}` where it puts one in."""
        if variable is None:
            return self._text(self._return(owner, method))
        return self._text(self._assignment(self._method(owner, method), variable))

    def message(self, owner: str, method: str, role: str) -> str:
        """The fixed content of a chat message of this role in a method."""
        for node in ast.walk(self._method(owner, method)):
            pairs = _constants(node) if isinstance(node, ast.Dict) else {}
            if pairs.get("role") == role and isinstance(pairs.get("content"), str):
                return str(pairs["content"])
        raise self._missing(f"a message of role '{role}' in {owner}.{method}")

    def _task(self, call: ast.expr, inner: str) -> dict[str, Any]:
        fields = _keywords(call)
        actions = fields.get("actions")
        if not isinstance(actions, ast.List) or not {"user_id", "instruction"} <= fields.keys():
            raise self._missing(f"user_id, instruction and a list of actions in line {call.lineno}")
        return {
            "user_id": self._literal(fields["user_id"]),
            "actions": [self._action(action, inner) for action in actions.elts],
            "instruction": self._text(fields["instruction"]),
            "outputs": self._literal(fields["outputs"]) if "outputs" in fields else [],
        }

    def _action(self, call: ast.expr, inner: str) -> dict[str, Any]:
        fields = _keywords(call)
        if not _calls(call, inner) or not {"name", "kwargs"} <= fields.keys():
            raise self._missing(f"{inner}(name=..., kwargs=...) in line {call.lineno}")
        return {"name": self._literal(fields["name"]), "kwargs": self._literal(fields["kwargs"])}

    def _method(self, owner: str, method: str) -> ast.FunctionDef:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef) and node.name == owner:
                for item in node.body:
                    if isinstance(item, ast.FunctionDef) and item.name == method:
                        return item
        raise self._missing(f"{owner}.{method}")

    def _return(self, owner: str, method: str) -> ast.expr:
        for node in ast.walk(self._method(owner, method)):
            if isinstance(node, ast.Return) and node.value is not None:
                return node.value
        raise self._missing(f"what {owner}.{method} returns")

    def _assignment(self, where: ast.AST, variable: str) -> ast.expr:
        for node in ast.walk(where):
            if any(isinstance(target, ast.Name) and target.id == variable for target in _targets(node)):
                assert isinstance(node, ast.Assign | ast.AnnAssign)
                if node.value is not None:
                    return node.value
        raise self._missing(f"'{variable}'")

    def _literal(self, node: ast.expr) -> Any:
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, RecursionError) as error:
            raise DataError(self.name, f"line {node.lineno}", "is not a literal") from error

    def _text(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=str() as text):
                return text
            case ast.JoinedStr(values=parts):
                return "".join(self._text(part) for part in parts)
            case ast.FormattedValue(value=inner):
                return self._text(inner)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._text(left) + self._text(right)
            case ast.IfExp(body=body):
                return self._text(body)
            case ast.Name(id=name):
                return f"{{{name}}}"
        raise DataError(self.name, f"line {node.lineno}", "is not a text with names in it")

    def _missing(self, what: str) -> DataError:
        return DataError(self.name, "", f"holds no {what.removeprefix('a ')}")


def _targets(node: ast.AST) -> list[ast.expr]:
    """What an assignment assigns to; nothing for other statements."""
    match node:
        case ast.Assign(targets=targets):
            return targets
        case ast.AnnAssign(target=target):
            return [target]
    return []


def _calls(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _keywords(node: ast.expr) -> dict[str, ast.expr]:
    return {word.arg: word.value for word in node.keywords if word.arg} if isinstance(node, ast.Call) else {}


def _constants(node: ast.Dict) -> dict[Any, Any]:
    """The entries whose key and value are both constants."""
    pairs = zip(node.keys, node.values, strict=True)
    return {k.value: v.value for k, v in pairs if isinstance(k, ast.Constant) and isinstance(v, ast.Constant)}
