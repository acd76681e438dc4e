"""Splits in the order of time: no pipeline learns from rows later than those it is measured on."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.errors import DataError, Remedy
from automl_admm.core.messages import say_count

Rows = NDArray[np.intp]


def forward_folds(times: Any, count: int) -> tuple[tuple[Rows, Rows], ...]:
    """Return folds with a training part that ends before the validation part begins.

    The rows in order are cut into count + 1 equal blocks; each block but the first is validated by
    what was learned from all blocks before it, as in scikit-learn's `TimeSeriesSplit`. Rows of one
    moment stay together.
    """
    order = np.argsort(times, kind="stable")
    shares = np.arange(1, count + 1) / (count + 1)
    ends = np.append(_cuts(np.asarray(times)[order], shares), len(order))
    if len(np.unique(ends)) <= count:
        raise _few_moments(times, f"{count} folds in the order of time")
    return tuple(
        (np.sort(order[:begin]), np.sort(order[begin:end])) for begin, end in pairwise(ends)
    )


def latest(times: Any, fraction: float) -> tuple[Rows, Rows]:
    """Return all rows but the latest, and the latest: about this share."""
    order = np.argsort(times, kind="stable")
    cut = _cuts(np.asarray(times)[order], np.array([1 - fraction]))
    if not 0 < cut[0] < len(order):
        raise _few_moments(times, "an earlier and a later part")
    return np.sort(order[: cut[0]]), np.sort(order[cut[0] :])


def _cuts(ordered: Any, shares: Any) -> Rows:
    """Return the places nearest to these shares where a new moment begins; 0 and n without any."""
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))[1:]
    if not len(starts):
        return np.zeros(len(shares), dtype=np.intp)
    wanted = shares * len(ordered)
    after = np.minimum(np.searchsorted(starts, wanted), len(starts) - 1)
    before = np.maximum(after - 1, 0)
    is_nearer = np.abs(starts[before] - wanted) <= np.abs(starts[after] - wanted)
    return np.asarray(np.where(is_nearer, starts[before], starts[after]), dtype=np.intp)


def _few_moments(times: Any, what: str) -> DataError:
    moments = say_count(len(np.unique(times)), "moment")
    return DataError(
        f"rows of {moments} do not fill {what}: rows of one moment stay together.",
        hint=Remedy("Ask for fewer folds in {cv}, or leave out {time}."),
    )
