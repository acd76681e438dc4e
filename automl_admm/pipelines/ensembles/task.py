"""The parts of a run's work on ensembles: to choose one, and to put its fitted members together."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from automl_admm.core.results import EvaluationResult
from automl_admm.core.space import Array
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.as_code import undecided
from automl_admm.pipelines.calibration import calibrate
from automl_admm.pipelines.cross_validation import judge_folds
from automl_admm.pipelines.ensembles.choice import Choice, Judge, choose
from automl_admm.pipelines.ensembles.decided import DecidedRated
from automl_admm.pipelines.ensembles.greedy import Purse, blend
from automl_admm.pipelines.ensembles.rated import Rated
from automl_admm.pipelines.ensembles.replayed import replay
from automl_admm.pipelines.ensembles.voting import vote
from automl_admm.pipelines.ensembles.within import Within
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.pipelines.shipped_costs import is_cost, is_untold, measure_costs
from automl_admm.pipelines.shipping import ship
from automl_admm.pipelines.thresholds.by_group import Thresholds

if TYPE_CHECKING:
    from automl_admm.pipelines.work import PipelineWork


@dataclass(frozen=True, eq=False)
class EnsembleResult:
    """A choice as a task returns it, with the evaluation of the ensemble if it is better."""

    choice: Choice
    evaluation: EvaluationResult | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the mapping that the executor hands to the parent process."""
        found = self.evaluation
        return {
            "counts": self.choice.counts.tolist(),
            "gain": self.choice.gain,
            "error": self.choice.error,
            "errors": self.choice.errors,
            "evaluation": None if found is None else found.as_json(),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> EnsembleResult:
        """Read what `as_json` wrote."""
        counts = np.array(found["counts"], dtype=np.intp)
        if counts.ndim != 1 or (counts < 0).any():
            raise ValueError("its counts are no numbers of members")
        gain, error, errors = (float(found[one]) for one in ("gain", "error", "errors"))
        choice = Choice(counts, gain, error, errors)
        judged = found["evaluation"]
        return cls(choice, None if judged is None else EvaluationResult.from_json(judged))


def choose_ensemble(work: PipelineWork, predictions: Array, purse: Purse) -> EnsembleResult:
    """Choose an ensemble, and evaluate a better one as pipelines are: at thresholds of its own.

    Before a certificate several members are enough: an average rests less on luck than the best of
    a few pipelines on so few rows.

    Limits on costs are measured on the fitted ensemble later: here their values are NaN.
    """
    given = np.asarray(predictions, dtype=float)
    with unheard_warnings():
        rated = Rated.of(work.metric, work.table, work.splits)
        choice = choose(given, rated, purse, _judge(work, rated, given[0]), Within.of(work))
        # Before a certificate a lower loss is enough: rows of their own test the ensemble.
        if not (choice.has_several if work.certifies else choice.is_better):
            return EnsembleResult(choice)
        return EnsembleResult(choice, evaluate_predictions(work, blend(given, choice.counts)))


def _judge(work: PipelineWork, rated: Rated, prediction: Array) -> Judge:
    """Return the judge of the metric: one of decisions is measured at thresholds of its own."""
    is_decided = work.table.classes is not None and _asks_for_decisions(work, rated, prediction)
    return DecidedRated(_telling(work), rated) if is_decided else rated


def _asks_for_decisions(work: PipelineWork, rated: Rated, prediction: Array) -> bool:
    part = rated.parts[0]
    try:
        seen = work.measure(replay(part.rows, prediction[part.places]), part.rows, 0.0)
    except Exception:  # noqa: BLE001 - a metric is anybody's code
        return False
    return seen.by_decisions


def _telling(work: PipelineWork) -> PipelineWork:
    """Return the work with the limits alone that predictions tell."""
    aims = work.aims or tuple(one.limit for one in work.constraints)
    pairs = [pair for pair in zip(work.constraints, aims, strict=True) if pair[0].is_told]
    told, aimed = tuple(one for one, _ in pairs), tuple(aim for _, aim in pairs)
    return replace(work, constraints=told, aims=aimed)


def evaluate_predictions(
    work: PipelineWork, predictions: Array, scores: Array | None = None
) -> EvaluationResult:
    """Measure the scores, and the limits that predictions tell, at thresholds chosen for them.

    The predictions are of all rows validated, fold after fold; the values of other limits are NaN.
    The `scores` are those of a decision function, if the pipeline has one; empty if unknown.
    """
    told, small = [one.is_told for one in work.constraints], _telling(work)
    valids = [np.asarray(valid) for _, valid in work.splits]
    ends = np.cumsum([len(valid) for valid in valids])[:-1]
    answers = np.split(predictions, ends)
    scored = [None] * len(valids) if scores is None else np.split(scores, ends)
    tables = [work.table.part(valid) for valid in valids]
    folds = zip(tables, answers, scored, strict=True)
    seen = [small.measure(replay(rows, answer, score), rows, 0.0) for rows, answer, score in folds]
    found, decided = judge_folds(small, seen)
    values = iter(found.constraints)
    whole = tuple(next(values) if is_told else math.nan for is_told in told)
    return calibrate(work, seen, decided, replace(found, constraints=whole))


@dataclass(frozen=True, eq=False)
class EnsembleMembers:
    """Fitted members with their weights: `contents` are their pickles.

    `fit_seconds` and `peak_mb` are the seconds of all fits, and the largest memory of one.
    """

    names: tuple[str, ...]
    weights: tuple[int, ...]
    contents: tuple[bytes, ...]
    fit_seconds: float
    peak_mb: float


def put_together(work: PipelineWork, members: EnsembleMembers) -> Any:
    """Return the model of fitted members, pickled by other children of the same run.

    The single best may be among them as it would ship: its own thresholds and its calibration are
    not those of the members, whose predictions were weighed as they are.
    """
    loaded = [undecided(pickle.loads(one)) for one in members.contents]  # noqa: S301
    return vote(dict(zip(members.names, loaded, strict=True)), members.weights, work.table.classes)


def ship_whole(
    work: PipelineWork,
    model: Any,
    fit_seconds: float,
    peak: float,
    folder: Path,
    path: Sequence[Thresholds] = (),
    folds: Sequence[int] = (),
) -> FinalFitResult:
    """Ship a model made of several fits, and measure its costs as it ships.

    The model of one of the `folds` alone is asked about the rows that this one validates, as well.
    Of several fits each has taught rows of the others: nothing but costs can be measured on these.
    """
    found = ship(work, model, fit_seconds, folder, path)
    wanted, place = (is_untold, folds[0]) if len(folds) == 1 else (is_cost, 0)
    costs = measure_costs(work, model, wanted, folder, fit_seconds, peak, place)
    return replace(found, costs=costs)
