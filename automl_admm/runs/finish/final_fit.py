"""The final fit: the best pipeline on all rows of the search, in the time left."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.core.evaluations import ONE_CLASS, Evaluation, Status, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.protocols import Finished, Task
from automl_admm.core.ranking import rank
from automl_admm.core.run import Account
from automl_admm.execution.evidence_files import FILES, read_told
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.pipelines.shipped_costs import SHIPPED
from automl_admm.pipelines.shipping import PICKLE
from automl_admm.pipelines.thresholds.by_group import Thresholds, thresholds_at
from automl_admm.runs.driving.budget import Ledger
from automl_admm.runs.driving.dispatch import Dispatcher, TaskKind
from automl_admm.runs.finish.closing import LAST_OF_A_FIT, Closing
from automl_admm.runs.finish.ensemble import Ensemble
from automl_admm.runs.finish.no_success import no_fit
from automl_admm.runs.finish.of_folds import OfFolds
from automl_admm.runs.finish.passed_over import (
    PassedOver,
    if_better,
    newly_outside,
    not_fitted,
    say_end,
    too_long,
    went_wrong,
)
from automl_admm.runs.finish.ways import Expect, FoldWays, Way, Ways, with_costs
from automl_admm.search.protocol import SearchProblem

GRACE = 1.0
TRIES = 10
# A pipeline takes less to load than to fit; on a busy machine the least may be long.
LEAST_RELOADING = 3.0


@dataclass(frozen=True)
class Refit:
    """The shipped pipeline: its evaluation in the search, and the final fit's measurements.

    It was fitted on so many `rows`; None are all rows of the search. An `ensemble` of pipelines has
    an evaluation of its own, on their out-of-fold predictions. Better evaluations may have been
    `passed_over`, each with its reason. A certifying run without a test says why it is `untested`.
    `alone` says why no ensemble was made of it. A model `of_folds` was not fitted on all rows.
    `walked` is that of a tested ensemble, as it came to the walk.
    """

    evaluation: Evaluation
    measured: FinalFitResult = field(default_factory=FinalFitResult)
    rows: int | None = None
    ensemble: Ensemble | None = None
    passed_over: tuple[PassedOver, ...] = ()
    untested: str | None = None
    of_folds: OfFolds | None = None
    walked: Evaluation | None = None
    alone: str | None = None

    @property
    def learned_rows(self) -> int | None:
        """The rows that it learned from; None for all rows of the search."""
        return self.rows if self.of_folds is None else self.of_folds.rows

    @property
    def one_class(self) -> str | None:
        """The only class given to all rows, by the final fit or in the search; else None."""
        found = self.measured.one_class
        return self.evaluation.one_class if found is None else found

    @property
    def as_fitted(self) -> Evaluation:
        """Its evaluation, marked if the final fit gives all rows one class."""
        told = {} if self.one_class is None else {ONE_CLASS: self.one_class}
        return replace(self.evaluation, details={**self.evaluation.details, **told})

    @property
    def went_wrong(self) -> str | None:
        """The reason why its fit on all rows is not sound; None if it is."""
        found = went_wrong(self.evaluation, self.measured)
        return None if found is None else found.reason


class Fitter:
    """Final fits one after the other, as long as there is the time for them.

    `of_folds` describes those that are of fold models, by the key of their evaluation.
    """

    def __init__(self, press: Press, ways: Ways, ledger: Ledger) -> None:
        self._press = press
        self._ways = ways
        self._ledger = ledger
        self.of_folds: dict[str, OfFolds] = {}

    def expect(self, evaluation: Evaluation) -> float:
        """Forecast the seconds of a pipeline's final fit in the quickest way."""
        return min(way.expected for way in self._ways.of(evaluation))

    def fit(
        self, evaluation: Evaluation, path: Sequence[Thresholds] = (), *, anyway: bool
    ) -> Finished | PassedOver:
        """Fit one, and measure it along a path of thresholds; `anyway` if there seems no time."""
        expected, left = self._ways.expect(evaluation), self._press.closing.left
        late = too_long(evaluation, expected, left)
        ways = self._ways.of(evaluation)
        in_time = [way for way in ways if way.expected <= left + GRACE]
        if not in_time and not anyway:
            return late
        tried: list[tuple[str, bool]] = []
        for way in in_time or [min(ways, key=lambda way: way.expected)]:
            kept_back = self._ways.kept_back(way, (), self._press.closing.left, tried)
            finished = self._make(way, path, late, kept_back)
            tried.append(way.name)
            # What fails on all rows otherwise than by its time will fail on a part of them.
            if finished.status is not Status.TIMEOUT and not way.by_folds:
                break
            if finished.status is Status.SUCCESS:
                break
        return finished

    def _make(
        self, way: Way, path: Sequence[Thresholds], late: PassedOver, kept_back: float
    ) -> Finished:
        folds = self._ways.folds
        with self._ledger.charge(Account.FINAL_FIT):
            finished = self._press.make(way, folds, path, kept_back)
        if finished.status is Status.SUCCESS and way.by_folds and folds is not None:
            self.of_folds[way.evaluation.key] = folds.describe(late.reason)
        return finished

    def settle(self, finished: Finished, thresholds: Thresholds) -> Finished | None:
        """Ship a fitted model with other thresholds; None if it failed."""
        with self._ledger.charge(Account.FINAL_FIT):
            again = self._press.settle(finished, thresholds)
        return again if again.status is Status.SUCCESS else None


