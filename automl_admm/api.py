"""The Python interface: two scikit-learn estimators, and `minimize` for any black box."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from automl_admm.core.errors import (
    ConfigurationError,
    FallbackWarning,
    InfeasibleError,
    LimitWarning,
)
from automl_admm.core.problem import Evaluation, Limit, is_feasible
from automl_admm.core.run import RunResult
from automl_admm.core.space import SearchSpace
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
from automl_admm.plugins.records import Constraint, LearningTask
from automl_admm.runs.blackbox import BlackBox, Cheap, run_black_box
from automl_admm.runs.config import RunConfig, count_workers
from automl_admm.runs.finish.decision_summary import decisions_of_outcome, explain_one_class
from automl_admm.runs.finish.demands import (
    LONGER,
    demand_certified,
    demand_feasible,
    explain_fallback,
    tell_broken,
)
from automl_admm.runs.finish.no_success import best_or_raise
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.runs.session.session import is_begun, seconds_used
from automl_admm.runs.validation import (
    check_on_infeasible,
    folder_of,
    observers_of,
    seed_of,
    several,
)
from automl_admm.store.run_folder import RunFolder


class _AutoML(BaseEstimator):  # type: ignore[misc]
    """What the classifier and the regressor share."""

    _task: LearningTask

    def __init__(  # noqa: PLR0913 - a scikit-learn estimator says all it takes
        self,
        grammar: str | Path = "default",
        *,
        time_budget: float | None = None,
        max_evaluations: int | None = None,
        scoring: str | Callable[..., float] | None = None,
        positive: Any = None,
        constraints: Sequence[str | Constraint] = (),
        starts: Sequence[str | Path] = (),
        theta_solver: str = "gp",
        z_solver: str = "bo",
        strategy: str = "admm",
        cv: Any = None,
        certify: float | None = None,
        group_thresholds: bool = False,
        on_infeasible: str = "raise",
        executor: str = "local",
        n_jobs: int | None = None,
        eval_time_limit: float | None = None,
        memory_limit: int | None = None,
        min_fidelity: float = 1.0,
        work_dir: str | Path | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        callbacks: Sequence[object] = (),
    ) -> None:
        self.grammar = grammar
        self.time_budget = time_budget
        self.max_evaluations = max_evaluations
        self.scoring = scoring
        self.positive = positive
        self.constraints = constraints
        self.starts = starts
        self.theta_solver = theta_solver
        self.z_solver = z_solver
        self.strategy = strategy
        self.cv = cv
        self.certify = certify
        self.group_thresholds = group_thresholds
        self.on_infeasible = on_infeasible
        self.executor = executor
        self.n_jobs = n_jobs
        self.eval_time_limit = eval_time_limit
        self.memory_limit = memory_limit
        self.min_fidelity = min_fidelity
        self.work_dir = work_dir
        self.warm_start = warm_start
        self.random_state = random_state
        self.callbacks = callbacks

    def fit(self, X: Any, y: Any, sensitive_features: Any = None) -> _AutoML:
        """Search for the best pipeline within the limits, and fit it on all of X and y."""
        begun = time.monotonic()
        check_on_infeasible(self.on_infeasible)
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
        saves = config.folder is not None
        with started_early(config.executor, config.workers, saves=saves) as server:
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
        return RunConfig(
            grammar=self.grammar,
            task=self._task,
            budget_seconds=self.time_budget,
            max_evaluations=self.max_evaluations,
            scoring=self.scoring,
            positive=self.positive,
            constraints=several("constraints", self.constraints),
            starts=several("starts", self.starts),
            theta_solver=self.theta_solver,
            z_solver=self.z_solver,
            strategy=self.strategy,
            executor=self.executor,
            workers=count_workers(self.n_jobs),
            default_workers=self.n_jobs is None,
            cv=self.cv,
            certify=self.certify,
            group_thresholds=self.group_thresholds,
            on_infeasible=self.on_infeasible,
            evaluation_seconds=self.eval_time_limit,
            memory_bytes=self.memory_limit,
            min_fidelity=self.min_fidelity,
            seed=seed_of(self.random_state),
            title=type(self).__name__,
            folder=folder,
            resumed=goes_on,
            seconds_used=seconds_used(RunFolder(folder)) if folder and goes_on else 0.0,
            observers=observers_of(self.callbacks),
            begun=begun,
        )

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


@dataclass(frozen=True)
class MinimizeResult:
    """What `minimize` found: the best values by name, and all that was tried."""

    best: dict[str, Any]
    loss: float
    constraints: dict[str, float]
    feasible: bool
    stopped_by: str
    evaluations: tuple[Evaluation, ...]


def minimize(  # noqa: PLR0913 - what one may want of one call
    objective: BlackBox,
    space: SearchSpace,
    *,
    limits: Iterable[Limit | str] = (),
    time_budget: float | None = None,
    max_evaluations: int | None = None,
    theta_solver: str = "gp",
    z_solver: str = "bo",
    strategy: str = "admm",
    executor: str | None = None,
    n_jobs: int | None = None,
    eval_time_limit: float | None = None,
    memory_limit: int | None = None,
    cheap: Cheap | None = None,
    min_fidelity: float = 1.0,
    on_infeasible: Literal["raise", "closest"] = "raise",
    random_state: int | None = None,
    callbacks: Sequence[object] = (),
) -> MinimizeResult:
    """Minimise any function over any space of choices, orders and numbers.

    `objective` is given a dict of the active values by name. It returns the loss, or a mapping
    with `loss` and a value for the name of every limit (`"weight <= 3"`). It is called in this
    process, unless there are several workers, a time or a memory limit: then each call has a
    child process of its own.

    `cheap` has, by name, functions for those limits that can be computed from the values without
    calling the objective: `ctpe` then learns them at no cost. With a `min_fidelity` below 1 the
    objective is called with a keyword `fidelity`, and solvers such as `halving` ask for less than
    1 where a rough answer will do.
    """
    begun = time.monotonic()
    check_on_infeasible(on_infeasible)
    workers = count_workers(n_jobs)
    alone = workers == 1 and eval_time_limit is None and memory_limit is None
    config = RunConfig(
        budget_seconds=time_budget,
        max_evaluations=max_evaluations,
        theta_solver=theta_solver,
        z_solver=z_solver,
        strategy=strategy,
        on_infeasible=on_infeasible,
        executor=executor or ("inline" if alone else "local"),
        workers=workers,
        default_workers=n_jobs is None,
        evaluation_seconds=eval_time_limit,
        memory_bytes=memory_limit,
        min_fidelity=min_fidelity,
        seed=seed_of(random_state),
        title="minimize",
        observers=observers_of(callbacks),
        begun=begun,
    )
    run = run_black_box(config, objective, space, several("limits", limits), cheap or {})
    result = _found(run, space)
    if not result.feasible and on_infeasible == "raise":
        raise InfeasibleError("nothing within the limits was found.", closest=result)
    return result


def _found(run: RunResult, space: SearchSpace) -> MinimizeResult:
    best = best_or_raise(run)
    names = [limit.name for limit in run.limits]
    return MinimizeResult(
        best=space.values(best.candidate),
        loss=best.loss,
        constraints=dict(zip(names, best.constraints, strict=True)),
        feasible=run.feasible,
        stopped_by=run.stopped_by,
        evaluations=run.evaluations,
    )


def tabulate(
    evaluations: Sequence[Evaluation],
    limits: Sequence[Limit],
    score: Callable[[float], float],
) -> Mapping[str, Any]:
    """All evaluations as columns, named as `GridSearchCV` names its own where it has them."""
    columns: dict[str, Any] = {
        "pipeline": [e.text for e in evaluations],
        "status": [e.status.value for e in evaluations],
        "mean_test_score": np.array([score(e.loss) for e in evaluations], dtype=float),
        "mean_fit_time": np.array([e.details.get("fit_seconds", np.nan) for e in evaluations]),
        "seconds": np.array([e.seconds for e in evaluations], dtype=float),
        "fidelity": np.array([e.candidate.fidelity for e in evaluations], dtype=float),
        "feasible": np.array([is_feasible(e, limits) for e in evaluations], dtype=bool),
        "message": [e.message for e in evaluations],
    }
    for place, limit in enumerate(limits):
        values = [e.constraints[place] if e.constraints else np.nan for e in evaluations]
        columns[limit.name] = np.array(values, dtype=float)
    return columns
