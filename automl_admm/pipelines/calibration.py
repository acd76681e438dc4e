"""Probabilities in the order of the scores, learned from out-of-fold scores (Platt's scaling).

A metric of the order, such as AUROC, may choose a pipeline with poor probabilities, or with none.
Two numbers mend that: P(positive | s) = σ(a·s + b), a > 0, where s is the score. The order of the
rows stays, and the thresholds move along, so that every decision stays, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from automl_admm.core.results import EvaluationResult
from automl_admm.core.space import Array
from automl_admm.data.split_choice import count_repeats
from automl_admm.pipelines.calibrated import calibrated
from automl_admm.pipelines.labels import is_turned
from automl_admm.pipelines.limit_values import mean_values
from automl_admm.pipelines.predictions.checks import turn
from automl_admm.pipelines.predictions.measured import Seen
from automl_admm.pipelines.predictions.plain_decisions import told_decisions
from automl_admm.pipelines.thresholds.by_group import BY_DEFAULT, CALIBRATION, Thresholds
from automl_admm.pipelines.thresholds.elsewhere import ELSEWHERE
from automl_admm.pipelines.thresholds.path import PATH, DecisionPath
from automl_admm.pipelines.thresholds.single import ALWAYS, DEFAULTS, NEVER, between, response_of

if TYPE_CHECKING:
    from automl_admm.pipelines.work import PipelineWork

# By this share the log loss has to become better: on very many rows any two numbers are better by
# more than chance.
LEAST_GAIN = 0.01
# By Akaike's criterion a fitted number has to make the mean log loss better by 1/n. Standard errors
# of the gain are no measure: one positive row with P = 0 makes them as large as the gain.
FITTED = 2
# σ has ties beyond this, in double precision.
STEEPEST = 30.0
STEPS, PRECISION = 50, 1e-10
# The shipped model rounds σ otherwise than `sigmoid` does: scores that are equal stay on one side.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Calibration:
    """The numbers of σ(slope · s + offset), where s are the scores by the method `response`.

    They are of the positive class, which is the last one.
    """

    slope: float
    offset: float
    response: str

    def as_details(self) -> dict[str, Any]:
        """Return it as plain data for the log of a run."""
        return {"slope": self.slope, "offset": self.offset, "response": self.response}

    @classmethod
    def from_details(cls, found: Mapping[str, Any]) -> Calibration:
        """Read what `as_details` wrote."""
        return cls(float(found["slope"]), float(found["offset"]), str(found["response"]))

    def chances(self, scores: Array) -> Array:
        """Return σ(slope · s + offset)."""
        return sigmoid(self.slope * scores + self.offset)

    def plain_threshold(self, classes: Any) -> float:
        """Return that of plain `predict`: of a tie the first sorted label is decided."""
        here = float(self.chances(np.array([DEFAULTS[self.response]]))[0])
        return here * (1 - ROUNDING if is_turned(classes) else 1 + ROUNDING)

    def around(self, model: Any, classes: Any) -> Any:
        """Return a fitted model with these probabilities; the positive class is the last one."""
        intercept = self.offset
        if is_turned(classes):
            # The last sorted class is the other one: 1 − σ(a s + b) = σ(a (−s) − b), or of a
            # probability, whose other side is 1 − s, σ(a (1 − s) − (a + b)).
            shift = self.slope if self.response == "predict_proba" else 0.0
            intercept = -self.offset - shift
        return calibrated(model, self.slope, intercept, self.response)


def sigmoid(z: Array) -> Array:
    """Return 1 / (1 + exp(−z)), without overflow."""
    found: Array = 0.5 * (1.0 + np.tanh(0.5 * z))
    return np.where(z < 0, np.exp(np.minimum(z, 0)) / (1 + np.exp(np.minimum(z, 0))), found)


def fit_sigmoid(scores: Array, y: Array) -> tuple[float, float] | None:
    """Return slope and offset of Platt's scaling; None unless the slope is positive.

    Its targets are not 0 and 1 but 1 / (N₋ + 2) and (N₊ + 1) / (N₊ + 2), as Platt has them, so that
    separable scores have a finite slope. Newton's method with halved steps, on scaled scores.
    """
    center, scale = float(np.median(scores)), float(np.std(scores))
    positive = float(y.sum())
    # Of equal scores the standard deviation may be a rounding error instead of 0.
    is_constant = scores.min() == scores.max()
    if not 0 < positive < len(y) or is_constant or not 0 < scale < math.inf:
        return None
    x = (scores - center) / scale
    targets = np.where(y == 1, (positive + 1) / (positive + 2), 1 / (len(y) - positive + 2))
    found = _newton(np.column_stack([x, np.ones(len(x))]), targets)
    # Beyond this σ would call different scores the same.
    slope = min(float(found[0]), STEEPEST / float(np.abs(x).max()))
    if not slope > 0:
        return None
    return slope / scale, float(found[1]) - slope * center / scale


def _newton(columns: Array, targets: Array) -> Array:
    weights = np.array([0.0, math.log(targets.mean() / (1 - targets.mean()))])
    loss = _cross_entropy(columns @ weights, targets)
    for _ in range(STEPS):
        chances = sigmoid(columns @ weights)
        gradient = columns.T @ (chances - targets)
        hessian = (columns * (chances * (1 - chances))[:, None]).T @ columns
        step = np.linalg.lstsq(hessian + PRECISION * np.eye(2), gradient, rcond=None)[0]
        size = 1.0
        while _cross_entropy(columns @ (weights - size * step), targets) > loss and size > 1e-6:
            size /= 2
        weights = weights - size * step
        before, loss = loss, _cross_entropy(columns @ weights, targets)
        if before - loss < PRECISION * max(abs(loss), 1.0):
            break
    return weights


def _cross_entropy(z: Array, targets: Array) -> float:
    """Return Σ log(1 + exp(z)) − t z."""
    return float(np.sum(np.logaddexp(0.0, z) - targets * z))


def calibrate(
    work: PipelineWork, seen: Sequence[Seen], decided: Sequence[Seen], found: EvaluationResult
) -> EvaluationResult:
    """Return the evaluation of a pipeline with a calibration in its details, if it has one.

    A pipeline without probabilities gets them; others get better ones, if the log loss says so by
    more than chance. Then every threshold is that of the calibrated probabilities. Scores and
    limits stay what they are to the last digit, else there is no calibration: so a metric or a
    limit on the probabilities themselves keeps those that it has measured. Neither is there one
    beside limits on costs, which were measured without it, after a part of the folds, with weights
    of the rows, which the probabilities are to follow, or where rows may be left undecided.
    """
    is_part = len(seen) < len(work.splits)
    is_weighted = work.table.roles.weights is not None
    is_barred = is_part or is_weighted or any(one.allows_undecided for one in work.constraints)
    if is_barred or any(one.kind != "statistical" for one in work.constraints):
        return found
    rows = _Rows.of(seen)
    calibration = None if rows is None else rows.calibration(count_repeats(work.splits))
    if rows is None or calibration is None:
        return found
    details = rows.moved(found.details, calibration)
    chances = calibration.chances(rows.inner)
    if details is None or not _is_same(work, seen, decided, chances, found):
        return found
    return replace(found, details={**details, CALIBRATION: calibration.as_details()})


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of all folds: `scores` are those of the thresholds, `inner` those to calibrate.

    Both are one for all pipelines but those that have a decision function beside probabilities. At
    the default threshold the rows `called` are positive.
    """

    y: Array
    scores: Array
    inner: Array
    response: str
    outer: str
    called: Any
    classes: Any

    @classmethod
    def of(cls, seen: Sequence[Seen]) -> _Rows | None:
        """Return None for other pipelines than those with scores of two classes."""
        outer = response_of(seen[0].pipeline)
        classes = seen[0].rows.classes
        if not outer or classes is None or len(classes) != 2:
            return None
        if any(one.part.predictions.shape[1:] not in ((), (2,)) for one in seen):
            return None
        known = [one.answers.answer("decision_function") for one in seen]
        scores = np.concatenate([np.asarray(one.part.scores, dtype=float) for one in seen])
        inner, response = scores, outer
        if outer == "predict_proba" and all(np.ndim(one) == 1 for one in known):
            inner = np.concatenate([turn(one, classes) for one in known]).astype(float)
            response = "decision_function"
        y = np.concatenate([one.rows.y for one in seen])
        called = np.concatenate([told_decisions(one) for one in seen]) == 1
        return cls(y, scores, inner, response, outer, called, classes)

    def calibration(self, repeats: float) -> Calibration | None:
        """Fit it; None if what is there is as good, but for chance and one part in a hundred."""
        if not np.isfinite(self.inner).all():
            return None
        numbers = fit_sigmoid(self.inner, self.y)
        if numbers is None:
            return None
        found = Calibration(*numbers, self.response)
        if self.outer == "predict_proba":
            loss = self._log_loss(self.scores)
            gain = loss - self._log_loss(found.chances(self.inner))
            # A row that stands several times among these rows counts once.
            if not gain - FITTED * repeats / len(self.y) > LEAST_GAIN * loss:
                return None
        return found

    def _log_loss(self, chances: Array) -> float:
        least = float(np.finfo(float).eps)
        own = np.where(self.y == 1, chances, 1.0 - chances)
        return float(-np.mean(np.log(np.clip(own, least, 1.0))))

    def moved(self, details: Mapping[str, Any], calibration: Calibration) -> dict[str, Any] | None:
        """Return details with the thresholds of the chances; None if a decision would change."""
        path = DecisionPath.from_details(details)
        stops = () if path is None else path.stops
        single, groups = details.get("threshold"), details.get("group_thresholds", {})
        mover = _Mover(self, calibration, calibration.chances(self.inner))
        own = mover.default() if single is None else mover.move(float(single))
        tried = [stop.thresholds for stop in stops]
        every = {bar for one in tried for bar in (one.single, *one.by_group.values())}
        every |= {float(one) for one in groups.values()}
        elsewhere = details.get(ELSEWHERE, ())
        every |= {float(one["threshold"]) for one in elsewhere}
        moved = {bar: mover.move(bar) for bar in every}
        bars = {bar: one for bar, one in moved.items() if one is not None}
        if own is None or len(bars) < len(moved):
            return None

        def move(one: Thresholds) -> Thresholds:
            by_group = {name: bars[bar] for name, bar in one.by_group.items()}
            return Thresholds(bars[one.single], by_group)

        by_group = {name: bars[float(bar)] for name, bar in groups.items()}
        found = {**details, **Thresholds(own, by_group).as_details()}
        if single is None:
            found[BY_DEFAULT] = True
        if path is not None:
            along = tuple(replace(stop, thresholds=move(stop.thresholds)) for stop in stops)
            found[PATH] = DecisionPath(path.utility, along).as_details()
        if elsewhere:
            found[ELSEWHERE] = [one | {"threshold": bars[one["threshold"]]} for one in elsewhere]
        return found


