"""Importance of columns: the loss of score when the values of a column change places."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

REPEATS = 5
MOST_ROWS = 2_000
MOST_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Shuffled:
    """A column: the mean loss of score, its least and its largest over the repeats."""

    name: str
    mean: float
    least: float
    largest: float
    repeats: int


def measure_columns(
    X: Any,
    columns: Mapping[str, Sequence[str]],
    score: Callable[[Any], float],
    seed: int,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Shuffled, ...]:
    """Return the importance of columns, the largest first; those not reached in time are left out.

    `columns` names the columns of X that were made of each, which are shuffled together. A repeat
    measures all columns before the next one begins, so that a late end costs repeats.
    """
    rng, until = np.random.default_rng(seed), clock() + MOST_SECONDS
    whole = score(X)
    losses: dict[str, list[float]] = {name: [] for name in columns}
    for _ in range(REPEATS):
        for name, made in columns.items():
            if clock() >= until:
                break
            losses[name].append(whole - score(_shuffled(X, made, rng)))
    found = (
        Shuffled(name, float(np.mean(lost)), min(lost), max(lost), len(lost))
        for name, lost in losses.items()
        if lost
    )
    return tuple(sorted(found, key=lambda one: -one.mean))


def _shuffled(X: Any, made: Sequence[str], rng: np.random.Generator) -> Any:
    order = rng.permutation(len(X))
    changed = X.copy(deep=False)
    for name in made:
        changed[name] = X[name].take(order).set_axis(X.index)
    return changed
