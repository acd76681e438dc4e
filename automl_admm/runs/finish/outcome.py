"""The outcome of a run over pipelines."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from automl_admm.certify.certificate import Certificate
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.run import FallbackKind, RunResult
from automl_admm.core.space import Candidate
from automl_admm.data.trained_gaps import TRAINED_GAPS, find_gaps
from automl_admm.data.trained_levels import LEVELS, find_levels
from automl_admm.pipelines.shipped_costs import is_cost
from automl_admm.runs.finish.final_fit import Refit
from automl_admm.runs.finish.model_file import load_fitted, load_model
from automl_admm.runs.finish.script.csv_manner import TrainingFile, training_file
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.store.run_folder import RunFolder


@dataclass(frozen=True)
class PipelineResult:
    """The outcome of a run over pipelines; `pickled` is the pipeline as the final fit wrote it.

    `certificate` has the findings on the rows set aside, if a certificate was asked for and there
    was time to test. A better model of an earlier session stays in the folder: then it is `kept`.
    """

    result: RunResult
    pickled: bytes = field(repr=False)
    refit: Refit
    preparation: Preparation = field(repr=False)
    certificate: Certificate | None = None
    kept: RunFolder | None = None

    @cached_property
    def model(self) -> Any:
        """A plain fitted scikit-learn Pipeline, loaded at the first access.

        An ensemble is a `VotingClassifier` or a `VotingRegressor` of such pipelines. A tuned
        decision threshold wraps it in a `FixedThresholdClassifier`, and thresholds by group in a
        `GroupThresholdClassifier` of this package.
        """
        return load_fitted(self.pickled) if self.kept is None else load_model(self.kept)

    @property
    def learned(self) -> dict[str, Any]:
        """The categories, tags and gaps that the model learned from, as its manifest has them."""
        work = self.preparation.work
        X, context = work.table.X, work.context
        levels = find_levels(X, (*context.categorical, *context.tags))
        return {LEVELS: levels, TRAINED_GAPS: find_gaps(X, work.origins)}

    @cached_property
    def training_file(self) -> TrainingFile:
        """The manner of the training file; its beginning is looked at once."""
        return training_file(self.preparation.config)

    @property
    def best(self) -> Evaluation:
        """The evaluation of the shipped pipeline."""
        return self.refit.evaluation

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The candidates of all pipelines in the shipped model."""
        ensemble = self.refit.ensemble
        evaluations = [self.best] if ensemble is None else [m.evaluation for m in ensemble.members]
        return tuple(one.candidate for one in evaluations)

    @property
    def fallback(self) -> FallbackKind | None:
        """The kind of makeshift model, if no pipeline was fitted in time."""
        return self.result.fallback

    @property
    def went_wrong(self) -> str | None:
        """The reason why its final fit is not sound; None if it is, and for a makeshift model."""
        return None if self.fallback is not None else self.refit.went_wrong

    @property
    def is_certified(self) -> bool | None:
        """True if its limits are proven to hold; None if no proof was asked for."""
        if self.preparation.aside is None:
            return None
        return self.certificate is not None and self.certificate.is_certified

    @property
    def score(self) -> float:
        """Its score on validation rows."""
        return self.preparation.metric.score(self.best.loss)

    @property
    def as_shipped(self) -> tuple[bool, ...]:
        """True for each limit that was measured on the model that ships, False on validation rows.

        Facts are, and costs of a model of several fits. A model that stays keeps no record of its
        costs; one that was only given other thresholds lacks them.
        """
        constraints = self.preparation.constraints
        refit, costs = self.refit, self.refit.measured.costs or (0.0,) * len(constraints)
        is_single = refit.ensemble is None and refit.of_folds is None
        return tuple(
            one.kind == "checked" or (not is_single and is_cost(one) and not math.isnan(cost))
            for one, cost in zip(constraints, costs, strict=True)
        )
