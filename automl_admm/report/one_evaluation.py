"""One evaluation of a run explained: its measurements, its time, and how the winner differs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.messages import resume_command
from automl_admm.pipelines.fit_results import FoldTimes
from automl_admm.pipelines.step_times import STEPS
from automl_admm.pipelines.thresholds.single import say_threshold
from automl_admm.report.board import short_keys
from automl_admm.report.document.numbers import finite
from automl_admm.report.origins import SEARCH, origin_of
from automl_admm.report.pipeline_differences import SideBySide, put_side_by_side
from automl_admm.report.sections.failures import trace_of
from automl_admm.report.shipped import shipped_of, tell_pooled_values, tell_shipped_thresholds
from automl_admm.report.view import RunView
from automl_admm.runs.finish.decision_summary import say_undecided
from automl_admm.runs.session.iterations import read_iterations
from automl_admm.runs.standings import Standing

MOST_KEYS_SHOWN = 4


@dataclass(frozen=True, slots=True)
class LimitMeasured:
    """A limit and the value of the evaluation; `excess` is its distance outside, 0 inside.

    An evaluation with one class for all rows `holds` no limit.
    """

    limit: str
    bound: float
    at_least: bool
    value: float | None
    excess: float | None
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Folds:
    """The score of each fold, and their mean, standard deviation and range.

    `left` folds were not run. The deviation is None for a single fold.
    """

    scores: tuple[float | None, ...]
    mean: float | None
    deviation: float | None
    lowest: float | None
    highest: float | None
    left: int


@dataclass(frozen=True, slots=True)
class Seconds:
    """The seconds of an evaluation: those of its folds by work, and of its fits by step.

    `other` are those of the process around it. All but `total` are None if nothing was timed.
    """

    total: float
    fit: float | None
    predict: float | None
    measure: float | None
    other: float | None
    steps: dict[str, float]


@dataclass(frozen=True, slots=True)
class Proposed:
    """The origin of a pipeline: `by` is a start, the portfolio, or the search with its solvers.

    `iteration` is the outer iteration of ADMM in which the evaluation ended, from 1 over all
    sessions; None if the run noted none, or was still in it.
    """

    by: str
    strategy: str | None
    theta_solver: str | None
    z_solver: str | None
    iteration: int | None


@dataclass(frozen=True, slots=True)
class Winner:
    """The best single pipeline, or the one that shipped, and how much better its score is.

    The columns of `beside` are the explained evaluation and the winner.
    """

    number: int
    score: float | None
    lead: float | None
    beside: SideBySide


@dataclass(frozen=True, slots=True)
class Explained:
    """All that a run folder knows of one evaluation."""

    number: int
    key: str
    status: str
    message: str
    trace: str
    rank: int | None
    ranked: int
    evaluations: int
    is_feasible: bool
    one_class: str | None
    fidelity: float
    metric: str
    score: float | None
    folds: Folds
    threshold: float | str | None
    group_thresholds: dict[str, float | str]
    undecided: str | None
    decisions: dict[str, float | None]
    limits: tuple[LimitMeasured, ...]
    seconds: Seconds
    proposed: Proposed
    pipeline: str
    selection: dict[str, str | tuple[str, ...]]
    is_winner: bool
    winner: Winner | None
    shipped_at: str | None
    shipped_with: str | None


def find_evaluation(view: RunView, key: str) -> Evaluation:
    """Return the evaluation of a key, of the beginning of a key, or of a number such as #12."""
    number = key.removeprefix("#")
    if number.isascii() and number.isdecimal() and len(number) < 10:
        for one in view.evaluations:
            if one.number == int(number):
                return one
    found = {one.key: one for one in view.evaluations if one.key.startswith(key)}
    if key in found:
        return found[key]
    if len(found) == 1:
        return next(iter(found.values()))
    if not view.evaluations:
        run = view.folder.path
        hint = f"If the run was killed, go on with: {resume_command(run)}"
        raise ConfigurationError(f"no evaluation of '{run}' has ended yet.", hint=hint)
    keys = short_keys([one.key for one in view.evaluations])
    if not found:
        numbers = [f"#{one.number}" for one in view.evaluations]
        hint = f"`automl-admm leaderboard {view.folder.path} --all` shows the keys."
        raise UnknownNameError("evaluation", key, [*keys.values(), *numbers], hint=hint)
    some = ", ".join(keys[one] for one in list(found)[:MOST_KEYS_SHOWN])
    more = ", …" if len(found) > MOST_KEYS_SHOWN else ""
    raise ConfigurationError(
        f"'{key}' is the beginning of {len(found)} keys: {some}{more}.", hint="Give more of it."
    )


