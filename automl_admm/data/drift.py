"""Columns of new rows against those of a reference: shares of bins, compared by a test.

Only counts are kept of the reference, no rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

# Tenths of the reference; a number with fewer values than bins has fewer.
BINS = 10
# Levels beyond these, by frequency, are counted together.
LEVELS = 30
# Expected counts below this make the χ² test inexact: such bins are put together.
FEWEST = 5.0
# A population stability index from here on is called a moderate shift in credit scoring.
SHIFT = 0.1
MISSING, OTHER = "missing", "others"


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of a column of the reference: by `edges` of a number, else by the name of a level."""

    counts: Mapping[str, int]
    edges: tuple[float, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return what `of_json` reads."""
        edges = None if self.edges is None else list(self.edges)
        return {"counts": dict(self.counts), "edges": edges}

    @classmethod
    def of_json(cls, content: Mapping[str, Any]) -> Summary:
        """Read a summary."""
        counts = {str(name): int(count) for name, count in content["counts"].items()}
        edges = content["edges"]
        return cls(counts, None if edges is None else tuple(map(float, edges)))


@dataclass(frozen=True, slots=True)
class Shift:
    """The comparison of a column: p of the χ² test, and the population stability index.

    With shares p_i of the reference and q_i of the new rows in bin i the index is
    Σ (q_i − p_i) ln(q_i / p_i).
    """

    column: str
    p: float
    index: float

    def is_alarm(self, risk: float) -> bool:
        """Return True if the shift is neither chance nor small."""
        return self.p <= risk and self.index >= SHIFT


def summarize(column: Any) -> Summary:
    """Count a column of the reference, a number by tenths of it and all else by levels."""
    column = pd.Series(column)
    if _is_number(column):
        values = column.to_numpy(dtype=float, na_value=np.nan)
        known = values[np.isfinite(values)]
        tenths = np.quantile(known, np.arange(1, BINS) / BINS) if len(known) else known
        edges = tuple(map(float, np.unique(tenths)))
        return Summary(_count_numbers(values, edges), edges)
    names = _names(column)
    frequent = names[names != MISSING].value_counts().index[:LEVELS]
    return Summary(_count_levels(names, set(frequent)))


def compare(name: str, reference: Summary, column: Any) -> Shift:
    """Compare a column of new rows with the reference."""
    column = pd.Series(column)
    if reference.edges is not None:
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        counts = _count_numbers(numbers, reference.edges)
    else:
        counts = _count_levels(_names(column), set(reference.counts) - {MISSING, OTHER})
    bins = list(dict.fromkeys([*reference.counts, *counts]))
    table = np.array(
        [[source.get(one, 0) for one in bins] for source in (reference.counts, counts)]
    )
    return Shift(name, _p_of(table), _index_of(table))


def alarms(shifts: Sequence[Shift], risk: float) -> list[Shift]:
    """Return the columns with an alarm; the risk of any false one is shared among all (Holm)."""
    found = []
    for place, shift in enumerate(sorted(shifts, key=lambda one: one.p)):
        if shift.p > risk / (len(shifts) - place):
            break
        if shift.is_alarm(risk):
            found.append(shift)
    return found


def _is_number(column: Any) -> bool:
    is_numeric = pd.api.types.is_numeric_dtype(column.dtype)
    return bool(is_numeric and not pd.api.types.is_bool_dtype(column.dtype))


def _names(column: Any) -> Any:
    """Return the values as texts: a whole number is the same text with and without a fraction."""
    texts = column.astype(object).map(_name, na_action="ignore")
    return texts.where(column.notna(), MISSING)


def _name(value: Any) -> str:
    is_whole = isinstance(value, float) and value.is_integer()
    return f"={int(value) if is_whole else value}"


def _count_numbers(values: Any, edges: Sequence[float]) -> dict[str, int]:
    places = np.searchsorted(np.array(edges), values[~np.isnan(values)], side="right")
    counts = np.bincount(places, minlength=len(edges) + 1)
    missing = {MISSING: int(np.isnan(values).sum())}
    return {f"bin {place}": int(count) for place, count in enumerate(counts)} | missing


def _count_levels(names: Any, known: set[str]) -> dict[str, int]:
    kept = names.where(names.isin({*known, MISSING}), OTHER)
    return {str(name): int(count) for name, count in kept.value_counts().items()}


def _p_of(table: Any) -> float:
    """Return p of the χ² test of two samples; 1 where there is one bin alone."""
    from scipy.stats import chi2_contingency

    rows = table.sum(axis=1, keepdims=True)
    expected = table.sum(axis=0) * rows.min() / rows.sum()
    is_rare = expected < FEWEST
    rare = table[:, is_rare].sum(axis=1, keepdims=True)
    kept = np.hstack([table[:, ~is_rare], rare]) if is_rare.any() else table
    kept = kept[:, kept.sum(axis=0) > 0]
    if kept.shape[1] < 2 or not rows.all():
        return 1.0
    return float(chi2_contingency(kept, correction=False).pvalue)


def _index_of(table: Any) -> float:
    # Half a row in each bin: a level that is new has no share in the reference.
    shares = (table + 0.5) / (table + 0.5).sum(axis=1, keepdims=True)
    return float(np.sum((shares[1] - shares[0]) * np.log(shares[1] / shares[0])))
