"""The path of a pipeline's decision thresholds, from few positive decisions to many.

A certificate tests many thresholds of one fitted model on the same predictions, at no cost of a
fit. Their order must be fixed before: so the path and everything known of it come from out-of-fold
scores alone. A band that leaves rows undecided moves as a whole, with as many rows in it.

With a threshold for each group all groups move at once, along several trails. On one the shares of
their rows called positive stay in proportion to those of the chosen thresholds, which use up what
the limits allow. On three others groups have equal shares of their rows, of their negative or of
their positive ones: what a certificate has to leave between a gap and its limit is there from the
beginning. On the last one all groups have one threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.space import Array
from automl_admm.core.standard_errors import standard_error
from automl_admm.pipelines.labels import UNDECIDED
from automl_admm.pipelines.thresholds.by_group import Names, Thresholds, calling_as_much
from automl_admm.pipelines.thresholds.cuts import Cut, cut_scores
from automl_admm.pipelines.thresholds.single import Fold, apart, decide
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
    metric looks at decisions, else None. `errors` are the standard errors of the values, NaN where
    none is known.
    """

    thresholds: Thresholds
    measured: tuple[float, ...]
    utility: float
    loss: float | None = None
    errors: tuple[float, ...] = ()


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
                name: [stop.thresholds.by_group.get(name) for stop in self.stops] for name in groups
            },
            "values": [list(stop.measured) for stop in self.stops],
            "utilities": [stop.utility for stop in self.stops],
            "losses": [stop.loss for stop in self.stops],
            "errors": [list(stop.errors) for stop in self.stops],
        }

    @classmethod
    def from_details(cls, details: Mapping[str, Any]) -> DecisionPath | None:
        """Read the path in the details of an evaluation; None if it has none."""
        found = details.get(PATH)
        if not found:
            return None
        by_group, singles = found["group_thresholds"], found["thresholds"]
        lowers = found.get("lower_thresholds") or [None] * len(singles)
        errors = map(tuple, found["errors"])
        measured = map(tuple, found["values"])
        others = (measured, found["utilities"], found["losses"], errors)
        stops = (
            Stop(Thresholds(single, _at_place(by_group, place), lower=lower), *told)
            for place, (single, lower, *told) in enumerate(
                zip(singles, lowers, *others, strict=True)
            )
        )
        return cls(found["utility"], tuple(stops))


def _at_place(by_group: Mapping[str, Sequence[float | None]], place: int) -> dict[str, float]:
    """Return the thresholds of groups at a stop; on the trail of one threshold there are none."""
    found = {name: values[place] for name, values in by_group.items()}
    return {name: value for name, value in found.items() if value is not None}


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
    whole = pool(parts)
    fold = Fold.of_functions(whole, tuple(one.function for one in constraints))
    limits = tuple(one.limit for one in constraints)
    return tuple(
        stop
        for trail in _trails(whole, names, chosen)
        for stop in _along(trail, fold, judge, limits)
    )


def _along(trail: _Trail, fold: Fold, judge: Judge, limits: Sequence[Limit]) -> list[Stop]:
    """Return the stops of a trail, from few positive decisions to many."""
    rows = len(trail.numbers)
    found: dict[tuple[int, ...], tuple[float, Stop]] = {}

    def look(shares: Any) -> None:
        for share in map(float, shares):
            counts = trail.counts(share)
            if counts not in found and 0 < sum(counts) < rows - trail.undecided:
                found[counts] = share, trail.stop(counts, fold, judge)

    look(COARSE)
    look(_closer([found[counts] for counts in sorted(found, key=sum)], limits))
    return [found[counts][1] for counts in sorted(found, key=sum)]


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


def _closer(found: Sequence[tuple[float, Stop]], limits: Sequence[Limit]) -> Array:
    """Return shares between the neighbours of the stops within all limits."""
    inside = [place for place, (_, stop) in enumerate(found) if _holds(stop, limits)]
    if not inside:
        return np.array([])
    first, last = max(inside[0] - 1, 0), min(inside[-1] + 1, len(found) - 1)
    return np.linspace(found[first][0], found[last][0], FINE)


def _holds(stop: Stop, limits: Sequence[Limit]) -> bool:
    pairs = zip(limits, stop.measured, strict=True)
    return all(limit.holds(value) for limit, value in pairs)


