"""The predictions of a model, to compare those of a session with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Told:
    """Predictions, and the probabilities of a classifier, if any."""

    predicted: Any
    chances: Any = None
    is_of_classes: bool = True

    @classmethod
    def of(cls, model: Any, rows: Any) -> Told:
        """Return a model's predictions of rows."""
        predicted = np.asarray(model.predict(rows))
        if not hasattr(model, "classes_"):
            return cls(predicted, is_of_classes=False)
        if has_truth_values(model):
            predicted = predicted.astype(int)
        has_chances = hasattr(model, "predict_proba")
        return cls(predicted, np.asarray(model.predict_proba(rows)) if has_chances else None)

    def difference(self, answers: list[Any]) -> float:
        """Return the largest difference of values; infinite if a label differs."""
        if not self.is_of_classes:
            return self.apart(answers)
        found = np.asarray(answers[0]).reshape(self.predicted.shape)
        if [str(one) for one in found] != [str(one) for one in self.predicted]:
            return float("inf")
        return self.apart(answers)

    def apart(self, answers: list[Any]) -> float:
        """Return the largest difference of probabilities, or of the numbers of a regression.

        Those are compared in relation to their size. It is infinite if a value is no number.
        """
        if self.is_of_classes and self.chances is None:
            return 0.0
        if self.is_of_classes:
            found = float(np.max(np.abs(np.asarray(answers[1]) - self.chances)))
        else:
            found = self._of_numbers(answers)
        # NaN is less than nothing, so that it would be taken for the least.
        return found if np.isfinite(found) else float("inf")

    def _of_numbers(self, answers: list[Any]) -> float:
        found = np.asarray(answers[0]).reshape(self.predicted.shape)
        size = float(np.std(self.predicted)) or 1.0
        scale = np.maximum(np.abs(self.predicted), size)
        return float(np.max(np.abs(found - self.predicted) / scale))


def has_truth_values(model: Any) -> bool:
    """Return True if the labels are truth values; the converter writes them as 0 and 1."""
    return bool(np.asarray(getattr(model, "classes_", ())).dtype == bool)
