"""The z-solver `policy`: the cross-entropy method over the decisions that derive a pipeline."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence

from automl_admm.builtin.z.arms import Arm, arms_of
from automl_admm.builtin.z.learner import Learner, first_new
from automl_admm.core.space import Choice, Decision, Pick, Selection, is_active
from automl_admm.core.subproblems import Observation, SelectionSubproblem

TRIES = 32
# The share of a step that stays uniform, so that no alternative ever dies out.
UNIFORM = 0.1


class DerivationPolicy(Learner):
    """Draw each decision from a policy, and move the policy towards the best selections.

    A policy has a probability for each alternative of a choice, and for each item of an order at
    each place, given that the decision is active. After every `batch` observations the elite is the
    best share of all selections on record, at today's prices, and

        p ← (1 − α) p + α · (share of the elite that took this step)

    with α = `rate` (Rubinstein 1999). A decision that no elite selection has keeps its policy.
    """

    def __init__(self, elite: float, rate: float, batch: int) -> None:
        super().__init__()
        self._elite = elite
        self._rate = rate
        self._batch = batch
        self._policy: dict[Arm, float] = {}
        self._unheeded = 0

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions; the policy stays, unless the space is another."""
        if subproblem.space is not self._space and subproblem.space != self._space:
            self._policy, self._unheeded = {}, 0
            known = len(subproblem.history) + len(subproblem.elsewhere)
        else:
            known = 0
        super().begin(subproblem)
        # A resumed run has seen what this solver was never told.
        self._heed(known)

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Record observations; after a batch of them move the policy."""
        super().tell(observations)
        self._heed(len(observations))

    def _heed(self, told: int) -> None:
        self._unheeded += told
        while self._unheeded >= self._batch:
            self._unheeded -= self._batch
            self._improve()

    def _improve(self) -> None:
        """Move the policy of every decision of the elite."""
        found = self._record.succeeded()
        count = math.ceil(self._elite * len(found))
        elite = sorted(found, key=found.__getitem__)[:count]
        steps = Counter(arm for selection in elite for arm in arms_of(selection))
        active = Counter(name for selection in elite for name, _ in selection)
        for decision in self._space.decisions:
            for arm in steps_of(decision) if active[decision.name] else ():
                share = steps[arm] / active[decision.name]
                old = self._policy.get(arm, uniform(decision))
                self._policy[arm] = (1.0 - self._rate) * old + self._rate * share

    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        # Pending selections are in `taken` already.
        del waiting
        return first_new(self._derive, taken, TRIES)

    def _derive(self) -> Selection:
        picks: dict[str, Pick] = {}
        for decision in self._space.decisions:
            if is_active(decision.when, picks):
                picks[decision.name] = self._decide(decision)
        return self._space.complete(picks)

    def _decide(self, decision: Decision) -> Pick:
        """Draw a label, or the items of an order from first to last as its precedence allows."""
        if isinstance(decision, Choice):
            return self._step(decision, decision.alternatives, 0)
        laid: tuple[str, ...] = ()
        for place in range(len(decision.items)):
            laid += (self._step(decision, decision.ready(laid), place),)
        return laid

    def _step(self, decision: Decision, labels: Sequence[str], place: int) -> str:
        even = uniform(decision)
        weights = [
            (1.0 - UNIFORM) * self._policy.get((decision.name, label, place), even) + UNIFORM * even
            for label in labels
        ]
        left = float(self._rng.random()) * sum(weights)
        for label, weight in zip(labels, weights, strict=True):
            left -= weight
            if left < 0.0:
                return label
        return labels[-1]


def steps_of(decision: Decision) -> list[Arm]:
    """Return every step of a decision: a label, or an item at a place of an order.

    >>> steps_of(Choice("model", ("tree", "line")))
    [('model', 'tree', 0), ('model', 'line', 0)]
    """
    if isinstance(decision, Choice):
        return [(decision.name, label, 0) for label in decision.alternatives]
    places = range(len(decision.items))
    return [(decision.name, item, place) for item in decision.items for place in places]


def uniform(decision: Decision) -> float:
    """Return the probability of a step before anything is known."""
    labels = decision.alternatives if isinstance(decision, Choice) else decision.items
    return 1.0 / len(labels)
