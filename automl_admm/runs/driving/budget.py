"""The budget: one monotonic deadline, a number of evaluations, and the books of time spent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.run import Account
from automl_admm.pipelines.fit_results import FoldTimes

# What an evaluation may take of the time left as long as none has succeeded; the last seconds are
# not divided: in what would be left of them nothing else could succeed.
FIRST_SHARE = 0.6
UNDIVIDED = 4.0


class Ledger:
    """Every second of a run by account: at any moment one account is charged.

    A second charged in an inner block is not charged to the outer one. So the accounts add up to
    the time since `begun`, and no second is unexplained.
    """

    def __init__(
        self, begun: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._account = Account.START
        self._since = clock() if begun is None else begun
        self._charged: dict[Account, float] = {}

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of every account up to now."""
        self._turn_to(self._account)
        return {str(account): spent for account, spent in self._charged.items()}

    @contextmanager
    def charge(self, account: Account) -> Iterator[None]:
        """Charge the time of a block to an account, except for the inner blocks."""
        outer = self._account
        self._turn_to(account)
        try:
            yield
        finally:
            self._turn_to(outer)

    def _turn_to(self, account: Account) -> None:
        now = self._clock()
        spent = self._charged.get(self._account, 0.0) + now - self._since
        self._charged[self._account] = spent
        self._account, self._since = account, now


def attribute_work(
    evaluations: Iterable[Evaluation], workers: int, seconds: float
) -> dict[str, float]:
    """Return the worker-seconds of a search by account; they add up to workers · seconds.

    `start` is to fork a child, to hand it its task, and to see it end; `measure` are scores, limits
    and thresholds. An evaluation without a result is `failed` as a whole, or `cancelled` if the
    search ended first. Of a black box only the whole is known, as `evaluate`. A worker without an
    evaluation was `idle`.
    """
    spent: dict[str, float] = {}
    for evaluation in evaluations:
        for account, part in _parts_of(evaluation).items():
            spent[account] = spent.get(account, 0.0) + part
    return spent | {"idle": max(workers * seconds - sum(spent.values()), 0.0)}


def _parts_of(evaluation: Evaluation) -> dict[str, float]:
    """Return the seconds of one evaluation by account."""
    if evaluation.status is Status.CANCELLED:
        return {"cancelled": evaluation.seconds}
    if not evaluation.ok:
        return {"failed": evaluation.seconds}
    times = FoldTimes.of(evaluation)
    if times is None or not times.work_seconds:
        return {"evaluate": evaluation.seconds}
    return {
        "fit": times.folds * times.fit_seconds,
        "predict": times.folds * times.predict_seconds,
        "measure": times.folds * times.measure_seconds,
        "start": max(evaluation.seconds - times.work_seconds, 0.0),
    }


class Reserve:
    """Seconds that a search leaves to what follows it: here always the same, by default none."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds

    def learn(self, evaluation: Evaluation) -> None:
        """Learn from the next evaluation of the log, those of earlier sessions first."""

    def seconds(self, best: Evaluation | None) -> float:
        """Return the seconds to leave, given the best evaluation so far."""
        del best
        return self._seconds

    def longest(self, left: float) -> float:
        """Return the seconds of the longest evaluation that could still ship, of those left."""
        return left


@dataclass(frozen=True)
class Budget:
    """Limits on the length of a search.

    `deadline` is the end of the whole run on the monotonic clock. The search ends a `reserve`
    earlier, given the best so far: it pays for the final fit and the writing. An evaluation on a
    share of the rows counts as this share in `max_evaluations`. Before the first success an
    evaluation may take longer than `evaluation_seconds`: the share `patience` of the time left. So
    a busy machine does not leave a run without any result.
    """

    deadline: float | None = None
    max_evaluations: int | None = None
    evaluation_seconds: float | None = None
    reserve: Reserve = field(default_factory=Reserve)
    clock: Callable[[], float] = time.monotonic
    patience: float = 0.0

    def end_of_search(self, best: Evaluation | None) -> float | None:
        """Return the end of the search on the clock; None without a deadline."""
        return None if self.deadline is None else self.deadline - self.reserve.seconds(best)

    def seconds_left(self, best: Evaluation | None) -> float | None:
        """Return the seconds left to the search; None without a deadline."""
        end = self.end_of_search(best)
        return None if end is None else end - self.clock()

    def seconds_for_next(self, best: Evaluation | None) -> float | None:
        """Return the seconds left to an evaluation started now, if it is to ship."""
        left = self.seconds_left(best)
        if left is None or self.deadline is None:
            return None
        return min(left, self.reserve.longest(self.deadline - self.clock()))

    def limit_of_next(self, best: Evaluation | None) -> tuple[float | None, bool]:
        """Return the time limit of an evaluation started now, and True if the budget sets it."""
        left, limit = self.seconds_for_next(best), self.evaluation_seconds
        if left is None:
            return limit, False
        if limit is not None and best is None and self.patience > 0.0:
            limit = max(limit, self.patience * left, UNDIVIDED)
        return (left, True) if limit is None or left < limit else (limit, False)
