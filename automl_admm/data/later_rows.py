"""Rows that a model predicts later, beside those that it learned from."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from automl_admm.core.errors import NewValuesWarning
from automl_admm.data.trained_gaps import NewGaps
from automl_admm.data.trained_levels import NewLevels


@dataclass
class LaterRows:
    """Count what training rows did not have, over all parts of a table."""

    levels: NewLevels
    gaps: NewGaps

    @classmethod
    def of_model(cls, manifest: Mapping[str, Any]) -> LaterRows:
        """Begin with the manifest of a model."""
        return cls(NewLevels.of_model(manifest), NewGaps.of_model(manifest))

    def add(self, frame: Any) -> None:
        """Count the rows of a part."""
        self.levels.add(frame)
        self.gaps.add(frame)

    def lines(self) -> Iterator[str]:
        """Yield what is to be said: columns of new values, and columns that are empty."""
        yield from self.levels.lines()
        yield from self.gaps.lines()


def warn_of_later_rows(manifest: Mapping[str, Any], rows: Any, depth: int) -> None:
    """Warn of what training rows did not have, in the name of a caller so many calls above."""
    later = LaterRows.of_model(manifest)
    later.add(rows)
    for line in later.lines():
        warnings.warn(line, NewValuesWarning, stacklevel=depth + 1)
