"""A store for a run that leaves nothing behind."""

from __future__ import annotations

from collections.abc import Sequence

from automl_admm.problem import Evaluation


class MemoryStore:
    """Keeps evaluations in a list."""

    def __init__(self) -> None:
        self._evaluations: dict[str, Evaluation] = {}

    def append(self, evaluation: Evaluation) -> None:
        """Keep an evaluation; a key that is known is ignored."""
        self._evaluations.setdefault(evaluation.key, evaluation)

    def read(self) -> Sequence[Evaluation]:
        """All evaluations in the order of their numbers."""
        return sorted(self._evaluations.values(), key=lambda evaluation: evaluation.number)

    def close(self) -> None:
        """There is nothing to let go of."""
