"""Empty cells of the training rows, and columns of later rows that are empty more often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from automl_admm.core.messages import say_value
from automl_admm.core.percentages import percent

# The key in the manifest of a model.
TRAINED_GAPS = "gaps"
# So much more of a column is empty than in training, and no more often than so by chance.
LEAST_MORE, BY_CHANCE = 0.1, 0.001
MOST_TOLD = 3


def find_gaps(X: Any, origins: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the number of rows, and that of empty cells of each column that is watched.

    `origins` names the user's column that each one was made of: the first one of several stands for
    it. An array has no names to know its columns by, nor has a frame whose names are no texts.
    """
    if not _has_names(X):
        return {}
    watched = {(origins or {}).get(name, name): name for name in reversed(list(X.columns))}
    counts = _empty(X[list(watched.values())])
    columns = {name: {"of": user, "empty": counts[name]} for user, name in watched.items()}
    return {"rows": len(X), "columns": columns}


def _has_names(X: Any) -> bool:
    return hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns)


def _empty(frame: Any) -> dict[str, int]:
    """Count the empty cells of each column; a text without a character is one."""
    counts = frame.isna().sum().to_dict()
    for name in frame.select_dtypes(["object", "string"]).columns:
        counts[name] += int((frame[name] == "").sum())
    return {name: int(count) for name, count in counts.items()}


@dataclass
class NewGaps:
    """Count the empty cells of rows, over all parts of a table, beside those of training."""

    trained_rows: int = 0
    trained: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rows: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of_model(cls, manifest: Mapping[str, Any]) -> NewGaps:
        """Begin with the manifest of a model; the first ones do not tell, and nothing is said."""
        told = manifest.get(TRAINED_GAPS) or {}
        return cls(told.get("rows", 0), told.get("columns", {}))

    def add(self, frame: Any) -> None:
        """Count the rows of a part."""
        if self.trained_rows and _has_names(frame):
            self.rows += len(frame)
            self.counts.update(_empty(frame[[name for name in frame if name in self.trained]]))

    def lines(self) -> Iterator[str]:
        """Yield a sentence for each of the worst columns that are empty more often."""
        many = [(self._more(name), name) for name in self.counts if self._is_told(name)]
        for _, name in sorted(many, key=lambda pair: (-pair[0], pair[1]))[:MOST_TOLD]:
            yield self._line(name)
        if len(many) > MOST_TOLD:
            rest = len(many) - MOST_TOLD
            told = "1 more column is" if rest == 1 else f"{rest} more columns are"
            yield f"{told} empty more often than in training."

    def _more(self, name: str) -> float:
        before = int(self.trained[name]["empty"]) / self.trained_rows
        return self.counts[name] / self.rows - before

    def _is_told(self, name: str) -> bool:
        """Return True if so many empty cells are more, and no chance.

        P(at least k of n empty) has to be below a level over the number of columns; of a column
        with g gaps in N training rows a cell is empty with probability (g + 1) / (N + 2).
        """
        if not self.counts[name] or self._more(name) < LEAST_MORE:
            return False
        from scipy.stats import binom

        usual = (self.trained[name]["empty"] + 1) / (self.trained_rows + 2)
        chance = float(binom.sf(self.counts[name] - 1, self.rows, usual))
        return chance < BY_CHANCE / len(self.counts)

    def _line(self, name: str) -> str:
        before = self.trained[name]["empty"]
        usual = f"{percent(before / self.trained_rows)} were" if before else "none was"
        return (
            f"{self.counts[name]} of {self.rows} cells of column "
            f"{say_value(self.trained[name]['of'])} are empty, and {usual} in training: the model "
            "has learned little of such rows."
        )
