"""Tables of rows, and measurements of a fitted pipeline on unseen rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from traceback import walk_tb
from typing import Any

import numpy as np

from automl_admm.core.errors import AutomlAdmmError, DataError
from automl_admm.core.messages import say_count, say_error, say_value
from automl_admm.core.read_only import own_array
from automl_admm.core.returned_evidence import as_number
from automl_admm.data.fingerprints import Hashes, hash_in_order
from automl_admm.data.row_roles import NO_ROLES, Roles
from automl_admm.pipelines.labels import are_decided, leaves_undecided, sorted_order
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.constant_truth import score_of_constant, with_weight
from automl_admm.pipelines.predictions.wrappers import Filled, Numbered, Remembered, on_decided
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.foreign_calls import no_exit


@dataclass(frozen=True)
class Table:
    """Rows and their target; class labels are numbered by their place in `classes`.

    `classes` are sorted, but a positive class named by the user is the last. `sensitive` is a frame
    of the columns named by limits, and `roles` are the weights, groups and times of the rows.
    """

    X: Any
    y: Any
    classes: Any = None
    sensitive: Any = None
    roles: Roles = NO_ROLES

    def labels(self) -> Any:
        """The target as the user gave it."""
        return self.y if self.classes is None else self.classes[self.y]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self.y), self.X.shape[1]

    @property
    def names(self) -> list[str]:
        """The names of the columns; those of an array are their places."""
        return list(map(str, getattr(self.X, "columns", range(self.X.shape[1]))))

    @cached_property
    def row_hashes(self) -> Hashes:
        """A hash of the cells of each row, in the order of the columns."""
        return hash_in_order(self.X)

    @cached_property
    def target_hashes(self) -> Hashes:
        """A hash of the target of each row, the same whichever class is the positive one."""
        import pandas as pd

        y = self.y if self.classes is None else np.argsort(sorted_order(self.classes))[self.y]
        found = pd.util.hash_pandas_object(pd.Series(y), index=False)
        return np.asarray(found, dtype=np.uint64)

    def part(self, places: Any) -> Table:
        """Some of the rows."""
        X = take_places(self.X, places)
        sensitive = None if self.sensitive is None else self.sensitive.iloc[places]
        return Table(X, self.y[places], self.classes, sensitive, self.roles.part(places))


def take_places(X: Any, places: Any) -> Any:
    """Return some rows of a frame or an array."""
    return X.iloc[places] if hasattr(X, "iloc") else X[places]


@dataclass(frozen=True, eq=False)
class Seen:
    """A fitted pipeline seen on rows unknown to it.

    `by_decisions` is True if the metric asked for decisions; `answers` has the predictions.
    """

    pipeline: Any
    answers: Remembered
    rows: Table
    part: EvaluatedPipeline
    score: float
    by_decisions: bool


def score_of(metric: Metric, pipeline: Any, rows: Table) -> float:
    """Return the score of a pipeline fitted on labels.

    scikit-learn's own metrics see class numbers, so the last class is the positive one. A user's
    own scorer sees the user's own labels. A weight of a row is its share in the score. If a
    pipeline leaves rows undecided, a metric that asks for decisions counts the decided rows alone.
    """
    if not leaves_undecided(pipeline):
        return _score(metric, pipeline, rows)
    filled = Filled(pipeline)
    score = _score(metric, filled, rows)
    return score_of_decided(metric, pipeline, rows) if filled.was_asked else score


def score_of_decided(metric: Metric, pipeline: Any, rows: Table) -> float:
    """Return the score on the rows that a pipeline decides; NaN if there are none."""
    places = np.flatnonzero(are_decided(pipeline.predict(rows.X)))
    if not len(places):
        return math.nan
    part = rows.part(places)
    return _score(metric, on_decided(pipeline, rows.X, part.X, places), part)


def _score(metric: Metric, pipeline: Any, rows: Table) -> float:
    # A metric may write to what it is given, and limits are measured on the same rows afterwards.
    weights = own_array(rows.roles.weights)
    more = {} if weights is None else {"sample_weight": weights}
    numbered = pipeline if rows.classes is None else Numbered(pipeline, rows.classes)
    with no_exit():
        constant = score_of_constant(metric, numbered, rows.X, rows.y, weights)
        if constant is not None:
            return constant
        by_labels = rows.classes is None or metric.sees_labels
        model, truth = (pipeline, rows.labels()) if by_labels else (numbered, rows.y)
        try:
            return as_number(metric.scorer(model, rows.X, own_array(truth), **more))
        except AutomlAdmmError:
            raise
        except (ArithmeticError, ValueError) as problem:
            is_of_metric = not _is_raised_in((pipeline, model), problem)
            if is_of_metric and (lacks := _say_lacking(rows)):
                told = f"metric '{metric.name}' has no score on {lacks}: {say_error(problem)}."
                raise DataError(told) from problem
            raise


def _is_raised_in(models: Sequence[Any], problem: Exception) -> bool:
    """Return True if a method of a model, or one that it called, raised an error."""
    frames = (frame.f_locals.get("self") for frame, _ in walk_tb(problem.__traceback__))
    return any(found is model for found in frames for model in models)


def _say_lacking(rows: Table) -> str:
    """Name rows by the classes that they lack; "" if they lack none.

    The own error of a metric that fails on them does not name them.
    """
    counted = with_weight(rows.y, rows.roles.weights)
    classes = enumerate(() if rows.classes is None else rows.classes)
    absent = [say_value(name) for place, name in classes if place not in counted]
    named = "class" if len(absent) == 1 else "the classes"
    lacks = f"{named} {' and '.join(absent)}"
    return f"{say_count(len(counted), 'row')} without {lacks}" if absent else ""
