"""The z-solver `halving`: successive halving over fidelity, asynchronous as in ASHA."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from automl_admm.builtin.z.learner import Record, first_new, neighbour
from automl_admm.builtin.z.sequential import SequentialHalving
from automl_admm.core.problem import AtFidelity, Observation, SelectionSubproblem
from automl_admm.core.protocols import ZSolver
from automl_admm.core.space import SearchSpace, Selection

ETA = 3
FROM_BEST = 0.5
TRIES = 64

Proposed = Selection | AtFidelity[Selection]


class SuccessiveHalving:
    """Halving over fidelity where that may be below 1, over algorithms where it may not."""

    def __init__(self) -> None:
        self._climbing = ClimbingRungs()
        self._sequential = SequentialHalving()
        self._solver: ZSolver = self._sequential

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions."""
        cheaper = subproblem.lowest_fidelity < 1.0
        self._solver = self._climbing if cheaper else self._sequential
        self._solver.begin(subproblem)

    def ask(self, count: int, pending: Sequence[Selection]) -> Sequence[Proposed]:
        """Propose selections, some at a fidelity."""
        return self._solver.ask(count, pending)

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Take down what was observed."""
        self._solver.tell(observations)


def rungs_between(lowest: float) -> tuple[float, ...]:
    """The fidelities lowest, lowest·η, lowest·η², … and 1.

    A rung nearer to 1 than to the one below it, on a log scale, would cost what a whole evaluation
    costs and select from little: it is left out.
    """
    found = [lowest]
    while found[-1] * ETA < 1.0 / math.sqrt(ETA):
        found.append(found[-1] * ETA)
    return (*found, 1.0)


@dataclass
class Rung:
    """The losses at one fidelity, infinite for a failure, and what was sent up from here."""

    fidelity: float
    losses: dict[Selection, float] = field(default_factory=dict)
    promoted: set[Selection] = field(default_factory=set)

    def survivor(self) -> Selection | None:
        """The best of the better third (of n known ⌊n/η⌋) that was not sent up yet, if any."""
        return next(self._climbers(len(self.losses) // ETA), None)

    def next_best(self) -> Selection | None:
        """The best that was not sent up yet, whether among the better third or not."""
        return next(self._climbers(len(self.losses)), None)

    def best(self) -> Selection | None:
        """The best of those that did not fail."""
        found = [point for point, loss in self.losses.items() if np.isfinite(loss)]
        return min(found, key=self.losses.__getitem__, default=None)

    def _climbers(self, count: int) -> Iterator[Selection]:
        ranked = sorted(self.losses, key=self.losses.__getitem__)[:count]
        alive = (point for point in ranked if np.isfinite(self.losses[point]))
        return (point for point in alive if point not in self.promoted)


class ClimbingRungs:
    """Selections begin at the lowest fidelity, and the better third of each rung climbs on.

    Losses are compared within a rung only. Whenever a rung has a survivor that was not sent up it
    is, from the highest such rung; else a new selection enters, half of them drawn and half
    neighbours of the best known. So nothing is ever waited for (ASHA, Li et al. 2020). Whole
    losses last; the rungs begin empty in every sub-problem, whose parameters and prices are others.
    """

    def __init__(self) -> None:
        self._space = SearchSpace()
        self._rng = np.random.default_rng(0)
        self._record = Record()
        self._rungs: list[Rung] = []
        self._entered: set[Selection] = set()
        self._first: list[Selection] = []

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions with empty rungs below the whole."""
        if subproblem.space is not self._space and subproblem.space != self._space:
            self._record = Record()
        self._space = subproblem.space
        self._rng = np.random.default_rng(subproblem.seed)
        self._record.start_on(subproblem)
        self._rungs = [Rung(fidelity) for fidelity in rungs_between(subproblem.lowest_fidelity)]
        self._entered = set(self._record.here)
        self._first = [] if subproblem.start in self._entered else [subproblem.start]

    def ask(self, count: int, pending: Sequence[Selection]) -> Sequence[Proposed]:
        """The start first and whole; then survivors, else new selections."""
        proposals: list[Proposed] = list(self._first[:count])
        self._entered.update(pending, self._first[:count])
        self._first = self._first[count:]
        while len(proposals) < count:
            proposals.append(self._promoted() or self._entrant())
        return proposals

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Enter losses at their rungs; whole ones are what is known for good."""
        self._record.enter(o for o in observations if o.fidelity == 1.0)
        for observation in observations:
            self._entered.add(observation.point)
            for rung in self._rungs if not observation.refused else ():
                if math.isclose(rung.fidelity, observation.fidelity):
                    loss = np.inf if observation.is_lost else float(observation.loss)
                    rung.losses[observation.point] = loss

    def _promoted(self) -> Proposed | None:
        """A survivor of the highest rung that has one, at the fidelity above it."""
        for place in reversed(range(len(self._rungs) - 1)):
            point = self._rungs[place].survivor()
            if point is not None:
                return self._send_up(place, point)
        return None

    def _send_up(self, place: int, point: Selection) -> Proposed:
        self._rungs[place].promoted.add(point)
        above = self._rungs[place + 1].fidelity
        return point if above == 1.0 else AtFidelity(point, above)

    def _entrant(self) -> Proposed:
        """A new selection at the lowest rung; where none is left the next best climbs."""
        point = first_new(self._make, self._entered, TRIES)
        if point is not None:
            self._entered.add(point)
            return AtFidelity(point, self._rungs[0].fidelity)
        for place in reversed(range(len(self._rungs) - 1)):
            left = self._rungs[place].next_best()
            if left is not None:
                return self._send_up(place, left)
        return self._best() or self._space.sample(self._rng)

    def _make(self) -> Selection:
        best = self._best()
        if best is None or self._rng.random() >= FROM_BEST:
            return self._space.sample(self._rng)
        return neighbour(self._space, best, self._rng)

    def _best(self) -> Selection | None:
        """The best whole one; before there is any, the best of the highest rung that has one."""
        found = (rung.best() for rung in reversed(self._rungs[:-1]))
        return self._record.best() or next((point for point in found if point is not None), None)