def refit_best(
    problem: SearchProblem,
    evaluations: Sequence[Evaluation],
    dispatch: Dispatcher,
    expect: Expect,
    closing: Closing,
    folds: FoldWays | None = None,
) -> tuple[Refit, Finished]:
    """Fit the best evaluation possible in the time left; after a failure, the next.

    The last seconds are not spent on a fit expected to take longer; the fold models of the best, if
    they are there, come before the next. A model outside the limits on facts, as fitted, worse on
    its own rows than out of fold, or with one class for all rows, gives way to the next; if all do,
    the closest ships. After an interrupt and without a pipeline, the user is told of the interrupt
    and of nothing else.
    """
    folds = None if folds is None else replace(folds, tested=False)
    press, ways = Press(problem, dispatch, closing), Ways(expect, folds)
    reason = "there was no time left"
    ranked = rank(evaluations, problem.limits)
    passed: list[PassedOver] = []
    outside: list[tuple[Refit, Finished]] = []
    tried: list[tuple[str, bool]] = []
    for way in _in_order(ranked, closing, ways, passed):
        others = _in_place_of(way.evaluation, ranked[:TRIES], problem.limits)
        kept_back = ways.kept_back(way, others, closing.left, tried)
        finished = press.make(way, folds, kept_back=kept_back)
        tried.append(way.name)
        refit = _refit_of(way, finished, folds, passed)
        broken = None
        if refit is not None:
            broken = _what_went_wrong(way.evaluation, refit, problem.limits)
        if refit is not None and broken is None:
            better = if_better(passed, refit.evaluation, problem.limits)
            return replace(refit, passed_over=better), finished
        if refit is not None and broken is not None:
            outside.append((refit, finished))
            passed.append(broken)
            continue
        reason = say_end(finished)
        if not way.by_folds:
            passed.append(not_fitted(way.evaluation, finished))
    if outside:
        return _closest(outside, passed, problem.limits)
    if closing.is_cut_short:
        raise KeyboardInterrupt
    raise no_fit(reason, needs_time=not passed or any(one.needs_time for one in passed))


def _in_place_of(
    evaluation: Evaluation, ranked: Sequence[Evaluation], limits: Sequence[Limit]
) -> list[Evaluation]:
    """Return the evaluations that could ship in place of one: within the limits, if it is."""
    is_inside = is_feasible(evaluation, limits)
    return [one for one in ranked if not is_inside or is_feasible(one, limits)]


