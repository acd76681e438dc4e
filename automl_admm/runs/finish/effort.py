"""The effort of a final fit: its expected seconds, by what an evaluation took."""

from __future__ import annotations

from dataclasses import dataclass

from automl_admm.core.evaluations import Evaluation
from automl_admm.pipelines.fit_results import FoldTimes
from automl_admm.pipelines.work import PipelineWork

MARGIN = 1.5
OVERHEAD = 0.8
OVERHEAD_OF_ONE_MORE = 0.25
MOST_SLOWDOWN = 5.0


@dataclass(frozen=True)
class Effort:
    """The work of a final fit, as multiples of an evaluation's on one of its splits.

    It fits `rows` times as many rows, predicts `seen` times as many held-out ones, and its limits
    are measured by `calls` times as many calls.
    """

    rows: float = 1.0
    seen: float = 1.0
    calls: float = 1.0


def effort_of(work: PipelineWork) -> Effort:
    """Return the effort of a run's final fits; calls count only for limits measured by calls."""
    train, valid = work.splits[0]
    held_out = 0 if work.held_out is None else len(work.held_out.y)
    timed = [one.timed_calls for one in work.constraints if one.timed_calls]
    return Effort(
        rows=len(work.table.y) / max(len(train), 1),
        seen=held_out / max(len(valid), 1),
        calls=max(1.0, *(work.calls / calls for calls in timed)) if timed else 1.0,
    )


def expected_seconds(effort: Effort, evaluation: Evaluation | None) -> float:
    """Forecast the seconds of an evaluation's final fit, with a margin; saving it included.

    The fit was timed on the machine as busy as it is; the overhead is as slow as the fit was.
    """
    if evaluation is None:
        return OVERHEAD
    times = FoldTimes.of(evaluation) or FoldTimes(evaluation.seconds, 0.0, 0.0)
    work = effort.rows * times.fit_seconds + effort.seen * times.predict_seconds
    work += max(effort.seen, effort.calls) * times.measure_seconds
    return OVERHEAD * min(times.slowdown, MOST_SLOWDOWN) + MARGIN * work


def expected_of_folds(
    effort: Effort,
    models: int,
    evaluation: Evaluation | None,
    is_kept: bool,  # noqa: FBT001 - a forecast is made with it filled in or not
) -> float:
    """Forecast the seconds of shipping so many fold models, fitted now unless they are kept."""
    overhead = OVERHEAD * (1.0 + OVERHEAD_OF_ONE_MORE * (models - 1))
    if evaluation is None:
        return overhead
    times = FoldTimes.of(evaluation) or FoldTimes(evaluation.seconds, 0.0, 0.0)
    work = models * effort.seen * times.predict_seconds
    work += max(effort.seen, effort.calls) * times.measure_seconds
    work += 0.0 if is_kept else models * times.fit_seconds
    return overhead * min(times.slowdown, MOST_SLOWDOWN) + MARGIN * work
