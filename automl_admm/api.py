"""The Python interface: two scikit-learn estimators, and `minimize` for any black box."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from automl_admm.core.errors import ConfigurationError, FallbackWarning, LimitWarning
from automl_admm.data.columns import column_kinds
from automl_admm.data.python_rows import (
    follow,
    plain_rows,
    plain_target,
    put_in_order,
    schema_of_rows,
)
from automl_admm.data.row_portions import Portion, portion_within, read_portion, take_rows
from automl_admm.data.sensitive import as_frame
from automl_admm.execution.server.early_server import started_early
from automl_admm.plugins.records import LearningTask
from automl_admm.runs.config import RunConfig, count_workers
from automl_admm.runs.evaluation_table import tabulate
from automl_admm.runs.finish.decision_summary import decisions_of_outcome, explain_one_class
from automl_admm.runs.finish.demands import (
    LONGER,
    demand_certified,
    demand_feasible,
    explain_fallback,
    tell_broken,
)
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.minimize import MinimizeResult, minimize
from automl_admm.runs.options import PipelineOptions, options_of
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.runs.session.session import is_begun, seconds_used
from automl_admm.runs.signatures import constructs
from automl_admm.runs.validation import folder_of, observers_of, seed_of, several
from automl_admm.store.run_folder import RunFolder

__all__ = ["AutoMLClassifier", "AutoMLRegressor", "MinimizeResult", "minimize"]


@dataclass(frozen=True)
class EstimatorOptions(PipelineOptions):
    """The parameters of an estimator: the options of a run, and how `fit` treats a kept run."""

    _: KW_ONLY
    warm_start: bool = False


class _AutoML(BaseEstimator):  # type: ignore[misc]
    """The common part of the classifier and the regressor."""

    _task: LearningTask

    @constructs(EstimatorOptions)
    def __init__(self, options: EstimatorOptions) -> None:
        for one in fields(options):
            # As it was given, and nothing else: scikit-learn's `clone` compares by identity.
            setattr(self, one.name, getattr(options, one.name))

    def fit(self, X: Any, y: Any, sensitive_features: Any = None) -> _AutoML:
        """Search for the best pipeline within the limits, and fit it on all of X and y."""
        begun = time.monotonic()
        config, target = self._config(begun), plain_target(y)
        sensitive = None
        if sensitive_features is not None:
            sensitive = as_frame(sensitive_features, len(target))
        portion = _portion(config, X, target)
        if portion is not None:
            warnings.warn(portion.tell(), UserWarning, stacklevel=3)
            places, config = portion.places(target), replace(config, portion=str(portion))
            X, target = take_rows(X, places), take_rows(target, places)
            sensitive = None if sensitive is None else take_rows(sensitive, places)
        rows, target = self._validated(X, target)
        schema = schema_of_rows(rows)
        saves = config.work_dir is not None
        with started_early(config.executor, config.n_jobs, saves=saves) as server:
            prepared = prepare(replace(config, server=server), rows, target, sensitive)
            for shortfall in () if prepared.aside is None else prepared.aside.shortfalls:
                warnings.warn(shortfall, LimitWarning, stacklevel=3)
            outcome = run_pipelines(prepared)
        if self.on_infeasible == "raise":
            demand_certified(outcome)
            demand_feasible(outcome)
        self._remember(outcome)
        self._schema = schema
        vacuous = explain_one_class(outcome)
        if vacuous is not None:
            warnings.warn(vacuous, UserWarning, stacklevel=3)
        if outcome.fallback is not None:
            warnings.warn(f"{explain_fallback(outcome)} {LONGER}", FallbackWarning, stacklevel=3)
        for broken in tell_broken(outcome):
            warnings.warn(broken, LimitWarning, stacklevel=3)
        return self

    def predict(self, X: Any) -> Any:
        """Predict with the best pipeline."""
        rows = self._validated_rows(X)
        return self.best_pipeline_.predict(rows)

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Check as scikit-learn does, but keep a frame a frame: columns go their own ways."""
        given = plain_rows(X)
        if hasattr(given, "iloc"):
            column_kinds(given)
        checked, target = validate_data(
            self,
            given,
            y,
            dtype=None,
            ensure_all_finite="allow-nan",
            ensure_min_samples=2,
            y_numeric=self._task == "regression",
        )
        return _kept(given, checked), target

    def _validated_rows(self, X: Any) -> Any:
        """Check as scikit-learn does, and bring rows to what they were in `fit`."""
        check_is_fitted(self)
        given = put_in_order(plain_rows(X), self._schema)
        checked = validate_data(self, given, dtype=None, ensure_all_finite="allow-nan", reset=False)
        return follow(_kept(given, checked), self._schema)

    def _config(self, begun: float) -> RunConfig:
        folder = folder_of(self.work_dir)
        if self.warm_start and folder is None:
            raise ConfigurationError("warm_start goes on with a run that was kept; set work_dir.")
        goes_on = self.warm_start and folder is not None and is_begun(folder)
        given = {option.name: getattr(self, option.name) for option in options_of(PipelineOptions)}
        resolved = {
            "constraints": several("constraints", self.constraints),
            "starts": several("starts", self.starts),
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
        return RunConfig(**given | resolved | more)

    def _remember(self, outcome: PipelineResult) -> None:
        metric = outcome.preparation.metric
        limits = [constraint.limit for constraint in outcome.preparation.constraints]
        self.best_pipeline_ = outcome.model
        self.best_score_ = outcome.score
        self.best_text_ = outcome.best.text
        self.feasible_ = outcome.result.feasible
        self.fallback_ = None if outcome.fallback is None else str(outcome.fallback)
        self.decisions_ = decisions_of_outcome(outcome)
        self.one_class_ = outcome.refit.one_class
        self.certificate_ = outcome.certificate
        self.stopped_by_ = outcome.result.stopped_by
        self.cv_results_ = tabulate(outcome.result.evaluations, limits, metric.score)
        self.n_evaluations_ = len(outcome.result.evaluations)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_pipeline_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.non_deterministic = self.max_evaluations is None
        return tags


def _portion(config: RunConfig, X: Any, target: Any) -> Portion | None:
    """Say which rows a run takes: those of its earlier sessions, else as many as there is time for.

    A table that is no such thing is told by whoever checks it.
    """
    is_table = isinstance(X, np.ndarray) or hasattr(X, "iloc")
    if not is_table or len(X.shape) != 2 or np.shape(target) != X.shape[:1]:
        return None
    if not config.resumed or config.place is None:
        return portion_within(X, config.seconds, config.begun)
    folder = RunFolder(config.place)
    portion = read_portion(folder.read(folder.settings).get("request", {}).get("portion"))
    return portion if portion is not None and portion.rows == len(target) else None


def _kept(given: Any, checked: Any) -> Any:
    """A frame as it was given; anything else as scikit-learn made it."""
    return given if hasattr(given, "iloc") else checked


def _best_has(method: str) -> Callable[[_AutoML], bool]:
    def check(estimator: _AutoML) -> bool:
        check_is_fitted(estimator)
        getattr(estimator.best_pipeline_, method)
        return True

    return check


class AutoMLClassifier(ClassifierMixin, _AutoML):  # type: ignore[misc]
    """Finds the best classification pipeline within limits.

    Parameters are scikit-learn's where it has them. `grammar` is the name or path of a grammar,
    `time_budget` is in seconds (a minute, if `max_evaluations` is not given either),
    `scoring` may be a scorer of your own, which sees the labels of y (all of them as `classes`),
    `positive` is the label of the class that rates, thresholds and metrics of two classes call
    positive (the last of the sorted labels, if it is not given),
    `constraints` are texts such as `"latency_us <= 50"` or `"fpr_gap[sex] <= 0.05"`, or
    `Constraint(limit, function)`,
    `starts` are pipelines to begin at, as text, or paths of files with one a line,
    `certify` is the confidence, such as 0.95, at which the limits are to be proven on rows that are
    set aside from X, `group_thresholds` whether limits that compare the decisions on groups may be
    met by a threshold for each group (deciding by who somebody is may be unlawful, in lending or
    hiring for example, so it has to be asked for), `on_infeasible` whether to `raise` where limits
    do not hold or are not proven, or to give the `closest`, `min_fidelity` is the least share of
    the rows that solvers such as `halving` may train on,
    solvers and executor are `name:key=value,…`, `eval_time_limit` is in seconds and
    `memory_limit` in bytes. `work_dir` keeps the run; with `warm_start` a run that it holds goes on
    instead of a new one being refused. `callbacks` have methods named like the observer hooks.

    After `fit`: `best_pipeline_` is a plain scikit-learn Pipeline, and where there are two classes
    and limits on decisions, such as `fpr`, it is one in a `FixedThresholdClassifier` that decides
    at the threshold which keeps them (by group: a `GroupThresholdClassifier` of this package);
    `best_score_` is its validation score, `best_text_` what it is, `feasible_` whether it is within
    the limits, `certificate_` the proof or why there is none, `cv_results_` everything that was
    tried. `decisions_` has the positive class of two, the threshold, recall and selection rate;
    `one_class_` is the label that all rows are called, where it is one alone, else None.
    `fallback_` is None, or says what had to do where nothing could be evaluated in time, and
    a `FallbackWarning` was given: a pipeline fitted on "few rows", or a "constant" prediction (that
    with `on_infeasible="closest"`; else an `InfeasibleError` is raised that has it as `closest`).
    """

    _task: LearningTask = "classification"

    def fit(self, X: Any, y: Any, sensitive_features: Any = None) -> AutoMLClassifier:
        """Search for the best pipeline within the limits, and fit it on all of X and y.

        Limits on groups may name the columns of `sensitive_features` (a frame, a series, a dict
        of columns or an array), which no pipeline is given, and those of X.
        """
        check_classification_targets(plain_target(y))
        super().fit(X, y, sensitive_features)
        return self

    @property
    def classes_(self) -> Any:
        """The class labels, sorted."""
        return self.best_pipeline_.classes_

    @available_if(_best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Probabilities by class."""
        return self.best_pipeline_.predict_proba(self._validated_rows(X))

    @available_if(_best_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Scores of the best pipeline."""
        return self.best_pipeline_.decision_function(self._validated_rows(X))


class AutoMLRegressor(RegressorMixin, _AutoML):  # type: ignore[misc]
    """Finds the best regression pipeline within limits; arguments as in `AutoMLClassifier`."""

    _task: LearningTask = "regression"

    def fit(self, X: Any, y: Any, sensitive_features: Any = None) -> AutoMLRegressor:
        """Search for the best pipeline within the limits, and fit it on all of X and y.

        Limits on groups may name the columns of `sensitive_features` (a frame, a series, a dict
        of columns or an array), which no pipeline is given, and those of X.
        """
        super().fit(X, y, sensitive_features)
        return self
