"""Measurements by group, and comparisons between groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from automl_admm.core.errors import DataError, InvalidOutcome
from automl_admm.core.evidence import Evidence, Gap, Largest, Rate, Ratio, Smallest
from automl_admm.core.limits import DeclaredRange
from automl_admm.core.read_only import read_only
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import (
    ConstraintFunction,
    GroupedFunction,
    GroupFunction,
    Masks,
    Measured,
)


def by_group(
    function: ConstraintFunction, evaluated: EvaluatedPipeline, groups: Masks
) -> Mapping[str, Evidence]:
    """Measure the rows of each group; a group without rows has no value."""
    counts = {name: int(rows.sum()) for name, rows in groups.items()}
    return {
        # No trials: evidence without a value, so the limit is not estimable instead of passed.
        name: as_evidence(function(evaluated.part(groups[name])), rows) if rows else Rate(0, 0)
        for name, rows in counts.items()
    }


@dataclass(frozen=True, slots=True)
class InRange:
    """A measure that is held to its declared range wherever it is a part of a comparison.

    A value outside is a fault of its author; in a gap of two such values nobody would see it.
    """

    name: str
    function: ConstraintFunction
    declared: DeclaredRange

    def __call__(self, evaluated: EvaluatedPipeline) -> Measured:
        """Return the value on these rows; raise if it is outside the range."""
        measured = self.function(evaluated)
        fault = self.declared.fault(self.name, as_evidence(measured).value, " in a group")
        if fault is not None:
            raise InvalidOutcome(fault)
        return measured


@dataclass(frozen=True, slots=True)
class GapOf:
    """The papers' disparate impact with any measure s.

    On one fold d = max_g s(g) − min_g s(g) over the groups g (A43). Over K folds the papers have
    the mean of the folds' gaps, D = 1/K Σ_k d_k (A44); an evaluation has the gap of the groups'
    means (`mean_over_folds`), which is never larger and not made of the noise of few rows.
    """

    function: ConstraintFunction

    def __call__(self, evaluated: EvaluatedPipeline, groups: Masks) -> Measured:
        """The gap on these rows."""
        return Gap(by_group(self.function, evaluated, groups))


@dataclass(frozen=True, slots=True)
class RatioOf:
    """The smallest value of a group divided by the largest: min_g s(g) / max_g s(g)."""

    function: ConstraintFunction

    def __call__(self, evaluated: EvaluatedPipeline, groups: Masks) -> Measured:
        """The ratio on these rows."""
        return Ratio(by_group(self.function, evaluated, groups))


@dataclass(frozen=True, slots=True)
class WorstOf:
    """The smallest or the largest value of a group: a limit on it holds for every group."""

    function: ConstraintFunction
    joining: Literal["min", "max"]

    def __call__(self, evaluated: EvaluatedPipeline, groups: Masks) -> Measured:
        """The value of this group on these rows."""
        found = by_group(self.function, evaluated, groups)
        parts = {f"group '{name}'": one for name, one in found.items()}
        return Smallest(parts) if self.joining == "min" else Largest(parts)


@dataclass(frozen=True, slots=True)
class Grouped:
    """A comparison of groups as a function of an evaluated pipeline alone.

    `names` are the groups of all the data, so a group absent from some rows is known to be missing.
    Groups `left_out` have too few rows and are not compared.
    """

    function: GroupedFunction
    groups: GroupFunction
    names: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def __call__(self, evaluated: EvaluatedPipeline) -> Measured:
        """Return the comparison on these rows."""
        return self.function(evaluated, self._masks(evaluated))

    def on_rows_of(self, evaluated: EvaluatedPipeline) -> ConstraintFunction:
        """The comparison on the same rows, decided otherwise: the groups are found but once."""
        masks = self._masks(evaluated)
        return lambda other: self.function(other, masks)

    def _masks(self, evaluated: EvaluatedPipeline) -> Masks:
        from pandas import factorize

        places, found = factorize(self.groups(evaluated.sensitive))
        # Its rows would be in no group, and no limit would protect them.
        strange = set(found) - set(self.names) - set(self.left_out)
        if strange:
            raise DataError(
                f"there are rows of a group that is new: '{min(strange)}'.",
                hint="The limit was made for the groups of the fit: leave these rows out, or fit "
                "again with some of them.",
            )
        numbers = {name: place for place, name in enumerate(found)}
        # No place is −1: an absent group has an empty mask.
        # Many decisions are measured with the same masks: neither they nor their names may change.
        return MappingProxyType(
            {name: read_only(places == numbers.get(name, -1)) for name in self.names}
        )
