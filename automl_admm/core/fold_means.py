"""The value of a limit over the folds of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from automl_admm.core.evidence import Estimate, Evidence, Gap, Largest, Ratio, Smallest
from automl_admm.core.space import Array


def mean_over_folds(folds: Sequence[Evidence]) -> float:
    """Return the mean value over folds; of a comparison of groups, that of the groups' means.

    A fold has few rows of a group, and max − min over groups makes of their noise a gap: the mean
    of the folds' gaps, 1/K Σ_k (max_g s_k(g) − min_g s_k(g)), would be too large wherever groups
    are alike. Here each group's value is averaged first: max_g s(g) − min_g s(g), where
    s(g) = 1/K Σ_k s_k(g). Ratios, and the worst of several groups, likewise.

    >>> low, high = Rate(1, 4), Rate(3, 4)
    >>> mean_over_folds([Gap({"f": low, "m": high}), Gap({"f": high, "m": low})])
    0.0
    """
    first, parted = folds[0], [_parts_of(one) for one in folds]
    kinds = {(type(one), frozenset(parts)) for one, parts in zip(folds, parted, strict=True)}
    # A fold where the limit failed has a bare number.
    if not parted[0] or len(kinds) > 1:
        return float(np.mean([one.value for one in folds]))
    means = {name: Estimate(mean_over_folds([one[name] for one in parted])) for name in parted[0]}
    return _joined(first, means).value


def means_over_folds(folds: Sequence[Sequence[Evidence]]) -> Array:
    """Return the mean value of each of several limits, given the evidence of all by fold."""
    return np.array([mean_over_folds(one) for one in zip(*folds, strict=True)], dtype=float)


def without_rows(evidence: Evidence) -> Evidence:
    """Return evidence with the same value over folds, in little memory.

    >>> without_rows(Gap({"f": Rate(1, 4), "m": Rate(3, 4)})).value
    0.5
    """
    parts = _parts_of(evidence)
    if not parts:
        return Estimate(evidence.value)
    return _joined(evidence, {name: without_rows(one) for name, one in parts.items()})


def _parts_of(evidence: Evidence) -> Mapping[str, Evidence]:
    """Return the parts that are compared with each other; none of other evidence."""
    if isinstance(evidence, Gap | Ratio):
        return evidence.groups
    return evidence.parts if isinstance(evidence, Largest | Smallest) else {}


def _joined(like: Evidence, parts: Mapping[str, Evidence]) -> Evidence:
    if isinstance(like, Gap | Ratio):
        return replace(like, groups=parts)
    assert isinstance(like, Largest | Smallest)  # noqa: S101 - others have no parts
    return replace(like, parts=parts)
