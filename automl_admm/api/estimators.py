"""Two scikit-learn estimators: a search for the best pipeline within limits."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from time import monotonic
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from automl_admm.api.history import history_of
from automl_admm.api.parameters import (
    ATTRIBUTES,
    OF_CLASSIFIERS,
    EstimatorOptions,
    documented,
    documented_rows,
)
from automl_admm.api.portions import asked_before, portion_of
from automl_admm.api.reports import Reports, end_lines
from automl_admm.constraints.parse import columns_in
from automl_admm.core.errors import ConfigurationError, FallbackWarning, LimitWarning
from automl_admm.data.columns import check_labels
from automl_admm.data.ingest.leaks import tell_leaks
from automl_admm.data.ingest.reporting import table_of
from automl_admm.data.python_rows import (
    check_quantities,
    checkable,
    follow,
    plain_rows,
    plain_target,
    put_in_order,
    schema_of_rows,
    with_left_out,
)
from automl_admm.data.python_tables import as_table
from automl_admm.data.row_portions import take_rows
from automl_admm.data.row_roles import columns_given
from automl_admm.data.sensitive import as_frame
from automl_admm.data.unique_names import with_unique_names
from automl_admm.execution.server.early_server import started_early
from automl_admm.plugins.records import LearningTask
from automl_admm.runs.config import RunConfig, count_workers
from automl_admm.runs.evaluation_table import tabulate
from automl_admm.runs.finish.decision_summary import (
    decisions_of_outcome,
    explain_held_out_class,
    explain_one_class,
)
from automl_admm.runs.finish.demands import (
    cure_fallback,
    demand_certified,
    demand_evaluated,
    demand_feasible,
    explain_fallback,
    explain_folds,
    explain_passed_over,
    tell_broken,
)
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.given_objects import take_objects
from automl_admm.runs.options import PipelineOptions, options_of
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import Preparation, prepare
from automl_admm.runs.reuse import reuse_runs
from automl_admm.runs.session.session import is_begun, seconds_used
from automl_admm.runs.signatures import constructs
from automl_admm.runs.validation import (
    check_whole,
    folder_of,
    observers_of,
    seed_of,
    several,
    with_numbers,
)
from automl_admm.store.run_folder import RunFolder


@dataclass(frozen=True)
class Given:
    """The checked data of one `fit`; `columns` are the weights, groups and times of the rows."""

    rows: Any
    target: Any
    sensitive: Any
    columns: Any


class _AutoML(Reports, BaseEstimator):  # type: ignore[misc]
    """The common part of the classifier and the regressor."""

    _task: LearningTask

    @constructs(EstimatorOptions)
    def __init__(self, options: EstimatorOptions) -> None:
        for one in fields(options):
            # As it was given, and nothing else: scikit-learn's `clone` compares by identity.
            setattr(self, one.name, getattr(options, one.name))

    def fit(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        time: Any = None,
    ) -> _AutoML:
        """Search for the best pipeline within the limits, and fit it on all of X and y."""
        config, target = self._config(monotonic()), plain_target(y)
        named = {*(self.columns or ()), *columns_in(self.constraints or ())}
        X, doubled = with_unique_names(as_table(X), sole=named)
        if doubled is not None:
            warnings.warn(doubled, UserWarning, stacklevel=3)
        columns = columns_given(target, sample_weight, groups, time)
        sensitive = None
        if sensitive_features is not None:
            sensitive = as_frame(sensitive_features, len(target))
        config = replace(config, searched_rows=asked_before(config).get("searched_rows"))
        portion = portion_of(config, X, target)
        if portion is not None:
            warnings.warn(portion.tell(), UserWarning, stacklevel=3)
            places, config = portion.places(target), replace(config, portion=str(portion))
            X, target = take_rows(X, places), take_rows(target, places)
            sensitive = None if sensitive is None else take_rows(sensitive, places)
            columns = columns.part(places)
        rows, target = self._validated(X, target)
        schema = schema_of_rows(rows)
        with started_early(config.executor, config.n_jobs) as server:
            given = Given(rows, _named(target, y, rows), sensitive, columns)
            outcome = self._run(replace(config, server=server), given)
        if self.on_infeasible == "raise":
            demand_evaluated(outcome)
            demand_certified(outcome)
            demand_feasible(outcome)
        self._remember(outcome)
        self._ingest = outcome.preparation.ingest
        self.columns_ = table_of(self._ingest)
        self._schema = schema.leaving(self._ingest.formed)
        vacuous = explain_one_class(outcome)
        if vacuous is not None:
            warnings.warn(vacuous, UserWarning, stacklevel=3)
        one_sided = explain_held_out_class(outcome)
        if one_sided is not None:
            warnings.warn(one_sided, UserWarning, stacklevel=3)
        if outcome.fallback is not None:
            warnings.warn(
                f"{explain_fallback(outcome)} {cure_fallback(outcome)}",
                FallbackWarning,
                stacklevel=3,
            )
        for late in filter(None, (explain_passed_over(outcome), explain_folds(outcome))):
            warnings.warn(late, UserWarning, stacklevel=3)
        for broken in tell_broken(outcome):
            warnings.warn(broken, LimitWarning, stacklevel=3)
        return self

    def _run(self, config: RunConfig, given: Given) -> PipelineResult:
        """Search, and show the progress if it is asked for."""
        if not self.verbose:
            return run_pipelines(_prepared(config, given))
        from automl_admm.progress.observer import progress_at

        progress = progress_at(self.verbose, sys.stderr)
        config = replace(config, callbacks=(*config.callbacks, progress))
        # Before the display begins: Python's warnings would be printed into its picture.
        prepared = _prepared(config, given)
        rows, columns = given.rows.shape
        with progress:
            progress.say(f"{rows} rows, {columns} columns, {prepared.task}")
            for line in prepared.reused.lines:
                progress.say(line)
            outcome = run_pipelines(prepared)
            for line in end_lines(outcome, progress.so_far.count_line()):
                progress.say(line)
        return outcome

    def predict(self, X: Any) -> Any:
        """Predict with the best pipeline."""
        rows = self._validated_rows(X)
        return self.best_pipeline_.predict(rows)

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Check as scikit-learn does, but keep a frame a frame: columns go their own ways."""
        if self._task == "regression":
            check_quantities(y)
        given = plain_rows(X)
        if hasattr(given, "iloc"):
            check_labels(given)  # scikit-learn refuses mixed names vaguely
        checked, target = validate_data(
            self,
            checkable(given),
            y,
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=2,
            y_numeric=self._task == "regression",
        )
        return _kept(given, checked), target

    def _validated_rows(self, X: Any) -> Any:
        """Check as scikit-learn does, and bring the rows to the columns and types of `fit`."""
        check_is_fitted(self)
        names = [column.name for column in self._schema.columns]
        given, _ = with_unique_names(plain_rows(X), known=names)
        given = with_left_out(given, self._schema, self._ingest.left_out)
        given = put_in_order(given, self._schema)
        checked = validate_data(
            self, checkable(given), dtype=None, ensure_all_finite=False, reset=False
        )
        return follow(_kept(given, checked), self._schema, self._ingest)

    def _config(self, begun: float) -> RunConfig:
        if not isinstance(self.verbose, bool):
            check_whole("verbose", self.verbose, least=0)
        folder = folder_of(self.work_dir)
        if self.warm_start and folder is None:
            raise ConfigurationError("warm_start goes on with a run that was kept; set work_dir.")
        goes_on = self.warm_start and folder is not None and is_begun(folder)
        given = with_numbers(self, options_of(PipelineOptions))
        resolved = {
            "constraints": several("constraints", self.constraints),
            "starts": several("starts", self.starts),
            "reuse": several("reuse", self.reuse),
            "n_jobs": count_workers(self.n_jobs),
            "random_state": seed_of(self.random_state),
            "work_dir": folder,
            "callbacks": observers_of(self.callbacks),
        }
        more = {
            "task": self._task,
            "default_workers": self.n_jobs is None,
            "title": type(self).__name__,
            "resumed": goes_on,
            "seconds_used": seconds_used(RunFolder(folder)) if folder and goes_on else 0.0,
            "begun": begun,
        }
        return RunConfig(**take_objects(given | resolved | more))

    def _remember(self, outcome: PipelineResult) -> None:
        metric = outcome.preparation.metric
        limits = [constraint.limit for constraint in outcome.preparation.constraints]
        self.best_pipeline_ = outcome.model
        self.best_score_ = outcome.score
        self.best_text_ = outcome.best.text
        ensemble = outcome.refit.ensemble
        self.ensemble_ = None if ensemble is None else ensemble.as_content(metric)
        of_folds = outcome.refit.of_folds
        self.of_folds_ = None if of_folds is None else of_folds.as_content()
        self.feasible_ = outcome.result.feasible
        self.fallback_ = None if outcome.fallback is None else str(outcome.fallback)
        self.decisions_ = decisions_of_outcome(outcome)
        self.one_class_ = outcome.refit.one_class
        self._is_best = not any(one.is_better for one in outcome.refit.passed_over)
        self.certificate_ = outcome.certificate
        self.stopped_by_ = outcome.result.stopped_by
        self.reused_ = list(outcome.preparation.reused.lines)
        self.cv_results_ = tabulate(outcome.result.evaluations, limits, metric.score)
        self.n_evaluations_ = len(outcome.result.evaluations)
        self._history, self._metric = history_of(outcome), metric
        self._classes = outcome.preparation.work.table.classes
        self._importances = None
        self._folder = outcome.preparation.config.place

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_pipeline_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        # A search by the clock depends on the speed of the machine.
        tags.non_deterministic = self.max_evaluations is None
        return tags


