"""The path of a pipeline's decision thresholds, from few positive decisions to many.

A certificate tests many thresholds of one fitted model on the same predictions, at no cost of a
fit. Their order must be fixed before: so the path and everything known of it come from out-of-fold
scores alone. With a threshold for each group all groups move at once, and the shares of their rows
called positive stay in proportion. A band that leaves rows undecided moves as a whole, with as many
rows in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.limits import Limit
from automl_admm.core.space import Array
from automl_admm.pipelines.labels import UNDECIDED
from automl_admm.pipelines.thresholds.by_group import Names, Thresholds
from automl_admm.pipelines.thresholds.cuts import Cut, cut_scores
from automl_admm.pipelines.thresholds.single import Fold, between
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Constraint

# The key of a path in the details of an evaluation.
PATH = "decision_path"
# Shares of the rows called positive, closer together at the ends; then so many between the last
# ones within all limits.
COARSE = (0.002, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97)
FINE = 48

Judge = Callable[[Thresholds], tuple[float, float | None]]


def moves(constraint: Constraint) -> bool:
    """Return True if a decision threshold may change the value of a limit."""
    return constraint.kind == "statistical" and constraint.uses_decisions


def moved_names(constraints: Iterable[Constraint]) -> frozenset[str]:
    """Return the names of the limits whose values a decision threshold may change."""
    return frozenset(one.limit.name for one in constraints if moves(one))


@dataclass(frozen=True, slots=True)
class Stop:
    """Thresholds on a path, and their out-of-fold results.

    `measured` are the values of the limits that thresholds move, in their order, on the rows of
    all folds together. `utility` is better if larger. `loss` is the loss at these thresholds if the
    metric looks at decisions, else None.
    """

    thresholds: Thresholds
    measured: tuple[float, ...]
    utility: float
    loss: float | None = None


@dataclass(frozen=True, slots=True)
class DecisionPath:
    """The stops of a path, and the name of their utility."""

    utility: str
    stops: tuple[Stop, ...]

    def as_details(self) -> dict[str, Any]:
        """Return the path as plain data for the log of a run."""
        groups = sorted({name for stop in self.stops for name in stop.thresholds.by_group})
        lowers = [stop.thresholds.lower for stop in self.stops if stop.thresholds.lower is not None]
        return {
            "utility": self.utility,
            "thresholds": [stop.thresholds.single for stop in self.stops],
            **({"lower_thresholds": lowers} if lowers else {}),
            "group_thresholds": {
                name: [stop.thresholds.by_group[name] for stop in self.stops] for name in groups
            },
            "values": [list(stop.measured) for stop in self.stops],
            "utilities": [stop.utility for stop in self.stops],
            "losses": [stop.loss for stop in self.stops],
        }

    @classmethod
    def from_details(cls, details: Mapping[str, Any]) -> DecisionPath | None:
        """Read the path in the details of an evaluation; None if it has none."""
        found = details.get(PATH)
        if not found:
            return None
        by_group, singles = found["group_thresholds"], found["thresholds"]
        lowers = found.get("lower_thresholds") or [None] * len(singles)
        columns = (singles, lowers, found["values"], found["utilities"], found["losses"])
        stops = (
            Stop(
                Thresholds(single, {name: by_group[name][place] for name in by_group}, lower=lower),
                tuple(values),
                utility,
                loss,
            )
            for place, (single, lower, values, utility, loss) in enumerate(
                zip(*columns, strict=True)
            )
        )
        return cls(found["utility"], tuple(stops))


def trace_path(
    parts: Sequence[EvaluatedPipeline],
    names: Sequence[Names] | None,
    chosen: Thresholds,
    constraints: Sequence[Constraint],
    judge: Judge,
) -> tuple[Stop, ...]:
    """Return the stops of a pipeline's path; none if its scores do not tell rows apart.

    `chosen` are its own thresholds, `names` the groups of the rows of each part if groups have
    thresholds, and `constraints` those that thresholds move. `judge` returns utility and loss. A
    stop that calls all rows the same is left out.
    """
    trail = _Trail.of(parts, names, chosen)
    if trail is None:
        return ()
    whole = pool(parts)
    functions = tuple(one.function for one in constraints)
    fold = Fold.of_functions(whole, functions)
    found: dict[tuple[int, ...], Stop] = {}

    def look(shares: Any) -> None:
        for share in shares:
            counts = trail.counts(float(share))
            if counts not in found and 0 < sum(counts) < len(whole.y) - trail.undecided:
                found[counts] = trail.stop(counts, fold, judge)

    look(COARSE)
    limits = tuple(one.limit for one in constraints)
    look(_closer(found, limits, len(whole.y)))
    return tuple(found[counts] for counts in sorted(found, key=sum))


def pool(parts: Sequence[EvaluatedPipeline]) -> EvaluatedPipeline:
    """Return the rows of all folds as one; there is no X, which statistical limits do not see."""
    first = parts[0]
    return replace(
        first,
        X=None,
        y=np.concatenate([part.y for part in parts]),
        predictions=np.concatenate([part.predictions for part in parts]),
        decisions=None,
        sensitive=_stacked([part.sensitive for part in parts]),
        weights=None if first.weights is None else np.concatenate([part.weights for part in parts]),
    )


def _stacked(frames: Sequence[Any]) -> Any:
    if frames[0] is None:
        return None
    from pandas import concat

    return concat(frames, ignore_index=True)


def _closer(found: Mapping[tuple[int, ...], Stop], limits: Sequence[Limit], rows: int) -> Array:
    """Return shares between the neighbours of the stops within all limits."""
    counts = sorted(found, key=sum)
    inside = [place for place, one in enumerate(counts) if _holds(found[one], limits)]
    if not inside:
        return np.array([])
    first, last = max(inside[0] - 1, 0), min(inside[-1] + 1, len(counts) - 1)
    return np.linspace(sum(counts[first]) / rows, sum(counts[last]) / rows, FINE)


def _holds(stop: Stop, limits: Sequence[Limit]) -> bool:
    pairs = zip(limits, stop.measured, strict=True)
    return all(limit.holds(value) for limit, value in pairs)


@dataclass(frozen=True, slots=True, eq=False)
class _Trail:
    """The sorted scores of each group, and the part of each in the rows called positive.

    Without groups there is one. `parts` are the shares of each group's rows called positive by the
    chosen thresholds, divided by their mean over all rows. As many rows below the threshold are
    left undecided as by the chosen band.
    """

    groups: tuple[str, ...]
    numbers: NDArray[np.intp]
    ordered: tuple[Array, ...]
    parts: Array
    fallback: float
    undecided: int = 0

    @staticmethod
    def of(
        parts: Sequence[EvaluatedPipeline], names: Sequence[Names] | None, chosen: Thresholds
    ) -> _Trail | None:
        scores = np.concatenate([np.asarray(part.scores, dtype=float) for part in parts])
        if not len(scores) or scores.min() == scores.max():
            return None
        if names is None or not chosen.by_group:
            everyone = np.zeros(len(scores), dtype=np.intp)
            undecided = int((cut_scores(scores, chosen.cut) == UNDECIDED).sum())
            return _Trail((), everyone, (np.sort(scores),), np.ones(1), chosen.single, undecided)
        groups, numbers = np.unique(np.concatenate(names), return_inverse=True)
        ordered = tuple(np.sort(scores[numbers == one]) for one in range(len(groups)))
        called = np.array(
            [
                np.mean(own >= chosen.by_group.get(name, chosen.single))
                for name, own in zip(groups, ordered, strict=True)
            ]
        )
        mean = float(np.average(called, weights=[len(own) for own in ordered]))
        if not 0.0 < mean < 1.0:
            return None
        return _Trail(tuple(map(str, groups)), numbers, ordered, called / mean, chosen.single)

    def counts(self, share: float) -> tuple[int, ...]:
        """Return the number of rows to call positive in each group."""
        return tuple(
            self._called(own, min(share * part, 1.0))
            for own, part in zip(self.ordered, self.parts, strict=True)
        )

    def _called(self, own: Array, share: float) -> int:
        """Return a number of rows near a share of them; rows of one score are called alike."""
        place = len(own) - round(share * len(own))
        return int(len(own) - np.searchsorted(own, _apart(own, place)))

    def stop(self, counts: tuple[int, ...], fold: Fold, judge: Judge) -> Stop:
        bars = [
            _apart(own, len(own) - count) for own, count in zip(self.ordered, counts, strict=True)
        ]
        if self.groups:
            by_group = dict(zip(self.groups, bars, strict=True))
            thresholds = Thresholds(self.fallback, by_group)
            cut: Cut = np.array(bars)[self.numbers]
        else:
            thresholds = self._single(bars[0], counts[0])
            cut = thresholds.cut
        values = fold.values(cut)
        utility, loss = judge(thresholds)
        return Stop(thresholds, tuple(values), utility, loss)

    def _single(self, upper: float, count: int) -> Thresholds:
        """Return one threshold for all rows, with the band below it if there is one."""
        if not self.undecided:
            return Thresholds(upper)
        (own,) = self.ordered
        return Thresholds(upper, lower=_apart(own, len(own) - count - self.undecided))


def _apart(ordered: Array, place: int) -> float:
    """Return a threshold with about so many scores below; beyond all of them it is infinite."""
    if place <= 0:
        return -math.inf
    return math.inf if place >= len(ordered) else between(ordered, place)
