"""The counts of `predict` over all parts of a table, and the lines to say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from automl_admm.constraints.unknown_groups import count_unknown_groups, tell_unknown_groups
from automl_admm.data.later_rows import LaterRows
from automl_admm.pipelines.labels import leaves_undecided


@dataclass
class PredictionNotes:
    """Counts over all parts of a table, for the lines that follow the predictions."""

    model: Any
    later: LaterRows
    unknown_groups: Counter[str] = field(default_factory=Counter)
    undecided: int = 0
    rows: int = 0

    @classmethod
    def of_model(cls, model: Any, manifest: Mapping[str, Any]) -> PredictionNotes:
        """Begin with a model and its manifest."""
        return cls(model, LaterRows.of_model(manifest))

    def see(self, frame: Any) -> Any:
        """Return the rows, and count what the model does not know of them."""
        self.unknown_groups.update(count_unknown_groups(self.model, frame))
        self.later.add(frame)
        return frame

    def count(self, predictions: Any) -> Any:
        """Return the predictions, and count those that are empty."""
        self.undecided += int(predictions["prediction"].isna().sum())
        self.rows += len(predictions)
        return predictions

    def lines(self) -> Iterator[str]:
        """Yield what is to be said."""
        if leaves_undecided(self.model):
            told = f"{self.undecided} of {self.rows} rows are left undecided"
            yield f"{told}: their prediction is empty"
        for line in (*tell_unknown_groups(self.unknown_groups), *self.later.lines()):
            yield f"warning: {line}"
