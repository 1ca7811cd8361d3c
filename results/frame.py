"""All rows as one tidy frame: a row for each sample and run."""

from __future__ import annotations

from dataclasses import fields

import pandas as pd

from results.read import Read, Row

_NESTED = ("parts", "checks", "usage")


def frame(read: Read) -> pd.DataFrame:
    """Every field of a row, its single-valued parts as `part_NAME`, tokens and dollars by role, serving facts.

    Columns: see docs/results.md. `reward` and `success` are missing where the episode failed or could not be scored;
    `faults`, `errors` or `unscored` is 1 there.
    """
    names = [field.name for field in fields(Row) if field.name not in _NESTED]
    found = pd.DataFrame({name: [getattr(row, name) for row in read.rows] for name in names})
    for name in ("reward", "floor"):
        found[name] = found[name].astype("float64")
    found["success"] = found["success"].astype("boolean")
    found["faults"] = (found["ending"] == "environment_fault").astype(int)
    found["errors"] = (found["ending"] == "infrastructure_error").astype(int)
    found["unscored"] = [int(row.unscored) for row in read.rows]
    for part in sorted({key for row in read.rows for key in row.parts} - {"floor", "success", "reward"}):
        found[f"part_{part}"] = [row.parts.get(part) for row in read.rows]
    for role in sorted({role for row in read.rows for role in row.usage}):
        for index, what in enumerate(("tokens_in", "tokens_out", "dollars")):
            found[f"{role}_{what}"] = [row.usage.get(role, (0, 0, 0.0))[index] for row in read.rows]
    serving = {name: "; ".join(f"{k}={v}" for k, v in fact.serving.items()) for name, fact in read.logs.items()}
    found["serving"] = [serving.get(row.log, "") for row in read.rows]
    return found