@dataclass(frozen=True, slots=True, eq=False)
class _Trail:
    """The sorted scores of each group, and the part of each in the rows called positive.

    Without groups there is one. `whole` are the sorted scores of all rows, `counted` those of the
    rows of each group whose shares are moved, and `parts` what the share of each is multiplied by.
    As many rows below the threshold are left undecided as by the chosen band.
    """

    groups: tuple[str, ...]
    numbers: NDArray[np.intp]
    whole: Array
    ordered: tuple[Array, ...]
    counted: tuple[Array, ...]
    parts: Array
    undecided: int = 0

    @staticmethod
    def single(scores: Array, chosen: Thresholds) -> _Trail:
        """Return the trail of one threshold for all rows."""
        everyone, whole = np.zeros(len(scores), dtype=np.intp), np.sort(scores)
        undecided = int((cut_scores(scores, chosen.cut) == UNDECIDED).sum())
        return _Trail((), everyone, whole, (whole,), (whole,), np.ones(1), undecided)

    def counts(self, share: float) -> tuple[int, ...]:
        """Return the number of rows to call positive in each group."""
        return tuple(
            _called(own, counted, min(share * part, 1.0))
            for own, counted, part in zip(self.ordered, self.counted, self.parts, strict=True)
        )

    def stop(self, counts: tuple[int, ...], fold: Fold, judge: Judge) -> Stop:
        bars = [
            apart(own, len(own) - count) for own, count in zip(self.ordered, counts, strict=True)
        ]
        if self.groups:
            by_group = dict(zip(self.groups, bars, strict=True))
            cut: Cut = np.array(bars)[self.numbers]
            # Rows of no known group: as much of all rows is called.
            scores = np.asarray(fold.part.scores, dtype=float)
            others = calling_as_much(scores, scores >= cut, fold.part.weights)
            thresholds = Thresholds(others, by_group)
        else:
            thresholds = self._single(bars[0], counts[0])
            cut = thresholds.cut
        seen = fold.evidence(decide(fold.part, cut).decisions)
        utility, loss = judge(thresholds)
        values, errors = (float(one.value) for one in seen), map(standard_error, seen)
        return Stop(thresholds, tuple(values), utility, loss, errors=tuple(errors))

    def _single(self, upper: float, count: int) -> Thresholds:
        """Return one threshold for all rows, with the band below it if there is one."""
        if not self.undecided:
            return Thresholds(upper)
        place = len(self.whole) - count - self.undecided
        return Thresholds(upper, lower=apart(self.whole, place))


def _trails(
    whole: EvaluatedPipeline, names: Sequence[Names] | None, chosen: Thresholds
) -> list[_Trail]:
    """Return the trails of a pipeline; none if its scores do not tell rows apart."""
    scores = np.asarray(whole.scores, dtype=float)
    if not len(scores) or scores.min() == scores.max():
        return []
    single = _Trail.single(scores, chosen)
    if names is None:
        return [single]
    groups, numbers = np.unique(np.concatenate(names), return_inverse=True)
    known, kinds = tuple(map(str, groups)), (np.ones(len(scores), bool), whole.y == 0, whole.y == 1)
    ordered, *counted = (
        tuple(np.sort(scores[kind & (numbers == one)]) for one in range(len(groups)))
        for kind in (kinds[0], *kinds)
    )
    ones = np.ones(len(groups))
    equal = [
        _Trail(known, numbers, single.whole, ordered, of_kind, ones)
        for of_kind in counted
        if all(map(len, of_kind))
    ]
    parts = _parts(known, ordered, chosen)
    if parts is None:
        return [single, *equal]
    return [_Trail(known, numbers, single.whole, ordered, ordered, parts), *equal, single]


def _parts(groups: Sequence[str], ordered: Sequence[Array], chosen: Thresholds) -> Array | None:
    """Return the share of each group called positive, divided by that of all rows.

    None without thresholds for groups, or if these call all rows the same.
    """
    if not chosen.by_group:
        return None
    bars = [chosen.by_group.get(name, chosen.single) for name in groups]
    called = np.array([np.mean(own >= bar) for own, bar in zip(ordered, bars, strict=True)])
    mean = float(np.average(called, weights=[len(own) for own in ordered]))
    return called / mean if 0.0 < mean < 1.0 else None


def _called(own: Array, counted: Array, share: float) -> int:
    """Return the rows of a group above the threshold of a share of those that are counted.

    Rows of one score are called alike.
    """
    bar = apart(counted, len(counted) - round(share * len(counted)))
    return int(len(own) - np.searchsorted(own, bar))


def place_of(evaluation: Evaluation, thresholds: Mapping[str, Any]) -> int | None:
    """Return the stop of an evaluation's path with these thresholds; None without one."""
    path = DecisionPath.from_details(evaluation.details)
    stops = () if path is None else path.stops
    found = (place for place, one in enumerate(stops) if one.thresholds.as_details() == thresholds)
    return next(found, None)
