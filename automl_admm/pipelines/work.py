"""The quality of a pipeline: fit and score it on the fixed splits of the run.

A `PipelineWork` is sent to the executor once and does all the work there: `evaluate` for the
search, `refit` for the shipped model.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.core.results import EvaluationResult
from automl_admm.core.space import Candidate
from automl_admm.core.structure.pipeline_space import Item, Step, all_modules, all_steps
from automl_admm.execution.beginnings import Beginning
from automl_admm.execution.deferred_imports import load_deferred
from automl_admm.execution.evidence_files import hash_files
from automl_admm.execution.quick_imports import import_for_frames
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.execution.skops_import import import_in_steps
from automl_admm.pipelines.build import build_pipeline
from automl_admm.pipelines.cross_validation import FoldRun, cross_validate
from automl_admm.pipelines.ensembles.fold_models import Keeping, shipped_folds
from automl_admm.pipelines.ensembles.fold_tasks import fit_models, keep_models, load_models
from automl_admm.pipelines.ensembles.greedy import Purse
from automl_admm.pipelines.ensembles.task import (
    EnsembleMembers,
    EnsembleResult,
    choose_ensemble,
    put_together,
    ship_whole,
)
from automl_admm.pipelines.few_row_model import fall_back
from automl_admm.pipelines.fit_results import FallbackResult, FinalFitResult
from automl_admm.pipelines.fitting_work import FittingWork
from automl_admm.pipelines.limit_values import refuse_cheaply
from automl_admm.pipelines.memory_peak import peak_mb
from automl_admm.pipelines.searched_share import begin_on_share
from automl_admm.pipelines.seen_loss import seen_loss
from automl_admm.pipelines.shipping import (
    PICKLE,
    load_shipped,
    ship,
    ship_decided,
    ship_single,
    write_pickle,
)
from automl_admm.pipelines.thresholds.by_group import Thresholds
from automl_admm.plugins.loading import is_of_project
from automl_admm.search.starts import default_start


@dataclass
class PipelineWork(FittingWork):
    """The work of one run, task by task; loaded once by the executor, which calls these methods."""

    def begin(self) -> Beginning | None:
        """Return the work on the rows of the search, if it is searched on a share of them."""
        return begin_on_share(self)

    def complete(self, rest: Mapping[str, Any]) -> PipelineWork:
        """Return the work on all rows."""
        return replace(self, **rest)

    def prepare(self) -> None:
        """Load the plugins and import what the first pipeline needs, before any child is forked.

        Broken components are not reported here but by the evaluations with them.
        """
        import_for_frames()
        self._build_own(self.space.steps(self.first or default_start(self.space.space)))

    def prepare_more(self) -> Iterator[None]:
        """Import what other components and the final fit need, a little at a step."""
        for module in all_modules(self.space.shape):
            self._build_own([Step(module.component)])
            yield
        if self.persist or any(constraint.kind == "checked" for constraint in self.constraints):
            yield from import_in_steps()
        # Now at the latest: what is loaded in a child is lost with it.
        load_deferred()

    def _build_own(self, pipeline: Sequence[Item]) -> None:
        """Build a pipeline for what it imports; of one with components of others only the rest.

        Whatever else a factory of somebody does, all children would have it, and none could be
        stopped: it is called in the children alone.
        """
        known, steps = self.loaded(), list(all_steps(pipeline))
        own = [
            step
            for step in steps
            if step.component in known and is_of_project(known.provider(step.component))
        ]
        parts: list[Sequence[Item]] = [pipeline] if own == steps else [[step] for step in own]
        for part in parts:
            with suppress(AutomlAdmmError):
                build_pipeline(part, known, self.context, seed=0)

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
        told = keep_models(self, found, seen, keeping, folder)
        return replace(told, answered=(seed, candidate.fidelity))

    def choose_ensemble(
        self, predictions: Any, costs: Any, most: Any, alone: Any, folder: Path
    ) -> EnsembleResult:
        """Choose an ensemble of pipelines by their out-of-fold predictions, within their costs."""
        del folder
        return choose_ensemble(self, predictions, Purse(costs, most, alone))

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
        # As it was evaluated: with its calibration, and at its thresholds.
        loss = seen_loss(self, self.fixed(pipeline, **thresholds), seconds)
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
        folds = shipped_folds(self.splits, self.table.roles)
        return ship_whole(self, model, found.fit_seconds, found.peak_mb, folder, path, folds)

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

    def reload(self, content: bytes, folder: Path) -> Mapping[str, Any]:
        """Load the shipped file once, in a child: a file that fails to load is no model."""
        del folder
        with unheard_warnings():
            load_shipped(content, is_saved=self.persist)
        return {}
