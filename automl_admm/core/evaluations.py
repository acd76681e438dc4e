"""Evaluations: the lines of a run's log, and the test that one is within all limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate

# The key, in the details of an evaluation, of the class given to all rows, if there is only one.
ONE_CLASS = "one_class"
# The same for the number of folds not run, because it was clearly behind the best one.
FOLDS_LEFT = "folds_left"
# The same for the moment at which it ended: seconds since 1970, in UTC. Older logs have none.
ENDED = "ended"
# The same for one taken over from another run: the name of that run, and its number there.
REUSED = "reused"
# The ending of one with folds left, as it is told. In the log it is a success: it has a loss.
STOPPED = "stopped"


class Status(StrEnum):
    """The end of an evaluation. Being outside the limits is a result, not a failure.

    >>> Status("timeout") is Status.TIMEOUT
    True
    """

    # Run folders store these texts: never rename one.
    SUCCESS = "success"
    TIMEOUT = "timeout"
    MEMOUT = "memout"
    CRASHED = "crashed"
    ERROR = "error"
    INVALID = "invalid"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    LOST = "lost"

    @property
    def is_an_end(self) -> bool:
        """False if the search did not let the evaluation end: it may be evaluated again."""
        return self not in (Status.CANCELLED, Status.LOST)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One line of the log: the candidate, its status, and all measurements.

    >>> Evaluation(1, "key", None, Status.SUCCESS, loss=0.2).ok
    True
    """

    number: int
    key: str
    candidate: Candidate
    status: Status
    loss: float = math.nan
    constraints: tuple[float, ...] = ()
    seconds: float = 0.0
    text: str = ""
    message: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True if there is a loss to learn from."""
        return self.status is Status.SUCCESS

    @property
    def has_ended(self) -> bool:
        """True if it has an end of its own, be it a failure."""
        return self.status.is_an_end

    @property
    def ending(self) -> str:
        """The status in words for a person; "stopped" if it was not run on all the folds."""
        return STOPPED if self.ok and self.folds_left else self.status.value

    @property
    def is_whole(self) -> bool:
        """True if it used all the rows: only whole evaluations are told to every solver."""
        return self.candidate.fidelity == 1.0

    @property
    def folds_left(self) -> int:
        """Number of folds not run, because it was clearly behind; then its loss is a forecast."""
        return int(self.details.get(FOLDS_LEFT, 0))

    @property
    def ended(self) -> float | None:
        """Moment of its end in seconds since 1970; None if nobody noted it."""
        found = self.details.get(ENDED)
        return None if found is None else float(found)

    @property
    def is_reused(self) -> bool:
        """True if another run made it: it costs this one nothing."""
        return REUSED in self.details

    @property
    def is_ranked(self) -> bool:
        """True if it succeeded on all the rows and all the folds: only such a one may ship."""
        return self.ok and self.is_whole and not self.folds_left

    @property
    def one_class(self) -> str | None:
        """Class given to all rows; None if there are several, or no classes."""
        found = self.details.get(ONE_CLASS)
        return None if found is None else str(found)


def is_feasible(evaluation: Evaluation, limits: Sequence[Limit]) -> bool:
    """Return True if an evaluation succeeded and is within every limit.

    Predicting one class for all rows is never feasible: it would keep limits on decisions by
    deciding nothing.
    """
    if not evaluation.ok or evaluation.one_class is not None:
        return False
    pairs = zip(limits, evaluation.constraints, strict=True)
    return all(limit.holds(value) for limit, value in pairs)
