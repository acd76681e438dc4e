"""Prediction intervals around any fitted regressor, by split conformal prediction.

A new row is as likely as any of n calibration rows to have the largest error, the second largest,
and so on. So its error is at most the k-th smallest of theirs with probability at least k / (n + 1)
for data drawn alike, whatever the model and the distribution (Vovk et al. 2005; Lei et al. 2018).

Rows of one group are alike, and are not n rows: of 500 rows in 5 groups the model errs in 5 ways.
Then a new group is as likely as any of G to have the largest errors. Each group has a mass of
1 / (G + 1), its rows the same share of it, and the new one lies beyond all: the error up to which
there is a mass of c holds a row of a new group with probability at least c (Lee, Barber and
Willett 2023). With a group for each row that is the same error as above.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.data.exact_arrays import without_mask
from automl_admm.data.row_roles import Rows, columns_given
from automl_admm.pipelines.predictions.scored_by_r2 import ScoredByR2

ROUNDING = 1e-9
ROOM = 4 * float(np.finfo(float).eps)  # what rounding may move, as a share


class IntervalRegressor(ScoredByR2, BaseEstimator):  # type: ignore[misc]
    """A fitted regressor with intervals that hold a share of new rows, its `coverage`.

    `fit` does not train the `estimator`: it measures its errors on rows that the estimator has
    not seen. All intervals are as wide, twice `half_width_`; with too few rows they are infinite.
    Where rows belong together, such as visits of one patient, give `fit` their `groups`: the
    intervals then hold that share of the rows of new groups, each of which counts alike.
    """

    def __init__(self, estimator: Any, coverage: float = 0.9) -> None:
        self.estimator = estimator
        self.coverage = coverage

    def fit(self, X: Any, y: Any, groups: Any = None) -> IntervalRegressor:
        """Calibrate the width on rows that the estimator has not seen."""
        truth = np.asarray(without_mask(y), dtype=float)
        errors = np.asarray(self.predict(X), dtype=float) - truth
        clusters = columns_given(y, None, groups, None).read(are_known=False).clusters
        self.half_width_ = half_width(errors, self.coverage, clusters)
        return self

    def predict(self, X: Any) -> Any:
        """Predict rows as the estimator does."""
        return self.estimator.predict(X)

    def predict_interval(self, X: Any) -> Any:
        """Return the lower and the upper end for each row, two columns."""
        check_is_fitted(self, "half_width_")
        return np.column_stack(ends(self.predict(X), self.half_width_))


def half_width(errors: Any, coverage: float, clusters: Rows | None = None) -> float:
    """Return the ⌈(n + 1) coverage⌉-th smallest absolute error; infinite if there is none.

    Where `clusters` number the groups of rows, it is the one up to which there is that mass.

    >>> half_width(np.array([-3.0, 1.0, 2.0]), 0.75)
    3.0
    >>> half_width(np.array([-3.0, 1.0, 2.0]), 0.75, np.array([0, 1, 1]))
    inf
    """
    if not isinstance(coverage, float) or not 0.0 < coverage < 1.0:
        raise ConfigurationError(f"the coverage of intervals lies between 0 and 1, not {coverage}.")
    sizes = np.abs(np.asarray(errors, dtype=float))
    if sizes.ndim != 1 or not np.isfinite(sizes).all():
        raise DataError("a row to calibrate with has no finite error.")
    order = np.argsort(sizes)
    shares = np.ones(len(sizes)) if clusters is None else 1 / np.bincount(clusters)[clusters]
    mass = np.cumsum(shares[order])
    count = len(sizes) if clusters is None else len(np.unique(clusters))
    # Of 9 rows and a coverage of 0.9 the place is 9, and not 10 by rounding.
    place = int(np.searchsorted(mass, (count + 1) * coverage - ROUNDING))
    return float(sizes[order[place]]) if place < len(sizes) else math.inf


def ends(predicted: Any, half_width: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and the upper ends around predictions.

    They are moved outwards by the most that rounding may do.

    >>> lower, upper = ends([1.6], 1.6 - 0.6)
    >>> bool(1.6 - (1.6 - 0.6) <= 0.6), bool(lower[0] <= 0.6)
    (False, True)
    """
    # An error is rounded, and so are an end and a prediction, which other rows beside it may change
    # in its last place. Without some room all rows with just this error would fall out.
    middle = np.asarray(predicted, dtype=float)
    wide = half_width + ROOM * (half_width + np.abs(middle))
    return middle - wide, middle + wide


def least_count(coverage: float) -> int:
    """Return the fewest rows, or groups of rows, that give intervals an end.

    >>> least_count(0.9), least_count(0.95)
    (9, 19)
    """
    return math.ceil(coverage / (1 - coverage) - ROUNDING)
