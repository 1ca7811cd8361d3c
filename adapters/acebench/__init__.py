"""ACEBench-Agent behind the harness: five classes in two languages, the official scores, its simulated user, its data.

Nothing of the benchmark's code is here: the seed state, tasks, answers and prompts are data, and the rules were rebuilt
from its behaviour. Imports `harness` only.
"""
