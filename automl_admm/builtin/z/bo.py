"""The z-solver `bo`: the model of the θ-solver `gp` over the one-hot relaxation of selections."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

import numpy as np

from automl_admm.builtin.theta.box import Box
from automl_admm.builtin.theta.gaussian.acquisition import ExpectedImprovement
from automl_admm.builtin.theta.gaussian.regression import Kernel, Posterior, fit_kernel, prior_mean
from automl_admm.builtin.theta.gaussian.training_set import Sample
from automl_admm.builtin.z.learner import Learner, neighbour
from automl_admm.builtin.z.lessons import Lessons
from automl_admm.core.space import Array, Candidate, SearchSpace, Selection
from automl_admm.core.subproblems import Observation, Quadratic, SelectionSubproblem
from automl_admm.search.joint.one_hot import RelaxedSpace

# Successes before the model is asked, and the largest number of observations it learns.
INITIAL = 8
MODELLED = 256
# Selections with neighbours among the candidates, and neighbours of each.
PARENTS, NEAR = 4, 24
# Draws among the candidates; at least FRESH of them are new at each ask.
FAR, FRESH = 160, 16
# Pulls that the other tables count for an arm in a draw.
PULLS = 4.0
# The share of draws that priors do not guide: what was never good elsewhere may be here.
UNIFORM = 0.5
# Steps of a fit: from the prior mean, and from the kernel of the last ask.
FIRST_FIT, NEXT_FIT = 40, 10
# Below 2 · ALWAYS_FIT observations fit the kernel at every ask.
ALWAYS_FIT = 16


class RelaxedOptimization(Learner):
    """Propose the selection with the largest expected improvement among many unknown ones.

    The Gaussian process is that of `gp`, with an axis for every alternative. `gp` climbs in the
    box; this solver compares draws, neighbours of the best selections and neighbours of the most
    promising, because points between the corners of the box cannot be evaluated.
    """

    def __init__(self, trust: float = 0.0) -> None:
        super().__init__()
        self._trust = trust
        self.takes_priors = trust > 0.0
        self._lessons: Lessons | None = None
        self._relaxed = RelaxedSpace(SearchSpace(), (), 1.0)
        self._nothing = Quadratic(np.zeros(0), np.zeros(0))
        self._sample = Sample(Box.of(()), self._nothing)
        self._logs: Array | None = None
        self._fitted_at = 0
        self._codes: dict[Selection, Array] = {}
        self._near: dict[Selection, list[Selection]] = {}
        self._far: list[Selection] = []

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions; the model's sample is the whole record."""
        super().begin(subproblem)
        # z-min fixes θ, so only the decisions span the box.
        self._relaxed = RelaxedSpace(SearchSpace(subproblem.space.decisions), (), 1.0)
        box = Box.of(self._relaxed.axes())
        self._nothing = Quadratic(np.zeros(box.dimension), np.zeros(box.dimension))
        # Keep the kernel of the last sub-problem if the box has the same axes.
        if self._logs is not None and len(self._logs) != len(prior_mean(box.dimension)):
            self._logs = None
        self._fitted_at = 0
        prior = subproblem.prior if self.takes_priors else {}
        self._lessons = Lessons.of(subproblem.space, prior, PULLS) if prior else None
        self._sample = Sample(box, self._nothing)
        self._codes, self._near, self._far = {}, {}, []
        self._teach(self._record.losses)

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Record observations, and teach the model."""
        super().tell(observations)
        self._teach(dict.fromkeys(observation.point for observation in observations))

    def _teach(self, selections: Collection[Selection]) -> None:
        losses = [self._record.losses[selection] for selection in selections]
        rows = zip(self._locate(selections), losses, strict=True)
        # A selection with a new price replaces its old row.
        self._sample.retell([Observation(point, loss) for point, loss in rows])

    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        found = self._record.succeeded()
        if len(found) < INITIAL or not self._space.decisions:
            return self._draw()
        acquisition = self._acquisition(waiting)
        parents = sorted(found, key=found.__getitem__)[:PARENTS]
        scores = self._scores(self._draws(taken) + self._neighbours(parents, taken), acquisition)
        promising = sorted(scores, key=scores.__getitem__, reverse=True)[:PARENTS]
        scores |= self._scores(self._neighbours(promising, taken), acquisition)
        return max(scores, key=scores.__getitem__, default=None)

    def _draws(self, taken: Collection[Selection]) -> list[Selection]:
        """Return draws of this sub-problem, some of them new: encoding all anew takes longer."""
        kept = [selection for selection in self._far if selection not in taken][FRESH - FAR :]
        new = self._new(self._draw, FAR - len(kept), taken)
        self._far = list(dict.fromkeys(kept + new))
        return self._far

    def _draw(self) -> Selection:
        """Draw a selection; with priors every other one, on average, is likely to be good."""
        if self._lessons is None or self._rng.random() < UNIFORM:
            return self._space.sample(self._rng)
        return self._lessons.draw(self._rng)

    def _neighbours(
        self, parents: Sequence[Selection], taken: Collection[Selection]
    ) -> list[Selection]:
        """Return some neighbours of each parent, the same ones until half of them are known."""
        for parent in parents:
            left = [near for near in self._near.get(parent, []) if near not in taken]
            if 2 * len(left) < NEAR:
                left = self._new(partial(neighbour, self._space, parent, self._rng), NEAR, taken)
            self._near[parent] = left
        return [near for parent in parents for near in self._near[parent]]

    def _new(
        self, make: Callable[[], Selection], count: int, taken: Collection[Selection]
    ) -> list[Selection]:
        made = dict.fromkeys(make() for _ in range(count))
        return [selection for selection in made if selection not in taken]

    def _scores(
        self, candidates: Sequence[Selection], acquisition: ExpectedImprovement
    ) -> dict[Selection, float]:
        """Return the logarithm of the expected improvement of each candidate, with its lessons."""
        points = self._locate(candidates)
        scores = acquisition(points, points)
        if self._lessons is not None:
            # πBO (Hvarfner et al. 2022): log EI + β/n · log π.
            lessons = [self._lessons.score(candidate) for candidate in candidates]
            scores = scores + self._trust / len(self._record.losses) * np.array(lessons)
        return dict(zip(candidates, scores.tolist(), strict=True))

    def _acquisition(self, waiting: Sequence[Selection]) -> ExpectedImprovement:
        """Return log EI after the sample, with pending selections as good as expected.

        An improvement must beat those, too, or every worker would be sent to the same place.
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
        """Fit kernel parameters from those of the last ask; with many points not at every ask."""
        seen = len(self._sample)
        if self._logs is None or seen - self._fitted_at >= max(seen // ALWAYS_FIT, 1):
            start = prior_mean(points.shape[1]) if self._logs is None else self._logs
            steps = FIRST_FIT if self._logs is None else NEXT_FIT
            self._logs = fit_kernel(points, values, start, steps).logs
            self._fitted_at = seen
        return self._logs

    def _locate(self, selections: Collection[Selection]) -> Array:
        for selection in selections:
            if selection not in self._codes:
                self._codes[selection] = self._relaxed.locate(Candidate(selection, ()))
        points = [self._codes[selection] for selection in selections]
        return np.array(points, dtype=float).reshape(len(points), len(self._nothing.center))
