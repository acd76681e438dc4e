"""Forecast the seconds of a candidate from the log of earlier evaluations.

The logarithm of the seconds is a sum: one part for every alternative taken, one for every number
set, and one for the share of the rows. Bayesian regression learns the parts from the first
evaluation on. With few evaluations the priors hold: the forecast is near the usual, and wide.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Array, Candidate, Pick, SearchSpace
from automl_admm.runs.driving.budget import Budget

# All in logarithms of seconds: what is usual before anything is known, and how far from it.
USUAL = (0.0, 3.0)
FIDELITY = (0.7, 0.3)
ALTERNATIVE = (0.0, 0.75)
PARAMETER = (0.0, 1.0)
NOISE = 0.35
SHORTEST = 1e-3
# The normal distribution is below this in a fifth of cases.
FIFTH = -0.8416
# Enough to know all components well; so a long log costs no more than this many.
MOST_LEARNED = 1000
FAR_OUT = 6.0
# So many in a row that there is no time for: there will hardly come another.
MOST_SKIPPED = 16
CUT_SHORT = frozenset({Status.TIMEOUT, Status.MEMOUT, Status.CANCELLED})
Feature = tuple[str, str]
Prior = tuple[float, float]
Row = list[tuple[Feature, float, Prior]]


@dataclass(frozen=True, slots=True)
class Forecast:
    """The 20, 50 and 80 % quantiles of the evaluation time, in seconds."""

    low: float
    middle: float
    high: float


def cannot_finish(low: float | None, seconds_left: float | None) -> bool:
    """Return True if even the optimistic forecast exceeds the time left."""
    return low is not None and seconds_left is not None and low > seconds_left


class CostModel:
    """Learns the cost of components and parameters from evaluations, and forecasts seconds."""

    def __init__(self, space: SearchSpace) -> None:
        self._space = space
        self._belief = _Belief()
        self._known: set[Feature] = set()
        self._waiting: deque[Evaluation] = deque(maxlen=MOST_LEARNED)

    def learn(self, evaluation: Evaluation) -> None:
        """Learn the seconds of an evaluation; one cut short took at least these.

        A failure of its own tells nothing about the time of a success.
        """
        if evaluation.ok or (evaluation.status in CUT_SHORT and evaluation.seconds > 0.0):
            self._waiting.append(evaluation)

    def expect(self, candidate: Candidate) -> float | None:
        """Return the median of the seconds; None without an opinion."""
        forecast = self.forecast(candidate)
        return None if forecast is None else forecast.middle

    def forecast(self, candidate: Candidate) -> Forecast | None:
        """Forecast the seconds; None if a part of the candidate was never seen to run."""
        while self._waiting:
            self._digest(self._waiting.popleft())
        if not self._belief.is_informed or not self._known.issuperset(_taken(candidate)):
            return None
        mean, variance = self._belief.expect(self._row(candidate))
        spread = FIFTH * math.sqrt(variance)
        return Forecast(math.exp(mean + spread), math.exp(mean), math.exp(mean - spread))

    def _digest(self, evaluation: Evaluation) -> None:
        if evaluation.status is not Status.CANCELLED:
            self._known.update(_taken(evaluation.candidate))
        seconds = math.log(max(evaluation.seconds * _folds_for_one(evaluation), SHORTEST))
        self._belief.learn(self._row(evaluation.candidate), seconds, at_least=not evaluation.ok)

    def _row(self, candidate: Candidate) -> Row:
        """Return the features of a candidate: names, sizes and priors."""
        row: Row = [
            (("", "usual"), 1.0, USUAL),
            (("", "fidelity"), math.log(candidate.fidelity), FIDELITY),
        ]
        row += [(feature, 1.0, ALTERNATIVE) for feature in _taken(candidate)]
        parameters = self._space.parameters
        places = zip(self._space.active(candidate.selection), candidate.theta, strict=True)
        # No decision has the name of a parameter, so that none of its alternatives is meant.
        return row + [((parameters[i].name, ""), unit - 0.5, PARAMETER) for i, unit in places]


def _folds_for_one(evaluation: Evaluation) -> float:
    """Return the number of all folds for each fold run: one stopped early would have taken more."""
    done = len(evaluation.details.get("scores", ()))
    return (done + evaluation.folds_left) / done if done else 1.0


def _taken(candidate: Candidate) -> list[Feature]:
    """Return the alternatives of a candidate. The order of modules hardly costs anything."""
    picks: list[tuple[str, Pick]] = list(candidate.selection)
    return [(name, pick) for name, pick in picks if isinstance(pick, str)]


class Foresight:
    """Refuses candidates without enough time, as soon as something has succeeded.

    It is the time left, and the time that one evaluation may take: what would be killed at its
    limit is not started. Without a model or a deadline there is time for all.
    """

    def __init__(self, costs: CostModel | None = None, budget: Budget | None = None) -> None:
        self._costs = costs
        self._budget = budget or Budget()
        self._skipped = 0

    def learn(self, evaluation: Evaluation) -> None:
        """Learn from an evaluation that has ended."""
        self._budget.reserve.learn(evaluation)
        if self._costs is not None:
            self._costs.learn(evaluation)

    def reason_to_skip(self, candidate: Candidate, best: Evaluation | None) -> str | None:
        """Return the reason not to start a candidate; None if there is time."""
        left = self._budget.seconds_for_next(best)
        if self._costs is None or best is None or left is None:
            return None
        forecast = self._costs.forecast(candidate)
        if forecast is None:
            self._skipped = 0
            return None
        takes = f"takes about {forecast.middle:.3g} s"
        if cannot_finish(forecast.low, left):
            self._skipped += 1
            return f"{takes}, {max(left, 0.0):.3g} s are left"
        self._skipped = 0
        allowed, _ = self._budget.limit_of_next(best)
        if cannot_finish(forecast.low, allowed):
            return f"{takes}, {allowed:.3g} s are allowed"
        return None

    @property
    def has_given_up(self) -> bool:
        """True after so many refusals in a row: the search may as well end."""
        return self._skipped >= MOST_SKIPPED


class _Belief:
    """A linear model y = wᵀx + ε with Gaussian w; new features extend it.

    Posterior after one observation of y with mean m = wᵀx and variance s² = xᵀPx + σ²:
    w ← w + Px (y − m)/s²,  P ← P − Px (Px)ᵀ (s² − v)/s⁴, v = 0. If only y ≥ b is known, y and v
    are the mean and the variance of the normal distribution (m, s²) cut off below b.
    """

    def __init__(self) -> None:
        self.is_informed = False
        self._places: dict[Feature, int] = {}
        self._weights: Array = np.zeros(0)
        self._covariance: Array = np.zeros((0, 0))

    def expect(self, row: Row) -> tuple[float, float]:
        """The mean and the variance of y; all features must have been met."""
        places = [self._places[feature] for feature, _, _ in row]
        values = np.array([value for _, value, _ in row])
        known = self._covariance[np.ix_(places, places)]
        variance = max(float(values @ known @ values), 0.0) + NOISE**2
        return float(self._weights[places] @ values), variance

    def learn(self, row: Row, y: float, *, at_least: bool) -> None:
        """Learn one value of y, or a lower bound of it."""
        self._meet(row)
        self.is_informed = True
        mean, variance = self.expect(row)
        left = 0.0
        if at_least:
            y, left = _cut_below(mean, variance, y)
        places = [self._places[feature] for feature, _, _ in row]
        gain = self._covariance[:, places] @ np.array([value for _, value, _ in row])
        self._weights += gain * ((y - mean) / variance)
        self._covariance -= np.outer(gain, gain * ((variance - left) / variance**2))

    def _meet(self, row: Row) -> None:
        """Make room for new features, each by its prior and independent of the others."""
        new = {feature: prior for feature, _, prior in row if feature not in self._places}
        if not new:
            return
        old = len(self._places)
        self._places |= {feature: old + number for number, feature in enumerate(new)}
        means, deviations = zip(*new.values(), strict=True)
        covariance = np.diag([0.0] * old + [deviation**2 for deviation in deviations])
        covariance[:old, :old] = self._covariance
        self._covariance = covariance
        self._weights = np.concatenate([self._weights, means])


def _cut_below(mean: float, variance: float, bound: float) -> tuple[float, float]:
    """Return the mean and the variance of a normal distribution truncated to values above b.

    With a = (b − m)/s and the hazard h = φ(a)/(1 − Φ(a)) they are m + s h and s² (1 − h (h − a)).
    """
    deviation = math.sqrt(variance)
    a = (bound - mean) / deviation
    if a > FAR_OUT:  # where what is left is too little to divide by
        return bound + deviation / a, variance / a**2
    above = 0.5 * math.erfc(a / math.sqrt(2.0))
    hazard = math.exp(-0.5 * a * a) / math.sqrt(2.0 * math.pi) / above
    return mean + deviation * hazard, variance * max(1.0 - hazard * (hazard - a), 0.0)
