"""Four hashes of each row, to know rows again in another table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.data.distinct_hashes import DistinctHashes
from automl_admm.data.fingerprints import Hashes

EXACT, CANONICAL, PLACED, WRITTEN = range(4)

Know = Callable[[Hashes, DistinctHashes], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class RowHashes:
    """Hashes of rows: `exact` ones hang on the types of columns, `canonical` ones do not.

    Neither tells which column a cell stands in: `placed` ones do. `written` ones do, too, and go by
    the digits that a number has in any type. A row is known by either of these two.

    Hashes are sorted once for all tables that are held to these rows.
    """

    exact: Hashes
    canonical: Hashes
    placed: Hashes
    written: Hashes
    _distinct: dict[int, DistinctHashes] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.exact)

    @property
    def every(self) -> tuple[Hashes, Hashes, Hashes, Hashes]:
        """The hashes of all kinds, in their order."""
        return self.exact, self.canonical, self.placed, self.written

    def distinct(self, place: int) -> DistinctHashes:
        """Return the distinct hashes of the kind at a place."""
        if place not in self._distinct:
            self._distinct[place] = DistinctHashes.of(self.every[place])
        return self._distinct[place]

    def part(self, places: Any) -> RowHashes:
        """Return the hashes of some of the rows."""
        return RowHashes(*(found[places] for found in self.every))

    def are_in(self, others: RowHashes) -> NDArray[np.bool_]:
        """Return for each row if one of the others equals it."""
        return self._are_known(_are_in, others)

    def repeat(self, others: RowHashes) -> NDArray[np.bool_]:
        """Return for each row if one of the others equals it, each of which counts for one row."""
        return self._are_known(_repeat, others)

    def count_of(self, others: RowHashes) -> int:
        """Count the distinct rows of the others that one here equals."""
        return max(int(is_found.sum()) for _, is_found in self.found_of(others))

    def count_singles_of(self, others: RowHashes) -> int:
        """Count the distinct rows here that the others have once."""
        return max(int(is_found[counts == 1].sum()) for counts, is_found in self.found_of(others))

    def found_of(self, others: RowHashes) -> Iterator[tuple[NDArray[np.intp], NDArray[np.bool_]]]:
        """Yield the count of each distinct row of the others, and True if a row here equals it.

        Files of looks sort the hashes of each kind by themselves: the order has no say.
        """
        for place in (PLACED, WRITTEN):
            known = others.distinct(place)
            yield known.counts, known.are_in(self.distinct(place))

    def _are_known(self, know: Know, others: RowHashes) -> NDArray[np.bool_]:
        found = [know(self.every[place], others.distinct(place)) for place in (PLACED, WRITTEN)]
        return np.asarray(np.logical_or.reduce(found))

    def counts(self) -> NDArray[np.intp]:
        """Return the number of rows of each distinct row."""
        return self.distinct(WRITTEN).counts

    @classmethod
    def together(cls, parts: Sequence[RowHashes]) -> RowHashes:
        """Return the hashes of several tables, as many of each row as all of them have."""
        nothing = cls(*np.zeros((4, 0), dtype=np.uint64))
        by_kind = zip(*(part.every for part in (nothing, *parts)), strict=True)
        return cls(*map(np.concatenate, by_kind))


def _are_in(hashes: Hashes, others: DistinctHashes) -> NDArray[np.bool_]:
    return others.counts_of(hashes) > 0


def _repeat(hashes: Hashes, others: DistinctHashes) -> NDArray[np.bool_]:
    import pandas as pd

    rows = pd.Series(hashes)
    return np.asarray(rows.groupby(rows).cumcount() < others.counts_of(hashes))
