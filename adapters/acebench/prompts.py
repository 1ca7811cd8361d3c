"""The benchmark's prompts without the lines that ask for calls as text: what native function calling leaves of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_TEXT_CALL = "[ApiName("
_SENTENCE = re.compile(r"(?<=[.。])\s*")
_CLAUSE = re.compile(r"(?<=[.。，])\s*")

Prompts = Mapping[str, Mapping[str, str]]


def native(prompt: str, *, by_clause: bool = False) -> str:
    """`prompt` without its sentences on the textual form of calls, and without headings that are left empty.

    Of the English policies this makes, to the letter, the texts that the paper used; so the same rule serves the
    Chinese ones and the official agent prompts.

    Args:
        by_clause: Drop no more than the clause where clauses end in a Chinese comma: the Chinese travel policy tells a
            rule and the form of a call in one sentence.
    """
    kept: list[str] = []
    lines = iter(prompt.split("\n"))
    for line in lines:
        if _TEXT_CALL not in line:
            kept.append(line)
            continue
        before = (_CLAUSE if by_clause else _SENTENCE).split(line.partition(_TEXT_CALL)[0])[:-1]
        # What is left of a numbered line may be its number alone.
        rest = (" " if line.isascii() else "").join(before).rstrip("，")
        if any(character.isalpha() for character in rest):
            kept.append(rest)
        elif kept and kept[-1].rstrip().endswith((":", "：")):
            kept.pop()
            # The blank line after a dropped section goes with it.
            kept += [following for following in [next(lines, "")] if following]
    return "\n".join(kept)


def policy(prompts: Prompts, language: str, *, flies: bool) -> str:
    """What an agent of a multi_turn task must keep to."""
    text = prompts["policy"][f"{'TRAVEL' if flies else 'BASE'}_PROMPT_{language.upper()}"]
    return native(text, by_clause=True)


def user_prompt(prompts: Prompts, language: str, goal: str, *, flies: bool) -> str:
    """The simulated user's system prompt."""
    name = f"SYSTEM_PROMPT_{'TRAVEL' if flies else 'BASE'}_{language.upper()}"
    return prompts["user_simulator"][name].replace("{instruction}", goal)


def official_agent_prompt(prompts: Prompts, language: str, subset: str) -> str:
    """The benchmark's own system prompt for agents."""
    return native(prompts[f"agent_{subset}"][f"MULTI_TURN_AGENT_PROMPT_SYSTEM_{language.upper()}"])
