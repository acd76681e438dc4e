"""A portion of a table's rows, for a search too short to prepare all of them.

The portion is drawn from its size and the target alone, so a later reader of the same table gets
the same rows.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.errors import DataError, StoreError
from automl_admm.data.ingest.applying import take_in
from automl_admm.data.ingest.deciding import decide
from automl_admm.data.plain_columns import plain_missing
from automl_admm.data.table_schema import schema_of

SEED = 0
# The share of a budget that preparing rows may take: each evaluation works as long on them.
PREPARING, PREPARING_OF_THE_REST = 0.05, 0.1
# A forecast from so many cells, and at least so many rows; a few rows tell what columns alone cost.
TRIED_CELLS, FEWEST_TRIED, FEW_TRIED = 200_000, 2_000, 50
# A run prepares its rows for so many times as long as the forecast tries to.
TIMES = 3.0
# Tables of fewer cells are ready before that is known.
FEW_CELLS = 2_000_000
FEWEST_ROWS = 5_000
# Of a class at least so many rows are taken, if it has them.
LEAST_OF_A_CLASS = 10


@dataclass(frozen=True, slots=True)
class Portion:
    """A number of rows `taken` of a table with a number of `rows`."""

    taken: int
    rows: int

    def __str__(self) -> str:
        return f"{self.taken}/{self.rows}"

    def tell(self) -> str:
        """Say it to a user."""
        said = f"{self.taken} of {self.rows} rows were taken, from all over the table"
        return f"{said}: the budget is too short to prepare and search all of them"

    def places(self, target: Any) -> NDArray[np.intp]:
        """Return the places of its rows, in order; classes keep their shares.

        A class with very few rows gets more, so the portion may be a few rows larger.
        """
        import pandas as pd

        # All portions are beginnings of one order, so a smaller is a part of a larger one.
        shuffled = np.random.default_rng(SEED).permutation(self.rows)
        classes, known = pd.factorize(np.asarray(target))
        if len(known) * LEAST_OF_A_CLASS > self.taken:  # a quantity, or hardly a class
            return np.sort(shuffled[: self.taken])
        # Codes are shifted by one, since −1 stands for a missing target.
        counts = np.bincount(classes + 1)  # what is missing is told later
        wanted = np.ceil(counts * (self.taken / self.rows))
        wanted = np.maximum(wanted, np.minimum(counts, LEAST_OF_A_CLASS))
        return np.sort(shuffled[_turns(classes[shuffled] + 1) < wanted[classes[shuffled] + 1]])


def _turns(groups: Any) -> Any:
    """Return for each row how many of its group come before it."""
    import pandas as pd

    return pd.Series(groups).groupby(groups).cumcount().to_numpy()


def read_portion(text: str | None) -> Portion | None:
    """Read a portion from its `str`."""
    if text is None:
        return None
    said = re.fullmatch(r"(\d+)/(\d+)", text)
    if said is None or not 0 < int(said[1]) < int(said[2]):
        raise StoreError(f"'{text[:60]}' does not say how many rows were taken.")
    return Portion(int(said[1]), int(said[2]))


def portion_within(X: Any, budget: float | None, begun: float) -> Portion | None:
    """Return the portion of a table suitable for a budget."""
    if budget is None:
        return None
    left = max(begun + budget - time.monotonic(), 0.0)
    return portion_in_time(X, min(PREPARING * budget, PREPARING_OF_THE_REST * left))


def portion_in_time(X: Any, seconds: float) -> Portion | None:
    """Return the portion of a frame or an array to prepare within a time; None for all.

    The work on all rows is timed on a few from all over the table.
    """
    shape = X.shape
    if shape[0] * shape[1] <= FEW_CELLS or shape[0] <= 2 * FEWEST_ROWS:
        return None
    tried = min(max(FEWEST_TRIED, TRIED_CELLS // shape[1]), shape[0])
    columns_alone = _seconds_for(X, FEW_TRIED)
    took = _seconds_for(X, tried)
    # The tenth guards against a forecast of nothing where the clock was disturbed.
    each = TIMES * max(took - columns_alone, took / 10) / tried
    taken = max(int(seconds / each), FEWEST_ROWS)
    return None if taken >= shape[0] else Portion(taken, shape[0])


def take_rows(values: Any, places: NDArray[np.intp]) -> Any:
    """Return rows of a frame, a series or an array."""
    if hasattr(values, "iloc"):
        return values.iloc[places]
    return values[places] if isinstance(values, np.ndarray) else [values[at] for at in places]


def _seconds_for(X: Any, rows: int) -> float:
    import pandas as pd

    begun = time.perf_counter()
    # From all over the table: a sorted one may begin with its cheapest rows.
    places = np.linspace(0, X.shape[0] - 1, rows).astype(np.intp)
    frame = plain_missing(pd.DataFrame(take_rows(X, places)))
    with suppress(DataError):  # its mistakes are told later, with all rows at hand
        take_in(frame, decide(frame))
    schema_of(frame)
    pd.util.hash_pandas_object(frame, index=False)
    return time.perf_counter() - begun
