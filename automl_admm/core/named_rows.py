"""The names of the rows that evidence counts, changed wherever it has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from automl_admm.core.evidence import (
    F1,
    Average,
    Evidence,
    Gap,
    Largest,
    Rate,
    Ratio,
    Smallest,
    Weighted,
)

Rename = Callable[[str], str]


def name_rows(evidence: Evidence, rename: Rename) -> Evidence:
    """Return the evidence with its rows, and those of its parts, named anew.

    >>> name_rows(Rate(1, 4), lambda rows: f"decided {rows}").of
    'decided rows'
    """
    if isinstance(evidence, Rate | Weighted | F1):
        return replace(evidence, of=rename(evidence.of))
    if isinstance(evidence, Gap | Ratio):
        return replace(evidence, groups=_all(evidence.groups, rename))
    if isinstance(evidence, Largest | Smallest | Average):
        return replace(evidence, parts=_all(evidence.parts, rename))
    return evidence


def _all(parts: Mapping[str, Evidence], rename: Rename) -> dict[str, Evidence]:
    return {name: name_rows(part, rename) for name, part in parts.items()}
