"""Print every figure: `python -m tests.performance [MODULE ...]`. Exits with 1 if one misses what it should hold."""

from __future__ import annotations

import importlib
import pkgutil
import sys

from tabulate import tabulate

from tests import performance


def main(names: list[str]) -> int:
    modules = [module.name for module in pkgutil.iter_modules(performance.__path__) if module.name.startswith("bench_")]
    rows = []
    for name in modules:
        if not names or name in names:
            print(f"measuring {name} ...", file=sys.stderr)
            rows += importlib.import_module(f"tests.performance.{name}").measure()
    table = [(row.what, row.measured, row.hold, "held" if row.held else "MISSED") for row in rows]
    print(tabulate(table, headers=("what", "measured", "hold", ""), tablefmt="github"))
    return 0 if all(row.held for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
