"""What a model wrote, read tolerantly where form is concerned and strictly where content is.

Thinking, prose around the answer, fences and trailing text are forgiven; a wrong type, a missing field or a cut-off
answer is not: its sentence goes back to the model. Names are taken as they stand, never stripped of characters (the
release's parser cut letters off names; docs of the release, section 8).
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


class Unusable(ValueError):
    """An answer that is not what was asked. Its text is one sentence for the model.

    Args:
        kind: Why, as ledgers count it: `unparsable`, `wrong`, `truncated`, `refused`.
    """

    def __init__(self, problem: str, kind: str = "unparsable") -> None:
        super().__init__(problem)
        self.kind = kind


_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*```[ \t]*([\w+-]*)[^\n]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
_REFUSAL = re.compile(
    r"\b(i['’]?m sorry|i am sorry|i apologi[sz]e|i can(?:no|['’])t|i can not|i am unable|i['’]m unable|i won['’]?t)\b",
    re.IGNORECASE,
)


def without_thinking(text: str) -> str:
    """The text after any thinking; an unclosed thinking block leaves nothing."""
    text = _THINKING.sub("", text)
    opened = re.search(r"<think(?:ing)?>", text, re.IGNORECASE)
    if opened:
        return text[: opened.start()]
    closed = re.split(r"</think(?:ing)?>", text, flags=re.IGNORECASE)
    return closed[-1]


def refuses(text: str) -> bool:
    """Whether a text that holds no answer begins like a refusal."""
    return bool(_REFUSAL.search(without_thinking(text)[:200]))


def json_object(text: str) -> dict[str, Any]:
    """The JSON object in an answer: the whole text, the last fenced block that is one, or the largest in the prose.

    Raises:
        Unusable: If there is none, or it holds what cannot be kept (half a character).
    """
    found = _found(without_thinking(text).strip())
    try:
        msgspec.json.encode(found)
    except (UnicodeEncodeError, RecursionError) as error:
        raise Unusable(f"its JSON cannot be kept: {error}", "wrong") from error
    return found


def _found(text: str) -> dict[str, Any]:
    blocks = [body for _, body in reversed(_FENCE.findall(text))]
    for candidate in (text, *blocks):
        found = _decoded(candidate)
        if found is not None:
            return found
    best: tuple[int, dict[str, Any]] | None = None
    decoder = json.JSONDecoder(strict=False, parse_constant=_no_number)
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            if isinstance(value, dict) and (best is None or end - position > best[0]):
                best = (end - position, value)
        position = text.find("{", end)
    if best is None:
        raise Unusable("it holds no complete JSON object")
    return best[1]


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text, strict=False, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def answer_of(text: str, kind: type[T]) -> T:
    """The JSON object in an answer as a record.

    Raises:
        Unusable: If there is none, or a field is missing or of another type; the sentence names the field.
    """
    return converted(json_object(text), kind)


def converted(value: Any, kind: type[T]) -> T:
    """A decoded value as a record.

    Raises:
        Unusable: As `answer_of`.
    """
    try:
        return msgspec.convert(value, kind, strict=False)
    except (msgspec.ValidationError, RecursionError) as error:
        raise Unusable(f"the JSON is not of the form asked for: {error}", "wrong") from error


def schema_of(kind: type[Any]) -> dict[str, Any]:
    """JSON schema of a record, for models that take one; references resolved, every field required."""
    (schema,), definitions = msgspec.json.schema_components([kind], ref_template="{name}")
    resolved: dict[str, Any] = _resolved(schema, definitions)
    return resolved


def _resolved(schema: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_resolved(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _resolved(definitions[schema["$ref"]], definitions)
    plain: dict[str, Any] = {
        key: _resolved(value, definitions) for key, value in schema.items() if key not in ("title", "default")
    }
    if plain.get("type") == "object" and "properties" in plain:
        plain["required"] = list(plain["properties"])
        plain["additionalProperties"] = False
    return plain


def code(text: str) -> str:
    """The Python source in an answer: its fenced blocks in order, or the whole text where it parses.

    Raises:
        Unusable: If there is none, or it does not parse; the sentence has the line.
    """
    text = without_thinking(text)
    blocks = [body for language, body in _FENCE.findall(text) if language.lower() in ("", "py", "python", "python3")]
    if not blocks:
        if re.search(r"```", text):
            raise Unusable("its code block is not closed", "truncated")
        if not re.search(r"^\s*(class|def|import|from)\s", text, re.MULTILINE):
            raise Unusable("it holds no Python code block")
        blocks = [text]
    source = "\n\n".join(block.strip("\n") for block in blocks) + "\n"
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
        raise Unusable(f"its code does not parse{line}: {getattr(error, 'msg', None) or error}") from error
    return source
