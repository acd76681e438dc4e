"""Two scikit-learn estimators: a search for the best pipeline within limits."""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields, replace
from time import monotonic
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from automl_admm.api.history import history_of
from automl_admm.api.parameters import (
    ATTRIBUTES,
    OF_CLASSIFIERS,
    EstimatorOptions,
    documented,
    documented_rows,
)
from automl_admm.api.reports import Reports, end_lines
from automl_admm.api.taking_in import (
    Given,
    earlier_model,
    kept_frame,
    named_as,
    prepare_given,
    seed_to_use,
    take_in,
    warn_of_outcome,
)
from automl_admm.constraints.unknown_groups import warn_of_unknown_groups
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.messages import say_count
from automl_admm.data.columns import check_classes, check_labels
from automl_admm.data.exact_arrays import without_mask
from automl_admm.data.ingest.reporting import table_of
from automl_admm.data.later_rows import warn_of_later_rows
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
from automl_admm.data.unique_names import with_unique_names
from automl_admm.execution.server.early_server import started_early
from automl_admm.pipelines.default_outputs import default_outputs
from automl_admm.pipelines.labels import accuracy_of_decided, labels_to_score, leaves_undecided
from automl_admm.pipelines.predictions.scored_by_r2 import ScoredByR2
from automl_admm.plugins.records import LearningTask
from automl_admm.runs.cancelling import cancellers
from automl_admm.runs.config import RunConfig, count_workers
from automl_admm.runs.evaluation_table import tabulate
from automl_admm.runs.finish.decision_summary import decisions_of_outcome
from automl_admm.runs.finish.demands import demand_certified, demand_evaluated, demand_feasible
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.given_objects import take_objects
from automl_admm.runs.options import PipelineOptions, options_of
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.session.session import seconds_used
from automl_admm.runs.signatures import constructs
from automl_admm.runs.validation import (
    check_whole,
    folder_of,
    observers_of,
    several,
    with_numbers,
)
from automl_admm.store.run_folder import RunFolder

