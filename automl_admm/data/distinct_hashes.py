"""The distinct hashes of rows and how often each stands there, sorted once for many questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from automl_admm.data.fingerprints import Hashes


@dataclass(frozen=True, slots=True, eq=False)
class DistinctHashes:
    """The distinct values of hashes, in their order, and the count of each."""

    values: Hashes
    counts: NDArray[np.intp]

    @classmethod
    def of(cls, hashes: Hashes) -> DistinctHashes:
        """Sort the hashes."""
        values, counts = np.unique(hashes, return_counts=True)
        return cls(values, np.asarray(counts, dtype=np.intp))

    def counts_of(self, hashes: Hashes) -> NDArray[np.intp]:
        """Return how often each of some hashes stands here."""
        if not len(self.values):
            return np.zeros(len(hashes), dtype=np.intp)
        places = self._places(hashes)
        return np.where(self.values[places] == hashes, self.counts[places], 0)

    def are_in(self, others: DistinctHashes) -> NDArray[np.bool_]:
        """Return for each value if the others have it; quick if they are few."""
        found = np.zeros(len(self.values), dtype=np.bool_)
        if len(found):
            places = self._places(others.values)
            found[places[self.values[places] == others.values]] = True
        return found

    def _places(self, hashes: Hashes) -> NDArray[np.intp]:
        return np.minimum(np.searchsorted(self.values, hashes), len(self.values) - 1)
