"""A run over pipelines: data in, the best pipeline within the limits out."""

from __future__ import annotations

import math
import pickle
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from automl_admm.data.columns import check_target, column_kinds, infer_task
from automl_admm.data.sensitive import known_columns
from automl_admm.data.splits import hold_out, make_splits
from automl_admm.errors import ConfigurationError, DataError, InfeasibleError, NoSuccessError
from automl_admm.evaluation.metrics import Metric, resolve_metric
from automl_admm.evaluation.objective import PipelineWork, Table, score_of, unheard_warnings
from automl_admm.grammar import CompiledGrammar, load_grammar
from automl_admm.limits.trial import TrialRows, columns_of, meet_data, try_on
from automl_admm.plugin_types import (
    TASKS,
    BuildContext,
    CheapFunction,
    ComponentPlugin,
    Constraint,
    Task,
)
from automl_admm.plugins import Plugins, load_plugins
from automl_admm.problem import Evaluation, is_feasible
from automl_admm.protocols import Executor, Finished, Store
from automl_admm.registry import Registry
from automl_admm.run_records import RunResult
from automl_admm.runner.assembly import (
    Plan,
    build_executor,
    check_executor,
    plan_search,
    resolve_constraints,
)
from automl_admm.runner.baseline import fix_bounds
from automl_admm.runner.config import RunConfig
from automl_admm.runner.failures import best_or_raise
from automl_admm.runner.files import keep_predictions, write_model, write_settings
from automl_admm.runner.refit import Refit, expected_seconds, refit_best
from automl_admm.runner.search_run import Subject, Tools, run_search, teller
from automl_admm.runner.starts import read_starts
from automl_admm.shape import PipelineSpace
from automl_admm.space import Candidate
from automl_admm.store.folder import RunFolder, create_folder
from automl_admm.store.memory import MemoryStore
from automl_admm.store.sqlite import SqliteStore


@dataclass(frozen=True)
class Preparation:
    """Everything that is checked before a run touches the disk."""

    config: RunConfig
    task: Task
    plugins: Plugins
    grammar: CompiledGrammar
    starts: tuple[Candidate, ...]
    metric: Metric
    constraints: tuple[Constraint, ...]
    plan: Plan
    work: PipelineWork


@dataclass(frozen=True)
class PipelineResult:
    """The outcome of a run over pipelines; `model` is a plain fitted scikit-learn Pipeline."""

    result: RunResult
    model: Any
    refit: Refit
    preparation: Preparation = field(repr=False)

    @property
    def best(self) -> Evaluation:
        """The evaluation whose pipeline was fitted and ships."""
        return self.refit.evaluation

    @property
    def score(self) -> float:
        """Its score on validation rows."""
        return self.preparation.metric.score(self.best.loss)


def prepare(config: RunConfig, X: Any, y: Any, sensitive: Any = None) -> Preparation:
    """Check everything that the user gave; nothing has been written yet when this raises.

    `sensitive` is a frame of columns that limits may name, and that no pipeline is given.
    """
    plugins = load_plugins(config.extra_plugins)
    plan = plan_search(config, plugins)
    check_executor(config, plugins)
    constraints = resolve_constraints(config, plugins)
    task = config.task or infer_task(y)
    check_target(y, task)
    components = plugins.components[task]
    elsewhere = frozenset(r.name for t in TASKS for r in plugins.components[t]) - {
        record.name for record in components
    }
    grammar = load_grammar(
        config.grammar, components, plugins.grammars, elsewhere, config.max_depth
    )
    starts = read_starts(config.starts, grammar.pipelines)
    whole = _whole(X, y, task, known_columns(sensitive, X, columns_of(constraints)))
    constraints = meet_data(constraints, _trial_rows(whole))
    table, held_out = _parted(whole, task, constraints, config)
    classes = 0 if table.classes is None else len(table.classes)
    metric = resolve_metric(config.scoring, task, classes, plugins.metrics)
    numeric, categorical = column_kinds(table.X)
    work = PipelineWork(
        space=grammar.pipelines,
        table=table,
        splits=make_splits(table.y, task, config.cv, config.seed, _groups_of(constraints, table)),
        metric=metric,
        context=BuildContext(task, numeric, categorical),
        load_components=partial(_load_components, task, config.extra_plugins),
        constraints=constraints,
        held_out=held_out,
        persist=config.folder is not None,
    )
    check_scoring(work)
    try_on(constraints, [_trial_rows(table.part(valid)) for _, valid in work.splits])
    return Preparation(config, task, plugins, grammar, starts, metric, constraints, plan, work)


