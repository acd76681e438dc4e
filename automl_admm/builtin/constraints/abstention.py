"""The built-in limit on rows that a model leaves undecided."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from automl_admm.core.evidence import Rate, Weighted
from automl_admm.pipelines.labels import UNDECIDED
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import ConstraintPlugin


def abstain(evaluated: EvaluatedPipeline) -> Rate | Weighted:
    """Return the share of all rows without a decision."""
    undecided = np.asarray(evaluated.decisions) == UNDECIDED
    if evaluated.weights is None:
        return Rate(int(undecided.sum()), len(undecided))
    total = float(np.sum(evaluated.weights))
    return Weighted(float(np.sum(evaluated.weights[undecided])) / total if total else np.nan)


def constraints() -> Iterable[ConstraintPlugin]:
    """Yield the limit."""
    yield ConstraintPlugin(
        name="abstain",
        summary="rows left undecided, a share; other limits are of the decided rows",
        function=abstain,
        highest=1.0,
        kind="statistical",
        target="classes",
        better="smaller",
        takes_weights=True,
        counts_undecided=True,
    )
