"""The θ-solver `rbf`: a radial basis surrogate, sampled near the best point and anywhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.interpolate import RBFInterpolator
from scipy.spatial.distance import cdist

from automl_admm.builtin.theta import RbfOptions
from automl_admm.builtin.theta.gaussian.training_set import choose
from automl_admm.builtin.theta.parzen.tpe import design_size
from automl_admm.builtin.theta.sites import Sites
from automl_admm.core.proposals import one_by_one
from automl_admm.core.space import Array
from automl_admm.core.subproblems import Observation, ThetaSubproblem

# Weights of the surrogate against the distance, in turn (Regis and Shoemaker 2007).
WEIGHTS = (0.3, 0.5, 0.8, 0.95)
# Widths of steps from the best point, each drawn equally often.
WIDTHS = (0.2, 0.1, 0.05, 0.01)
# Axes that a step moves, in the mean: in many dimensions steps along all of them miss.
MOVED = 3.0
MODELLED = 256
SMOOTHING = 1e-10


class RadialBasisTheta:
    """Propose the candidate with the best mixture of a low surrogate and a far point.

    The surrogate is SciPy's cubic `RBFInterpolator` with a linear tail through all known points;
    before there are enough points for the tail it is a linear one with a constant. Losses above the
    median count as the median, or a few huge ones would bend it everywhere (Björkman and Holmström
    2000). A candidate x scores w · ŝ(x) + (1 − w) · d̂(x): the surrogate and the nearness to what is
    known or pending, each on [0, 1] among the candidates, with w in turn 0.3 to 0.95.
    """

    def __init__(self, options: RbfOptions) -> None:
        self._options = options

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start on a box and learn its history."""
        self._known_cost = subproblem.known_cost
        self._rng = np.random.default_rng(subproblem.seed)
        self._sites = Sites(subproblem.parameters)
        self._first: list[Array] = [np.clip(np.asarray(subproblem.start, dtype=float), 0.0, 1.0)]
        self._design = self._options.initial or design_size(subproblem.evaluations)
        self._rows: dict[bytes, tuple[Array, float]] = {}
        self._turn = 0
        self.tell(subproblem.history)

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array]:
        """Propose one by one, each with the earlier points taken as pending."""
        return one_by_one(self._propose, count, pending)

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn f̃, the loss without its known part; of two observations keep the cheaper."""
        rows = zip(*self._sites.locate([o.point for o in observations]), strict=True)
        for (place, key), told in zip(rows, observations, strict=True):
            value = np.inf
            if not told.is_lost:
                value = float(told.loss) - float(self._known_cost(told.point)[0])
            if key not in self._rows or value <= self._rows[key][1]:
                self._rows[key] = (place, value)

    def _propose(self, pending: Sequence[Array]) -> Array | None:
        waiting, keys = self._sites.locate(pending)
        taken = {*self._rows, *keys}
        while self._first:
            point = self._first.pop()
            if self._sites.locate(point[None])[1][0] not in taken:
                return point
        known = [value for _, value in self._rows.values() if np.isfinite(value)]
        if len(taken) < self._design or len(known) < 2:
            return self._sites.draw(self._rng, taken)
        best = self._best_candidate(waiting, taken)
        return self._sites.draw(self._rng, taken) if best is None else best

    def _best_candidate(self, waiting: Array, taken: set[bytes]) -> Array | None:
        points, values = self._sample()
        candidates, keys = self._sites.locate(self._candidates(points[int(np.argmin(values))]))
        new = [place for place, key in enumerate(keys) if key not in taken]
        if not new:
            return None
        candidates = candidates[new]
        costs = np.asarray(self._known_cost(candidates))
        expected = surrogate(points, tame(values), candidates) + costs
        near = -cdist(candidates, np.concatenate([points, waiting])).min(axis=1)
        weight = WEIGHTS[self._turn % len(WEIGHTS)]
        self._turn += 1
        scores = weight * shares(expected) + (1.0 - weight) * shares(near)
        # A copy: a view would keep all candidates in memory as long as it lives.
        return np.array(candidates[int(np.argmin(scores))])

    def _sample(self) -> tuple[Array, Array]:
        """Return the points to interpolate and their values, infinite for failures."""
        points = np.array([place for place, _ in self._rows.values()])
        values = np.array([value for _, value in self._rows.values()])
        kept = choose(values + np.asarray(self._known_cost(points)), MODELLED)
        return points[kept], values[kept]

    def _candidates(self, best: Array) -> Array:
        """Return steps from the best point, on a few axes each, and as many uniform points."""
        count, dimension = self._options.candidates, len(best)
        shape = (count, dimension)
        width = self._rng.choice(WIDTHS, size=(count, 1))
        moved = self._rng.random(shape) < min(1.0, MOVED / dimension)
        moved[np.arange(count), self._rng.integers(dimension, size=count)] = True
        steps = np.where(moved, width * self._rng.normal(size=shape), 0.0)
        every = np.concatenate([best + steps, self._rng.random(shape)])
        return np.asarray(np.clip(every, 0.0, 1.0), dtype=float)


def surrogate(points: Array, values: Array, candidates: Array) -> Array:
    """Interpolate: cubic with a linear tail if the points span the box, else linear.

    Axes without a second value are left out: they would make the tail singular.
    """
    varied = np.ptp(points, axis=0) > 0.0
    if not varied.any():
        return np.full(len(candidates), float(values.mean()))
    points, candidates = points[:, varied], candidates[:, varied]
    tail = np.column_stack([np.ones(len(points)), points])
    spans = np.linalg.matrix_rank(tail) == tail.shape[1]
    kernel, degree = ("cubic", 1) if spans else ("linear", 0)
    try:
        model = RBFInterpolator(points, values, kernel=kernel, degree=degree, smoothing=SMOOTHING)
        found = np.asarray(model(candidates), dtype=float)
    except np.linalg.LinAlgError:  # points that nearly coincide
        return np.full(len(candidates), float(values.mean()))
    return np.where(np.isfinite(found), found, float(values.max()))


def tame(values: Array) -> Array:
    """Return values that are safe to interpolate, on [0, 1]; a failure is a little above.

    >>> tame(np.array([1.0, 2.0, 3.0, 1e9, np.inf])).tolist()
    [0.0, 0.5714285714285714, 1.0, 1.0, 1.5]
    """
    succeeded = np.isfinite(values)
    low, middle = np.quantile(values[succeeded], [0.0, 0.5])
    width = float(middle - low) or 1.0
    share = np.clip((np.where(succeeded, values, middle) - low) / width, 0.0, 1.0)
    return np.where(succeeded, share, 1.5)


def shares(values: Array) -> Array:
    """Return the place of each value between the least and the largest, 0 if all are equal."""
    width = float(np.ptp(values))
    return (values - values.min()) / width if width > 0.0 else np.zeros(len(values))