# What users set by methods of scikit-learn's own; its `clone` keeps it.
OF_SCIKIT_LEARN = frozenset({"_metadata_request", "_sklearn_output_config"})


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
        roles = (sample_weight, groups, time)
        config, taken = take_in(self._config(monotonic()), X, y, sensitive_features, *roles)
        with earlier_model(self):
            rows, target = self._validated(taken.rows, taken.target)
            schema = schema_of_rows(rows)
            given = replace(taken, rows=rows, target=named_as(target, y, taken))
            with started_early(config.executor, config.n_jobs) as server, default_outputs():
                outcome = self._run(replace(config, server=server), given)
        if self.on_infeasible == "raise":
            demand_evaluated(outcome)
            demand_certified(outcome)
            demand_feasible(outcome)
        self._remember(outcome)
        self._ingest = outcome.preparation.ingest
        self.columns_ = table_of(self._ingest)
        self._schema = schema.leaving(self._ingest.formed)
        warn_of_outcome(outcome)
        return self

    def _run(self, config: RunConfig, given: Given) -> PipelineResult:
        """Search, and show the progress if it is asked for."""
        if not self.verbose:
            return run_pipelines(prepare_given(config, given))
        from automl_admm.progress.observer import progress_at

        progress = progress_at(self.verbose, sys.stderr)
        config = replace(config, callbacks=(*config.callbacks, progress))
        # Before the display begins: Python's warnings would be printed into its picture.
        prepared = prepare_given(config, given)
        rows, columns = given.rows.shape
        with progress:
            progress.say(
                f"{say_count(rows, 'row')}, {say_count(columns, 'column')}, {prepared.task}"
            )
            for line in prepared.reused.lines:
                progress.say(line)
            outcome = run_pipelines(prepared)
            for line in end_lines(outcome, progress.so_far.count_line()):
                progress.say(line)
        return outcome

    def predict(self, X: Any) -> Any:
        """Predict with the best pipeline; a row that it leaves undecided has the label None."""
        rows = self._validated_rows(X)
        warn_of_unknown_groups(self.best_pipeline_, rows, depth=2)
        with default_outputs():
            return self.best_pipeline_.predict(rows)

    def pipeline_rows(self, X: Any) -> Any:
        """Return the rows as `best_pipeline_` takes them: dates and amounts made into columns.

        `search.best_pipeline_.predict(search.pipeline_rows(X))` is `search.predict(X)`.
        """
        return self._validated_rows(X)

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
        return kept_frame(given, checked), target

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
        rows = follow(kept_frame(given, checked), self._schema, self._ingest)
        warn_of_later_rows(self._learned, rows, depth=3)
        return rows

    def _config(self, begun: float) -> RunConfig:
        if not isinstance(self.verbose, bool):
            check_whole("verbose", self.verbose, least=0)
        folder = folder_of(self.work_dir)
        if self.warm_start and folder is None:
            raise ConfigurationError("warm_start goes on with a run that was kept; set work_dir.")
        goes_on = self.warm_start and folder is not None and RunFolder(folder).settings.exists()
        given = with_numbers(self, options_of(PipelineOptions))
        resolved = {
            "constraints": several("constraints", self.constraints),
            "starts": several("starts", self.starts),
            "reuse": several("reuse", self.reuse),
            "n_jobs": count_workers(self.n_jobs),
            "random_state": seed_to_use(self.random_state, folder if goes_on else None),
            "work_dir": folder,
            "callbacks": (*observers_of(self.callbacks), *cancellers(self.cancel)),
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
        self._learned = outcome.learned
        self.best_score_ = outcome.score
        self.best_text_ = outcome.best.text
        ensemble, of_folds = outcome.refit.ensemble, outcome.refit.of_folds
        self.ensemble_ = None if ensemble is None else ensemble.as_content(metric)
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

    def __sklearn_clone__(self) -> _AutoML:
        """Return an unfitted copy that heeds the same `cancel`: events cannot be copied."""
        given = self.get_params(deep=False)
        copies = {name: clone(given[name], safe=False) for name in given if name != "cancel"}
        found: _AutoML = type(self)(**{**given, **copies})
        for name in OF_SCIKIT_LEARN & vars(self).keys():
            setattr(found, name, deepcopy(getattr(self, name)))
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process, where nobody sets the event."""
        return {**super().__getstate__(), "cancel": None}

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


REMEDIES = {
    "predict_proba": "With scoring='neg_log_loss' only a pipeline with probabilities can win.",
    "decision_function": "It may have 'predict_proba'.",
}


def _best_has(method: str) -> Callable[[_AutoML], bool]:
    """Return a check for a method that not every pipeline has.

    An unfitted search has it: meta-estimators ask before they fit, and its winner is not known.
    """

    def check(estimator: _AutoML) -> bool:
        if estimator.__sklearn_is_fitted__() and not hasattr(estimator.best_pipeline_, method):
            told = f"the best pipeline has no '{method}', as the metric asks for none."
            raise AttributeError(f"{told} {REMEDIES[method]}")
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
        check_classes(plain_target(y))
        super().fit(X, y, sensitive_features, sample_weight, groups, time)
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of the best pipeline on the rows that it decides; NaN without any.

        It decides all rows unless a limit such as `abstain <= 5 %` lets it leave some.
        """
        labels, weights = labels_to_score(y, self.classes_), without_mask(sample_weight)
        if leaves_undecided(self.best_pipeline_):
            return accuracy_of_decided(self.predict(X), labels, weights)
        return float(super().score(X, labels, weights))

    @property
    def classes_(self) -> Any:
        """Class labels, sorted."""
        return self.best_pipeline_.classes_

    @available_if(_best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, a row each."""
        rows = self._validated_rows(X)
        with default_outputs():
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
        with default_outputs():
            return self.best_pipeline_.decision_function(rows)


@documented()
class AutoMLRegressor(ScoredByR2, _AutoML):
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