def _closest(
    outside: Sequence[tuple[Refit, Finished]], passed: list[PassedOver], limits: Sequence[Limit]
) -> tuple[Refit, Finished]:
    best = rank([refit.evaluation for refit, _ in outside], limits)[0]
    refit, finished = next(pair for pair in outside if pair[0].evaluation is best)
    return replace(refit, passed_over=if_better(passed, best, limits)), finished


def _what_went_wrong(
    evaluation: Evaluation, refit: Refit, limits: Sequence[Limit]
) -> PassedOver | None:
    """Pass over an evaluation whose model is not what it promised; None if it is."""
    broken = newly_outside(evaluation, refit.evaluation, limits)
    return broken or went_wrong(evaluation, refit.measured)


def _refit_of(
    way: Way, finished: Finished, folds: FoldWays | None, passed: Sequence[PassedOver]
) -> Refit | None:
    """Return the model of a way; None after a failure, or for models that break a limit on costs.

    Fold models ship for the reason that passed over the fit on all rows.
    """
    if finished.status is not Status.SUCCESS:
        return None
    measured = FinalFitResult.from_json(finished.result)
    if not way.by_folds or folds is None:
        return Refit(with_costs(way.evaluation, measured), measured)
    reasons = [one.reason for one in passed if one.evaluation.key == way.evaluation.key]
    judged = folds.judge(way.evaluation, measured)
    told = folds.describe(reasons[-1] if reasons else "")
    return None if judged is None else Refit(judged, measured, of_folds=told)


def _in_order(
    ranked: Sequence[Evaluation], closing: Closing, ways: Ways, passed: list[PassedOver]
) -> Iterator[Way]:
    """Yield the ways of the best first, and pass over those too slow for the time left.

    At least the quickest of all comes. After a fit ended by an interrupt there may still be time
    for it, too.
    """
    tried: set[str] = set()
    for evaluation in ranked:
        for way in ways.of(evaluation):
            left = closing.left
            if way.expected > left + GRACE:
                if not way.by_folds:
                    passed.append(too_long(evaluation, way.expected, left))
                continue
            tried.add(evaluation.key)
            yield way
            # What fails on all rows otherwise than by its time will fail on a part of them.
            if not way.by_folds and (closing.is_cut_short or not _was_slow(evaluation, passed)):
                break
        if len(tried) == TRIES:
            return
    if not tried or closing.is_cut_short:
        untried = (one for one in ranked if one.key not in tried)
        every = [way for evaluation in untried for way in ways.of(evaluation)]
        if every:
            yield min(every, key=lambda way: way.expected)


def _was_slow(evaluation: Evaluation, passed: Sequence[PassedOver]) -> bool:
    """Return True if the last fit passed over was of this evaluation, and ran out of time."""
    return bool(passed) and passed[-1].evaluation.key == evaluation.key and passed[-1].needs_time


