"""The built-in limits on errors of a regression; an error is the prediction less the truth.

Errors of a quantity have no largest value that is known beforehand. What needs one for a proof has
a form with a number, such as `mae_to_10`: no error counts as more than 10 in it. Shares of rows and
quantiles need none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.evidence import (
    Estimate,
    Evidence,
    Explained,
    Mean,
    Quantile,
    Rate,
    RootMeanSquare,
    Weighted,
)
from automl_admm.core.explained_variance import explained_variance
from automl_admm.core.weighted_quantile import weighted_quantile
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Better, ConstraintFunction, ConstraintPlugin

NO_MAXIMUM = (
    "the largest error of rows to come is unknown on any number of rows; limit a quantile instead, "
    "such as abs_error_quantile_99"
)


@dataclass(frozen=True, slots=True)
class MeanAbsoluteError:
    """The mean of |e|; no error counts as more than `largest`."""

    largest: float = math.inf

    def __call__(self, evaluated: EvaluatedPipeline) -> Evidence:
        """Measure these rows."""
        sizes = np.minimum(np.abs(_errors(evaluated)), self.largest)
        return _mean(evaluated, sizes, 0.0, self.largest)


@dataclass(frozen=True, slots=True)
class RootOfMeanSquare:
    """The root of the mean of e²; no error counts as more than `largest`."""

    largest: float = math.inf

    def __call__(self, evaluated: EvaluatedPipeline) -> Evidence:
        """Measure these rows."""
        found = RootMeanSquare(_errors(evaluated), self.largest)
        if evaluated.weights is None:
            return found
        return Weighted(math.sqrt(average(found.squares, evaluated.weights)))


@dataclass(frozen=True, slots=True)
class RSquared:
    """R² = 1 − mean(e²) / Var(y); no error counts as more than `largest`."""

    largest: float = math.inf

    def __call__(self, evaluated: EvaluatedPipeline) -> Evidence:
        """Measure these rows."""
        truth = np.asarray(evaluated.y, dtype=float)
        found = Explained(_errors(evaluated), truth, self.largest)
        weights = evaluated.weights
        if weights is None:
            return found
        value = explained_variance(found.squares, truth, weights)
        return Weighted(value, "rows of different true values")


@dataclass(frozen=True, slots=True)
class Bias:
    """The mean of e; no error counts as more than `largest`, to either side."""

    largest: float = math.inf

    def __call__(self, evaluated: EvaluatedPipeline) -> Evidence:
        """Measure these rows."""
        errors = np.clip(_errors(evaluated), -self.largest, self.largest)
        return _mean(evaluated, errors, -self.largest, self.largest)


@dataclass(frozen=True, slots=True)
class AbsoluteErrorQuantile:
    """A quantile of `times` |e|, the smallest value with so large a share of rows at or below it.

    With `times` 2 it is the width of the interval around a prediction that holds this share.
    """

    quantile: float
    times: float = 1.0

    def __call__(self, evaluated: EvaluatedPipeline) -> Evidence:
        """Measure these rows."""
        sizes = self.times * np.abs(_errors(evaluated))
        if evaluated.weights is None:
            return Quantile(sizes, self.quantile, lowest=0.0)
        return Weighted(weighted_quantile(sizes, evaluated.weights, self.quantile))


@dataclass(frozen=True, slots=True)
class ShareOfErrors:
    """The share of rows with |e| above `size`, or at most `size` with `is_within`."""

    size: float
    is_within: bool = False

    def __call__(self, evaluated: EvaluatedPipeline) -> Evidence:
        """Measure these rows."""
        events = (np.abs(_errors(evaluated)) <= self.size) == self.is_within
        if evaluated.weights is None:
            return Rate(int(np.sum(events)), len(events))
        return Weighted(average(events, evaluated.weights))


def max_error(evaluated: EvaluatedPipeline) -> Estimate:
    """Return the largest |e| of these rows; of rows to come it is not known."""
    errors = _errors(evaluated)
    return Estimate(float(np.max(np.abs(errors))) if len(errors) else math.nan, NO_MAXIMUM)


def _errors(evaluated: EvaluatedPipeline) -> Any:
    # Far ends of the range of numbers have no difference; an infinite error is within no limit.
    with np.errstate(over="ignore"):
        return np.asarray(evaluated.decisions, dtype=float) - np.asarray(evaluated.y, dtype=float)


def _mean(evaluated: EvaluatedPipeline, values: Any, lowest: float, highest: float) -> Evidence:
    if evaluated.weights is None:
        return Mean(values, lowest, highest)
    return Weighted(average(values, evaluated.weights))


def average(values: Any, weights: Any) -> float:
    """Return the weighted mean; NaN if nothing weighs anything."""
    total = float(np.sum(weights))
    return float(np.sum(values * weights)) / total if total > 0 else math.nan


def constraints() -> Iterable[ConstraintPlugin]:
    """Yield the limits on errors; each has a gap and a ratio over groups."""
    yield _plugin("mae", "mean absolute error", MeanAbsoluteError())
    yield _plugin("rmse", "root of the mean squared error", RootOfMeanSquare())
    yield _r_squared("r2", RSquared())
    yield _plugin("bias", "mean of prediction - truth", Bias(), lowest=None, better="")
    yield _plugin("max_error", "largest absolute error of the rows at hand", max_error)
    yield _numbered("mae_to", "mae, with an error above N counting as N", _mae_to)
    yield _numbered("rmse_to", "rmse, with an error above N counting as N", _rmse_to)
    yield _numbered("r2_to", "r2, with an error above N counting as N", _r2_to)
    yield _numbered("bias_to", "bias, with an error beyond -N or N counting as that", _bias_to)
    yield _numbered("abs_error_quantile", "N % of the rows have no larger error", _quantile)
    yield _numbered("interval_width", "width of prediction intervals that hold N % of rows", _width)
    yield _numbered("errors_above", "rows with an absolute error above N, a share", _above)
    yield _numbered("errors_within", "rows with an absolute error up to N, a share", _within)


def _mae_to(number: float) -> ConstraintPlugin:
    return _plugin(
        "mae_to", "mean absolute error", MeanAbsoluteError(_largest(number)), highest=number
    )


def _rmse_to(number: float) -> ConstraintPlugin:
    function = RootOfMeanSquare(_largest(number))
    return _plugin("rmse_to", "root of the mean squared error", function, highest=number)


def _r2_to(number: float) -> ConstraintPlugin:
    return _r_squared("r2_to", RSquared(_largest(number)))


def _r_squared(name: str, function: ConstraintFunction) -> ConstraintPlugin:
    words = "share of the variance explained"
    return _plugin(name, words, function, lowest=None, highest=1.0, better="larger")


def _bias_to(number: float) -> ConstraintPlugin:
    function = Bias(_largest(number))
    return _plugin(
        "bias_to",
        "mean of prediction - truth",
        function,
        lowest=-number,
        highest=number,
        better="",
    )


def _quantile(number: float) -> ConstraintPlugin:
    function = AbsoluteErrorQuantile(_share(number))
    return _plugin("abs_error_quantile", "quantile of the absolute error", function)


def _width(number: float) -> ConstraintPlugin:
    function = AbsoluteErrorQuantile(_share(number), times=2.0)
    return _plugin("interval_width", "width of prediction intervals", function)


def _above(number: float) -> ConstraintPlugin:
    return _plugin("errors_above", "share of large errors", ShareOfErrors(number), highest=1.0)


def _within(number: float) -> ConstraintPlugin:
    function = ShareOfErrors(number, is_within=True)
    return _plugin("errors_within", "share of small errors", function, highest=1.0, better="larger")


def _largest(number: float) -> float:
    if not 0 < number < math.inf:
        raise ValueError("the largest error that counts is above 0")
    return number


def _share(number: float) -> float:
    if not 0 < number < 100:
        raise ValueError("the number is a percentage between 0 and 100, as in 90 or 99.5")
    return number / 100


def _plugin(
    name: str,
    summary: str,
    function: ConstraintFunction | None = None,
    *,
    better: Better = "smaller",
    **way: Any,
) -> ConstraintPlugin:
    return ConstraintPlugin(
        name=name,
        summary=summary,
        function=function,
        kind="statistical",
        better=better,
        target="a quantity",
        takes_weights=True,
        **way,
    )


def _numbered(
    name: str, summary: str, numbered: Callable[[float], ConstraintPlugin]
) -> ConstraintPlugin:
    return _plugin(name, summary, numbered=numbered, lowest=None, better="")