def check_scoring(work: PipelineWork) -> None:
    """Score a dummy on every validation part: what fails for it fails for every pipeline."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    is_class = work.context.task == "classification"
    for train, valid in ((work.table.part(a), work.table.part(b)) for a, b in work.splits):
        dummy = DummyClassifier(strategy="prior") if is_class else DummyRegressor()
        dummy.fit(train.X, train.labels())
        try:
            with unheard_warnings():
                score = score_of(work.metric, dummy, valid)
        except Exception as problem:
            reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
            message = f"metric '{work.metric.name}' cannot score this target: {reason}"
            raise ConfigurationError(message, hint="Choose another metric.") from problem
        if not math.isfinite(score):
            raise DataError(
                f"metric '{work.metric.name}' is {score} on {len(valid.y)} validation rows.",
                hint="A class may have too few rows; choose another metric or fewer folds.",
            )


def _load_components(task: Task, extra: Mapping[str, object]) -> Registry[ComponentPlugin]:
    return load_plugins(extra).components[task]


def _whole(X: Any, y: Any, task: Task, sensitive: Any) -> Table:
    import numpy as np

    classes = None
    if task == "classification":
        classes, y = np.unique(np.asarray(y), return_inverse=True)
    return Table(X, np.asarray(y), classes, sensitive)


def _parted(
    whole: Table, task: Task, constraints: tuple[Constraint, ...], config: RunConfig
) -> tuple[Table, Table | None]:
    """The rows to search on and those held out, which have their share of every group."""
    if config.test_size == 0.0:
        return whole, None
    groups = _groups_of(constraints, whole)
    search, test = hold_out(whole.y, task, config.test_size, config.seed, groups)
    return whole.part(search), whole.part(test)


def _groups_of(constraints: tuple[Constraint, ...], table: Table) -> list[Any]:
    """The group of every row, by each way in which a limit parts them."""
    return [c.groups(table.sensitive) for c in constraints if c.groups is not None]


def _trial_rows(table: Table) -> TrialRows:
    classes = 0 if table.classes is None else len(table.classes)
    return TrialRows(table.X, table.y, table.sensitive, classes)


def run_pipelines(prepared: Preparation) -> PipelineResult:
    """Search, fit the winner on all rows of the search, measure it on those held out, save it."""
    config = prepared.config
    if config.folder is None:
        with tempfile.TemporaryDirectory(prefix="automl-admm-") as scratch:
            return _run(prepared, MemoryStore(), None, Path(scratch))
    folder = create_folder(config.folder)
    write_settings(folder, prepared, state="running")
    store = SqliteStore(folder.store, create=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".scratch-", dir=folder.path) as scratch:
            return _run(prepared, store, folder, Path(scratch))
    finally:
        store.close()


def _run(
    prepared: Preparation, store: Store, folder: RunFolder | None, scratch: Path
) -> PipelineResult:
    config = prepared.config
    executor = build_executor(config, prepared.plugins, prepared.work, scratch)
    expected = partial(expected_seconds, _rows_ratio(prepared.work))
    try:
        fixed = fix_bounds(prepared.constraints, config, subject_of(prepared), executor)
        if fixed is not prepared.constraints:
            prepared = replace(prepared, constraints=fixed)
            if folder is not None:
                write_settings(folder, prepared, state="running")
        subject = subject_of(prepared)
        tell = teller(config, subject, prepared.plugins)
        tools = Tools(prepared.plan, tell, executor, store, expected, _finisher(folder))
        result = run_search(config, subject, tools)
        outcome = _conclude(prepared, result, executor, folder)
    finally:
        executor.close()
    tell("run_finished", result=outcome.result)
    return outcome


def _conclude(
    prepared: Preparation, result: RunResult, executor: Executor, folder: RunFolder | None
) -> PipelineResult:
    """The final fit, its measurements and its files."""
    best_or_raise(result)
    expected = partial(expected_seconds, _rows_ratio(prepared.work))
    refit, finished = refit_best(prepared.config, subject_of(prepared), result, executor, expected)
    if finished.folder is None:
        raise NoSuccessError("the fitted pipeline was lost.", hint="Is the disk full?")
    with (finished.folder / "model.pickle").open("rb") as file:
        model = pickle.load(file)  # noqa: S301 - written by our own child a moment ago
    feasible = is_feasible(refit.evaluation, subject_of(prepared).limits)
    best = replace(result, best=refit.evaluation, feasible=feasible)
    outcome = PipelineResult(best, model, refit, prepared)
    if folder is not None:
        write_model(folder, finished.folder / "model.skops", outcome)
        write_settings(folder, prepared, state="done", result=best)
    return outcome


def demand_feasible(outcome: PipelineResult) -> None:
    """Raise, with the outcome as the closest one, if it is outside the limits."""
    if not outcome.result.feasible:
        constraints, evaluation = outcome.preparation.constraints, outcome.best
        raise InfeasibleError(_how_far(constraints, evaluation), closest=outcome)


def subject_of(prepared: Preparation) -> Subject:
    """What the search is told of pipelines."""
    pipelines = prepared.grammar.pipelines
    cheap = {c.limit.name: c.cheap for c in prepared.constraints if c.cheap is not None}
    return Subject(
        space=pipelines.space,
        key=pipelines.key,
        text=pipelines.text,
        limits=tuple(constraint.limit for constraint in prepared.constraints),
        loss_name=prepared.metric.name,
        best_score=prepared.metric.best,
        cheap={name: partial(_measure_steps, pipelines, cheap[name]) for name in cheap},
        starts=prepared.starts,
    )


def _measure_steps(
    pipelines: PipelineSpace, function: CheapFunction, candidate: Candidate
) -> float:
    return float(function(pipelines.steps(candidate)))


def _rows_ratio(work: PipelineWork) -> float:
    return len(work.table.y) / max(len(work.splits[0][0]), 1)


def _finisher(folder: RunFolder | None) -> Callable[[Evaluation, Finished], None]:
    return partial(keep_predictions, folder)


def _how_far(constraints: tuple[Constraint, ...], evaluation: Evaluation) -> str:
    pairs = zip(constraints, evaluation.constraints, strict=True)
    broken = [f"{c.limit}, closest {value:.4g}" for c, value in pairs if not c.limit.holds(value)]
    return f"no pipeline within the limits was found ({'; '.join(broken)})."
