"""Up to four hashes of each row, to know rows again in another table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.data.distinct_hashes import DistinctHashes
from automl_admm.data.fingerprints import Hashes

# The hashes of a kind that a file does not have.
NONE = np.zeros(0, dtype=np.uint64)
EXACT, CANONICAL, PLACED, WRITTEN = range(4)
# What may also be true of rows that are known by hashes of earlier versions.
OR_ALIKE = ", or have the cells of such rows in other columns"

Know = Callable[[Hashes, DistinctHashes], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class RowHashes:
    """Hashes of rows: `exact` ones hang on the types of columns, `canonical` ones do not.

    Neither tells which column a cell stands in: `placed` ones do, and decide alone where both
    tables have them. `written` ones do, too, and go by the digits that a number has in any type:
    by either a row is known. Files of earlier versions have fewer: without written ones those of
    later rows are held to placed ones, without placed ones a row is known by either of the others,
    and by its exact one alone where those of the first versions have no more.

    Hashes are sorted once for all tables that are held to these rows.
    """

    exact: Hashes
    canonical: Hashes
    placed: Hashes = field(default_factory=NONE.copy)
    written: Hashes = field(default_factory=NONE.copy)
    _distinct: dict[int, DistinctHashes] = field(default_factory=dict, init=False, repr=False)
    _firsts: dict[int, RowHashes] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.exact)

    @property
    def kinds(self) -> int:
        """The number of hashes of each row."""
        more = (self.canonical, self.placed, self.written)
        return 1 + next((place for place, one in enumerate(more) if not len(one)), len(more))

    @property
    def tell_columns(self) -> bool:
        """True if a row with the same cells in other columns is another row."""
        return self.kinds > 2

    @property
    def best(self) -> Hashes:
        """The hashes that tell most."""
        return self.every[self.kinds - 1]

    @property
    def every(self) -> tuple[Hashes, Hashes, Hashes, Hashes]:
        """The hashes of all kinds, in their order."""
        return self.exact, self.canonical, self.placed, self.written

    def first(self, kinds: int) -> RowHashes:
        """Return the rows with so many hashes of each, as an earlier version would write them."""
        if kinds >= self.kinds:
            return self
        if kinds not in self._firsts:
            kept = (one if place < kinds else NONE for place, one in enumerate(self.every))
            self._firsts[kinds] = RowHashes(*kept)
        return self._firsts[kinds]

    def distinct(self, place: int) -> DistinctHashes:
        """Return the distinct hashes of the kind at a place."""
        if place not in self._distinct:
            self._distinct[place] = DistinctHashes.of(self.every[place])
        return self._distinct[place]

    def readings(self, kinds: int) -> tuple[RowHashes, ...]:
        """Return the rows in each form in which they compare with rows of so many hashes.

        Numbers of a run or look without written hashes may be those written, or those read.
        """
        found = (self.first(kinds),)
        if kinds != 3 or self.kinds < 4:
            return found
        return (*found, replace(self, placed=self.written).first(kinds))

    def part(self, places: Any) -> RowHashes:
        """Return the hashes of some of the rows."""
        more = (found[places] if len(found) else NONE for found in self.every[1:])
        return RowHashes(self.exact[places], *more)

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
        for own, place in self._compared(others):
            known = others.distinct(place)
            yield known.counts, known.are_in(self.distinct(own))

    def _are_known(self, know: Know, others: RowHashes) -> NDArray[np.bool_]:
        pairs = self._compared(others)
        found = [know(self.every[own], others.distinct(place)) for own, place in pairs]
        return np.asarray(np.logical_or.reduce(found))

    def _compared(self, others: RowHashes) -> Iterator[tuple[int, int]]:
        """Yield the kinds, here and there, by which rows are known among the others: by any."""
        kinds = min(self.kinds, others.kinds)
        if kinds > 2:
            yield PLACED, PLACED
            if self.kinds > 3:
                yield WRITTEN, WRITTEN if kinds > 3 else PLACED
            return
        yield EXACT, EXACT
        if kinds > 1:
            yield CANONICAL, CANONICAL

    def counts(self) -> NDArray[np.intp]:
        """Return the number of rows of each distinct row."""
        return self.distinct(self.kinds - 1).counts

    @classmethod
    def together(cls, parts: Sequence[RowHashes]) -> RowHashes:
        """Return the hashes of several tables, as many of each row as all of them have."""
        some = [part for part in parts if len(part)]
        kinds = min((part.kinds for part in some), default=1)
        known = [part.first(kinds) for part in some]
        by_kind = zip(*(part.every for part in [cls(NONE, NONE), *known]), strict=True)
        return cls(*map(np.concatenate, by_kind))


def _are_in(hashes: Hashes, others: DistinctHashes) -> NDArray[np.bool_]:
    return others.counts_of(hashes) > 0


def _repeat(hashes: Hashes, others: DistinctHashes) -> NDArray[np.bool_]:
    import pandas as pd

    rows = pd.Series(hashes)
    return np.asarray(rows.groupby(rows).cumcount() < others.counts_of(hashes))
