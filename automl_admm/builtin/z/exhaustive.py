"""The z-solver `exhaustive`: every selection once; the oracle of tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.core.space import Choice, Decision, Pick, SearchSpace, Selection, is_active
from automl_admm.core.subproblems import Observation, SelectionSubproblem

# Lists of this length still fit in memory and in the time of a `begin`.
LARGEST = 100_000


class ExhaustiveSelections:
    """Propose all unknown selections in a seeded order, the start first, and then nothing."""

    def __init__(self) -> None:
        self._space: SearchSpace | None = None
        self._all: list[Selection] = []
        self._left: dict[Selection, None] = {}

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Lay out all selections missing from the history."""
        # Enumerating is the slow part, and one run has one space.
        if subproblem.space != self._space:
            self._all = all_selections(subproblem.space)
            self._space = subproblem.space
        # Shuffled, so that a budget smaller than the space still gives a fair sample.
        order = np.random.default_rng(subproblem.seed).permutation(len(self._all))
        shuffled = (self._all[int(place)] for place in order)
        self._left = dict.fromkeys(itertools.chain([subproblem.start], shuffled))
        self.tell(subproblem.history)

    def ask(self, count: int, pending: Sequence[Selection]) -> Sequence[Selection]:
        """Propose the next selections not pending."""
        waiting = set(pending)
        return list(itertools.islice((s for s in self._left if s not in waiting), count))

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Cross off the known ones."""
        for observation in observations:
            self._left.pop(observation.point, None)


def all_selections(space: SearchSpace) -> list[Selection]:
    """Return all selections of a space; raise an error if there are too many."""
    # One more than allowed is enough to know that there are too many.
    found = list(itertools.islice(_enumerate(space.decisions, {}), LARGEST + 1))
    if len(found) > LARGEST:
        raise ConfigurationError(
            f"the search space has more than {LARGEST} selections, too many for 'exhaustive'.",
            hint=Remedy("Take another, such as {z_solver='cmab'}."),
        )
    return found


def _enumerate(decisions: Sequence[Decision], picks: dict[str, Pick]) -> Iterator[Selection]:
    """Yield every completion of the picks made so far; an inactive decision adds nothing."""
    if not decisions:
        yield Selection(tuple(picks.items()))
    elif not is_active(decisions[0].when, picks):
        yield from _enumerate(decisions[1:], picks)
    else:
        for pick in _alternatives(decisions[0]):
            yield from _enumerate(decisions[1:], {**picks, decisions[0].name: pick})


def _alternatives(decision: Decision) -> Iterator[Pick]:
    if isinstance(decision, Choice):
        return iter(decision.alternatives)
    return decision.permutations()
