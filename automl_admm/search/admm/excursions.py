"""What has been tuned so far, and what to tune next where neither block improves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from automl_admm.core.axis_tree import AxisTree
from automl_admm.core.space import SearchSpace, Selection
from automl_admm.search.protocol import SearchProblem


class Excursion(NamedTuple):
    """A selection to tune, as precisely as the search was in the iteration `depth`."""

    selection: Selection
    depth: int


class _Standing(NamedTuple):
    """How a selection stands among those that could be tuned next; the least is taken.

    `round` is how often its least tuned parameter was tuned, `visits` how often an excursion was
    for parameters of the same decision, `times` how often it was tuned itself: alternatives that
    share their parameters differ in nothing else.
    """

    round: int
    visits: int
    times: int
    price: float


@dataclass
class Tunings:
    """How closely each selection was tuned, and how often it and each parameter were.

    `_spent` are the evaluations that all θ-mins came to, `_last` those of a selection's last one
    and what had been spent by its end; `_vain` are the selections whose last one came to nothing.
    """

    space: SearchSpace
    _closest: dict[Selection, int] = field(default_factory=dict)
    _spent: int = 0
    _last: dict[Selection, tuple[int, int]] = field(default_factory=dict)
    _vain: set[Selection] = field(default_factory=set)
    _times: Counter[Selection] = field(default_factory=Counter)
    _rounds: Counter[int] = field(default_factory=Counter)
    _visits: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, problem: SearchProblem, evaluations: int) -> Tunings:
        """What a search that goes on begins with, when a first θ-min has so many evaluations.

        Which sub-problem an evaluation was for is not on record. But a z-min goes from selection
        to selection, and drought ends no θ-min before half of its evaluations: so many in a row
        with one selection were a θ-min, of so many at least.
        """
        tunings = cls(problem.space)
        whole = (evaluation for evaluation in problem.known if evaluation.is_whole)
        for selection, row in groupby(whole, key=lambda e: e.candidate.selection):
            if 2 * (count := len(list(row))) >= evaluations:
                tunings.enter(selection, count, count)
        return tunings

    def enter(self, selection: Selection, evaluations: int, spent: int) -> None:
        """A θ-min on a selection has ended, which might have had so many and has spent so many."""
        self._closest[selection] = max(self._closest.get(selection, 0), evaluations)
        self._spent += spent
        self._last[selection] = (spent, self._spent)
        if spent:
            self._vain.discard(selection)
        else:
            self._vain.add(selection)
        self._times[selection] += 1
        self._rounds.update(self.space.active(selection))

    def is_tuned(self, selection: Selection, evaluations: int) -> bool:
        """Whether a θ-min of so many evaluations has less to gain here than elsewhere.

        It has where it would be no more than twice the closest one, until θ-mins elsewhere came to
        as many evaluations as the last one here: so what is best is never left for good. And it has
        where the last one found nothing new.
        """
        if selection in self._vain:
            return True
        here, by_then = self._last.get(selection, (0, 0))
        is_close = 2 * self._closest.get(selection, 0) >= evaluations
        return is_close and self._spent - by_then < here

    def depart(
        self, prices: Mapping[Selection, float], tried: Mapping[Selection, int]
    ) -> Excursion | None:
        """Leave a point where neither block improves; None where nothing can be tuned.

        Such a point need not be a minimum. An alternative that was only ever tried with its
        parameters at their defaults may win once it is tuned, and z-min alone would never take it.
        So θ-min goes to the parameters that were tuned least. Among those all decisions have their
        turn: where one of them holds the whole back, its alternatives look worst of all until they
        are tuned, while those of the others all come to the same. Then what was tuned least
        itself, then the price decides. `tried` is how many points of each selection are known:
        where these are all there are, nothing can be tuned, and no more where it was in vain.
        """
        left = (s for s in prices if self.space.active(s) and s not in self._vain)
        unknown = (s for s in left if tried.get(s, 0) < self._size(s))
        standings = {
            selection: self._standing(selection, prices[selection]) for selection in unknown
        }
        if not standings:
            return None
        selection = min(standings, key=standings.__getitem__)
        self._visits.update(self._least_tuned(selection))
        standing = standings[selection]
        return Excursion(selection, min(standing.round, standing.times))

    def _size(self, selection: Selection) -> float:
        """How many points there are."""
        return AxisTree([self.space.parameters[i] for i in self.space.active(selection)]).size

    def _standing(self, selection: Selection, price: float) -> _Standing:
        visits = min(self._visits[decision] for decision in self._least_tuned(selection))
        return _Standing(self._round(selection), visits, self._times[selection], price)

    def _round(self, selection: Selection) -> int:
        return min(self._rounds[place] for place in self.space.active(selection))

    def _least_tuned(self, selection: Selection) -> set[str]:
        """The decisions that the selection's least tuned parameters belong to, "" for none."""
        least = self._round(selection)
        places = (i for i in self.space.active(selection) if self._rounds[i] == least)
        conditions = (self.space.parameters[place].when for place in places)
        return {"" if when is None else when.decision for when in conditions}
