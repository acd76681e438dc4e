"""Helpers of solvers that propose points: several at a time, and histories cut to a size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from automl_admm.core.space import Array

ItemT = TypeVar("ItemT")


def one_by_one(
    propose: Callable[[Sequence[Array]], Array | None], count: int, pending: Sequence[Array]
) -> list[Array]:
    """Propose up to `count` points, each with those before it taken as pending.

    `propose` returns None if nothing is left to try.

    >>> one_by_one(lambda waiting: np.array([len(waiting) / 10]), 2, pending=[np.zeros(1)])
    [array([0.1]), array([0.2])]
    """
    points: list[Array] = []
    while len(points) < count:
        point = propose([*pending, *points])
        if point is None:
            break
        points.append(point)
    return points


def best_and_latest(items: Sequence[ItemT], losses: Sequence[Any], count: int) -> list[ItemT]:
    """Keep `count` items of a history, in its order: the best half, and the latest of the others.

    A model whose cost grows with its history learns most from these.

    >>> best_and_latest("abcdef", [0.1, 9.0, 8.0, 7.0, 6.0, 0.2], 4)
    ['a', 'd', 'e', 'f']
    """
    if len(items) <= count:
        return list(items)
    order = sorted(range(len(items)), key=lambda place: losses[place])
    best = set(order[: count // 2])
    others = [place for place in range(len(items)) if place not in best]
    kept = sorted([*best, *others[len(others) - (count - len(best)) :]])
    return [items[place] for place in kept]
