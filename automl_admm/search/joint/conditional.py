"""The whole conditional space as a box that keeps its categories and its conditions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from automl_admm.core.space import Array, Choice, Decision, Parameter, Pick
from automl_admm.search.joint.one_hot import RelaxedSpace, priorities


class ConditionalSpace(RelaxedSpace):
    """A box with a category for each choice, priorities for each order, and the parameters.

    For solvers that know categories. The axes keep the conditions under which they count, by the
    names of the choices; one that does not count stands at the same place in every observation.
    """

    def axes_of(self, decision: Decision) -> list[Parameter]:
        """One category for a choice; a priority for each item of an order."""
        if not isinstance(decision, Choice):
            return [replace(axis, when=decision.when) for axis in super().axes_of(decision)]
        found, last = decision.alternatives, len(decision.alternatives) - 1
        axis = Parameter(decision.name, 0, last, kind="category", default=0, values=found)
        return [replace(axis, when=decision.when)]

    def width(self, decision: Decision) -> int:
        """One axis for a choice."""
        return 1 if isinstance(decision, Choice) else super().width(decision)

    def decode(self, decision: Decision, axes: Array) -> Pick:
        """The alternative whose place on the axis is nearest."""
        if not isinstance(decision, Choice):
            return super().decode(decision, axes)
        last = len(decision.alternatives) - 1
        return decision.alternatives[round(float(np.clip(axes[0], 0.0, 1.0)) * last)]

    def encode(self, decision: Decision, pick: Pick | None) -> Array:
        """The place of a pick; of none, where the decision is not active, its default."""
        if not isinstance(decision, Choice):
            return priorities(decision, decision.items if pick is None else tuple(pick))
        last = len(decision.alternatives) - 1
        place = 0 if pick is None else decision.alternatives.index(str(pick))
        return np.array([place / max(last, 1)], dtype=float)
