"""The z-solver `genetic`: a steady-state genetic algorithm over selections."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from automl_admm.builtin.z.learner import Learner, first_new, neighbour
from automl_admm.core.space import Decision, Order, Pick, SearchSpace, Selection, draw

TOURNAMENT = 3
TRIES = 16
# Share of children changed in one decision; crossover alone soon repeats itself.
MUTATION = 0.9


class GeneticAlgorithm(Learner):
    """Breed from the best selections on record, two parents by tournament for each child.

    The population is the best part of the record, so it outlives a sub-problem and follows prices.
    """

    def __init__(self, population: int) -> None:
        super().__init__()
        self._population = population

    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        found = self._record.succeeded()
        # Pending draws count, or many workers would draw the first population several times.
        if len(found) + len(waiting) < self._population or not found:
            return first_new(lambda: self._space.sample(self._rng), taken, TRIES)
        alive = sorted(found, key=found.__getitem__)[: self._population]
        return first_new(lambda: self._child(alive), taken, TRIES)

    def _child(self, alive: Sequence[Selection]) -> Selection:
        child = crossover(self._space, self._parent(alive), self._parent(alive), self._rng)
        mutates = self._rng.random() < MUTATION
        return neighbour(self._space, child, self._rng) if mutates else child

    def _parent(self, alive: Sequence[Selection]) -> Selection:
        """Return the winner of a tournament; `alive` is in the order of losses."""
        # The smallest of three random places is the best of three random selections.
        return alive[int(self._rng.integers(len(alive), size=TOURNAMENT).min())]


def crossover(
    space: SearchSpace, mother: Selection, father: Selection, rng: np.random.Generator
) -> Selection:
    """Cross choices uniformly and orders by order crossover.

    A decision active in one parent only is inherited from it; one active in neither is drawn.
    """
    ours, theirs = dict(mother.picks), dict(father.picks)
    picks: dict[str, Pick] = {}
    for decision in space.decisions:
        offered = [
            picks_of[decision.name] for picks_of in (ours, theirs) if decision.name in picks_of
        ]
        picks[decision.name] = _inherit(decision, offered, rng)
    return space.complete(picks)


def _inherit(decision: Decision, offered: Sequence[Pick], rng: np.random.Generator) -> Pick:
    if not offered:
        return draw(decision, rng)
    if isinstance(decision, Order) and len(offered) == 2:
        return order_crossover(tuple(offered[0]), tuple(offered[1]), rng)
    return offered[int(rng.integers(len(offered)))]


def order_crossover(
    mother: tuple[str, ...], father: tuple[str, ...], rng: np.random.Generator
) -> tuple[str, ...]:
    """Keep a stretch of the mother in its place; the others follow in the father's order."""
    low, high = sorted(int(i) for i in rng.integers(len(mother) + 1, size=2))
    # A permutation keeps its items: the rest comes from the father without those kept.
    kept = mother[low:high]
    rest = [item for item in father if item not in kept]
    return (*rest[:low], *kept, *rest[low:])
