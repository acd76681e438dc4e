"""The decision threshold as a part of a pipeline, chosen on out-of-fold scores.

If limits depend on decisions and a pipeline of two classes has scores, moving the threshold may
bring it within the limits at no training cost. One threshold is chosen on the out-of-fold scores of
all folds together, and ships inside the pipeline as scikit-learn's `FixedThresholdClassifier`.
`by_group` continues from it if the user allows a threshold for each group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np

from automl_admm.core.evidence import Estimate, Evidence
from automl_admm.core.fold_means import means_over_folds
from automl_admm.core.limits import Limit
from automl_admm.core.space import Array
from automl_admm.pipelines.labels import UNDECIDED
from automl_admm.pipelines.thresholds.cuts import Cut, cut_scores
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.foreign_calls import measured_by
from automl_admm.plugins.records import Constraint, ConstraintFunction

# A tenth of a limit is a clear breach, as in the prices of a search.
TOLERANCE = 0.1
# Shares of the rows below a threshold: closer together where rates are small and limits bind.
COARSE = (0, 0.01, 0.03, 0.07, 0.13, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.87, 0.93, 0.97, 0.99, 1)
FINE = 4
DEFAULTS = {"predict_proba": 0.5, "decision_function": 0.0}
# No score is beyond these, whatever the model is fitted on: one that says yes to no row that was
# validated says yes to none at all.
NEVER, ALWAYS = math.inf, -math.inf

Merit = Callable[[float], float]
Standing = tuple[bool, bool, float]


@runtime_checkable
class OfSameRows(Protocol):
    """A constraint's function with a version for rows it will see repeatedly."""

    def on_rows_of(self, evaluated: EvaluatedPipeline) -> ConstraintFunction:
        """Return the function for these rows, and any predictions and decisions of them.

        It is made before these are known: `X`, `predictions` and `decisions` may be None here, and
        are others later.
        """


@dataclass(frozen=True, slots=True)
class Aimed:
    """A constraint on decisions, and its limit as tightened for the search."""

    constraint: Constraint
    limit: Limit


def aimed_decisions(constraints: Sequence[Constraint], aims: Sequence[Limit]) -> tuple[Aimed, ...]:
    """Return the limits that depend on a threshold; `aims` are in the order of the constraints.

    A limit relative to the baseline has no number before that was measured, and is left out.
    """
    return tuple(
        Aimed(constraint, aim)
        for constraint, aim in zip(constraints, aims, strict=True)
        if constraint.kind == "statistical"
        and constraint.uses_decisions
        and constraint.of_baseline is None
    )


def response_of(pipeline: Any) -> str:
    """Return the name of a pipeline's score method; empty if there is none."""
    return next((name for name in DEFAULTS if hasattr(pipeline, name)), "")


def decide(evaluated: EvaluatedPipeline, cut: Cut) -> EvaluatedPipeline:
    """Return the same with other decisions: ŷ = 1 for s ≥ t, as in `FixedThresholdClassifier`.

    There is one t, or one for every row, or a band that leaves rows undecided.
    """
    return replace(evaluated, decisions=cut_scores(evaluated.scores, cut))


def choose_threshold(
    parts: Sequence[EvaluatedPipeline],
    aimed: Sequence[Aimed],
    default: float,
    merit: Merit | None = None,
    *,
    is_wanted: bool = False,
) -> float | None:
    """Choose the threshold for all folds; None if no limit's value depends on it after all.

    The least violation comes first, Σ_m max(0, g_m − ε_m) / (|ε_m| / 10), or 0 within all limits;
    then the best `merit`, or without one the best balanced accuracy; of equals the one nearest to
    the default. A limit on false positives must not be met by never saying yes: a threshold with
    one class for all rows comes after all others with a value, and becomes `NEVER` or `ALWAYS`. If
    the scores of a fold are all the same, only these two remain: a number between the scores of two
    folds would decide otherwise after the next fit.

    The default, 17 quantiles of the scores and one row more or less than none or all are tried,
    then twice four more between the neighbours of the best; optima elsewhere are missed. Without
    `aimed` limits a threshold is chosen only if one `is_wanted` and the scores differ.
    """
    trial = _Trial(tuple(Fold.of(part, aimed) for part in parts), tuple(aimed), default, merit)
    trial.look_everywhere()
    if not (trial.is_moved or (is_wanted and not trial.is_flat)):
        return None
    for _ in range(2):
        trial.look(np.linspace(*trial.neighbours(), FINE + 2))
    return trial.best()


