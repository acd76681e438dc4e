"""Several proposals at a time from a solver that makes one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from automl_admm.core.space import Array


def one_by_one(
    propose: Callable[[Sequence[Array]], Array | None], count: int, pending: Sequence[Array]
) -> list[Array]:
    """Propose up to `count` points, each with the earlier ones taken as pending."""
    points: list[Array] = []
    while len(points) < count:
        point = propose([*pending, *points])
        if point is None:
            break
        points.append(point)
    return points
