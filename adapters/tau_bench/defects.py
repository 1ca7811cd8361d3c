"""Known defects of the tasks, for reports only: no score depends on them (docs of Tau-Bench, section 4).

Numbers name issues of the benchmark's repository (`tb`) and of its successor's (`t2`).
"""

from __future__ import annotations

_RETAIL: dict[tuple[int, ...], str] = {
    (2, 3, 4): "the ground truth asks for a product that does not exist (t2 #89)",
    (10,): "the ground truth leaves out returns that are possible (t2 #307, #316)",
    (12, 13): "a write of the ground truth is refused: a return to another payment method",
    (21,): "a read of the ground truth finds nothing: a product that does not exist",
    (35, 36, 37, 38, 39, 54, 55, 67, 68): "a read of the ground truth finds nothing: the user cannot be found as asked",
    (41, 42): "the published text of the task differs (tb #9)",
    (46, 47): "a read of the ground truth finds nothing: an order id that does not exist",
    (59,): "an output is matched digit by digit: saying 625.60 fails where 625.6 is wanted",
    (64,): "a write of the ground truth is refused: an exchange of an order that is not delivered",
    (95,): "dropped by the successors of this benchmark",
    (106,): "a write of the ground truth is refused: the gift card cannot pay for the exchange",
    (12, 13, 18, 91, 99, 105, 108): "the ground truth's writes were corrected later (tau2 or tau3)",
    (33, 37, 38): "the required outputs were corrected later (tau2)",
    (10, 12, 25, 50, 57, 65, 106): "doing nothing scores 1",
}
_AIRLINE: dict[tuple[int, ...], str] = {
    (2,): "the ground truth ignores the bags when the cabin is downgraded (tb #41)",
    (9,): "the passengers' names differ from the database (tb #65)",
    (35,): "the simulated user tends to invent a passenger (t2 #172)",
    (9, 10, 15, 16, 19, 23, 25, 26, 27, 31, 33, 34, 45, 46): "the ground truth's writes were corrected later "
    "(tau2 or tau3)",
    (12, 13, 15, 17, 18, 21, 24, 29, *range(35, 43), 47, 48, 49): "doing nothing scores 1",
}
DEFECTS = {"retail/test": _RETAIL, "airline/test": _AIRLINE}
"""Notes by `domain/split`; each stands for some task indices."""


def notes(domain: str, split: str, index: int) -> list[str]:
    """What is known to be wrong with a task; empty for the dev and train splits, which nobody has reviewed."""
    return [note for indices, note in DEFECTS.get(f"{domain}/{split}", {}).items() if index in indices]
