"""Places at which scores are cut into decisions: a threshold, one for each row, or a band."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.space import Array
from automl_admm.pipelines.labels import UNDECIDED


@dataclass(frozen=True, slots=True)
class Band:
    """The scores s with lower ≤ s < upper, which leave a row undecided."""

    lower: float
    upper: float


Cut = float | Array | Band


def cut_scores(scores: Any, cut: Cut) -> Any:
    """Return 1 for s ≥ t and 0 for others; in a band UNDECIDED.

    >>> cut_scores(np.array([0.1, 0.5, 0.9]), Band(0.4, 0.6)).tolist()
    [0, -1, 1]
    """
    if not isinstance(cut, Band):
        return (scores >= cut).astype(np.intp)
    below_or_undecided = np.where(scores < cut.lower, 0, UNDECIDED)
    return np.where(scores >= cut.upper, 1, below_or_undecided).astype(np.intp)


def has_both(decisions: Any) -> bool:
    """Return True if some rows are decided for each of two classes."""
    return bool((decisions == 1).any() and (decisions == 0).any())
