"""Trees with an infinite threshold: the converter of such a tree may never end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


def refuse_endless(model: Any) -> None:
    """Raise if a tree of a model has an infinite threshold: it parts the gaps from all numbers.

    In double precision the converter of such a tree seeks a number next to it, and never ends.
    """
    for tree in _trees_inside(model, set()):
        if not np.isfinite(tree.threshold.astype(np.float32)).all():
            raise ValueError("a tree parts gaps from numbers by an infinite threshold")


def _trees_inside(part: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the trees of scikit-learn in a model, at any depth."""
    if id(part) in seen:
        return
    seen.add(id(part))
    for name, one in _parts(part):
        if name == "tree_":
            yield one
        else:
            yield from _trees_inside(one, seen)


def _parts(part: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of a model or the members of a collection, with their names if any."""
    if isinstance(part, BaseEstimator):
        yield from vars(part).items()
    elif isinstance(part, Mapping):
        yield from (("", one) for one in part.values())
    elif isinstance(part, list | tuple):
        yield from (("", one) for one in part)
    elif isinstance(part, np.ndarray) and part.dtype == object:
        yield from (("", one) for one in part.flat)
