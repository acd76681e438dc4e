"""The whole conditional space as one box: one-hot choices, orders as priorities, parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import violation
from automl_admm.core.space import (
    Array,
    Candidate,
    Choice,
    Decision,
    Order,
    Parameter,
    Pick,
    SearchSpace,
)


@dataclass(frozen=True, eq=False)
class RelaxedSpace:
    """A box with an axis for each alternative, each order item and each parameter.

    A choice takes the alternative with the largest axis; an order sorts its items by their axes.
    `locate` puts inactive axes at one fixed place, so two points of one pipeline with different
    inactive values are one observation.
    """

    space: SearchSpace
    limits: tuple[Limit, ...]
    loss_unit: float
    weight: float = 1.0

    def axes(self) -> tuple[Parameter, ...]:
        """Return the axes of the box: decisions first, then parameters."""
        relaxed = [axis for decision in self.space.decisions for axis in self.axes_of(decision)]
        return (*relaxed, *self.space.parameters)

    def candidate(self, point: Array) -> Candidate:
        """Decode a point."""
        picks: dict[str, Pick] = {}
        for decision, axes in self._slices():
            picks[decision.name] = self.decode(decision, point[axes])
        theta = np.clip(point[len(point) - len(self.space.parameters) :], 0.0, 1.0)
        return self.space.candidate(self.space.complete(picks), theta)

    def locate(self, candidate: Candidate) -> Array:
        """Encode a candidate."""
        theta = self.space.default_theta()
        theta[list(self.space.active(candidate.selection))] = candidate.theta
        picks = dict(candidate.selection.picks)
        parts = [self.encode(d, picks.get(d.name)) for d in self.space.decisions]
        return np.concatenate([*parts, theta])

    def price(self, evaluation: Evaluation, point: Array) -> float:  # noqa: ARG002 - of the protocol
        """Return f / unit + weight Σ_m violation_m, a penalty for solvers without constraints."""
        excess = violation(evaluation.constraints, self.limits)
        return evaluation.loss / self.loss_unit + self.weight * excess

    def axes_of(self, decision: Decision) -> list[Parameter]:
        """Return an axis on [0, 1] for each label."""
        return [Parameter(f"{decision.name}={label}", 0.0, 1.0) for label in labels(decision)]

    def width(self, decision: Decision) -> int:
        """Return the number of axes of a decision."""
        return len(labels(decision))

    def decode(self, decision: Decision, axes: Array) -> Pick:
        """Return the pick at given places of the decision's axes."""
        if isinstance(decision, Choice):
            return decision.alternatives[int(np.argmax(axes))]
        # Stable: items with equal priorities keep their declared order.
        return tuple(decision.items[int(i)] for i in np.argsort(-axes, kind="stable"))

    def encode(self, decision: Decision, pick: Pick | None) -> Array:
        """Return the places of the decision's axes for a pick; all 0 if it is inactive."""
        if pick is None:
            return np.zeros(len(labels(decision)))
        if isinstance(decision, Choice):
            return np.array([float(label == pick) for label in decision.alternatives])
        return priorities(decision, tuple(pick))

    def _slices(self) -> Iterator[tuple[Decision, slice]]:
        start = 0
        for decision in self.space.decisions:
            stop = start + self.width(decision)
            yield decision, slice(start, stop)
            start = stop


def labels(decision: Decision) -> tuple[str, ...]:
    """Return the alternatives of a choice or the items of an order."""
    return decision.alternatives if isinstance(decision, Choice) else decision.items


def priorities(order: Order, pick: tuple[str, ...]) -> Array:
    """Return priorities decoding to this order, evenly spread over [0, 1]."""
    places = [pick.index(item) for item in order.items]
    return 1.0 - np.array(places, dtype=float) / max(len(places) - 1, 1)
