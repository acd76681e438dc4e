"""Rows learned from by a model, told among others from rows equal to them by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from automl_admm.data.row_hashes import RowHashes
from automl_admm.runs.saved.equal_by_chance import (
    are_as_many,
    are_by_chance,
    are_by_chance_at_each_count,
)


@dataclass(frozen=True, eq=False)
class LearnedRows:
    """The hashes of the rows learned from by a model, and of those set `aside` by its run.

    The rows aside `are_drawn` one by one; in runs with groups or a time they are not: all rows of a
    group or moment are on one side, so none equals one of the others.
    """

    hashes: RowHashes
    aside: RowHashes
    are_drawn: bool = True

    @classmethod
    def of(cls, hashes: RowHashes, places: Sequence[int], *, are_drawn: bool = True) -> LearnedRows:
        """Part the rows of a run, of which those at some places were set aside."""
        is_aside = np.zeros(len(hashes), dtype=bool)
        is_aside[list(places)] = True
        return cls(hashes.part(~is_aside), hashes.part(is_aside), are_drawn)

    @cached_property
    def all(self) -> RowHashes:
        """The hashes of all rows of the run."""
        return RowHashes.together([self.hashes, self.aside])

    def count(self, rows: RowHashes) -> int:
        """Count the rows equal to one of them, each of which counts for one row."""
        return int(rows.repeat(self.hashes).sum())

    def explain(self, rows: RowHashes) -> bool:
        """Return True if chance explains how many of the new rows equal one of them.

        Two judges have to agree: the pairs of equal rows among them, and the rows aside if drawn.
        """
        if not are_by_chance(rows, self.hashes):
            return False
        return not self.are_drawn or are_as_many(rows, self.aside, self.hashes)

    def explain_of_all(self, rows: RowHashes) -> bool:
        """Return True if chance explains how many of the rows equal one of the run, aside or not.

        A row of a group or moment of the run is not fresh: rows aside are a judge of it in any run,
        and known objects of a later file are none.
        """
        return (
            are_by_chance_at_each_count(rows, self.all, 1.0)
            and are_as_many(rows, self.aside, self.hashes)
            and are_as_many(rows, self.hashes, self.aside)
        )
