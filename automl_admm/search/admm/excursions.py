"""A record of all tuning so far, and excursions: the next selection if neither block improves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from automl_admm.core.space import SearchSpace, Selection
from automl_admm.core.structure.axis_tree import AxisTree
from automl_admm.search.protocol import SearchProblem


class Excursion(NamedTuple):
    """A selection to tune, as precisely as the search was in the iteration `depth`."""

    selection: Selection
    depth: int


class _Standing(NamedTuple):
    """The rank of a selection among those to tune next; the least goes first.

    `round` counts tunings of its least tuned parameter, `visits` the excursions for parameters of
    the same decision, `times` its own tunings: alternatives with shared parameters differ in
    nothing else.
    """

    round: int
    visits: int
    times: int
    price: float


@dataclass
class Tunings:
    """The closest tuning of each selection, and the number of tunings of it and of each parameter.

    `_spent` counts the evaluations of all θ-mins, `_last` those of a selection's last θ-min with
    the total by its end; `_vain` holds selections with a last θ-min that found nothing.
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
        """Rebuild the tunings of a resumed search; `evaluations` is the number of a first θ-min.

        The log does not name the sub-problem of an evaluation. But z-min goes from selection to
        selection, and drought ends no θ-min before half of its evaluations. So a run of that length
        with one selection was a θ-min, of at least so many evaluations.
        """
        tunings = cls(problem.space)
        whole = (evaluation for evaluation in problem.known if evaluation.is_whole)
        for selection, row in groupby(whole, key=lambda e: e.candidate.selection):
            if 2 * (count := len(list(row))) >= evaluations:
                tunings.enter(selection, count, count)
        return tunings

    def enter(self, selection: Selection, evaluations: int, spent: int) -> None:
        """Record the end of a θ-min: its allowance in `evaluations`, the number `spent`."""
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
        """Return True if a θ-min of so many evaluations has less to gain here than elsewhere.

        It has while it is at most twice as long as the closest one, until θ-mins elsewhere have
        spent as many evaluations as the last one here: so the best selection is never left for
        good. It also has if the last one found nothing new.
        """
        if selection in self._vain:
            return True
        here, by_then = self._last.get(selection, (0, 0))
        is_close = 2 * self._closest.get(selection, 0) >= evaluations
        return is_close and self._spent - by_then < here

    def depart(
        self, prices: Mapping[Selection, float], tried: Mapping[Selection, int]
    ) -> Excursion | None:
        """Leave a point if neither block improves; return None if no selection can be tuned.

        Such a point need not be a minimum. An alternative tried only with its parameters at their
        defaults may win once it is tuned, and z-min alone would never take it. So θ-min goes to the
        least tuned parameters. Among those all decisions have their turn: if one decision holds the
        whole back, its alternatives look worst of all until they are tuned, while those of the
        others all cost the same. Next the least tuned selection goes first, then the cheapest.
        `tried` counts the known points of each selection: if there are no more, it cannot be tuned;
        nor can it after a θ-min in vain.
        """
        left = (s for s in prices if self.space.active(s) and s not in self._vain)
        unknown = (s for s in left if tried.get(s, 0) < self._size(s))
        standings = {
            selection: self._standing(selection, prices[selection]) for selection in unknown
        }
        if not standings:
            return None
        # Ties go to the first in the log: equal seeds give equal searches.
        selection = min(standings, key=standings.__getitem__)
        self._visits.update(self._least_tuned(selection))
        standing = standings[selection]
        return Excursion(selection, min(standing.round, standing.times))

    def _size(self, selection: Selection) -> float:
        """Return the number of points of a selection, infinite with a continuous parameter."""
        return AxisTree([self.space.parameters[i] for i in self.space.active(selection)]).size

    def _standing(self, selection: Selection, price: float) -> _Standing:
        visits = min(self._visits[decision] for decision in self._least_tuned(selection))
        return _Standing(self._round(selection), visits, self._times[selection], price)

    def _round(self, selection: Selection) -> int:
        return min(self._rounds[place] for place in self.space.active(selection))

    def _least_tuned(self, selection: Selection) -> set[str]:
        """Return the decisions that own the selection's least tuned parameters, "" for none."""
        least = self._round(selection)
        places = (i for i in self.space.active(selection) if self._rounds[i] == least)
        conditions = (self.space.parameters[place].when for place in places)
        return {"" if when is None else when.decision for when in conditions}
