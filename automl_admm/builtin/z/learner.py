"""Shared by learning z-solvers: a record of losses, and a frame against repetition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from automl_admm.core.space import SearchSpace, Selection, draw
from automl_admm.core.subproblems import Observation, SelectionSubproblem

# Tries to find a new selection, near the best and anywhere.
NEIGHBOURS = 16
DRAWS = 64


@dataclass
class Record:
    """The latest loss of every selection; a failure's loss is infinite.

    Losses are re-priced in each sub-problem, so solvers keep this record and derive the rest from
    it: nothing is counted twice. `here` holds the selections known with the parameters of the
    present sub-problem; others may be worth evaluating again.
    """

    losses: dict[Selection, float] = field(default_factory=dict)
    here: set[Selection] = field(default_factory=set)

    def start_on(self, subproblem: SelectionSubproblem) -> None:
        """Take all known losses at today's prices; fill `here` from the history."""
        self._take(subproblem.elsewhere)
        # New parameters: evaluations with the old ones do not answer for the new ones.
        self.here = set()
        self.enter(subproblem.history)

    def enter(self, observations: Iterable[Observation[Selection]]) -> None:
        """Take observations made with the parameters of the present sub-problem."""
        self.here.update(self._take(observations))

    def _take(self, observations: Iterable[Observation[Selection]]) -> list[Selection]:
        """Keep the latest loss of each selection."""
        taken = []
        for observation in observations:
            loss = np.inf if observation.is_lost else float(observation.loss)
            self.losses[observation.point] = loss
            taken.append(observation.point)
        return taken

    def succeeded(self) -> dict[Selection, float]:
        """Return the losses of the successes."""
        return {point: loss for point, loss in self.losses.items() if np.isfinite(loss)}

    def best(self) -> Selection | None:
        """Return the selection with the smallest loss, if any succeeded."""
        return min(found, key=found.__getitem__) if (found := self.succeeded()) else None


class Learner(ABC):
    """A z-solver with a record that avoids repetition within a sub-problem.

    The start comes first. `_propose` names the solver's next selection; if it is known or pending,
    a neighbour of the best or a draw replaces it.
    """

    def __init__(self) -> None:
        self._space = SearchSpace()
        self._rng = np.random.default_rng(0)
        self._record = Record()
        self._first: list[Selection] = []

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions; earlier observations stay, at today's prices."""
        # Identity first: comparing two spaces takes time, and it is mostly the same object.
        if subproblem.space is not self._space and subproblem.space != self._space:
            self._record = Record()
        self._space = subproblem.space
        self._rng = np.random.default_rng(subproblem.seed)
        self._record.start_on(subproblem)
        self._first = [] if subproblem.start in self._record.here else [subproblem.start]

    def ask(self, count: int, pending: Sequence[Selection]) -> Sequence[Selection]:
        """Propose one by one, each with the earlier ones taken as pending."""
        proposals, self._first = self._first[:count], self._first[count:]
        while len(proposals) < count:
            waiting = [*pending, *proposals]
            taken = self._record.here.union(waiting)
            proposal = self._propose(waiting, taken)
            if proposal is None or proposal in taken:
                # A selection answered from the log would teach nothing and use up the ask.
                proposal = self._something_new(taken)
            proposals.append(proposal)
        return proposals

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Record observations."""
        self._record.enter(observations)

    @abstractmethod
    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        """Return the next selection; `taken` are those known here or pending."""

    def _something_new(self, taken: Collection[Selection]) -> Selection:
        """Return a neighbour of the best, else a draw; a repeat if hardly any can be left.

        A repeat costs no evaluation: it lets the sub-problem end.
        """
        best = self._record.best()
        if best is not None:
            near = first_new(lambda: neighbour(self._space, best, self._rng), taken, NEIGHBOURS)
            if near is not None:
                return near
        drawn = first_new(lambda: self._space.sample(self._rng), taken, DRAWS)
        return drawn or best or self._space.sample(self._rng)


def first_new(
    make: Callable[[], Selection], taken: Collection[Selection], tries: int
) -> Selection | None:
    """Return the first of a few selections not taken."""
    return next((made for _ in range(tries) if (made := make()) not in taken), None)


def neighbour(
    space: SearchSpace, selection: Selection, rng: np.random.Generator, *, fixed: str = ""
) -> Selection:
    """Change one active decision, never the `fixed` one, and the decisions it makes active.

    A choice is drawn anew; two items of an order change places.
    """
    kept = dict(selection.picks)
    movable = [name for name in kept if name != fixed]
    if movable:
        name = movable[int(rng.integers(len(movable)))]
        pick = kept.pop(name)
        if not isinstance(pick, str):
            kept[name] = _swapped(pick, rng)
    # Draws for decisions that become active; the picks kept from the selection win.
    drawn = {decision.name: draw(decision, rng) for decision in space.decisions}
    return space.complete({**drawn, **kept})


def _swapped(items: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    moved = list(items)
    # The places may be equal; then nothing changes, and the caller tries again.
    one, other = (int(place) for place in rng.integers(len(moved), size=2))
    moved[one], moved[other] = moved[other], moved[one]
    return tuple(moved)
