"""The parties of a run that its driver works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.protocols import Finished, Store
from automl_admm.runs.driving.budget import Budget, Ledger
from automl_admm.runs.driving.cost_model import Foresight
from automl_admm.runs.driving.dispatch import Dispatcher
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.driving.logbook import NO_PAST, Past

Tell = Callable[..., Sequence[Any]]


class Standby(Protocol):
    """A task beside the evaluations, in case that none of them succeeds."""

    def look(self, best: Evaluation | None) -> None:
        """Start it if it is due; called whenever the driver waits."""

    def take(self, finished: Finished) -> None:
        """Take the end of a task that is no evaluation."""


class NoStandby:
    """Nothing stands by."""

    def look(self, best: Evaluation | None) -> None:
        """Start nothing."""

    def take(self, finished: Finished) -> None:
        """Expect nothing."""


def no_race(best: Evaluation | None) -> Mapping[str, Any]:
    """Race nobody: evaluations are given their candidate alone."""
    del best
    return {}


@dataclass(frozen=True)
class Desk:
    """Own the parties of one run: the executor, the store, the clocks and the listeners.

    The `past` is in the log and the store already, counts in the budget, and answers repeated
    proposals. Candidates refused by `foresight` are not started. An evaluation is given what `race`
    returns for the best one so far. `finish` takes over the files of an ended evaluation.
    """

    dispatch: Dispatcher
    store: Store
    budget: Budget
    tell: Tell
    past: Past = NO_PAST
    ledger: Ledger = field(default_factory=Ledger)
    race: Callable[[Evaluation | None], Mapping[str, Any]] = no_race
    finish: Callable[[Evaluation, Finished], None] | None = None
    foresight: Foresight = field(default_factory=Foresight)
    interrupts: Deferral = field(default_factory=lambda: Deferral(enabled=False))
    standby: Standby = field(default_factory=NoStandby)
