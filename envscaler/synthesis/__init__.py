"""What both halves of the synthesis share: questions and answers, the desk, the journal, how sources are read.

Promises: no finished call is made twice, and nothing that a model wrote is run here. Imports the engine and the corpus
format, nothing else of ours; `models` alone knows Inspect.
"""

from __future__ import annotations