def thresholds_for_each(
    parts: Sequence[EvaluatedPipeline], aimed: Sequence[Aimed], default: float
) -> list[float]:
    """Return for each limit the threshold that exceeds it least, and then the others least.

    The default and the quantiles of `choose_threshold` are tried; one with the same class for all
    rows is left out. Each threshold is there once.
    """
    trial = _Trial(tuple(Fold.of(part, aimed) for part in parts), tuple(aimed), default, None)
    trial.look_everywhere()
    two_sided = {
        threshold: values
        for threshold, values in trial.values.items()
        if not trial.is_one_sided(trial.places[threshold]) and np.isfinite(values).all()
    }
    if not two_sided:
        return []

    def excesses(threshold: float, place: int) -> tuple[float, float]:
        values = two_sided[threshold]
        return _excess(aimed[place].limit, float(values[place])), violation(aimed, values)

    found = (min(two_sided, key=partial(excesses, place=place)) for place in range(len(aimed)))
    return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class _Parted(EvaluatedPipeline):
    """Caches the parts of the rows; they do not depend on decisions.

    There is no X: statistical constraints do not look at it.
    """

    taken: dict[int, tuple[Any, EvaluatedPipeline]] = field(default_factory=dict)

    def part(self, rows: Any) -> EvaluatedPipeline:
        """Return the part, from the cache if known; rows are kept so that their id stays unique."""
        if id(rows) not in self.taken:
            self.taken[id(rows)] = rows, _parted(EvaluatedPipeline.part(self, rows))
        return replace(self.taken[id(rows)][1], decisions=self.decisions[rows])


def _parted(evaluated: EvaluatedPipeline) -> _Parted:
    values = {known.name: getattr(evaluated, known.name) for known in fields(EvaluatedPipeline)}
    return _Parted(**values | {"X": None})


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """The rows of one fold, and the measuring functions of the limits."""

    part: EvaluatedPipeline
    functions: tuple[ConstraintFunction, ...]

    @staticmethod
    def of(evaluated: EvaluatedPipeline, aimed: Sequence[Aimed]) -> Fold:
        """Groups of rows are found here, once for all thresholds."""
        return Fold.of_functions(evaluated, [one.constraint.function for one in aimed])

    @staticmethod
    def of_functions(evaluated: EvaluatedPipeline, functions: Sequence[ConstraintFunction]) -> Fold:
        """The same for the functions of any limits."""
        part = _parted(evaluated)
        return Fold(part, tuple(settled(function, part) for function in functions))

    def values(self, cut: Cut) -> list[float]:
        """Return the values of the limits."""
        return [float(one.value) for one in self.evidence(decide(self.part, cut).decisions)]

    def evidence(self, decisions: Any) -> list[Evidence]:
        """Return the evidence of the limits for any decisions."""
        decided = replace(self.part, decisions=decisions)
        return [evidence_or_nan(function, decided) for function in self.functions]


def settled(function: ConstraintFunction, part: EvaluatedPipeline) -> ConstraintFunction:
    """Return the function of a limit with the groups of these rows, if it compares any."""
    return function.on_rows_of(part) if isinstance(function, OfSameRows) else function


@dataclass(eq=False)
class _Trial:
    """Thresholds and their values on the folds; `places` are indices among the sorted scores.

    `is_flat` is True if the scores of every fold are constant.
    """

    folds: tuple[Fold, ...]
    aimed: tuple[Aimed, ...]
    default: float
    merit: Merit | None
    ordered: Array = field(init=False)
    is_flat: bool = field(init=False)
    default_place: int = field(init=False)
    places: dict[float, int] = field(init=False, default_factory=dict)
    values: dict[float, Array] = field(init=False, default_factory=dict)
    merits: dict[float, float] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        scores = [np.asarray(fold.part.scores, dtype=float) for fold in self.folds]
        self.ordered = np.sort(np.concatenate(scores))
        self.is_flat = are_flat(scores)
        self.default_place = int(np.searchsorted(self.ordered, self.default))
        self._try(self.default, self.default_place)

    @property
    def is_moved(self) -> bool:
        """True if any limit's value changes from one threshold to another."""
        first, *others = self.values.values()
        return not all(np.array_equal(first, other, equal_nan=True) for other in others)

    def look_everywhere(self) -> None:
        """Try the quantiles of the scores."""
        rows = len(self.ordered)
        # One row more or less than none or all: the smallest rates other than 0 and 1.
        self.look(np.array([1, rows - 1, *(rows * share for share in COARSE)]))

    def look(self, places: Array) -> None:
        """Try the thresholds at these places of the sorted scores; equal decisions but once."""
        for place in np.unique(places.astype(int)):
            threshold = between(self.ordered, int(place))
            below = int(np.searchsorted(self.ordered, threshold))
            if below not in self.places.values():
                self._try(threshold, below)

    def neighbours(self) -> tuple[int, int]:
        """The places tried next to the best one."""
        place, tried = self.places[self.best()], self.places.values()
        lower = max((other for other in tried if other < place), default=place)
        return lower, min((other for other in tried if other > place), default=place)

    def is_one_sided(self, place: int) -> bool:
        """Return True if all rows lie on one side of a threshold at this place."""
        return place in (0, len(self.ordered))

    def best(self) -> float:
        """The threshold of the least violation; among these of the largest merit."""
        standings = {
            threshold: standing(
                violation(self.aimed, values),
                is_one_sided=self.is_one_sided(self.places[threshold]),
            )
            for threshold, values in self.values.items()
        }
        least = min(standings.values())
        # Exactly equal: within all limits every violation is 0.
        equals = [threshold for threshold, found in standings.items() if found == least]
        return min(
            equals, key=lambda t: (-self._merit(t), abs(self.places[t] - self.default_place))
        )

    def _try(self, threshold: float, place: int) -> None:
        """Measure a threshold; beyond all scores it becomes NEVER or ALWAYS."""
        if self.is_one_sided(place):
            threshold = NEVER if place else ALWAYS
        elif self.is_flat:
            return
        self.places[threshold] = place
        self.values[threshold] = mean_values(self.folds, [threshold] * len(self.folds))

    def _merit(self, threshold: float) -> float:
        if threshold not in self.merits:
            if self.merit is None:
                found = balanced_accuracy(self.folds, [threshold] * len(self.folds))
            else:
                found = self.merit(threshold)
            self.merits[threshold] = -math.inf if math.isnan(found) else found
        return self.merits[threshold]


