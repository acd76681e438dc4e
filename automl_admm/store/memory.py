"""A store in memory, for a run without files."""

from __future__ import annotations

from collections.abc import Sequence

from automl_admm.core.evaluations import Evaluation
from automl_admm.store.sqlite.rows import UNFINISHED


class MemoryStore:
    """Keeps evaluations in a list."""

    def __init__(self) -> None:
        self._evaluations: dict[str, Evaluation] = {}

    def begin(self, number: int, key: str, text: str) -> None:
        """Ignore running evaluations: they die with this store."""

    def append(self, evaluation: Evaluation) -> None:
        """Keep an evaluation; ignore a known one, unless it was stopped before its end."""
        known = self._evaluations.get(evaluation.key)
        if known is None or known.status in UNFINISHED:
            self._evaluations[evaluation.key] = evaluation

    def read(self) -> Sequence[Evaluation]:
        """All evaluations in the order of their numbers."""
        return sorted(self._evaluations.values(), key=lambda evaluation: evaluation.number)

    def close(self) -> None:
        """There is nothing to let go of."""