def _named(target: Any, y: Any, rows: Any) -> Any:
    """Return a checked target under the name that it was given with: files of the run know it."""
    import pandas as pd

    name = getattr(y, "name", None)
    is_taken = str(name) in map(str, getattr(rows, "columns", ()))
    return target if name is None or is_taken else pd.Series(target, name=str(name))


def _prepared(config: RunConfig, given: Given) -> Preparation:
    """Check everything, and warn of rows too few for a proof in the name of the caller of `fit`."""
    prepared = prepare(config, given.rows, given.target, given.sensitive, given.columns)
    prepared = reuse_runs(prepared)
    if prepared.caution is not None:
        warnings.warn(prepared.caution, UserWarning, stacklevel=5)
    for shortfall in () if prepared.aside is None else prepared.aside.shortfalls:
        warnings.warn(shortfall, LimitWarning, stacklevel=5)
    for line in (*tell_leaks(prepared.leaks), *prepared.doubts):
        warnings.warn(line, UserWarning, stacklevel=5)
    return prepared


def _kept(given: Any, checked: Any) -> Any:
    """Return a frame as the user gave it, anything else as scikit-learn made it."""
    return given if hasattr(given, "iloc") else checked


def _best_has(method: str) -> Callable[[_AutoML], bool]:
    """Return a check for a method that not every pipeline has.

    An unfitted search has it: meta-estimators ask before they fit, and its winner is not known.
    """

    def check(estimator: _AutoML) -> bool:
        if estimator.__sklearn_is_fitted__():
            getattr(estimator.best_pipeline_, method)
        return True

    return check


