"""The whole conditional space as a box that keeps its categories and its conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from automl_admm.joint.relaxation import decode_order, encode_order, penalised_loss
from automl_admm.problem import Evaluation, Limit
from automl_admm.space import (
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
class ConditionalSpace:
    """A box with a category for each choice, priorities for each order, and the parameters.

    For solvers that know categories. The axes keep the conditions under which they count, by the
    names of the choices; an axis that does not count stands at its default in every observation.
    """

    space: SearchSpace
    limits: tuple[Limit, ...]
    loss_unit: float

    def axes(self) -> tuple[Parameter, ...]:
        """The axes of the box."""
        relaxed = [axis for decision in self.space.decisions for axis in _axes_of(decision)]
        return (*relaxed, *self.space.parameters)

    def candidate(self, point: Array) -> Candidate:
        """Decode a point."""
        picks: dict[str, Pick] = {}
        for decision, axes in self._slices():
            picks[decision.name] = _decode(decision, point[axes])
        theta = np.clip(point[len(point) - len(self.space.parameters) :], 0.0, 1.0)
        return self.space.candidate(self.space.complete(picks), theta)

    def locate(self, candidate: Candidate) -> Array:
        """Encode a candidate."""
        theta = self.space.default_theta()
        theta[list(self.space.active(candidate.selection))] = candidate.theta
        picks = dict(candidate.selection.picks)
        parts = [_encode(decision, picks.get(decision.name)) for decision in self.space.decisions]
        return np.concatenate([*parts, theta])

    def price(self, evaluation: Evaluation, point: Array) -> float:  # noqa: ARG002 - of the protocol
        """f / unit + Σ_m violation_m: an exact penalty, for solvers that know no constraints."""
        return penalised_loss(evaluation, self.limits, self.loss_unit)

    def _slices(self) -> Iterator[tuple[Decision, slice]]:
        start = 0
        for decision in self.space.decisions:
            stop = start + (1 if isinstance(decision, Choice) else len(decision.items))
            yield decision, slice(start, stop)
            start = stop


def _axes_of(decision: Decision) -> list[Parameter]:
    """One category for a choice; a priority for each item of an order."""
    if isinstance(decision, Order):
        return [
            Parameter(f"{decision.name}={item}", 0.0, 1.0, when=decision.when)
            for item in decision.items
        ]
    labels = decision.alternatives
    return [
        Parameter(
            decision.name, 0, len(labels) - 1, kind="category", values=labels, when=decision.when
        )
    ]


def _decode(decision: Decision, axes: Array) -> Pick:
    if isinstance(decision, Order):
        return decode_order(decision, axes)
    last = len(decision.alternatives) - 1
    return decision.alternatives[round(float(np.clip(axes[0], 0.0, 1.0)) * last)]


def _encode(decision: Decision, pick: Pick | None) -> Array:
    """The place of a pick; of none, where the decision is not active, its default."""
    if isinstance(decision, Order):
        return encode_order(decision, decision.items if pick is None else tuple(pick))
    last = len(decision.alternatives) - 1
    place = 0 if pick is None else decision.alternatives.index(str(pick))
    return np.array([place / max(last, 1)], dtype=float)
