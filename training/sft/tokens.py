"""Rows become tokens with a loss mask. The mask is made where the tokens are, so that it can be shown and checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.errors import SettingError
from training.sft.rows import Row
from training.template import ChatTemplate


@dataclass(frozen=True, slots=True)
class Tokens:
    """One row in tokens."""

    ids: list[int]
    mask: list[int]
    """1 where the loss counts."""

    @property
    def labels(self) -> list[int]:
        """The ids where the loss counts, -100 elsewhere."""
        return [token if counts else -100 for token, counts in zip(self.ids, self.mask, strict=True)]


@dataclass(slots=True)
class Counted:
    """What became of the rows."""

    kept: int = 0
    too_long: int = 0
    """Left out: cutting one would train on half an action."""
    tokens: int = 0
    supervised: int = 0
    longest: int = 0


def encode(row: Row, template: ChatTemplate) -> Tokens:
    """A row's tokens, with the loss on its supervised messages and their end-of-turn tokens.

    Raises:
        SettingError: If the template does not render the start of a conversation as it renders the whole: then what the
            model reads before a reply in training is not what it reads when it is used.
    """
    if not row.supervised:
        raise SettingError(f"{row.sample_id}: nothing in this row is supervised")
    final = template.ids(template.text(row.messages[: row.supervised[-1] + 1], row.tools, prompt=False))
    mask = [0] * len(final)
    for index in row.supervised:
        start = template.ids(template.text(row.messages[:index], row.tools, prompt=True))
        end = template.ids(template.text(row.messages[: index + 1], row.tools, prompt=False))
        if final[: len(end)] != end or end[: len(start)] != start:
            raise SettingError(_not_append_only(row, index, template))
        mask[len(start) : len(end)] = [1] * (len(end) - len(start))
    return Tokens(final, mask)


def _not_append_only(row: Row, index: int, template: ChatTemplate) -> str:
    name = template.tokenizer.name_or_path
    if len(row.supervised) > 1:
        return (
            f"{row.sample_id}: the chat template of {name} changes earlier messages as a conversation grows; "
            "use data.split=round"
        )
    return (
        f"{row.sample_id}: messages[{index}]: the chat template of {name} does not begin this message with its own "
        "generation prompt; model.thinking may differ from how the trajectories were made"
    )


def encoded(rows: Iterable[Row], template: ChatTemplate, max_tokens: int, counted: Counted) -> Iterator[Tokens]:
    """The tokens of all rows that are short enough; counts them.

    Raises:
        SettingError: As `encode`.
    """
    for row in rows:
        tokens = encode(row, template)
        if len(tokens.ids) > max_tokens:
            counted.too_long += 1
            continue
        counted.kept += 1
        counted.tokens += len(tokens.ids)
        counted.supervised += sum(tokens.mask)
        counted.longest = max(counted.longest, len(tokens.ids))
        yield tokens


def check_reasoning(row: Row, template: ChatTemplate) -> None:
    """See that the template shows the past reasoning that the rows keep.

    Raises:
        SettingError: If it drops some: stock templates keep none before the last user message.
    """
    text = template.text(row.messages, row.tools, prompt=False)
    for index, message in enumerate(row.messages[:-1]):
        reasoning = message.get("reasoning_content")
        if reasoning and reasoning.strip() not in text:
            raise SettingError(
                f"{row.sample_id}: messages[{index}]: the chat template of {template.tokenizer.name_or_path} drops "
                "past reasoning that data.history_reasoning keeps; choose chain or none, or another template"
            )
