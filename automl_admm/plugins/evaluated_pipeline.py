"""The fitted pipeline of one fold, as constraints see it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from automl_admm.core.read_only import own_frame, read_only

# What all limits of an evaluation share, as arrays; X may be a frame, too.
ARRAYS = ("X", "y", "predictions", "decisions", "weights")


@dataclass(frozen=True, slots=True)
class EvaluatedPipeline:
    """The material of a constraint: a fitted pipeline, rows it has not seen, and the costs.

    `predictions` belong to the rows of `X`: probabilities, or else scores. `decisions` are the
    results of `pipeline.predict`. Class labels are numbered in their sorted order, in `y`, in
    `decisions` and in the results of `pipeline.predict`; a positive class named by the user is the
    last, so that of two classes 1 is the positive one. `sensitive` is a frame of the columns with
    limits on them, row by row as `X`. `peak_mb` is the largest memory of the process, in megabytes,
    while it fitted and predicted. Time at least so many `calls`: a certificate on a quantile needs
    more of them than a search. `saved_bytes` is the size of the shipped file; None in the search.
    `weights` are the weights of the rows, with a mean of 1 over all data; None if all count alike.
    `origins` names the user's column behind each column of `X`, where one makes several. `spreads`
    has the standard deviation of each column of numbers of `X` in the rows of the search, if a
    limit asks the model about changed rows; a date has none. `blanks` has the value of an empty
    cell in each column of `X` where it is no missing one, such as the empty text. `filled` names
    the user's columns that have a value in the rows of the search, where a certificate rests on
    `X`; None for those that have one in `X`. All limits see the same rows: arrays refuse writing.

    >>> y = np.array([0, 1])
    >>> EvaluatedPipeline(None, np.eye(2), y, np.array([0.1, 0.9]), 0.0, 0.0).part([1]).y
    array([1])
    """

    pipeline: Any
    X: Any
    y: Any
    predictions: Any
    fit_seconds: float
    predict_seconds: float
    decisions: Any = None
    sensitive: Any = None
    peak_mb: float = math.nan
    calls: int = 0
    saved_bytes: int | None = None
    weights: Any = None
    origins: Mapping[str, str] | None = None
    spreads: Mapping[str, float] | None = None
    blanks: Mapping[str, Any] | None = None
    filled: Collection[str] | None = None

    def __post_init__(self) -> None:
        """Take the arrays as views that refuse writing."""
        for name in ARRAYS:
            given = getattr(self, name)
            # The record is frozen.
            if (seen := read_only(given)) is not given:
                object.__setattr__(self, name, seen)

    @property
    def scores(self) -> Any:
        """Scores of the last class, of two: a column of `predictions`."""
        return self.predictions if self.predictions.ndim == 1 else self.predictions[:, -1]

    def with_own_frames(self) -> EvaluatedPipeline:
        """The same with frames of its own, for one limit that may change them."""
        return replace(self, X=own_frame(self.X), sensitive=own_frame(self.sensitive))

    def part(self, rows: Any) -> EvaluatedPipeline:
        """The same pipeline seen on some of the rows (a mask, or places); nothing is predicted."""
        return replace(
            self,
            X=_taken(self.X, rows),
            y=_taken(self.y, rows),
            predictions=_taken(self.predictions, rows),
            decisions=_taken(self.decisions, rows),
            sensitive=_taken(self.sensitive, rows),
            weights=_taken(self.weights, rows),
        )


def _taken(values: Any, rows: Any) -> Any:
    if values is None:
        return None
    return values.iloc[rows] if hasattr(values, "iloc") else values[rows]
