"""The budget: one monotonic deadline, a number of evaluations, and the books of time spent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from automl_admm.problem import Evaluation


@dataclass
class Ledger:
    """Seconds of the parent process by what they went to."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def charge(self, account: str) -> Iterator[None]:
        """Charge the time of a block to an account."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self.seconds[account] = self.seconds.get(account, 0.0) + time.monotonic() - begun


def no_reserve(best: Evaluation | None) -> float:
    """For a run that has nothing to do after its search."""
    del best
    return 0.0


@dataclass(frozen=True)
class Budget:
    """How long a search may last.

    `deadline` is the end of the whole run on the monotonic clock; `reserve` says how many seconds
    before it the search must end, given the best so far: the final fit and the writing are paid
    from that. Of `max_evaluations`, one on a share of the rows takes that share.
    """

    deadline: float | None = None
    max_evaluations: int | None = None
    evaluation_seconds: float | None = None
    reserve: Callable[[Evaluation | None], float] = no_reserve
    clock: Callable[[], float] = time.monotonic

    def seconds_left(self, best: Evaluation | None) -> float | None:
        """Seconds that the search still has; None without a deadline."""
        if self.deadline is None:
            return None
        return self.deadline - self.clock() - self.reserve(best)

    def limit_of_next(self, best: Evaluation | None) -> tuple[float | None, bool]:
        """The time limit of an evaluation that starts now, and whether the budget sets it."""
        left = self.seconds_left(best)
        if left is None:
            return self.evaluation_seconds, False
        if self.evaluation_seconds is None or left < self.evaluation_seconds:
            return left, True
        return self.evaluation_seconds, False
