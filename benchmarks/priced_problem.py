"""A problem within a limit that costs, whose shadow price is known in closed form.

120 selections of three decisions. With v_z and s_z of a selection z, t ∈ [0, 1] that is spent, and
the mean square d² of the distances of its other parameters from their best values

    g(z, θ) = 1 + W (s_z + t),                  the limit is g ≤ 1
    f(z, θ) = v_z + d² − (s_z + t) = v_z + d² − π (g − 1),   π = 1 / W

so that what is spent lowers the loss at the same price everywhere. In each selection that can keep
the limit (s_z ≤ 0, two thirds of them) it binds. For the multiplier π the Lagrangian f + π (g − 1)
is v_z + d²: its least value, 0, is also that of f at g = 1. So there is no duality gap, and π is
the shadow price −∂ min f / ∂ε of the problem and of its relaxation to mixtures of points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.space import (
    Array,
    Candidate,
    Choice,
    Condition,
    Parameter,
    SearchSpace,
    Selection,
)
from automl_admm.search.protocol import Proposal, Search, SearchProblem
from automl_admm.search.starts import default_start

Events = Iterator[Evaluation | AdmmState]
SIZES = {"scaler": 4, "transformer": 5, "estimator": 6}
LEVELS = 10
# The part of v that no sum over the decisions explains, beside sums of three numbers in [0, 1].
TWISTED = 0.2
LEAST_SPENT, MOST_SPENT = -0.95, 0.5
# Losses are moved into [0, 1], as a bandit with a fixed f̂ wants them.
BASE, UNIT = 0.35, 0.15
MOST_ANSWERS = 40  # proposals for each new evaluation, before a run counts as stuck
LIMIT = Limit("spent", 1.0, extreme=0.0)


def space() -> SearchSpace:
    """Return the space: what is spent is a parameter of all, two others of each alternative."""
    choices = [
        Choice(name, tuple(f"{name[0]}{n}" for n in range(size))) for name, size in SIZES.items()
    ]
    parameters = [Parameter("spent", 0.0, 1.0)]
    for choice in choices:
        for one in choice.alternatives:
            when = Condition(choice.name, (one,))
            parameters.append(Parameter(f"{one}.width", 0.0, 1.0, when=when))
            parameters.append(Parameter(f"{one}.depth", 1, LEVELS, "int", when=when))
    return SearchSpace(tuple(choices), tuple(parameters))


SPACE = space()


@dataclass(frozen=True, eq=False)
class PricedProblem:
    """One draw of v, s and the best parameters; `width` is W."""

    width: float
    values: dict[Selection, float]
    spent: dict[Selection, float]
    best: Array

    @classmethod
    def of(cls, width: float, seed: int) -> PricedProblem:
        """Draw a problem."""
        rng = np.random.default_rng([seed, 23])
        every = list(selections())
        worth = _sums(every, rng) + TWISTED * rng.random(len(every))
        spent = _scaled(_sums(every, rng), LEAST_SPENT, MOST_SPENT)
        # The best that can keep the limit has the value 0, and no other selection less.
        worth = _scaled(np.maximum(worth, worth[spent <= 0.0].min()), 0.0, 1.0)
        best = rng.random(len(SPACE.parameters))
        return cls(
            width,
            dict(zip(every, worth.tolist(), strict=True)),
            dict(zip(every, spent.tolist(), strict=True)),
            np.array([p.project(x) for p, x in zip(SPACE.parameters, best, strict=True)]),
        )

    @property
    def price(self) -> float:
        """Return π in losses: by so much a limit that is higher by 1 lowers the least loss."""
        return UNIT / self.width

    def evaluate(self, number: int, key: str, candidate: Candidate) -> Evaluation:
        """Return f and g of a candidate whose integers are on their grids."""
        selection, theta = candidate.selection, np.array(candidate.theta)
        best = self.best[list(SPACE.active(selection))]
        away = float(np.mean((theta[1:] - best[1:]) ** 2))
        bought = self.spent[selection] + theta[0]
        loss = BASE + UNIT * (self.values[selection] + away - bought)
        cost = (1.0 + self.width * bought,)
        return Evaluation(number, key, candidate, Status.SUCCESS, loss, cost)

    def search(self, make: Callable[[SearchProblem], Search], seed: int, most: int) -> Events:
        """Yield the new evaluations of a search, and the states of ADMM, in their order."""
        task = SearchProblem(
            SPACE, _key, (default_start(SPACE),), (LIMIT,), seed=seed, evaluations=most
        )
        search = make(task)
        known: dict[str, Evaluation] = {}
        event, answers = next(search), 0
        while len(known) < most and answers < MOST_ANSWERS * most:
            results: list[Evaluation] = []
            if isinstance(event, Proposal):
                answers += 1
                key, candidate = _key(event.candidate), SPACE.projected(event.candidate)
                if key not in known:
                    known[key] = self.evaluate(len(known) + 1, key, candidate)
                    yield known[key]
                results = [known[key]]
            elif isinstance(event, AdmmState):
                yield event
            else:
                raise TypeError("nothing runs that could be waited for")
            try:
                event = search.send(results)
            except StopIteration:
                return


def _key(candidate: Candidate) -> str:
    return repr(SPACE.projected(candidate))


def selections() -> Iterator[Selection]:
    """Yield every selection."""
    names = [decision.name for decision in SPACE.decisions]
    for picks in product(*(d.alternatives for d in SPACE.decisions if isinstance(d, Choice))):
        yield SPACE.complete(dict(zip(names, picks, strict=True)))


def _sums(every: Sequence[Selection], rng: np.random.Generator) -> Array:
    """Return for each selection the sum of a number drawn for each of its alternatives."""
    drawn: dict[object, float] = {}
    for decision in SPACE.decisions:
        for one in decision.alternatives if isinstance(decision, Choice) else ():
            drawn[one] = float(rng.random())
    return np.array([sum(drawn[pick] for _, pick in selection) for selection in every])


def _scaled(values: Array, low: float, high: float) -> Array:
    span = values.max() - values.min()
    return np.asarray(low + (high - low) * (values - values.min()) / span)
