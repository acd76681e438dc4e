"""The whole conditional space as one box: one-hot choices, orders as priorities, parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from automl_admm.problem import Evaluation, Limit
from automl_admm.search import violation
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
class RelaxedSpace:
    """A box with an axis for each alternative, each order item and each parameter.

    A choice takes the alternative whose axis is largest; an order sorts its items by their axes.
    The encoding of a candidate puts inactive axes at their defaults, so that two points of one
    pipeline that differ only in what is inactive are one observation.
    """

    space: SearchSpace
    limits: tuple[Limit, ...]
    loss_unit: float

    def axes(self) -> tuple[Parameter, ...]:
        """The axes of the box as parameters on [0, 1]."""
        relaxed = [
            Parameter(f"{decision.name}={label}", 0.0, 1.0)
            for decision in self.space.decisions
            for label in labels(decision)
        ]
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
        relaxed = np.zeros(sum(len(labels(decision)) for decision in self.space.decisions))
        for decision, axes in self._slices():
            pick = candidate.selection.get(decision.name)
            if pick is not None:
                relaxed[axes] = _encode(decision, pick)
        return np.concatenate([relaxed, theta])

    def price(self, evaluation: Evaluation, point: Array) -> float:  # noqa: ARG002 - of the protocol
        """f / unit + Σ_m violation_m: an exact penalty, for solvers that know no constraints."""
        return penalised_loss(evaluation, self.limits, self.loss_unit)

    def _slices(self) -> Iterator[tuple[Decision, slice]]:
        start = 0
        for decision in self.space.decisions:
            stop = start + len(labels(decision))
            yield decision, slice(start, stop)
            start = stop


def penalised_loss(evaluation: Evaluation, limits: tuple[Limit, ...], unit: float) -> float:
    """f / unit + Σ_m violation_m."""
    return evaluation.loss / unit + violation(evaluation.constraints, limits)


def labels(decision: Decision) -> tuple[str, ...]:
    """What a decision has an axis for."""
    return decision.alternatives if isinstance(decision, Choice) else decision.items


def _decode(decision: Decision, axes: Array) -> Pick:
    if isinstance(decision, Choice):
        return decision.alternatives[int(np.argmax(axes))]
    return decode_order(decision, axes)


def _encode(decision: Decision, pick: Pick) -> Array:
    if isinstance(decision, Choice):
        return np.array([float(label == pick) for label in decision.alternatives])
    return encode_order(decision, tuple(pick))


def decode_order(order: Order, priorities: Array) -> tuple[str, ...]:
    """The items, the one of the highest priority first."""
    return tuple(order.items[int(i)] for i in np.argsort(-priorities, kind="stable"))


def encode_order(order: Order, pick: tuple[str, ...]) -> Array:
    """Priorities that decode to this order, evenly spread over [0, 1]."""
    places = [pick.index(item) for item in order.items]
    return 1.0 - np.array(places, dtype=float) / max(len(places) - 1, 1)
