"""Score a dummy before a search: a metric that fails for it fails for every pipeline."""

from __future__ import annotations

import math

from automl_admm.core.errors import ConfigurationError, DataError, Remedy
from automl_admm.core.messages import reason_of
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.metric_trial import check_metric
from automl_admm.pipelines.metrics import demand_weights
from automl_admm.pipelines.predictions.measured import score_of
from automl_admm.pipelines.work import PipelineWork


def check_scoring(work: PipelineWork) -> None:
    """Score a dummy on every validation part: its failure is a failure of every pipeline."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    is_class = work.context.task == "classification"
    if work.table.roles.weights is not None:
        demand_weights(work.metric)
    for train, valid in ((work.table.part(a), work.table.part(b)) for a, b in work.splits):
        dummy = DummyClassifier(strategy="prior") if is_class else DummyRegressor()
        dummy.fit(train.X, train.labels())
        try:
            with unheard_warnings():
                score = score_of(work.metric, dummy, valid)
        except Exception as problem:
            reason = reason_of(problem)
            message = f"metric '{work.metric.name}' cannot score this target: {reason}"
            raise ConfigurationError(message, hint=Remedy("Choose another {scoring}.")) from problem
        if not math.isfinite(score):
            raise DataError(
                f"metric '{work.metric.name}' is {score} on {len(valid.y)} validation rows.",
                hint=Remedy(
                    "A class may have too few rows; choose another {scoring} or fewer folds "
                    "in {cv}."
                ),
            )
    with unheard_warnings():
        check_metric(work.metric, work.table.part(work.splits[0][1]))
