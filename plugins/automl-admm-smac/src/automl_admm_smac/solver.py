"""The θ-solver by SMAC."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from automl_admm.plugin_api import Array, AtFidelity, Observation, ThetaSubproblem, best_and_latest
from automl_admm_smac.terrain import Terrain
from automl_admm_smac.trials import Model, Plan, Trials

if TYPE_CHECKING:
    from automl_admm_smac import SmacOptions

MOST_INITIAL = 10
FEW = 64
RETRAIN_AFTER = 8
TRIES = 8
# A bracket that begins at 1/27 has 27 configurations, all of which are chosen at its beginning.
LOWEST = 1 / 27
SEEDS = 2**31


class SmacTheta:
    """Proposes the start, a Sobol design, and then SMAC's choices.

    SMAC minimises `Observation.loss`, limits included: it knows no constraints. A failure costs
    more than the worst success by the range of all. Failures before the first success are told
    together with it, since failures alone teach nothing; only Hyperband waits for them.
    """

    def __init__(
        self,
        options: SmacOptions,
        model: Model,
        *,
        hyperband: bool,
        random: float | None = None,
    ) -> None:
        self._options = options
        self._model: Model = model
        self._hyperband = hyperband
        self._random = random

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start SMAC anew: observations of another box cannot be taken back."""
        self._start = np.clip(subproblem.start, 0.0, 1.0)
        self._terrain = Terrain(subproblem.parameters)
        self._size = self._terrain.size()
        self._known: dict[bytes, Observation[Array]] = {}
        self._has_success = False
        self._withheld: list[Observation[Array]] = []
        for observation in subproblem.history:
            self._note(observation)
        # A box of one point has nothing that SMAC could search.
        self._trials = Trials(self._terrain, self._plan(subproblem)) if self._size > 1 else None
        for observation in instructive(list(self._known.values()), self._options.points):
            self._pass_on(observation)

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array | AtFidelity[Array]]:
        """Propose one by one, each with those before it taken as pending."""
        waiting = {self._terrain.key(point) for point in pending}
        proposed: list[Array | AtFidelity[Array]] = []
        while len(proposed) < count:
            found = self._propose(waiting)
            if found is None:
                break
            point, fidelity = found
            waiting.add(self._terrain.key(point))
            proposed.append(point if fidelity == 1.0 else AtFidelity(point, fidelity))
        return proposed

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn."""
        for observation in observations:
            self._note(observation)
            self._pass_on(observation)

    def _plan(self, subproblem: ThetaSubproblem) -> Plan:
        """Return the settings: a quarter of the budget for the design, less its known part."""
        budget = subproblem.evaluations
        usual = MOST_INITIAL if budget is None else min(MOST_INITIAL, max(budget // 4, 1))
        is_small = budget is not None and budget <= FEW
        done = len({*self._known, self._terrain.key(self._start)})
        lowest = max(subproblem.lowest_fidelity, LOWEST) if self._hyperband else 1.0
        often = 1 if is_small and lowest == 1.0 else RETRAIN_AFTER
        return Plan(
            model=self._model,
            initial=max((self._options.initial or usual) - done, 0),
            retrain_after=self._options.retrain_after or often,
            lowest_fidelity=lowest,
            random=self._random,
            seed=subproblem.seed % SEEDS,
        )

    def _note(self, observation: Observation[Array]) -> None:
        if observation.fidelity == 1.0:
            self._known[self._terrain.key(observation.point)] = observation
        self._has_success |= not observation.is_lost

    def _pass_on(self, observation: Observation[Array]) -> None:
        """Tell SMAC; with the first success, tell the withheld failures, too."""
        is_waited_for = self._trials is not None and self._trials.is_staged
        if observation.is_lost and not self._has_success and not is_waited_for:
            self._withheld.append(observation)
            return
        withheld, self._withheld = self._withheld, []
        if self._trials is not None:
            for told in (observation, *withheld):
                self._trials.tell(told)

    def _propose(self, waiting: set[bytes]) -> tuple[Array, float] | None:
        taken = waiting | self._known.keys()
        if len(taken) >= self._size:
            return None
        if self._terrain.key(self._start) not in taken:
            return self._start, 1.0
        if self._trials is None:
            return None
        return self._ask_smac(self._trials, waiting) or self._trials.draw(taken)

    def _ask_smac(self, trials: Trials, waiting: set[bytes]) -> tuple[Array, float] | None:
        """Return SMAC's next new proposal; tell it of known points that it has not been told.

        Return None if SMAC has no more, or nothing new for a while.
        """
        for _ in range(TRIES):
            found = trials.next()
            if found is None:
                return None
            point, fidelity = found
            known = self._known.get(self._terrain.key(point))
            if fidelity == 1.0 and known is not None:
                self._pass_on(known)
            elif self._terrain.key(point) not in waiting:
                return found
        return None


def instructive(observations: Sequence[Observation[Array]], count: int) -> list[Observation[Array]]:
    """Return the best half and the latest of a history, in its order.

    SMAC predicts everything it knows, one by one, at each proposal: two thousand points would
    cost seconds each time.
    """
    losses = [math.inf if told.is_lost else told.loss for told in observations]
    return best_and_latest(observations, losses, count)
