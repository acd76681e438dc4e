"""The last part of a run: its deadline, and the effect of an interrupt on it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TypeVar

from automl_admm.core.errors import StoreError
from automl_admm.core.run import RunResult, Stop, StopReason
from automl_admm.runs.config import RunConfig
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.store.run_folder import RunFolder

ResultT = TypeVar("ResultT")

LAST_SECONDS = 8.0
# How long a fit that runs when an interrupt comes may still go on: another may have to follow.
LAST_OF_A_FIT = 3.0
# Without a deadline a final fit may take so many times as long as an evaluation: then it hangs.
EVALUATIONS_LONG = 10


class Closing:
    """The time left for the final fits; an interrupt meanwhile cuts it short.

    Then a running fit has a few seconds to end, and its successors the rest of eight. Without a
    deadline a fit is ended after its `longest` seconds.
    """

    def __init__(
        self,
        deadline: float | None,
        interrupts: Deferral | None = None,
        longest: float | None = None,
    ) -> None:
        self._deadline = deadline
        self._longest = longest
        self._interrupts = interrupts or Deferral(enabled=False)
        self._heard = self._interrupts.count

    @property
    def is_cut_short(self) -> bool:
        """True after an interrupt since the beginning."""
        return self._interrupts.count > self._heard

    @property
    def is_open_ended(self) -> bool:
        """True without any deadline, be it the budget's or a signal's."""
        return self._deadline is None

    @property
    def deadline(self) -> float | None:
        """The deadline on the monotonic clock; None if there is none."""
        if not self.is_cut_short:
            return self._deadline
        soon = self._interrupts.moment + LAST_SECONDS
        return soon if self._deadline is None else min(self._deadline, soon)

    @property
    def left(self) -> float:
        """Seconds until then, never below 0."""
        deadline = self.deadline
        return math.inf if deadline is None else max(deadline - time.monotonic(), 0.0)

    def limit_of_fit(self, grace: float) -> float | None:
        """Return the time limit of a fit: the seconds left, and a grace."""
        return self._longest if self.deadline is None else self.left + grace

    def unless_interrupted(self, work: Callable[[], ResultT]) -> ResultT | None:
        """Return the result of work that can be left out; None if an interrupt ended it."""
        try:
            return work()
        except KeyboardInterrupt:
            # A first one is raised only where it cannot be noted, as in a call from Python.
            if self.is_cut_short:
                raise
            return None

    def overdue(self, begun: float, patience: float = LAST_OF_A_FIT) -> bool:
        """Return True if a fit begun then has had its time, its `patience`, since an interrupt."""
        if not self.is_cut_short or begun > self._interrupts.moment:
            return False
        return time.monotonic() > self._interrupts.moment + patience

    @property
    def end(self) -> Stop | None:
        """The end of the run, if an interrupt came."""
        return Stop(self._interrupts.reason) if self.is_cut_short else None


def close_after(result: RunResult, config: RunConfig, interrupts: Deferral) -> Closing:
    """Return the time left after a search.

    A terminated process is killed soon: then the rest has to be done in a few seconds.
    """
    deadline = config.deadline
    if result.stop.reason is StopReason.TERMINATION:
        soon = time.monotonic() + LAST_SECONDS
        deadline = soon if deadline is None else min(deadline, soon)
    return Closing(deadline, interrupts, longest=EVALUATIONS_LONG * config.limit_of_one)


def raise_lost_store(stop: Stop, folder: RunFolder | None) -> None:
    """Raise if the store failed in the search: the best until then is saved by now."""
    if stop.reason is StopReason.LOST_STORE and folder is not None:
        raise StoreError(f"{stop}.", hint="The best until then is saved beside it.")
