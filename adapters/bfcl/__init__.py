"""BFCL Multi-Turn: official data and backends from pinned wheels, with our own executor, checker and tool compiler.

`Pair` is one release ready to be played; `check` gives the official verdict; `pull` fetches the wheels. Imports
`harness` only.
"""

from adapters.bfcl.checker import ErrorType, Verdict, check
from adapters.bfcl.environment import BfclEnvironment, judge
from adapters.bfcl.pair import Pair, open_pair
from adapters.bfcl.pull import pull
from adapters.bfcl.release import ARTIFACT, PINS, SUBSETS

__all__ = [
    "ARTIFACT",
    "PINS",
    "SUBSETS",
    "BfclEnvironment",
    "ErrorType",
    "Pair",
    "Verdict",
    "check",
    "judge",
    "open_pair",
    "pull",
]
