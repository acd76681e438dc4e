"""Greedy selection of ensemble members with replacement (Caruana et al. 2004)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.space import Array

# Rounds at most, and rounds without a better ensemble after which the selection ends.
ROUNDS, PATIENCE = 25, 3
# Each member is fitted once more, and predicts whenever the ensemble does.
MOST_MEMBERS = 8

Counts = NDArray[np.intp]
Losses = Callable[[Array], Array]
# Tells if a prediction is within limits.
Holds = Callable[[Array], bool]


@dataclass(frozen=True)
class Purse:
    """Costs of members that add up (a row each), and the most that an ensemble may cost.

    A pipeline by itself may cost as much, if `alone` does not say otherwise.
    """

    costs: Array
    most: Array
    alone: Array | None = None

    @classmethod
    def unlimited(cls, members: int) -> Purse:
        """Return a purse that pays for any ensemble."""
        return cls(np.zeros((members, 0)), np.zeros(0))

    @property
    def singles(self) -> NDArray[np.bool_]:
        """True for each pipeline that costs no more than one may by itself."""
        bounds = self.most if self.alone is None else self.alone
        return np.asarray((self.costs <= bounds).all(axis=1), dtype=np.bool_)

    def affords(self, counts: Counts) -> NDArray[np.bool_]:
        """Tell for each member if the ensemble can have it: a member is paid for once."""
        inside = counts > 0
        spent = self.costs[inside].sum(axis=0)
        extra = np.where(inside[:, None], 0.0, self.costs)
        within: NDArray[np.bool_] = (spent + extra <= self.most).all(axis=1)
        return within if inside.sum() < MOST_MEMBERS else within & inside


def select(
    predictions: Array, losses: Losses, purse: Purse | None = None, holds: Holds | None = None
) -> Counts:
    """Return how often each member is taken into the ensemble.

    From an empty ensemble, round t adds the member with the least loss of the new mean,

        j_t = argmin_j L((S_{t−1} + p_j) / t),   S_t = S_{t−1} + p_{j_t},

    where p_j are the predictions of member j. With limits it is the least loss of the means within
    them, and the selection ends where none is. A member may be added again: so it gains weight. The
    weights are the counts of the round with the least loss, the first of equals. The selection ends
    after 25 rounds, or after three without a better ensemble. Of equal members the first one is
    added, so that the order of members decides ties. `losses` returns the loss of each of several
    predictions, and an infinite one for predictions without a value. Nothing is selected if every
    loss is infinite, or nothing is affordable.
    """
    count = len(predictions)
    purse = purse or Purse.unlimited(count)
    counts, total = np.zeros(count, dtype=np.intp), np.zeros(predictions.shape[1:])
    best, least, waited = counts.copy(), np.inf, 0
    for size in range(1, ROUNDS + 1):
        means = total + predictions
        means /= size  # in place, since this array is the largest one
        found = np.where(purse.affords(counts), losses(means), np.inf)
        added = int(np.argmin(found)) if holds is None else first_within(means, found, holds)
        del means  # before those of the next round are made
        if added is None or not np.isfinite(found[added]):
            break
        counts[added] += 1
        total = total + predictions[added]
        waited += 1
        if found[added] < least:
            best, least, waited = counts.copy(), float(found[added]), 0
        if waited == PATIENCE:
            break
    return best


def first_within(predictions: Array, losses: Array, holds: Holds) -> int | None:
    """Return the place of the least loss within the limits; None if there is none.

    In the order of losses the first one within is the best: no other one has to be measured.
    """
    order = np.argsort(losses, kind="stable")
    known = order[np.isfinite(losses[order])]
    return next((int(place) for place in known if holds(predictions[place])), None)


def blend(predictions: Array, counts: Counts) -> Array:
    """Return the mean prediction, each member weighted by its count."""
    mean: Array = np.tensordot(counts / counts.sum(), predictions, axes=1)
    return mean
