"""The built-in limits on rows whose score moves against a column that is raised.

A raise is the same number for every row, so that a row counts or not by itself, whatever rows stand
beside it: a certificate is that of any rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.builtin.constraints.score_moves import count_moves, score_share
from automl_admm.core.evidence import Estimate, Evidence, Rate
from automl_admm.pipelines.build import predict_scores
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import ConstraintPlugin

SEVERAL = "of several classes there is no one score that a column could move"
OF = "rows with a number in the column"


@dataclass(frozen=True, slots=True)
class Breaks:
    """The share of rows whose score moves the wrong way if a column is raised by so much.

    `sign` is 1 where scores must not fall, and -1 where they must not rise.
    """

    raised_by: float
    sign: float

    def __call__(self, evaluated: EvaluatedPipeline, column: Any) -> Evidence:
        """Return #{i : ± (s(x_i + N) − s(x_i)) < 0} / n over rows with a number in the column.

        The model answers for both, with the column as floating-point numbers: no small integer
        overflows, and nothing but the value differs.
        """
        numbers = evaluated.X[column].to_numpy(dtype=float, na_value=np.nan)
        known = np.isfinite(numbers)
        if not known.any():
            return Rate(0, 0, OF)
        ask = partial(_scores, evaluated.pipeline, evaluated.X.loc[known], column)
        before, after = ask(numbers[known]), ask(numbers[known] + self.raised_by)
        if before is None or after is None:
            return Estimate(math.nan, SEVERAL)
        return count_moves(before, after, OF, sign=-self.sign)


def _scores(
    pipeline: Any, rows: Any, column: Any, numbers: NDArray[np.float64]
) -> NDArray[Any] | None:
    """Return a score for each of the rows with these numbers; None if there are several."""
    changed = rows.copy()
    changed[column] = numbers
    found = np.asarray(predict_scores(pipeline, changed))
    if found.ndim == 2:
        return found[:, -1] if found.shape[1] <= 2 else None
    classes = getattr(pipeline, "classes_", ())
    return found if len(classes) <= 2 else None


def constraints() -> Iterable[ConstraintPlugin]:
    """Yield the limits, each complete with a number."""
    words = "share of rows whose score {} if the column is raised by N, as in {}_1[age]"
    for name, moves, sign in (("rising_breaks", "falls", 1.0), ("falling_breaks", "rises", -1.0)):
        summary = words.format(moves, name)
        yield score_share(name, summary, numbered=partial(_of_raise, name, summary, sign))


def _of_raise(name: str, summary: str, sign: float, number: float) -> ConstraintPlugin:
    if not 0 < number < math.inf:
        raise ValueError("the column is raised by a number above 0")
    return score_share(name, summary, changing=Breaks(number, sign))
