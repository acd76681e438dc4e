"""Evidence of several lots of rows, put together as if all rows had come at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from automl_admm.core.evidence import Estimate, Evidence, Fact, RankCorrelation, Rate, Weighted
from automl_admm.core.plain_evidence import COUNTS

# What these say of two lots says nothing of both.
LONE = (Estimate, Weighted, RankCorrelation)


def pool(first: Evidence, second: Evidence) -> Evidence:
    """Return the evidence of the rows of both; raise a ValueError if there is none.

    Counts are added, values follow each other, and groups are put together by name. All other
    fields, such as the range of a mean, must be equal. Of two facts the later one counts.

    >>> pool(Rate(1, 4), Rate(2, 4))
    Rate(events=3, trials=8, of='rows')
    """
    if _has_no_rows(first) or _has_no_rows(second):
        return second if _has_no_rows(first) else first
    if type(first) is not type(second) or isinstance(first, LONE):
        raise ValueError(f"{type(second).__name__} does not add to {type(first).__name__}")
    if isinstance(first, Fact):
        return second
    names = [item.name for item in fields(first)]  # type: ignore[arg-type]
    merged = {name: _merged(name, getattr(first, name), getattr(second, name)) for name in names}
    found: Evidence = type(first)(**merged)
    return found


def _has_no_rows(evidence: Evidence) -> bool:
    """Return True for the rate of a group without rows, whatever is measured in the others.

    Its rows may have another name than theirs: the decided ones, or those of a class.
    """
    return isinstance(evidence, Rate) and evidence.trials == 0


def _merged(name: str, first: Any, second: Any) -> Any:
    if isinstance(first, Mapping):
        return {key: _of_group(key, first, second) for key in {**first, **second}}
    if np.ndim(first):  # an author may give a list, or a column of a table
        return np.concatenate([first, second])
    if name in COUNTS:
        return first + second
    if first != second:
        raise ValueError(f"its {name} is {second} and was {first}")
    return first


def _of_group(key: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> Evidence:
    """Return the evidence of a group, also if only one of the lots has it."""
    if key not in first or key not in second:
        found: Evidence = first.get(key, second.get(key))
        return found
    return pool(first[key], second[key])
