"""The θ-solver `trust-region`: SciPy's COBYQA, asked and told by replay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import Bounds, minimize

from automl_admm.builtin.theta import TrustRegionOptions
from automl_admm.builtin.theta.box import Box
from automl_admm.core.proposals import one_by_one
from automl_admm.core.ranking import price_of_failure
from automl_admm.core.space import Array
from automl_admm.core.subproblems import Observation, Quadratic, ThetaSubproblem

# 2⁶ = 64 points; a larger design goes on at random.
SOBOL_LOG2 = 6
# Replay costs as much as all calls so far, so a run is kept short.
CALLS_A_RUN = 200
# The final radius of a run, as a share of each axis.
SMALLEST = 1e-3


class _Wanted(Exception):  # noqa: N818 - not an error: it carries a question out of a call
    """A request of the minimiser for the value at a point not evaluated yet."""

    def __init__(self, point: Array) -> None:
        super().__init__()
        self.point = point


@dataclass
class Answers:
    """The minimiser's knowledge: f̃ of each evaluated point; the known cost is added exactly.

    During a run no answer changes, or a replay would leave its track. So a failure gets a new
    value, beyond the worst success seen so far, only when a run begins.
    """

    box: Box
    known_cost: Quadratic
    values: dict[bytes, float] = field(default_factory=dict)
    points: dict[bytes, Array] = field(default_factory=dict)
    lost: set[bytes] = field(default_factory=set)

    def add(self, observations: Sequence[Observation[Array]]) -> None:
        """Take the first value of each point."""
        for told in observations:
            point = np.clip(np.asarray(told.point, dtype=float), 0.0, 1.0)
            (key,) = self.box.keys(point[None])
            if key in self.values:
                continue
            if told.is_lost:
                self.values[key] = self._beyond()
                self.lost.add(key)
            else:
                # f̃ alone: on a grid the known cost differs from point to point of one cell.
                self.values[key] = float(told.loss) - float(self.known_cost(point)[0])
            self.points[key] = point

    def settle(self) -> None:
        """Give the failures new values, before a run."""
        beyond = self._beyond()
        self.values.update(dict.fromkeys(self.lost, beyond))

    def _beyond(self) -> float:
        found = [value for key, value in self.values.items() if key not in self.lost]
        return price_of_failure(found)

    def best(self, keys: Iterable[bytes]) -> Array:
        """Return the cheapest of these points."""
        return min((self.points[key] for key in keys), key=self)

    def believing(self, pending: Array) -> Answers:
        """Return the answers as if each pending point had the value of its nearest known point."""
        if not len(pending) or not self.points:
            return self
        known = np.array(list(self.points.values()))
        values = list(self.values.values())
        believed = replace(self, values=dict(self.values))
        for point, key in zip(pending, self.box.keys(pending), strict=True):
            nearest = int(((known - point) ** 2).sum(axis=1).argmin())
            believed.values.setdefault(key, values[nearest])
        return believed

    def __call__(self, point: Array) -> float:
        """Return the loss at a point if an equal point is known; raise `_Wanted` if not."""
        place = np.clip(point, 0.0, 1.0)
        (key,) = self.box.keys(place[None])
        if key not in self.values:
            raise _Wanted(place)
        return self.values[key] + float(self.known_cost(place)[0])


class TrustRegionTheta:
    """Quadratic models in a trust region, from the best of a few points, again and again.

    COBYQA calls its function. To be asked instead, it runs from its start at every ask with the
    answers known so far, and stops at the first point without one: that is the proposal. COBYQA is
    deterministic, so it takes the same path again. A thread waiting inside the function would save
    the repetition, but SciPy lets one COBYQA run at a time in a process. An integer has the same
    answer all over its cell of the grid; only the known cost changes there.
    """

    def __init__(self, options: TrustRegionOptions) -> None:
        self._options = options

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start on a box: points of the history replace those of a design."""
        self._rng = np.random.default_rng(subproblem.seed)
        self._box = Box.of(subproblem.parameters)
        self._answers = Answers(self._box, subproblem.known_cost)
        self._answers.add(subproblem.history)
        # Sobol points need a dimension; a box without axes has exactly one point.
        net = self._sobol() if self._box.dimension else np.zeros((1, 0))
        self._net = np.concatenate([np.clip(subproblem.start, 0.0, 1.0)[None], net])
        budget = subproblem.evaluations
        self._few = self._options.design if budget is None else max(budget // 4, 1)
        self._few = min(self._few, self._options.design)
        self._known_before, self._design_until = 0, self._few
        self._origin: Array | None = None

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array]:
        """Propose one by one, each with the earlier points taken as pending."""
        return one_by_one(self._propose, count, pending)

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn from observations."""
        self._answers.add(observations)

    def _propose(self, pending: Sequence[Array]) -> Array | None:
        waiting = np.array(pending, dtype=float).reshape(len(pending), self._box.dimension)
        taken = set(self._answers.values) | set(self._box.keys(waiting))
        if self._box.is_used_up(taken):
            return None
        if len(taken) >= self._design_until:
            wanted = self._next_of_run(waiting)
            if wanted is not None:
                return wanted
        return self._next_of_design(taken)

    def _next_of_run(self, waiting: Array) -> Array | None:
        """Return the run's next question; None if it is over and the next has no start yet."""
        if self._origin is None:
            # A restart begins at the best point found since the last run, not at the old optimum
            # again.
            recent = list(self._answers.values)[self._known_before :]
            if not recent:
                return None
            self._answers.settle()
            self._origin = self._answers.best(recent)
        wanted = replay(self._origin, self._answers.believing(waiting), self._options.radius)
        # With pending points the run ended on beliefs: it may go on once the truth is known.
        if wanted is None and not len(waiting):
            self._origin = None
            self._known_before = len(self._answers.values)
            self._design_until = self._known_before + self._few
        return wanted

    def _next_of_design(self, taken: set[bytes]) -> Array | None:
        for point, key in zip(self._net, self._box.keys(self._net), strict=True):
            if key not in taken:
                return np.asarray(point)
        return self._box.draw(self._rng, taken)

    def _sobol(self) -> Array:
        from scipy.stats import qmc  # many modules, and a search begins without them

        engine = qmc.Sobol(self._box.dimension, rng=self._rng)
        return np.asarray(engine.random_base2(SOBOL_LOG2), dtype=float)


def replay(origin: Array, answers: Answers, radius: float) -> Array | None:
    """Run COBYQA as far as the answers go; return its next question, None if it ended.

    Its first model takes 2 d + 1 points, and it makes no step before.
    """
    model = 2 * len(origin) + 1
    try:
        # Warnings of the minimiser's arithmetic would mean nothing to a user.
        with np.errstate(all="ignore"):
            minimize(
                answers,
                origin,
                method="COBYQA",
                bounds=Bounds(np.zeros_like(origin), np.ones_like(origin)),
                options={
                    "initial_tr_radius": radius,
                    "final_tr_radius": min(SMALLEST, radius),
                    # COBYQA needs more calls than its first model has points.
                    "maxfev": max(CALLS_A_RUN, 2 * model),
                },
            )
    except _Wanted as question:
        return question.point
    return None
