"""Independent rows that all count alike, drawn from rows with weights or in groups.

Exact bounds count rows that are independent and count alike. Neither holds for rows with weights,
nor for rows of one group. Drawing makes such rows of them.

Let group g have the total weight T_g = Σ w_i over its rows i (a row without a group is a group of
its own), and let L be at least the total of every group, also of those to come. Each group is kept
with probability T_g / L, and of a kept one the row i is drawn with probability w_i / T_g. For any
set A of rows, a group yields a row in A with probability

    E[T_g / L · Σ_{i in g and A} w_i / T_g] = E[Σ_{i in g and A} w_i] / L,

which is in proportion to the weight of A in the population. Groups are independent, and each yields
one row at most. So given their number, the drawn rows are a plain sample from the population in
which each row counts by its weight, and every bound for such samples holds for them.

L is the largest total in all the data. Where it is not the largest of the population, nothing is
claimed: the probability of a false certificate while L is the largest is at most that of the test
with the true largest total. That no group to come weighs more is part of the claim in words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.space import Array
from automl_admm.data.row_roles import Roles

Rows = NDArray[np.intp]


def independent_rows(roles: Roles, largest: float, seed: int) -> Rows | None:
    """Draw independent rows, at most one of each group; None if all rows are independent and alike.

    `largest` is L, as from `largest_total`, at least. Rows that weigh the same are alike only if no
    other row weighs more: by chance, or by how rows were parted, a table may lack the heavy ones.
    """
    if roles.weights is None and roles.clusters is None and largest <= roles.unit:
        return None
    weights, numbers, totals = _totals(roles)
    rng = np.random.default_rng(seed)
    is_kept = rng.random(len(totals)) * largest < totals
    # The least of exponential times with rates w is that of row i with probability w_i / Σ w.
    times = rng.exponential(size=len(weights)) / weights
    order = np.lexsort((times, numbers))
    first = order[np.flatnonzero(np.diff(numbers[order], prepend=-1))]
    return np.asarray(np.sort(first[is_kept]), dtype=np.intp)


def largest_total(roles: Roles) -> float:
    """Return the largest weight of a group, in the unit of the weights as they were given."""
    return float(_totals(roles)[2].max()) if len(_size(roles)) else roles.unit


def _size(roles: Roles) -> Any:
    columns = (roles.weights, roles.clusters, roles.hashes)
    return next((known for known in columns if known is not None), ())


def _totals(roles: Roles) -> tuple[Array, Rows, Array]:
    """Return the weight of each row, the number of its group, and the totals of the groups."""
    rows = len(_size(roles))
    weights = roles.unit * (np.ones(rows) if roles.weights is None else roles.weights)
    numbers = np.arange(rows)
    if roles.clusters is not None:
        numbers = np.unique(roles.clusters, return_inverse=True)[1]
    return weights, numbers, np.bincount(numbers, weights).astype(float)
