"""The rows that early stopping puts aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHARE_ASIDE = 0.15
# Fewer rows, or fewer of a class, say little of the right number of rounds.
FEWEST_ASIDE = 20
FEWEST_OF_CLASS = 4


@dataclass(frozen=True, slots=True)
class Rows:
    """A table of numbers, its target, and the weights of its rows, if there are any."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    weights: NDArray[np.float64] | None = None

    def part(self, places: NDArray[np.intp]) -> Rows:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[places]
        return Rows(self.X[places], self.y[places], weights)


def part_aside(rows: Rows, classes: int, seed: Any) -> tuple[Rows, Rows] | None:
    """Return the rows to fit on, and those to stop by; None if there are too few.

    Each of the `classes` keeps its share on both sides; 0 stands for a quantity.
    """
    from sklearn.model_selection import train_test_split

    count = len(rows.y)
    if SHARE_ASIDE * count < max(FEWEST_ASIDE, classes):
        return None
    if classes and np.bincount(rows.y, minlength=classes).min() < FEWEST_OF_CLASS:
        return None
    train, aside = train_test_split(
        np.arange(count),
        test_size=SHARE_ASIDE,
        stratify=rows.y if classes else None,
        random_state=seed,
    )
    parts = rows.part(np.sort(train)), rows.part(np.sort(aside))
    if any(part.weights is not None and part.weights.sum() <= 0 for part in parts):
        return None
    return parts
