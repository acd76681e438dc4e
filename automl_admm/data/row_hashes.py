"""Two hashes of each row, to know rows again in another table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.data.fingerprints import Hashes

# The canonical hashes of files that have none.
NONE = np.zeros(0, dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class RowHashes:
    """Hashes of rows: `exact` ones hang on the types of columns, `canonical` ones do not.

    Files of earlier versions have no canonical ones: there the exact ones decide alone.
    """

    exact: Hashes
    canonical: Hashes

    def __len__(self) -> int:
        return len(self.exact)

    def part(self, places: Any) -> RowHashes:
        """Return the hashes of some of the rows."""
        canonical = self.canonical[places] if len(self.canonical) else NONE
        return RowHashes(self.exact[places], canonical)

    def are_in(self, others: RowHashes) -> NDArray[np.bool_]:
        """Return for each row if one of the others equals it, by either hash."""
        found = np.isin(self.exact, others.exact)
        if len(self.canonical) and len(others.canonical):
            return found | np.isin(self.canonical, others.canonical)
        return found

    def repeat(self, others: RowHashes) -> NDArray[np.bool_]:
        """Return for each row if one of the others equals it, each of which counts for one row."""
        found = _repeat(self.exact, others.exact)
        if len(self.canonical) and len(others.canonical):
            return found | _repeat(self.canonical, others.canonical)
        return found

    def counts(self) -> NDArray[np.intp]:
        """Return the number of rows of each distinct row."""
        known = self.canonical if len(self.canonical) else self.exact
        return np.asarray(np.unique(known, return_counts=True)[1], dtype=np.intp)

    @classmethod
    def together(cls, parts: Sequence[RowHashes]) -> RowHashes:
        """Return the hashes of several tables; those without canonical ones add none."""
        exact = [NONE, *(part.exact for part in parts)]
        canonical = [NONE, *(part.canonical for part in parts)]
        return cls(np.concatenate(exact), np.concatenate(canonical))


def _repeat(hashes: Hashes, others: Hashes) -> NDArray[np.bool_]:
    import pandas as pd

    rows = pd.Series(hashes)
    counts = rows.map(pd.Series(others).value_counts()).fillna(0)
    return np.asarray(rows.groupby(rows).cumcount() < counts)
