"""Rows learned from by a model, told among others from rows equal to them by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from automl_admm.certify.bounds.bounds import exact_bounds
from automl_admm.core.evidence import Rate
from automl_admm.data.row_hashes import RowHashes

# The risk of calling rows that repeat each other by nature rows of the run.
DOUBT = 1e-4


@dataclass(frozen=True, eq=False)
class LearnedRows:
    """The hashes of the rows learned from by a model, and of those set `aside` by its run."""

    hashes: RowHashes
    aside: RowHashes

    @classmethod
    def of(cls, hashes: RowHashes, places: Sequence[int]) -> LearnedRows:
        """Part the rows of a run, of which those at some places were set aside."""
        is_aside = np.zeros(len(hashes), dtype=bool)
        is_aside[list(places)] = True
        return cls(hashes.part(~is_aside), hashes.part(is_aside))

    @cached_property
    def chance(self) -> float:
        """The chance of a new row to equal one of them: at most so large, but for the risk.

        Rows of few columns repeat each other. The rows set aside tell the frequency, because they
        equal rows of the search by chance alone.
        """
        by_chance = int(self.aside.are_in(self.hashes).sum())
        bounds = exact_bounds(Rate(by_chance, len(self.aside)), DOUBT)
        return 1.0 if bounds is None else bounds.upper

    def count(self, rows: RowHashes) -> int:
        """Count the rows equal to one of them."""
        return int(rows.are_in(self.hashes).sum())

    def explains(self, found: int, rows: int) -> bool:
        """Return True if so many of new rows equal one of them by chance, as it may well be."""
        return bool(stats.binom.sf(found - 1, rows, self.chance) > DOUBT)
