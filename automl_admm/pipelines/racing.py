"""Racing: an evaluation that is clearly behind the best one stops after its first folds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from automl_admm.core.evaluations import FOLDS_LEFT
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.measured import Seen
from automl_admm.pipelines.thresholds.decider import best_score

# An evaluation that would have been better is stopped in one of twenty cases at most.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Race:
    """An evaluation fold by fold beside a `rival`, whose scores on all folds are known.

    Without a rival it is not stopped. Where a decision threshold is chosen for the metric after the
    last fold, the rival has its own, and this one races at the best threshold that is tried of each
    fold: one for all folds is hardly better.
    """

    metric: Metric
    rival: tuple[float, ...] = ()

    def run(self, folds: Iterable[Seen]) -> list[Seen]:
        """Return the folds up to the one after which it is clearly behind."""
        seen: list[Seen] = []
        for one in folds:
            seen.append(one)
            if self._is_behind(seen):
                break
        return seen

    def _is_behind(self, seen: Sequence[Seen]) -> bool:
        """Return True if it is clearly behind, at the best thresholds where it has any."""
        # One that is not behind at the default threshold is not so at a better one.
        if not is_behind(self._losses(one.score for one in seen), self._bar):
            return False
        return is_behind(self._losses(best_score(self.metric, one) for one in seen), self._bar)

    def loss(self, scores: Sequence[float]) -> float:
        """Return the mean loss; one that was stopped forecasts it."""
        losses = self._losses(scores)
        return foretold_loss(losses, self._bar) if self._left(scores) else float(np.mean(losses))

    def as_details(self, scores: Sequence[float]) -> Mapping[str, int]:
        """Return the number of folds not run, as the log has it, if it was stopped."""
        left = self._left(scores)
        return {FOLDS_LEFT: left} if left else {}

    @property
    def _bar(self) -> list[float]:
        return self._losses(self.rival)

    def _losses(self, scores: Iterable[float]) -> list[float]:
        return [self.metric.loss(score) for score in scores]

    def _left(self, scores: Sequence[float]) -> int:
        return max(len(self.rival) - len(scores), 0)


def is_behind(losses: Sequence[float], rival: Sequence[float]) -> bool:
    """Return True if the folds measured so far exclude a better mean over all folds.

    With the differences d_i = losses_i − rival_i on the first k of K folds, the mean of all K is
    above 0 at this confidence if

        (1/k) Σ_i d_i > t_{K−1} · s · √(1/k − 1/K),

    where t is a quantile of Student's distribution. The spread s is the larger one of the standard
    deviations of the rival's losses and of the differences: folds are easy or hard for all
    pipelines alike, so that the first bounds the second, which one fold does not show.

    >>> is_behind([0.40], [0.20, 0.21, 0.19]), is_behind([0.21], [0.20, 0.21, 0.19])
    (True, False)
    """
    done, folds = len(losses), len(rival)
    if not 0 < done < folds:
        return False
    differences = np.subtract(losses, rival[:done])
    spread = max(map(_deviation, (rival, differences)))
    room = float(stdtrit(folds - 1, CONFIDENCE)) * spread * math.sqrt(1 / done - 1 / folds)
    # A few equal numbers do not show that there is no spread.
    return room > 0 and float(differences.mean()) > room


def foretold_loss(losses: Sequence[float], rival: Sequence[float]) -> float:
    """Forecast the mean loss over all folds: the rival's, and the mean difference so far.

    >>> round(foretold_loss([0.40], [0.20, 0.21, 0.19]), 3)
    0.4
    """
    return float(np.mean(rival) + np.subtract(losses, rival[: len(losses)]).mean())


def _deviation(values: Any) -> float:
    """Return the standard deviation; 0 for equal values, which rounding would hide."""
    return float(np.std(values, ddof=1)) if np.ptp(values) > 0 else 0.0