def between(ordered: Array, place: int) -> float:
    """Return a threshold with this number of sorted scores below.

    It is half-way between two scores, so that new rows fall to the same sides. The scores may be of
    some rows only: the caller must handle a threshold beyond all rows.
    """
    if place == len(ordered):
        # s ≥ t says yes, so a threshold above all scores must lie beyond the largest.
        return float(np.nextafter(ordered[-1], math.inf))
    # Halved before adding: the sum of two large scores may overflow.
    return float(ordered[max(place - 1, 0)] / 2 + ordered[place] / 2)


def apart(ordered: Array, place: int) -> float:
    """Return a threshold with about so many scores below; beyond all of them it is infinite."""
    if place <= 0:
        return ALWAYS
    return NEVER if place >= len(ordered) else between(ordered, place)


def are_flat(scores: Iterable[Array]) -> bool:
    """Return True if the scores of each fold are constant."""
    return all(bool((fold == fold[0]).all()) for fold in scores)


def standing(broken: float, *, is_one_sided: bool) -> Standing:
    """Return the key to compare thresholds: any value, then two sides, then least violation."""
    return (not math.isfinite(broken), is_one_sided, broken)


def say_threshold(threshold: float) -> str:
    """A threshold in words."""
    if math.isinf(threshold):
        return "never" if threshold > 0 else "always"
    return f"at {threshold:.4g}"


# As words in `model.json`, because JSON has no infinities.
INFINITE: Mapping[Any, float] = MappingProxyType(
    {say_threshold(one): one for one in (NEVER, ALWAYS)}
)


def mean_values(folds: Sequence[Fold], cuts: Sequence[Cut]) -> Array:
    """Return each limit's mean value over the folds, with a threshold or a band for each fold."""
    pairs = zip(folds, cuts, strict=True)
    return means_over_folds([one.evidence(decide(one.part, cut).decisions) for one, cut in pairs])


def balanced_accuracy(folds: Sequence[Fold], cuts: Sequence[Cut]) -> float:
    """½ (TPR + TNR) over the decided rows of all folds, by their weights if they have any."""
    pairs = zip(folds, cuts, strict=True)
    y = np.concatenate([fold.part.y for fold in folds])
    yes = np.concatenate([decide(fold.part, cut).decisions for fold, cut in pairs])
    known = [fold.part.weights for fold in folds]
    weights = None if known[0] is None else np.concatenate(known)
    rows = [(y == label) & (yes != UNDECIDED) for label in (0, 1)]
    rates = (_share(yes[one] == label, weights, one) for label, one in enumerate(rows))
    return 0.5 * sum(rates)


def _share(hits: Any, weights: Any, rows: Any) -> float:
    if not len(hits):
        return math.nan
    return float(np.average(hits, weights=None if weights is None else weights[rows]))


def violation(aimed: Sequence[Aimed], values: Array) -> float:
    """Σ_m max(0, g_m − ε_m) / (|ε_m| / 10): 0 within all limits."""
    pairs = zip(aimed, values, strict=True)
    return sum(_excess(one.limit, float(value)) for one, value in pairs)


def evidence_or_nan(function: ConstraintFunction, part: EvaluatedPipeline) -> Evidence:
    """Return the evidence; NaN if its function fails, so that this threshold is not chosen.

    The evaluation measures the limits at the chosen threshold again, and reports failures.
    """
    try:
        found = measured_by(function, part)
        # A value may be computed, and fail, as late as here.
        return found if math.isfinite(found.value) else Estimate(math.nan)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a limit is anybody's code
        return Estimate(math.nan)


def _excess(limit: Limit, value: float) -> float:
    """Return max(0, g − ε) in tenths of ε; infinite without a value."""
    if not math.isfinite(value):
        return math.inf
    if limit.holds(value):
        return 0.0
    return (limit.turned(value) - limit.turned(limit.bound)) / (
        # A limit at 0 has no tenth: there the excess counts in tenths of 1.
        TOLERANCE * (abs(limit.bound) or 1.0)
    )
