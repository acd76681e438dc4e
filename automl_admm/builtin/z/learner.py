"""What the learning z-solvers share: a record of losses, and a frame that avoids repeats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from automl_admm.core.problem import Observation, SelectionSubproblem
from automl_admm.core.space import SearchSpace, Selection, draw

NEIGHBOURS = 16
DRAWS = 64


@dataclass
class Record:
    """The latest loss of every selection; a failure's loss is infinite.

    Losses are re-priced from sub-problem to sub-problem, so solvers keep this and work out anew
    what follows from it: nothing is counted twice. `here` are the selections that are known with
    the parameters of the present sub-problem; the others may be worth evaluating again.
    """

    losses: dict[Selection, float] = field(default_factory=dict)
    here: set[Selection] = field(default_factory=set)

    def start_on(self, subproblem: SelectionSubproblem) -> None:
        """Take all that is known at today's prices; `here` is what is known with its parameters."""
        self._take(subproblem.elsewhere)
        self.here = set()
        self.enter(subproblem.history)

    def enter(self, observations: Iterable[Observation[Selection]]) -> None:
        """Take what was observed with the parameters of the present sub-problem."""
        self.here.update(self._take(observations))

    def _take(self, observations: Iterable[Observation[Selection]]) -> list[Selection]:
        """The latest loss of each selection."""
        taken = []
        for observation in observations:
            loss = np.inf if observation.is_lost else float(observation.loss)
            self.losses[observation.point] = loss
            taken.append(observation.point)
        return taken

    def succeeded(self) -> dict[Selection, float]:
        """The losses of those that did not fail."""
        return {point: loss for point, loss in self.losses.items() if np.isfinite(loss)}

    def best(self) -> Selection | None:
        """The selection of the smallest loss, if anything succeeded."""
        return min(found, key=found.__getitem__) if (found := self.succeeded()) else None


class Learner(ABC):
    """A z-solver that keeps a record, and repeats nothing in a sub-problem while more is left.

    The start comes first. A solver says in `_propose` what it would try next; where that is known
    or pending it is replaced by a neighbour of the best, or by a draw.
    """

    def __init__(self) -> None:
        self._space = SearchSpace()
        self._rng = np.random.default_rng(0)
        self._record = Record()
        self._first: list[Selection] = []

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions; what was told before stays, at the price of today."""
        if subproblem.space is not self._space and subproblem.space != self._space:
            self._record = Record()
        self._space = subproblem.space
        self._rng = np.random.default_rng(subproblem.seed)
        self._record.start_on(subproblem)
        self._first = [] if subproblem.start in self._record.here else [subproblem.start]

    def ask(self, count: int, pending: Sequence[Selection]) -> Sequence[Selection]:
        """Propose one by one, each with those before it taken as pending."""
        proposals, self._first = self._first[:count], self._first[count:]
        while len(proposals) < count:
            waiting = [*pending, *proposals]
            taken = self._record.here.union(waiting)
            proposal = self._propose(waiting, taken)
            if proposal is None or proposal in taken:
                proposal = self._something_new(taken)
            proposals.append(proposal)
        return proposals

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Take down what was observed."""
        self._record.enter(observations)

    @abstractmethod
    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        """What to try next, given what is pending and all that is known here or pending."""

    def _something_new(self, taken: Collection[Selection]) -> Selection:
        """A neighbour of the best, else a draw; a repeat where hardly anything can be left.

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
    """The first of a few selections that is not taken."""
    return next((made for _ in range(tries) if (made := make()) not in taken), None)


def neighbour(
    space: SearchSpace, selection: Selection, rng: np.random.Generator, *, fixed: str = ""
) -> Selection:
    """Change one active decision, never the `fixed` one, and what it makes active with it.

    A choice is drawn anew; of an order two items change places.
    """
    kept = dict(selection.picks)
    movable = [name for name in kept if name != fixed]
    if movable:
        name = movable[int(rng.integers(len(movable)))]
        pick = kept.pop(name)
        if not isinstance(pick, str):
            kept[name] = _swapped(pick, rng)
    drawn = {decision.name: draw(decision, rng) for decision in space.decisions}
    return space.complete({**drawn, **kept})


def _swapped(items: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    moved = list(items)
    one, other = (int(place) for place in rng.integers(len(moved), size=2))
    moved[one], moved[other] = moved[other], moved[one]
    return tuple(moved)
