"""What `gp` believes of a box: a Gaussian process for the objective and one for each constraint."""

from __future__ import annotations

from dataclasses import dataclass

from automl_admm.builtin.theta.regression import Kernel, Posterior, fit_kernel, prior_mean
from automl_admm.builtin.theta.sample import Training
from automl_admm.space import Array

FIRST_FIT, NEXT_FIT = 60, 15
ALWAYS_FIT = 100
REFITS = 50


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """The posteriors of the objective and of each constraint."""

    objective: Posterior
    constraints: tuple[Posterior, ...]

    def believing(self, points: Array) -> Beliefs:
        """The beliefs had these points, not told yet, turned out as they are expected to."""
        if not len(points):
            return self
        return Beliefs(
            self.objective.believing(points),
            tuple(posterior.believing(points) for posterior in self.constraints),
        )


class Surrogate:
    """Fits kernels from those of the ask before, or of the last box of the same parameters."""

    def __init__(self) -> None:
        self._kernels: dict[tuple[str, ...], list[Array]] = {}
        self._names: tuple[str, ...] = ()
        self._fitted_at = 0

    def begin(self, names: tuple[str, ...]) -> None:
        """Start on a box of these parameters."""
        self._names = names
        self._fitted_at = 0

    def condition(self, training: Training, seen: int) -> Beliefs:
        """Fit the kernels if enough is new of what was `seen`, and condition on the sample."""
        outputs = [training.values, *(measured.values for measured in training.measured)]
        every = 1 if seen <= ALWAYS_FIT else seen // REFITS
        kernels = self._kernels.get(self._names, [])
        if len(kernels) != len(outputs) or not self._fitted_at or seen - self._fitted_at >= every:
            kernels = self._fit(training.points, outputs, kernels)
            self._kernels[self._names] = kernels
            self._fitted_at = seen
        objective, *constraints = (
            Posterior.of(Kernel.of(logs), training.points, values)
            for logs, values in zip(kernels, outputs, strict=True)
        )
        return Beliefs(objective, tuple(constraints))

    def _fit(self, points: Array, outputs: list[Array], kernels: list[Array]) -> list[Array]:
        if len(kernels) == len(outputs):
            pairs = zip(outputs, kernels, strict=True)
            return [fit_kernel(points, values, start, NEXT_FIT) for values, start in pairs]
        start = prior_mean(points.shape[1])
        return [fit_kernel(points, values, start, FIRST_FIT) for values in outputs]
