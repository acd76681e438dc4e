"""The z-solver `halving`: successive halving over fidelity, asynchronous as in ASHA."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from automl_admm.builtin.z.learner import Record, first_new, neighbour
from automl_admm.builtin.z.sequential import SequentialHalving
from automl_admm.core.protocols import ZSolver
from automl_admm.core.space import SearchSpace, Selection
from automl_admm.core.subproblems import AtFidelity, Observation, SelectionSubproblem

# η of the papers: one third of a rung climbs, to three times the fidelity.
ETA = 3
# Share of entrants that are neighbours of the best; the others are draws.
FROM_BEST = 0.5
TRIES = 64

Proposed = Selection | AtFidelity[Selection]


class SuccessiveHalving:
    """Halving over fidelity if it may be below 1, else over algorithms."""

    def __init__(self) -> None:
        self._climbing = ClimbingRungs()
        self._sequential = SequentialHalving()
        self._solver: ZSolver = self._sequential

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions."""
        # Without cheaper evaluations there are no rungs to climb.
        cheaper = subproblem.lowest_fidelity < 1.0
        self._solver = self._climbing if cheaper else self._sequential
        self._solver.begin(subproblem)

    def ask(self, count: int, pending: Sequence[Selection]) -> Sequence[Proposed]:
        """Propose selections, some at a fidelity."""
        return self._solver.ask(count, pending)

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Pass observations on."""
        self._solver.tell(observations)


def rungs_between(lowest: float) -> tuple[float, ...]:
    """Return the fidelities lowest, lowest·η, lowest·η², … and 1.

    A rung nearer to 1 than to the one below it, on a log scale, would cost nearly a whole
    evaluation and select from few: it is left out.
    """
    found = [lowest]
    while found[-1] * ETA < 1.0 / math.sqrt(ETA):
        found.append(found[-1] * ETA)
    return (*found, 1.0)


@dataclass
class Rung:
    """The losses at one fidelity, infinite for a failure, and the selections already promoted."""

    fidelity: float
    losses: dict[Selection, float] = field(default_factory=dict)
    promoted: set[Selection] = field(default_factory=set)

    def survivor(self) -> Selection | None:
        """Return the best of the top third (⌊n/η⌋ of n) not promoted yet, if any."""
        return next(self._climbers(len(self.losses) // ETA), None)

    def next_best(self) -> Selection | None:
        """Return the best selection not promoted yet, in the top third or not."""
        return next(self._climbers(len(self.losses)), None)

    def best(self) -> Selection | None:
        """Return the best of the successes."""
        found = [point for point, loss in self.losses.items() if np.isfinite(loss)]
        return min(found, key=self.losses.__getitem__, default=None)

    def _climbers(self, count: int) -> Iterator[Selection]:
        ranked = sorted(self.losses, key=self.losses.__getitem__)[:count]
        alive = (point for point in ranked if np.isfinite(self.losses[point]))
        return (point for point in alive if point not in self.promoted)


class ClimbingRungs:
    """Start selections at the lowest fidelity; the top third of each rung climbs on.

    Losses are compared within a rung only. A survivor not promoted yet climbs at once, from the
    highest such rung; if there is none, a new selection enters, half of them drawn and half
    neighbours of the best. So no proposal ever waits (ASHA, Li et al. 2020). Whole losses last. The
    rungs begin empty in every sub-problem, because its parameters and prices are new.
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
        # Selections known whole have nothing to climb for.
        self._entered = set(self._record.here)
        self._first = [] if subproblem.start in self._entered else [subproblem.start]

    def ask(self, count: int, pending: Sequence[Selection]) -> Sequence[Proposed]:
        """Propose the start first and whole; then survivors, else new selections."""
        proposals: list[Proposed] = list(self._first[:count])
        self._entered.update(pending, self._first[:count])
        self._first = self._first[count:]
        while len(proposals) < count:
            proposals.append(self._promoted() or self._entrant())
        return proposals

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Enter losses at their rungs; the record keeps whole ones for good."""
        self._record.enter(o for o in observations if o.fidelity == 1.0)
        for observation in observations:
            self._entered.add(observation.point)
            # A refused selection was never evaluated, so it belongs to no rung.
            for rung in self._rungs if not observation.refused else ():
                if math.isclose(rung.fidelity, observation.fidelity):
                    loss = np.inf if observation.is_lost else float(observation.loss)
                    rung.losses[observation.point] = loss

    def _promoted(self) -> Proposed | None:
        """Return a survivor of the highest rung with one, at the fidelity above it."""
        for place in reversed(range(len(self._rungs) - 1)):
            point = self._rungs[place].survivor()
            if point is not None:
                return self._send_up(place, point)
        return None

    def _send_up(self, place: int, point: Selection) -> Proposed:
        self._rungs[place].promoted.add(point)
        above = self._rungs[place + 1].fidelity
        # A whole evaluation is asked for by the plain point.
        return point if above == 1.0 else AtFidelity(point, above)

    def _entrant(self) -> Proposed:
        """Return a new selection at the lowest rung; if none is left, promote the next best."""
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
        """Return the best whole selection; if there is none, the best of the highest rung."""
        found = (rung.best() for rung in reversed(self._rungs[:-1]))
        return self._record.best() or next((point for point in found if point is not None), None)
