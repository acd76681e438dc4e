"""The evaluation of one candidate: fit it on fold after fold, then judge all folds together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from automl_admm.core.results import EvaluationResult
from automl_admm.core.space import Candidate
from automl_admm.pipelines.calibration import calibrate
from automl_admm.pipelines.component_fidelity import row_share
from automl_admm.pipelines.fit_results import FoldTimes, slowdown_since
from automl_admm.pipelines.growing import growing_fit, seconds_since
from automl_admm.pipelines.limit_values import mean_values
from automl_admm.pipelines.predictions.decisions import describe_decisions
from automl_admm.pipelines.predictions.kept_answers import answers_of
from automl_admm.pipelines.predictions.measured import Seen
from automl_admm.pipelines.racing import Race
from automl_admm.pipelines.row_share import share_of_rows
from automl_admm.pipelines.step_times import StepTimes
from automl_admm.pipelines.thresholds.elsewhere import measure_elsewhere
from automl_admm.pipelines.thresholds.path import PATH, moves

if TYPE_CHECKING:
    from automl_admm.pipelines.work import PipelineWork

Split = tuple[Any, Any]
# The same in every run: equal shares of equal rows are equal, whoever asks.
SHARE_SEED = 0
PREDICTIONS = "predictions.npz"


@dataclass(frozen=True, eq=False)
class FoldRun:
    """One candidate on its way through the folds of a work; its files go to the `folder`."""

    work: PipelineWork
    candidate: Candidate
    seed: int
    folder: Path
    times: StepTimes = field(default_factory=StepTimes)

    def fit_and_measure(self, split: Split) -> Seen:
        """Fit on the training rows of a fold, or a share of them; measure on the others."""
        work = self.work
        asked = work.space.steps(self.candidate), work.loaded(), self.candidate.fidelity
        growing, share = growing_fit(*asked, self.folder), row_share(*asked)
        classes = None if work.table.classes is None else work.table.y
        rows = share_of_rows(np.asarray(split[0]), classes, share, SHARE_SEED)
        train, valid = work.table.part(rows), work.table.part(split[1])
        begun = time.perf_counter()
        pipeline = work.fit_on(self.candidate, self.seed, train, self.times, growing)
        return work.measure(pipeline, valid, seconds_since(begun, growing))

    def keep_predictions(self, decided: Sequence[Seen]) -> None:
        """Write the out-of-fold predictions, by their rows in the whole table."""
        work = self.work
        rows = np.concatenate([valid for _, valid in work.splits[: len(decided)]])
        rows = rows if work.share is None else work.share.places[rows]
        np.savez(self.folder / PREDICTIONS, rows=rows, **answers_of(decided))


def cross_validate(
    fold: FoldRun, rival: Sequence[float]
) -> tuple[Sequence[Seen], EvaluationResult]:
    """Fit and measure fold by fold, in a race with a rival; return the folds and their judgement.

    A rival with other folds than these is none.
    """
    work = fold.work
    wall, processor = time.perf_counter(), time.process_time()
    race = Race(work.metric, tuple(rival) if len(rival) == len(work.splits) else ())
    seen = race.run(fold.fit_and_measure(split) for split in work.splits)
    found, decided = judge_folds(work, seen)
    found = calibrate(work, seen, decided, found)
    fold.keep_predictions(decided)
    parts = [one.part for one in decided]
    times = FoldTimes(
        fit_seconds=float(np.mean([part.fit_seconds for part in parts])),
        predict_seconds=float(np.mean([part.predict_seconds for part in parts])),
        work_seconds=time.perf_counter() - wall,
        slowdown=slowdown_since(wall, processor),
    )
    scores = found.details["scores"]
    told = race.as_details(scores), times.as_details(), fold.times.as_details()
    details = {key: value for one in (found.details, *told) for key, value in one.items()}
    return seen, replace(found, loss=race.loss(scores), details=details)


def judge_folds(
    work: PipelineWork, seen: Sequence[Seen]
) -> tuple[EvaluationResult, Sequence[Seen]]:
    """Measure the folds, at thresholds chosen for all of them if limits depend on decisions."""
    decider = work.decider()
    thresholds, plain = decider.choose(seen), [one.score for one in seen]
    decided = seen if thresholds is None else decider.decide(seen, thresholds)
    scores = [one.score for one in decided]
    chosen = {} if thresholds is None else thresholds.as_details()
    if scores != plain:
        chosen["default_score"] = float(np.mean(plain))
    if work.certifies and thresholds is not None and not thresholds.by_class:
        moved = [one for one in work.constraints if moves(one)]
        chosen[PATH] = decider.path(seen, thresholds, moved).as_details()
    found = EvaluationResult(
        float(np.mean([work.metric.loss(score) for score in scores])),
        tuple(mean_values(work.constraints, [one.part for one in decided])),
        {"scores": scores, **chosen, **describe_decisions(decided)},
    )
    elsewhere = measure_elsewhere(seen, decider, work.constraints, found)
    return replace(found, details={**found.details, **elsewhere}), decided
