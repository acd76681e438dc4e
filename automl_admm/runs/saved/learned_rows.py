"""Rows learned from by a model, told among others from rows equal to them by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from automl_admm.data.row_hashes import RowHashes
from automl_admm.runs.saved.equal_by_chance import are_by_chance


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

    @property
    def all(self) -> RowHashes:
        """The hashes of all rows of the run."""
        return RowHashes.together([self.hashes, self.aside])

    def count(self, rows: RowHashes) -> int:
        """Count the rows equal to one of them, each of which counts for one row."""
        return int(rows.repeat(self.hashes).sum())

    def explain(self, rows: RowHashes) -> bool:
        """Return True if so many of new rows equal one of them by chance, as it may well be.

        The rows set aside tell nothing of it in runs with groups or a time: there they never equal
        one of the others, as all rows of a group or moment are on one side.
        """
        return are_by_chance(rows, self.hashes)