@dataclass(frozen=True)
class Press:
    """Makes the model of an evaluation in a child, and checks that it loads.

    After an interrupt a running task may go on for the seconds of `patience`.
    """

    problem: SearchProblem
    dispatch: Dispatcher
    closing: Closing
    patience: float = LAST_OF_A_FIT

    def fit(
        self,
        evaluation: Evaluation,
        *,
        ships: bool = True,
        path: Sequence[Thresholds] = (),
        kept_back: float = 0.0,
    ) -> Finished:
        """Fit an evaluation's pipeline on all rows of the search, and measure it on held-out rows.

        It decides at the first stop of a path, if there is one; else at the threshold of the
        evaluation, or those of the groups, if it found any. A member of an ensemble does not ship
        by itself: it is only fitted. Seconds `kept_back` stay for another way.
        """
        arguments = {
            "ships": ships,
            "candidate": evaluation.candidate,
            "seed": self.problem.seed_of(evaluation.key),
            **thresholds_at(evaluation.details, path),
            "path": tuple(path),
        }
        grace = GRACE if ships else 0.0
        finished = self._twice(TaskKind.REFIT, arguments, grace - kept_back)
        return self.loadable(finished) if ships else finished

    def make(
        self,
        way: Way,
        folds: FoldWays | None = None,
        path: Sequence[Thresholds] = (),
        kept_back: float = 0.0,
    ) -> Finished:
        """Make a model in one way; fold models that do not ship are told where they were asked."""
        if not way.by_folds or folds is None:
            return self.fit(way.evaluation, path=path, kept_back=kept_back)
        models = folds.kept.read(way.evaluation)
        if models is None and not folds.is_asked:
            return Finished(0, Status.ERROR, message="its fold models are lost")
        finished = self.fit_folds(way.evaluation, models, path, kept_back)
        if finished.status is not Status.SUCCESS and folds.is_asked:
            folds.tell(way.evaluation, f"{finished.status} {finished.message}".strip())
        return finished

    def fit_folds(
        self,
        evaluation: Evaluation,
        models: bytes | None,
        path: Sequence[Thresholds] = (),
        kept_back: float = 0.0,
    ) -> Finished:
        """Ship the fold models of an evaluation, fitted now unless they are given."""
        arguments = {
            "candidate": evaluation.candidate,
            "seed": self.problem.seed_of(evaluation.key),
            **thresholds_at(evaluation.details, path),
            "models": models,
            "path": tuple(path),
        }
        return self.loadable(self._twice(TaskKind.FIT_FOLDS, arguments, GRACE - kept_back))

    def settle(self, finished: Finished, thresholds: Thresholds) -> Finished:
        """Ship a fitted model with other thresholds, and measure it anew on held-out rows."""
        arguments = {
            "fitted": read_told(finished, PICKLE) or b"",
            "thresholds": thresholds,
            "seconds": FinalFitResult.from_json(finished.result).fit_seconds,
        }
        # Little is left to do: a certificate that has passed is worth a moment more.
        grace = max(finished.seconds, LEAST_RELOADING)
        return self.loadable(self._twice(TaskKind.SETTLE, arguments, grace))

    def _twice(self, kind: TaskKind, arguments: Mapping[str, Any], grace: float) -> Finished:
        """Do a task, and once more if its process was lost by no fault of its own."""
        for _ in range(2):
            limit = self.closing.limit_of_fit(grace)
            finished = self.do(self.dispatch.make(kind, arguments, limit, keep=True))
            if finished.status is not Status.LOST:
                break
        return finished

    def loadable(self, finished: Finished) -> Finished:
        """Load the shipped file in a child of its own; return the fit, or the failure to load."""
        is_done = finished.status is Status.SUCCESS and finished.folder is not None
        if not is_done or self.dispatch.runs_here:
            return finished
        try:
            contents = {name: read_told(finished, name) for name in finished.result.get(FILES, {})}
        except AutomlAdmmError as problem:
            return replace(finished, status=Status.ERROR, message=problem.message)
        content = contents.get(SHIPPED, contents.get(PICKLE))
        seconds = max(finished.seconds, LEAST_RELOADING)
        if self.closing.is_cut_short:
            seconds = self.closing.left + GRACE
        loaded = self.do(self.dispatch.make(TaskKind.RELOAD, {"content": content}, seconds))
        if loaded.status in (Status.SUCCESS, Status.LOST):
            return finished
        message = f"the fitted pipeline cannot be loaded: {loaded.message}"
        # More time would not mend a file that hangs as it is loaded.
        is_stuck = loaded.status is Status.TIMEOUT and not self.closing.is_cut_short
        status = Status.ERROR if is_stuck else loaded.status
        return replace(finished, status=status, message=message)

    def do(self, task: Task) -> Finished:
        """Hand a task out and wait for its end; an interrupt does not leave it all of its time."""
        begun = time.monotonic()
        self.dispatch.submit(task)
        is_killed = False
        while True:
            finished = self.dispatch.wait_for(task)
            if finished is not None:
                return finished
            if self.closing.overdue(begun, self.patience) and not is_killed:
                self.dispatch.kill(task)
                is_killed = True
