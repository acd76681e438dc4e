"""The model of `gp`: a Gaussian process for the objective and one for each constraint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from automl_admm.builtin.theta.gaussian.regression import Kernel, Posterior, fit_kernel, prior_mean
from automl_admm.builtin.theta.gaussian.training_set import Training
from automl_admm.core.space import Array

# Steps of a fit: from the prior mean, and from the kernel of the last ask.
FIRST_FIT, NEXT_FIT = 60, 15
# Up to ALWAYS_FIT points fit at each ask; beyond, once in seen / REFITS points.
ALWAYS_FIT = 100
REFITS = 50
# Compare the shapes again when this many times as many points are known.
COMPARED_AGAIN = 1.1


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """The posteriors of the objective and of each constraint."""

    objective: Posterior
    constraints: tuple[Posterior, ...]

    def believing(self, points: Array) -> Beliefs:
        """Return the beliefs as if these untold points had their expected values."""
        if not len(points):
            return self
        return Beliefs(
            self.objective.believing(points),
            tuple(posterior.believing(points) for posterior in self.constraints),
        )


class Surrogate:
    """Fit kernels from those of the last ask, or of the last box with the same parameters.

    The objective's values come in several shapes. Take the shape best explained by its likeliest
    process: the one with the least −log p(v | X, φ) − log p(φ). The winner seldom changes, so
    compare again only when a tenth more points are known.
    """

    def __init__(self) -> None:
        self._kernels: dict[tuple[str, ...], list[Array]] = {}
        self._names: tuple[str, ...] = ()
        self._fitted_at = 0
        self._compared_at = 0
        self._shape = 0

    def begin(self, names: tuple[str, ...]) -> None:
        """Start on a box of these parameters."""
        self._names = names
        self._fitted_at = 0
        self._compared_at = 0

    def condition(self, shapes: Sequence[Training], seen: int) -> tuple[Training, Beliefs]:
        """Refit the kernels if enough of the `seen` points are new; condition on the sample."""
        every = 1 if seen <= ALWAYS_FIT else seen // REFITS
        if not self._fitted_at or seen - self._fitted_at >= every:
            self._fit(shapes, seen)
            self._fitted_at = seen
        training, kernels = shapes[self._shape], self._kernels[self._names]
        outputs = [training.values, *(measured.values for measured in training.measured)]
        objective, *constraints = (
            Posterior.of(Kernel.of(logs), training.points, values)
            for logs, values in zip(
                [kernels[self._shape], *kernels[len(shapes) :]], outputs, strict=True
            )
        )
        return training, Beliefs(objective, tuple(constraints))

    def _fit(self, shapes: Sequence[Training], seen: int) -> None:
        """Fit a kernel for each shape, or only for the chosen one, and for each constraint."""
        points = shapes[0].points
        outputs = [shape.values for shape in shapes]
        outputs += [measured.values for measured in shapes[0].measured]
        kernels, steps = list(self._kernels.get(self._names, [])), NEXT_FIT
        # The first fit, or another number of limits or shapes: no kernel to begin from.
        if len(kernels) != len(outputs):
            kernels, steps = [prior_mean(points.shape[1])] * len(outputs), FIRST_FIT
        is_due = seen >= COMPARED_AGAIN * self._compared_at
        tried = range(len(shapes)) if is_due else (self._shape,)
        surprises: dict[int, float] = {}
        for place in (*tried, *range(len(shapes), len(outputs))):
            fit = fit_kernel(points, outputs[place], kernels[place], steps)
            kernels[place], surprises[place] = fit.logs, fit.surprise
        self._kernels[self._names] = kernels
        if is_due:
            self._compared_at = seen
            # `log_scale` makes densities of differently bent values comparable.
            self._shape = min(tried, key=lambda place: surprises[place] + shapes[place].log_scale)
