"""The parts of the validated rows, and the loss of any predictions on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.space import Array
from automl_admm.data.split_choice import count_repeats
from automl_admm.pipelines.ensembles.greedy import first_within
from automl_admm.pipelines.ensembles.quick_scores import BY_NAME
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.measured import Table, score_of
from automl_admm.pipelines.row_share import share_of_rows

if TYPE_CHECKING:
    from automl_admm.pipelines.ensembles.within import Within

Rows = NDArray[np.intp]
# A holdout is cut into so many parts, to see how much a gain varies.
PARTS = 5
# Of more rows a sample is enough to compare predictions.
MOST_ROWS = 10_000
SEED = 0
# A gain counts from so many of its standard errors on. It is of rows that did not choose, so any
# gain will do: what ships then is rather better on unseen rows than what ships from 1 error on.
ERRORS = 0.0


@dataclass(frozen=True, eq=False)
class Part:
    """Rows with one score: a fold, or a part of the rows held out.

    `places` are theirs among the predictions, `numbers` those in the table. Of many rows they are a
    sample; `whole` are the places of all, in the split `fold`.
    """

    places: Rows
    numbers: Rows
    rows: Table
    whole: Rows
    fold: int


@dataclass(frozen=True, eq=False)
class Rated:
    """The parts with the metric; a row stands `repeats` times in them, on average."""

    metric: Metric
    parts: tuple[Part, ...]
    repeats: float

    @classmethod
    def of(cls, metric: Metric, table: Table, splits: Sequence[tuple[Any, Any]]) -> Rated:
        """Return the folds as parts; a single one is cut, its classes as frequent in each part."""
        valids = [np.asarray(valid) for _, valid in splits]
        numbers = np.concatenate(valids)
        ends = np.cumsum([len(valid) for valid in valids])
        wholes = np.split(np.arange(len(numbers)), ends[:-1])
        folds = list(range(len(wholes)))
        if len(wholes) == 1:
            wholes, folds = _dealt(table, numbers), [0] * PARTS
        share = min(MOST_ROWS / len(numbers), 1.0)
        parts = []
        for whole, fold in zip(wholes, folds, strict=True):
            kept = _sample(whole, table, numbers, share)
            parts.append(Part(kept, numbers[kept], table.part(numbers[kept]), whole, fold))
        return cls(metric, tuple(parts), count_repeats(splits))

    @property
    def independent(self) -> float:
        """The number of parts with rows of their own."""
        return len(self.parts) / self.repeats

    @property
    def errors(self) -> float:
        """The standard errors from which on a gain counts."""
        return ERRORS

    def others(self, part: Part) -> list[Part]:
        """Return the parts without any row of this one."""
        return [other for other in self.parts if not np.isin(other.numbers, part.numbers).any()]

    def losses(self, parts: Sequence[Part]) -> Callable[[Array], Array]:
        """Return the function from several predictions of all rows to their mean losses."""

        def measure(predictions: Array) -> Array:
            scores = [self._scores(part, predictions[:, part.places]) for part in parts]
            found = self.metric.best - np.mean(scores, axis=0)
            return np.where(np.isfinite(found), found, np.inf)

        return measure

    def best(
        self,
        predictions: Array,
        parts: Sequence[Part],
        within: Within | None = None,
        may_ship: NDArray[np.bool_] | None = None,
    ) -> int:
        """Return the place of the least loss, the first of equals: within the limits, if any is.

        Without `may_ship` any of them may be it.
        """
        losses = self.losses(parts)(predictions)
        if may_ship is not None:
            losses = np.where(may_ship, losses, np.inf)
        found = None if within is None else first_within(predictions, losses, within.on(parts))
        return int(np.argmin(losses)) if found is None else found

    def losses_on(self, part: Part, others: Sequence[Part], predictions: Array) -> Array:
        """Return the losses on a part; nothing is chosen for it on the others."""
        del others
        return self.losses([part])(predictions)

    def _scores(self, part: Part, predictions: Array) -> Array:
        quick = BY_NAME.get(self.metric.name)
        rows = part.rows
        if quick is not None and not self.metric.sees_labels and rows.roles.weights is None:
            return quick(rows.y, predictions)
        return np.array([self._score(rows, one) for one in predictions])

    def _score(self, rows: Table, predictions: Array) -> float:
        """Return the score; NaN if the metric fails, so that nothing is selected by it."""
        from automl_admm.pipelines.ensembles.replayed import replay

        try:
            return score_of(self.metric, replay(rows, predictions), rows)
        except Exception:  # noqa: BLE001 - a metric is anybody's code
            return np.nan


def _dealt(table: Table, numbers: Rows) -> list[Rows]:
    mixed = np.random.default_rng(SEED).permutation(len(numbers))
    if table.classes is not None:
        mixed = mixed[np.argsort(table.y[numbers[mixed]], kind="stable")]
    return [np.sort(mixed[part::PARTS]) for part in range(PARTS)]


def _sample(places: Rows, table: Table, numbers: Rows, share: float) -> Rows:
    classes = None if table.classes is None else table.y[numbers]
    return np.sort(share_of_rows(places, classes, share, SEED))
