"""What can go wrong, each with its blame: the driver, the environment, the data, or the machine."""

from __future__ import annotations

from pathlib import Path


class EnvScalerError(Exception):
    """Base of every error this project raises on purpose."""


class EpisodeMisuse(EnvScalerError):
    """The driver made a move the episode does not wait for. A bug in the driver, never the agent's doing."""


class EnvironmentFault(EnvScalerError):
    """The environment failed, not the agent: timeout, killed, state not exportable (DESIGN section 4, outcome 2).

    Args:
        kind: Short stable name of the fault, e.g. `timeout`; tables count faults by it.
        detail: One sentence for people.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


class DataError(EnvScalerError):
    """A file or record is not what it should be. The door prints it as one sentence and exits with 2.

    Args:
        file: The file at fault, as the user named it.
        path: Where in it: record and field, e.g. `checks[3].function`. Empty for the file as a whole.
        problem: What is wrong, then what was expected.
    """

    def __init__(self, file: str | Path, path: str, problem: str) -> None:
        super().__init__(": ".join(part for part in (str(file), path, problem) if part))
        self.file = str(file)
        self.path = path
        self.problem = problem


class SettingError(EnvScalerError):
    """An option, a task parameter or a combination of them that cannot be honoured."""


_MOST_NAMES = 20


def near_miss(word: object, known: list[str]) -> str:
    """The tail of a sentence about an unknown name: the closest known one, else all of them (of many, the first).

    Returns:
        `did you mean 'x'?`, `one of a, b, c`, or `one of a, b, c and 9 more`.
    """
    import difflib

    close = difflib.get_close_matches(str(word), known, n=1)
    if close:
        return f"did you mean '{close[0]}'?"
    more = f" and {len(known) - _MOST_NAMES} more" if len(known) > _MOST_NAMES else ""
    return f"one of {', '.join(sorted(known)[:_MOST_NAMES])}{more}"
