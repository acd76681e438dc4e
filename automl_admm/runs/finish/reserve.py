"""Seconds that a search leaves to the final fits, by what all evaluations of the log have cost."""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Sequence

from automl_admm.core.evaluations import Evaluation
from automl_admm.pipelines.fit_results import FoldTimes
from automl_admm.plugins.records import Constraint
from automl_admm.runs.driving.budget import Reserve
from automl_admm.runs.finish.contenders import contend
from automl_admm.runs.finish.effort import MOST_SLOWDOWN
from automl_admm.runs.finish.ways import Expect, FoldWays, say_unseen
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.runs.prepare.set_aside import Aside

# How busy the machine is now: the last evaluations say it.
LATEST = 5
# Enough to know the usual; a long log costs no more than this many.
MOST_LEARNED = 1000
# A walk seldom takes more final fits; where it does, it uses what time is left.
FITS_OF_A_WALK = 3.0
SHARE_OF_A_WALK = 0.25
# A session that goes on may be short beside the run: it leaves the search so much of its time.
SHARE_OF_A_SESSION = 0.5
# The best pipeline, some more, and the whole of them.
FITS_OF_AN_ENSEMBLE = 6.0
SHARE_OF_AN_ENSEMBLE = 0.1


class FitReserve(Reserve):
    """Reserves one final fit of the best, and stops what would leave too little for its own.

    An evaluation of T seconds that becomes the best needs a final fit of about a + r T seconds,
    with the median ratio r of the log: it ships only if T + a + r T are left. The `quickest` way to
    ship counts for it, such as the models of its folds; by default it is the final fit.
    """

    def __init__(self, expect: Expect, quickest: Expect | None = None) -> None:
        super().__init__()
        self._expect = expect
        self._quickest = quickest or expect
        self._ratios: deque[float] = deque(maxlen=MOST_LEARNED)
        self._slowdowns: deque[float] = deque(maxlen=LATEST)
        self._ratio: float | None = None

    def learn(self, evaluation: Evaluation) -> None:
        """Learn the cost of a final fit beside that of its evaluation."""
        times = FoldTimes.of(evaluation)
        if times is None or not evaluation.is_ranked or evaluation.seconds <= 0.0:
            return
        work = max(self._quickest(evaluation) - self._quickest(None), 0.0)
        self._ratios.append(work / evaluation.seconds)
        self._ratio = None
        # Those of another run tell nothing of this machine.
        if not evaluation.is_reused:
            self._slowdowns.append(times.slowdown)

    def seconds(self, best: Evaluation | None) -> float:
        """Return the seconds of the best one's final fit, on the machine as busy as it is now."""
        return self.expect(best)

    def longest(self, left: float) -> float:
        """Return the seconds T with T + a + r T = left; all that is left before r is known."""
        if not self._ratios:
            return left
        if self._ratio is None:
            self._ratio = statistics.median(self._ratios)
        return (left - self._quickest(None)) / (1.0 + self._ratio)

    def expect(self, evaluation: Evaluation | None) -> float:
        """Forecast a final fit; one that was timed on an idler machine takes longer now."""
        seconds = self._expect(evaluation)
        times = None if evaluation is None else FoldTimes.of(evaluation)
        if times is None or not self._slowdowns:
            return seconds
        busier = statistics.median(self._slowdowns) / times.slowdown
        return seconds * min(max(busier, 1.0), MOST_SLOWDOWN)


class EnsembleReserve(FitReserve):
    """Reserves the final fits of an ensemble.

    More than a tenth of the budget is too much: then it is this tenth, or one fit.
    """

    def __init__(self, expect: Expect, quickest: Expect, budget: float | None) -> None:
        super().__init__(expect, quickest)
        self._most = math.inf if budget is None else SHARE_OF_AN_ENSEMBLE * budget

    def seconds(self, best: Evaluation | None) -> float:
        """Return the seconds of several final fits like that of the best."""
        one = self.expect(best)
        return max(one, min(FITS_OF_AN_ENSEMBLE * one, self._most))


class WalkReserve(FitReserve):
    """Reserves the final fits of a certifying walk: of all pipelines in the order known by now.

    More than a quarter of the budget of all sessions, or half of this one, is too much; but the
    best one and the first in the order are always reserved for.
    """

    def __init__(
        self,
        expect: Expect,
        quickest: Expect,
        constraints: Sequence[Constraint],
        aside: Aside,
        budget: float | None,
        seconds_used: float = 0.0,
    ) -> None:
        super().__init__(expect, quickest)
        self._most = math.inf
        if budget is not None:
            whole = SHARE_OF_A_WALK * (budget + seconds_used)
            self._most = min(whole, SHARE_OF_A_SESSION * budget)
        self._constraints, self._aside = constraints, aside
        self._ranked: dict[str, Evaluation] = {}
        self._order: tuple[Evaluation, ...] = ()
        self._best_of_order: str | None = None

    def learn(self, evaluation: Evaluation) -> None:
        """Learn its cost, and that it may be tested."""
        super().learn(evaluation)
        if evaluation.is_ranked:
            self._ranked[evaluation.key] = evaluation

    def seconds(self, best: Evaluation | None) -> float:
        """Return the seconds of the walk; its order is made anew when there is a new best."""
        if best is not None and best.key != self._best_of_order:
            ordered = contend(tuple(self._ranked.values()), self._constraints, self._aside)
            keys = dict.fromkeys(one.key for one in ordered)
            self._best_of_order, self._order = best.key, tuple(map(self._ranked.__getitem__, keys))
        one = self.expect(best)
        known = [self.expect(evaluation) for evaluation in self._order]
        least = max([one, *known[:1]])
        return max(least, min(max(FITS_OF_A_WALK * one, sum(known)), self._most))


def reserve_of(prepared: Preparation, fit: Expect, ways: FoldWays, *, may_keep: bool) -> FitReserve:
    """Reserve the time of one final fit, or of those of an ensemble or a certifying walk.

    Where evaluations keep the models of their folds, they may ship by these.
    """
    config = prepared.config
    expect = ways.seconds if ways.is_asked and ways.is_wanted else fit

    def quickest(evaluation: Evaluation | None) -> float:
        kept = ways.expect(evaluation, True)  # noqa: FBT003 - a forecast's only fact
        return min(expect(evaluation), kept) if may_keep and ways.is_wanted else expect(evaluation)

    if prepared.aside is not None:
        walk, times = (prepared.constraints, prepared.aside), (config.seconds, config.seconds_used)
        return WalkReserve(expect, quickest, *walk, *times)
    if config.ensemble and not ways.is_asked and say_unseen(prepared.constraints) is None:
        return EnsembleReserve(expect, quickest, config.seconds)
    return FitReserve(expect, quickest)
