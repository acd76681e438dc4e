"""The better evaluation of a run that does not ship, because its final fit was not made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import rank


@dataclass(frozen=True, slots=True)
class PassedOver:
    """An evaluation that ranks before the shipped model, and the reason why it does not ship."""

    evaluation: Evaluation
    reason: str

    def __str__(self) -> str:
        """Say that a worse pipeline ships, and the reason."""
        return f"Evaluation #{self.evaluation.number} is better than what ships: {self.reason}."

    def as_content(self) -> dict[str, Any]:
        """Return it as `model.json` has it."""
        return {"evaluation": self.evaluation.number, "reason": self.reason, "said": str(self)}


def too_long(evaluation: Evaluation, expected: float, left: float) -> PassedOver:
    """Pass over an evaluation whose final fit is expected to take longer than the time left."""
    told = f"its final fit was expected to take up to {expected:.1f} s, and {left:.1f} s were left"
    return PassedOver(evaluation, told)


def not_fitted(evaluation: Evaluation, reason: str) -> PassedOver:
    """Pass over an evaluation whose final fit failed."""
    return PassedOver(evaluation, f"it could not be fitted on all rows ({reason.rstrip('.')})")


def if_better(
    passed: PassedOver | None, shipped: Evaluation, limits: Sequence[Limit]
) -> PassedOver | None:
    """Return what was passed over if it still ranks before what ships; else None."""
    if passed is None or passed.evaluation.key == shipped.key:
        return None
    first = rank([shipped, passed.evaluation], limits)[0]
    return passed if first is passed.evaluation else None


def read_passed_over(manifest: Mapping[str, Any] | None) -> str | None:
    """Return the sentence that the manifest of a model has on it; None for none."""
    found = None if manifest is None else manifest.get("passed_over")
    return None if found is None else str(found["said"])
