"""The z-solver `best-first`: best-first search over the tree of decisions, as in ML-Plan."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from functools import partial

import numpy as np

from automl_admm.builtin.z.learner import Learner, first_new
from automl_admm.builtin.z.mcts import Path, paths_of
from automl_admm.core.space import Choice, Pick, SearchSpace, Selection, draw, is_active
from automl_admm.core.subproblems import SelectionSubproblem

TRIES = 16


class BestFirstSearch(Learner):
    """Expand the node whose random completions had the best loss (Mohr et al. 2018).

    A node is the first part of a selection, a decision or an item of an order a level. Expanding it
    opens a child for each label that may come next, and each child is judged by the least loss of
    its completions: `completions` of them, drawn uniformly, unless so many selections below it are
    on record. When all open nodes are judged, the best of them is expanded.
    """

    def __init__(self, completions: int) -> None:
        super().__init__()
        self._completions = completions
        self._open: list[Path] = [()]

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions; the tree stays, unless the space is another."""
        if subproblem.space is not self._space and subproblem.space != self._space:
            self._open = [()]
        super().begin(subproblem)

    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        seen, best = self._judgements(waiting)
        while True:
            for node in self._open:
                if seen.get(node, 0) < self._completions:
                    draw = partial(complete, self._space, node, self._rng)
                    found = first_new(draw, taken, TRIES)
                    if found is not None:
                        return found
            if not self._expand(best):
                return None

    def _judgements(
        self, waiting: Sequence[Selection]
    ) -> tuple[dict[Path, int], dict[Path, float]]:
        """Return for each node its number of completions, and the least loss of them."""
        seen: dict[Path, int] = {}
        best: dict[Path, float] = {}
        pending = dict.fromkeys(waiting, math.inf)
        for selection, loss in (pending | self._record.losses).items():
            for path in paths_of(selection):
                seen[path] = seen.get(path, 0) + 1
                best[path] = min(best.get(path, math.inf), loss)
        return seen, best

    def _expand(self, best: dict[Path, float]) -> bool:
        """Put the children of the best open node in its place; return False if none has any."""
        inner = [node for node in self._open if branches(self._space, node)]
        if not inner:
            return False
        node = min(inner, key=lambda path: best.get(path, math.inf))
        self._open.remove(node)
        labels = branches(self._space, node)
        mixed = self._rng.permutation(len(labels))
        self._open += [(*node, labels[int(place)]) for place in mixed]
        return True


def branches(space: SearchSpace, path: Path) -> tuple[str, ...]:
    """Return the labels that may follow a path; none at its end.

    >>> space = SearchSpace((Choice("a", ("x", "y")), Choice("b", ("u", "v"))))
    >>> branches(space, ()), branches(space, ("x",)), branches(space, ("x", "v"))
    (('x', 'y'), ('u', 'v'), ())
    """
    return next((labels for _, labels in _levels(space, path, {}) if labels), ())


def complete(space: SearchSpace, path: Path, rng: np.random.Generator) -> Selection:
    """Draw all that a path leaves open, uniformly."""
    picks: dict[str, Pick] = {}
    for name, labels in _levels(space, path, picks):
        decision = next(one for one in space.decisions if one.name == name)
        if isinstance(decision, Choice):
            picks[name] = labels[int(rng.integers(len(labels)))]
        else:
            laid = tuple(picks.get(name, ()))
            while left := decision.ready(laid):
                laid += (left[int(rng.integers(len(left)))],)
            picks[name] = laid
    drawn = {decision.name: draw(decision, rng) for decision in space.decisions}
    return space.complete({**drawn, **picks})


def _levels(
    space: SearchSpace, path: Path, picks: dict[str, Pick]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Enter what a path picks; yield the decisions that it leaves open, with their next labels.

    The picks of an open order are the items that are laid already.
    """
    left = list(path)
    for decision in space.decisions:
        if not is_active(decision.when, picks):
            continue
        if isinstance(decision, Choice):
            if left:
                picks[decision.name] = left.pop(0)
            else:
                yield decision.name, decision.alternatives
            continue
        # The last item of an order is no level of its own.
        last = len(decision.items) - 1
        laid = tuple(left[:last])
        del left[:last]
        if len(laid) == last:
            picks[decision.name] = (*laid, *decision.ready(laid))
        else:
            picks[decision.name] = laid
            yield decision.name, decision.ready(laid)
