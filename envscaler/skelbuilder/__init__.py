"""From task texts to inspected, executable environments: the first half of the paper, one module a stage.

Promises: a stage is pure functions from records to records with its question and its parser; only `synthesis.desk` asks
models and only `harness.isolation` runs what they wrote. Imports the engine, the corpus format and `synthesis`.
"""

from __future__ import annotations
