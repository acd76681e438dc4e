"""Row counts behind evidence, and the same evidence scaled to more or fewer rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from automl_admm.core.evidence import (
    F1,
    Average,
    Calibration,
    Evidence,
    Explained,
    Gap,
    Largest,
    Mean,
    Quantile,
    RankCorrelation,
    Ranking,
    Rate,
    Ratio,
    RootMeanSquare,
    Smallest,
    Timing,
)
from automl_admm.core.space import Array


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of rows of one kind in one group; `events` is None without a count."""

    where: str
    of: str
    rows: int
    events: int | None = None

    def __str__(self) -> str:
        # Rows of one class are named by it already.
        is_named = self.where.removeprefix("for ") in self.of
        return self.of if is_named else f"{self.of} {self.where}"


def cells(evidence: Evidence, where: str = "") -> tuple[Cell, ...]:
    """List every counted cell of the evidence, groups in their order; a fact has none."""
    if isinstance(evidence, Rate):
        return (Cell(where, evidence.of, evidence.trials, evidence.events),)
    if isinstance(evidence, F1):
        return (Cell(where, evidence.of, evidence.rows, evidence.hits),)
    if isinstance(evidence, Ranking):
        sides = (("positives", evidence.positives), ("negatives", evidence.negatives))
        return tuple(Cell(where, of, len(scores)) for of, scores in sides)
    if isinstance(evidence, Mean | Timing | Quantile):
        return (
            Cell(where, "calls" if isinstance(evidence, Timing) else "rows", len(evidence.values)),
        )
    if isinstance(evidence, RootMeanSquare | Explained | Calibration | RankCorrelation):
        return (Cell(where, "rows", _rows_of(evidence)),)
    inner = _parts(evidence, where)
    return tuple(cell for name, part in inner.items() for cell in cells(part, name))


def _rows_of(evidence: RootMeanSquare | Explained | Calibration | RankCorrelation) -> int:
    if isinstance(evidence, RankCorrelation):
        return evidence.rows
    return len(evidence.truth if isinstance(evidence, Calibration) else evidence.errors)


def _parts(evidence: Evidence, where: str) -> dict[str, Evidence]:
    """Return the parts of the evidence by their place."""
    if isinstance(evidence, Gap | Ratio):
        return {f"{where} in group '{name}'".strip(): one for name, one in evidence.groups.items()}
    if isinstance(evidence, Largest | Smallest | Average):
        return {f"{where} for {name}".strip(): one for name, one in evidence.parts.items()}
    return {}


def smallest(evidence: Evidence) -> Cell | None:
    """Return the cell with the fewest rows, the usual reason for a failed certificate."""
    return min(cells(evidence), key=lambda cell: cell.rows, default=None)


def counts(evidence: Evidence) -> dict[str, int]:
    """Rows and events of every cell, as a certificate keeps them."""
    found: dict[str, int] = {}
    for cell in cells(evidence):
        found[str(cell)] = cell.rows
        if cell.events is not None:
            found[f"events among {cell}"] = cell.events
    return found


def stretch(evidence: Evidence, factor: float) -> Evidence:
    """The same evidence as it is to be expected on `factor` times as many rows of every cell."""
    if isinstance(evidence, Rate):
        events, trials = _more(evidence.events, evidence.trials, factor)
        return replace(evidence, trials=trials, events=events)
    if isinstance(evidence, F1):
        hits, rows = _more(evidence.hits, evidence.rows, factor)
        return replace(evidence, rows=rows, hits=hits)
    if isinstance(evidence, Mean | Timing | Quantile | RootMeanSquare | Explained):
        return _stretched_values(evidence, factor)
    if isinstance(evidence, Calibration):
        places = _spread(np.arange(len(evidence.truth), dtype=float), factor).astype(int)
        return Calibration(evidence.probabilities[places], evidence.truth[places])
    if isinstance(evidence, Ranking):
        positives, negatives = evidence.positives, evidence.negatives
        return Ranking(_spread(positives, factor), _spread(negatives, factor))
    return _stretched_inside(evidence, factor)


def _stretched_inside(evidence: Evidence, factor: float) -> Evidence:
    if isinstance(evidence, RankCorrelation):
        return replace(evidence, rows=_times(evidence.rows, factor))
    if isinstance(evidence, Gap | Ratio):
        return replace(evidence, groups=_stretched(evidence.groups, factor))
    if isinstance(evidence, Largest | Smallest | Average):
        return replace(evidence, parts=_stretched(evidence.parts, factor))
    return evidence


def _more(events: int, trials: int, factor: float) -> tuple[int, int]:
    """Return the same share of so many times the trials."""
    rows = _times(trials, factor)
    return round(events / trials * rows) if trials else 0, rows


def _stretched_values(
    evidence: Mean | Timing | Quantile | RootMeanSquare | Explained, factor: float
) -> Evidence:
    if isinstance(evidence, Explained):
        # An error belongs to the truth beside it: both are taken from the same rows.
        places = _spread(np.arange(len(evidence.errors), dtype=float), factor).astype(int)
        return replace(evidence, errors=evidence.errors[places], truth=evidence.truth[places])
    if isinstance(evidence, RootMeanSquare):
        return replace(evidence, errors=_spread(evidence.errors, factor))
    return replace(evidence, values=_spread(evidence.values, factor))


def _stretched(parts: Mapping[str, Evidence], factor: float) -> dict[str, Evidence]:
    return {name: stretch(part, factor) for name, part in parts.items()}


def _spread(values: Array, factor: float) -> Array:
    """So many values of the same distribution: its quantiles (j − ½) / n."""
    if not len(values):
        return values
    rows = _times(len(values), factor)
    # Quantiles, not random draws: a plan must give the same number twice.
    ordered = np.sort(values)
    return np.asarray(ordered[((np.arange(rows) + 0.5) / rows * len(values)).astype(int)])


def _times(rows: int, factor: float) -> int:
    # A cell with rows keeps one: the limit would become not estimable otherwise.
    return max(1, round(rows * factor)) if rows else 0
