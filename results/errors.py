"""What can go wrong with logs. A module of its own: the door catches it without importing anything heavy."""

from __future__ import annotations


class LogError(Exception):
    """A log folder that holds nothing to tabulate, or a question that it cannot answer."""
