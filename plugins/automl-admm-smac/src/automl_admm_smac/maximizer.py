"""SMAC's search for the next configuration, made the same in every process."""

from __future__ import annotations

from typing import Any

from ConfigSpace import Configuration
from smac.acquisition.maximizer import LocalAndSortedRandomSearch, LocalSearch


class SettledLocalSearch(LocalSearch):
    """SMAC's local search with its starting points in one order.

    SMAC takes them from a set, whose order hangs on Python's hash seed, and so do the random
    numbers that each of them gets.
    """

    def _search(self, start_points: list[Configuration]) -> list[tuple[float, Configuration]]:
        found: list[tuple[float, Configuration]] = super()._search(sorted(start_points, key=repr))
        return found


class SettledSearch(LocalAndSortedRandomSearch):
    """SMAC's random search, with its better half by settled local searches."""

    def __init__(self, configspace: Any, *, challengers: int, seed: int) -> None:
        super().__init__(
            configspace, challengers=challengers, local_search_iterations=10, seed=seed
        )
        self._local_search = SettledLocalSearch(configspace, seed=seed)
