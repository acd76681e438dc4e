"""The fit of an ensemble after that of the single best pipeline, which ships if anything fails."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.core.evaluations import Evaluation, Status, is_feasible
from automl_admm.core.protocols import Finished
from automl_admm.core.ranking import rank
from automl_admm.core.results import EvaluationResult
from automl_admm.core.space import Array
from automl_admm.execution.evidence_files import read_told
from automl_admm.pipelines.ensembles.choice import Choice
from automl_admm.pipelines.ensembles.task import EnsembleMembers, EnsembleResult
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.pipelines.shipping import PICKLE
from automl_admm.pipelines.thresholds.by_group import Thresholds, thresholds_at
from automl_admm.runs.driving.dispatch import TaskKind
from automl_admm.runs.finish.ensemble import Ensemble, Member
from automl_admm.runs.finish.final_fit import Press, Refit
from automl_admm.runs.finish.other_limits import Cost, costs_of_refusal, refused_by_others
from automl_admm.runs.finish.passed_over import say_end, worse_than_unseen
from automl_admm.runs.finish.ways import Expect, say_unseen
from automl_admm.runs.kept_predictions import (
    DamagedPredictionsError,
    KeptPredictions,
    are_probabilities,
)
from automl_admm.runs.prepare.preparation import Preparation

# With fewer successes a choice among them says little more than chance; of more the best do.
FEWEST, MOST = 8, 20
# The share of the time left that choosing may take.
SHARE_OF_CHOOSING = 0.3
# An ensemble is put together, saved and loaded in so many times the overhead of a final fit.
OVERHEADS = 2.0
# An ensemble that costs too much as a whole is chosen anew so many times, with a little less room.
CHOSEN_ANEW, LESS = 2, 0.95

TOO_FEW = "there are {} of the {} candidates that it needs"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Pool:
    """Evaluations that may become members, best first, with their out-of-fold predictions."""

    evaluations: tuple[Evaluation, ...]
    predictions: tuple[Array, ...]

    def ranked(self, numbers: Sequence[int]) -> Pool:
        """Return the pool in the order of these numbers of evaluations."""
        found = {one.number: place for place, one in enumerate(self.evaluations)}
        places = [found[number] for number in numbers if number in found]
        evaluations = tuple(self.evaluations[place] for place in places)
        return Pool(evaluations, tuple(self.predictions[place] for place in places))

    def without(self, failed: set[str]) -> Pool:
        """Return the pool without evaluations of these keys."""
        pairs = zip(self.evaluations, self.predictions, strict=True)
        kept = [(one, predicted) for one, predicted in pairs if one.key not in failed]
        return Pool(tuple(one for one, _ in kept), tuple(predicted for _, predicted in kept))


def read_pool(
    prepared: Preparation, kept: KeptPredictions, among: Collection[str] | None = None
) -> Pool:
    """Read the kept predictions of the best evaluations; leave damaged ones out, a line each.

    Pipelines without probabilities cannot be averaged, and one class for all rows is no model. With
    keys to choose `among` the others are left out.
    """
    work, pool = prepared.work, Pool((), ())
    rows = np.concatenate([valid for _, valid in work.splits])
    for evaluation in kept.first(MOST):
        if among is not None and evaluation.key not in among:
            continue
        if evaluation.one_class is not None or len(pool.evaluations) == MOST:
            continue
        try:
            found = kept.read(evaluation, rows)
        except DamagedPredictionsError as problem:
            told = "the kept predictions of evaluation %d are damaged (%s): no ensemble has it"
            logger.warning(told, evaluation.number, problem)
            continue
        classes = work.table.classes
        if found.ndim == 1 if classes is None else are_probabilities(found, len(classes)):
            pool = Pool((*pool.evaluations, evaluation), (*pool.predictions, found))
    return pool.ranked([one.number for one in kept.evaluations])


@dataclass(frozen=True, eq=False)
class Chosen:
    """An ensemble before its members are fitted, and its evaluation without costs."""

    ensemble: Ensemble
    found: EvaluationResult


@dataclass(eq=False)
class EnsembleFit:
    """Fits an ensemble if it is better than the single pipeline, which is `fitted` already.

    It needs at least `fewest` evaluations. `seconds_kept` are left for other fits. After a run
    without an ensemble `reason` says why, as a clause; None if an interrupt ended it.
    """

    prepared: Preparation
    press: Press
    expect: Expect
    single: Refit
    fitted: dict[str, Finished]
    fewest: int = FEWEST
    seconds_kept: float = 0.0
    failed: set[str] = field(default_factory=set)
    room: dict[int, float] = field(default_factory=dict)
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.single.went_wrong is not None:
            self.failed.add(self.single.evaluation.key)

    def run(self, pool: Pool) -> tuple[Refit, Finished] | None:
        """Choose, fit and put together; None if the single pipeline ships.

        One that costs more than its members together, and so too much, is chosen anew with cheaper
        ones.
        """
        if (unseen := say_unseen(self.prepared.constraints)) is not None:
            self.reason = unseen
            return None
        outside: Refit | None = None
        for _ in range(1 + CHOSEN_ANEW):
            chosen = self.choose_fitted(pool)
            found = None if chosen is None else self._assemble(chosen)
            if chosen is None or found is None:
                break
            if self._is_best(found[0]):
                return found
            outside = found[0]
            less = room_for_members(self.prepared, outside, chosen.ensemble)
            if not less:
                break
            self.room |= less
        if outside is not None:
            said = _say_outside(self.prepared, outside)
            self.reason = f"the best average {said}"
            logger.warning("the single best pipeline ships: the ensemble %s", said)
        return None

    def choose_fitted(self, pool: Pool) -> Chosen | None:
        """Choose an ensemble, and fit its members; None if the single pipeline ships.

        The members that fail are left out, and the choice is made anew without them.
        """
        while not self._is_over:
            chosen = self.choose(_of_enough(self.prepared, pool.without(self.failed), self.fewest))
            if chosen is None or self._fit_members(chosen.ensemble):
                return chosen
        self.reason = None if self.press.closing.is_cut_short else "there was no time for one"
        return None

    def put_together(self, chosen: Chosen, path: Sequence[Thresholds] = ()) -> Finished:
        """Put fitted members together; measure the whole at all stops of a path, if there is one.

        It decides at the first stop, else at its own thresholds.
        """
        try:
            given = {
                "members": _members_of(chosen.ensemble, self.fitted),
                **thresholds_at(chosen.found.details, path),
                "path": tuple(path),
            }
        except AutomlAdmmError as problem:
            return Finished(0, Status.ERROR, message=problem.message)
        return self.press.loadable(self._do(TaskKind.ASSEMBLE, given, 1.0, keep=True))

    @property
    def _is_over(self) -> bool:
        """True after an interrupt, or without time to put anything together."""
        return self.press.closing.is_cut_short or self._time_for_fits <= 0.0

    @property
    def _time_for_fits(self) -> float:
        return self.press.closing.left - OVERHEADS * self.expect(None) - self.seconds_kept

    def choose(self, pool: Pool) -> Chosen | None:
        """Choose an ensemble of a pool; None if the single pipeline ships, or it has too few."""
        if len(pool.evaluations) < self.fewest:
            self.reason = TOO_FEW.format(len(pool.evaluations), self.fewest)
            return None
        given = {"predictions": np.stack(pool.predictions), **self._costs(pool.evaluations)}
        finished = self._do(TaskKind.CHOOSE_ENSEMBLE, given, SHARE_OF_CHOOSING)
        if finished.status is not Status.SUCCESS:
            if not self.press.closing.is_cut_short:
                self.reason = f"none was chosen ({say_end(finished)})"
                logger.warning("no ensemble ships: %s", self.reason)
            return None
        told = EnsembleResult.from_json(finished.result)
        self.reason = self._objection(told, pool)
        if told.evaluation is None or self.reason is not None:
            return None
        pairs = zip(pool.evaluations, told.choice.counts.tolist(), strict=True)
        members = [Member(one, count) for one, count in pairs if count]
        members.sort(key=lambda member: -member.weight)
        gain, error = told.choice.gain, told.choice.error
        ensemble = Ensemble(tuple(members), self.single.evaluation, gain, error)
        return Chosen(ensemble, told.evaluation)

    def _objection(self, told: EnsembleResult, pool: Pool) -> str | None:
        """Say what it lacks; None if it beats the single one, within limits that predictions tell.

        It has to gain on rows that did not choose it, be it less than its noise, unless the choice
        may take a loss. A single pipeline that was not in the pool had no part in the comparison:
        it has to be beaten by more than the noise here.
        """
        found, single = told.evaluation, self.single.evaluation
        least = min(told.choice.noise, 0.0)
        if found is None or not told.choice.gain > least:  # NaN is no gain
            return _say_gain(told.choice)
        pairs = zip(self.prepared.aims, found.constraints, strict=True)
        if not all(math.isnan(value) or limit.holds(value) for limit, value in pairs):
            return "the best average is outside the limits on out-of-fold rows"
        is_inside = is_feasible(single, self.prepared.aims)
        # By the key: what ships has the facts of its own fit in place of those of its folds.
        is_known = any(one.key == single.key for one in pool.evaluations)
        # Where any gain is enough this one owes its gain to the rows that chose it.
        noise = least if is_known else told.choice.noise or told.choice.error
        if not is_inside or found.loss < single.loss - noise:
            return None
        return "the best average is not better than the best pipeline on out-of-fold rows"

    def _costs(self, evaluations: Sequence[Evaluation]) -> Mapping[str, Array]:
        """Return what adds up over members: seconds of fits, and the values of such limits."""
        rows: list[Cost] = []
        if math.isfinite(self.press.closing.left):
            is_done = [one.key in self.fitted for one in evaluations]
            pairs = zip(evaluations, is_done, strict=True)
            seconds = [0.0 if done else self.expect(one) for one, done in pairs]
            left = self._time_for_fits
            rows.append((seconds, left, left))
        constraints, aims = self.prepared.constraints, self.prepared.aims
        for place, (constraint, aim) in enumerate(zip(constraints, aims, strict=True)):
            if constraint.adds_up and not aim.at_least:
                values = [one.constraints[place] for one in evaluations]
                rows.append((values, self.room.get(place, aim.bound), aim.bound))
        rows += costs_of_refusal(self.prepared, evaluations)
        return _as_arrays(rows, len(evaluations))

    def _fit_members(self, ensemble: Ensemble) -> bool:
        """Fit the members that are not fitted yet; False if one failed or time is up."""
        for member in ensemble.members:
            evaluation = member.evaluation
            if evaluation.key in self.fitted:
                continue
            if self._is_over:
                return False
            finished = self.press.fit(evaluation, ships=False)
            if finished.status is Status.SUCCESS and not self._went_wrong(evaluation, finished):
                self.fitted[evaluation.key] = finished
                continue
            self.failed.add(evaluation.key)
            if finished.status is not Status.SUCCESS and not self.press.closing.is_cut_short:
                _tell(f"evaluation {evaluation.number} is left out of the ensemble", finished)
        return all(one.evaluation.key in self.fitted for one in ensemble.members)

    @staticmethod
    def _went_wrong(evaluation: Evaluation, finished: Finished) -> bool:
        loss = FinalFitResult.from_json(finished.result).seen_loss
        passed = worse_than_unseen(evaluation, loss)
        if passed is not None:
            logger.warning("the ensemble is made without #%d: %s", evaluation.number, passed.reason)
        return passed is not None

    def _assemble(self, chosen: Chosen) -> tuple[Refit, Finished] | None:
        """Put the members together; None if the whole fails."""
        ensemble, finished = chosen.ensemble, self.put_together(chosen)
        if finished.status is not Status.SUCCESS:
            if not self.press.closing.is_cut_short:
                _tell("the ensemble could not be put together", finished)
            return None
        measured = FinalFitResult.from_json(finished.result)
        evaluation = ensemble.as_evaluation(_with_costs(chosen.found, measured), finished.seconds)
        return Refit(evaluation, measured, ensemble=ensemble), finished

    def _is_best(self, refit: Refit) -> bool:
        """Return True if it is within the limits as a whole, or nearer to them."""
        ranked = rank([self.single.evaluation, refit.evaluation], self.prepared.aims)
        is_inside = is_feasible(refit.evaluation, self.prepared.aims)
        return refit.one_class is None and (is_inside or ranked[0] is refit.evaluation)

    def _do(
        self, kind: TaskKind, given: Mapping[str, Any], share: float, *, keep: bool = False
    ) -> Finished:
        left = self.press.closing.left
        seconds = share * left if math.isfinite(left) else None
        return self.press.do(self.press.dispatch.make(kind, given, seconds, keep=keep))


def _of_enough(prepared: Preparation, pool: Pool, fewest: int) -> Pool:
    """Return the pool without those outside of another limit; with them if few others are there.

    Their mean may still come within it by a threshold.
    """
    left = pool.without(refused_by_others(prepared, pool.evaluations))
    return left if len(left.evaluations) >= fewest else pool


def _as_arrays(rows: Sequence[Cost], members: int) -> Mapping[str, Array]:
    bounds = np.array([(most, alone) for _, most, alone in rows], dtype=float).reshape(-1, 2)
    costs = np.array([values for values, _, _ in rows], dtype=float).reshape(len(rows), members)
    return {"costs": costs.T, "most": bounds[:, 0], "alone": bounds[:, 1]}


def _members_of(ensemble: Ensemble, fitted: Mapping[str, Finished]) -> EnsembleMembers:
    fits = [fitted[one.evaluation.key] for one in ensemble.members]
    results = [FinalFitResult.from_json(one.result) for one in fits]
    return EnsembleMembers(
        names=tuple(one.name for one in ensemble.members),
        weights=tuple(one.weight for one in ensemble.members),
        contents=tuple(_content(one) for one in fits),
        fit_seconds=sum(one.fit_seconds for one in results),
        peak_mb=max(one.peak_mb for one in results),
    )


def room_for_members(prepared: Preparation, refit: Refit, ensemble: Ensemble) -> dict[int, float]:
    """Return by the place of a limit what members may cost together, so that the whole is within.

    Of members that cost S together and g as a whole, that is a little less than S ε / g. Empty if
    cheaper members do not mend it: it calls all rows the same, or breaks a limit of another kind.
    """
    if refit.one_class is not None:
        return {}
    pairs = zip(prepared.aims, refit.evaluation.constraints, strict=True)
    broken = {place: value for place, (aim, value) in enumerate(pairs) if not aim.holds(value)}
    room: dict[int, float] = {}
    for place, value in broken.items():
        aim, constraint = prepared.aims[place], prepared.constraints[place]
        together = sum(one.evaluation.constraints[place] for one in ensemble.members)
        if not constraint.adds_up or aim.at_least or not 0.0 < together < math.inf:
            return {}
        room[place] = LESS * together * aim.bound / value
    return room


def _content(finished: Finished) -> bytes:
    """Return the pickle of a fitted member; raise if it is not the file that was written."""
    content = read_told(finished, PICKLE)
    if content is None:
        raise AutomlAdmmError("a fitted member of the ensemble was lost.")
    return content


def _with_costs(found: EvaluationResult, measured: FinalFitResult) -> EvaluationResult:
    """Return the evaluation with the costs of the whole in place of unknown values."""
    pairs = zip(found.constraints, measured.costs, strict=True)
    values = tuple(cost if math.isnan(value) else value for value, cost in pairs)
    return replace(found, constraints=values)


def _say_gain(choice: Choice) -> str:
    """Say what an ensemble gains on rows that did not choose it, where that is too little."""
    if not choice.has_several:
        return "no average of several was better on the rows that choose"
    if not math.isfinite(choice.gain):
        return "the gain of the best average cannot be told from these folds"
    told = f"the best average gains {choice.gain:+.4g} ± {choice.error:.2g}"
    return f"{told} on rows that did not choose it"


def _say_outside(prepared: Preparation, refit: Refit) -> str:
    pairs = zip(prepared.aims, refit.evaluation.constraints, strict=True)
    broken = [f"{limit}: {value:.4g}" for limit, value in pairs if not limit.holds(value)]
    only = f"calls every row '{refit.one_class}'"
    return f"is outside the limits ({'; '.join(broken)})" if broken else only


def _tell(what: str, finished: Finished) -> None:
    logger.warning("%s: %s", what, say_end(finished))
