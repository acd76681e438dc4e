"""The quality of a pipeline: fit and score it on the fixed splits of the run.

A `PipelineWork` is sent to the executor once and does all the work there: `evaluate` for the
search, `refit` for the shipped model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.core.limits import Limit
from automl_admm.core.results import EvaluationResult
from automl_admm.core.space import Candidate
from automl_admm.core.structure.pipeline_space import PipelineSpace, Step, all_modules
from automl_admm.data.split_choice import count_repeats
from automl_admm.execution.beginnings import Beginning
from automl_admm.execution.deferred_imports import load_deferred
from automl_admm.execution.evidence_files import hash_files
from automl_admm.execution.quick_imports import import_for_frames
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.execution.skops_import import import_in_steps
from automl_admm.execution.threads import threads_for
from automl_admm.pipelines.build import build_pipeline, fit_pipeline
from automl_admm.pipelines.calibration import Calibration
from automl_admm.pipelines.component_fidelity import at_fidelity
from automl_admm.pipelines.cross_validation import FoldRun, Split, cross_validate
from automl_admm.pipelines.ensembles.fold_models import Keeping
from automl_admm.pipelines.ensembles.fold_tasks import fit_models, keep_models, load_models
from automl_admm.pipelines.ensembles.greedy import Purse
from automl_admm.pipelines.ensembles.task import (
    EnsembleMembers,
    EnsembleResult,
    choose_ensemble,
    put_together,
    ship_whole,
)
from automl_admm.pipelines.few_row_model import constant_pipeline, fall_back
from automl_admm.pipelines.fit_results import (
    FallbackResult,
    FinalFitResult,
)
from automl_admm.pipelines.growing import GrowingFit
from automl_admm.pipelines.limit_values import (
    refuse_cheaply,
)
from automl_admm.pipelines.memory_peak import forget_peak, peak_mb
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.decisions import (
    decisions_of,
    predict_unseen,
)
from automl_admm.pipelines.predictions.fitted_classes import check_classes, check_labels
from automl_admm.pipelines.predictions.measured import Seen, Table, score_of
from automl_admm.pipelines.predictions.wrappers import Numbered, Remembered
from automl_admm.pipelines.row_weighing import weigh_rows
from automl_admm.pipelines.searched_share import (
    Rest,
    SearchedShare,
    begin_on_share,
    complete_share,
)
from automl_admm.pipelines.shipping import (
    PICKLE,
    load_shipped,
    seen_loss,
    ship,
    ship_decided,
    ship_single,
    write_pickle,
)
from automl_admm.pipelines.step_times import StepTimes
from automl_admm.pipelines.thresholds.by_group import GroupRule, Thresholds
from automl_admm.pipelines.thresholds.cost import Cost
from automl_admm.pipelines.thresholds.decider import Decider
from automl_admm.pipelines.thresholds.fixed import fix
from automl_admm.pipelines.thresholds.single import aimed_decisions
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import (
    BuildContext,
    ComponentPlugin,
    Constraint,
)
from automl_admm.plugins.registry import Registry
from automl_admm.search.starts import default_start


@dataclass
class PipelineWork:
    """The shared data of all evaluations of one run; loaded once by the executor.

    `load_components` is called in the child, so plugins need not be pickled. On held-out rows
    limits time at least this many `calls`. Decision thresholds are chosen for the limits in `aims`,
    one for each constraint; by default these are the constraints' own. With a `rule` each of its
    groups may have a threshold of its own. `origins` names the user's column behind each column,
    where one makes several, and `spreads` has their standard deviations for limits on noise. A
    certificate counts the rows `tested` of those held out; None for all.
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
    tested: Any = None
    first: Candidate | None = None
    share: SearchedShare | None = None
    certifies: bool = False
    cost: Cost | None = None
    _components: Registry[ComponentPlugin] | None = None

    def begin(self) -> Beginning | None:
        """Return the work on the rows of the search, if it is searched on a share of them."""
        return begin_on_share(self)

    def complete(self, rest: Rest) -> PipelineWork:
        """Return the work on all rows."""
        return complete_share(self, rest)

    def prepare(self) -> None:
        """Load the plugins and import what the first pipeline needs, before any child is forked.

        Broken components are not reported here but by the evaluations with them.
        """
        import_for_frames()
        steps = self.space.steps(self.first or default_start(self.space.space))
        with suppress(AutomlAdmmError):
            build_pipeline(steps, self.loaded(), self.context, seed=0)

    def prepare_more(self) -> Iterator[None]:
        """Import what other components and the final fit need, a little at a step."""
        for module in all_modules(self.space.shape):
            with suppress(AutomlAdmmError):
                build_pipeline([Step(module.component)], self.loaded(), self.context, seed=0)
            yield
        if self.persist or any(constraint.kind == "checked" for constraint in self.constraints):
            yield from import_in_steps()
        # Now at the latest: what is loaded in a child is lost with it.
        load_deferred()

    def evaluate(
        self,
        candidate: Candidate,
        seed: int,
        folder: Path,
        rival: Sequence[float] = (),
        keeping: Keeping | None = None,
    ) -> EvaluationResult:
        """Cross-validate a candidate; its out-of-fold predictions go to a file.

        At a fidelity below 1 it learns from this share of its rows, or with this share of the size
        that its estimator declares. A candidate excluded by a limit known beforehand is not trained
        at all. If limits depend on decisions, thresholds are chosen for all folds, and everything
        is measured at them. With the scores of a `rival` on all folds it stops once it is clearly
        behind, and its loss is forecast. By the rule `keeping` its fold models go to a file, too.
        """
        # Before the clock starts: a refused candidate costs no training.
        refuse_cheaply(self.constraints, self.space.steps(candidate))
        fold = FoldRun(self, candidate, seed, folder)
        with unheard_warnings(), self.threads():
            seen, found = cross_validate(fold, rival)
        return keep_models(self, found, seen, keeping, folder)

    def choose_ensemble(
        self, predictions: Any, costs: Any, most: Any, folder: Path
    ) -> EnsembleResult:
        """Choose an ensemble of pipelines by their out-of-fold predictions, within their costs."""
        del folder
        return choose_ensemble(self, predictions, Purse(costs, most))

    def fall_back(self, candidate: Candidate | None, seed: int, folder: Path) -> FallbackResult:
        """Evaluate and fit on few rows, within a moment; without a candidate, a constant model."""
        return fall_back(self, candidate, seed, folder)

    def refit(
        self,
        candidate: Candidate | None,
        seed: int,
        folder: Path,
        *,
        ships: bool = True,
        path: Sequence[Thresholds] = (),
        **thresholds: Any,
    ) -> FinalFitResult:
        """Fit on all rows of the search, with the user's own labels; measure on held-out rows.

        The shipped model has the `thresholds_in` the details of its evaluation; all stops of
        a `path` are measured. A member of an ensemble is only fitted: it does not ship by itself.
        """
        begun = time.perf_counter()
        with unheard_warnings(), self.threads():
            pipeline = self.fit_on(candidate, seed, self.table)
        seconds = time.perf_counter() - begun
        if ships:
            pipeline = self.fixed(pipeline, **thresholds)
            # A constant may lack a value that pipelines have, and ships when nothing else does.
            ship_it = ship if candidate is None else ship_single
            return ship_it(self, pipeline, seconds, folder, path)
        write_pickle(pipeline, folder)
        files, peak = hash_files([folder / PICKLE]), peak_mb()
        loss = seen_loss(self, pipeline)
        return FinalFitResult(files, fit_seconds=seconds, peak_mb=peak, seen_loss=loss)

    def fit_folds(
        self,
        candidate: Candidate,
        seed: int,
        folder: Path,
        *,
        models: bytes | None = None,
        path: Sequence[Thresholds] = (),
        **thresholds: Any,
    ) -> FinalFitResult:
        """Ship the mean of the fold models of an evaluation, fitted now unless they were kept.

        It is measured on held-out rows, and its costs, as it ships.
        """
        with unheard_warnings(), self.threads():
            found = load_models(models) or fit_models(self, candidate, seed)
        model = self.fixed(found.together(self.table.classes), **thresholds)
        return ship_whole(self, model, found.fit_seconds, found.peak_mb, folder, path)

    def settle(
        self, fitted: bytes, thresholds: Thresholds, seconds: float, folder: Path
    ) -> FinalFitResult:
        """Ship a model of `refit` with other thresholds; its fit took these `seconds`."""
        return ship_decided(self, fitted, thresholds, seconds, folder)

    def assemble(
        self,
        members: EnsembleMembers,
        folder: Path,
        *,
        path: Sequence[Thresholds] = (),
        **thresholds: Any,
    ) -> FinalFitResult:
        """Put fitted members together, and measure the whole as it ships, its costs as well.

        All stops of a `path` are measured.
        """
        model = put_together(self, members)
        model = self.fixed(model, **thresholds)
        return ship_whole(self, model, members.fit_seconds, members.peak_mb, folder, path)

    def fixed(
        self, pipeline: Any, calibration: Mapping[str, Any] | None = None, **thresholds: Any
    ) -> Any:
        """Return a fitted pipeline with its calibration and its thresholds, if it has any."""
        if calibration is not None:
            found = Calibration.from_details(calibration)
            pipeline = found.around(pipeline, self.table.classes)
        chosen = Thresholds.from_details(thresholds)
        if chosen is None:
            return pipeline
        return fix(pipeline, chosen, self.table.classes, self.rule, self.cost)

    def reload(self, content: bytes, folder: Path) -> Mapping[str, Any]:
        """Load the shipped file once, in a child: a file that fails to load is no model."""
        del folder
        with unheard_warnings():
            load_shipped(content, is_saved=self.persist)
        return {}

    def fit_on(
        self,
        candidate: Candidate | None,
        seed: int,
        rows: Table,
        times: StepTimes | None = None,
        growing: GrowingFit | None = None,
    ) -> Any:
        """Fit a pipeline on some rows; without a candidate, a constant model."""
        forget_peak()
        X, y, weights = rows.X, rows.labels(), rows.roles.weights
        if candidate is None:
            return constant_pipeline(self.context.task).fit(X, y, constant__sample_weight=weights)
        steps = at_fidelity(self.space.steps(candidate), self.loaded(), candidate.fidelity)
        pipeline = build_pipeline(steps, self.loaded(), self.context, seed)
        known = self.loaded()
        weights = weigh_rows(steps, known, self.context, rows, self.constraints)
        fitted = fit_pipeline(pipeline, steps, known, X, y, weights, times, growing=growing)
        check_classes(fitted, rows)
        return fitted

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
        )
        return Seen(pipeline, remembered, rows, evaluated, score, by_decisions)

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
