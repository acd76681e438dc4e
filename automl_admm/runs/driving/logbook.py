"""The log of a run while it is driven: every evaluation by its key, and the best of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.protocols import Store
from automl_admm.core.ranking import best_of


@dataclass(frozen=True)
class Past:
    """The evaluations of a run's earlier sessions.

    A repeatable run is made again, with every answer from the log, and so goes on as if it had
    never stopped. Any other run begins with all the known evaluations. Those in `begun` have not
    ended: their numbers by their keys. No number up to `last_number` is given again.
    """

    evaluations: tuple[Evaluation, ...] = ()
    is_repeatable: bool = False
    begun: Mapping[str, int] = field(default_factory=dict)
    last_number: int = 0

    @property
    def told_to_search(self) -> tuple[Evaluation, ...]:
        """The evaluations known to the search from its start."""
        return () if self.is_repeatable else self.evaluations


NO_PAST = Past()


class Logbook:
    """Own the evaluations of a run, those of the past first, and write new ones to the store.

    The store keeps them for good; the logbook answers by key and knows the best. After an error of
    the store it is `lost`: nothing is entered any more, so that both have the same.
    """

    def __init__(self, store: Store, past: Past, limits: Sequence[Limit]) -> None:
        self.evaluations: list[Evaluation] = list(past.evaluations)
        self.best = best_of(past.evaluations, limits)
        self.lost: StoreError | None = None
        self._store = store
        self._limits = limits
        self._by_key = {evaluation.key: evaluation for evaluation in past.evaluations}

    @property
    def last_number(self) -> int:
        """The highest number given so far."""
        return max((evaluation.number for evaluation in self.evaluations), default=0)

    @property
    def spent(self) -> float:
        """The sum of fidelities: the number of whole evaluations spent by this run."""
        return spent_on(self.evaluations)

    def find(self, key: str) -> Evaluation | None:
        """Return the evaluation of this key, if there is one."""
        return self._by_key.get(key)

    def begin(self, number: int, key: str, text: str) -> None:
        """Note the start of an evaluation in the store."""
        with self._noting_loss():
            self._store.begin(number, key, text)

    def enter(self, evaluation: Evaluation) -> None:
        """Keep an ended evaluation in the store, and enter it."""
        with self._noting_loss():
            self._store.append(evaluation)
        self.evaluations.append(evaluation)
        self._by_key[evaluation.key] = evaluation
        if evaluation.ok:
            self.best = best_of([e for e in (self.best, evaluation) if e is not None], self._limits)

    @contextmanager
    def _noting_loss(self) -> Iterator[None]:
        try:
            yield
        except StoreError as problem:
            self.lost = problem
            raise


def spent_on(evaluations: Iterable[Evaluation]) -> float:
    """Return the number of whole evaluations that a run has spent: those reused are free."""
    return sum(one.candidate.fidelity for one in evaluations if not one.is_reused)