@documented(attributes={**ATTRIBUTES, **OF_CLASSIFIERS})
class AutoMLClassifier(ClassifierMixin, _AutoML):  # type: ignore[misc]
    """Find the best classification pipeline within limits.

    A search over a grammar of pipelines: which components, in which order, with which parameters.
    `fit` searches until the budget ends and fits the winner; the estimator then predicts as the
    winner does. docs/reference/options.md has every parameter with its name on the command line.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from automl_admm import AutoMLClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> search = AutoMLClassifier("tiny", max_evaluations=2, constraints=["size_mb <= 5"])
    >>> search.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.8
    True
    >>> search.feasible_, search.n_evaluations_
    (True, 2)
    >>> board = search.leaderboard()
    >>> bool(board["score"][0] == search.best_score_)
    True
    """

    _task: LearningTask = "classification"

    @documented_rows
    def fit(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        time: Any = None,
    ) -> AutoMLClassifier:
        """Search for the best pipeline within the limits, and fit it on all of X and y."""
        check_classification_targets(plain_target(y))
        super().fit(X, y, sensitive_features, sample_weight, groups, time)
        return self

    @property
    def classes_(self) -> Any:
        """Class labels, sorted."""
        return self.best_pipeline_.classes_

    @available_if(_best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, a row each."""
        rows = self._validated_rows(X)
        return self.best_pipeline_.predict_proba(rows)

    @available_if(_best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of the probability of each class, -inf for 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available_if(_best_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the decision scores of the best pipeline."""
        rows = self._validated_rows(X)
        return self.best_pipeline_.decision_function(rows)


@documented()
class AutoMLRegressor(RegressorMixin, _AutoML):  # type: ignore[misc]
    """Find the best regression pipeline within limits.

    It searches as `AutoMLClassifier` does, for a target that is a quantity.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from automl_admm import AutoMLRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> search = AutoMLRegressor("tiny", max_evaluations=2, constraints=["size_mb <= 5"])
    >>> search.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.2
    True
    >>> found = search.permutation_importances(X[300:], y[300:], random_state=0)
    >>> sorted(found.columns), len(found)
    (['importance', 'std'], 10)
    """

    _task: LearningTask = "regression"

    @documented_rows
    def fit(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        time: Any = None,
    ) -> AutoMLRegressor:
        """Search for the best pipeline within the limits, and fit it on all of X and y."""
        super().fit(X, y, sensitive_features, sample_weight, groups, time)
        return self
