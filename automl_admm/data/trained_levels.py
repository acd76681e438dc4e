"""Categories of the training rows, and those of later rows that a model never met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from automl_admm.core.messages import say_value, shorten
from automl_admm.data.distinct_values import find_distinct
from automl_admm.data.ingest.forms.words import JOINT

# The key in the manifest of a model.
LEVELS = "levels"
# A column with more levels goes on growing: a new one tells nothing there.
MOST_LEVELS = 200
# Fewer new values than one in ten are usual, and no sign of another code for the same.
LEAST_SHARE = 0.1
MOST_TOLD = 3
LONGEST_SHOWN = 40


def find_levels(X: Any, columns: Sequence[Any]) -> dict[str, list[str]]:
    """Return the categories of columns of a frame as texts, and the tags.

    An array has no names to know them by, nor has a frame whose names are no texts.
    """
    names = [name for name in columns if isinstance(name, str)] if hasattr(X, "columns") else []
    found = {name: set(chain(*_places(X[name])[1])) for name in names}
    return {name: sorted(some) for name, some in found.items() if len(some) <= MOST_LEVELS}


def _places(column: Any) -> tuple[Any, list[list[str]]]:
    """Return the place of each cell among all distinct ones, −1 for none, and the texts of these.

    A cell of tags has several, any other one.
    """
    places, values = find_distinct(column)
    return places, [str(value).split(JOINT) for value in values]


@dataclass
class _Count:
    """Values of a column: all, new ones, and an example of these."""

    present: int = 0
    new: int = 0
    example: str = ""


@dataclass
class NewLevels:
    """Count the values of rows that were no category in training, over all parts of a table."""

    known: Mapping[str, frozenset[str]]
    counts: dict[str, _Count] = field(default_factory=dict)

    @classmethod
    def of_model(cls, manifest: Mapping[str, Any]) -> NewLevels:
        """Begin with the manifest of a model; the first ones have no levels."""
        known: Mapping[str, Sequence[str]] = manifest.get(LEVELS) or {}
        return cls({name: frozenset(levels) for name, levels in known.items()})

    def add(self, frame: Any) -> None:
        """Count the rows of a part."""
        for name in self.known.keys() & set(getattr(frame, "columns", ())):
            places, values = _places(frame[name])
            # An empty text is none: what is empty is told as such.
            known = self.known[name] | {""}
            strange = [[t for t in texts if t not in known] for texts in values]
            new = [place for place, texts in enumerate(strange) if texts]
            count = self.counts.setdefault(name, _Count())
            count.present += int((places >= 0).sum())
            if new:
                count.new += int(np.isin(places, new).sum())
                count.example = count.example or strange[new[0]][0]

    def lines(self) -> Iterator[str]:
        """Yield a sentence for each of the worst columns with many new values."""
        many = [
            (one.new / one.present, name)
            for name, one in self.counts.items()
            if one.new and one.new >= LEAST_SHARE * one.present
        ]
        for _, name in sorted(many, key=lambda pair: (-pair[0], pair[1]))[:MOST_TOLD]:
            yield self._line(name, self.counts[name])
        if len(many) > MOST_TOLD:
            rest = len(many) - MOST_TOLD
            told = "1 more column holds" if rest == 1 else f"{rest} more columns hold"
            yield f"{told} values that no training row had."

    @staticmethod
    def _line(name: str, count: _Count) -> str:
        example = say_value(shorten(count.example, LONGEST_SHOWN))
        return (
            f"{count.new} of {count.present} cells of column {say_value(name)} hold values that no "
            f"training row had, such as {example}: the model knows nothing of them."
        )
