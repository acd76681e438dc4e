"""The θ-solver by Hyperopt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from hyperopt import Trials, anneal, tpe  # type: ignore[import-untyped]

from automl_admm.plugin_api import Array, AxisTree, Observation, ThetaSubproblem, one_by_one
from automl_admm_hyperopt.trials import Document, Documents

FEWEST_INITIAL = 5
MOST_INITIAL = 10
TRIES = 8
SEEDS = 2**31 - 1


class Algorithm(Protocol):
    """One of Hyperopt's ways to suggest the next trial."""

    def suggest(
        self, documents: Documents, trials: Trials, *, seed: int, budget: int | None
    ) -> Document:
        """Suggest a trial."""


@dataclass(frozen=True, slots=True)
class Parzen:
    """Estimators of the good and the bad, each axis by itself: argmax of good(x) / bad(x)."""

    initial: int | None
    candidates: int

    def suggest(
        self, documents: Documents, trials: Trials, *, seed: int, budget: int | None
    ) -> Document:
        """Suggest a trial; Hyperopt's own 20 random ones would be all of a small budget."""
        usual = MOST_INITIAL if budget is None else min(MOST_INITIAL, budget // 3)
        (document,) = tpe.suggest(
            [len(trials)],
            documents.domain,
            trials,
            seed,
            n_startup_jobs=self.initial or max(usual, FEWEST_INITIAL),
            n_EI_candidates=self.candidates,
            verbose=False,
        )
        return dict(document)


@dataclass(frozen=True, slots=True)
class Annealing:
    """A step from one of the best points, the smaller the more is known."""

    def suggest(
        self,
        documents: Documents,
        trials: Trials,
        *,
        seed: int,
        budget: int | None,
    ) -> Document:
        """Suggest a trial."""
        del budget
        (document,) = anneal.suggest([len(trials)], documents.domain, trials, seed)
        return dict(document)


class HyperoptTheta:
    """Proposes the start, then new suggestions of Hyperopt.

    Hyperopt minimises `Observation.loss`, limits included: it knows no constraints. A failure has
    an infinite loss, as has a loss that is no number. Before the first success points are uniform.
    """

    def __init__(self, algorithm: Algorithm) -> None:
        self._algorithm = algorithm

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start on a box and learn its history, at today's prices."""
        self._subproblem = subproblem
        self._rng = np.random.default_rng(subproblem.seed)
        self._tree = AxisTree(subproblem.parameters)
        self._documents = Documents(self._tree)
        self.tell(subproblem.history)

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array]:
        """Propose one by one, each with those before it taken as pending."""
        return one_by_one(self._propose, count, pending)

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn; less than whole evaluations, which this solver never asks for, are passed over."""
        for told in observations:
            if told.fidelity == 1.0:
                loss = math.inf if told.is_lost else float(told.loss)
                self._documents.tell(told.point, loss, ok=not told.is_lost)

    def _propose(self, waiting: Sequence[Array]) -> Array | None:
        taken = self._documents.keys | {self._tree.key(point) for point in waiting}
        if len(taken) >= self._tree.size:
            return None
        if self._tree.key(self._subproblem.start) not in taken:
            return np.clip(self._subproblem.start, 0.0, 1.0)
        if taken and self._documents.has_success():
            suggested = self._suggest(waiting, taken)
            if suggested is not None:
                return suggested
        return self._tree.draw(self._rng, taken)

    def _suggest(self, waiting: Sequence[Array], taken: set[bytes]) -> Array | None:
        """Return a new suggestion of Hyperopt; it repeats itself on grids, with any seed."""
        trials = self._documents.trials(waiting)
        for _ in range(TRIES):
            point = self._documents.point(self._suggested(trials))
            if self._tree.key(point) not in taken:
                return point
        return None

    def _suggested(self, trials: Trials) -> Document:
        """One trial, without numpy's warnings of log 0."""
        # A place of a very wide log integer is narrower than what numbers can tell apart: both
        # estimators give it probability 0. Of such places Hyperopt takes the first it drew from the
        # good ones, which is as it should be and nothing for the user to know.
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._algorithm.suggest(
                self._documents,
                trials,
                seed=int(self._rng.integers(SEEDS)),
                budget=self._subproblem.evaluations,
            )
