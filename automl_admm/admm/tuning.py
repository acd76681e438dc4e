"""What has been tuned so far, and what to tune next where neither block improves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from automl_admm.search import SearchProblem
from automl_admm.space import SearchSpace, Selection


class Excursion(NamedTuple):
    """A selection to tune, in this round as precisely as the search was in that iteration."""

    selection: Selection
    round: int


class _Standing(NamedTuple):
    """How a selection stands among those that could be tuned next; the least is taken.

    `round` is how often those of its parameters were tuned that were tuned least, `visits` how
    often an excursion was for parameters of the same decision.
    """

    round: int
    visits: int
    price: float


@dataclass
class Tunings:
    """The evaluations of the last θ-min on each selection; how often each parameter had one."""

    space: SearchSpace
    _precision: dict[Selection, int] = field(default_factory=dict)
    _rounds: Counter[int] = field(default_factory=Counter)
    _visits: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, problem: SearchProblem, evaluations: int) -> Tunings:
        """What a search that goes on begins with, when a first θ-min has so many evaluations.

        Which sub-problem an evaluation was for is not on record; but z-min evaluates a selection
        once. So one that was evaluated half as often as by a whole θ-min was tuned: drought ends
        a θ-min no sooner.
        """
        tunings = cls(problem.space)
        counts = Counter(e.candidate.selection for e in problem.known if e.is_whole)
        for selection, count in counts.items():
            if 2 * count >= evaluations:
                tunings.enter(selection, count)
        return tunings

    def enter(self, selection: Selection, evaluations: int) -> None:
        """A θ-min on a selection has ended."""
        self._precision[selection] = evaluations
        self._rounds.update(self.space.active(selection))

    def is_tuned(self, selection: Selection, evaluations: int) -> bool:
        """Whether a θ-min of so many evaluations would be no more than twice the last one."""
        return 2 * self._precision.get(selection, 0) >= evaluations

    def excursion(self, prices: Mapping[Selection, float]) -> Excursion | None:
        """Leave a point where neither block improves; None where nothing can be tuned.

        Such a point need not be a minimum. An alternative that was only ever tried with its
        parameters at their defaults may win once it is tuned, and z-min alone would never take it.
        So θ-min goes to the parameters that were tuned least. Among those all decisions have their
        turn: where one of them holds the whole back, its alternatives look worst of all until they
        are tuned, while those of the others all come to the same. Then the price decides.
        """
        standings = {s: self._standing(s, prices[s]) for s in prices if self.space.active(s)}
        if not standings:
            return None
        selection = min(standings, key=standings.__getitem__)
        self._visits.update(self._least_tuned(selection))
        return Excursion(selection, standings[selection].round)

    def _standing(self, selection: Selection, price: float) -> _Standing:
        visits = min(self._visits[decision] for decision in self._least_tuned(selection))
        return _Standing(self._round(selection), visits, price)

    def _round(self, selection: Selection) -> int:
        return min(self._rounds[place] for place in self.space.active(selection))

    def _least_tuned(self, selection: Selection) -> set[str]:
        """The decisions that the selection's least tuned parameters belong to, "" for none."""
        least = self._round(selection)
        places = (i for i in self.space.active(selection) if self._rounds[i] == least)
        conditions = (self.space.parameters[place].when for place in places)
        return {"" if when is None else when.decision for when in conditions}
