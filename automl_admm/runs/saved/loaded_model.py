"""A model of a run folder in Python: it takes raw rows, as `predict` on the command line does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from automl_admm.constraints.unknown_groups import warn_of_unknown_groups
from automl_admm.core.errors import (
    FallbackWarning,
    FrozenModelWarning,
    LimitWarning,
    VersionWarning,
)
from automl_admm.data.exact_arrays import without_mask
from automl_admm.data.later_rows import warn_of_later_rows
from automl_admm.pipelines.default_outputs import default_outputs
from automl_admm.pipelines.labels import accuracy_of_decided, labels_to_score, leaves_undecided
from automl_admm.pipelines.predictions.scored_by_r2 import ScoredByR2
from automl_admm.runs.finish.model_file import load_model, rows_for_the_model
from automl_admm.runs.finish.model_notes import tell_mark, tell_versions
from automl_admm.runs.finish.trained_rows import TrainedRows
from automl_admm.runs.session.model_run import tell_earlier
from automl_admm.store.run_folder import RunFolder

# Cross-validation would give one fitted model its own rows, and call that a score of unseen ones.
STAYS = (
    "fit changes nothing: a model that `load` returns stays as its run has fitted it, and what "
    "scores it after this, such as cross-validation, may do so on rows that it has learned from. "
    "To fit anew take {kind}, or pipeline.py in the folder of the run; to keep the model as it is "
    "inside another estimator, sklearn.frozen.FrozenEstimator(model)."
)


class LoadedModel(BaseEstimator):  # type: ignore[misc]
    """A fitted model of a run, with the schema of its table.

    Rows may be a frame, with its columns in any order, or an array. `pipeline` is the plain
    scikit-learn object in it, `description` the content of `model.json`, and `rows` brings a table
    to the form that the pipeline was fitted on. It is fitted for good: `fit` changes nothing.
    """

    _search: str

    def __init__(self, pipeline: Any, rows: TrainedRows, description: Mapping[str, Any]) -> None:
        self.pipeline = pipeline
        self.rows = rows
        self.description = description

    @property
    def feature_names_in_(self) -> Any:
        """The names of the columns, in the order of training."""
        return np.array(self.rows.columns, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return len(self.rows.columns)

    def fit(self, X: Any, y: Any = None) -> LoadedModel:  # noqa: ARG002
        """Change nothing, as in scikit-learn's `FrozenEstimator`, and warn of it."""
        warnings.warn(STAYS.format(kind=self._search), FrozenModelWarning, stacklevel=2)
        return self

    def predict(self, X: Any) -> Any:
        """Predict rows."""
        return self._answer("predict", X)

    def pipeline_rows(self, X: Any) -> Any:
        """Return the rows as `pipeline` takes them: dates and amounts made into columns."""
        return self.rows.take(X)

    def _answer(self, method: str, X: Any) -> Any:
        rows = self.pipeline_rows(X)
        warn_of_later_rows(self.description, rows, depth=3)
        if method == "predict":
            warn_of_unknown_groups(self.pipeline, rows, depth=3)
        with rows_for_the_model(self.pipeline, rows), default_outputs():
            return getattr(self.pipeline, method)(rows)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> LoadedModel:
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _pipeline_has(method: str) -> Callable[[LoadedModel], bool]:
    def check(model: LoadedModel) -> bool:
        getattr(model.pipeline, method)
        return True

    return check


class LoadedClassifier(ClassifierMixin, LoadedModel):  # type: ignore[misc]
    """A fitted classifier of a run; `score` is the accuracy, on the rows that it decides.

    A row that it leaves undecided has the label None.
    """

    _search = "AutoMLClassifier"

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the decided rows; NaN if there are none."""
        labels, weights = labels_to_score(y, self.classes_), without_mask(sample_weight)
        if leaves_undecided(self.pipeline):
            return accuracy_of_decided(self.predict(X), labels, weights)
        return float(super().score(X, labels, weights))

    @property
    def classes_(self) -> Any:
        """The labels of the classes, sorted."""
        return self.pipeline.classes_

    @available_if(_pipeline_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, a row each."""
        return self._answer("predict_proba", X)

    @available_if(_pipeline_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the decision scores."""
        return self._answer("decision_function", X)


class LoadedRegressor(ScoredByR2, LoadedModel):
    """A fitted regressor of a run; `score` is R²."""

    _search = "AutoMLRegressor"


def load(folder: str | PathLike[str]) -> LoadedClassifier | LoadedRegressor:
    """Return the fitted model of a run folder, ready for raw rows.

    A folder that is damaged, edited, or holds types that nobody trusts, raises a `StoreError` in
    one line, as `predict` on the command line refuses it.

    >>> load("nowhere")
    Traceback (most recent call last):
    automl_admm.core.errors.StoreError: 'nowhere' holds no model.json. Name the folder that …
    """
    run = RunFolder(Path(folder))
    manifest = run.read(run.model_manifest)
    earlier = tell_earlier(run, manifest)
    rows, pipeline = TrainedRows.of_model(manifest), load_model(run, manifest)
    if earlier is not None:
        warnings.warn(earlier, LimitWarning, stacklevel=2)
    for line in tell_versions(manifest):
        warnings.warn(line, VersionWarning, stacklevel=2)
    if (mark := tell_mark(manifest)) is not None:
        kind = LimitWarning if manifest.get("fallback") is None else FallbackWarning
        warnings.warn(mark, kind, stacklevel=2)
    if manifest["classes"] is None:
        return LoadedRegressor(pipeline, rows, manifest)
    return LoadedClassifier(pipeline, rows, manifest)
