"""The data of a run over pipelines, and the steps on them: fit, measure, decide."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate
from automl_admm.core.structure.pipeline_space import PipelineSpace
from automl_admm.data.split_choice import count_repeats
from automl_admm.execution.threads import threads_for
from automl_admm.pipelines.build import build_pipeline, fit_pipeline
from automl_admm.pipelines.calibration import Calibration
from automl_admm.pipelines.component_fidelity import at_fidelity
from automl_admm.pipelines.cross_validation import Split
from automl_admm.pipelines.ensembles.all_classes import knowing_all
from automl_admm.pipelines.few_row_model import constant_pipeline
from automl_admm.pipelines.growing import GrowingFit
from automl_admm.pipelines.memory_peak import forget_peak, peak_mb
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.decisions import decisions_of, predict_unseen
from automl_admm.pipelines.predictions.fitted_classes import check_classes, check_labels
from automl_admm.pipelines.predictions.measured import Seen, Table, score_of
from automl_admm.pipelines.predictions.wrappers import Numbered, Remembered
from automl_admm.pipelines.row_weighing import weigh_rows
from automl_admm.pipelines.searched_share import SearchedShare
from automl_admm.pipelines.step_times import StepTimes
from automl_admm.pipelines.thresholds.by_group import GroupRule, Thresholds
from automl_admm.pipelines.thresholds.cost import Cost
from automl_admm.pipelines.thresholds.decider import Decider
from automl_admm.pipelines.thresholds.fixed import fix
from automl_admm.pipelines.thresholds.single import aimed_decisions
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import BuildContext, ComponentPlugin, Constraint
from automl_admm.plugins.registry import Registry


@dataclass
class FittingWork:
    """The shared data of all evaluations of one run, and the steps of which they consist.

    `load_components` is called in the child, so plugins need not be pickled. On held-out rows
    limits time at least this many `calls`. Decision thresholds are chosen for the limits in `aims`,
    one for each constraint; by default these are the constraints' own. With a `rule` each of its
    groups may have a threshold of its own. `origins` names the user's column behind each column,
    where one makes several, and `spreads` has their standard deviations for limits on noise. Of
    limits on blank cells `blanks` has the values, and `filled` the user's columns that a proof is
    about. A certificate counts the rows `tested` of those held out; None for all.
    `first` is the pipeline expected before others, by default that of the first alternatives.
    With a `share` its table has only those rows, and it can only evaluate. If it `certifies`, each
    evaluation tells the path of its decision thresholds, which a `cost` may choose.
    """

    space: PipelineSpace
    table: Table
    splits: tuple[Split, ...]
    metric: Metric
    context: BuildContext
    load_components: Callable[[], Registry[ComponentPlugin]]
    constraints: tuple[Constraint, ...] = ()
    held_out: Table | None = None
    calls: int = 0
    persist: bool = False
    aims: tuple[Limit, ...] = ()
    rule: GroupRule | None = None
    origins: Mapping[str, str] | None = None
    spreads: Mapping[str, float] | None = None
    blanks: Mapping[str, Any] | None = None
    filled: Sequence[str] | None = None
    tested: Any = None
    first: Candidate | None = None
    share: SearchedShare | None = None
    certifies: bool = False
    cost: Cost | None = None
    _components: Registry[ComponentPlugin] | None = None

    def fit_on(
        self,
        candidate: Candidate | None,
        seed: int,
        rows: Table,
        times: StepTimes | None = None,
        growing: GrowingFit | None = None,
    ) -> Any:
        """Fit a pipeline on some rows; without a candidate, a constant model.

        If these rows lack a class, as those before it came, the model has it all the same.
        """
        forget_peak()
        X, y, weights = rows.X, rows.labels(), rows.roles.weights
        if candidate is None:
            constant = constant_pipeline(self.context.task)
            return knowing_all(constant.fit(X, y, constant__sample_weight=weights), rows.classes)
        steps = at_fidelity(self.space.steps(candidate), self.loaded(), candidate.fidelity)
        pipeline = build_pipeline(steps, self.loaded(), self.context, seed)
        known = self.loaded()
        weights = weigh_rows(steps, known, self.context, rows, self.constraints)
        fitted = fit_pipeline(pipeline, steps, known, X, y, weights, times, growing=growing)
        check_classes(fitted, rows)
        return knowing_all(fitted, rows.classes)

    def measure(self, pipeline: Any, rows: Table, fit_seconds: float) -> Seen:
        """Predict unseen rows, once; a user's scorer sees the labels."""
        remembered = Remembered(pipeline)
        begun = time.perf_counter()
        predictions = predict_unseen(remembered, rows)
        seconds = time.perf_counter() - begun
        # After predicting, which for neighbours takes more memory than the fit.
        peak = peak_mb()
        score = score_of(self.metric, remembered, rows)
        by_decisions = remembered.was_asked("predict")
        numbered = pipeline if rows.classes is None else Numbered(pipeline, rows.classes)
        decisions = decisions_of(remembered, rows) if by_decisions or self.constraints else None
        if decisions is None:
            check_labels(remembered, rows)
        remembered.forget_rows()
        evaluated = EvaluatedPipeline(
            numbered,
            rows.X,
            rows.y,
            predictions,
            fit_seconds,
            seconds,
            decisions,
            rows.sensitive,
            peak,
            weights=rows.roles.weights,
            origins=self.origins,
            spreads=self.spreads,
            blanks=self.blanks,
        )
        return Seen(pipeline, remembered, rows, evaluated, score, by_decisions)

    def fixed(
        self, pipeline: Any, calibration: Mapping[str, Any] | None = None, **thresholds: Any
    ) -> Any:
        """Return a fitted pipeline with its calibration and its thresholds, if it has any."""
        chosen = Thresholds.from_details(thresholds)
        if calibration is not None:
            pipeline = Calibration.from_details(calibration).around(pipeline, self.table.classes)
        if chosen is None:
            return pipeline
        return fix(pipeline, chosen, self.table.classes, self.rule, self.cost)

    @property
    def chooses_thresholds(self) -> bool:
        """True if decision thresholds are chosen for all folds at once, for limits or a cost."""
        return bool(self.decider().aimed) or self.cost is not None

    def decider(self) -> Decider:
        """Return what chooses the thresholds of decisions, for the limits and the cost."""
        limits = self.aims or tuple(constraint.limit for constraint in self.constraints)
        aimed = aimed_decisions(self.constraints, limits)
        most = next((one.limit.bound for one in aimed if one.constraint.allows_undecided), 0.0)
        return Decider(self.metric, aimed, self.rule, count_repeats(self.splits), self.cost, most)

    def threads(self) -> AbstractContextManager[object]:
        """Return a context with the number of threads that fits the table."""
        rows, columns = self.table.shape
        # The same number of threads, whichever rows are here.
        return threads_for((rows if self.share is None else self.share.rows) * columns)

    def loaded(self) -> Registry[ComponentPlugin]:
        """Return the components, loaded once in each process."""
        if self._components is None:
            self._components = self.load_components()
        return self._components

    def __getstate__(self) -> dict[str, Any]:
        # Plugins hold modules and closures: each process loads its own.
        return self.__dict__ | {"_components": None}
