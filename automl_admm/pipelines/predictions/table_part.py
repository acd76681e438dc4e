"""Rows of a table that are copied where they are used, and not before."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from automl_admm.data.fingerprints import Hashes, are_hashed_alone, hash_in_order
from automl_admm.pipelines.predictions.measured import Table, take_places


class TablePart(Table):
    """Some rows of a `whole` table, by their `places` in it.

    Its features are copied at their first use; pickled, it is a table of its own. Most of the rows
    of a large table are needed by the final fit alone, and a copy of them takes as much memory.

    >>> part = TablePart(Table(np.eye(3), np.arange(3)), np.array([2, 0]))
    >>> part.shape, part.y.tolist(), part.X.tolist()
    ((2, 3), [2, 0], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    """

    whole: Table
    places: Any

    def __init__(self, whole: Table, places: Any) -> None:
        fields = {
            "whole": whole,
            "places": places,
            "y": whole.y[places],
            "classes": whole.classes,
            "sensitive": None if whole.sensitive is None else whole.sensitive.iloc[places],
            "roles": whole.roles.part(places),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)  # the record is frozen

    @cached_property
    def X(self) -> Any:  # noqa: N802 - the name of the field
        """The features of these rows."""
        return self._taken()

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self.y), self.whole.shape[1]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return self.whole.names

    @cached_property
    def row_hashes(self) -> Hashes:
        """A hash of the cells of each row; those of the whole table are worked out once."""
        if not are_hashed_alone(self.whole.X):
            return hash_in_order(self._taken())
        found: Hashes = self.whole.row_hashes[self.places]
        return found

    def part(self, places: Any) -> Table:
        """Some of these rows."""
        return self.whole.part(self.places[places])

    def __reduce__(self) -> Any:
        # Copied for the pickle alone: its reader has no whole table.
        return Table, (self._taken(), self.y, self.classes, self.sensitive, self.roles)

    def _taken(self) -> Any:
        return take_places(self.whole.X, self.places)
