"""A model made of the fold models of an evaluation, described for the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ASKED = "as asked"


@dataclass(frozen=True, slots=True)
class OfFolds:
    """A model of `models` fold models, learned from `rows` of `searched` rows, and the reason."""

    models: int
    rows: int
    searched: int
    reason: str

    @property
    def is_asked(self) -> bool:
        """True if the user asked for it, False if it saved the time for a fit on all rows."""
        return self.reason == ASKED

    @property
    def made(self) -> str:
        """Say its parts."""
        if self.models > 1:
            return f"the mean of {self.models} fold models"
        return f"the model of one fold, learned from {self.rows} of {self.searched} rows"

    def __str__(self) -> str:
        """Say its parts, and the reason why it was not fitted on all rows."""
        return f"{self.made}, {self.reason}" if self.is_asked else f"{self.made}: {self.reason}"

    def as_content(self) -> dict[str, Any]:
        """Return it as `model.json` has it."""
        return {
            "models": self.models,
            "rows": self.rows,
            "searched": self.searched,
            "reason": self.reason,
            "said": str(self),
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> OfFolds:
        """Read what `as_content` wrote."""
        return cls(content["models"], content["rows"], content["searched"], content["reason"])


def read_of_folds(manifest: Mapping[str, Any] | None) -> OfFolds | None:
    """Return the fold models that a manifest tells of; None for a fit on all rows."""
    found = None if manifest is None else manifest.get("of_folds")
    return None if found is None else OfFolds.from_content(found)
