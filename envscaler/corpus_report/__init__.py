"""What a corpus consists of, and what in it is told twice: figures, near-duplicates, contamination."""

from envscaler.corpus_report.figures import Figure, corpus_figures
from envscaler.corpus_report.overlap import NGRAM, Overlap, Overlaps, Text, near_duplicates, overlaps, tasks
from envscaler.corpus_report.states import StatePair, StateSummary, state_pairs, state_summaries

__all__ = [
    "NGRAM",
    "Figure",
    "Overlap",
    "Overlaps",
    "StatePair",
    "StateSummary",
    "Text",
    "corpus_figures",
    "near_duplicates",
    "overlaps",
    "state_pairs",
    "state_summaries",
    "tasks",
]
