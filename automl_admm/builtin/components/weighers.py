"""Weights of rows in training, so that limits on groups cost less."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.builtin.components.declare import of, real
from automl_admm.core.space import Array
from automl_admm.plugins.records import ComponentPlugin

# A cell of very few rows would be all that is learned.
LEAST, MOST = 0.1, 10.0


@dataclass(frozen=True)
class Reweighing:
    """Weighs rows so that the class does not tell the group (Kamiran and Calders 2012).

    A row of the group g and the class y has the weight

        w(g, y) = (P(g) P(y) / P(g, y))^s,

    with the shares P of the rows, by their weights. With the strength s = 1 group and class are
    independent in the weighted rows; more leans to the other side. Powers of ratios are kept from
    0.1 to 10.
    """

    strength: float = 1.0

    def weigh(self, y: Any, groups: Any, weights: Array) -> Array:
        """Return the new weights of rows with these classes and groups."""
        _, classes = np.unique(y, return_inverse=True)
        _, members = np.unique(groups, return_inverse=True)
        shares = np.zeros((members.max() + 1, classes.max() + 1))
        np.add.at(shares, (members, classes), weights / weights.sum())
        independent = np.outer(shares.sum(axis=1), shares.sum(axis=0))
        ratios = np.ones_like(shares)
        np.divide(independent, shares, out=ratios, where=shares > 0.0)
        return np.asarray(weights * (ratios[members, classes] ** self.strength).clip(LEAST, MOST))


def components() -> Iterator[ComponentPlugin]:
    """Yield the weighers."""
    yield ComponentPlugin(
        name="reweigh",
        summary="rows weighed in training so that the class does not tell the group",
        role="weigher",
        factory=of(__name__, "Reweighing"),
        parameters=(real("strength", 0.5, 2.0, 1.0),),
        tasks=("classification",),
        needs=frozenset({"groups"}),
    )
