"""Ensembles for metrics of decisions: members by log loss, thresholds as those of a pipeline.

At the default threshold a metric of decisions tells little of a mean of probabilities that will
decide at another one. A proper score rates the probabilities themselves. So it selects the members;
the metric compares the result with the best pipeline, each at thresholds chosen for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer

from automl_admm.core.space import Array
from automl_admm.pipelines.ensembles.greedy import Losses
from automl_admm.pipelines.ensembles.rated import Part, Rated
from automl_admm.pipelines.ensembles.replayed import replay
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.measured import Seen
from automl_admm.pipelines.thresholds.decider import Decider

if TYPE_CHECKING:
    from automl_admm.pipelines.ensembles.within import Within
    from automl_admm.pipelines.work import PipelineWork

# As for a threshold in place of the default one: what is chosen by thresholds owes more to luck.
ERRORS = 2.0
# The best of several pipelines within a limit owes its place to luck, an average less: measured on
# unseen rows what ships is better, and no less often within, if only a clear loss is refused.
WITHIN_LIMITS = -1.0


@dataclass(frozen=True, eq=False)
class DecidedRated:
    """The parts of the rows with the metric, at thresholds that other parts have chosen.

    The limits of the `work` are those that predictions tell.
    """

    work: PipelineWork
    rated: Rated

    @property
    def errors(self) -> float:
        """The standard errors from which on a gain counts; fewer where thresholds keep limits."""
        return WITHIN_LIMITS if self._decider.aimed else ERRORS

    def losses(self, parts: Sequence[Part]) -> Losses:
        """Return the function from several predictions of all rows to their mean log losses."""
        return self._proper.losses(parts)

    def best(
        self,
        predictions: Array,
        parts: Sequence[Part],
        within: Within | None = None,
        may_ship: NDArray[np.bool_] | None = None,
    ) -> int:
        """Return the first place that may ship: the best pipelines come first, within the limits.

        All rows have chosen it, also those of the part left out: its luck makes the gain smaller.
        Where none may ship it is the first of all.
        """
        del predictions, parts, within
        return 0 if may_ship is None else int(np.argmax(may_ship))

    def losses_on(self, part: Part, others: Sequence[Part], predictions: Array) -> Array:
        """Return the losses on a part, each at the thresholds that are best on the others."""
        return np.array([self._loss_on(part, others, one) for one in predictions])

    @cached_property
    def _proper(self) -> Rated:
        metric = Metric("neg_log_loss", get_scorer("neg_log_loss"), best=0.0)
        return replace(self.rated, metric=metric.knowing(self.work.table.classes))

    @cached_property
    def _decider(self) -> Decider:
        return self.work.decider()

    def _loss_on(self, part: Part, others: Sequence[Part], prediction: Array) -> float:
        try:
            chosen = self._decider.choose(self._seen(prediction, others))
            seen = self._seen(prediction, [part])
            (decided,) = seen if chosen is None else self._decider.decide(seen, chosen)
        except Exception:  # noqa: BLE001 - a metric is anybody's code
            return math.nan
        return self.work.metric.loss(decided.score)

    def _seen(self, prediction: Array, parts: Sequence[Part]) -> list[Seen]:
        pairs = [(part.rows, prediction[part.places]) for part in parts]
        return [self.work.measure(replay(rows, found), rows, 0.0) for rows, found in pairs]
