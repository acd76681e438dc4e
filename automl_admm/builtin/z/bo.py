"""The z-solver `bo`: the model of the θ-solver `gp` over the one-hot relaxation of selections."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

import numpy as np

from automl_admm.builtin.theta.acquisition import ExpectedImprovement
from automl_admm.builtin.theta.box import Box
from automl_admm.builtin.theta.regression import Kernel, Posterior, fit_kernel, prior_mean
from automl_admm.builtin.theta.sample import Sample
from automl_admm.builtin.z.learner import Learner, neighbour
from automl_admm.joint.relaxation import RelaxedSpace
from automl_admm.problem import Observation, Quadratic, SelectionSubproblem
from automl_admm.space import Array, Candidate, SearchSpace, Selection

INITIAL = 8
MODELLED = 256
PARENTS = 4
NEAR, FAR = 96, 160
FIRST_FIT, NEXT_FIT = 40, 10
ALWAYS_FIT = 64


class RelaxedOptimization(Learner):
    """Proposes the selection of the largest expected improvement, of many that are not known.

    The Gaussian process is that of `gp`, with an axis for every alternative. Where `gp` climbs in
    the box, this compares draws, neighbours of the best selections and neighbours of the most
    promising: between its corners the box stands for nothing that can be evaluated.
    """

    def __init__(self) -> None:
        super().__init__()
        self._relaxed = RelaxedSpace(SearchSpace(), (), 1.0)
        self._nothing = Quadratic(np.zeros(0), np.zeros(0))
        self._sample = Sample(Box.of(()), self._nothing)
        self._logs: Array | None = None
        self._fitted_at = 0

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions; the model's sample is all that is on record."""
        super().begin(subproblem)
        self._relaxed = RelaxedSpace(SearchSpace(subproblem.space.decisions), (), 1.0)
        box = Box.of(self._relaxed.axes())
        self._nothing = Quadratic(np.zeros(box.dimension), np.zeros(box.dimension))
        if self._logs is not None and len(self._logs) != len(prior_mean(box.dimension)):
            self._logs = None
        self._fitted_at = 0
        self._sample = Sample(box, self._nothing)
        self._teach(self._record.losses)

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Take down what was observed, and teach the model."""
        super().tell(observations)
        self._teach(dict.fromkeys(observation.point for observation in observations))

    def _teach(self, selections: Collection[Selection]) -> None:
        losses = [self._record.losses[selection] for selection in selections]
        rows = zip(self._locate(selections), losses, strict=True)
        self._sample.retell([Observation(point, loss) for point, loss in rows])

    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        found = self._record.succeeded()
        if len(found) < INITIAL or not self._space.decisions:
            return self._space.sample(self._rng)
        acquisition = self._acquisition(waiting)
        parents = sorted(found, key=found.__getitem__)[:PARENTS]
        candidates = self._new(lambda: self._space.sample(self._rng), FAR, taken)
        candidates += self._neighbours(parents, taken)
        candidates += self._neighbours(self._ranked(candidates, acquisition)[:PARENTS], taken)
        return next(iter(self._ranked(candidates, acquisition)), None)

    def _neighbours(
        self, parents: Sequence[Selection], taken: Collection[Selection]
    ) -> list[Selection]:
        each = NEAR // max(len(parents), 1)
        makers = [partial(neighbour, self._space, parent, self._rng) for parent in parents]
        return [near for make in makers for near in self._new(make, each, taken)]

    def _new(
        self, make: Callable[[], Selection], count: int, taken: Collection[Selection]
    ) -> list[Selection]:
        made = dict.fromkeys(make() for _ in range(count))
        return [selection for selection in made if selection not in taken]

    def _ranked(
        self, candidates: Sequence[Selection], acquisition: ExpectedImprovement
    ) -> list[Selection]:
        """By falling expected improvement."""
        if not candidates:
            return []
        points = self._locate(candidates)
        order = np.argsort(-acquisition(points, points), kind="stable")
        return [candidates[int(place)] for place in order]

    def _acquisition(self, waiting: Sequence[Selection]) -> ExpectedImprovement:
        """Log EI after the sample, with what is pending taken to turn out as expected.

        An improvement is then one on that, too, or every worker would be sent to the same place.
        """
        training = self._sample.training(MODELLED)
        posterior = Posterior.of(
            Kernel.of(self._fit(training.points, training.values)),
            training.points,
            training.values,
        )
        expected, _ = posterior.moments(training.points)
        best = float(expected[training.succeeded].min())
        if waiting:
            places = self._locate(waiting)
            posterior = posterior.believing(places)
            best = min(best, float(posterior.moments(places)[0].min()))
        return ExpectedImprovement(posterior, self._nothing, training.unit, best)

    def _fit(self, points: Array, values: Array) -> Array:
        """Kernel parameters from those of the ask before; with many points not at every ask."""
        seen = len(self._sample)
        if self._logs is None or seen - self._fitted_at >= max(seen // ALWAYS_FIT, 1):
            start = prior_mean(points.shape[1]) if self._logs is None else self._logs
            steps = FIRST_FIT if self._logs is None else NEXT_FIT
            self._logs = fit_kernel(points, values, start, steps).logs
            self._fitted_at = seen
        return self._logs

    def _locate(self, selections: Collection[Selection]) -> Array:
        points = [self._relaxed.locate(Candidate(selection, ())) for selection in selections]
        return np.array(points, dtype=float).reshape(len(points), len(self._nothing.center))
