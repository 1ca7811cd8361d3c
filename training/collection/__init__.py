"""Trajectory collection: episodes of a teacher, filtered into what is worth training on, with a card that says so."""

from training.collection.candidate import Candidate
from training.collection.card import Card
from training.collection.filters import FILTERS, Filters, Reason
from training.collection.run import collect
from training.collection.sources import Source, sources

__all__ = ["FILTERS", "Candidate", "Card", "Filters", "Reason", "Source", "collect", "sources"]