@dataclass(frozen=True, eq=False)
class _Mover:
    """Finds the threshold among chances that decides as one among scores does."""

    rows: _Rows
    calibration: Calibration
    chances: Array

    def default(self) -> float | None:
        """Return that of the pipeline's own decisions; None if no threshold decides so."""
        candidate = self.calibration.plain_threshold(self.rows.classes)
        return self._first(self.rows.called, [candidate])

    def move(self, threshold: float) -> float | None:
        """Return it by the formula where the chances are of these very scores, else by rank."""
        if math.isinf(threshold):
            return threshold
        is_formula = self.rows.response == self.rows.outer
        here = self.calibration.chances(np.array([threshold] if is_formula else []))
        return self._first(self.rows.scores >= threshold, (here * (1 - ROUNDING)).tolist())

    def _first(self, called: Any, candidates: Sequence[float]) -> float | None:
        """Return the first that decides so, or else one between these rows; None if none does."""
        below = int(np.sum(~called))
        ordered = np.sort(self.chances)
        # Beyond all rows a threshold is infinite, as it is among scores.
        by_rank = ALWAYS if not below else NEVER if called.sum() == 0 else between(ordered, below)
        for one in (*candidates, by_rank):
            if np.array_equal(self.chances >= one, called):
                return one
        return None


def _is_same(
    work: PipelineWork,
    seen: Sequence[Seen],
    decided: Sequence[Seen],
    chances: Array,
    found: EvaluationResult,
) -> bool:
    """Return True if scores and limits are the same with other probabilities."""
    from automl_admm.pipelines.ensembles.replayed import replay

    ends = np.cumsum([len(one.rows.y) for one in seen])[:-1]
    scores, parts = [], []
    try:
        for one, own, part in zip(seen, decided, np.split(chances, ends), strict=True):
            again = replay(one.rows, np.column_stack([1.0 - part, part]))
            measured = work.measure(again, one.rows, 0.0)
            scores.append(own.score if one.by_decisions else measured.score)
            decisions = own.part.decisions
            replayed = replace(measured.part, decisions=decisions)
            parts.append(replayed)
        values = mean_values(work.constraints, parts)
    except Exception:  # noqa: BLE001 - a metric or a limit is anybody's code
        return False
    # A limit without a value before has none now.
    is_same = np.array_equal(np.array(values), np.array(found.constraints), equal_nan=True)
    return scores == found.details["scores"] and is_same