def explain(view: RunView, key: str) -> Explained:
    """Gather what is known of one evaluation of a run."""
    one = find_evaluation(view, key)
    standing = next(other for other in view.standings if other.evaluation is one)
    best = _winner_of(view)
    threshold = one.details.get("threshold")
    is_winner = best is not None and best.number == one.number
    return Explained(
        number=one.number,
        key=one.key,
        status=one.ending,
        message=one.message,
        trace="" if one.ok else trace_of(one.details),
        rank=standing.rank,
        ranked=sum(other.rank is not None for other in view.standings),
        evaluations=len(view.evaluations),
        is_feasible=standing.feasible,
        one_class=one.one_class,
        fidelity=one.candidate.fidelity,
        metric=view.metric,
        score=finite(view.score(one)),
        folds=_folds(one),
        threshold=None if threshold is None else _threshold(threshold),
        group_thresholds={
            str(group): _threshold(value)
            for group, value in (one.details.get("group_thresholds") or {}).items()
        },
        undecided=say_undecided(one.details),
        decisions=dict(one.details.get("decisions") or {}),
        limits=_limits(view, standing),
        seconds=_seconds(one),
        proposed=_proposed(view, one),
        pipeline=one.text,
        selection=dict(one.candidate.selection.picks),
        is_winner=is_winner,
        winner=None if best is None or is_winner else _beside(view, one, best),
        shipped_at=None if view.manifest is None else tell_shipped_thresholds(view.manifest, one),
        shipped_with=None if view.manifest is None else tell_pooled_values(view.manifest, one),
    )


def _winner_of(view: RunView) -> Evaluation | None:
    """Return the evaluation that shipped; the best one if an ensemble, or nothing, shipped."""
    model = shipped_of(view)
    shipped = None if model is None else model.number
    best = next((one.evaluation for one in view.standings if one.rank == 1), None)
    return next((one for one in view.evaluations if one.number == shipped), best)


def _folds(one: Evaluation) -> Folds:
    found = tuple(map(finite, one.details.get("scores", ())))
    known = [value for value in found if value is not None]
    return Folds(
        scores=found,
        mean=statistics.fmean(known) if known else None,
        deviation=statistics.stdev(known) if len(known) > 1 else None,
        lowest=min(known, default=None),
        highest=max(known, default=None),
        left=one.folds_left,
    )


def _threshold(value: float) -> float | str:
    """Return a threshold as JSON can hold it: an infinite one is a word."""
    return value if isfinite(value) else say_threshold(value)


def _limits(view: RunView, standing: Standing) -> tuple[LimitMeasured, ...]:
    nothing: Sequence[float | None] = (None,) * len(view.limits)
    values = standing.evaluation.constraints or nothing
    excess = standing.excess or nothing
    is_useful = standing.evaluation.one_class is None
    return tuple(
        LimitMeasured(
            limit=str(limit),
            bound=limit.bound,
            at_least=limit.at_least,
            value=finite(value),
            excess=finite(over),
            holds=None if value is None else is_useful and limit.holds(value),
        )
        for limit, value, over in zip(view.limits, values, excess, strict=False)
    )


def _seconds(one: Evaluation) -> Seconds:
    steps = {str(name): float(spent) for name, spent in (one.details.get(STEPS) or {}).items()}
    times = FoldTimes.of(one)
    if times is None:
        return Seconds(one.seconds, None, None, None, None, steps)
    fit, predict = times.folds * times.fit_seconds, times.folds * times.predict_seconds
    measure = times.folds * times.measure_seconds
    other = max(one.seconds - fit - predict - measure, 0.0)
    return Seconds(one.seconds, fit, predict, measure, other, steps)


def _proposed(view: RunView, one: Evaluation) -> Proposed:
    settings, origin = view.settings, origin_of(view, one.text)
    if origin != SEARCH:
        return Proposed(origin, None, None, None, _iteration(view, one))
    return Proposed(
        origin,
        settings.get("strategy"),
        settings.get("theta_solver"),
        settings.get("z_solver"),
        _iteration(view, one),
    )


def _iteration(view: RunView, one: Evaluation) -> int | None:
    ended = one.ended
    if ended is None:
        return None
    known = enumerate(read_iterations(view.folder), start=1)
    return next((place for place, iteration in known if iteration.ended >= ended), None)


def _beside(view: RunView, one: Evaluation, best: Evaluation) -> Winner:
    score, own = finite(view.score(best)), finite(view.score(one))
    return Winner(
        number=best.number,
        score=score,
        lead=None if score is None or own is None else score - own,
        beside=put_side_by_side([one.text, best.text]),
    )
