"""The seconds that the steps of pipelines take to fit, by component."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from automl_admm.core.structure.pipeline_space import Item, Step

# The key of these seconds in the details of an evaluation.
STEPS = "steps"


class StepTimes:
    """A clock that adds up fits by component; branches count as one step, by their kind."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    @contextmanager
    def measuring(self, item: Item) -> Iterator[None]:
        """Add the time of a block to a step."""
        name = item.component if isinstance(item, Step) else str(item.kind)
        begun = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + time.perf_counter() - begun

    def as_details(self) -> Mapping[str, Mapping[str, float]]:
        """Return the seconds as the log has them."""
        return {STEPS: {name: round(seconds, 6) for name, seconds in self._seconds.items()}}
