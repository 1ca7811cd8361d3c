"""From environments to scenarios that hold: the second half of the paper, one module a stage.

Promises: an initial state that fits, a task with an oracle that was executed, checks that the audit's gate let through;
what fails goes back to the model with the evidence, a bounded number of times. Only `synthesis.desk` asks models and
only `lab` runs what they wrote, isolated. Imports the engine, environments, scenarios, the audit and `synthesis`.
"""

from __future__ import annotations
