"""The whole conditional space as a box with categories and conditions kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from automl_admm.core.space import Array, Choice, Decision, Parameter, Pick
from automl_admm.search.joint.one_hot import RelaxedSpace, priorities


class ConditionalSpace(RelaxedSpace):
    """A box with a category for each choice, priorities for each order, and the parameters.

    Use it with solvers that model categories. Each axis keeps its condition, by the names of the
    choices; an inactive axis has the same place in every observation.
    """

    def axes_of(self, decision: Decision) -> list[Parameter]:
        """Return one category for a choice; a priority for each item of an order."""
        if not isinstance(decision, Choice):
            return [replace(axis, when=decision.when) for axis in super().axes_of(decision)]
        found, last = decision.alternatives, len(decision.alternatives) - 1
        axis = Parameter(decision.name, 0, last, kind="category", default=0, values=found)
        return [replace(axis, when=decision.when)]

    def width(self, decision: Decision) -> int:
        """Return 1 for a choice, the number of items for an order."""
        return 1 if isinstance(decision, Choice) else super().width(decision)

    def decode(self, decision: Decision, axes: Array) -> Pick:
        """Return the alternative nearest on the axis."""
        if not isinstance(decision, Choice):
            return super().decode(decision, axes)
        last = len(decision.alternatives) - 1
        # A place outside [0, 1] by a rounding error must not reach past the last alternative.
        return decision.alternatives[round(float(np.clip(axes[0], 0.0, 1.0)) * last)]

    def encode(self, decision: Decision, pick: Pick | None) -> Array:
        """Return the place of a pick; the default if the decision is inactive."""
        if not isinstance(decision, Choice):
            return priorities(decision, decision.items if pick is None else tuple(pick))
        last = len(decision.alternatives) - 1
        place = 0 if pick is None else decision.alternatives.index(str(pick))
        # A choice of one alternative has last = 0.
        return np.array([place / max(last, 1)], dtype=float)
