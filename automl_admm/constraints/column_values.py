"""Limits about a column of numbers, written `NAME[column]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.constraints.syntax import GroupColumn
from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.core.evidence import RankCorrelation
from automl_admm.core.read_only import read_only
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import ChangingFunction, ColumnFunction, Measured


@dataclass(frozen=True, slots=True)
class OfColumn:
    """A function of scores and a column, as a function of an evaluated pipeline alone."""

    function: ColumnFunction
    column: str

    def __call__(self, evaluated: EvaluatedPipeline) -> Measured:
        """Measure these rows."""
        values = evaluated.sensitive[self.column].to_numpy(dtype=float, na_value=np.nan)
        known = int(np.isfinite(values).sum())
        # It may be the column itself.
        found = self.function(evaluated, read_only(values))
        demand_known(found, known)
        return found


def demand_known(found: object, known: int) -> None:
    """Raise a ValueError if a rank correlation counts more rows than have a number."""
    if isinstance(found, RankCorrelation) and found.rows > known:
        raise ValueError(
            f"it counts {found.rows} rows in a rank correlation where {known} have a number in "
            "the column"
        )


@dataclass(frozen=True, slots=True)
class Changing:
    """A function of a pipeline and a changed column, as one of an evaluated pipeline alone."""

    function: ChangingFunction
    column: str

    def __call__(self, evaluated: EvaluatedPipeline) -> Measured:
        """Measure these rows."""
        return self.function(evaluated, label_of(self.column, evaluated.X))


def label_of(column: str, X: Any) -> Any:
    """Return the label of a column in the table that the model is given; raise without one."""
    for label in getattr(X, "columns", ()):
        if str(label) == column:
            return label
    raise DataError(
        f"a limit changes the column '{column}', which the model is not given.",
        hint="Name a feature that holds numbers.",
    )


def column_of(columns: Sequence[GroupColumn], name: str, least: int) -> str:
    """Return the one column of a limit; raise if it has others, cut points or a least size."""
    if len(columns) == 1 and columns[0] == GroupColumn(columns[0].name) and not least:
        return columns[0].name
    raise ConfigurationError(
        f"'{name}' is measured by one column of numbers.", hint=f"Write '{name}[age]'."
    )
